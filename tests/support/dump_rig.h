/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TEST_SUPPORT_DUMP_RIG_H
#define TEST_SUPPORT_DUMP_RIG_H

/*
 * Runs with an args dump under a prefix of their own, and a graph whose payloads
 * are known: a chain of tasks over one tensor, each of which finds its number in
 * every element and leaves the next.
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/testpoint.h"
#include "kit.h"

#define DUMP_CELLS 64 /* int32 of the chain's tensor */

extern char dump_prefix[64];
extern struct simpler_run_result dump_result; /* of the last dump_run */

/* Set-up and tear-down of a test: a new directory. */
int dump_make_prefix(void **state);
int dump_remove_prefix(void **state);
#define DUMP_TEST(fn) cmocka_unit_test_setup_teardown(fn, dump_make_prefix, dump_remove_prefix)

/* A worker with 4 buffers of 4 records a thread and arenas of 4 KiB. */
void dump_open_small(struct kit *kit);
void dump_open(struct kit *kit, const struct simpler_dump_config *sizes);
/* Two threads. */
int dump_run(struct kit *kit, kit_orch fn, void *user, const char *where, uint32_t level);

struct dump_chain {
    int32_t cells[DUMP_CELLS];
    uint32_t tasks;
    kit_kernel last; /* the last task's instead of dump_increment */
};
void dump_chain_graph(struct simpler_orch *orch, void *chain);
/* Adds one to each element of tensor 0. */
int dump_increment(const int64_t *args, uint32_t tensors, void *user);
/* Every entry of a chain, cut ones as far as they go; their number is dump_result's. */
void dump_check_chain(uint32_t *truncated);

/* Below the directory args_dump. */
void dump_path(char *path, size_t bytes, const char *name);
bool dump_exists(const char *name);

/* Warnings and errors, one a line, until the next start. */
struct dump_log {
    char text[8192];
    int lines;
};
void dump_log_start(struct dump_log *log);
void dump_log_stop(void);

#if defined(SIMPLER_DEBUG)
/* The point fails from its hit number @nth (from 0) on. */
void dump_fail_from(enum simpler_testpoint point, int64_t nth);
bool dump_failed(void);
/* Each write of payload sleeps, at random up to so long, or exactly so long. */
void dump_slow_writes(uint64_t most_ns, bool exact);
#endif

#endif
