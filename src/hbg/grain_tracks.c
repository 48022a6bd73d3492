/* SPDX-License-Identifier: Apache-2.0 */
#include "hbg/grain_tracks.h"

#include <stdbool.h>
#include <string.h>

#include "base/alloc.h"
#include "hbg/grain_plan.h"
#include "simpler/status.h"

/* Of the grains that could be next, so many are looked at. */
#define WINDOW 8u

int simpler_hbg_track_scratch_init(struct simpler_hbg_track_scratch *s, uint32_t nodes,
                                   uint32_t edges)
{
    size_t n = (size_t)nodes + 2;

    *s = (struct simpler_hbg_track_scratch){
        .cost = simpler_alloc_zeroed(n, sizeof(*s->cost)),
        .fetches = simpler_alloc_zeroed(n, sizeof(*s->fetches)),
        .end = simpler_alloc_zeroed(n, sizeof(*s->end)),
        .missing = simpler_alloc_zeroed(n, sizeof(*s->missing)),
        .next = simpler_alloc_zeroed(n, sizeof(*s->next)),
        .users_from = simpler_alloc_zeroed(n, sizeof(*s->users_from)),
        .users = simpler_alloc_zeroed((size_t)edges + 1, sizeof(*s->users)),
        .level = simpler_alloc_zeroed(n, sizeof(*s->level)),
        .level_cost = simpler_alloc_zeroed(n, sizeof(*s->level_cost)),
        .level_dealt = simpler_alloc_zeroed(n, sizeof(*s->level_dealt)),
        .track = simpler_alloc_zeroed(n, sizeof(*s->track)),
    };
    if (s->cost != NULL && s->fetches != NULL && s->end != NULL && s->missing != NULL &&
        s->next != NULL && s->users_from != NULL && s->users != NULL && s->level != NULL &&
        s->level_cost != NULL && s->level_dealt != NULL && s->track != NULL)
        return 0;
    simpler_hbg_track_scratch_fini(s);
    return SIMPLER_ENOMEM;
}

void simpler_hbg_track_scratch_fini(struct simpler_hbg_track_scratch *s)
{
    simpler_alloc_free(s->cost);
    simpler_alloc_free(s->fetches);
    simpler_alloc_free(s->end);
    simpler_alloc_free(s->missing);
    simpler_alloc_free(s->next);
    simpler_alloc_free(s->users_from);
    simpler_alloc_free(s->users);
    simpler_alloc_free(s->level);
    simpler_alloc_free(s->level_cost);
    simpler_alloc_free(s->level_dealt);
    simpler_alloc_free(s->track);
    memset(s, 0, sizeof(*s));
}

/* The edges the other way round: users[users_from[g]] .. come after grain g. */
static void turn_edges(const struct simpler_hbg_plan *plan, struct simpler_hbg_track_scratch *s)
{
    uint32_t n = plan->grain_count, *from = s->users_from;

    memset(from, 0, ((size_t)n + 2) * sizeof(*from));
    for (uint32_t e = 0; e < plan->edge_from[n]; e++)
        from[plan->edges[e] + 2]++;
    for (uint32_t g = 2; g <= n; g++)
        from[g] += from[g - 1];
    /* from[g + 1] is where the next user of g goes, and in the end where those of g + 1 begin. */
    for (uint32_t g = 0; g < n; g++) {
        s->missing[g] = plan->edge_from[g + 1] - plan->edge_from[g];
        for (uint32_t e = plan->edge_from[g]; e < plan->edge_from[g + 1]; e++)
            s->users[from[plan->edges[e] + 1]++] = g;
    }
}

/* Grains whose producers all have a place, in the order in which they came; by 1 + number. */
struct waiting {
    uint32_t first, last;
};

static void append(struct waiting *w, struct simpler_hbg_track_scratch *s, uint32_t grain)
{
    s->next[grain] = 0;
    if (w->first == 0)
        w->first = grain + 1;
    else
        s->next[w->last - 1] = grain + 1;
    w->last = grain + 1;
}

static void take_out(struct waiting *w, struct simpler_hbg_track_scratch *s, uint32_t before,
                     uint32_t grain)
{
    if (before == 0)
        w->first = s->next[grain];
    else
        s->next[before - 1] = s->next[grain];
    if (w->last == grain + 1)
        w->last = before;
}

struct choice {
    uint64_t start, end;
    uint32_t track, grain, before; /* before: 1 + the one in front of it in the list */
};

struct schedule {
    const struct simpler_hbg_plan *plan;
    struct simpler_hbg_track_scratch *s;
    uint32_t count, handover_ns;
    bool dealt; /* the grains have their tracks */
    uint64_t free[SIMPLER_HBG_MAX_TRACKS];
};

/*
 * When the grain can start on a track, and how long it takes there: what comes from another one
 * has to be fetched.  Loads of several tasks overlap: each counts as a quarter of a one-way trip.
 */
static struct choice place(const struct schedule *c, uint32_t grain, uint32_t track)
{
    struct choice at = {.start = c->free[track], .track = track, .grain = grain};
    uint32_t first = c->plan->edge_from[grain], end = c->plan->edge_from[grain + 1];
    uint64_t foreign = 0;

