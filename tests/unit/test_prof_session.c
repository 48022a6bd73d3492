/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A session's life with a collector of four kinds: open, runs, close; what is
 * published comes, what is held is recovered, epochs, clamps and sums are checked.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "prof_rig.h"
#include "simpler/log.h"
#include "simpler/status.h"

static const enum simpler_lane_end complete[8];

static void runs_follow_each_other(void **state)
{
    struct rig rig;
    struct simpler_prof_accounting accounting;

    (void)state;
    rig_defaults(&rig, 3, 2, 1);
    assert_int_equal(rig_open(&rig), 0);
    for (uint32_t epoch = 1; epoch <= 20; epoch++) {
        rig.records = epoch * 37;
        rig_run(&rig, epoch, &accounting);
        assert_int_equal(accounting.total, epoch * 37 * 3);
        assert_int_equal(accounting.received, accounting.total);
    }
    rig_close(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(runs_follow_each_other),
    };
    (void)complete;
    simpler_log_set_level(SIMPLER_LOG_NONE);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
