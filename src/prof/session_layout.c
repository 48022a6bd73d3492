/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The shared region before the device sees it: offsets, header, buffers, filled
 * free queues.
 */
#include "base/compiler.h"
#include "prof/session_state.h"
#include "simpler/status.h"
#include "wire/region_wire.h"

#define LINE(bytes) \
    (((size_t)(bytes) + SIMPLER_CACHE_LINE - 1) / SIMPLER_CACHE_LINE * SIMPLER_CACHE_LINE)

/* Fills the offsets of @header; the region's size. */
static size_t place(const struct simpler_prof_session *session, struct simpler_prof_header *header)
{
    size_t lanes = session->config.lane_count;
    size_t at = LINE(sizeof(*header));

    header->doorbells_offset = at;
    at += session->shard_count * sizeof(struct simpler_event);
    header->lanes_offset = at;
    at += lanes * sizeof(struct simpler_prof_ready_lane);
    header->entries_offset = at;
    at += LINE(lanes * session->config.ready_depth * sizeof(struct simpler_prof_ready_entry));
    header->states_offset = at;
    at += lanes * session->client->kind_count * sizeof(struct simpler_prof_state);
    header->client_offset = at;
    return at + LINE(session->client->client_bytes);
}

static void start_indices(struct simpler_prof_session *session)
{
    uint32_t first = session->config.first_index;

    for (uint32_t l = 0; l < session->config.lane_count; l++) {
        struct simpler_prof_ready_lane *lane = simpler_session_lane(session, l);
        atomic_store_explicit(&lane->tail, first, memory_order_relaxed);
        atomic_store_explicit(&lane->head, first, memory_order_relaxed);
        for (uint32_t kind = 0; kind < session->client->kind_count; kind++) {
            struct simpler_prof_free_queue *queue = &simpler_session_state(session, l, kind)->free;
            atomic_store_explicit(&queue->tail, first, memory_order_relaxed);
            atomic_store_explicit(&queue->head, first, memory_order_relaxed);
        }
    }
}

static int make_region(struct simpler_prof_session *session)
{
    struct simpler_prof_header header = {
        .magic = session->client->magic,
        .lane_count = session->config.lane_count,
        .kind_count = session->client->kind_count,
        .ready_depth = session->config.ready_depth,
        .backstop_ns = session->config.backstop_ns,
        .shard_count = session->shard_count,
        .has_events = session->transport->has_doorbell,
    };
    struct simpler_region_request request = {
        .bytes = place(session, &header),
        .backing = session->config.backing,
        .role = SIMPLER_REGION_SESSION,
        .client = session->client->magic,
    };
    int rc = session->transport->alloc(&request, &session->region);

    if (rc != 0)
        return rc;
    for (uint32_t kind = 0; kind < header.kind_count; kind++)
        header.kind[kind] = session->config.kind[kind];
    session->header = (struct simpler_prof_header *)(void *)session->region.host;
    *session->header = header;
    start_indices(session);
    return 0;
}

/* Into the lane's free queue while it has slots, else into its shard's stock. */
static void deal(struct simpler_prof_session *session, uint32_t lane,
                 struct simpler_pool_buffer *buffer)
{
    struct simpler_prof_free_queue *queue =
        &simpler_session_state(session, lane, buffer->kind)->free;
    uint32_t head = atomic_load_explicit(&queue->head, memory_order_relaxed);
    uint32_t tail = atomic_load_explicit(&queue->tail, memory_order_relaxed);

    if (tail - head == SIMPLER_PROF_FREE_SLOTS) {
        struct simpler_prof_shard *shard = &session->shards[lane % session->shard_count];
        (void)simpler_spsc_try_push(&shard->recycled[buffer->kind], buffer);
        return;
    }
    buffer->on_device = true;
    atomic_store_explicit(&queue->slot[tail % SIMPLER_PROF_FREE_SLOTS], buffer->device,
                          memory_order_relaxed);
    atomic_store_explicit(&queue->tail, tail + 1, memory_order_relaxed);
}

static int make_buffers(struct simpler_prof_session *session)
{
    uint32_t lanes = session->config.lane_count;

    for (uint32_t kind = 0; kind < session->client->kind_count; kind++) {
        uint32_t count = session->client->buffers_per_lane[kind] * lanes;
        struct simpler_pool_block *block =
            simpler_buffer_pool_add(&session->pool, kind, &session->config.kind[kind], count);
        if (block == NULL)
            return SIMPLER_ENOMEM;
        for (uint32_t i = 0; i < count; i++)
            deal(session, i % lanes, &block->buffers[i]);
    }
    return 0;
}

int simpler_session_layout(struct simpler_prof_session *session)
{
    int rc = make_region(session);

    if (rc == 0)
        rc = make_buffers(session);
    if (rc == 0)
        rc = session->transport->flush(&session->region, 0, session->region.bytes);
    return rc;
}
