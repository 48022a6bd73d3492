/* SPDX-License-Identifier: Apache-2.0 */
/* A generated program through the runtime, through the reference, and compared. */
#include "graph_gen.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct run;

/* What a kernel is told: its second scalar points here. */
struct task_call {
    struct run *run;
    uint32_t task;
};

struct run {
    const struct graph_program *p;
    struct graph_trace trace;
    _Atomic uint32_t runs[GRAPH_MAX_TASKS];
    /* Relaxed: a clock that orders nothing by itself. */
    _Atomic uint32_t clock;
    _Atomic bool finished[GRAPH_MAX_TASKS];
    uint32_t started[GRAPH_MAX_TASKS], ended[GRAPH_MAX_TASKS];
    struct task_call call[GRAPH_MAX_TASKS];
    struct simpler_tensor whole[GRAPH_MAX_BUFFERS];
    bool gone[GRAPH_MAX_BUFFERS]; /* its scope has ended */
    struct simpler_task_id id[GRAPH_MAX_TASKS];
    struct simpler_task_args args;
    struct simpler_tensor tensor[SIMPLER_MAX_TENSORS];
    struct simpler_create_info info[SIMPLER_MAX_TENSORS];
    struct simpler_task_outputs outputs;
    pthread_mutex_t fault_lock;
    _Atomic bool faulty;
    char fault[256]; /* the first difference seen while running */
};

static void fault(struct run *run, const char *format, ...)
{
    va_list list;
    pthread_mutex_lock(&run->fault_lock);
    if (run->fault[0] == '\0') {
        va_start(list, format);
        vsnprintf(run->fault, sizeof(run->fault), format, list);
        va_end(list);
        atomic_store_explicit(&run->faulty, true, memory_order_release);
    }
    pthread_mutex_unlock(&run->fault_lock);
}

/* ---- what a task computes: the same text for both sides ---- */

static uint64_t fold(uint64_t digest, uint64_t value)
{
    return (digest ^ value) * 0x9e3779b97f4a7c15u + (digest >> 29);
}

static uint64_t fold_view(uint64_t digest, const uint8_t *data, const struct graph_view *view)
{
    uint32_t size = graph_dtype_bytes(view->dtype);
    uint64_t numel = graph_view_numel(view);
    for (uint64_t i = 0; i < numel; i++) {
        uint64_t value = 0;
        memcpy(&value, data + graph_view_byte(view, i), size);
        digest = fold(digest, value);
    }
    return digest;
}

static void write_view(uint64_t digest, uint8_t *data, const struct graph_view *view)
{
    uint32_t size = graph_dtype_bytes(view->dtype);
    uint64_t numel = graph_view_numel(view);
    for (uint64_t i = 0; i < numel; i++) {
        uint64_t value = kit_mix(digest + i * 0x632be59bd9b4e019u);
        memcpy(data + graph_view_byte(view, i), &value, size);
    }
}

/* Reads all, lets @pause run, then writes all. @data and @view of access i. */
struct body {
    uint8_t *data[SIMPLER_MAX_TENSORS];
    struct graph_view view[SIMPLER_MAX_TENSORS];
};

static uint64_t task_reads(const struct graph_program *p, uint32_t index, const struct body *body,
                           struct graph_trace *trace)
{
    const struct graph_task *task = &p->task[index];
    uint64_t digest = kit_mix(index + 1);
    for (uint32_t i = 0; i < task->access_count; i++) {
        if (!p->access[task->first_access + i].reads)
            continue;
        uint64_t seen = fold_view(i, body->data[i], &body->view[i]);
        trace->seen[task->first_access + i] = seen;
        digest = fold(digest, seen);
    }
    return digest;
}

static void task_writes(const struct graph_program *p, uint32_t index, const struct body *body,
                        uint64_t digest)
{
    const struct graph_task *task = &p->task[index];
    for (uint32_t i = 0; i < task->access_count; i++) {
        if (p->access[task->first_access + i].writes)
            write_view(fold(digest, i), body->data[i], &body->view[i]);
    }
}

/* ---- the kernel ---- */

static bool same_view(const struct graph_view *a, const struct graph_view *b)
{
    bool same = a->ndims == b->ndims && a->dtype == b->dtype;
    bool empty = same && graph_view_numel(b) == 0;
    for (uint32_t d = 0; same && d < a->ndims; d++)
        same = a->shape[d] == b->shape[d] && (empty || a->stride[d] == b->stride[d]);
    return same && (empty || a->offset == b->offset);
}

