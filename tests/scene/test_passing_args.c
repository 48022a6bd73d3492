/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the kernels of a stretch (tmr/passing.h) are called with, which submits are refused in it,
 * and how it keeps within the map.  The callable has kernels whose ids are equal modulo 8, of
 * both core types; each looks whether it is the one that was meant and has what was meant.
 */
#include <string.h>

#include "cm.h"
#include "kit.h"
#include "passing_rig.h"
#include "simpler/info.h"

#define KERNELS   24u
#define AIVS      12u
#define ID(which) (8u * (which)) /* the first half is AIV */

/* ---- the callable ---- */

/* What the next kernel is to find; the orchestrator's thread alone: all tasks run in their submit.
 */
static struct meant {
    uint32_t which, tensors, scalars;
    struct simpler_tensor tensor[SIMPLER_MAX_TENSORS];
    uint64_t scalar[SIMPLER_MAX_SCALARS];
    int status;
    struct simpler_async_counter *defer; /* NULL: done as it returns */
} meant;
static _Atomic uint64_t calls;

static int look(const int64_t *args, uint32_t which)
{
    struct simpler_async_condition condition = {SIMPLER_ASYNC_EVENT, 0, meant.defer, 0};

    atomic_fetch_add(&calls, 1);
    KIT_EXPECT_EQUAL(which, meant.which);
    for (uint32_t i = 0; i < meant.tensors; i++)
        KIT_EXPECT(
            memcmp(simpler_kernel_tensor(args, i), &meant.tensor[i], sizeof(meant.tensor[i])) == 0);
    for (uint32_t k = 0; k < meant.scalars; k++)
        KIT_EXPECT_EQUAL(args[meant.tensors + k], meant.scalar[k]);
    KIT_EXPECT_EQUAL(simpler_kernel_block_num(args), 1);
    KIT_EXPECT_EQUAL(simpler_kernel_block_idx(args), 0);
    KIT_EXPECT_EQUAL(simpler_kernel_sub_block_id(args), 0);
    if (meant.defer != NULL)
        KIT_EXPECT_EQUAL(simpler_kernel_defer(args, &condition), 0);
    return meant.status;
}

#define EIGHT(X, a, b, c, d, e, f, g, h) X(a) X(b) X(c) X(d) X(e) X(f) X(g) X(h)
#define EACH(X)                            \
    EIGHT(X, 0, 1, 2, 3, 4, 5, 6, 7)       \
    EIGHT(X, 8, 9, 10, 11, 12, 13, 14, 15) \
    EIGHT(X, 16, 17, 18, 19, 20, 21, 22, 23)
#define X(n)                                                                            \
    static int kernel_##n(int64_t *args)                                                \
    {                                                                                   \
        int status = look(args, n);                                                     \
        memset(args, 0xee, SIMPLER_KERNEL_ARGS * sizeof(*args)); /* they are its own */ \
        return status;                                                                  \
    }
EACH(X)
#undef X
#define X(n) kernel_##n,
static const simpler_kernel_fn functions[KERNELS] = {EACH(X)};
#undef X

static struct kit kit;
static uint32_t handle;
static struct simpler_run_result result;

static void orchestrate(struct simpler_orch *orch, const struct simpler_orch_args *args)
{
    const struct kit_call *call = args->user;
    call->fn(orch, call->user);
}

static void register_kernels(struct kit *to)
{
    static struct simpler_kernel kernels[KERNELS];
    struct simpler_callable callable = {.name = "own", .orchestrate = orchestrate};

    for (uint32_t i = 0; i < KERNELS; i++)
        kernels[i] =
            (struct simpler_kernel){.func_id = ID(i),
                                    .core_type = i < AIVS ? SIMPLER_CORE_AIV : SIMPLER_CORE_AIC,
                                    .name = "own",
                                    .fn = functions[i]};
    callable.kernels = kernels;
    callable.kernel_count = KERNELS;
    assert_int_equal(simpler_worker_register(to->worker, &callable, &handle), 0);
}

static int open_own(void **state)
{
    (void)state;
    kit_open(&kit);
    register_kernels(&kit);
    return 0;
}

static int close_own(void **state)
{
    (void)state;
    kit_close(&kit);
    return 0;
}

