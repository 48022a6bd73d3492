/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A graph's function runs once, with arguments that lie nowhere: each has an
 * address of its own, and a view of it keeps that address, so that every tensor
 * of the recording says which argument it belongs to.  Arguments whose bytes may
 * overlap share an address, and how they lie to each other belongs to the key.
 */
#include "hbg/recorded_graph.h"

#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "hbg/host_calls.h"
#include "hbg/host_limits.h"
#include "task/submit_args.h"

struct call_site {
    const char *file;
    int line;
};

static int refuse(struct simpler_hbg_orch *orch, struct call_site at, const char *what)
{
    return simpler_hbg_latch(orch, SIMPLER_CODE_INVALID_ARGS, "graph at %s:%d: %s",
                             at.file == NULL ? "(unknown)" : at.file, at.line, what);
}

/* ---- the key ---- */

/* The bytes of a tensor's buffer that it may touch, as [*low, *high). */
static void range_of(const struct simpler_tensor *t, uint64_t *low, uint64_t *high)
{
    uint32_t shift = simpler_dtype_shift(t->dtype);

    *low = t->addr + (t->start_offset << shift);
    *high = *low + (t->extent << shift);
}

static bool may_overlap(const struct simpler_tensor *a, const struct simpler_tensor *b)
{
    uint64_t a_low, a_high, b_low, b_high;

    range_of(a, &a_low, &a_high);
    range_of(b, &b_low, &b_high);
    return a_low < b_high && b_low < a_high;
}

static void shape_of(const struct simpler_tensor *t, uint8_t use, struct simpler_hbg_shape *out)
{
    out->use = use;
    out->dtype = t->dtype;
    out->manual_dep = t->manual_dep;
    out->is_contiguous = t->is_contiguous;
    out->ndims = t->ndims;
    memcpy(out->shape, t->shape, t->ndims * sizeof(out->shape[0]));
    memcpy(out->stride, t->stride, t->ndims * sizeof(out->stride[0]));
}

/*
 * Joins argument @i with the first whose bytes it may share; false when that
 * one begins behind it, lies in another buffer or has another element size.
 */
static bool find_leader(const struct simpler_task_args *args, struct simpler_hbg_graph_key *key,
                        uint32_t i)
{
    const struct simpler_tensor *t = args->tensor[i];
    struct simpler_hbg_shape *shape = &key->shape[i];

    shape->leader = i;
    for (uint32_t k = 0; k < i; k++) {
        const struct simpler_tensor *other = args->tensor[key->shape[k].leader];
        if (!may_overlap(t, args->tensor[k]))
            continue;
        if (other->addr != t->addr || other->start_offset > t->start_offset ||
            simpler_dtype_shift(other->dtype) != simpler_dtype_shift(t->dtype) ||
            (shape->leader != i && shape->leader != key->shape[k].leader))
            return false;
        shape->leader = key->shape[k].leader;
        shape->distance = t->start_offset - other->start_offset;
    }
    return true;
}

static uint64_t hash_bytes(uint64_t hash, const void *data, size_t bytes)
{
    const uint8_t *p = data;
    for (size_t i = 0; i < bytes; i++)
        hash = (hash ^ p[i]) * 0x100000001b3u;
    return hash;
}

static int make_key(struct simpler_hbg_orch *orch, simpler_graph_fn fn,
                    const struct simpler_task_args *args, const void *config, size_t config_bytes,
                    struct call_site at, struct simpler_hbg_graph_key *key)
{
    memset(key, 0, sizeof(*key));
    key->callable = orch->run->callable;
    key->fn = fn;
    key->tensor_count = args->tensor_count;
    key->scalar_count = args->scalar_count;
    key->hazards = orch->run->hazards;
    key->manual = orch->manual_depth != 0;
    key->config_bytes = config_bytes;
    for (uint32_t i = 0; i < args->tensor_count; i++) {
        shape_of(args->tensor[i], args->use[i], &key->shape[i]);
        if (!find_leader(args, key, i))
            return refuse(orch, at,
                          "two arguments share bytes in a way that cannot be recorded: give the "
                          "one that begins first before the others, all of one buffer and one "
                          "element size");
    }
    uint64_t hash = hash_bytes(0xcbf29ce484222325u, &key->fn, sizeof(key->fn));
    hash = hash_bytes(hash, key->shape, args->tensor_count * sizeof(key->shape[0]));
    key->hash = hash_bytes(hash, config, config_bytes);
    return 0;
}

/* ---- checks ---- */

static int check_use(struct simpler_hbg_orch *orch, const struct simpler_task_args *args,
                     struct call_site at, uint32_t i)
{
    const struct simpler_tensor *t = args->tensor[i];

