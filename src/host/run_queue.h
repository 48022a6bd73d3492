/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_HOST_RUN_QUEUE_H
#define SIMPLER_HOST_RUN_QUEUE_H

/*
 * Who runs when.  Two runs are admitted at most: the first has the device or is
 * about to get it, the second is prepared and waits.  They run in the order of
 * their admission, each on the thread that owns it: its caller's, or the
 * worker's runner for one that was submitted.
 *
 * The queue outlives the worker: every handle holds it.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "simpler/worker.h"
#include "task/runtime.h"

#define SIMPLER_MAX_ADMITTED 2u

enum simpler_run_state {
    SIMPLER_RUN_PREPARED, /* not admitted yet, or waiting for its turn */
    SIMPLER_RUN_RUNNING,
    SIMPLER_RUN_ENDED
};

struct simpler_run_queue;
struct simpler_export;

struct simpler_run {
    struct simpler_run_queue *queue; /* a submitted run holds it */
    struct simpler_run *next;        /* in the queue; guarded by its lock, like the next two */
    enum simpler_run_state state;
    uint32_t owners; /* of a submitted run: the handle, the queue */
    bool submitted;  /* the runner runs it */
    /* Written by whoever cancels (release), read by the thread that runs (acquire). */
    atomic_bool canceled;
    struct simpler_device_run device;
    const char *output_prefix;
    struct simpler_export *claimed;    /* of the diagnostics; NULL: none, or handed over */
    int without;                       /* not 0: why the run goes without its diagnostics */
    struct simpler_run_result *result; /* written by the thread that runs, before ENDED */
};

struct simpler_run_queue {
    pthread_mutex_t lock;    /* guards all but inside and closing */
    pthread_cond_t changed;  /* a turn, a place, an end */
    pthread_cond_t runnable; /* the turn of a submitted run, or closing: the runner's own */
    void *const *devices;    /* by runtime */
    struct simpler_run *head;
    uint32_t admitted; /* length of the list */
    uint64_t admitted_count, ended_count;
    uint32_t owners; /* the worker, and every handle */
    /* Calls that are inside the worker, and whether it closes: each writes its own and reads
     * the other (seq_cst), so that close waits for every call that did not see it. */
    _Atomic uint32_t inside;
    atomic_bool closing;
};

/* @devices, one a runtime, stay until the queue is closed.  SIMPLER_ENOMEM. */
int simpler_run_queue_open(void *const *devices, struct simpler_run_queue **out);
void simpler_run_queue_hold(struct simpler_run_queue *queue);
/* The last one frees it; NULL is allowed. */
void simpler_run_queue_drop(struct simpler_run_queue *queue);

/* Around every call that may block in the worker; false: it closes. */
bool simpler_run_queue_enter(struct simpler_run_queue *queue);
void simpler_run_queue_leave(struct simpler_run_queue *queue);

/* Blocks while two are admitted.  SIMPLER_ECANCELED: the worker closes. */
int simpler_run_queue_admit(struct simpler_run_queue *queue, struct simpler_run *run);
/* Blocks until it is @run's turn. */
void simpler_run_queue_wait_turn(struct simpler_run_queue *queue, struct simpler_run *run);
/* The runner's: blocks until it is the turn of a submitted run; NULL: the worker closes. */
struct simpler_run *simpler_run_queue_next(struct simpler_run_queue *queue);
/* The run whose turn it was has ended; the queue lets go of it. */
void simpler_run_queue_end(struct simpler_run_queue *queue, struct simpler_run *run);

/* Cancels @run, or with NULL the one whose turn it is. */
void simpler_run_queue_cancel(struct simpler_run_queue *queue, struct simpler_run *run);
/* From now on nothing is admitted; cancels what is, waits until all of it has ended and
 * every call has left. */
void simpler_run_queue_close(struct simpler_run_queue *queue);

/* Whether @run has ended within @timeout_ns (UINT64_MAX: no limit). */
bool simpler_run_queue_wait_end(struct simpler_run_queue *queue, const struct simpler_run *run,
                                uint64_t timeout_ns);
/* The same for every run that is admitted now. */
bool simpler_run_queue_wait_all(struct simpler_run_queue *queue, uint64_t timeout_ns);

#endif
