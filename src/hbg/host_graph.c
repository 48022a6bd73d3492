/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Submit: the arguments are checked, producers are found, the task is appended.
 * Dependencies are node numbers; nobody waits for anything.
 */
#include "hbg/host_graph.h"

#include <string.h>

#include "base/text.h"
#include "hbg/host_calls.h"
#include "hbg/host_limits.h"
#include "task/launch_args.h"
#include "task/submit_args.h"

enum {
    SHAPE_AIC = SIMPLER_CORE_AIC,
    SHAPE_AIV = SIMPLER_CORE_AIV,
    SHAPE_DUMMY = 2,
    SHAPE_LAUNCH = 3
};

struct request {
    uint32_t shape;
    uint32_t func_id; /* of a mixed task the first one */
    const struct simpler_task_args *args;
    struct simpler_task_outputs *out;
    const char *file;
    int line;
    uint64_t heap_bytes;
    uint32_t map_entries;
    uint16_t lane[SIMPLER_LANES]; /* kernels of a launch */
};

/* ---- ids ---- */

/* The node behind an id that the orchestration has; UINT32_MAX: no such task. */
static uint32_t node_of_raw(const struct simpler_hbg_orch *orch, uint64_t raw)
{
    if (orch->recording == NULL)
        return raw >> 32 == 0 ? simpler_hbg_orch_node_of(orch, raw) : UINT32_MAX;
    uint32_t node = (uint32_t)raw;
    return raw >> 32 == SIMPLER_HBG_RECORDED_RING && node < orch->draft->builder.node_count
               ? node
               : UINT32_MAX;
}

static uint64_t next_raw_id(const struct simpler_hbg_orch *orch)
{
    return orch->recording == NULL
               ? orch->next_id
               : (uint64_t)SIMPLER_HBG_RECORDED_RING << 32 | orch->draft->builder.node_count;
}

/* ---- checks ---- */

SIMPLER_COLD static int invalid(struct simpler_hbg_orch *orch, const struct request *q,
                                const char *what, uint32_t arg)
{
    return simpler_hbg_latch(
        orch, SIMPLER_CODE_INVALID_ARGS, "submit at %s:%d (kernel %u), argument %u: %s",
        q->file == NULL ? "(unknown)" : q->file, q->line, q->func_id, arg, what);
}

/* Which argument of the recorded graph an address belongs to; UINT32_MAX: none. */
static uint32_t argument_of(const struct simpler_hbg_recording *r, uint64_t addr)
{
    uint64_t i = (addr >> 48) - 256;
    return addr == SIMPLER_HBG_ARGUMENT(i) && i < r->tensor_count ? (uint32_t)i : UINT32_MAX;
}

static bool may_write(const struct simpler_hbg_recording *r, uint32_t leader)
{
    for (uint32_t i = leader; i < r->tensor_count; i++) {
        if (r->leader[i] == leader &&
            (r->use[i] == SIMPLER_USE_INOUT || r->use[i] == SIMPLER_USE_OUTPUT_EXISTING))
            return true;
    }
    return false;
}

/* In a recorded graph there are its arguments and what it makes itself. */
static int check_recorded_tensor(struct simpler_hbg_orch *orch, const struct request *q,
                                 const struct simpler_tensor *t, uint32_t use, uint32_t i)
{
    if (t->addr - SIMPLER_HBG_RECORDED_HEAP < orch->draft->builder.heap_bytes)
        return 0;
    uint32_t argument = argument_of(orch->recording, t->addr);
    if (argument == UINT32_MAX)
        return invalid(orch, q,
                       "the tensor is neither an argument of the recorded graph nor made in it", i);
    if ((use == SIMPLER_USE_INOUT || use == SIMPLER_USE_OUTPUT_EXISTING) &&
        !may_write(orch->recording, argument))
        return invalid(orch, q,
                       "the recorded graph writes what it was given as an input; add it with "
                       "add_inout or add_output",
                       i);
    return 0;
}

