/* SPDX-License-Identifier: Apache-2.0 */
/* A hash table with open addressing, at most half full. */
#include "report/site_table.h"

#include <string.h>

#include "base/alloc.h"
#include "simpler/status.h"

static uint32_t hash_of(const char *text, size_t bytes)
{
    uint32_t h = 2166136261u;
    for (size_t i = 0; i < bytes; i++)
        h = (h ^ (unsigned char)text[i]) * 16777619u;
    return h ^ h >> 15;
}

static int equals(const char *stored, const char *text, size_t bytes)
{
    return strncmp(stored, text, bytes) == 0 && stored[bytes] == 0;
}

/* The slot of a text, or the free one where it belongs. */
static uint32_t find_slot(const struct simpler_site_table *t, const char *text, size_t bytes)
{
    uint32_t at = hash_of(text, bytes) & (t->slot_count - 1);
    while (t->slots[at] != 0 && !equals(t->texts[t->slots[at] - 1], text, bytes))
        at = (at + 1) & (t->slot_count - 1);
    return at;
}

static int grow(struct simpler_site_table *t)
{
    uint32_t wanted = t->slot_count == 0 ? 64 : 2 * t->slot_count;
    if (wanted == 0)
        return SIMPLER_ENOMEM;
    uint32_t *slots = simpler_alloc_zeroed(wanted, sizeof(*slots));
    char **texts = simpler_alloc_resize(t->texts, wanted / 2, sizeof(*texts));
    if (texts != NULL)
        t->texts = texts;
    if (slots == NULL || texts == NULL) {
        simpler_alloc_free(slots);
        return SIMPLER_ENOMEM;
    }
    simpler_alloc_free(t->slots);
    t->slots = slots;
    t->slot_count = wanted;
    for (uint32_t id = 0; id < t->count; id++)
        t->slots[find_slot(t, t->texts[id], strlen(t->texts[id]))] = id + 1;
    return 0;
}

int simpler_site_table_intern(struct simpler_site_table *t, const char *text, size_t bytes,
                              uint32_t *out)
{
    if (t->count > 0 && equals(t->texts[t->last], text, bytes)) {
        *out = t->last;
        return 0;
    }
    if (t->count >= t->slot_count / 2 && grow(t) != 0)
        return SIMPLER_ENOMEM;
    uint32_t at = find_slot(t, text, bytes);
    if (t->slots[at] == 0) {
        char *copy = simpler_alloc_zeroed(bytes + 1, 1);
        if (copy == NULL)
            return SIMPLER_ENOMEM;
        memcpy(copy, text, bytes);
        t->texts[t->count] = copy;
        t->slots[at] = ++t->count;
    }
    t->last = t->slots[at] - 1;
    *out = t->last;
    return 0;
}

void simpler_site_table_fini(struct simpler_site_table *t)
{
    for (uint32_t i = 0; i < t->count; i++)
        simpler_alloc_free(t->texts[i]);
    simpler_alloc_free(t->texts);
    simpler_alloc_free(t->slots);
    memset(t, 0, sizeof(*t));
}
