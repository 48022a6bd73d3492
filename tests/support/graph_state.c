/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an access needs, what the runtime promises to infer, what the access leaves behind, and
 * what the open scopes keep.
 */
#include "graph_state.h"

/* ---- what one access needs, gets and leaves ---- */

bool graph_state_reads_now(const struct graph_access *a)
{
    return a->use == SIMPLER_USE_INPUT || a->use == SIMPLER_USE_INOUT || a->reads;
}

bool graph_state_writes_now(const struct graph_access *a)
{
    return a->use == SIMPLER_USE_OUTPUT_EXISTING || a->use == SIMPLER_USE_INOUT || a->writes;
}

static void order_byte(const struct gen *g, const struct graph_access *a,
                       const struct byte_state *byte, struct order *order)
{
    bool tracked = is_tracked(g, a);
    bool looks_up = tracked && (a->use != SIMPLER_USE_OUTPUT_EXISTING || !g->style.raw);
    if (byte->writer != GRAPH_NONE) {
        bit_set(&order->needed, byte->writer);
        if (looks_up && byte->writer_tracked)
            bit_set(&order->inferred, byte->writer);
    }
    if (!graph_state_writes_now(a))
        return;
    bits_or(&order->needed, &byte->tracked_readers);
    bits_or(&order->needed, &byte->other_readers);
    if (tracked && !g->style.raw)
        bits_or(&order->inferred, &byte->tracked_readers);
}

void graph_state_order_access(const struct gen *g, const struct graph_access *a,
                              struct order *order)
{
    const struct graph_buffer *buffer = &g->p->buffer[a->buffer];
    if (a->use == SIMPLER_USE_OUTPUT)
        return;
    if (buffer->creator != GRAPH_NONE) {
        if (!is_manual(g))
            bit_set(&order->inferred, buffer->creator);
        else
            bit_set(&order->needed, buffer->creator);
    }
    if (!graph_state_reads_now(a) && !graph_state_writes_now(a))
        return;
    uint32_t size = graph_dtype_bytes(a->view.dtype);
    uint64_t numel = graph_view_numel(&a->view);
    for (uint64_t i = 0; i < numel; i++) {
        uint64_t at = graph_view_byte(&a->view, i);
        for (uint32_t b = 0; b < size; b++)
            order_byte(g, a, &g->state[a->buffer][at + b], order);
    }
}

bool graph_state_all_initialised(const struct gen *g, const struct graph_access *a)
{
    uint32_t size = graph_dtype_bytes(a->view.dtype);
    uint64_t numel = graph_view_numel(&a->view);
    for (uint64_t i = 0; i < numel; i++) {
        uint64_t at = graph_view_byte(&a->view, i);
        for (uint32_t b = 0; b < size; b++) {
            if (!g->state[a->buffer][at + b].initialised)
                return false;
        }
    }
    return true;
}

void graph_state_leave_read(struct gen *g, const struct graph_access *a, uint16_t task)
{
    bool tracked = is_tracked(g, a);
    uint32_t size = graph_dtype_bytes(a->view.dtype);
    uint64_t numel = graph_view_numel(&a->view);
    for (uint64_t i = 0; i < numel; i++) {
        uint64_t at = graph_view_byte(&a->view, i);
        for (uint32_t b = 0; b < size; b++) {
            struct byte_state *byte = &g->state[a->buffer][at + b];
            bit_set(tracked ? &byte->tracked_readers : &byte->other_readers, task);
        }
    }
}

void graph_state_leave_write(struct gen *g, const struct graph_access *a, uint16_t task)
{
    bool tracked = is_tracked(g, a);
    uint32_t size = graph_dtype_bytes(a->view.dtype);
    uint64_t numel = graph_view_numel(&a->view);
    for (uint64_t i = 0; i < numel; i++) {
        uint64_t at = graph_view_byte(&a->view, i);
        for (uint32_t b = 0; b < size; b++) {
            struct byte_state *byte = &g->state[a->buffer][at + b];
            bool initialised = byte->initialised || a->writes;
            memset(byte, 0, sizeof(*byte));
            byte->writer = task;
            byte->writer_tracked = tracked;
            byte->initialised = initialised;
        }
    }
}

/* ---- edges and holds ---- */

static void hull(const struct graph_view *view, uint64_t *low, uint64_t *high)
{
    uint32_t size = graph_dtype_bytes(view->dtype);
    *low = view->offset * size;
    *high = (view->offset + graph_view_extent(view)) * size;
}

void graph_state_bound_edges(const struct gen *g, const struct graph_access *a, struct bits *edges)
{
    uint64_t low, high;
    hull(&a->view, &low, &high);
    for (uint32_t i = 0; i < g->touch_count; i++) {
        const struct touch *t = &g->touch[i];
        if (t->buffer == a->buffer && t->low < high && low < t->high)
            bit_set(edges, t->task);
    }
}

void graph_state_add_touch(struct gen *g, const struct graph_access *a, uint16_t task)
{
    struct touch *t = &g->touch[g->touch_count++];
    t->buffer = a->buffer;
    t->task = task;
    hull(&a->view, &t->low, &t->high);
}

uint32_t graph_state_count_bits(const struct bits *bits)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < WORDS; i++)
        n += (uint32_t)__builtin_popcountll(bits->w[i]);
    return n;
}

static void raise_to(uint64_t *need, uint64_t value)
{
    if (*need < value)
        *need = value;
}

void graph_state_account(struct gen *g, uint32_t ring, uint32_t edges, uint32_t entries,
                         uint64_t output_bytes)
{
    struct hold *hold = &g->hold[ring];
    uint32_t id = g->next[ring]++;
    uint64_t kept_entries = entries;
    for (uint32_t r = 0; r < CHIP_MAX_RING_DEPTH; r++)
        kept_entries += g->hold[r].entries;
    raise_to(&g->need_map, kept_entries);
    raise_to(&g->need_pool[ring], hold->edges + edges);
    if (output_bytes != 0 && hold->from == UINT32_MAX)
        hold->from = id;
    raise_to(&g->need_window[ring], hold->from == UINT32_MAX ? 1 : g->next[ring] - hold->from);
    if (hold->from == UINT32_MAX)
        return;
    hold->edges += edges;
    hold->entries += entries;
    hold->bytes += output_bytes;
    raise_to(&hold->largest, output_bytes);
    raise_to(&g->need_heap[ring], hold->bytes + hold->largest);
}

uint32_t graph_state_ring_of(const struct gen *g)
{
    return g->depth < CHIP_MAX_RING_DEPTH ? g->depth : CHIP_MAX_RING_DEPTH - 1;
}

bool graph_state_ring_has_room(const struct gen *g)
{
    const struct hold *hold = &g->hold[graph_state_ring_of(g)];
    return hold->from == UINT32_MAX ||
           g->next[graph_state_ring_of(g)] - hold->from < g->style.max_hold;
}

void graph_state_close_over(const struct gen *g, const struct bits *from, struct bits *sure)
{
    bits_or(sure, from);
    for (uint32_t i = 0; i < g->p->task_count; i++) {
        if (bit_get(from, i))
            bits_or(sure, &g->ancestors[i]);
    }
}

bool graph_state_is_waited(const struct gen *g, const struct order *order, struct bits *sure)
{
    *sure = g->done;
    graph_state_close_over(g, &order->inferred, sure);
    for (uint32_t i = 0; i < WORDS; i++) {
        if (order->needed.w[i] & ~sure->w[i])
            return false;
    }
    return true;
}
