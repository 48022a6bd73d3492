/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the calls of an orchestration mean, one by one: scope modes, uses and
 * dependency kinds, get and set, allocation, lifetime, hazard modes (SY-05, SY-06).
 *
 * Whether a task waits for another is asked with a gate: the first task stands
 * in it, and either the second one runs meanwhile, or it does not until a
 * helper thread has opened the gate.
 */
#include <pthread.h>
#include <string.h>

#include "cm.h"
#include "kit.h"

static struct kit kit;
static struct simpler_run_result result;
static uint64_t cells[64][8];
static struct kit_gate gate;

static struct simpler_tensor cell(uint32_t index)
{
    return kit_tensor(cells[index], 8, SIMPLER_DTYPE_UINT64);
}

static int run(kit_orch fn, void *user, uint32_t threads)
{
    struct simpler_call_config config = kit_config(threads);
    return kit_run(&kit, fn, user, &config, &result);
}

static int submit_use(struct simpler_orch *orch, enum simpler_tensor_use use, uint32_t index,
                      kit_kernel fn, void *user, struct simpler_task_outputs *out)
{
    struct simpler_tensor tensor = cell(index);
    struct simpler_task_args args;
    simpler_task_args_reset(&args);
    simpler_task_args_add(&args, &tensor, use);
    return kit_submit_variant(orch, fn == kit_gate_kernel ? KIT_LONG : 0, &args, fn, user, out);
}

/* True when the counter gets there within two seconds. */
static bool reaches(_Atomic int *count, int value)
{
    for (int i = 0; i < 20000 && atomic_load(count) < value; i++)
        kit_sleep_ns(100000);
    return atomic_load(count) >= value;
}

/* False when the counter stays below for 20 ms: long for a task that is ready. */
static bool stays_below(_Atomic int *count, int value)
{
    kit_sleep_ns(20000000);
    return atomic_load(count) < value;
}

static void *open_soon(void *user)
{
    kit_gate_wait(&gate, 1);
    kit_sleep_ns(20000000);
    if (user != NULL)
        atomic_store((_Atomic int *)user, 1);
    kit_gate_open(&gate);
    return NULL;
}

/* ---- which uses wait for which ---- */

enum relation { RUNS, WAITS };

/* The second task of a pair on cell 0; the first one is in the gate. */
struct pair {
    enum simpler_tensor_use first, second;
    bool manual_scope;
    bool manual_dep;
    uint8_t kind; /* of an explicit dependency; 0: none */
    enum relation relation;
};

static void submit_pair(struct simpler_orch *orch, void *user)
{
    static _Atomic int count;
    const struct pair *pair = user;
    struct simpler_task_outputs first;
    struct simpler_tensor tensor = cell(0);
    struct simpler_task_args args;
    atomic_store(&count, 0);
    kit_gate_close(&gate);
    submit_use(orch, pair->first, 0, kit_gate_kernel, &gate, &first);
    KIT_EXPECT(kit_gate_wait(&gate, 1));
    if (pair->manual_scope)
        simpler_orch_scope_begin(orch, SIMPLER_SCOPE_MANUAL);
    tensor.manual_dep = pair->manual_dep;
    simpler_task_args_reset(&args);
    simpler_task_args_add(&args, &tensor, pair->second);
    if (pair->kind != 0)
        simpler_task_args_set_dependencies_with_kinds(&args, &first.id, &pair->kind, 1);
    kit_submit_variant(orch, KIT_LONG, &args, kit_long_count_kernel, (void *)&count, NULL);
    if (pair->manual_scope)
        simpler_orch_scope_end(orch);
    if (pair->relation == RUNS)
        KIT_EXPECT(reaches(&count, 1));
    else
        KIT_EXPECT(stays_below(&count, 1));
    kit_gate_open(&gate);
}

#define IN    SIMPLER_USE_INPUT
#define INOUT SIMPLER_USE_INOUT
#define OUT   SIMPLER_USE_OUTPUT_EXISTING
#define NODEP SIMPLER_USE_NO_DEP

static void check_pairs(const struct pair *pairs, size_t count, uint32_t hazards)
{
    for (size_t i = 0; i < count; i++) {
        struct pair pair = pairs[i];
        struct simpler_call_config config = kit_config(4);
        config.hazards = hazards;
        int rc = kit_run(&kit, submit_pair, &pair, &config, &result);
        if (rc != 0)
            fail_msg("pair %zu: %s", i, result.message);
        if (pair.kind != SIMPLER_DEP_RETAIN)
            assert_int_equal(result.stats.edges, pair.relation == WAITS);
    }
}

