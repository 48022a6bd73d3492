/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stretches of tasks that pass through (docs/architecture.md, life of a task, 4): ids, counts,
 * arguments and refusals are those that every submit promises, whatever comes between.
 */
#include <string.h>

#include "cm.h"
#include "kit.h"
#include "passing_rig.h"
#include "tmr/passing.h"

static struct kit kit;
static struct simpler_run_result result;
static uint64_t cells[64];

#define RINGS CHIP_MAX_RING_DEPTH

static struct simpler_tensor cell(uint32_t index)
{
    return kit_tensor(&cells[index], 1, SIMPLER_DTYPE_UINT64);
}

static int add_kernel(const int64_t *args, uint32_t tensors, void *user)
{
    uint64_t *value = simpler_kernel_data(args, tensors - 1);
    *value = *value * 3 + (uint64_t)(uintptr_t)user;
    return 0;
}

static void must_pass(kit_orch fn, void *user, uint32_t threads)
{
    struct simpler_call_config config = kit_config(threads);
    int rc = kit_run(&kit, fn, user, &config, &result);

    if (rc != 0)
        fail_msg("%d: %s", rc, result.message);
}

/* What the documents say of the ring of a scope. */
static uint32_t ring_of(uint32_t depth)
{
    return depth < RINGS ? depth : RINGS - 1;
}

/* ---- random calls between tasks, with what each of them counts worked out beside it ---- */

struct model {
    struct kit_random random;
    uint32_t depth;
    bool manual[8];
    uint64_t next[RINGS];
    uint64_t run, skipped, blocks; /* kernels, tasks whose predicate does not hold */
    uint64_t cell[8];
    uint64_t opened; /* stretches seen */
    struct simpler_task_id last;
    bool has_last;
};

/* A task was submitted and answered @out. */
static void note_task(struct model *m, const struct simpler_task_outputs *out, uint32_t outputs)
{
    uint32_t ring = ring_of(m->depth);

    if (out != NULL) {
        KIT_EXPECT_EQUAL(out->id.raw, (uint64_t)ring << 32 | m->next[ring]);
        KIT_EXPECT_EQUAL(out->count, outputs);
        m->last = out->id;
        m->has_last = true;
    }
    m->next[ring]++;
}

/* AIC or AIV, with and without a tensor, with and without a place for the answer. */
static void plain(struct simpler_orch *orch, struct model *m)
{
    struct simpler_task_outputs out, *to = kit_random_chance(&m->random, 50) ? &out : NULL;
    uint32_t variant = kit_random_chance(&m->random, 50) ? 0 : KIT_AIV_VARIANTS;
    uint32_t i = kit_random_below(&m->random, 8);
    struct simpler_tensor tensor = cell(i);
    struct simpler_task_args args;

    memset(&out, 0xab, sizeof(out));
    simpler_task_args_reset(&args);
    if (m->manual[m->depth] || kit_random_chance(&m->random, 30)) {
        KIT_EXPECT_EQUAL(kit_submit_variant(orch, variant, &args, kit_nop_kernel, NULL, to), 0);
    } else {
        uint64_t number = kit_random_next(&m->random);
        simpler_task_args_add_inout(&args, &tensor);
        KIT_EXPECT_EQUAL(
            kit_submit_variant(orch, variant, &args, add_kernel, (void *)(uintptr_t)number, to), 0);
        m->cell[i] = m->cell[i] * 3 + number;
    }
    m->run++;
    m->opened += passing_is_open(orch);
    note_task(m, to, 0);
}

static void graph_of_three(struct simpler_orch *orch, const struct simpler_graph_args *args)
{
    (void)args;
    for (int i = 0; i < 3; i++)
        KIT_EXPECT_EQUAL(passing_nop(orch, 0, NULL), 0);
}

