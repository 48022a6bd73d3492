/* SPDX-License-Identifier: Apache-2.0 */
#include "tmr/submit_slot.h"

void simpler_submit_note_hold(struct simpler_orch *orch, struct simpler_ring *ring, uint64_t bytes,
                              bool at_zero)
{
    if (ring->hold_from == SIMPLER_NO_HOLD) {
        ring->hold_from = ring->next;
        ring->hold_depth = orch->depth;
        ring->held_bytes = 0;
        ring->held_max_block = 0;
        ring->held_from_zero = at_zero;
    }
    ring->held_bytes += bytes;
    if (bytes > ring->held_max_block)
        ring->held_max_block = bytes;
}

/* Creates output @k at @block; returns the block behind it. */
static uint8_t *place_output(const struct simpler_create_info *info, uint8_t *block, uint64_t owner,
                             struct simpler_tensor *out)
{
    uint64_t bytes = 0;

    (void)simpler_submit_output_bytes(info, &bytes); /* checked before */
    simpler_submit_make_output(info, (uint64_t)(uintptr_t)block, owner, out);
    if (info->has_initial_value)
        simpler_submit_fill_initial(block, bytes, info);
    return block + bytes;
}

void simpler_submit_pack_scalars(struct simpler_task_table *table, uint32_t number,
                                 struct simpler_line_cursor cursor,
                                 const struct simpler_task_args *args)
{
    uint32_t n = args->scalar_count;
    struct simpler_task_line *line = NULL;

    table->slot[number].scalar_count = (uint8_t)n;
    for (uint32_t k = 0; k < n && k < SIMPLER_INLINE_SCALARS; k++)
        table->desc[number].scalar[k] = args->scalar[k];
    for (uint32_t k = SIMPLER_INLINE_SCALARS; k < n; k++) {
        uint32_t outside = k - SIMPLER_INLINE_SCALARS;
        if (outside % 8 == 0)
            line = simpler_line_cursor_take(&cursor, table, number);
        memcpy(line->bytes + 8 * (outside % 8), &args->scalar[k], 8);
    }
}

void simpler_submit_make_outputs(struct simpler_orch *orch, const struct simpler_task_args *args,
                                 uint8_t *block, uint64_t owner)
{
    struct simpler_tensor *made = orch->made;

    for (uint32_t i = 0; i < args->tensor_count; i++) {
        if (args->use[i] == SIMPLER_USE_OUTPUT)
            block = place_output(args->tensor[i], block, owner, made++);
    }
}