static void uses_wait_in_hazards_all(void **state)
{
    (void)state;
    static const struct pair pairs[] = {
        {IN, IN, false, false, 0, RUNS},        {IN, INOUT, false, false, 0, WAITS},
        {IN, OUT, false, false, 0, WAITS},      {INOUT, IN, false, false, 0, WAITS},
        {INOUT, INOUT, false, false, 0, WAITS}, {INOUT, OUT, false, false, 0, WAITS},
        {OUT, IN, false, false, 0, WAITS},      {OUT, INOUT, false, false, 0, WAITS},
        {OUT, OUT, false, false, 0, WAITS},     {INOUT, NODEP, false, false, 0, RUNS},
        {NODEP, INOUT, false, false, 0, RUNS},  {INOUT, INOUT, false, true, 0, RUNS},
        {INOUT, IN, true, false, 0, RUNS},      {INOUT, INOUT, true, false, 0, RUNS},
    };
    check_pairs(pairs, sizeof(pairs) / sizeof(pairs[0]), SIMPLER_HAZARDS_ALL);
    if (!kit_is_chip())
        check_pairs(pairs, sizeof(pairs) / sizeof(pairs[0]), SIMPLER_HAZARDS_DEFAULT);
}

static void uses_wait_in_hazards_raw(void **state)
{
    (void)state;
    static const struct pair pairs[] = {
        {IN, IN, false, false, 0, RUNS},        {IN, INOUT, false, false, 0, RUNS},
        {IN, OUT, false, false, 0, RUNS},       {INOUT, IN, false, false, 0, WAITS},
        {INOUT, INOUT, false, false, 0, WAITS}, {INOUT, OUT, false, false, 0, RUNS},
        {OUT, IN, false, false, 0, WAITS},      {OUT, INOUT, false, false, 0, WAITS},
        {OUT, OUT, false, false, 0, RUNS},      {INOUT, NODEP, false, false, 0, RUNS},
    };
    check_pairs(pairs, sizeof(pairs) / sizeof(pairs[0]), SIMPLER_HAZARDS_RAW);
    if (kit_is_chip())
        check_pairs(pairs, sizeof(pairs) / sizeof(pairs[0]), SIMPLER_HAZARDS_DEFAULT);
}

static void explicit_dependencies_wait_by_kind(void **state)
{
    (void)state;
    const uint8_t both = SIMPLER_DEP_WAIT | SIMPLER_DEP_RETAIN;
    const struct pair pairs[] = {
        {INOUT, NODEP, false, false, SIMPLER_DEP_WAIT, WAITS},
        {INOUT, NODEP, false, false, both, WAITS},
        {INOUT, NODEP, false, false, SIMPLER_DEP_RETAIN, RUNS},
        {INOUT, INOUT, true, false, SIMPLER_DEP_WAIT, WAITS},
        {INOUT, INOUT, true, false, SIMPLER_DEP_RETAIN, RUNS},
        {IN, IN, false, false, both, WAITS},
        {INOUT, INOUT, false, true, both, WAITS},
    };
    check_pairs(pairs, sizeof(pairs) / sizeof(pairs[0]), SIMPLER_HAZARDS_ALL);
}

/* A simulated chip's default is raw, the cpu's is all. */
static void the_default_of_a_chip_is_raw(void **state)
{
    (void)state;
    struct kit chip;
    struct pair pair = {IN, INOUT, false, false, 0, RUNS};
    struct simpler_call_config config = kit_config(4);
    config.hazards = SIMPLER_HAZARDS_DEFAULT;
    kit_open_platform(&chip, "a2a3sim");
    assert_int_equal(kit_run(&chip, submit_pair, &pair, &config, &result), 0);
    pair.relation = WAITS;
    config.hazards = SIMPLER_HAZARDS_ALL;
    assert_int_equal(kit_run(&chip, submit_pair, &pair, &config, &result), 0);
    kit_close(&chip);
}

/* Whatever the use, a created tensor's user waits for the creator. */
static void use_created(struct simpler_orch *orch, void *user)
{
    static _Atomic int count;
    const struct pair *pair = user;
    struct simpler_create_info info = kit_info(8, SIMPLER_DTYPE_UINT64);
    struct simpler_task_outputs out;
    struct simpler_task_args args;
    info.manual_dep = pair->manual_dep;
    atomic_store(&count, 0);
    kit_gate_close(&gate);
    simpler_task_args_reset(&args);
    simpler_task_args_add_create(&args, &info);
    kit_submit_variant(orch, KIT_LONG, &args, kit_gate_kernel, &gate, &out);
    KIT_EXPECT(kit_gate_wait(&gate, 1));
    KIT_EXPECT_EQUAL(out.tensor[0].manual_dep, pair->manual_dep);
    simpler_task_args_reset(&args);
    simpler_task_args_add(&args, &out.tensor[0], pair->second);
    kit_submit_variant(orch, KIT_LONG, &args, kit_long_count_kernel, (void *)&count, NULL);
    KIT_EXPECT(stays_below(&count, 1));
    kit_gate_open(&gate);
}

