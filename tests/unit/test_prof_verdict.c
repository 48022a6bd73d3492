/* SPDX-License-Identifier: Apache-2.0 */
/* The one function that decides after a run: its truth table, every row. */
#include <stddef.h>
#include <stdint.h>

#include "cm.h"
#include "prof/session.h"

#define MAX_LANES 4u

static void expect(const enum simpler_lane_end *ends, uint32_t count, bool proved)
{
    struct simpler_prof_verdict verdict = simpler_prof_decide(ends, count);

    assert_int_equal(verdict.may_drain, proved);
    assert_int_equal(verdict.may_read, proved);
    assert_int_equal(verdict.may_recover, proved);
    assert_int_equal(verdict.may_export, proved);
    assert_int_equal(verdict.may_free, proved);
}

/* One lane without proof forbids everything; complete and stopped are equal. */
static void the_weakest_lane_decides(void **state)
{
    (void)state;
    for (uint32_t count = 0; count <= MAX_LANES; count++) {
        uint32_t rows = 1;
        for (uint32_t i = 0; i < count; i++)
            rows *= 3;
        for (uint32_t row = 0; row < rows; row++) {
            enum simpler_lane_end ends[MAX_LANES];
            uint32_t rest = row, unproved = 0;
            for (uint32_t i = 0; i < count; i++, rest /= 3) {
                ends[i] = (enum simpler_lane_end)(rest % 3);
                unproved += rest % 3 == 2;
            }
            expect(ends, count, unproved == 0);
        }
    }
}

/* A value that is no end proves nothing. */
static void what_is_unknown_proves_nothing(void **state)
{
    const enum simpler_lane_end ends[] = {SIMPLER_LANE_COMPLETE, (enum simpler_lane_end)77};

    (void)state;
    expect(ends, 1, true);
    expect(ends, 2, false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_weakest_lane_decides),
        cmocka_unit_test(what_is_unknown_proves_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
