/* SPDX-License-Identifier: Apache-2.0 */
/* The runtime's two tables: what the host calls, what an orchestration calls. */
#include "tmr/engine.h"
#include "tmr/fatal.h"
#include "tmr/orch_functions.h"
#include "tmr/tmr_runtime.h"

void simpler_tmr_report_fatal(struct simpler_orch *orch, enum simpler_device_code code,
                              const char *text)
{
    (void)simpler_fatal_latch(orch, code, "reported by the orchestration: %s", text);
}

bool simpler_tmr_is_fatal(const struct simpler_orch *orch)
{
    if (atomic_load_explicit(&orch->device->stop, memory_order_relaxed) == 0)
        return false;
    atomic_store_explicit(&orch->device->cut, 1, memory_order_relaxed);
    return true;
}

uint32_t simpler_tmr_cluster_count(const struct simpler_orch *orch)
{
    return orch->device->run->cluster_count;
}

const struct simpler_orch_ops simpler_tmr_ops = {
    .submit = {.aic = simpler_tmr_submit_aic, .aiv = simpler_tmr_submit_aiv},
    .submit_mixed = simpler_tmr_submit_mixed,
    .submit_dummy = simpler_tmr_submit_dummy,
    .alloc_tensors = simpler_tmr_alloc_tensors,
    .submit_graph = simpler_tmr_submit_graph,
    .scope_begin = simpler_tmr_scope_begin,
    .scope_end = simpler_tmr_scope_end,
    .get_tensor_data = simpler_tmr_get_tensor_data,
    .set_tensor_data = simpler_tmr_set_tensor_data,
    .report_fatal = simpler_tmr_report_fatal,
    .is_fatal = simpler_tmr_is_fatal,
    .cluster_count = simpler_tmr_cluster_count,
};

static int open_device(const struct simpler_platform *platform, void **device)
{
    struct simpler_device *made = NULL;
    int rc = simpler_device_open(platform, &made);

    *device = made;
    return rc;
}

static void close_device(void *device)
{
    simpler_device_close(device);
}

static int execute(void *device, const struct simpler_device_run *run,
                   struct simpler_run_result *result)
{
    return simpler_device_execute(device, run, result);
}

static void cancel(void *device)
{
    simpler_device_cancel(device);
}

static uint64_t progress(const void *device)
{
    return simpler_device_progress(device);
}

static enum simpler_device_lane_end lane_end(const void *device, uint32_t lane)
{
    return simpler_device_lane_end(device, lane);
}

static int quiesce(void *device, uint64_t timeout_ns, const char **why)
{
    return simpler_device_quiesce(device, timeout_ns, why);
}

static void report(void *device)
{
    simpler_device_report(device);
}

const struct simpler_runtime simpler_runtime_tmr = {
    .name = "tensormap_and_ringbuffer",
    .description = "tasks start while the orchestration runs; rings bound the memory",
    .samples_scopes = true,
    .open = open_device,
    .close = close_device,
    .execute = execute,
    .cancel = cancel,
    .progress = progress,
    .lane_end = lane_end,
    .quiesce = quiesce,
    .report = report,
};
