/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The worker's own part, on a device that only notes what it is asked: checks,
 * handles, whose turn it is, memory ranges, the failure of every step of open.
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cm.h"
#include "base/alloc.h"
#include "failing_alloc.h"
#include "faults.h"
#include "simpler/log.h"
#include "simpler/worker.h"
#include "tmr/device.h"

/* ---- the device ---- */

struct simpler_device {
    const struct simpler_platform *platform;
};

static struct simpler_device_run last_run;
static _Atomic int runs, canceled;
static atomic_bool hold; /* execute waits until it is told to go on */
static sem_t entered, go_on;

int simpler_device_open(const struct simpler_platform *platform, struct simpler_device **out)
{
    struct simpler_device *device = simpler_alloc_zeroed(1, sizeof(*device));

    if (device == NULL)
        return SIMPLER_ENOMEM;
    device->platform = platform;
    *out = device;
    return 0;
}

void simpler_device_close(struct simpler_device *device)
{
    simpler_alloc_free(device);
}

int simpler_device_execute(struct simpler_device *device, const struct simpler_device_run *run,
                           struct simpler_run_result *result)
{
    (void)device;
    runs++;
    last_run = *run;
    if (hold) {
        (void)sem_post(&entered);
        (void)sem_wait(&go_on);
        if (atomic_load(run->canceled))
            return SIMPLER_ECANCELED;
    }
    result->status = SIMPLER_EKERNEL;
    (void)snprintf(result->message, sizeof(result->message), "as the device said");
    return SIMPLER_EKERNEL;
}

/* A run that is held ends. */
void simpler_device_cancel(struct simpler_device *device)
{
    assert_non_null(device);
    canceled++;
    if (hold)
        (void)sem_post(&go_on);
}

uint64_t simpler_device_progress(const struct simpler_device *device)
{
    assert_non_null(device);
    return 42;
}

static bool is_busy; /* a hung run keeps it */
static int reports;
static uint64_t quiesce_timeout;

enum simpler_device_lane_end simpler_device_lane_end(const struct simpler_device *device,
                                                     uint32_t lane)
{
    assert_non_null(device);
    return is_busy && lane == 0 ? SIMPLER_DEVICE_LANE_STOPPED : SIMPLER_DEVICE_LANE_COMPLETE;
}

int simpler_device_quiesce(struct simpler_device *device, uint64_t timeout_ns, const char **why)
{
    assert_non_null(device);
    quiesce_timeout = timeout_ns;
    if (!is_busy)
        return 0;
    *why = "kernel spin is still there";
    return SIMPLER_ETIMEDOUT;
}

void simpler_device_report(struct simpler_device *device)
{
    assert_non_null(device);
    reports++;
}

/* ---- helpers ---- */

static char last_line[1024];
static int line_count;

static void keep_line(void *user, int level, const char *line)
{
    (void)user;
    (void)level;
    line_count++;
    (void)snprintf(last_line, sizeof(last_line), "%s", line);
}

static int quiet(void **state)
{
    (void)state;
    line_count = 0;
    hold = false;
    simpler_log_set_callback(keep_line, NULL);
    return 0;
}

static void said(const char *word)
{
    assert_int_equal(line_count, 1);
    if (strstr(last_line, word) == NULL)
        fail_msg("'%s' does not hold '%s'", last_line, word);
    line_count = 0;
}

static void orchestrate(struct simpler_orch *orch, const struct simpler_orch_args *args)
{
    (void)orch;
    (void)args;
}

static const struct simpler_callable plain = {.name = "plain", .orchestrate = orchestrate};

static struct simpler_worker *open_default(void)
{
    struct simpler_worker *worker = NULL;

    assert_int_equal(simpler_worker_open(NULL, &worker), 0);
    return worker;
}

/* ---- tests ---- */

