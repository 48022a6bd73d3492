/* SPDX-License-Identifier: Apache-2.0 */
/* A copy is made outside the lock; the table takes it over, or has its equal already. */
#include "host/callable_table.h"

#include <inttypes.h>

#include "base/alloc.h"
#include "base/logger.h"

int simpler_callable_table_init(struct simpler_callable_table *table)
{
    if (pthread_mutex_init(&table->lock, NULL) != 0)
        return SIMPLER_ENOMEM;
    table->lock_ready = true;
    return 0;
}

void simpler_callable_table_fini(struct simpler_callable_table *table)
{
    for (uint32_t i = 0; i < table->count; i++) {
        simpler_callable_copy_fini(table->copies[i]);
        simpler_alloc_free(table->copies[i]);
    }
    table->count = 0;
    if (table->lock_ready)
        pthread_mutex_destroy(&table->lock);
    table->lock_ready = false;
}

/* Takes @copy over when it is new; *out is its handle or that of its equal. */
static int add_copy(struct simpler_callable_table *table, struct simpler_callable_copy *copy,
                    bool *taken, uint32_t *out)
{
    for (uint32_t i = 0; i < table->count; i++) {
        if (simpler_callable_copy_equal(table->copies[i], copy)) {
            *out = i;
            return 0;
        }
    }
    if (table->count == SIMPLER_MAX_CALLABLES) {
        SIMPLER_ERROR("%s: a worker holds at most %d callables", copy->callable.name,
                      SIMPLER_MAX_CALLABLES);
        return SIMPLER_EOVERFLOW;
    }
    *taken = true;
    *out = table->count;
    table->copies[table->count++] = copy;
    return 0;
}

int simpler_callable_table_add(struct simpler_callable_table *table,
                               const struct simpler_callable *callable, uint32_t *out)
{
    bool taken = false;
    struct simpler_callable_copy *copy = simpler_alloc_zeroed(1, sizeof(*copy));

    if (copy == NULL) {
        SIMPLER_ERROR("register: out of memory");
        return SIMPLER_ENOMEM;
    }
    int rc = simpler_callable_copy_init(copy, callable);
    if (rc == 0) {
        pthread_mutex_lock(&table->lock);
        rc = add_copy(table, copy, &taken, out);
        pthread_mutex_unlock(&table->lock);
    }
    if (!taken) {
        simpler_callable_copy_fini(copy);
        simpler_alloc_free(copy);
    }
    return rc;
}

const struct simpler_callable_copy *
simpler_callable_table_find(struct simpler_callable_table *table, uint32_t handle)
{
    const struct simpler_callable_copy *found = NULL;

    pthread_mutex_lock(&table->lock);
    if (handle < table->count)
        found = table->copies[handle];
    pthread_mutex_unlock(&table->lock);
    if (found == NULL)
        SIMPLER_ERROR("run: no callable has the handle %" PRIu32, handle);
    return found;
}
