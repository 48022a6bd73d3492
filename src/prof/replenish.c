/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Replenish routes collected buffers back into the stocks of the shards, to the
 * stock of its kind that is furthest below its watermark, else where it came
 * from; what is still missing it allocates, in batches.  It never writes a free
 * queue of the device: the drains do.
 */
#include "base/logger.h"
#include "base/testpoint.h"
#include "prof/session_state.h"
#include "simpler/status.h"

/* What a stock lacks: its watermark and what its lanes are owed, less what is there. */
static int64_t deficit(const struct simpler_prof_shard *shard, uint32_t kind)
{
    uint32_t watermark = shard->session->client->watermark[kind];
    int64_t owed = atomic_load_explicit(&shard->owed[kind], memory_order_relaxed);

    return watermark + owed - (int64_t)simpler_spsc_count(&shard->recycled[kind]);
}

static struct simpler_prof_shard *choose(struct simpler_prof_session *session,
                                         struct simpler_prof_shard *origin, uint32_t kind)
{
    struct simpler_prof_shard *best = origin;
    int64_t most = 0;

    if (session->client->watermark[kind] == 0)
        return origin;
    for (uint32_t s = 0; s < session->shard_count; s++) {
        int64_t lacks = deficit(&session->shards[s], kind);
        if (lacks > most) {
            most = lacks;
            best = &session->shards[s];
        }
    }
    return best;
}

static void stock(struct simpler_prof_shard *shard, struct simpler_pool_buffer *buffer)
{
    SIMPLER_TESTPOINT(REPLENISH_BEFORE_STOCK);
    if (!simpler_spsc_try_push(&shard->recycled[buffer->kind], buffer)) {
        shard->session->retired++;
        return;
    }
    /* The drain is told only when a lane waits for the buffer; it counts what it
     * owes before it parks, so that after has_waiters the count is current. */
    if (simpler_event_has_waiters(shard->doorbell) &&
        atomic_load_explicit(&shard->owed[buffer->kind], memory_order_relaxed) != 0)
        simpler_event_wake(shard->doorbell, 1);
}

static bool route_done(struct simpler_prof_session *session)
{
    bool any = false;

    for (uint32_t s = 0; s < session->shard_count; s++) {
        struct simpler_prof_shard *shard = &session->shards[s];
        struct simpler_pool_buffer *buffer;
        while ((buffer = simpler_spsc_try_pop(&shard->done)) != NULL) {
            stock(choose(session, shard, buffer->kind), buffer);
            any = true;
        }
    }
    return any;
}

/* How many buffers to add to a stock: a batch, within the kind's limit. */
static uint32_t batch(const struct simpler_prof_session *session,
                      const struct simpler_prof_shard *shard, uint32_t kind)
{
    uint32_t limit = session->client->max_buffers_per_lane[kind] * session->config.lane_count;
    uint32_t total = session->pool.total[kind];
    int64_t lacks = deficit(shard, kind);

    if (session->client->watermark[kind] == 0 || lacks <= 0 || total >= limit)
        return 0;
    if (lacks < SIMPLER_PROF_FREE_SLOTS)
        lacks = SIMPLER_PROF_FREE_SLOTS;
    return lacks > limit - total ? limit - total : (uint32_t)lacks;
}

static bool allocate(struct simpler_prof_shard *shard, uint32_t kind)
{
    struct simpler_prof_session *session = shard->session;
    uint32_t count = session->out_of_memory ? 0 : batch(session, shard, kind);

    if (count == 0)
        return false;
    struct simpler_pool_block *block =
        simpler_buffer_pool_add(&session->pool, kind, &session->config.kind[kind], count);
    if (block == NULL) {
        SIMPLER_WARN("%s: no memory for %u more buffers of kind %u: collection goes on without",
                     session->client->name, count, kind);
        session->out_of_memory = true;
        return false;
    }
    for (uint32_t i = 0; i < count; i++)
        stock(shard, &block->buffers[i]);
    return true;
}

bool simpler_replenish_pass(struct simpler_prof_session *session)
{
    bool any = route_done(session);

    for (uint32_t s = 0; s < session->shard_count; s++) {
        for (uint32_t kind = 0; kind < session->client->kind_count; kind++)
            any |= allocate(&session->shards[s], kind);
    }
    return any;
}

static bool should_stop(const struct simpler_prof_session *session)
{
    return atomic_load_explicit(&session->stop_replenish, memory_order_acquire);
}

static void tick(struct simpler_prof_session *session)
{
    if (session->client->tick != NULL)
        session->client->tick(session->config.self);
}

void *simpler_replenish_main(void *arg)
{
    struct simpler_prof_session *session = arg;

    for (;;) {
        uint32_t ticks = atomic_load_explicit(&session->ticks_wanted, memory_order_acquire);
        bool stop = should_stop(session);
        bool any = simpler_replenish_pass(session);
        tick(session);
        if (any)
            continue;
        if (stop)
            return NULL;
        uint32_t seen = simpler_event_prepare(&session->replenish_event);
        if (should_stop(session) || simpler_replenish_pass(session) ||
            atomic_load_explicit(&session->ticks_wanted, memory_order_acquire) != ticks)
            simpler_event_cancel(&session->replenish_event);
        else
            simpler_event_wait(&session->replenish_event, seen, UINT64_MAX);
    }
}
