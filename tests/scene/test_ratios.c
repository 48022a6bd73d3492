/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Costs that must stay in proportion: time against width, tiles against buffers,
 * many threads against two, memory against tasks, idle against nothing.  Ratios of time
 * alone, and only on optimised builds where a debug build would decide them.
 * ctest: RUN_SERIAL TRUE
 */
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "cm.h"
#include "kit.h"

static struct kit kit;
static struct simpler_run_result result;

static void must_pass(kit_orch fn, void *user, const struct simpler_call_config *config)
{
    int rc = kit_run(&kit, fn, user, config, &result);
    if (rc != 0)
        fail_msg("%s", result.message);
}

/* ---- one writer with N pending readers ---- */

static struct kit_gate gate;
static uint64_t one_cell[8];

static void writer_and_readers(struct simpler_orch *orch, void *user)
{
    uint32_t readers = *(uint32_t *)user;
    struct simpler_tensor tensor = kit_tensor(one_cell, 1, SIMPLER_DTYPE_UINT64);
    struct simpler_task_args args;
    kit_gate_close(&gate);
    simpler_task_args_reset(&args);
    simpler_task_args_add_inout(&args, &tensor);
    kit_submit_variant(orch, KIT_LONG, &args, kit_gate_kernel, &gate, NULL);
    KIT_EXPECT(kit_gate_wait(&gate, 1));
    for (uint32_t i = 0; i < readers; i++) {
        simpler_task_args_reset(&args);
        simpler_task_args_add_input(&args, &tensor);
        kit_submit(orch, &args, kit_nop_kernel, NULL, NULL);
    }
    simpler_task_args_reset(&args);
    simpler_task_args_add_inout(&args, &tensor);
    kit_submit(orch, &args, kit_nop_kernel, NULL, NULL);
    kit_gate_open(&gate);
}

