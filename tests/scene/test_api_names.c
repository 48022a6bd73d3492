/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A test for each name that orchestrations use (SY-05), in C: it is called, and what
 * it promises is seen by a kernel.  The same file is built a second time, with the
 * library, for SIMPLER_DFX=0 (AD-30): test_api_names_no_dfx.
 */
#include <string.h>

#include "cm.h"
#include "kit.h"

static struct kit kit;
static struct simpler_run_result result;
static int64_t cells[64];

KIT_FIXTURE(kit)

static int fresh(void **state)
{
    (void)state;
    for (int i = 0; i < 64; i++)
        cells[i] = i;
    return 0;
}

static struct simpler_tensor cell(uint32_t first, uint32_t count)
{
    struct simpler_tensor all = kit_tensor(cells, 64, SIMPLER_DTYPE_INT64), t;
    KIT_EXPECT_EQUAL(simpler_tensor_view(&all, &count, &first, &t), 0);
    return t;
}

/* Every tensor after the first gets what the first one holds, and one more. */
static int pass_on(const int64_t *args, uint32_t tensors, void *user)
{
    (void)user;
    for (uint32_t i = 1; i < tensors; i++)
        *(int64_t *)simpler_kernel_data(args, i) = *(int64_t *)simpler_kernel_data(args, 0) + 1;
    return 0;
}

static int add_10(const int64_t *args, uint32_t tensors, void *user)
{
    (void)tensors;
    (void)user;
    *(int64_t *)simpler_kernel_data(args, 0) += 10;
    return 0;
}

#define SUBMIT(args, fn) KIT_EXPECT_EQUAL(kit_submit(orch, args, fn, NULL, NULL), 0)

/* ---- arguments ---- */

static void input_output_inout(struct simpler_orch *orch, void *user)
{
    struct simpler_tensor a = cell(5, 1), b = cell(6, 1);
    struct simpler_task_args args;
    (void)user;
    simpler_task_args_reset(&args);
    simpler_task_args_add_input(&args, &a);
    simpler_task_args_add_output(&args, &b);
    SUBMIT(&args, pass_on);
    simpler_task_args_reset(&args);
    simpler_task_args_add_inout(&args, &b);
    SUBMIT(&args, add_10);
    simpler_task_args_reset(&args);
    simpler_task_args_add_input(&args, &b);
    simpler_task_args_add_output(&args, &a);
    SUBMIT(&args, pass_on);
}

static void add_input_add_output_add_inout(void **state)
{
    (void)state;
    kit_pass(&kit, input_output_inout, NULL);
    assert_int_equal(cells[6], 16);
    assert_int_equal(cells[5], 17);
}

/* A NO_DEP reader is not waited for by the writer: the gate's task would never end. */
static void no_dep(struct simpler_orch *orch, void *user)
{
    struct kit_gate *gate = user;
    struct simpler_tensor a = cell(5, 1);
    struct simpler_task_args args;
    uint32_t index = 0;
    int64_t value = 0;

    simpler_task_args_reset(&args);
    simpler_task_args_add_no_dep(&args, &a);
    KIT_EXPECT_EQUAL(kit_submit_variant(orch, KIT_LONG, &args, kit_gate_kernel, gate, NULL), 0);
    KIT_EXPECT(kit_gate_wait(gate, 1));
    simpler_task_args_reset(&args);
    simpler_task_args_add_inout(&args, &a);
    SUBMIT(&args, add_10);
    KIT_EXPECT_EQUAL(simpler_orch_get_tensor_data(orch, &a, &index, &value), 0);
    KIT_EXPECT_EQUAL(value, 15);
    kit_gate_open(gate);
}

static void add_no_dep(void **state)
{
    struct kit_gate gate = {0};
    (void)state;
    kit_pass(&kit, no_dep, &gate);
}

/* ---- scalars ---- */

struct scalars {
    int8_t i8;
    int16_t i16;
    int32_t i32;
    int64_t i64;
    uint8_t u8;
    uint16_t u16;
    uint32_t u32;
    uint64_t u64;
    float f32;
    double f64;
    bool flag;
};
static const struct scalars sent = {-7,          -300,       -70000, INT64_MIN, 200, 60000,
                                    4000000000u, UINT64_MAX, 1.5f,   -2.25,     true};