static int run(kit_orch fn, void *user, const struct simpler_call_config *config)
{
    struct kit_call call = {fn, user};
    struct simpler_orch_args args = {.user = &call};
    int before = kit_unexpected();

    memset(&meant, 0, sizeof(meant));
    atomic_store(&calls, 0);
    int rc = simpler_worker_run(kit.worker, handle, &args, config, &result);
    return kit_unexpected() != before ? KIT_UNEXPECTED : rc;
}

static int submit(struct simpler_orch *orch, uint32_t which, struct simpler_task_args *args,
                  struct simpler_task_outputs *out)
{
    meant.which = which;
    return which < AIVS ? simpler_orch_submit_aiv(orch, ID(which), args, out)
                        : simpler_orch_submit_aic(orch, ID(which), args, out);
}

/* Without arguments. */
static int bare(struct simpler_orch *orch, uint32_t which)
{
    struct simpler_task_args args;

    simpler_task_args_reset(&args);
    meant.tensors = meant.scalars = 0;
    return submit(orch, which, &args, NULL);
}

static uint32_t data[4096];

/* @tensors of their own, all written. */
static int wide(struct simpler_orch *orch, uint32_t tensors, uint32_t from)
{
    struct simpler_task_args args;

    simpler_task_args_reset(&args);
    meant.tensors = tensors;
    meant.scalars = 0;
    for (uint32_t i = 0; i < tensors; i++) {
        meant.tensor[i] = kit_tensor(&data[8 * (from + i)], 8, SIMPLER_DTYPE_UINT32);
        simpler_task_args_add_inout(&args, &meant.tensor[i]);
    }
    return submit(orch, 1, &args, NULL);
}

/* Until a stretch is open in which kernels 1 and 13 may pass. */
static void open_stretch(struct simpler_orch *orch)
{
    passing_all_short(orch);
    KIT_EXPECT_EQUAL(wide(orch, 1, 0), 0); /* the map is asked for room */
    for (int i = 0; i < 400 || (passing_left(orch) < 20 && i < 2000); i++) {
        KIT_EXPECT_EQUAL(bare(orch, 1), 0);
        KIT_EXPECT_EQUAL(bare(orch, 13), 0);
    }
    KIT_EXPECT(passing_left(orch) >= 20);
}

/* ---- each its own function with its own arguments ---- */

/* Contiguous, or a view with a stride, of one of several types. */
static struct simpler_tensor random_tensor(struct kit_random *random)
{
    static const uint32_t types[] = {SIMPLER_DTYPE_UINT32, SIMPLER_DTYPE_INT32,
                                     SIMPLER_DTYPE_FLOAT32};
    uint32_t shape[2] = {1 + kit_random_below(random, 8), 1 + kit_random_below(random, 8)};
    uint32_t whole[2] = {64, 64},
             at[2] = {kit_random_below(random, 56), kit_random_below(random, 56)};
    uint32_t dtype = types[kit_random_below(random, 3)];
    struct simpler_tensor tensor, view;

    if (kit_random_chance(random, 50)) {
        KIT_EXPECT_EQUAL(simpler_tensor_init(&tensor, data, shape, 2, dtype), 0);
        return tensor;
    }
    KIT_EXPECT_EQUAL(simpler_tensor_init(&tensor, data, whole, 2, dtype), 0);
    KIT_EXPECT_EQUAL(simpler_tensor_view(&tensor, shape, at, &view), 0);
    return view;
}

static void random_arguments(struct simpler_orch *orch, void *user)
{
    static const enum simpler_tensor_use uses[] = {SIMPLER_USE_INPUT, SIMPLER_USE_INOUT,
                                                   SIMPLER_USE_OUTPUT_EXISTING, SIMPLER_USE_NO_DEP};
    struct kit_random random = {*(uint64_t *)user};
    struct simpler_task_args args;
    struct simpler_task_outputs out;
    uint64_t quick = 0;

    passing_all_short(orch);
    for (uint32_t n = 0; n < 6000; n++) {
        uint32_t most = n < 1000 ? 2 : SIMPLER_MAX_TENSORS; /* then every kernel is known */
        meant.tensors = kit_random_below(&random, most + 1);
        meant.scalars = kit_random_below(&random, SIMPLER_MAX_SCALARS + 1);
        simpler_task_args_reset(&args);
        for (uint32_t i = 0; i < meant.tensors; i++) {
            meant.tensor[i] = random_tensor(&random);
            simpler_task_args_add(&args, &meant.tensor[i], uses[kit_random_below(&random, 4)]);
        }
        for (uint32_t k = 0; k < meant.scalars; k++)
            meant.scalar[k] = kit_random_next(&random);
        simpler_task_args_add_scalars(&args, meant.scalar, meant.scalars);
        bool wants = kit_random_chance(&random, 50);
        /* Three eights in turn: each is driven out again and again. */
        uint32_t which = n % 3 == 0 ? n % KERNELS : kit_random_below(&random, KERNELS);
        quick += passing_left(orch) > 0;
        KIT_EXPECT_EQUAL(submit(orch, which, &args, wants ? &out : NULL), 0);
        KIT_EXPECT(!wants || (out.id.raw == n && out.count == 0));
    }
    KIT_EXPECT(quick > 3000);
}

