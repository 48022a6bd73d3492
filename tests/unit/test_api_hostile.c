/* SPDX-License-Identifier: Apache-2.0 */
/*
 * runtimes: all
 * Every function of include/simpler with what a hostile caller gives: NULL where a pointer is
 * needed, arguments that were never initialised, numbers that mean nothing, the wrong order.
 * Each answers as its header says and a run that follows is right.  What an orchestration
 * may call inside a run is in test_api_hostile_orch.c.
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "cm.h"
#include "kit.h"
#include "simpler/info.h"
#include "simpler/log.h"
#include "simpler/ops.h"

static int32_t cell[4];
static char lines[4096]; /* what was logged since the last look */

static void keep_line(void *user, int level, const char *line)
{
    size_t used = strlen(lines);

    (void)user;
    (void)level;
    (void)snprintf(lines + used, sizeof(lines) - used, "%s\n", line);
}

static int listen_to_log(void **state)
{
    (void)state;
    simpler_log_set_callback(keep_line, NULL);
    return 0;
}

static int hear_nothing(void **state)
{
    (void)state;
    simpler_log_set_callback(NULL, NULL);
    return 0;
}

/* @status is EINVAL, and the log names the call and what is NULL. */
static void is_said(int status, const char *call, const char *what)
{
    assert_int_equal(status, SIMPLER_EINVAL);
    assert_non_null(strstr(lines, call));
    assert_non_null(strstr(lines, what));
    lines[0] = '\0';
}

/* ---- orch.h without an orchestrator ---- */

static void a_submit_without_orch_is_refused(void **state)
{
    struct simpler_mixed_kernels kernels = {0, 1, -1};
    struct simpler_create_info info = kit_info(4, SIMPLER_DTYPE_INT32);
    struct simpler_task_args args;
    struct simpler_task_outputs out;
    const char *orch = "orch is NULL";

    (void)state;
    simpler_task_args_reset(&args);
    struct simpler_task_args *given[] = {&args, NULL};
    for (int i = 0; i < 4; i++) {
        struct simpler_task_outputs *to = i < 2 ? &out : NULL;
        struct simpler_task_args *a = given[i % 2];
        memset(&out, 7, sizeof(out));
        is_said(simpler_orch_submit_aic(NULL, 0, a, to), "submit_aic", orch);
        is_said(simpler_orch_submit_aiv(NULL, 0, a, to), "submit_aiv", orch);
        is_said(simpler_orch_submit_dummy(NULL, a, to), "submit_dummy", orch);
        is_said(simpler_orch_submit_mixed(NULL, &kernels, a, to), "submit_mixed", orch);
        is_said(simpler_orch_submit_mixed(NULL, NULL, a, to), "submit_mixed", orch);
        is_said(simpler_orch_alloc_tensors(NULL, &info, 1, to), "alloc_tensors", orch);
        is_said(simpler_orch_submit_graph(NULL, NULL, a, NULL, 0), "submit_graph", orch);
        is_said(simpler_orch_add_task_with_tensor_info(NULL, 7, 0, a, NULL, 9, to), "submit_aiv",
                orch);
        if (to != NULL) {
            assert_true(out.id.raw == SIMPLER_TASK_ID_NONE);
            assert_int_equal(out.count, 0);
        }
    }
}

