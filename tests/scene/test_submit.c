/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs that are submitted, on the real engine: the next one's preparation overlaps
 * the running one, a cancel is never lost, close ends what runs, several threads submit,
 * progress is told.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "cm.h"
#include "faults.h"
#include "kit.h"

static int64_t cells[64];

/* Two kernels of variant KIT_LONG: that of the gate, then one that says when it ran. */
struct gated {
    struct kit_gate gate;
    _Atomic uint64_t ran_ns;
};

static int note_time(const int64_t *args, uint32_t tensors, void *user)
{
    (void)args;
    (void)tensors;
    atomic_store(&((struct gated *)user)->ran_ns, kit_now_ns());
    return 0;
}

static void gated_graph(struct simpler_orch *orch, void *user)
{
    struct gated *g = user;
    struct simpler_task_args args;
    struct simpler_tensor cell = kit_tensor(cells, 1, SIMPLER_DTYPE_INT64);

    simpler_task_args_reset(&args);
    simpler_task_args_add_inout(&args, &cell);
    kit_submit_variant(orch, KIT_LONG, &args, kit_gate_kernel, &g->gate, NULL);
    simpler_task_args_reset(&args);
    simpler_task_args_add_inout(&args, &cell);
    kit_submit_variant(orch, KIT_LONG, &args, note_time, g, NULL);
}

/* Timestamps: the second run was admitted before the first had gone on. */
static void preparation_overlaps_the_running_one(void **state)
{
    (void)state;
    struct simpler_call_config config = kit_config(2);
    static struct gated first, second;
    struct kit_call calls[] = {{gated_graph, &first}, {gated_graph, &second}};
    struct kit kit;

    kit_open(&kit);
    struct simpler_run *a = kit_submit_run(&kit, &calls[0], &config);
    assert_true(kit_gate_wait(&first.gate, 1));
    struct simpler_run *b = kit_submit_run(&kit, &calls[1], &config);
    uint64_t prepared_ns = kit_now_ns();
    assert_int_equal(simpler_run_poll(a), 0);
    assert_int_equal(atomic_load(&second.gate.waiting), 0);
    assert_int_equal(simpler_worker_quiesce(kit.worker, 1000000), SIMPLER_ETIMEDOUT);
    kit_gate_open(&first.gate);
    kit_gate_open(&second.gate);
    assert_int_equal(kit_finish_run(a), 0);
    assert_int_equal(kit_finish_run(b), 0);
    assert_true(prepared_ns < atomic_load(&first.ran_ns));
    assert_true(atomic_load(&first.ran_ns) <= atomic_load(&second.ran_ns));
    assert_int_equal(simpler_worker_quiesce(kit.worker, 0), 0);
    kit_close(&kit);
}

/* Goes on until somebody stops it. */
static void endless_graph(struct simpler_orch *orch, void *user)
{
    struct simpler_task_args args;

    (void)user;
    while (!simpler_orch_is_fatal(orch)) {
        SIMPLER_SCOPE(orch)
        {
            simpler_task_args_reset(&args);
            kit_submit(orch, &args, kit_nop_kernel, NULL, NULL);
        }
    }
}

/* One cancel, whenever it comes: before the turn, as the device starts, in the run. */
static void no_cancel_is_lost(void **state)
{
    (void)state;
    struct simpler_call_config config = kit_config(2);
    struct kit_call call = {endless_graph, NULL};
    struct kit_random random = {7};
    struct kit kit;

    kit_open(&kit);
    for (int i = 0; i < 400; i++) {
        struct simpler_run *run = kit_submit_run(&kit, &call, &config);
        kit_spin_ns(kit_random_below(&random, 100000));
        simpler_run_cancel(run);
        int rc = kit_finish_run(run);
        assert_int_equal(rc, SIMPLER_ECANCELED);
        fault_saw("canceled-at-random", "status=%s", simpler_status_name(rc));
    }
    kit_pass(&kit, gated_graph, &(struct gated){.gate = {.open = 1}});
    kit_close(&kit);
}