    for (uint32_t e = first; e < end; e++) {
        uint32_t producer = c->plan->edges[e];
        uint64_t there = c->s->end[producer];
        if (c->s->track[producer] != track) {
            there += c->handover_ns / 2;
            foreign++;
        }
        at.start = there > at.start ? there : at.start;
    }
    at.end = at.start + c->s->cost[grain];
    if (foreign != 0)
        at.end += foreign * c->handover_ns / 4 +
                  c->s->fetches[grain] * foreign / (end - first) * c->handover_ns / 8;
    return at;
}

static struct choice choose(const struct schedule *c, const struct waiting *w)
{
    struct choice best = {.start = UINT64_MAX, .end = UINT64_MAX};
    uint32_t before = 0;

    for (uint32_t i = 0, at = w->first; i < WINDOW && at != 0; i++) {
        uint32_t own = c->s->track[at - 1];
        for (uint32_t t = c->dealt ? own : 0; t < (c->dealt ? own + 1 : c->count); t++) {
            struct choice here = place(c, at - 1, t);
            if (here.start < best.start || (here.start == best.start && here.end < best.end)) {
                best = here;
                best.before = before;
            }
        }
        before = at;
        at = c->s->next[at - 1];
    }
    return best;
}

/* The grains of a level, in pieces of equal cost. */
static void deal(const struct simpler_hbg_plan *plan, struct simpler_hbg_track_scratch *s,
                 uint32_t count)
{
    uint32_t n = plan->grain_count;

    memset(s->level_cost, 0, n * sizeof(*s->level_cost));
    memset(s->level_dealt, 0, n * sizeof(*s->level_dealt));
    for (uint32_t g = 0; g < n; g++) {
        s->level[g] = 0;
        for (uint32_t e = plan->edge_from[g]; e < plan->edge_from[g + 1]; e++) {
            uint32_t after = s->level[plan->edges[e]] + 1;
            s->level[g] = after > s->level[g] ? after : s->level[g];
        }
        s->level_cost[s->level[g]] += s->cost[g];
    }
    for (uint32_t g = 0; g < n; g++) {
        uint64_t *dealt = &s->level_dealt[s->level[g]];
        uint64_t middle = *dealt + s->cost[g] / 2;
        s->track[g] = (uint8_t)(middle * count / s->level_cost[s->level[g]]);
        *dealt += s->cost[g];
    }
}

/* The sequence is in plan->track, and each grain's track in the scratch: sorts it by track. */
static void sort_by_track(struct simpler_hbg_plan *plan, struct simpler_hbg_track_scratch *s)
{
    uint32_t at[SIMPLER_HBG_MAX_TRACKS] = {0};

    for (uint32_t g = 0; g < plan->grain_count; g++)
        at[s->track[g]]++;
    plan->track_from[0] = 0;
    for (uint32_t t = 0; t < plan->track_count; t++) {
        plan->track_from[t + 1] = plan->track_from[t] + at[t];
        at[t] = plan->track_from[t];
    }
    /* The list is done with: its words hold the sequence meanwhile. */
    memcpy(s->next, plan->track, plan->grain_count * sizeof(*plan->track));
    for (uint32_t i = 0; i < plan->grain_count; i++)
        plan->track[at[s->track[s->next[i]]]++] = s->next[i];
}

/* The sequence, into plan->track, and the grains' tracks; how long it takes. */
static uint64_t make_sequence(struct schedule *c, uint32_t *sequence)
{
    const struct simpler_hbg_plan *plan = c->plan;
    struct simpler_hbg_track_scratch *s = c->s;
    struct waiting w = {0, 0};
    uint64_t longest = 0;

    turn_edges(plan, s);
    memset(c->free, 0, sizeof(c->free));
    for (uint32_t g = 0; g < plan->grain_count; g++) {
        if (s->missing[g] == 0)
            append(&w, s, g);
    }
    for (uint32_t i = 0; i < plan->grain_count; i++) {
        struct choice next = choose(c, &w);
        take_out(&w, s, next.before, next.grain);
        sequence[i] = next.grain;
        s->track[next.grain] = (uint8_t)next.track;
        s->end[next.grain] = c->free[next.track] = next.end;
        longest = next.end > longest ? next.end : longest;
        for (uint32_t u = s->users_from[next.grain]; u < s->users_from[next.grain + 1]; u++) {
            if (--s->missing[s->users[u]] == 0)
                append(&w, s, s->users[u]);
        }
    }
    return longest;
}

uint64_t simpler_hbg_tracks_make(struct simpler_hbg_plan *plan, uint32_t count,
                                 uint32_t handover_ns, struct simpler_hbg_track_scratch *s)
{
    struct schedule c = {plan, s, count, handover_ns, false, {0}};

    plan->track_count = count;
    uint64_t free_ns = make_sequence(&c, plan->track);
    deal(plan, s, count);
    c.dealt = true;
    uint64_t dealt_ns = make_sequence(&c, plan->track);
    if (free_ns < dealt_ns) {
        c.dealt = false;
        (void)make_sequence(&c, plan->track);
    }
    sort_by_track(plan, s);
    return free_ns < dealt_ns ? free_ns : dealt_ns;
}
