/* SPDX-License-Identifier: Apache-2.0 */
/*
 * runtimes: all
 * Tasks that are more than one call of one kernel (SY-05): blocks, mixed tasks,
 * sync_start cohorts with barriers and flags, predicates, timing slots.
 * ctest: TIMEOUT 240
 */
#include <pthread.h>
#include <string.h>

#include "cm.h"
#include "faults.h"
#include "kit.h"

static struct kit kit;
static struct simpler_run_result result;

KIT_FIXTURE(kit)

/* Kernel ids of the kit's kernels with no tensor. */
#define AIV_ID(tensors) ((int32_t)(tensors))
#define AIC_ID(tensors) ((int32_t)((tensors) + KIT_VARIANT * KIT_AIV_VARIANTS))

static const struct simpler_mixed_kernels all_lanes = {AIC_ID(0), AIV_ID(0), AIV_ID(0)};

/* What a test submits: the kernel, how, and how often. */
struct job {
    kit_kernel fn;
    int32_t blocks;
    bool sync_start;
    const struct simpler_mixed_kernels *mixed; /* NULL: AIV */
    uint32_t tasks;
    void *user;
};

static int submit_job(struct simpler_orch *orch, const struct job *job,
                      struct simpler_task_args *args)
{
    kit_add_call(args, job->fn, job->user);
    simpler_task_args_set_block_num(args, job->blocks);
    simpler_task_args_set_require_sync_start(args, job->sync_start);
    return job->mixed != NULL ? simpler_orch_submit_mixed(orch, job->mixed, args, NULL)
                              : simpler_orch_submit_aiv(orch, 0, args, NULL);
}

static void submit_jobs(struct simpler_orch *orch, void *user)
{
    const struct job *job = user;
    struct simpler_task_args args;

    for (uint32_t i = 0; i < job->tasks; i++) {
        simpler_task_args_reset(&args);
        if (submit_job(orch, job, &args) != 0)
            return;
    }
}

static int run_job(struct job *job, struct simpler_call_config config)
{
    return kit_run(&kit, submit_jobs, job, &config, &result);
}

/* ---- blocks ---- */

static struct {
    _Atomic uint32_t runs[SIMPLER_MAX_BLOCKS];
    _Atomic uint32_t wrong;
    int32_t blocks;
} seen;

static int mark_block(const int64_t *args, uint32_t tensors, void *user)
{
    int32_t block = simpler_kernel_block_idx(args);
    (void)tensors;
    (void)user;
    if (simpler_kernel_block_num(args) != seen.blocks || block < 0 || block >= seen.blocks)
        atomic_fetch_add(&seen.wrong, 1);
    else
        atomic_fetch_add_explicit(&seen.runs[block], 1, memory_order_relaxed);
    return 0;
}

static void forget_blocks(int32_t blocks)
{
    memset(&seen, 0, sizeof(seen));
    seen.blocks = blocks;
}

static void assert_each_block_ran(uint32_t times)
{
    assert_int_equal(atomic_load(&seen.wrong), 0);
    for (int32_t i = 0; i < seen.blocks; i++) {
        if (atomic_load(&seen.runs[i]) != times)
            fail_msg("block %d of %d ran %u times, not %u", i, seen.blocks, seen.runs[i], times);
    }
}

static void each_block_runs_once(void **state)
{
    static const int32_t counts[] = {1, 2, 7, 100, 3000, SIMPLER_MAX_BLOCKS};
    (void)state;
    for (uint32_t threads = 1; threads <= 4; threads *= 2) {
        for (uint32_t exec = 0; exec < 2; exec++) {
            for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
                struct job job = {mark_block, counts[i], false, NULL, 3, NULL};
                struct simpler_call_config config = kit_config(threads);
                config.exec = exec;
                if (exec == SIMPLER_EXEC_THREADS && counts[i] > 100)
                    continue;
                forget_blocks(counts[i]);
                assert_int_equal(run_job(&job, config), 0);
                assert_each_block_ran(3);
                assert_int_equal(result.stats.tasks_run, 3);
                if (counts[i] > 1)
                    assert_int_equal(result.stats.blocks_run, 3 * counts[i]);
            }
        }
    }
}

/* A task behind the blocks sees what all of them wrote; it is the next one's input. */
#define SUM_BLOCKS 64
static uint64_t parts[SUM_BLOCKS];
static uint64_t sums[20];

static int write_part(const int64_t *args, uint32_t tensors, void *user)
{
    (void)tensors;
    (void)user;
    uint64_t *data = simpler_kernel_data(args, 0);
    data[simpler_kernel_block_idx(args)] += (uint64_t)simpler_kernel_block_idx(args) + 1;
    return 0;
}