static void open_answers_with_what_is_valid(void **state)
{
    (void)state;
    struct simpler_worker *worker = NULL;
    struct simpler_worker_config config = SIMPLER_WORKER_CONFIG_INIT;

    config.platform = "moon";
    assert_int_equal(simpler_worker_open(&config, &worker), SIMPLER_ENOENT);
    said("there is no platform 'moon'; there are: cpu, a5sim, a2a3sim");
    config.platform = "a2a3";
    assert_int_equal(simpler_worker_open(&config, &worker), SIMPLER_ENOSYS);
    said("a2a3: no such device on this host: use a2a3sim");
    config.platform = "a5";
    assert_int_equal(simpler_worker_open(&config, &worker), SIMPLER_ENOSYS);
    said("a5: no such device on this host: use a5sim");
    config.platform = "a2a3sim";
    config.device_id = 16;
    assert_int_equal(simpler_worker_open(&config, &worker), SIMPLER_EINVAL);
    said("has no device 16; its devices are 0 to 15");
    config.device_id = -1;
    assert_int_equal(simpler_worker_open(&config, &worker), SIMPLER_EINVAL);
    said("no device -1");
    assert_int_equal(simpler_worker_open(NULL, NULL), SIMPLER_EINVAL);
    said("NULL");
    assert_null(worker);
    simpler_worker_close(NULL);
}

static void equal_content_has_one_handle(void **state)
{
    (void)state;
    struct simpler_worker *worker = open_default();
    struct simpler_callable other = plain;
    uint32_t handle = 99, again = 99, third = 99;

    assert_int_equal(simpler_worker_register(worker, &plain, &handle), 0);
    other.name = "other";
    assert_int_equal(simpler_worker_register(worker, &other, &third), 0);
    assert_int_equal(simpler_worker_register(worker, &plain, &again), 0);
    assert_int_equal(handle, again);
    assert_int_not_equal(handle, third);
    other.orchestrate = NULL;
    assert_int_equal(simpler_worker_register(worker, &other, &third), SIMPLER_EINVAL);
    assert_int_equal(simpler_worker_register(NULL, &other, &third), SIMPLER_EINVAL);
    assert_int_equal(simpler_worker_register(worker, &other, NULL), SIMPLER_EINVAL);
    simpler_worker_close(worker);
}

static void sixty_four_callables_are_possible(void **state)
{
    (void)state;
    struct simpler_worker *worker = open_default();
    struct simpler_callable one = plain;
    uint32_t handle = 0;

    for (int i = 0; i < 64; i++) {
        one.line = i;
        assert_int_equal(simpler_worker_register(worker, &one, &handle), 0);
    }
    one.line = 64;
    assert_int_equal(simpler_worker_register(worker, &one, &handle), SIMPLER_EOVERFLOW);
    said("at most 64 callables");
    one.line = 5;
    assert_int_equal(simpler_worker_register(worker, &one, &handle), 0);
    simpler_worker_close(worker);
}

static void a_run_arrives_resolved(void **state)
{
    (void)state;
    struct simpler_worker *worker = open_default();
    struct simpler_call_config config = SIMPLER_CALL_CONFIG_INIT;
    struct simpler_run_result result;
    uint32_t handle = 0;

    assert_int_equal(simpler_worker_register(worker, &plain, &handle), 0);
    config.aicpu_thread_num = 3;
    config.deadline_ns = 5;
    config.check_hazards = 1;
    memset(&result, 0x5a, sizeof(result));
    assert_int_equal(simpler_worker_run(worker, handle, NULL, &config, &result), SIMPLER_EKERNEL);
    assert_int_equal(result.status, SIMPLER_EKERNEL);
    assert_string_equal(result.message, "as the device said");
    assert_int_equal(last_run.thread_count, 3);
    assert_int_equal(last_run.cluster_count, 8);
    assert_int_equal(last_run.hazards, SIMPLER_HAZARDS_ALL);
    assert_int_equal(last_run.deadline_ns, 5);
    assert_true(last_run.check_hazards);
    assert_int_equal(last_run.env.ring_task_window[3], 16384);
    assert_string_equal(last_run.callable->callable.name, "plain");
    assert_int_equal(simpler_worker_run(worker, handle, NULL, NULL, NULL), SIMPLER_EKERNEL);
    assert_int_equal(simpler_worker_progress(worker), 42);
    assert_int_equal(simpler_worker_progress(NULL), 0);
    canceled = 0;
    simpler_worker_cancel(worker);
    simpler_worker_cancel(NULL);
    assert_int_equal(canceled, 0); /* no run is admitted */
    assert_int_equal(line_count, 0);
    simpler_worker_close(worker);
}

