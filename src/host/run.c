/* SPDX-License-Identifier: Apache-2.0 */
/* A run on its caller's thread, and what every run does when it is its turn. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/logger.h"
#include "host/run_request.h"
#include "host/worker_state.h"

static int refuse_hung(const char *why, struct simpler_run_result *out)
{
    (void)snprintf(out->message, sizeof(out->message),
                   "an earlier run hung and keeps the device busy: %s; "
                   "simpler_worker_quiesce waits for it",
                   why);
    return SIMPLER_EBUSY;
}

static const enum simpler_device_lane_end all_complete[SIMPLER_DIAGNOSTICS_LANES];
_Static_assert(SIMPLER_DEVICE_LANE_COMPLETE == 0, "zeroed is complete");

/* A run that failed may have hung: each lane is asked how it ended. */
static void settle_failed(struct simpler_worker *worker, struct simpler_run *run)
{
    const struct simpler_runtime *runtime = simpler_runtimes[run->device.runtime];
    enum simpler_device_lane_end ends[SIMPLER_DIAGNOSTICS_LANES] = {0};
    uint32_t lanes = simpler_device_lanes(&run->device);

    for (uint32_t l = 0; l < lanes && l < SIMPLER_DIAGNOSTICS_LANES; l++)
        ends[l] = runtime->lane_end(worker->devices[run->device.runtime], l);
    simpler_worker_state_note_failed(worker);
    simpler_diagnostics_settle(&worker->diagnostics, &run->device, run->output_prefix, ends,
                               run->claimed, run->result);
}

static void log_sizes(const struct simpler_device_run *run)
{
    const struct simpler_runtime_env *env = &run->env;
    const uint64_t *w = env->ring_task_window, *h = env->ring_heap, *d = env->ring_dep_pool;

    SIMPLER_INFO("run of %s: task_window=%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64
                 " heap=%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 " dep_pool=%" PRIu64
                 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 " tensormap=%" PRIu64,
                 run->callable->callable.name, w[0], w[1], w[2], w[3], h[0], h[1], h[2], h[3], d[0],
                 d[1], d[2], d[3], env->tensormap);
}

static int refuse_canceled(struct simpler_run_result *out)
{
    (void)snprintf(out->message, sizeof(out->message), "canceled before it had begun");
    return SIMPLER_ECANCELED;
}

static int execute(struct simpler_worker *worker, struct simpler_run *run)
{
    struct simpler_run_result *out = run->result;
    uint32_t runtime = run->device.runtime;
    const char *why = "";

    /* acquire, pairs with cancel's release. */
    if (atomic_load_explicit(&run->canceled, memory_order_acquire))
        return refuse_canceled(out);
    if (simpler_worker_state_settle(worker, 0, &why) != 0)
        return refuse_hung(why, out);
    log_sizes(&run->device);
    atomic_store_explicit(&worker->runtime, runtime, memory_order_relaxed);
    run->device.run_epoch = ++worker->run_count;
    int rc = simpler_diagnostics_admit(&worker->diagnostics, run->output_prefix, run->claimed,
                                       run->without, &run->device, out);
    if (rc != 0)
        return rc;
    rc = simpler_runtimes[runtime]->execute(worker->devices[runtime], &run->device, out);
    if (rc == 0 || simpler_runtimes[runtime]->lane_end == NULL)
        simpler_diagnostics_settle(&worker->diagnostics, &run->device, run->output_prefix,
                                   all_complete, run->claimed, out);
    else
        settle_failed(worker, run);
    run->claimed = NULL;
    return rc;
}

void simpler_run_take_turn(struct simpler_worker *worker, struct simpler_run *run)
{
    memset(run->result, 0, sizeof(*run->result));
    run->result->status = execute(worker, run);
    simpler_exports_hand_over(run->claimed);
    simpler_run_queue_end(worker->queue, run);
}

int simpler_run_admit(struct simpler_worker *worker, struct simpler_run *run)
{
    int rc = simpler_diagnostics_claim(&worker->diagnostics, &run->device, run->output_prefix,
                                       &run->claimed, &run->without);

    if (rc != 0)
        return rc;
    rc = simpler_run_queue_admit(worker->queue, run);
    if (rc != 0)
        simpler_exports_hand_over(run->claimed);
    return rc;
}

/* The caller is inside the worker. */
static int run_here(struct simpler_worker *worker, uint32_t handle,
                    const struct simpler_orch_args *args, const struct simpler_call_config *config,
                    struct simpler_run_result *out)
{
    struct simpler_run run = {.queue = worker->queue, .result = out};

    int rc = simpler_run_request_prepare(worker, handle, args, config, &run);
    if (rc == 0)
        rc = simpler_run_admit(worker, &run);
    if (rc != 0)
        return rc;
    simpler_run_queue_wait_turn(worker->queue, &run);
    simpler_run_take_turn(worker, &run);
    return out->status;
}

int simpler_worker_run(struct simpler_worker *worker, uint32_t handle,
                       const struct simpler_orch_args *args,
                       const struct simpler_call_config *config, struct simpler_run_result *out)
{
    static const struct simpler_orch_args none;
    struct simpler_run_result unwanted;

    if (worker == NULL) {
        SIMPLER_ERROR("run: worker is NULL");
        return SIMPLER_EINVAL;
    }
    if (!simpler_run_queue_enter(worker->queue))
        return SIMPLER_ECANCELED;
    int rc = run_here(worker, handle, args != NULL ? args : &none, config,
                      out != NULL ? out : &unwanted);
    simpler_run_queue_leave(worker->queue);
    return rc;
}
