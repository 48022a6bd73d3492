/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SY-02: graphs that are recorded once and replayed with other tensors and scalars, on
 * both runtimes; what cannot be recorded is refused by name.
 */
#include <stdio.h>
#include <string.h>

#include "cm.h"
#include "kit.h"

#define N 64u

static struct kit kit;
static const char *const runtimes[] = {"tensormap_and_ringbuffer", "host_build_graph"};
static int calls; /* of a graph's function */

static struct simpler_call_config config_of(const char *runtime)
{
    struct simpler_call_config config = kit_config(2);
    config.runtime = runtime;
    config.hazards = SIMPLER_HAZARDS_ALL;
    return config;
}

/* z[i] = x[i] * scale + y[i]: scale is the scalar behind the kit's two. */
static int axpy(const int64_t *args, uint32_t tensors, void *user)
{
    const float *x = simpler_kernel_data(args, 0), *y = simpler_kernel_data(args, 1);
    float *z = simpler_kernel_data(args, 2), scale;

    (void)user;
    simpler_kernel_scalar(args, tensors + 2, &scale, sizeof(scale));
    for (uint32_t i = 0; i < N; i++)
        z[i] = x[i] * scale + y[i];
    return 0;
}

static int add_one(const int64_t *args, uint32_t tensors, void *user)
{
    float *x = simpler_kernel_data(args, 0);

    (void)tensors;
    (void)user;
    for (uint32_t i = 0; i < N; i++)
        x[i] += 1;
    return 0;
}

static void submit_axpy(struct simpler_orch *orch, const struct simpler_tensor *x,
                        const struct simpler_tensor *y, const struct simpler_tensor *z,
                        const uint64_t *scale)
{
    struct simpler_task_args args;

    simpler_task_args_reset(&args);
    simpler_task_args_add_input(&args, x);
    simpler_task_args_add_input(&args, y);
    simpler_task_args_add_output(&args, z);
    kit_add_call(&args, axpy, NULL);
    simpler_task_args_add_scalar(&args, scale, SIMPLER_DTYPE_UINT64);
    KIT_EXPECT_EQUAL(simpler_orch_submit_aiv(orch, 3, &args, NULL), 0);
}

/* z = (x * s + y) + 1 rounds times, through a tensor of its own that begins as 2. */
static void graph(struct simpler_orch *orch, const struct simpler_graph_args *g)
{
    struct simpler_create_info info = kit_info(N, SIMPLER_DTYPE_FLOAT32);
    struct simpler_task_outputs out;
    struct simpler_task_args args;
    float two = 2;

    calls++;
    simpler_create_info_set_initial_value(&info, &two);
    simpler_task_args_reset(&args);
    simpler_task_args_add_create(&args, &info);
    KIT_EXPECT_EQUAL(simpler_orch_submit_dummy(orch, &args, &out), 0);
    submit_axpy(orch, &g->tensor[0], &g->tensor[1], &g->tensor[2], &g->scalar[0]);
    for (int i = 0; i < *(const int *)g->config; i++) {
        simpler_task_args_reset(&args);
        simpler_task_args_add_inout(&args, &g->tensor[2]);
        (void)kit_submit(orch, &args, add_one, NULL, NULL);
    }
    /* z = own * s + z */
    submit_axpy(orch, &out.tensor[0], &g->tensor[2], &g->tensor[2], &g->scalar[0]);
}

struct binding {
    float x[N], y[N], z[N];
    float scale;
};

static void fill(struct binding *b, uint32_t seed)
{
    b->scale = (float)seed;
    for (uint32_t i = 0; i < N; i++) {
        b->x[i] = (float)(i + seed);
        b->y[i] = (float)(i * seed);
        b->z[i] = -1;
    }
}

static void check(const struct binding *b, int rounds, float before, float after)
{
    for (uint32_t i = 0; i < N; i++) {
        float right = (b->x[i]) * b->scale + b->y[i] + (float)rounds + 2 * b->scale + after;
        (void)before;
        if (b->z[i] != right)
            fail_msg("z[%u] is %g, right is %g", i, (double)b->z[i], (double)right);
    }
}