static void the_environment_is_read_at_open(void **state)
{
    (void)state;
    uint32_t handle = 0;

    (void)setenv("SIMPLER_RING_HEAP", "4096", 1);
    (void)setenv("SIMPLER_TENSORMAP", "many", 1);
    struct simpler_worker *worker = open_default();
    said("environment variable SIMPLER_TENSORMAP is ignored");
    (void)unsetenv("SIMPLER_RING_HEAP");
    (void)unsetenv("SIMPLER_TENSORMAP");
    assert_int_equal(simpler_worker_register(worker, &plain, &handle), 0);
    (void)simpler_worker_run(worker, handle, NULL, NULL, NULL);
    (void)simpler_worker_run(worker, handle, NULL, NULL, NULL);
    assert_int_equal(last_run.env.ring_heap[0], 4096);
    assert_int_equal(last_run.env.tensormap, 65536);
    assert_int_equal(line_count, 0);
    simpler_worker_close(worker);
}

static void bad_runs_are_refused_before_the_device(void **state)
{
    (void)state;
    struct simpler_worker *worker = open_default();
    struct simpler_callable picky = plain;
    struct simpler_call_config config = SIMPLER_CALL_CONFIG_INIT;
    struct simpler_tensor tensors[2];
    uint64_t scalar = 0;
    uint32_t handle = 0, shape[] = {4};
    int before = runs;

    picky.expected_arg_count = 3;
    assert_int_equal(simpler_worker_register(worker, &picky, &handle), 0);
    assert_int_equal(simpler_tensor_init(&tensors[0], &scalar, shape, 1, SIMPLER_DTYPE_INT8), 0);
    tensors[1] = tensors[0];
    struct simpler_orch_args args = {.tensor = tensors, .tensor_count = 2};
#define REFUSED(word)                                                              \
    do {                                                                           \
        assert_int_equal(simpler_worker_run(worker, handle, &args, &config, NULL), \
                         SIMPLER_EINVAL);                                          \
        said(word);                                                                \
    } while (0)
    REFUSED("run of plain: 3 arguments expected, 2 given");
    args.scalar_count = 1;
    REFUSED("array is NULL");
    args.scalar = &scalar;
    args.tensor_count = 257;
    REFUSED("at most 256 and 128");
    args.tensor_count = 2;
    args.scalar_count = 129;
    REFUSED("at most 256 and 128");
    args.scalar_count = 1;
    tensors[1].stride[0] = 0;
    REFUSED("tensor 1 breaks a rule");
    tensors[1] = tensors[0];
    config.cluster_count = 1000;
    REFUSED("cluster_count is 1000");
    config.cluster_count = 0;
    handle++;
    REFUSED("no callable has the handle 1");
    handle--;
    assert_int_equal(simpler_worker_run(NULL, handle, &args, &config, NULL), SIMPLER_EINVAL);
    assert_int_equal(runs, before);
    assert_int_equal(simpler_worker_run(worker, handle, &args, &config, NULL), SIMPLER_EKERNEL);
    assert_int_equal(runs, before + 1);
    simpler_worker_close(worker);
}

/* A worker whose device holds every run; its handle is 0. */
static struct simpler_worker *open_holding(void)
{
    struct simpler_worker *worker = open_default();
    uint32_t handle = 0;

    assert_int_equal(simpler_worker_register(worker, &plain, &handle), 0);
    (void)sem_init(&entered, 0, 0);
    (void)sem_init(&go_on, 0, 0);
    hold = true;
    runs = canceled = 0;
    return worker;
}

static struct simpler_run *submit(struct simpler_worker *worker)
{
    struct simpler_run *run = NULL;

    assert_int_equal(simpler_worker_submit(worker, 0, NULL, NULL, &run), 0);
    return run;
}

