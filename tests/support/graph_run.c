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
struct body {
    uint8_t *data[SIMPLER_MAX_TENSORS];
    struct graph_view view[SIMPLER_MAX_TENSORS];
};

struct task_call {
    struct run *run;
    uint32_t task;
    /* Of a deferred task. */
    struct simpler_async_counter counter;
    struct task_call *next;
    uint64_t digest;
    struct body body;
};

struct run {
    const struct graph_program *p;
    const struct graph_hooks *hooks;
    struct graph_trace trace;
    _Atomic uint32_t runs[GRAPH_MAX_TASKS];
    /* Relaxed: a clock that orders nothing by itself. */
    _Atomic uint32_t clock;
    _Atomic bool finished[GRAPH_MAX_TASKS];
    _Atomic uint32_t started[GRAPH_MAX_TASKS];   /* clock + 1 of the first kernel */
    uint32_t ended[GRAPH_MAX_TASKS];             /* clock + 1 of the last; it alone writes */
    _Atomic uint32_t instances[GRAPH_MAX_TASKS]; /* bit a kernel: block * 3 + lane */
    _Atomic uint32_t returned[GRAPH_MAX_TASKS];
    _Atomic uint64_t read[GRAPH_MAX_TASKS]; /* the digest that the first reader had, or 0 */
    _Atomic(struct task_call *) deferred;   /* for the writer */
    _Atomic bool writer_ends;
    bool has_deferred;
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

uint64_t graph_fold_packed(uint32_t i, const uint8_t *data, uint32_t size, uint64_t numel)
{
    uint64_t digest = i;
    for (uint64_t e = 0; e < numel; e++) {
        uint64_t value = 0;
        memcpy(&value, data + e * size, size);
        digest = fold(digest, value);
    }
    return digest;
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

static uint64_t element(uint64_t digest, uint64_t i)
{
    return kit_mix(digest + i * 0x632be59bd9b4e019u);
}

uint64_t graph_written(uint64_t digest, uint32_t i, uint64_t at)
{
    return element(fold(digest, i), at);
}

static void write_view(uint64_t digest, uint8_t *data, const struct graph_view *view)
{
    uint32_t size = graph_dtype_bytes(view->dtype);
    uint64_t numel = graph_view_numel(view);
    for (uint64_t i = 0; i < numel; i++) {
        uint64_t value = element(digest, i);
        memcpy(data + graph_view_byte(view, i), &value, size);
    }
}

/* Reads all; @data and @view of access i.  @trace may be NULL. */
static uint64_t task_reads(const struct graph_program *p, uint32_t index, const struct body *body,
                           struct graph_trace *trace)
{
    const struct graph_task *task = &p->task[index];
    uint64_t digest = kit_mix(index + 1);
    for (uint32_t i = 0; i < task->access_count; i++) {
        if (!p->access[task->first_access + i].reads)
            continue;
        uint64_t seen = fold_view(i, body->data[i], &body->view[i]);
        if (trace != NULL)
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

static uint32_t kernels_of(const struct graph_task *task)
{
    const struct graph_form *form = &task->form;
    return form->lanes == 0 ? 1
                            : (uint32_t)form->blocks * (uint32_t)__builtin_popcount(form->lanes);
}

/* Counts this kernel in; each of a task's kernels runs once. */
static void arrive(const int64_t *args, struct run *run, uint32_t index)
{
    const struct graph_form *form = &run->p->task[index].form;
    uint32_t block = (uint32_t)simpler_kernel_block_idx(args), bit = 0;
    bool many = kernels_of(&run->p->task[index]) > 1;
    uint32_t none = 0;

    atomic_fetch_add_explicit(&run->runs[index], 1, memory_order_relaxed);
    uint32_t now = atomic_fetch_add_explicit(&run->clock, 1, memory_order_relaxed) + 1;
    atomic_compare_exchange_strong_explicit(&run->started[index], &none, now, memory_order_relaxed,
                                            memory_order_relaxed);
    if (many)
        bit = block * SIMPLER_LANES + (form->lanes == 2 ? 0 : simpler_kernel_lane(args));
    if (simpler_kernel_block_num(args) != form->blocks || block >= (uint32_t)form->blocks)
        fault(run, "task %u: block %u of %d", index, block, simpler_kernel_block_num(args));
    else if ((atomic_fetch_or_explicit(&run->instances[index], 1u << bit, memory_order_relaxed) >>
                  bit &
              1) != 0)
        fault(run, "task %u: block %u lane %u runs a second time", index, block, bit % 3);
}

/* The task's bytes are written, if this was its last kernel. */
static void leave(struct run *run, uint32_t index)
{
    const struct graph_task *task = &run->p->task[index];
    uint32_t kernels = kernels_of(task) + task->form.deferred;

    if (atomic_fetch_add_explicit(&run->returned[index], 1, memory_order_acq_rel) + 1 != kernels)
        return;
    atomic_store_explicit(&run->finished[index], true, memory_order_relaxed);
    run->ended[index] = atomic_fetch_add_explicit(&run->clock, 1, memory_order_relaxed) + 1;
}

static bool take_body(const int64_t *args, uint32_t tensors, struct run *run, uint32_t index,
                      struct body *body)
{
    const struct graph_task *task = &run->p->task[index];
    if (tensors != task->access_count) {
        fault(run, "task %u: %u tensors, expected %u", index, tensors, task->access_count);
        return false;
    }
    for (uint32_t arg = 0; arg < tensors; arg++) {
        const struct simpler_tensor *tensor = simpler_kernel_tensor(args, arg);
        uint32_t i = access_of(task, arg);
        from_tensor(tensor, &body->view[i]);
        body->data[i] = (uint8_t *)(uintptr_t)tensor->addr;
        if (!same_view(&body->view[i], &run->p->access[task->first_access + i].view)) {
            fault(run, "task %u: the kernel sees another view in argument %u", index, arg);
            return false;
        }
    }
    return true;
}

/* The kernel that writes for its task; the others of its block, or of all, read before. */
static bool is_writer(const int64_t *args, const struct graph_task *task)
{
    const struct graph_form *form = &task->form;
    if (simpler_kernel_block_idx(args) != form->worker)
        return false;
    return kernels_of(task) == (uint32_t)form->blocks ||
           simpler_kernel_lane(args) == (uint32_t)__builtin_ctz(form->lanes);
}

/* Everybody that reads has read the same; then one may write.  Not 0: the barrier was broken. */
static int meet(const int64_t *args, struct run *run, uint32_t index, uint64_t digest)
{
    const struct graph_form *form = &run->p->task[index].form;
    uint64_t first = 0;

    if (!atomic_compare_exchange_strong_explicit(&run->read[index], &first, digest,
                                                 memory_order_relaxed, memory_order_relaxed) &&
        first != digest)
        fault(run, "task %u: its kernels read different things", index);
    int rc = 0;
    if (form->sync_start)
        rc = simpler_kernel_sync_all(args);
    else if (__builtin_popcount(form->lanes) > 1)
        rc = simpler_kernel_sync_block(args);
    if (rc != 0 && !run->hooks->may_fail)
        fault(run, "task %u: a barrier answers %d", index, rc);
    return rc;
}

static int work(const int64_t *args, struct run *run, uint32_t index, const struct body *body)
{
    const struct graph_task *task = &run->p->task[index];
    bool writer = is_writer(args, task);

    if (!task->form.sync_start && simpler_kernel_block_idx(args) != task->form.worker)
        return 0;
    uint64_t digest = task_reads(run->p, index, body, writer ? &run->trace : NULL);
    if (task->sleeps)
        kit_sleep_ns(task->duration_ns);
    else if (task->duration_ns != 0)
        kit_spin_ns(task->duration_ns);
    int rc = meet(args, run, index, digest);
    if (!writer || rc != 0)
        return rc;
    task_writes(run->p, index, body, digest);
    run->trace.digest[index] = digest;
    return 0;
}

/* The kernel reads; the test's own thread writes, when it has long returned. */
static void start_deferred(const int64_t *args, struct task_call *call, const struct body *body)
{
    struct run *run = call->run;
    struct simpler_async_condition condition = {SIMPLER_ASYNC_EVENT, 0, &call->counter, 0};

    call->body = *body;
    call->digest = task_reads(run->p, call->task, body, &run->trace);
    int rc = simpler_kernel_defer(args, &condition);
    if (rc != 0 && !run->hooks->may_fail)
        fault(run, "task %u: its deferral answers %d", call->task, rc);
    call->next = atomic_load_explicit(&run->deferred, memory_order_relaxed);
    while (!atomic_compare_exchange_weak_explicit(&run->deferred, &call->next, call,
                                                  memory_order_release, memory_order_relaxed))
        ;
}

static void *write_deferred(void *user)
{
    struct run *run = user;

    while (!atomic_load_explicit(&run->writer_ends, memory_order_acquire)) {
        struct task_call *call =
            atomic_exchange_explicit(&run->deferred, NULL, memory_order_acquire);
        if (call == NULL)
            kit_sleep_ns(20000);
        while (call != NULL) {
            struct task_call *next = call->next;
            task_writes(run->p, call->task, &call->body, call->digest);
            run->trace.digest[call->task] = call->digest;
            leave(run, call->task);
            simpler_async_counter_add(&call->counter, 1);
            call = next;
        }
    }
    return NULL;
}

static int kernel(const int64_t *args, uint32_t tensors, void *user)
{
    struct task_call *call = user;
    struct run *run = call->run;
    struct body body;
    int rc = 0;

    arrive(args, run, call->task);
    if (run->hooks->kernel != NULL)
        rc = run->hooks->kernel(run->hooks->user, call->task);
    if (rc != 0 || !take_body(args, tensors, run, call->task, &body))
        return rc;
    if (run->p->task[call->task].form.deferred)
        start_deferred(args, call, &body);
    else
        rc = work(args, run, call->task, &body);
    if (rc == 0)
        leave(run, call->task);
    return rc;
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
        if (task->kind != GRAPH_TASK_KERNEL || task->predicate.op != 0 || run->hooks->may_fail ||
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

static void set_extras(struct run *run, const struct graph_task *task,
                       struct simpler_tensor *operand)
{
    const struct graph_form *form = &task->form;
    const struct graph_predicate *p = &task->predicate;
    struct simpler_predicate predicate = {operand, {0}, p->op, p->target};

    if (form->blocks > 1)
        simpler_task_args_set_block_num(&run->args, form->blocks);
    simpler_task_args_set_require_sync_start(&run->args, form->sync_start);
    simpler_task_args_set_allow_early_resolve(&run->args, form->hint);
    if (form->timed)
        simpler_task_args_set_task_timing_slot(&run->args, 2);
    if (p->op == 0)
        return;
    make_tensor(run, &run->p->access[task->first_access + p->access], operand);
    memcpy(predicate.index, p->index, sizeof(p->index));
    simpler_task_args_set_predicate(&run->args, &predicate);
}

/* Lanes take their kernels from different variants. */
static int submit_lanes(struct run *run, struct simpler_orch *orch, uint32_t index)
{
    const struct graph_task *task = &run->p->task[index];
    int32_t aiv = (int32_t)(task->access_count + KIT_VARIANT * (task->variant % 3));
    int32_t aic =
        (int32_t)(task->access_count + KIT_VARIANT * (KIT_AIV_VARIANTS + task->variant % 3));
    uint32_t lanes = task->form.lanes;
    struct simpler_mixed_kernels kernels = {
        (lanes & 1) != 0 ? aic : -1, (lanes & 2) != 0 ? aiv : -1, (lanes & 4) != 0 ? aiv : -1};

    kit_add_call(&run->args, kernel, &run->call[index]);
    return simpler_orch_submit_mixed(orch, &kernels, &run->args, &run->outputs);
}

static int submit_args(struct run *run, struct simpler_orch *orch, uint32_t index)
{
    struct simpler_tensor operand;
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
    set_extras(run, task, &operand);
    if (run->hooks->marks != NULL && task->access_count != 0 &&
        run->hooks->marks(run->hooks->user, index))
        simpler_task_args_dump_all(&run->args);
    int rc = task->kind == GRAPH_TASK_DUMMY
                 ? simpler_orch_submit_dummy(orch, &run->args, &run->outputs)
             : task->form.lanes != 0 ? submit_lanes(run, orch, index)
                                     : kit_submit_variant(orch, task->variant, &run->args, kernel,
                                                          &run->call[index], &run->outputs);
    /* Nothing of ours may be looked at after the submit. */
    memset(ids, 0xa5, sizeof(ids));
    memset(run->tensor, 0xa5, sizeof(run->tensor[0]) * task->access_count);
    memset(run->info, 0xa5, sizeof(run->info[0]) * task->access_count);
    memset(&run->args, 0xa5, sizeof(run->args));
    memset(&operand, 0xa5, sizeof(operand));
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
        if (run->hooks->operation != NULL && run->hooks->operation(run->hooks->user, orch, i) != 0)
            return;
        if (op->kind == GRAPH_OP_SCOPE_BEGIN)
            rc = simpler_orch_scope_begin(orch, op->mode);
        else if (op->kind == GRAPH_OP_SCOPE_END)
            rc = end_scope(run, orch, op);
        else if (op->kind == GRAPH_OP_TASK)
            rc = submit(run, orch, op->index);
        else
            rc = get_or_set(run, orch, op, &gets);
        if (rc != 0) {
            if (!run->hooks->may_fail)
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

static bool is_on(const struct graph_task *task, const struct body *body)
{
    const struct graph_predicate *p = &task->predicate;
    const struct graph_view *view = &body->view[p->access];
    uint64_t at = view->offset, bits = 0;

    if (p->op == 0)
        return true;
    uint32_t size = graph_dtype_bytes(view->dtype);
    for (uint32_t d = 0; d < view->ndims; d++)
        at += (uint64_t)p->index[d] * view->stride[d];
    memcpy(&bits, body->data[p->access] + at * size, size);
    int64_t value = (int64_t)(bits << (64 - 8 * size)) >> (64 - 8 * size);
    return p->op == SIMPLER_PREDICATE_EQ   ? value == p->target
           : p->op == SIMPLER_PREDICATE_NE ? value != p->target
           : p->op == SIMPLER_PREDICATE_GT ? value > p->target
           : p->op == SIMPLER_PREDICATE_LT ? value < p->target
           : p->op == SIMPLER_PREDICATE_GE ? value >= p->target
                                           : value <= p->target;
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
    if (task->kind != GRAPH_TASK_KERNEL || !is_on(task, &body))
        return;
    uint64_t digest = task_reads(p, index, &body, trace);
    task_writes(p, index, &body, digest);
    trace->digest[index] = digest;
    trace->runs[index] += kernels_of(task);
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
                !(p->before[i][k / 64] >> k % 64 & 1) || run->started[i] == 0 ||
                run->started[k] == 0 || run->ended[k] < run->started[i])
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

static bool same_stats(const struct graph_program *p, const struct graph_trace *expected,
                       const struct simpler_run_result *result, char *message, size_t bytes)
{
    const struct simpler_run_stats *stats = &result->stats;
    uint64_t skipped = 0;
    for (uint32_t i = 0; i < p->task_count; i++)
        skipped += p->task[i].kind == GRAPH_TASK_KERNEL && expected->runs[i] == 0;
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
    if (stats->tasks != p->task_count || stats->tasks_run != p->kernel_count - skipped ||
        stats->tasks_skipped != skipped || stats->tasks_failed != 0 || stats->tasks_poisoned != 0 ||
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

static struct graph_trace expected; /* one program at a time */

static const struct graph_trace *refer(const struct graph_program *p)
{
    uint8_t *memory = expected.memory != NULL ? expected.memory : new_memory();
    memset(&expected, 0, sizeof(expected));
    memset(memory, 0, GRAPH_MEMORY_BYTES);
    expected.memory = memory;
    graph_reference(p, &expected);
    return &expected;
}

static struct run last; /* large; one program at a time */

static bool is_right(int rc, const struct simpler_run_result *result, char *message, size_t bytes)
{
    if (rc != 0) {
        snprintf(message, bytes, "the run ended with %d (%s); %s", rc, last.fault, result->message);
        return false;
    }
    if (last.fault[0] != '\0') {
        snprintf(message, bytes, "%s", last.fault);
        return false;
    }
    refer(last.p);
    return right_order(&last, message, bytes) && same_tasks(&last, &expected, message, bytes) &&
           same_data(&last, &expected, message, bytes) &&
           same_stats(last.p, &expected, result, message, bytes);
}

bool graph_judge(const struct simpler_run_result *result, char *message, size_t bytes)
{
    return is_right(result->status, result, message, bytes);
}

/* Nothing ran before all that it needs had ended. */
static bool nothing_early(const struct run *run, char *message, size_t bytes)
{
    const struct graph_program *p = run->p;
    for (uint32_t i = 0; i < p->task_count; i++) {
        for (uint32_t k = 0; k < i && run->started[i] != 0; k++) {
            if (p->task[k].kind != GRAPH_TASK_KERNEL || !(p->before[i][k / 64] >> k % 64 & 1) ||
                expected.runs[k] == 0 || run->ended[k] != 0)
                continue;
            snprintf(message, bytes, "task %u started, but task %u before it has not ended", i, k);
            return false;
        }
    }
    return true;
}

bool graph_judge_part(int status, char *message, size_t bytes)
{
    const struct run *run = &last;
    if (run->fault[0] != '\0') {
        snprintf(message, bytes, "%s", run->fault);
        return false;
    }
    refer(run->p);
    for (uint32_t i = 0; i < run->p->task_count; i++) {
        if (run->trace.runs[i] > expected.runs[i]) {
            snprintf(message, bytes, "task %u ran %u times", i, run->trace.runs[i]);
            return false;
        }
        if (run->trace.digest[i] != 0 && run->trace.digest[i] != expected.digest[i]) {
            snprintf(message, bytes, "task %u read something else than in submit order", i);
            return false;
        }
    }
    /* An orchestration that has waited for a failed task goes on: only its data may not be used. */
    return right_order(run, message, bytes) &&
           (status == SIMPLER_EKERNEL || nothing_early(run, message, bytes));
}

const struct graph_trace *graph_actual(void)
{
    return &last.trace;
}

const struct graph_trace *graph_expected(void)
{
    return &expected;
}

uint64_t graph_scalar(uint32_t task, uint32_t n)
{
    kit_kernel fn = kernel;
    const void *user = &last.call[task];
    uint64_t word = 0;
    memcpy(&word, n == 0 ? (void *)&fn : (void *)&user, sizeof(word));
    return word;
}

int graph_execute(const struct graph_program *program, struct kit *kit,
                  const struct simpler_call_config *config, const struct graph_hooks *hooks,
                  struct simpler_run_result *result)
{
    static struct kit_call call; /* a hung run may still use it */
    struct simpler_orch_args args = {.user = &call};
    struct run *run = &last;
    uint8_t *memory = run->trace.memory != NULL ? run->trace.memory : new_memory();
    memset(run, 0, sizeof(*run));
    memset(result, 0, sizeof(*result));
    call = (struct kit_call){orchestrate, run};
    pthread_mutex_init(&run->fault_lock, NULL);
    run->p = program;
    run->hooks = hooks;
    run->trace.memory = memory;
    start_memory(program, memory);
    bind_externals(run);
    for (uint32_t i = 0; i < program->task_count; i++)
        run->has_deferred |= program->task[i].form.deferred;
    pthread_t writer;
    if (run->has_deferred && pthread_create(&writer, NULL, write_deferred, run) != 0)
        abort();
    int rc = hooks->start != NULL
                 ? hooks->start(hooks->user, kit, &args, config, result)
                 : simpler_worker_run(kit->worker, kit->handle, &args, config, result);
    atomic_store_explicit(&run->writer_ends, true, memory_order_release);
    if (run->has_deferred)
        pthread_join(writer, NULL);
    for (uint32_t i = 0; i < program->task_count; i++)
        run->trace.runs[i] = atomic_load_explicit(&run->runs[i], memory_order_relaxed);
    return rc;
}

bool graph_check(const struct graph_program *program, struct kit *kit, char *message,
                 size_t message_bytes)
{
    static const struct graph_hooks none;
    static struct simpler_run_result result;
    int rc = graph_execute(program, kit, &program->config, &none, &result);
    return is_right(rc, &result, message, message_bytes);
}