static void from_tensor(const struct simpler_tensor *tensor, struct graph_view *out)
{
    memset(out, 0, sizeof(*out));
    out->ndims = tensor->ndims;
    out->dtype = tensor->dtype;
    out->offset = tensor->start_offset;
    for (uint32_t d = 0; d < tensor->ndims && d < SIMPLER_MAX_DIMS; d++) {
        out->shape[d] = tensor->shape[d];
        out->stride[d] = tensor->stride[d];
    }
}

static uint32_t access_of(const struct graph_task *task, uint32_t arg)
{
    return (arg + task->rotation) % task->access_count;
}

static int kernel(const int64_t *args, uint32_t tensors, void *user)
{
    const struct task_call *call = user;
    struct run *run = call->run;
    const struct graph_program *p = run->p;
    const struct graph_task *task = &p->task[call->task];
    struct body body;
    atomic_fetch_add_explicit(&run->runs[call->task], 1, memory_order_relaxed);
    run->started[call->task] = atomic_fetch_add_explicit(&run->clock, 1, memory_order_relaxed);
    if (tensors != task->access_count) {
        fault(run, "task %u: %u tensors, expected %u", call->task, tensors, task->access_count);
        return 0;
    }
    for (uint32_t arg = 0; arg < tensors; arg++) {
        const struct simpler_tensor *tensor = simpler_kernel_tensor(args, arg);
        uint32_t i = access_of(task, arg);
        from_tensor(tensor, &body.view[i]);
        body.data[i] = (uint8_t *)(uintptr_t)tensor->addr;
        if (!same_view(&body.view[i], &p->access[task->first_access + i].view)) {
            fault(run, "task %u: the kernel sees another view in argument %u", call->task, arg);
            return 0;
        }
    }
    uint64_t digest = task_reads(p, call->task, &body, &run->trace);
    if (task->sleeps)
        kit_sleep_ns(task->duration_ns);
    else if (task->duration_ns != 0)
        kit_spin_ns(task->duration_ns);
    task_writes(p, call->task, &body, digest);
    run->trace.digest[call->task] = digest;
    atomic_store_explicit(&run->finished[call->task], true, memory_order_relaxed);
    run->ended[call->task] = atomic_fetch_add_explicit(&run->clock, 1, memory_order_relaxed);
    return 0;
}

/* ---- the orchestration ---- */

static int apply_step(struct simpler_tensor *t, const struct graph_step *step)
{
    switch (step->kind) {
    case GRAPH_STEP_VIEW:
        return simpler_tensor_view(t, step->a, step->b, t);
    case GRAPH_STEP_SLICE:
        return simpler_tensor_slice(t, step->a[0], step->a[1], step->a[2], step->a[3], t);
    case GRAPH_STEP_TRANSPOSE:
        return simpler_tensor_transpose(t, step->a[0], step->a[1], t);
    case GRAPH_STEP_PERMUTE:
        return simpler_tensor_permute(t, step->a, t);
    default:
        return simpler_tensor_reshape(t, step->a, step->n, t);
    }
}

/* The buffer's own descriptor, or one of another type or shape over the same bytes. */
static int make_base(struct run *run, const struct graph_access *access, struct simpler_tensor *out)
{
    const struct simpler_tensor *whole = &run->whole[access->buffer];
    const struct graph_view *base = &access->base;
    if (!access->rebased) {
        *out = *whole;
        return 0;
    }
    void *data = (void *)(uintptr_t)whole->addr;
    int rc = graph_view_contiguous(base)
                 ? simpler_tensor_init(out, data, base->shape, base->ndims, base->dtype)
                 : simpler_tensor_init_strided(out, data, base->shape, base->stride, base->ndims,
                                               base->dtype);
    out->owner = whole->owner;
    out->version = whole->version;
    out->buffer_bytes = whole->buffer_bytes;
    return rc;
}

static void make_tensor(struct run *run, const struct graph_access *access,
                        struct simpler_tensor *out)
{
    struct graph_view got;
    int rc = make_base(run, access, out);
    for (uint32_t i = 0; i < access->step_count && rc == 0; i++)
        rc = apply_step(out, &access->step[i]);
    if (rc != 0) {
        fault(run, "a view function answers %d", rc);
        return;
    }
    from_tensor(out, &got);
    if (!same_view(&got, &access->view) || out->extent != graph_view_extent(&access->view))
        fault(run, "a view of buffer %u differs from our own arithmetic", access->buffer);
    if (graph_view_numel(&got) != 0 && out->is_contiguous != graph_view_contiguous(&access->view))
        fault(run, "a view of buffer %u: is_contiguous is %d", access->buffer, out->is_contiguous);
    out->manual_dep = access->manual_dep;
}

