/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside a grain there is nothing to look up: the tasks stand in an order in
 * which they may run.  What is rare (a failure, a stop, an args dump) has a path
 * of its own.
 */
#include "hbg/run_tasks.h"

#include <string.h>

#include "base/clock.h"
#include "base/testpoint.h"
#include "hbg/hbg_deferred.h"
#include "hbg/hbg_launch.h"

/* The view of argument @i is another one: the descriptor is made anew. */
static SIMPLER_NOINLINE void load_view(struct simpler_hbg_thread *thread,
                                       const struct simpler_hbg_part *part, uint32_t i,
                                       uint32_t index)
{
    const struct simpler_hbg_view *view = &simpler_hbg_views(part->image)[index];
    const struct simpler_hbg_base *base = &part->bases[view->base];
    struct simpler_tensor *t = &thread->scratch[i];

    *t = view->tensor;
    t->addr += base->addr;
    if (base->is_bound) {
        t->buffer_bytes = base->buffer_bytes;
        t->owner = base->owner;
        t->version = base->version;
        t->address_space = base->address_space;
    } else if (view->base == 0) {
        t->owner += base->owner;
    }
    thread->view_start[i] = t->start_offset + base->start_offset;
    thread->view_key[i] = (uint64_t)part->serial << 32 | index;
}

/* The scalars behind @tensors; a bound one has the value of this call. */
static SIMPLER_NOINLINE void fill_bound(struct simpler_hbg_thread *thread,
                                        const struct simpler_hbg_part *part, const uint64_t *w,
                                        uint32_t tensors, uint32_t scalars)
{
    const uint8_t *bindings = (const uint8_t *)(w + scalars);

    for (uint32_t k = 0; k < scalars; k++) {
        if (bindings[k] != 0)
            thread->args[tensors + k] = (int64_t)part->scalars[bindings[k] - 1];
    }
}

/* @w: the task's words; @serial: of the part, in the high half. */
SIMPLER_INLINE void fill_args(struct simpler_hbg_thread *thread,
                              const struct simpler_hbg_part *part,
                              const struct simpler_hbg_node *node, const uint64_t *w,
                              uint64_t serial)
{
    uint32_t tensors = node->tensor_count, flags = node->scalars;

    for (uint64_t i = 0; i < tensors; i++) {
        uint64_t word = w[i];
        if (SIMPLER_UNLIKELY(thread->view_key[i] != (serial | word >> SIMPLER_HBG_DISTANCE_BITS)))
            load_view(thread, part, (uint32_t)i, (uint32_t)(word >> SIMPLER_HBG_DISTANCE_BITS));
        thread->scratch[i].start_offset = thread->view_start[i] + (uint32_t)word;
        thread->args[i] = (int64_t)(uintptr_t)&thread->scratch[i];
    }
    if (flags != 0) {
        uint32_t scalars = flags & SIMPLER_HBG_SCALARS;
        for (uint32_t k = 0; k < scalars; k++)
            thread->args[tensors + k] = (int64_t)w[tensors + k];
        if (SIMPLER_UNLIKELY((flags & SIMPLER_HBG_BOUND) != 0))
            fill_bound(thread, part, w + tensors, tensors, scalars);
    }
    /* The array is the kernel's own until it returns: the one before may have used it. */
    thread->args[SIMPLER_KERNEL_LOCAL_CONTEXT] = (int64_t)(uintptr_t)&thread->local;
    thread->args[SIMPLER_KERNEL_GLOBAL_CONTEXT] = (int64_t)(uintptr_t)&thread->global;
}

static SIMPLER_NOINLINE int run_timed(struct simpler_hbg_thread *thread, uint32_t func_id)
{
    struct simpler_hbg_device *device = thread->device;
    uint64_t start = simpler_clock_ticks();
    int status = device->kernels[func_id]->fn(thread->args);

    thread->timing =
        simpler_estimates_note(device->estimates, func_id, simpler_clock_ticks() - start);
    return status;
}

