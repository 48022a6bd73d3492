/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_BASE_NEAREST_H
#define SIMPLER_BASE_NEAREST_H

/* Answers to a word that is not known: what it may have been, and the known ones, nearest first. */
#include <stddef.h>

/* Room for the answers that name options, platforms, runtimes, element types. */
#define SIMPLER_NEAREST_BYTES 768

/*
 * Insertions, deletions, replacements and swaps of neighbours from one to the other, of their
 * first 64 bytes; case does not count.
 */
size_t simpler_nearest_distance(const char *a, const char *b);

/*
 * The name that @wanted stands for: at most a third is wrong, it is part of this one alone, or
 * begins with it.
 */
const char *simpler_nearest_guess(const char *wanted, const char *const *names, size_t count);

/*
 * How a message about @wanted goes on: "; did you mean b? There are: b, c, a", without a guess
 * "; there are: c, a, b".  Names that do not fit into @bytes are left out, behind "...".
 * Returns @text.
 */
const char *simpler_nearest_answer(const char *wanted, const char *const *names, size_t count,
                                   char *text, size_t bytes);

#endif
