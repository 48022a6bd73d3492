/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random programs for SIMPLER_TEST_SECONDS (20), with new seeds each time; a
 * failure prints its seed.  Every hundredth program gets a new worker.
 * ctest: TIMEOUT 1200
 */
#include <stdlib.h>

#include "cm.h"
#include "graph_gen.h"

static void seeds_until_the_time_is_over(void **state)
{
    (void)state;
    struct kit kit;
    uint64_t end = kit_now_ns() + (uint64_t)(kit_seconds(20) * 1e9);
    const char *text = getenv("SIMPLER_GRAPH_SEED");
    uint64_t seed = text != NULL ? strtoull(text, NULL, 0) : kit_now_ns();
    uint32_t failures = 0;
    uint64_t count = 0;
    kit_open(&kit);
    for (; kit_now_ns() < end && failures < 3; count++, seed++) {
        struct graph_options options = {.calm = count % 4 != 0};
        if (count % 100 == 99) {
            kit_close(&kit);
            kit_open(&kit);
        }
        failures += !graph_try_seed(seed, &kit, &options);
    }
    kit_close(&kit);
    printf("%llu programs\n", (unsigned long long)count);
    assert_int_equal(failures, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(seeds_until_the_time_is_over)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
