/* SPDX-License-Identifier: Apache-2.0 */
/* One callable whose kernels and orchestration call what a test passes. */
#include "kit.h"

#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "kit_transport.h"
#include "simpler/info.h"
#include "transport_rough.h"

#define KERNELS ((SIMPLER_MAX_TENSORS + 1) * KIT_VARIANTS)

#define EACH(X) \
    X(0)        \
    X(1)        \
    X(2)        \
    X(3)        \
    X(4)        \
    X(5)        \
    X(6)        \
    X(7)        \
    X(8)        \
    X(9)        \
    X(10)       \
    X(11)       \
    X(12)       \
    X(13)       \
    X(14)       \
    X(15)       \
    X(16)       \
    X(17)       \
    X(18)       \
    X(19)       \
    X(20) X(21) X(22) X(23) X(24) X(25) X(26) X(27) X(28) X(29) X(30) X(31) X(32)

/* A kernel is not told how many tensors it has, and the scalars come after them. */
static int call(int64_t *args, uint32_t tensors)
{
    kit_kernel fn;
    void *user;
    simpler_kernel_scalar(args, tensors, &fn, sizeof(fn));
    simpler_kernel_scalar(args, tensors + 1, &user, sizeof(user));
    return fn(args, tensors, user);
}

#define X(n)                           \
    static int call_##n(int64_t *args) \
    {                                  \
        return call(args, n);          \
    }
EACH(X)
#undef X

#define X(n) call_##n,
static const simpler_kernel_fn functions[SIMPLER_MAX_TENSORS + 1] = {EACH(X)};
#undef X

static void orchestrate(struct simpler_orch *orch, const struct simpler_orch_args *args)
{
    const struct kit_call *orch_call = args->user;
    orch_call->fn(orch, orch_call->user);
}

struct simpler_callable kit_callable(void)
{
    static struct simpler_kernel kernels[KERNELS];
    for (uint32_t i = 0; i < KERNELS; i++) {
        uint32_t variant = i / (SIMPLER_MAX_TENSORS + 1);
        uint32_t tensors = i % (SIMPLER_MAX_TENSORS + 1);
        kernels[i].func_id = variant * KIT_VARIANT + tensors;
        kernels[i].core_type = variant < KIT_AIV_VARIANTS ? SIMPLER_CORE_AIV : SIMPLER_CORE_AIC;
        kernels[i].name = variant < KIT_AIV_VARIANTS ? "kit_aiv" : "kit_aic";
        kernels[i].fn = functions[tensors];
    }
    struct simpler_callable callable = {0};
    callable.name = "kit";
    callable.orchestrate = orchestrate;
    callable.file = "kit.c";
    callable.line = 1;
    callable.kernels = kernels;
    callable.kernel_count = KERNELS;
    return callable;
}

static void must(bool ok, const char *what)
{
    if (ok)
        return;
    fprintf(stderr, "kit: %s\n", what);
    abort();
}

static const char *platform_now; /* kit_set_platform's */

const char *kit_platform(void)
{
    const char *name = getenv("SIMPLER_TEST_PLATFORM");
    if (platform_now != NULL)
        return platform_now;
    return name != NULL && name[0] != '\0' ? name : "cpu";
}

/* Asked once: the limits are read from the system. */
static struct simpler_platform_info chosen;
static pthread_once_t info_once = PTHREAD_ONCE_INIT;

static void find_platform(void)
{
    uint32_t i = 0;

    while (simpler_info_platform(i, &chosen) == 0 && strcmp(chosen.name, kit_platform()) != 0)
        i++;
    must(simpler_info_platform(i, &chosen) == 0, "SIMPLER_TEST_PLATFORM names no platform");
}

void kit_set_platform(const char *name)
{
    (void)pthread_once(&info_once, find_platform);
    platform_now = name;
    find_platform();
}

static const struct simpler_platform_info *platform_info(void)
{
    (void)pthread_once(&info_once, find_platform);
    return &chosen;
}

