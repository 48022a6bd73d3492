/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_TESTS_PROF_RIG_H
#define SIMPLER_TESTS_PROF_RIG_H

/*
 * A collector of four kinds that exists for tests: each record has its number,
 * producers note which numbers were accepted, the collector which it got, and
 * after a run the two lists must be equal, in order.
 */
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "prof/producer.h"
#include "prof/session.h"

#define RIG_KINDS 4u
#define RIG_MAGIC 0x52494721u

struct rig_list {
    uint32_t *seq;
    uint32_t count, capacity;
};

/* What happened to the records of one (lane, kind) in one run. */
struct rig_stream {
    struct rig_list sent, got;
    uint32_t next;                   /* number of the next record */
    uint32_t dropped, refused;       /* as the producer saw it */
    uint32_t torn, misplaced, order; /* faults that the collector saw */
};

struct rig {
    struct simpler_prof_client client;
    struct simpler_prof_session_config config;
    struct simpler_prof_session *session;
    struct rig_stream *streams; /* [lane][kind] */
    uint64_t seed;
    uint32_t records;            /* appended by each lane, of random kinds */
    uint32_t slow_one_in;        /* buffers whose collection sleeps; 0 none */
    uint32_t slow_us;            /* at most */
    uint32_t refuse_one_in;      /* records that the producer refuses itself */
    uint32_t hold_one_in;        /* lanes that end without a last flush */
    uint32_t gap_one_in, gap_us; /* producers that pause */
    uint64_t busy_us;            /* each collection is a write that long, marked busy */
    bool busy_until_open;        /* each collection is marked busy while it stands at the gate */
    uint32_t beats, beat_us;     /* each collection beats so often, at that distance */
    _Atomic bool closed;         /* collection stops at a gate while true */
    _Atomic uint64_t at_gate;    /* collections that wait there */
    _Atomic uint64_t ticks;
    _Atomic uint32_t tick_again; /* ticks that ask for another one */
};

/* Defaults: four kinds of 16, 64, 80 and 128 bytes, mapped transport, no delays. */
void rig_defaults(struct rig *rig, uint32_t lanes, uint32_t shards, uint64_t seed);
/* Small random buffers and depths from the seed. */
void rig_randomize(struct rig *rig);
int rig_open(struct rig *rig);
void rig_close(struct rig *rig);

struct simpler_prof_header *rig_header(struct rig *rig);
/* The leader's part: attaches every producer; [lane][kind]. */
void rig_attach(struct rig *rig, struct simpler_producer *producers, uint32_t epoch);
/* Admits a run and attaches, for a test that appends on its own thread. */
void rig_begin(struct rig *rig, struct simpler_producer *producers, uint32_t epoch);
/* Appends one record; true when it was accepted. */
bool rig_append(struct rig *rig, struct simpler_producer *producer);
/* Whole lanes on threads of their own, admitted, quiesced and compared; fails the test. */
void rig_run(struct rig *rig, uint32_t epoch, struct simpler_prof_accounting *out);
/* Compares what was sent with what came; fails the test. */
void rig_compare(struct rig *rig, const struct simpler_prof_accounting *accounting);
/* Forgets the lists of the last run. */
void rig_reset(struct rig *rig);

/* Random delays at every test point, from a seed; debug builds. */
void rig_delays_start(uint64_t seed, uint32_t one_in);
void rig_delays_stop(void);

uint64_t rig_random(uint64_t *state);

#endif
