/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TEST_SUPPORT_CM_H
#define TEST_SUPPORT_CM_H

/* cmocka with what it wants before it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "crash_words.h"

#undef cmocka_run_group_tests
#define cmocka_run_group_tests(tests, setup, teardown) \
    crash_words_run_group(#tests, tests, sizeof(tests) / sizeof((tests)[0]), (setup), (teardown))

/* Skips the rest of the test; the reason is printed. */
#define SKIP_TEST(reason)                         \
    do {                                          \
        print_message("[ REASON ] %s\n", reason); \
        skip();                                   \
    } while (0)

#endif
