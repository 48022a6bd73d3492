/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which boundaries are recorded: scopes left by every way out of a block, scopes
 * deeper than the stack, fatals, cancels, runs one after the other.
 *
 * SS-01 SS-02 SS-04 SS-06 SS-07 SS-08 SS-13 SS-28 SS-36
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cm.h"
#include "kit.h"
#include "report/scope_model.h"
#include "scope_file.h"
#include "simpler/log.h"

static struct kit kit;
static struct simpler_run_result result;
static char prefix[128];

static struct simpler_call_config stats_config(uint32_t threads)
{
    struct simpler_call_config config = kit_config(threads);

    config.enable_scope_stats = 1;
    config.output_prefix = prefix;
    return config;
}

static int run(kit_orch fn, void *user)
{
    struct simpler_call_config config = stats_config(2);
    return kit_run(&kit, fn, user, &config, &result);
}

/* "line phase depth" of each sample, the kit's root as 0. */
struct boundary {
    const int *line;
    const char *phase;
    long depth;
};

static void check_boundaries(const struct boundary *expected, uint32_t count)
{
    struct scope_file file = scope_file_read(prefix);

    assert_int_equal(file.count, count);
    for (uint32_t i = 0; i < count; i++) {
        const struct scope_file_sample *s = &file.samples[i];
        if (s->line != *expected[i].line || strcmp(s->phase, expected[i].phase) != 0 ||
            s->depth != expected[i].depth)
            fail_msg("sample %u is line %ld %s depth %ld, not line %d %s depth %ld", i, s->line,
                     s->phase, s->depth, *expected[i].line, expected[i].phase, expected[i].depth);
        assert_int_equal(s->ring, s->depth < 3 ? s->depth : 3);
    }
    scope_file_free(&file);
}
#define CHECK(expected) check_boundaries(expected, sizeof(expected) / sizeof((expected)[0]))

static void metadata_starts(const char *text)
{
    struct scope_file file = scope_file_read(prefix);

    if (strncmp(file.metadata, text, strlen(text)) != 0)
        fail_msg("%s does not begin with %s", file.metadata, text);
    scope_file_free(&file);
}

static const int root = 1;

/* ---- ways out of a scope ---- */

static int by_return, by_break, by_continue, by_goto, two_out, two_in;

static void leave_by_return(struct simpler_orch *orch)
{
    by_return = __LINE__ + 1;
    SIMPLER_SCOPE(orch)
    {
        if (orch != NULL)
            return;
    }
}

static void leave_two_by_goto(struct simpler_orch *orch)
{
    two_out = __LINE__ + 1;
    SIMPLER_SCOPE(orch)
    {
        two_in = __LINE__ + 1;
        SIMPLER_SCOPE(orch)
        {
            goto out;
        }
    }
out:
    return;
}

static void ways_out(struct simpler_orch *orch, void *user)
{
    (void)user;
    leave_by_return(orch);
    for (int i = 0; i < 2; i++) {
        by_break = __LINE__ + 1;
        SIMPLER_SCOPE(orch)
        {
            break; /* of the scope's own loop, as documented */
        }
    }
    by_continue = __LINE__ + 1;
    SIMPLER_SCOPE(orch)
    {
        continue;
    }
    by_goto = __LINE__ + 1;
    SIMPLER_SCOPE(orch)
    {
        goto behind;
    }
behind:
    leave_two_by_goto(orch);
}

static void every_way_out_ends_a_scope(void **state)
{
    (void)state;
    static const struct boundary expected[] = {
        {&root, "begin", 0},     {&by_return, "begin", 1},   {&by_return, "end", 1},
        {&by_break, "begin", 1}, {&by_break, "end", 1},      {&by_break, "begin", 1},
        {&by_break, "end", 1},   {&by_continue, "begin", 1}, {&by_continue, "end", 1},
        {&by_goto, "begin", 1},  {&by_goto, "end", 1},       {&two_out, "begin", 1},
        {&two_in, "begin", 2},   {&two_in, "end", 2},        {&two_out, "end", 1},
        {&root, "end", 0},
    };
    assert_int_equal(run(ways_out, NULL), 0);
    CHECK(expected);
}

/* ---- depth ---- */

static int nested;

static void nest(struct simpler_orch *orch, int levels)
{
    if (levels == 0)
        return;
    nested = __LINE__ + 1;
    SIMPLER_SCOPE(orch)
    {
        nest(orch, levels - 1);
    }
}

