/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TEST_SUPPORT_CRASH_WORDS_H
#define TEST_SUPPORT_CRASH_WORDS_H

/*
 * cmocka's handler of a crash jumps back into the test, which only the test's own thread can do:
 * from any other one the program ends without a word.  Here such a thread is named with its signal
 * and where it was, and the process dies of that signal.
 */
#include <stddef.h>

struct CMUnitTest;

/* _cmocka_run_group_tests, with that handler while a test runs. */
int crash_words_run_group(const char *name, const struct CMUnitTest *tests, size_t count,
                          int (*setup)(void **), int (*teardown)(void **));

#endif