static void other_calls_without_orch_are_refused(void **state)
{
    struct simpler_task_id id = {0};
    const char *orch = "orch is NULL";

    (void)state;
    is_said(simpler_orch_scope_begin(NULL, SIMPLER_SCOPE_AUTO), "scope_begin", orch);
    is_said(simpler_orch_scope_begin_at(NULL, SIMPLER_SCOPE_AUTO, NULL, 0), "scope_begin", orch);
    is_said(simpler_orch_scope_end(NULL), "scope_end", orch);
    is_said(simpler_orch_get_tensor_data(NULL, NULL, NULL, NULL), "get_tensor_data", orch);
    is_said(simpler_orch_set_tensor_data(NULL, NULL, NULL, NULL), "set_tensor_data", orch);
    is_said(simpler_orch_set_tensor_info_to_task(NULL, id, NULL, 0), "set_tensor_info", orch);
    simpler_orch_report_fatal(NULL, 9, "text %d", 1);
    is_said(SIMPLER_EINVAL, "report_fatal", orch);
    /* An orchestration that asks is told to give up. */
    assert_true(simpler_orch_is_fatal(NULL));
    is_said(SIMPLER_EINVAL, "is_fatal", orch);
    assert_int_equal(simpler_orch_available_cluster_count(NULL), 0);
    assert_int_equal(simpler_orch_available_aiv_count(NULL), 0);
    int entered = 0;
    SIMPLER_SCOPE(NULL) entered++;
    assert_int_equal(entered, 1);
    lines[0] = '\0';
}

/* ---- kernel.h outside a kernel ---- */

static void kernel_calls_outside_a_kernel_are_refused(void **state)
{
    static const int64_t bare[SIMPLER_KERNEL_ARGS];
    const int64_t *given[] = {NULL, bare};
    struct simpler_async_condition condition = {0};

    (void)state;
    for (int i = 0; i < 2; i++) {
        const int64_t *args = given[i];
        assert_int_equal(simpler_kernel_sync_all(args), -SIMPLER_CODE_REQUIRE_SYNC_START_INVALID);
        assert_int_equal(simpler_kernel_sync_block(args), -SIMPLER_CODE_REQUIRE_SYNC_START_INVALID);
        assert_int_equal(simpler_kernel_set_flag(args, 9, 99),
                         -SIMPLER_CODE_REQUIRE_SYNC_START_INVALID);
        assert_int_equal(simpler_kernel_wait_flag(args, 99),
                         -SIMPLER_CODE_REQUIRE_SYNC_START_INVALID);
        assert_int_equal(simpler_kernel_lane(args), SIMPLER_LANE_AIC);
        assert_int_equal(simpler_kernel_defer(args, &condition),
                         -SIMPLER_CODE_ASYNC_REGISTRATION_FAILED);
        assert_int_equal(simpler_kernel_defer(args, NULL), -SIMPLER_CODE_ASYNC_REGISTRATION_FAILED);
    }
    simpler_async_counter_add(NULL, 1);
    is_said(SIMPLER_EINVAL, "async_counter_add", "NULL");
    assert_int_equal(simpler_async_counter_get(NULL), 0);
}

/* ---- task.h, tensor.h, dtype.h, status.h, log.h, info.h ---- */

static void task_arguments_that_are_not_there_are_said(void **state)
{
    const void *address = cell;
    struct simpler_task_id id = {0};
    uint64_t value = 0;
    int32_t narrow = 0;
    uint8_t kind = 0;

    (void)state;
    simpler_task_args_add_scalar(NULL, &value, SIMPLER_DTYPE_INT64);
    is_said(SIMPLER_EINVAL, "task arguments", "args is NULL");
    simpler_task_args_add_scalars(NULL, &value, 1);
    simpler_task_args_add_scalars_i32(NULL, &narrow, 1);
    simpler_task_args_copy_scalars(NULL, NULL, 0, 1);
    simpler_task_args_set_dependencies(NULL, &id, 1);
    simpler_task_args_set_dependencies(NULL, NULL, 1);
    simpler_task_args_set_dependencies_with_kinds(NULL, &id, &kind, 1);
    simpler_task_args_dump_list(NULL, &address, 1);
    simpler_task_args_dump_all(NULL);
    assert_non_null(simpler_task_args_error_text(UINT32_MAX));
    simpler_create_info_set_initial_value(NULL, &value);
    lines[0] = '\0';
}

