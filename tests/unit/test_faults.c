/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a test says of an injected fault: one line, whole, whichever process and thread
 * writes it; a name that tests/faults.txt does not have ends the program.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cm.h"
#include "faults.h"

#define CHILDREN 4
#define LINES    200

/* Not tests/faults.txt's. */
static const char unknown[] = "lost-egde";
static char path[] = "/tmp/test_faults.XXXXXX";

/* Exit status of a child that says so, its standard error closed; or minus its signal. */
static int child_saw(const char *id, int times)
{
    int status;
    pid_t child = fork();

    assert_true(child >= 0);
    if (child == 0) {
        (void)signal(SIGABRT, SIG_DFL);
        (void)fclose(stderr);
        for (int i = 0; i < times; i++)
            fault_saw(id, "child=%d line=%d", (int)getpid(), i);
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

static int count_lines(const char *expected)
{
    char line[1024];
    int count = 0;
    FILE *file = fopen(path, "r");

    assert_non_null(file);
    while (fgets(line, sizeof(line), file) != NULL) {
        if (strncmp(line, expected, strlen(expected)) != 0 || line[strlen(line) - 1] != '\n')
            fail_msg("'%s' does not begin with '%s'", line, expected);
        count++;
    }
    (void)fclose(file);
    return count;
}

static int empty_file(void **state)
{
    (void)state;
    (void)setenv("SIMPLER_TEST_FAULTS", path, 1);
    (void)setenv("TEST_SOURCE", "tests/unit/x.c", 1);
    (void)unsetenv("SIMPLER_TEST_RUNTIME");
    return truncate(path, 0);
}

static void a_line_says_it_all(void **state)
{
    (void)state;
    fault_saw("lost-edge", "status=%s", "SIMPLER_OK");
    assert_int_equal(count_lines("lost-edge\ttensormap_and_ringbuffer\t1\ttests/unit/x.c\tstatus="
                                 "SIMPLER_OK\n"),
                     1);
    (void)empty_file(state);
    fault_saw_times("lost-edge@host_build_graph", 70, "a=b");
    fault_saw_times("lost-edge", 0, "a=b");
    assert_int_equal(count_lines("lost-edge\thost_build_graph\t70\ttests/unit/x.c\ta=b\n"), 1);
    (void)empty_file(state);
    (void)setenv("SIMPLER_TEST_RUNTIME", "host_build_graph", 1);
    fault_saw("lost-edge", "a=b");
    assert_int_equal(count_lines("lost-edge\thost_build_graph\t1\ttests/unit/x.c\ta=b\n"), 1);
}

static void lines_of_several_processes_are_whole(void **state)
{
    pid_t children[CHILDREN];

    (void)state;
    for (int i = 0; i < CHILDREN; i++) {
        children[i] = fork();
        if (children[i] == 0) {
            for (int k = 0; k < LINES; k++)
                fault_saw("lost-edge", "child=%d line=%d", i, k);
            _exit(0);
        }
    }
    for (int i = 0; i < CHILDREN; i++)
        assert_int_equal(waitpid(children[i], NULL, 0), children[i]);
    assert_int_equal(count_lines("lost-edge\ttensormap_and_ringbuffer\t1\ttests/unit/x.c\tchild="),
                     CHILDREN * LINES);
}

static void what_is_no_fault_ends_the_program(void **state)
{
    (void)state;
    assert_int_equal(child_saw(unknown, 1), -SIGABRT);
    assert_int_equal(child_saw("lost-edg", 1), -SIGABRT);
    assert_int_equal(child_saw("edge", 1), -SIGABRT);
    assert_int_equal(count_lines("nothing"), 0);
    assert_int_equal(child_saw("lost-edge", 3), 0);
    assert_int_equal(count_lines("lost-edge"), 3);
}

static void nothing_is_written_unless_asked(void **state)
{
    (void)state;
    (void)unsetenv("SIMPLER_TEST_FAULTS");
    fault_saw("lost-edge", "a=b");
    fault_saw(unknown, "a=b");
    assert_int_equal(count_lines("nothing"), 0);
}

int main(void)
{
#define TEST(fn) cmocka_unit_test_setup(fn, empty_file)
    const struct CMUnitTest tests[] = {
        TEST(a_line_says_it_all),
        TEST(lines_of_several_processes_are_whole),
        TEST(what_is_no_fault_ends_the_program),
        TEST(nothing_is_written_unless_asked),
    };
    int fd = mkstemp(path);

    if (fd < 0)
        return 1;
    (void)close(fd);
    int rc = cmocka_run_group_tests(tests, NULL, NULL);
    (void)unlink(path);
    return rc;
}
