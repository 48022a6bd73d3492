/* SPDX-License-Identifier: Apache-2.0 */
/* A run that was submitted: what the caller gave is copied, the runner runs it. */
#include <string.h>

#include "base/alloc.h"
#include "base/logger.h"
#include "base/testpoint.h"
#include "host/run_request.h"
#include "host/worker_state.h"

/* A run with everything that it needs behind it. */
struct submitted {
    struct simpler_run run; /* first */
    struct simpler_run_result result;
    struct simpler_orch_args args;
    char *prefix;
    struct simpler_tensor *tensors;
    uint64_t *scalars;
};

static void free_submitted(struct submitted *s)
{
    simpler_alloc_free(s->prefix);
    simpler_alloc_free(s->tensors);
    simpler_alloc_free(s->scalars);
    simpler_alloc_free(s);
}

/* The arguments as they are now; the caller may change its own. */
static int copy_args(struct submitted *s, const struct simpler_orch_args *args)
{
    s->args = *args;
    if (args->tensor_count != 0) {
        s->tensors = simpler_alloc_zeroed(args->tensor_count, sizeof(*s->tensors));
        if (s->tensors == NULL)
            return SIMPLER_ENOMEM;
        memcpy(s->tensors, args->tensor, args->tensor_count * sizeof(*s->tensors));
        s->args.tensor = s->tensors;
    }
    if (args->scalar_count != 0) {
        s->scalars = simpler_alloc_zeroed(args->scalar_count, sizeof(*s->scalars));
        if (s->scalars == NULL)
            return SIMPLER_ENOMEM;
        memcpy(s->scalars, args->scalar, args->scalar_count * sizeof(*s->scalars));
        s->args.scalar = s->scalars;
    }
    s->run.device.args = &s->args;
    return 0;
}

static int copy_prefix(struct submitted *s)
{
    if (s->run.output_prefix == NULL)
        return 0;
    s->prefix = simpler_alloc_string(s->run.output_prefix);
    s->run.output_prefix = s->prefix;
    return s->prefix == NULL ? SIMPLER_ENOMEM : 0;
}

/* ---- the runner ---- */

static void *runner_main(void *argument)
{
    struct simpler_worker *worker = argument;
    struct simpler_run *run;

    while ((run = simpler_run_queue_next(worker->queue)) != NULL) {
        simpler_run_take_turn(worker, run);
        simpler_worker_state_let_go(worker, run);
    }
    return NULL;
}

static int ensure_runner(struct simpler_worker *worker)
{
    int rc = 0;

    (void)pthread_mutex_lock(&worker->runner_lock);
    if (!worker->runner_started) {
        if (SIMPLER_FAILPOINT(THREAD_START) ||
            pthread_create(&worker->runner, NULL, runner_main, worker) != 0)
            rc = SIMPLER_ETHREAD;
        worker->runner_started = rc == 0;
    }
    (void)pthread_mutex_unlock(&worker->runner_lock);
    if (rc != 0)
        SIMPLER_ERROR("submit: cannot start the thread that runs what is submitted");
    return rc;
}

/* ---- submit ---- */

static int prepare(struct simpler_worker *worker, uint32_t handle,
                   const struct simpler_orch_args *args, const struct simpler_call_config *config,
                   struct submitted *s)
{
    int rc = simpler_run_request_prepare(worker, handle, args, config, &s->run);

    if (rc != 0)
        return rc;
    rc = copy_args(s, args);
    if (rc == 0)
        rc = copy_prefix(s);
    if (rc != 0)
        SIMPLER_ERROR("submit: out of memory");
    return rc;
}

/* The caller is inside the worker. */
static int submit(struct simpler_worker *worker, uint32_t handle,
                  const struct simpler_orch_args *args, const struct simpler_call_config *config,
                  struct submitted *s)
{
    s->run.queue = worker->queue;
    s->run.result = &s->result;
    s->run.submitted = true;
    s->run.owners = 2;
    int rc = prepare(worker, handle, args, config, s);
    if (rc == 0)
        rc = ensure_runner(worker);
    if (rc != 0)
        return rc;
    simpler_run_queue_hold(worker->queue);
    rc = simpler_run_admit(worker, &s->run);
    if (rc != 0)
        simpler_run_queue_drop(worker->queue);
    return rc;
}

int simpler_worker_submit(struct simpler_worker *worker, uint32_t handle,
                          const struct simpler_orch_args *args,
                          const struct simpler_call_config *config, struct simpler_run **out)
{
    static const struct simpler_orch_args none;

    if (worker == NULL || out == NULL) {
        SIMPLER_ERROR("submit: %s is NULL", worker == NULL ? "worker" : "out");
        return SIMPLER_EINVAL;
    }
    *out = NULL;
    struct submitted *s = simpler_alloc_zeroed(1, sizeof(*s));
    if (s == NULL) {
        SIMPLER_ERROR("submit: out of memory");
        return SIMPLER_ENOMEM;
    }
    int rc = SIMPLER_ECANCELED;
    if (simpler_run_queue_enter(worker->queue)) {
        rc = submit(worker, handle, args != NULL ? args : &none, config, s);
        simpler_run_queue_leave(worker->queue);
    }
    if (rc == 0)
        *out = &s->run;
    else
        free_submitted(s);
    return rc;
}

/* ---- the handle ---- */

static bool is_given(const char *call, const struct simpler_run *run)
{
    if (run == NULL)
        SIMPLER_ERROR("%s: run is NULL", call);
    return run != NULL;
}

int simpler_run_wait(struct simpler_run *run, uint64_t timeout_ns)
{
    if (!is_given("wait", run))
        return SIMPLER_EINVAL;
    return simpler_run_queue_wait_end(run->queue, run, timeout_ns) ? 0 : SIMPLER_ETIMEDOUT;
}

int simpler_run_poll(struct simpler_run *run)
{
    return simpler_run_wait(run, 0) == 0;
}

int simpler_run_get_result(struct simpler_run *run, uint64_t timeout_ns,
                           struct simpler_run_result *out)
{
    if (!is_given("get_result", run))
        return SIMPLER_EINVAL;
    if (out == NULL) {
        SIMPLER_ERROR("get_result: out is NULL");
        return SIMPLER_EINVAL;
    }
    int rc = simpler_run_wait(run, timeout_ns);
    if (rc == 0)
        *out = *run->result;
    return rc;
}

void simpler_run_cancel(struct simpler_run *run)
{
    if (run != NULL)
        simpler_run_queue_cancel(run->queue, run);
}

void simpler_run_release(struct simpler_run *run)
{
    if (run == NULL)
        return;
    struct simpler_run_queue *queue = run->queue;
    (void)pthread_mutex_lock(&queue->lock);
    bool last = --run->owners == 0;
    (void)pthread_mutex_unlock(&queue->lock);
    if (!last)
        return;
    free_submitted((struct submitted *)run);
    simpler_run_queue_drop(queue);
}
