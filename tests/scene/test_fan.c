/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One task and very many that wait for it; many tasks and one that waits for all of
 * them.  Short ones are kept by the thread that makes them ready, and of a consumer with
 * many producers several references are dropped at once: neither may hold anything up.
 */
#include <pthread.h>
#include <string.h>

#include "base/testpoint.h"
#include "cm.h"
#include "kit.h"

static struct kit kit;
static uint64_t cells[3];

enum { TINY = 1, FAILS = 2 };

struct fan {
    uint32_t readers;
    uint32_t writers;    /* that wait for all readers, 1 or 2 */
    uint32_t long_every; /* readers of which one is long; 0: none */
    uint32_t fails_at;   /* this reader fails; UINT32_MAX: none */
    _Atomic uint32_t done;
    _Atomic uint32_t seen[2]; /* readers done when the first and the second writer ran */
    _Atomic uint32_t after;   /* tasks behind a writer */
};

static struct kit_gate gate;

static int reader(const int64_t *args, uint32_t tensors, void *user)
{
    struct fan *fan = user;
    (void)args;
    (void)tensors;
    atomic_fetch_add(&fan->done, 1);
    return 0;
}

static int long_reader(const int64_t *args, uint32_t tensors, void *user)
{
    kit_spin_ns(50000);
    return reader(args, tensors, user);
}

static int failing_reader(const int64_t *args, uint32_t tensors, void *user)
{
    (void)args;
    (void)tensors;
    (void)user;
    return -7;
}

static int first_writer(const int64_t *args, uint32_t tensors, void *user)
{
    struct fan *fan = user;
    (void)args;
    (void)tensors;
    atomic_store(&fan->seen[0], atomic_load(&fan->done));
    return 0;
}

static int second_writer(const int64_t *args, uint32_t tensors, void *user)
{
    struct fan *fan = user;
    (void)args;
    (void)tensors;
    kit_spin_ns(50000);
    atomic_store(&fan->seen[1], atomic_load(&fan->done));
    return 0;
}

static int behind(const int64_t *args, uint32_t tensors, void *user)
{
    struct fan *fan = user;
    (void)args;
    (void)tensors;
    atomic_fetch_add(&fan->after, 1);
    return 0;
}

static struct simpler_tensor cell(uint32_t index)
{
    return kit_tensor(&cells[index], 1, SIMPLER_DTYPE_UINT64);
}

static void submit_writer(struct simpler_orch *orch, uint32_t variant, uint32_t index,
                          kit_kernel fn, void *user)
{
    struct simpler_tensor tensor = cell(index);
    struct simpler_task_args args;
    simpler_task_args_reset(&args);
    simpler_task_args_add_inout(&args, &tensor);
    (void)kit_submit_variant(orch, variant, &args, fn, user, NULL);
}

static void submit_reader(struct simpler_orch *orch, struct fan *fan, uint32_t i)
{
    struct simpler_tensor tensor[3] = {cell(0), cell(1), cell(2)};
    struct simpler_task_args args;
    simpler_task_args_reset(&args);
    for (uint32_t k = 0; k <= fan->writers; k++)
        simpler_task_args_add_input(&args, &tensor[k]);
    if (i == fan->fails_at)
        (void)kit_submit_variant(orch, FAILS, &args, failing_reader, fan, NULL);
    else if (fan->long_every != 0 && i % fan->long_every == 0)
        (void)kit_submit_variant(orch, KIT_LONG, &args, long_reader, fan, NULL);
    else
        (void)kit_submit_variant(orch, TINY, &args, reader, fan, NULL);
}

/* Held back, all readers read one cell or two; each has a writer that waits for all of them. */
static void fan_out_and_in(struct simpler_orch *orch, void *user)
{
    struct fan *fan = user;
    kit_gate_close(&gate);
    submit_writer(orch, KIT_LONG, 0, kit_gate_kernel, &gate);
    KIT_EXPECT(kit_gate_wait(&gate, 1));
    for (uint32_t i = 0; i < fan->readers; i++)
        submit_reader(orch, fan, i);
    submit_writer(orch, TINY, 1, first_writer, fan);
    if (fan->writers > 1)
        submit_writer(orch, KIT_LONG, 2, second_writer, fan);
    kit_gate_open(&gate);
    for (uint32_t k = 1; k <= fan->writers; k++)
        submit_writer(orch, TINY, k, behind, fan);
}

static struct simpler_call_config wide_config(uint32_t threads)
{
    struct simpler_call_config config = kit_config(threads);
    kit_set_window(&config, 16384);
    kit_set_dep_pool(&config, 65536);
    return config;
}