    if (args->use[i] == SIMPLER_USE_OUTPUT)
        return refuse(orch, at, "a graph makes no tensor for its caller; allocate it before");
    if (args->use[i] == SIMPLER_USE_NO_DEP)
        return refuse(orch, at, "add_no_dep is for tasks; a graph's order comes from its tensors");
    if (!simpler_submit_is_sane(t))
        return refuse(orch, at, "a tensor is not valid");
    return 0;
}

static int check(struct simpler_hbg_orch *orch, simpler_graph_fn fn,
                 const struct simpler_task_args *args, const void *config, size_t config_bytes,
                 struct call_site at)
{
    int status = 0;

    if (fn == NULL || args == NULL || (config == NULL && config_bytes != 0))
        return refuse(orch, at, "function, arguments or configuration are NULL");
    if (args->error != SIMPLER_ARGS_OK)
        return refuse(orch, at, simpler_task_args_error_text(args->error));
    if (!simpler_submit_counts_fit(args))
        return refuse(orch, at, SIMPLER_SUBMIT_NOT_RESET);
    if (orch->recording != NULL)
        return refuse(orch, at, "a graph cannot be called while another is recorded");
    if (args->dependency_count != 0)
        return refuse(orch, at,
                      "explicit dependencies are for tasks; a graph's order comes from "
                      "its tensors");
    for (uint32_t i = 0; i < args->tensor_count && status == 0; i++)
        status = check_use(orch, args, at, i);
    return status;
}

/* ---- recording ---- */

static int open_recorder(struct simpler_hbg_orch *orch)
{
    if (orch->recorder == NULL) {
        struct simpler_hbg_draft *made = simpler_alloc_zeroed(1, sizeof(*made));
        if (made == NULL || simpler_hbg_draft_open(made, &orch->run->env) != 0) {
            if (made != NULL)
                simpler_hbg_draft_close(made);
            simpler_alloc_free(made);
            return SIMPLER_ENOMEM;
        }
        made->heap = SIMPLER_HBG_RECORDED_HEAP;
        orch->recorder = made;
    }
    simpler_hbg_builder_reset(&orch->recorder->builder, SIMPLER_DFX);
    orch->recorder->fill_count = 0;
    simpler_tensormap_reset(orch->recorder->map, orch->run->hazards == SIMPLER_HAZARDS_ALL);
    return 0;
}

static void keep_args(struct simpler_hbg_given *given, const struct simpler_task_args *args)
{
    simpler_task_args_reset(&given->args);
    given->args.tensor_count = args->tensor_count;
    given->args.scalar_count = args->scalar_count;
    for (uint32_t i = 0; i < args->tensor_count; i++) {
        given->tensor[i] = *(const struct simpler_tensor *)args->tensor[i];
        given->args.tensor[i] = &given->tensor[i];
        given->args.use[i] = args->use[i];
    }
    memcpy(given->args.scalar, args->scalar, args->scalar_count * sizeof(args->scalar[0]));
}

static int keep_config(struct simpler_hbg_given *given, const void *config, size_t bytes)
{
    if (bytes > given->config_capacity) {
        void *made = simpler_alloc_resize(given->config, bytes, 1);
        if (made == NULL)
            return SIMPLER_ENOMEM;
        given->config = made;
        given->config_capacity = bytes;
    }
    if (bytes != 0)
        memcpy(given->config, config, bytes);
    return 0;
}

/* What the function gets in place of the caller's tensors. */
static void make_arguments(const struct simpler_task_args *args,
                           const struct simpler_hbg_graph_key *key, struct simpler_tensor *out)
{
    for (uint32_t i = 0; i < args->tensor_count; i++) {
        out[i] = *(const struct simpler_tensor *)args->tensor[i];
        out[i].addr = SIMPLER_HBG_ARGUMENT(key->shape[i].leader);
        out[i].start_offset = key->shape[i].distance;
        out[i].owner = SIMPLER_NO_OWNER;
    }
}