static void make_info(struct run *run, const struct graph_buffer *buffer,
                      struct simpler_create_info *out)
{
    int rc = simpler_create_info_init(out, buffer->whole.shape, buffer->whole.ndims,
                                      buffer->whole.dtype);
    if (rc != 0)
        fault(run, "simpler_create_info_init answers %d", rc);
    out->manual_dep = buffer->manual_dep;
    if (buffer->has_initial_value)
        simpler_create_info_set_initial_value(out, &buffer->initial_value);
}

static void add_argument(struct run *run, const struct graph_access *access, uint32_t arg)
{
    struct simpler_tensor *tensor = &run->tensor[arg];
    if (access->use == SIMPLER_USE_OUTPUT) {
        make_info(run, &run->p->buffer[access->buffer], &run->info[arg]);
        simpler_task_args_add_create(&run->args, &run->info[arg]);
        return;
    }
    make_tensor(run, access, tensor);
    if (access->use == SIMPLER_USE_INPUT)
        simpler_task_args_add_input(&run->args, tensor);
    else if (access->use == SIMPLER_USE_INOUT)
        simpler_task_args_add_inout(&run->args, tensor);
    else if (access->use == SIMPLER_USE_NO_DEP)
        simpler_task_args_add_no_dep(&run->args, tensor);
    else
        simpler_task_args_add_output(&run->args, tensor);
}

/* A kernel that uses the buffer and has not ended; GRAPH_NONE: there is none. */
static uint32_t unfinished_user(struct run *run, uint32_t before, uint32_t id)
{
    const struct graph_program *p = run->p;
    for (uint32_t k = 0; k < before; k++) {
        const struct graph_task *task = &p->task[k];
        if (task->kind != GRAPH_TASK_KERNEL ||
            atomic_load_explicit(&run->finished[k], memory_order_relaxed))
            continue;
        for (uint32_t i = 0; i < task->access_count; i++) {
            if (p->access[task->first_access + i].buffer == id)
                return k;
        }
    }
    return GRAPH_NONE;
}

/* A new buffer shares no byte with one that may still be used. */
static void check_apart(struct run *run, uint32_t index, uint32_t id)
{
    uint64_t low = run->whole[id].addr, high = low + run->p->buffer[id].bytes;
    for (uint32_t i = 0; i < id; i++) {
        uint64_t other = run->whole[i].addr;
        if (other == 0 || other >= high || low >= other + run->p->buffer[i].bytes)
            continue;
        uint32_t user = unfinished_user(run, index, i);
        if (!run->gone[i])
            fault(run, "task %u: output %u lies over buffer %u, whose scope is open", index, id, i);
        else if (user != GRAPH_NONE)
            fault(run, "task %u: output %u lies over buffer %u, which task %u still uses", index,
                  id, i, user);
    }
}

static void take_output(struct run *run, uint32_t index, const struct graph_access *access,
                        uint32_t output)
{
    const struct graph_buffer *buffer = &run->p->buffer[access->buffer];
    const struct simpler_tensor *tensor = &run->outputs.tensor[output];
    struct graph_view got;
    from_tensor(tensor, &got);
    if (!same_view(&got, &buffer->whole) || tensor->owner != run->id[index].raw ||
        tensor->addr % 64 != 0 || tensor->buffer_bytes < buffer->bytes ||
        tensor->manual_dep != buffer->manual_dep || tensor->is_contiguous != 1)
        fault(run, "task %u: output %u has a wrong descriptor", index, output);
    run->whole[access->buffer] = *tensor;
    check_apart(run, index, access->buffer);
}

/* There is one ring, and every task is in it. */
static bool is_host_built(const struct graph_program *program)
{
    return program->config.runtime != NULL;
}

