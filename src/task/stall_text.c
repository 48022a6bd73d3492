/* SPDX-License-Identifier: Apache-2.0 */
#include "task/stall_text.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/logger.h"
#include "base/text.h"

/* Lines of each state that the log gets. */
#define SHOWN_RUNNING 16u
#define SHOWN_READY   8u
#define SHOWN_WAITING 4u

static const char *const state_names[] = {"DONE", "WAIT", "HELD", "DEFERRED", "READY", "RUNNING"};

bool simpler_stall_text_count(struct simpler_stall *s, enum simpler_stall_state state)
{
    switch (state) {
    case SIMPLER_STALL_RUNS:
        return s->running++ < SHOWN_RUNNING;
    case SIMPLER_STALL_READY:
        return s->ready++ < SHOWN_READY;
    case SIMPLER_STALL_DONE:
        return false;
    default:
        return s->waiting++ < SHOWN_WAITING;
    }
}

void simpler_stall_text_task(const struct simpler_stall *s, enum simpler_stall_state state,
                             uint32_t thread, uint32_t fanin, const char *text)
{
    SIMPLER_ERROR("[STALL thread=%" PRIu32 " idle_ms=%" PRIu64 "] TASK state=%s fanin=%" PRIu32
                  " %s",
                  thread, s->idle_ms, state_names[state], fanin, text);
}

static const char *sub_class(const struct simpler_stall *s, bool orch_done, int *detail)
{
    static const char *const labels[] = {"S1:running-stalled", "S3:ready-but-all-idle",
                                         "S4:dependency-deadlock", "S5:orchestrator-starvation",
                                         "unknown:accounting/corruption"};
    static const int details[] = {1, 3, 4, 5, 99};
    int i = s->running != 0 ? 0 : s->ready != 0 ? 1 : s->waiting != 0 ? 2 : !orch_done ? 3 : 4;

    *detail = details[i];
    return labels[i];
}

void simpler_stall_text_snapshot(const struct simpler_stall *s, uint32_t thread, bool orch_done,
                                 uint64_t stuck_task, int stuck_lane)
{
    int detail;
    const char *label = sub_class(s, orch_done, &detail);

    SIMPLER_ERROR("[SHUTDOWN_SNAPSHOT trigger_thread=%" PRIu32
                  " reason=scheduler_timeout] sub_class=%s (detail=%d) completed=%" PRIu64
                  "/%" PRIu64 " running=%" PRIu32 " ready=%" PRIu32 " waiting=%" PRIu32
                  " orch_done=%d stuck_task_id=0x%016" PRIx64 " stuck_core=%d",
                  thread, label, detail, s->completed, s->submitted, s->running, s->ready,
                  s->waiting, orch_done, stuck_task, stuck_lane);
}

/* The clock of a run that was stopped begins anew. */
static const char *since(const struct simpler_stall *s)
{
    return s->stop == 0                   ? ""
           : s->stop == SIMPLER_ECANCELED ? " after the run was canceled"
           : s->stop == SIMPLER_ETIMEDOUT ? " after the deadline"
                                          : " after the run had failed";
}

void simpler_stall_text_headline(struct simpler_stall *s)
{
    if (s->known)
        (void)snprintf(s->headline, sizeof(s->headline),
                       "nothing was finished for %" PRIu64 " ms%s; %" PRIu64 " of %" PRIu64
                       " task%s %s not done: %" PRIu32 " running, %" PRIu32 " ready, %" PRIu32
                       " waiting",
                       s->idle_ms, since(s), s->submitted - s->completed, s->submitted,
                       simpler_text_plural(s->submitted),
                       simpler_text_by_count(s->submitted - s->completed, "is", "are"), s->running,
                       s->ready, s->waiting);
    else
        (void)snprintf(s->headline, sizeof(s->headline),
                       "nothing was finished for %" PRIu64 " ms%s; %" PRIu64 " task%s done, "
                       "%" PRIu32 " running",
                       s->idle_ms, since(s), s->completed, simpler_text_plural(s->completed),
                       s->running);
}

void simpler_stall_text_remedy(struct simpler_stall *s, uint64_t budget_ns)
{
    /* Nothing helps what no thread is inside of, and what was stopped has a budget of its own. */
    if (s->running != 0 && s->stop == 0)
        SIMPLER_STALL_ADD(s,
                          "remedy: if the kernel is only slow, set SIMPLER_SCHEDULER_TIMEOUT_MS to "
                          "more than %" PRIu64 ", which has passed\n",
                          budget_ns / 1000000);
}

void simpler_stall_text_where(enum simpler_stall_state state, const char *lane, uint32_t fanin,
                              char *text, size_t bytes)
{
    switch (state) {
    case SIMPLER_STALL_RUNS:
        (void)snprintf(text, bytes, "runs on %s", lane);
        break;
    case SIMPLER_STALL_READY:
        (void)snprintf(text, bytes, "is ready, in the queue of %s", lane);
        break;
    case SIMPLER_STALL_WAITS:
        (void)snprintf(text, bytes, "waits for %" PRIu32 " unfinished task%s", fanin,
                       simpler_text_plural(fanin));
        break;
    case SIMPLER_STALL_DEFERRED:
        (void)snprintf(text, bytes,
                       "has returned from its kernel and waits for its conditions (see the line "
                       "about deferred completions)");
        break;
    default:
        (void)snprintf(text, bytes,
                       "is in no queue and waits for no unfinished task: a thread that took it has "
                       "not come back, or a completion was lost");
        break;
    }
}

void simpler_stall_text_idle(uint32_t idle, uint32_t threads)
{
    if (idle != 0)
        SIMPLER_WARN("[STALL] THREADS in no kernel, with nothing in their queues: %" PRIu32
                     " of %" PRIu32,
                     idle, threads);
}

void simpler_stall_text_conditions(const struct simpler_deferral_view *view, uint64_t id,
                                   char *text, size_t bytes)
{
    (void)snprintf(text, bytes,
                   "%" PRIu32 " condition%s of deferred completions open: task 0x%016" PRIx64
                   " waits for a counter that is %" PRIu32 " to be at least %" PRIu32 "\n",
                   view->open, simpler_text_plural(view->open), id, view->value, view->expected);
}