static int status_of(struct simpler_run *run)
{
    static struct simpler_run_result result;

    assert_int_equal(simpler_run_get_result(run, UINT64_MAX, &result), 0);
    simpler_run_release(run);
    return result.status;
}

/* ---- turns ---- */

struct call {
    struct simpler_worker *worker;
    _Atomic int status;
    atomic_bool began;
    pthread_t thread;
};

static void *run_in_thread(void *user)
{
    struct call *call = user;

    atomic_store(&call->began, true);
    atomic_store(&call->status, simpler_worker_run(call->worker, 0, NULL, NULL, NULL));
    return NULL;
}

static void *submit_in_thread(void *user)
{
    struct call *call = user;
    struct simpler_run *run = NULL;

    atomic_store(&call->began, true);
    int rc = simpler_worker_submit(call->worker, 0, NULL, NULL, &run);
    simpler_run_release(run);
    atomic_store(&call->status, rc);
    return NULL;
}

static void short_sleep(void)
{
    const struct timespec t = {.tv_nsec = 20000000};
    (void)nanosleep(&t, NULL);
}

/* Once it is likely to be inside its call. */
static void start(struct call *call, struct simpler_worker *worker, void *(*body)(void *))
{
    call->worker = worker;
    atomic_store(&call->status, 1);
    atomic_store(&call->began, false);
    assert_int_equal(pthread_create(&call->thread, NULL, body, call), 0);
    while (!atomic_load(&call->began))
        short_sleep();
    short_sleep();
}

static int finish(struct call *call)
{
    (void)pthread_join(call->thread, NULL);
    return atomic_load(&call->status);
}

static void a_second_run_waits_for_its_turn(void **state)
{
    (void)state;
    struct simpler_worker *worker = open_holding();
    struct call first, second;

    start(&first, worker, run_in_thread);
    (void)sem_wait(&entered);
    start(&second, worker, run_in_thread);
    assert_int_equal(runs, 1);
    (void)sem_post(&go_on);
    assert_int_equal(finish(&first), SIMPLER_EKERNEL);
    (void)sem_wait(&entered);
    (void)sem_post(&go_on);
    assert_int_equal(finish(&second), SIMPLER_EKERNEL);
    assert_int_equal(runs, 2);
    assert_int_equal(simpler_worker_close(worker), 0);
}

static void two_are_admitted_a_third_waits(void **state)
{
    (void)state;
    struct simpler_worker *worker = open_holding();
    struct simpler_run *first = submit(worker), *second = submit(worker);
    struct call third;

    (void)sem_wait(&entered);
    start(&third, worker, submit_in_thread);
    assert_int_equal(atomic_load(&third.status), 1);
    assert_int_equal(simpler_run_poll(first), 0);
    assert_int_equal(simpler_run_wait(second, 1000000), SIMPLER_ETIMEDOUT);
    assert_int_equal(simpler_worker_quiesce(worker, 1000000), SIMPLER_ETIMEDOUT);
    (void)sem_post(&go_on);
    assert_int_equal(finish(&third), 0);
    assert_int_equal(simpler_run_wait(first, UINT64_MAX), 0);
    assert_int_equal(simpler_run_poll(first), 1);
    (void)sem_wait(&entered);
    assert_int_equal(simpler_run_poll(second), 0);
    hold = false;
    (void)sem_post(&go_on);
    assert_int_equal(status_of(first), SIMPLER_EKERNEL);
    assert_int_equal(status_of(second), SIMPLER_EKERNEL);
    assert_int_equal(simpler_worker_quiesce(worker, UINT64_MAX), 0);
    assert_int_equal(runs, 3);
    assert_int_equal(simpler_worker_close(worker), 0);
}