/* An extra: predicate, blocks, timing slot. */
static void extra(struct simpler_orch *orch, struct model *m, uint32_t which)
{
    static uint64_t seven = 7;
    struct simpler_tensor tensor = kit_tensor(&seven, 1, SIMPLER_DTYPE_UINT64);
    struct simpler_predicate predicate = {&tensor, {0}, SIMPLER_PREDICATE_EQ, 0};
    struct simpler_task_outputs out;
    struct simpler_task_args args;

    simpler_task_args_reset(&args);
    if (which == 0) {
        bool holds = kit_random_chance(&m->random, 50);
        predicate.target = holds ? 7 : 8;
        simpler_task_args_set_predicate(&args, &predicate);
        m->run += holds;
        m->blocks += holds;
        m->skipped += !holds;
    } else if (which == 1) {
        simpler_task_args_set_block_num(&args, 2);
        m->run++;
        m->blocks += 2;
    } else {
        simpler_task_args_set_task_timing_slot(&args, 3);
        m->run++;
        m->blocks++;
    }
    KIT_EXPECT_EQUAL(kit_submit_variant(orch, 0, &args, kit_nop_kernel, NULL, &out), 0);
    note_task(m, &out, 0);
}

/* Tasks that are not one call of one kernel. */
static void other_task(struct simpler_orch *orch, struct model *m)
{
    struct simpler_mixed_kernels mixed = {(int32_t)(KIT_VARIANT * KIT_AIV_VARIANTS), 0, -1};
    struct simpler_create_info info = kit_info(8, SIMPLER_DTYPE_UINT64);
    struct simpler_task_outputs out;
    struct simpler_task_args args;
    uint32_t which = kit_random_below(&m->random, 8);

    simpler_task_args_reset(&args);
    if (which == 0) {
        KIT_EXPECT_EQUAL(simpler_orch_alloc_tensors(orch, &info, 1, &out), 0);
        note_task(m, &out, 1);
    } else if (which == 1) {
        KIT_EXPECT_EQUAL(simpler_orch_submit_dummy(orch, &args, &out), 0);
        note_task(m, &out, 0);
    } else if (which == 2) {
        kit_add_call(&args, kit_nop_kernel, NULL);
        KIT_EXPECT_EQUAL(simpler_orch_submit_mixed(orch, &mixed, &args, &out), 0);
        note_task(m, &out, 0);
        m->run++;
        m->blocks += 2;
    } else if (which == 3) {
        simpler_task_args_add_create(&args, &info);
        KIT_EXPECT_EQUAL(kit_submit(orch, &args, kit_nop_kernel, NULL, &out), 0);
        note_task(m, &out, 1);
        m->run++;
    } else if (which == 4) {
        KIT_EXPECT_EQUAL(simpler_orch_submit_graph(orch, graph_of_three, &args, NULL, 0), 0);
        m->next[ring_of(m->depth)] += 3;
        m->run += 3;
    } else {
        extra(orch, m, which - 5);
    }
}

/* Calls that are no task, and an explicit dependency on the last id that was told. */
static void other_call(struct simpler_orch *orch, struct model *m)
{
    uint32_t i = kit_random_below(&m->random, 8), index = 0;
    struct simpler_tensor tensor = cell(i);
    struct simpler_task_args args;
    struct simpler_task_outputs out;
    uint64_t value = kit_random_next(&m->random);

    switch (kit_random_below(&m->random, 5)) {
    case 0:
        KIT_EXPECT_EQUAL(simpler_orch_get_tensor_data(orch, &tensor, &index, &value), 0);
        KIT_EXPECT(value == m->cell[i]);
        break;
    case 1:
        KIT_EXPECT_EQUAL(simpler_orch_set_tensor_data(orch, &tensor, &index, &value), 0);
        m->cell[i] = value;
        break;
    case 2:
        KIT_EXPECT(!simpler_orch_is_fatal(orch));
        break;
    case 3:
        KIT_EXPECT(simpler_orch_available_cluster_count(orch) >= 1);
        break;
    default:
        if (!m->has_last)
            break;
        simpler_task_args_reset(&args);
        simpler_task_args_set_dependencies(&args, &m->last, 1);
        KIT_EXPECT_EQUAL(kit_submit(orch, &args, kit_nop_kernel, NULL, &out), 0);
        note_task(m, &out, 0);
        m->run++;
    }
}