static int check_scalars(const int64_t *args, uint32_t tensors, void *user)
{
    struct scalars got = {0};
    uint32_t i = tensors + 2;
    (void)user;
#define GET(member) simpler_kernel_scalar(args, i++, &got.member, sizeof(got.member))
    GET(i8);
    GET(i16);
    GET(i32);
    GET(i64);
    GET(u8);
    GET(u16);
    GET(u32);
    GET(u64);
    GET(f32);
    GET(f64);
    GET(flag);
#undef GET
    return got.i8 == sent.i8 && got.i16 == sent.i16 && got.i32 == sent.i32 && got.i64 == sent.i64 &&
                   got.u8 == sent.u8 && got.u16 == sent.u16 && got.u32 == sent.u32 &&
                   got.u64 == sent.u64 && got.f32 == sent.f32 && got.f64 == sent.f64 &&
                   got.flag == sent.flag
               ? 0
               : 1;
}

static void every_type(struct simpler_orch *orch, void *user)
{
    struct simpler_task_args args;
    struct scalars s = sent;
    (void)user;
    simpler_task_args_reset(&args);
    kit_add_call(&args, check_scalars, NULL);
    simpler_task_args_add_scalar(&args, SIMPLER_SCALAR(s.i8));
    simpler_task_args_add_scalar(&args, SIMPLER_SCALAR(s.i16));
    simpler_task_args_add_scalar(&args, SIMPLER_SCALAR(s.i32));
    simpler_task_args_add_scalar(&args, SIMPLER_SCALAR(s.i64));
    simpler_task_args_add_scalar(&args, SIMPLER_SCALAR(s.u8));
    simpler_task_args_add_scalar(&args, SIMPLER_SCALAR(s.u16));
    simpler_task_args_add_scalar(&args, SIMPLER_SCALAR(s.u32));
    simpler_task_args_add_scalar(&args, SIMPLER_SCALAR(s.u64));
    simpler_task_args_add_scalar(&args, SIMPLER_SCALAR(s.f32));
    simpler_task_args_add_scalar(&args, SIMPLER_SCALAR(s.f64));
    simpler_task_args_add_scalar(&args, SIMPLER_SCALAR(s.flag));
    memset(&s, 0xa5, sizeof(s)); /* copied */
    KIT_EXPECT_EQUAL(simpler_orch_submit_aiv(orch, 0, &args, NULL), 0);
}

static void add_scalar(void **state)
{
    (void)state;
    kit_pass(&kit, every_type, NULL);
}

static int check_words(const int64_t *args, uint32_t tensors, void *user)
{
    const uint64_t *want = user;
    for (uint32_t i = 0; i < 4; i++) {
        if ((uint64_t)args[tensors + 2 + i] != want[i])
            return 1;
    }
    return 0;
}

static void many_scalars(struct simpler_orch *orch, void *user)
{
    static const uint64_t words[] = {1, UINT64_MAX};
    static const int32_t small[] = {-1, 7};
    /* int32 is extended with zeros. */
    static uint64_t want[] = {1, UINT64_MAX, 0xffffffffu, 7};
    struct simpler_task_args args, copy;
    (void)user;
    simpler_task_args_reset(&args);
    kit_add_call(&args, check_words, want);
    simpler_task_args_add_scalars(&args, words, 2);
    simpler_task_args_add_scalars_i32(&args, small, 2);
    KIT_EXPECT_EQUAL(simpler_orch_submit_aiv(orch, 0, &args, NULL), 0);
    simpler_task_args_reset(&copy);
    kit_add_call(&copy, check_words, want);
    simpler_task_args_copy_scalars(&copy, &args, 2, 4);
    KIT_EXPECT_EQUAL(simpler_orch_submit_aiv(orch, 0, &copy, NULL), 0);
}

static void add_scalars_add_scalars_i32_copy_scalars_from(void **state)
{
    (void)state;
    kit_pass(&kit, many_scalars, NULL);
}

static void to_u64_from_u64(void **state)
{
    float f = -1.5f, back = 0;
    (void)state;
    uint64_t bits = simpler_to_u64(&f, sizeof(f));
    assert_int_equal(bits, 0xbfc00000u);
    simpler_from_u64(bits, &back, sizeof(back));
    assert_true(back == f);
}

