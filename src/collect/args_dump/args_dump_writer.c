/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Neighbouring payloads of a lane become one job when they are put in, and jobs
 * are written by one call as far as they fit it; their places in the file are
 * neighbours in any case, since both follow the order of the puts.
 */
#include "collect/args_dump/args_dump_writer.h"

#include <errno.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/logger.h"
#include "base/testpoint.h"
#include "simpler/status.h"

#define CALL_BYTES ((uint64_t)1 << 20)
#define CALL_PARTS 64
/* A full disk's file is shortened by this, so that the records find room. */
#define CUT_BYTES ((uint64_t)4 << 20)

/* ---- acknowledgements ---- */

void simpler_args_dump_writer_give_up(struct args_dump_writer *writer, uint32_t lane,
                                      uint32_t payloads)
{
    struct args_dump_lane *at = &writer->lanes[lane];

    (void)pthread_mutex_lock(&writer->ack_lock);
    uint64_t completed = atomic_load_explicit(&at->completed_payloads, memory_order_relaxed);
    /* A1, release: the payloads' bytes were read; pairs with the producer's acquire. */
    atomic_store_explicit(&at->completed_payloads, completed + payloads, memory_order_release);
    /* A failed copy fails the run; the lane drops when its clock has run out. */
    (void)simpler_prof_session_flush(writer->session, &at->completed_payloads, sizeof(uint64_t));
    (void)pthread_mutex_unlock(&writer->ack_lock);
    simpler_prof_session_beat(writer->session, lane);
    simpler_event_notify_rare(&at->acked, 1);
}

static void set_busy(struct args_dump_writer *writer, bool busy)
{
    for (uint32_t s = 0; s < writer->shard_count; s++)
        simpler_prof_session_set_busy(writer->session, s, busy);
}

/* ---- writing; the role is ours ---- */

/* Drops the first @bytes of the parts; returns how many parts are used up. */
static int advance(struct iovec *parts, int count, size_t bytes)
{
    int used = 0;

    while (used < count && bytes >= parts[used].iov_len)
        bytes -= parts[used++].iov_len;
    if (used < count) {
        parts[used].iov_base = (uint8_t *)parts[used].iov_base + bytes;
        parts[used].iov_len -= bytes;
    }
    return used;
}

static ssize_t write_parts(const struct args_dump_writer *writer, struct iovec *parts, int count)
{
    if (SIMPLER_FAILPOINT(DUMP_BIN_WRITE)) {
        errno = EIO;
        return -1;
    }
    return pwritev(writer->fd, parts, count, (off_t)writer->written);
}

static void fail(struct args_dump_writer *writer)
{
    writer->error = errno != 0 ? errno : EIO;
    if (writer->error == ENOSPC)
        writer->written -= writer->written < CUT_BYTES ? writer->written : CUT_BYTES;
    if (ftruncate(writer->fd, (off_t)writer->written) != 0)
        SIMPLER_WARN("args dump: args.bin could not be shortened (errno %d)", errno);
}

static uint64_t bytes_of(const struct iovec *parts, int count)
{
    uint64_t bytes = 0;

    for (int i = 0; i < count; i++)
        bytes += parts[i].iov_len;
    return bytes;
}

static void write_all(struct args_dump_writer *writer, struct iovec *parts, int count)
{
    while (count > 0 && writer->error == 0) {
        /* Each call has a clock of its own: a slow disk is no dead one. */
        set_busy(writer, true);
        simpler_args_dump_reserve_ahead(&writer->reserve, writer->fd, writer->written,
                                        bytes_of(parts, count));
        ssize_t n = write_parts(writer, parts, count);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            errno = n == 0 ? EIO : errno;
            fail(writer);
            return;
        }
        writer->written += (uint64_t)n;
        int used = advance(parts, count, (size_t)n);
        parts += used;
        count -= used;
    }
}

/* One call's worth from job *at on, *within bytes of which are written. */
static int collect_parts(const struct args_dump_jobs *jobs, size_t *at, uint64_t *within,
                         struct iovec *parts)
{
    uint64_t room = CALL_BYTES;
    int count = 0;