static int check_kernel_id(struct simpler_hbg_orch *orch, const struct request *q, uint32_t func_id,
                           uint32_t core_type)
{
    const struct simpler_callable_copy *callable = orch->run->callable;
    const char *file = q->file == NULL ? "(unknown)" : q->file;

    if (func_id >= callable->func_id_count || callable->by_id[func_id] == NULL)
        return simpler_hbg_latch(orch, SIMPLER_CODE_INVALID_ARGS,
                                 "submit at %s:%d: the callable has no kernel %u", file, q->line,
                                 func_id);
    if (callable->by_id[func_id]->core_type != core_type)
        return simpler_hbg_latch(orch, SIMPLER_CODE_INVALID_ARGS,
                                 "submit at %s:%d: kernel %u is registered for %s cores, not for "
                                 "%s",
                                 file, q->line, func_id, core_type == SHAPE_AIC ? "AIV" : "AIC",
                                 core_type == SHAPE_AIC ? "AIC" : "AIV");
    return 0;
}

static int check_kernel(struct simpler_hbg_orch *orch, const struct request *q)
{
    int status = 0;

    if (q->shape == SHAPE_DUMMY)
        return 0;
    if (q->shape != SHAPE_LAUNCH)
        return check_kernel_id(orch, q, q->func_id, q->shape);
    for (uint32_t lane = 0; lane < SIMPLER_LANES && status == 0; lane++) {
        if (q->lane[lane] != SIMPLER_NO_FUNC)
            status = check_kernel_id(orch, q, q->lane[lane],
                                     lane == SIMPLER_LANE_AIC ? SHAPE_AIC : SHAPE_AIV);
    }
    return status;
}

/* sync_start and the predicate. */
static int check_launch(struct simpler_hbg_orch *orch, const struct request *q)
{
    const char *file = q->file == NULL ? "(unknown)" : q->file;
    uint32_t lanes = simpler_launch_args_lanes(q->lane), clusters = orch->run->cluster_count;
    int32_t blocks = simpler_launch_args_blocks(q->args);
    bool aiv;
    uint32_t limit = simpler_launch_args_sync_limit(lanes, clusters, &aiv);
    const char *fault = simpler_launch_args_fault(q->args);

    if (lanes == 0)
        return 0;
    if ((q->args->extra & SIMPLER_EXTRA_SYNC_START) != 0 && (uint32_t)blocks > limit)
        return simpler_hbg_latch(orch, SIMPLER_CODE_REQUIRE_SYNC_START_INVALID,
                                 "submit at %s:%d: sync_start with %d block%s, but the device has "
                                 "%u %s%s, and all blocks must be resident at once; submit at most "
                                 "that many blocks or raise cluster_count (%u)",
                                 file, q->line, blocks, simpler_text_plural((uint32_t)blocks),
                                 limit, aiv ? "AIV core" : "cluster", simpler_text_plural(limit),
                                 clusters);
    if (fault != NULL)
        return simpler_hbg_latch(orch, SIMPLER_CODE_INVALID_ARGS,
                                 "submit at %s:%d: the predicate's %s", file, q->line, fault);
    if (orch->recording != NULL && simpler_launch_args_has_operand(q->args))
        return check_recorded_tensor(orch, q, q->args->predicate.tensor, SIMPLER_USE_INPUT,
                                     q->args->tensor_count);
    return 0;
}

SIMPLER_COLD static int no_dtype(struct simpler_hbg_orch *orch, const struct request *q,
                                 uint32_t dtype, uint32_t arg)
{
    return simpler_hbg_latch(orch, SIMPLER_CODE_INVALID_ARGS,
                             "submit at %s:%d (kernel %u), argument %u: %s is no type of platform "
                             "%s",
                             q->file == NULL ? "(unknown)" : q->file, q->line, q->func_id, arg,
                             simpler_dtype_name(dtype), orch->platform->name);
}

