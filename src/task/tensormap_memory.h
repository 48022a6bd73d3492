/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_TASK_TENSORMAP_MEMORY_H
#define SIMPLER_TASK_TENSORMAP_MEMORY_H

/* Memory of a tensormap's pools, tables and counts. */
#include "task/tensormap_state.h"

/* Records that a task can need at most. */
#define SIMPLER_TENSORMAP_TASK_RECORDS (2 * SIMPLER_MAX_TENSORS)

/* SIMPLER_ENOMEM: what was reserved by then is still the map's, for close.  @map is zeroed. */
int simpler_tensormap_memory_open(struct simpler_tensormap *map,
                                  const struct simpler_tensormap_config *config);
void simpler_tensormap_memory_close(struct simpler_tensormap *map);

#endif
