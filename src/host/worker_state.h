/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_HOST_WORKER_STATE_H
#define SIMPLER_HOST_WORKER_STATE_H

/* The inside of a worker, for the files of host/ that make up its public calls. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "host/callable_table.h"
#include "host/config.h"
#include "host/device_memory.h"
#include "host/diagnostics.h"
#include "host/run_queue.h"
#include "host/runtimes.h"
#include "platform/platform.h"

struct simpler_worker {
    const struct simpler_platform *platform;
    int device_id;
    struct simpler_runtime_env environment;  /* as it was when the worker was opened */
    struct simpler_config_timeouts timeouts; /* likewise */
    void *devices[SIMPLER_RUNTIMES];         /* NULL until opened */
    _Atomic uint32_t runtime;                /* of the current or last run; written by its thread */
    struct simpler_device_memory memory;
    struct simpler_callable_table callables;
    struct simpler_run_queue *queue;
    struct simpler_diagnostics diagnostics; /* of the thread whose turn it is, like the next */
    uint32_t run_count;
    pthread_mutex_t runner_lock; /* guards the start of the runner, and kept */
    pthread_t runner;            /* runs what was submitted; started by the first such run */
    bool runner_started;
    pthread_mutex_t hang_lock; /* guards may_hang, and the wait for what a hung run left behind */
    bool may_hang;             /* the last run may have left threads behind */
    struct simpler_run *kept;  /* submitted runs that these may still read, linked by next */
};

/* run.c: claims what the diagnostics need, then waits for admission; refusals are logged. */
int simpler_run_admit(struct simpler_worker *worker, struct simpler_run *run);
/* run.c: the thread's turn: device and diagnostics, then the queue goes on. */
void simpler_run_take_turn(struct simpler_worker *worker, struct simpler_run *run);

/* hang_wait.c: waits for what a hung run left behind.  SIMPLER_ETIMEDOUT: *why, also when
 * another thread waits for it already. */
int simpler_worker_state_settle(struct simpler_worker *worker, uint64_t timeout_ns,
                                const char **why);
/* The run whose turn it is has failed: it may have hung. */
void simpler_worker_state_note_failed(struct simpler_worker *worker);
/* The runner is done with a submitted run: lets go of it, or keeps it until nothing of a hung
 * run is left behind. */
void simpler_worker_state_let_go(struct simpler_worker *worker, struct simpler_run *run);

#endif