/* ---- tensors and views ---- */

struct seen_view {
    uint32_t count;
    int64_t value[16];
};

/* In row-major order of the shape, by the strides that the kernel was given. */
static int read_view(const int64_t *args, uint32_t tensors, void *user)
{
    const struct simpler_tensor *t = simpler_kernel_tensor(args, 0);
    struct seen_view *seen = user;
    (void)tensors;
    seen->count = (uint32_t)simpler_tensor_numel(t);
    for (uint32_t i = 0; i < seen->count && i < 16; i++) {
        uint64_t at = t->start_offset, rest = i;
        for (uint32_t d = t->ndims; d-- > 0; rest /= t->shape[d])
            at += rest % t->shape[d] * t->stride[d];
        seen->value[i] = ((const int64_t *)(uintptr_t)t->addr)[at];
    }
    return 0;
}

static void submit_view(struct simpler_orch *orch, void *user)
{
    struct simpler_task_args args;
    void **pair = user;
    simpler_task_args_reset(&args);
    simpler_task_args_add_input(&args, pair[0]);
    KIT_EXPECT_EQUAL(kit_submit(orch, &args, read_view, pair[1], NULL), 0);
}

static void kernel_sees(struct simpler_tensor *t, uint32_t count, const int64_t *want)
{
    struct seen_view seen = {0};
    void *pair[] = {t, &seen};
    kit_pass(&kit, submit_view, pair);
    assert_int_equal(seen.count, count);
    assert_memory_equal(seen.value, want, count * sizeof(int64_t));
}

static struct simpler_tensor matrix(void)
{
    struct simpler_tensor t;
    assert_int_equal(simpler_tensor_init(&t, cells, SIMPLER_DIMS(4, 4), SIMPLER_DTYPE_INT64), 0);
    return t;
}

static void make_tensor_external(void **state)
{
    struct simpler_tensor t;
    (void)state;
    assert_int_equal(simpler_tensor_init(&t, cells + 3, SIMPLER_DIMS(2, 2), SIMPLER_DTYPE_INT64),
                     0);
    kernel_sees(&t, 4, (const int64_t[]){3, 4, 5, 6});
}

static void make_tensor_strided(void **state)
{
    static const uint32_t shape[] = {2, 3}, stride[] = {16, 5};
    struct simpler_tensor t;
    (void)state;
    assert_int_equal(simpler_tensor_init_strided(&t, cells, shape, stride, 2, SIMPLER_DTYPE_INT64),
                     0);
    kernel_sees(&t, 6, (const int64_t[]){0, 5, 10, 16, 21, 26});
}

static void view(void **state)
{
    static const uint32_t shape[] = {2, 2}, offset[] = {1, 2};
    struct simpler_tensor t = matrix();
    (void)state;
    assert_int_equal(simpler_tensor_view(&t, shape, offset, &t), 0);
    kernel_sees(&t, 4, (const int64_t[]){6, 7, 10, 11});
}

static void reshape(void **state)
{
    static const uint32_t shape[] = {2, 8}, pick[] = {2, 1}, offset[] = {0, 7};
    struct simpler_tensor t = matrix();
    (void)state;
    assert_int_equal(simpler_tensor_reshape(&t, shape, 2, &t), 0);
    assert_int_equal(simpler_tensor_view(&t, pick, offset, &t), 0);
    kernel_sees(&t, 2, (const int64_t[]){7, 15});
}

static void transpose(void **state)
{
    static const uint32_t shape[] = {2, 4}, offset[] = {1, 0};
    struct simpler_tensor t = matrix();
    (void)state;
    assert_int_equal(simpler_tensor_transpose(&t, 0, 1, &t), 0);
    assert_int_equal(simpler_tensor_view(&t, shape, offset, &t), 0);
    kernel_sees(&t, 8, (const int64_t[]){1, 5, 9, 13, 2, 6, 10, 14});
}

static void permute(void **state)
{
    static const uint32_t order[] = {2, 0, 1};
    struct simpler_tensor t;
    (void)state;
    assert_int_equal(simpler_tensor_init(&t, cells, SIMPLER_DIMS(2, 2, 3), SIMPLER_DTYPE_INT64), 0);
    assert_int_equal(simpler_tensor_permute(&t, order, &t), 0);
    kernel_sees(&t, 12, (const int64_t[]){0, 3, 6, 9, 1, 4, 7, 10, 2, 5, 8, 11});
}

