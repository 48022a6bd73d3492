/* SPDX-License-Identifier: Apache-2.0 */
#include "task/kernel_times.h"

#include "base/alloc.h"
#include "base/clock.h"

/* What the two reads of the counter cost themselves. */
#define TIMING_OVERHEAD_TICKS 40u

struct simpler_estimates *simpler_estimates_find(struct simpler_estimate_table *table,
                                                 const struct simpler_callable_copy *callable)
{
    for (uint32_t i = 0; i < table->count; i++) {
        struct simpler_estimates *e = table->all[i];
        if (e->callable == callable && e->hash == callable->hash)
            return e;
    }
    struct simpler_estimates *made = simpler_alloc_zeroed(1, sizeof(*made));
    if (made == NULL)
        return NULL;
    made->callable = callable;
    made->hash = callable->hash;
    uint32_t at = table->count;
    if (at == sizeof(table->all) / sizeof(table->all[0])) {
        at--;
        simpler_alloc_free(table->all[at]);
    } else {
        table->count++;
    }
    table->all[at] = made;
    return made;
}

void simpler_estimates_fini(struct simpler_estimate_table *table)
{
    for (uint32_t i = 0; i < table->count; i++)
        simpler_alloc_free(table->all[i]);
    table->count = 0;
}

uint32_t simpler_estimates_note(struct simpler_estimates *estimates, uint32_t func_id,
                                uint64_t ticks)
{
    _Atomic uint32_t *slot = &estimates->ns[func_id];
    uint64_t ns = simpler_clock_ticks_to_ns(
        ticks > TIMING_OVERHEAD_TICKS ? ticks - TIMING_OVERHEAD_TICKS : 0);
    if (ns > SIMPLER_LONG_NS / 4)
        ns = SIMPLER_LONG_NS / 4;
    uint32_t old = atomic_load_explicit(slot, memory_order_relaxed);
    uint32_t next;
    if (old == 0)
        next = (uint32_t)ns;
    else if (ns > 8 * (uint64_t)old)
        next = old * 2; /* a preempted run must not turn a tiny kernel into a long one */
    else
        next = (uint32_t)((3 * (uint64_t)old + ns) / 4);
    if (next == 0)
        next = 1;
    /* Rarely written, so that the line stays shared. */
    if (old == 0 || next > old + old / 8 || next + next / 8 < old)
        atomic_store_explicit(slot, next, memory_order_relaxed);
    /* Time the next run as well after a surprise: once one long run was timed the rest shows. */
    return ns > 8 * (uint64_t)old && old != 0 ? 0 : 24 + (uint32_t)(simpler_clock_ticks() & 15);
}

void simpler_estimates_note_defers(struct simpler_estimates *estimates, uint32_t func_id)
{
    atomic_store_explicit(&estimates->defers[func_id], SIMPLER_DEFERS_SEEN, memory_order_relaxed);
    atomic_store_explicit(&estimates->has_seen, true, memory_order_relaxed);
}

void simpler_estimates_learn_defers(struct simpler_estimates *estimates, uint32_t *serial)
{
    if (!atomic_load_explicit(&estimates->has_seen, memory_order_relaxed))
        return;
    atomic_store_explicit(&estimates->has_seen, false, memory_order_relaxed);
    for (uint32_t i = 0; i <= SIMPLER_MAX_FUNC_ID; i++) {
        if (atomic_load_explicit(&estimates->defers[i], memory_order_relaxed) ==
            SIMPLER_DEFERS_SEEN)
            atomic_store_explicit(&estimates->defers[i], SIMPLER_DEFERS_KNOWN,
                                  memory_order_relaxed);
    }
    estimates->defer_serial = ++*serial;
}
