/* SPDX-License-Identifier: Apache-2.0 */
// ctest: TIMEOUT 120
/*
 * A directory that is refused, cannot be made any more, vanishes, or is another run's.
 */
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cm.h"
#include "dump_rig.h"
#include "faults.h"
#include "simpler/log.h"

/* Of the last run, whose computation was right. */
static void saw(const char *fault)
{
    fault_saw(fault, "run=%s dump=%s manifest=%s", simpler_status_name(dump_result.status),
              simpler_status_name(dump_result.args_dump.status),
              fault_yes(dump_result.args_dump.has_manifest));
}

static void make_file(const char *path)
{
    int fd = open(path, O_CREAT | O_WRONLY, 0666);

    KIT_EXPECT(fd >= 0 && close(fd) == 0);
}

/* Before anything of the run has begun, also with a file in the place of the dump itself. */
static void a_directory_that_is_refused(void **state)
{
    char file[128], below[160];
    struct kit kit;
    struct dump_chain chain = {.tasks = 300};

    (void)state;
    (void)snprintf(file, sizeof(file), "%s/args_dump", dump_prefix);
    make_file(file);
    (void)snprintf(below, sizeof(below), "%s/run", file);
    dump_open_small(&kit);
    const char *const prefixes[] = {file, below, dump_prefix};
    for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
        int rc = dump_run(&kit, dump_chain_graph, &chain, prefixes[i], 2);
        assert_int_equal(rc, SIMPLER_EINVAL);
        assert_int_equal(chain.cells[0], 0);
    }
    fault_saw_times("directory-refused", 3, "status=%s ran=%d", simpler_status_name(SIMPLER_EINVAL),
                    chain.cells[0]);
    /* Without the dump the prefix does not matter. */
    assert_int_equal(dump_run(&kit, dump_chain_graph, &chain, file, 0), 0);
    assert_int_equal(chain.cells[0], 300);
    assert_int_equal(unlink(file), 0);
    kit_close(&kit);
}

struct late {
    struct dump_chain chain;
    char file[128];
};

/* The run has been admitted; its first record makes the directory. */
static void put_file_first(struct simpler_orch *orch, void *user)
{
    struct late *late = user;

    make_file(late->file);
    dump_chain_graph(orch, &late->chain);
}

static void a_directory_that_cannot_be_made(void **state)
{
    char below[160];
    struct kit kit;
    struct late late = {.chain.tasks = 300};

    (void)state;
    (void)snprintf(late.file, sizeof(late.file), "%s/file", dump_prefix);
    (void)snprintf(below, sizeof(below), "%s/run", late.file);
    dump_open_small(&kit);
    assert_int_equal(dump_run(&kit, put_file_first, &late, below, 2), 0);
    assert_int_equal(late.chain.cells[0], 300);
    assert_int_equal(dump_result.args_dump.status, SIMPLER_EIO);
    assert_int_equal(dump_result.args_dump.write_failed, 1200);
    assert_false(dump_result.args_dump.has_manifest);
    saw("directory-not-made");
    kit_close(&kit);
}

/* Waits for args.bin, then removes it and its directory. */
static int remove_directory(const int64_t *args, uint32_t tensors, void *user)
{
    char path[256];

    for (int i = 0; i < 5000 && !dump_exists("args.bin"); i++)
        kit_sleep_ns(1000000);
    dump_path(path, sizeof(path), "args.bin");
    KIT_EXPECT_EQUAL(unlink(path), 0);
    dump_path(path, sizeof(path), "");
    KIT_EXPECT_EQUAL(rmdir(path), 0);
    return dump_increment(args, tensors, user);
}

static void a_directory_that_vanishes(void **state)
{
    struct kit kit;
    struct dump_chain chain = {.tasks = 200, .last = remove_directory};

    (void)state;
    dump_open_small(&kit);
    assert_int_equal(dump_run(&kit, dump_chain_graph, &chain, dump_prefix, 2), 0);
    assert_int_equal(chain.cells[0], 200);
    assert_int_equal(dump_result.args_dump.status, SIMPLER_EIO);
    assert_int_equal(dump_result.args_dump.write_failed, 800);
    assert_false(dump_exists("args_dump.json"));
    saw("directory-vanishes");
    kit_close(&kit);
}

/* Another run writes under the dump_prefix: nothing of it is touched, this run says so. */
static void a_directory_of_another_run(void **state)
{
    char path[256];
    struct kit kit;
    struct dump_chain chain = {.tasks = 20};

    (void)state;
    dump_path(path, sizeof(path), "");
    assert_int_equal(mkdir(path, 0777), 0);
    int directory = open(path, O_RDONLY | O_DIRECTORY);
    assert_true(directory >= 0 && flock(directory, LOCK_EX | LOCK_NB) == 0);
    dump_path(path, sizeof(path), "args_dump.json");
    int theirs = open(path, O_CREAT | O_WRONLY, 0666);
    assert_true(theirs >= 0 && close(theirs) == 0);
    dump_open_small(&kit);
    assert_int_equal(dump_run(&kit, dump_chain_graph, &chain, dump_prefix, 2), 0);
    assert_int_equal(chain.cells[0], 20);
    assert_int_equal(dump_result.args_dump.status, SIMPLER_EIO);
    assert_true(dump_exists("args_dump.json"));
    assert_false(dump_exists("args.bin"));
    saw("directory-of-another");
    assert_int_equal(close(directory), 0);
    chain.cells[0] = 0;
    assert_int_equal(dump_run(&kit, dump_chain_graph, &chain, dump_prefix, 2), 0);
    assert_int_equal(dump_result.args_dump.status, 0);
    assert_true(dump_exists("args.bin"));
    kit_close(&kit);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        DUMP_TEST(a_directory_that_is_refused),
        DUMP_TEST(a_directory_that_cannot_be_made),
        DUMP_TEST(a_directory_that_vanishes),
        DUMP_TEST(a_directory_of_another_run),
    };
    simpler_log_set_level(SIMPLER_LOG_WARN);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
