/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A test program whose second thread crashes dies of that signal and says in which thread and
 * where; cmocka alone ends without a word.  A crash of the test's own thread is cmocka's to tell.
 */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cm.h"
#include "kit.h"

static void *crash(void *unused)
{
    (void)unused;
    (void)prctl(PR_SET_NAME, "who_crashes");
    (void)raise(SIGSEGV);
    return NULL;
}

static void passes(void **state)
{
    (void)state;
}

static void another_thread_crashes(void **state)
{
    pthread_t thread;

    (void)state;
    assert_int_equal(pthread_create(&thread, NULL, crash, NULL), 0);
    pthread_join(thread, NULL);
}

static void its_own_thread_crashes(void **state)
{
    (void)state;
    (void)raise(SIGSEGV);
}

static int kept;

static int set_state(void **state)
{
    *state = &kept;
    return 0;
}

static void has_its_state(void **state)
{
    assert_ptr_equal(*state, &kept);
}

/* A group of tests in a child; what it prints is in @text.  Its status as of waitpid. */
static int run_group(void (*last)(void **), char *text, size_t bytes)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(passes),
        cmocka_unit_test_setup(has_its_state, set_state),
        {"the last one", last, NULL, NULL, NULL},
    };
    int ends[2], status;
    size_t used = 0;
    ssize_t n;

    assert_int_equal(pipe(ends), 0);
    (void)fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        (void)dup2(ends[1], STDOUT_FILENO);
        (void)dup2(ends[1], STDERR_FILENO);
        (void)close(ends[0]);
        (void)close(ends[1]);
        int rc = cmocka_run_group_tests(tests, NULL, NULL);
        (void)fflush(NULL);
        _exit(rc);
    }
    assert_true(child > 0);
    (void)close(ends[1]);
    while (used < bytes - 1 && (n = read(ends[0], text + used, bytes - 1 - used)) > 0)
        used += (size_t)n;
    text[used] = '\0';
    (void)close(ends[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

static void a_crash_elsewhere_is_told(void **state)
{
    char text[8192];

    (void)state;
    int status = run_group(another_thread_crashes, text, sizeof(text));
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
    assert_non_null(strstr(text, "[  CRASH   ] the last one: signal 11 in thread"));
    assert_non_null(strstr(text, "(who_crashes)"));
    assert_non_null(strstr(text, "test_crash_words"));
}

static void a_crash_here_is_a_failed_test(void **state)
{
    char text[8192];

    (void)state;
    int status = run_group(its_own_thread_crashes, text, sizeof(text));
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 1);
    assert_non_null(strstr(text, "Segmentation fault"));
    assert_null(strstr(text, "CRASH"));
    status = run_group(passes, text, sizeof(text));
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_crash_elsewhere_is_told),
        cmocka_unit_test(a_crash_here_is_a_failed_test),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