SIMPLER_INLINE int run_kernel(struct simpler_hbg_thread *thread,
                              const struct simpler_kernel *const *kernels, uint32_t func_id)
{
    if (SIMPLER_UNLIKELY(thread->timing == 0))
        return run_timed(thread, func_id);
    thread->timing--;
    return kernels[func_id]->fn(thread->args);
}

bool simpler_hbg_is_poisoned(const struct simpler_hbg_device *device,
                             const struct simpler_hbg_part *part, uint32_t node)
{
    const uint32_t *from = simpler_hbg_edge_from(part->image);
    const uint32_t *edges = simpler_hbg_edges(part->image);

    if (part->poisoned)
        return true;
    if (atomic_load_explicit(&device->attention, memory_order_relaxed) == 0)
        return false;
    for (uint32_t e = from[node]; e < from[node + 1]; e++) {
        if ((simpler_hbg_bits(part, edges[e]) & SIMPLER_HBG_FAILED) != 0)
            return true;
    }
    return false;
}

uint64_t simpler_hbg_task_id(const struct simpler_hbg_device *device,
                             const struct simpler_hbg_part *part, uint32_t node)
{
    return part->call_unit == SIMPLER_HBG_NO_UNIT ? simpler_hbg_orch_id_of(device->orch, node)
                                                  : part->id_base + node;
}

void simpler_hbg_enter(struct simpler_hbg_thread *thread, const struct simpler_hbg_part *part,
                       uint32_t node, uint32_t func_id)
{
    atomic_store_explicit(&thread->place.node, node, memory_order_relaxed);
    atomic_store_explicit(&thread->place.stretch, node, memory_order_relaxed);
    simpler_kernel_guard_enter(&thread->place.guard,
                               simpler_hbg_word(thread->device, part, func_id));
}

void simpler_hbg_leave(struct simpler_hbg_thread *thread)
{
    SIMPLER_TESTPOINT(KERNEL_BEFORE_LEAVE);
    if (SIMPLER_UNLIKELY(simpler_kernel_guard_leave(&thread->place.guard) != SIMPLER_REVOKE_NOT)) {
        simpler_kernel_guard_asked(&thread->place.guard, &thread->device->guarded);
        thread->left = simpler_kernel_guard_is_revoked(&thread->place.guard);
    }
}

/* The first failing kernel of the run is the one that is reported. */
static SIMPLER_COLD void note_failure(struct simpler_hbg_thread *thread,
                                      struct simpler_hbg_part *part, uint32_t node, int status)
{
    struct simpler_hbg_device *device = thread->device;
    uint32_t none = 0;

    simpler_hbg_add_bit(part, node, SIMPLER_HBG_FAILED);
    thread->deferred = false;
    if (simpler_deferral_is_open(&device->deferred))
        simpler_deferral_drop(&device->deferred, simpler_hbg_deferred_key(device, part, node));
    atomic_store_explicit(&part->any_failed, true, memory_order_relaxed);
    /* Before the unit is completed: who depends on it looks. */
    atomic_store_explicit(&device->attention, 1, memory_order_relaxed);
    if (status == 0) {
        simpler_hbg_add_count(&thread->counts->poisoned, 1);
        return;
    }
    simpler_hbg_add_count(&thread->counts->failed, 1);
    if (!atomic_compare_exchange_strong_explicit(&device->failure.claim, &none, 1,
                                                 memory_order_relaxed, memory_order_relaxed))
        return;
    device->failure.func_id = simpler_hbg_first_func(part->image, node);
    device->failure.id = simpler_hbg_task_id(device, part, node);
    device->failure.status = status;
    device->failure.site = part->sites[node];
}

#if SIMPLER_DFX
/* Of several kernels the one with the longest signature speaks for the arguments. */
static const struct simpler_kernel *speaker(const struct simpler_hbg_device *device,
                                            const struct simpler_hbg_image *image, uint32_t number)
{
    const struct simpler_hbg_launch *launch;
    const struct simpler_kernel *widest = NULL;

    if (simpler_hbg_nodes(image)[number].func_id != SIMPLER_HBG_FUNC_LAUNCH)
        return device->kernels[simpler_hbg_nodes(image)[number].func_id];
    launch = simpler_hbg_launch_of(image, number);
    for (uint32_t lane = 0; lane < SIMPLER_LANES; lane++) {
        if (launch->func_id[lane] == SIMPLER_NO_FUNC)
            continue;
        const struct simpler_kernel *kernel = device->kernels[launch->func_id[lane]];
        if (widest == NULL || kernel->signature_count > widest->signature_count)
            widest = kernel;
    }
    return widest;
}
#endif

