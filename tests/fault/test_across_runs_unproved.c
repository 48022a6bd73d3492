/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ctest: TIMEOUT 300
 * A run whose end is not proved, in between the runs of a worker that collects
 * across runs: no file, every later flush and close say so, runs with scope stats are
 * refused while it is held.  And what a hung run was given stays as long as it is used.
 *
 * SS-26
 */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "cm.h"
#include "faults.h"
#include "kit.h"
#include "scope_file.h"
#include "simpler/log.h"

static char base[128];
static char refusal[1024];
static struct kit kit;

struct stuck {
    int scopes; /* before it gets stuck */
    _Atomic int inside, let_go, back;
};

static void stuck_graph(struct simpler_orch *orch, void *user)
{
    struct stuck *s = user;

    for (int i = 0; i < s->scopes; i++)
        SIMPLER_SCOPE(orch)
        {
        }
    atomic_store(&s->inside, 1);
    while (!atomic_load(&s->let_go))
        kit_sleep_ns(100000);
    atomic_store(&s->back, 1);
}

static void scope_graph(struct simpler_orch *orch, void *user)
{
    (void)user;
    SIMPLER_SCOPE(orch)
    {
    }
}

static void keep_line(void *user, int level, const char *line)
{
    (void)user;
    (void)level;
    if (strstr(line, "is refused") != NULL)
        (void)snprintf(refusal, sizeof(refusal), "%s", line);
}

/* What a hung run was given must outlive it. */
static struct kit_call calls[16];
static int call_count;

static int run(const char *name, kit_orch fn, void *user, bool scope_stats, bool dump)
{
    struct simpler_call_config config = kit_config(2);
    struct simpler_run *submitted = NULL;
    char prefix[160];

    (void)snprintf(prefix, sizeof(prefix), "%s/%s", base, name);
    config.enable_scope_stats = scope_stats;
    config.enable_dump_args = dump ? 2 : 0;
    config.output_prefix = prefix;
    struct kit_call *call = &calls[call_count++ % 16];
    struct simpler_orch_args args = {.user = call};
    *call = (struct kit_call){fn, user};
    int rc = simpler_worker_submit(kit.worker, kit.handle, &args, &config, &submitted);
    return rc != 0 ? rc : kit_finish_run(submitted);
}

static bool is_there(const char *name)
{
    char prefix[160];

    (void)snprintf(prefix, sizeof(prefix), "%s/%s", base, name);
    return scope_file_exists(prefix);
}

static int flush(void)
{
    return simpler_worker_flush_diagnostics(kit.worker, UINT64_MAX);
}

static void an_unproved_run_in_between(void **state)
{
    (void)state;
    static struct stuck stuck = {.scopes = 600};

    kit_open_across_runs(&kit);
    assert_int_equal(run("before", scope_graph, NULL, true, false), 0);
    assert_int_equal(flush(), 0);
    assert_int_equal(run("hung", stuck_graph, &stuck, true, false),
                     -SIMPLER_CODE_SCHEDULER_TIMEOUT);
    assert_int_equal(flush(), SIMPLER_EPARTIAL);
    assert_false(is_there("hung"));
    /* The device is busy: nothing runs; scope stats are refused before that. */
    refusal[0] = '\0';
    int refused = run("refused", scope_graph, NULL, true, false);
    assert_int_equal(refused, SIMPLER_EBUSY);
    assert_non_null(strstr(refusal, "it is not proved that run 2 has ended"));
    assert_int_equal(run("busy", scope_graph, NULL, false, false), SIMPLER_EBUSY);
    atomic_store(&stuck.let_go, 1);
    for (int i = 0; i < 100000 && !atomic_load(&stuck.back); i++)
        kit_sleep_ns(100000);
    /* It has come back, but nobody has looked yet: still held for scope stats alone. */
    assert_int_equal(run("refused", scope_graph, NULL, true, false), SIMPLER_EBUSY);
    int rc = SIMPLER_EBUSY;
    for (int i = 0; i < 1000 && rc == SIMPLER_EBUSY; i++) {
        rc = run("without", scope_graph, NULL, false, false);
        kit_sleep_ns(1000000);
    }
    assert_int_equal(rc, 0);
    /* Proved late: collection goes on, what was lost stays said. */
    int next = run("after", scope_graph, NULL, true, true);
    assert_int_equal(next, 0);
    assert_int_equal(flush(), SIMPLER_EPARTIAL);
    assert_false(is_there("hung"));
    assert_false(is_there("refused"));
    char prefix[160];
    (void)snprintf(prefix, sizeof(prefix), "%s/after", base);
    struct scope_file file = scope_file_read(prefix);
    assert_int_equal(file.count, 4);
    assert_non_null(strstr(file.metadata, "\"collection_verdict\": \"published\""));
    scope_file_free(&file);
    int closed = simpler_worker_close(kit.worker);
    assert_int_equal(closed, SIMPLER_EPARTIAL);
    fault_saw("unproved-between-runs", "while_held=%s next=%s file=%s close=%s",
              simpler_status_name(refused), simpler_status_name(next), fault_yes(is_there("hung")),
              simpler_status_name(closed));
}

