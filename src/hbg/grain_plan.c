/* SPDX-License-Identifier: Apache-2.0 */
#include "hbg/grain_plan.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/testpoint.h"
#include "simpler/status.h"
#include "task/kernel_times.h"

/* What a task costs besides its kernel, and a grain besides its tasks. */
#define TASK_NS        4u
#define GRAIN_NS       60u
#define TRACK_GRAIN_NS 15u
/* A kernel that was never timed. */
#define UNKNOWN_NS 20000u
/* Grain times that are tried, each twice the one before. */
#define MAX_TRIES 24
/* Of tracks: not of more grains, nor longer than it gets worse. */
#define MAX_TRACK_GRAINS 16384u
#define MAX_WORSE        3

void simpler_hbg_plan_fini(struct simpler_hbg_plan *plan)
{
    simpler_alloc_free(plan->first);
    simpler_alloc_free(plan->edge_from);
    simpler_alloc_free(plan->edges);
    simpler_alloc_free(plan->track);
    memset(plan, 0, sizeof(*plan));
}

static int ensure(struct simpler_hbg_plan *plan, const struct simpler_hbg_image *image)
{
    if (plan->capacity_nodes >= image->node_count && plan->capacity_edges >= image->edge_count &&
        plan->first != NULL)
        return 0;
    uint32_t nodes = image->node_count + image->node_count / 4;
    uint32_t edges = image->edge_count + image->edge_count / 4;
    simpler_hbg_plan_fini(plan);
    plan->first = simpler_alloc_zeroed((size_t)nodes + 2, sizeof(*plan->first));
    plan->edge_from = simpler_alloc_zeroed((size_t)nodes + 2, sizeof(*plan->edge_from));
    plan->edges = simpler_alloc_zeroed((size_t)edges + 1, sizeof(*plan->edges));
    plan->track = simpler_alloc_zeroed((size_t)nodes + 1, sizeof(*plan->track));
    if (plan->first == NULL || plan->edge_from == NULL || plan->edges == NULL ||
        plan->track == NULL) {
        simpler_hbg_plan_fini(plan);
        return SIMPLER_ENOMEM;
    }
    plan->capacity_nodes = nodes;
    plan->capacity_edges = edges;
    return 0;
}

/* Scratch of one planning: the grain of each node, and of each grain its end on the longest path.
 */
struct scratch {
    uint32_t *grain_of;
    bool *apart; /* of each node: it is alone because of a deferral; NULL: none is */
    uint64_t *end;
    uint32_t *mark;
};

/* A call of a graph, and what several threads take part in. */
static bool is_alone(const struct simpler_hbg_image *image, uint32_t i)
{
    uint32_t func_id = simpler_hbg_nodes(image)[i].func_id;

    if (func_id != SIMPLER_HBG_FUNC_LAUNCH)
        return func_id == SIMPLER_HBG_FUNC_GRAPH;
    const struct simpler_hbg_launch *launch = simpler_hbg_launch_of(image, i);
    return launch->block_num > 1 || launch->lane_count > 1 || launch->sync_start;
}

static bool func_defers(const struct simpler_hbg_costs *costs, uint32_t func_id)
{
    return atomic_load_explicit(&costs->defers[func_id], memory_order_relaxed) ==
           SIMPLER_DEFERS_KNOWN;
}

/* Of a call nobody knows: some kernel of the callable does. */
static bool may_defer(const struct simpler_hbg_image *image, const struct simpler_hbg_costs *costs,
                      uint32_t i)
{
    uint32_t func_id = simpler_hbg_nodes(image)[i].func_id;

    if (func_id < SIMPLER_HBG_FUNC_LAUNCH)
        return func_defers(costs, func_id);
    if (func_id != SIMPLER_HBG_FUNC_LAUNCH)
        return func_id == SIMPLER_HBG_FUNC_GRAPH;
    const struct simpler_hbg_launch *launch = simpler_hbg_launch_of(image, i);
    for (uint32_t lane = 0; lane < SIMPLER_LANES; lane++) {
        if (launch->func_id[lane] != SIMPLER_NO_FUNC && func_defers(costs, launch->func_id[lane]))
            return true;
    }
    return false;
}

