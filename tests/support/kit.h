/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TEST_SUPPORT_KIT_H
#define TEST_SUPPORT_KIT_H

/*
 * Runs orchestrations that a test writes as plain functions, through the public
 * worker alone.  One callable is enough: its kernels call the function that the
 * task's first scalar points to, its orchestration the one in args->user.
 *
 *     static int twice(const int64_t *args, uint32_t tensors, void *user) { ... }
 *     static void graph(struct simpler_orch *orch, void *user)
 *     {
 *         struct simpler_task_args args;
 *         simpler_task_args_reset(&args);
 *         simpler_task_args_add_inout(&args, &tensor);
 *         kit_submit(orch, &args, twice, NULL, NULL);
 *     }
 */
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "simpler/simpler.h"

typedef int (*kit_kernel)(const int64_t *args, uint32_t tensors, void *user);
typedef void (*kit_orch)(struct simpler_orch *orch, void *user);

/* Kernel ids: tensors + KIT_VARIANT * variant; the low variants run on AIV, the others on AIC. */
#define KIT_VARIANT      64u
#define KIT_AIV_VARIANTS 4u
#define KIT_AIC_VARIANTS 4u
#define KIT_VARIANTS     (KIT_AIV_VARIANTS + KIT_AIC_VARIANTS)
/*
 * The runtime keeps a kernel that it knows to be tiny on the thread that has it
 * until a call looks at it; so what must run while an orchestration waits by its own
 * means has ids that no tiny kernel uses.
 */
#define KIT_LONG 3u

struct kit {
    struct simpler_worker *worker;
    uint32_t handle;
};

/* SIMPLER_TEST_PLATFORM, else cpu: each test body runs on every platform. */
const char *kit_platform(void);
/* That one from now on, whatever the environment says; NULL: as before.  While no run is under way.
 */
void kit_set_platform(const char *name);
/* @threads, within that platform's limits. */
uint32_t kit_threads(uint32_t threads);
/* @dtype, or where that platform does not have it one as wide. */
uint32_t kit_dtype(uint32_t dtype);
/* Whether SIMPLER_TEST_RUNTIME says host_build_graph. */
bool kit_is_host_built(void);
/* Whether it is a chip, whose default is hazards raw. */
bool kit_is_chip(void);

/*
 * simpler_worker_open on that platform where @config (NULL: the default) names none.
 * SIMPLER_TEST_TRANSPORT=rough: diagnostics go through the transport that tears and
 * delays (transport_rough.h) in place of the platform's.
 */
int kit_worker_open(const struct simpler_worker_config *config, struct simpler_worker **out);

/* Opens a worker of that platform and registers the callable; asserts on failure. */
void kit_open(struct kit *kit);
void kit_open_platform(struct kit *kit, const char *platform);
void kit_open_config(struct kit *kit, const struct simpler_worker_config *config);
/* A worker of level 3 that collects across runs. */
void kit_open_across_runs(struct kit *kit);
void kit_close(struct kit *kit);
/* open_kit and close_kit of a test program's own kit, for cmocka_run_group_tests. */
#define KIT_FIXTURE(kit)               \
    static int open_kit(void **state)  \
    {                                  \
        (void)state;                   \
        kit_open(&(kit));              \
        return 0;                      \
    }                                  \
                                       \
    static int close_kit(void **state) \
    {                                  \
        (void)state;                   \
        kit_close(&(kit));             \
        return 0;                      \
    }

/* The kit's own callable, for tests that register it themselves. */
struct simpler_callable kit_callable(void);

/*
 * What an orchestration or a kernel expects: cmocka's asserts belong to the main
 * thread.  A failure is printed, and kit_run answers KIT_UNEXPECTED.
 */
