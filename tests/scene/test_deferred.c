/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Deferred completions (SY-05): a task is done when its conditions hold, not when
 * its kernel has returned; codes 101 to 103, provoked, with their reports.
 * runtimes: all
 * ctest: TIMEOUT 240
 */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "cm.h"
#include "faults.h"
#include "kit.h"

static struct kit kit;
static struct simpler_run_result result;

KIT_FIXTURE(kit)

#define COUNTERS 64

/* One task's: the raiser writes value, then raises the counter. */
struct transfer {
    struct simpler_async_counter counter;
    uint32_t type, expected;
    uint64_t value;
    _Atomic uint32_t registered;
    _Atomic uint32_t raised;
};

static struct transfer transfers[COUNTERS];
static _Atomic uint32_t early, wrong;
static _Atomic bool raiser_ends;

static int register_one(const int64_t *args, struct transfer *t)
{
    struct simpler_async_condition condition = {t->type, t->expected, &t->counter, 0};
    int rc = simpler_kernel_defer(args, &condition);
    atomic_fetch_add(&t->registered, 1);
    return rc;
}

/* Each block has a transfer of its own. */
static int start_transfer(const int64_t *args, uint32_t tensors, void *user)
{
    (void)tensors;
    return register_one(args, (struct transfer *)user + simpler_kernel_block_idx(args));
}

static int look_at_transfer(const int64_t *args, uint32_t tensors, void *user)
{
    struct transfer *t = user;
    (void)args;
    (void)tensors;
    if (!atomic_load(&t->raised))
        atomic_fetch_add(&early, 1);
    if (t->value != 4711)
        atomic_fetch_add(&wrong, 1);
    return 0;
}

/* Raises what is registered, a while later. */
static void *raise_them(void *unused)
{
    (void)unused;
    while (!atomic_load(&raiser_ends)) {
        kit_sleep_ns(300000);
        for (uint32_t i = 0; i < COUNTERS; i++) {
            struct transfer *t = &transfers[i];
            if (!atomic_load(&t->registered) || atomic_load(&t->raised))
                continue;
            t->value = 4711;
            atomic_store(&t->raised, 1);
            simpler_async_counter_add(&t->counter, t->type == SIMPLER_ASYNC_EVENT ? 1 : 3);
        }
    }
    return NULL;
}

struct plan {
    uint32_t tasks, variant;
    int32_t blocks;
    bool mixed;
};

static void submit_transfers(struct simpler_orch *orch, void *user)
{
    static int64_t cells[COUNTERS];
    const struct plan *plan = user;
    struct simpler_mixed_kernels mixed = {1 + (int32_t)(KIT_VARIANT * KIT_AIV_VARIANTS), 1, -1};
    struct simpler_tensor all = kit_tensor(cells, COUNTERS, SIMPLER_DTYPE_INT64);
    struct simpler_task_args args;

    for (uint32_t i = 0; i < plan->tasks; i++) {
        struct simpler_tensor cell = kit_cell(&all, i);
        struct transfer *t = &transfers[i * (uint32_t)plan->blocks];
        simpler_task_args_reset(&args);
        simpler_task_args_add_output(&args, &cell);
        simpler_task_args_set_block_num(&args, plan->blocks);
        if (plan->mixed) {
            kit_add_call(&args, start_transfer, t);
            KIT_EXPECT_EQUAL(simpler_orch_submit_mixed(orch, &mixed, &args, NULL), 0);
        } else {
            KIT_EXPECT_EQUAL(
                kit_submit_variant(orch, plan->variant, &args, start_transfer, t, NULL), 0);
        }
        for (int32_t b = 0; b < plan->blocks; b++) {
            simpler_task_args_reset(&args);
            simpler_task_args_add_input(&args, &cell);
            KIT_EXPECT_EQUAL(
                kit_submit_variant(orch, plan->variant, &args, look_at_transfer, t + b, NULL), 0);
        }
    }
}

static void forget(void)
{
    memset(transfers, 0, sizeof(transfers));
    for (uint32_t i = 0; i < COUNTERS; i++) {
        transfers[i].type = i % 2 ? SIMPLER_ASYNC_EVENT : SIMPLER_ASYNC_COUNTER;
        transfers[i].expected = 3;
    }
    atomic_store(&early, 0);
    atomic_store(&wrong, 0);
}

static void transfers_are_waited_for(struct plan plan, struct simpler_call_config config)
{
    pthread_t raiser;
    forget();
    atomic_store(&raiser_ends, false);
    assert_int_equal(pthread_create(&raiser, NULL, raise_them, NULL), 0);
    int rc = kit_run(&kit, submit_transfers, &plan, &config, &result);
    atomic_store(&raiser_ends, true);
    pthread_join(raiser, NULL);
    assert_int_equal(rc, 0);
    assert_int_equal(atomic_load(&early), 0);
    assert_int_equal(atomic_load(&wrong), 0);
    assert_int_equal(result.stats.tasks_run, plan.tasks * (1 + (uint32_t)plan.blocks));
}

static void consumers_wait_for_the_counter(void **state)
{
    (void)state;
    for (uint32_t threads = 1; threads <= 3; threads++) {
        for (uint32_t exec = 0; exec < 2; exec++) {
            struct simpler_call_config config = kit_config(threads);
            config.exec = exec;
            /* Twice: the second time the kernels are known to be tiny, and private. */
            for (int again = 0; again < 2; again++)
                transfers_are_waited_for((struct plan){COUNTERS, 0, 1, false}, config);
            transfers_are_waited_for((struct plan){COUNTERS, KIT_LONG, 1, false}, config);
            transfers_are_waited_for((struct plan){8, 0, 8, false}, config);
            transfers_are_waited_for((struct plan){8, 0, 4, true}, config);
        }
    }
}

