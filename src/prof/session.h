/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_PROF_SESSION_H
#define SIMPLER_PROF_SESSION_H

/*
 * One collector's collection: memory, threads and accounting.
 *
 *     open     region, buffers, filled free queues; threads start
 *     admit    a run: its epoch, the host's own window cleared
 *     close    of a run: by the ends of its lanes (decide) it drains, recovers,
 *              reads the accounting once, and leaves threads resident
 *     fini     threads joined, memory freed
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "platform/transport.h"
#include "prof/client.h"

struct simpler_prof_session;

struct simpler_prof_session_config {
    const struct simpler_prof_client *client;
    void *self; /* handed to the client's functions */
    const struct simpler_transport_ops *transport;
    struct simpler_region_backing *backing; /* of its regions; NULL: anonymous */
    uint32_t lane_count;
    uint32_t ready_depth; /* a power of two */
    struct simpler_prof_kind kind[SIMPLER_PROF_MAX_KINDS];
    uint64_t backstop_ns; /* 0: 30 s */
    /* 0: 30 s.  One system call of the client that takes longer has stopped; a producer that has
     * waited for the backstop by then drops. */
    uint64_t write_limit_ns;
    uint32_t first_index; /* of every queue; tests start near the wrap */
};

/* How a producer lane ended. */
enum simpler_lane_end {
    SIMPLER_LANE_COMPLETE = 0, /* its thread returned from its entry */
    SIMPLER_LANE_STOPPED = 1,  /* it stored "last flush done", or was revoked inside a kernel */
    SIMPLER_LANE_UNPROVED = 2
};

/* What the ends of the lanes allow; one function decides (prof/verdict.c). */
struct simpler_prof_verdict {
    bool may_drain;   /* chase device publications */
    bool may_read;    /* the shared accounting */
    bool may_recover; /* the producers' unpublished buffers */
    bool may_export;  /* a file that is complete */
    bool may_free;    /* device memory */
};
struct simpler_prof_verdict simpler_prof_decide(const enum simpler_lane_end *ends, uint32_t count);

/* A run's numbers, by cause; valid after a close that may read. */
struct simpler_prof_accounting {
    bool known;     /* checked: the epoch is this run's, no counter saturated, sums fit */
    bool epoch_ok;  /* the producers were initialised by this run */
    uint64_t total; /* attempted on the device */
    uint64_t dropped_no_free, dropped_ready_full, dropped_other;
    uint64_t received;      /* records handed to collect for this run, recovered ones included */
    uint64_t recovered;     /* of received: what the producers still held */
    uint64_t refused_epoch; /* records of another epoch, never imported */
};

int simpler_prof_session_open(const struct simpler_prof_session_config *config,
                              struct simpler_prof_session **out);
/* Joins the threads.  Without proof that the last run has ended (quiesce, prove_late) the
 * device's memory stays until the process ends.  False: the session is lost, now or already, and
 * stays with its client, which a thread may use.  NULL is allowed. */
bool simpler_prof_session_close(struct simpler_prof_session *session);

/* Device address of the header; what set_platform_..._base gets. */
uint64_t simpler_prof_session_device_base(const struct simpler_prof_session *session);
/* Whether host and device share the memory. */
bool simpler_prof_session_is_mapped(const struct simpler_prof_session *session);
/* The collector's own block, host side. */
void *simpler_prof_session_client_block(struct simpler_prof_session *session);
/*
 * Words of the block (or any place of the region): what the device wrote becomes
 * current, what the host wrote reaches the device.  Multiples of 8 bytes; words that
 * the other side writes are no part of them.  SIMPLER_EIO and others fail the run.
 */
int simpler_prof_session_fetch(struct simpler_prof_session *session, const void *place,
                               size_t bytes);
int simpler_prof_session_flush(struct simpler_prof_session *session, const void *place,
                               size_t bytes);
/* Bytes that a device address in @region names and that lie still, on the host: a copy is
 * made at their place in region->host, of exactly those.  NULL fails the run. */
const void *simpler_prof_session_view(struct simpler_prof_session *session,
                                      const struct simpler_region *region, size_t offset,
                                      size_t bytes);

/*
 * A run with number @run_epoch (from 1) is about to start.  Clears the host's
 * window, reads and writes nothing of the device; restarts the threads that an
 * unproved close has joined (SIMPLER_ETHREAD).
 */
int simpler_prof_session_admit(struct simpler_prof_session *session, uint32_t run_epoch);

/* Whether @lane stored "last flush done" for the admitted run: its end is proved. */
bool simpler_prof_session_flushed(struct simpler_prof_session *session, uint32_t lane);

/* A thread of the session has stopped for good, maybe inside the client: neither may be used
 * again, and close leaves the session, and so its client's memory, to it. */
bool simpler_prof_session_is_lost(const struct simpler_prof_session *session);

/* Until nobody has @role, a lock of the client's, as long as the session's threads or @who show
 * signs of life; SIMPLER_ETIMEDOUT: the session is lost, now or already. */
int simpler_prof_session_wait_for(struct simpler_prof_session *session, pthread_mutex_t *role,
                                  const char *who);

/* Whether device memory may be freed: no producer may still write. */
bool simpler_prof_session_may_free(const struct simpler_prof_session *session);

/*
 * The run's end; @ends has one entry a lane.  With proof: every published buffer
 * is collected, held buffers are recovered, the accounting is copied once;
 * threads stay.  Without: what the host owns is finished, nothing shared is
 * read, the threads are joined.  Lanes with proof are collected and recovered
 * beside others without.  SIMPLER_EINVAL when no run is admitted, SIMPLER_EIO
 * when shared memory could not be read; *out is then what the host knows itself.
 * SIMPLER_ETIMEDOUT: one of the session's threads has stopped, the session is lost.
 */
int simpler_prof_session_quiesce(struct simpler_prof_session *session,
                                 const enum simpler_lane_end *ends,
                                 struct simpler_prof_accounting *out);

/* Late proof: every lane of the last, unproved run has ended after all; memory may be freed. */
void simpler_prof_session_prove_late(struct simpler_prof_session *session);

/* For clients, from any host thread.  The host is alive for @lane. */
void simpler_prof_session_beat(struct simpler_prof_session *session, uint32_t lane);
/*
 * Around a system call that may take long (a write), for the lanes of @shard: its begin is a beat
 * of each, and while it is in the kernel the host is alive, for at most write_limit_ns.
 */
void simpler_prof_session_set_busy(struct simpler_prof_session *session, uint32_t shard, bool busy);
/* Makes tick run soon. */
void simpler_prof_session_wake(struct simpler_prof_session *session);

#endif