static void nest_deep(struct simpler_orch *orch, void *levels)
{
    nest(orch, *(int *)levels);
    nest(orch, 2);
}

/* Depths 0 to 63 are there; deeper ones count as dropped and disturb no pair. */
static void deep_scopes(int levels, unsigned lost)
{
    char text[64];

    assert_int_equal(run(nest_deep, &levels), 0);
    (void)snprintf(text, sizeof(text), "{\"fatal\": false, \"dropped\": %u, \"total\": %d,", lost,
                   2 * (levels + 3));
    metadata_starts(text);
    assert_int_equal(result.scope_stats.dropped_too_deep, lost);
    assert_int_equal(result.scope_stats.status, lost != 0 ? SIMPLER_EPARTIAL : 0);
    struct scope_file file = scope_file_read(prefix);
    int recorded = levels < 63 ? levels : 63;
    assert_int_equal(file.count, 2 * (recorded + 3));
    for (int i = 0; i <= recorded; i++) {
        const struct scope_file_sample *begin = &file.samples[i];
        const struct scope_file_sample *end = &file.samples[2 * recorded + 1 - i];
        assert_int_equal(begin->depth, i);
        assert_string_equal(begin->phase, "begin");
        if (i == 0)
            continue; /* the root ends behind the two scopes that follow */
        assert_int_equal(end->depth, i);
        assert_string_equal(end->phase, "end");
    }
    assert_int_equal(file.samples[2 * recorded + 1].depth, 1);
    assert_int_equal(file.samples[2 * recorded + 2].depth, 2);
    scope_file_free(&file);
}

static void deep_scopes_are_counted_and_pairs_stay(void **state)
{
    (void)state;
    deep_scopes(10, 0);
    deep_scopes(63, 0);
    deep_scopes(64, 2);
    deep_scopes(1000, 2 * (1000 - 63));
}

/* ---- sites ---- */

static void hand_made(struct simpler_orch *orch, void *user)
{
    (void)user;
    KIT_EXPECT_EQUAL(simpler_orch_scope_begin(orch, SIMPLER_SCOPE_AUTO), 0);
    KIT_EXPECT_EQUAL(simpler_orch_scope_begin_at(orch, SIMPLER_SCOPE_AUTO, "C:\\src\\win.cpp", 7),
                     0);
    KIT_EXPECT_EQUAL(simpler_orch_scope_end(orch), 0);
    KIT_EXPECT_EQUAL(simpler_orch_scope_end(orch), 0);
}

static void sites_are_basenames(void **state)
{
    (void)state;
    assert_int_equal(run(hand_made, NULL), 0);
    struct scope_file file = scope_file_read(prefix);
    assert_int_equal(file.count, 6);
    assert_string_equal(file.samples[1].file, "(unknown)");
    assert_int_equal(file.samples[1].line, 0);
    assert_string_equal(file.samples[2].file, "win.cpp");
    assert_int_equal(file.samples[2].line, 7);
    assert_string_equal(file.samples[3].file, "win.cpp");
    assert_string_equal(file.samples[4].file, "(unknown)");
    scope_file_free(&file);
}

static void orchestrate_nothing(struct simpler_orch *orch, const struct simpler_orch_args *args)
{
    (void)orch;
    (void)args;
}

static void the_root_has_the_callables_site(void **state)
{
    (void)state;
    static const struct {
        const char *file;
        int line;
        const char *site;
    } cases[] = {{"/a/b/scene.c", 42, "scene.c"}, {NULL, 42, "(orchestration)"}};

    for (int i = 0; i < 2; i++) {
        struct simpler_callable callable = {.name = "bare", .orchestrate = orchestrate_nothing};
        struct simpler_call_config config = stats_config(2);
        uint32_t handle;
        callable.file = cases[i].file;
        callable.line = cases[i].line;
        assert_int_equal(simpler_worker_register(kit.worker, &callable, &handle), 0);
        assert_int_equal(simpler_worker_run(kit.worker, handle, NULL, &config, &result), 0);
        struct scope_file file = scope_file_read(prefix);
        assert_int_equal(file.count, 2);
        assert_string_equal(file.samples[0].file, cases[i].site);
        assert_int_equal(file.samples[0].line, i == 0 ? 42 : 0);
        scope_file_free(&file);
    }
}

/* ---- fatals ---- */

