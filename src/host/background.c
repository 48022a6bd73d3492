/* SPDX-License-Identifier: Apache-2.0 */
#include "host/background.h"

#include <string.h>

#include "base/logger.h"
#include "base/testpoint.h"
#include "base/timed_wait.h"
#include "simpler/status.h"

#define STALL_NS 30000000000u

void simpler_background_init(struct simpler_background *background)
{
    memset(background, 0, sizeof(*background));
    (void)pthread_mutex_init(&background->lock, NULL);
    simpler_timed_wait_init(&background->changed);
    (void)pthread_cond_init(&background->work, NULL);
    background->stall_ns = STALL_NS;
    background->wake_at = UINT64_MAX;
    background->ready = true;
}

static void lock(struct simpler_background *background)
{
    (void)pthread_mutex_lock(&background->lock);
}

static void unlock(struct simpler_background *background)
{
    (void)pthread_mutex_unlock(&background->lock);
}

void simpler_background_fini(struct simpler_background *background)
{
    if (!background->ready)
        return;
    lock(background);
    background->stop = true;
    (void)pthread_cond_signal(&background->work);
    unlock(background);
    if (background->running)
        (void)pthread_join(background->thread, NULL);
    (void)pthread_cond_destroy(&background->work);
    (void)pthread_cond_destroy(&background->changed);
    (void)pthread_mutex_destroy(&background->lock);
    memset(background, 0, sizeof(*background));
}

/* ---- the thread ---- */

static void remember(struct simpler_background *background, int status)
{
    if (background->error == 0)
        background->error = status;
}

/* Everybody looks anew and says again what it waits for. */
static void wake_all(struct simpler_background *background)
{
    background->wake_at = UINT64_MAX;
    (void)pthread_cond_broadcast(&background->changed);
}

/* Waits for @count done jobs, or to be woken; false: the deadline has passed. */
static bool wait_done(struct simpler_background *background, uint64_t count,
                      const struct simpler_deadline *deadline)
{
    if (count < background->wake_at)
        background->wake_at = count;
    return simpler_timed_wait(&background->changed, &background->lock, deadline);
}

/* Under the lock, which it gives up for the job. */
static void do_first(struct simpler_background *background)
{
    struct simpler_background_job *job = background->first;

    background->first = job->next;
    if (background->first == NULL)
        background->last = NULL;
    unlock(background);
    int rc = job->run(job);
    lock(background);
    remember(background, rc);
    background->done++;
    background->places--;
    if (background->done >= background->wake_at)
        wake_all(background);
}

static void *writer_main(void *argument)
{
    struct simpler_background *background = argument;

    lock(background);
    for (;;) {
        if (background->first != NULL)
            do_first(background);
        else if (background->stop)
            break;
        else
            (void)pthread_cond_wait(&background->work, &background->lock);
    }
    unlock(background);
    return NULL;
}

int simpler_background_start(struct simpler_background *background)
{
    lock(background);
    if (!background->running && !SIMPLER_FAILPOINT(THREAD_START))
        background->running =
            pthread_create(&background->thread, NULL, writer_main, background) == 0;
    bool running = background->running;
    unlock(background);
    if (running)
        return 0;
    SIMPLER_ERROR("the background writer cannot be started");
    return SIMPLER_ETHREAD;
}

/* ---- places and jobs ---- */

/* Until half of the places are free; SIMPLER_ETIMEDOUT: nothing is done any more. */
static int wait_half(struct simpler_background *background)
{
    uint64_t before = background->done, enough = before + SIMPLER_BACKGROUND_PLACES / 2;
    struct simpler_deadline deadline = simpler_timed_wait_deadline(background->stall_ns);

    while (background->done < enough && background->places > SIMPLER_BACKGROUND_PLACES / 2) {
        if (wait_done(background, enough, &deadline))
            continue;
        if (background->done == before)
            return SIMPLER_ETIMEDOUT;
        before = background->done;
        deadline = simpler_timed_wait_deadline(background->stall_ns);
    }
    return 0;
}

int simpler_background_reserve(struct simpler_background *background)
{
    int rc = 0;

    lock(background);
    while (rc == 0 && background->places == SIMPLER_BACKGROUND_PLACES)
        rc = wait_half(background);
    if (rc == 0)
        background->places++;
    unlock(background);
    return rc;
}

void simpler_background_release(struct simpler_background *background)
{
    lock(background);
    background->places--;
    wake_all(background);
    unlock(background);
}

void simpler_background_post(struct simpler_background *background,
                             struct simpler_background_job *job)
{
    lock(background);
    job->next = NULL;
    if (background->last == NULL)
        background->first = job;
    else
        background->last->next = job;
    background->last = job;
    background->posted++;
    (void)pthread_cond_signal(&background->work);
    unlock(background);
}

/* ---- what went wrong ---- */

void simpler_background_note(struct simpler_background *background, int status)
{
    lock(background);
    remember(background, status);
    unlock(background);
}

int simpler_background_error(struct simpler_background *background)
{
    lock(background);
    int error = background->error;
    unlock(background);
    return error;
}

int simpler_background_flush(struct simpler_background *background, uint64_t timeout_ns)
{
    struct simpler_deadline deadline = simpler_timed_wait_deadline(timeout_ns);
    bool in_time = true;

    lock(background);
    uint64_t posted = background->posted;
    while (in_time && background->done < posted)
        in_time = wait_done(background, posted, &deadline);
    int rc = background->done < posted ? SIMPLER_ETIMEDOUT : background->error;
    unlock(background);
    return rc;
}
