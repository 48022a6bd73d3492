/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a proved lane leaves behind: the buffers that its producers still hold,
 * and their counters.  Read once, at the run's end; pointers and free queues are
 * left as they are, the next run's attach takes the buffers over.
 */
#include <inttypes.h>

#include "base/logger.h"
#include "base/text.h"
#include "prof/session_state.h"
#include "simpler/status.h"

int simpler_session_fetch_state(struct simpler_prof_session *session,
                                struct simpler_prof_state *state)
{
    return simpler_prof_session_fetch(session, &state->current_buffer,
                                      SIMPLER_PROF_STATE_OWN_BYTES);
}

/* The held buffer's records, if they are this run's. */
static int hand_over(struct simpler_prof_shard *shard, uint32_t lane,
                     struct simpler_pool_buffer *buffer)
{
    struct simpler_prof_session *session = shard->session;
    const struct simpler_prof_buffer *place = simpler_buffer_pool_place(buffer);
    uint32_t epoch = atomic_load_explicit(&session->epoch, memory_order_relaxed);
    int rc = simpler_buffer_pool_fetch(&session->pool, buffer, &session->config.kind[buffer->kind]);

    if (rc != 0)
        return rc;
    uint32_t count = atomic_load_explicit(&place->count, memory_order_acquire);
    if (count == 0)
        return 0;
    if (place->run_epoch != epoch) {
        SIMPLER_WARN("%s: %u held record%s of run %u refused while run %u is admitted",
                     session->client->name, count, simpler_text_plural(count), place->run_epoch,
                     epoch);
        shard->refused += count;
        return 0;
    }
    struct simpler_prof_ready_entry entry = {
        .lane = lane,
        .kind = buffer->kind,
        .buffer = buffer->device,
        .buffer_seq = place->local_seq,
        .run_epoch = epoch,
    };
    session->client->collect(session->config.self, shard->index, &entry, place);
    shard->received += count;
    shard->recovered += count;
    return 0;
}

int simpler_recover_lane(struct simpler_prof_session *session, uint32_t lane)
{
    struct simpler_prof_shard *shard = &session->shards[lane % session->shard_count];

    for (uint32_t kind = 0; kind < session->client->kind_count; kind++) {
        struct simpler_prof_state *state = simpler_session_state(session, lane, kind);
        int rc = simpler_session_fetch_state(session, state);
        if (rc != 0)
            return rc;
        uint64_t device = atomic_load_explicit(&state->current_buffer, memory_order_acquire);
        if (device == 0)
            continue;
        struct simpler_pool_buffer *buffer = simpler_buffer_pool_resolve(&session->pool, device);
        if (buffer == NULL || buffer->kind != kind || !buffer->on_device) {
            SIMPLER_ERROR("%s: lane %u holds buffer %#" PRIx64 " of kind %u, which is none of ours",
                          session->client->name, lane, device, kind);
            return SIMPLER_EFORMAT;
        }
        rc = hand_over(shard, lane, buffer);
        if (rc != 0)
            return rc;
    }
    return 0;
}

/* Adds a counter; false when it is saturated. */
static bool add(uint64_t *sum, _Atomic uint32_t *counter)
{
    uint32_t value = atomic_load_explicit(counter, memory_order_relaxed);

    *sum += value;
    return value != UINT32_MAX;
}

static bool add_state(struct simpler_prof_accounting *out, struct simpler_prof_state *state)
{
    bool exact = add(&out->total, &state->total);

    exact &= add(&out->dropped_no_free, &state->dropped_no_free);
    exact &= add(&out->dropped_ready_full, &state->dropped_ready_full);
    exact &= add(&out->dropped_other, &state->dropped_other);
    return exact;
}

int simpler_recover_accounting(struct simpler_prof_session *session,
                               struct simpler_prof_accounting *out)
{
    bool exact = true;

    for (uint32_t lane = 0; lane < session->config.lane_count; lane++) {
        for (uint32_t kind = 0; kind < session->client->kind_count; kind++) {
            struct simpler_prof_state *state = simpler_session_state(session, lane, kind);
            int rc = simpler_session_fetch_state(session, state);
            if (rc != 0)
                return rc;
            exact &= add_state(out, state);
        }
    }
    uint64_t seen =
        out->received + out->dropped_no_free + out->dropped_ready_full + out->dropped_other;
    if (!exact)
        SIMPLER_WARN("%s: a device counter is saturated: the counts are unknown",
                     session->client->name);
    else if (seen != out->total)
        SIMPLER_WARN("%s: %" PRIu64 " record%s attempted, %" PRIu64
                     " received or dropped: the counts are unknown",
                     session->client->name, out->total, simpler_text_plural(out->total), seen);
    out->known = exact && seen == out->total;
    return 0;
}