/* Runs the function on a draft of its own; the status of the run. */
static int record(struct simpler_hbg_orch *orch, simpler_graph_fn fn,
                  const struct simpler_task_args *args, const struct simpler_hbg_graph_key *key,
                  const void *config)
{
    struct simpler_tensor tensors[SIMPLER_MAX_TENSORS];
    struct simpler_hbg_recording recording = {.tensor_count = args->tensor_count,
                                              .scalar_count = args->scalar_count};
    struct simpler_graph_args given = {tensors, recording.scalar, args->tensor_count,
                                       args->scalar_count, config};
    uint32_t depth = orch->depth, first_depth = orch->first_depth, manual = orch->manual_depth;

    make_arguments(args, key, tensors);
    memcpy(recording.scalar, args->scalar, args->scalar_count * sizeof(recording.scalar[0]));
    for (uint32_t i = 0; i < args->tensor_count; i++) {
        recording.leader[i] = key->shape[i].leader;
        recording.use[i] = args->use[i];
    }
    orch->draft = orch->recorder;
    orch->draft->builder.base_count = 1 + args->tensor_count;
    orch->recording = &recording;
    orch->first_depth = depth;
    fn((struct simpler_orch *)orch, &given);
    int status = simpler_hbg_status(orch);
    if (status == 0 && orch->depth > depth)
        status = simpler_hbg_latch(orch, SIMPLER_CODE_INVALID_ARGS,
                                   "the recorded graph returned with %u scope%s open",
                                   orch->depth - depth, simpler_text_plural(orch->depth - depth));
    /* Only its number counts, and reset empties what has a place in the table. */
    orch->draft->builder.base_count = 1;
    orch->recording = NULL;
    orch->draft = &orch->main;
    orch->depth = depth;
    orch->first_depth = first_depth;
    orch->manual_depth = manual;
    return status;
}

/* The function gets the caller's own configuration, as on the other runtime. */
static struct simpler_hbg_recorded *record_new(struct simpler_hbg_orch *orch, simpler_graph_fn fn,
                                               const struct simpler_hbg_graph_key *key,
                                               const void *config, struct call_site at)
{
    const struct simpler_hbg_given *given = &orch->given;
    bool full = false;

    if (record(orch, fn, &given->args, key, config) != 0)
        return NULL;
    orch->recorder->builder.base_count = 1 + key->tensor_count;
    struct simpler_hbg_recorded *g = simpler_hbg_graph_cache_add(
        orch->cache, key, given->config, orch->recorder, orch->cache_clock, &full);
    orch->recorder->builder.base_count = 1;
    if (g == NULL && full)
        (void)simpler_hbg_latch(orch, SIMPLER_CODE_INVALID_ARGS,
                                "graph at %s:%d: one run calls at most %d different graphs (a "
                                "graph is another one with other shapes or another configuration)",
                                at.file == NULL ? "(unknown)" : at.file, at.line,
                                SIMPLER_HBG_CACHED_GRAPHS);
    else if (g == NULL)
        (void)simpler_hbg_stop(orch, SIMPLER_ENOMEM);
    return g;
}

/* After a recording *args are those that were kept: the caller's may be other ones by now. */
static struct simpler_hbg_recorded *find_or_record(struct simpler_hbg_orch *orch,
                                                   simpler_graph_fn fn,
                                                   const struct simpler_task_args **args,
                                                   const void *config, size_t config_bytes,
                                                   struct call_site at)
{
    struct simpler_hbg_graph_key key;

    if (make_key(orch, fn, *args, config, config_bytes, at, &key) != 0)
        return NULL;
    struct simpler_hbg_recorded *g = simpler_hbg_graph_cache_find(orch->cache, &key, config);
    if (g != NULL)
        return g;
    if (open_recorder(orch) != 0 || keep_config(&orch->given, config, config_bytes) != 0) {
        (void)simpler_hbg_stop(orch, SIMPLER_ENOMEM);
        return NULL;
    }
    keep_args(&orch->given, *args);
    *args = &orch->given.args;
    return record_new(orch, fn, &key, config, at);
}

/* ---- the call ---- */

static bool grow(void *place, uint32_t *capacity, uint32_t wanted, size_t bytes)
{
    if (wanted <= *capacity)
        return true;
    uint32_t n = wanted * 2 < 64 ? 64 : wanted * 2;
    void *made = simpler_alloc_resize(*(void **)place, n, bytes);
    if (made == NULL)
        return false;
    *(void **)place = made;
    *capacity = n;
    return true;
}

/* Without memory the run is stopped. */
void simpler_hbg_add_fill(struct simpler_hbg_orch *orch, const struct simpler_create_info *info,
                          uint64_t offset, uint64_t bytes)
{
    struct simpler_hbg_draft *d = orch->draft;

    /* Not resized: a create-info is aligned to a cache line. */
    if (d->fill_count == d->fill_capacity) {
        uint32_t n = d->fill_capacity * 2 + 16;
        struct simpler_hbg_fill *made = simpler_alloc_aligned(n, sizeof(*made));
        if (made == NULL) {
            (void)simpler_hbg_stop(orch, SIMPLER_ENOMEM);
            return;
        }
        if (d->fill_count != 0)
            memcpy(made, d->fills, d->fill_count * sizeof(*made));
        simpler_alloc_free(d->fills);
        d->fills = made;
        d->fill_capacity = n;
    }
    d->fills[d->fill_count++] =
        (struct simpler_hbg_fill){.info = *info, .offset = offset, .bytes = bytes};
}