/* The kernel TINY has been timed. */
static void train(struct simpler_orch *orch, void *user)
{
    for (uint32_t i = 0; i < 200; i++)
        submit_reader(orch, user, 0);
}

static int run_fan(struct fan *fan, const struct simpler_call_config *config)
{
    struct simpler_run_result result;
    int rc = kit_run(&kit, fan_out_and_in, fan, config, &result);
    if (rc != 0 && fan->fails_at == UINT32_MAX)
        fail_msg("%u readers: %d: %s", fan->readers, rc, result.message);
    return rc;
}

static void writers_wait_for_every_reader(void **state)
{
    (void)state;
    static const uint32_t readers[] = {1, 15, 16, 17, 63, 64, 65, 66, 80, 81, 97, 130, 333, 4000};
    static const uint32_t long_every[] = {0, 7, 50};
    struct fan tiny = {.writers = 1, .fails_at = UINT32_MAX};
    kit_pass(&kit, train, &tiny);
    for (uint32_t i = 0; i < 14 * 3 * 2 * 3; i++) {
        struct fan fan = {.readers = readers[i % 14],
                          .long_every = long_every[i / 14 % 3],
                          .writers = 1 + i / 42 % 2,
                          .fails_at = UINT32_MAX};
        struct simpler_call_config config = wide_config(2 + i / 84);
        config.exec = i % 5 == 4 && fan.readers < 500 ? SIMPLER_EXEC_THREADS : SIMPLER_EXEC_INLINE;
        if (run_fan(&fan, &config) != 0)
            continue;
        assert_int_equal(atomic_load(&fan.done), fan.readers);
        assert_int_equal(atomic_load(&fan.seen[0]), fan.readers);
        assert_int_equal(atomic_load(&fan.seen[1]), fan.writers == 2 ? fan.readers : 0);
        assert_int_equal(atomic_load(&fan.after), fan.writers);
    }
}

/* One of the readers fails: neither writer runs, and all others do. */
static void writers_learn_of_a_reader_that_failed(void **state)
{
    (void)state;
    static const uint32_t fails_at[] = {0, 1, 100, 150, 299};
    for (uint32_t i = 0; i < 20; i++) {
        struct fan fan = {.readers = 300,
                          .writers = 1 + i / 5 % 2,
                          .fails_at = fails_at[i % 5],
                          .seen = {UINT32_MAX, UINT32_MAX}};
        struct simpler_call_config config = wide_config(2 + i / 10);
        assert_int_equal(run_fan(&fan, &config), SIMPLER_EKERNEL);
        assert_int_equal(atomic_load(&fan.done), 299);
        assert_int_equal(atomic_load(&fan.seen[0]), UINT32_MAX);
        assert_int_equal(atomic_load(&fan.seen[1]), UINT32_MAX);
        assert_int_equal(atomic_load(&fan.after), 0);
    }
}

#if defined(SIMPLER_DEBUG)

/* The thread that made the readers ready, and how many it and others have completed. */
static struct {
    pthread_t holder;
    _Atomic int known;
    _Atomic uint32_t mine, others;
    _Atomic uint32_t second, slept, left; /* a thread is inside the second gate; it sleeps */
    _Atomic int failed;
} held;

static int note_holder(const int64_t *args, uint32_t tensors, void *user)
{
    (void)args;
    (void)tensors;
    (void)user;
    held.holder = pthread_self();
    atomic_store(&held.known, 1);
    (void)kit_gate_kernel(args, tensors, &gate);
    return 0;
}

/*
 * A ready queue has 256 entries: what the holder keeps beyond them others get when they
 * have taken these.  They begin when it has exposed as many; from its task number 100 on it is
 * slow, ten seconds at most, and looks after each of them whether others want more.
 */
static bool hold_holder(void *user, enum simpler_testpoint point)
{
    (void)user;
    if (point != SIMPLER_TESTPOINT_COMPLETE_BEFORE_CLOSE || !atomic_load(&held.known))
        return false;
    if (!pthread_equal(held.holder, pthread_self())) {
        while (atomic_load(&held.mine) < 2)
            kit_sleep_ns(100000);
        atomic_fetch_add(&held.others, 1);
        return false;
    }
    uint32_t mine = atomic_fetch_add(&held.mine, 1);
    if (mine >= 100 && mine < 10000 && atomic_load(&held.others) < 450)
        kit_sleep_ns(1000000);
    return false;
}

static void long_fan(struct simpler_orch *orch, void *user)
{
    kit_gate_close(&gate);
    submit_writer(orch, KIT_LONG, 0, note_holder, NULL);
    KIT_EXPECT(kit_gate_wait(&gate, 1));
    for (uint32_t i = 0; i < 12000; i++)
        submit_reader(orch, user, i);
    kit_gate_open(&gate);
}