static void a_bad_submit_is_refused_while_another_runs(void **state)
{
    (void)state;
    struct simpler_worker *worker = open_holding();
    struct simpler_run *first = submit(worker), *second = NULL;
    struct simpler_call_config config = SIMPLER_CALL_CONFIG_INIT;

    (void)sem_wait(&entered);
    config.cluster_count = 1000;
    assert_int_equal(simpler_worker_submit(worker, 0, NULL, &config, &second), SIMPLER_EINVAL);
    said("cluster_count is 1000");
    assert_int_equal(simpler_worker_submit(worker, 7, NULL, NULL, &second), SIMPLER_EINVAL);
    said("no callable has the handle 7");
    assert_int_equal(simpler_worker_submit(worker, 0, NULL, NULL, NULL), SIMPLER_EINVAL);
    said("out is NULL");
    assert_null(second);
    assert_int_equal(simpler_run_poll(first), 0);
    assert_int_equal(simpler_run_get_result(first, 0, NULL), SIMPLER_EINVAL);
    assert_int_equal(simpler_run_wait(NULL, 0), SIMPLER_EINVAL);
    simpler_run_cancel(NULL);
    simpler_run_release(NULL);
    (void)sem_post(&go_on);
    assert_int_equal(status_of(first), SIMPLER_EKERNEL);
    assert_int_equal(simpler_worker_close(worker), 0);
}

static void a_cancel_hits_its_own_run(void **state)
{
    (void)state;
    struct simpler_worker *worker = open_holding();
    struct simpler_run *first = submit(worker), *second = submit(worker), *third;

    (void)sem_wait(&entered);
    simpler_run_cancel(second);
    assert_int_equal(canceled, 0);
    assert_int_equal(simpler_run_poll(first), 0);
    (void)sem_post(&go_on);
    assert_int_equal(status_of(first), SIMPLER_EKERNEL);
    assert_int_equal(status_of(second), SIMPLER_ECANCELED);
    assert_int_equal(runs, 1); /* the second never reached the device */
    third = submit(worker);
    (void)sem_wait(&entered);
    simpler_worker_cancel(worker);
    assert_int_equal(canceled, 1);
    assert_int_equal(simpler_run_wait(third, UINT64_MAX), 0);
    simpler_run_cancel(third);
    assert_int_equal(canceled, 1);
    assert_int_equal(status_of(third), SIMPLER_ECANCELED);
    assert_int_equal(simpler_worker_close(worker), 0);
}

static void close_ends_what_is_admitted(void **state)
{
    (void)state;
    struct simpler_worker *worker = open_holding();
    struct simpler_run *first = submit(worker);
    struct call second, third;

    (void)sem_wait(&entered);
    start(&second, worker, run_in_thread);   /* admitted */
    start(&third, worker, submit_in_thread); /* waits for a place */
    assert_int_equal(simpler_worker_close(worker), 0);
    assert_int_equal(canceled, 1);
    assert_int_equal(runs, 1);
    assert_int_equal(finish(&second), SIMPLER_ECANCELED);
    assert_int_equal(finish(&third), SIMPLER_ECANCELED);
    assert_int_equal(simpler_run_poll(first), 1);
    assert_int_equal(status_of(first), SIMPLER_ECANCELED);
}

static void the_caller_may_change_what_it_submitted(void **state)
{
    (void)state;
    struct simpler_worker *worker = open_holding();
    struct simpler_tensor tensor;
    uint64_t scalars[] = {5, 6}, data = 0;
    uint32_t shape[] = {8};
    char prefix[] = "somewhere";
    struct simpler_orch_args args = {
        .tensor = &tensor, .tensor_count = 1, .scalar = scalars, .scalar_count = 2, .user = &data};
    struct simpler_call_config config = SIMPLER_CALL_CONFIG_INIT;
    struct simpler_run *first = submit(worker), *second = NULL;

    config.output_prefix = prefix;
    assert_int_equal(simpler_tensor_init(&tensor, &data, shape, 1, SIMPLER_DTYPE_INT8), 0);
    assert_int_equal(simpler_worker_submit(worker, 0, &args, &config, &second), 0);
    memset(&tensor, 0x5a, sizeof(tensor));
    memset(scalars, 0x5a, sizeof(scalars));
    memset(prefix, 'x', sizeof(prefix) - 1);
    memset(&args, 0x5a, sizeof(args));
    (void)sem_post(&go_on);
    (void)sem_wait(&entered);
    (void)sem_wait(&entered);
    assert_int_equal(last_run.args->tensor_count, 1);
    assert_int_equal(last_run.args->tensor[0].shape[0], 8);
    assert_int_equal(last_run.args->scalar[1], 6);
    assert_ptr_equal(last_run.args->user, &data);
    (void)sem_post(&go_on);
    assert_int_equal(status_of(first), SIMPLER_EKERNEL);
    assert_int_equal(status_of(second), SIMPLER_EKERNEL);
    assert_int_equal(simpler_worker_close(worker), 0);
}