/* A tensor of another form than the last one. */
static int check_closely(struct simpler_hbg_orch *orch, const struct request *q,
                         const struct simpler_tensor *t, uint32_t arg)
{
    if (!simpler_submit_is_sane(t))
        return invalid(orch, q, "the tensor is not valid", arg);
    if (!simpler_platform_has_dtype(orch->platform, t->dtype))
        return no_dtype(orch, q, t->dtype, arg);
    if (t->is_contiguous)
        orch->sane_form = simpler_submit_form(t);
    return 0;
}

static int check_tensors(struct simpler_hbg_orch *orch, struct request *q)
{
    const struct simpler_task_args *args = q->args;
    uint32_t recorded = 1u << SIMPLER_USE_INOUT | 1u << SIMPLER_USE_OUTPUT_EXISTING |
                        (uint32_t)(orch->run->hazards == SIMPLER_HAZARDS_ALL) << SIMPLER_USE_INPUT;

    for (uint32_t i = 0; i < args->tensor_count; i++) {
        if (args->use[i] == SIMPLER_USE_OUTPUT) {
            uint64_t bytes;
            if (!simpler_submit_output_bytes(args->tensor[i], &bytes) ||
                __builtin_add_overflow(q->heap_bytes, bytes, &q->heap_bytes))
                return invalid(orch, q, "the create-info is not valid", i);
            if (!simpler_platform_has_dtype(
                    orch->platform, ((const struct simpler_create_info *)args->tensor[i])->dtype))
                return no_dtype(orch, q,
                                ((const struct simpler_create_info *)args->tensor[i])->dtype, i);
            continue;
        }
        const struct simpler_tensor *t = args->tensor[i];
        if (SIMPLER_UNLIKELY(simpler_submit_form(t) != orch->sane_form) &&
            check_closely(orch, q, t, i) != 0)
            return simpler_hbg_status(orch);
        int status =
            orch->recording == NULL ? 0 : check_recorded_tensor(orch, q, t, args->use[i], i);
        if (status != 0)
            return status;
        q->map_entries += recorded >> (args->use[i] & 7) & (t->manual_dep == 0);
    }
    if (orch->manual_depth != 0)
        q->map_entries = 0;
    return 0;
}

static int check_dependencies(struct simpler_hbg_orch *orch, const struct request *q)
{
    for (uint32_t i = 0; i < q->args->dependency_count; i++) {
        uint64_t raw = q->args->dependency[i].raw;
        if (node_of_raw(orch, raw) == UINT32_MAX)
            return simpler_hbg_latch(orch, SIMPLER_CODE_INVALID_ARGS,
                                     "submit at %s:%d: dependency %u names no task%s "
                                     "(0x%016llx)",
                                     q->file == NULL ? "(unknown)" : q->file, q->line, i,
                                     orch->recording == NULL ? "" : " of the recorded graph",
                                     (unsigned long long)raw);
    }
    return 0;
}

static int check(struct simpler_hbg_orch *orch, struct request *q)
{
    if (q->args == NULL)
        return invalid(orch, q, "the arguments are NULL", 0);
    if (q->args->error != SIMPLER_ARGS_OK)
        return invalid(orch, q, simpler_task_args_error_text(q->args->error), q->args->error_arg);
    if (!simpler_submit_counts_fit(q->args))
        return invalid(orch, q, SIMPLER_SUBMIT_NOT_RESET, 0);
    int status = check_kernel(orch, q);
    if (status == 0 && q->shape == SHAPE_LAUNCH)
        status = check_launch(orch, q);
    if (status == 0)
        status = check_tensors(orch, q);
    if (status == 0)
        status = check_dependencies(orch, q);
    if (status == 0)
        status = simpler_hbg_check_room(orch, 1, q->heap_bytes, q->map_entries);
    return status;
}

/* A refused submit: empty outputs, and in a dry run its needs are counted. */
SIMPLER_COLD static int refuse(struct simpler_hbg_orch *orch, const struct request *q, int status)
{
    /* First: a tensor of the arguments may lie in @out. */
    simpler_hbg_count_submit(orch, q->args);
    if (q->out != NULL) {
        q->out->id.raw = SIMPLER_TASK_ID_NONE;
        q->out->count = 0;
        if (q->args != NULL && q->args->output_count <= SIMPLER_MAX_TENSORS)
            memset(q->out->tensor, 0, q->args->output_count * sizeof(q->out->tensor[0]));
    }
    return status;
}