static void each_kernel_gets_what_was_submitted(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < (kit_is_sanitized() ? 3 : 10); seed++) {
        struct simpler_call_config config = kit_config(1 + seed % 2);
        assert_int_equal(run(random_arguments, &seed, &config), 0);
        assert_int_equal(atomic_load(&calls), 6000);
        assert_int_equal(result.stats.tasks_run, 6000);
    }
}

/* ---- submits that are refused ---- */

struct bad {
    const char *name;
    void (*spoil)(struct simpler_task_args *args);
    bool aic, no_args;
    uint32_t id;
    const char *says[2];
};

static struct simpler_tensor spoiled;

static void nothing(struct simpler_task_args *args)
{
    (void)args;
}
static void many_tensors(struct simpler_task_args *args)
{
    args->tensor_count = SIMPLER_MAX_TENSORS + 1;
}
static void huge_tensors(struct simpler_task_args *args)
{
    args->tensor_count = 0xcdcdcdcd;
}
static void many_scalars(struct simpler_task_args *args)
{
    args->scalar_count = SIMPLER_MAX_SCALARS + 1;
}
static void huge_scalars(struct simpler_task_args *args)
{
    args->scalar_count = UINT32_MAX;
}
static void with_error(struct simpler_task_args *args)
{
    simpler_task_args_add_input(args, NULL);
}
static void no_dims(struct simpler_task_args *args)
{
    spoiled.ndims = 0;
    simpler_task_args_add_inout(args, &spoiled);
}
static void six_dims(struct simpler_task_args *args)
{
    spoiled.ndims = SIMPLER_MAX_DIMS + 1;
    simpler_task_args_add_inout(args, &spoiled);
}
static void no_type(struct simpler_task_args *args)
{
    spoiled.dtype = SIMPLER_DTYPE_NUM;
    simpler_task_args_add_inout(args, &spoiled);
}
static void no_stride(struct simpler_task_args *args)
{
    spoiled.stride[0] = 0;
    spoiled.is_contiguous = 0;
    simpler_task_args_add_inout(args, &spoiled);
}

/* Behind a view of the same form that is valid. */
static void no_stride_of(struct simpler_task_args *args, uint32_t dim)
{
    static struct simpler_tensor view;

    view = spoiled;
    view.ndims = 2;
    view.shape[0] = view.shape[1] = 2;
    view.stride[0] = 4;
    view.stride[1] = 1;
    view.extent = 6;
    view.is_contiguous = 0;
    spoiled = view;
    spoiled.stride[dim] = 0;
    simpler_task_args_add_inout(args, &view);
    simpler_task_args_add_inout(args, &spoiled);
}
static void no_first_stride(struct simpler_task_args *args)
{
    no_stride_of(args, 0);
}
static void no_second_stride(struct simpler_task_args *args)
{
    no_stride_of(args, 1);
}

