/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_TOOLS_HEADER_DIRS_H
#define SIMPLER_TOOLS_HEADER_DIRS_H

/* Where the headers that C++ sources include lie. */
#include <limits.h>
#include <stdbool.h>

struct simpler_header_dirs {
    char compat[PATH_MAX]; /* the names of the SIMPLER documents */
    char include[PATH_MAX];
};

/*
 * Those that were installed with the program, wherever that is now; of a program that was not
 * installed, those that it was built from.  False when neither are there; then they are the latter.
 */
bool simpler_header_dirs_find(struct simpler_header_dirs *out);

#endif
