/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_HOST_WORKER_STATE_H
#define SIMPLER_HOST_WORKER_STATE_H

/* The inside of a worker, for the files of host/ that make up its public calls. */
#include <stdatomic.h>
#include <stdbool.h>

#include "host/callable_table.h"
#include "host/device_memory.h"
#include "host/diagnostics.h"
#include "host/runtimes.h"
#include "platform/platform.h"

struct simpler_worker {
    const struct simpler_platform *platform;
    int device_id;
    struct simpler_runtime_env environment; /* as it was when the worker was opened */
    void *devices[SIMPLER_RUNTIMES];        /* NULL until opened */
    _Atomic uint32_t runtime;               /* of the current or last run; written by its thread */
    struct simpler_device_memory memory;
    struct simpler_callable_table callables;
    struct simpler_diagnostics diagnostics; /* of the thread that runs, like the next */
    uint32_t run_count;
    /* Taken by the thread that runs (acquire, pairs with R1), given back by it (R1, release). */
    atomic_bool running;
};

#endif
