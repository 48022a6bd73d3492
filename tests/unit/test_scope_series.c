/* SPDX-License-Identifier: Apache-2.0 */
/* Curves in columns: on 1,000 random series every column tells the extremes of its scopes. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "cm.h"
#include "report/scope_series.h"

static uint64_t random_state = 88172645463325252u;

static uint64_t next_random(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}

/* The full data are the reference: column i holds exactly the scopes [bounds[i], bounds[i + 1]). */
static void check_columns(const struct simpler_series *s, const uint64_t *values, uint64_t count,
                          const uint64_t *bounds)
{
    for (uint32_t i = 0; i < s->count; i++) {
        const struct simpler_series_point *min = &s->columns[i].min, *max = &s->columns[i].max;
        uint64_t end = bounds[i + 1] < count ? bounds[i + 1] : count;
        uint64_t least = bounds[i], greatest = bounds[i];
        assert_true(bounds[i] < end);
        for (uint64_t k = bounds[i]; k < end; k++) {
            least = values[k] < values[least] ? k : least;
            greatest = values[k] > values[greatest] ? k : greatest;
        }
        assert_true(min->index == least && min->value == values[least] && min->site == least % 7);
        assert_true(max->index == greatest && max->value == values[greatest]);
        assert_true(max->site == greatest % 7);
    }
    assert_true(bounds[s->count] >= count);
}

/* SS-35: any number of scopes in flat memory; SS-33: the hover's scope made the extreme. */
static void extremes_survive_on_random_series(void **state)
{
    enum { MOST = 9000 };
    uint64_t *values = malloc(MOST * sizeof(*values));
    (void)state;
    assert_non_null(values);
    for (int round = 0; round < 1000; round++) {
        struct simpler_series s = {0};
        uint64_t count = 1 + next_random() % (round % 4 == 0 ? MOST : 1500);
        uint64_t range = round % 3 == 0 ? 4 : round % 3 == 1 ? 1000000 : UINT64_MAX;
        for (uint64_t i = 0; i < count; i++) {
            values[i] = next_random() % range;
            struct simpler_series_point point = {values[i], i, (uint32_t)(i % 7), 0};
            assert_int_equal(simpler_series_add(&s, point), 0);
        }
        assert_true(s.count <= SIMPLER_SERIES_MAX_COLUMNS);
        uint64_t bounds[SIMPLER_SERIES_MAX_COLUMNS + 1];
        for (uint32_t i = 0; i <= s.count; i++)
            bounds[i] = i * s.stride;
        check_columns(&s, values, count, bounds);
        uint32_t before = s.count;
        uint32_t columns = 1 + (uint32_t)(next_random() % 900);
        simpler_series_shrink(&s, columns);
        assert_true(s.count == (before < columns ? before : columns));
        for (uint32_t i = 0; i <= s.count; i++)
            bounds[i] = bounds[(uint64_t)i * before / s.count];
        check_columns(&s, values, count, bounds);
        simpler_series_fini(&s);
    }
    free(values);
}

static void few_scopes_keep_every_value(void **state)
{
    struct simpler_series s = {0};
    (void)state;
    for (uint64_t i = 0; i < SIMPLER_SERIES_MAX_COLUMNS; i++) {
        struct simpler_series_point point = {i * 3, i, 0, 0};
        assert_int_equal(simpler_series_add(&s, point), 0);
    }
    assert_int_equal(s.count, SIMPLER_SERIES_MAX_COLUMNS);
    for (uint64_t i = 0; i < s.count; i++)
        assert_true(s.columns[i].min.value == i * 3 && s.columns[i].max.index == i);
    simpler_series_fini(&s);
}

static void the_first_of_equal_values_owns_the_extreme(void **state)
{
    struct simpler_series s = {0};
    (void)state;
    for (uint64_t i = 0; i < 5000; i++) {
        struct simpler_series_point point = {9, i, 0, 0};
        assert_int_equal(simpler_series_add(&s, point), 0);
    }
    simpler_series_shrink(&s, 1);
    assert_int_equal(s.count, 1);
    assert_true(s.columns[0].max.index == 0 && s.columns[0].min.index == 0);
    simpler_series_fini(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(extremes_survive_on_random_series),
        cmocka_unit_test(few_scopes_keep_every_value),
        cmocka_unit_test(the_first_of_equal_values_owns_the_extreme),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
