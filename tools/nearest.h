/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_TOOLS_NEAREST_H
#define SIMPLER_TOOLS_NEAREST_H

/* Answers to a word that is not known: the known ones, the nearest first. */
#include <stddef.h>

/* Insertions, deletions, replacements and swaps of neighbours from one to the other. */
size_t simpler_nearest_distance(const char *a, const char *b);

/* "b, c, a": @names by distance from @wanted, cut to @bytes; returns @list. */
const char *simpler_nearest_list(const char *wanted, const char *const *names, size_t count,
                                 char *list, size_t bytes);

#endif