static void every_use_waits_for_the_creator(void **state)
{
    (void)state;
    static const enum simpler_tensor_use uses[] = {IN, INOUT, OUT, NODEP};
    for (size_t i = 0; i < 8; i++) {
        struct pair pair = {IN, uses[i % 4], false, i >= 4, 0, WAITS};
        assert_int_equal(run(use_created, &pair, 4), 0);
        assert_int_equal(result.stats.edges, 1);
    }
}

/* ---- scopes ---- */

static uint32_t ring_now(struct simpler_orch *orch)
{
    struct simpler_task_outputs out;
    submit_use(orch, IN, 0, kit_nop_kernel, NULL, &out);
    return (uint32_t)(out.id.raw >> 32);
}

static int leave_by_return(struct simpler_orch *orch)
{
    SIMPLER_SCOPE(orch)
    {
        SIMPLER_SCOPE(orch)
        {
            return (int)ring_now(orch);
        }
    }
    return -1;
}

static void leave_scopes(struct simpler_orch *orch, void *user)
{
    (void)user;
    KIT_EXPECT_EQUAL(ring_now(orch), 0);
    KIT_EXPECT_EQUAL(leave_by_return(orch), 2);
    KIT_EXPECT_EQUAL(ring_now(orch), 0);
    SIMPLER_SCOPE(orch)
    {
        if (ring_now(orch) == 1)
            break;
        KIT_EXPECT(false);
    }
    KIT_EXPECT_EQUAL(ring_now(orch), 0);
    for (int i = 0; i < 3; i++) {
        SIMPLER_SCOPE(orch)
        {
            SIMPLER_SCOPE_MODE(orch, SIMPLER_SCOPE_MANUAL)
            {
                SIMPLER_SCOPE_MODE(orch, SIMPLER_SCOPE_MANUAL)
                {
                    SIMPLER_SCOPE_MODE(orch, SIMPLER_SCOPE_MANUAL)
                    {
                        KIT_EXPECT_EQUAL(ring_now(orch), 3);
                        goto out;
                    }
                }
            }
        }
    out:
        KIT_EXPECT_EQUAL(ring_now(orch), 0);
    }
    SIMPLER_SCOPE(orch)
    {
        KIT_EXPECT_EQUAL(ring_now(orch), 1);
        continue;
    }
    KIT_EXPECT_EQUAL(ring_now(orch), 0);
}

static void a_scope_ends_however_it_is_left(void **state)
{
    (void)state;
    assert_int_equal(run(leave_scopes, NULL, 2), 0);
}

/* ---- lifetime ---- */

static int fill_ones(const int64_t *args, uint32_t tensors, void *user)
{
    (void)tensors;
    memset(simpler_kernel_data(args, 0), (int)(intptr_t)user, 1024);
    return 0;
}

static int check_ones(const int64_t *args, uint32_t tensors, void *user)
{
    const uint8_t *data = simpler_kernel_data(args, 0);
    (void)tensors;
    kit_gate_kernel(args, tensors, &gate);
    for (int i = 0; i < 1024; i++) {
        if (data[i] != 1)
            atomic_fetch_add((_Atomic int *)user, 1);
    }
    return 0;
}

static void create_in(struct simpler_orch *orch, intptr_t value, struct simpler_task_outputs *out)
{
    struct simpler_create_info info = kit_info(1024, SIMPLER_DTYPE_UINT8);
    struct simpler_task_args args;
    simpler_task_args_reset(&args);
    simpler_task_args_add_create(&args, &info);
    kit_submit(orch, &args, fill_ones, (void *)value, out);
}

static _Atomic int wrong_bytes;