/* What may defer its completion, and what comes after that. */
static void mark_apart(const struct simpler_hbg_image *image, const struct simpler_hbg_costs *costs,
                       bool *apart)
{
    const uint32_t *from = simpler_hbg_edge_from(image), *edges = simpler_hbg_edges(image);

    for (uint32_t i = 0; i < image->node_count; i++) {
        apart[i] = may_defer(image, costs, i);
        for (uint32_t e = from[i]; e < from[i + 1] && !apart[i]; e++)
            apart[i] = apart[edges[e]];
    }
}

static uint64_t kernel_ns(const struct simpler_hbg_costs *costs, uint32_t func_id)
{
    uint32_t ns = atomic_load_explicit(&costs->kernel_ns[func_id], memory_order_relaxed);
    return ns == 0 ? UNKNOWN_NS : ns;
}

static uint64_t launch_ns(const struct simpler_hbg_costs *costs,
                          const struct simpler_hbg_launch *launch)
{
    uint64_t ns = 0;

    for (uint32_t lane = 0; lane < SIMPLER_LANES; lane++) {
        if (launch->func_id[lane] != SIMPLER_NO_FUNC)
            ns += kernel_ns(costs, launch->func_id[lane]);
    }
    return ns * (uint64_t)launch->block_num;
}

static uint64_t cost_of(const struct simpler_hbg_image *image,
                        const struct simpler_hbg_costs *costs, uint32_t i)
{
    uint32_t func_id = simpler_hbg_nodes(image)[i].func_id;

    if (func_id == SIMPLER_HBG_FUNC_LAUNCH)
        return TASK_NS + launch_ns(costs, simpler_hbg_launch_of(image, i));
    if (func_id > SIMPLER_HBG_FUNC_LAUNCH)
        return TASK_NS;
    return TASK_NS + kernel_ns(costs, func_id);
}

/* Cuts at about @target nanoseconds a grain, UINT64_MAX: wherever it must; the number of grains. */
static uint32_t cut(const struct simpler_hbg_image *image, const struct simpler_hbg_costs *costs,
                    uint64_t target, const struct scratch *s)
{
    uint32_t grain = 0;
    uint64_t sum = 0;
    bool apart = true; /* the task before has a grain of its own */

    for (uint32_t i = 0; i < image->node_count; i++) {
        uint64_t cost = target == UINT64_MAX ? 0 : cost_of(image, costs, i);
        bool alone =
            (s->apart != NULL && s->apart[i]) || costs->one_task_a_grain || is_alone(image, i);
        if (i > 0 && (apart || alone || sum + cost / 2 >= target)) {
            grain++;
            sum = 0;
        }
        apart = alone;
        s->grain_of[i] = grain;
        sum += cost;
    }
    return image->node_count == 0 ? 0 : grain + 1;
}

/* How long the graph takes in grains: the longest path or the work, whichever is more. */
static uint64_t predict(const struct simpler_hbg_image *image,
                        const struct simpler_hbg_costs *costs, const struct scratch *s,
                        uint32_t grains)
{
    const uint32_t *from = simpler_hbg_edge_from(image), *edges = simpler_hbg_edges(image);
    uint64_t work = 0, longest = 0, start = 0, sum = 0;

    for (uint32_t i = 0; i < image->node_count; i++) {
        uint32_t grain = s->grain_of[i];
        for (uint32_t e = from[i]; e < from[i + 1]; e++) {
            uint32_t before = s->grain_of[edges[e]];
            if (before != grain && s->end[before] > start)
                start = s->end[before];
        }
        sum += cost_of(image, costs, i);
        if (i + 1 < image->node_count && s->grain_of[i + 1] == grain)
            continue;
        s->end[grain] = start + sum + (grains > 1 ? GRAIN_NS + costs->handover_ns : 0);
        if (s->end[grain] > longest)
            longest = s->end[grain];
        work += sum + (grains > 1 ? GRAIN_NS + costs->handover_ns / 2 : 0);
        start = sum = 0;
    }
    work /= grains > 1 ? costs->threads : 1;
    return work > longest ? work : longest;
}

static uint64_t total_cost(const struct simpler_hbg_image *image,
                           const struct simpler_hbg_costs *costs)
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i < image->node_count; i++)
        sum += cost_of(image, costs, i);
    return sum;
}

