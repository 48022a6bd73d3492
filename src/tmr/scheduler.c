/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared tasks.  A completion closes the producer's list, walks it, and runs
 * the last successor that became ready itself, on the warm cache; other
 * successors go to the thread's queue when they are worth a hand-over, else to
 * its own stack.
 */
#include "tmr/scheduler.h"

#include <string.h>

#include "base/clock.h"
#include "base/testpoint.h"
#include "tmr/arg_capture.h"
#include "tmr/core_pool.h"
#include "tmr/crash_line.h"
#include "tmr/deferred.h"
#include "tmr/handover.h"
#include "tmr/hang.h"
#include "tmr/kernel_call.h"
#include "tmr/launch.h"
#include "tmr/tensor_pack.h"

/* Completions of short kernels that may pass before a waiting orchestrator is woken. */
#define NOTIFY_AFTER   64u
#define NOTIFY_LONG_NS 5000u
/* Of a consumer that has at least so many references left, this many are dropped at once. */
#define OWED_FROM 64
#define OWED_MOST 16
/* Tasks that may be begun before those that are owed are dropped. */
#define OWED_FINDS 32
/* Tasks on the own stack of which others get some when they have taken what was exposed. */
#define LONG_STACK 64

void simpler_scheduler_init_thread(struct simpler_thread *thread, struct simpler_device *device,
                                   uint32_t index)
{
    simpler_ready_queue_init(&thread->queue, 0);
    thread->device = device;
    thread->index = index;
    thread->lane = index;
    thread->handed = SIMPLER_NO_TASK;
    thread->stack = SIMPLER_NO_TASK;
    thread->owed = SIMPLER_NO_TASK;
    thread->victim = device->thread_count - 1;
    thread->contexts[0] = (int64_t)(uintptr_t)&thread->local;
    thread->contexts[1] = (int64_t)(uintptr_t)&thread->global;
    thread->local.block_num = 1;
    thread->local.member = &thread->member;
    thread->member.ops = &simpler_launch_member_ops;
    thread->member.owner = thread;
    thread->member.stop = &device->stop;
    thread->member.cut = &device->cut;
    atomic_store_explicit(&thread->counts.guard.kernel, SIMPLER_NO_KERNEL, memory_order_relaxed);
}

/* acquire: pairs with the start of the first core. */
SIMPLER_INLINE bool has_cores(const struct simpler_device *device)
{
    return atomic_load_explicit(&device->cores_active, memory_order_acquire);
}

static uint32_t pop_stack(struct simpler_thread *thread)
{
    uint32_t number = thread->stack;
    if (number == SIMPLER_NO_TASK)
        return number;
    thread->stack = thread->device->table.slot[number].link[0];
    thread->stack_count -= thread->stack_count != 0;
    if (thread->stack == SIMPLER_NO_TASK)
        thread->stack_ns = 0;
    return number;
}

static void push_stack(struct simpler_thread *thread, uint32_t number, uint32_t ns)
{
    thread->device->table.slot[number].link[0] = thread->stack;
    thread->stack = number;
    thread->stack_count++;
    thread->stack_ns += ns;
}

/* @n references of a consumer less; how many are left. */
SIMPLER_INLINE int32_t drop_references(struct simpler_task_slot *consumer, int32_t n)
{
    SIMPLER_TESTPOINT(COMPLETE_BEFORE_DECREMENT);
    /* acquire, pairs with P5: these are the last and ours alone, nobody else will touch it. */
    if (atomic_load_explicit(&consumer->fanin, memory_order_acquire) == n)
        return 0;
    /* P5, acq_rel: our producers' effects go to whoever takes the last reference. */
    return atomic_fetch_sub_explicit(&consumer->fanin, n, memory_order_acq_rel) - n;
}

/*
 * One reference of a consumer less; true when it was the last.  Of a consumer with many
 * references several are dropped at once, for its line is another thread's each time.
 */