/* The functions that are compiled into the caller. */
static void inline_calls_take_a_null_object(void **state)
{
    struct simpler_tensor tensor = kit_tensor(cell, 4, SIMPLER_DTYPE_INT32);
    struct simpler_create_info info = kit_info(4, SIMPLER_DTYPE_INT32);
    struct simpler_predicate predicate = {&tensor, {0}, SIMPLER_PREDICATE_EQ, 1};
    struct simpler_task_id id = {0};
    const void *address = cell;
    struct simpler_task_deps deps;
    struct simpler_task_args args;

    (void)state;
    simpler_task_args_reset(NULL);
    simpler_task_args_set_error(NULL, SIMPLER_ARGS_NULL, 0);
    simpler_task_args_add_input(NULL, &tensor);
    simpler_task_args_add_inout(NULL, &tensor);
    simpler_task_args_add_output(NULL, &tensor);
    simpler_task_args_add_create(NULL, &info);
    simpler_task_args_add_no_dep(NULL, NULL);
    simpler_task_args_set_block_num(NULL, 2);
    simpler_task_args_set_core_num(NULL, 0);
    simpler_task_args_set_require_sync_start(NULL, 1);
    simpler_task_args_set_allow_early_resolve(NULL, 0);
    simpler_task_args_set_predicate(NULL, &predicate);
    simpler_task_args_set_predicate(NULL, NULL);
    simpler_task_args_set_task_timing_slot(NULL, 3);
    simpler_task_args_set_task_timing_slot(NULL, 99);
    assert_string_equal(lines, "");
    simpler_task_args_dump_as(NULL, &address, 1, NULL, 1);
    is_said(SIMPLER_EINVAL, "task arguments", "args is NULL");
    simpler_task_deps_reset(NULL);
    simpler_task_deps_add(NULL, id);
    simpler_task_deps_add_wait(NULL, id);
    simpler_task_deps_reset(&deps);
    simpler_task_deps_add(&deps, id);
    simpler_task_deps_bind(&deps, NULL);
    is_said(SIMPLER_EINVAL, "task arguments", "args is NULL");
    simpler_task_deps_bind(NULL, NULL);
    simpler_task_args_reset(&args);
    simpler_task_deps_bind(NULL, &args);
    assert_int_equal(args.error, SIMPLER_ARGS_NULL);
    simpler_scope_guard_end(NULL);
    lines[0] = '\0';
}

/* Numbers and addresses that mean nothing; what lies behind a short value stays. */
static void inline_calls_take_wild_numbers(void **state)
{
    static const int64_t bare[SIMPLER_KERNEL_ARGS];
    const int64_t *given[] = {NULL, bare};
    struct simpler_tensor odd = kit_tensor(cell, 4, SIMPLER_DTYPE_INT32);
    uint64_t wide[4] = {1, 2, 3, 4};

    (void)state;
    odd.ndims = UINT32_MAX;
    assert_true(simpler_tensor_numel(&odd) == 0);
    assert_true(simpler_tensor_numel(NULL) == 0);
    assert_null(simpler_tensor_data(NULL));
    assert_true(simpler_dtype_shift(UINT32_MAX) <= 3);
    assert_true(simpler_dtype_shift(SIMPLER_DTYPE_NUM) <= 3);
    assert_true(simpler_to_u64(NULL, 8) == 0);
    assert_true(simpler_to_u64(wide, sizeof(wide)) == 0);
    simpler_from_u64(7, NULL, 8);
    simpler_from_u64(7, wide, sizeof(wide));
    assert_true(wide[0] == 1 && wide[3] == 4);
    for (int i = 0; i < 2; i++) {
        assert_null(simpler_kernel_tensor(given[i], 0));
        assert_null(simpler_kernel_data(given[i], 0));
        assert_int_equal(simpler_kernel_block_idx(given[i]), 0);
        assert_int_equal(simpler_kernel_block_num(given[i]), 1);
        assert_int_equal(simpler_kernel_sub_block_id(given[i]), 0);
        simpler_kernel_scalar(given[i], 0, NULL, 8);
    }
    simpler_kernel_scalar(NULL, 0, wide, 8);
    assert_true(wide[0] == 0 && wide[1] == 2);
}