static int f1, f2, f3;

static void report_fatal(struct simpler_orch *orch, void *user)
{
    (void)user;
    f1 = __LINE__ + 1;
    SIMPLER_SCOPE(orch)
    {
        f2 = __LINE__ + 1;
        SIMPLER_SCOPE(orch)
        {
            simpler_orch_report_fatal(orch, SIMPLER_CODE_EXPLICIT_ORCH_FATAL, "as planned");
            f3 = __LINE__ + 1;
            SIMPLER_SCOPE(orch)
            {
            }
        }
    }
}

static void a_fatal_leaves_scopes_open(void **state)
{
    (void)state;
    static const struct boundary expected[] = {
        {&root, "begin", 0}, {&f1, "begin", 1}, {&f2, "begin", 2}};
    struct simpler_scope_model *model = NULL;

    assert_int_equal(run(report_fatal, NULL), -SIMPLER_CODE_EXPLICIT_ORCH_FATAL);
    CHECK(expected);
    metadata_starts("{\"fatal\": true, \"dropped\": 0, \"total\": 3,");
    assert_int_equal(result.scope_stats.status, 0);
    assert_int_equal(simpler_scope_model_read(result.scope_stats.path, NULL, NULL, &model), 0);
    assert_string_equal(simpler_scope_model_chip_key(model->chip), "fatal");
    assert_int_equal(model->counts.unpaired_begin, 3);
    simpler_scope_model_close(model);
}

static void fill_window(struct simpler_orch *orch, void *user)
{
    struct simpler_create_info info = kit_info(1, SIMPLER_DTYPE_FLOAT32);
    struct simpler_task_args args;

    (void)user;
    f1 = __LINE__ + 1;
    SIMPLER_SCOPE(orch)
    {
    }
    f2 = __LINE__ + 1;
    SIMPLER_SCOPE(orch)
    {
        for (int i = 0; i < 10; i++) {
            simpler_task_args_reset(&args);
            simpler_task_args_add_create(&args, &info);
            (void)kit_submit(orch, &args, kit_nop_kernel, NULL, NULL);
        }
    }
}

static void a_full_window_is_fatal_as_well(void **state)
{
    (void)state;
    static const struct boundary expected[] = {
        {&root, "begin", 0}, {&f1, "begin", 1}, {&f1, "end", 1}, {&f2, "begin", 1}};
    struct simpler_call_config config = stats_config(2);

    kit_set_window(&config, 4);
    assert_int_equal(kit_run(&kit, fill_window, NULL, &config, &result),
                     -SIMPLER_CODE_SCOPE_DEADLOCK);
    CHECK(expected);
    metadata_starts("{\"fatal\": true, \"dropped\": 0, \"total\": 4, \"task_window_max\": [4, 4, "
                    "4, 4],");
}

static void auto_in_manual(struct simpler_orch *orch, void *user)
{
    (void)user;
    f1 = __LINE__ + 1;
    SIMPLER_SCOPE_MODE(orch, SIMPLER_SCOPE_MANUAL)
    {
        SIMPLER_SCOPE(orch)
        {
        }
    }
}

static void a_begin_that_is_refused_has_no_sample(void **state)
{
    (void)state;
    static const struct boundary expected[] = {{&root, "begin", 0}, {&f1, "begin", 1}};

    assert_int_equal(run(auto_in_manual, NULL), -SIMPLER_CODE_INVALID_ARGS);
    CHECK(expected);
    metadata_starts("{\"fatal\": true, \"dropped\": 0, \"total\": 2,");
}

static void cancel_inside(struct simpler_orch *orch, void *user)
{
    (void)user;
    f1 = __LINE__ + 1;
    SIMPLER_SCOPE(orch)
    {
        simpler_worker_cancel(kit.worker);
        SIMPLER_SCOPE(orch)
        {
        }
    }
}

/* No code was latched: what has begun ends, and "fatal" is false. */
static void a_canceled_run_ends_what_it_has_begun(void **state)
{
    (void)state;
    static const struct boundary expected[] = {
        {&root, "begin", 0}, {&f1, "begin", 1}, {&f1, "end", 1}, {&root, "end", 0}};

    assert_int_equal(run(cancel_inside, NULL), SIMPLER_ECANCELED);
    CHECK(expected);
    metadata_starts("{\"fatal\": false, \"dropped\": 0, \"total\": 4,");
}

