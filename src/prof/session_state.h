/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_PROF_SESSION_STATE_H
#define SIMPLER_PROF_SESSION_STATE_H

/*
 * The inside of a session, for the files of prof/ alone.
 *
 * A buffer's way through the host, one role a step:
 *
 *     device ready queue -> drain -> stage -> collector -> done -> replenish
 *         -> recycled -> drain -> device free queue
 *
 * A lane belongs to the shard lane % shard_count.  Each ring has room for every
 * buffer there is, so no push ever waits; what bounds memory is the number of
 * buffers, and what stops a producer is its own empty free queue.
 */
#include <pthread.h>

#include "base/event.h"
#include "prof/buffer_pool.h"
#include "prof/session.h"
#include "prof/spsc.h"

struct simpler_prof_shard {
    struct simpler_prof_session *session;
    uint32_t index;
    struct simpler_event *doorbell; /* the drain sleeps on it; rung by producers and replenish */
    struct simpler_event staged;    /* the collector sleeps on it */

    /* Guards the role of the drain: the thread's, or a caller's that quiesces. */
    pthread_mutex_t drain_lock;
    bool drain_lock_ready;
    uint64_t poll_ns; /* back-off without doorbell */
    uint32_t next;    /* which of its lanes is paid first */
    /* Buffers taken from lanes and not given back; read by replenish. */
    _Atomic uint32_t owed[SIMPLER_PROF_MAX_KINDS];

    /* Guards the role of the collector, and every call of collect. */
    pthread_mutex_t collect_lock;
    bool collect_lock_ready;
    uint64_t received, refused; /* records of the admitted run, and of others */
    uint64_t recovered;         /* of received */
    /* When the client's system call began, in ns; 0: none.  Of the client's thread; the drain
     * reads it, a clock that orders nothing. */
    _Atomic uint64_t busy_since;

    struct simpler_spsc stage;
    struct simpler_spsc done;
    struct simpler_spsc recycled[SIMPLER_PROF_MAX_KINDS];

    pthread_t drain, collector;
    bool drain_running, collector_running;
};

struct simpler_prof_session {
    struct simpler_prof_session_config config;
    const struct simpler_prof_client *client;
    const struct simpler_transport_ops *transport;
    struct simpler_region region;
    struct simpler_prof_header *header; /* host side */
    struct simpler_buffer_pool pool;
    uint32_t shard_count;
    struct simpler_prof_shard *shards;

    uint32_t *owed;          /* a (lane, kind): of its shard's drain */
    _Atomic uint32_t *beats; /* a lane: signs of life, from any host thread */
    uint32_t *shown;         /* a lane: beats that the device was shown; of its shard's drain */
    bool *untold;            /* a lane: an index did not reach the device; of its shard's drain */
    bool *behind;            /* a lane: its queue was not read to the end; of who ends the run */

    /* Guards the role of replenish: its thread's, or a collector's that routes what
     * it has just collected. */
    pthread_mutex_t replenish_lock;
    bool replenish_lock_ready;
    bool out_of_memory; /* not tried again */
    uint32_t retired;   /* buffers that no stock had room for */
    struct simpler_event replenish_event;
    _Atomic uint32_t ticks_wanted;
    _Atomic uint32_t growing; /* bit a kind: more buffers may be allocated */
    pthread_t replenish;
    bool replenish_running;

    _Atomic uint32_t epoch; /* admitted run; 0 none */
    _Atomic bool failed;    /* shared memory could not be reached, or makes no sense */
    _Atomic bool stop_drain, stop_collect, stop_replenish;
    bool may_free; /* no producer may still write: false from admit to a proved end */
    /* Of the thread that has the run: one of the session's threads has stopped for good. */
    bool lost;
    struct simpler_prof_session *next_lost;
};

/* What became of a look into the queue of a lane. */
enum simpler_drained {
    SIMPLER_DRAINED_NONE,
    SIMPLER_DRAINED_SOME,
    SIMPLER_DRAINED_BEHIND, /* it could not be read to the end */
};

/* Host places in the region. */
struct simpler_prof_ready_lane *simpler_session_lane(const struct simpler_prof_session *session,
                                                     uint32_t lane);
struct simpler_prof_state *simpler_session_state(const struct simpler_prof_session *session,
                                                 uint32_t lane, uint32_t kind);
size_t simpler_session_offset(const struct simpler_prof_session *session, const void *place);
/* Logs once a run. */
void simpler_session_fail(struct simpler_prof_session *session, const char *what, int status);

/* session_layout.c: the region with its header, the buffers, the filled free queues. */
int simpler_session_layout(struct simpler_prof_session *session);

/* drain.c: takes what @lane has published.  Under drain_lock.  A caller that collects
 * itself wakes no collector. */
enum simpler_drained simpler_drain_lane(struct simpler_prof_shard *shard, uint32_t lane,
                                        bool wake_collector);
/* Gives the stock to the lanes that wait for it; false when another thread drains. */
bool simpler_drain_try_pay(struct simpler_prof_shard *shard);
/* Wakes the drain, for the host: a run is admitted, or the session stops. */
void simpler_drain_ring(struct simpler_prof_shard *shard);
void *simpler_drain_main(void *shard);

/* collector.c: everything that is staged.  Under collect_lock. */
bool simpler_collector_run(struct simpler_prof_shard *shard);
void *simpler_collector_main(void *shard);

/* replenish.c: routes and allocates; true when something moved. */
bool simpler_replenish_pass(struct simpler_prof_session *session);
/* A collector has done a buffer: routes it, without waiting for the thread. */
void simpler_replenish_help(struct simpler_prof_session *session, struct simpler_prof_shard *shard);
/* A drain has used the stock: the thread is woken if it should allocate. */
void simpler_replenish_ask(struct simpler_prof_session *session, struct simpler_prof_shard *shard,
                           uint32_t kind);
void *simpler_replenish_main(void *session);

/* recover.c: the producer's own fields of a (lane, kind). */
int simpler_session_fetch_state(struct simpler_prof_session *session,
                                struct simpler_prof_state *state);
/* What the producers of @lane still hold.  Under collect_lock. */
int simpler_recover_lane(struct simpler_prof_session *session, uint32_t lane);
/* The accounting of every lane, once. */
int simpler_recover_accounting(struct simpler_prof_session *session,
                               struct simpler_prof_accounting *out);

/* session_patience.c: a role (its lock), the end of a thread; false, logged once: the session is
 * lost, for @who had it for the limit without a sign of life. */
bool simpler_session_take(struct simpler_prof_session *session, pthread_mutex_t *role,
                          const char *who);
bool simpler_session_join(struct simpler_prof_session *session, pthread_t thread, const char *who);

/* session_threads.c */
int simpler_session_start(struct simpler_prof_session *session);
/* Joins them; what the host owns is collected.  One that has stopped loses the session. */
void simpler_session_stop(struct simpler_prof_session *session);

#endif
