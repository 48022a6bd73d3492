/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_BASE_DIRECTORIES_H
#define SIMPLER_BASE_DIRECTORIES_H

#include <stdbool.h>
#include <stddef.h>

/* Makes @path and those above it, like mkdir -p; 0, or -1 with errno.  At most 4095 bytes. */
int simpler_directories_make(const char *path);

/*
 * Whether this process can make @path and write into it, as far as that can be told without
 * doing so; what is missing is made.  False: @why tells which part of the path is at fault, and
 * how.
 */
bool simpler_directories_check(const char *path, char *why, size_t bytes);

#endif