static void call_graph(struct simpler_orch *orch, struct binding *b, int rounds)
{
    struct simpler_tensor x = kit_tensor(b->x, N, SIMPLER_DTYPE_FLOAT32);
    struct simpler_tensor y = kit_tensor(b->y, N, SIMPLER_DTYPE_FLOAT32);
    struct simpler_tensor z = kit_tensor(b->z, N, SIMPLER_DTYPE_FLOAT32);
    struct simpler_task_args args;

    simpler_task_args_reset(&args);
    simpler_task_args_add_input(&args, &x);
    simpler_task_args_add_input(&args, &y);
    simpler_task_args_add_inout(&args, &z);
    simpler_task_args_add_scalar(&args, SIMPLER_SCALAR(b->scale));
    KIT_EXPECT_EQUAL(simpler_orch_submit_graph(orch, graph, &args, &rounds, sizeof(rounds)), 0);
}

struct plan {
    struct binding *b;
    uint32_t count;
    int rounds;
};

/* A task before each graph and one after it: the order is that of the tensors. */
static void many(struct simpler_orch *orch, void *user)
{
    const struct plan *p = user;
    struct simpler_task_args args;

    for (uint32_t i = 0; i < p->count; i++) {
        struct simpler_tensor x = kit_tensor(p->b[i].x, N, SIMPLER_DTYPE_FLOAT32);
        struct simpler_tensor z = kit_tensor(p->b[i].z, N, SIMPLER_DTYPE_FLOAT32);
        simpler_task_args_reset(&args);
        simpler_task_args_add_inout(&args, &x);
        (void)kit_submit_variant(orch, KIT_LONG, &args, add_one, NULL, NULL);
        call_graph(orch, &p->b[i], p->rounds);
        simpler_task_args_reset(&args);
        simpler_task_args_add_inout(&args, &z);
        (void)kit_submit(orch, &args, add_one, NULL, NULL);
    }
}

static struct simpler_run_result run_many(const char *runtime, struct plan *p)
{
    struct simpler_call_config config = config_of(runtime);
    struct simpler_run_result result;

    for (uint32_t i = 0; i < p->count; i++)
        fill(&p->b[i], i + 3);
    assert_int_equal(kit_run(&kit, many, p, &config, &result), 0);
    for (uint32_t i = 0; i < p->count; i++)
        check(&p->b[i], p->rounds, 1, 1);
    return result;
}

static void a_graph_is_replayed_with_other_data(void **state)
{
    (void)state;
    static struct binding b[20];
    struct plan p = {b, 20, 5};

    for (int r = 0; r < 2; r++) {
        calls = 0;
        struct simpler_run_result result = run_many(runtimes[r], &p);
        assert_int_equal(calls, r == 0 ? 20 : 1);
        assert_int_equal(result.stats.tasks, 20 * (2 + 3 + 5));
        assert_int_equal(result.stats.tasks_run, 20 * (2 + 2 + 5));
    }
    /* Again, in a later run: it is there. */
    calls = 0;
    (void)run_many(runtimes[1], &p);
    assert_int_equal(calls, 0);
    /* Another configuration is another graph, and the first one stays. */
    p.rounds = 9;
    (void)run_many(runtimes[1], &p);
    assert_int_equal(calls, 1);
    p.rounds = 5;
    (void)run_many(runtimes[1], &p);
    assert_int_equal(calls, 1);
}

/* ---- a function that fills what its caller gave ---- */

static struct simpler_task_args scratch;
static struct simpler_tensor scratch_tensor[3];
static int scratch_rounds;

/* z = x * s + y + rounds, all through the objects that the caller used for its call. */
static void fills_its_callers(struct simpler_orch *orch, const struct simpler_graph_args *g)
{
    int rounds = *(const int *)g->config;

    calls++;
    scratch_rounds = -1;
    memcpy(scratch_tensor, g->tensor, sizeof(scratch_tensor));
    simpler_task_args_reset(&scratch);
    simpler_task_args_add_input(&scratch, &scratch_tensor[0]);
    simpler_task_args_add_input(&scratch, &scratch_tensor[1]);
    simpler_task_args_add_output(&scratch, &scratch_tensor[2]);
    kit_add_call(&scratch, axpy, NULL); /* two scalars before the graph's own */
    simpler_task_args_add_scalar(&scratch, &g->scalar[0], SIMPLER_DTYPE_UINT64);
    KIT_EXPECT_EQUAL(simpler_orch_submit_aiv(orch, 3, &scratch, NULL), 0);
    for (int i = 0; i < rounds; i++) {
        simpler_task_args_reset(&scratch);
        simpler_task_args_add_inout(&scratch, &g->tensor[2]);
        (void)kit_submit(orch, &scratch, add_one, NULL, NULL);
    }
}

