/* SPDX-License-Identifier: Apache-2.0 */
/* Checks everything that a caller may get wrong before the device hears of it. */
#include "host/run_request.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/directories.h"
#include "base/logger.h"
#include "base/text.h"
#include "host/config.h"
#include "host/worker_state.h"

#define MAX_TENSORS 256
#define MAX_SCALARS 128

static int check_args(const struct simpler_platform *platform,
                      const struct simpler_callable_copy *callable,
                      const struct simpler_orch_args *args)
{
    const char *name = callable->callable.name;
    uint32_t expected = callable->callable.expected_arg_count;

    if (args->tensor_count > MAX_TENSORS || args->scalar_count > MAX_SCALARS) {
        SIMPLER_ERROR("run of %s: %" PRIu32 " tensor%s and %" PRIu32
                      " scalar%s; at most %d and %d are possible",
                      name, args->tensor_count, simpler_text_plural(args->tensor_count),
                      args->scalar_count, simpler_text_plural(args->scalar_count), MAX_TENSORS,
                      MAX_SCALARS);
        return SIMPLER_EINVAL;
    }
    if ((args->tensor_count != 0 && args->tensor == NULL) ||
        (args->scalar_count != 0 && args->scalar == NULL)) {
        SIMPLER_ERROR("run of %s: arguments are counted, but their array is NULL", name);
        return SIMPLER_EINVAL;
    }
    if (args->tensor_count + args->scalar_count < expected) {
        SIMPLER_ERROR("run of %s: %" PRIu32 " argument%s expected, %" PRIu32 " given", name,
                      expected, simpler_text_plural(expected),
                      args->tensor_count + args->scalar_count);
        return SIMPLER_EINVAL;
    }
    for (uint32_t i = 0; i < args->tensor_count; i++) {
        if (simpler_tensor_check(&args->tensor[i]) != 0) {
            SIMPLER_ERROR("run of %s: tensor %" PRIu32 " breaks a rule of simpler/tensor.h", name,
                          i);
            return SIMPLER_EINVAL;
        }
        if (!simpler_platform_has_dtype(platform, args->tensor[i].dtype)) {
            SIMPLER_ERROR("run of %s: tensor %" PRIu32 " is %s, which platform %s does not have",
                          name, i, simpler_dtype_name(args->tensor[i].dtype), platform->name);
            return SIMPLER_EINVAL;
        }
    }
    return 0;
}

static int resolve(struct simpler_worker *worker, const char *name,
                   const struct simpler_call_config *config, struct simpler_device_run *run)
{
    struct simpler_call_config resolved;
    char message[256] = "";

    int rc = simpler_config_resolve(worker->platform, config, &worker->environment, &resolved,
                                    message, sizeof(message));
    if (rc != 0) {
        SIMPLER_ERROR("run of %s: %s", name, message);
        return rc;
    }
    run->runtime = (uint32_t)simpler_runtimes_find(resolved.runtime);
    run->thread_count = resolved.aicpu_thread_num;
    run->cluster_count = resolved.cluster_count;
    run->hazards = resolved.hazards;
    run->exec = resolved.exec;
    run->check_hazards = resolved.check_hazards != 0;
    run->deadline_ns = resolved.deadline_ns;
    run->scheduler_timeout_ns = worker->timeouts.scheduler_ns;
    run->env = resolved.runtime_env;
    run->progress = resolved.progress;
    run->progress_user = resolved.progress_user;
    run->progress_interval_ns = resolved.progress_interval_ns;
    if (resolved.enable_scope_stats != 0)
        run->enable_profiling_flag |= SIMPLER_PROFILING_SCOPE_STATS;
    run->dump_args_level = resolved.enable_dump_args;
    if (resolved.enable_dump_args != 0)
        run->enable_profiling_flag |= SIMPLER_PROFILING_DUMP_ARGS;
    return 0;
}

/* The directories that the run's diagnostics write into can be had. */
static int check_places(const char *name, const char *prefix, const struct simpler_device_run *run)
{
    const struct {
        uint32_t flag;
        const char *directory;
    } places[] = {{SIMPLER_PROFILING_SCOPE_STATS, "scope_stats"},
                  {SIMPLER_PROFILING_DUMP_ARGS, "args_dump"}};
    char path[SIMPLER_CONFIG_PREFIX_MAX + 16], why[320];

    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        if ((run->enable_profiling_flag & places[i].flag) == 0)
            continue;
        (void)snprintf(path, sizeof(path), "%s/%s", prefix, places[i].directory);
        if (!simpler_directories_check(path, why, sizeof(why))) {
            SIMPLER_ERROR("run of %s: output_prefix: %s; name a directory that can be made there, "
                          "or written into",
                          name, why);
            return SIMPLER_EINVAL;
        }
    }
    return 0;
}

int simpler_run_request_prepare(struct simpler_worker *worker, uint32_t handle,
                                const struct simpler_orch_args *args,
                                const struct simpler_call_config *config, struct simpler_run *run)
{
    struct simpler_device_run *device = &run->device;

    device->callable = simpler_callable_table_find(&worker->callables, handle);
    if (device->callable == NULL)
        return SIMPLER_EINVAL;
    device->args = args;
    device->canceled = &run->canceled;
    run->output_prefix = config != NULL ? config->output_prefix : NULL;
    int rc = check_args(worker->platform, device->callable, args);
    if (rc != 0)
        return rc;
    const char *name = device->callable->callable.name;
    rc = resolve(worker, name, config, device);
    return rc != 0 ? rc : check_places(name, run->output_prefix, device);
}