/* ---- producers ---- */

static void add_edge(struct simpler_hbg_orch *orch, uint32_t node)
{
    struct simpler_hbg_builder *b = &orch->draft->builder;

    if (node == UINT32_MAX || node >= b->node_count)
        return;
    if (!simpler_hbg_builder_add_edge(b, node))
        orch->edges_full = true;
}

void simpler_hbg_drain_sink(struct simpler_edge_sink *sink)
{
    struct simpler_hbg_orch *orch =
        (struct simpler_hbg_orch *)(void *)((char *)sink - offsetof(struct simpler_hbg_orch, sink));
    uint32_t n = sink->count;

    sink->count = 0;
    for (uint32_t i = 0; i < n; i++)
        add_edge(orch, (uint32_t)sink->ids[i]);
}

/* Edges from the creators of the tensors. */
static void add_owners(struct simpler_hbg_orch *orch, const struct simpler_task_args *args)
{
    for (uint32_t i = 0; i < args->tensor_count; i++) {
        const struct simpler_tensor *t = args->tensor[i];
        if (args->use[i] != SIMPLER_USE_OUTPUT && t->owner != SIMPLER_NO_OWNER)
            add_edge(orch, node_of_raw(orch, t->owner));
    }
}

void simpler_hbg_find_producers(struct simpler_hbg_orch *orch, const struct simpler_task_args *args)
{
    uint64_t self = orch->draft->builder.node_count;

    for (uint32_t i = 0; i < args->dependency_count; i++) {
        if (args->dependency_kind == NULL || (args->dependency_kind[i] & SIMPLER_DEP_WAIT) != 0)
            add_edge(orch, node_of_raw(orch, args->dependency[i].raw));
    }
    if (orch->manual_depth != 0)
        return;
    if (simpler_tensormap_access_args(orch->draft->map, args, self, &orch->sink))
        add_owners(orch, args);
    simpler_hbg_drain_sink(&orch->sink);
}

int simpler_hbg_check_edges(struct simpler_hbg_orch *orch, const char *file, int line)
{
    if (SIMPLER_LIKELY(!orch->edges_full))
        return 0;
    return simpler_hbg_latch(orch, SIMPLER_CODE_DEPENDENCY_OVERFLOW,
                             "submit at %s:%d: the graph has more than %u dependencies in all",
                             file == NULL ? "(unknown)" : file, line, SIMPLER_HBG_MAX_EDGES);
}

/* ---- arguments ---- */

/* The base that a tensor lies behind, and how far. */
static uint32_t base_of(struct simpler_hbg_orch *orch, const struct simpler_tensor *t,
                        uint64_t *distance)
{
    struct simpler_hbg_draft *d = orch->draft;

    *distance = t->addr - d->heap;
    if (*distance < d->builder.heap_bytes)
        return 0;
    *distance = 0;
    return orch->recording != NULL ? 1 + argument_of(orch->recording, t->addr)
                                   : simpler_hbg_builder_base(&d->builder, t->addr);
}

static void add_tensor(struct simpler_hbg_orch *orch, uint32_t i, const struct simpler_tensor *t)
{
    uint64_t distance, owner = t->owner;
    uint32_t base = base_of(orch, t, &distance);

    if (orch->recording != NULL)
        owner = base == 0 ? (uint32_t)t->owner : 0;
    simpler_hbg_builder_add_tensor(&orch->draft->builder, i, t, base, distance, owner);
}