static void scope_boundary(struct simpler_orch *orch, struct model *m)
{
    if (m->depth != 0 && kit_random_chance(&m->random, m->depth == 4 ? 100 : 50)) {
        KIT_EXPECT_EQUAL(simpler_orch_scope_end(orch), 0);
        m->depth--;
        return;
    }
    /* Inside a manual scope there are only manual ones. */
    bool manual = m->manual[m->depth] || kit_random_chance(&m->random, 25);
    KIT_EXPECT_EQUAL(
        simpler_orch_scope_begin(orch, manual ? SIMPLER_SCOPE_MANUAL : SIMPLER_SCOPE_AUTO), 0);
    m->manual[++m->depth] = manual;
}

static void random_calls(struct simpler_orch *orch, void *user)
{
    static const uint32_t lengths[] = {0, 1, 2, 3, 64, 65, 130, 254, 255, 256, 257, 258, 511, 512};
    struct model *m = user;

    passing_all_short(orch);
    for (int step = 0; step < 150; step++) {
        uint32_t n = lengths[kit_random_below(&m->random, sizeof(lengths) / sizeof(*lengths))];
        for (uint32_t i = 0; i < n; i++)
            plain(orch, m);
        uint32_t kind = kit_random_below(&m->random, 10);
        if (kind < 4)
            scope_boundary(orch, m);
        else if (kind < 7)
            other_call(orch, m);
        else
            other_task(orch, m);
    }
    while (m->depth > 0) {
        KIT_EXPECT_EQUAL(simpler_orch_scope_end(orch), 0);
        m->depth--;
    }
}

static void check_counts(const struct model *m)
{
    uint64_t tasks = 0;

    for (uint32_t r = 0; r < RINGS; r++) {
        assert_int_equal(result.stats.ring[r].tasks, m->next[r]);
        if (m->next[r] != 0)
            assert_in_range(result.stats.ring[r].task_window_peak, 1,
                            result.stats.ring[r].task_window_max - 1);
        else
            assert_int_equal(result.stats.ring[r].task_window_peak, 0);
        tasks += m->next[r];
    }
    assert_int_equal(result.stats.tasks, tasks);
    assert_int_equal(result.stats.tasks_run, m->run);
    assert_int_equal(result.stats.tasks_skipped, m->skipped);
    assert_int_equal(result.stats.blocks_run, m->blocks);
    assert_int_equal(result.stats.tasks_failed + result.stats.tasks_poisoned, 0);
    assert_int_equal(simpler_worker_progress(kit.worker), tasks);
    assert_memory_equal(cells, m->cell, sizeof(m->cell));
}

static void ids_and_counts_are_exact_whatever_comes_between(void **state)
{
    (void)state;
    uint32_t seeds = kit_is_sanitized() ? 6 : 20;
    uint64_t opened = 0;

    for (uint32_t seed = 0; seed < seeds; seed++) {
        struct model m = {.random = {seed}};
        memset(cells, 0, sizeof(cells));
        must_pass(random_calls, &m, 1 + seed % 2);
        check_counts(&m);
        opened += m.opened;
    }
    assert_true(opened > 1000);
}

/* ---- runs of so many tasks and nothing else ---- */

static void so_many(struct simpler_orch *orch, void *user)
{
    uint32_t n = *(uint32_t *)user;
    struct simpler_task_outputs out;

    passing_all_short(orch);
    for (uint32_t i = 0; i < n; i++) {
        KIT_EXPECT_EQUAL(passing_nop(orch, 0, i % 3 == 0 ? &out : NULL), 0);
        KIT_EXPECT(i % 3 != 0 || (out.id.raw == i && out.count == 0));
    }
}