static void keep_by_retain(struct simpler_orch *orch, void *user)
{
    struct simpler_task_outputs out, filler;
    struct simpler_task_args args;
    bool manual = *(bool *)user;
    pthread_t thread;
    kit_gate_close(&gate);
    SIMPLER_SCOPE(orch)
    {
        create_in(orch, 1, &out);
        /* In a manual scope the explicit dependency alone keeps the tensor. */
        if (manual)
            simpler_orch_scope_begin(orch, SIMPLER_SCOPE_MANUAL);
        simpler_task_args_reset(&args);
        simpler_task_args_add_input(&args, &out.tensor[0]);
        if (manual)
            simpler_task_args_set_dependencies(&args, &out.id, 1);
        kit_submit_variant(orch, KIT_LONG, &args, check_ones, (void *)&wrong_bytes, NULL);
        if (manual)
            simpler_orch_scope_end(orch);
    }
    KIT_EXPECT_EQUAL(pthread_create(&thread, NULL, open_soon, NULL), 0);
    /* The ring's heap goes round many times. */
    for (int i = 0; i < 100; i++) {
        SIMPLER_SCOPE(orch)
        {
            create_in(orch, 2, &filler);
        }
    }
    pthread_join(thread, NULL);
}

static void an_output_lives_until_its_users_are_done(void **state)
{
    (void)state;
    for (int manual = 0; manual < 2; manual++) {
        bool flag = manual;
        struct simpler_call_config config = kit_config(4);
        kit_set_heap(&config, 4096);
        int rc = kit_run(&kit, keep_by_retain, &flag, &config, &result);
        if (rc != 0)
            fail_msg("%s", result.message);
        assert_int_equal(atomic_load(&wrong_bytes), 0);
    }
}

/* ---- allocation ---- */

static void check_filled(const struct simpler_tensor *tensor, const void *value, size_t bytes)
{
    const uint8_t *data = simpler_tensor_data(tensor);
    KIT_EXPECT_EQUAL(tensor->addr % 64, 0);
    KIT_EXPECT(tensor->buffer_bytes >= simpler_tensor_numel(tensor) * bytes);
    for (size_t i = 0; i + bytes <= tensor->buffer_bytes; i += bytes)
        KIT_EXPECT(memcmp(data + i, value, bytes) == 0);
}

static void alloc_filled(struct simpler_orch *orch, void *user)
{
    struct simpler_create_info info[4];
    struct simpler_task_outputs out;
    const uint8_t byte = 0xab;
    const uint16_t half = 0x1234;
    const uint32_t word = 0xdeadbeef;
    const double number = -1.5e300;
    (void)user;
    for (int round = 0; round < 10; round++) {
        SIMPLER_SCOPE(orch)
        {
            info[0] = kit_info(5, SIMPLER_DTYPE_UINT8);
            info[1] = kit_info(700, SIMPLER_DTYPE_FLOAT16);
            info[2] = kit_info(3, SIMPLER_DTYPE_UINT32);
            info[3] = kit_info(1000, SIMPLER_DTYPE_FLOAT64);
            simpler_create_info_set_initial_value(&info[0], &byte);
            simpler_create_info_set_initial_value(&info[1], &half);
            simpler_create_info_set_initial_value(&info[2], &word);
            simpler_create_info_set_initial_value(&info[3], &number);
            KIT_EXPECT_EQUAL(simpler_orch_alloc_tensors(orch, info, 4, &out), 0);
            KIT_EXPECT_EQUAL(out.count, 4);
            /* They are ready at once: the orchestration may look. */
            check_filled(&out.tensor[0], &byte, 1);
            check_filled(&out.tensor[1], &half, 2);
            check_filled(&out.tensor[2], &word, 4);
            check_filled(&out.tensor[3], &number, 8);
            for (uint32_t i = 0; i < 4; i++) {
                KIT_EXPECT_EQUAL(out.tensor[i].owner, out.id.raw);
                memset(simpler_tensor_data(&out.tensor[i]), 0, out.tensor[i].buffer_bytes);
            }
            /* Each output is rounded to 1024 bytes inside one block. */
            KIT_EXPECT_EQUAL(out.tensor[1].addr - out.tensor[0].addr, 1024);
            KIT_EXPECT_EQUAL(out.tensor[2].addr - out.tensor[1].addr, 2048);
            KIT_EXPECT_EQUAL(out.tensor[3].addr - out.tensor[2].addr, 1024);
        }
    }
}

static void initial_values_fill_the_whole_buffer(void **state)
{
    (void)state;
    struct simpler_call_config config = kit_config(2);
    kit_set_heap(&config, 16384);
    assert_int_equal(kit_run(&kit, alloc_filled, NULL, &config, &result), 0);
    assert_int_equal(result.stats.ring[1].heap_peak >= 12288, 1);
    assert_int_equal(result.stats.ring[1].heap_peak <= 16384, 1);
}

