/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_BASE_CRASH_H
#define SIMPLER_BASE_CRASH_H

/*
 * One line on what a thread was doing when the process dies of a signal.  Nothing
 * is installed unless somebody asks; then a thread that registers has an alternate
 * stack, so that a stack overflow is told as well.
 */
#include <stddef.h>
#include <stdint.h>

/* A text that a signal handler may build. */
struct simpler_crash_text {
    char bytes[1024];
    size_t count;
};
void simpler_crash_add(struct simpler_crash_text *text, const char *words); /* NULL: "(unknown)" */
void simpler_crash_add_number(struct simpler_crash_text *text, uint64_t number);
void simpler_crash_add_hex(struct simpler_crash_text *text, uint64_t number);

/* Says what the thread does; called in a signal handler on that thread. */
typedef void (*simpler_crash_describe_fn)(struct simpler_crash_text *text, void *user);

/*
 * Handlers for SIGSEGV, SIGBUS, SIGFPE, SIGILL and SIGABRT: they write the line and
 * leave the signal to whoever had it before.  Once a process; SIMPLER_ENOSYS when they
 * cannot be set.
 */
int simpler_crash_install(void);

/* The calling thread is described by @describe from now on; its alternate stack, for leave. */
void *simpler_crash_enter(simpler_crash_describe_fn describe, void *user);
void simpler_crash_leave(void *stack);

#endif