static void slice(void **state)
{
    struct simpler_tensor t = matrix();
    (void)state;
    assert_int_equal(simpler_tensor_slice(&t, 1, 1, 4, 2, &t), 0);
    kernel_sees(&t, 8, (const int64_t[]){1, 3, 5, 7, 9, 11, 13, 15});
}

/* ---- outputs ---- */

static void outputs(struct simpler_orch *orch, void *user)
{
    struct simpler_create_info info = kit_info(3, SIMPLER_DTYPE_INT64);
    struct simpler_tensor a = cell(5, 1), b = cell(6, 1);
    struct simpler_task_outputs out;
    struct simpler_task_args args;
    (void)user;
    simpler_task_args_reset(&args);
    simpler_task_args_add_input(&args, &a);
    simpler_task_args_add_create(&args, &info);
    KIT_EXPECT_EQUAL(kit_submit(orch, &args, pass_on, NULL, &out), 0);
    KIT_EXPECT_EQUAL(out.count, 1);
    KIT_EXPECT(out.id.raw != SIMPLER_TASK_ID_NONE && out.tensor[0].owner == out.id.raw);
    KIT_EXPECT_EQUAL(simpler_tensor_numel(&out.tensor[0]), 3);
    simpler_task_args_reset(&args);
    simpler_task_args_add_input(&args, &out.tensor[0]);
    simpler_task_args_add_output(&args, &b);
    SUBMIT(&args, pass_on);
}

static void TensorCreateInfo_get_ref_task_id(void **state)
{
    (void)state;
    kit_pass(&kit, outputs, NULL);
    assert_int_equal(cells[6], 7);
}

static void initial(struct simpler_orch *orch, void *user)
{
    struct simpler_create_info info = kit_info(3, SIMPLER_DTYPE_INT64);
    struct simpler_task_outputs out;
    int64_t value = 77, got = 0;
    uint32_t index = 2;
    (void)user;
    simpler_create_info_set_initial_value(&info, &value);
    KIT_EXPECT_EQUAL(simpler_orch_alloc_tensors(orch, &info, 1, &out), 0);
    KIT_EXPECT_EQUAL(simpler_orch_get_tensor_data(orch, &out.tensor[0], &index, &got), 0);
    KIT_EXPECT_EQUAL(got, 77);
    got = 78;
    KIT_EXPECT_EQUAL(simpler_orch_set_tensor_data(orch, &out.tensor[0], &index, &got), 0);
    got = 0;
    KIT_EXPECT_EQUAL(simpler_orch_get_tensor_data(orch, &out.tensor[0], &index, &got), 0);
    KIT_EXPECT_EQUAL(got, 78);
}

static void alloc_tensors_set_initial_value_get_set_tensor_data(void **state)
{
    (void)state;
    kit_pass(&kit, initial, NULL);
}

/* ---- submits ---- */

static _Atomic int count;

static void three_kinds(struct simpler_orch *orch, void *user)
{
    struct simpler_mixed_kernels mixed = {(int32_t)(KIT_VARIANT * KIT_AIV_VARIANTS), 0, 0};
    struct simpler_tensor a = cell(5, 1);
    struct simpler_task_args args;
    (void)user;
    simpler_task_args_reset(&args);
    kit_submit_variant(orch, 0, &args, kit_count_kernel, (void *)&count, NULL);
    simpler_task_args_reset(&args);
    kit_submit_variant(orch, KIT_AIV_VARIANTS, &args, kit_count_kernel, (void *)&count, NULL);
    simpler_task_args_reset(&args);
    kit_add_call(&args, kit_count_kernel, (void *)&count);
    KIT_EXPECT_EQUAL(simpler_orch_submit_mixed(orch, &mixed, &args, NULL), 0);
    simpler_task_args_reset(&args);
    simpler_task_args_add_inout(&args, &a);
    KIT_EXPECT_EQUAL(simpler_orch_submit_dummy(orch, &args, NULL), 0);
}

static void rt_submit_aiv_aic_dummy_task_MixedKernels(void **state)
{
    (void)state;
    atomic_store(&count, 0);
    kit_pass(&kit, three_kinds, NULL);
    assert_int_equal(count, 5);
}