SIMPLER_INLINE bool satisfy(struct simpler_thread *thread, uint32_t number)
{
    struct simpler_task_slot *consumer = &thread->device->table.slot[number];
    int32_t n = 1;

    if (SIMPLER_FAILPOINT(DROP_EDGE))
        return false;
    if (number == thread->owed) {
        n = ++thread->owed_count;
        if (n < OWED_MOST)
            return false;
        thread->owed_count = 0;
    }
    int32_t left = drop_references(consumer, n);
    if (thread->owed_count == 0) {
        thread->owed = left >= OWED_FROM ? number : SIMPLER_NO_TASK;
        thread->owed_finds = 0;
    }
    return left == 0;
}

/* Drops the references that it owes; the task that is ready by that, or SIMPLER_NO_TASK. */
static uint32_t settle(struct simpler_thread *thread)
{
    uint32_t number = thread->owed;
    int32_t n = thread->owed_count;

    thread->owed = SIMPLER_NO_TASK;
    thread->owed_count = 0;
    if (n == 0 || drop_references(&thread->device->table.slot[number], n) != 0)
        return SIMPLER_NO_TASK;
    return number;
}

static uint32_t take_from(struct simpler_thread *thread, struct simpler_thread *victim)
{
    uint32_t taken[SIMPLER_READY_QUEUE_BATCH];
    struct simpler_device *device = thread->device;

    if (simpler_ready_queue_count(&victim->queue) == 0)
        return SIMPLER_NO_TASK;
    /* One when kernels are long, several when they are short; what waits there is a hint. */
    uint32_t n = simpler_ready_queue_try_take(&victim->queue, taken, 1, false);
    if (n == 0)
        return SIMPLER_NO_TASK;
    uint32_t ns = simpler_handover_estimate(device, &device->table.slot[taken[0]]);
    if (victim != thread && ns < 4 * simpler_handover_threshold(device)) {
        uint32_t more = simpler_ready_queue_try_take(&victim->queue, taken + 1,
                                                     SIMPLER_READY_QUEUE_BATCH - 1, true);
        for (uint32_t i = more; i > 0; i--)
            push_stack(thread, taken[i],
                       simpler_handover_estimate(device, &device->table.slot[taken[i]]));
    }
    return taken[0];
}

static uint32_t steal(struct simpler_thread *thread)
{
    struct simpler_device *device = thread->device;
    uint32_t count = device->thread_count;

    for (uint32_t i = 0; i < count; i++) {
        uint32_t victim = thread->victim + i;
        if (victim >= count)
            victim -= count;
        if (&device->threads[victim] == thread)
            continue;
        uint32_t number = take_from(thread, &device->threads[victim]);
        if (number != SIMPLER_NO_TASK) {
            thread->victim = victim;
            return number;
        }
    }
    return has_cores(device) ? simpler_core_pool_take(device->cores, thread) : SIMPLER_NO_TASK;
}

void simpler_scheduler_publish(struct simpler_thread *thread, uint32_t number)
{
    struct simpler_device *device = thread->device;
    if (!simpler_ready_queue_try_push(&thread->queue, number))
        push_stack(thread, number, simpler_handover_estimate(device, &device->table.slot[number]));
    simpler_sleepers_wake(&device->work, 1);
}

void simpler_scheduler_expose(struct simpler_thread *thread)
{
    uint32_t ready = settle(thread);
    if (ready != SIMPLER_NO_TASK)
        push_stack(thread, ready, 0);
    uint32_t handed = thread->handed;
    if (handed != SIMPLER_NO_TASK) {
        thread->handed = SIMPLER_NO_TASK;
        simpler_scheduler_publish(thread, handed);
    }
    uint32_t moved = 0;
    while (thread->stack != SIMPLER_NO_TASK) {
        uint32_t rest = thread->device->table.slot[thread->stack].link[0];
        if (!simpler_ready_queue_try_push(&thread->queue, thread->stack))
            break;
        thread->stack = rest;
        moved++;
    }
    /* Of a list that the cores gave away it does not know how long it is. */
    thread->stack_count -= moved < thread->stack_count ? moved : thread->stack_count;
    if (thread->stack == SIMPLER_NO_TASK)
        thread->stack_ns = 0;
    if (moved != 0)
        simpler_sleepers_wake(&thread->device->work, moved);
}