/* What the task asks for besides its arguments. */
static void add_launch(struct simpler_hbg_orch *orch, const struct request *q)
{
    struct simpler_hbg_builder *b = &orch->draft->builder;
    const struct simpler_predicate *p = &q->args->predicate;
    struct simpler_hbg_launch *launch = &b->launch[b->launch_count];
    uint64_t distance = 0;

    memset(launch, 0, sizeof(*launch));
    launch->lanes = (uint8_t)simpler_launch_args_lanes(q->lane);
    launch->lane_count = (uint8_t)__builtin_popcount(launch->lanes);
    launch->block_num = launch->lanes == 0 ? 1 : simpler_launch_args_blocks(q->args);
    memcpy(launch->func_id, q->lane, sizeof(launch->func_id));
    launch->sync_start = launch->lanes != 0 && (q->args->extra & SIMPLER_EXTRA_SYNC_START) != 0;
    launch->timing_slot = (q->args->extra & SIMPLER_EXTRA_TIMING) != 0
                              ? (uint8_t)q->args->task_timing_slot
                              : SIMPLER_NO_TIMING;
    if (launch->lanes != 0 && simpler_launch_args_has_operand(q->args)) {
        launch->op = (uint8_t)p->op;
        launch->operand_base = base_of(orch, p->tensor, &distance);
        launch->operand = distance + simpler_launch_args_operand(p);
        launch->operand_bytes = (uint8_t)simpler_dtype_bytes(p->tensor->dtype);
        launch->operand_shift = (uint8_t)simpler_dtype_shift(p->tensor->dtype);
        launch->target = p->target;
    }
    b->word[b->word_count++] = b->launch_count++;
}

/* The outputs lie one behind the other where the heap ends now. */
static const struct simpler_tensor *make_output(struct simpler_hbg_orch *orch,
                                                const struct simpler_create_info *info,
                                                struct simpler_tensor *out)
{
    struct simpler_hbg_builder *b = &orch->draft->builder;
    uint64_t bytes = 0, at = b->heap_bytes;

    (void)simpler_submit_output_bytes(info, &bytes); /* checked before */
    simpler_submit_make_output(info, orch->draft->heap + at, next_raw_id(orch), out);
    if (bytes == 0)
        return out;
    b->heap_bytes += bytes;
    if (!info->has_initial_value)
        return out;
    if (orch->recording == NULL)
        simpler_submit_fill_initial(orch->heap + at, bytes, info);
    else
        simpler_hbg_add_fill(orch, info, at, bytes);
    return out;
}

/* Which scalar of the recorded graph an address is, from 1; 0: none. */
static uint8_t binding_of(const struct simpler_hbg_recording *r, const void *source)
{
    const uint64_t *from = source;

    if (r == NULL || from < r->scalar || from >= r->scalar + r->scalar_count)
        return 0;
    return (uint8_t)(from - r->scalar + 1);
}

/* The scalars' words; what the node says of them. */
static uint32_t add_scalars(struct simpler_hbg_orch *orch, const struct simpler_task_args *args)
{
    struct simpler_hbg_builder *b = &orch->draft->builder;
    uint8_t bindings[SIMPLER_MAX_SCALARS] = {0};
    uint32_t bound = 0;

    for (uint32_t k = 0; k < args->scalar_count; k++) {
        b->word[b->word_count++] = args->scalar[k];
        bindings[k] = binding_of(orch->recording, args->scalar_source[k]);
        bound |= bindings[k];
    }
    if (bound == 0)
        return args->scalar_count;
    memcpy(&b->word[b->word_count], bindings, sizeof(bindings));
    b->word_count += sizeof(bindings) / sizeof(b->word[0]);
    return args->scalar_count | SIMPLER_HBG_BOUND;
}

static uint32_t func_of(const struct request *q)
{
    return q->shape == SHAPE_DUMMY    ? SIMPLER_HBG_FUNC_DUMMY
           : q->shape == SHAPE_LAUNCH ? SIMPLER_HBG_FUNC_LAUNCH
                                      : q->func_id;
}

