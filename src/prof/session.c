/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A session's life: open, then runs (admit, session_end.c), then close.
 */
#include "prof/session.h"

#include <stddef.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/logger.h"
#include "prof/session_state.h"
#include "simpler/status.h"

#define DEFAULT_BACKSTOP_NS 30000000000u
#define MAX_LANES           4096u
#define MAX_DEPTH           65536u
#define MAX_BUFFERS         65536u     /* of a kind */
#define MAX_BUFFER_BYTES    (1u << 30) /* records of one buffer */
#define MAX_CLIENT_BYTES    (1u << 20)

struct simpler_prof_ready_lane *simpler_session_lane(const struct simpler_prof_session *session,
                                                     uint32_t lane)
{
    uint8_t *base = session->region.host + session->header->lanes_offset;
    return (struct simpler_prof_ready_lane *)(void *)base + lane;
}

struct simpler_prof_state *simpler_session_state(const struct simpler_prof_session *session,
                                                 uint32_t lane, uint32_t kind)
{
    uint8_t *base = session->region.host + session->header->states_offset;
    return (struct simpler_prof_state *)(void *)base + (size_t)lane * session->client->kind_count +
           kind;
}

size_t simpler_session_offset(const struct simpler_prof_session *session, const void *place)
{
    return (size_t)((const uint8_t *)place - session->region.host);
}

void simpler_session_fail(struct simpler_prof_session *session, const char *what, int status)
{
    if (!atomic_exchange_explicit(&session->failed, true, memory_order_acq_rel))
        SIMPLER_ERROR("%s: %s: %s", session->client->name, what, simpler_status_text(status));
}

/* The most buffers of @kind that there can be. */
static uint64_t most_buffers(const struct simpler_prof_session_config *config, uint32_t kind)
{
    uint32_t first = config->client->buffers_per_lane[kind];
    uint32_t most = config->client->max_buffers_per_lane[kind];

    return (uint64_t)(most > first ? most : first) * config->lane_count;
}

static bool is_valid_kind(const struct simpler_prof_session_config *config, uint32_t kind)
{
    const struct simpler_prof_kind *shape = &config->kind[kind];
    uint64_t bytes = (uint64_t)shape->record_bytes * shape->records_per_buffer;

    return bytes != 0 && bytes <= MAX_BUFFER_BYTES && config->client->buffers_per_lane[kind] != 0 &&
           most_buffers(config, kind) <= MAX_BUFFERS;
}

static bool is_valid(const struct simpler_prof_session_config *config)
{
    const struct simpler_prof_client *client = config->client;
    uint32_t depth = config->ready_depth;

    if (client->collect == NULL || client->max_shards == 0 || client->kind_count == 0 ||
        client->kind_count > SIMPLER_PROF_MAX_KINDS || client->client_bytes > MAX_CLIENT_BYTES)
        return false;
    if (config->lane_count == 0 || config->lane_count > MAX_LANES || depth == 0 ||
        depth > MAX_DEPTH || (depth & (depth - 1)) != 0)
        return false;
    for (uint32_t kind = 0; kind < client->kind_count; kind++) {
        if (!is_valid_kind(config, kind))
            return false;
    }
    return true;
}

static int init_rings(struct simpler_prof_shard *shard)
{
    const struct simpler_prof_session_config *config = &shard->session->config;
    uint64_t all = 0;
    int rc = 0;

    for (uint32_t kind = 0; rc == 0 && kind < config->client->kind_count; kind++) {
        uint32_t most = (uint32_t)most_buffers(config, kind);
        rc = simpler_spsc_init(&shard->recycled[kind], most, config->first_index);
        all += most;
    }
    if (rc == 0)
        rc = simpler_spsc_init(&shard->stage, (uint32_t)all, config->first_index);
    if (rc == 0)
        rc = simpler_spsc_init(&shard->done, (uint32_t)all, config->first_index);
    return rc;
}

static int init_shard(struct simpler_prof_session *session, uint32_t index)
{
    struct simpler_prof_shard *shard = &session->shards[index];

    shard->session = session;
    shard->index = index;
    simpler_event_init(&shard->staged);
    shard->drain_lock_ready = pthread_mutex_init(&shard->drain_lock, NULL) == 0;
    shard->collect_lock_ready = pthread_mutex_init(&shard->collect_lock, NULL) == 0;
    if (!shard->drain_lock_ready || !shard->collect_lock_ready)
        return SIMPLER_ENOMEM;
    return init_rings(shard);
}

static void fini_shard(struct simpler_prof_shard *shard)
{
    simpler_spsc_fini(&shard->done);
    simpler_spsc_fini(&shard->stage);
    for (uint32_t kind = 0; kind < SIMPLER_PROF_MAX_KINDS; kind++)
        simpler_spsc_fini(&shard->recycled[kind]);
    if (shard->collect_lock_ready)
        (void)pthread_mutex_destroy(&shard->collect_lock);
    if (shard->drain_lock_ready)
        (void)pthread_mutex_destroy(&shard->drain_lock);
}

