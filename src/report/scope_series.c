/* SPDX-License-Identifier: Apache-2.0 */
/* Columns that merge in pairs: one pass, no length known in advance. */
#include "report/scope_series.h"

#include <string.h>

#include "base/alloc.h"
#include "simpler/status.h"

static void merge_into(struct simpler_series_column *to, const struct simpler_series_column *from)
{
    if (from->min.value < to->min.value)
        to->min = from->min;
    if (from->max.value > to->max.value)
        to->max = from->max;
}

static void halve(struct simpler_series *s)
{
    for (uint32_t i = 0; i < s->count / 2; i++) {
        s->columns[i] = s->columns[2 * i];
        merge_into(&s->columns[i], &s->columns[2 * i + 1]);
    }
    s->count /= 2;
    s->stride *= 2;
    s->in_last = s->stride;
}

static int make_room(struct simpler_series *s)
{
    if (s->count < s->room)
        return 0;
    if (s->room == SIMPLER_SERIES_MAX_COLUMNS) {
        halve(s);
        return 0;
    }
    uint32_t room = s->room == 0 ? 16 : 2 * s->room;
    void *grown = simpler_alloc_resize(s->columns, room, sizeof(*s->columns));
    if (grown == NULL)
        return SIMPLER_ENOMEM;
    s->columns = grown;
    s->room = room;
    if (s->stride == 0)
        s->stride = 1;
    return 0;
}

int simpler_series_add(struct simpler_series *s, struct simpler_series_point point)
{
    const struct simpler_series_column one = {point, point};

    if (s->count > 0 && s->in_last < s->stride) {
        merge_into(&s->columns[s->count - 1], &one);
        s->in_last++;
        return 0;
    }
    int rc = make_room(s);
    if (rc != 0)
        return rc;
    s->columns[s->count++] = one;
    s->in_last = 1;
    return 0;
}

void simpler_series_shrink(struct simpler_series *s, uint32_t columns)
{
    if (columns == 0 || s->count <= columns)
        return;
    for (uint32_t i = 0; i < columns; i++) {
        /* 32-bit counts: the products fit in 64 bits. */
        uint32_t from = (uint32_t)((uint64_t)i * s->count / columns);
        uint32_t to = (uint32_t)((uint64_t)(i + 1) * s->count / columns);
        s->columns[i] = s->columns[from];
        for (uint32_t k = from + 1; k < to; k++)
            merge_into(&s->columns[i], &s->columns[k]);
    }
    s->count = columns;
}

void simpler_series_fini(struct simpler_series *s)
{
    simpler_alloc_free(s->columns);
    memset(s, 0, sizeof(*s));
}