static void blocks(struct simpler_orch *orch, void *user)
{
    struct simpler_task_args args;
    for (int i = 0; i < 3; i++) {
        simpler_task_args_reset(&args);
        if (i == 1)
            simpler_task_args_set_core_num(&args, 5);
        else
            simpler_task_args_set_block_num(&args, 5);
        simpler_task_args_set_require_sync_start(&args, i == 2);
        simpler_task_args_set_allow_early_resolve(&args, i == 0);
        KIT_EXPECT_EQUAL(kit_submit(orch, &args, kit_count_kernel, user, NULL), 0);
    }
}

static void set_block_num_core_num_require_sync_start_allow_early_resolve(void **state)
{
    (void)state;
    atomic_store(&count, 0);
    kit_pass(&kit, blocks, (void *)&count);
    assert_int_equal(count, 15);
}

static void predicate(struct simpler_orch *orch, void *user)
{
    struct simpler_tensor a = cell(5, 1);
    struct simpler_task_args args;
    for (int64_t target = 4; target < 7; target++) {
        struct simpler_predicate p = {&a, {0}, SIMPLER_PREDICATE_GE, target};
        simpler_task_args_reset(&args);
        simpler_task_args_set_predicate(&args, &p);
        KIT_EXPECT_EQUAL(kit_submit(orch, &args, kit_count_kernel, user, NULL), 0);
    }
}

static void set_predicate(void **state)
{
    (void)state;
    atomic_store(&count, 0);
    kit_pass(&kit, predicate, (void *)&count);
    assert_int_equal(count, 2);
}

static void timing(struct simpler_orch *orch, void *user)
{
    struct simpler_task_args args;
    (void)user;
    simpler_task_args_reset(&args);
    simpler_task_args_set_task_timing_slot(&args, 7);
    SUBMIT(&args, kit_nop_kernel);
}

static void set_task_timing_slot(void **state)
{
    struct simpler_call_config config = kit_config(2);
    (void)state;
    assert_int_equal(kit_run(&kit, timing, NULL, &config, &result), 0);
    assert_int_equal(result.timing[7].tasks, 1);
    assert_int_equal(result.timing[6].tasks, 0);
}

/* ---- dependencies and scopes ---- */

static _Atomic int order;

static int in_order(const int64_t *args, uint32_t tensors, void *user)
{
    (void)args;
    (void)tensors;
    /* The first one dawdles: without the dependency the second would overtake it. */
    if (*(const int *)user == 0)
        kit_sleep_ns(3000000);
    return atomic_fetch_add(&order, 1) == *(const int *)user ? 0 : 1;
}

enum { PLAIN, KINDS, DEPS, DEPS_WAIT };

/* In a manual scope nothing but the dependency orders the two. */
static void dependencies(struct simpler_orch *orch, void *user)
{
    static const int number[] = {0, 1};
    const uint8_t kind = SIMPLER_DEP_WAIT;
    struct simpler_task_outputs first;
    struct simpler_task_deps deps;
    struct simpler_task_args args;

    SIMPLER_SCOPE_MODE(orch, SIMPLER_SCOPE_MANUAL)
    {
        simpler_task_args_reset(&args);
        kit_submit_variant(orch, KIT_LONG, &args, in_order, (void *)(uintptr_t)&number[0], &first);
        simpler_task_args_reset(&args);
        simpler_task_deps_reset(&deps);
        switch (*(const int *)user) {
        case PLAIN:
            simpler_task_args_set_dependencies(&args, &first.id, 1);
            break;
        case KINDS:
            simpler_task_args_set_dependencies_with_kinds(&args, &first.id, &kind, 1);
            break;
        case DEPS:
            simpler_task_deps_add(&deps, first.id);
            simpler_task_deps_bind(&deps, &args);
            break;
        default:
            simpler_task_deps_add_wait(&deps, first.id);
            simpler_task_deps_bind(&deps, &args);
            break;
        }
        kit_submit_variant(orch, KIT_LONG, &args, in_order, (void *)(uintptr_t)&number[1], NULL);
    }
}

static void depend(int how)
{
    struct simpler_call_config config = kit_config(3);
    atomic_store(&order, 0);
    assert_int_equal(kit_run(&kit, dependencies, &how, &config, &result), 0);
    assert_int_equal(order, 2);
}

