/* SPDX-License-Identifier: Apache-2.0 */
/* Edit distance over short words, and lists sorted by it. */
#include "nearest.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define MAX_WORD  64
#define MAX_NAMES 256

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

size_t simpler_nearest_distance(const char *a, const char *b)
{
    /* rows[i % 3][j]: from the first i bytes of a to the first j of b */
    size_t rows[3][MAX_WORD + 1];
    size_t n = least(strlen(a), MAX_WORD), m = least(strlen(b), MAX_WORD);

    for (size_t i = 0; i <= n; i++) {
        size_t *row = rows[i % 3];
        const size_t *above = rows[(i + 2) % 3], *above2 = rows[(i + 1) % 3];
        row[0] = i;
        for (size_t j = 1; j <= m; j++) {
            if (i == 0) {
                row[j] = j;
                continue;
            }
            row[j] = least(above[j - 1] + (a[i - 1] != b[j - 1]), least(above[j], row[j - 1]) + 1);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = least(row[j], above2[j - 2] + 1);
        }
    }
    return rows[n % 3][m];
}

const char *simpler_nearest_list(const char *wanted, const char *const *names, size_t count,
                                 char *list, size_t bytes)
{
    bool taken[MAX_NAMES] = {false};
    size_t used = 0;

    list[0] = '\0';
    count = least(count, MAX_NAMES);
    for (size_t n = 0; n < count; n++) {
        size_t best = count, best_distance = 0;
        for (size_t i = 0; i < count; i++) {
            size_t distance = taken[i] ? 0 : simpler_nearest_distance(wanted, names[i]);
            if (!taken[i] && (best == count || distance < best_distance)) {
                best = i;
                best_distance = distance;
            }
        }
        taken[best] = true;
        if (used + strlen(names[best]) + 3 > bytes)
            break;
        used +=
            (size_t)snprintf(list + used, bytes - used, "%s%s", n == 0 ? "" : ", ", names[best]);
    }
    return list;
}
