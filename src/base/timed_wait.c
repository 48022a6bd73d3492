/* SPDX-License-Identifier: Apache-2.0 */
#include "base/timed_wait.h"

#include <errno.h>

#define NS_PER_S 1000000000u

/* On Linux none of these fails. */
void simpler_timed_wait_init(pthread_cond_t *condition)
{
    pthread_condattr_t attributes;

    (void)pthread_condattr_init(&attributes);
    (void)pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    (void)pthread_cond_init(condition, &attributes);
    (void)pthread_condattr_destroy(&attributes);
}

struct simpler_deadline simpler_timed_wait_deadline(uint64_t timeout_ns)
{
    struct simpler_deadline d = {.limited = timeout_ns != UINT64_MAX};
    uint64_t ns;

    if (!d.limited)
        return d;
    (void)clock_gettime(CLOCK_MONOTONIC, &d.at);
    d.limited = !__builtin_add_overflow((uint64_t)d.at.tv_nsec, timeout_ns, &ns) &&
                !__builtin_add_overflow(d.at.tv_sec, (time_t)(ns / NS_PER_S), &d.at.tv_sec);
    if (d.limited)
        d.at.tv_nsec = (long)(ns % NS_PER_S);
    return d;
}

bool simpler_timed_wait(pthread_cond_t *condition, pthread_mutex_t *lock,
                        const struct simpler_deadline *deadline)
{
    if (!deadline->limited) {
        (void)pthread_cond_wait(condition, lock);
        return true;
    }
    return pthread_cond_timedwait(condition, lock, &deadline->at) != ETIMEDOUT;
}