/* ---- what it was given ---- */

static _Atomic int entered, let_go;
static _Atomic uint64_t seen;

static void late_reader(struct simpler_orch *orch, const struct simpler_orch_args *args)
{
    (void)orch;
    atomic_store(&entered, 1);
    while (!atomic_load(&let_go))
        kit_sleep_ns(100000);
    atomic_store(&seen, args->scalar[1] + args->tensor[0].shape[0]);
}

/* The handle is released and the caller's copies are gone when the hung run reads them. */
static void a_hung_run_keeps_its_arguments(void **state)
{
    (void)state;
    struct simpler_callable callable = {.name = "late", .orchestrate = late_reader};
    struct simpler_tensor tensor;
    uint64_t scalars[] = {1, 40}, data = 0;
    uint32_t shape[] = {2}, handle = 0;
    struct simpler_orch_args args = {
        .tensor = &tensor, .tensor_count = 1, .scalar = scalars, .scalar_count = 2};
    struct simpler_run *submitted = NULL;
    struct simpler_call_config config = kit_config(2);

    kit_open_across_runs(&kit);
    assert_int_equal(simpler_worker_register(kit.worker, &callable, &handle), 0);
    assert_int_equal(simpler_tensor_init(&tensor, &data, shape, 1, SIMPLER_DTYPE_INT32), 0);
    assert_int_equal(simpler_worker_submit(kit.worker, handle, &args, &config, &submitted), 0);
    memset(&tensor, 0x5a, sizeof(tensor));
    memset(scalars, 0x5a, sizeof(scalars));
    assert_int_equal(kit_finish_run(submitted), -SIMPLER_CODE_SCHEDULER_TIMEOUT);
    assert_int_equal(simpler_worker_quiesce(kit.worker, 0), SIMPLER_ETIMEDOUT);
    atomic_store(&let_go, 1);
    assert_int_equal(simpler_worker_quiesce(kit.worker, 10000000000u), 0);
    assert_int_equal(atomic_load(&seen), 42);
    int closed = simpler_worker_close(kit.worker);
    assert_int_equal(closed, 0);
    fault_saw("hung-run-reads-late", "arguments=%s close=%s",
              atomic_load(&seen) == 42 ? "kept" : "gone", simpler_status_name(closed));
}

static int make_base(void **state)
{
    (void)state;
    (void)setenv("SIMPLER_SCHEDULER_TIMEOUT_MS", "300", 1);
    scope_file_make_prefix(base);
    simpler_log_set_callback(keep_line, NULL);
    return 0;
}

static int remove_base(void **state)
{
    (void)state;
    simpler_log_set_callback(NULL, NULL);
    scope_file_remove_prefix(base);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_unproved_run_in_between),
        cmocka_unit_test(a_hung_run_keeps_its_arguments),
    };
    return cmocka_run_group_tests(tests, make_base, remove_base);
}
