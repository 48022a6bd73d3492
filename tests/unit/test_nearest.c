/* SPDX-License-Identifier: Apache-2.0 */
/* Distances, guesses and answers about words that are not known. */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/nearest.h"
#include "cm.h"

static void distances(void **state)
{
    static const struct {
        const char *a, *b;
        size_t distance;
    } rows[] = {
        {"", "", 0},         {"", "abc", 3},           {"run", "run", 0}, {"run", "rn", 1},
        {"run", "runs", 1},  {"run", "ran", 1},        {"run", "rnu", 1}, /* neighbours swapped */
        {"run", "nur", 2},   {"kitten", "sitting", 3}, {"CPU", "cpu", 0}, {"ab", "ba", 1},
        {"abcd", "badc", 2},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        assert_int_equal(simpler_nearest_distance(rows[i].a, rows[i].b), rows[i].distance);
        assert_int_equal(simpler_nearest_distance(rows[i].b, rows[i].a), rows[i].distance);
    }
}

static void long_words_count_as_their_beginning(void **state)
{
    char a[201], b[301];

    (void)state;
    memset(a, 'x', sizeof(a) - 1);
    memset(b, 'x', sizeof(b) - 1);
    a[200] = b[300] = '\0';
    assert_int_equal(simpler_nearest_distance(a, b), 0);
    b[63] = 'y';
    b[64] = 'y';
    assert_int_equal(simpler_nearest_distance(a, b), 1);
}

static void guesses(void **state)
{
    static const char *const options[] = {
        "--rounds", "--enable-scope-stats", "--ring-heap", "--ring-task-window", "--out", "--json"};
    static const char *const names[] = {"cpu", "a2a3sim", "a5sim"};
    static const struct {
        const char *wanted, *guess;
    } rows[] = {
        {"--ronds", "--rounds"},
        {"--Rounds", "--rounds"},
        {"--round", "--rounds"},
        {"--jsn", "--json"},
        {"--scope-stats", "--enable-scope-stats"}, /* a part of one */
        {"--window", "--ring-task-window"},
        {"--ring", NULL}, /* the beginning of two */
        {"--ring-h", "--ring-heap"},
        {"--output", "--out"}, /* more than one */
        {"--outputs", "--out"},
        {"--rounds-of-it", "--rounds"},
        {"--o", NULL}, /* too little */
        {"-q", NULL},
        {"--zzz", NULL},
        {"", NULL},
        {"--", NULL},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const char *guess = simpler_nearest_guess(rows[i].wanted, options, 6);
        if (rows[i].guess == NULL)
            assert_null(guess);
        else
            assert_string_equal(guess, rows[i].guess);
    }
    assert_string_equal(simpler_nearest_guess("CPU", names, 3), "cpu");
    assert_null(simpler_nearest_guess("sim", names, 3));
    assert_null(simpler_nearest_guess("cpu", names, 0));
}

static void answers(void **state)
{
    static const char *const names[] = {"cpu", "a2a3sim", "a5sim"};
    char text[128];

    (void)state;
    assert_string_equal(simpler_nearest_answer("cup", names, 3, text, sizeof(text)),
                        "; did you mean cpu? There are: cpu, a5sim, a2a3sim");
    /* 4, 5 and 6 steps away. */
    assert_string_equal(simpler_nearest_answer("moon", names, 3, text, sizeof(text)),
                        "; there are: cpu, a5sim, a2a3sim");
    assert_string_equal(simpler_nearest_answer("moon", names, 1, text, sizeof(text)),
                        "; there are: cpu");
}

/* Whatever the room: ended, within it, and names are whole. */
static void answers_that_are_cut(void **state)
{
    static const char *const names[] = {"cpu", "a2a3sim", "a5sim"};
    char text[64], guard;

    (void)state;
    for (size_t bytes = 1; bytes < sizeof(text); bytes++) {
        memset(text, '#', sizeof(text));
        guard = text[bytes];
        (void)simpler_nearest_answer("moon", names, 3, text, bytes);
        assert_int_equal(text[bytes], guard);
        assert_true(strlen(text) < bytes);
    }
    (void)simpler_nearest_answer("moon", names, 3, text, 32);
    assert_string_equal(text, "; there are: cpu, a5sim, ...");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(distances),
        cmocka_unit_test(long_words_count_as_their_beginning),
        cmocka_unit_test(guesses),
        cmocka_unit_test(answers),
        cmocka_unit_test(answers_that_are_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
