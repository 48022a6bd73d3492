/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The collector of a shard hands full buffers to the client, lane by lane in
 * order, and sends them on to be recycled.  A buffer of another run than the
 * admitted one is refused: reported, never imported.
 */
#include "base/logger.h"
#include "base/testpoint.h"
#include "base/text.h"
#include "prof/session_state.h"
#include "simpler/status.h"

static void refuse(struct simpler_prof_shard *shard, const struct simpler_prof_buffer *place,
                   uint32_t admitted)
{
    uint32_t count = atomic_load_explicit(&place->count, memory_order_relaxed);

    shard->refused += count;
    SIMPLER_WARN("%s: %u record%s of run %u refused while run %u is admitted",
                 shard->session->client->name, count, simpler_text_plural(count), place->run_epoch,
                 admitted);
}

static void collect(struct simpler_prof_shard *shard, struct simpler_pool_buffer *buffer)
{
    struct simpler_prof_session *session = shard->session;
    const struct simpler_prof_ready_entry *entry = &buffer->entry;
    const struct simpler_prof_buffer *place = simpler_buffer_pool_place(buffer);
    uint32_t admitted = atomic_load_explicit(&session->epoch, memory_order_acquire);
    int rc = simpler_buffer_pool_fetch(&session->pool, buffer, &session->config.kind[buffer->kind]);

    if (rc != 0) {
        simpler_session_fail(session, "cannot read a buffer", rc);
    } else if (entry->run_epoch != admitted || place->run_epoch != admitted || admitted == 0) {
        refuse(shard, place, admitted);
    } else {
        session->client->collect(session->config.self, shard->index, entry, place);
        shard->received += atomic_load_explicit(&place->count, memory_order_relaxed);
    }
}

bool simpler_collector_run(struct simpler_prof_shard *shard)
{
    struct simpler_prof_session *session = shard->session;
    struct simpler_pool_buffer *buffer = simpler_spsc_try_pop(&shard->stage);
    bool any = buffer != NULL;

    for (; buffer != NULL; buffer = simpler_spsc_try_pop(&shard->stage)) {
        uint32_t lane = buffer->entry.lane;
        SIMPLER_TESTPOINT(COLLECTOR_BEFORE_COLLECT);
        collect(shard, buffer);
        bool pushed = simpler_spsc_try_push(&shard->done, buffer);
        SIMPLER_ASSERT(pushed);
        (void)pushed;
        simpler_prof_session_beat(session, lane);
        simpler_replenish_help(session, shard);
    }
    return any;
}

static bool run_locked(struct simpler_prof_shard *shard)
{
    (void)pthread_mutex_lock(&shard->collect_lock);
    bool any = simpler_collector_run(shard);
    (void)pthread_mutex_unlock(&shard->collect_lock);
    return any;
}

static bool should_stop(const struct simpler_prof_session *session)
{
    return atomic_load_explicit(&session->stop_collect, memory_order_acquire);
}

void *simpler_collector_main(void *arg)
{
    struct simpler_prof_shard *shard = arg;

    for (;;) {
        /* Read before the run: what was staged before the stop is collected. */
        bool stop = should_stop(shard->session);
        if (run_locked(shard))
            continue;
        if (stop)
            return NULL;
        uint32_t seen = simpler_event_prepare_rare(&shard->staged);
        if (should_stop(shard->session) || simpler_spsc_count(&shard->stage) != 0)
            simpler_event_cancel(&shard->staged);
        else
            simpler_event_wait(&shard->staged, seen, UINT64_MAX);
    }
}
