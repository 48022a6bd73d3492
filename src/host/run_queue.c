/* SPDX-License-Identifier: Apache-2.0 */
/* One lock and one condition: few threads wait here, and each for something else. */
#include "host/run_queue.h"

#include "base/alloc.h"
#include "base/timed_wait.h"
#include "host/runtimes.h"

int simpler_run_queue_open(void *const *devices, struct simpler_run_queue **out)
{
    struct simpler_run_queue *queue = simpler_alloc_zeroed(1, sizeof(*queue));

    if (queue == NULL)
        return SIMPLER_ENOMEM;
    queue->owners = 1;
    queue->devices = devices;
    (void)pthread_mutex_init(&queue->lock, NULL);
    simpler_timed_wait_init(&queue->changed);
    (void)pthread_cond_init(&queue->runnable, NULL);
    *out = queue;
    return 0;
}

static void lock(struct simpler_run_queue *queue)
{
    (void)pthread_mutex_lock(&queue->lock);
}

static void unlock(struct simpler_run_queue *queue)
{
    (void)pthread_mutex_unlock(&queue->lock);
}

static void announce(struct simpler_run_queue *queue)
{
    (void)pthread_cond_broadcast(&queue->changed);
}

static void wait(struct simpler_run_queue *queue)
{
    (void)pthread_cond_wait(&queue->changed, &queue->lock);
}

void simpler_run_queue_hold(struct simpler_run_queue *queue)
{
    lock(queue);
    queue->owners++;
    unlock(queue);
}

void simpler_run_queue_drop(struct simpler_run_queue *queue)
{
    if (queue == NULL)
        return;
    lock(queue);
    bool last = --queue->owners == 0;
    unlock(queue);
    if (!last)
        return;
    (void)pthread_cond_destroy(&queue->runnable);
    (void)pthread_cond_destroy(&queue->changed);
    (void)pthread_mutex_destroy(&queue->lock);
    simpler_alloc_free(queue);
}

/* ---- calls ---- */

static bool is_closing(struct simpler_run_queue *queue)
{
    return atomic_load_explicit(&queue->closing, memory_order_seq_cst);
}

void simpler_run_queue_leave(struct simpler_run_queue *queue)
{
    uint32_t before = atomic_fetch_sub_explicit(&queue->inside, 1, memory_order_seq_cst);

    if (before != 1 || !is_closing(queue))
        return;
    lock(queue);
    announce(queue);
    unlock(queue);
}

bool simpler_run_queue_enter(struct simpler_run_queue *queue)
{
    atomic_fetch_add_explicit(&queue->inside, 1, memory_order_seq_cst);
    if (!is_closing(queue))
        return true;
    simpler_run_queue_leave(queue);
    return false;
}

/* ---- turns ---- */

static bool is_for_runner(const struct simpler_run *run)
{
    return run != NULL && run->submitted && run->state == SIMPLER_RUN_PREPARED;
}

static void wake_runner(struct simpler_run_queue *queue)
{
    if (is_for_runner(queue->head))
        (void)pthread_cond_signal(&queue->runnable);
}

int simpler_run_queue_admit(struct simpler_run_queue *queue, struct simpler_run *run)
{
    int rc = SIMPLER_ECANCELED;

    lock(queue);
    while (queue->admitted == SIMPLER_MAX_ADMITTED && !is_closing(queue))
        wait(queue);
    if (!is_closing(queue)) {
        struct simpler_run **end = &queue->head;
        while (*end != NULL)
            end = &(*end)->next;
        *end = run;
        queue->admitted++;
        queue->admitted_count++;
        rc = 0;
        wake_runner(queue);
    }
    unlock(queue);
    return rc;
}

void simpler_run_queue_wait_turn(struct simpler_run_queue *queue, struct simpler_run *run)
{
    lock(queue);
    while (queue->head != run)
        wait(queue);
    run->state = SIMPLER_RUN_RUNNING;
    unlock(queue);
}

struct simpler_run *simpler_run_queue_next(struct simpler_run_queue *queue)
{
    lock(queue);
    while (!is_for_runner(queue->head) && !(queue->head == NULL && is_closing(queue)))
        (void)pthread_cond_wait(&queue->runnable, &queue->lock);
    struct simpler_run *run = queue->head;
    if (run != NULL)
        run->state = SIMPLER_RUN_RUNNING;
    unlock(queue);
    return run;
}

void simpler_run_queue_end(struct simpler_run_queue *queue, struct simpler_run *run)
{
    lock(queue);
    queue->head = run->next;
    run->next = NULL;
    run->state = SIMPLER_RUN_ENDED;
    queue->admitted--;
    queue->ended_count++;
    announce(queue);
    wake_runner(queue);
    unlock(queue);
}

/* ---- cancel, close ---- */

/* Under the lock.  A run that starts after this finds the flag. */
static void cancel(struct simpler_run_queue *queue, struct simpler_run *run)
{
    /* release: pairs with the acquire of whoever starts it. */
    atomic_store_explicit(&run->canceled, true, memory_order_release);
    if (run->state == SIMPLER_RUN_RUNNING)
        simpler_runtimes[run->device.runtime]->cancel(queue->devices[run->device.runtime]);
}

void simpler_run_queue_cancel(struct simpler_run_queue *queue, struct simpler_run *run)
{
    lock(queue);
    run = run != NULL ? run : queue->head;
    if (run != NULL && run->state != SIMPLER_RUN_ENDED)
        cancel(queue, run);
    unlock(queue);
}

void simpler_run_queue_close(struct simpler_run_queue *queue)
{
    lock(queue);
    atomic_store_explicit(&queue->closing, true, memory_order_seq_cst);
    for (struct simpler_run *run = queue->head; run != NULL; run = run->next)
        cancel(queue, run);
    announce(queue);
    while (queue->admitted != 0 || atomic_load_explicit(&queue->inside, memory_order_seq_cst) != 0)
        wait(queue);
    (void)pthread_cond_signal(&queue->runnable);
    unlock(queue);
}

/* ---- waiting for an end ---- */

typedef bool condition_fn(const struct simpler_run_queue *queue, const void *what);

static bool wait_for(struct simpler_run_queue *queue, condition_fn *is_true, const void *what,
                     uint64_t timeout_ns)
{
    struct simpler_deadline deadline = simpler_timed_wait_deadline(timeout_ns);
    bool in_time = true;

    lock(queue);
    while (in_time && !is_true(queue, what))
        in_time = simpler_timed_wait(&queue->changed, &queue->lock, &deadline);
    bool done = is_true(queue, what);
    unlock(queue);
    return done;
}

static bool has_ended(const struct simpler_run_queue *queue, const void *run)
{
    (void)queue;
    return ((const struct simpler_run *)run)->state == SIMPLER_RUN_ENDED;
}

bool simpler_run_queue_wait_end(struct simpler_run_queue *queue, const struct simpler_run *run,
                                uint64_t timeout_ns)
{
    return wait_for(queue, has_ended, run, timeout_ns);
}

static bool have_ended(const struct simpler_run_queue *queue, const void *count)
{
    return queue->ended_count >= *(const uint64_t *)count;
}

bool simpler_run_queue_wait_all(struct simpler_run_queue *queue, uint64_t timeout_ns)
{
    lock(queue);
    uint64_t count = queue->admitted_count;
    unlock(queue);
    return wait_for(queue, have_ended, &count, timeout_ns);
}
