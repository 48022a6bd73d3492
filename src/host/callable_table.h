/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_HOST_CALLABLE_TABLE_H
#define SIMPLER_HOST_CALLABLE_TABLE_H

/*
 * The callables of a worker.  The same content has one handle; an entry stays
 * until the table goes.  Any thread may call.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "task/callable.h"

#define SIMPLER_MAX_CALLABLES 64

struct simpler_callable_table {
    pthread_mutex_t lock; /* guards the two below */
    bool lock_ready;
    struct simpler_callable_copy *copies[SIMPLER_MAX_CALLABLES];
    uint32_t count;
};

/* SIMPLER_ENOMEM. */
int simpler_callable_table_init(struct simpler_callable_table *table);
/* Zeroed is allowed. */
void simpler_callable_table_fini(struct simpler_callable_table *table);

/* SIMPLER_EINVAL, SIMPLER_ENOMEM, SIMPLER_EOVERFLOW: logged, *out unchanged. */
int simpler_callable_table_add(struct simpler_callable_table *table,
                               const struct simpler_callable *callable, uint32_t *out);
/* NULL (logged): no callable has this handle. */
const struct simpler_callable_copy *
simpler_callable_table_find(struct simpler_callable_table *table, uint32_t handle);

#endif
