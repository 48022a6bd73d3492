/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ctest: TIMEOUT 300
 * A process that is killed at random moments: afterwards everything that it had
 * published is readable, once, with the right bytes.  SIMPLER_TEST_KILLS says how often.
 * What it leaves torn, damaged or unreadable is in test_crash_leftovers.c.
 */
#include <glob.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cm.h"
#include "crash_rig.h"
#include "failing_alloc.h"
#include "faults.h"
#include "kit.h"

static struct simpler_recover_result result;

/* What became of the kills. */
struct tally {
    int kills, before_run, recovered, complete, renamed, from_region, arenas, in_recovery;
};

static void recover_after(const char *prefix, struct kit_random *random, struct tally *tally)
{
    char region[sizeof(result.region)];

    if (kit_random_chance(random, 30))
        tally->in_recovery +=
            crash_rig_recover_killed(prefix, 1 + (int)kit_random_below(random, 9));
    if (!crash_rig_has(prefix, ".")) {
        assert_int_equal(simpler_recover(prefix, &result), SIMPLER_ENOENT);
        tally->before_run++;
        return;
    }
    assert_int_equal(simpler_recover(prefix, &result), 0);
    memcpy(region, result.region, sizeof(region));
    tally->recovered += result.scope_stats.state == SIMPLER_RECOVER_RECOVERED ||
                        result.args_dump.state == SIMPLER_RECOVER_RECOVERED;
    tally->renamed += result.scope_stats.state == SIMPLER_RECOVER_RENAMED;
    tally->complete += result.scope_stats.state == SIMPLER_RECOVER_COMPLETE &&
                       result.args_dump.state == SIMPLER_RECOVER_COMPLETE;
    tally->from_region += result.scope_stats.from_region != 0 || result.args_dump.from_region != 0;
    tally->arenas += result.payloads_from_region != 0;
    assert_int_equal(result.payloads_lost, 0);
    assert_int_equal(result.records_refused, 0);
    if (region[0] != '\0')
        assert_int_equal(access(region, F_OK), -1);
    /* Once more: there is nothing to do. */
    assert_int_equal(simpler_recover(prefix, &result), 0);
    assert_true(result.scope_stats.state <= SIMPLER_RECOVER_COMPLETE);
    assert_true(result.args_dump.state <= SIMPLER_RECOVER_COMPLETE);
    assert_string_equal(result.region, "");
}

static void kill_once(struct kit_random *random, struct tally *tally, uint32_t most_us)
{
    struct crash_rig rig;
    char prefix[128];

    crash_rig_open(&rig);
    crash_rig_start(&rig);
    kit_sleep_ns(kit_random_below(random, most_us) * (uint64_t)1000);
    tally->kills += crash_rig_kill(&rig);
    uint32_t run = atomic_load(&rig.proof->run), completed = atomic_load(&rig.proof->completed);
    if (completed != 0)
        assert_int_equal(crash_rig_check(&rig, completed - 1, true), 0);
    crash_rig_prefix(&rig, run, prefix);
    if (run == completed)
        recover_after(prefix, random, tally);
    assert_int_equal(crash_rig_check(&rig, run, run < completed), 0);
    crash_rig_close(&rig);
}

/* Kills spread over the start and the first runs of a process, however slow it is. */
static uint32_t run_us(void)
{
    struct crash_rig rig;

    crash_rig_open(&rig);
    rig.runs = 3;
    uint64_t start = kit_now_ns();
    crash_rig_start(&rig);
    int status;
    assert_int_equal(waitpid(rig.child, &status, 0), rig.child);
    assert_int_equal(status, 0);
    uint64_t took = kit_now_ns() - start;
    for (uint32_t run = 0; run < 3; run++)
        assert_int_equal(crash_rig_check(&rig, run, true), 0);
    crash_rig_close(&rig);
    return (uint32_t)(took / 1000) + 1;
}

