/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every field of every sample of runs whose occupancies are known beforehand.
 * The values are worked out beside each scene from the documents' rules: outputs
 * take multiples of 1024 bytes in their ring's heap, an edge to a pending
 * producer takes one entry of the consumer's pool, counters of the pool start at
 * 1, a scope holds its tasks from its first output on until it ends, and with
 * hazards raw the map has one entry for each view that a live task writes.
 * Where a value would depend on time, a kernel waits at a gate: nothing behind
 * it retires.
 *
 * SS-05 SS-06 SS-07 SS-08 SS-09 SS-10 SS-11 SS-17
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cm.h"
#include "kit.h"
#include "report/scope_model.h"
#include "scope_file.h"

struct expected {
    const int *line;
    const char *phase;
    long depth, ring;
    unsigned long long task_start, task_end, heap_start, heap_end, pool_start, pool_end, tensormap;
};

static struct kit kit;
static struct simpler_run_result result;
static char prefix[128];
static float x[1024], y[1024];
static const int root = 1; /* the kit's callable says kit.c:1 */

/* ---- the gate that opens when the run has nothing left to do but to wait for it ---- */

static struct kit_gate gate;
static _Atomic int orchestrator; /* its thread id, once the orchestration is about to return */
static pthread_t opener;

/* Whether a thread sleeps: 'S' behind the name in its stat. */
static bool sleeps(int tid)
{
    char path[64], text[256] = "";

    (void)snprintf(path, sizeof(path), "/proc/self/task/%d/stat", tid);
    FILE *in = fopen(path, "r");
    if (in == NULL)
        return false;
    (void)fread(text, 1, sizeof(text) - 1, in);
    (void)fclose(in);
    const char *name_end = strrchr(text, ')');
    return name_end != NULL && name_end[2] == 'S';
}

/*
 * The orchestrator takes its last sample, hands its buffer over and only then
 * waits for the tasks that are left: when it sleeps, all samples are taken.
 */
static void *open_when_all_is_sampled(void *unused)
{
    (void)unused;
    while (atomic_load(&orchestrator) == 0 || !sleeps(atomic_load(&orchestrator)))
        kit_sleep_ns(1000000);
    kit_gate_open(&gate);
    return NULL;
}

static void submit_gate(struct simpler_orch *orch)
{
    struct simpler_tensor tensor = kit_tensor(x, 1024, SIMPLER_DTYPE_FLOAT32);
    struct simpler_task_args args;

    simpler_task_args_reset(&args);
    simpler_task_args_add_inout(&args, &tensor);
    KIT_EXPECT_EQUAL(kit_submit_variant(orch, KIT_LONG, &args, kit_gate_kernel, &gate, NULL), 0);
    KIT_EXPECT(kit_gate_wait(&gate, 1));
}

static void all_is_submitted(void)
{
    atomic_store(&orchestrator, (int)syscall(SYS_gettid));
}

/* ---- running and comparing ---- */

static struct simpler_call_config stats_config(uint32_t threads)
{
    struct simpler_call_config config = kit_config(threads);

    config.enable_scope_stats = 1;
    config.output_prefix = prefix;
    config.hazards = SIMPLER_HAZARDS_RAW;
    return config;
}

static void run(kit_orch fn, const struct simpler_call_config *config)
{
    kit_gate_close(&gate);
    atomic_store(&orchestrator, 0);
    assert_int_equal(pthread_create(&opener, NULL, open_when_all_is_sampled, NULL), 0);
    int rc = kit_run(&kit, fn, NULL, config, &result);
    all_is_submitted();
    assert_int_equal(pthread_join(opener, NULL), 0);
    if (rc != 0)
        fail_msg("the run ended with %d: %s", rc, result.message);
    assert_int_equal(result.scope_stats.status, 0);
}