static void set_dependencies(void **state)
{
    (void)state;
    depend(PLAIN);
}

static void set_dependencies_with_kinds(void **state)
{
    (void)state;
    depend(KINDS);
}

static void CoreTaskArgsWithDeps_add_dep(void **state)
{
    (void)state;
    depend(DEPS);
}

static void add_dep_wait(void **state)
{
    (void)state;
    depend(DEPS_WAIT);
}

static void too_many(struct simpler_orch *orch, void *user)
{
    struct simpler_task_deps deps;
    struct simpler_task_args args;
    (void)user;
    simpler_task_deps_reset(&deps);
    for (int i = 0; i < 40; i++)
        simpler_task_deps_add(&deps, (struct simpler_task_id){0});
    simpler_task_args_reset(&args);
    simpler_task_deps_bind(&deps, &args);
    kit_submit(orch, &args, kit_nop_kernel, NULL, NULL);
}

static void a_17th_dependency_is_code_5(void **state)
{
    struct simpler_call_config config = kit_config(2);
    (void)state;
    assert_int_equal(kit_run(&kit, too_many, NULL, &config, &result), -SIMPLER_CODE_INVALID_ARGS);
    assert_non_null(strstr(result.message, "more than 16"));
}

/* Each scope's outputs are freed with it: a heap for one of them is enough. */
static void scopes(struct simpler_orch *orch, void *user)
{
    struct simpler_create_info info = kit_info(128, SIMPLER_DTYPE_INT64);
    struct simpler_task_outputs out;
    for (int i = 0; i < 20; i++) {
        switch (*(const int *)user) {
        case 0:
            SIMPLER_SCOPE(orch)
            {
                KIT_EXPECT_EQUAL(simpler_orch_alloc_tensors(orch, &info, 1, &out), 0);
                continue; /* leaves the block: the scope ends as well */
            }
            break;
        case 1:
            SIMPLER_SCOPE_MODE(orch, SIMPLER_SCOPE_MANUAL)
            {
                KIT_EXPECT_EQUAL(simpler_orch_alloc_tensors(orch, &info, 1, &out), 0);
            }
            break;
        default:
            KIT_EXPECT_EQUAL(simpler_orch_scope_begin(orch, SIMPLER_SCOPE_AUTO), 0);
            KIT_EXPECT_EQUAL(simpler_orch_alloc_tensors(orch, &info, 1, &out), 0);
            KIT_EXPECT_EQUAL(simpler_orch_scope_end(orch), 0);
            break;
        }
    }
}

static void scoped(int how)
{
    struct simpler_call_config config = kit_config(2);
    kit_set_heap(&config, 1024);
    assert_int_equal(kit_run(&kit, scopes, &how, &config, &result), 0);
}

static void SIMPLER_SCOPE_block_and_guard(void **state)
{
    (void)state;
    scoped(0);
}

static void manual_scope_mode(void **state)
{
    (void)state;
    scoped(1);
}

static void rt_scope_begin_rt_scope_end(void **state)
{
    (void)state;
    scoped(2);
}

/* ---- the run ---- */

static void geometry(struct simpler_orch *orch, void *user)
{
    (void)user;
    KIT_EXPECT_EQUAL(simpler_orch_available_cluster_count(orch), 5);
    KIT_EXPECT_EQUAL(simpler_orch_available_aiv_count(orch), 10);
}

static void rt_available_cluster_count_aiv_count(void **state)
{
    struct simpler_call_config config = kit_config(2);
    (void)state;
    config.cluster_count = 5;
    assert_int_equal(kit_run(&kit, geometry, NULL, &config, &result), 0);
}

static void fatal(struct simpler_orch *orch, void *user)
{
    struct simpler_task_args args;
    (void)user;
    KIT_EXPECT(!simpler_orch_is_fatal(orch));
    simpler_orch_report_fatal(orch, SIMPLER_CODE_EXPLICIT_ORCH_FATAL, "row %d is empty", 3);
    KIT_EXPECT(simpler_orch_is_fatal(orch));
    simpler_task_args_reset(&args);
    KIT_EXPECT_EQUAL(kit_submit(orch, &args, kit_nop_kernel, NULL, NULL), -9);
}

