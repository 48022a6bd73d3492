/* SPDX-License-Identifier: Apache-2.0 */
/* The threads of a session: a drain and a collector a shard, one replenish. */
#include "base/logger.h"
#include "base/testpoint.h"
#include "prof/session_state.h"
#include "simpler/status.h"

static int start(struct simpler_prof_session *session, pthread_t *thread, bool *running,
                 void *(*body)(void *), void *argument)
{
    if (*running)
        return 0;
    if (SIMPLER_FAILPOINT(THREAD_START) || pthread_create(thread, NULL, body, argument) != 0) {
        SIMPLER_ERROR("%s: cannot start a collection thread", session->client->name);
        return SIMPLER_ETHREAD;
    }
    *running = true;
    return 0;
}

static int start_all(struct simpler_prof_session *session)
{
    int rc = start(session, &session->replenish, &session->replenish_running,
                   simpler_replenish_main, session);

    for (uint32_t s = 0; rc == 0 && s < session->shard_count; s++) {
        struct simpler_prof_shard *shard = &session->shards[s];
        rc = start(session, &shard->collector, &shard->collector_running, simpler_collector_main,
                   shard);
        if (rc == 0)
            rc = start(session, &shard->drain, &shard->drain_running, simpler_drain_main, shard);
    }
    return rc;
}

int simpler_session_start(struct simpler_prof_session *session)
{
    /* relaxed: the threads are created after. */
    atomic_store_explicit(&session->stop_drain, false, memory_order_relaxed);
    atomic_store_explicit(&session->stop_collect, false, memory_order_relaxed);
    atomic_store_explicit(&session->stop_replenish, false, memory_order_relaxed);
    int rc = start_all(session);
    if (rc != 0)
        simpler_session_stop(session);
    return rc;
}

static void join(struct simpler_prof_session *session, pthread_t thread, bool *running,
                 const char *who)
{
    if (*running && simpler_session_join(session, thread, who))
        *running = false;
}

/* Sets @flag; wake is one load where nobody sleeps. */
static void ask(_Atomic bool *flag)
{
    atomic_store_explicit(flag, true, memory_order_release);
}

/* In the order of a buffer's way, so that each finishes what the one before gave it. */
void simpler_session_stop(struct simpler_prof_session *session)
{
    ask(&session->stop_drain);
    /* All of them, also those that nobody will wait for. */
    for (uint32_t s = 0; s < session->shard_count; s++) {
        if (session->shards[s].drain_running)
            simpler_drain_ring(&session->shards[s]);
    }
    for (uint32_t s = 0; s < session->shard_count; s++)
        join(session, session->shards[s].drain, &session->shards[s].drain_running, "drain");
    ask(&session->stop_collect);
    for (uint32_t s = 0; s < session->shard_count; s++) {
        simpler_event_notify_rare(&session->shards[s].staged, 1);
        join(session, session->shards[s].collector, &session->shards[s].collector_running,
             "collector");
    }
    ask(&session->stop_replenish);
    simpler_event_notify_rare(&session->replenish_event, 1);
    join(session, session->replenish, &session->replenish_running, "replenish");
}