static int check_initial(const int64_t *args, uint32_t tensors, void *user)
{
    const uint32_t *data = simpler_kernel_data(args, 0);
    (void)tensors;
    for (int i = 0; i < 100; i++) {
        if (data[i] != 0x01020304)
            atomic_fetch_add((_Atomic int *)user, 1);
    }
    memset(simpler_kernel_data(args, 0), 0xff, 400);
    return 0;
}

static void outputs_with_values(struct simpler_orch *orch, void *user)
{
    struct simpler_create_info info = kit_info(100, SIMPLER_DTYPE_UINT32);
    struct simpler_task_args args;
    const uint32_t value = 0x01020304;
    simpler_create_info_set_initial_value(&info, &value);
    for (int i = 0; i < 200; i++) {
        SIMPLER_SCOPE(orch)
        {
            simpler_task_args_reset(&args);
            simpler_task_args_add_create(&args, &info);
            KIT_EXPECT_EQUAL(kit_submit(orch, &args, check_initial, user, NULL), 0);
        }
    }
}

static void a_task_finds_the_initial_value_in_recycled_memory(void **state)
{
    (void)state;
    static _Atomic int wrong;
    struct simpler_call_config config = kit_config(2);
    kit_set_heap(&config, 2048);
    assert_int_equal(kit_run(&kit, outputs_with_values, (void *)&wrong, &config, &result), 0);
    assert_int_equal(atomic_load(&wrong), 0);
    assert_int_equal(result.stats.tasks_run, 200);
}

/* ---- get and set ---- */

static int write_after_gate(const int64_t *args, uint32_t tensors, void *user)
{
    kit_gate_kernel(args, tensors, &gate);
    *(uint64_t *)simpler_kernel_data(args, 0) = (uint64_t)(uintptr_t)user;
    return 0;
}

static void get_waits(struct simpler_orch *orch, void *user)
{
    static _Atomic int opened;
    struct simpler_tensor tensor = cell(0);
    uint32_t index = 0;
    uint64_t value = 0;
    pthread_t thread;
    (void)user;
    atomic_store(&opened, 0);
    cells[0][0] = 5;
    kit_gate_close(&gate);
    /* No task uses it: at once. */
    KIT_EXPECT_EQUAL(simpler_orch_get_tensor_data(orch, &tensor, &index, &value), 0);
    KIT_EXPECT_EQUAL(value, 5);
    KIT_EXPECT_EQUAL(pthread_create(&thread, NULL, open_soon, (void *)&opened), 0);
    submit_use(orch, INOUT, 0, write_after_gate, (void *)(uintptr_t)77, NULL);
    KIT_EXPECT_EQUAL(simpler_orch_get_tensor_data(orch, &tensor, &index, &value), 0);
    KIT_EXPECT_EQUAL(atomic_load(&opened), 1);
    KIT_EXPECT_EQUAL(value, 77);
    pthread_join(thread, NULL);
}

struct seen {
    _Atomic int opened;
    uint64_t value;
};

static int read_after_gate(const int64_t *args, uint32_t tensors, void *user)
{
    kit_gate_kernel(args, tensors, &gate);
    *(uint64_t *)user = *(uint64_t *)simpler_kernel_data(args, 0);
    return 0;
}

static void set_waits(struct simpler_orch *orch, void *user)
{
    struct seen *seen = user;
    struct simpler_tensor tensor = cell(0);
    uint32_t index = 0;
    uint64_t value = 9;
    pthread_t thread;
    kit_gate_close(&gate);
    cells[0][0] = 5;
    KIT_EXPECT_EQUAL(pthread_create(&thread, NULL, open_soon, (void *)&seen->opened), 0);
    submit_use(orch, IN, 0, read_after_gate, &seen->value, NULL);
    /* Write after read. */
    KIT_EXPECT_EQUAL(simpler_orch_set_tensor_data(orch, &tensor, &index, &value), 0);
    KIT_EXPECT_EQUAL(atomic_load(&seen->opened), 1);
    KIT_EXPECT_EQUAL(cells[0][0], 9);
    pthread_join(thread, NULL);
    /* A later task reads what was set. */
    submit_use(orch, IN, 0, read_after_gate, &cells[1][0], NULL);
}

static void get_and_set_wait(void **state)
{
    (void)state;
    for (uint32_t threads = 1; threads <= 4; threads++) {
        static struct seen seen;
        memset(&seen, 0, sizeof(seen));
        assert_int_equal(run(get_waits, NULL, threads), 0);
        assert_int_equal(run(set_waits, &seen, threads), 0);
        assert_int_equal(seen.value, 5);
        assert_int_equal(cells[1][0], 9);
    }
}

