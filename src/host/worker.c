/* SPDX-License-Identifier: Apache-2.0 */
/* A worker's life: the platform found, everything acquired; and given back. */
#include "simpler/worker.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/crash.h"
#include "base/logger.h"
#include "base/text.h"
#include "host/config.h"
#include "host/worker_state.h"

static int no_platform(const char *name)
{
    const char *substitute = simpler_platform_substitute(name);
    char answer[256];

    if (substitute != NULL) {
        SIMPLER_ERROR("%s: no such device on this host: use %s", name, substitute);
        return SIMPLER_ENOSYS;
    }
    SIMPLER_ERROR("there is no platform '%.60s'%s", name,
                  simpler_platform_answer(name, answer, sizeof(answer)));
    return SIMPLER_ENOENT;
}

static int find_platform(const struct simpler_worker_config *config,
                         const struct simpler_platform **out)
{
    const struct simpler_platform *platform = simpler_platform_list[0];

    if (config->platform != NULL)
        platform = simpler_platform_find(config->platform);
    if (platform == NULL)
        return no_platform(config->platform);
    if (config->device_id < 0 || (uint32_t)config->device_id >= platform->device_count) {
        SIMPLER_ERROR("platform %s has no device %d; its devices are 0 to %" PRIu32, platform->name,
                      config->device_id, platform->device_count - 1);
        return SIMPLER_EINVAL;
    }
    *out = platform;
    return 0;
}

static int check_level(const struct simpler_worker_config *config)
{
    uint32_t level = config->level != 0 ? config->level : 2;

    if (level == 4) {
        SIMPLER_ERROR("open: a worker of level 4 (remote) is not supported; 2 and 3 are");
        return SIMPLER_ENOSYS;
    }
    if (level != 2 && level != 3) {
        SIMPLER_ERROR("open: level is %" PRIu32 "; legal is 0 (for 2), 2 or 3", level);
        return SIMPLER_EINVAL;
    }
    if (config->collect_across_runs > 1) {
        SIMPLER_ERROR("open: collect_across_runs is %" PRIu32 "; legal is 0 or 1",
                      config->collect_across_runs);
        return SIMPLER_EINVAL;
    }
    if (config->crash_safe > 1) {
        SIMPLER_ERROR("open: crash_safe is %" PRIu32 "; legal is 0 or 1", config->crash_safe);
        return SIMPLER_EINVAL;
    }
    if (config->crash_safe != 0 && config->collect_across_runs != 0) {
        SIMPLER_ERROR("open: crash_safe and collect_across_runs exclude each other: what waits to "
                      "be written in the background is in the process's own memory");
        return SIMPLER_EINVAL;
    }
    if (config->collect_across_runs != 0 && level != 3) {
        SIMPLER_ERROR("open: collect_across_runs needs a worker of level 3; this one has level 2");
        return SIMPLER_EINVAL;
    }
    return 0;
}

/* What the collection framework can hold. */
static int check_dump(const struct simpler_dump_config *dump)
{
    uint32_t depth = dump->ready_queue_depth;
    uint64_t product;

    if (depth > 1u << 16 || (depth & (depth - 1)) != 0) {
        SIMPLER_ERROR("open: a ready queue depth of the dump of %" PRIu32
                      "; legal are powers of two up to 65536, and 0 for the default",
                      depth);
        return SIMPLER_EINVAL;
    }
    if (dump->records_per_buffer <= 1u << 20 && dump->buffers_per_thread <= 1u << 10 &&
        dump->avg_tensor_bytes <= (uint64_t)1 << 40 &&
        !__builtin_mul_overflow((uint64_t)(dump->records_per_buffer | 1) *
                                    (dump->buffers_per_thread | 1),
                                dump->avg_tensor_bytes | 1, &product) &&
        product <= (uint64_t)1 << 44)
        return 0;
    SIMPLER_ERROR("open: dump sizes of %" PRIu32 " record%s, %" PRIu32 " buffer%s and %" PRIu64
                  " bytes; legal are up to 2^20, 2^10 and 2^40, their product up to 2^44",
                  dump->records_per_buffer, simpler_text_plural(dump->records_per_buffer),
                  dump->buffers_per_thread, simpler_text_plural(dump->buffers_per_thread),
                  dump->avg_tensor_bytes);
    return SIMPLER_EINVAL;
}

static int acquire_all(struct simpler_worker *worker, const struct simpler_worker_config *config)
{
    int rc = simpler_callable_table_init(&worker->callables);
    if (rc == 0)
        rc = simpler_device_memory_init(&worker->memory);
    if (rc == 0)
        rc = simpler_diagnostics_init(&worker->diagnostics, config);
    for (uint32_t i = 0; i < SIMPLER_RUNTIMES && rc == 0; i++)
        rc = simpler_runtimes[i]->open(worker->platform, &worker->devices[i]);
    if (rc == 0)
        rc = simpler_run_queue_open(worker->devices, &worker->queue);
    return rc;
}

