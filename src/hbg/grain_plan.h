/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_HBG_GRAIN_PLAN_H
#define SIMPLER_HBG_GRAIN_PLAN_H

/*
 * A graph cut into grains: runs of consecutive tasks that one thread does
 * without a look at dependencies.  Submit order is an order in which the tasks
 * may run, so any such cut is a graph again.
 *
 * The cut is chosen by a model: of a few grain times that one is taken for which
 * the longest path and the work over the threads come out least.  Long kernels
 * get a grain each; a graph that is not worth a second thread is one grain.  Of a
 * recorded graph of short kernels the plan also says which thread does which grain.
 * A task whose completion is deferred, and whatever comes after it, has a grain of
 * its own: nothing else is to wait for what it waits for.
 */
#include <stdbool.h>
#include <stdint.h>

#include "hbg/grain_tracks.h"
#include "hbg/graph_image.h"

struct simpler_hbg_plan {
    uint32_t grain_count;
    uint32_t capacity_nodes, capacity_edges; /* of the arrays below */
    uint32_t *first;                         /* grain g is the nodes first[g] .. first[g + 1] - 1 */
    uint32_t *edge_from;                     /* as in an image, between grains */
    uint32_t *edges;
    /* Track t is the grains track[track_from[t]] .. track[track_from[t + 1] - 1], in that order. */
    uint32_t track_count; /* 0: whoever is free takes a grain that is ready */
    uint32_t track_from[SIMPLER_HBG_MAX_TRACKS + 1];
    uint32_t *track;
    /* What it was made for. */
    uint32_t threads;
    uint32_t handover_ns;
    uint32_t defer_serial;
    bool one_task_a_grain;
};

struct simpler_hbg_costs {
    uint32_t threads;      /* that can run at once */
    bool has_cpus;         /* each thread of the device has one of its own */
    bool reused;           /* the plan is made for many runs */
    uint32_t handover_ns;  /* a round trip between two cores */
    bool one_task_a_grain; /* kernels run on core threads */
    /* Nanoseconds of each func_id; 0: unknown. */
    const _Atomic uint32_t *kernel_ns;
    /* enum simpler_defers of each func_id, as of this serial; 0: none does. */
    const _Atomic uint8_t *defers;
    uint32_t defer_serial;
};

/* SIMPLER_ENOMEM.  A zeroed plan is made; one that is there is made anew. */
int simpler_hbg_plan_make(struct simpler_hbg_plan *plan, const struct simpler_hbg_image *image,
                          const struct simpler_hbg_costs *costs);
/* The grain that the node is in. */
SIMPLER_INLINE uint32_t simpler_hbg_plan_grain_of(const struct simpler_hbg_plan *plan,
                                                  uint32_t node)
{
    uint32_t low = 0, high = plan->grain_count;

    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (plan->first[middle] <= node)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Each task is a grain from now on, until the plan is made anew; it was made of @image. */
void simpler_hbg_plan_split(struct simpler_hbg_plan *plan, const struct simpler_hbg_image *image);
void simpler_hbg_plan_fini(struct simpler_hbg_plan *plan);

#endif
