/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_HOST_BACKGROUND_H
#define SIMPLER_HOST_BACKGROUND_H

/*
 * The background writer of a worker: one thread that does jobs in the order in
 * which they were posted, and what is remembered of those that went wrong.
 *
 * A job needs a place before its run may start; there are SIMPLER_BACKGROUND_PLACES,
 * so that runs which are faster than the disk wait for it and memory stays flat.  Who finds
 * none waits until half of them are free again: threads then change places by the
 * hundred jobs and not by each.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#define SIMPLER_BACKGROUND_PLACES 256u

struct simpler_background_job {
    struct simpler_background_job *next;
    /* Does it and frees it.  0, or why it is no success (it has logged that). */
    int (*run)(struct simpler_background_job *job);
};

struct simpler_background {
    pthread_mutex_t lock;   /* guards all below */
    pthread_cond_t changed; /* a job is done */
    pthread_cond_t work;    /* a job is there, or stop */
    bool ready;
    struct simpler_background_job *first, *last;
    uint32_t places; /* taken: jobs and reservations */
    uint64_t posted, done;
    uint64_t wake_at; /* the least number of done jobs that somebody waits for */
    int error;        /* the first, kept for good; 0 none */
    pthread_t thread;
    bool running, stop;
    uint64_t stall_ns; /* a full house that does not move for this long is given up */
};

void simpler_background_init(struct simpler_background *background);
/* Every job is done first; zeroed is allowed. */
void simpler_background_fini(struct simpler_background *background);

/* Starts the thread if need be.  SIMPLER_ETHREAD, logged. */
int simpler_background_start(struct simpler_background *background);
/* Takes a place, waits for one; SIMPLER_ETIMEDOUT: the writer has done nothing for 30 s. */
int simpler_background_reserve(struct simpler_background *background);
/* Gives it back without a job. */
void simpler_background_release(struct simpler_background *background);
/* Uses it: the job is the writer's, and gives the place back when it is done. */
void simpler_background_post(struct simpler_background *background,
                             struct simpler_background_job *job);

/* A failure that no job had; the first of all stays. */
void simpler_background_note(struct simpler_background *background, int status);
/* The first failure so far, or 0. */
int simpler_background_error(struct simpler_background *background);
/* Waits for what is posted now; its error then, or SIMPLER_ETIMEDOUT. */
int simpler_background_flush(struct simpler_background *background, uint64_t timeout_ns);

#endif