/* The grain time to cut at. */
static uint64_t choose(const struct simpler_hbg_image *image, const struct simpler_hbg_costs *costs,
                       const struct scratch *s)
{
    if (costs->threads <= 1)
        return UINT64_MAX;
    uint64_t total = total_cost(image, costs);
    uint64_t mean = total / image->node_count;
    uint64_t best = total + 1, least = total;

    /* Long kernels: nothing is gained by putting them together. */
    if (mean >= 16 * (uint64_t)(costs->handover_ns + GRAIN_NS))
        return 1;
    uint64_t target = mean;
    for (int i = 0; i < MAX_TRIES && target < total; i++, target *= 2) {
        if (target * 2 < costs->handover_ns)
            continue;
        uint64_t ns = predict(image, costs, s, cut(image, costs, target, s));
        if (ns <= least) {
            least = ns;
            best = target;
        }
    }
    return best;
}

static int descending(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? 1 : x > y ? -1 : 0;
}

/* The grains' own edges, each once, the latest first. */
static void link_grains(struct simpler_hbg_plan *plan, const struct simpler_hbg_image *image,
                        const struct scratch *s)
{
    const uint32_t *from = simpler_hbg_edge_from(image), *edges = simpler_hbg_edges(image);
    uint32_t count = 0;

    for (uint32_t g = 0; g < plan->grain_count; g++) {
        plan->edge_from[g] = count;
        for (uint32_t e = from[plan->first[g]]; e < from[plan->first[g + 1]]; e++) {
            uint32_t before = s->grain_of[edges[e]];
            if (before == g || s->mark[before] == g + 1)
                continue;
            s->mark[before] = g + 1;
            plan->edges[count++] = before;
        }
        if (count - plan->edge_from[g] > 1)
            qsort(&plan->edges[plan->edge_from[g]], count - plan->edge_from[g],
                  sizeof(*plan->edges), descending);
    }
    plan->edge_from[plan->grain_count] = count;
}

/* Cuts at @target, see cut. */
static void make_grains(struct simpler_hbg_plan *plan, const struct simpler_hbg_image *image,
                        const struct simpler_hbg_costs *costs, const struct scratch *s,
                        uint64_t target)
{
    plan->grain_count = cut(image, costs, target, s);
    for (uint32_t i = image->node_count; i > 0; i--)
        plan->first[s->grain_of[i - 1]] = i - 1;
    plan->first[plan->grain_count] = image->node_count;
    memset(s->mark, 0, plan->grain_count * sizeof(*s->mark));
    link_grains(plan, image, s);
}

/* ---- tracks ---- */

/*
 * Tasks that one thread each can run, by no more threads than there may be tracks.  What waits
 * for a deferred task would hold up its track, and with it perhaps who is to raise the counter.
 */
static bool can_have_tracks(const struct simpler_hbg_image *image,
                            const struct simpler_hbg_costs *costs, const struct scratch *s)
{
    if (costs->one_task_a_grain || costs->threads < 2 || costs->threads > SIMPLER_HBG_MAX_TRACKS)
        return false;
    for (uint32_t i = 0; i < image->node_count; i++) {
        if (is_alone(image, i) || (s->apart != NULL && s->apart[i]))
            return false;
    }
    return true;
}

/* Of long kernels a hand-over is a small part. */
static bool wants_tracks(const struct simpler_hbg_image *image,
                         const struct simpler_hbg_costs *costs)
{
    return costs->reused && costs->has_cpus &&
           total_cost(image, costs) / image->node_count <
               16 * (uint64_t)(costs->handover_ns + GRAIN_NS);
}

/* Grains of @target and their tracks; how long they take. */
static uint64_t make_tracks(struct simpler_hbg_plan *plan, const struct simpler_hbg_image *image,
                            const struct simpler_hbg_costs *costs, const struct scratch *s,
                            struct simpler_hbg_track_scratch *tracks, uint64_t target)
{
    const uint32_t *from = simpler_hbg_edge_from(image), *edges = simpler_hbg_edges(image);

    make_grains(plan, image, costs, s, target);
    for (uint32_t g = 0; g < plan->grain_count; g++) {
        uint32_t first = plan->first[g], end = plan->first[g + 1];
        tracks->cost[g] = TRACK_GRAIN_NS;
        tracks->fetches[g] = 0;
        for (uint32_t i = first; i < end; i++)
            tracks->cost[g] += cost_of(image, costs, i);
        for (uint32_t e = from[first]; e < from[end]; e++)
            tracks->fetches[g] += edges[e] < first;
    }
    return simpler_hbg_tracks_make(plan, costs->threads, costs->handover_ns, tracks);
}

