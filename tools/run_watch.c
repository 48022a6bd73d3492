/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The handler sets a flag and posts a semaphore, both of which a handler may
 * do; the thread does the rest.  SIGINT and SIGUSR1 are blocked in every other
 * thread, so that no kernel's system call is interrupted by them.  The handler is
 * installed for one SIGINT: the second finds the default action and kills.  SIGUSR1
 * asks the library for a report of what runs.
 *
 * Without a terminal the thread sleeps until it is posted, so that it disturbs
 * no measurement; a round does not wake it.  After SIGINT it cancels again and
 * again, since the first cancel may have come before the run had begun.
 */
#include "run_watch.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define TICK_NS         250000000L
#define CANCEL_AGAIN_NS 50000000L
#define QUIET_NS        1000000000u

static atomic_bool interrupted; /* set by the handler, read by all */
static atomic_bool stopping;    /* set by stop, read by the thread */
static sem_t doorbell;          /* posted by handler and stop */

static struct {
    struct simpler_worker *worker;
    bool show_progress;
    pthread_t thread;
    bool thread_running;
    struct sigaction before, before_report;
    sigset_t mask_before; /* of the thread that started it */
    pthread_mutex_t lock; /* guards the four below */
    const char *label;    /* NULL: nothing goes on */
    enum simpler_run_phase phase;
    uint64_t start_ns;
    bool line_shown;
} watch = {.lock = PTHREAD_MUTEX_INITIALIZER};

static uint64_t now_ns(void)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void on_interrupt(int signal_number)
{
    int saved = errno;

    (void)signal_number;
    atomic_store_explicit(&interrupted, true, memory_order_relaxed);
    (void)sem_post(&doorbell);
    errno = saved;
}

/* The report goes to the log, from a thread of the library. */
static void on_report(int signal_number)
{
    int saved = errno;

    (void)signal_number;
    simpler_worker_report(watch.worker);
    errno = saved;
}

static void set_interrupt_mask(int how, sigset_t *before)
{
    sigset_t set;

    (void)sigemptyset(&set);
    (void)sigaddset(&set, SIGINT);
    (void)sigaddset(&set, SIGUSR1);
    (void)pthread_sigmask(how, &set, before);
}

static void wait_for_doorbell(void)
{
    struct timespec until;
    bool again = simpler_run_watch_interrupted();

    if (!again && !watch.show_progress) {
        (void)sem_wait(&doorbell);
        return;
    }
    (void)clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += again ? CANCEL_AGAIN_NS : TICK_NS;
    if (until.tv_nsec >= 1000000000L) {
        until.tv_nsec -= 1000000000L;
        until.tv_sec++;
    }
    (void)sem_timedwait(&doorbell, &until);
}

/* Called with the lock held. */
static void show_line(void)
{
    uint64_t elapsed = now_ns() - watch.start_ns;

    if (!watch.show_progress || elapsed < QUIET_NS)
        return;
    if (watch.phase == SIMPLER_PHASE_RUN)
        (void)fprintf(stderr, "\r%s: tasks done: %" PRIu64 ", %.1f s\033[K", watch.label,
                      simpler_worker_progress(watch.worker), (double)elapsed / 1e9);
    else
        (void)fprintf(stderr, "\r%s: %s, %.1f s\033[K", watch.label,
                      watch.phase == SIMPLER_PHASE_PREPARE ? "preparing" : "checking",
                      (double)elapsed / 1e9);
    (void)fflush(stderr);
    watch.line_shown = true;
}

/* Called with the lock held. */
static void clear_line(void)
{
    if (watch.line_shown)
        (void)fputs("\r\033[K", stderr);
    watch.line_shown = false;
}

static void *watch_main(void *unused)
{
    bool told = false;

    (void)unused;
    set_interrupt_mask(SIG_UNBLOCK, NULL);
    while (!atomic_load_explicit(&stopping, memory_order_relaxed)) {
        wait_for_doorbell();
        pthread_mutex_lock(&watch.lock);
        bool running = watch.label != NULL;
        if (simpler_run_watch_interrupted() && !told) {
            clear_line();
            (void)fputs("simpler run: canceling; kernels that run get up to 5 s to return; "
                        "one more interrupt kills\n",
                        stderr);
            told = true;
        }
        if (running && watch.phase == SIMPLER_PHASE_RUN && simpler_run_watch_interrupted())
            simpler_worker_cancel(watch.worker);
        else if (running)
            show_line();
        pthread_mutex_unlock(&watch.lock);
    }
    return NULL;
}

static void restore_signals(void)
{
    (void)sigaction(SIGINT, &watch.before, NULL);
    (void)sigaction(SIGUSR1, &watch.before_report, NULL);
    (void)pthread_sigmask(SIG_SETMASK, &watch.mask_before, NULL);
}

int simpler_run_watch_start(struct simpler_worker *worker, bool show_progress)
{
    struct sigaction action;

    memset(&action, 0, sizeof(action));
    action.sa_handler = on_interrupt;
    action.sa_flags = (int)(SA_RESETHAND | SA_RESTART);
    atomic_store_explicit(&interrupted, false, memory_order_relaxed);
    atomic_store_explicit(&stopping, false, memory_order_relaxed);
    watch.worker = worker;
    watch.show_progress = show_progress && isatty(STDERR_FILENO);
    if (sem_init(&doorbell, 0, 0) != 0)
        return SIMPLER_ENOMEM;
    (void)sigaction(SIGINT, &action, &watch.before);
    action.sa_handler = on_report;
    action.sa_flags = SA_RESTART;
    (void)sigaction(SIGUSR1, &action, &watch.before_report);
    /* Threads that are started from here on, those of the device too, inherit it. */
    set_interrupt_mask(SIG_BLOCK, &watch.mask_before);
    watch.thread_running = pthread_create(&watch.thread, NULL, watch_main, NULL) == 0;
    if (watch.thread_running)
        return 0;
    restore_signals();
    (void)sem_destroy(&doorbell);
    return SIMPLER_ETHREAD;
}

void simpler_run_watch_stop(void)
{
    if (!watch.thread_running)
        return;
    atomic_store_explicit(&stopping, true, memory_order_relaxed);
    (void)sem_post(&doorbell);
    (void)pthread_join(watch.thread, NULL);
    restore_signals();
    (void)sem_destroy(&doorbell);
    watch.thread_running = false;
}

void simpler_run_watch_begin(const char *label, enum simpler_run_phase phase)
{
    pthread_mutex_lock(&watch.lock);
    watch.label = label;
    watch.phase = phase;
    watch.start_ns = now_ns();
    pthread_mutex_unlock(&watch.lock);
}

void simpler_run_watch_end(void)
{
    pthread_mutex_lock(&watch.lock);
    watch.label = NULL;
    clear_line();
    pthread_mutex_unlock(&watch.lock);
}

bool simpler_run_watch_interrupted(void)
{
    return atomic_load_explicit(&interrupted, memory_order_relaxed);
}