static void others_get_more_of_a_long_stack(void **state)
{
    (void)state;
    struct fan fan = {.writers = 1, .fails_at = UINT32_MAX};
    struct simpler_call_config config = wide_config(2);
    struct simpler_run_result result;
    kit_pass(&kit, train, &fan);
    memset(&held, 0, sizeof(held));
    simpler_testpoint_set(hold_holder, NULL);
    int rc = kit_run(&kit, long_fan, &fan, &config, &result);
    simpler_testpoint_set(NULL, NULL);
    assert_int_equal(rc, 0);
    assert_int_equal(atomic_load(&fan.done), 12200);
    assert_true(atomic_load(&held.others) >= 450);
}

/* ---- a thread that goes to sleep owes nothing ---- */

static struct kit_gate second_gate;

static int note_second(const int64_t *args, uint32_t tensors, void *user)
{
    atomic_store(&held.second, 1);
    return kit_gate_kernel(args, tensors, user);
}

static bool comes(_Atomic uint32_t *count)
{
    for (int i = 0; i < 50000 && atomic_load(count) == 0; i++)
        kit_sleep_ns(100000);
    return atomic_load(count) != 0;
}

/*
 * The holder does not end its gate, and so looks for no other task, before the other thread is
 * inside the second one, which opens when the holder is about to sleep; it sleeps when the writer
 * has run.
 */
static bool hold_sleeper(void *user, enum simpler_testpoint point)
{
    struct fan *fan = user;
    if (!atomic_load(&held.known) || !pthread_equal(held.holder, pthread_self()))
        return false;
    if (point == SIMPLER_TESTPOINT_COMPLETE_BEFORE_CLOSE && atomic_fetch_add(&held.mine, 1) == 0 &&
        !comes(&held.second))
        atomic_store(&held.failed, 1);
    if (point != SIMPLER_TESTPOINT_PARK_BEFORE_WAIT || atomic_load(&held.mine) <= 100 ||
        atomic_fetch_add(&held.slept, 1) != 0)
        return false;
    kit_gate_open(&second_gate);
    if (!comes(&fan->after))
        atomic_store(&held.failed, 1);
    atomic_store(&held.left, 1);
    return false;
}

/* The writer behind 100 readers of the holder's gate and 100 of the second one. */
static void two_fans(struct simpler_orch *orch, void *user)
{
    struct fan *fan = user;
    struct simpler_tensor tensor[2] = {cell(2), cell(1)};
    struct simpler_task_args args;

    kit_gate_close(&gate);
    kit_gate_close(&second_gate);
    submit_writer(orch, KIT_LONG, 0, note_holder, NULL);
    KIT_EXPECT(kit_gate_wait(&gate, 1));
    submit_writer(orch, KIT_LONG, 2, note_second, &second_gate);
    for (uint32_t i = 0; i < 100; i++) {
        submit_reader(orch, fan, i);
        simpler_task_args_reset(&args);
        simpler_task_args_add_input(&args, &tensor[0]);
        simpler_task_args_add_input(&args, &tensor[1]);
        (void)kit_submit_variant(orch, TINY, &args, reader, fan, NULL);
    }
    submit_writer(orch, TINY, 1, behind, fan);
    kit_gate_open(&gate);
}

static void a_thread_that_sleeps_owes_nothing(void **state)
{
    (void)state;
    for (int i = 0; i < 5; i++) {
        struct fan fan = {.writers = 1, .fails_at = UINT32_MAX};
        struct simpler_call_config config = wide_config(2);
        struct simpler_run_result result;
        config.deadline_ns = 20000000000u;
        kit_pass(&kit, train, &fan);
        memset(&held, 0, sizeof(held));
        simpler_testpoint_set(hold_sleeper, &fan);
        int rc = kit_run(&kit, two_fans, &fan, &config, &result);
        bool left = comes(&held.left);
        simpler_testpoint_set(NULL, NULL);
        assert_int_equal(rc, 0);
        assert_true(left);
        assert_false(atomic_load(&held.failed));
    }
}

#else

static void others_get_more_of_a_long_stack(void **state)
{
    (void)state;
    skip();
}

static void a_thread_that_sleeps_owes_nothing(void **state)
{
    (void)state;
    skip();
}

#endif

KIT_FIXTURE(kit)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(writers_wait_for_every_reader),
        cmocka_unit_test(writers_learn_of_a_reader_that_failed),
        cmocka_unit_test(others_get_more_of_a_long_stack),
        cmocka_unit_test(a_thread_that_sleeps_owes_nothing),
    };
    return cmocka_run_group_tests(tests, open_kit, close_kit);
}
