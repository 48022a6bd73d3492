/* SPDX-License-Identifier: Apache-2.0 */
/* The line reader: any bytes, in one fixed buffer. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cm.h"
#include "report/line_reader.h"
#include "simpler/status.h"

static void lines_with_their_places(void **state)
{
    static const char text[] = "one\r\n\ntwo\n\0\0\0three\n\0\0\nlast";
    struct simpler_line_reader *r;
    struct simpler_line line;
    (void)state;
    assert_int_equal(simpler_line_reader_open_bytes(text, sizeof(text) - 1, &r), 0);
    static const struct {
        const char *text;
        uint64_t number, offset, hole;
        bool torn;
    } expected[] = {
        {"one", 1, 0, 0, false},    {"", 2, 5, 0, false},  {"two", 3, 6, 0, false},
        {"three", 4, 10, 3, false}, {"", 5, 19, 2, false}, {"last", 6, 22, 0, true},
    };
    for (size_t k = 0; k < sizeof(expected) / sizeof(expected[0]); k++) {
        assert_int_equal(simpler_line_reader_next(r, &line), 1);
        assert_int_equal(line.bytes, strlen(expected[k].text));
        assert_memory_equal(line.text, expected[k].text, line.bytes);
        assert_true(line.number == expected[k].number);
        assert_true(line.offset == expected[k].offset);
        assert_true(line.hole_bytes == expected[k].hole);
        assert_int_equal(line.torn, expected[k].torn);
        assert_false(line.too_long);
    }
    assert_int_equal(simpler_line_reader_next(r, &line), 0);
    assert_int_equal(simpler_line_reader_next(r, &line), 0);
    simpler_line_reader_close(r);
}

static void a_line_beyond_the_limit_is_cut_and_the_next_one_whole(void **state)
{
    const size_t sizes[] = {SIMPLER_LINE_MAX_BYTES - 1, SIMPLER_LINE_MAX_BYTES,
                            SIMPLER_LINE_MAX_BYTES + 1, 5 * SIMPLER_LINE_MAX_BYTES,
                            20 * SIMPLER_LINE_MAX_BYTES + 17};
    (void)state;
    for (size_t k = 0; k < sizeof(sizes) / sizeof(sizes[0]); k++) {
        struct simpler_line_reader *r;
        struct simpler_line line;
        char *text = malloc(sizes[k] + 5);
        assert_non_null(text);
        memset(text, 'x', sizes[k]);
        memcpy(text + sizes[k], "\nend\n", 5);
        assert_int_equal(simpler_line_reader_open_bytes(text, sizes[k] + 5, &r), 0);
        assert_int_equal(simpler_line_reader_next(r, &line), 1);
        assert_int_equal(line.too_long, sizes[k] > SIMPLER_LINE_MAX_BYTES);
        assert_int_equal(line.bytes, line.too_long ? SIMPLER_LINE_MAX_BYTES : sizes[k]);
        assert_int_equal(simpler_line_reader_next(r, &line), 1);
        assert_int_equal(line.bytes, 3);
        assert_memory_equal(line.text, "end", 3);
        assert_true(line.number == 2);
        assert_int_equal(simpler_line_reader_next(r, &line), 0);
        simpler_line_reader_close(r);
        free(text);
    }
}

static void keep_bytes(void *user, uint64_t bytes)
{
    uint64_t *seen = user;
    assert_true(bytes >= *seen);
    *seen = bytes;
}

static void a_hole_larger_than_the_buffer_is_counted(void **state)
{
    uint64_t seen = 0;
    size_t hole = 30 * SIMPLER_LINE_MAX_BYTES;
    char *text = calloc(hole + 3, 1);
    struct simpler_line_reader *r;
    struct simpler_line line;
    (void)state;
    assert_non_null(text);
    memcpy(text + hole, "ab\n", 3);
    assert_int_equal(simpler_line_reader_open_bytes(text, hole + 3, &r), 0);
    simpler_line_reader_watch(r, keep_bytes, &seen);
    assert_int_equal(simpler_line_reader_next(r, &line), 1);
    assert_true(line.hole_bytes == hole);
    assert_int_equal(line.bytes, 2);
    assert_true(seen == hole + 3);
    assert_int_equal(simpler_line_reader_next(r, &line), 0);
    simpler_line_reader_close(r);
    free(text);
}

static void what_cannot_be_opened(void **state)
{
    struct simpler_line_reader *r = NULL;
    (void)state;
    assert_int_equal(simpler_line_reader_open("/nonexistent/file", &r), SIMPLER_ENOENT);
    assert_int_equal(simpler_line_reader_open("/", &r), SIMPLER_EIO);
    assert_null(r);
    simpler_line_reader_close(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_with_their_places),
        cmocka_unit_test(a_line_beyond_the_limit_is_cut_and_the_next_one_whole),
        cmocka_unit_test(a_hole_larger_than_the_buffer_is_counted),
        cmocka_unit_test(what_cannot_be_opened),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
