/* SPDX-License-Identifier: Apache-2.0 */
/* Edit distance over short words; the guess and the list that go by it. */
#include "base/nearest.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define MAX_WORD  64
#define MAX_NAMES 256
/* Bytes of a part that names its whole. */
#define MIN_PART 3

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static bool same(char a, char b)
{
    return tolower((unsigned char)a) == tolower((unsigned char)b);
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
            row[j] =
                least(above[j - 1] + !same(a[i - 1], b[j - 1]), least(above[j], row[j - 1]) + 1);
            if (i > 1 && j > 1 && same(a[i - 1], b[j - 2]) && same(a[i - 2], b[j - 1]))
                row[j] = least(row[j], above2[j - 2] + 1);
        }
    }
    return rows[n % 3][m];
}

/* The only name that has @part in it (at its beginning), or NULL. */
static const char *only_with(const char *part, bool at_beginning, const char *const *names,
                             size_t count)
{
    const char *found = NULL;

    for (size_t i = 0; i < count; i++) {
        const char *name = names[i] + strspn(names[i], "-");
        const char *at = strcasestr(name, part);
        if (at == NULL || (at_beginning && at != name))
            continue;
        if (found != NULL)
            return NULL;
        found = names[i];
    }
    return found;
}

/* The longest name, of MIN_PART bytes at least, that @wanted begins with, or NULL. */
static const char *longest_before(const char *wanted, const char *const *names, size_t count)
{
    const char *found = NULL;
    size_t longest = MIN_PART - 1;

    for (size_t i = 0; i < count; i++) {
        const char *name = names[i] + strspn(names[i], "-");
        size_t bytes = strlen(name);
        if (bytes <= longest || strncasecmp(wanted, name, bytes) != 0)
            continue;
        found = names[i];
        longest = bytes;
    }
    return found;
}

const char *simpler_nearest_guess(const char *wanted, const char *const *names, size_t count)
{
    const char *best = NULL;
    size_t best_distance = 0;

    for (size_t i = 0; i < count; i++) {
        size_t distance = simpler_nearest_distance(wanted, names[i]);
        if (best == NULL || distance < best_distance) {
            best = names[i];
            best_distance = distance;
        }
    }
    /* The dashes of an option are right in any case. */
    const char *part = wanted + strspn(wanted, "-");
    if (best != NULL && best_distance * 3 <= strlen(part))
        return best;
    if (strlen(part) < MIN_PART)
        return NULL;
    best = only_with(part, true, names, count);
    if (best == NULL)
        best = only_with(part, false, names, count);
    return best != NULL ? best : longest_before(part, names, count);
}

/* The nearest that is not @taken yet, which it is then. */
static const char *take_nearest(const char *wanted, const char *const *names, size_t count,
                                bool *taken)
{
    size_t best = count, best_distance = 0;

    for (size_t i = 0; i < count; i++) {
        size_t distance = taken[i] ? 0 : simpler_nearest_distance(wanted, names[i]);
        if (!taken[i] && (best == count || distance < best_distance)) {
            best = i;
            best_distance = distance;
        }
    }
    taken[best] = true;
    return names[best];
}

const char *simpler_nearest_answer(const char *wanted, const char *const *names, size_t count,
                                   char *text, size_t bytes)
{
    static const char cut[] = ", ...";
    const char *guess = simpler_nearest_guess(wanted, names, count);
    bool taken[MAX_NAMES] = {false};
    size_t used = 0;

    if (guess != NULL)
        used = (size_t)snprintf(text, bytes, "; did you mean %s? There are:", guess);
    else
        used = (size_t)snprintf(text, bytes, "; there are:");
    size_t listed = least(count, MAX_NAMES);
    for (size_t n = 0; n < listed && used < bytes; n++) {
        const char *name = take_nearest(wanted, names, listed, taken);
        if (used + strlen(name) + 2 + sizeof(cut) > bytes) {
            (void)snprintf(text + used, bytes - used, "%s", cut);
            break;
        }
        used += (size_t)snprintf(text + used, bytes - used, "%s %s", n == 0 ? "" : ",", name);
    }
    return text;
}
