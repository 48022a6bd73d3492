/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scopes are nesting alone: nothing is freed before the run ends.  The data of a
 * tensor can be had while no task that was submitted uses it, for none has run.
 */
#include "hbg/host_calls.h"

#include <string.h>

#include "hbg/host_limits.h"
#include "task/submit_args.h"

int simpler_hbg_scope_begin(struct simpler_orch *base, enum simpler_scope_mode mode,
                            const char *file, int line)
{
    struct simpler_hbg_orch *orch = simpler_hbg_of(base);
    int status = simpler_hbg_status(orch);

    if (status != 0 && !orch->counting)
        return status;
    if (status == 0 && (uint32_t)mode > SIMPLER_SCOPE_MANUAL)
        return simpler_hbg_latch(orch, SIMPLER_CODE_INVALID_ARGS,
                                 "scope at %s:%d: %d is no scope mode",
                                 file == NULL ? "(unknown)" : file, line, (int)mode);
    if (status == 0 && mode != SIMPLER_SCOPE_MANUAL && orch->manual_depth != 0)
        return simpler_hbg_latch(orch, SIMPLER_CODE_INVALID_ARGS,
                                 "scope at %s:%d: an AUTO scope cannot open inside a MANUAL one",
                                 file == NULL ? "(unknown)" : file, line);
    orch->depth++;
    orch->draft->builder.depth++;
    if (mode == SIMPLER_SCOPE_MANUAL && orch->manual_depth == 0)
        orch->manual_depth = orch->depth;
    orch->any_manual = orch->any_manual || mode == SIMPLER_SCOPE_MANUAL;
    return 0;
}

int simpler_hbg_scope_end(struct simpler_orch *base)
{
    struct simpler_hbg_orch *orch = simpler_hbg_of(base);
    int status = simpler_hbg_status(orch);

    if (orch->depth > orch->first_depth) {
        if (orch->manual_depth == orch->depth)
            orch->manual_depth = 0;
        orch->depth--;
        orch->draft->builder.depth--;
    } else if (status == 0) {
        return simpler_hbg_latch(orch, SIMPLER_CODE_INVALID_ARGS,
                                 "scope_end without an open scope");
    }
    return status;
}

struct looking_sink {
    struct simpler_edge_sink sink;
    uint64_t ids[16];
    bool found;
};

static void note_found(struct simpler_edge_sink *sink)
{
    struct looking_sink *s = (struct looking_sink *)(void *)sink;

    s->found = s->found || sink->count != 0;
    sink->count = 0;
}

/* Whether a task that was submitted may use the tensor, or write it. */
static bool is_used(struct simpler_hbg_orch *orch, const struct simpler_tensor *t, bool readers)
{
    const struct simpler_hbg_builder *b = &orch->draft->builder;

    if (t->addr - orch->draft->heap < b->heap_bytes)
        return true;
    /* What is not in the map may be in a manual scope, or a reader that raw does not keep. */
    if (orch->any_manual || (readers && orch->run->hazards != SIMPLER_HAZARDS_ALL))
        return simpler_hbg_builder_has_base(b, t->addr);
    struct looking_sink s = {.sink = {s.ids, 0, 16, note_found}};
    simpler_tensormap_lookup(orch->draft->map, t, true, readers, &s.sink);
    note_found(&s.sink);
    return s.found;
}

static int check_access(struct simpler_hbg_orch *orch, const struct simpler_tensor *tensor,
                        bool write)
{
    const char *call = write ? "set_tensor_data" : "get_tensor_data";

    if (orch->recording != NULL)
        return simpler_hbg_latch(orch, SIMPLER_CODE_INVALID_ARGS,
                                 "%s in a recorded graph: it is replayed with other data", call);
    if (is_used(orch, tensor, write))
        return simpler_hbg_latch(orch, SIMPLER_CODE_INVALID_ARGS,
                                 "%s of a tensor that a submitted task %s: no task runs before "
                                 "the orchestration has ended",
                                 call, write ? "uses" : "writes");
    return 0;
}

int simpler_hbg_get_tensor_data(struct simpler_orch *base, const struct simpler_tensor *tensor,
                                const uint32_t *index, void *value)
{
    struct simpler_hbg_orch *orch = simpler_hbg_of(base);
    int status = simpler_hbg_status(orch);

    if (status != 0)
        return status;
    const uint8_t *from = simpler_submit_element(tensor, index);
    if (from == NULL || value == NULL)
        return SIMPLER_EINVAL;
    status = check_access(orch, tensor, false);
    if (status == 0)
        memcpy(value, from, simpler_dtype_bytes(tensor->dtype));
    return status;
}

int simpler_hbg_set_tensor_data(struct simpler_orch *base, const struct simpler_tensor *tensor,
                                const uint32_t *index, const void *value)
{
    struct simpler_hbg_orch *orch = simpler_hbg_of(base);
    int status = simpler_hbg_status(orch);

    if (status != 0)
        return status;
    uint8_t *to = simpler_submit_element(tensor, index);
    if (to == NULL || value == NULL)
        return SIMPLER_EINVAL;
    status = check_access(orch, tensor, true);
    if (status == 0)
        memcpy(to, value, simpler_dtype_bytes(tensor->dtype));
    return status;
}

void simpler_hbg_report_fatal(struct simpler_orch *orch, enum simpler_device_code code,
                              const char *text)
{
    (void)simpler_hbg_latch(simpler_hbg_of(orch), code, "reported by the orchestration: %s", text);
}

bool simpler_hbg_is_fatal(const struct simpler_orch *orch)
{
    const struct simpler_hbg_orch *o = (const struct simpler_hbg_orch *)orch;
    return atomic_load_explicit(o->stop, memory_order_relaxed) != 0;
}

uint32_t simpler_hbg_cluster_count(const struct simpler_orch *orch)
{
    return ((const struct simpler_hbg_orch *)orch)->run->cluster_count;
}
