/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ready queue: its owner pushes and takes, thieves take several at a time, indices
 * start just below the wrap at 2^32.  Every entry is taken exactly once.  Under
 * ThreadSanitizer this is also the trap of the plain read before the CAS
 * (engine-findings 6.6).
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cm.h"
#include "task/ready_queue.h"

#define ITEMS   200000u
#define THIEVES 3u
#define START   (UINT32_MAX - 16u)

static struct simpler_ready_queue queue;
static _Atomic uint8_t taken[ITEMS];
static _Atomic uint32_t taken_count;

static void mark(const uint32_t *numbers, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        if (numbers[i] >= ITEMS)
            abort();
        atomic_fetch_add_explicit(&taken[numbers[i]], 1, memory_order_relaxed);
    }
    atomic_fetch_add_explicit(&taken_count, n, memory_order_relaxed);
}

static void *steal(void *argument)
{
    uint32_t limit = *(const uint32_t *)argument;
    uint32_t numbers[SIMPLER_READY_QUEUE_BATCH];

    while (atomic_load_explicit(&taken_count, memory_order_relaxed) < ITEMS)
        mark(numbers, simpler_ready_queue_try_take(&queue, numbers, limit, limit > 1));
    return NULL;
}

static void every_entry_is_taken_once(void **state)
{
    (void)state;
    pthread_t threads[THIEVES];
    uint32_t limits[THIEVES] = {1, 7, SIMPLER_READY_QUEUE_BATCH};
    uint32_t number, next = 0;

    simpler_ready_queue_init(&queue, START);
    for (uint32_t i = 0; i < THIEVES; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, steal, &limits[i]), 0);
    while (next < ITEMS) {
        if (simpler_ready_queue_try_push(&queue, next))
            next++;
        else
            mark(&number, simpler_ready_queue_try_take(&queue, &number, 1, false));
    }
    while (simpler_ready_queue_try_take(&queue, &number, 1, false) != 0)
        mark(&number, 1);
    for (uint32_t i = 0; i < THIEVES; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    for (uint32_t i = 0; i < ITEMS; i++)
        assert_int_equal(atomic_load(&taken[i]), 1);
    assert_int_equal(atomic_load(&queue.tail), (uint32_t)(START + ITEMS));
}

static void full_and_empty_are_told_across_the_wrap(void **state)
{
    (void)state;
    uint32_t numbers[SIMPLER_READY_QUEUE_BATCH];

    simpler_ready_queue_init(&queue, START);
    assert_int_equal(simpler_ready_queue_try_take(&queue, numbers, 16, false), 0);
    for (uint32_t i = 0; i < SIMPLER_READY_QUEUE_SIZE; i++)
        assert_true(simpler_ready_queue_try_push(&queue, i));
    assert_false(simpler_ready_queue_try_push(&queue, 1));
    assert_int_equal(simpler_ready_queue_count(&queue), SIMPLER_READY_QUEUE_SIZE);
    assert_int_equal(simpler_ready_queue_try_take(&queue, numbers, 16, true), 16);
    for (uint32_t i = 0; i < 16; i++)
        assert_int_equal(numbers[i], i);
    for (uint32_t i = 16; i < SIMPLER_READY_QUEUE_SIZE; i++) {
        assert_int_equal(simpler_ready_queue_try_take(&queue, numbers, 1, false), 1);
        assert_int_equal(numbers[0], i);
    }
    assert_int_equal(simpler_ready_queue_try_take(&queue, numbers, 1, false), 0);
}

static void a_share_is_half_of_what_is_there(void **state)
{
    (void)state;
    uint32_t numbers[SIMPLER_READY_QUEUE_BATCH];

    simpler_ready_queue_init(&queue, START);
    for (uint32_t i = 0; i < 5; i++)
        assert_true(simpler_ready_queue_try_push(&queue, i));
    assert_int_equal(simpler_ready_queue_try_take(&queue, numbers, 16, true), 3);
    assert_int_equal(simpler_ready_queue_try_take(&queue, numbers, 16, true), 1);
    assert_int_equal(simpler_ready_queue_try_take(&queue, numbers, 16, true), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(full_and_empty_are_told_across_the_wrap),
        cmocka_unit_test(a_share_is_half_of_what_is_there),
        cmocka_unit_test(every_entry_is_taken_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