/* ---- memory ---- */

static void memory_is_zeroed_aligned_and_guarded(void **state)
{
    (void)state;
    struct simpler_worker *worker = open_default();
    uint64_t addr[40], other = 0;
    char data[100], back[100];

    for (size_t i = 0; i < 40; i++) {
        assert_int_equal(simpler_worker_malloc(worker, 100 + i, &addr[i]), 0);
        assert_int_equal(addr[i] % 64, 0);
        assert_int_equal(*(char *)(uintptr_t)(addr[i] + 99), 0);
    }
    memset(data, 7, sizeof(data));
    assert_int_equal(simpler_worker_copy_to(worker, addr[0], data, 100), 0);
    assert_int_equal(simpler_worker_copy_from(worker, back, addr[0] + 50, 50), 0);
    assert_memory_equal(back, data, 50);
    assert_int_equal(simpler_worker_copy_to(worker, addr[0] + 100, data, 0), 0);
    assert_int_equal(line_count, 0);
    assert_int_equal(simpler_worker_copy_to(worker, addr[0] + 1, data, 100), SIMPLER_EINVAL);
    said("100 bytes");
    assert_int_equal(simpler_worker_copy_from(worker, back, addr[0] + 101, 0), SIMPLER_EINVAL);
    said("not within one block");
    assert_int_equal(simpler_worker_copy_from(worker, back, 0, 1), SIMPLER_EINVAL);
    said("not within one block");
    assert_int_equal(simpler_worker_copy_from(worker, back, addr[3], SIZE_MAX), SIMPLER_EINVAL);
    line_count = 0;
    assert_int_equal(simpler_worker_free(worker, addr[0] + 64), SIMPLER_EINVAL);
    said("no block of device memory starts at");
    assert_int_equal(simpler_worker_free(worker, addr[17]), 0);
    assert_int_equal(simpler_worker_free(worker, addr[17]), SIMPLER_EINVAL);
    line_count = 0;
    assert_int_equal(simpler_worker_copy_from(worker, back, addr[18], 100), 0);
    assert_int_equal(simpler_worker_malloc(worker, SIZE_MAX, &other), SIMPLER_ENOMEM);
    said("out of memory");
    assert_int_equal(simpler_worker_malloc(worker, 0, &other), 0);
    assert_int_equal(simpler_worker_malloc(worker, 1, NULL), SIMPLER_EINVAL);
    assert_int_equal(simpler_worker_copy_to(worker, addr[0], NULL, 1), SIMPLER_EINVAL);
    assert_int_equal(simpler_worker_free(NULL, addr[0]), SIMPLER_EINVAL);
    simpler_worker_close(worker);
}

/* A run with everything that is copied. */
static int submit_all(struct simpler_worker *worker, uint32_t handle)
{
    struct simpler_tensor tensor;
    struct simpler_run *run = NULL;
    struct simpler_call_config config = SIMPLER_CALL_CONFIG_INIT;
    uint64_t number = 0;
    uint32_t shape[] = {8};
    struct simpler_orch_args args = {
        .tensor = &tensor, .tensor_count = 1, .scalar = &number, .scalar_count = 1};

    config.output_prefix = "somewhere";
    assert_int_equal(simpler_tensor_init(&tensor, &number, shape, 1, SIMPLER_DTYPE_INT8), 0);
    int rc = simpler_worker_submit(worker, handle, &args, &config, &run);
    assert_true((rc == 0) == (run != NULL));
    simpler_run_release(run);
    return rc;
}