static void any_number_of_tasks_is_counted(void **state)
{
    (void)state;
    static const uint32_t counts[] = {0,   1,   2,   3,   254, 255, 256,  257,   258,
                                      510, 511, 512, 513, 767, 768, 1024, 100000};

    for (uint32_t i = 0; i < sizeof(counts) / sizeof(*counts); i++) {
        uint32_t n = counts[i];
        must_pass(so_many, &n, 1);
        assert_int_equal(result.stats.tasks, n);
        assert_int_equal(result.stats.tasks_run, n);
        assert_int_equal(result.stats.ring[0].tasks, n);
        assert_int_equal(result.stats.ring[0].task_window_peak, n != 0);
        assert_int_equal(simpler_worker_progress(kit.worker), n);
    }
}

/* ---- scopes ---- */

/* Behind a boundary there is another stretch, but not where a scope holds its ring. */
static void over_boundaries(struct simpler_orch *orch, void *user)
{
    struct simpler_create_info info = kit_info(8, SIMPLER_DTYPE_UINT64);
    struct simpler_task_outputs out;
    (void)user;

    passing_all_short(orch);
    passing_open(orch, 0, 40);
    SIMPLER_SCOPE(orch)
    {
        SIMPLER_SCOPE(orch)
        {
            KIT_EXPECT(passing_is_open(orch));
            KIT_EXPECT_EQUAL(passing_nop(orch, 0, &out), 0);
            KIT_EXPECT_EQUAL(out.id.raw, (uint64_t)2 << 32);
        }
    }
    KIT_EXPECT(passing_is_open(orch));
    KIT_EXPECT_EQUAL(passing_nop(orch, 0, NULL), 0);
    KIT_EXPECT_EQUAL(simpler_orch_alloc_tensors(orch, &info, 1, &out), 0); /* holds ring 0 */
    KIT_EXPECT(!passing_is_open(orch));
    SIMPLER_SCOPE(orch)
    {
        passing_open(orch, 0, 10);
    }
    KIT_EXPECT(!passing_is_open(orch));
    KIT_EXPECT_EQUAL(passing_nop(orch, 0, &out), 0);
    KIT_EXPECT(!passing_is_open(orch));
}

static void a_stretch_goes_on_behind_a_boundary_unless_the_ring_is_held(void **state)
{
    (void)state;
    must_pass(over_boundaries, NULL, 1);
    assert_int_equal(result.stats.ring[2].tasks, 1);
    assert_int_equal(result.stats.ring[2].task_window_peak, 1);
}

/* ---- one stretch after the other ---- */

/* No task between them takes the slow way, unless its kernel is to be timed. */
static void one_after_the_other(struct simpler_orch *orch, void *user)
{
    (void)user;
    passing_all_short(orch);
    passing_open(orch, 0, 40);
    orch->thread->timing = 5000;
    for (uint32_t i = 0; i < 2000; i++) {
        KIT_EXPECT_EQUAL(passing_nop(orch, 0, NULL), 0);
        KIT_EXPECT(passing_is_open(orch));
    }
    /* The 101st kernel is timed, which says when another one is: soon, if it took long. */
    simpler_passing_end(orch);
    orch->thread->timing = 100;
    for (uint32_t i = 0; i < 101; i++)
        KIT_EXPECT_EQUAL(passing_nop(orch, 0, NULL), 0);
    KIT_EXPECT(orch->thread->timing < 10000);
}

static void stretches_follow_each_other(void **state)
{
    (void)state;
    must_pass(one_after_the_other, NULL, 1);
}

/* ---- the number of submits wraps ---- */

