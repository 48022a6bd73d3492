/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_TASK_CALLABLE_H
#define SIMPLER_TASK_CALLABLE_H

/*
 * A registered callable: a deep copy of what the caller gave, with its kernels
 * in a table by func_id.
 */
#include <stdbool.h>
#include <stdint.h>

#include "simpler/worker.h"

#define SIMPLER_MAX_FUNC_ID 1023

struct simpler_callable_copy {
    struct simpler_callable callable; /* strings, kernels, signatures are ours; names never NULL */
    uint64_t hash;                    /* of the content */
    uint32_t func_id_count;           /* highest func_id + 1 */
    /* By func_id; NULL where the callable has no such kernel. */
    const struct simpler_kernel *by_id[SIMPLER_MAX_FUNC_ID + 1];
};

/* SIMPLER_EINVAL (logged once, with the fault) or SIMPLER_ENOMEM. */
int simpler_callable_copy_init(struct simpler_callable_copy *copy,
                               const struct simpler_callable *from);
void simpler_callable_copy_fini(struct simpler_callable_copy *copy);
bool simpler_callable_copy_equal(const struct simpler_callable_copy *a,
                                 const struct simpler_callable_copy *b);

#endif
