/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_TMR_SUBMIT_SLOT_H
#define SIMPLER_TMR_SUBMIT_SLOT_H

/* The slot of a task that is submitted: made, filled, and what the caller learns of it. */
#include <string.h>

#include "tmr/linking.h"
#include "tmr/submit_check.h"
#include "tmr/tensor_pack.h"

/*
 * A task that was to pass through has failed with @status, or is not done yet: later tasks learn
 * of it from its slot and the map.  Returns 0.
 */
SIMPLER_COLD int simpler_submit_keep(struct simpler_orch *orch,
                                     const struct simpler_submit_request *q, int status);

/* Retires what is done; when everything is, tasks may pass through, and times are looked at. */
void simpler_submit_look_around(struct simpler_orch *orch);

/* From the scope's first OUTPUT on its tasks stay until it ends. */
void simpler_submit_note_hold(struct simpler_orch *orch, struct simpler_ring *ring, uint64_t bytes,
                              bool at_zero);
void simpler_submit_pack_scalars(struct simpler_task_table *table, uint32_t number,
                                 struct simpler_line_cursor cursor,
                                 const struct simpler_task_args *args);
/* The OUTPUTs into orch->made. */
void simpler_submit_make_outputs(struct simpler_orch *orch, const struct simpler_task_args *args,
                                 uint8_t *block, uint64_t owner);

SIMPLER_INLINE uint32_t simpler_submit_make_slot(struct simpler_orch *orch,
                                                 const struct simpler_submit_request *q)
{
    struct simpler_task_table *table = &orch->device->table;
    struct simpler_ring *ring = &orch->ring[orch->current];
    uint32_t id = ring->next++;
    uint32_t number = simpler_ring_slot(ring, id);
    struct simpler_task_slot *slot = &table->slot[number];
    struct simpler_task_desc *desc = &table->desc[number];

    atomic_store_explicit(&slot->fanout, 0, memory_order_relaxed);
    slot->id = id;
    slot->func_id = (uint16_t)q->func_id;
    slot->shape = (uint8_t)q->shape;
    slot->ring = (uint8_t)orch->current;
    atomic_store_explicit(&slot->poisoned, 0, memory_order_relaxed);
    slot->failed = 0;
    slot->tensor_count = 0;
    slot->scalar_count = 0;
    slot->mark = 0;
    slot->edge_count = 0;
    desc->heap_end = ring->heap.top;
    memset(desc->last_consumer, 0, sizeof(desc->last_consumer));
    desc->file = q->file;
    desc->line = q->line;
    atomic_store_explicit(&table->done[number], SIMPLER_DONE_NOT, memory_order_relaxed);
    table->retained[number] = 0;
    orch->self = number;
    orch->submitted++;
    simpler_linking_next_mark(orch);
    return number;
}

/* Tells the caller; after the last use of the arguments, of which a tensor may lie in q->out. */
SIMPLER_INLINE void simpler_submit_answer(const struct simpler_orch *orch,
                                          const struct simpler_submit_request *q, uint64_t id)
{
    if (q->out == NULL)
        return;
    q->out->id.raw = id;
    q->out->count = q->args->output_count;
    for (uint32_t k = 0; k < q->args->output_count; k++)
        q->out->tensor[k] = orch->made[k];
}

/* Copies tensors and scalars into the slot's lines. */
SIMPLER_INLINE void simpler_submit_fill_payload(struct simpler_orch *orch,
                                                const struct simpler_task_args *args,
                                                uint32_t number)
{
    struct simpler_task_table *table = &orch->device->table;
    struct simpler_line_cursor cursor = simpler_line_cursor_init(table, number);
    const struct simpler_tensor *made = orch->made;

    for (uint32_t i = 0; i < args->tensor_count; i++) {
        bool output = args->use[i] == SIMPLER_USE_OUTPUT;
        simpler_pack_tensor(&cursor, table, number, output ? made : args->tensor[i]);
        made += output;
    }
    table->slot[number].tensor_count = (uint8_t)args->tensor_count;
    if (args->scalar_count != 0)
        simpler_submit_pack_scalars(table, number, cursor, args);
}

#endif