/* What the submit gave back: the predicted id, and each output where it was added. */
static void take_outputs(struct run *run, uint32_t index)
{
    const struct graph_task *task = &run->p->task[index];
    uint64_t expected = is_host_built(run->p) ? index : (uint64_t)task->ring << 32 | task->local;
    uint32_t output = 0;
    run->id[index] = run->outputs.id;
    if (run->outputs.id.raw != expected)
        fault(run, "task %u: id %#llx, expected %#llx", index,
              (unsigned long long)run->outputs.id.raw, (unsigned long long)expected);
    for (uint32_t arg = 0; arg < task->access_count; arg++) {
        const struct graph_access *access =
            &run->p->access[task->first_access + access_of(task, arg)];
        if (access->use == SIMPLER_USE_OUTPUT && output < run->outputs.count)
            take_output(run, index, access, output++);
        else if (access->use == SIMPLER_USE_OUTPUT)
            fault(run, "task %u: only %u outputs", index, run->outputs.count);
    }
    if (output != run->outputs.count)
        fault(run, "task %u: %u outputs, expected %u", index, run->outputs.count, output);
}

static int submit_alloc(struct run *run, struct simpler_orch *orch, const struct graph_task *task)
{
    for (uint32_t arg = 0; arg < task->access_count; arg++) {
        const struct graph_access *access =
            &run->p->access[task->first_access + access_of(task, arg)];
        make_info(run, &run->p->buffer[access->buffer], &run->info[arg]);
    }
    return simpler_orch_alloc_tensors(orch, run->info, task->access_count, &run->outputs);
}

static int submit_args(struct run *run, struct simpler_orch *orch, uint32_t index)
{
    const struct graph_task *task = &run->p->task[index];
    struct simpler_task_id ids[GRAPH_MAX_DEPENDENCIES];
    simpler_task_args_reset(&run->args);
    for (uint32_t arg = 0; arg < task->access_count; arg++)
        add_argument(run, &run->p->access[task->first_access + access_of(task, arg)], arg);
    for (uint32_t i = 0; i < task->dependency_count; i++)
        ids[i] = run->id[task->dependency[i]];
    if (task->kinds_given)
        simpler_task_args_set_dependencies_with_kinds(&run->args, ids, task->dependency_kind,
                                                      task->dependency_count);
    else
        simpler_task_args_set_dependencies(&run->args, ids, task->dependency_count);
    int rc = task->kind == GRAPH_TASK_DUMMY
                 ? simpler_orch_submit_dummy(orch, &run->args, &run->outputs)
                 : kit_submit_variant(orch, task->variant, &run->args, kernel, &run->call[index],
                                      &run->outputs);
    /* Nothing of ours may be looked at after the submit. */
    memset(ids, 0xa5, sizeof(ids));
    memset(run->tensor, 0xa5, sizeof(run->tensor[0]) * task->access_count);
    memset(run->info, 0xa5, sizeof(run->info[0]) * task->access_count);
    memset(&run->args, 0xa5, sizeof(run->args));
    return rc;
}

static int submit(struct run *run, struct simpler_orch *orch, uint32_t index)
{
    const struct graph_task *task = &run->p->task[index];
    run->call[index].run = run;
    run->call[index].task = index;
    int rc = task->kind == GRAPH_TASK_ALLOC ? submit_alloc(run, orch, task)
                                            : submit_args(run, orch, index);
    if (rc == 0)
        take_outputs(run, index);
    return rc;
}

static int get_or_set(struct run *run, struct simpler_orch *orch, const struct graph_op *op,
                      uint32_t *gets)
{
    static const uint32_t origin[SIMPLER_MAX_DIMS] = {0};
    struct simpler_tensor tensor;
    make_tensor(run, &run->p->access[op->index], &tensor);
    if (op->kind == GRAPH_OP_SET)
        return simpler_orch_set_tensor_data(orch, &tensor, origin, &op->value);
    return simpler_orch_get_tensor_data(orch, &tensor, origin, &run->trace.got[(*gets)++]);
}

static int end_scope(struct run *run, struct simpler_orch *orch, const struct graph_op *op)
{
    for (uint32_t i = op->index; i < run->p->buffer_count; i++)
        run->gone[i] = run->whole[i].addr != 0;
    return simpler_orch_scope_end(orch);
}