static void hold_ready(struct simpler_thread *thread, uint32_t number)
{
    struct simpler_device *device = thread->device;
    uint32_t ns = simpler_handover_estimate(device, &device->table.slot[number]);
    uint32_t threshold = simpler_handover_threshold(device);

    if (ns >= threshold) {
        simpler_scheduler_publish(thread, number);
        return;
    }
    push_stack(thread, number, ns);
    if (thread->stack_ns >= 4 * (uint64_t)threshold)
        simpler_scheduler_expose(thread);
}

/* References that it owes are dropped before it looks further, and not after too many tasks. */
static SIMPLER_NOINLINE void settle_at_times(struct simpler_thread *thread)
{
    bool more = thread->handed != SIMPLER_NO_TASK || thread->stack != SIMPLER_NO_TASK;

    if (more && ++thread->owed_finds < OWED_FINDS)
        return;
    uint32_t ready = settle(thread);
    if (ready != SIMPLER_NO_TASK)
        hold_ready(thread, ready);
}

/* Others have taken all that was exposed: they get more of a long stack. */
SIMPLER_INLINE void share_stack(struct simpler_thread *thread)
{
    if (SIMPLER_UNLIKELY(thread->stack_count >= LONG_STACK) &&
        thread->stack_ns >= 4 * (uint64_t)simpler_handover_threshold(thread->device) &&
        simpler_ready_queue_count(&thread->queue) == 0)
        simpler_scheduler_expose(thread);
}

uint32_t simpler_scheduler_find(struct simpler_thread *thread)
{
    if (SIMPLER_UNLIKELY(thread->owed_count != 0))
        settle_at_times(thread);
    uint32_t number = thread->handed;
    if (number != SIMPLER_NO_TASK) {
        thread->handed = SIMPLER_NO_TASK;
        return number;
    }
    number = pop_stack(thread);
    if (number != SIMPLER_NO_TASK) {
        share_stack(thread);
        return number;
    }
    number = take_from(thread, thread);
    return number != SIMPLER_NO_TASK ? number : steal(thread);
}

/* Scalars beyond the inline ones lie in the lines behind the tensors. */
static void unpack_scalars(struct simpler_thread *thread, uint32_t number,
                           struct simpler_line_cursor cursor)
{
    const struct simpler_task_table *table = &thread->device->table;
    const struct simpler_task_slot *slot = &table->slot[number];
    int64_t *args = thread->args + slot->tensor_count;
    const struct simpler_task_line *line = NULL;

    for (uint32_t k = 0; k < slot->scalar_count; k++) {
        uint32_t outside = k - SIMPLER_INLINE_SCALARS;
        if (k < SIMPLER_INLINE_SCALARS) {
            args[k] = (int64_t)table->desc[number].scalar[k];
            continue;
        }
        if (outside % 8 == 0)
            line = simpler_line_cursor_take(&cursor, table, number);
        memcpy(&args[k], line->bytes + 8 * (outside % 8), 8);
    }
}

/* Everything before it is done, and nothing after it has been told that it is. */
static SIMPLER_NOINLINE int run_captured(struct simpler_thread *thread, uint32_t number)
{
    simpler_arg_capture_before(thread, number);
    const struct simpler_task_slot *slot = &thread->device->table.slot[number];
    int status = simpler_kernel_call(thread, slot->func_id, simpler_kernel_word_of(slot));
    simpler_arg_capture_barrier(thread);
    if (thread->deferred == 0 || status != 0)
        simpler_arg_capture_after(thread, number);
    return status;
}