/* A mark that an early submit has left would be taken for one of the submit with that number. */
static void wraps(struct simpler_orch *orch, void *user)
{
    uint32_t left = *(uint32_t *)user;

    passing_all_short(orch);
    passing_open(orch, 0, 40);
    simpler_passing_end(orch);
    orch->submit_seq = orch->looked_seq = 0 - left;
    orch->device->table.slot[0].mark = orch->device->table.slot[7].mark = 1;
    for (uint32_t i = 0; i < left; i++)
        KIT_EXPECT_EQUAL(passing_nop(orch, 0, NULL), 0);
    simpler_passing_end(orch);
    KIT_EXPECT_EQUAL(orch->submit_seq, 1);
    KIT_EXPECT_EQUAL(orch->device->table.slot[0].mark, 0);
    KIT_EXPECT_EQUAL(orch->device->table.slot[7].mark, 0);
}

static void the_number_of_submits_may_wrap_in_a_stretch(void **state)
{
    (void)state;
    for (uint32_t left = 1; left <= 600; left += 37)
        must_pass(wraps, &left, 1);
}

/* ---- an id that has not been given ---- */

static void depends_on_the_future(struct simpler_orch *orch, void *user)
{
    uint32_t ahead = *(uint32_t *)user;
    struct simpler_task_outputs out;
    struct simpler_task_args args;

    passing_all_short(orch);
    passing_open(orch, 0, 20);
    for (int i = 0; i < 9; i++)
        KIT_EXPECT_EQUAL(passing_nop(orch, 0, &out), 0);
    KIT_EXPECT(passing_is_open(orch));
    struct simpler_task_id id = {out.id.raw + ahead};
    simpler_task_args_reset(&args);
    simpler_task_args_set_dependencies(&args, &id, 1);
    KIT_EXPECT_EQUAL(kit_submit(orch, &args, kit_nop_kernel, NULL, &out),
                     ahead == 0 ? 0 : -SIMPLER_CODE_INVALID_ARGS);
    KIT_EXPECT(ahead == 0 ? out.id.raw == id.raw + 1 : out.id.raw == SIMPLER_TASK_ID_NONE);
}

static void only_ids_that_were_given_can_be_named(void **state)
{
    (void)state;
    for (uint32_t ahead = 0; ahead < 3; ahead++) {
        struct simpler_call_config config = kit_config(1);
        assert_int_equal(kit_run(&kit, depends_on_the_future, &ahead, &config, &result),
                         ahead == 0 ? 0 : -SIMPLER_CODE_INVALID_ARGS);
        assert_int_equal(strstr(result.message, "dependency 0 names no task") != NULL, ahead != 0);
    }
}

/* ---- a fatal error that the orchestration reports ---- */

static void gives_up(struct simpler_orch *orch, void *user)
{
    struct simpler_task_outputs out;
    uint64_t *tasks = user;

    passing_all_short(orch);
    *tasks = passing_open(orch, 0, 20) + 7;
    for (int i = 0; i < 7; i++)
        KIT_EXPECT_EQUAL(passing_nop(orch, 0, NULL), 0);
    simpler_orch_report_fatal(orch, SIMPLER_CODE_EXPLICIT_ORCH_FATAL, "given up");
    KIT_EXPECT(simpler_orch_is_fatal(orch));
    KIT_EXPECT_EQUAL(passing_nop(orch, 0, &out), -SIMPLER_CODE_EXPLICIT_ORCH_FATAL);
    KIT_EXPECT(out.id.raw == SIMPLER_TASK_ID_NONE && out.count == 0);
}

static void a_reported_error_ends_it(void **state)
{
    (void)state;
    struct simpler_call_config config = kit_config(1);
    uint64_t tasks;

    assert_int_equal(kit_run(&kit, gives_up, &tasks, &config, &result),
                     -SIMPLER_CODE_EXPLICIT_ORCH_FATAL);
    assert_non_null(strstr(result.message, "given up"));
    assert_int_equal(result.stats.tasks, tasks);
    assert_int_equal(result.stats.tasks_run, tasks);
}

/* A kernel may not call it; where one does, all is counted nonetheless. */
static int fatal_kernel(const int64_t *args, uint32_t tensors, void *user)
{
    (void)args;
    (void)tensors;
    simpler_orch_report_fatal(user, SIMPLER_CODE_EXPLICIT_ORCH_FATAL, "from a kernel");
    return 0;
}