static void orchestrate(struct simpler_orch *orch, void *user)
{
    struct run *run = user;
    uint32_t gets = 0;
    for (uint32_t i = 0; i < run->p->op_count; i++) {
        const struct graph_op *op = &run->p->op[i];
        int rc = 0;
        if (op->kind == GRAPH_OP_SCOPE_BEGIN)
            rc = simpler_orch_scope_begin(orch, op->mode);
        else if (op->kind == GRAPH_OP_SCOPE_END)
            rc = end_scope(run, orch, op);
        else if (op->kind == GRAPH_OP_TASK)
            rc = submit(run, orch, op->index);
        else
            rc = get_or_set(run, orch, op, &gets);
        if (rc != 0) {
            fault(run, "operation %u answers %d", i, rc);
            return;
        }
        if (atomic_load_explicit(&run->faulty, memory_order_acquire))
            return;
    }
}

/* ---- the reference ---- */

static void fill(uint8_t *data, const struct graph_buffer *buffer)
{
    uint32_t size = graph_dtype_bytes(buffer->whole.dtype);
    for (uint32_t i = 0; i < buffer->bytes; i += size)
        memcpy(data + i, &buffer->initial_value, size);
}

static void reference_task(const struct graph_program *p, uint32_t index, struct graph_trace *trace)
{
    const struct graph_task *task = &p->task[index];
    struct body body;
    for (uint32_t i = 0; i < task->access_count; i++) {
        const struct graph_access *access = &p->access[task->first_access + i];
        const struct graph_buffer *buffer = &p->buffer[access->buffer];
        body.data[i] = trace->memory + buffer->memory;
        body.view[i] = access->view;
        if (access->use == SIMPLER_USE_OUTPUT && buffer->has_initial_value)
            fill(body.data[i], buffer);
    }
    if (task->kind != GRAPH_TASK_KERNEL)
        return;
    uint64_t digest = task_reads(p, index, &body, trace);
    task_writes(p, index, &body, digest);
    trace->digest[index] = digest;
    trace->runs[index]++;
}

static void start_memory(const struct graph_program *p, uint8_t *memory)
{
    struct kit_random random = {p->seed};
    for (uint32_t i = 0; i < p->external_count; i++) {
        for (uint32_t b = 0; b < p->buffer[i].bytes; b++)
            memory[p->buffer[i].memory + b] = (uint8_t)kit_random_next(&random);
    }
}

void graph_reference(const struct graph_program *p, struct graph_trace *trace)
{
    uint32_t gets = 0;
    start_memory(p, trace->memory);
    for (uint32_t i = 0; i < p->op_count; i++) {
        const struct graph_op *op = &p->op[i];
        if (op->kind == GRAPH_OP_TASK)
            reference_task(p, op->index, trace);
        if (op->kind != GRAPH_OP_GET && op->kind != GRAPH_OP_SET)
            continue;
        const struct graph_access *access = &p->access[op->index];
        uint32_t size = graph_dtype_bytes(access->view.dtype);
        uint8_t *at =
            trace->memory + p->buffer[access->buffer].memory + graph_view_byte(&access->view, 0);
        if (op->kind == GRAPH_OP_SET)
            memcpy(at, &op->value, size);
        else
            memcpy(&trace->got[gets++], at, size);
    }
}

/* ---- compared ---- */

/* Every task started after all that it must wait for. */
static bool right_order(const struct run *run, char *message, size_t bytes)
{
    const struct graph_program *p = run->p;
    for (uint32_t i = 0; i < p->task_count; i++) {
        for (uint32_t k = 0; k < i; k++) {
            if (p->task[i].kind != GRAPH_TASK_KERNEL || p->task[k].kind != GRAPH_TASK_KERNEL ||
                !(p->before[i][k / 64] >> k % 64 & 1) || run->ended[k] < run->started[i])
                continue;
            snprintf(message, bytes, "task %u started before task %u had ended", i, k);
            return false;
        }
    }
    return true;
}

static bool same_tasks(const struct run *run, const struct graph_trace *expected, char *message,
                       size_t bytes)
{
    for (uint32_t i = 0; i < run->p->task_count; i++) {
        uint32_t runs = atomic_load_explicit(&run->runs[i], memory_order_relaxed);
        if (runs != expected->runs[i]) {
            snprintf(message, bytes, "task %u ran %u times", i, runs);
            return false;
        }
        if (run->trace.digest[i] != expected->digest[i]) {
            const struct graph_task *task = &run->p->task[i];
            uint32_t k = task->first_access;
            while (k < task->first_access + task->access_count &&
                   run->trace.seen[k] == expected->seen[k])
                k++;
            snprintf(
                message, bytes,
                "task %u read something else than in submit order from buffer %u (argument %u)", i,
                run->p->access[k].buffer,
                (k - task->first_access + task->access_count - task->rotation) %
                    task->access_count);
            return false;
        }
    }
    return true;
}

