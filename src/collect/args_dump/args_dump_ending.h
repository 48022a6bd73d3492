/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_COLLECT_ARGS_DUMP_ENDING_H
#define SIMPLER_COLLECT_ARGS_DUMP_ENDING_H

/*
 * A run that has been collected: its records, its args.bin, what is known of
 * losses; and how that becomes the manifest.  At the run's end on the thread that settles
 * it, or later, when it is retained, on the background writer.
 *
 * Threads: one at a time.
 */
#include <stdbool.h>
#include <stdint.h>

#include "collect/args_dump/args_dump_store.h"

#define ARGS_DUMP_BIN "args.bin"
/* An output prefix has at most 1023 bytes. */
#define ARGS_DUMP_PATH_BYTES 1088u
/* What a manifest's entry takes, for the room that args.bin gives up. */
#define ARGS_DUMP_ENTRY_BYTES 512u

/* What a run's collection came to. */
struct args_dump_outcome {
    int status; /* 0: whole; SIMPLER_EPARTIAL; SIMPLER_EIO and others: no manifest */
    bool has_manifest;
    bool is_retained;       /* take gives it; the manifest is still to be written */
    bool counts_known;      /* the counts of losses below */
    uint64_t records;       /* entries of the manifest */
    uint64_t payload_bytes; /* in args.bin */
    uint64_t capture_ns;    /* time that capture took, summed over the threads */
    uint64_t truncated;
    uint64_t dropped_no_free, dropped_ready_full, dropped_arena;
    uint64_t write_failed;           /* records that the disk did not take */
    uint64_t refused_epoch;          /* of other runs, never imported */
    char path[ARGS_DUMP_PATH_BYTES]; /* the directory args_dump */
};

struct args_dump_ending {
    uint32_t run_epoch, level;
    bool is_new;       /* nothing is replaced */
    int directory;     /* -1: there is none */
    int bin;           /* -1: there is no args.bin */
    uint64_t received; /* records */
    uint64_t given_up; /* of those without directory */
    uint64_t first;    /* where the payload begins in args.bin, */
    uint64_t end;      /* where it was to end, */
    uint64_t written;  /* and where it does */
    uint64_t unplaced; /* payloads that are in no file, for want of memory or of a copy */
    int payload_error; /* errno of the write that failed; 0 none */
    int open_error;    /* likewise, of making directory or args.bin */
    struct args_dump_store *store;
    struct args_dump_outcome out; /* counts of losses are filled; the rest follows */
};

/* Whether nothing is missing, as far as is known. */
bool simpler_args_dump_ending_is_whole(const struct args_dump_ending *ending);
/* Writes the manifest, if there is one; fills ending->out and returns its status. */
int simpler_args_dump_ending_write(struct args_dump_ending *ending);
/* No artifact: args.bin and the spool of this run go. */
void simpler_args_dump_ending_discard(struct args_dump_ending *ending);

/* An ending in memory of its own. */
struct args_dump_retained;

/*
 * Takes @ending over, with its files and records: those that @budget has no room for go
 * to the spool.  SIMPLER_ENOMEM: nothing has changed.
 */
int simpler_args_dump_retained_open(const struct args_dump_ending *ending,
                                    struct args_dump_budget *budget,
                                    struct args_dump_retained **out);
/* Writes it; returns as above. */
int simpler_args_dump_retained_write(struct args_dump_retained *run);
/* NULL is allowed. */
void simpler_args_dump_retained_close(struct args_dump_retained *run);

#endif
