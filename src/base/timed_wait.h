/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_BASE_TIMED_WAIT_H
#define SIMPLER_BASE_TIMED_WAIT_H

/* Conditions with limits on CLOCK_MONOTONIC, where waits are rare and may be long. */
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

/* For simpler_timed_wait. */
void simpler_timed_wait_init(pthread_cond_t *condition);

/* An end of waiting. */
struct simpler_deadline {
    bool limited;
    struct timespec at;
};

/* @timeout_ns from now; UINT64_MAX, or beyond what the clock can tell: never. */
struct simpler_deadline simpler_timed_wait_deadline(uint64_t timeout_ns);
/* As pthread_cond_wait; false: the deadline has passed. */
bool simpler_timed_wait(pthread_cond_t *condition, pthread_mutex_t *lock,
                        const struct simpler_deadline *deadline);

#endif