/* A window of 4 tasks: what is held keeps its slot. */
static void held_tasks_keep_their_slots(void **state)
{
    struct simpler_call_config config = kit_config(2);
    (void)state;
    if (kit_is_host_built())
        skip(); /* nothing is reclaimed while it runs */
    kit_set_window(&config, 4);
    transfers_are_waited_for((struct plan){COUNTERS, 0, 1, false}, config);
}

static int register_and_fail(const int64_t *args, uint32_t tensors, void *user)
{
    (void)tensors;
    return register_one(args, user) == 0 ? 9 : 0;
}

static void submit_failing(struct simpler_orch *orch, void *user)
{
    struct simpler_task_args args;
    for (int32_t blocks = 1; blocks < 3; blocks++) {
        simpler_task_args_reset(&args);
        simpler_task_args_set_block_num(&args, blocks);
        kit_submit(orch, &args, register_and_fail, user, NULL);
    }
}

static void a_failed_kernel_is_not_held(void **state)
{
    struct simpler_call_config config = kit_config(2);
    (void)state;
    forget();
    assert_int_equal(kit_run(&kit, submit_failing, transfers, &config, &result), SIMPLER_EKERNEL);
    assert_non_null(strstr(result.message, "returned 9"));
}

static void a_deadline_ends_what_is_held(void **state)
{
    struct simpler_call_config config = kit_config(2);
    struct plan plan = {4, 0, 1, false};
    (void)state;
    forget();
    config.deadline_ns = 30000000;
    assert_int_equal(kit_run(&kit, submit_transfers, &plan, &config, &result), SIMPLER_ETIMEDOUT);
    fault_saw("deadline-while-held", "status=%s", simpler_status_name(result.status));
    assert_int_equal(kit_run(&kit, submit_failing, transfers, &config, &result), SIMPLER_EKERNEL);
}

/* ---- codes ---- */

enum { ODD_TYPE, NO_COUNTER, NO_CONDITION, ODD_RESERVED, TOO_MANY, ODD_COUNT };

static int register_odd(const int64_t *args, uint32_t tensors, void *user)
{
    static struct simpler_async_counter counter;
    struct simpler_async_condition c = {SIMPLER_ASYNC_COUNTER, 1, &counter, 0};
    int what = *(const int *)user;
    int rc = 0;
    (void)tensors;
    if (what == ODD_TYPE)
        c.type = 3;
    if (what == NO_COUNTER)
        c.counter = NULL;
    if (what == ODD_RESERVED)
        c.reserved = 1;
    for (int i = 0; i <= SIMPLER_MAX_ASYNC_CONDITIONS && rc == 0; i++) {
        rc = simpler_kernel_defer(args, what == NO_CONDITION ? NULL : &c);
        if (what != TOO_MANY || (i < SIMPLER_MAX_ASYNC_CONDITIONS && rc != 0))
            break;
    }
    return rc == result.status ? 0 : rc;
}

static void submit_odd(struct simpler_orch *orch, void *user)
{
    struct simpler_task_args args;
    simpler_task_args_reset(&args);
    kit_submit(orch, &args, register_odd, user, NULL);
}

static void registrations_that_cannot_be_are_codes_101_to_103(void **state)
{
    static const struct {
        int code;
        const char *text, *fault;
    } expected[ODD_COUNT] = {
        [ODD_TYPE] = {SIMPLER_CODE_ASYNC_COMPLETION_INVALID, "type is none of", "deferral-odd"},
        [NO_COUNTER] = {SIMPLER_CODE_ASYNC_COMPLETION_INVALID, "counter is NULL", "deferral-odd"},
        [NO_CONDITION] = {SIMPLER_CODE_ASYNC_REGISTRATION_FAILED, "condition is NULL",
                          "deferral-message"},
        [ODD_RESERVED] = {SIMPLER_CODE_ASYNC_REGISTRATION_FAILED, "not 0", "deferral-message"},
        [TOO_MANY] = {SIMPLER_CODE_ASYNC_WAIT_OVERFLOW, "256 conditions", "deferral-many"},
    };
    (void)state;
    for (int what = 0; what < ODD_COUNT; what++) {
        for (uint32_t exec = 0; exec < 2; exec++) {
            struct simpler_call_config config = kit_config(2);
            char machine[64];
            config.exec = exec;
            assert_int_equal(kit_run(&kit, submit_odd, &what, &config, &result),
                             -expected[what].code);
            assert_int_equal(result.sched_error_code, expected[what].code);
            assert_int_equal(result.orch_error_code, 0);
            snprintf(machine, sizeof(machine), "orch_error_code=0 sched_error_code=%d",
                     expected[what].code);
            assert_non_null(strstr(result.message, machine));
            assert_non_null(strstr(result.message, expected[what].text));
            fault_saw(expected[what].fault, "status=%s", simpler_status_name(result.status));
        }
    }
    /* And the next run is another. */
    transfers_are_waited_for((struct plan){4, 0, 1, false}, kit_config(2));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(consumers_wait_for_the_counter),
        cmocka_unit_test(held_tasks_keep_their_slots),
        cmocka_unit_test(a_failed_kernel_is_not_held),
        cmocka_unit_test(a_deadline_ends_what_is_held),
        cmocka_unit_test(registrations_that_cannot_be_are_codes_101_to_103),
    };
    simpler_log_set_level(SIMPLER_LOG_NONE);
    return cmocka_run_group_tests(tests, open_kit, close_kit);
}