/* The latch of one run is not the next one's. */
static void a_fatal_is_of_its_run_alone(void **state)
{
    (void)state;
    int levels = 1;

    assert_int_equal(run(report_fatal, NULL), -SIMPLER_CODE_EXPLICIT_ORCH_FATAL);
    assert_int_equal(run(nest_deep, &levels), 0);
    metadata_starts("{\"fatal\": false, \"dropped\": 0, \"total\": 8,");
}

/* ---- runs one after the other ---- */

#define RUNS 8

/* Own file, own epoch, own capacities; a buffer number is of one run. */
static void runs_have_their_own_files(void **state)
{
    (void)state;
    unsigned long long last_seq = 0;
    struct kit fresh;

    kit_open(&fresh);
    for (int i = 0; i < RUNS; i++) {
        struct simpler_call_config config = stats_config(2);
        char own[192], caps[96];
        int levels = 3;
        (void)snprintf(own, sizeof(own), "%s/run_%d", prefix, i);
        config.output_prefix = own;
        config.runtime_env.tensormap = 64u + (unsigned)i % 3;
        /* The fourth run goes without: it touches nothing and still is a run. */
        config.enable_scope_stats = i == 3 ? 0 : 1;
        assert_int_equal(kit_run(&fresh, nest_deep, &levels, &config, &result), 0);
        if (i == 3) {
            assert_false(scope_file_exists(own));
            continue;
        }
        struct scope_file file = scope_file_read(own);
        assert_int_equal(file.count, 12);
        assert_int_equal(file.samples[0].run_epoch, i + 1);
        (void)snprintf(caps, sizeof(caps), "\"tensormap_max\": %d}", 64 + i % 3);
        assert_non_null(strstr(file.metadata, caps));
        for (uint32_t k = 0; k < file.count; k++)
            assert_int_equal(file.samples[k].run_epoch, file.samples[0].run_epoch);
        if (i > 0)
            assert_true(file.samples[0].buf_seq > last_seq);
        last_seq = file.samples[file.count - 1].buf_seq;
        scope_file_free(&file);
    }
    kit_close(&fresh);
}

/* ---- two devices at once ---- */

struct device_job {
    char own[192];
    int index, failed;
    struct kit device;
};

static void count_scopes(struct simpler_orch *orch, void *count)
{
    for (int i = 0; i < *(int *)count; i++)
        nest(orch, 2);
}

static void *run_device(void *argument)
{
    struct device_job *job = argument;
    struct simpler_run_result own_result;

    for (int i = 0; i < 10; i++) {
        struct simpler_call_config config = stats_config(2);
        int scopes = 700 + 100 * job->index + i;
        config.output_prefix = job->own;
        config.runtime_env.tensormap = 100u + (unsigned)job->index;
        job->failed += kit_run(&job->device, count_scopes, &scopes, &config, &own_result) != 0 ||
                       own_result.scope_stats.status != 0 ||
                       own_result.scope_stats.records != (uint64_t)(4 * scopes + 2);
    }
    return NULL;
}

/* Each keeps its own samples, epochs and capacities. */
static void two_devices_do_not_meet(void **state)
{
    (void)state;
    static struct device_job jobs[2];
    pthread_t threads[2];

    for (int i = 0; i < 2; i++) {
        jobs[i].index = i;
        kit_open_platform(&jobs[i].device, "a2a3sim");
        (void)snprintf(jobs[i].own, sizeof(jobs[i].own), "%s/device_%d", prefix, i);
    }
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, run_device, &jobs[i]), 0);
    for (int i = 0; i < 2; i++) {
        char caps[64];
        assert_int_equal(pthread_join(threads[i], NULL), 0);
        kit_close(&jobs[i].device);
        assert_int_equal(jobs[i].failed, 0);
        struct scope_file file = scope_file_read(jobs[i].own);
        (void)snprintf(caps, sizeof(caps), "\"tensormap_max\": %d}", 100 + i);
        assert_non_null(strstr(file.metadata, caps));
        assert_int_equal(file.samples[0].run_epoch, 10);
        scope_file_free(&file);
    }
}

/* Without stats nothing is opened, made or written. */
/* ---- tasks of every form count as one ---- */

static struct simpler_async_counter raised;

