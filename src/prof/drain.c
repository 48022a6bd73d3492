/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The drain of a shard takes full buffers from the ready queues of its lanes
 * and gives empty ones back to the lanes that it took from.  It is the only host
 * writer of ready heads, heartbeats and free queues while a run lives; it never
 * allocates and never waits for the collector.
 *
 * Transport discipline: an index is fetched before the data it publishes, and
 * flushed after the data.
 */
#include <inttypes.h>

#include "base/clock.h"
#include "base/logger.h"
#include "base/testpoint.h"
#include "prof/session_state.h"
#include "simpler/status.h"

#define SPIN_TURNS  32u
#define BEAT_SLICES 4u /* of the crash clock */
/* Where no producer can ring: a sleep is this part of the time that nothing was found. */
#define POLL_PART   8u
#define POLL_MIN_NS 10000u
#define POLL_MAX_NS 10000000u

static bool fetch(struct simpler_prof_session *session, const void *place, size_t bytes)
{
    return simpler_prof_session_fetch(session, place, bytes) == 0;
}

static bool flush(struct simpler_prof_session *session, const void *place, size_t bytes)
{
    return simpler_prof_session_flush(session, place, bytes) == 0;
}

/* An index of @lane that has moved; where the copy fails it is told again. */
static void tell(struct simpler_prof_session *session, uint32_t lane, const void *index)
{
    if (!flush(session, index, sizeof(uint64_t)))
        session->untold[lane] = true;
}

/*
 * A copy has failed, so the device may wait for what it has: for room in the ready queue, for
 * buffers.  It would wait for ever, since nothing moves any more that would be told anew.
 */
static void tell_again(struct simpler_prof_session *session, uint32_t lane)
{
    struct simpler_prof_ready_lane *at = simpler_session_lane(session, lane);

    session->untold[lane] = false;
    tell(session, lane, &at->head);
    for (uint32_t kind = 0; kind < session->client->kind_count; kind++)
        tell(session, lane, &simpler_session_state(session, lane, kind)->free.tail);
    simpler_event_notify_rare(&at->space, 1);
}

/* A sign of life for the lane; the flush of head carries it. */
static void beat(struct simpler_prof_ready_lane *at)
{
    /* relaxed: a single writer, and a clock's reset orders nothing. */
    uint32_t heartbeat = atomic_load_explicit(&at->heartbeat, memory_order_relaxed);
    atomic_store_explicit(&at->heartbeat, heartbeat + 1, memory_order_relaxed);
}

static void show_life(struct simpler_prof_session *session, uint32_t lane)
{
    struct simpler_prof_ready_lane *at = simpler_session_lane(session, lane);

    beat(at);
    tell(session, lane, &at->head);
    simpler_event_notify_rare(&at->space, 1);
}

/* Puts @buffer into the lane's free queue; false when the slot did not reach the device. */
static bool give(struct simpler_prof_session *session, uint32_t lane,
                 struct simpler_pool_buffer *buffer)
{
    struct simpler_prof_free_queue *queue =
        &simpler_session_state(session, lane, buffer->kind)->free;
    /* relaxed: the drain is the only writer of tail. */
    uint32_t tail = atomic_load_explicit(&queue->tail, memory_order_relaxed);
    _Atomic uint64_t *slot = &queue->slot[tail % SIMPLER_PROF_FREE_SLOTS];

    if (!fetch(session, &queue->head, sizeof(uint64_t)))
        return false;
    /* acquire, pairs with F2: the device has read the slot that we reuse. */
    uint32_t head = atomic_load_explicit(&queue->head, memory_order_acquire);
    if (tail - head >= SIMPLER_PROF_FREE_SLOTS)
        return false;
    atomic_store_explicit(slot, buffer->device, memory_order_relaxed);
    if (!flush(session, slot, sizeof(*slot)))
        return false;
    buffer->on_device = true;
    SIMPLER_TESTPOINT(DRAIN_BEFORE_GIVE);
    /* F1, release: pairs with the producer's acquire load of tail. */
    atomic_store_explicit(&queue->tail, tail + 1, memory_order_release);
    tell(session, lane, &queue->tail);
    return true;
}

/* Pays @lane what it is owed of @kind, as far as the stock goes. */
static bool pay(struct simpler_prof_shard *shard, uint32_t lane, uint32_t kind)
{
    struct simpler_prof_session *session = shard->session;
    uint32_t *owed = &session->owed[lane * session->client->kind_count + kind];
    bool paid = false;

    while (*owed > 0) {
        struct simpler_pool_buffer *buffer = simpler_spsc_peek(&shard->recycled[kind]);
        if (buffer == NULL || !give(session, lane, buffer))
            break;
        (void)simpler_spsc_try_pop(&shard->recycled[kind]);
        (*owed)--;
        atomic_fetch_sub_explicit(&shard->owed[kind], 1, memory_order_relaxed);
        paid = true;
    }
    if (paid)
        show_life(session, lane);
    return paid;
}