uint32_t kit_threads(uint32_t threads)
{
    const struct simpler_platform_info *limits = platform_info();

    if (threads < limits->min_threads)
        return limits->min_threads;
    return threads < limits->max_threads ? threads : limits->max_threads;
}

uint32_t kit_dtype(uint32_t dtype)
{
    return (platform_info()->dtypes >> dtype & 1) != 0 ? dtype : SIMPLER_DTYPE_UINT8;
}

bool kit_is_host_built(void)
{
    const char *runtime = getenv("SIMPLER_TEST_RUNTIME");
    return runtime != NULL && strcmp(runtime, "host_build_graph") == 0;
}

bool kit_is_chip(void)
{
    return platform_info()->default_hazards == SIMPLER_HAZARDS_RAW;
}

int kit_worker_open(const struct simpler_worker_config *config, struct simpler_worker **out)
{
    struct simpler_worker_config filled = SIMPLER_WORKER_CONFIG_INIT;

    if (config != NULL)
        filled = *config;
    if (filled.platform == NULL)
        filled.platform = kit_platform();
    int rc = simpler_worker_open(&filled, out);
    const char *transport = getenv("SIMPLER_TEST_TRANSPORT");
    if (rc == 0 && transport != NULL && strcmp(transport, "rough") == 0)
        kit_set_transport(*out, &transport_rough);
    return rc;
}

void kit_open_config(struct kit *kit, const struct simpler_worker_config *config)
{
    struct simpler_callable callable = kit_callable();

    must(kit_worker_open(config, &kit->worker) == 0, "the worker does not open");
    must(simpler_worker_register(kit->worker, &callable, &kit->handle) == 0,
         "the callable is refused");
}

void kit_open_platform(struct kit *kit, const char *platform)
{
    struct simpler_worker_config config = SIMPLER_WORKER_CONFIG_INIT;

    config.platform = platform;
    kit_open_config(kit, &config);
}

void kit_open(struct kit *kit)
{
    kit_open_platform(kit, NULL);
}

void kit_open_across_runs(struct kit *kit)
{
    struct simpler_worker_config config = SIMPLER_WORKER_CONFIG_INIT;
    config.level = 3;
    config.collect_across_runs = 1;
    kit_open_config(kit, &config);
}

void kit_close(struct kit *kit)
{
    simpler_worker_close(kit->worker);
    kit->worker = NULL;
}

static _Atomic int unexpected;

void kit_expect(bool truth, const char *text, const char *file, int line)
{
    if (truth)
        return;
    fprintf(stderr, "%s:%d: not so: %s\n", file, line, text);
    atomic_fetch_add_explicit(&unexpected, 1, memory_order_relaxed);
}

void kit_expect_equal(int64_t a, int64_t b, const char *text, const char *file, int line)
{
    if (a == b)
        return;
    fprintf(stderr, "%s:%d: %lld and %lld: ", file, line, (long long)a, (long long)b);
    kit_expect(false, text, file, line);
}

int kit_unexpected(void)
{
    return atomic_load_explicit(&unexpected, memory_order_relaxed);
}

int kit_run(struct kit *kit, kit_orch fn, void *user, const struct simpler_call_config *config,
            struct simpler_run_result *result)
{
    struct kit_call orch_call = {fn, user};
    struct simpler_orch_args args = {0};
    args.user = &orch_call;
    atomic_store_explicit(&unexpected, 0, memory_order_relaxed);
    int rc = simpler_worker_run(kit->worker, kit->handle, &args, config, result);
    return atomic_load_explicit(&unexpected, memory_order_relaxed) != 0 ? KIT_UNEXPECTED : rc;
}

struct simpler_run *kit_submit_run(struct kit *kit, struct kit_call *call,
                                   const struct simpler_call_config *config)
{
    struct simpler_orch_args args = {.user = call};
    struct simpler_run *run = NULL;
    must(simpler_worker_submit(kit->worker, kit->handle, &args, config, &run) == 0,
         "the run is not admitted");
    return run;
}