static int sum_parts(const int64_t *args, uint32_t tensors, void *user)
{
    (void)tensors;
    (void)user;
    const uint64_t *data = simpler_kernel_data(args, 0);
    uint64_t *to = simpler_kernel_data(args, 1);
    for (uint32_t i = 0; i < SUM_BLOCKS; i++)
        *to += data[i];
    return 0;
}

static void sum_rounds(struct simpler_orch *orch, void *user)
{
    struct simpler_tensor data = kit_tensor(parts, SUM_BLOCKS, SIMPLER_DTYPE_UINT64);
    struct simpler_tensor all = kit_tensor(sums, 20, SIMPLER_DTYPE_UINT64);
    struct simpler_task_args args;
    (void)user;

    for (uint32_t i = 0; i < 20; i++) {
        struct simpler_tensor cell = kit_cell(&all, i);
        simpler_task_args_reset(&args);
        simpler_task_args_add_inout(&args, &data);
        simpler_task_args_set_block_num(&args, SUM_BLOCKS);
        KIT_EXPECT_EQUAL(kit_submit(orch, &args, write_part, NULL, NULL), 0);
        simpler_task_args_reset(&args);
        simpler_task_args_add_input(&args, &data);
        simpler_task_args_add_output(&args, &cell);
        KIT_EXPECT_EQUAL(kit_submit(orch, &args, sum_parts, NULL, NULL), 0);
    }
}

static void consumers_see_all_blocks(void **state)
{
    (void)state;
    for (uint32_t threads = 1; threads <= 3; threads++) {
        for (uint32_t exec = 0; exec < 2; exec++) {
            struct simpler_call_config config = kit_config(threads);
            config.exec = exec;
            memset(parts, 0, sizeof(parts));
            memset(sums, 0, sizeof(sums));
            assert_int_equal(kit_run(&kit, sum_rounds, NULL, &config, &result), 0);
            for (uint32_t i = 0; i < 20; i++)
                assert_int_equal(sums[i], (uint64_t)(i + 1) * SUM_BLOCKS * (SUM_BLOCKS + 1) / 2);
        }
    }
}

#define SIDE_BY_SIDE 4

static _Atomic int inside, all_inside; /* -1: nobody waits any more */

/* Comes back when so many are inside at once, or when one has waited for ten seconds. */
static int meet_block(const int64_t *args, uint32_t tensors, void *user)
{
    if (atomic_fetch_add(&inside, 1) + 1 == SIDE_BY_SIDE)
        atomic_store(&all_inside, 1);
    int none = 0;
    for (int i = 0; i < 10000 && atomic_load(&all_inside) == 0; i++)
        kit_sleep_ns(1000000);
    (void)atomic_compare_exchange_strong(&all_inside, &none, -1);
    atomic_fetch_sub(&inside, 1);
    return mark_block(args, tensors, user);
}

static void blocks_run_side_by_side(void **state)
{
    struct job job = {meet_block, 64, false, NULL, 1, NULL};
    (void)state;
    forget_blocks(64);
    atomic_store(&inside, 0);
    atomic_store(&all_inside, 0);
    assert_int_equal(run_job(&job, kit_config(8)), 0);
    assert_each_block_ran(1);
    assert_int_equal(atomic_load(&all_inside), 1);
}

static int fail_block_5(const int64_t *args, uint32_t tensors, void *user)
{
    mark_block(args, tensors, user);
    return simpler_kernel_block_idx(args) == 5 ? 77 : 0;
}

static void a_failing_block_fails_its_task(void **state)
{
    struct job job = {fail_block_5, 16, false, NULL, 1, NULL};
    (void)state;
    for (uint32_t exec = 0; exec < 2; exec++) {
        struct simpler_call_config config = kit_config(2);
        config.exec = exec;
        forget_blocks(16);
        assert_int_equal(run_job(&job, config), SIMPLER_EKERNEL);
        assert_int_equal(result.stats.tasks_failed, 1);
        assert_non_null(strstr(result.message, "returned 77"));
        assert_each_block_ran(1);
    }
}

/* ---- mixed tasks ---- */

static _Atomic uint32_t by_lane[SIMPLER_LANES];
static _Atomic uint32_t bad_waits;

static int meet(const int64_t *args, uint32_t tensors, void *user)
{
    uint32_t lane = simpler_kernel_lane(args);
    (void)tensors;
    (void)user;
    for (uint32_t i = 0; i < 20; i++) {
        if (simpler_kernel_sync_block(args) != 0)
            atomic_fetch_add(&bad_waits, 1);
    }
    if (simpler_kernel_sub_block_id(args) != (lane == SIMPLER_LANE_AIV1))
        atomic_fetch_add(&bad_waits, 1);
    atomic_fetch_add(&by_lane[lane], 1);
    return 0;
}

