/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_TASK_TENSORMAP_H
#define SIMPLER_TASK_TENSORMAP_H

/*
 * Which live tasks use which bytes: the map from views to the tasks that wrote
 * and (hazards all) read them last.
 *
 * A view is a box of bytes: an innermost contiguous run and up to five outer
 * strides.  Views of one buffer with the same strides and shape whose starts
 * lie on one grid form a class: two of them are equal or disjoint, so a probe
 * by the cell's number in the grid finds the only one that can overlap.  Views
 * of other classes of the buffer are checked class by class, by the cells that
 * the box can touch or by the class's live entries, whichever are fewer.  So the
 * cost of an access follows the views that overlap, not those that are live.
 *
 * An entry is dead when every task in it is below its ring's watermark (alive);
 * dead entries cost no removal work, they are reused in passing.
 *
 * Threads: the orchestrator alone.  Nothing here allocates after open.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "simpler/call_config.h"
#include "simpler/task.h"

struct simpler_tensormap;

/*
 * Receives the tasks that the accesses of one task must come after; may get one
 * id twice.  Empty it before the next task.
 */
struct simpler_edge_sink {
    uint64_t *ids;
    uint32_t count;
    uint32_t capacity; /* at least 16 */
    /* Called when ids is full: takes them and sets count to 0. */
    void (*flush)(struct simpler_edge_sink *sink);
};

struct simpler_tensormap_config {
    uint32_t capacity;                    /* live entries, SIMPLER_TENSORMAP_MIN to _MAX */
    uint32_t window[CHIP_MAX_RING_DEPTH]; /* task slots of each ring, powers of two */
    bool track_readers;                   /* hazards all */
    /* First id of each ring that is not retired; read at each access. */
    const uint32_t *alive;
};

/* SIMPLER_ENOMEM.  Memory is reserved by the config's limits, touched on use. */
int simpler_tensormap_open(const struct simpler_tensormap_config *config,
                           struct simpler_tensormap **out);
void simpler_tensormap_close(struct simpler_tensormap *map);

/* Forgets everything (a new run): cheap, without touching the tables' pages. */
void simpler_tensormap_reset(struct simpler_tensormap *map, bool track_readers);

/*
 * Entries that could still be made before the map is full.  An access makes at
 * most one; the caller checks for all accesses of a task before the first.
 */
uint32_t simpler_tensormap_room(struct simpler_tensormap *map);

/* Entries in use: those whose latest task is not retired. */
uint32_t simpler_tensormap_used(const struct simpler_tensormap *map);

/*
 * One access of task @self to @tensor.  Edges go to the sink: live tasks only,
 * never @self.
 *
 *   use              edges after                     then
 *   INPUT            writers of overlapping views    (all) recorded as a reader
 *   INOUT            writers; (all) readers too      becomes the view's writer
 *   OUTPUT_EXISTING  (all) writers and readers;      becomes the view's writer; (raw) the
 *                    (raw) none                      writers before it still count for
 *                                                    later accesses
 *
 * A write whose box covers an overlapping entry (and that took edges to it)
 * removes the entry.  An empty view (any extent 0) does nothing.
 */
void simpler_tensormap_access(struct simpler_tensormap *map, const struct simpler_tensor *tensor,
                              enum simpler_tensor_use use, uint64_t self,
                              struct simpler_edge_sink *sink);

/*
 * The accesses of a task's arguments, but of those with manual_dep.  Whether one of its
 * tensors has an owner, which the map does not look at.
 */
bool simpler_tensormap_access_args(struct simpler_tensormap *map,
                                   const struct simpler_task_args *args, uint64_t self,
                                   struct simpler_edge_sink *sink);

/* The edges that an access would get, without recording anything. */
void simpler_tensormap_lookup(struct simpler_tensormap *map, const struct simpler_tensor *tensor,
                              bool writers, bool readers, struct simpler_edge_sink *sink);

/* Whether exactly this view has an entry in use. */
bool simpler_tensormap_contains(struct simpler_tensormap *map, const struct simpler_tensor *tensor);

/*
 * Ring @ring's watermark is about to go from @from to @to: entries of those ids
 * leave `used`.  The caller stores it in alive before the next access.
 */
void simpler_tensormap_retire(struct simpler_tensormap *map, uint32_t ring, uint32_t from,
                              uint32_t to);

#endif
