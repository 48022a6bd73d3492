/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_LOG_H
#define SIMPLER_LOG_H

#include "simpler/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Levels as SIMPLER numbers them; a message passes when its level is at least the set one. */
enum simpler_log_level {
    SIMPLER_LOG_DEBUG = 10,
    SIMPLER_LOG_INFO = 20,
    SIMPLER_LOG_TIMING = 25,
    SIMPLER_LOG_WARN = 30,
    SIMPLER_LOG_ERROR = 40,
    SIMPLER_LOG_NONE = 60
};

/**
 * Receives one line without its newline; called by any thread, one at a time.
 * What the library would log while the callback itself calls it is dropped.
 */
typedef void (*simpler_log_fn)(void *user, int level, const char *line);

/**
 * Where messages go, of all workers of the process.  The default is standard error from
 * SIMPLER_LOG_WARN on.
 *
 * @param fn    NULL for the default
 * @param user  handed to @fn; must stay until another one is set, which returns when no thread
 *              is inside @fn any more
 *
 * Blocks: while another thread is inside the callback; the callback itself may call it.
 */
SIMPLER_API void simpler_log_set_callback(simpler_log_fn fn, void *user);

/** Lowest level that is shown (enum simpler_log_level), for the whole process, from now on. */
SIMPLER_API void simpler_log_set_level(int level);

/** Whether a message of @level would be shown: one relaxed load. */
SIMPLER_API int simpler_log_enabled(int level);

/**
 * Writes one message, printf-like; a text of more than 1023 bytes is cut.
 *
 * Blocks: while another thread writes one, and as long as the callback takes.  Not from a signal
 *         handler.
 */
SIMPLER_API void simpler_log_write(int level, const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 2, 3)))
#endif
    ;

#ifdef __cplusplus
}
#endif
#endif