static void lanes_run_together(const struct simpler_mixed_kernels *mixed, int32_t blocks,
                               uint32_t threads, uint32_t exec, uint32_t lanes)
{
    struct job job = {meet, blocks, false, mixed, 4, NULL};
    struct simpler_call_config config = kit_config(threads);
    config.exec = exec;
    config.cluster_count = 3;
    memset(by_lane, 0, sizeof(by_lane));
    atomic_store(&bad_waits, 0);
    assert_int_equal(run_job(&job, config), 0);
    assert_int_equal(atomic_load(&bad_waits), 0);
    for (uint32_t lane = 0; lane < SIMPLER_LANES; lane++)
        assert_int_equal(by_lane[lane], (lanes >> lane & 1) * 4u * (uint32_t)blocks);
    assert_int_equal(result.stats.tasks_run, 4);
}

static void the_lanes_of_a_block_run_together(void **state)
{
    static const struct simpler_mixed_kernels one_aiv = {AIC_ID(0), AIV_ID(0), -1};
    static const struct simpler_mixed_kernels other_aiv = {AIC_ID(0), -1, AIV_ID(0)};
    static const struct simpler_mixed_kernels two_aiv = {-1, AIV_ID(0), AIV_ID(0)};
    (void)state;
    for (uint32_t threads = 1; threads <= 3; threads++) {
        for (uint32_t exec = 0; exec < 2; exec++) {
            lanes_run_together(&all_lanes, 1, threads, exec, 7);
            lanes_run_together(&all_lanes, 10, threads, exec, 7);
            lanes_run_together(&one_aiv, 5, threads, exec, 3);
            lanes_run_together(&other_aiv, 5, threads, exec, 5);
            lanes_run_together(&two_aiv, 5, threads, exec, 6);
        }
    }
}

static int note_lane(const int64_t *args, uint32_t tensors, void *user)
{
    (void)tensors;
    (void)user;
    atomic_fetch_add(&by_lane[simpler_kernel_lane(args)], 1);
    return 0;
}

static void one_kernel_alone_is_a_task_of_its_type(void **state)
{
    static const struct simpler_mixed_kernels aiv1 = {-1, -1, AIV_ID(0)};
    static const struct simpler_mixed_kernels aic = {AIC_ID(0), -1, -1};
    struct job job = {note_lane, 2, false, &aiv1, 1, NULL};
    (void)state;
    memset(by_lane, 0, sizeof(by_lane));
    assert_int_equal(run_job(&job, kit_config(2)), 0);
    assert_int_equal(by_lane[SIMPLER_LANE_AIV0], 2);
    job.mixed = &aic;
    assert_int_equal(run_job(&job, kit_config(2)), 0);
    assert_int_equal(by_lane[SIMPLER_LANE_AIC], 2);
    assert_int_equal(by_lane[SIMPLER_LANE_AIV1], 0);
}

static void a_mixed_task_is_checked(void **state)
{
    static const struct simpler_mixed_kernels wrong[] = {{-1, -1, -1},
                                                         {AIV_ID(0), AIV_ID(0), -1},
                                                         {AIC_ID(0), AIC_ID(0), -1},
                                                         {-2, AIV_ID(0), 0},
                                                         {AIC_ID(0), 9999, -1}};
    (void)state;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        struct job job = {note_lane, 1, false, &wrong[i], 1, NULL};
        assert_int_equal(run_job(&job, kit_config(2)), -SIMPLER_CODE_INVALID_ARGS);
        assert_int_equal(result.stats.tasks, 0);
    }
}

/* AIC gives a number to each AIV lane and takes its double back, 100 times. */
struct mailbox {
    uint32_t to[2], from[2];
    _Atomic uint32_t faults;
};

static int ping_pong(const int64_t *args, uint32_t tensors, void *user)
{
    struct mailbox *box = (struct mailbox *)user + simpler_kernel_block_idx(args);
    uint32_t lane = simpler_kernel_lane(args);
    int rc = 0;
    (void)tensors;
    for (uint32_t i = 0; i < 100 && rc == 0; i++) {
        if (lane != SIMPLER_LANE_AIC) {
            rc = simpler_kernel_wait_flag(args, 3);
            box->from[lane - 1] = 2 * box->to[lane - 1];
            if (rc == 0)
                rc = simpler_kernel_set_flag(args, SIMPLER_LANE_AIC, lane);
            continue;
        }
        for (uint32_t k = 0; k < 2 && rc == 0; k++) {
            box->to[k] = i + k;
            rc = simpler_kernel_set_flag(args, SIMPLER_LANE_AIV0 + k, 3);
        }
        for (uint32_t k = 0; k < 2 && rc == 0; k++) {
            rc = simpler_kernel_wait_flag(args, SIMPLER_LANE_AIV0 + k);
            if (box->from[k] != 2 * (i + k))
                atomic_fetch_add(&box->faults, 1);
        }
    }
    return rc;
}

