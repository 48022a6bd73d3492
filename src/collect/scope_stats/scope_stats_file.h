/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_COLLECT_SCOPE_STATS_FILE_H
#define SIMPLER_COLLECT_SCOPE_STATS_FILE_H

/*
 * scope_stats/scope_stats.jsonl under an output prefix, streamed.  Lines go to
 * a file with `.partial` behind its name, after a first line of blanks that the
 * longest metadata fits; close writes the metadata there and renames.  An older
 * scope_stats.jsonl goes when the new one is opened.
 *
 * After the first write that fails nothing more is written: a torn line is cut
 * off, later lines are counted as refused, and close still makes a whole file.
 *
 * Threads: one at a time.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collect/scope_stats/scope_stats_line.h"
#include "collect/scope_stats/scope_stats_wire.h"

/* An output prefix has at most 1023 bytes. */
#define SCOPE_STATS_PATH_BYTES 1088u

/* What a run was configured with; all of it is known or none. */
struct scope_stats_capacities {
    bool known;
    uint64_t task_window[SCOPE_STATS_MAX_RING_DEPTH];
    uint64_t heap[SCOPE_STATS_MAX_RING_DEPTH];
    uint64_t dep_pool[SCOPE_STATS_MAX_RING_DEPTH];
    uint64_t tensormap;
};

/* The first line.  Without a verdict it has the seven keys of a proven close. */
struct scope_stats_metadata {
    bool fatal_known, fatal;
    bool counts_known; /* dropped and total */
    uint64_t dropped, total;
    struct scope_stats_capacities capacities;
    const char *verdict; /* NULL: seven keys */
    bool counts_unknown; /* with a verdict, as the three that follow */
    uint64_t host_received, host_retained;
    bool recovered; /* says so: the process died, the rest was read afterwards */
};

struct scope_stats_file {
    int fd;          /* -1: none is open */
    int status;      /* 0, or why nothing more is written */
    bool is_new;     /* what is at the path stays */
    bool taken;      /* another run writes there: what is at the path is that one's */
    size_t reserved; /* bytes of the first line */
    char *buffer;    /* kept from file to file */
    size_t filled;   /* bytes in buffer */
    uint64_t lines_buffered;
    struct scope_stats_line_format format;
    uint64_t lines;                    /* samples whose lines are whole in the file */
    uint64_t lines_refused;            /* not written, after a failure */
    uint64_t bytes;                    /* of the file */
    uint64_t whole_bytes;              /* up to its last newline */
    char path[SCOPE_STATS_PATH_BYTES]; /* of the finished file */
};

/* SIMPLER_ENOMEM. */
int simpler_scope_stats_file_init(struct scope_stats_file *file);
/* Drops a file that is still open; a zeroed struct is allowed. */
void simpler_scope_stats_file_fini(struct scope_stats_file *file);

/* Writes the final path under @prefix; false when it is too long. */
bool simpler_scope_stats_file_path(const char *prefix, char path[SCOPE_STATS_PATH_BYTES]);

/*
 * Creates the directories and the partial file.  SIMPLER_EIO, SIMPLER_EOVERFLOW
 * (the path is too long), logged; the file then refuses every line.
 */
int simpler_scope_stats_file_open(struct scope_stats_file *file, const char *prefix);

/*
 * The same, but what is at the path is never removed: close fails with SIMPLER_EEXIST
 * when there is something.
 */
int simpler_scope_stats_file_open_new(struct scope_stats_file *file, const char *prefix);

/* Where the file is until it has its name; at most SCOPE_STATS_PATH_BYTES + 8. */
#define SCOPE_STATS_PARTIAL_BYTES (SCOPE_STATS_PATH_BYTES + 9u)
void simpler_scope_stats_file_partial_path(const struct scope_stats_file *file,
                                           char path[SCOPE_STATS_PARTIAL_BYTES]);

/* The samples of one buffer, in their order. */
void simpler_scope_stats_file_append(struct scope_stats_file *file,
                                     const struct scope_stats_record *records, uint32_t count,
                                     uint32_t run_epoch, uint32_t buffer_seq);

/* Writes what is buffered; afterwards lines and lines_refused are final. */
void simpler_scope_stats_file_flush(struct scope_stats_file *file);

/* After a flush: the metadata, the rename.  SIMPLER_EIO, SIMPLER_EEXIST (open_new), logged;
 * then there is no file of this run. */
int simpler_scope_stats_file_close(struct scope_stats_file *file,
                                   const struct scope_stats_metadata *metadata);

/* After a flush: the metadata over the first line, blanks before its newline.  SIMPLER_EIO,
 * logged: the file stays as it is. */
int simpler_scope_stats_file_describe(struct scope_stats_file *file,
                                      const struct scope_stats_metadata *metadata);

/* First line of a file that has none. */
int simpler_scope_stats_file_reserve(struct scope_stats_file *file);

/*
 * No artifact: the partial file goes, and (not after open_new) a predecessor at the final path.
 * SIMPLER_EIO when that cannot be removed, logged.
 */
int simpler_scope_stats_file_discard(struct scope_stats_file *file);

#endif