static void descriptors_from_nothing_are_refused(void **state)
{
    struct simpler_tensor good = kit_tensor(cell, 4, SIMPLER_DTYPE_INT32), out, odd;
    uint32_t one[SIMPLER_MAX_DIMS] = {1};
    const uint32_t *dims[] = {NULL, one};

    (void)state;
    memset(&odd, 0xff, sizeof(odd));
    const struct simpler_tensor *from[] = {NULL, &odd, &good};
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 2 && i < 2; k++) {
            assert_int_equal(simpler_tensor_view(from[i], dims[k], one, &out), SIMPLER_EINVAL);
            assert_int_equal(simpler_tensor_permute(from[i], dims[k], &out), SIMPLER_EINVAL);
            assert_int_equal(simpler_tensor_reshape(from[i], dims[k], 1, &out), SIMPLER_EINVAL);
        }
        assert_int_equal(simpler_tensor_view(from[i], one, one, NULL), SIMPLER_EINVAL);
        assert_int_equal(simpler_tensor_view(from[i], one, NULL, &out), SIMPLER_EINVAL);
        assert_int_equal(simpler_tensor_permute(from[i], NULL, &out), SIMPLER_EINVAL);
        assert_int_equal(simpler_tensor_permute(from[i], one, NULL), SIMPLER_EINVAL);
        assert_int_equal(simpler_tensor_reshape(from[i], one, UINT32_MAX, &out), SIMPLER_EINVAL);
        assert_int_equal(simpler_tensor_reshape(from[i], one, 1, NULL), SIMPLER_EINVAL);
        assert_int_equal(simpler_tensor_transpose(from[i], UINT32_MAX, 0, &out), SIMPLER_EINVAL);
        assert_int_equal(simpler_tensor_transpose(from[i], 0, 0, NULL), SIMPLER_EINVAL);
        assert_int_equal(simpler_tensor_slice(from[i], 0, 0, 1, 1, NULL), SIMPLER_EINVAL);
        assert_int_equal(simpler_tensor_slice(from[i], UINT32_MAX, 0, 1, 1, &out), SIMPLER_EINVAL);
        assert_int_equal(simpler_tensor_slice(from[i], 0, 0, UINT32_MAX, 0, &out), SIMPLER_EINVAL);
    }
    assert_int_equal(simpler_tensor_check(NULL), SIMPLER_EINVAL);
    assert_int_equal(simpler_tensor_check(&odd), SIMPLER_EINVAL);
    for (int k = 0; k < 2; k++) {
        struct simpler_tensor *to = k == 0 ? NULL : &out;
        assert_int_equal(simpler_tensor_init(to, cell, NULL, 1, 0), SIMPLER_EINVAL);
        assert_int_equal(simpler_tensor_init(to, cell, one, 0, 0), SIMPLER_EINVAL);
        assert_int_equal(simpler_tensor_init(to, cell, one, UINT32_MAX, 0), SIMPLER_EINVAL);
        assert_int_equal(simpler_tensor_init(to, cell, one, 1, UINT32_MAX), SIMPLER_EINVAL);
        assert_int_equal(simpler_tensor_init_strided(to, cell, one, NULL, 1, 0), SIMPLER_EINVAL);
        assert_int_equal(simpler_tensor_init_strided(to, cell, NULL, one, 1, 0), SIMPLER_EINVAL);
    }
    struct simpler_create_info info;
    assert_int_equal(simpler_create_info_init(NULL, one, 1, 0), SIMPLER_EINVAL);
    assert_int_equal(simpler_create_info_init(&info, NULL, 1, 0), SIMPLER_EINVAL);
    assert_int_equal(simpler_create_info_init(&info, one, 99, 0), SIMPLER_EINVAL);
    assert_int_equal(simpler_create_info_init(&info, one, 1, 99), SIMPLER_EINVAL);
    assert_int_equal(simpler_dtype_bytes(UINT32_MAX), 0);
    assert_string_equal(simpler_dtype_name(UINT32_MAX), "UNKNOWN");
    assert_int_equal(simpler_dtype_parse(NULL, NULL), SIMPLER_EINVAL);
    assert_int_equal(simpler_dtype_parse(NULL, one), SIMPLER_ENOENT);
    assert_int_equal(simpler_dtype_parse("", one), SIMPLER_ENOENT);
}

