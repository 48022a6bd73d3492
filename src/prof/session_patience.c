/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The end of a run waits for the session's threads while they live: one that holds its
 * role without a sign of life for the backstop (3 s at least) has stopped, in a system call or for
 * good.  Then the session is lost: nothing of it is touched, joined or freed any more.
 */
#include <errno.h>
#include <time.h>

#include "base/clock.h"
#include "base/idle_clock.h"
#include "base/logger.h"
#include "base/testpoint.h"
#include "prof/session_state.h"

#define SLICE_NS 50000000u
/* Backstops of tests are short; a busy machine's threads need a moment. */
#define LEAST_NS 3000000000u

struct patience {
    uint32_t beats;
    struct simpler_idle_clock clock; /* since the last sign of life */
};

static uint32_t beats_of(const struct simpler_prof_session *session)
{
    uint32_t sum = 0;

    for (uint32_t l = 0; l < session->config.lane_count; l++)
        sum += atomic_load_explicit(&session->beats[l], memory_order_relaxed);
    return sum;
}

static struct patience begin(const struct simpler_prof_session *session)
{
    struct patience patience = {.beats = beats_of(session)};

    simpler_idle_start(&patience.clock, simpler_clock_ns());
    return patience;
}

static uint64_t limit_ns(const struct simpler_prof_session *session)
{
    return session->config.backstop_ns > LEAST_NS ? session->config.backstop_ns : LEAST_NS;
}

/* Whether the limit has passed since the last sign of life. */
static bool is_over(const struct simpler_prof_session *session, struct patience *patience)
{
    uint32_t beats = beats_of(session);

    if (SIMPLER_FAILPOINT(SESSION_PATIENCE))
        return true;
    if (beats != patience->beats)
        *patience = begin(session);
    return simpler_idle_look(&patience->clock, simpler_clock_ns(), SLICE_NS) >= limit_ns(session);
}

/* The calls below know no other clock; a jump of it ends a slice, not the wait. */
static struct timespec slice_end(void)
{
    struct timespec at;

    (void)clock_gettime(CLOCK_REALTIME, &at);
    uint64_t ns = (uint64_t)at.tv_nsec + SLICE_NS;
    at.tv_sec += (time_t)(ns / 1000000000u);
    at.tv_nsec = (long)(ns % 1000000000u);
    return at;
}

/* Lost sessions stay reachable: a thread that comes back after all finds everything in place. */
static struct simpler_prof_session *_Atomic lost_sessions;

/* Nobody joins them any more. */
static void let_go(pthread_t thread, bool *running)
{
    if (*running)
        (void)pthread_detach(thread);
    *running = false;
}

static void lose(struct simpler_prof_session *session, const char *who)
{
    struct simpler_prof_session *next;

    if (session->lost)
        return;
    session->lost = true;
    SIMPLER_ERROR("%s: the %s has shown no sign of life for %llu ms: the run ends without it",
                  session->client->name, who, (unsigned long long)(limit_ns(session) / 1000000u));
    for (uint32_t s = 0; s < session->shard_count; s++) {
        let_go(session->shards[s].drain, &session->shards[s].drain_running);
        let_go(session->shards[s].collector, &session->shards[s].collector_running);
    }
    let_go(session->replenish, &session->replenish_running);
    next = atomic_load_explicit(&lost_sessions, memory_order_relaxed);
    do
        session->next_lost = next;
    while (!atomic_compare_exchange_weak_explicit(&lost_sessions, &next, session,
                                                  memory_order_release, memory_order_relaxed));
}

bool simpler_session_take(struct simpler_prof_session *session, pthread_mutex_t *role,
                          const char *who)
{
    if (pthread_mutex_trylock(role) == 0)
        return true;
    for (struct patience patience = begin(session); !session->lost;) {
        struct timespec end = slice_end();
        if (pthread_mutex_timedlock(role, &end) == 0)
            return true;
        if (is_over(session, &patience))
            lose(session, who);
    }
    return false;
}

bool simpler_session_join(struct simpler_prof_session *session, pthread_t thread, const char *who)
{
    for (struct patience patience = begin(session); !session->lost;) {
        struct timespec end = slice_end();
        if (pthread_timedjoin_np(thread, NULL, &end) != ETIMEDOUT)
            return true;
        if (is_over(session, &patience))
            lose(session, who);
    }
    return false;
}