static int allocate(struct simpler_prof_session *session)
{
    size_t lanes = session->config.lane_count;

    session->replenish_lock_ready = pthread_mutex_init(&session->replenish_lock, NULL) == 0;
    session->shards = simpler_alloc_aligned(session->shard_count, sizeof(*session->shards));
    session->owed = simpler_alloc_zeroed(lanes * session->client->kind_count, sizeof(uint32_t));
    session->beats = simpler_alloc_zeroed(lanes, sizeof(*session->beats));
    session->shown = simpler_alloc_zeroed(lanes, sizeof(*session->shown));
    session->untold = simpler_alloc_zeroed(lanes, sizeof(*session->untold));
    session->behind = simpler_alloc_zeroed(lanes, sizeof(*session->behind));
    if (!session->replenish_lock_ready || session->shards == NULL || session->owed == NULL ||
        session->beats == NULL || session->shown == NULL || session->untold == NULL ||
        session->behind == NULL)
        return SIMPLER_ENOMEM;
    for (uint32_t s = 0; s < session->shard_count; s++) {
        int rc = init_shard(session, s);
        if (rc != 0)
            return rc;
    }
    return 0;
}

/* Memory, then stocks filled to their watermarks, then threads. */
static int set_up(struct simpler_prof_session *session)
{
    int rc = allocate(session);

    if (rc == 0)
        rc = simpler_session_layout(session);
    if (rc != 0)
        return rc;
    uint8_t *doorbells = session->region.host + session->header->doorbells_offset;
    for (uint32_t s = 0; s < session->shard_count; s++)
        session->shards[s].doorbell = (struct simpler_event *)(void *)doorbells + s;
    (void)simpler_replenish_pass(session);
    if (session->out_of_memory)
        return SIMPLER_ENOMEM;
    return simpler_session_start(session);
}

int simpler_prof_session_open(const struct simpler_prof_session_config *config,
                              struct simpler_prof_session **out)
{
    if (!is_valid(config))
        return SIMPLER_EINVAL;
    struct simpler_prof_session *session = simpler_alloc_aligned(1, sizeof(*session));
    if (session == NULL)
        return SIMPLER_ENOMEM;
    session->config = *config;
    if (session->config.backstop_ns == 0)
        session->config.backstop_ns = DEFAULT_BACKSTOP_NS;
    if (session->config.write_limit_ns == 0)
        session->config.write_limit_ns = DEFAULT_BACKSTOP_NS;
    session->client = config->client;
    session->transport = config->transport;
    session->shard_count = config->lane_count < config->client->max_shards
                               ? config->lane_count
                               : config->client->max_shards;
    session->may_free = true;
    simpler_event_setup();
    simpler_event_init(&session->replenish_event);
    simpler_buffer_pool_init(&session->pool, session->transport, config->backing,
                             config->client->magic);
    int rc = set_up(session);
    if (rc != 0)
        (void)simpler_prof_session_close(session);
    else
        *out = session;
    return rc;
}

bool simpler_prof_session_close(struct simpler_prof_session *session)
{
    if (session == NULL)
        return true;
    if (session->shards != NULL && !session->lost)
        simpler_session_stop(session);
    if (session->lost)
        return false; /* a thread is inside */
    if (!session->may_free)
        SIMPLER_WARN("%s: a producer may still write: its memory stays until the process ends",
                     session->client->name);
    simpler_buffer_pool_fini(&session->pool, session->may_free);
    if (session->header != NULL && session->may_free)
        session->transport->free(&session->region);
    for (uint32_t s = 0; session->shards != NULL && s < session->shard_count; s++)
        fini_shard(&session->shards[s]);
    if (session->replenish_lock_ready)
        (void)pthread_mutex_destroy(&session->replenish_lock);
    simpler_alloc_free(session->shown);
    simpler_alloc_free(session->untold);
    simpler_alloc_free(session->behind);
    simpler_alloc_free((void *)session->beats);
    simpler_alloc_free(session->owed);
    simpler_alloc_free(session->shards);
    simpler_alloc_free(session);
    return true;
}

uint64_t simpler_prof_session_device_base(const struct simpler_prof_session *session)
{
    return session->region.device;
}

bool simpler_prof_session_is_mapped(const struct simpler_prof_session *session)
{
    return session->region.device == (uint64_t)(uintptr_t)session->region.host;
}

void *simpler_prof_session_client_block(struct simpler_prof_session *session)
{
    return session->region.host + session->header->client_offset;
}

