/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_COLLECT_ARGS_DUMP_WRITER_H
#define SIMPLER_COLLECT_ARGS_DUMP_WRITER_H

/*
 * The one writer of args.bin.  Payloads are written in the order in which they
 * were put in, from the arenas, at most 1 MiB a call; what is written is
 * acknowledged to its lane.  After the first write that fails nothing more is
 * written, but acknowledged all the same; `written` is then the bytes that count.
 *
 * Threads: collectors put; a thread of its own writes, or whoever finishes.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/event.h"
#include "collect/args_dump/args_dump_reserve.h"
#include "collect/args_dump/args_dump_wire.h"
#include "prof/session.h"

struct args_dump_job {
    const uint8_t *at; /* in an arena */
    uint64_t bytes;
    uint32_t lane;
    uint32_t payloads; /* that lie there, one behind the other */
};

struct args_dump_jobs {
    struct args_dump_job *job;
    size_t count, capacity;
};

struct args_dump_writer {
    /* Set by the collector: whom to acknowledge to. */
    struct args_dump_lane *lanes; /* host side */
    struct simpler_prof_session *session;
    pthread_mutex_t ack_lock; /* guards lanes[].completed_payloads and its way to the device */
    bool ack_lock_ready;
    uint32_t shard_count;
    uint64_t first; /* where payload begins in args.bin: 0 */

    pthread_mutex_t lock; /* guards pending, offset, unplaced */
    bool lock_ready;
    struct args_dump_jobs pending;
    uint64_t offset;   /* of the next payload in args.bin */
    uint64_t unplaced; /* payloads that were refused */

    pthread_mutex_t role; /* guards the rest: who writes */
    bool role_ready;
    struct args_dump_jobs taken;
    int fd; /* -1: nothing is written */
    uint64_t written;
    struct args_dump_reserve reserve; /* behind written */
    int error;                        /* errno of the write that failed; 0 none */

    struct simpler_event wake;
    pthread_t thread;
    bool running;
    bool refused; /* no thread could be had */
    _Atomic bool stop;
};

/* SIMPLER_ENOMEM. */
int simpler_args_dump_writer_init(struct args_dump_writer *writer);
/* Zeroed is allowed. */
void simpler_args_dump_writer_fini(struct args_dump_writer *writer);

/* A run begins, without a file. */
void simpler_args_dump_writer_start(struct args_dump_writer *writer);
/* From now on payloads go to @fd, which stays the caller's. */
void simpler_args_dump_writer_set_file(struct args_dump_writer *writer, int fd);

/* Around the puts of one buffer; unlock with @wake lets the thread write. */
void simpler_args_dump_writer_lock(struct args_dump_writer *writer);
void simpler_args_dump_writer_unlock(struct args_dump_writer *writer, bool wake);
/* Under the lock: one payload that is acknowledged and has no place. */
void simpler_args_dump_writer_refuse(struct args_dump_writer *writer, uint32_t lane);
/* Under the lock: one payload; *offset is its place.  False: there is no memory to note it,
 * it is refused. */
bool simpler_args_dump_writer_put(struct args_dump_writer *writer, uint32_t lane, const uint8_t *at,
                                  uint64_t bytes, uint64_t *offset);
/* A payload that nobody will write. */
void simpler_args_dump_writer_give_up(struct args_dump_writer *writer, uint32_t lane,
                                      uint32_t payloads);
/* Writes everything that was put in. */
void simpler_args_dump_writer_finish(struct args_dump_writer *writer);
/* Everything is written: blocks that were reserved for more are given back. */
void simpler_args_dump_writer_trim(struct args_dump_writer *writer);
/* Shortens the file by up to @bytes; returns by how much. */
uint64_t simpler_args_dump_writer_cut(struct args_dump_writer *writer, uint64_t bytes);

#endif
