/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What diagnostics see of stretches of tasks that pass through (tmr/passing.h): samples of scope
 * stats with the values that the documents' rules give (worked out beside the scene), an args dump
 * and a hazard check that see every task.
 */
#include <stdlib.h>
#include <string.h>

#include "cm.h"
#include "kit.h"
#include "passing_rig.h"
#include "scope_file.h"

static struct kit kit;
static struct simpler_run_result result;
static char prefix[128];
static uint64_t cells[8];

static int add_kernel(const int64_t *args, uint32_t tensors, void *user)
{
    uint64_t *value = simpler_kernel_data(args, tensors - 1);
    *value = *value * 3 + (uint64_t)(uintptr_t)user;
    return 0;
}

static int add(struct simpler_orch *orch, uint32_t index, enum simpler_tensor_use use, uint64_t n)
{
    struct simpler_tensor tensor = kit_tensor(&cells[index], 1, SIMPLER_DTYPE_UINT64);
    struct simpler_task_args args;

    simpler_task_args_reset(&args);
    simpler_task_args_add(&args, &tensor, use);
    return kit_submit(orch, &args, add_kernel, (void *)(uintptr_t)n, NULL);
}

static void adds(struct simpler_orch *orch, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        KIT_EXPECT_EQUAL(add(orch, i % 8, SIMPLER_USE_INOUT, i), 0);
}

/* ---- scope stats ---- */

static int line_a, line_b, line_c, line_d;

/*
 * Everything is done and retired at each boundary, but for the task that made an OUTPUT: that one
 * is held with what comes after it in its ring, until its scope ends.
 */
static void scopes(struct simpler_orch *orch, void *user)
{
    struct simpler_create_info info = kit_info(256, SIMPLER_DTYPE_UINT64); /* 2048 bytes */
    struct simpler_task_outputs out;
    (void)user;

    passing_all_short(orch);
    adds(orch, 100);
    KIT_EXPECT(passing_is_open(orch));
    line_a = __LINE__ + 1;
    SIMPLER_SCOPE(orch)
    {
        adds(orch, 300);
        line_b = __LINE__ + 1;
        SIMPLER_SCOPE(orch)
        {
            adds(orch, 7);
            KIT_EXPECT(passing_is_open(orch));
        }
        adds(orch, 1);
    }
    adds(orch, 511);
    line_c = __LINE__ + 1;
    SIMPLER_SCOPE(orch)
    {
        adds(orch, 2);
        KIT_EXPECT_EQUAL(simpler_orch_alloc_tensors(orch, &info, 1, &out), 0);
        for (int i = 0; i < 5; i++) /* held: none passes */
            KIT_EXPECT_EQUAL(passing_nop(orch, 0, NULL), 0);
        KIT_EXPECT(!passing_is_open(orch));
    }
    line_d = __LINE__ + 1;
    SIMPLER_SCOPE(orch)
    adds(orch, 50);
    adds(orch, 3);
    KIT_EXPECT(passing_is_open(orch));
}

struct expected {
    const int *line;
    const char *phase;
    long depth, ring;
    unsigned long long task_start, task_end, heap_start, heap_end;
};

static const int root = 1; /* the kit's callable says kit.c:1 */

static const struct expected expected[] = {
    {&root, "begin", 0, 0, 0, 0, 0, 0},
    {&line_a, "begin", 1, 1, 0, 0, 0, 0},
    {&line_b, "begin", 2, 2, 0, 0, 0, 0},
    {&line_b, "end", 2, 2, 7, 7, 0, 0},
    {&line_a, "end", 1, 1, 301, 301, 0, 0},
    {&line_c, "begin", 1, 1, 301, 301, 0, 0},
    /* Held from its third task on: the allocation and five more. */
    {&line_c, "end", 1, 1, 303, 309, 0, 2048},
    {&line_d, "begin", 1, 1, 309, 309, 2048, 2048},
    {&line_d, "end", 1, 1, 359, 359, 2048, 2048},
    {&root, "end", 0, 0, 614, 614, 0, 0},
};
#define SAMPLES (sizeof(expected) / sizeof(expected[0]))

