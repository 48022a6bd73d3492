/* SPDX-License-Identifier: Apache-2.0 */
/* The public calls on device memory, which is host memory on the devices of this host. */
#include <string.h>

#include "base/logger.h"
#include "host/worker_state.h"

/* Whether the pointers of a memory call are there. */
static bool are_given(const char *call, const void *worker, const void *pointer)
{
    if (worker != NULL && pointer != NULL)
        return true;
    SIMPLER_ERROR("%s: a pointer is NULL", call);
    return false;
}

int simpler_worker_malloc(struct simpler_worker *worker, size_t bytes, uint64_t *out)
{
    if (!are_given("malloc", worker, out))
        return SIMPLER_EINVAL;
    return simpler_device_memory_alloc(&worker->memory, bytes, out);
}

int simpler_worker_free(struct simpler_worker *worker, uint64_t addr)
{
    if (!are_given("free", worker, worker))
        return SIMPLER_EINVAL;
    return simpler_device_memory_free(&worker->memory, addr);
}

int simpler_worker_copy_to(struct simpler_worker *worker, uint64_t to, const void *from,
                           size_t bytes)
{
    if (!are_given("copy_to", worker, from))
        return SIMPLER_EINVAL;
    int rc = simpler_device_memory_check(&worker->memory, to, bytes);
    if (rc == 0)
        memcpy((void *)(uintptr_t)to, from, bytes);
    return rc;
}

int simpler_worker_copy_from(struct simpler_worker *worker, void *to, uint64_t from, size_t bytes)
{
    if (!are_given("copy_from", worker, to))
        return SIMPLER_EINVAL;
    int rc = simpler_device_memory_check(&worker->memory, from, bytes);
    if (rc == 0)
        memcpy(to, (const void *)(uintptr_t)from, bytes);
    return rc;
}