static void add_arguments(struct simpler_hbg_orch *orch, const struct request *q)
{
    struct simpler_hbg_builder *b = &orch->draft->builder;
    const struct simpler_task_args *args = q->args;
    uint64_t from = b->word_count;
    uint32_t outputs = 0;

    if (q->shape == SHAPE_LAUNCH)
        add_launch(orch, q);
    for (uint32_t i = 0; i < args->tensor_count; i++) {
        const struct simpler_tensor *t = args->tensor[i];
        if (args->use[i] == SIMPLER_USE_OUTPUT)
            t = make_output(orch, args->tensor[i], &orch->made[outputs++]);
        add_tensor(orch, i, t);
    }
    uint32_t scalars = add_scalars(orch, args);
    if (b->dumps_kept)
        dump_args_submit_fill(&b->dump[b->node_count], args, (uint32_t)next_raw_id(orch) + 1);
    if (q->out != NULL) {
        q->out->id.raw = next_raw_id(orch);
        q->out->count = outputs;
        /* Last: a tensor of the arguments may lie in @out, from the submit before. */
        for (uint32_t k = 0; k < outputs; k++)
            q->out->tensor[k] = orch->made[k];
    }
    simpler_hbg_builder_finish_node(b, func_of(q), args->tensor_count, scalars, from, q->file,
                                    q->line);
    if (orch->recording == NULL)
        orch->next_id++;
}

static int submit(struct simpler_hbg_orch *orch, struct request *q)
{
    int status = simpler_hbg_status(orch);

    if (SIMPLER_LIKELY(status == 0))
        status = check(orch, q);
    if (SIMPLER_UNLIKELY(status != 0))
        return refuse(orch, q, status);
    simpler_hbg_find_producers(orch, q->args);
    status = simpler_hbg_check_edges(orch, q->file, q->line);
    if (SIMPLER_UNLIKELY(status != 0))
        return refuse(orch, q, status);
    add_arguments(orch, q);
    return 0;
}

/* A task of one kernel; what more it asks for makes it a launch. */
static int submit_kernel(struct simpler_hbg_orch *orch, struct request *q)
{
    if (q->args == NULL || (q->args->extra & ~(uint32_t)SIMPLER_EXTRA_EARLY_RESOLVE) == 0)
        return submit(orch, q);
    uint32_t lane = q->shape == SHAPE_AIC ? SIMPLER_LANE_AIC : SIMPLER_LANE_AIV0;
    memset(q->lane, 0xff, sizeof(q->lane));
    q->lane[lane] = q->func_id < SIMPLER_NO_FUNC ? (uint16_t)q->func_id : SIMPLER_NO_FUNC - 1;
    q->shape = SHAPE_LAUNCH;
    return submit(orch, q);
}

static int submit_aic(struct simpler_orch *orch, uint32_t func_id,
                      const struct simpler_task_args *args, struct simpler_task_outputs *out,
                      const char *file, int line)
{
    struct request q = {SHAPE_AIC, func_id, args, out, file, line, 0, 0, {0}};
    return submit_kernel(simpler_hbg_of(orch), &q);
}

static int submit_aiv(struct simpler_orch *orch, uint32_t func_id,
                      const struct simpler_task_args *args, struct simpler_task_outputs *out,
                      const char *file, int line)
{
    struct request q = {SHAPE_AIV, func_id, args, out, file, line, 0, 0, {0}};
    return submit_kernel(simpler_hbg_of(orch), &q);
}