static int defer_and_raise(const int64_t *args, uint32_t tensors, void *user)
{
    struct simpler_async_condition condition = {SIMPLER_ASYNC_EVENT, 0, &raised, 0};
    (void)tensors;
    (void)user;
    int rc = simpler_kernel_defer(args, &condition);
    simpler_async_counter_add(&raised, 1);
    return rc;
}

static void forms(struct simpler_orch *orch, void *user)
{
    static int64_t zero;
    struct simpler_mixed_kernels mixed = {1 + (int32_t)(KIT_VARIANT * KIT_AIV_VARIANTS), 1, 1};
    struct simpler_tensor operand = kit_tensor(&zero, 1, SIMPLER_DTYPE_INT64);
    struct simpler_predicate off = {&operand, {0}, SIMPLER_PREDICATE_NE, 0};
    struct simpler_create_info info = kit_info(100, SIMPLER_DTYPE_INT64);
    struct simpler_task_args args;
    (void)user;

    SIMPLER_SCOPE(orch)
    {
        for (int form = 0; form < 5; form++) {
            simpler_task_args_reset(&args);
            simpler_task_args_add_create(&args, &info);
            simpler_task_args_set_block_num(&args, form < 2 ? 3 : 1);
            simpler_task_args_set_require_sync_start(&args, form == 1);
            if (form == 3)
                simpler_task_args_set_predicate(&args, &off);
            kit_add_call(&args, form == 4 ? defer_and_raise : kit_nop_kernel, NULL);
            int rc = form == 2 ? simpler_orch_submit_mixed(orch, &mixed, &args, NULL)
                               : simpler_orch_submit_aiv(orch, 1, &args, NULL);
            KIT_EXPECT_EQUAL(rc, 0);
        }
    }
}

static void a_task_counts_once_whatever_its_form(void **state)
{
    (void)state;
    for (uint32_t exec = 0; exec < 2; exec++) {
        struct simpler_call_config config = stats_config(2);
        config.exec = exec;
        assert_int_equal(kit_run(&kit, forms, NULL, &config, &result), 0);
        assert_int_equal(result.stats.tasks_skipped, 1);
        struct scope_file file = scope_file_read(prefix);
        assert_int_equal(file.count, 4);
        const struct scope_file_sample *begin = &file.samples[1], *end = &file.samples[2];
        assert_int_equal(end->task_end - begin->task_end, 5);
        assert_int_equal(end->heap_end - begin->heap_end, 5 * 1024);
        assert_int_equal(end->task_start, begin->task_start); /* held by the scope */
        scope_file_free(&file);
    }
}

static void off_leaves_no_trace(void **state)
{
    (void)state;
    struct simpler_call_config config = kit_config(2);
    int levels = 5;
    char own[192];

    (void)snprintf(own, sizeof(own), "%s/off", prefix);
    config.output_prefix = own;
    assert_int_equal(kit_run(&kit, nest_deep, &levels, &config, &result), 0);
    assert_int_equal(result.scope_stats.enabled, 0);
    struct stat info;
    assert_int_not_equal(stat(own, &info), 0);
}

static void quiet(void *user, int level, const char *line)
{
    (void)user;
    (void)level;
    (void)line;
}

static int open_kit(void **state)
{
    (void)state;
    scope_file_make_prefix(prefix);
    kit_open(&kit);
    return 0;
}

static int close_kit(void **state)
{
    (void)state;
    kit_close(&kit);
    scope_file_remove_prefix(prefix);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_way_out_ends_a_scope),
        cmocka_unit_test(deep_scopes_are_counted_and_pairs_stay),
        cmocka_unit_test(sites_are_basenames),
        cmocka_unit_test(the_root_has_the_callables_site),
        cmocka_unit_test(a_fatal_leaves_scopes_open),
        cmocka_unit_test(a_full_window_is_fatal_as_well),
        cmocka_unit_test(a_begin_that_is_refused_has_no_sample),
        cmocka_unit_test(a_canceled_run_ends_what_it_has_begun),
        cmocka_unit_test(a_fatal_is_of_its_run_alone),
        cmocka_unit_test(runs_have_their_own_files),
        cmocka_unit_test(two_devices_do_not_meet),
        cmocka_unit_test(a_task_counts_once_whatever_its_form),
        cmocka_unit_test(off_leaves_no_trace),
    };
    /* Each fatal is provoked; what it says is tested elsewhere. */
    simpler_log_set_callback(quiet, NULL);
    return cmocka_run_group_tests(tests, open_kit, close_kit);
}
