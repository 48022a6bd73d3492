/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is done is said by units, which are about to be others, so it is noted in the
 * nodes first.  Wake lists are thrown away, as every unit was that a thread has found
 * meanwhile: the boot of the rest finds them again.
 */
#include "hbg/recut.h"

static void note_done(struct simpler_hbg_device *device, const struct simpler_hbg_part *part)
{
    for (uint32_t g = 0; g < part->plan->grain_count; g++) {
        if (!simpler_hbg_is_grain_done(device, part, g))
            continue;
        for (uint32_t n = part->plan->first[g]; n < part->plan->first[g + 1]; n++)
            simpler_hbg_add_bit(part, n, SIMPLER_HBG_DONE);
    }
}

static void note_held(struct simpler_hbg_device *device)
{
    uint64_t task[SIMPLER_MAX_ASYNC_CONDITIONS];
    uint32_t count = simpler_deferral_hold_all(&device->deferred, task);

    for (uint32_t i = 0; i < count; i++)
        simpler_hbg_add_bit(&device->parts[task[i] >> 32], (uint32_t)task[i], SIMPLER_HBG_HELD);
}

static void split_plans(struct simpler_hbg_device *device)
{
    const struct simpler_hbg_orch *orch = device->orch;

    simpler_hbg_plan_split(&device->plan, device->image);
    for (uint32_t i = 0; i < orch->call_count; i++)
        simpler_hbg_plan_split(&orch->calls[i].graph->plan, orch->calls[i].graph->image);
}

/* Units of the part from @first on; the one behind them. */
static uint32_t number_units(struct simpler_hbg_device *device, struct simpler_hbg_part *part,
                             uint32_t first)
{
    uint32_t remaining = 0;

    part->first_unit = first;
    atomic_store_explicit(&part->tracked, false, memory_order_relaxed);
    if (part->call_unit != SIMPLER_HBG_NO_UNIT)
        part->call_unit = part->call_node;
    for (uint32_t n = 0; n < part->image->node_count; n++) {
        struct simpler_hbg_unit *unit = &device->units[first + n];
        bool done = (simpler_hbg_bits(part, n) & SIMPLER_HBG_DONE) != 0;
        atomic_store_explicit(&unit->wake, done ? SIMPLER_HBG_WAKE_CLOSED : 0,
                              memory_order_relaxed);
        unit->next = unit->cursor = 0;
        remaining += !done;
    }
    atomic_store_explicit(&part->remaining, remaining, memory_order_relaxed);
    return first + part->image->node_count;
}

void simpler_hbg_recut(struct simpler_hbg_device *device)
{
    uint32_t units = 0;

    for (uint32_t p = 0; p < device->part_count; p++)
        note_done(device, &device->parts[p]);
    note_held(device);
    atomic_store_explicit(&device->tracked, NULL, memory_order_relaxed);
    atomic_store_explicit(&device->tracks_taken, 0, memory_order_relaxed);
    split_plans(device);
    for (uint32_t p = 0; p < device->part_count; p++)
        units = number_units(device, &device->parts[p], units);
    /* Invariant: a thread leaves when it finds nothing; what it found and did not begin is dropped.
     */
    for (uint32_t i = 0; i < device->thread_count; i++) {
        SIMPLER_ASSERT(simpler_ready_queue_count(&device->threads[i].queue) == 0);
        SIMPLER_ASSERT(device->threads[i].stack == 0);
        SIMPLER_ASSERT(device->threads[i].handed == SIMPLER_HBG_NO_UNIT);
        SIMPLER_ASSERT(device->threads[i].done == 0);
    }
    atomic_store_explicit(&device->booted, SIMPLER_HBG_BOOT_REST, memory_order_relaxed);
    /* W4, release: the run, once more; or one that hangs, for the report. */
    atomic_fetch_and_explicit(&device->gate, ~(SIMPLER_HBG_GATE_RECUT | SIMPLER_HBG_GATE_CUTS),
                              memory_order_release);
    simpler_sleepers_wake_one(&device->work, SIMPLER_WAKE_APART);
}