SIMPLER_INLINE void unpack(struct simpler_thread *thread, uint32_t number)
{
    const struct simpler_task_table *table = &thread->device->table;
    const struct simpler_task_slot *slot = &table->slot[number];
    struct simpler_line_cursor cursor = simpler_line_cursor_init(table, number);

    for (uint32_t i = 0; i < slot->tensor_count; i++) {
        struct simpler_tensor *tensor = &thread->scratch[i];
        simpler_unpack_tensor(&cursor, table, number, tensor);
        thread->args[i] = (int64_t)(uintptr_t)tensor;
    }
    if (slot->scalar_count != 0)
        unpack_scalars(thread, number, cursor);
    simpler_kernel_set_contexts(thread);
}

int simpler_scheduler_call(struct simpler_thread *thread, uint32_t number)
{
    struct simpler_device *device = thread->device;
    const struct simpler_task_slot *slot = &device->table.slot[number];

    unpack(thread, number);
    if (simpler_arg_capture_is_on(device))
        return run_captured(thread, number);
    return simpler_kernel_call(thread, slot->func_id, simpler_kernel_word_of(slot));
}

void simpler_scheduler_unpack(struct simpler_thread *thread, uint32_t number)
{
    unpack(thread, number);
}

int simpler_scheduler_call_kernel(struct simpler_thread *thread, uint32_t number, uint32_t func_id)
{
    const struct simpler_task_slot *slot = &thread->device->table.slot[number];
    return simpler_kernel_call(thread, func_id, simpler_kernel_word_of_lane(slot, func_id));
}

void simpler_scheduler_record_failure(struct simpler_device *device, uint32_t number,
                                      uint32_t func_id, int status)
{
    uint64_t none = 0;
    uint64_t id = simpler_task_id_of(&device->table.slot[number]);

    if (!atomic_compare_exchange_strong_explicit(&device->failure.task, &none, id + 1,
                                                 memory_order_relaxed, memory_order_relaxed))
        return;
    atomic_store_explicit(&device->failure.status, status, memory_order_relaxed);
    atomic_store_explicit(&device->failure.func_id, func_id, memory_order_relaxed);
}

void simpler_scheduler_note_odd_end(struct simpler_thread *thread, uint32_t number, int status)
{
    struct simpler_task_slot *slot = &thread->device->table.slot[number];

    if (thread->deferred != 0)
        simpler_deferred_assign(thread, number);
    if (status == 0) {
        slot->failed = SIMPLER_OUTCOME_DEFERRED;
        simpler_scheduler_count(&thread->counts.run);
        return;
    }
    simpler_deferred_drop(thread->device, number);
    slot->failed = SIMPLER_OUTCOME_FAILED;
    simpler_scheduler_count(&thread->counts.failed);
    simpler_scheduler_record_failure(thread->device, number, slot->func_id, status);
}

void simpler_scheduler_execute(struct simpler_thread *thread, uint32_t number)
{
    struct simpler_task_slot *slot = &thread->device->table.slot[number];

    if (SIMPLER_UNLIKELY(atomic_load_explicit(&slot->poisoned, memory_order_relaxed))) {
        slot->failed = 1;
        simpler_scheduler_count(&thread->counts.poisoned);
        return;
    }
    if (slot->shape == SIMPLER_SHAPE_DUMMY)
        return;
    if (SIMPLER_UNLIKELY(atomic_load_explicit(&thread->device->stop, memory_order_relaxed) != 0)) {
        atomic_store_explicit(&thread->device->cut, 1, memory_order_relaxed);
        return;
    }
    int status = simpler_scheduler_call(thread, number);
    if (SIMPLER_LIKELY(((uint32_t)status | thread->deferred) == 0))
        simpler_scheduler_count(&thread->counts.run);
    else
        simpler_scheduler_note_odd_end(thread, number, status);
}