/* Each element type's own bytes, nothing beside them. */
static void get_and_set_types(struct simpler_orch *orch, void *user)
{
    (void)user;
    for (uint32_t dtype = 0; dtype < SIMPLER_DTYPE_NUM; dtype++) {
        static _Alignas(64) uint8_t data[64];
        uint32_t bytes = (uint32_t)simpler_dtype_bytes(dtype);
        const uint32_t shape[2] = {2, 4};
        const uint32_t index[2] = {1, 2};
        const uint32_t beyond[2] = {2, 0};
        struct simpler_tensor tensor;
        uint8_t value[8] = {1, 2, 3, 4, 5, 6, 7, 8};
        uint8_t got[8] = {0};
        memset(data, 0xee, sizeof(data));
        KIT_EXPECT_EQUAL(simpler_tensor_init(&tensor, data, shape, 2, dtype), 0);
        KIT_EXPECT_EQUAL(simpler_orch_set_tensor_data(orch, &tensor, index, value), 0);
        KIT_EXPECT_EQUAL(simpler_orch_get_tensor_data(orch, &tensor, index, got), 0);
        KIT_EXPECT(memcmp(got, value, bytes) == 0);
        KIT_EXPECT(memcmp(data + 6 * bytes, value, bytes) == 0);
        KIT_EXPECT_EQUAL(data[6 * bytes - 1], 0xee);
        KIT_EXPECT_EQUAL(data[7 * bytes], 0xee);
        KIT_EXPECT_EQUAL(simpler_orch_get_tensor_data(orch, &tensor, beyond, got), SIMPLER_EINVAL);
        KIT_EXPECT_EQUAL(simpler_orch_set_tensor_data(orch, &tensor, beyond, got), SIMPLER_EINVAL);
    }
    struct simpler_tensor empty = kit_tensor(NULL, 4, SIMPLER_DTYPE_INT8);
    uint32_t origin = 0;
    uint64_t value = 0;
    KIT_EXPECT_EQUAL(simpler_orch_get_tensor_data(orch, &empty, &origin, &value), SIMPLER_EINVAL);
}

static void get_and_set_move_one_element(void **state)
{
    (void)state;
    assert_int_equal(run(get_and_set_types, NULL, 2), 0);
}

/* ---- explicit dependencies on what is gone ---- */

static void depend_on_the_first(struct simpler_orch *orch, void *user)
{
    struct simpler_task_outputs first;
    struct simpler_task_args args;
    submit_use(orch, INOUT, 0, kit_count_kernel, user, &first);
    for (uint32_t i = 0; i < 1000; i++) {
        simpler_task_args_reset(&args);
        simpler_task_args_set_dependencies(&args, &first.id, 1);
        KIT_EXPECT_EQUAL(kit_submit(orch, &args, kit_count_kernel, user, NULL), 0);
    }
}

static void a_retired_dependency_is_skipped(void **state)
{
    (void)state;
    static _Atomic int count;
    struct simpler_call_config config = kit_config(2);
    kit_set_window(&config, 4);
    assert_int_equal(kit_run(&kit, depend_on_the_first, (void *)&count, &config, &result), 0);
    assert_int_equal(atomic_load(&count), 1001);
}

/* ---- hazards raw, checked ---- */

static void unordered_pairs(struct simpler_orch *orch, void *user)
{
    bool ordered = *(bool *)user;
    struct simpler_task_outputs reader;
    struct simpler_tensor tensor = cell(0);
    struct simpler_task_args args;
    kit_gate_close(&gate);
    submit_use(orch, IN, 0, kit_gate_kernel, &gate, &reader);
    KIT_EXPECT(kit_gate_wait(&gate, 1));
    simpler_task_args_reset(&args);
    simpler_task_args_add_inout(&args, &tensor);
    if (ordered)
        simpler_task_args_set_dependencies(&args, &reader.id, 1);
    kit_submit(orch, &args, kit_nop_kernel, NULL, NULL);
    kit_gate_open(&gate);
}

static void check_hazards_reports_unordered_pairs(void **state)
{
    (void)state;
    for (int ordered = 0; ordered < 2; ordered++) {
        bool flag = ordered;
        struct simpler_call_config config = kit_config(4);
        config.hazards = SIMPLER_HAZARDS_RAW;
        config.check_hazards = 1;
        assert_int_equal(kit_run(&kit, unordered_pairs, &flag, &config, &result), 0);
        assert_int_equal(result.stats.unordered_pairs, ordered ? 0 : 1);
    }
}

/* ---- kernels ---- */