static void rt_report_fatal_rt_is_fatal(void **state)
{
    struct simpler_call_config config = kit_config(2);
    (void)state;
    assert_int_equal(kit_run(&kit, fatal, NULL, &config, &result), -9);
    assert_non_null(strstr(result.message, "row 3 is empty"));
}

static char logged[256];
static int logged_level;

static void note_line(void *user, int level, const char *line)
{
    (void)user;
    logged_level = level;
    (void)strncpy(logged, line, sizeof(logged) - 1);
}

static void LOG_DEBUG_INFO_TIMING_WARN_ERROR(void **state)
{
    static const int levels[] = {SIMPLER_LOG_DEBUG, SIMPLER_LOG_INFO, SIMPLER_LOG_TIMING,
                                 SIMPLER_LOG_WARN, SIMPLER_LOG_ERROR};
    (void)state;
    simpler_log_set_callback(note_line, NULL);
    simpler_log_set_level(SIMPLER_LOG_DEBUG);
    for (int i = 0; i < 5; i++) {
        simpler_log_write(levels[i], "number %d", i);
        assert_int_equal(logged_level, levels[i]);
        assert_non_null(strstr(logged, "number "));
    }
    simpler_log_set_level(SIMPLER_LOG_NONE);
    logged_level = 0;
    simpler_log_write(SIMPLER_LOG_ERROR, "not shown");
    assert_int_equal(logged_level, 0);
    simpler_log_set_callback(NULL, NULL);
}

/* ---- dump: with SIMPLER_DFX=0 it does nothing ---- */

static void dump_marks(struct simpler_orch *orch, void *user)
{
    struct simpler_tensor a = cell(5, 1), stranger = cell(6, 1);
    struct simpler_task_args args;
    float scale = 1.5f;
    simpler_task_args_reset(&args);
    simpler_task_args_add_inout(&args, &a);
    simpler_task_args_add_scalar(&args, SIMPLER_SCALAR(scale));
    simpler_task_args_dump(&args, &a, &scale);
    simpler_task_args_dump_all(&args);
    if (*(const int *)user)
        simpler_task_args_dump(&args, &stranger);
    kit_add_call(&args, kit_nop_kernel, NULL);
    (void)simpler_orch_submit_dummy(orch, &args, NULL);
}

static void dump(void **state)
{
    struct simpler_call_config config = kit_config(2);
    int mistake = 0;
    (void)state;
    assert_int_equal(kit_run(&kit, dump_marks, &mistake, &config, &result), 0);
    mistake = 1;
    assert_int_equal(kit_run(&kit, dump_marks, &mistake, &config, &result),
                     SIMPLER_DFX ? -SIMPLER_CODE_INVALID_ARGS : 0);
}

#define TEST(name) cmocka_unit_test_setup(name, fresh)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(add_input_add_output_add_inout),
        TEST(add_no_dep),
        TEST(add_scalar),
        TEST(add_scalars_add_scalars_i32_copy_scalars_from),
        TEST(to_u64_from_u64),
        TEST(make_tensor_external),
        TEST(make_tensor_strided),
        TEST(view),
        TEST(reshape),
        TEST(transpose),
        TEST(permute),
        TEST(slice),
        TEST(TensorCreateInfo_get_ref_task_id),
        TEST(alloc_tensors_set_initial_value_get_set_tensor_data),
        TEST(rt_submit_aiv_aic_dummy_task_MixedKernels),
        TEST(set_block_num_core_num_require_sync_start_allow_early_resolve),
        TEST(set_predicate),
        TEST(set_task_timing_slot),
        TEST(set_dependencies),
        TEST(set_dependencies_with_kinds),
        TEST(CoreTaskArgsWithDeps_add_dep),
        TEST(add_dep_wait),
        TEST(a_17th_dependency_is_code_5),
        TEST(SIMPLER_SCOPE_block_and_guard),
        TEST(manual_scope_mode),
        TEST(rt_scope_begin_rt_scope_end),
        TEST(rt_available_cluster_count_aiv_count),
        TEST(rt_report_fatal_rt_is_fatal),
        TEST(LOG_DEBUG_INFO_TIMING_WARN_ERROR),
        TEST(dump),
    };
    simpler_log_set_level(SIMPLER_LOG_NONE);
    return cmocka_run_group_tests(tests, open_kit, close_kit);
}
