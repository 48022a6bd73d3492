/* SPDX-License-Identifier: Apache-2.0 */
// ctest: TIMEOUT 120
/*
 * Tasks that are unlike others: the widest, failed ones, such whose signature or
 * metadata does not fit (AD-16).
 */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "cm.h"
#include "dump_rig.h"
#include "faults.h"
#include "report/dump_manifest.h"
#include "simpler/log.h"

static void wide_graph(struct simpler_orch *orch, void *user)
{
    static int32_t cells[SIMPLER_MAX_TENSORS][DUMP_CELLS];
    struct simpler_tensor t[SIMPLER_MAX_TENSORS];
    struct simpler_task_args args;
    uint64_t more[SIMPLER_MAX_SCALARS - 2] = {0};

    (void)user;
    simpler_task_args_reset(&args);
    for (uint32_t i = 0; i < SIMPLER_MAX_TENSORS; i++) {
        t[i] = kit_tensor(cells[i], DUMP_CELLS, SIMPLER_DTYPE_INT32);
        simpler_task_args_add_inout(&args, &t[i]);
    }
    kit_add_call(&args, kit_nop_kernel, NULL);
    simpler_task_args_add_scalars(&args, more, SIMPLER_MAX_SCALARS - 2);
    simpler_task_args_dump_all(&args);
    KIT_EXPECT_EQUAL(simpler_orch_submit_aiv(orch, SIMPLER_MAX_TENSORS, &args, NULL), 0);
}

static void the_widest_task(void **state)
{
    struct kit kit;

    (void)state;
    dump_open_small(&kit);
    for (uint32_t level = 1; level <= 3; level++) {
        assert_int_equal(dump_run(&kit, wide_graph, NULL, dump_prefix, level), 0);
        assert_int_equal(dump_result.args_dump.status, 0);
        assert_int_equal(dump_result.args_dump.records,
                         2 * SIMPLER_MAX_TENSORS + SIMPLER_MAX_SCALARS);
        assert_int_equal(dump_result.args_dump.payload_bytes,
                         2 * SIMPLER_MAX_TENSORS * 4 * DUMP_CELLS);
    }
    kit_close(&kit);
}

static int refuse(const int64_t *args, uint32_t tensors, void *user)
{
    (void)dump_increment(args, tensors, user);
    return 7;
}

static void failing_graph(struct simpler_orch *orch, void *user)
{
    struct dump_chain *chain = user;
    struct simpler_tensor t = kit_tensor(chain->cells, DUMP_CELLS, SIMPLER_DTYPE_INT32);
    struct simpler_task_args args;
    static const kit_kernel kernels[] = {dump_increment, refuse, dump_increment};

    for (uint32_t i = 0; i < 3; i++) {
        simpler_task_args_reset(&args);
        simpler_task_args_add_inout(&args, &t);
        (void)kit_submit(orch, &args, kernels[i], chain, NULL);
    }
}

/* Decision 6: a failed run has its dump; the task that did not run has no entry. */
static void a_failed_run_has_its_dump(void **state)
{
    struct kit kit;
    struct dump_chain chain = {.tasks = 3};
    uint32_t truncated;

    (void)state;
    dump_open_small(&kit);
    assert_int_equal(dump_run(&kit, failing_graph, &chain, dump_prefix, 2), SIMPLER_EKERNEL);
    assert_int_equal(dump_result.args_dump.status, 0);
    assert_int_equal(dump_result.args_dump.records, 8);
    dump_check_chain(&truncated);
    kit_close(&kit);
}

static int nothing(int64_t *args)
{
    (void)args;
    return 0;
}

static void signature_orchestrate(struct simpler_orch *orch, const struct simpler_orch_args *run)
{
    struct simpler_task_args args;

    for (uint32_t i = 0; i < 4; i++) {
        simpler_task_args_reset(&args);
        simpler_task_args_add_inout(&args, &run->tensor[0]); /* IN */
        simpler_task_args_add_input(&args, &run->tensor[1]); /* OUT */
        simpler_task_args_add_input(&args, &run->tensor[2]); /* beyond the signature */
        (void)simpler_orch_submit_aiv(orch, 0, &args, NULL);
    }
}

