/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A process that is stopped (SIGSTOP, as by Ctrl-Z) for longer than the budget of a run is not
 * told that the run hangs when it goes on, on either runtime.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cm.h"
#include "kit.h"
#include "base/idle_clock.h"

#define BUDGET_MS  "2500"
#define STOPPED_NS 3500000000u
/* Until who watches has looked, before and behind that. */
#define LOOKED_NS 400000000u

struct ends {
    int in, out;
};

static const char *const runtimes[] = {"tensormap_and_ringbuffer", "host_build_graph"};
#define RUNTIMES 2u

/* Tells that it is inside, and stays until it is let go. */
static int stay(const int64_t *args, uint32_t tensors, void *user)
{
    (void)args;
    (void)tensors;
    const struct ends *ends = user;
    char byte = 'i';

    KIT_EXPECT_EQUAL(write(ends->out, &byte, 1), 1);
    KIT_EXPECT_EQUAL(read(ends->in, &byte, 1), 1);
    return 0;
}

static void graph(struct simpler_orch *orch, void *user)
{
    struct simpler_task_args args;

    simpler_task_args_reset(&args);
    KIT_EXPECT_EQUAL(kit_submit_variant(orch, KIT_LONG, &args, stay, user, NULL), 0);
}

static int run_in_child(const char *runtime, struct ends *ends)
{
    struct simpler_call_config config = kit_config(2);
    struct simpler_run_result result;
    struct kit kit;

    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    simpler_log_set_level(SIMPLER_LOG_NONE);
    kit_open(&kit);
    config.runtime = runtime;
    int rc = kit_run(&kit, graph, ends, &config, &result);
    if (rc != 0)
        print_message("%s: %s\n", runtime, result.message);
    kit_close(&kit);
    return rc == 0 ? 0 : 1;
}

static void signal_both(const pid_t child[RUNTIMES], int number)
{
    for (uint32_t i = 0; i < RUNTIMES; i++)
        assert_int_equal(kill(child[i], number), 0);
}

static void a_stopped_process_has_no_hang(void **state)
{
    pid_t child[RUNTIMES];
    int inside[2], go[2], status[RUNTIMES];
    char bytes[RUNTIMES] = {0};

    (void)state;
    (void)setenv("SIMPLER_SCHEDULER_TIMEOUT_MS", BUDGET_MS, 1);
    assert_int_equal(pipe(inside), 0);
    assert_int_equal(pipe(go), 0);
    for (uint32_t i = 0; i < RUNTIMES; i++) {
        child[i] = fork();
        assert_true(child[i] >= 0);
        if (child[i] == 0)
            _exit(run_in_child(runtimes[i], &(struct ends){go[0], inside[1]}));
    }
    for (uint32_t i = 0; i < RUNTIMES; i++)
        assert_int_equal(read(inside[0], bytes, 1), 1);
    kit_sleep_ns(LOOKED_NS);
    signal_both(child, SIGSTOP);
    kit_sleep_ns(STOPPED_NS);
    signal_both(child, SIGCONT);
    kit_sleep_ns(LOOKED_NS);
    assert_int_equal(write(go[1], bytes, RUNTIMES), RUNTIMES);
    for (uint32_t i = 0; i < RUNTIMES; i++)
        assert_int_equal(waitpid(child[i], &status[i], 0), child[i]);
    for (uint32_t i = 0; i < RUNTIMES; i++) {
        assert_true(WIFEXITED(status[i]));
        assert_int_equal(WEXITSTATUS(status[i]), 0);
    }
    (void)close(inside[0]);
    (void)close(inside[1]);
    (void)close(go[0]);
    (void)close(go[1]);
}

/* ---- the clock alone ---- */

static void only_time_that_was_looked_at_counts(void **state)
{
    struct simpler_idle_clock clock;

    (void)state;
    simpler_idle_start(&clock, 1000);
    assert_int_equal(simpler_idle_look(&clock, 1010, 10), 10);
    assert_int_equal(simpler_idle_look(&clock, 1030, 10), 30);
    /* A look that is later than twice its time. */
    assert_int_equal(simpler_idle_look(&clock, 5000, 10), 50);
    assert_int_equal(simpler_idle_look(&clock, 5000, 10), 50);
    assert_int_equal(simpler_idle_look(&clock, 5005, 10), 55);
    simpler_idle_start(&clock, 6000);
    assert_int_equal(simpler_idle_look(&clock, 6001, 10), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_stopped_process_has_no_hang),
        cmocka_unit_test(only_time_that_was_looked_at_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
