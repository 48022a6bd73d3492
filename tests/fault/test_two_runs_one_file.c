/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SS-04: two workers run under one prefix at once.  The second is refused its file, and does not
 * take the first one's away when it ends.
 */
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "cm.h"
#include "kit.h"
#include "scope_file.h"

static char prefix[128];
static uint64_t cell[2][8];
static struct simpler_run_result result[2];

struct gate {
    _Atomic int inside, go;
    int n;
};
static struct gate gates[2] = {{.n = 0}, {.n = 1}};

static int hold(const int64_t *args, uint32_t tensors, void *user)
{
    struct gate *g = user;

    (void)args;
    (void)tensors;
    atomic_store(&g->inside, 1);
    while (!atomic_load(&g->go))
        kit_sleep_ns(1000000);
    return 0;
}

static void graph(struct simpler_orch *orch, void *user)
{
    struct gate *g = user;
    struct simpler_tensor tensor = kit_tensor(cell[g->n], 8, SIMPLER_DTYPE_UINT64);
    struct simpler_task_args args;

    simpler_task_args_reset(&args);
    simpler_task_args_add_inout(&args, &tensor);
    (void)kit_submit(orch, &args, hold, g, NULL);
}

static void *run(void *argument)
{
    struct gate *g = argument;
    struct simpler_call_config config = kit_config(2);
    struct kit kit;

    config.enable_scope_stats = 1;
    config.output_prefix = prefix;
    kit_open(&kit);
    (void)kit_run(&kit, graph, g, &config, &result[g->n]);
    kit_close(&kit);
    return NULL;
}

static void the_second_leaves_the_file_of_the_first(void **state)
{
    pthread_t threads[2];
    (void)state;

    for (int i = 0; i < 2; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, run, &gates[i]), 0);
        while (!atomic_load(&gates[i].inside))
            kit_sleep_ns(1000000);
    }
    for (int i = 0; i < 2; i++) {
        atomic_store(&gates[i].go, 1);
        assert_int_equal(pthread_join(threads[i], NULL), 0);
        assert_int_equal(result[i].status, 0);
        assert_int_equal(access(result[0].scope_stats.path, F_OK), 0);
    }
    assert_int_equal(result[0].scope_stats.has_file, 1);
    assert_int_equal(result[1].scope_stats.has_file, 0);
    assert_int_not_equal(result[1].scope_stats.status, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_second_leaves_the_file_of_the_first)};

    simpler_log_set_level(SIMPLER_LOG_NONE);
    scope_file_make_prefix(prefix);
    int rc = cmocka_run_group_tests(tests, NULL, NULL);
    scope_file_remove_prefix(prefix);
    return rc;
}