void simpler_scheduler_complete(struct simpler_thread *thread, uint32_t number)
{
    struct simpler_device *device = thread->device;
    struct simpler_task_slot *slot = &device->table.slot[number];
    uint8_t done = SIMPLER_DONE_OK;
    uint32_t ready = SIMPLER_NO_TASK;

    if (SIMPLER_UNLIKELY(slot->failed != SIMPLER_OUTCOME_OK)) {
        if (slot->failed == SIMPLER_OUTCOME_DEFERRED) {
            simpler_deferred_hold(device, number);
            return;
        }
        done = SIMPLER_DONE_FAILED;
    }

    SIMPLER_TESTPOINT(COMPLETE_BEFORE_CLOSE);
    /* acq_rel: pairs with P3 (the edges) and is P4 (the task's effects). */
    uint32_t link =
        atomic_exchange_explicit(&slot->fanout, SIMPLER_LINK_CLOSED, memory_order_acq_rel);
    while (link != 0) {
        /* The next link lies in the consumer's slot: read it before the decrement. */
        uint32_t consumer = simpler_link_follow(&device->table, link, &link);
        struct simpler_task_slot *c = &device->table.slot[consumer];
        if (SIMPLER_UNLIKELY(done == SIMPLER_DONE_FAILED))
            atomic_store_explicit(&c->poisoned, 1, memory_order_relaxed);
        if (!satisfy(thread, consumer))
            continue;
        if (ready != SIMPLER_NO_TASK)
            hold_ready(thread, ready);
        ready = consumer;
    }
    SIMPLER_TESTPOINT(COMPLETE_BEFORE_DONE);
    /* P7, release: the last touch of the slot; the orchestrator may reuse it. */
    atomic_store_explicit(&device->table.done[number], done, memory_order_release);
    simpler_scheduler_count_completed(thread);
    if (ready == SIMPLER_NO_TASK)
        return;
    if (thread->handed == SIMPLER_NO_TASK && !device->exec_threads)
        thread->handed = ready;
    else
        simpler_scheduler_publish(thread, ready);
}

/* Once in each of its sleeps: until it runs, a second call would do no more. */
static SIMPLER_NOINLINE void wake_orchestrator(struct simpler_thread *thread)
{
    struct simpler_device *device = thread->device;

    thread->unnotified = 0;
    /* acquire: a waiter has numbered its sleep before it became one. */
    if (atomic_load_explicit(&device->progress.waiters, memory_order_acquire) == 0)
        return;
    /* acquire, pairs with P12: the wake comes after the epoch on which it sleeps was read. */
    uint32_t sleep = atomic_load_explicit(&device->progress_sleep, memory_order_acquire);
    if (thread->woken_sleep == sleep)
        return;
    thread->woken_sleep = sleep;
    simpler_event_wake(&device->progress, 1);
}

/* Tells a parked orchestrator, not for every short kernel while there are more. */
static void notify_orchestrator(struct simpler_thread *thread, uint32_t ns)
{
    if (!simpler_event_has_waiters(&thread->device->progress)) {
        thread->unnotified = 0;
        return;
    }
    thread->unnotified++;
    if (ns < NOTIFY_LONG_NS && thread->unnotified < NOTIFY_AFTER &&
        (thread->handed != SIMPLER_NO_TASK || thread->stack != SIMPLER_NO_TASK))
        return;
    wake_orchestrator(thread);
}

void simpler_scheduler_run_here(struct simpler_thread *thread, uint32_t number)
{
    const struct simpler_task_slot *slot = &thread->device->table.slot[number];
    uint32_t ns = simpler_handover_estimate(thread->device, slot);
    if (SIMPLER_UNLIKELY(slot->shape == SIMPLER_SHAPE_LAUNCH)) {
        simpler_launch_run(thread, number);
    } else {
        simpler_scheduler_execute(thread, number);
        simpler_scheduler_complete(thread, number);
    }
    notify_orchestrator(thread, ns);
}