static void lanes_hand_over_by_flags(void **state)
{
    static struct mailbox box[6];
    struct job job = {ping_pong, 6, false, &all_lanes, 1, box};
    (void)state;
    for (uint32_t exec = 0; exec < 2; exec++) {
        struct simpler_call_config config = kit_config(2);
        config.exec = exec;
        config.cluster_count = 2;
        assert_int_equal(run_job(&job, config), 0);
        for (uint32_t i = 0; i < 6; i++)
            assert_int_equal(box[i].faults, 0);
    }
}

static int odd_flags(const int64_t *args, uint32_t tensors, void *user)
{
    (void)tensors;
    (void)user;
    return simpler_kernel_set_flag(args, 0, SIMPLER_LANE_FLAGS) == SIMPLER_EINVAL &&
                   simpler_kernel_set_flag(args, SIMPLER_LANE_AIV1, 0) == SIMPLER_EINVAL &&
                   simpler_kernel_set_flag(args, 3, 0) == SIMPLER_EINVAL &&
                   simpler_kernel_wait_flag(args, SIMPLER_LANE_FLAGS) == SIMPLER_EINVAL
               ? 0
               : 1;
}

static void flags_that_do_not_exist_are_refused(void **state)
{
    static const struct simpler_mixed_kernels two = {AIC_ID(0), AIV_ID(0), -1};
    struct job job = {odd_flags, 1, false, &two, 1, NULL};
    (void)state;
    assert_int_equal(run_job(&job, kit_config(2)), 0);
}

/* ---- cohorts ---- */

#define MOST_BLOCKS 72
static uint32_t phase_of[MOST_BLOCKS * SIMPLER_LANES];

/* Each writes its phase, waits for all, and looks at everybody's. */
static int march(const int64_t *args, uint32_t tensors, void *user)
{
    uint32_t lanes = *(const uint32_t *)user;
    uint32_t lane = lanes == 1 ? 0 : simpler_kernel_lane(args);
    uint32_t self = (uint32_t)simpler_kernel_block_idx(args) * lanes + lane;
    uint32_t all = (uint32_t)simpler_kernel_block_num(args) * lanes;
    int rc = 0;
    (void)tensors;
    for (uint32_t i = 1; i <= 8 && rc == 0; i++) {
        phase_of[self] = i;
        rc = simpler_kernel_sync_all(args);
        for (uint32_t k = 0; k < all; k++) {
            if (phase_of[k] != i)
                atomic_fetch_add(&bad_waits, 1);
        }
        if (rc == 0)
            rc = simpler_kernel_sync_all(args);
    }
    atomic_fetch_add_explicit(&seen.runs[simpler_kernel_block_idx(args)], 1, memory_order_relaxed);
    return rc;
}

static void cohort_marches(const struct simpler_mixed_kernels *mixed, int32_t blocks,
                           uint32_t lanes, uint32_t threads, uint32_t exec)
{
    struct job job = {march, blocks, true, mixed, 1, &lanes};
    struct simpler_call_config config = kit_config(threads);
    config.exec = exec;
    config.cluster_count = 24;
    forget_blocks(blocks);
    atomic_store(&bad_waits, 0);
    for (int i = 0; i < 3; i++)
        assert_int_equal(run_job(&job, config), 0);
    assert_int_equal(atomic_load(&bad_waits), 0);
    assert_each_block_ran(3 * lanes);
}

static void a_cohort_of_48_blocks_waits_for_itself(void **state)
{
    (void)state;
    for (uint32_t exec = 0; exec < 2; exec++) {
        cohort_marches(NULL, 48, 1, 2, exec);
        cohort_marches(NULL, 1, 1, 1, exec);
        cohort_marches(&all_lanes, 24, 3, 2, exec);
        cohort_marches(&all_lanes, 5, 3, 1, exec);
    }
}

/* While one core is taken the cohort that needs all of them starts no block. */
struct behind_a_gate {
    struct kit_gate gate;
    _Atomic int started;
    int ran; /* blocks that had run 20 ms after the core was taken; -1: it never was */
};

/* A block that has started keeps its core until all have. */
static int count_and_meet(const int64_t *args, uint32_t tensors, void *started)
{
    (void)tensors;
    atomic_fetch_add((_Atomic int *)started, 1);
    return simpler_kernel_sync_all(args);
}

static void start_behind_a_gate(struct simpler_orch *orch, void *user)
{
    struct behind_a_gate *b = user;
    struct job wide = {count_and_meet, 4, true, NULL, 1, (void *)&b->started};
    struct job behind = {kit_gate_kernel, 1, true, NULL, 1, &b->gate};

    submit_jobs(orch, &behind);
    submit_jobs(orch, &wide);
}