static void call_with_scratch(struct simpler_orch *orch, void *user)
{
    const struct plan *p = user;

    for (uint32_t i = 0; i < p->count; i++) {
        scratch_tensor[0] = kit_tensor(p->b[i].x, N, SIMPLER_DTYPE_FLOAT32);
        scratch_tensor[1] = kit_tensor(p->b[i].y, N, SIMPLER_DTYPE_FLOAT32);
        scratch_tensor[2] = kit_tensor(p->b[i].z, N, SIMPLER_DTYPE_FLOAT32);
        scratch_rounds = p->rounds;
        simpler_task_args_reset(&scratch);
        simpler_task_args_add_input(&scratch, &scratch_tensor[0]);
        simpler_task_args_add_input(&scratch, &scratch_tensor[1]);
        simpler_task_args_add_inout(&scratch, &scratch_tensor[2]);
        simpler_task_args_add_scalar(&scratch, SIMPLER_SCALAR(p->b[i].scale));
        KIT_EXPECT_EQUAL(simpler_orch_submit_graph(orch, fills_its_callers, &scratch,
                                                   &scratch_rounds, sizeof(scratch_rounds)),
                         0);
    }
}

/* The call is what the caller gave, whatever the function makes of the caller's objects. */
static void a_function_may_fill_its_callers_arguments(void **state)
{
    (void)state;
    static struct binding b[3];
    struct plan p = {b, 3, 2};

    for (int r = 0; r < 2; r++) {
        struct simpler_call_config config = config_of(runtimes[r]);
        calls = 0;
        for (uint32_t i = 0; i < p.count; i++)
            fill(&b[i], i + 3);
        assert_int_equal(kit_run(&kit, call_with_scratch, &p, &config, NULL), 0);
        assert_int_equal(calls, r == 0 ? 3 : 1);
        for (uint32_t i = 0; i < p.count; i++) {
            for (uint32_t k = 0; k < N; k++)
                assert_true(b[i].z[k] == b[i].x[k] * b[i].scale + b[i].y[k] + 2);
        }
    }
}

/* ---- many grains ---- */

static int add_index(const int64_t *args, uint32_t tensors, void *user)
{
    (void)tensors;
    (void)user;
    kit_spin_ns(3000);
    *(uint64_t *)simpler_kernel_data(args, 0) += 1;
    return 0;
}

static void wide(struct simpler_orch *orch, const struct simpler_graph_args *g)
{
    struct simpler_task_args args;

    for (uint32_t i = 0; i < 200; i++) {
        struct simpler_tensor cell = kit_cell(&g->tensor[0], i % 50);
        simpler_task_args_reset(&args);
        simpler_task_args_add_inout(&args, &cell);
        (void)kit_submit(orch, &args, add_index, NULL, NULL);
    }
}

static uint64_t cells[2][50];

static void wide_twice(struct simpler_orch *orch, void *user)
{
    (void)user;
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 2; i++) {
            struct simpler_tensor t = kit_tensor(cells[i], 50, SIMPLER_DTYPE_UINT64);
            struct simpler_task_args args;
            simpler_task_args_reset(&args);
            simpler_task_args_add_inout(&args, &t);
            KIT_EXPECT_EQUAL(simpler_orch_submit_graph(orch, wide, &args, NULL, 0), 0);
        }
    }
}