static bool same_data(const struct run *run, const struct graph_trace *expected, char *message,
                      size_t bytes)
{
    const struct graph_program *p = run->p;
    for (uint32_t i = 0; i < p->get_count; i++) {
        if (run->trace.got[i] != expected->got[i]) {
            snprintf(message, bytes, "get number %u has %#llx, expected %#llx", i,
                     (unsigned long long)run->trace.got[i], (unsigned long long)expected->got[i]);
            return false;
        }
    }
    for (uint32_t i = 0; i < p->external_count; i++) {
        const struct graph_buffer *buffer = &p->buffer[i];
        if (memcmp(run->trace.memory + buffer->memory, expected->memory + buffer->memory,
                   buffer->bytes) != 0) {
            snprintf(message, bytes, "external buffer %u differs at the end", i);
            return false;
        }
    }
    return true;
}

static bool same_stats(const struct graph_program *p, const struct simpler_run_result *result,
                       char *message, size_t bytes)
{
    const struct simpler_run_stats *stats = &result->stats;
    uint64_t by_ring[CHIP_MAX_RING_DEPTH] = {0};
    for (uint32_t i = 0; i < p->task_count; i++)
        by_ring[is_host_built(p) ? 0 : p->task[i].ring]++;
    for (uint32_t r = 0; r < CHIP_MAX_RING_DEPTH; r++) {
        const struct simpler_ring_stats *ring = &stats->ring[r];
        if (ring->tasks != by_ring[r] || ring->task_window_peak > ring->task_window_max ||
            ring->heap_peak > ring->heap_max || ring->dep_pool_peak > ring->dep_pool_max) {
            snprintf(message, bytes, "the figures of ring %u are impossible", r);
            return false;
        }
    }
    if (stats->tasks != p->task_count || stats->tasks_run != p->kernel_count ||
        stats->tasks_failed != 0 || stats->tasks_poisoned != 0 ||
        stats->tensormap_peak > stats->tensormap_max) {
        snprintf(message, bytes, "counts: %llu tasks of %u, %llu run of %u",
                 (unsigned long long)stats->tasks, p->task_count,
                 (unsigned long long)stats->tasks_run, p->kernel_count);
        return false;
    }
    return true;
}

static void bind_externals(struct run *run)
{
    const struct graph_program *p = run->p;
    for (uint32_t i = 0; i < p->external_count; i++) {
        const struct graph_view *whole = &p->buffer[i].whole;
        if (simpler_tensor_init(&run->whole[i], run->trace.memory + p->buffer[i].memory,
                                whole->shape, whole->ndims, whole->dtype) != 0)
            fault(run, "simpler_tensor_init refuses buffer %u", i);
    }
}

static uint8_t *new_memory(void)
{
    uint8_t *memory = aligned_alloc(64, GRAPH_MEMORY_BYTES);
    if (memory == NULL)
        abort();
    memset(memory, 0, GRAPH_MEMORY_BYTES);
    return memory;
}

static bool judge(const struct run *run, const struct simpler_run_result *result, int rc,
                  char *message, size_t bytes)
{
    static struct graph_trace expected; /* one program at a time */
    uint8_t *memory = expected.memory != NULL ? expected.memory : new_memory();
    memset(&expected, 0, sizeof(expected));
    memset(memory, 0, GRAPH_MEMORY_BYTES);
    expected.memory = memory;
    if (rc != 0) {
        snprintf(message, bytes, "the run ended with %d (%s); %s", rc, run->fault, result->message);
        return false;
    }
    if (run->fault[0] != '\0') {
        snprintf(message, bytes, "%s", run->fault);
        return false;
    }
    graph_reference(run->p, &expected);
    return right_order(run, message, bytes) && same_tasks(run, &expected, message, bytes) &&
           same_data(run, &expected, message, bytes) && same_stats(run->p, result, message, bytes);
}

bool graph_check(const struct graph_program *program, struct kit *kit, char *message,
                 size_t message_bytes)
{
    static struct run run; /* large; one program at a time */
    static struct simpler_run_result result;
    uint8_t *memory = run.trace.memory != NULL ? run.trace.memory : new_memory();
    memset(&run, 0, sizeof(run));
    memset(&result, 0, sizeof(result));
    pthread_mutex_init(&run.fault_lock, NULL);
    run.p = program;
    run.trace.memory = memory;
    start_memory(program, memory);
    bind_externals(&run);
    int rc = kit_run(kit, orchestrate, &run, &program->config, &result);
    return judge(&run, &result, rc, message, message_bytes);
}