struct launch {
    int32_t block_idx, block_num, sub_block;
    float real;
    int8_t small;
    uint64_t word;
};

static int plain_kernel(int64_t *args)
{
    struct launch *launch;
    simpler_kernel_scalar(args, 0, &launch, sizeof(launch));
    simpler_kernel_scalar(args, 1, &launch->real, sizeof(launch->real));
    simpler_kernel_scalar(args, 2, &launch->small, sizeof(launch->small));
    simpler_kernel_scalar(args, 3, &launch->word, sizeof(launch->word));
    launch->block_idx = simpler_kernel_block_idx(args);
    launch->block_num = simpler_kernel_block_num(args);
    launch->sub_block = simpler_kernel_sub_block_id(args);
    return 0;
}

static void launch_plain(struct simpler_orch *orch, const struct simpler_orch_args *run_args)
{
    struct simpler_task_args args;
    uint64_t address = (uint64_t)(uintptr_t)run_args->user;
    float real = 1.5F;
    int8_t small = -3;
    uint64_t word = UINT64_MAX;
    KIT_EXPECT_EQUAL(run_args->tensor_count, 1);
    KIT_EXPECT_EQUAL(run_args->scalar_count, 2);
    KIT_EXPECT_EQUAL(run_args->scalar[1], 22);
    KIT_EXPECT_EQUAL(run_args->tensor[0].addr, (uint64_t)(uintptr_t)cells);
    KIT_EXPECT_EQUAL(simpler_orch_available_cluster_count(orch), 5);
    KIT_EXPECT_EQUAL(simpler_orch_available_aiv_count(orch), 10);
    simpler_task_args_reset(&args);
    simpler_task_args_add_scalar(&args, SIMPLER_SCALAR(address));
    simpler_task_args_add_scalar(&args, SIMPLER_SCALAR(real));
    simpler_task_args_add_scalar(&args, SIMPLER_SCALAR(small));
    simpler_task_args_add_scalar(&args, SIMPLER_SCALAR(word));
    KIT_EXPECT_EQUAL(simpler_orch_submit_aic(orch, 17, &args, NULL), 0);
}

static const struct simpler_kernel plain[] = {
    {17, SIMPLER_CORE_AIC, "plain", plain_kernel, NULL, 0}};

static void two_callables_share_a_worker(void **state)
{
    (void)state;
    struct simpler_callable callable = {"second", launch_plain, __FILE__, 1, plain, 1, 3};
    struct simpler_callable first = kit_callable();
    uint32_t handle, again;
    assert_int_equal(simpler_worker_register(kit.worker, &callable, &handle), 0);
    assert_int_equal(simpler_worker_register(kit.worker, &callable, &again), 0);
    assert_int_equal(handle, again);
    assert_int_equal(simpler_worker_register(kit.worker, &first, &again), 0);
    assert_int_equal(kit.handle, again);
    assert_int_not_equal(handle, again);
    struct launch launch;
    struct simpler_tensor tensor = kit_tensor(cells, 8, SIMPLER_DTYPE_UINT64);
    const uint64_t scalars[2] = {11, 22};
    struct simpler_orch_args args = {&tensor, 1, 2, scalars, &launch};
    struct simpler_call_config config = kit_config(2);
    config.cluster_count = 5;
    memset(&launch, 0xff, sizeof(launch));
    assert_int_equal(simpler_worker_run(kit.worker, handle, &args, &config, &result), 0);
    assert_int_equal(launch.block_idx, 0);
    assert_int_equal(launch.block_num, 1);
    assert_int_equal(launch.sub_block, 0);
    assert_true(launch.real > 1.4F && launch.real < 1.6F);
    assert_int_equal(launch.small, -3);
    assert_true(launch.word == UINT64_MAX);
    /* One scalar fewer than the callable expects. */
    args.scalar_count = 1;
    assert_int_not_equal(simpler_worker_run(kit.worker, handle, &args, &config, &result), 0);
}

/* ---- cores ---- */

struct crowd {
    _Atomic int now[2], most[2];
    int wanted[2];
    _Atomic int is_over; /* one has waited in vain */
};

static int crowd_kernel(const int64_t *args, uint32_t tensors, void *user)
{
    struct crowd *crowd = user;
    bool aic = tensors == 1;
    int now = atomic_fetch_add(&crowd->now[aic], 1) + 1;
    int most = atomic_load(&crowd->most[aic]);
    (void)args;
    while (most < now && !atomic_compare_exchange_weak(&crowd->most[aic], &most, now))
        ;
    /* For the last one that is wanted ten seconds at most, for one more that would be too many a
     * moment. */
    for (int i = 0; atomic_load(&crowd->most[aic]) < crowd->wanted[aic]; i++) {
        if (i == 10000)
            atomic_store(&crowd->is_over, 1);
        if (atomic_load(&crowd->is_over))
            break;
        kit_sleep_ns(1000000);
    }
    kit_sleep_ns(2000000);
    atomic_fetch_sub(&crowd->now[aic], 1);
    return 0;
}

