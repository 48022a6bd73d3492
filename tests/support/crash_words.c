/* SPDX-License-Identifier: Apache-2.0 */
#include "crash_words.h"

#include <execinfo.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "cm.h"

#define FRAMES 32

/* What cmocka catches. */
static const int caught[] = {SIGFPE, SIGILL, SIGSEGV, SIGBUS, SIGSYS};
#define CAUGHT (sizeof(caught) / sizeof(caught[0]))

static struct sigaction cmockas[CAUGHT];
static const struct CMUnitTest *group; /* as it was given */
static size_t current;                 /* of the test that runs */

static void say(int signal_number)
{
    char thread[16] = "", text[128];
    void *frames[FRAMES];

    (void)prctl(PR_GET_NAME, thread);
    int n = snprintf(text, sizeof(text), "[  CRASH   ] %s: signal %d in thread %d (%s)\n",
                     group[current].name, signal_number, (int)gettid(), thread);
    (void)!write(STDERR_FILENO, text, (size_t)n);
    n = backtrace(frames, FRAMES);
    backtrace_symbols_fd(frames, n, STDERR_FILENO);
}

static void on_crash(int signal_number)
{
    size_t i = 0;

    while (i + 1 < CAUGHT && caught[i] != signal_number)
        i++;
    if (gettid() == getpid() && cmockas[i].sa_handler != SIG_DFL &&
        cmockas[i].sa_handler != SIG_IGN) {
        cmockas[i].sa_handler(signal_number);
        return;
    }
    say(signal_number);
    /* Blocked until the handler returns, then the process dies of it. */
    (void)signal(signal_number, SIG_DFL);
    (void)raise(signal_number);
}

static int before_test(void **state)
{
    current = current == SIZE_MAX ? 0 : current + 1;
    return group[current].setup_func != NULL ? group[current].setup_func(state) : 0;
}

/* cmocka has just set its handlers, and restores what was before them. */
static void call_test(void **state)
{
    struct sigaction action;

    memset(&action, 0, sizeof(action));
    action.sa_handler = on_crash;
    for (size_t i = 0; i < CAUGHT; i++)
        (void)sigaction(caught[i], &action, &cmockas[i]);
    group[current].test_func(state);
}

int crash_words_run_group(const char *name, const struct CMUnitTest *tests, size_t count,
                          int (*setup)(void **), int (*teardown)(void **))
{
    struct CMUnitTest *wrapped = calloc(count, sizeof(*wrapped));
    void *frame;

    if (wrapped == NULL)
        return -1;
    (void)backtrace(&frame, 1); /* loads what it needs: a handler may not */
    group = tests;
    current = SIZE_MAX;
    for (size_t i = 0; i < count; i++) {
        wrapped[i] = tests[i];
        wrapped[i].setup_func = before_test;
        wrapped[i].test_func = call_test;
    }
    int rc = _cmocka_run_group_tests(name, wrapped, count, setup, teardown);
    free(wrapped);
    return rc;
}
