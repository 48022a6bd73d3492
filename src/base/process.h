/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_BASE_PROCESS_H
#define SIMPLER_BASE_PROCESS_H

/* Which process is meant by a number: numbers are used again, start times are not. */
#include <stdbool.h>
#include <stdint.h>

/* In ticks since the system's start; 0: there is no such process, or nobody tells. */
uint64_t simpler_process_start_time(int64_t pid);
/* Whether it still runs; one that has ended and was not waited for does not. */
bool simpler_process_is_alive(int64_t pid, uint64_t start_time);

#endif
