/* SPDX-License-Identifier: Apache-2.0 */
#include "hang_rig.h"

#include <stdlib.h>
#include <string.h>

#include "base/testpoint.h"
#include "faults.h"
#include "graph_gen.h"

struct kit hang_kit;
struct simpler_run_result hang_result;
uint64_t hang_cells[64][8];
static char lines[64][1024];
static _Atomic int line_count;
_Atomic int hang_hold; /* 0: a thread stands at a test point */

static void keep_line(void *user, int level, const char *line)
{
    (void)user;
    if (level < SIMPLER_LOG_ERROR)
        return;
    int at = atomic_fetch_add(&line_count, 1);
    if (at < 64)
        (void)snprintf(lines[at], sizeof(lines[at]), "%s", line);
}

/* A line of the log that has both. */
bool hang_was_logged(const char *a, const char *b)
{
    for (int i = 0; i < atomic_load(&line_count) && i < 64; i++) {
        if (strstr(lines[i], a) != NULL && strstr(lines[i], b) != NULL)
            return true;
    }
    return false;
}

void hang_must_say(const char *text)
{
    if (strstr(hang_result.message, text) == NULL)
        fail_msg("'%s' is not in:\n%s", text, hang_result.message);
}

/* There the orchestration is the caller's own code, and every task is of ring 0. */
bool hang_on_hbg(void)
{
    return kit_is_host_built();
}

static void call_orch(struct simpler_orch *orch, const struct simpler_orch_args *args);
static uint32_t call_handle;

void hang_open_worker(const struct simpler_worker_config *config)
{
    struct simpler_callable callable = kit_callable();
    kit_open_config(&hang_kit, config);
    callable.name = "hangs";
    callable.orchestrate = call_orch;
    assert_int_equal(simpler_worker_register(hang_kit.worker, &callable, &call_handle), 0);
}

int hang_start(void **state)
{
    (void)state;
    char budget[16];
    (void)snprintf(budget, sizeof(budget), "%u", HANG_BUDGET_MS);
    (void)setenv("SIMPLER_SCHEDULER_TIMEOUT_MS", budget, 1);
    simpler_log_set_callback(keep_line, NULL);
    atomic_store(&line_count, 0);
    hang_open_worker(NULL);
    return 0;
}

int hang_end(void **state)
{
    (void)state;
    atomic_store(&hang_hold, 1);
    assert_int_equal(simpler_worker_quiesce(hang_kit.worker, 10000000000u), 0);
    simpler_testpoint_set(NULL, NULL);
    kit_close(&hang_kit);
    return 0;
}

/* What a hung run still uses stays until the device is free: calls have places of their own. */
struct call {
    kit_orch fn;
    void *user;
};
static struct call calls[64];
static uint32_t call_count;

static void call_orch(struct simpler_orch *orch, const struct simpler_orch_args *args)
{
    const struct call *call = args->user;
    call->fn(orch, call->user);
}

int hang_run(kit_orch fn, void *user, const struct simpler_call_config *config)
{
    struct call *call = &calls[call_count++ % 64];
    struct simpler_orch_args args = {.user = call};
    *call = (struct call){fn, user};
    int before = kit_unexpected();
    int rc = simpler_worker_run(hang_kit.worker, call_handle, &args, config, &hang_result);
    return kit_unexpected() != before ? KIT_UNEXPECTED : rc;
}

void hang_next_runs_are_right(void)
{
    struct graph_options options = {.calm = true};
    static uint64_t seed = 810000;
    for (int i = 0; i < 5; i++)
        assert_true(graph_try_seed(seed++, &hang_kit, &options));
}

int hang_spin_kernel(const int64_t *args, uint32_t tensors, void *user)
{
    struct hang_spinner *s = user;
    if (tensors != 0)
        *(uint64_t *)simpler_kernel_data(args, 0) = 42;
    atomic_fetch_add_explicit(&s->inside, 1, memory_order_acq_rel);
    while (!atomic_load_explicit(&s->let_go, memory_order_acquire))
        kit_sleep_ns(100000);
    return 0;
}

int hang_submit_on(struct simpler_orch *orch, uint32_t index, uint32_t variant, kit_kernel fn,
                   void *user)
{
    struct simpler_tensor tensor = kit_tensor(hang_cells[index], 8, SIMPLER_DTYPE_UINT64);
    struct simpler_task_args args;
    simpler_task_args_reset(&args);
    simpler_task_args_add_inout(&args, &tensor);
    return kit_submit_variant(orch, variant, &args, fn, user, NULL);
}

char hang_prefix[] = "/tmp/test_hangs.XXXXXX";
static char text[1 << 20];

const char *hang_read_file(const char *name)
{
    char path[256];
    (void)snprintf(path, sizeof(path), "%s/%s", hang_prefix, name);
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        return NULL;
    size_t n = fread(text, 1, sizeof(text) - 1, file);
    (void)fclose(file);
    text[n] = '\0';
    return text;
}

int hang_count_of(const char *haystack, const char *needle)
{
    int n = 0;
    for (const char *p = haystack; (p = strstr(p, needle)) != NULL; p++)
        n++;
    return n;
}

struct simpler_call_config hang_with_diagnostics(uint32_t threads)
{
    struct simpler_call_config config = kit_config(threads);
    config.enable_scope_stats = 1;
    config.enable_dump_args = 2;
    config.output_prefix = hang_prefix;
    return config;
}

void hang_saw(const char *fault)
{
    fault_saw(fault, "status=%s scope=%s dump=%s device=%s",
              simpler_status_name(hang_result.status),
              simpler_status_name(hang_result.scope_stats.status),
              simpler_status_name(hang_result.args_dump.status), fault_device(hang_kit.worker));
}

int hang_main(const struct CMUnitTest *tests, size_t count)
{
    char command[64];

    if (mkdtemp(hang_prefix) == NULL)
        return 1;
    int rc = crash_words_run_group("hangs", tests, count, NULL, NULL);
    (void)snprintf(command, sizeof(command), "rm -rf %s", hang_prefix);
    return system(command) != 0 ? 1 : rc;
}