static void compare(const struct scope_file_sample *s, const struct expected *e, uint32_t i)
{
#define SAME(field)                                                                                \
    if (s->field != e->field)                                                                      \
    fail_msg("sample %u (%s:%ld %s): " #field " is %lld, not %lld", i, s->file, s->line, s->phase, \
             (long long)s->field, (long long)e->field)
    if (s->line != *e->line || strcmp(s->phase, e->phase) != 0 ||
        strcmp(s->file, e->line == &root ? "kit.c" : "test_scope_occupancy.c") != 0)
        fail_msg("sample %u is %s:%ld %s, not line %d %s", i, s->file, s->line, s->phase, *e->line,
                 e->phase);
    SAME(depth);
    SAME(ring);
    SAME(task_start);
    SAME(task_end);
    SAME(heap_start);
    SAME(heap_end);
    SAME(pool_start);
    SAME(pool_end);
    SAME(tensormap);
#undef SAME
}

/* The report's reader finds the file whole. */
static void is_healthy(uint32_t pairs)
{
    struct simpler_scope_model *model = NULL;

    assert_int_equal(simpler_scope_model_read(result.scope_stats.path, NULL, NULL, &model), 0);
    assert_string_equal(simpler_scope_model_chip_key(model->chip), "healthy");
    assert_int_equal(model->counts.pairs, pairs);
    simpler_scope_model_close(model);
}

static void check_file(const struct expected *expected, uint32_t count)
{
    struct scope_file file = scope_file_read(prefix);

    assert_int_equal(file.count, count);
    for (uint32_t i = 0; i < count; i++) {
        compare(&file.samples[i], &expected[i], i);
        assert_int_equal(file.samples[i].run_epoch, file.samples[0].run_epoch);
        assert_int_equal(file.samples[i].buf_seq, file.samples[0].buf_seq);
    }
    assert_int_equal(result.scope_stats.records, count);
    scope_file_free(&file);
    is_healthy(count / 2);
}

/* ---- helpers of scenes ---- */

static struct simpler_tensor tensor_x(void)
{
    return kit_tensor(x, 1024, SIMPLER_DTYPE_FLOAT32);
}

/* One task that creates @floats floats (0: none) and reads x (so it waits at the gate) or not. */
static struct simpler_tensor make(struct simpler_orch *orch, uint32_t floats, bool waits)
{
    struct simpler_create_info info = kit_info(floats, SIMPLER_DTYPE_FLOAT32);
    struct simpler_tensor in = tensor_x();
    struct simpler_task_outputs out;
    struct simpler_task_args args;

    simpler_task_args_reset(&args);
    if (waits)
        simpler_task_args_add_input(&args, &in);
    simpler_task_args_add_create(&args, &info);
    KIT_EXPECT_EQUAL(kit_submit(orch, &args, kit_nop_kernel, NULL, &out), 0);
    return out.tensor[0];
}

/* The same, and it is done on return. */
static void make_now(struct simpler_orch *orch, uint32_t floats)
{
    struct simpler_tensor made = make(orch, floats, false);
    uint32_t index = 0;
    float value;

    KIT_EXPECT_EQUAL(simpler_orch_get_tensor_data(orch, &made, &index, &value), 0);
}

/* ---- four rings, nothing retires ---- */

static int a, b, c, d, e, f;

static void submit_reader(struct simpler_orch *orch)
{
    struct simpler_tensor in = tensor_x();
    struct simpler_task_args args;

    simpler_task_args_reset(&args);
    simpler_task_args_add_input(&args, &in);
    KIT_EXPECT_EQUAL(kit_submit(orch, &args, kit_nop_kernel, NULL, NULL), 0);
}

static void submit_writer_of_y(struct simpler_orch *orch)
{
    struct simpler_tensor out = kit_tensor(y, 1024, SIMPLER_DTYPE_FLOAT32);
    struct simpler_task_args args;

    simpler_task_args_reset(&args);
    simpler_task_args_add_inout(&args, &out);
    KIT_EXPECT_EQUAL(kit_submit(orch, &args, kit_nop_kernel, NULL, NULL), 0);
}

static void submit_writer_of_x_and_1024_bytes(struct simpler_orch *orch)
{
    struct simpler_create_info info = kit_info(256, SIMPLER_DTYPE_FLOAT32);
    struct simpler_tensor inout = tensor_x();
    struct simpler_task_args args;

    simpler_task_args_reset(&args);
    simpler_task_args_add_inout(&args, &inout);
    simpler_task_args_add_create(&args, &info);
    KIT_EXPECT_EQUAL(kit_submit(orch, &args, kit_nop_kernel, NULL, NULL), 0);
}

