/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_COLLECT_SCOPE_STATS_AICPU_H
#define SIMPLER_COLLECT_SCOPE_STATS_AICPU_H

/*
 * The platform API of scope stats (scope-stats document, section 4.2): plain
 * values, no runtime type crosses it.  One producer: the orchestrator thread.
 */
#include <stdbool.h>
#include <stdint.h>

#include "simpler/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Host to device, at the entry of each run, on the thread that produces.  The
 * state is that thread's own, so that the devices of one process do not meet.
 * The base is also the device-side init: it maps the header and forgets open
 * scopes and a pending site; 0 detaches.
 */
SIMPLER_API void set_scope_stats_enabled(bool enable);
SIMPLER_API void set_platform_scope_stats_base(uint64_t scope_stats_data_base);

/* Ours, not in the document: number of the run that the next base is for (0: none),
 * and the last flush of a run, at the orchestrator's exit. */
void scope_stats_set_run_epoch(uint32_t run_epoch);
void scope_stats_flush(void);
/* Ours: another thread of the run, which produces nothing but may latch a fatal. */
void scope_stats_join_run(uint64_t scope_stats_data_base);

/* Once a ring at the start of a run. */
SIMPLER_API void scope_stats_set_ring_capacity(int ring_id, int32_t window_cap, uint64_t heap_cap,
                                               int32_t dep_pool_cap);
SIMPLER_API void scope_stats_set_tensormap_capacity(int32_t cap);

/* At each scope. */
SIMPLER_API void scope_stats_set_pending_site(const char *file, int line);
SIMPLER_API void scope_stats_begin(int ring_id, int32_t task_start, int32_t task_end,
                                   uint64_t heap_start, uint64_t heap_end, int32_t dep_pool_start,
                                   int32_t dep_pool_end, int32_t tensormap_used);
SIMPLER_API void scope_stats_end(int ring_id, int32_t task_start, int32_t task_end,
                                 uint64_t heap_start, uint64_t heap_end, int32_t dep_pool_start,
                                 int32_t dep_pool_end, int32_t tensormap_used);
SIMPLER_API void scope_stats_on_fatal(void);

/* The gate of the call sites: one bool load. */
SIMPLER_API bool is_scope_stats_enabled(void);

#ifdef __cplusplus
}
#endif
#endif
