/* SPDX-License-Identifier: Apache-2.0 */
/* A run: its turn, the device, its diagnostics. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/logger.h"
#include "host/run_request.h"
#include "host/worker_state.h"

/* The device is ours. */
static int execute(struct simpler_worker *worker, struct simpler_device_run *run,
                   const char *output_prefix, struct simpler_run_result *out)
{
    memset(out, 0, sizeof(*out));
    atomic_store_explicit(&worker->runtime, run->runtime, memory_order_relaxed);
    run->run_epoch = ++worker->run_count;
    int rc = simpler_diagnostics_admit(&worker->diagnostics, output_prefix, run, out);
    if (rc != 0) {
        out->status = rc;
        return rc;
    }
    rc = simpler_runtimes[run->runtime]->execute(worker->devices[run->runtime], run, out);
    simpler_diagnostics_settle(&worker->diagnostics, run, out);
    return rc;
}

static void log_sizes(const char *name, const struct simpler_runtime_env *env)
{
    const uint64_t *w = env->ring_task_window, *h = env->ring_heap, *d = env->ring_dep_pool;

    SIMPLER_INFO("run of %s: task_window=%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64
                 " heap=%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 " dep_pool=%" PRIu64
                 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 " tensormap=%" PRIu64,
                 name, w[0], w[1], w[2], w[3], h[0], h[1], h[2], h[3], d[0], d[1], d[2], d[3],
                 env->tensormap);
}

static int refuse_busy(struct simpler_run_result *out)
{
    memset(out, 0, sizeof(*out));
    out->status = SIMPLER_EBUSY;
    (void)snprintf(out->message, sizeof(out->message),
                   "another thread runs on this worker; a worker runs one callable at a time");
    return SIMPLER_EBUSY;
}

int simpler_worker_run(struct simpler_worker *worker, uint32_t handle,
                       const struct simpler_orch_args *args,
                       const struct simpler_call_config *config, struct simpler_run_result *out)
{
    static const struct simpler_orch_args none;
    struct simpler_device_run run = {0};
    struct simpler_run_result unwanted;
    bool idle = false;

    if (worker == NULL) {
        SIMPLER_ERROR("run: worker is NULL");
        return SIMPLER_EINVAL;
    }
    int rc = simpler_run_request_prepare(worker, handle, args != NULL ? args : &none, config, &run);
    if (rc != 0)
        return rc;
    out = out != NULL ? out : &unwanted;
    /* acquire, pairs with R1: what the run before us did to the device is visible. */
    if (!atomic_compare_exchange_strong_explicit(&worker->running, &idle, true,
                                                 memory_order_acquire, memory_order_relaxed))
        return refuse_busy(out);
    log_sizes(run.callable->callable.name, &run.env);
    rc = execute(worker, &run, config != NULL ? config->output_prefix : NULL, out);
    /* R1, release: pairs with the compare-exchange of the next run. */
    atomic_store_explicit(&worker->running, false, memory_order_release);
    return rc;
}