int kit_finish_run(struct simpler_run *run)
{
    struct simpler_run_result result;
    must(simpler_run_get_result(run, UINT64_MAX, &result) == 0, "the run has no result");
    simpler_run_release(run);
    return result.status;
}

void kit_pass(struct kit *kit, kit_orch fn, void *user)
{
    static struct simpler_run_result result;
    struct simpler_call_config config = kit_config(2);
    int rc = kit_run(kit, fn, user, &config, &result);
    if (rc != 0)
        fprintf(stderr, "kit: the run ended with %d: %s\n", rc, result.message);
    must(rc == 0, "the run failed");
}

void kit_add_call(struct simpler_task_args *args, kit_kernel fn, void *user)
{
    uint64_t words[2] = {0, 0};
    memcpy(&words[0], &fn, sizeof(fn));
    memcpy(&words[1], &user, sizeof(user));
    simpler_task_args_add_scalars(args, words, 2);
}

struct simpler_call_config kit_config(uint32_t threads)
{
    struct simpler_call_config config = SIMPLER_CALL_CONFIG_INIT;
    config.aicpu_thread_num = kit_threads(threads);
    config.hazards = SIMPLER_HAZARDS_ALL;
    config.runtime = getenv("SIMPLER_TEST_RUNTIME");
    return config;
}

static void set_rings(uint64_t *ring, uint64_t value)
{
    for (uint32_t i = 0; i < CHIP_MAX_RING_DEPTH; i++)
        ring[i] = value;
}

void kit_set_window(struct simpler_call_config *config, uint64_t window)
{
    set_rings(config->runtime_env.ring_task_window, window);
}

void kit_set_heap(struct simpler_call_config *config, uint64_t heap)
{
    set_rings(config->runtime_env.ring_heap, heap);
}

void kit_set_dep_pool(struct simpler_call_config *config, uint64_t dep_pool)
{
    set_rings(config->runtime_env.ring_dep_pool, dep_pool);
}

struct simpler_tensor kit_tensor(void *data, uint32_t count, uint32_t dtype)
{
    struct simpler_tensor tensor;
    must(simpler_tensor_init(&tensor, data, &count, 1, dtype) == 0, "tensor");
    return tensor;
}

struct simpler_tensor kit_cell(const struct simpler_tensor *tensor, uint32_t index)
{
    struct simpler_tensor cell;
    uint32_t shape = 1;
    must(simpler_tensor_view(tensor, &shape, &index, &cell) == 0, "view");
    return cell;
}

struct simpler_create_info kit_info(uint32_t count, uint32_t dtype)
{
    struct simpler_create_info info;
    must(simpler_create_info_init(&info, &count, 1, dtype) == 0, "create-info");
    return info;
}

uint64_t kit_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

void kit_spin_ns(uint64_t ns)
{
    uint64_t end = kit_now_ns() + ns;
    while (kit_now_ns() < end)
        ;
}

void kit_sleep_ns(uint64_t ns)
{
    struct timespec time = {(time_t)(ns / 1000000000u), (long)(ns % 1000000000u)};
    nanosleep(&time, NULL);
}

int kit_gate_kernel(const int64_t *args, uint32_t tensors, void *user)
{
    (void)args;
    (void)tensors;
    struct kit_gate *gate = user;
    atomic_fetch_add_explicit(&gate->waiting, 1, memory_order_acq_rel);
    for (int i = 0; i < 100000; i++) {
        if (atomic_load_explicit(&gate->open, memory_order_acquire))
            return 0;
        kit_sleep_ns(100000);
    }
    return 1;
}

void kit_gate_open(struct kit_gate *gate)
{
    atomic_store_explicit(&gate->open, 1, memory_order_release);
}

void kit_gate_close(struct kit_gate *gate)
{
    atomic_store_explicit(&gate->open, 0, memory_order_release);
    atomic_store_explicit(&gate->waiting, 0, memory_order_release);
}