/* Lanes in turn, another one first each time. */
static bool pay_lanes(struct simpler_prof_shard *shard)
{
    struct simpler_prof_session *session = shard->session;
    uint32_t step = session->shard_count;
    uint32_t mine = (session->config.lane_count - shard->index + step - 1) / step;
    bool paid = false;

    shard->next = (shard->next + 1) % mine;
    for (uint32_t kind = 0; kind < session->client->kind_count; kind++) {
        if (atomic_load_explicit(&shard->owed[kind], memory_order_relaxed) == 0)
            continue;
        for (uint32_t i = 0; i < mine; i++)
            paid |= pay(shard, shard->index + (shard->next + i) % mine * step, kind);
    }
    return paid;
}

/* Whose buffer an entry names; NULL when it makes no sense. */
static struct simpler_pool_buffer *resolve(struct simpler_prof_session *session, uint32_t lane,
                                           const struct simpler_prof_ready_entry *entry)
{
    struct simpler_pool_buffer *buffer = NULL;

    if (entry->lane == lane && entry->kind < session->client->kind_count)
        buffer = simpler_buffer_pool_resolve(&session->pool, entry->buffer);
    if (buffer != NULL && buffer->kind == entry->kind && buffer->on_device)
        return buffer;
    SIMPLER_ERROR("%s: lane %u published lane %u, kind %u, buffer %#" PRIx64
                  ", which is none of ours: the entry is dropped",
                  session->client->name, lane, entry->lane, entry->kind, entry->buffer);
    return NULL;
}

/* One entry becomes the host's. */
static void take(struct simpler_prof_shard *shard, uint32_t lane,
                 const struct simpler_prof_ready_entry *entry, bool wake_collector)
{
    struct simpler_prof_session *session = shard->session;
    struct simpler_pool_buffer *buffer = resolve(session, lane, entry);

    if (buffer == NULL)
        return;
    buffer->on_device = false;
    buffer->entry = *entry;
    session->owed[lane * session->client->kind_count + entry->kind]++;
    atomic_fetch_add_explicit(&shard->owed[entry->kind], 1, memory_order_relaxed);
    bool staged = simpler_spsc_try_push(&shard->stage, buffer);
    SIMPLER_ASSERT(staged);
    (void)staged;
    if (wake_collector)
        simpler_event_notify_rare(&shard->staged, 1);
    (void)pay(shard, lane, entry->kind);
    simpler_replenish_ask(session, shard, entry->kind);
}

enum simpler_drained simpler_drain_lane(struct simpler_prof_shard *shard, uint32_t lane,
                                        bool wake_collector)
{
    struct simpler_prof_session *session = shard->session;
    struct simpler_prof_ready_lane *at = simpler_session_lane(session, lane);
    uint32_t depth = session->config.ready_depth;
    const struct simpler_prof_ready_entry *entries =
        (void *)(session->region.host + session->header->entries_offset);

    if (!fetch(session, at, SIMPLER_PROF_LANE_OWN_BYTES))
        return SIMPLER_DRAINED_BEHIND;
    /* acquire, pairs with R1: the entries below tail and their buffers are written. */
    uint32_t tail = atomic_load_explicit(&at->tail, memory_order_acquire);
    /* relaxed: the drain is the only writer of head. */
    uint32_t head = atomic_load_explicit(&at->head, memory_order_relaxed);
    if (tail - head > depth) {
        simpler_session_fail(session, "the ready queue has impossible indices", SIMPLER_EFORMAT);
        return SIMPLER_DRAINED_BEHIND;
    }
    bool any = head != tail;
    for (; head != tail; head++) {
        const struct simpler_prof_ready_entry *entry =
            &entries[(size_t)lane * depth + (head & (depth - 1))];
        if (!fetch(session, entry, sizeof(*entry)))
            return SIMPLER_DRAINED_BEHIND;
        take(shard, lane, entry, wake_collector);
        SIMPLER_TESTPOINT(DRAIN_BEFORE_RELEASE);
        /* R2, release: pairs with the producer's acquire load of head. */
        atomic_store_explicit(&at->head, head + 1, memory_order_release);
        show_life(session, lane);
    }
    return any ? SIMPLER_DRAINED_SOME : SIMPLER_DRAINED_NONE;
}

/*
 * Whether the client is in a system call and may be.  A producer waits for the backstop after
 * the last sign of life, so these end that much before the call's limit.
 */
static bool is_busy(const struct simpler_prof_shard *shard)
{
    const struct simpler_prof_session_config *config = &shard->session->config;
    uint64_t since = atomic_load_explicit(&shard->busy_since, memory_order_relaxed);

    return since != 0 && config->write_limit_ns > config->backstop_ns &&
           simpler_clock_ns() - since < config->write_limit_ns - config->backstop_ns;
}