    while (*at < jobs->count && count < CALL_PARTS && room != 0) {
        const struct args_dump_job *job = &jobs->job[*at];
        uint64_t left = job->bytes - *within;
        uint64_t n = left < room ? left : room;
        parts[count++] = (struct iovec){(void *)(uintptr_t)(job->at + *within), (size_t)n};
        room -= n;
        *within += n;
        if (*within < job->bytes)
            break;
        *within = 0;
        (*at)++;
    }
    return count;
}

static void write_jobs(struct args_dump_writer *writer)
{
    struct args_dump_jobs *jobs = &writer->taken;
    struct iovec parts[CALL_PARTS];
    size_t at = 0, acknowledged = 0;
    uint64_t within = 0;

    while (at < jobs->count) {
        int count = collect_parts(jobs, &at, &within, parts);
        if (writer->fd >= 0)
            write_all(writer, parts, count);
        for (; acknowledged < at; acknowledged++)
            simpler_args_dump_writer_give_up(writer, jobs->job[acknowledged].lane,
                                             jobs->job[acknowledged].payloads);
    }
    jobs->count = 0;
}

/* False when nothing was pending. */
static bool take(struct args_dump_writer *writer)
{
    (void)pthread_mutex_lock(&writer->lock);
    struct args_dump_jobs taken = writer->pending;
    writer->pending = writer->taken;
    writer->taken = taken;
    (void)pthread_mutex_unlock(&writer->lock);
    return taken.count != 0;
}

void simpler_args_dump_writer_finish(struct args_dump_writer *writer)
{
    (void)pthread_mutex_lock(&writer->role);
    if (take(writer)) {
        do
            write_jobs(writer);
        while (take(writer));
        set_busy(writer, false);
    }
    (void)pthread_mutex_unlock(&writer->role);
}

void simpler_args_dump_writer_trim(struct args_dump_writer *writer)
{
    (void)pthread_mutex_lock(&writer->role);
    if (writer->fd >= 0)
        simpler_args_dump_reserve_trim(&writer->reserve, writer->fd, writer->written);
    (void)pthread_mutex_unlock(&writer->role);
}

uint64_t simpler_args_dump_writer_cut(struct args_dump_writer *writer, uint64_t bytes)
{
    (void)pthread_mutex_lock(&writer->role);
    uint64_t cut = bytes < writer->written ? bytes : writer->written;
    if (writer->fd < 0 || ftruncate(writer->fd, (off_t)(writer->written - cut)) != 0)
        cut = 0;
    writer->written -= cut;
    /* What is cut off is not written again. */
    if (writer->error == 0)
        writer->error = ENOSPC;
    (void)pthread_mutex_unlock(&writer->role);
    return cut;
}

static bool is_idle(struct args_dump_writer *writer)
{
    (void)pthread_mutex_lock(&writer->lock);
    bool idle = writer->pending.count == 0;
    (void)pthread_mutex_unlock(&writer->lock);
    return idle;
}

static void *writer_main(void *argument)
{
    struct args_dump_writer *writer = argument;

    while (!atomic_load_explicit(&writer->stop, memory_order_acquire)) {
        simpler_args_dump_writer_finish(writer);
        uint32_t seen = simpler_event_prepare_rare(&writer->wake);
        if (!is_idle(writer) || atomic_load_explicit(&writer->stop, memory_order_acquire))
            simpler_event_cancel(&writer->wake);
        else
            simpler_event_wait(&writer->wake, seen, UINT64_MAX);
    }
    return NULL;
}

/* ---- putting in ---- */

void simpler_args_dump_writer_lock(struct args_dump_writer *writer)
{
    (void)pthread_mutex_lock(&writer->lock);
}

