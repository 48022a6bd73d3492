/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_TESTS_SCOPE_FILE_H
#define SIMPLER_TESTS_SCOPE_FILE_H

/*
 * Reads a scope_stats.jsonl as the document describes it: each sample line must
 * be, byte for byte, what printf makes of the document's example with the values
 * that were read.  Anything else fails the test that calls.
 */
#include <stdbool.h>
#include <stdint.h>

struct scope_file_sample {
    char file[64]; /* of the site */
    long line;
    char phase[8];
    long depth, ring;
    unsigned long long task_start, task_end, heap_start, heap_end, pool_start, pool_end;
    unsigned long long tensormap, run_epoch, buf_seq;
};

struct scope_file {
    char metadata[1024]; /* the first line without blanks at its end */
    struct scope_file_sample *samples;
    uint32_t count;
};

/* @path: the output prefix. */
struct scope_file scope_file_read(const char *prefix);
void scope_file_free(struct scope_file *file);
bool scope_file_exists(const char *prefix);

/* A directory of its own below TMPDIR, and its removal with all that is in it. */
void scope_file_make_prefix(char prefix[128]);
void scope_file_remove_prefix(const char *prefix);

#endif