static int submit_mixed(struct simpler_orch *orch, const struct simpler_mixed_kernels *kernels,
                        const struct simpler_task_args *args, struct simpler_task_outputs *out,
                        const char *file, int line)
{
    struct request q = {SHAPE_LAUNCH, 0, args, out, file, line, 0, 0, {0}};
    int32_t id[SIMPLER_LANES] = {-1, -1, -1};
    int32_t first = -1;
    bool wrong = false;

    if (kernels != NULL) {
        bool alone = kernels->aic_kernel_id < 0 && kernels->aiv0_kernel_id < 0;
        id[SIMPLER_LANE_AIC] = kernels->aic_kernel_id;
        id[SIMPLER_LANE_AIV0] = alone ? kernels->aiv1_kernel_id : kernels->aiv0_kernel_id;
        id[SIMPLER_LANE_AIV1] = alone ? -1 : kernels->aiv1_kernel_id;
    }
    for (uint32_t lane = 0; lane < SIMPLER_LANES; lane++) {
        wrong = wrong || id[lane] < -1;
        q.lane[lane] = id[lane] < 0                 ? SIMPLER_NO_FUNC
                       : id[lane] < SIMPLER_NO_FUNC ? (uint16_t)id[lane]
                                                    : SIMPLER_NO_FUNC - 1;
        first = first < 0 ? id[lane] : first;
    }
    q.func_id = (uint32_t)(first < 0 ? 0 : first);
    if ((first < 0 || wrong) && simpler_hbg_status(simpler_hbg_of(orch)) == 0)
        return refuse(simpler_hbg_of(orch), &q,
                      invalid(simpler_hbg_of(orch), &q,
                              wrong ? "a kernel id is below -1" : "a mixed task has no kernel", 0));
    return submit(simpler_hbg_of(orch), &q);
}

static int submit_dummy(struct simpler_orch *orch, const struct simpler_task_args *args,
                        struct simpler_task_outputs *out, const char *file, int line)
{
    struct request q = {SHAPE_DUMMY, 0, args, out, file, line, 0, 0, {0}};

    /* A launch without lanes. */
    if (args != NULL && (args->extra & SIMPLER_EXTRA_TIMING) != 0) {
        memset(q.lane, 0xff, sizeof(q.lane));
        q.shape = SHAPE_LAUNCH;
    }
    return submit(simpler_hbg_of(orch), &q);
}

static int alloc_tensors(struct simpler_orch *orch, const struct simpler_create_info *infos,
                         uint32_t count, struct simpler_task_outputs *out, const char *file,
                         int line)
{
    struct simpler_task_args args;
    struct request q = {SHAPE_DUMMY, 0, &args, out, file, line, 0, 0, {0}};

    simpler_task_args_reset(&args);
    for (uint32_t i = 0; infos != NULL && i < count && i <= SIMPLER_MAX_TENSORS; i++)
        simpler_task_args_add_create(&args, &infos[i]);
    if (simpler_hbg_status(simpler_hbg_of(orch)) == 0 &&
        (infos == NULL || count == 0 || out == NULL))
        return refuse(simpler_hbg_of(orch), &q,
                      invalid(simpler_hbg_of(orch), &q,
                              "alloc_tensors needs create-infos and a place for its tensors", 0));
    return submit(simpler_hbg_of(orch), &q);
}

static int get_argument(struct simpler_orch *base, uint64_t task, uint32_t i,
                        struct simpler_tensor *out)
{
    const struct simpler_hbg_orch *orch = simpler_hbg_of(base);
    const struct simpler_hbg_builder *b = &orch->draft->builder;
    uint32_t n = node_of_raw(orch, task);

    if (n == UINT32_MAX || i >= b->node[n].tensor_count)
        return SIMPLER_ENOENT;
    uint64_t word =
        b->word[b->node[n].first_word + i + (b->node[n].func_id == SIMPLER_HBG_FUNC_LAUNCH)];
    *out = b->view[word >> SIMPLER_HBG_DISTANCE_BITS].tensor;
    out->start_offset += (uint32_t)word;
    return 0;
}

const struct simpler_orch_ops simpler_hbg_ops = {
    .submit = {.aic = submit_aic, .aiv = submit_aiv},
    .submit_mixed = submit_mixed,
    .submit_dummy = submit_dummy,
    .alloc_tensors = alloc_tensors,
    .submit_graph = simpler_hbg_submit_graph,
    .get_argument = get_argument,
    .scope_begin = simpler_hbg_scope_begin,
    .scope_end = simpler_hbg_scope_end,
    .get_tensor_data = simpler_hbg_get_tensor_data,
    .set_tensor_data = simpler_hbg_set_tensor_data,
    .report_fatal = simpler_hbg_report_fatal,
    .is_fatal = simpler_hbg_is_fatal,
    .cluster_count = simpler_hbg_cluster_count,
};
