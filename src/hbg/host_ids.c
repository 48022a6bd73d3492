/* SPDX-License-Identifier: Apache-2.0 */
/* Ids and nodes: a call of a recorded graph is one node and has an id for each of its tasks. */
#include "hbg/host_graph.h"

/* The call that @node or @id lies behind; the calls before it count. */
static uint32_t calls_before(const struct simpler_hbg_orch *orch, uint32_t node, uint64_t id,
                             bool by_id)
{
    uint32_t low = 0, high = orch->call_count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        const struct simpler_hbg_call *c = &orch->calls[middle];
        if (by_id ? c->first_id <= id : c->node < node)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Ids that @call takes. */
static uint32_t ids_of(const struct simpler_hbg_call *call)
{
    return call->graph->image->node_count;
}

uint32_t simpler_hbg_orch_node_of(const struct simpler_hbg_orch *orch, uint64_t id)
{
    if (id >= orch->next_id)
        return UINT32_MAX;
    uint32_t at = calls_before(orch, 0, id, true);
    if (at == 0)
        return (uint32_t)id;
    const struct simpler_hbg_call *c = &orch->calls[at - 1];
    uint32_t behind = (uint32_t)id - c->first_id;
    return behind < ids_of(c) ? c->node : c->node + 1 + behind - ids_of(c);
}

uint64_t simpler_hbg_orch_id_of(const struct simpler_hbg_orch *orch, uint32_t node)
{
    uint32_t at = calls_before(orch, node, 0, false);
    if (at == 0)
        return node;
    const struct simpler_hbg_call *c = &orch->calls[at - 1];
    return (uint64_t)c->first_id + ids_of(c) + (node - c->node - 1);
}