static void close_ends_a_run(void **state)
{
    (void)state;
    struct simpler_call_config config = kit_config(2);
    struct kit_call call = {endless_graph, NULL};

    for (int i = 0; i < 20; i++) {
        struct kit kit;
        kit_open(&kit);
        struct simpler_run *first = kit_submit_run(&kit, &call, &config);
        struct simpler_run *second = kit_submit_run(&kit, &call, &config);
        kit_spin_ns((uint64_t)i * 20000);
        kit_close(&kit);
        int running = kit_finish_run(first), waiting = kit_finish_run(second);
        assert_int_equal(running, SIMPLER_ECANCELED);
        assert_int_equal(waiting, SIMPLER_ECANCELED);
        fault_saw("closed-with-runs", "running=%s waiting=%s", simpler_status_name(running),
                  simpler_status_name(waiting));
    }
}

/* ---- several threads ---- */

#define THREADS 4
#define RUNS    100

struct submitter {
    struct kit *kit;
    pthread_t thread;
    _Atomic int tasks; /* that its runs have done */
    int failed;
};

static void count_graph(struct simpler_orch *orch, void *user)
{
    struct simpler_task_args args;

    for (int i = 0; i < 3; i++) {
        simpler_task_args_reset(&args);
        kit_submit(orch, &args, kit_count_kernel, user, NULL);
    }
}

static void *submit_many(void *user)
{
    struct submitter *s = user;
    struct kit_call call = {count_graph, &s->tasks};
    struct simpler_orch_args args = {.user = &call};
    struct simpler_call_config config = kit_config(2);

    for (int i = 0; i < RUNS; i++) {
        int rc;
        if (i % 2 == 0)
            rc = kit_finish_run(kit_submit_run(s->kit, &call, &config));
        else
            rc = simpler_worker_run(s->kit->worker, s->kit->handle, &args, &config, NULL);
        s->failed += rc != 0;
        s->failed += atomic_load(&s->tasks) != 3 * (i + 1);
    }
    return NULL;
}

static void threads_submit_side_by_side(void **state)
{
    (void)state;
    struct submitter all[THREADS] = {{0}};
    struct kit kit;

    kit_open(&kit);
    for (int i = 0; i < THREADS; i++) {
        all[i].kit = &kit;
        assert_int_equal(pthread_create(&all[i].thread, NULL, submit_many, &all[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        (void)pthread_join(all[i].thread, NULL);
        assert_int_equal(all[i].failed, 0);
        assert_int_equal(atomic_load(&all[i].tasks), 3 * RUNS);
    }
    kit_close(&kit);
}

/* ---- progress ---- */

struct told {
    int calls;
    uint64_t last;
};

static void tell(void *user, uint64_t tasks_done)
{
    struct told *told = user;

    assert_true(tasks_done >= told->last);
    told->calls++;
    told->last = tasks_done;
}

static int slow_kernel(const int64_t *args, uint32_t tensors, void *user)
{
    (void)args;
    (void)tensors;
    (void)user;
    kit_sleep_ns(1000000);
    return 0;
}

static void slow_graph(struct simpler_orch *orch, void *user)
{
    struct simpler_task_args args;

    (void)user;
    for (int i = 0; i < 20; i++) {
        simpler_task_args_reset(&args);
        kit_submit_variant(orch, KIT_LONG, &args, slow_kernel, NULL, NULL);
    }
}

static void progress_is_told(void **state)
{
    (void)state;
    struct simpler_call_config config = kit_config(2);
    struct told told = {0};
    struct kit kit;

    kit_open(&kit);
    config.progress = tell;
    config.progress_user = &told;
    config.progress_interval_ns = 1000000;
    assert_int_equal(kit_run(&kit, slow_graph, NULL, &config, NULL), 0);
    assert_true(told.calls >= 3);
    assert_int_equal(told.last, 20);
    /* A run that is shorter than the interval: the end alone. */
    config.progress_interval_ns = 0;
    told = (struct told){0};
    _Atomic int count = 0;
    assert_int_equal(kit_run(&kit, count_graph, &count, &config, NULL), 0);
    assert_int_equal(told.calls, 1);
    assert_int_equal(told.last, 3);
    kit_close(&kit);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(preparation_overlaps_the_running_one),
        cmocka_unit_test(no_cancel_is_lost),
        cmocka_unit_test(close_ends_a_run),
        cmocka_unit_test(threads_submit_side_by_side),
        cmocka_unit_test(progress_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