int simpler_worker_open(const struct simpler_worker_config *config, struct simpler_worker **out)
{
    static const struct simpler_worker_config defaults = SIMPLER_WORKER_CONFIG_INIT;
    const struct simpler_platform *platform = NULL;

    if (out == NULL) {
        SIMPLER_ERROR("open: out is NULL");
        return SIMPLER_EINVAL;
    }
    *out = NULL;
    config = config != NULL ? config : &defaults;
    int rc = find_platform(config, &platform);
    if (rc == 0)
        rc = check_level(config);
    if (rc == 0)
        rc = check_dump(&config->dump);
    if (rc != 0)
        return rc;
    struct simpler_worker *worker = simpler_alloc_zeroed(1, sizeof(*worker));
    if (worker == NULL) {
        SIMPLER_ERROR("open: out of memory");
        return SIMPLER_ENOMEM;
    }
    (void)pthread_mutex_init(&worker->runner_lock, NULL);
    (void)pthread_mutex_init(&worker->hang_lock, NULL);
    worker->platform = platform;
    worker->device_id = config->device_id;
    worker->diagnostics.transport = platform->transport;
    atomic_init(&worker->runtime, 0);
    rc = acquire_all(worker, config);
    if (rc != 0) {
        SIMPLER_ERROR("open: %s", simpler_status_text(rc));
        (void)simpler_worker_close(worker);
        return rc;
    }
    simpler_config_read_environment(&worker->environment, true);
    /* Every platform here is simulated. */
    simpler_config_read_timeouts(false, &worker->timeouts, true);
    *out = worker;
    return 0;
}

int simpler_worker_close(struct simpler_worker *worker)
{
    if (worker == NULL)
        return 0;
    if (worker->queue != NULL)
        simpler_run_queue_close(worker->queue);
    if (worker->runner_started)
        (void)pthread_join(worker->runner, NULL);
    simpler_run_queue_drop(worker->queue);
    /* What a hung run may touch stays: the tensors, the callables, the regions. */
    const char *why;
    bool busy = simpler_worker_state_settle(worker, 0, &why) != 0;
    int rc = simpler_diagnostics_flush(&worker->diagnostics, UINT64_MAX);
    for (uint32_t i = 0; i < SIMPLER_RUNTIMES; i++)
        simpler_runtimes[i]->close(worker->devices[i]);
    simpler_diagnostics_fini(&worker->diagnostics);
    if (busy)
        return rc;
    simpler_device_memory_fini(&worker->memory);
    simpler_callable_table_fini(&worker->callables);
    (void)pthread_mutex_destroy(&worker->runner_lock);
    (void)pthread_mutex_destroy(&worker->hang_lock);
    simpler_alloc_free(worker);
    return rc;
}

int simpler_worker_register(struct simpler_worker *worker, const struct simpler_callable *callable,
                            uint32_t *out)
{
    if (worker == NULL || out == NULL) {
        SIMPLER_ERROR("register: %s is NULL", worker == NULL ? "worker" : "out");
        return SIMPLER_EINVAL;
    }
    return simpler_callable_table_add(&worker->callables, callable, out);
}

void simpler_worker_cancel(struct simpler_worker *worker)
{
    if (worker != NULL)
        simpler_run_queue_cancel(worker->queue, NULL);
}

int simpler_worker_quiesce(struct simpler_worker *worker, uint64_t timeout_ns)
{
    const char *why;

    if (worker == NULL) {
        SIMPLER_ERROR("quiesce: worker is NULL");
        return SIMPLER_EINVAL;
    }
    if (!simpler_run_queue_enter(worker->queue))
        return SIMPLER_ECANCELED;
    uint64_t start = simpler_clock_ns();
    int rc = simpler_run_queue_wait_all(worker->queue, timeout_ns) ? 0 : SIMPLER_ETIMEDOUT;
    uint64_t took = simpler_clock_ns() - start;
    if (rc == 0)
        rc = simpler_worker_state_settle(worker, took < timeout_ns ? timeout_ns - took : 0, &why);
    simpler_run_queue_leave(worker->queue);
    return rc;
}

int simpler_worker_handle_crashes(void)
{
    return simpler_crash_install();
}

void simpler_worker_report(struct simpler_worker *worker)
{
    if (worker == NULL)
        return;
    uint32_t runtime = atomic_load_explicit(&worker->runtime, memory_order_relaxed);
    if (simpler_runtimes[runtime]->report != NULL)
        simpler_runtimes[runtime]->report(worker->devices[runtime]);
}

/* The caller is inside the worker. */
static int flush(struct simpler_worker *worker, uint64_t timeout_ns)
{
    uint64_t start = simpler_clock_ns();

    if (!simpler_run_queue_wait_all(worker->queue, timeout_ns))
        return SIMPLER_ETIMEDOUT;
    if (timeout_ns != UINT64_MAX) {
        uint64_t waited = simpler_clock_ns() - start;
        timeout_ns -= waited < timeout_ns ? waited : timeout_ns;
    }
    return simpler_diagnostics_flush(&worker->diagnostics, timeout_ns);
}

int simpler_worker_flush_diagnostics(struct simpler_worker *worker, uint64_t timeout_ns)
{
    if (worker == NULL) {
        SIMPLER_ERROR("flush_diagnostics: worker is NULL");
        return SIMPLER_EINVAL;
    }
    if (!simpler_run_queue_enter(worker->queue))
        return SIMPLER_ECANCELED;
    int rc = flush(worker, timeout_ns);
    simpler_run_queue_leave(worker->queue);
    return rc;
}

uint64_t simpler_worker_progress(const struct simpler_worker *worker)
{
    if (worker == NULL)
        return 0;
    uint32_t runtime = atomic_load_explicit(&worker->runtime, memory_order_relaxed);
    return simpler_runtimes[runtime]->progress(worker->devices[runtime]);
}