/* A producer waits for a sign of life: gives it if there was one.  True: it waits. */
static bool answer(struct simpler_prof_shard *shard, uint32_t lane)
{
    struct simpler_prof_session *session = shard->session;
    const struct simpler_prof_ready_lane *at = simpler_session_lane(session, lane);
    uint32_t beats = atomic_load_explicit(&session->beats[lane], memory_order_relaxed);

    if (atomic_load_explicit(&at->waiting, memory_order_relaxed) == 0)
        return false;
    if (is_busy(shard) || session->shown[lane] != beats)
        show_life(session, lane);
    session->shown[lane] = beats;
    return true;
}

static bool pass(struct simpler_prof_shard *shard)
{
    struct simpler_prof_session *session = shard->session;
    bool worked = false;

    (void)pthread_mutex_lock(&shard->drain_lock);
    for (uint32_t l = shard->index; l < session->config.lane_count; l += session->shard_count) {
        if (SIMPLER_UNLIKELY(session->untold[l]))
            tell_again(session, l);
        worked |= simpler_drain_lane(shard, l, true) == SIMPLER_DRAINED_SOME;
    }
    worked |= pay_lanes(shard);
    (void)pthread_mutex_unlock(&shard->drain_lock);
    return worked;
}

bool simpler_drain_try_pay(struct simpler_prof_shard *shard)
{
    if (pthread_mutex_trylock(&shard->drain_lock) != 0)
        return false;
    (void)pay_lanes(shard);
    (void)pthread_mutex_unlock(&shard->drain_lock);
    return true;
}

static bool should_stop(const struct simpler_prof_session *session)
{
    return atomic_load_explicit(&session->stop_drain, memory_order_acquire);
}

/* Whether a lane waits for a sign of life; who has earned one gets it. */
static bool answer_lanes(struct simpler_prof_shard *shard)
{
    struct simpler_prof_session *session = shard->session;
    bool waiting = false;

    (void)pthread_mutex_lock(&shard->drain_lock);
    for (uint32_t l = shard->index; l < session->config.lane_count; l += session->shard_count)
        waiting |= answer(shard, l);
    (void)pthread_mutex_unlock(&shard->drain_lock);
    return waiting;
}

static uint64_t beat_ns(const struct simpler_prof_session *session)
{
    return session->config.backstop_ns / BEAT_SLICES + 1;
}

/* The next sleep of a drain that polls. */
static uint64_t poll_ns(struct simpler_prof_shard *shard)
{
    uint64_t most = beat_ns(shard->session);
    uint64_t next = shard->poll_ns + shard->poll_ns / POLL_PART;

    most = most < POLL_MAX_NS ? most : POLL_MAX_NS;
    shard->poll_ns = next < most ? next : most;
    return shard->poll_ns;
}

/* How long nobody has to look: without limit unless a producer waits, or cannot ring. */
static uint64_t rest_ns(struct simpler_prof_shard *shard)
{
    struct simpler_prof_session *session = shard->session;
    bool waiting = answer_lanes(shard);

    if (session->transport->has_doorbell)
        return waiting ? beat_ns(session) : UINT64_MAX;
    /* admit rings before a producer can have anything. */
    if (atomic_load_explicit(&session->epoch, memory_order_acquire) == 0)
        return UINT64_MAX;
    return poll_ns(shard);
}

void simpler_drain_ring(struct simpler_prof_shard *shard)
{
    simpler_event_notify_rare(shard->doorbell, 1);
}

/* True when it is worth while to look again and again: something was found, or it was rung. */
static bool park(struct simpler_prof_shard *shard)
{
    /* Here and at every wait of the collection: notifies come once a buffer, and a membarrier
     * a wait would disturb every CPU of the process. */
    uint32_t seen = simpler_event_prepare_rare(shard->doorbell);

    if (should_stop(shard->session) || pass(shard)) {
        simpler_event_cancel(shard->doorbell);
        return true;
    }
    simpler_event_wait(shard->doorbell, seen, rest_ns(shard));
    return shard->session->transport->has_doorbell;
}

/* Passes until some in a row were in vain. */
static void work(struct simpler_prof_shard *shard)
{
    for (uint32_t turns = 0; turns < SPIN_TURNS && !should_stop(shard->session);) {
        if (pass(shard)) {
            turns = 0;
            continue;
        }
        simpler_clock_relax();
        turns++;
    }
    shard->poll_ns = POLL_MIN_NS;
}

void *simpler_drain_main(void *arg)
{
    struct simpler_prof_shard *shard = arg;
    bool busy = true;

    while (!should_stop(shard->session)) {
        if (busy)
            work(shard);
        busy = park(shard);
    }
    return NULL;
}
