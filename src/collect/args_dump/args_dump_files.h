/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_COLLECT_ARGS_DUMP_FILES_H
#define SIMPLER_COLLECT_ARGS_DUMP_FILES_H

/*
 * Where one run's dump goes: the directory, made with the first record, and
 * args.bin.  A directory is locked as long as it is open, so that two runs do not
 * write into one.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "collect/args_dump/args_dump_collector.h"
#include "collect/args_dump/args_dump_store.h"
#include "collect/args_dump/args_dump_writer.h"

struct args_dump_files {
    struct args_dump_writer *writer; /* of args.bin */
    struct args_dump_store *store;   /* its spool lies in the directory */
    uint32_t level;
    bool is_new;                     /* nothing is replaced */
    char path[ARGS_DUMP_PATH_BYTES]; /* the directory; empty: it is too long */

    pthread_mutex_t lock; /* guards the rest; taken before any other */
    bool lock_ready;
    bool opened; /* tried; directory tells how it went */
    bool bin_opened;
    bool taken; /* another run writes into the directory */
    int directory;
    int bin; /* -1: there is no args.bin */
    int open_error;
    uint64_t given_up; /* records of a run without directory */
};

/* SIMPLER_ENOMEM */
int simpler_args_dump_files_init(struct args_dump_files *files, struct args_dump_writer *writer,
                                 struct args_dump_store *store);
void simpler_args_dump_files_fini(struct args_dump_files *files);
/* A new run; what an earlier one left there goes, unless @is_new or another run has the place. */
void simpler_args_dump_files_start(struct args_dump_files *files, const char *prefix,
                                   uint32_t level, bool is_new);
/* A run without a collector: a finished dump of an earlier run goes, unless another has the place.
 */
void simpler_args_dump_files_forget(const char *prefix);
/* Makes what @count records need on the disk; false: there is no directory for them. */
bool simpler_args_dump_files_ensure(struct args_dump_files *files, uint32_t count,
                                    bool has_payload);
/* The writer is told first. */
void simpler_args_dump_files_close(struct args_dump_files *files);

#endif
