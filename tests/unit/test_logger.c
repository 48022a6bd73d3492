/* SPDX-License-Identifier: Apache-2.0 */
/* The sink of all messages: what passes, and callbacks that call the library. */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "cm.h"
#include "simpler/log.h"

static int lines, others;
static char last[2000];

static void count_other(void *user, int level, const char *line)
{
    (void)user;
    (void)level;
    (void)line;
    others++;
}

static void count_line(void *user, int level, const char *line)
{
    (void)level;
    lines++;
    (void)snprintf(last, sizeof(last), "%s", line);
    if (user != NULL) {
        simpler_log_write(SIMPLER_LOG_ERROR, "from the callback itself");
        simpler_log_set_callback(count_other, NULL);
    }
}

static int reset(void **state)
{
    (void)state;
    lines = others = 0;
    simpler_log_set_level(SIMPLER_LOG_WARN);
    simpler_log_set_callback(count_line, NULL);
    return 0;
}

static void a_level_decides(void **state)
{
    (void)state;
    simpler_log_write(SIMPLER_LOG_INFO, "not shown");
    assert_int_equal(lines, 0);
    simpler_log_write(SIMPLER_LOG_WARN, "%d %s", 7, "shown");
    assert_int_equal(lines, 1);
    assert_string_equal(last, "7 shown");
    assert_true(simpler_log_enabled(SIMPLER_LOG_ERROR) && !simpler_log_enabled(SIMPLER_LOG_DEBUG));
}

static void a_long_text_is_cut(void **state)
{
    (void)state;
    simpler_log_write(SIMPLER_LOG_ERROR, "%1500d", 1);
    assert_int_equal(lines, 1);
    assert_int_equal(last[1022], ' ');
    assert_int_equal(last[1023], '\0');
}

static void no_format_is_no_message(void **state)
{
    const char *volatile none = NULL;

    (void)state;
    simpler_log_write(SIMPLER_LOG_ERROR, none, 0);
    assert_int_equal(lines, 0);
}

static void a_callback_may_call_the_library(void **state)
{
    (void)state;
    simpler_log_set_callback(count_line, &lines);
    simpler_log_write(SIMPLER_LOG_ERROR, "first");
    assert_int_equal(lines, 1); /* what it wrote itself is dropped */
    simpler_log_write(SIMPLER_LOG_ERROR, "second");
    assert_int_equal(lines, 1);
    assert_int_equal(others, 1); /* what it installed is in force */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_level_decides, reset),
        cmocka_unit_test_setup(a_long_text_is_cut, reset),
        cmocka_unit_test_setup(no_format_is_no_message, reset),
        cmocka_unit_test_setup(a_callback_may_call_the_library, reset),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
