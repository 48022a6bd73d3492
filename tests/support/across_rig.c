/* SPDX-License-Identifier: Apache-2.0 */
#include "across_rig.h"

#include <stdlib.h>
#include <string.h>

#include "cm.h"
#include "faults.h"
#include "scope_file.h"
#include "simpler/log.h"

void across_open(struct across_rig *rig)
{
    scope_file_make_prefix(rig->base);
    simpler_log_set_level(SIMPLER_LOG_NONE);
}

void across_close(struct across_rig *rig)
{
    scope_file_remove_prefix(rig->base);
}

/* ---- runs ---- */

static int job_kernel(const int64_t *args, uint32_t tensors, void *user)
{
    struct across_job *job = user;

    (void)args;
    (void)tensors;
    atomic_fetch_add(&job->tasks, 1);
    atomic_store(&job->ran_ns, kit_now_ns());
    return 0;
}

void across_job_graph(struct simpler_orch *orch, void *user)
{
    struct across_job *job = user;
    struct simpler_task_args args;

    for (int i = 0; i < job->scopes; i++) {
        SIMPLER_SCOPE(orch)
        {
            simpler_task_args_reset(&args);
            kit_submit(orch, &args, job_kernel, job, NULL);
        }
    }
}

void across_name(const struct across_rig *rig, char path[160], const char *name)
{
    (void)snprintf(path, 160, "%s/%s", rig->base, name);
}

int across_run(struct across_rig *rig, const char *run, struct across_job *job)
{
    struct simpler_call_config config = kit_config(2);
    char prefix[160];

    across_name(rig, prefix, run);
    config.enable_scope_stats = 1;
    config.output_prefix = prefix;
    return kit_run(&rig->kit, across_job_graph, job, &config, &rig->result);
}

bool across_is_there(const struct across_rig *rig, const char *run_name)
{
    char prefix[160];

    across_name(rig, prefix, run_name);
    return scope_file_exists(prefix);
}

int across_flush(struct across_rig *rig)
{
    return simpler_worker_flush_diagnostics(rig->kit.worker, UINT64_MAX);
}

void across_check_file(const struct across_rig *rig, const char *run_name,
                       const struct across_job *job, uint32_t window)
{
    char prefix[160], text[160];
    int samples = 2 * (job->scopes + 1);

    across_name(rig, prefix, run_name);
    struct scope_file file = scope_file_read(prefix);
    assert_int_equal(file.count, samples);
    (void)snprintf(text, sizeof(text), "{\"fatal\": false, \"dropped\": 0, \"total\": %d, ",
                   samples);
    assert_memory_equal(file.metadata, text, strlen(text));
    (void)snprintf(text, sizeof(text),
                   "\"collection_verdict\": \"published\", \"counts_unknown\": false, "
                   "\"host_received_records\": %d, \"host_retained_records\": %d}",
                   samples, samples);
    assert_string_equal(strstr(file.metadata, "\"collection_verdict"), text);
    (void)snprintf(text, sizeof(text), "\"task_window_max\": [%u, %u, %u, %u]", window, window,
                   window, window);
    if (window != 0)
        assert_non_null(strstr(file.metadata, text));
    for (uint32_t i = 1; i < file.count; i++)
        assert_int_equal(file.samples[i].run_epoch, file.samples[0].run_epoch);
    scope_file_free(&file);
}

/* ---- args dump ---- */

static int chain_kernel(const int64_t *args, uint32_t tensors, void *user)
{
    int64_t *data = simpler_kernel_data((int64_t *)(uintptr_t)args, 0);

    (void)tensors;
    (void)user;
    for (int i = 0; i < ACROSS_ELEMENTS; i++)
        data[i]++;
    return 0;
}

static void chain_graph(struct simpler_orch *orch, void *user)
{
    struct across_chain *chain = user;
    struct simpler_tensor tensor = kit_tensor(chain->data, ACROSS_ELEMENTS, SIMPLER_DTYPE_INT64);

    for (int i = 0; i < chain->tasks; i++) {
        struct simpler_task_args args;
        simpler_task_args_reset(&args);
        simpler_task_args_add_inout(&args, &tensor);
        if (i == 0)
            simpler_task_args_dump(&args, &tensor);
        kit_submit(orch, &args, chain_kernel, chain, NULL);
    }
}

int across_run_chain(struct across_rig *rig, const char *run_name, struct across_chain *chain,
                     uint32_t level, uint32_t threads)
{
    struct simpler_call_config config = kit_config(threads);
    char prefix[160];

    across_name(rig, prefix, run_name);
    config.enable_dump_args = level;
    config.enable_scope_stats = level == 2;
    config.output_prefix = prefix;
    return kit_run(&rig->kit, chain_graph, chain, &config, &rig->result);
}

char *across_read_dump(const struct across_rig *rig, const char *run_name, const char *file,
                       size_t *bytes)
{
    char path[256], prefix[160];

    across_name(rig, prefix, run_name);
    (void)snprintf(path, sizeof(path), "%s/args_dump/%s", prefix, file);
    FILE *in = fopen(path, "r");
    if (in == NULL)
        return NULL;
    char *text = calloc(1, 1 << 20);
    assert_non_null(text);
    *bytes = fread(text, 1, (1 << 20) - 1, in);
    (void)fclose(in);
    return text;
}

static int compare_first(const void *a, const void *b)
{
    return (int)(*(const int64_t *)a - *(const int64_t *)b);
}

void across_check_dump(const struct across_rig *rig, const char *run_name,
                       const struct across_chain *chain, uint32_t level)
{
    int tasks = level == 1 ? 1 : chain->tasks, with_bytes = level == 3 ? 1 : tasks;
    int records = 2 * tasks + (level == 1 ? 0 : 2 * tasks); /* a kit task has two scalars */
    char expected[128];
    size_t bytes;
    char *text = across_read_dump(rig, run_name, "args_dump.json", &bytes);

    assert_non_null(text);
    (void)snprintf(expected, sizeof(expected), "\"dump_args_level\": %u,\n  \"total_args\": %d,",
                   level, records);
    assert_non_null(strstr(text, expected));
    assert_non_null(strstr(text, "\"dropped_records\": 0,"));
    assert_string_equal(text + bytes - 6, "  ]\n}\n");
    free(text);
    int64_t *data = (int64_t *)(void *)across_read_dump(rig, run_name, "args.bin", &bytes);
    assert_non_null(data);
    assert_int_equal(bytes, 2 * with_bytes * ACROSS_ELEMENTS * (int)sizeof(int64_t));
    /* Each task's before and after, in the order in which the lanes were collected. */
    qsort(data, (size_t)(2 * with_bytes), ACROSS_ELEMENTS * sizeof(int64_t), compare_first);
    for (int i = 0; i < 2 * with_bytes; i++)
        assert_int_equal(data[i * ACROSS_ELEMENTS + ACROSS_ELEMENTS - 1], (i + 1) / 2);
    free(data);
}

void across_saw_and_close(struct across_rig *rig, const char *fault, int next, int status,
                          bool has_file)
{
    int closed = simpler_worker_close(rig->kit.worker);

    rig->kit.worker = NULL;
    assert_int_equal(closed, status);
    fault_saw(fault, "next=%s file=%s close=%s", simpler_status_name(next), fault_yes(has_file),
              simpler_status_name(closed));
}