void simpler_hbg_capture(struct simpler_hbg_thread *thread, const struct simpler_hbg_part *part,
                         uint32_t number, uint8_t stage)
{
#if SIMPLER_DFX
    if (thread->device->dump_level == 0)
        return;
    const struct simpler_hbg_device *device = thread->device;
    const struct simpler_hbg_node *node = &simpler_hbg_nodes(part->image)[number];
    const struct simpler_kernel *kernel = speaker(device, part->image, number);
    struct dump_args_run run = {device->run->dump_data_base, device->run->run_epoch};
    bool is_own = part->call_unit == SIMPLER_HBG_NO_UNIT;
    struct dump_args_submit submit = simpler_hbg_dumps(part->image)[number];
    struct dump_args_view view = {
        .task_id = simpler_hbg_task_id(device, part, number),
        .func_id = (uint16_t)kernel->func_id,
        .func_count = 1,
        .func_ids = {UINT16_MAX, UINT16_MAX, UINT16_MAX},
        .level = device->dump_level,
        .tensor_count = node->tensor_count,
        .scalar_count = node->scalars & SIMPLER_HBG_SCALARS,
        .signature = kernel->signature,
        .signature_count = kernel->signature_count,
        .submit = &submit,
        .args = thread->args,
    };

    if (!is_own)
        submit.submit_seq += (uint32_t)part->id_base;
    atomic_store_explicit(&thread->place.in_diagnostic, 1, memory_order_relaxed);
    dump_args_task_capture(&run, thread->lane, &view, stage);
    atomic_store_explicit(&thread->place.in_diagnostic, 0, memory_order_relaxed);
#else
    (void)thread;
    (void)part;
    (void)number;
    (void)stage;
#endif
}

void simpler_hbg_fill_args(struct simpler_hbg_thread *thread, const struct simpler_hbg_part *part,
                           uint32_t number)
{
    fill_args(thread, part, &simpler_hbg_nodes(part->image)[number],
              simpler_hbg_args_of(part->image, number), (uint64_t)part->serial << 32);
}

int simpler_hbg_call_kernel(struct simpler_hbg_thread *thread, uint32_t func_id)
{
    return run_kernel(thread, thread->device->kernels, func_id);
}

/* One task with everything that may be rare; false: it is not done, see put_down. */
static SIMPLER_NOINLINE bool run_one(struct simpler_hbg_thread *thread,
                                     struct simpler_hbg_part *part, uint32_t number)
{
    const struct simpler_hbg_node *node = &simpler_hbg_nodes(part->image)[number];
    struct simpler_hbg_device *device = thread->device;
    int status;

    if (simpler_hbg_is_recut(device))
        return false;
    if (simpler_hbg_is_poisoned(device, part, number)) {
        note_failure(thread, part, number, 0);
        return true;
    }
    bool stopped = simpler_hbg_is_stopped(device);
    if (simpler_hbg_is_closing(device))
        return false;
    if (node->func_id == SIMPLER_HBG_FUNC_DUMMY || stopped)
        return true;
    if (node->func_id == SIMPLER_HBG_FUNC_LAUNCH) {
        status = simpler_hbg_run_launch(thread, part, number);
    } else {
        simpler_hbg_fill_args(thread, part, number);
        simpler_hbg_capture(thread, part, number, DUMP_ARGS_STAGE_BEFORE);
        simpler_hbg_enter(thread, part, number, SIMPLER_NO_FUNC);
        status = run_kernel(thread, device->kernels, node->func_id);
        simpler_hbg_leave(thread);
        if (thread->left)
            return false;
        if (!thread->deferred || status != 0)
            simpler_hbg_capture(thread, part, number, DUMP_ARGS_STAGE_AFTER);
        simpler_hbg_add_count(&thread->counts->run, status == 0);
    }
    if (thread->left)
        return false;
    if (status != 0)
        note_failure(thread, part, number, status);
    return !thread->deferred;
}

