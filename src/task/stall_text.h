/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_TASK_STALL_TEXT_H
#define SIMPLER_TASK_STALL_TEXT_H

/*
 * What every runtime says alike about a run that hangs: lines of the log that begin
 * with [STALL and [SHUTDOWN_SNAPSHOT, and the lines of the result's message.
 */
#include <stdbool.h>
#include <stdint.h>

#include "task/deferral.h"
#include "task/run_verdict.h"

enum simpler_stall_state {
    SIMPLER_STALL_DONE,
    SIMPLER_STALL_WAITS,
    SIMPLER_STALL_HELD,     /* in no queue, and without an unfinished producer */
    SIMPLER_STALL_DEFERRED, /* its kernels have returned, its conditions do not hold */
    SIMPLER_STALL_READY,
    SIMPLER_STALL_RUNS
};

/* What a hung run looks like once its threads have left it or were revoked. */
struct simpler_stall {
    uint64_t idle_ms;
    int32_t stop; /* why the run had been stopped before idle_ms began, or 0 */
    bool known;   /* the tasks may be looked at */
    uint64_t submitted, completed;
    uint32_t running, ready, waiting;
    char headline[256];
    char details[1400]; /* lines */
};

/* Adds to the details. */
#define SIMPLER_STALL_ADD(stall, ...) \
    simpler_run_verdict_append((stall)->details, sizeof((stall)->details), __VA_ARGS__)

/* Counts a task that is not done; true: the log gets a line of it, as one of the first. */
bool simpler_stall_text_count(struct simpler_stall *stall, enum simpler_stall_state state);
/* That line; @thread: who has it, @fanin: its unfinished producers, @text: in words. */
void simpler_stall_text_task(const struct simpler_stall *stall, enum simpler_stall_state state,
                             uint32_t thread, uint32_t fanin, const char *text);

/* @thread: who ends the run; the task that it is stuck on and its lane, or -1. */
void simpler_stall_text_snapshot(const struct simpler_stall *stall, uint32_t thread, bool orch_done,
                                 uint64_t stuck_task, int stuck_lane);
void simpler_stall_text_headline(struct simpler_stall *stall);
/* The last line, where more time may help; @budget_ns: the time without progress that passed. */
void simpler_stall_text_remedy(struct simpler_stall *stall, uint64_t budget_ns);

/* "runs on scheduler 1" */
void simpler_stall_text_where(enum simpler_stall_state state, const char *lane, uint32_t fanin,
                              char *text, size_t bytes);

/* One line for all threads that have nothing to do: @idle of @threads. */
void simpler_stall_text_idle(uint32_t idle, uint32_t threads);

/* The line about open conditions; @id: of the view's task. */
void simpler_stall_text_conditions(const struct simpler_deferral_view *view, uint64_t id,
                                   char *text, size_t bytes);

#endif