static void submit_dummy(struct simpler_orch *orch, bool reads_x)
{
    struct simpler_tensor in = tensor_x();
    struct simpler_task_args args;

    simpler_task_args_reset(&args);
    if (reads_x)
        simpler_task_args_add_input(&args, &in);
    KIT_EXPECT_EQUAL(simpler_orch_submit_dummy(orch, &args, NULL), 0);
}

static void alloc_two(struct simpler_orch *orch)
{
    struct simpler_create_info infos[2] = {kit_info(256, SIMPLER_DTYPE_FLOAT32),
                                           kit_info(1, SIMPLER_DTYPE_FLOAT32)};
    struct simpler_task_outputs out;

    KIT_EXPECT_EQUAL(simpler_orch_alloc_tensors(orch, infos, 2, &out), 0);
}

static void four_rings(struct simpler_orch *orch, void *user)
{
    (void)user;
    submit_gate(orch); /* writes x */
    a = __LINE__ + 1;
    SIMPLER_SCOPE(orch)
    {
        submit_reader(orch);         /* one edge, to the gate */
        (void)make(orch, 700, true); /* 2800 bytes: 3072; one edge */
        submit_writer_of_y(orch);    /* no edge, one entry of the map */
        b = __LINE__ + 1;
        SIMPLER_SCOPE(orch)
        {
            /* One edge; its entry for x takes the place of the gate's. */
            submit_writer_of_x_and_1024_bytes(orch);
            c = __LINE__ + 1;
            SIMPLER_SCOPE(orch)
            {
                alloc_two(orch); /* 1024 + 1024 bytes; done at once, not wired */
                d = __LINE__ + 1;
                SIMPLER_SCOPE(orch)
                {
                    submit_dummy(orch, true); /* one edge, to the last writer of x */
                }
            }
        }
        e = __LINE__ + 1;
        SIMPLER_SCOPE(orch)
        {
            f = __LINE__ + 1;
            SIMPLER_SCOPE(orch)
            {
                submit_dummy(orch, false); /* no edge */
            }
        }
    }
    all_is_submitted();
}

static void four_rings_fill_as_they_should(void **state)
{
    (void)state;
    static const struct expected expected[] = {
        {&root, "begin", 0, 0, 0, 0, 0, 0, 1, 1, 0},
        {&a, "begin", 1, 1, 0, 0, 0, 0, 1, 1, 1},
        {&b, "begin", 2, 2, 0, 0, 0, 0, 1, 1, 2},
        {&c, "begin", 3, 3, 0, 0, 0, 0, 1, 1, 2},
        /* The scope around it holds task 0 of ring 3, which is done. */
        {&d, "begin", 4, 3, 0, 1, 0, 2048, 1, 1, 2},
        {&d, "end", 4, 3, 0, 2, 0, 2048, 1, 2, 2},
        {&c, "end", 3, 3, 0, 2, 0, 2048, 1, 2, 2},
        {&b, "end", 2, 2, 0, 1, 0, 1024, 1, 2, 2},
        {&e, "begin", 2, 2, 0, 1, 0, 1024, 1, 2, 2},
        /* Task 0 of ring 3 is free now, with its 2048 bytes; task 1 waits. */
        {&f, "begin", 3, 3, 1, 2, 2048, 2048, 1, 2, 2},
        {&f, "end", 3, 3, 1, 3, 2048, 2048, 1, 2, 2},
        {&e, "end", 2, 2, 0, 1, 0, 1024, 1, 2, 2},
        {&a, "end", 1, 1, 0, 3, 0, 3072, 1, 3, 2},
        {&root, "end", 0, 0, 0, 1, 0, 0, 1, 1, 2},
    };
    struct simpler_call_config config = stats_config(2);
    config.runtime_env = (struct simpler_runtime_env){
        {16, 8, 4, 32}, {8192, 16384, 1024, 4096}, {64, 32, 16, 8}, 128, 0};

    run(four_rings, &config);
    check_file(expected, sizeof(expected) / sizeof(expected[0]));
    struct scope_file file = scope_file_read(prefix);
    assert_string_equal(file.metadata,
                        "{\"fatal\": false, \"dropped\": 0, \"total\": 14, \"task_window_max\": "
                        "[16, 8, 4, 32], \"heap_max\": [8192, 16384, 1024, 4096], "
                        "\"dep_pool_max\": [64, 32, 16, 8], \"tensormap_max\": 128}");
    scope_file_free(&file);
}

