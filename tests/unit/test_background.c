/* SPDX-License-Identifier: Apache-2.0 */
/* The background writer: order, places, a writer that stands still, the first failure. SS-26 */
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

#include "cm.h"
#include "faults.h"
#include "host/background.h"
#include "kit.h"
#include "simpler/log.h"
#include "simpler/status.h"

static struct simpler_background background;
static _Atomic int order[1024];
static _Atomic int count;
static atomic_bool hold;

struct job {
    struct simpler_background_job job; /* first */
    int number, status;
};

static int run_job(struct simpler_background_job *b)
{
    struct job *job = (struct job *)b;
    int status = job->status;

    while (atomic_load(&hold))
        kit_sleep_ns(100000);
    atomic_store(&order[atomic_fetch_add(&count, 1)], job->number);
    free(job);
    return status;
}

static void post(int number, int status)
{
    struct job *job = calloc(1, sizeof(*job));

    assert_non_null(job);
    *job = (struct job){.job.run = run_job, .number = number, .status = status};
    assert_int_equal(simpler_background_reserve(&background), 0);
    simpler_background_post(&background, &job->job);
}

static int open_background(void **state)
{
    (void)state;
    atomic_store(&count, 0);
    atomic_store(&hold, false);
    simpler_log_set_level(SIMPLER_LOG_NONE);
    simpler_background_init(&background);
    return simpler_background_start(&background);
}

static int close_background(void **state)
{
    (void)state;
    simpler_background_fini(&background);
    simpler_background_fini(&background);
    return 0;
}

static void jobs_are_done_in_order(void **state)
{
    (void)state;
    for (int i = 0; i < 1000; i++)
        post(i, 0);
    assert_int_equal(simpler_background_flush(&background, UINT64_MAX), 0);
    assert_int_equal(atomic_load(&count), 1000);
    for (int i = 0; i < 1000; i++)
        assert_int_equal(atomic_load(&order[i]), i);
}

static void the_first_failure_stays(void **state)
{
    (void)state;
    post(1, 0);
    post(2, SIMPLER_EPARTIAL);
    post(3, SIMPLER_EIO);
    assert_int_equal(simpler_background_flush(&background, UINT64_MAX), SIMPLER_EPARTIAL);
    simpler_background_note(&background, SIMPLER_ENOMEM);
    post(4, 0);
    assert_int_equal(simpler_background_flush(&background, UINT64_MAX), SIMPLER_EPARTIAL);
    assert_int_equal(simpler_background_error(&background), SIMPLER_EPARTIAL);
    assert_int_equal(atomic_load(&count), 4);
}

static void fini_does_what_is_left(void **state)
{
    (void)state;
    atomic_store(&hold, true);
    for (int i = 0; i < 10; i++)
        post(i, 0);
    assert_int_equal(simpler_background_flush(&background, 1000000), SIMPLER_ETIMEDOUT);
    assert_int_equal(atomic_load(&count), 0);
    atomic_store(&hold, false);
    simpler_background_fini(&background);
    assert_int_equal(atomic_load(&count), 10);
}

/* A full house that does not move is given up; one that moves is waited for. */
static void a_writer_that_stands_still_is_given_up(void **state)
{
    (void)state;
    atomic_store(&hold, true);
    background.stall_ns = 20000000;
    for (uint32_t i = 0; i < SIMPLER_BACKGROUND_PLACES; i++)
        post((int)i, 0);
    uint64_t start = kit_now_ns();
    int full = simpler_background_reserve(&background);
    assert_int_equal(full, SIMPLER_ETIMEDOUT);
    assert_true(kit_now_ns() - start >= 20000000);
    atomic_store(&hold, false);
    int later = simpler_background_reserve(&background);
    assert_int_equal(later, 0);
    fault_saw("writer-stands-still", "place=%s later=%s", simpler_status_name(full),
              simpler_status_name(later));
    simpler_background_release(&background);
    assert_int_equal(simpler_background_flush(&background, UINT64_MAX), 0);
    for (uint32_t i = 0; i < SIMPLER_BACKGROUND_PLACES; i++) /* every place came back */
        assert_int_equal(simpler_background_reserve(&background), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(jobs_are_done_in_order, open_background, close_background),
        cmocka_unit_test_setup_teardown(the_first_failure_stays, open_background, close_background),
        cmocka_unit_test_setup_teardown(fini_does_what_is_left, open_background, close_background),
        cmocka_unit_test_setup_teardown(a_writer_that_stands_still_is_given_up, open_background,
                                        close_background),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
