/* SPDX-License-Identifier: Apache-2.0 */
/* A stack of open begins for each ring and site, as lists through one pool of nodes. */
#include "report/scope_pairing.h"

#include <string.h>

#include "base/alloc.h"
#include "simpler/status.h"

struct simpler_pairing_node {
    struct simpler_pairing_begin begin;
    uint32_t below; /* index + 1 of the next in its stack or in the free list, 0 = none */
};

struct simpler_pairing_stack {
    uint32_t ring, site;
    uint32_t top; /* index + 1, 0 = empty */
    bool used;
};

static uint32_t find_stack(const struct simpler_pairing *p, uint32_t ring, uint32_t site)
{
    uint64_t mixed = ((uint64_t)ring << 32 | site) * 0x9e3779b97f4a7c15u;
    uint32_t at = (uint32_t)(mixed >> 32) & (p->stack_room - 1);
    while (p->stacks[at].used && (p->stacks[at].ring != ring || p->stacks[at].site != site))
        at = (at + 1) & (p->stack_room - 1);
    return at;
}

static int grow_stacks(struct simpler_pairing *p)
{
    struct simpler_pairing old = *p;
    uint32_t room = p->stack_room == 0 ? 64 : 2 * p->stack_room;
    struct simpler_pairing_stack *stacks =
        room == 0 ? NULL : simpler_alloc_zeroed(room, sizeof(*stacks));
    if (stacks == NULL)
        return SIMPLER_ENOMEM;
    p->stacks = stacks;
    p->stack_room = room;
    for (uint32_t i = 0; i < old.stack_room; i++) {
        if (old.stacks[i].used)
            stacks[find_stack(p, old.stacks[i].ring, old.stacks[i].site)] = old.stacks[i];
    }
    simpler_alloc_free(old.stacks);
    return 0;
}

static int take_node(struct simpler_pairing *p, uint32_t *out)
{
    if (p->free_node != 0) {
        *out = p->free_node - 1;
        p->free_node = p->nodes[*out].below;
        return 0;
    }
    if (p->node_count == p->node_room) {
        uint32_t room = p->node_room == 0 ? 64 : 2 * p->node_room;
        void *grown = room == 0 ? NULL : simpler_alloc_resize(p->nodes, room, sizeof(*p->nodes));
        if (grown == NULL)
            return SIMPLER_ENOMEM;
        p->nodes = grown;
        p->node_room = room;
    }
    *out = p->node_count++;
    return 0;
}

int simpler_pairing_push(struct simpler_pairing *p, uint32_t ring, uint32_t site,
                         const struct simpler_pairing_begin *begin)
{
    uint32_t node;
    if (p->stack_count >= p->stack_room / 2 && grow_stacks(p) != 0)
        return SIMPLER_ENOMEM;
    int rc = take_node(p, &node);
    if (rc != 0)
        return rc;
    struct simpler_pairing_stack *stack = &p->stacks[find_stack(p, ring, site)];
    if (!stack->used) {
        *stack = (struct simpler_pairing_stack){.ring = ring, .site = site, .used = true};
        p->stack_count++;
    }
    p->nodes[node] = (struct simpler_pairing_node){*begin, stack->top};
    stack->top = node + 1;
    p->open++;
    return 0;
}

bool simpler_pairing_try_pop(struct simpler_pairing *p, uint32_t ring, uint32_t site,
                             struct simpler_pairing_begin *out)
{
    if (p->stack_room == 0)
        return false;
    struct simpler_pairing_stack *stack = &p->stacks[find_stack(p, ring, site)];
    if (!stack->used || stack->top == 0)
        return false;
    uint32_t node = stack->top - 1;
    *out = p->nodes[node].begin;
    stack->top = p->nodes[node].below;
    p->nodes[node].below = p->free_node;
    p->free_node = node + 1;
    p->open--;
    return true;
}

bool simpler_pairing_next_open(const struct simpler_pairing *p, uint32_t *next, uint32_t *ring,
                               uint32_t *site, uint64_t *count)
{
    while (*next < p->stack_room) {
        const struct simpler_pairing_stack *stack = &p->stacks[(*next)++];
        if (!stack->used || stack->top == 0)
            continue;
        *ring = stack->ring;
        *site = stack->site;
        *count = 0;
        for (uint32_t node = stack->top; node != 0; node = p->nodes[node - 1].below)
            (*count)++;
        return true;
    }
    return false;
}

void simpler_pairing_fini(struct simpler_pairing *p)
{
    simpler_alloc_free(p->nodes);
    simpler_alloc_free(p->stacks);
    memset(p, 0, sizeof(*p));
}