/* Long kernels, so that a graph is many grains; two calls at once and three one after another. */
static void graphs_of_many_grains(void **state)
{
    (void)state;
    for (int turn = 0; turn < 3; turn++) {
        struct simpler_call_config config = config_of(runtimes[1]);
        memset(cells, 0, sizeof(cells));
        assert_int_equal(kit_run(&kit, wide_twice, NULL, &config, NULL), 0);
        for (int i = 0; i < 100; i++)
            assert_int_equal(cells[i / 50][i % 50], 12);
    }
}

/* ---- what is refused ---- */

static float outside[N];
static uint64_t overlapped[2 * N];

static void uses_a_stranger(struct simpler_orch *orch, const struct simpler_graph_args *g)
{
    struct simpler_tensor t = kit_tensor(outside, N, SIMPLER_DTYPE_FLOAT32);
    struct simpler_task_args args;

    (void)g;
    simpler_task_args_reset(&args);
    simpler_task_args_add_inout(&args, &t);
    (void)kit_submit(orch, &args, add_one, NULL, NULL);
}

static void writes_its_input(struct simpler_orch *orch, const struct simpler_graph_args *g)
{
    struct simpler_task_args args;

    simpler_task_args_reset(&args);
    simpler_task_args_add_inout(&args, &g->tensor[0]);
    (void)kit_submit(orch, &args, add_one, NULL, NULL);
}

static void reads_data(struct simpler_orch *orch, const struct simpler_graph_args *g)
{
    uint32_t zero = 0;
    float value;

    (void)simpler_orch_get_tensor_data(orch, &g->tensor[0], &zero, &value);
}

static void calls_a_graph(struct simpler_orch *orch, const struct simpler_graph_args *g)
{
    struct simpler_task_args args;

    simpler_task_args_reset(&args);
    simpler_task_args_add_input(&args, &g->tensor[0]);
    (void)simpler_orch_submit_graph(orch, reads_data, &args, NULL, 0);
}

static void leaves_a_scope(struct simpler_orch *orch, const struct simpler_graph_args *g)
{
    (void)g;
    (void)simpler_orch_scope_begin(orch, SIMPLER_SCOPE_AUTO);
}

static void ends_a_foreign_scope(struct simpler_orch *orch, const struct simpler_graph_args *g)
{
    (void)g;
    (void)simpler_orch_scope_end(orch);
}

static void follows_a_foreign_task(struct simpler_orch *orch, const struct simpler_graph_args *g)
{
    struct simpler_task_id id = {0};
    struct simpler_task_args args;

    (void)g;
    simpler_task_args_reset(&args);
    simpler_task_args_set_dependencies(&args, &id, 1);
    (void)kit_submit(orch, &args, kit_nop_kernel, NULL, NULL);
}

struct refusal {
    simpler_graph_fn fn;
    const char *says;
};

static void one_call(struct simpler_orch *orch, void *user)
{
    const struct refusal *r = user;
    struct simpler_tensor t = kit_tensor(cells, N, SIMPLER_DTYPE_FLOAT32);
    struct simpler_task_args args;

    simpler_task_args_reset(&args);
    (void)kit_submit(orch, &args, kit_nop_kernel, NULL, NULL);
    simpler_task_args_reset(&args);
    simpler_task_args_add_input(&args, &t);
    KIT_EXPECT(simpler_orch_submit_graph(orch, r->fn, &args, NULL, 0) != 0);
}

static void refused(kit_orch fn, void *user, const char *says)
{
    struct simpler_call_config config = config_of(runtimes[1]);
    struct simpler_run_result result;

    assert_int_equal(kit_run(&kit, fn, user, &config, &result), -SIMPLER_CODE_INVALID_ARGS);
    if (strstr(result.message, says) == NULL)
        fail_msg("'%s' does not hold '%s'", result.message, says);
    assert_int_equal(result.stats.tasks_run, 0);
}

static void what_cannot_be_recorded_is_refused(void **state)
{
    (void)state;
    struct refusal list[] = {
        {uses_a_stranger, "neither an argument of the recorded graph nor made in it"},
        {writes_its_input, "writes what it was given as an input"},
        {reads_data, "get_tensor_data in a recorded graph"},
        {calls_a_graph, "while another is recorded"},
        {leaves_a_scope, "returned with 1 scope open"},
        {ends_a_foreign_scope, "scope_end without an open scope"},
        {follows_a_foreign_task, "names no task of the recorded graph"},
    };
    for (size_t i = 0; i < sizeof(list) / sizeof(list[0]); i++)
        refused(one_call, &list[i], list[i].says);
}