/* In the stretch one good tensor comes first: the one at fault is argument 1. */
static const struct bad bads[] = {
    {"no arguments", nothing, false, true, ID(1), {"(kernel 8)", "the arguments are NULL"}},
    {"33 tensors", many_tensors, false, false, ID(1), {"(kernel 8)", "was not initialised"}},
    {"tensors never counted",
     huge_tensors,
     true,
     false,
     ID(13),
     {"(kernel 104)", "was not initialised"}},
    {"17 scalars", many_scalars, false, false, ID(1), {"(kernel 8)", "was not initialised"}},
    {"scalars never counted",
     huge_scalars,
     false,
     false,
     ID(1),
     {"(kernel 8)", "was not initialised"}},
    {"an error", with_error, false, false, ID(1), {"(kernel 8), argument 1", "NULL"}},
    {"an id between two", nothing, false, false, 5, {"has no kernel 5", NULL}},
    {"an unknown id equal modulo 8",
     nothing,
     false,
     false,
     ID(KERNELS),
     {"has no kernel 192", NULL}},
    {"1024", nothing, true, false, 1024, {"has no kernel 1024", NULL}},
    {"2^16 + 8", nothing, false, false, 65536 + 8, {"has no kernel 65544", NULL}},
    {"2^32 - 8", nothing, false, false, UINT32_MAX - 7, {"has no kernel 4294967288", NULL}},
    {"2^32 - 1", nothing, false, false, UINT32_MAX, {"has no kernel 4294967295", NULL}},
    {"an AIV kernel on AIC",
     nothing,
     true,
     false,
     ID(1),
     {"kernel 8 is registered for AIV cores, not for AIC", NULL}},
    {"an AIC kernel on AIV",
     nothing,
     false,
     false,
     ID(13),
     {"kernel 104 is registered for AIC cores, not for AIV", NULL}},
    {"0 dimensions",
     no_dims,
     false,
     false,
     ID(1),
     {"(kernel 8), argument 1", "the tensor is not valid"}},
    {"6 dimensions",
     six_dims,
     true,
     false,
     ID(13),
     {"(kernel 104), argument 1", "the tensor is not valid"}},
    {"no such type",
     no_type,
     false,
     false,
     ID(1),
     {"(kernel 8), argument 1", "the tensor is not valid"}},
    {"a stride of 0",
     no_stride,
     false,
     false,
     ID(1),
     {"(kernel 8), argument 1", "the tensor is not valid"}},
    {"a first stride of 0",
     no_first_stride,
     false,
     false,
     ID(1),
     {"(kernel 8), argument 2", "the tensor is not valid"}},
    {"a second stride of 0",
     no_second_stride,
     false,
     false,
     ID(1),
     {"(kernel 8), argument 2", "the tensor is not valid"}},
};

struct refusal {
    const struct bad *bad;
    uint64_t before;
    char site[64];
};

static void one_is_bad(struct simpler_orch *orch, void *user)
{
    struct refusal *r = user;
    const struct bad *bad = r->bad;
    struct simpler_tensor good = kit_tensor(data, 8, SIMPLER_DTYPE_UINT32);
    struct simpler_task_outputs out;
    struct simpler_task_args args;

    open_stretch(orch);
    r->before = atomic_load(&calls);
    spoiled = good;
    simpler_task_args_reset(&args);
    simpler_task_args_add_inout(&args, &good);
    bad->spoil(&args);
    memset(&out, 0xab, sizeof(out));
    const struct simpler_task_args *to = bad->no_args ? NULL : &args;
    (void)snprintf(r->site, sizeof(r->site), "test_passing_args.c:%d", __LINE__ + 1);
    int rc = (bad->aic ? simpler_orch_submit_aic_at : simpler_orch_submit_aiv_at)(
        orch, bad->id, to, &out, __FILE__, __LINE__ - 1);
    KIT_EXPECT_EQUAL(rc, -SIMPLER_CODE_INVALID_ARGS);
    KIT_EXPECT(out.id.raw == SIMPLER_TASK_ID_NONE && out.count == 0);
    KIT_EXPECT_EQUAL(bare(orch, 1), -SIMPLER_CODE_INVALID_ARGS);
    KIT_EXPECT_EQUAL(bare(orch, 13), -SIMPLER_CODE_INVALID_ARGS);
}

static void must_refuse(const struct bad *bad)
{
    struct simpler_call_config config = kit_config(1);
    struct refusal r = {.bad = bad};
    int rc = run(one_is_bad, &r, &config);

    if (rc != -SIMPLER_CODE_INVALID_ARGS)
        fail_msg("%s: %d: %s", bad->name, rc, result.message);
    for (int i = 0; i < 2; i++) {
        if (bad->says[i] != NULL && strstr(result.message, bad->says[i]) == NULL)
            fail_msg("%s: '%s' is not in: %s", bad->name, bad->says[i], result.message);
    }
    if (strstr(result.message, r.site) == NULL)
        fail_msg("%s: '%s' is not in: %s", bad->name, r.site, result.message);
    assert_int_equal(atomic_load(&calls), r.before);
    assert_int_equal(result.stats.tasks, r.before);
    assert_int_equal(result.stats.tasks_run, r.before);
}

