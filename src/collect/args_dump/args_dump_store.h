/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_COLLECT_ARGS_DUMP_STORE_H
#define SIMPLER_COLLECT_ARGS_DUMP_STORE_H

/*
 * The records of a run: a piece of memory for each shard, and behind it the file
 * `.spool`, made when the first piece is full.  Afterwards they are visited in
 * the order of the manifest, in flat memory however many there are.
 *
 * Threads: shards append each for itself; the rest is one caller's.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collect/args_dump/args_dump_reserve.h"
#include "collect/args_dump/args_dump_wire.h"

#define ARGS_DUMP_MAX_SHARDS 4u
#define ARGS_DUMP_SPOOL      ".spool"
#define ARGS_DUMP_SORTED     ".sorted"
#define ARGS_DUMP_RECOVERED  ".recover" /* the spool of a recovery */

struct args_dump_piece {
    struct args_dump_record *records; /* NULL until the first append */
    uint32_t count;
};

struct args_dump_store {
    int directory;                    /* where the spool is made */
    int spool;                        /* -1: none yet */
    struct args_dump_reserve reserve; /* behind what is spooled; under the lock */
    _Atomic uint64_t spooled;
    _Atomic uint64_t lost; /* records that found no room */
    _Atomic int error;     /* errno of the first loss */
    pthread_mutex_t lock;  /* guards the spool's making and growing */
    /* Optional: makes room on a full disk; true: try again. */
    bool (*make_room)(void *self);
    void *self;
    struct args_dump_piece piece[ARGS_DUMP_MAX_SHARDS];
    uint32_t run_records; /* of one sorted run; 0: the default (tests set less) */
    uint32_t piece_records;
    bool keep_spool;        /* what is sorted goes to another file: a crash finds the spool whole */
    int sorted;             /* that file; -1: none */
    bool spoilt;            /* a run in the spool is sorted in half: some records twice, some not */
    const char *spool_name; /* in the directory; `.spool` unless it is set after init */
};

/* Called for each record.  Non-zero ends the visit and is its result.  A visit may change
 * its record, for itself alone. */
typedef int args_dump_see_fn(void *context, const struct args_dump_record *record);
typedef int args_dump_visit_fn(void *context, struct args_dump_record *record);

/* Memory that the retained records of several runs take; outlives them. */
struct args_dump_budget {
    uint64_t bytes;        /* at most */
    _Atomic uint64_t used; /* the collector adds, the writer takes away */
};

void simpler_args_dump_store_init(struct args_dump_store *store);
/* Frees memory; the spool is closed. */
void simpler_args_dump_store_fini(struct args_dump_store *store);
/* Forgets the records; @directory for the next. */
void simpler_args_dump_store_start(struct args_dump_store *store, int directory);
/*
 * Moves the records to @to, which is initialised, and starts @from anew; returns what
 * @to takes of the budget.  What finds no room there goes to the spool.
 */
uint64_t simpler_args_dump_store_move(struct args_dump_store *from, struct args_dump_store *to,
                                      struct args_dump_budget *budget);
/* Closes and removes the spool. */
void simpler_args_dump_store_drop_spool(struct args_dump_store *store);

/* Room for one record of the shard, or NULL when it is lost (and counted). */
struct args_dump_record *simpler_args_dump_store_append(struct args_dump_store *store,
                                                        uint32_t shard);
/* What memory holds of the shard goes to the spool now; false: it stays in memory.  Makes no
 * room on a full disk. */
bool simpler_args_dump_store_try_spill(struct args_dump_store *store, uint32_t shard);
/* The same, but with room made, and lost (and counted) otherwise. */
void simpler_args_dump_store_spill(struct args_dump_store *store, uint32_t shard);
/* Nothing is appended any more: what memory holds joins the spool if there is one; losses and
 * count are final. */
void simpler_args_dump_store_finish(struct args_dump_store *store);
uint64_t simpler_args_dump_store_count(const struct args_dump_store *store);

/*
 * Sorts; @see is called for each record in no order, then @visit in the order of
 * the manifest: task, stage, argument, role.  Can be repeated.  SIMPLER_ENOMEM,
 * SIMPLER_EIO, or what a function answered.
 */
int simpler_args_dump_store_visit(struct args_dump_store *store, args_dump_see_fn *see,
                                  int (*between)(void *context), args_dump_visit_fn *visit,
                                  void *context);

#endif