static bool make_room(struct simpler_hbg_orch *orch, const struct simpler_task_args *args)
{
    return grow(&orch->calls, &orch->call_capacity, orch->call_count + 1, sizeof(*orch->calls)) &&
           grow(&orch->call_bases, &orch->call_base_capacity,
                orch->call_base_count + 1 + args->tensor_count, sizeof(*orch->call_bases)) &&
           grow(&orch->call_scalars, &orch->call_scalar_capacity,
                orch->call_scalar_count + args->scalar_count, sizeof(*orch->call_scalars));
}

/* Where this call's arguments and outputs lie. */
static void bind(struct simpler_hbg_orch *orch, const struct simpler_task_args *args,
                 struct simpler_hbg_call *call)
{
    struct simpler_hbg_base *base = &orch->call_bases[orch->call_base_count];

    call->first_base = orch->call_base_count;
    call->first_scalar = orch->call_scalar_count;
    base[0] = (struct simpler_hbg_base){.addr = orch->main.heap + call->heap_offset,
                                        .owner = call->first_id};
    for (uint32_t i = 0; i < args->tensor_count; i++) {
        const struct simpler_tensor *t = args->tensor[i];
        base[1 + i] = (struct simpler_hbg_base){
            .addr = t->addr,
            .buffer_bytes = t->buffer_bytes,
            .start_offset = t->start_offset,
            .owner = t->owner,
            .version = t->version,
            .address_space = t->address_space,
            .is_bound = 1,
        };
    }
    for (uint32_t i = 0; i < args->scalar_count; i++)
        orch->call_scalars[orch->call_scalar_count + i] = args->scalar[i];
    orch->call_base_count += 1 + args->tensor_count;
    orch->call_scalar_count += args->scalar_count;
}

static int add_call(struct simpler_hbg_orch *orch, struct simpler_hbg_recorded *graph,
                    const struct simpler_task_args *args, struct call_site at)
{
    struct simpler_hbg_builder *b = &orch->main.builder;
    uint32_t tasks = graph->image->node_count;
    uint64_t words = b->word_count;

    if (tasks == 0)
        return 0;
    int status = simpler_hbg_check_room(orch, tasks, graph->image->heap_bytes,
                                        orch->manual_depth != 0 ? 0 : args->tensor_count);
    if (status != 0) {
        simpler_hbg_count_graph(orch, tasks, graph->image->heap_bytes);
        return status;
    }
    if (!make_room(orch, args))
        return simpler_hbg_stop(orch, SIMPLER_ENOMEM);
    simpler_hbg_find_producers(orch, args);
    status = simpler_hbg_check_edges(orch, at.file, at.line);
    if (status != 0)
        return status;
    struct simpler_hbg_call *call = &orch->calls[orch->call_count];
    *call = (struct simpler_hbg_call){.graph = graph,
                                      .node = b->node_count,
                                      .first_id = orch->next_id,
                                      .heap_offset = b->heap_bytes};
    bind(orch, args, call);
    b->word[b->word_count++] = orch->call_count++;
    simpler_hbg_builder_finish_node(b, SIMPLER_HBG_FUNC_GRAPH, 0, 0, words, at.file, at.line);
    b->heap_bytes += graph->image->heap_bytes;
    orch->next_id += tasks;
    return 0;
}

/* Outputs with an initial value are filled where this call has them. */
static void fill_outputs(struct simpler_hbg_orch *orch, const struct simpler_hbg_recorded *graph,
                         uint64_t heap_offset)
{
    for (uint32_t i = 0; i < graph->fill_count; i++) {
        const struct simpler_hbg_fill *f = &graph->fills[i];
        simpler_submit_fill_initial(orch->heap + heap_offset + f->offset, f->bytes, &f->info);
    }
}

int simpler_hbg_submit_graph(struct simpler_orch *base, simpler_graph_fn fn,
                             const struct simpler_task_args *args, const void *config,
                             size_t config_bytes, const char *file, int line)
{
    struct simpler_hbg_orch *orch = simpler_hbg_of(base);
    struct call_site at = {file, line};
    int status = simpler_hbg_status(orch);

    if ((status != 0 && !orch->counting) || check(orch, fn, args, config, config_bytes, at) != 0)
        return simpler_hbg_status(orch);
    struct simpler_hbg_recorded *graph = find_or_record(orch, fn, &args, config, config_bytes, at);
    if (graph == NULL)
        return simpler_hbg_status(orch);
    if (orch->counting) {
        simpler_hbg_count_graph(orch, graph->image->node_count, graph->image->heap_bytes);
        return simpler_hbg_status(orch);
    }
    uint64_t heap_offset = orch->main.builder.heap_bytes;
    status = add_call(orch, graph, args, at);
    if (status == 0)
        fill_outputs(orch, graph, heap_offset);
    return status;
}