/* Everything that a caller may do; 0 or the first status. */
static int use_worker(void)
{
    struct simpler_worker *worker = NULL;
    uint32_t handle = 0;
    uint64_t addr = 0;

    int rc = simpler_worker_open(NULL, &worker);
    if (rc != 0) {
        assert_null(worker);
        return rc;
    }
    rc = simpler_worker_register(worker, &plain, &handle);
    if (rc == 0)
        rc = simpler_worker_malloc(worker, 10, &addr);
    if (rc == 0)
        rc = submit_all(worker, handle);
    (void)simpler_worker_close(worker);
    return rc;
}

static void every_step_may_fail(void **state)
{
    (void)state;
    uint64_t failures = 0;

    if (!failing_alloc_available())
        skip();
    for (;; failures++) {
        line_count = 0;
        failing_alloc_arm(failures);
        int rc = use_worker();
        failing_alloc_disarm();
        if (!failing_alloc_fired()) {
            assert_int_equal(rc, 0);
            break;
        }
        assert_true(rc == SIMPLER_ENOMEM || rc == SIMPLER_ETHREAD);
        assert_int_equal(line_count, 1);
        fault_saw("call-step", "status=%s lines=%d", simpler_status_name(rc), line_count);
    }
    /* worker, two devices, queue; callable, its name; block, table of blocks; a run, its tensors,
     * scalars and prefix, the runner */
    assert_int_equal(failures, 13);
}

static void a_busy_device_refuses_runs_until_it_is_free(void **state)
{
    struct simpler_worker *worker = NULL;
    struct simpler_run_result result;
    uint32_t handle = 0;

    (void)state;
    assert_int_equal(simpler_worker_quiesce(NULL, 0), SIMPLER_EINVAL);
    assert_int_equal(simpler_worker_open(NULL, &worker), 0);
    assert_int_equal(simpler_worker_register(worker, &plain, &handle), 0);
    assert_int_equal(simpler_worker_quiesce(worker, 7), 0);
    is_busy = true;
    assert_int_equal(simpler_worker_run(worker, handle, NULL, NULL, &result), SIMPLER_EKERNEL);
    int before = runs;
    assert_int_equal(simpler_worker_run(worker, handle, NULL, NULL, &result), SIMPLER_EBUSY);
    assert_int_equal(runs, before);
    assert_int_equal(result.status, SIMPLER_EBUSY);
    assert_non_null(strstr(result.message, "kernel spin is still there"));
    assert_int_equal(simpler_worker_quiesce(worker, 5000000000u), SIMPLER_ETIMEDOUT);
    assert_in_range(quiesce_timeout, 1000000000u, 5000000000u);
    simpler_worker_report(worker);
    assert_int_equal(reports, 1);
    is_busy = false;
    assert_int_equal(simpler_worker_run(worker, handle, NULL, NULL, &result), SIMPLER_EKERNEL);
    assert_int_equal(runs, before + 1);
    assert_int_equal(simpler_worker_quiesce(worker, 0), 0);
    simpler_worker_close(worker);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(open_answers_with_what_is_valid, quiet),
        cmocka_unit_test_setup(equal_content_has_one_handle, quiet),
        cmocka_unit_test_setup(sixty_four_callables_are_possible, quiet),
        cmocka_unit_test_setup(a_run_arrives_resolved, quiet),
        cmocka_unit_test_setup(the_environment_is_read_at_open, quiet),
        cmocka_unit_test_setup(bad_runs_are_refused_before_the_device, quiet),
        cmocka_unit_test_setup(a_second_run_waits_for_its_turn, quiet),
        cmocka_unit_test_setup(two_are_admitted_a_third_waits, quiet),
        cmocka_unit_test_setup(a_bad_submit_is_refused_while_another_runs, quiet),
        cmocka_unit_test_setup(a_cancel_hits_its_own_run, quiet),
        cmocka_unit_test_setup(close_ends_what_is_admitted, quiet),
        cmocka_unit_test_setup(the_caller_may_change_what_it_submitted, quiet),
        cmocka_unit_test_setup(memory_is_zeroed_aligned_and_guarded, quiet),
        cmocka_unit_test_setup(a_busy_device_refuses_runs_until_it_is_free, quiet),
        cmocka_unit_test_setup(every_step_may_fail, quiet),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