/* AD-16: the signature rules, by position; each mistake is said once a run. */
static void the_signature_rules(void **state)
{
    static const uint8_t signature[] = {SIMPLER_DIR_IN, SIMPLER_DIR_OUT, SIMPLER_DIR_SCALAR};
    static const struct simpler_kernel kernel = {0, SIMPLER_CORE_AIV, "k", nothing, signature, 3};
    struct simpler_callable callable = {
        .orchestrate = signature_orchestrate, .kernels = &kernel, .kernel_count = 1};
    struct simpler_call_config config = kit_config(2);
    static int32_t cells[3][DUMP_CELLS];
    struct simpler_tensor t[3];
    struct simpler_orch_args args = {.tensor = t, .tensor_count = 3};
    struct simpler_worker *worker;
    struct simpler_dump_manifest *m;
    struct simpler_dump_entry e;
    struct dump_log log;
    char path[256];
    uint32_t handle, count = 0;

    (void)state;
    for (int i = 0; i < 3; i++)
        t[i] = kit_tensor(cells[i], DUMP_CELLS, SIMPLER_DTYPE_INT32);
    assert_int_equal(kit_worker_open(NULL, &worker), 0);
    assert_int_equal(simpler_worker_register(worker, &callable, &handle), 0);
    config.enable_dump_args = 2;
    config.output_prefix = dump_prefix;
    dump_log_start(&log);
    assert_int_equal(simpler_worker_run(worker, handle, &args, &config, &dump_result), 0);
    dump_log_stop();
    assert_int_equal(log.lines, 2);
    assert_non_null(strstr(log.text, "add_inout"));
    assert_non_null(strstr(log.text, "says IN,"));
    assert_non_null(strstr(log.text, "the signature ends before tensor 2"));
    assert_int_equal(dump_result.args_dump.status, 0);
    dump_path(path, sizeof(path), "args_dump.json");
    assert_int_equal(simpler_dump_manifest_open(path, &m), 0);
    while (simpler_dump_manifest_next(m, &e) > 0) {
        assert_int_equal(e.arg_index, count % 2);
        assert_int_equal(e.role, count % 2 == 0 ? SIMPLER_DUMP_INPUT : SIMPLER_DUMP_OUTPUT);
        assert_int_equal(e.stage, count % 2 == 0 ? SIMPLER_DUMP_BEFORE : SIMPLER_DUMP_AFTER);
        count++;
    }
    assert_int_equal(count, 8);
    simpler_dump_manifest_close(m);
    simpler_worker_close(worker);
}

/* ---- metadata ---- */

#if defined(SIMPLER_DEBUG)
/* Entries of @task, scalars too. */
static uint32_t count_entries(uint64_t task)
{
    struct simpler_dump_manifest *m;
    struct simpler_dump_entry e;
    char path[256];
    uint32_t count = 0;

    dump_path(path, sizeof(path), "args_dump.json");
    assert_int_equal(simpler_dump_manifest_open(path, &m), 0);
    while (simpler_dump_manifest_next(m, &e) > 0)
        count += e.task_id == task;
    simpler_dump_manifest_close(m);
    return count;
}

/* AD-16: from the task @first on what is noted of the tasks is missing or spoilt: they are
 * skipped with all their arguments, one warning names the first, the run is as ever. */