/* Before a long kernel. */
SIMPLER_INLINE void hold_nothing_back(struct simpler_thread *thread)
{
    if (thread->stack != SIMPLER_NO_TASK || thread->owed_count != 0)
        simpler_scheduler_expose(thread);
    if (thread->unnotified != 0)
        wake_orchestrator(thread);
}

void simpler_scheduler_run(struct simpler_thread *thread, uint32_t number)
{
    struct simpler_device *device = thread->device;
    const struct simpler_task_slot *slot = &device->table.slot[number];
    uint32_t ns = simpler_handover_estimate(device, slot);

    if (ns >= 4 * simpler_handover_threshold(device))
        hold_nothing_back(thread);
    if (device->exec_threads && slot->shape < SIMPLER_SHAPE_DUMMY) {
        simpler_core_pool_dispatch(device->cores, thread, number);
        return;
    }
    simpler_scheduler_run_here(thread, number);
}

bool simpler_scheduler_is_busy(struct simpler_device *device)
{
    for (uint32_t i = 0; i < device->thread_count; i++) {
        struct simpler_thread *thread = &device->threads[i];
        if (atomic_load_explicit(&thread->counts.running, memory_order_acquire) != 0 ||
            simpler_ready_queue_count(&thread->queue) != 0)
            return true;
    }
    return (has_cores(device) && simpler_core_pool_is_busy(device->cores)) ||
           simpler_deferred_is_alive(device);
}

uint64_t simpler_scheduler_completed(const struct simpler_device *device)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < device->thread_count; i++)
        sum += atomic_load_explicit(&device->threads[i].counts.completed, memory_order_acquire);
    return has_cores(device) ? sum + simpler_core_pool_completed(device->cores) : sum;
}

static bool is_closing(struct simpler_device *device)
{
    return atomic_load_explicit(&device->closing, memory_order_acquire);
}

/* Looks for work for a while, then parks.  Returns a task or SIMPLER_NO_TASK. */
static uint32_t idle(struct simpler_thread *thread)
{
    struct simpler_device *device = thread->device;
    uint64_t end = simpler_clock_ticks() + device->spin_ticks;

    atomic_store_explicit(&thread->counts.running, 0, memory_order_release);
    if (simpler_event_has_waiters(&device->progress))
        wake_orchestrator(thread);
    do {
        simpler_handover_answer(device);
        uint32_t number = simpler_scheduler_find(thread);
        if (number != SIMPLER_NO_TASK || simpler_spread_is_offered(device))
            return number;
        simpler_clock_relax();
    } while (simpler_clock_ticks() < end && !is_closing(device));
    uint32_t seen = simpler_sleepers_prepare(&device->work, thread->index);
    uint32_t number = simpler_scheduler_find(thread);
    if (number != SIMPLER_NO_TASK || is_closing(device) || simpler_spread_is_offered(device)) {
        simpler_sleepers_cancel(&device->work, thread->index);
        return number;
    }
    simpler_sleepers_sleep(&device->work, thread->index, seen,
                           simpler_deferred_nap_ns(thread, UINT64_MAX));
    return SIMPLER_NO_TASK;
}

void *simpler_scheduler_main(void *argument)
{
    struct simpler_thread *thread = argument;
    struct simpler_device *device = thread->device;
    void *stack = simpler_crash_line_enter(thread);

    while (!is_closing(device)) {
        atomic_store_explicit(&thread->counts.running, 1, memory_order_relaxed);
        if (simpler_deferred_is_open(device))
            (void)simpler_deferred_poll(thread);
        uint32_t number = simpler_scheduler_find(thread);
        if (number == SIMPLER_NO_TASK && simpler_spread_help(thread))
            continue;
        if (number == SIMPLER_NO_TASK)
            number = idle(thread);
        if (number == SIMPLER_NO_TASK)
            continue;
        atomic_store_explicit(&thread->counts.running, 1, memory_order_relaxed);
        simpler_scheduler_run(thread, number);
    }
    simpler_crash_line_leave(stack);
    simpler_hang_exit(thread);
    return NULL;
}
