/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TEST_SUPPORT_ACROSS_RIG_H
#define TEST_SUPPORT_ACROSS_RIG_H

/*
 * Runs of a worker that collects across runs, each with files under a name of its own, and
 * what those files must hold.  A fault fails the test that calls.
 */
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kit.h"

struct across_rig {
    char base[128]; /* directory that the runs' prefixes lie in */
    struct kit kit; /* opened by the test */
    struct simpler_run_result result;
};

/* A directory of its own; the log is silent.  And its removal. */
void across_open(struct across_rig *rig);
void across_close(struct across_rig *rig);

/* What is called @name below the directory. */
void across_name(const struct across_rig *rig, char path[160], const char *name);

/* Waits for the writer of diagnostics; the first failure of all. */
int across_flush(struct across_rig *rig);

/*
 * Closes the worker, which answers @status; notes what was seen of @fault: the status of the
 * run behind the failure and whether the failed one has a file.
 */
void across_saw_and_close(struct across_rig *rig, const char *fault, int next, int status,
                          bool has_file);

/* ---- scope stats ---- */

/* Scopes within the root scope, a counted task in each. */
struct across_job {
    int scopes;
    _Atomic int tasks;
    _Atomic uint64_t ran_ns; /* when its last kernel ran */
};

void across_job_graph(struct simpler_orch *orch, void *job);
/* A run with scope stats under the name; its status. */
int across_run(struct across_rig *rig, const char *run_name, struct across_job *job);
/* Whether it has its file. */
bool across_is_there(const struct across_rig *rig, const char *run_name);
/* What a whole file says of @job's run; @window: of each ring, 0 any. */
void across_check_file(const struct across_rig *rig, const char *run_name,
                       const struct across_job *job, uint32_t window);

/* ---- args dump ---- */

#define ACROSS_ELEMENTS 16

/* A chain of tasks on one tensor; the first of them marks it. */
struct across_chain {
    int tasks;
    int64_t data[ACROSS_ELEMENTS];
};

/* A run with a dump of that level, at level 2 with scope stats as well; its status. */
int across_run_chain(struct across_rig *rig, const char *run_name, struct across_chain *chain,
                     uint32_t level, uint32_t threads);
/* The text of a file of the dump, for free(); NULL: there is none. */
char *across_read_dump(const struct across_rig *rig, const char *run_name, const char *file,
                       size_t *bytes);
/* Manifest and payload of @chain's run: two entries a task and tensor, scalars from level 2 on. */
void across_check_dump(const struct across_rig *rig, const char *run_name,
                       const struct across_chain *chain, uint32_t level);

#endif