static void metadata_that_does_not_fit(void **state)
{
    static const enum simpler_testpoint points[] = {SIMPLER_TESTPOINT_DUMP_LOSE_METADATA,
                                                    SIMPLER_TESTPOINT_DUMP_SPOIL_METADATA};
    struct kit kit;

    (void)state;
    dump_open_small(&kit);
    for (uint32_t i = 0; i < 8; i++) {
        const uint32_t first = 7;
        struct dump_chain chain = {.tasks = 20};
        struct simpler_call_config config = kit_config(i / 2 % 2 == 0 ? 1 : 3);
        struct dump_log log;
        config.exec = i / 4 == 0 ? SIMPLER_EXEC_INLINE : SIMPLER_EXEC_THREADS;
        config.enable_dump_args = 2;
        config.output_prefix = dump_prefix;
        dump_fail_from(points[i % 2], first);
        dump_log_start(&log);
        assert_int_equal(kit_run(&kit, dump_chain_graph, &chain, &config, &dump_result), 0);
        dump_log_stop();
        simpler_testpoint_set(NULL, NULL);
        assert_int_equal(chain.cells[0], 20);
        assert_int_equal(dump_result.args_dump.status, 0);
        assert_int_equal(dump_result.args_dump.records, first * 4);
        assert_int_equal(count_entries(first - 1), 4);
        assert_int_equal(count_entries(first), 0);
        assert_int_equal(log.lines, 1);
        assert_non_null(strstr(log.text, "task 0x0000000000000007 "));
        assert_non_null(strstr(log.text, "argument 0 is missing or does not fit"));
        fault_saw("dump-metadata", "run=%s dump=%s warnings=%d",
                  simpler_status_name(dump_result.status),
                  simpler_status_name(dump_result.args_dump.status), log.lines);
    }
    kit_close(&kit);
}
#endif

/* A kernel may leave anything in its array and descriptors: the dump has its own. */
static int spoil_arguments(const int64_t *args, uint32_t tensors, void *user)
{
    struct simpler_tensor *t = (struct simpler_tensor *)(uintptr_t)args[0];

    (void)dump_increment(args, tensors, user);
    t->addr = 8;
    t->ndims = 77;
    ((int64_t *)(uintptr_t)args)[0] = 16;
    ((int64_t *)(uintptr_t)args)[1] = 24;
    return 0;
}

static void spoiling_graph(struct simpler_orch *orch, void *user)
{
    struct dump_chain *chain = user;
    struct simpler_tensor t = kit_tensor(chain->cells, DUMP_CELLS, SIMPLER_DTYPE_INT32);
    struct simpler_task_args args;

    for (uint32_t i = 0; i < chain->tasks; i++) {
        simpler_task_args_reset(&args);
        simpler_task_args_add_inout(&args, &t);
        (void)kit_submit(orch, &args, spoil_arguments, chain, NULL);
    }
}

static void a_kernel_that_writes_its_arguments(void **state)
{
    struct kit kit;
    uint32_t truncated;

    (void)state;
    dump_open_small(&kit);
    for (uint32_t exec = SIMPLER_EXEC_INLINE; exec <= SIMPLER_EXEC_THREADS; exec++) {
        struct dump_chain chain = {.tasks = 12};
        struct simpler_call_config config = kit_config(2);
        config.exec = exec;
        config.enable_dump_args = 2;
        config.output_prefix = dump_prefix;
        assert_int_equal(kit_run(&kit, spoiling_graph, &chain, &config, &dump_result), 0);
        assert_int_equal(chain.cells[0], 12);
        assert_int_equal(dump_result.args_dump.records, 12 * 4);
        dump_check_chain(&truncated);
        assert_int_equal(truncated, 0);
        fault_saw("kernel-spoils-arguments", "run=%s dump=%s",
                  simpler_status_name(dump_result.status),
                  simpler_status_name(dump_result.args_dump.status));
    }
    kit_close(&kit);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        DUMP_TEST(the_widest_task),
        DUMP_TEST(a_failed_run_has_its_dump),
        DUMP_TEST(the_signature_rules),
#if defined(SIMPLER_DEBUG)
        DUMP_TEST(metadata_that_does_not_fit),
#endif
        DUMP_TEST(a_kernel_that_writes_its_arguments),
    };
    simpler_log_set_level(SIMPLER_LOG_WARN);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
