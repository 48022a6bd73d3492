/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Replenish routes collected buffers back into the stocks of the shards, to the
 * stock of its kind that is furthest below its watermark, else where it came
 * from; what is still missing it allocates, in batches.  It never writes a free
 * queue of the device: the drains do.
 *
 * Routing is a few stores, a wake of the thread costs 20 us of latency and the
 * producer may be waiting: so a collector takes the role for a moment when it is
 * free, and then that of its shard's drain, to give the buffer on.  The thread
 * allocates, ticks, and does what a collector found taken.
 */
#include "base/logger.h"
#include "base/testpoint.h"
#include "base/text.h"
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

/* A lane may wait for what is in the stock.  @own: the shard of the calling collector. */
static void offer(struct simpler_prof_shard *shard, uint32_t kind,
                  const struct simpler_prof_shard *own)
{
    if (shard == own && simpler_drain_try_pay(shard))
        return;
    /* The drain counts what it owes before it parks, so that after has_waiters the
     * count is current. */
    if (simpler_event_has_waiters(shard->doorbell) &&
        atomic_load_explicit(&shard->owed[kind], memory_order_relaxed) != 0)
        simpler_event_wake(shard->doorbell, 1);
}

static void stock(struct simpler_prof_shard *shard, struct simpler_pool_buffer *buffer,
                  const struct simpler_prof_shard *own)
{
    SIMPLER_TESTPOINT(REPLENISH_BEFORE_STOCK);
    if (simpler_spsc_try_push(&shard->recycled[buffer->kind], buffer))
        offer(shard, buffer->kind, own);
    else
        shard->session->retired++;
}

static bool route_done(struct simpler_prof_session *session, const struct simpler_prof_shard *own)
{
    bool any = false;

    for (uint32_t s = 0; s < session->shard_count; s++) {
        struct simpler_prof_shard *shard = &session->shards[s];
        struct simpler_pool_buffer *buffer;
        while ((buffer = simpler_spsc_try_pop(&shard->done)) != NULL) {
            stock(choose(session, shard, buffer->kind), buffer, own);
            any = true;
        }
    }
    return any;
}

static uint32_t limit_of(const struct simpler_prof_session *session, uint32_t kind)
{
    uint32_t a_lane = session->client->max_buffers_per_lane[kind];
    return session->client->watermark[kind] == 0 ? 0 : a_lane * session->config.lane_count;
}

static bool may_grow(const struct simpler_prof_session *session, uint32_t kind)
{
    return (atomic_load_explicit(&session->growing, memory_order_relaxed) >> kind & 1u) != 0;
}

static void set_growing(struct simpler_prof_session *session, uint32_t kind)
{
    bool grows = session->pool.total[kind] < limit_of(session, kind) && !session->out_of_memory;
    uint32_t growing = atomic_load_explicit(&session->growing, memory_order_relaxed);

    /* relaxed: a single writer, under replenish_lock; readers only save a wake. */
    atomic_store_explicit(&session->growing, grows ? growing | 1u << kind : growing & ~(1u << kind),
                          memory_order_relaxed);
}

/* How many buffers to add to a stock: a batch, within the kind's limit. */
static uint32_t batch(const struct simpler_prof_session *session,
                      const struct simpler_prof_shard *shard, uint32_t kind)
{
    int64_t lacks = deficit(shard, kind);

    if (!may_grow(session, kind) || lacks <= 0)
        return 0;
    int64_t left = (int64_t)limit_of(session, kind) - session->pool.total[kind];
    if (lacks < SIMPLER_PROF_FREE_SLOTS)
        lacks = SIMPLER_PROF_FREE_SLOTS;
    return (uint32_t)(lacks > left ? left : lacks);
}

static bool allocate(struct simpler_prof_shard *shard, uint32_t kind)
{
    struct simpler_prof_session *session = shard->session;
    uint32_t count = batch(session, shard, kind);

    if (count == 0)
        return false;
    struct simpler_pool_block *block =
        simpler_buffer_pool_add(&session->pool, kind, &session->config.kind[kind], count);
    if (block == NULL) {
        SIMPLER_WARN("%s: no memory for %u more buffer%s of kind %u: collection goes on without",
                     session->client->name, count, simpler_text_plural(count), kind);
        session->out_of_memory = true;
        return false;
    }
    set_growing(session, kind);
    for (uint32_t i = 0; i < count; i++)
        stock(shard, &block->buffers[i], NULL);
    return true;
}

bool simpler_replenish_pass(struct simpler_prof_session *session)
{
    (void)pthread_mutex_lock(&session->replenish_lock);
    bool any = route_done(session, NULL);
    for (uint32_t kind = 0; kind < session->client->kind_count; kind++) {
        set_growing(session, kind);
        for (uint32_t s = 0; s < session->shard_count; s++)
            any |= allocate(&session->shards[s], kind);
    }
    (void)pthread_mutex_unlock(&session->replenish_lock);
    return any;
}

void simpler_replenish_help(struct simpler_prof_session *session, struct simpler_prof_shard *shard)
{
    bool helped = pthread_mutex_trylock(&session->replenish_lock) == 0;

    if (helped) {
        (void)route_done(session, shard);
        (void)pthread_mutex_unlock(&session->replenish_lock);
    }
    /* Whoever has the role may be past our buffer: the thread looks once more. */
    if (!helped || session->client->tick != NULL)
        simpler_event_notify_rare(&session->replenish_event, 1);
}

void simpler_replenish_ask(struct simpler_prof_session *session, struct simpler_prof_shard *shard,
                           uint32_t kind)
{
    if (session->client->watermark[kind] == 0)
        return;
    if (simpler_event_has_waiters(&session->replenish_event) && may_grow(session, kind) &&
        deficit(shard, kind) > 0)
        simpler_event_wake(&session->replenish_event, 1);
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
        uint32_t seen = simpler_event_prepare_rare(&session->replenish_event);
        if (should_stop(session) || simpler_replenish_pass(session) ||
            atomic_load_explicit(&session->ticks_wanted, memory_order_acquire) != ticks)
            simpler_event_cancel(&session->replenish_event);
        else
            simpler_event_wait(&session->replenish_event, seen, UINT64_MAX);
    }
}
