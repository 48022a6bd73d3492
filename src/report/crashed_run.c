/* SPDX-License-Identifier: Apache-2.0 */
#include "report/crashed_run.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "report/regular_file.h"

#define PARTIAL "scope_stats/scope_stats.jsonl.partial"

/* The first line, and more than the longest line behind it. */
#define LOOK_BYTES 65536

static bool is_there(const char *prefix, const char *name)
{
    char path[SIMPLER_CRASHED_BYTES + 64];

    (void)snprintf(path, sizeof(path), "%s/%s", prefix, name);
    return access(path, F_OK) == 0;
}

static bool is_unfinished(const char *prefix)
{
    return is_there(prefix, ".live") || is_there(prefix, PARTIAL) ||
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

bool simpler_crashed_has_no_sample(const char *prefix)
{
    char path[SIMPLER_CRASHED_BYTES + 64];
    int newlines = 0, c = 0;
    long bytes = 0;

    (void)snprintf(path, sizeof(path), "%s/" PARTIAL, prefix);
    FILE *file = is_there(prefix, ".live") ? NULL : simpler_regular_file_fopen(path);
    if (file == NULL)
        return false;
    /* The run's own line, and a sample's. */
    for (; newlines < 2 && bytes < LOOK_BYTES && (c = getc(file)) != EOF; bytes++)
        newlines += c == '\n';
    bool is_end = c == EOF && ferror(file) == 0;
    (void)fclose(file);
    return is_end && newlines < 2;
}