static void unknown_names_and_numbers_are_called_unknown(void **state)
{
    struct simpler_call_config out;
    char message[4] = "abc";
    struct simpler_platform_info platform;

    (void)state;
    assert_string_equal(simpler_status_name(INT_MIN), "UNKNOWN");
    assert_string_equal(simpler_status_text(INT_MAX), "unknown status");
    assert_int_equal(simpler_info_platform(0, NULL), SIMPLER_EINVAL);
    assert_int_equal(simpler_info_platform(UINT32_MAX, &platform), SIMPLER_ENOENT);
    assert_int_equal(simpler_info_runtime(0, NULL), SIMPLER_EINVAL);
    assert_int_equal(simpler_info_size(0, NULL), SIMPLER_EINVAL);
    assert_int_equal(simpler_info_variable(0, NULL), SIMPLER_EINVAL);
    assert_null(simpler_info_substitute(NULL));
    assert_int_equal(simpler_info_resolve_config(NULL, NULL, NULL, NULL, 0), SIMPLER_EINVAL);
    assert_int_equal(simpler_info_resolve_config(NULL, NULL, &out, NULL, 9), SIMPLER_EINVAL);
    assert_int_equal(simpler_info_resolve_config("x", NULL, &out, NULL, 0), SIMPLER_ENOENT);
    assert_int_equal(simpler_info_resolve_config("x", NULL, &out, message, 1), SIMPLER_ENOENT);
    assert_string_equal(message, "");
    struct simpler_call_config bad = SIMPLER_CALL_CONFIG_INIT;
    bad.runtime = "x";
    assert_int_equal(simpler_info_resolve_config(NULL, &bad, &out, message, 3), SIMPLER_EINVAL);
    assert_int_equal(simpler_info_resolve_config(NULL, &bad, &out, NULL, 0), SIMPLER_EINVAL);
    simpler_log_write(SIMPLER_LOG_ERROR, NULL);
    assert_string_equal(lines, "");
    simpler_log_set_level(INT_MAX);
    assert_false(simpler_log_enabled(SIMPLER_LOG_ERROR));
    simpler_log_set_level(INT_MIN);
    assert_true(simpler_log_enabled(INT_MIN));
    simpler_log_set_level(SIMPLER_LOG_WARN);
    assert_non_null(simpler_ops());
}

/* ---- worker.h ---- */

