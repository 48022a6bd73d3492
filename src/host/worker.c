/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The worker: checks everything that a caller may get wrong, then hands the
 * device a run without defaults or doubts.
 */
#include "simpler/worker.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/logger.h"
#include "host/config.h"
#include "host/device_memory.h"
#include "host/diagnostics.h"
#include "platform/platform.h"
#include "task/callable.h"
#include "tmr/device.h"

#define MAX_CALLABLES 64
#define MAX_TENSORS   256
#define MAX_SCALARS   128

struct simpler_worker {
    const struct simpler_platform *platform;
    int device_id;
    struct simpler_runtime_env environment; /* as it was when the worker was opened */
    struct simpler_device *device;          /* NULL until opened */
    struct simpler_device_memory memory;
    struct simpler_diagnostics diagnostics; /* of the thread that runs, like the next */
    uint32_t run_count;
    pthread_mutex_t lock; /* guards callables and callable_count */
    bool lock_ready;
    struct simpler_callable_copy *callables[MAX_CALLABLES];
    uint32_t callable_count;
    /* Taken by the thread that runs (acquire, pairs with R1), given back by it (R1, release). */
    atomic_bool running;
};

/* ---- open and close ---- */

static int no_platform(const char *name)
{
    const char *substitute = simpler_platform_substitute(name);
    char names[256] = "";
    size_t used = 0;

    if (substitute != NULL) {
        SIMPLER_ERROR("%s: no such device on this host: use %s", name, substitute);
        return SIMPLER_ENOSYS;
    }
    for (size_t i = 0; simpler_platform_list[i] != NULL && used < sizeof(names); i++)
        used += (size_t)snprintf(names + used, sizeof(names) - used, "%s%s", i == 0 ? "" : ", ",
                                 simpler_platform_list[i]->name);
    SIMPLER_ERROR("there is no platform '%s'; there are: %s", name, names);
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

/* What the collection framework can hold. */
static int check_dump(const struct simpler_dump_config *dump)
{
    uint64_t product;

    if (dump->records_per_buffer <= 1u << 20 && dump->buffers_per_thread <= 1u << 10 &&
        dump->avg_tensor_bytes <= (uint64_t)1 << 40 &&
        !__builtin_mul_overflow((uint64_t)(dump->records_per_buffer | 1) *
                                    (dump->buffers_per_thread | 1),
                                dump->avg_tensor_bytes | 1, &product) &&
        product <= (uint64_t)1 << 44)
        return 0;
    SIMPLER_ERROR("open: dump sizes of %" PRIu32 " records, %" PRIu32 " buffers and %" PRIu64
                  " bytes; legal are up to 2^20, 2^10 and 2^40, their product up to 2^44",
                  dump->records_per_buffer, dump->buffers_per_thread, dump->avg_tensor_bytes);
    return SIMPLER_EINVAL;
}

static int acquire_all(struct simpler_worker *worker)
{
    if (pthread_mutex_init(&worker->lock, NULL) != 0)
        return SIMPLER_ENOMEM;
    worker->lock_ready = true;
    int rc = simpler_device_memory_init(&worker->memory);
    if (rc != 0)
        return rc;
    return simpler_device_open(worker->platform, &worker->device);
}

int simpler_worker_open(const struct simpler_worker_config *config, struct simpler_worker **out)
{
    static const struct simpler_worker_config defaults = SIMPLER_WORKER_CONFIG_INIT;
    const struct simpler_platform *platform = NULL;

    if (out == NULL) {
        SIMPLER_ERROR("open: out is NULL");
        return SIMPLER_EINVAL;
    }
    config = config != NULL ? config : &defaults;
    int rc = find_platform(config, &platform);
    if (rc == 0)
        rc = check_dump(&config->dump);
    if (rc != 0)
        return rc;
    struct simpler_worker *worker = simpler_alloc_zeroed(1, sizeof(*worker));
    if (worker == NULL) {
        SIMPLER_ERROR("open: out of memory");
        return SIMPLER_ENOMEM;
    }
    worker->platform = platform;
    worker->device_id = config->device_id;
    worker->diagnostics.dump = config->dump;
    atomic_init(&worker->running, false);
    rc = acquire_all(worker);
    if (rc != 0) {
        SIMPLER_ERROR("open: %s", simpler_status_text(rc));
        simpler_worker_close(worker);
        return rc;
    }
    simpler_config_read_environment(&worker->environment, true);
    *out = worker;
    return 0;
}

void simpler_worker_close(struct simpler_worker *worker)
{
    if (worker == NULL)
        return;
    simpler_device_close(worker->device);
    simpler_diagnostics_fini(&worker->diagnostics);
    simpler_device_memory_fini(&worker->memory);
    for (uint32_t i = 0; i < worker->callable_count; i++) {
        simpler_callable_copy_fini(worker->callables[i]);
        simpler_alloc_free(worker->callables[i]);
    }
    if (worker->lock_ready)
        pthread_mutex_destroy(&worker->lock);
    simpler_alloc_free(worker);
}

/* ---- callables ---- */

/* Takes @copy over when it is new; *out is its handle or that of its equal. */
static int add_callable(struct simpler_worker *worker, struct simpler_callable_copy *copy,
                        bool *taken, uint32_t *out)
{
    for (uint32_t i = 0; i < worker->callable_count; i++) {
        if (simpler_callable_copy_equal(worker->callables[i], copy)) {
            *out = i;
            return 0;
        }
    }
    if (worker->callable_count == MAX_CALLABLES) {
        SIMPLER_ERROR("%s: a worker holds at most %d callables", copy->callable.name,
                      MAX_CALLABLES);
        return SIMPLER_EOVERFLOW;
    }
    *taken = true;
    *out = worker->callable_count;
    worker->callables[worker->callable_count++] = copy;
    return 0;
}

int simpler_worker_register(struct simpler_worker *worker, const struct simpler_callable *callable,
                            uint32_t *out)
{
    bool taken = false;

    if (worker == NULL || out == NULL) {
        SIMPLER_ERROR("register: %s is NULL", worker == NULL ? "worker" : "out");
        return SIMPLER_EINVAL;
    }
    struct simpler_callable_copy *copy = simpler_alloc_zeroed(1, sizeof(*copy));
    if (copy == NULL) {
        SIMPLER_ERROR("register: out of memory");
        return SIMPLER_ENOMEM;
    }
    int rc = simpler_callable_copy_init(copy, callable);
    if (rc == 0) {
        pthread_mutex_lock(&worker->lock);
        rc = add_callable(worker, copy, &taken, out);
        pthread_mutex_unlock(&worker->lock);
    }
    if (!taken) {
        simpler_callable_copy_fini(copy);
        simpler_alloc_free(copy);
    }
    return rc;
}

static const struct simpler_callable_copy *find_callable(struct simpler_worker *worker,
                                                         uint32_t handle)
{
    const struct simpler_callable_copy *found = NULL;

    pthread_mutex_lock(&worker->lock);
    if (handle < worker->callable_count)
        found = worker->callables[handle];
    pthread_mutex_unlock(&worker->lock);
    if (found == NULL)
        SIMPLER_ERROR("run: no callable has the handle %" PRIu32, handle);
    return found;
}

/* ---- run ---- */

/* The device is ours. */
static int execute(struct simpler_worker *worker, struct simpler_device_run *run,
                   const char *output_prefix, struct simpler_run_result *out)
{
    memset(out, 0, sizeof(*out));
    run->run_epoch = ++worker->run_count;
    int rc = simpler_diagnostics_admit(&worker->diagnostics, output_prefix, run, out);
    if (rc != 0) {
        out->status = rc;
        return rc;
    }
    rc = simpler_device_execute(worker->device, run, out);
    simpler_diagnostics_settle(&worker->diagnostics, run, out);
    return rc;
}

static int check_args(const struct simpler_callable_copy *callable,
                      const struct simpler_orch_args *args)
{
    const char *name = callable->callable.name;
    uint32_t expected = callable->callable.expected_arg_count;

    if (args->tensor_count > MAX_TENSORS || args->scalar_count > MAX_SCALARS) {
        SIMPLER_ERROR("run of %s: %" PRIu32 " tensors and %" PRIu32
                      " scalars; at most %d and %d are possible",
                      name, args->tensor_count, args->scalar_count, MAX_TENSORS, MAX_SCALARS);
        return SIMPLER_EINVAL;
    }
    if ((args->tensor_count != 0 && args->tensor == NULL) ||
        (args->scalar_count != 0 && args->scalar == NULL)) {
        SIMPLER_ERROR("run of %s: arguments are counted, but their array is NULL", name);
        return SIMPLER_EINVAL;
    }
    if (args->tensor_count + args->scalar_count < expected) {
        SIMPLER_ERROR("run of %s: %" PRIu32 " arguments are expected, %" PRIu32 " are there", name,
                      expected, args->tensor_count + args->scalar_count);
        return SIMPLER_EINVAL;
    }
    for (uint32_t i = 0; i < args->tensor_count; i++) {
        if (simpler_tensor_check(&args->tensor[i]) != 0) {
            SIMPLER_ERROR("run of %s: tensor %" PRIu32 " breaks a rule of simpler/tensor.h", name,
                          i);
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
    run->thread_count = resolved.aicpu_thread_num;
    run->cluster_count = resolved.cluster_count;
    run->hazards = resolved.hazards;
    run->exec = resolved.exec;
    run->check_hazards = resolved.check_hazards != 0;
    run->deadline_ns = resolved.deadline_ns;
    run->env = resolved.runtime_env;
    if (resolved.enable_scope_stats != 0)
        run->enable_profiling_flag |= SIMPLER_PROFILING_SCOPE_STATS;
    run->dump_args_level = resolved.enable_dump_args;
    if (resolved.enable_dump_args != 0)
        run->enable_profiling_flag |= SIMPLER_PROFILING_DUMP_ARGS;
    return 0;
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

static int prepare(struct simpler_worker *worker, uint32_t handle,
                   const struct simpler_orch_args *args, const struct simpler_call_config *config,
                   struct simpler_device_run *run)
{
    run->callable = find_callable(worker, handle);
    if (run->callable == NULL)
        return SIMPLER_EINVAL;
    run->args = args;
    int rc = check_args(run->callable, args);
    if (rc != 0)
        return rc;
    return resolve(worker, run->callable->callable.name, config, run);
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
    int rc = prepare(worker, handle, args != NULL ? args : &none, config, &run);
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

void simpler_worker_cancel(struct simpler_worker *worker)
{
    if (worker != NULL)
        simpler_device_cancel(worker->device);
}

uint64_t simpler_worker_progress(const struct simpler_worker *worker)
{
    return worker != NULL ? simpler_device_progress(worker->device) : 0;
}

/* ---- device memory ---- */

/* Whether the pointers of a memory call are there. */
static bool are_given(const char *call, const void *worker, const void *pointer)
{
    if (worker != NULL && pointer != NULL)
        return true;
    SIMPLER_ERROR("%s: a pointer is NULL", call);
    return false;
}

int simpler_worker_malloc(struct simpler_worker *worker, size_t bytes, uint64_t *out)
{
    if (!are_given("malloc", worker, out))
        return SIMPLER_EINVAL;
    return simpler_device_memory_alloc(&worker->memory, bytes, out);
}

int simpler_worker_free(struct simpler_worker *worker, uint64_t addr)
{
    if (!are_given("free", worker, worker))
        return SIMPLER_EINVAL;
    return simpler_device_memory_free(&worker->memory, addr);
}

int simpler_worker_copy_to(struct simpler_worker *worker, uint64_t to, const void *from,
                           size_t bytes)
{
    if (!are_given("copy_to", worker, from))
        return SIMPLER_EINVAL;
    int rc = simpler_device_memory_check(&worker->memory, to, bytes);
    if (rc == 0)
        memcpy((void *)(uintptr_t)to, from, bytes);
    return rc;
}

int simpler_worker_copy_from(struct simpler_worker *worker, void *to, uint64_t from, size_t bytes)
{
    if (!are_given("copy_from", worker, to))
        return SIMPLER_EINVAL;
    int rc = simpler_device_memory_check(&worker->memory, from, bytes);
    if (rc == 0)
        memcpy(to, (const void *)(uintptr_t)from, bytes);
    return rc;
}
