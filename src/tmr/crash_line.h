/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_TMR_CRASH_LINE_H
#define SIMPLER_TMR_CRASH_LINE_H

/* What a thread of the device was doing when the process dies: see base/crash.h. */
#include "tmr/engine.h"

/* At the entry of a thread, and before it returns. */
void *simpler_crash_line_enter(struct simpler_thread *thread);
void simpler_crash_line_leave(void *stack);

#endif