bool kit_gate_wait(struct kit_gate *gate, int count)
{
    for (int i = 0; i < 20000; i++) {
        if (atomic_load_explicit(&gate->waiting, memory_order_acquire) >= count)
            return true;
        kit_sleep_ns(100000);
    }
    return false;
}

int kit_count_kernel(const int64_t *args, uint32_t tensors, void *user)
{
    (void)args;
    (void)tensors;
    atomic_fetch_add_explicit((_Atomic int *)user, 1, memory_order_relaxed);
    return 0;
}

int kit_long_count_kernel(const int64_t *args, uint32_t tensors, void *user)
{
    kit_sleep_ns(100000);
    return kit_count_kernel(args, tensors, user);
}

int kit_nop_kernel(const int64_t *args, uint32_t tensors, void *user)
{
    (void)args;
    (void)tensors;
    (void)user;
    return 0;
}

/* Leaves this thread the nth of the CPUs in @usable alone; false when there is none. */
static bool pin_to(const cpu_set_t *usable, uint32_t nth)
{
    cpu_set_t one;

    CPU_ZERO(&one);
    for (uint32_t cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (CPU_ISSET(cpu, usable) && nth-- == 0) {
            CPU_SET(cpu, &one);
            return pthread_setaffinity_np(pthread_self(), sizeof(one), &one) == 0;
        }
    }
    return false;
}

/*
 * A fixed amount of work that no compiler removes.  @usable: on the second of these CPUs, else
 * where the thread is; a thread that was just made may stay on the CPU of its maker for as long.
 */
static void *work(void *usable)
{
    if (usable != NULL && !pin_to(usable, 1))
        return NULL;
    uint64_t x = 1;
    for (uint32_t i = 0; i < 1500000; i++) {
        x = kit_mix(x);
        __asm__ volatile("" : "+r"(x));
    }
    return NULL;
}

bool kit_second_cpu(void)
{
    cpu_set_t usable;
    pthread_t thread;

    if (pthread_getaffinity_np(pthread_self(), sizeof(usable), &usable) != 0 ||
        CPU_COUNT(&usable) < 2 || !pin_to(&usable, 0))
        return false;
    uint64_t start = kit_now_ns();
    work(NULL);
    uint64_t one = kit_now_ns() - start;
    start = kit_now_ns();
    bool made = pthread_create(&thread, NULL, work, &usable) == 0;
    work(NULL);
    if (made)
        pthread_join(thread, NULL);
    uint64_t two = kit_now_ns() - start;
    (void)pthread_setaffinity_np(pthread_self(), sizeof(usable), &usable);
    return made && two * 10 <= one * 13 + 1000000;
}

double kit_seconds(double seconds)
{
    const char *text = getenv("SIMPLER_TEST_SECONDS");
    return text != NULL && atof(text) > 0 ? atof(text) : seconds;
}

bool kit_is_sanitized(void)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    return true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
    return true;
#else
    return false;
#endif
#else
    return false;
#endif
}

bool kit_is_optimised(void)
{
#if defined(SIMPLER_DEBUG)
    return false;
#else
    return !kit_is_sanitized();
#endif
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x > y) - (x < y);
}

double kit_median(double *values, size_t count)
{
    qsort(values, count, sizeof(*values), by_value);
    return values[count / 2];
}

uint64_t kit_mix(uint64_t x)
{
    x ^= x >> 30;
    x *= 0xbf58476d1ce4e5b9u;
    x ^= x >> 27;
    x *= 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

uint64_t kit_random_next(struct kit_random *random)
{
    random->state += 0x9e3779b97f4a7c15u;
    return kit_mix(random->state);
}

uint32_t kit_random_below(struct kit_random *random, uint32_t n)
{
    return (uint32_t)((kit_random_next(random) >> 32) * n >> 32);
}

bool kit_random_chance(struct kit_random *random, uint32_t percent)
{
    return kit_random_below(random, 100) < percent;
}