static void a_worker_that_is_not_there_is_refused(void **state)
{
    struct simpler_worker_config config = SIMPLER_WORKER_CONFIG_INIT;
    struct simpler_callable callable = kit_callable();
    struct simpler_worker *worker = (struct simpler_worker *)(void *)cell;
    struct simpler_run *run = NULL;
    struct simpler_run_result result;
    uint32_t handle;
    uint64_t addr;

    (void)state;
    is_said(simpler_worker_open(NULL, NULL), "open", "out is NULL");
    config.level = UINT32_MAX;
    is_said(simpler_worker_open(&config, &worker), "open", "level");
    assert_null(worker); /* so that a close of it is harmless */
    assert_int_equal(simpler_worker_close(NULL), 0);
    is_said(simpler_worker_register(NULL, &callable, &handle), "register", "worker is NULL");
    is_said(simpler_worker_run(NULL, 0, NULL, NULL, NULL), "run", "worker is NULL");
    is_said(simpler_worker_submit(NULL, 0, NULL, NULL, &run), "submit", "worker is NULL");
    is_said(simpler_worker_quiesce(NULL, 0), "quiesce", "worker is NULL");
    is_said(simpler_worker_flush_diagnostics(NULL, 0), "flush", "worker is NULL");
    is_said(simpler_worker_malloc(NULL, 8, &addr), "malloc", "NULL");
    is_said(simpler_worker_free(NULL, 0), "free", "NULL");
    is_said(simpler_worker_copy_to(NULL, 0, cell, 4), "copy_to", "NULL");
    is_said(simpler_worker_copy_from(NULL, cell, 0, 4), "copy_from", "NULL");
    simpler_worker_report(NULL);
    simpler_worker_cancel(NULL);
    assert_int_equal(simpler_worker_progress(NULL), 0);
    is_said(simpler_run_wait(NULL, 0), "wait", "run is NULL");
    assert_int_equal(simpler_run_poll(NULL), 0);
    is_said(simpler_run_get_result(NULL, 0, &result), "get_result", "run is NULL");
    simpler_run_cancel(NULL);
    simpler_run_release(NULL);
    lines[0] = '\0';
}

static void do_nothing(struct simpler_orch *orch, void *user)
{
    (void)orch;
    (void)user;
}

static void hostile_calls_on_a_worker_are_refused(void **state)
{
    struct simpler_orch_args counted = {NULL, 1, 0, NULL, NULL},
                             many = {NULL, UINT32_MAX, 1, NULL, NULL};
    struct simpler_orch_args scalars = {NULL, 0, UINT32_MAX, NULL, NULL};
    struct simpler_run *run = (struct simpler_run *)(void *)cell;
    struct kit kit;
    uint32_t handle;

    (void)state;
    kit_open(&kit);
    is_said(simpler_worker_register(kit.worker, NULL, &handle), "register", "NULL");
    is_said(simpler_worker_register(kit.worker, NULL, NULL), "register", "NULL");
    assert_int_equal(simpler_worker_run(kit.worker, UINT32_MAX, NULL, NULL, NULL), SIMPLER_EINVAL);
    is_said(simpler_worker_run(kit.worker, kit.handle, &counted, NULL, NULL), "run", "NULL");
    is_said(simpler_worker_run(kit.worker, kit.handle, &many, NULL, NULL), "run", "at most");
    is_said(simpler_worker_run(kit.worker, kit.handle, &scalars, NULL, NULL), "run", "at most");
    is_said(simpler_worker_submit(kit.worker, kit.handle, &many, NULL, &run), "run", "at most");
    assert_null(run);
    is_said(simpler_worker_submit(kit.worker, kit.handle, NULL, NULL, NULL), "submit",
            "out is NULL");
    uint64_t addr;
    is_said(simpler_worker_malloc(kit.worker, 8, NULL), "malloc", "NULL");
    assert_int_equal(simpler_worker_malloc(kit.worker, SIZE_MAX, &addr), SIMPLER_ENOMEM);
    assert_int_equal(simpler_worker_free(kit.worker, 0), SIMPLER_EINVAL);
    assert_int_equal(simpler_worker_free(kit.worker, (uint64_t)(uintptr_t)cell), SIMPLER_EINVAL);
    assert_int_equal(simpler_worker_malloc(kit.worker, 8, &addr), 0);
    assert_int_equal(simpler_worker_copy_to(kit.worker, addr, NULL, 8), SIMPLER_EINVAL);
    assert_int_equal(simpler_worker_copy_to(kit.worker, addr, cell, SIZE_MAX), SIMPLER_EINVAL);
    assert_int_equal(simpler_worker_copy_from(kit.worker, NULL, addr, 8), SIMPLER_EINVAL);
    assert_int_equal(simpler_worker_copy_from(kit.worker, cell, UINT64_MAX, 8), SIMPLER_EINVAL);
    assert_int_equal(simpler_worker_free(kit.worker, addr), 0);
    assert_int_equal(simpler_worker_free(kit.worker, addr), SIMPLER_EINVAL);
    lines[0] = '\0';
    struct kit_call call = {do_nothing, NULL};
    run = kit_submit_run(&kit, &call, NULL);
    is_said(simpler_run_get_result(run, UINT64_MAX, NULL), "get_result", "out is NULL");
    assert_int_equal(kit_finish_run(run), 0);
    kit_pass(&kit, do_nothing, NULL);
    kit_close(&kit);
}