/* ---- replay ---- */

void graph_print(const struct graph_program *p)
{
    static const char *const uses[] = {"INPUT", "OUTPUT", "INOUT", "OUTPUT_EXISTING", "NO_DEP"};
    uint32_t depth = 0;
    for (uint32_t i = 0; i < p->op_count; i++) {
        const struct graph_op *op = &p->op[i];
        depth -= op->kind == GRAPH_OP_SCOPE_END;
        fprintf(stderr, "%*s", (int)(2 * depth + 2), "");
        depth += op->kind == GRAPH_OP_SCOPE_BEGIN;
        if (op->kind != GRAPH_OP_TASK) {
            static const char *const kinds[] = {"scope", "end", "", "get", "set"};
            fprintf(stderr, "%s%s\n", op->mode ? "manual " : "", kinds[op->kind]);
            continue;
        }
        const struct graph_task *task = &p->task[op->index];
        fprintf(stderr, "task %u ring %u:%u %s%s", op->index, task->ring, task->local,
                (const char *[]){"kernel", "dummy", "alloc"}[task->kind],
                task->dependency_count != 0 ? " after" : "");
        for (uint32_t d = 0; d < task->dependency_count; d++)
            fprintf(stderr, " %u/%u", task->dependency[d], task->dependency_kind[d]);
        fprintf(stderr, "\n");
        for (uint32_t k = 0; k < task->access_count; k++) {
            const struct graph_access *a = &p->access[task->first_access + access_of(task, k)];
            fprintf(stderr, "%*s%s%s buffer %u %s offset %llu", (int)(2 * depth + 6), "",
                    uses[a->use], a->manual_dep ? " manual" : "", a->buffer,
                    simpler_dtype_name(a->view.dtype), (unsigned long long)a->view.offset);
            for (uint32_t d = 0; d < a->view.ndims; d++)
                fprintf(stderr, " %u/%u", a->view.shape[d], a->view.stride[d]);
            fprintf(stderr, "\n");
        }
    }
}

static bool prefix_fails(uint64_t seed, struct kit *kit, const struct graph_options *options,
                         uint32_t tasks, struct graph_program *program)
{
    char message[512];
    struct graph_options shorter = *options;
    shorter.task_limit = tasks;
    graph_generate(program, seed, &shorter);
    for (int i = 0; i < 10; i++) {
        if (!graph_check(program, kit, message, sizeof(message)))
            return true;
    }
    return false;
}

bool graph_try_seed(uint64_t seed, struct kit *kit, const struct graph_options *given)
{
    static struct graph_program program;
    static const struct graph_options none;
    const struct graph_options *options = given != NULL ? given : &none;
    char message[2560];
    graph_generate(&program, seed, options);
    if (graph_check(&program, kit, message, sizeof(message)))
        return true;
    const struct simpler_call_config *config = &program.config;
    fprintf(stderr, "seed %llu (%u tasks, %u operations, hazards %s, %u threads, exec %s): %s\n",
            (unsigned long long)seed, program.task_count, program.op_count,
            config->hazards == SIMPLER_HAZARDS_RAW ? "raw" : "all", config->aicpu_thread_num,
            config->exec == SIMPLER_EXEC_THREADS ? "threads" : "inline", message);
    uint32_t shortest = 0;
    if (getenv("SIMPLER_GRAPH_BRIEF") != NULL)
        return false;
    for (uint32_t step = program.task_count, n = step; step > 0; step /= 2) {
        while (n > step && prefix_fails(seed, kit, options, n - step, &program)) {
            n -= step;
            shortest = n;
        }
    }
    fprintf(stderr, "again: SIMPLER_GRAPH_SEED=%llu%s", (unsigned long long)seed,
            options->calm ? " SIMPLER_GRAPH_CALM=1" : "");
    if (shortest != 0)
        fprintf(stderr, " SIMPLER_GRAPH_TASKS=%u (the shortest prefix that failed in 10 runs)",
                shortest);
    fprintf(stderr, "\n");
    struct graph_options last = *options;
    if (shortest != 0)
        last.task_limit = shortest;
    graph_generate(&program, seed, &last);
    graph_print(&program);
    return false;
}
