/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Blocks that are reserved ahead of a file's end: they are there, the size is
 * never touched, and what is left over goes back.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/testpoint.h"
#include "cm.h"
#include "collect/args_dump/args_dump_reserve.h"

#define MIB ((uint64_t)1 << 20)

static uint8_t bytes[MIB];

static int new_file(void)
{
    char path[] = "/tmp/test_reserve_XXXXXX";
    int fd = mkstemp(path);

    assert_true(fd >= 0);
    assert_int_equal(unlink(path), 0);
    return fd;
}

static uint64_t size_of(int fd)
{
    struct stat st;
    assert_int_equal(fstat(fd, &st), 0);
    return (uint64_t)st.st_size;
}

static uint64_t blocks_of(int fd)
{
    struct stat st;
    assert_int_equal(fstat(fd, &st), 0);
    return (uint64_t)st.st_blocks * 512;
}

static bool can_reserve(void)
{
    int fd = new_file();
    bool can = fallocate(fd, FALLOC_FL_KEEP_SIZE, 0, (off_t)MIB) == 0;
    (void)close(fd);
    return can;
}

/* MiB after MiB up to @end. */
static void grow(struct args_dump_reserve *reserve, int fd, uint64_t from, uint64_t end)
{
    for (uint64_t at = from; at < end; at += MIB) {
        simpler_args_dump_reserve_ahead(reserve, fd, at, MIB);
        assert_int_equal(size_of(fd), at);
        assert_int_equal(pwrite(fd, bytes, MIB, (off_t)at), MIB);
    }
}

static void a_long_file_has_blocks_ahead_and_gives_them_back(void **state)
{
    struct args_dump_reserve reserve = {0, false};
    int fd = new_file();

    (void)state;
    if (!can_reserve())
        skip();
    grow(&reserve, fd, 0, 5 * MIB);
    assert_int_equal(reserve.end, 8 * MIB); /* as much again as there was */
    assert_true(blocks_of(fd) >= 8 * MIB);
    grow(&reserve, fd, 5 * MIB, 9 * MIB);
    assert_int_equal(reserve.end, 16 * MIB);
    simpler_args_dump_reserve_trim(&reserve, fd, 9 * MIB);
    assert_int_equal(size_of(fd), 9 * MIB);
    assert_int_equal(fsync(fd), 0);
    assert_true(blocks_of(fd) < 10 * MIB);
    assert_int_equal(reserve.end, 0);
    (void)close(fd);
}

static void a_short_file_has_none(void **state)
{
    struct args_dump_reserve reserve = {0, false};
    int fd = new_file();

    (void)state;
    grow(&reserve, fd, 0, 4 * MIB);
    assert_int_equal(reserve.end, 0);
    simpler_args_dump_reserve_trim(&reserve, fd, MIB);
    assert_int_equal(size_of(fd), 4 * MIB); /* it had nothing to give back */
    (void)close(fd);
}

/* What the file has beyond any limit asks for no more than the limit at once. */
static void there_is_a_limit(void **state)
{
    struct args_dump_reserve reserve = {0, false};
    int fd = new_file();

    (void)state;
    if (!can_reserve())
        skip();
    simpler_args_dump_reserve_ahead(&reserve, fd, 4096 * MIB, MIB);
    if (reserve.refused)
        skip(); /* the disk is nearly full */
    assert_int_equal(reserve.end, (4096 + 64) * MIB);
    assert_int_equal(size_of(fd), 0);
    (void)close(fd);
}

static void a_disk_that_cannot_is_asked_once(void **state)
{
    struct args_dump_reserve reserve = {0, false};
    int null = open("/dev/null", O_WRONLY);

    (void)state;
    assert_true(null >= 0);
    simpler_args_dump_reserve_ahead(&reserve, null, 8 * MIB, MIB);
    assert_true(reserve.refused);
    assert_int_equal(reserve.end, 0);
    (void)close(null);
    int fd = new_file();
    simpler_args_dump_reserve_ahead(&reserve, fd, 16 * MIB, MIB);
    assert_int_equal(reserve.end, 0);
    (void)close(fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_long_file_has_blocks_ahead_and_gives_them_back),
        cmocka_unit_test(a_short_file_has_none),
        cmocka_unit_test(there_is_a_limit),
        cmocka_unit_test(a_disk_that_cannot_is_asked_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
