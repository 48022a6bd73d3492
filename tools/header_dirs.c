/* SPDX-License-Identifier: Apache-2.0 */
#include "header_dirs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool is_there(const struct simpler_header_dirs *dirs)
{
    char path[PATH_MAX + 32];

    (void)snprintf(path, sizeof(path), "%s/simpler_compat.h", dirs->compat);
    if (access(path, R_OK) != 0)
        return false;
    (void)snprintf(path, sizeof(path), "%s/simpler/simpler.hpp", dirs->include);
    return access(path, R_OK) == 0;
}

/* Relative to the program, so that an installed tree may be moved. */
static bool find_installed(struct simpler_header_dirs *out)
{
    char program[PATH_MAX], include[PATH_MAX + sizeof(SIMPLER_HEADERS_FROM_PROGRAM)];
    ssize_t length = readlink("/proc/self/exe", program, sizeof(program) - 1);

    if (length <= 0)
        return false;
    program[length] = '\0';
    char *slash = strrchr(program, '/');
    if (slash == NULL)
        return false;
    slash[1] = '\0';
    (void)snprintf(include, sizeof(include), "%s%s", program, SIMPLER_HEADERS_FROM_PROGRAM);
    if (realpath(include, out->include) == NULL)
        return false;
    int n = snprintf(out->compat, sizeof(out->compat), "%s/simpler/compat", out->include);
    return n < (int)sizeof(out->compat) && is_there(out);
}

bool simpler_header_dirs_find(struct simpler_header_dirs *out)
{
    if (find_installed(out))
        return true;
    (void)snprintf(out->compat, sizeof(out->compat), "%s/compat", SIMPLER_SOURCE_DIR);
    (void)snprintf(out->include, sizeof(out->include), "%s/include", SIMPLER_SOURCE_DIR);
    return is_there(out);
}