/* On a thread of its own: the orchestration of host_build_graph is over before a kernel runs. */
static void *open_the_gate(void *user)
{
    struct behind_a_gate *b = user;
    bool taken = kit_gate_wait(&b->gate, 1);

    kit_sleep_ns(20000000);
    b->ran = taken ? atomic_load(&b->started) : -1;
    kit_gate_open(&b->gate);
    return NULL;
}

static void a_cohort_is_started_as_a_whole(void **state)
{
    (void)state;
    for (uint32_t exec = 0; exec < 2; exec++) {
        struct simpler_call_config config = kit_config(2);
        struct behind_a_gate b = {.started = 0};
        pthread_t opener;
        config.exec = exec;
        config.cluster_count = 2;
        assert_int_equal(pthread_create(&opener, NULL, open_the_gate, &b), 0);
        int rc = kit_run(&kit, start_behind_a_gate, &b, &config, &result);
        assert_int_equal(pthread_join(opener, NULL), 0);
        assert_int_equal(rc, 0);
        /* The cohort was first, or is still waiting for its fourth core. */
        assert_true(b.ran == 0 || b.ran == 4);
        assert_int_equal(atomic_load(&b.started), 4);
        assert_int_equal(result.stats.tasks_run, 2);
        assert_int_equal(result.stats.blocks_run, 5);
    }
}

/* Tasks of every kind at once, on few clusters: nobody starves and nobody is started in parts. */
static void submit_crowd(struct simpler_orch *orch, void *user)
{
    static uint32_t one = 1, three = 3;
    struct job jobs[] = {{mark_block, 2, false, NULL, 1, NULL},
                         {meet, 3, false, &all_lanes, 1, NULL},
                         {kit_nop_kernel, 1, false, NULL, 1, NULL},
                         {meet, 2, true, &all_lanes, 1, NULL},
                         {kit_nop_kernel, 4, true, NULL, 1, NULL}};
    (void)user;
    (void)one;
    (void)three;
    for (uint32_t i = 0; i < 300; i++)
        submit_jobs(orch, &jobs[kit_mix(i) % 5]);
}

static void cohorts_and_plain_tasks_share_the_cores(void **state)
{
    (void)state;
    for (uint32_t threads = 1; threads <= 4; threads++) {
        for (uint32_t exec = 0; exec < 2; exec++) {
            struct simpler_call_config config = kit_config(threads);
            config.exec = exec;
            config.cluster_count = 2;
            forget_blocks(2);
            atomic_store(&bad_waits, 0);
            assert_int_equal(kit_run(&kit, submit_crowd, NULL, &config, &result), 0);
            assert_int_equal(atomic_load(&bad_waits), 0);
            assert_int_equal(result.stats.tasks_run, 300);
        }
    }
}

static void too_wide_a_cohort_is_code_7(void **state)
{
    struct job job = {kit_nop_kernel, 5, true, NULL, 1, NULL};
    struct simpler_call_config config = kit_config(2);
    (void)state;
    config.cluster_count = 2;
    assert_int_equal(run_job(&job, config), -SIMPLER_CODE_REQUIRE_SYNC_START_INVALID);
    assert_int_equal(result.orch_error_code, 7);
    assert_non_null(strstr(result.message, "orch_error_code=7"));
    assert_non_null(strstr(result.message, "4 AIV cores"));
    assert_non_null(strstr(result.message, "cluster_count"));
    int rc = result.status;
    job.blocks = 4;
    assert_int_equal(run_job(&job, config), 0);
    fault_saw("cohort-too-wide", "status=%s at_the_limit=%s", simpler_status_name(rc),
              simpler_status_name(result.status));
    job.blocks = 3;
    job.mixed = &all_lanes;
    assert_int_equal(run_job(&job, config), -SIMPLER_CODE_REQUIRE_SYNC_START_INVALID);
    assert_non_null(strstr(result.message, "2 clusters"));
    job.blocks = 2;
    assert_int_equal(run_job(&job, config), 0);
    /* Without sync_start the blocks need not be resident at once. */
    job.blocks = 50;
    job.sync_start = false;
    assert_int_equal(run_job(&job, config), 0);
}

static int wait_anyway(const int64_t *args, uint32_t tensors, void *user)
{
    (void)tensors;
    switch (*(const int *)user) {
    case 0:
        return simpler_kernel_sync_all(args);
    case 1:
        return simpler_kernel_sync_block(args);
    case 2:
        return simpler_kernel_set_flag(args, 0, 0);
    default:
        return simpler_kernel_wait_flag(args, 0);
    }
}

