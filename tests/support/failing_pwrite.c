/* SPDX-License-Identifier: Apache-2.0 */
#include "failing_pwrite.h"

#include <errno.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/uio.h>
#include <unistd.h>

static _Atomic int calls_left = INT_MAX, failure;

void failing_pwrite_arm(int nth, int error)
{
    atomic_store(&failure, error);
    atomic_store(&calls_left, nth);
}

bool failing_pwrite_fired(void)
{
    return atomic_load(&calls_left) < -1;
}

/* Instead of libc's. */
ssize_t pwrite(int fd, const void *from, size_t bytes, off_t at)
{
    int left = atomic_fetch_sub(&calls_left, 1);
    struct iovec part = {(void *)(uintptr_t)from, left == 0 && bytes > 1 ? bytes / 2 : bytes};

    if (left == -1) {
        errno = atomic_load(&failure);
        return -1;
    }
    return pwritev(fd, &part, 1, at);
}
