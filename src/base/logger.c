/* SPDX-License-Identifier: Apache-2.0 */
/* One sink for all messages: a callback or standard error, one line at a time. */
#include "base/logger.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>

static _Atomic int log_level = SIMPLER_LOG_WARN;
/* Guards sink and sink_user, and keeps lines whole. */
static pthread_mutex_t sink_lock = PTHREAD_MUTEX_INITIALIZER;
static simpler_log_fn sink;
static void *sink_user;
/* This thread is inside the callback and holds the lock. */
static _Thread_local bool in_sink;

static const char *level_name(int level)
{
    if (level >= SIMPLER_LOG_ERROR)
        return "error";
    if (level >= SIMPLER_LOG_WARN)
        return "warning";
    return level >= SIMPLER_LOG_INFO ? "info" : "debug";
}

void simpler_log_set_callback(simpler_log_fn fn, void *user)
{
    if (!in_sink)
        pthread_mutex_lock(&sink_lock);
    sink = fn;
    sink_user = user;
    if (!in_sink)
        pthread_mutex_unlock(&sink_lock);
}

void simpler_log_set_level(int level)
{
    atomic_store_explicit(&log_level, level, memory_order_relaxed);
}

int simpler_log_enabled(int level)
{
    return level >= atomic_load_explicit(&log_level, memory_order_relaxed);
}

void simpler_log_write(int level, const char *format, ...)
{
    char line[1024];
    va_list args;

    if (format == NULL || in_sink || !simpler_log_enabled(level))
        return;
    va_start(args, format);
    (void)vsnprintf(line, sizeof(line), format, args);
    va_end(args);
    pthread_mutex_lock(&sink_lock);
    if (sink != NULL) {
        in_sink = true;
        sink(sink_user, level, line);
        in_sink = false;
    } else {
        (void)fprintf(stderr, "simpler: %s: %s\n", level_name(level), line);
    }
    pthread_mutex_unlock(&sink_lock);
}
