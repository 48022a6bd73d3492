/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_TOOLS_UNIT_BUILD_H
#define SIMPLER_TOOLS_UNIT_BUILD_H

/*
 * C++ sources into shared objects, with the system's compiler, several at a
 * time, through the cache.  $CXX and $CXXFLAGS are used.
 */
#include <stdbool.h>
#include <stddef.h>

#include "unit_cache.h"

struct simpler_unit {
    const char *source; /* its path, as the compiler and its messages are to name it */
    const char *entry;  /* a kernel's function; NULL: an orchestration */
    const char *const *include_dirs;
    size_t include_dir_count;
    char object[SIMPLER_CACHE_PATH]; /* the result */
    bool was_cached;
};

/*
 * Builds all units; what the compiler says goes to standard error as it is.
 * 0, or SIMPLER_EXIT_FAILED when one does not compile.
 */
int simpler_unit_build(const char *command, struct simpler_unit *units, size_t count);

#endif