static void compare(const struct scope_file_sample *s, const struct expected *e)
{
    if (s->line != *e->line || strcmp(s->phase, e->phase) != 0 || s->depth != e->depth ||
        s->ring != e->ring || s->task_start != e->task_start || s->task_end != e->task_end ||
        s->heap_start != e->heap_start || s->heap_end != e->heap_end || s->pool_start != 1 ||
        s->pool_end != 1 || s->tensormap != 0)
        fail_msg("%s of depth %ld at line %d: line %ld %s depth %ld ring %ld, tasks %llu..%llu, "
                 "heap %llu..%llu, pool %llu..%llu, map %llu",
                 e->phase, e->depth, *e->line, s->line, s->phase, s->depth, s->ring, s->task_start,
                 s->task_end, s->heap_start, s->heap_end, s->pool_start, s->pool_end, s->tensormap);
}

static void samples_show_every_task_of_a_stretch(void **state)
{
    (void)state;
    for (uint32_t threads = 1; threads <= 2; threads++) {
        struct simpler_call_config config = kit_config(threads);
        config.enable_scope_stats = 1;
        config.output_prefix = prefix;
        assert_int_equal(kit_run(&kit, scopes, NULL, &config, &result), 0);
        assert_int_equal(result.scope_stats.status, 0);
        struct scope_file file = scope_file_read(prefix);
        assert_int_equal(file.count, SAMPLES);
        for (uint32_t i = 0; i < SAMPLES; i++)
            compare(&file.samples[i], &expected[i]);
        scope_file_free(&file);
    }
}

/* ---- args dump ---- */

static void chain(struct simpler_orch *orch, void *user)
{
    uint64_t *all = user;

    passing_all_short(orch);
    adds(orch, 700);
    *all = passing_is_open(orch);
}

static void a_dump_sees_every_task(void **state)
{
    (void)state;
    uint64_t without[8], open;

    memset(cells, 0, sizeof(cells));
    struct simpler_call_config config = kit_config(1);
    assert_int_equal(kit_run(&kit, chain, &open, &config, &result), 0);
    assert_true(open);
    memcpy(without, cells, sizeof(cells));
    config.output_prefix = prefix;
    for (uint32_t level = 1; level <= 2; level++) {
        memset(cells, 0, sizeof(cells));
        config.enable_dump_args = level;
        assert_int_equal(kit_run(&kit, chain, &open, &config, &result), 0);
        assert_false(open);
        assert_memory_equal(cells, without, sizeof(cells));
        assert_int_equal(result.stats.tasks_run, 700);
        /* Level 1: what tasks select, nothing.  2: tensor before and after, two scalars. */
        assert_int_equal(result.args_dump.records, level == 1 ? 0 : 4 * 700);
    }
}

/* ---- the hazard check ---- */

/* Each of 300 tasks reads, task 300 writes what they read: under hazards raw nothing orders them.
 */
static void readers_and_a_writer(struct simpler_orch *orch, void *user)
{
    (void)user;
    passing_all_short(orch);
    for (uint32_t i = 0; i < 300; i++)
        KIT_EXPECT_EQUAL(add(orch, 0, SIMPLER_USE_INPUT, 0), 0);
    KIT_EXPECT(!passing_is_open(orch));
    KIT_EXPECT_EQUAL(add(orch, 0, SIMPLER_USE_OUTPUT_EXISTING, 1), 0);
}

static void the_hazard_check_sees_every_task(void **state)
{
    (void)state;
    struct simpler_call_config config = kit_config(1);

    config.hazards = SIMPLER_HAZARDS_RAW;
    config.check_hazards = 1;
    assert_int_equal(kit_run(&kit, readers_and_a_writer, NULL, &config, &result), 0);
    assert_int_equal(result.stats.unordered_pairs, 300);
}

static int open_all(void **state)
{
    (void)state;
    scope_file_make_prefix(prefix);
    kit_open(&kit);
    return 0;
}

static int close_all(void **state)
{
    (void)state;
    kit_close(&kit);
    scope_file_remove_prefix(prefix);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(samples_show_every_task_of_a_stretch),
        cmocka_unit_test(a_dump_sees_every_task),
        cmocka_unit_test(the_hazard_check_sees_every_task),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