static void gives_up_in_a_kernel(struct simpler_orch *orch, void *user)
{
    struct simpler_task_args args;
    uint64_t *tasks = user;

    passing_all_short(orch);
    *tasks = passing_open(orch, 0, 20);
    simpler_task_args_reset(&args);
    KIT_EXPECT_EQUAL(kit_submit(orch, &args, fatal_kernel, orch, NULL), 0);
    (*tasks)++;
    KIT_EXPECT_EQUAL(passing_nop(orch, 0, NULL), -SIMPLER_CODE_EXPLICIT_ORCH_FATAL);
}

static void a_kernel_that_gives_up_is_counted(void **state)
{
    (void)state;
    struct simpler_call_config config = kit_config(1);
    uint64_t tasks;

    assert_int_equal(kit_run(&kit, gives_up_in_a_kernel, &tasks, &config, &result),
                     -SIMPLER_CODE_EXPLICIT_ORCH_FATAL);
    assert_non_null(strstr(result.message, "from a kernel"));
    assert_int_equal(result.stats.tasks, tasks);
    assert_int_equal(simpler_worker_progress(kit.worker), tasks);
}

/* ---- the last ids of a ring ---- */

static void the_last_ids(struct simpler_orch *orch, void *user)
{
    uint32_t left = *(uint32_t *)user, ring = orch->current;
    struct simpler_task_outputs out;

    passing_all_short(orch);
    passing_open(orch, 0, 40);
    KIT_EXPECT(!simpler_orch_is_fatal(orch));
    /* Then so many ids are left. */
    simpler_passing_end(orch);
    orch->ring[ring].next = orch->ring[ring].done_from = SIMPLER_MAX_TASK_ID - left;
    orch->device->alive[ring] = SIMPLER_MAX_TASK_ID - left;
    for (uint32_t i = 0; i < left; i++) {
        KIT_EXPECT_EQUAL(passing_nop(orch, 0, &out), 0);
        KIT_EXPECT_EQUAL(out.id.raw, SIMPLER_MAX_TASK_ID - left + i);
    }
    KIT_EXPECT_EQUAL(passing_nop(orch, 0, &out), -SIMPLER_CODE_INVALID_ARGS);
    KIT_EXPECT(out.id.raw == SIMPLER_TASK_ID_NONE);
    KIT_EXPECT_EQUAL(orch->ring[ring].next, SIMPLER_MAX_TASK_ID);
}

static void a_stretch_does_not_pass_the_last_id(void **state)
{
    (void)state;
    static const uint32_t lefts[] = {0, 1, 2, 3, 10, 100, 254, 255, 256, 300};

    for (uint32_t i = 0; i < sizeof(lefts) / sizeof(*lefts); i++) {
        uint32_t left = lefts[i];
        struct simpler_call_config config = kit_config(1);
        assert_int_equal(kit_run(&kit, the_last_ids, &left, &config, &result),
                         -SIMPLER_CODE_INVALID_ARGS);
        assert_non_null(strstr(result.message, "ring 0 has had 2^32 - 2 tasks"));
    }
}

KIT_FIXTURE(kit)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ids_and_counts_are_exact_whatever_comes_between),
        cmocka_unit_test(any_number_of_tasks_is_counted),
        cmocka_unit_test(a_stretch_goes_on_behind_a_boundary_unless_the_ring_is_held),
        cmocka_unit_test(stretches_follow_each_other),
        cmocka_unit_test(the_number_of_submits_may_wrap_in_a_stretch),
        cmocka_unit_test(only_ids_that_were_given_can_be_named),
        cmocka_unit_test(a_reported_error_ends_it),
        cmocka_unit_test(a_kernel_that_gives_up_is_counted),
        cmocka_unit_test(a_stretch_does_not_pass_the_last_id),
    };
    return cmocka_run_group_tests(tests, open_kit, close_kit);
}