static double cpu_ns(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return 1e9 * (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           1e3 * (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

/* CPU time: what else runs on the machine does not count. */
static double readers_ns(uint32_t readers)
{
    double best = 1e18;
    for (int i = 0; i < 9; i++) {
        struct simpler_call_config config = kit_config(2);
        kit_set_window(&config, 65536);
        kit_set_dep_pool(&config, 262144);
        config.runtime_env.tensormap = 262144;
        double before = cpu_ns();
        must_pass(writer_and_readers, &readers, &config);
        /* Each reader waits for the writer, the last task for all of them. */
        assert_true(result.stats.edges >= 2 * readers);
        double took = cpu_ns() - before;
        best = took < best ? took : best;
    }
    return best;
}

static void readers_of_one_writer_are_linear(void **state)
{
    (void)state;
    readers_ns(40000);
    double small = readers_ns(5000);
    double large = readers_ns(40000);
    print_message("5,000 readers %.2f ms, 40,000 readers %.2f ms\n", small / 1e6, large / 1e6);
    /* Linear is 8, and up to 3 times that where 40,000 slots leave the cache; quadratic is 64. */
    assert_true(large < 40 * small);
}

/* ---- tiles of one buffer against buffers ---- */

#define SIDE  128
#define TILES (SIDE * SIDE)
static struct simpler_tensor tile[TILES], buffer[TILES];
static uint8_t matrix[8 * SIDE * 8 * SIDE];

static void make_tiles(void)
{
    const uint32_t whole[2] = {8 * SIDE, 8 * SIDE};
    const uint32_t shape[2] = {8, 8};
    struct simpler_tensor tensor;
    assert_int_equal(simpler_tensor_init(&tensor, matrix, whole, 2, SIMPLER_DTYPE_UINT8), 0);
    for (uint32_t i = 0; i < TILES; i++) {
        const uint32_t offset[2] = {i / SIDE * 8, i % SIDE * 8};
        assert_int_equal(simpler_tensor_view(&tensor, shape, offset, &tile[i]), 0);
        assert_int_equal(
            simpler_tensor_init(&buffer[i], matrix + 64 * (size_t)i, shape, 2, SIMPLER_DTYPE_UINT8),
            0);
    }
}

/*
 * Each task reads the tile to the left and updates its own.  An OUTPUT comes first: the scope
 * holds all of them, so that each is looked up in the map, which a task that passes through is not.
 */
static void sweep(struct simpler_orch *orch, void *user)
{
    static const struct simpler_create_info info = {.ndims = 1, .shape = {1}};
    const struct simpler_tensor *tensor = user;
    struct simpler_task_outputs out;
    struct simpler_task_args args;

    KIT_EXPECT_EQUAL(simpler_orch_alloc_tensors(orch, &info, 1, &out), 0);
    for (uint32_t i = 0; i < 2 * TILES; i++) {
        uint32_t at = i % TILES;
        simpler_task_args_reset(&args);
        simpler_task_args_add_input(&args, &tensor[at % SIDE == 0 ? at : at - 1]);
        simpler_task_args_add_inout(&args, &tensor[at]);
        kit_submit(orch, &args, kit_nop_kernel, NULL, NULL);
    }
}

static double sweep_ns(struct simpler_tensor *tensor)
{
    struct simpler_call_config config = kit_config(2);
    kit_set_window(&config, 65536);
    must_pass(sweep, tensor, &config);
    return (double)result.stats.wall_ns;
}

static void tiles_of_one_buffer_cost_what_buffers_cost(void **state)
{
    (void)state;
    double by_tile[21], by_buffer[21];
    make_tiles();
    int rounds = kit_is_optimised() ? 21 : 5;
    for (int i = 0; i < rounds; i++) {
        by_tile[i] = sweep_ns(tile);
        by_buffer[i] = sweep_ns(buffer);
    }
    double tiles = kit_median(by_tile, (size_t)rounds);
    double buffers = kit_median(by_buffer, (size_t)rounds);
    print_message("%.1f ns a task with tiles, %.1f with buffers\n", tiles / (2 * TILES),
                  buffers / (2 * TILES));
    /* Whatever the build and the load: not the walk through all 16,384 tiles at each access. */
    assert_true(tiles < 20 * buffers);
    if (!kit_is_optimised())
        SKIP_TEST("the ratio of 1.2 is for optimised builds");
    assert_true(tiles <= 1.2 * buffers);
}

/* ---- memory ---- */

static double resident_bytes(void)
{
    unsigned long total, resident;
    FILE *file = fopen("/proc/self/statm", "r");
    assert_non_null(file);
    assert_int_equal(fscanf(file, "%lu %lu", &total, &resident), 2);
    fclose(file);
    return (double)resident * (double)sysconf(_SC_PAGESIZE);
}

static uint64_t many_cells[4096];

static void stream(struct simpler_orch *orch, void *user)
{
    uint32_t tasks = *(uint32_t *)user;
    struct simpler_create_info info = kit_info(64, SIMPLER_DTYPE_UINT8);
    struct simpler_tensor whole = kit_tensor(many_cells, 4096, SIMPLER_DTYPE_UINT64);
    struct simpler_task_args args;
    struct simpler_task_outputs out;
    for (uint32_t i = 0; i < tasks; i += 10) {
        SIMPLER_SCOPE(orch)
        {
            simpler_task_args_reset(&args);
            simpler_task_args_add_create(&args, &info);
            kit_submit(orch, &args, kit_nop_kernel, NULL, &out);
            for (uint32_t k = 1; k < 10; k++) {
                struct simpler_tensor tensor = kit_cell(&whole, (i * 7 + k) % 4096);
                simpler_task_args_reset(&args);
                simpler_task_args_add_input(&args, &out.tensor[0]);
                simpler_task_args_add_inout(&args, &tensor);
                kit_submit(orch, &args, kit_nop_kernel, NULL, NULL);
            }
        }
    }
}

/* As many tasks at once as the window holds: how far a run gets ahead must not count. */
static void fill_window(struct simpler_orch *orch, void *user)
{
    struct simpler_tensor held = kit_tensor(one_cell, 1, SIMPLER_DTYPE_UINT64);
    struct simpler_tensor whole = kit_tensor(many_cells, 4096, SIMPLER_DTYPE_UINT64);
    struct simpler_task_args args;
    (void)user;
    kit_gate_close(&gate);
    simpler_task_args_reset(&args);
    simpler_task_args_add_inout(&args, &held);
    kit_submit_variant(orch, KIT_LONG, &args, kit_gate_kernel, &gate, NULL);
    KIT_EXPECT(kit_gate_wait(&gate, 1));
    SIMPLER_SCOPE(orch)
    {
        for (uint32_t i = 0; i < 16383; i++) {
            struct simpler_tensor tensor = kit_cell(&whole, i % 4096);
            simpler_task_args_reset(&args);
            simpler_task_args_add_input(&args, &held);
            simpler_task_args_add_inout(&args, &tensor);
            kit_submit(orch, &args, kit_nop_kernel, NULL, NULL);
        }
    }
    kit_gate_open(&gate);
}

static double resident_after(uint32_t tasks)
{
    struct simpler_call_config config = kit_config(2);
    kit_set_window(&config, 16384);
    kit_set_heap(&config, 1048576);
    kit_set_dep_pool(&config, 65536);
    must_pass(fill_window, NULL, &config);
    assert_int_equal(result.stats.ring[1].task_window_peak, 16383);
    must_pass(stream, &tasks, &config);
    assert_int_equal(result.stats.tasks, tasks);
    return resident_bytes();
}

static void memory_is_flat_over_a_million_tasks(void **state)
{
    (void)state;
    if (kit_is_sanitized())
        SKIP_TEST("a sanitizer's own memory grows");
    double before = resident_after(100000);
    double after = resident_after(1000000);
    print_message("%.2f MB after 100,000 tasks, %.2f MB after 1,000,000\n", before / 1e6,
                  after / 1e6);
    /* Beside the slope some pages that a thread touches once, whenever. */
    assert_true(after <= 1.01 * before + 131072);
}

/* ---- idle ---- */

static void an_idle_worker_uses_no_cpu(void **state)
{
    (void)state;
    uint32_t tasks = 1000;
    for (uint32_t threads = 1; threads <= 16; threads *= 4) {
        struct simpler_call_config config = kit_config(threads);
        config.exec = threads == 4 ? SIMPLER_EXEC_THREADS : SIMPLER_EXEC_INLINE;
        must_pass(stream, &tasks, &config);
        double before = cpu_ns();
        kit_sleep_ns(300000000);
        double used = cpu_ns() - before;
        print_message("%u threads: %.2f ms of CPU time in 300 ms\n", threads, used / 1e6);
        /* One spin of a park cost a thread and the sleep itself. */
        assert_true(used < 3e6);
    }
}

/* The device's other threads sleep as well while one kernel runs for long. */
static int sleep_200_ms(const int64_t *args, uint32_t tensors, void *user)
{
    (void)args;
    (void)tensors;
    (void)user;
    kit_sleep_ns(200000000);
    return 0;
}

static void one_sleeper(struct simpler_orch *orch, void *user)
{
    struct simpler_task_args args;
    (void)user;
    simpler_task_args_reset(&args);
    kit_submit_variant(orch, 2, &args, sleep_200_ms, NULL, NULL);
}

static void waiting_threads_use_no_cpu(void **state)
{
    (void)state;
    struct simpler_call_config config = kit_config(8);
    must_pass(one_sleeper, NULL, &config);
    double before = cpu_ns();
    must_pass(one_sleeper, NULL, &config);
    double used = cpu_ns() - before;
    print_message("%.2f ms of CPU time in 200 ms\n", used / 1e6);
    assert_true(used < 5e6);
}

/* ---- hysteresis ---- */

static int spin_20_us(const int64_t *args, uint32_t tensors, void *user)
{
    (void)args;
    (void)tensors;
    (void)user;
    kit_spin_ns(20000);
    return 0;
}

static void many_spinners(struct simpler_orch *orch, void *user)
{
    uint32_t tasks = *(uint32_t *)user;
    struct simpler_task_args args;
    for (uint32_t i = 0; i < tasks; i++) {
        struct simpler_tensor tensor =
            kit_tensor(&many_cells[8 * (i % 64)], 1, SIMPLER_DTYPE_UINT64);
        simpler_task_args_reset(&args);
        simpler_task_args_add_inout(&args, &tensor);
        kit_submit_variant(orch, 3, &args, spin_20_us, NULL, NULL);
    }
}

/* A blocked orchestration does not sleep and wake for each slot that becomes free. */
static void a_full_window_is_no_ping_pong(void **state)
{
    (void)state;
    uint32_t tasks = 4000;
    for (uint64_t window = 64; window <= 1024; window *= 4) {
        struct simpler_call_config config = kit_config(2);
        struct rusage before, after;
        kit_set_window(&config, window);
        getrusage(RUSAGE_SELF, &before);
        must_pass(many_spinners, &tasks, &config);
        getrusage(RUSAGE_SELF, &after);
        long switches = after.ru_nvcsw - before.ru_nvcsw;
        print_message("window %llu: %ld waits for %u tasks\n", (unsigned long long)window, switches,
                      tasks);
        assert_true(switches < tasks / 2);
    }
}

/* ---- over-subscription ---- */

static void sixteen_threads_on_few_cpus(void **state)
{
    (void)state;
    double two[9], sixteen[9];
    uint32_t tasks = 1000;
    int rounds = kit_is_optimised() ? 9 : 2;
    for (int i = 0; i < rounds; i++) {
        struct simpler_call_config config = kit_config(2);
        must_pass(many_spinners, &tasks, &config);
        two[i] = (double)result.stats.wall_ns;
        config.aicpu_thread_num = kit_threads(16);
        must_pass(many_spinners, &tasks, &config);
        sixteen[i] = (double)result.stats.wall_ns;
    }
    double few = kit_median(two, (size_t)rounds);
    double many = kit_median(sixteen, (size_t)rounds);
    print_message("2 threads %.2f ms, 16 threads %.2f ms\n", few / 1e6, many / 1e6);
    if (!kit_is_optimised())
        SKIP_TEST("the ratio of 2 is for optimised builds");
    assert_true(many <= 2 * few);
}

static void tiny_tasks_on_sixteen_threads(void **state)
{
    (void)state;
    double two[9], sixteen[9];
    uint32_t tasks = 50000;
    int rounds = kit_is_optimised() ? 9 : 2;
    for (int i = 0; i < rounds; i++) {
        struct simpler_call_config config = kit_config(2);
        must_pass(stream, &tasks, &config);
        two[i] = (double)result.stats.wall_ns;
        config.aicpu_thread_num = kit_threads(16);
        must_pass(stream, &tasks, &config);
        sixteen[i] = (double)result.stats.wall_ns;
    }
    double few = kit_median(two, (size_t)rounds);
    double many = kit_median(sixteen, (size_t)rounds);
    print_message("2 threads %.2f ms, 16 threads %.2f ms\n", few / 1e6, many / 1e6);
    if (!kit_is_optimised())
        SKIP_TEST("the ratio of 2 is for optimised builds");
    assert_true(many <= 2 * few);
}

KIT_FIXTURE(kit)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_is_flat_over_a_million_tasks),
        cmocka_unit_test(readers_of_one_writer_are_linear),
        cmocka_unit_test(tiles_of_one_buffer_cost_what_buffers_cost),
        cmocka_unit_test(an_idle_worker_uses_no_cpu),
        cmocka_unit_test(waiting_threads_use_no_cpu),
        cmocka_unit_test(a_full_window_is_no_ping_pong),
        cmocka_unit_test(sixteen_threads_on_few_cpus),
        cmocka_unit_test(tiny_tasks_on_sixteen_threads),
    };
    return cmocka_run_group_tests(tests, open_kit, close_kit);
}