static void waiting_outside_a_cohort_is_code_7(void **state)
{
    struct simpler_call_config config = kit_config(2);
    (void)state;
    for (int what = 0; what < 4; what++) {
        struct job job = {wait_anyway, 1, false, NULL, 1, &what};
        for (int32_t blocks = 1; blocks < 3; blocks++) {
            for (uint32_t exec = 0; exec < 2; exec++) {
                config.exec = exec;
                job.blocks = blocks;
                assert_int_equal(run_job(&job, config), -SIMPLER_CODE_REQUIRE_SYNC_START_INVALID);
                assert_non_null(strstr(result.message, "not resident"));
                fault_saw("wait-outside-cohort", "status=%s", simpler_status_name(result.status));
            }
        }
    }
    /* The blocks of a mixed task need not be resident at once. */
    int all = 0;
    struct job mixed = {wait_anyway, 2, false, &all_lanes, 1, &all};
    assert_int_equal(run_job(&mixed, config), -SIMPLER_CODE_REQUIRE_SYNC_START_INVALID);
}

static int leave_early(const int64_t *args, uint32_t tensors, void *user)
{
    (void)tensors;
    (void)user;
    if (simpler_kernel_block_idx(args) == 1)
        return 5;
    int rc = simpler_kernel_sync_all(args);
    return rc == SIMPLER_EKERNEL ? 0 : 1;
}

static void a_member_that_returns_early_ends_the_wait(void **state)
{
    struct job job = {leave_early, 4, true, NULL, 1, NULL};
    (void)state;
    for (uint32_t exec = 0; exec < 2; exec++) {
        struct simpler_call_config config = kit_config(2);
        config.exec = exec;
        assert_int_equal(run_job(&job, config), SIMPLER_EKERNEL);
        assert_non_null(strstr(result.message, "returned 5"));
        /* Another status of the wait would make a second kernel fail. */
        fault_saw("cohort-member-returns", "status=%s kernels_failed=%d",
                  simpler_status_name(result.status), (int)result.stats.tasks_failed);
    }
}

static int never_arrives(const int64_t *args, uint32_t tensors, void *user)
{
    (void)tensors;
    (void)user;
    if (simpler_kernel_block_idx(args) == 0) {
        while (!atomic_load(&bad_waits))
            kit_sleep_ns(1000000);
        return 0;
    }
    int rc = simpler_kernel_sync_all(args);
    atomic_store(&bad_waits, 1);
    return rc == SIMPLER_ETIMEDOUT ? 0 : 1;
}

static void a_deadline_ends_the_wait(void **state)
{
    struct job job = {never_arrives, 2, true, NULL, 1, NULL};
    struct simpler_call_config config = kit_config(2);
    (void)state;
    atomic_store(&bad_waits, 0);
    config.deadline_ns = 50000000;
    assert_int_equal(run_job(&job, config), SIMPLER_ETIMEDOUT);
    assert_int_equal(result.stats.tasks_failed, 0);
    fault_saw("deadline-in-barrier", "status=%s kernels_failed=%d",
              simpler_status_name(result.status), (int)result.stats.tasks_failed);
}

/* ---- predicates ---- */

struct predicate_case {
    uint32_t dtype;
    int64_t value, target;
};

static const struct predicate_case predicate_cases[] = {{SIMPLER_DTYPE_INT8, -3, -3},
                                                        {SIMPLER_DTYPE_INT8, -3, 2},
                                                        {SIMPLER_DTYPE_INT16, -300, 7},
                                                        {SIMPLER_DTYPE_INT32, 70000, 69999},
                                                        {SIMPLER_DTYPE_INT64, INT64_MIN, INT64_MAX},
                                                        {SIMPLER_DTYPE_INT64, 5, 5},
                                                        {SIMPLER_DTYPE_BOOL, 1, 0},
                                                        {SIMPLER_DTYPE_UINT32, 9, 9}};

static bool compare(uint32_t op, int64_t a, int64_t b)
{
    return op == SIMPLER_PREDICATE_EQ   ? a == b
           : op == SIMPLER_PREDICATE_NE ? a != b
           : op == SIMPLER_PREDICATE_GT ? a > b
           : op == SIMPLER_PREDICATE_LT ? a < b
           : op == SIMPLER_PREDICATE_GE ? a >= b
           : op == SIMPLER_PREDICATE_LE ? a <= b
                                        : true;
}

struct decision {
    const struct predicate_case *c;
    uint32_t op;
    bool mixed;
    _Atomic int ran, after;
};

static int write_value(const int64_t *args, uint32_t tensors, void *user)
{
    const struct decision *d = user;
    const struct simpler_tensor *t = simpler_kernel_tensor(args, 0);
    (void)tensors;
    memcpy((char *)simpler_kernel_data(args, 0) + 3 * simpler_dtype_bytes(t->dtype), &d->c->value,
           simpler_dtype_bytes(t->dtype));
    return 0;
}