/* A handle outlives its worker. */
static void a_run_is_asked_after_its_worker_has_closed(void **state)
{
    struct kit_call call = {do_nothing, NULL};
    struct simpler_run_result result;
    struct kit kit;

    (void)state;
    kit_open(&kit);
    struct simpler_run *run = kit_submit_run(&kit, &call, NULL);
    kit_close(&kit);
    assert_int_equal(simpler_run_wait(run, 0), 0);
    assert_int_equal(simpler_run_poll(run), 1);
    simpler_run_cancel(run);
    assert_int_equal(simpler_run_get_result(run, 0, &result), 0);
    simpler_run_release(run);
    lines[0] = '\0';
}

/* Every 32-bit word of the config, one at a time, with numbers that mean nothing. */
static void absurd_configs_are_refused_with_a_reason(void **state)
{
    struct simpler_call_config c;
    struct simpler_run_result result;
    struct kit kit;

    (void)state;
    kit_open(&kit);
    uint32_t *const words[] = {
        &c.aicpu_thread_num, &c.cluster_count,      &c.hazards,         &c.exec,
        &c.check_hazards,    &c.enable_scope_stats, &c.enable_dump_args};
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        static const uint32_t values[] = {UINT32_MAX, 0x80000000u, 1000000};
        for (int k = 0; k < 3; k++) {
            c = kit_config(2);
            *words[i] = values[k];
            lines[0] = '\0';
            is_said(kit_run(&kit, do_nothing, NULL, &c, &result), "run of", "is");
        }
    }
    for (size_t i = 0; i < sizeof(c.runtime_env) / sizeof(uint64_t); i++) {
        static const uint64_t values[] = {UINT64_MAX, (uint64_t)1 << 63, 1, 3};
        for (int k = 0; k < 4; k++) {
            c = kit_config(2);
            memcpy((char *)&c.runtime_env + i * sizeof(uint64_t), &values[k], sizeof(uint64_t));
            is_said(kit_run(&kit, do_nothing, NULL, &c, &result), "runtime_env.", "legal is");
        }
    }
    kit_pass(&kit, do_nothing, NULL);
    kit_close(&kit);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_submit_without_orch_is_refused),
        cmocka_unit_test(other_calls_without_orch_are_refused),
        cmocka_unit_test(kernel_calls_outside_a_kernel_are_refused),
        cmocka_unit_test(task_arguments_that_are_not_there_are_said),
        cmocka_unit_test(inline_calls_take_a_null_object),
        cmocka_unit_test(inline_calls_take_wild_numbers),
        cmocka_unit_test(descriptors_from_nothing_are_refused),
        cmocka_unit_test(unknown_names_and_numbers_are_called_unknown),
        cmocka_unit_test(a_worker_that_is_not_there_is_refused),
        cmocka_unit_test(hostile_calls_on_a_worker_are_refused),
        cmocka_unit_test(a_run_is_asked_after_its_worker_has_closed),
        cmocka_unit_test(absurd_configs_are_refused_with_a_reason),
    };
    return cmocka_run_group_tests(tests, listen_to_log, hear_nothing);
}