/* ---- a wrap while something lives ---- */

static int s1, s2, s3, s4, s5;

static void wrap(struct simpler_orch *orch, void *user)
{
    (void)user;
    submit_gate(orch);
    s1 = __LINE__ + 1;
    SIMPLER_SCOPE(orch)
    {
        make_now(orch, 768); /* 3072 bytes at 0 */
    }
    s2 = __LINE__ + 1;
    SIMPLER_SCOPE(orch)
    {
        (void)make(orch, 256, true); /* 1024 bytes at 3072; stays behind the gate */
    }
    s3 = __LINE__ + 1;
    SIMPLER_SCOPE(orch)
    {
        /* 2048 bytes: 1024 are left at the end, 3072 in front: at 0, 1024 skipped. */
        (void)make(orch, 512, false);
    }
    s4 = __LINE__ + 1;
    SIMPLER_SCOPE(orch)
    {
    }
    all_is_submitted();
}

static void skipped_bytes_count_at_a_wrap(void **state)
{
    (void)state;
    static const struct expected expected[] = {
        {&root, "begin", 0, 0, 0, 0, 0, 0, 1, 1, 0},
        {&s1, "begin", 1, 1, 0, 0, 0, 0, 1, 1, 1},
        {&s1, "end", 1, 1, 0, 1, 0, 3072, 1, 1, 1},
        {&s2, "begin", 1, 1, 1, 1, 3072, 3072, 1, 1, 1},
        {&s2, "end", 1, 1, 1, 2, 3072, 4096, 1, 2, 1},
        {&s3, "begin", 1, 1, 1, 2, 3072, 4096, 1, 2, 1},
        {&s3, "end", 1, 1, 1, 3, 3072, 7168, 1, 2, 1},
        {&s4, "begin", 1, 1, 1, 3, 3072, 7168, 1, 2, 1},
        {&s4, "end", 1, 1, 1, 3, 3072, 7168, 1, 2, 1},
        {&root, "end", 0, 0, 0, 1, 0, 0, 1, 1, 1},
    };
    struct simpler_call_config config = stats_config(2);
    kit_set_heap(&config, 5120);

    run(wrap, &config);
    check_file(expected, sizeof(expected) / sizeof(expected[0]));
}

/* ---- rebases of an empty heap, exact fits, a block as large as the heap ---- */

static void rebase(struct simpler_orch *orch, void *user)
{
    (void)user;
    s1 = __LINE__ + 1;
    SIMPLER_SCOPE(orch)
    {
        make_now(orch, 768); /* 3072 at 0 */
    }
    s2 = __LINE__ + 1;
    SIMPLER_SCOPE(orch)
    {
        make_now(orch, 1024); /* 4096: nowhere but in an empty heap at 0; 2048 skipped */
    }
    s3 = __LINE__ + 1;
    SIMPLER_SCOPE(orch)
    {
        make_now(orch, 256); /* 1024: exactly the rest */
    }
    s4 = __LINE__ + 1;
    SIMPLER_SCOPE(orch)
    {
        make_now(orch, 256); /* 1024 at 0, nothing skipped */
    }
    s5 = __LINE__ + 1;
    SIMPLER_SCOPE(orch)
    {
        make_now(orch, 1280); /* 5120, the whole heap; 4096 skipped */
    }
}