/* Writes the operand, decides by it, and a third task behind the second runs in any case. */
static void decide(struct simpler_orch *orch, void *user)
{
    static int64_t memory[8];
    struct decision *d = user;
    struct simpler_tensor operand = kit_tensor(memory, 6, d->c->dtype);
    struct simpler_task_args args;
    struct simpler_predicate predicate = {&operand, {3}, d->op, d->c->target};
    struct simpler_mixed_kernels mixed = {AIC_ID(1), AIV_ID(1), -1};

    simpler_task_args_reset(&args);
    simpler_task_args_add_output(&args, &operand);
    kit_submit(orch, &args, write_value, d, NULL);
    simpler_task_args_reset(&args);
    simpler_task_args_add_inout(&args, &operand);
    simpler_task_args_set_predicate(&args, &predicate);
    memset(&predicate, 0xff, sizeof(predicate));
    if (d->mixed) {
        kit_add_call(&args, kit_count_kernel, &d->ran);
        KIT_EXPECT_EQUAL(simpler_orch_submit_mixed(orch, &mixed, &args, NULL), 0);
    } else {
        KIT_EXPECT_EQUAL(kit_submit(orch, &args, kit_count_kernel, &d->ran, NULL), 0);
    }
    simpler_task_args_reset(&args);
    simpler_task_args_add_input(&args, &operand);
    KIT_EXPECT_EQUAL(kit_submit(orch, &args, kit_count_kernel, &d->after, NULL), 0);
}

static void a_predicate_decides_when_the_task_is_ready(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(predicate_cases) / sizeof(predicate_cases[0]); i++) {
        for (uint32_t op = 0; op <= SIMPLER_PREDICATE_LE; op++) {
            for (uint32_t threads = 1; threads <= 2; threads++) {
                struct decision d = {&predicate_cases[i], op, op % 2 == 0, 0, 0};
                struct simpler_call_config config = kit_config(threads);
                config.exec = i % 2;
                assert_int_equal(kit_run(&kit, decide, &d, &config, &result), 0);
                bool runs = compare(op, d.c->value, d.c->target);
                assert_int_equal(d.ran, runs ? 1 + d.mixed : 0);
                assert_int_equal(d.after, 1);
                assert_int_equal(result.stats.tasks_run, 2 + runs);
                assert_int_equal(result.stats.tasks_skipped, !runs);
            }
        }
    }
}

static void submit_odd_predicate(struct simpler_orch *orch, void *user)
{
    static int64_t memory[4];
    struct simpler_tensor tensor = kit_tensor(memory, 4, SIMPLER_DTYPE_INT64);
    struct simpler_predicate p = {&tensor, {4}, SIMPLER_PREDICATE_EQ, 0};
    struct simpler_task_args args;
    int what = *(int *)user;

    simpler_task_args_reset(&args);
    if (what == 1)
        tensor.dtype = 99;
    if (what == 2)
        p.op = 7;
    simpler_task_args_set_predicate(&args, what == 3 ? NULL : &p);
    kit_submit(orch, &args, kit_nop_kernel, NULL, NULL);
}

static void an_odd_predicate_is_code_5(void **state)
{
    static const char *const texts[] = {"outside the tensor", "not valid", "comparison",
                                        "comparison"};
    (void)state;
    for (int what = 0; what < 4; what++) {
        struct simpler_call_config config = kit_config(2);
        assert_int_equal(kit_run(&kit, submit_odd_predicate, &what, &config, &result),
                         -SIMPLER_CODE_INVALID_ARGS);
        assert_non_null(strstr(result.message, texts[what]));
    }
}

/* No tensor, or one without memory: the task always runs; a dummy is not asked. */
static void submit_without_operand(struct simpler_orch *orch, void *user)
{
    struct simpler_tensor nowhere = kit_tensor(NULL, 4, SIMPLER_DTYPE_INT64);
    struct simpler_predicate p = {&nowhere, {0}, SIMPLER_PREDICATE_EQ, 1};
    struct simpler_task_args args;

    for (int i = 0; i < 2; i++) {
        simpler_task_args_reset(&args);
        p.tensor = i == 0 ? NULL : &nowhere;
        simpler_task_args_set_predicate(&args, &p);
        KIT_EXPECT_EQUAL(kit_submit(orch, &args, kit_count_kernel, user, NULL), 0);
    }
    simpler_task_args_reset(&args);
    p.index[0] = 77;
    simpler_task_args_set_predicate(&args, &p);
    KIT_EXPECT_EQUAL(simpler_orch_submit_dummy(orch, &args, NULL), 0);
}