/* The grain time whose tracks take least; 0: one thread alone takes hardly more. */
static uint64_t choose_for_tracks(struct simpler_hbg_plan *plan,
                                  const struct simpler_hbg_image *image,
                                  const struct simpler_hbg_costs *costs, const struct scratch *s,
                                  struct simpler_hbg_track_scratch *tracks)
{
    uint64_t total = total_cost(image, costs), least = total - total / 5, best = 0;
    uint64_t target = total / image->node_count;
    int worse = 0;

    for (int i = 0; i < MAX_TRIES && target < total && worse < MAX_WORSE; i++, target *= 2) {
        if (target * 4 < costs->handover_ns || total / target > MAX_TRACK_GRAINS)
            continue;
        uint64_t ns = make_tracks(plan, image, costs, s, tracks, target);
        if (ns <= least) {
            least = ns;
            best = target;
            worse = 0;
        } else {
            worse += best != 0;
        }
    }
    return best;
}

/* False: without tracks. */
static bool try_tracks(struct simpler_hbg_plan *plan, const struct simpler_hbg_image *image,
                       const struct simpler_hbg_costs *costs, const struct scratch *s)
{
    struct simpler_hbg_track_scratch tracks;
    bool forced = costs->reused && SIMPLER_FAILPOINT(PLAN_TRACKS);

    /* Memory that is missing here costs time alone. */
    if (!can_have_tracks(image, costs, s) || (!forced && !wants_tracks(image, costs)) ||
        simpler_hbg_track_scratch_init(&tracks, image->node_count, image->edge_count) != 0)
        return false;
    uint64_t target = forced ? 1 : choose_for_tracks(plan, image, costs, s, &tracks);
    if (target != 0)
        (void)make_tracks(plan, image, costs, s, &tracks, target);
    else
        plan->track_count = 0;
    simpler_hbg_track_scratch_fini(&tracks);
    return target != 0;
}

static void fill(struct simpler_hbg_plan *plan, const struct simpler_hbg_image *image,
                 const struct simpler_hbg_costs *costs, const struct scratch *s)
{
    plan->threads = costs->threads;
    plan->handover_ns = costs->handover_ns;
    plan->one_task_a_grain = costs->one_task_a_grain;
    plan->defer_serial = costs->defer_serial;
    if (!try_tracks(plan, image, costs, s))
        make_grains(plan, image, costs, s, choose(image, costs, s));
}

int simpler_hbg_plan_make(struct simpler_hbg_plan *plan, const struct simpler_hbg_image *image,
                          const struct simpler_hbg_costs *costs)
{
    bool defers = costs->defer_serial != 0;
    size_t n = image->node_count;
    int rc = ensure(plan, image);

    if (rc != 0)
        return rc;
    plan->grain_count = plan->track_count = 0;
    if (n == 0)
        return 0;
    struct scratch s = {
        .grain_of = simpler_alloc_zeroed(n, sizeof(*s.grain_of)),
        .apart = defers ? simpler_alloc_zeroed(n, sizeof(*s.apart)) : NULL,
        .end = simpler_alloc_zeroed(n, sizeof(*s.end)),
        .mark = simpler_alloc_zeroed(n, sizeof(*s.mark)),
    };
    if (s.grain_of != NULL && s.end != NULL && s.mark != NULL && (s.apart != NULL || !defers)) {
        if (defers)
            mark_apart(image, costs, s.apart);
        fill(plan, image, costs, &s);
    } else {
        rc = SIMPLER_ENOMEM;
    }
    simpler_alloc_free(s.grain_of);
    simpler_alloc_free(s.apart);
    simpler_alloc_free(s.end);
    simpler_alloc_free(s.mark);
    return rc;
}

void simpler_hbg_plan_split(struct simpler_hbg_plan *plan, const struct simpler_hbg_image *image)
{
    const uint32_t *from = simpler_hbg_edge_from(image), *edges = simpler_hbg_edges(image);

    plan->one_task_a_grain = true;
    plan->track_count = 0;
    plan->grain_count = image->node_count;
    for (uint32_t i = 0; i <= image->node_count; i++) {
        plan->first[i] = i;
        plan->edge_from[i] = from[i];
    }
    if (image->edge_count != 0)
        memcpy(plan->edges, edges, image->edge_count * sizeof(*edges));
}
