/* SPDX-License-Identifier: Apache-2.0 */
/* The ring between two host threads: full, empty, the wrap of the indices. */
#include <pthread.h>
#include <sched.h>
#include <stddef.h>
#include <stdint.h>

#include "cm.h"
#include "failing_alloc.h"
#include "prof/spsc.h"
#include "simpler/status.h"

#define FIRST (UINT32_MAX - 16)
#define ITEMS 100000u

static int things[64];

static void full_and_empty_across_the_wrap(void **state)
{
    struct simpler_spsc ring = {0};

    (void)state;
    assert_int_equal(simpler_spsc_init(&ring, 5, FIRST), 0);
    assert_int_equal(ring.capacity, 8);
    for (int round = 0; round < 10; round++) {
        assert_null(simpler_spsc_try_pop(&ring));
        for (int i = 0; i < 8; i++)
            assert_true(simpler_spsc_try_push(&ring, &things[round + i]));
        assert_false(simpler_spsc_try_push(&ring, &things[0]));
        assert_int_equal(simpler_spsc_count(&ring), 8);
        for (int i = 0; i < 8; i++) {
            assert_ptr_equal(simpler_spsc_peek(&ring), &things[round + i]);
            assert_ptr_equal(simpler_spsc_try_pop(&ring), &things[round + i]);
        }
        assert_int_equal(simpler_spsc_count(&ring), 0);
        /* Indices that do not fall on a multiple of the capacity. */
        assert_true(simpler_spsc_try_push(&ring, &things[63]));
        assert_ptr_equal(simpler_spsc_try_pop(&ring), &things[63]);
    }
    simpler_spsc_fini(&ring);
    simpler_spsc_fini(&ring);
}

static void no_memory(void **state)
{
    struct simpler_spsc ring = {0};

    (void)state;
    if (!failing_alloc_available())
        skip();
    failing_alloc_arm(0);
    assert_int_equal(simpler_spsc_init(&ring, 5, 0), SIMPLER_ENOMEM);
    failing_alloc_disarm();
    simpler_spsc_fini(&ring);
}

static void *push_all(void *arg)
{
    struct simpler_spsc *ring = arg;

    for (uintptr_t i = 1; i <= ITEMS; i++) {
        while (!simpler_spsc_try_push(ring, (void *)i)) // NOLINT: numbers as items
            (void)sched_yield();
    }
    return NULL;
}

static void two_threads_keep_the_order(void **state)
{
    struct simpler_spsc ring = {0};
    pthread_t thread;

    (void)state;
    assert_int_equal(simpler_spsc_init(&ring, 4, FIRST), 0);
    assert_int_equal(pthread_create(&thread, NULL, push_all, &ring), 0);
    for (uintptr_t i = 1; i <= ITEMS; i++) {
        void *item;
        while ((item = simpler_spsc_try_pop(&ring)) == NULL)
            (void)sched_yield();
        assert_int_equal((uintptr_t)item, i);
    }
    assert_int_equal(pthread_join(thread, NULL), 0);
    simpler_spsc_fini(&ring);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(full_and_empty_across_the_wrap),
        cmocka_unit_test(no_memory),
        cmocka_unit_test(two_threads_keep_the_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
