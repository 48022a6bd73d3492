/* SPDX-License-Identifier: Apache-2.0 */
#include "lane_watch.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "host/worker_state.h"
#include "kit_transport.h"
#include "platform/transport.h"
#include "wire/device_address.h"
#include "wire/prof_wire.h"
#include "wire/region_wire.h"

/* ---- the regions ---- */

struct watched {
    struct simpler_region_request request;
    struct simpler_region region; /* bytes 0: a free place */
};

static struct watched watched[64];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static const struct simpler_transport_ops *base;
static struct simpler_transport_ops watching;

static int make(const struct simpler_region_request *request, struct simpler_region *out)
{
    int rc = base->alloc(request, out);

    (void)pthread_mutex_lock(&lock);
    for (size_t i = 0; rc == 0 && i < sizeof(watched) / sizeof(watched[0]); i++) {
        if (watched[i].region.bytes != 0)
            continue;
        watched[i] = (struct watched){*request, *out};
        break;
    }
    (void)pthread_mutex_unlock(&lock);
    return rc;
}

static void unmake(struct simpler_region *region)
{
    (void)pthread_mutex_lock(&lock);
    for (size_t i = 0; i < sizeof(watched) / sizeof(watched[0]); i++) {
        if (watched[i].region.device == region->device)
            watched[i].region = (struct simpler_region){0};
    }
    (void)pthread_mutex_unlock(&lock);
    base->free(region);
}

void lane_watch_install(struct simpler_worker *worker)
{
    base = worker->diagnostics.transport;
    watching = *base;
    watching.alloc = make;
    watching.free = unmake;
    kit_set_transport(worker, &watching);
}

/* ---- a run ---- */

struct reading {
    struct lane_watch_run *out;
    lane_watch_fn fn;
    void *user;
    const struct simpler_prof_header *header;
    uint64_t seen[LANE_WATCH_LANES]; /* bit n: first + n */
    uint32_t first[LANE_WATCH_LANES];
};

static void digest(struct lane_watch_run *out, const void *bytes, size_t count)
{
    const uint8_t *p = bytes;

    for (size_t i = 0; i < count; i++)
        out->digest = (out->digest ^ p[i]) * UINT64_C(0x100000001b3);
}

static const struct simpler_prof_state *state_of(const struct reading *r, uint32_t lane)
{
    const struct simpler_prof_state *states =
        (const void *)((const uint8_t *)r->header + r->header->states_offset);

    return &states[lane];
}

static void take_lane(struct reading *r, uint32_t l)
{
    const struct simpler_prof_state *state = state_of(r, l);
    const struct simpler_prof_ready_lane *lanes =
        (const void *)((const uint8_t *)r->header + r->header->lanes_offset);
    struct lane_watch_lane *lane = &r->out->lane[l];

    lane->total = atomic_load(&state->total);
    lane->dropped = atomic_load(&state->dropped_no_free) + atomic_load(&state->dropped_ready_full) +
                    atomic_load(&state->dropped_other);
    /* More than a run's buffers before the current one are none of the run's. */
    r->first[l] = atomic_load(&state->current_seq) - LANE_WATCH_BUFFERS + 1;
    digest(r->out, &state->current_buffer, SIMPLER_PROF_STATE_OWN_BYTES);
    digest(r->out, &state->free.head, sizeof(uint32_t));
    digest(r->out, &lanes[l].tail, sizeof(uint32_t));
}

static void take_buffer(struct reading *r, const struct simpler_prof_buffer *b)
{
    uint32_t count = atomic_load(&b->count), nth;

    if (b->run_epoch != r->out->epoch || count == 0)
        return;
    if (b->lane >= r->out->lane_count || count > b->capacity) {
        r->out->fault = "a buffer of no lane";
        return;
    }
    struct lane_watch_lane *lane = &r->out->lane[b->lane];
    nth = b->local_seq - r->first[b->lane];
    if (nth >= LANE_WATCH_BUFFERS || (r->seen[b->lane] >> nth & 1) != 0)
        r->out->fault = "a number of a buffer twice, or ahead of its lane";
    else
        r->seen[b->lane] |= UINT64_C(1) << nth;
    lane->records += count;
    lane->buffers++;
    digest(r->out, b, SIMPLER_PROF_BUFFER_BYTES);
    digest(r->out, simpler_prof_records(b), (size_t)count * r->header->kind[0].record_bytes);
    if (r->fn != NULL)
        r->fn(r->user, b->lane, simpler_prof_records(b), count);
}

static void take_pools(struct reading *r, uint32_t magic)
{
    for (size_t i = 0; i < sizeof(watched) / sizeof(watched[0]); i++) {
        const struct watched *w = &watched[i];
        if (w->region.bytes == 0 || w->request.client != magic ||
            w->request.role != SIMPLER_REGION_POOL)
            continue;
        const uint8_t *at = simpler_device_place(w->region.device);
        for (size_t k = 0; k < w->request.bytes / w->request.stride; k++)
            take_buffer(r, (const void *)(at + k * w->request.stride));
    }
}

/* The numbers that were seen end at the current one or before it, and have no gap. */
static void check_sequence(struct reading *r, uint32_t l)
{
    const struct simpler_prof_state *state = state_of(r, l);
    uint64_t seen = r->seen[l];

    if (seen == 0)
        return;
    bool holds = atomic_load(&state->current_buffer) != 0;
    uint32_t last = 63 - (uint32_t)__builtin_clzll(seen), low = (uint32_t)__builtin_ctzll(seen);
    if (last != LANE_WATCH_BUFFERS - 1 && last != LANE_WATCH_BUFFERS - 2)
        r->out->fault = "the last buffer is not there";
    if (last == LANE_WATCH_BUFFERS - 1 && !holds)
        r->out->fault = "a buffer with the next number, and none is held";
    if (last - low + 1 != r->out->lane[l].buffers)
        r->out->fault = "a gap in the numbers of a lane's buffers";
}

bool lane_watch_read(uint32_t magic, struct lane_watch_run *out, lane_watch_fn fn, void *user)
{
    struct reading r = {.out = out, .fn = fn, .user = user};

    memset(out, 0, sizeof(*out));
    (void)pthread_mutex_lock(&lock);
    for (size_t i = 0; i < sizeof(watched) / sizeof(watched[0]); i++) {
        if (watched[i].region.bytes != 0 && watched[i].request.client == magic &&
            watched[i].request.role == SIMPLER_REGION_SESSION)
            r.header = simpler_device_place(watched[i].region.device);
    }
    if (r.header != NULL) {
        out->epoch = atomic_load(&r.header->accounting_epoch);
        out->lane_count = r.header->lane_count;
        for (uint32_t l = 0; l < out->lane_count; l++)
            take_lane(&r, l);
        take_pools(&r, magic);
        for (uint32_t l = 0; l < out->lane_count; l++)
            check_sequence(&r, l);
    }
    (void)pthread_mutex_unlock(&lock);
    return r.header != NULL;
}