/* Tasks with nothing rare about them, from @i on; the first that is another one, or @end. */
static SIMPLER_NOINLINE uint32_t run_plain(struct simpler_hbg_thread *thread,
                                           struct simpler_hbg_part *part, uint32_t i, uint32_t end)
{
    struct simpler_hbg_device *device = thread->device;
    const struct simpler_kernel *const *kernels = device->kernels;
    const struct simpler_hbg_node *nodes = simpler_hbg_nodes(part->image);
    const uint64_t *words = simpler_hbg_words(part->image);
    uint64_t serial = (uint64_t)part->serial << 32;
    uint32_t first = i;
    int status = 0;

    simpler_hbg_enter(thread, part, i, SIMPLER_NO_FUNC);
    for (; i < end; i++) {
        const struct simpler_hbg_node *node = &nodes[i];
        if (SIMPLER_UNLIKELY((atomic_load_explicit(&device->attention, memory_order_relaxed) |
                              (node->scalars & SIMPLER_HBG_RARE)) != 0))
            break;
        /* For who looks while the kernel runs. */
        atomic_store_explicit(&thread->place.node, i, memory_order_relaxed);
        fill_args(thread, part, node, words + node->first_word, serial);
        status = run_kernel(thread, kernels, node->func_id);
        if (SIMPLER_UNLIKELY(status != 0))
            break;
    }
    simpler_hbg_leave(thread);
    if (SIMPLER_UNLIKELY(thread->left))
        return i;
    simpler_hbg_add_count(&thread->counts->run, i - first);
    if (SIMPLER_LIKELY(status == 0))
        return i;
    note_failure(thread, part, i, status);
    return i + 1;
}

/*
 * The grain is left before node @i, or behind the node where the thread is when that one is
 * deferred: those before it are done.  Alone in its grain it is held, else whoever cuts the run
 * anew does that.
 */
static SIMPLER_COLD bool put_down(struct simpler_hbg_thread *thread, struct simpler_hbg_part *part,
                                  uint32_t i, uint32_t end)
{
    struct simpler_hbg_device *device = thread->device;
    uint32_t first = thread->first;

    /* A run that hangs stays as it is, with its part and node. */
    if (thread->left || (!thread->deferred && simpler_hbg_is_closing(device))) {
        atomic_store_explicit(&thread->place.node, i, memory_order_relaxed);
        return false;
    }
    if (thread->deferred)
        i = atomic_load_explicit(&thread->place.node, memory_order_relaxed);
    SIMPLER_ASSERT((thread->deferred && end - first == 1) || simpler_hbg_is_recut(device));
    for (uint32_t n = first; n < i; n++)
        simpler_hbg_add_bit(part, n, SIMPLER_HBG_DONE);
    simpler_hbg_add_count(&thread->counts->completed, i - first);
    thread->part = NULL;
    if (thread->deferred && end - first == 1) {
        simpler_deferral_hold(&device->deferred, simpler_hbg_deferred_key(device, part, i));
        /* Somebody who sleeps without a limit is to nap from now on. */
        simpler_sleepers_wake(&device->work, 1);
    }
    thread->deferred = false;
    return false;
}

bool simpler_hbg_run_tasks(struct simpler_hbg_thread *thread, struct simpler_hbg_part *part,
                           uint32_t first, uint32_t end)
{
    bool plain = thread->device->dump_level == 0 && !part->poisoned;

    thread->part = part;
    thread->first = first;
    for (uint32_t i = first; i < end; i++) {
        if (plain)
            i = run_plain(thread, part, i, end);
        if (SIMPLER_UNLIKELY(thread->left | thread->deferred))
            return put_down(thread, part, i, end);
        if (i == end)
            break;
        if (!run_one(thread, part, i))
            return put_down(thread, part, i, end);
    }
    thread->part = NULL;
    simpler_hbg_add_count(&thread->counts->completed, end - first);
    return true;
}