static void a_predicate_without_operand_is_dropped(void **state)
{
    _Atomic int count = 0;
    (void)state;
    kit_pass(&kit, submit_without_operand, (void *)&count);
    assert_int_equal(count, 2);
}

/* ---- timing slots and hints ---- */

static void submit_timed(struct simpler_orch *orch, void *user)
{
    struct simpler_task_args args;
    (void)user;
    for (int i = 0; i < 3; i++) {
        simpler_task_args_reset(&args);
        simpler_task_args_set_task_timing_slot(&args, 15);
        simpler_task_args_set_allow_early_resolve(&args, 1);
        kit_submit_variant(orch, KIT_LONG, &args, kit_long_count_kernel, user, NULL);
    }
    simpler_task_args_reset(&args);
    simpler_task_args_set_task_timing_slot(&args, 0);
    KIT_EXPECT_EQUAL(simpler_orch_submit_dummy(orch, &args, NULL), 0);
    simpler_task_args_reset(&args);
    simpler_task_args_set_task_timing_slot(&args, 3);
    simpler_task_args_set_task_timing_slot(&args, -1);
    kit_submit(orch, &args, kit_nop_kernel, NULL, NULL);
}

static void timing_slots_hold_what_their_tasks_took(void **state)
{
    _Atomic int count = 0;
    (void)state;
    for (uint32_t exec = 0; exec < 2; exec++) {
        struct simpler_call_config config = kit_config(2);
        config.exec = exec;
        assert_int_equal(kit_run(&kit, submit_timed, (void *)&count, &config, &result), 0);
        const struct simpler_task_timing *t = &result.timing[15];
        assert_int_equal(t->tasks, 3);
        assert_true(t->busy_ns >= 3 * 100000);
        assert_true(t->end_ns > t->start_ns && t->end_ns - t->start_ns >= 100000);
        assert_true(t->end_ns <= result.stats.wall_ns);
        assert_int_equal(result.timing[0].tasks, 1);
        for (int i = 1; i < 15; i++)
            assert_int_equal(result.timing[i].tasks, 0);
    }
    kit_pass(&kit, submit_without_operand, (void *)&count);
}

static void submit_odd_numbers(struct simpler_orch *orch, void *user)
{
    struct simpler_task_args args;
    int what = *(int *)user;

    simpler_task_args_reset(&args);
    if (what < 2)
        simpler_task_args_set_task_timing_slot(&args, what == 0 ? 16 : -2);
    else
        simpler_task_args_set_block_num(&args, what == 2 ? 0 : SIMPLER_MAX_BLOCKS + what - 2);
    kit_submit(orch, &args, kit_nop_kernel, NULL, NULL);
}

static void numbers_out_of_range_are_code_5(void **state)
{
    (void)state;
    for (int what = 0; what < 4; what++) {
        struct simpler_call_config config = kit_config(2);
        assert_int_equal(kit_run(&kit, submit_odd_numbers, &what, &config, &result),
                         -SIMPLER_CODE_INVALID_ARGS);
        assert_non_null(strstr(result.message, what < 2 ? "timing slot" : "block_num"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_block_runs_once),
        cmocka_unit_test(consumers_see_all_blocks),
        cmocka_unit_test(blocks_run_side_by_side),
        cmocka_unit_test(a_failing_block_fails_its_task),
        cmocka_unit_test(the_lanes_of_a_block_run_together),
        cmocka_unit_test(one_kernel_alone_is_a_task_of_its_type),
        cmocka_unit_test(a_mixed_task_is_checked),
        cmocka_unit_test(lanes_hand_over_by_flags),
        cmocka_unit_test(flags_that_do_not_exist_are_refused),
        cmocka_unit_test(a_cohort_of_48_blocks_waits_for_itself),
        cmocka_unit_test(a_cohort_is_started_as_a_whole),
        cmocka_unit_test(cohorts_and_plain_tasks_share_the_cores),
        cmocka_unit_test(too_wide_a_cohort_is_code_7),
        cmocka_unit_test(waiting_outside_a_cohort_is_code_7),
        cmocka_unit_test(a_member_that_returns_early_ends_the_wait),
        cmocka_unit_test(a_deadline_ends_the_wait),
        cmocka_unit_test(a_predicate_decides_when_the_task_is_ready),
        cmocka_unit_test(an_odd_predicate_is_code_5),
        cmocka_unit_test(a_predicate_without_operand_is_dropped),
        cmocka_unit_test(timing_slots_hold_what_their_tasks_took),
        cmocka_unit_test(numbers_out_of_range_are_code_5),
    };
    simpler_log_set_level(SIMPLER_LOG_NONE);
    return cmocka_run_group_tests(tests, open_kit, close_kit);
}
