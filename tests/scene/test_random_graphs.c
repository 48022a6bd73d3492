/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ctest: TIMEOUT 300
 * Random programs against their serial reference (SY-01, SY-05): hazards all and
 * raw, kernels of no length and of some microseconds, sizes from the smallest
 * that are promised to be enough.
 *
 *   SIMPLER_GRAPH_SEED=N   this seed alone
 *   SIMPLER_GRAPH_TASKS=N  only its first tasks
 *   SIMPLER_GRAPH_COUNT=N  so many seeds instead of the default
 *   SIMPLER_GRAPH_FAILURES=N  goes on until N seeds have failed (3)
 *   SIMPLER_GRAPH_BRIEF=1     one line a failure
 */
#include <stdlib.h>

#include "cm.h"
#include "graph_gen.h"

static struct kit kit;

static uint64_t from_environment(const char *name, uint64_t value)
{
    const char *text = getenv(name);
    return text != NULL ? strtoull(text, NULL, 0) : value;
}

static void run_seeds_on(bool host_built, uint64_t first, uint64_t count, bool calm)
{
    struct graph_options options = {0};
    options.host_built = host_built;
    uint64_t failures = 0;
    options.calm = calm || getenv("SIMPLER_GRAPH_CALM") != NULL;
    options.task_limit = (uint32_t)from_environment("SIMPLER_GRAPH_TASKS", 0);
    uint64_t most = from_environment("SIMPLER_GRAPH_FAILURES", 3);
    uint64_t only = from_environment("SIMPLER_GRAPH_SEED", UINT64_MAX);
    if (only != UINT64_MAX) {
        first = only;
        count = 1;
    }
    for (uint64_t seed = first; seed < first + count && failures < most; seed++)
        failures += !graph_try_seed(seed, &kit, &options);
    assert_int_equal(failures, 0);
}

static void run_seeds(uint64_t first, uint64_t count, bool calm)
{
    run_seeds_on(false, first, count, calm);
}

/* A sanitizer makes everything some ten times slower. */
static uint64_t scaled(uint64_t count)
{
    count = from_environment("SIMPLER_GRAPH_COUNT", count);
    return kit_is_sanitized() ? count / 6 : count;
}

static void tiny_kernels(void **state)
{
    (void)state;
    run_seeds(0, scaled(6000), true);
}

static void kernels_of_varied_length(void **state)
{
    (void)state;
    run_seeds(1000000, scaled(3000), false);
}

/* SY-02: the same programs, built on the host. */
static void tiny_kernels_built_on_the_host(void **state)
{
    (void)state;
    run_seeds_on(true, 0, scaled(3000), true);
}

static void varied_kernels_built_on_the_host(void **state)
{
    (void)state;
    run_seeds_on(true, 1000000, scaled(1500), false);
}

/* The reference of one program, worked out here by hand: the oracle itself can fail. */
static void the_oracle_sees_a_wrong_digest(void **state)
{
    (void)state;
    static struct graph_program a, b;
    static struct graph_trace one, two;
    uint8_t *memory = calloc(2, GRAPH_MEMORY_BYTES);
    assert_non_null(memory);
    one.memory = memory;
    two.memory = memory + GRAPH_MEMORY_BYTES;
    struct graph_options options = {.calm = true};
    graph_generate(&a, 7, &options);
    graph_generate(&b, 7, &options);
    assert_memory_equal(&a, &b, sizeof(a));
    graph_reference(&a, &one);
    /* Another seed of the initial memory is another input. */
    b.seed++;
    graph_reference(&b, &two);
    uint32_t different = 0;
    for (uint32_t i = 0; i < a.task_count; i++)
        different += one.digest[i] != two.digest[i];
    assert_true(different > 0);
    free(memory);
}

KIT_FIXTURE(kit)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_oracle_sees_a_wrong_digest),
        cmocka_unit_test(tiny_kernels),
        cmocka_unit_test(kernels_of_varied_length),
        cmocka_unit_test(tiny_kernels_built_on_the_host),
        cmocka_unit_test(varied_kernels_built_on_the_host),
    };
    return cmocka_run_group_tests(tests, open_kit, close_kit);
}
