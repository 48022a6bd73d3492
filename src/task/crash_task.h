/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_TASK_CRASH_TASK_H
#define SIMPLER_TASK_CRASH_TASK_H

/* The words for a task in the line of a crash; called in a signal handler. */
#include "base/crash.h"

void simpler_crash_task_add(struct simpler_crash_text *text, const char *kernel, uint32_t func_id,
                            uint64_t task, const char *file, int32_t line);

#endif