#define KIT_UNEXPECTED    (-99999)
#define KIT_EXPECT(truth) kit_expect((truth), #truth, __FILE__, __LINE__)
#define KIT_EXPECT_EQUAL(a, b) \
    kit_expect_equal((int64_t)(a), (int64_t)(b), #a " == " #b, __FILE__, __LINE__)
void kit_expect(bool truth, const char *text, const char *file, int line);
/* How many were not so since the last run of the kit began; for runs that it does not start. */
int kit_unexpected(void);
void kit_expect_equal(int64_t a, int64_t b, const char *text, const char *file, int line);

int kit_run(struct kit *kit, kit_orch fn, void *user, const struct simpler_call_config *config,
            struct simpler_run_result *result);
/* Submits the same; @call must stay until the run has ended.  Asserts that it is admitted. */
struct kit_call {
    kit_orch fn;
    void *user;
};
struct simpler_run *kit_submit_run(struct kit *kit, struct kit_call *call,
                                   const struct simpler_call_config *config);
/* Waits for it, releases it, returns its status. */
int kit_finish_run(struct simpler_run *run);
/* As kit_run with the default config of two threads; asserts that the run passes. */
void kit_pass(struct kit *kit, kit_orch fn, void *user);

/* Adds the scalars that the kit's kernels look for. */
void kit_add_call(struct simpler_task_args *args, kit_kernel fn, void *user);

/* Macros, so that a report names the test's own line. */
#define kit_submit(orch, args, fn, user, out) \
    (kit_add_call((args), (fn), (user)),      \
     simpler_orch_submit_aiv((orch), (args)->tensor_count, (args), (out)))
#define kit_submit_variant(orch, variant, args, fn, user, out)                                     \
    (kit_add_call((args), (fn), (user)),                                                           \
     (variant) < KIT_AIV_VARIANTS                                                                  \
         ? simpler_orch_submit_aiv((orch), (args)->tensor_count + KIT_VARIANT * (variant), (args), \
                                   (out))                                                          \
         : simpler_orch_submit_aic((orch), (args)->tensor_count + KIT_VARIANT * (variant), (args), \
                                   (out)))

/* A config with this many threads (within limits), hazards all, everything else default. */
struct simpler_call_config kit_config(uint32_t threads);
/* Sets one entry of every ring. */
void kit_set_window(struct simpler_call_config *config, uint64_t window);
void kit_set_heap(struct simpler_call_config *config, uint64_t heap);
void kit_set_dep_pool(struct simpler_call_config *config, uint64_t dep_pool);

/* Row-major one-dimensional helpers. */
struct simpler_tensor kit_tensor(void *data, uint32_t count, uint32_t dtype);
struct simpler_tensor kit_cell(const struct simpler_tensor *tensor, uint32_t index);
struct simpler_create_info kit_info(uint32_t count, uint32_t dtype);

uint64_t kit_now_ns(void);
/* Computes for this long; does not sleep. */
void kit_spin_ns(uint64_t ns);
void kit_sleep_ns(uint64_t ns);

/* A gate: kernels wait in it until it opens.  It opens by itself after ten seconds. */
struct kit_gate {
    _Atomic int open;
    _Atomic int waiting; /* kernels that arrived */
};
int kit_gate_kernel(const int64_t *args, uint32_t tensors, void *gate);
void kit_gate_open(struct kit_gate *gate);
/* For the next run, while no kernel waits. */
void kit_gate_close(struct kit_gate *gate);
/* Waits until @count kernels wait; false after two seconds. */
bool kit_gate_wait(struct kit_gate *gate, int count);

/* Sleeps for 100 us, then counts: for variant KIT_LONG. */
int kit_long_count_kernel(const int64_t *args, uint32_t tensors, void *user);
/* Adds one to the atomic int that @user points to. */
int kit_count_kernel(const int64_t *args, uint32_t tensors, void *user);
/* Does nothing. */
int kit_nop_kernel(const int64_t *args, uint32_t tensors, void *user);

/* Whether a second CPU is really there now: two threads take at most 1.3 of one thread's time. */
bool kit_second_cpu(void);
/* SIMPLER_TEST_SECONDS, else @seconds. */
double kit_seconds(double seconds);
/* Sanitizers and debug builds are slower by factors that no ratio survives. */
bool kit_is_optimised(void);
bool kit_is_sanitized(void);

/* Sorts in place; the middle value. */
double kit_median(double *values, size_t count);

/* A small generator: splitmix64. */
struct kit_random {
    uint64_t state;
};
uint64_t kit_random_next(struct kit_random *random);
/* 0 to n - 1; n above 0. */
uint32_t kit_random_below(struct kit_random *random, uint32_t n);
bool kit_random_chance(struct kit_random *random, uint32_t percent);
uint64_t kit_mix(uint64_t x);

#endif