int simpler_prof_session_fetch(struct simpler_prof_session *session, const void *place,
                               size_t bytes)
{
    size_t offset = simpler_session_offset(session, place);
    int rc = session->transport->fetch(&session->region, offset, bytes);

    if (rc != 0)
        simpler_session_fail(session, "cannot read the shared region", rc);
    return rc;
}

int simpler_prof_session_flush(struct simpler_prof_session *session, const void *place,
                               size_t bytes)
{
    size_t offset = simpler_session_offset(session, place);
    int rc = session->transport->flush(&session->region, offset, bytes);

    if (rc != 0)
        simpler_session_fail(session, "cannot write the shared region", rc);
    return rc;
}

const void *simpler_prof_session_view(struct simpler_prof_session *session,
                                      const struct simpler_region *region, size_t offset,
                                      size_t bytes)
{
    const void *at = session->transport->view(region, offset, bytes, region->host + offset);

    if (at == NULL)
        simpler_session_fail(session, "cannot read a part of a region", SIMPLER_EIO);
    return at;
}

/* Drains that poll sleep without limit while no run is admitted. */
static void ring_drains(struct simpler_prof_session *session)
{
    for (uint32_t s = 0; !session->transport->has_doorbell && s < session->shard_count; s++)
        simpler_drain_ring(&session->shards[s]);
}

int simpler_prof_session_admit(struct simpler_prof_session *session, uint32_t run_epoch)
{
    if (run_epoch == 0 || atomic_load_explicit(&session->epoch, memory_order_relaxed) != 0)
        return SIMPLER_EINVAL;
    for (uint32_t s = 0; s < session->shard_count; s++) {
        struct simpler_prof_shard *shard = &session->shards[s];
        /* A pass under way ends first: its failure is not this run's. */
        (void)pthread_mutex_lock(&shard->drain_lock);
        (void)pthread_mutex_unlock(&shard->drain_lock);
        (void)pthread_mutex_lock(&shard->collect_lock);
        shard->received = 0;
        shard->recovered = 0;
        shard->refused = 0;
        (void)pthread_mutex_unlock(&shard->collect_lock);
    }
    atomic_store_explicit(&session->failed, false, memory_order_relaxed);
    bool could_free = session->may_free;
    session->may_free = false;
    /* release: pairs with the collectors' acquire; the client is ready for the run. */
    atomic_store_explicit(&session->epoch, run_epoch, memory_order_release);
    if (session->replenish_running) {
        ring_drains(session);
        return 0;
    }
    int rc = simpler_session_start(session);
    if (rc != 0) {
        atomic_store_explicit(&session->epoch, 0, memory_order_relaxed);
        session->may_free = could_free;
    }
    return rc;
}

bool simpler_prof_session_flushed(struct simpler_prof_session *session, uint32_t lane)
{
    uint32_t epoch = atomic_load_explicit(&session->epoch, memory_order_relaxed);

    for (uint32_t kind = 0; kind < session->client->kind_count; kind++) {
        struct simpler_prof_state *state = simpler_session_state(session, lane, kind);
        if (simpler_session_fetch_state(session, state) != 0)
            return false;
        /* acquire, pairs with R3: every record of the lane is before it. */
        if (atomic_load_explicit(&state->flushed_epoch, memory_order_acquire) != epoch)
            return false;
    }
    return true;
}

void simpler_prof_session_prove_late(struct simpler_prof_session *session)
{
    session->may_free = true;
}

int simpler_prof_session_wait_for(struct simpler_prof_session *session, pthread_mutex_t *role,
                                  const char *who)
{
    if (session->lost || !simpler_session_take(session, role, who))
        return SIMPLER_ETIMEDOUT;
    (void)pthread_mutex_unlock(role);
    return 0;
}

bool simpler_prof_session_is_lost(const struct simpler_prof_session *session)
{
    return session->lost;
}

bool simpler_prof_session_may_free(const struct simpler_prof_session *session)
{
    return session->may_free;
}

void simpler_prof_session_beat(struct simpler_prof_session *session, uint32_t lane)
{
    atomic_fetch_add_explicit(&session->beats[lane], 1, memory_order_relaxed);
}

void simpler_prof_session_set_busy(struct simpler_prof_session *session, uint32_t shard, bool busy)
{
    atomic_store_explicit(&session->shards[shard].busy_since, busy ? simpler_clock_ns() : 0,
                          memory_order_relaxed);
    for (uint32_t l = shard; busy && l < session->config.lane_count; l += session->shard_count)
        simpler_prof_session_beat(session, l);
}

void simpler_prof_session_wake(struct simpler_prof_session *session)
{
    /* release: pairs with replenish's acquire; what the client did is before the tick. */
    atomic_fetch_add_explicit(&session->ticks_wanted, 1, memory_order_release);
    simpler_event_notify_rare(&session->replenish_event, 1);
}
