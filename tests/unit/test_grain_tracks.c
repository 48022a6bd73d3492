/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SY-02: tracks of random graphs of grains hold each grain once, can be gone along in any way
 * without a wait for ever, and take no less than the work and the longest path; those of a
 * stencil keep neighbours together.
 */
#include <stdlib.h>
#include <string.h>

#include "cm.h"
#include "hbg/grain_plan.h"
#include "kit.h"

#define MAX_GRAINS 300u
#define MAX_EDGES  (MAX_GRAINS * 4u)

static uint32_t edge_from[MAX_GRAINS + 2], edges[MAX_EDGES], track[MAX_GRAINS + 1];

static struct simpler_hbg_plan new_plan(void)
{
    return (struct simpler_hbg_plan){.edge_from = edge_from, .edges = edges, .track = track};
}

/* Up to four producers each, the latest first, as a plan has them. */
static void random_graph(struct simpler_hbg_plan *plan, struct simpler_hbg_track_scratch *s,
                         uint64_t seed)
{
    uint64_t r = kit_mix(seed);
    uint32_t count = 0;

    plan->grain_count = 1 + (uint32_t)(r % MAX_GRAINS);
    for (uint32_t g = 0; g < plan->grain_count; g++) {
        edge_from[g] = count;
        uint32_t before = g;
        for (uint32_t e = 0; e < 4 && before > 0; e++) {
            r = kit_mix(r + e);
            if (r % 3 == 0)
                break;
            before -= 1 + (uint32_t)(r / 3 % (before < 9 ? before : 9));
            edges[count++] = before;
        }
        s->cost[g] = 1 + r / 64 % 500;
        s->fetches[g] = (uint32_t)(r / 7 % 5);
    }
    edge_from[plan->grain_count] = count;
}

static uint64_t longest_path(const struct simpler_hbg_plan *plan,
                             const struct simpler_hbg_track_scratch *s)
{
    static uint64_t end[MAX_GRAINS];
    uint64_t longest = 0;

    for (uint32_t g = 0; g < plan->grain_count; g++) {
        uint64_t start = 0;
        for (uint32_t e = edge_from[g]; e < edge_from[g + 1]; e++)
            start = end[edges[e]] > start ? end[edges[e]] : start;
        end[g] = start + s->cost[g];
        longest = end[g] > longest ? end[g] : longest;
    }
    return longest;
}

/* One of the tracks whose first grain is ready goes on, at random, until all are done. */
static void go_along(const struct simpler_hbg_plan *plan, uint64_t seed)
{
    static uint8_t done[MAX_GRAINS];
    uint32_t at[SIMPLER_HBG_MAX_TRACKS], left = plan->grain_count;

    memset(done, 0, sizeof(done));
    memcpy(at, plan->track_from, sizeof(at));
    for (uint64_t i = 0, idle = 0; left > 0; i++) {
        uint32_t t = (uint32_t)(kit_mix(seed + i) % plan->track_count);
        bool ready = at[t] < plan->track_from[t + 1];
        uint32_t g = ready ? track[at[t]] : 0;
        for (uint32_t e = edge_from[g]; ready && e < edge_from[g + 1]; e++)
            ready = done[edges[e]] != 0;
        idle = ready ? 0 : idle + 1;
        assert_true(idle < 1000);
        if (!ready)
            continue;
        assert_int_equal(done[g], 0);
        done[g] = 1;
        at[t]++;
        left--;
    }
}

static void tracks_of_random_graphs(void **state)
{
    struct simpler_hbg_track_scratch s;
    (void)state;

    assert_int_equal(simpler_hbg_track_scratch_init(&s, MAX_GRAINS, MAX_EDGES), 0);
    for (uint64_t seed = 0; seed < 1500; seed++) {
        struct simpler_hbg_plan plan = new_plan();
        uint32_t count = 2 + (uint32_t)(kit_mix(seed) / 5 % (SIMPLER_HBG_MAX_TRACKS - 1));
        uint64_t work = 0;
        random_graph(&plan, &s, seed);
        for (uint32_t g = 0; g < plan.grain_count; g++)
            work += s.cost[g];
        uint64_t ns = simpler_hbg_tracks_make(&plan, count, (uint32_t)(seed % 400), &s);
        assert_int_equal(plan.track_count, count);
        assert_int_equal(plan.track_from[0], 0);
        assert_int_equal(plan.track_from[count], plan.grain_count);
        assert_true(ns >= longest_path(&plan, &s));
        assert_true(ns * count >= work);
        go_along(&plan, seed);
    }
    simpler_hbg_track_scratch_fini(&s);
}

/* Rows of eight that each need three of the row before: two tracks are two halves of a row. */
static void a_stencil_is_split_down_the_middle(void **state)
{
    struct simpler_hbg_track_scratch s;
    struct simpler_hbg_plan plan = new_plan();
    uint32_t count = 0;
    (void)state;

    assert_int_equal(simpler_hbg_track_scratch_init(&s, MAX_GRAINS, MAX_EDGES), 0);
    plan.grain_count = 240;
    for (uint32_t g = 0; g < plan.grain_count; g++) {
        edge_from[g] = count;
        for (int k = 1; k >= -1 && g >= 8; k--) {
            if ((int)(g % 8) + k >= 0 && (int)(g % 8) + k < 8)
                edges[count++] = (uint32_t)((int)g - 8 + k);
        }
        s.cost[g] = 60;
        s.fetches[g] = edge_from[g] == count ? 0 : count - edge_from[g];
    }
    edge_from[plan.grain_count] = count;
    uint64_t ns = simpler_hbg_tracks_make(&plan, 2, 100, &s);
    for (uint32_t t = 0; t < 2; t++) {
        for (uint32_t i = plan.track_from[t]; i < plan.track_from[t + 1]; i++)
            assert_int_equal(track[i] % 8 / 4, t);
    }
    assert_int_equal(plan.track_from[1], 120);
    /* The half of the work is 7,200: hand-overs hide behind the other grains. */
    assert_in_range(ns, 7200, 9000);
    simpler_hbg_track_scratch_fini(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tracks_of_random_graphs),
        cmocka_unit_test(a_stencil_is_split_down_the_middle),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