static void rebases_keep_the_totals_exact(void **state)
{
    (void)state;
    static const struct expected expected[] = {
        {&root, "begin", 0, 0, 0, 0, 0, 0, 1, 1, 0},
        {&s1, "begin", 1, 1, 0, 0, 0, 0, 1, 1, 0},
        {&s1, "end", 1, 1, 0, 1, 0, 3072, 1, 1, 0},
        {&s2, "begin", 1, 1, 1, 1, 3072, 3072, 1, 1, 0},
        {&s2, "end", 1, 1, 1, 2, 5120, 9216, 1, 1, 0},
        {&s3, "begin", 1, 1, 2, 2, 9216, 9216, 1, 1, 0},
        {&s3, "end", 1, 1, 2, 3, 9216, 10240, 1, 1, 0},
        {&s4, "begin", 1, 1, 3, 3, 10240, 10240, 1, 1, 0},
        {&s4, "end", 1, 1, 3, 4, 10240, 11264, 1, 1, 0},
        {&s5, "begin", 1, 1, 4, 4, 11264, 11264, 1, 1, 0},
        {&s5, "end", 1, 1, 4, 5, 15360, 20480, 1, 1, 0},
        {&root, "end", 0, 0, 0, 0, 0, 0, 1, 1, 0},
    };
    for (uint32_t threads = 1; threads <= 3; threads++) {
        struct simpler_call_config config = stats_config(threads);
        kit_set_heap(&config, 5120);
        run(rebase, &config);
        check_file(expected, sizeof(expected) / sizeof(expected[0]));
    }
}

/* ---- rings that wrap hundreds of times ---- */

#define LAPS 1000

static int outer, inner;

/* Window 4: the ring of tasks wraps 1000 times, the heap of 3 blocks 1000 times. */
static void many_wraps(struct simpler_orch *orch, void *user)
{
    (void)user;
    outer = __LINE__ + 1;
    SIMPLER_SCOPE(orch)
    {
        for (int i = 0; i < LAPS; i++) {
            inner = __LINE__ + 1;
            SIMPLER_SCOPE(orch)
            {
                make_now(orch, 256);
                make_now(orch, 256);
                make_now(orch, 256);
            }
        }
    }
}

static void counters_never_wrap(void **state)
{
    (void)state;
    struct simpler_call_config config = stats_config(2);
    kit_set_window(&config, 4);
    kit_set_heap(&config, 3072);

    run(many_wraps, &config);
    struct scope_file file = scope_file_read(prefix);
    assert_int_equal(file.count, 2 * LAPS + 4);
    for (unsigned long long i = 0; i < LAPS; i++) {
        const struct expected begin = {&inner,   "begin",  2, 2, 3 * i, 3 * i,
                                       3072 * i, 3072 * i, 1, 1, 0};
        const struct expected end = {&inner,   "end",           2, 2, 3 * i, 3 * i + 3,
                                     3072 * i, 3072 * i + 3072, 1, 1, 0};
        compare(&file.samples[2 + 2 * i], &begin, (uint32_t)(2 + 2 * i));
        compare(&file.samples[3 + 2 * i], &end, (uint32_t)(3 + 2 * i));
    }
    scope_file_free(&file);
    is_healthy(LAPS + 2);
}

/* ---- nothing at all ---- */

static void nothing(struct simpler_orch *orch, void *user)
{
    (void)orch;
    (void)user;
}

static void an_empty_run_has_the_root_scope(void **state)
{
    (void)state;
    static const struct expected expected[] = {
        {&root, "begin", 0, 0, 0, 0, 0, 0, 1, 1, 0},
        {&root, "end", 0, 0, 0, 0, 0, 0, 1, 1, 0},
    };
    struct simpler_call_config config = stats_config(2);

    run(nothing, &config);
    check_file(expected, 2);
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
        cmocka_unit_test(four_rings_fill_as_they_should),
        cmocka_unit_test(skipped_bytes_count_at_a_wrap),
        cmocka_unit_test(rebases_keep_the_totals_exact),
        cmocka_unit_test(counters_never_wrap),
        cmocka_unit_test(an_empty_run_has_the_root_scope),
    };
    return cmocka_run_group_tests(tests, open_kit, close_kit);
}