static void a_bad_submit_is_named_and_nothing_runs_after_it(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < sizeof(bads) / sizeof(*bads); i++)
        must_refuse(&bads[i]);
}

/* ---- types ---- */

static uint32_t odd_type;

static void of_odd_type(struct simpler_task_args *args)
{
    spoiled = kit_tensor(data, 8, odd_type);
    simpler_task_args_add_inout(args, &spoiled);
}

static void types_that_the_platform_lacks_are_named(void **state)
{
    (void)state;
    struct simpler_platform_info info;
    struct kit own = kit;
    uint32_t own_handle = handle, seen = 0;

    for (uint32_t p = 0; simpler_info_platform(p, &info) == 0; p++) {
        if (strcmp(info.name, "a2a3sim") != 0 && strcmp(info.name, "a5sim") != 0)
            continue;
        kit_set_platform(info.name);
        kit_open(&kit);
        register_kernels(&kit);
        for (odd_type = 0; odd_type < SIMPLER_DTYPE_NUM; odd_type++) {
            if ((info.dtypes >> odd_type & 1) != 0)
                continue;
            char which[96];
            (void)snprintf(which, sizeof(which), "argument 1 is %s, which platform %s",
                           simpler_dtype_name(odd_type), info.name);
            struct bad bad = {"type", of_odd_type, false, false, ID(1), {"(kernel 8)", which}};
            must_refuse(&bad);
            seen++;
        }
        kit_close(&kit);
    }
    kit_set_platform(NULL);
    kit = own;
    handle = own_handle;
    assert_true(seen >= 2);
}

/* ---- the map ---- */

#define MAP 16

static struct simpler_async_counter raised;

static void wider_than_the_map(struct simpler_orch *orch, void *user)
{
    if (*(bool *)user)
        open_stretch(orch);
    else
        passing_all_short(orch);
    KIT_EXPECT_EQUAL(wide(orch, MAP, 0), 0);
    KIT_EXPECT_EQUAL(wide(orch, MAP + 1, 0), -SIMPLER_CODE_TENSORMAP_OVERFLOW);
}

/* As outside a stretch: whether a task is refused does not depend on what was before it. */
static void what_the_map_cannot_hold_is_refused(void **state)
{
    (void)state;
    for (int within = 0; within < 2; within++) {
        struct simpler_call_config config = kit_config(1);
        bool stretch = within != 0;
        config.runtime_env.tensormap = MAP;
        assert_int_equal(run(wider_than_the_map, &stretch, &config),
                         -SIMPLER_CODE_TENSORMAP_OVERFLOW);
        assert_non_null(strstr(result.message, "tensormap = 17 is the smallest"));
    }
}

static void two_that_fill_the_map(struct simpler_orch *orch, void *user)
{
    (void)user;
    open_stretch(orch);
    meant.defer = &raised;
    KIT_EXPECT_EQUAL(wide(orch, 12, 0), 0);
    /* It holds 12 of 16 entries until somebody looks at the counter: the next one waits for that.
     */
    meant.defer = NULL;
    simpler_async_counter_add(&raised, 1);
    KIT_EXPECT_EQUAL(wide(orch, 10, 12), 0);
    KIT_EXPECT_EQUAL(wide(orch, 12, 0), 0);
}

static void what_is_kept_in_the_map_has_room_there(void **state)
{
    (void)state;
    struct simpler_call_config config = kit_config(1);

    memset(&raised, 0, sizeof(raised));
    config.runtime_env.tensormap = MAP;
    assert_int_equal(run(two_that_fill_the_map, NULL, &config), 0);
    assert_in_range(result.stats.tensormap_peak, 12, MAP);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_kernel_gets_what_was_submitted),
        cmocka_unit_test(a_bad_submit_is_named_and_nothing_runs_after_it),
        cmocka_unit_test(types_that_the_platform_lacks_are_named),
        cmocka_unit_test(what_the_map_cannot_hold_is_refused),
        cmocka_unit_test(what_is_kept_in_the_map_has_room_there),
    };
    return cmocka_run_group_tests(tests, open_own, close_own);
}