void simpler_args_dump_writer_unlock(struct args_dump_writer *writer, bool wake)
{
    if (wake && !writer->running && !writer->refused) {
        writer->running = !SIMPLER_FAILPOINT(THREAD_START) &&
                          pthread_create(&writer->thread, NULL, writer_main, writer) == 0;
        writer->refused = !writer->running;
    }
    bool refused = writer->refused;
    (void)pthread_mutex_unlock(&writer->lock);
    if (wake && refused)
        simpler_args_dump_writer_finish(writer);
    else if (wake)
        simpler_event_notify_rare(&writer->wake, 1);
}

static struct args_dump_job *add_job(struct args_dump_jobs *jobs)
{
    if (jobs->count == jobs->capacity) {
        size_t capacity = jobs->capacity != 0 ? 2 * jobs->capacity : 1024;
        void *larger = simpler_alloc_resize(jobs->job, capacity, sizeof(*jobs->job));
        if (larger == NULL)
            return NULL;
        jobs->job = larger;
        jobs->capacity = capacity;
    }
    return &jobs->job[jobs->count++];
}

void simpler_args_dump_writer_refuse(struct args_dump_writer *writer, uint32_t lane)
{
    writer->unplaced++;
    simpler_args_dump_writer_give_up(writer, lane, 1);
}

bool simpler_args_dump_writer_put(struct args_dump_writer *writer, uint32_t lane, const uint8_t *at,
                                  uint64_t bytes, uint64_t *offset)
{
    struct args_dump_jobs *jobs = &writer->pending;
    struct args_dump_job *job = jobs->count != 0 ? &jobs->job[jobs->count - 1] : NULL;

    if (job != NULL && job->lane == lane && job->at + job->bytes == at &&
        job->bytes + bytes <= CALL_BYTES) {
        job->bytes += bytes;
        job->payloads++;
    } else {
        job = add_job(jobs);
        if (job == NULL) {
            simpler_args_dump_writer_refuse(writer, lane);
            return false;
        }
        *job = (struct args_dump_job){at, bytes, lane, 1};
    }
    *offset = writer->offset;
    writer->offset += bytes;
    return true;
}

/* ---- life ---- */

int simpler_args_dump_writer_init(struct args_dump_writer *writer)
{
    writer->fd = -1;
    simpler_event_init(&writer->wake);
    writer->lock_ready = pthread_mutex_init(&writer->lock, NULL) == 0;
    writer->role_ready = pthread_mutex_init(&writer->role, NULL) == 0;
    writer->ack_lock_ready = pthread_mutex_init(&writer->ack_lock, NULL) == 0;
    return writer->lock_ready && writer->role_ready && writer->ack_lock_ready ? 0 : SIMPLER_ENOMEM;
}

void simpler_args_dump_writer_fini(struct args_dump_writer *writer)
{
    if (writer->running) {
        atomic_store_explicit(&writer->stop, true, memory_order_release);
        simpler_event_wake(&writer->wake, 1);
        (void)pthread_join(writer->thread, NULL);
    }
    simpler_alloc_free(writer->pending.job);
    simpler_alloc_free(writer->taken.job);
    if (writer->ack_lock_ready)
        (void)pthread_mutex_destroy(&writer->ack_lock);
    if (writer->role_ready)
        (void)pthread_mutex_destroy(&writer->role);
    if (writer->lock_ready)
        (void)pthread_mutex_destroy(&writer->lock);
    memset(writer, 0, sizeof(*writer));
}

void simpler_args_dump_writer_start(struct args_dump_writer *writer)
{
    (void)pthread_mutex_lock(&writer->role);
    (void)pthread_mutex_lock(&writer->lock);
    writer->pending.count = 0;
    writer->offset = writer->first;
    writer->unplaced = 0;
    (void)pthread_mutex_unlock(&writer->lock);
    writer->fd = -1;
    writer->written = writer->first;
    writer->reserve = (struct args_dump_reserve){0, false};
    writer->error = 0;
    writer->refused = false;
    (void)pthread_mutex_unlock(&writer->role);
}

void simpler_args_dump_writer_set_file(struct args_dump_writer *writer, int fd)
{
    (void)pthread_mutex_lock(&writer->role);
    writer->fd = fd;
    (void)pthread_mutex_unlock(&writer->role);
}
