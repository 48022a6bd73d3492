/* SPDX-License-Identifier: Apache-2.0 */
#include "base/process.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* State and start time are fields 3 and 22; the name before them may hold anything. */
static bool read_stat(int64_t pid, char *state, uint64_t *start_time)
{
    char path[64], text[1024];

    (void)snprintf(path, sizeof(path), "/proc/%" PRId64 "/stat", pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    ssize_t n = read(fd, text, sizeof(text) - 1);
    (void)close(fd);
    if (n <= 0)
        return false;
    text[n] = '\0';
    const char *at = strrchr(text, ')');
    if (at == NULL || at[1] != ' ')
        return false;
    at += 2;
    *state = *at;
    for (int field = 3; field < 22; field++) {
        at = strchr(at, ' ');
        if (at == NULL)
            return false;
        at++;
    }
    *start_time = strtoull(at, NULL, 10);
    return true;
}

uint64_t simpler_process_start_time(int64_t pid)
{
    uint64_t start_time;
    char state;

    return read_stat(pid, &state, &start_time) ? start_time : 0;
}

bool simpler_process_is_alive(int64_t pid, uint64_t start_time)
{
    uint64_t now;
    char state;

    return pid > 0 && read_stat(pid, &state, &now) && now == start_time && state != 'Z' &&
           state != 'X';
}
