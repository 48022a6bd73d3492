/* SPDX-License-Identifier: Apache-2.0 */
/* The handler calls write, sigaction and raise alone. */
#include "base/crash.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/compiler.h"
#include "simpler/status.h"

#define STACK_BYTES 65536u

static const struct {
    int number;
    const char *name;
} signals[] = {{SIGSEGV, "SIGSEGV"},
               {SIGBUS, "SIGBUS"},
               {SIGFPE, "SIGFPE"},
               {SIGILL, "SIGILL"},
               {SIGABRT, "SIGABRT"}};
#define SIGNALS (sizeof(signals) / sizeof(signals[0]))

static struct sigaction before[SIGNALS];
static _Atomic bool installed; /* release: before[] is filled */

static SIMPLER_THREAD_WORD simpler_crash_describe_fn thread_describe;
static SIMPLER_THREAD_WORD void *thread_user;

void simpler_crash_add(struct simpler_crash_text *text, const char *words)
{
    for (const char *p = words != NULL ? words : "(unknown)"; *p != '\0'; p++) {
        if (text->count < sizeof(text->bytes) - 1)
            text->bytes[text->count++] = (unsigned char)*p < ' ' ? ' ' : *p;
    }
}

static void add_digits(struct simpler_crash_text *text, uint64_t number, uint32_t base,
                       uint32_t least)
{
    char digits[24];
    uint32_t n = 0;

    do {
        digits[n++] = "0123456789abcdef"[number % base];
        number /= base;
    } while (number != 0 || n < least);
    while (n > 0 && text->count < sizeof(text->bytes) - 1)
        text->bytes[text->count++] = digits[--n];
}

void simpler_crash_add_number(struct simpler_crash_text *text, uint64_t number)
{
    add_digits(text, number, 10, 1);
}

void simpler_crash_add_hex(struct simpler_crash_text *text, uint64_t number)
{
    simpler_crash_add(text, "0x");
    add_digits(text, number, 16, 16);
}

static void write_line(struct simpler_crash_text *text)
{
    const char *from = text->bytes;

    text->bytes[text->count++] = '\n';
    while (text->count > 0) {
        ssize_t n = write(STDERR_FILENO, from, text->count);
        if (n <= 0)
            return;
        from += n;
        text->count -= (size_t)n;
    }
}

static void on_crash(int number, siginfo_t *info, void *context)
{
    struct simpler_crash_text text = {.count = 0};
    int saved = errno;
    size_t s = 0;

    (void)context;
    while (s + 1 < SIGNALS && signals[s].number != number)
        s++;
    simpler_crash_add(&text, "simpler: crash: ");
    simpler_crash_add(&text, signals[s].name);
    if (thread_describe != NULL)
        thread_describe(&text, thread_user);
    else
        simpler_crash_add(&text, " in a thread of which no kernel is known");
    write_line(&text);
    (void)sigaction(number, &before[s], NULL);
    /* A fault comes again by itself, with its address; what was sent is sent again. */
    if (info->si_code <= 0)
        (void)raise(number);
    errno = saved;
}

static void install(void)
{
    struct sigaction action;

    memset(&action, 0, sizeof(action));
    action.sa_sigaction = on_crash;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    for (size_t s = 0; s < SIGNALS; s++) {
        if (sigaction(signals[s].number, &action, &before[s]) != 0)
            return;
    }
    atomic_store_explicit(&installed, true, memory_order_release);
}

int simpler_crash_install(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    (void)pthread_once(&once, install);
    return atomic_load_explicit(&installed, memory_order_acquire) ? 0 : SIMPLER_ENOSYS;
}

void *simpler_crash_enter(simpler_crash_describe_fn describe, void *user)
{
    thread_user = user;
    thread_describe = describe;
    if (!atomic_load_explicit(&installed, memory_order_acquire))
        return NULL;
    stack_t stack = {.ss_sp = simpler_alloc_zeroed(1, STACK_BYTES), .ss_size = STACK_BYTES};
    if (stack.ss_sp != NULL)
        (void)sigaltstack(&stack, NULL);
    return stack.ss_sp;
}

void simpler_crash_leave(void *stack)
{
    const stack_t none = {.ss_flags = SS_DISABLE};

    thread_describe = NULL;
    if (stack == NULL)
        return;
    (void)sigaltstack(&none, NULL);
    simpler_alloc_free(stack);
}