static void random_kills(void **state)
{
    const char *wanted = getenv("SIMPLER_TEST_KILLS");
    int kills = wanted != NULL ? atoi(wanted) : kit_is_sanitized() ? 20 : 300;
    struct kit_random random = {kit_now_ns()};
    uint32_t most = run_us();
    struct tally t = {0};

    (void)state;
    print_message("seed %llu, %u us\n", (unsigned long long)random.state, most);
    for (int i = 0; i < kills; i++)
        kill_once(&random, &t, most);
    print_message(
        "%d killed: %d before a run, %d recovered, %d with records and %d with payloads of "
        "the region, %d renamed, %d complete; %d recoveries killed\n",
        t.kills, t.before_run, t.recovered, t.from_region, t.arenas, t.renamed, t.complete,
        t.in_recovery);
    fault_saw_times("killed-anywhere", (uint64_t)t.kills, "records=all");
    fault_saw_times("killed-in-recovery", (uint64_t)t.in_recovery, "records=all");
    if (kills >= 100)
        assert_true(t.from_region >= kills / 5 && t.arenas >= 1 && t.in_recovery >= kills / 20);
}

/* The process is stopped, not dead. */
static void living_process_is_left_alone(void **state)
{
    struct crash_rig rig;
    char prefix[128];

    (void)state;
    crash_rig_open(&rig);
    crash_rig_start(&rig);
    crash_rig_wait(&rig, 20);
    assert_int_equal(kill(rig.child, SIGSTOP), 0);
    uint32_t run = atomic_load(&rig.proof->run);
    crash_rig_prefix(&rig, run, prefix);
    if (crash_rig_has(prefix, ".live")) {
        assert_int_equal(simpler_recover(prefix, &result), SIMPLER_EBUSY);
        assert_int_equal(result.pid, rig.child);
        assert_non_null(strstr(result.message, "still runs"));
        assert_true(crash_rig_has(prefix, ".live"));
        fault_saw("recover-while-alive", "recover=%s live=%s",
                  simpler_status_name(simpler_recover(prefix, &result)),
                  fault_yes(crash_rig_has(prefix, ".live")));
    }
    assert_true(crash_rig_kill(&rig));
    crash_rig_close(&rig);
}

/* Without a region: what is in the files, and no word of more. */
static void anonymous_run(void **state)
{
    struct crash_rig rig;
    char prefix[128];

    (void)state;
    crash_rig_open(&rig);
    rig.crash_safe = false;
    crash_rig_start(&rig);
    crash_rig_wait(&rig, 100);
    assert_true(crash_rig_kill(&rig));
    crash_rig_prefix(&rig, atomic_load(&rig.proof->run), prefix);
    assert_false(crash_rig_has(prefix, ".live"));
    assert_int_equal(simpler_recover(prefix, &result), 0);
    assert_int_equal(result.has_region, 0);
    assert_int_equal(result.scope_stats.from_region, 0);
    assert_false(crash_rig_has(prefix, "scope_stats/scope_stats.jsonl.partial"));
    fault_saw("killed-without-region", "recover=%s region=%s",
              simpler_status_name(simpler_recover(prefix, &result)), fault_yes(result.has_region));
    crash_rig_close(&rig);
}

/* The memory has buffers of both: those of the run that was under way are taken. */
static void two_runs_under_one_prefix(void **state)
{
    struct kit_random random = {kit_now_ns()};
    int second = 0, rounds = kit_is_sanitized() ? 5 : 25;

    (void)state;
    for (int i = 0; i < rounds; i++) {
        struct crash_rig rig;
        char prefix[128];
        crash_rig_open(&rig);
        rig.one_prefix = true;
        crash_rig_start(&rig);
        uint32_t wanted = kit_random_below(&random, 1500);
        while (atomic_load(&rig.proof->runs[1].boundaries) < wanted &&
               atomic_load(&rig.proof->completed) < 2)
            kit_sleep_ns(20000);
        assert_true(crash_rig_kill(&rig));
        uint32_t run = atomic_load(&rig.proof->run);
        crash_rig_prefix(&rig, run, prefix);
        bool whole = !crash_rig_has(prefix, ".live");
        assert_int_equal(simpler_recover(prefix, &result), 0);
        second += result.scope_stats.from_region != 0 || result.args_dump.from_region != 0;
        /* Killed between two runs: what the next one had replaced by then is not known. */
        if (!whole || atomic_load(&rig.proof->runs[run].boundaries) != 0)
            assert_int_equal(crash_rig_check(&rig, run, whole), 0);
        crash_rig_close(&rig);
    }
    print_message("%d of %d with records of the memory\n", second, rounds);
    assert_true(second > rounds / 4);
}