static void many_sleepers(struct simpler_orch *orch, void *user)
{
    struct simpler_task_args args;
    struct simpler_tensor tensor = cell(0);
    for (int i = 0; i < 24; i++) {
        simpler_task_args_reset(&args);
        kit_submit(orch, &args, crowd_kernel, user, NULL);
        if (i % 2 == 0)
            continue;
        simpler_task_args_reset(&args);
        simpler_task_args_add_input(&args, &tensor);
        kit_submit_variant(orch, KIT_AIV_VARIANTS, &args, crowd_kernel, user, NULL);
    }
}

/* With threads of their own, as many kernels run at once as there are cores of the kind. */
static void core_threads_are_as_many_as_cores(void **state)
{
    (void)state;
    for (uint32_t clusters = 1; clusters <= 3; clusters++) {
        static struct crowd crowd;
        struct simpler_call_config config = kit_config(2);
        memset(&crowd, 0, sizeof(crowd));
        crowd.wanted[0] = 2 * (int)clusters;
        crowd.wanted[1] = (int)clusters;
        config.exec = SIMPLER_EXEC_THREADS;
        config.cluster_count = clusters;
        assert_int_equal(kit_run(&kit, many_sleepers, &crowd, &config, &result), 0);
        assert_int_equal(atomic_load(&crowd.most[0]), crowd.wanted[0]);
        assert_int_equal(atomic_load(&crowd.most[1]), crowd.wanted[1]);
    }
}

/* ---- run after run ---- */

static void count_thousand(struct simpler_orch *orch, void *user)
{
    for (uint32_t i = 0; i < 1000; i++)
        submit_use(orch, INOUT, i % 7, kit_count_kernel, user, NULL);
}

static void sizes_change_from_run_to_run(void **state)
{
    (void)state;
    static const uint64_t windows[] = {4, 16384, 64, 65536, 8, 4, 1024};
    for (size_t i = 0; i < sizeof(windows) / sizeof(windows[0]); i++) {
        static _Atomic int count;
        struct simpler_call_config config = kit_config(1 + (uint32_t)i % 4);
        kit_set_window(&config, windows[i]);
        kit_set_heap(&config, 1024 * (1 + i));
        config.runtime_env.tensormap = UINT64_C(16) << i;
        atomic_store(&count, 0);
        assert_int_equal(kit_run(&kit, count_thousand, (void *)&count, &config, &result), 0);
        assert_int_equal(atomic_load(&count), 1000);
        for (int r = 0; r < CHIP_MAX_RING_DEPTH; r++) {
            assert_int_equal(result.stats.ring[r].task_window_max, windows[i]);
            assert_int_equal(result.stats.ring[r].heap_max, 1024 * (1 + i));
        }
        assert_int_equal(result.stats.tensormap_max, UINT64_C(16) << i);
        assert_true(result.stats.ring[0].task_window_peak < windows[i]);
        assert_int_equal(result.stats.ring[0].tasks, 1000);
    }
}

KIT_FIXTURE(kit)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(uses_wait_in_hazards_all),
        cmocka_unit_test(uses_wait_in_hazards_raw),
        cmocka_unit_test(explicit_dependencies_wait_by_kind),
        cmocka_unit_test(the_default_of_a_chip_is_raw),
        cmocka_unit_test(every_use_waits_for_the_creator),
        cmocka_unit_test(a_scope_ends_however_it_is_left),
        cmocka_unit_test(an_output_lives_until_its_users_are_done),
        cmocka_unit_test(initial_values_fill_the_whole_buffer),
        cmocka_unit_test(a_task_finds_the_initial_value_in_recycled_memory),
        cmocka_unit_test(get_and_set_wait),
        cmocka_unit_test(get_and_set_move_one_element),
        cmocka_unit_test(a_retired_dependency_is_skipped),
        cmocka_unit_test(check_hazards_reports_unordered_pairs),
        cmocka_unit_test(two_callables_share_a_worker),
        cmocka_unit_test(core_threads_are_as_many_as_cores),
        cmocka_unit_test(sizes_change_from_run_to_run),
    };
    return cmocka_run_group_tests(tests, open_kit, close_kit);
}
