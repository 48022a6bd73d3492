/* SPDX-License-Identifier: Apache-2.0 */
#include "report/crashed_run.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static bool is_there(const char *prefix, const char *name)
{
    char path[SIMPLER_CRASHED_BYTES + 64];

    (void)snprintf(path, sizeof(path), "%s/%s", prefix, name);
    return access(path, F_OK) == 0;
}

static bool is_unfinished(const char *prefix)
{
    return is_there(prefix, ".live") || is_there(prefix, "scope_stats/scope_stats.jsonl.partial") ||
           is_there(prefix, "args_dump/.spool");
}

/* Takes the last name off; false: there is none. */
static bool go_up(char *path)
{
    char *slash = strrchr(path, '/');

    if (slash == NULL && strcmp(path, ".") != 0 && strcmp(path, "..") != 0) {
        (void)snprintf(path, 2, ".");
        return true;
    }
    if (slash == NULL || slash == path)
        return false;
    *slash = '\0';
    return true;
}

bool simpler_crashed_find(const char *path, char prefix[SIMPLER_CRASHED_BYTES])
{
    size_t bytes = strlen(path);

    if (bytes == 0 || bytes >= SIMPLER_CRASHED_BYTES)
        return false;
    memcpy(prefix, path, bytes + 1);
    while (bytes > 1 && prefix[bytes - 1] == '/')
        prefix[--bytes] = '\0';
    /* The prefix, a directory in it, a file in that. */
    for (int up = 0; up <= 2; up++) {
        if (is_unfinished(prefix))
            return true;
        if (up == 2 || !go_up(prefix))
            break;
    }
    return false;
}