/* ---- steps that fail ---- */

static int32_t cell;

static void one_task(struct simpler_orch *orch, void *user)
{
    struct simpler_tensor t = kit_tensor(&cell, 1, SIMPLER_DTYPE_INT32);
    struct simpler_task_args args;

    (void)user;
    simpler_task_args_reset(&args);
    simpler_task_args_add_inout(&args, &t);
    kit_submit(orch, &args, kit_nop_kernel, NULL, NULL);
}

/* Whether a region file of this process is there. */
static bool has_own_region(void)
{
    char pattern[128];
    glob_t found;

    (void)snprintf(pattern, sizeof(pattern), "/dev/shm/simpler-*-%ld-*.region", (long)getpid());
    bool any = glob(pattern, 0, NULL, &found) == 0;
    globfree(&found);
    return any;
}

/* A run of a crash-safe worker; returns whether its files are whole. */
static bool run_safely(const char *prefix, uint64_t nth, struct simpler_run_result *out)
{
    struct simpler_worker_config worker_config = SIMPLER_WORKER_CONFIG_INIT;
    struct simpler_call_config config = kit_config(2);
    struct kit kit;

    worker_config.crash_safe = 1;
    worker_config.dump = (struct simpler_dump_config){16, 3, 512, 4};
    config.output_prefix = prefix;
    config.enable_scope_stats = 1;
    config.enable_dump_args = 2;
    kit_open_config(&kit, &worker_config);
    assert_int_equal(kit_run(&kit, one_task, NULL, NULL, out), 0);
    failing_alloc_arm(nth);
    int rc = kit_run(&kit, one_task, NULL, &config, out);
    failing_alloc_disarm();
    assert_int_equal(rc, 0);
    kit_close(&kit);
    assert_false(has_own_region());
    return out->scope_stats.status == 0 && out->args_dump.status == 0;
}

/* Memory that cannot be had costs the safety, or a diagnostic, never the run; nothing stays. */
static void each_step_may_fail(void **state)
{
    static struct simpler_run_result out;
    struct crash_rig rig;
    int steps = 0, anonymous = 0, less = 0;

    (void)state;
    if (!failing_alloc_available())
        SKIP_TEST("a release build has no test points");
    simpler_log_set_level(SIMPLER_LOG_NONE);
    crash_rig_open(&rig);
    for (;; steps++) {
        bool whole = run_safely(rig.directory, (uint64_t)steps, &out);
        assert_false(crash_rig_has(rig.directory, ".live"));
        if (!failing_alloc_fired())
            break;
        anonymous += whole && !out.crash_safe;
        less += !whole;
        fault_saw("crash-safe-step", "run=%s left_behind=%s", simpler_status_name(out.status),
                  fault_yes(crash_rig_has(rig.directory, ".live") || has_own_region()));
    }
    assert_true(out.crash_safe);
    print_message("%d steps: %d times anonymous, %d times less\n", steps, anonymous, less);
    assert_true(steps > 15 && anonymous >= 4);
    simpler_log_set_level(SIMPLER_LOG_WARN);
    crash_rig_close(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(living_process_is_left_alone),
        cmocka_unit_test(anonymous_run),
        cmocka_unit_test(each_step_may_fail),
        cmocka_unit_test(two_runs_under_one_prefix),
        cmocka_unit_test(random_kills),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