static void overlapping(struct simpler_orch *orch, void *user)
{
    struct simpler_tensor all = kit_tensor(overlapped, 2 * N, SIMPLER_DTYPE_UINT64);
    struct simpler_tensor half, shifted;
    uint32_t shape = N, offset = N / 2, zero = 0;
    struct simpler_task_args args;
    bool backwards = user != NULL;

    (void)simpler_tensor_view(&all, &shape, &zero, &half);
    (void)simpler_tensor_view(&all, &shape, &offset, &shifted);
    simpler_task_args_reset(&args);
    simpler_task_args_add_inout(&args, backwards ? &shifted : &half);
    simpler_task_args_add_inout(&args, backwards ? &half : &shifted);
    int rc = simpler_orch_submit_graph(orch, wide, &args, NULL, 0);
    KIT_EXPECT_EQUAL(rc == 0, !backwards);
}

/* Arguments that share bytes are recorded with how they lie to each other. */
static void arguments_may_overlap(void **state)
{
    (void)state;
    struct simpler_call_config config = config_of(runtimes[1]);

    memset(overlapped, 0, sizeof(overlapped));
    assert_int_equal(kit_run(&kit, overlapping, NULL, &config, NULL), 0);
    assert_int_equal(overlapped[0], 4);
    refused(overlapping, overlapped, "two arguments share bytes");
}

/* ---- failures ---- */

static int fails(const int64_t *args, uint32_t tensors, void *user)
{
    (void)args;
    (void)tensors;
    (void)user;
    return 17;
}

static void failing(struct simpler_orch *orch, const struct simpler_graph_args *g)
{
    struct simpler_task_args args;

    simpler_task_args_reset(&args);
    simpler_task_args_add_inout(&args, &g->tensor[0]);
    (void)kit_submit(orch, &args, fails, NULL, NULL);
    simpler_task_args_reset(&args);
    simpler_task_args_add_inout(&args, &g->tensor[0]);
    (void)kit_submit(orch, &args, add_one, NULL, NULL);
}

static void call_failing(struct simpler_orch *orch, void *user)
{
    struct simpler_tensor t = kit_tensor(user, N, SIMPLER_DTYPE_FLOAT32);
    struct simpler_task_args args;

    for (int i = 0; i < 3; i++) {
        simpler_task_args_reset(&args);
        if (i != 1) {
            simpler_task_args_add_inout(&args, &t);
            (void)kit_submit(orch, &args, add_one, NULL, NULL);
            continue;
        }
        simpler_task_args_add_inout(&args, &t);
        KIT_EXPECT_EQUAL(simpler_orch_submit_graph(orch, failing, &args, NULL, 0), 0);
    }
}

static void a_failure_in_a_graph_poisons_what_follows(void **state)
{
    (void)state;
    for (int r = 0; r < 2; r++) {
        struct simpler_call_config config = config_of(runtimes[r]);
        struct simpler_run_result result;
        float data[N] = {0};

        assert_int_equal(kit_run(&kit, call_failing, data, &config, &result), SIMPLER_EKERNEL);
        assert_int_equal(result.stats.tasks_run, 1);
        assert_int_equal(result.stats.tasks_failed, 1);
        assert_int_equal(result.stats.tasks_poisoned, 2);
        assert_non_null(strstr(result.message, "of task 0x0000000000000001 returned 17"));
        assert_true(data[0] == 1);
    }
}

KIT_FIXTURE(kit)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_graph_is_replayed_with_other_data),
        cmocka_unit_test(a_function_may_fill_its_callers_arguments),
        cmocka_unit_test(graphs_of_many_grains),
        cmocka_unit_test(what_cannot_be_recorded_is_refused),
        cmocka_unit_test(arguments_may_overlap),
        cmocka_unit_test(a_failure_in_a_graph_poisons_what_follows),
    };
    return cmocka_run_group_tests(tests, open_kit, close_kit);
}
