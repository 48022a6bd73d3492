/* SPDX-License-Identifier: Apache-2.0 */
/* One line an injection, appended to a file that all tests of a run share. */
#include "faults.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void must(bool ok, const char *what, const char *name)
{
    if (ok)
        return;
    fprintf(stderr, "faults: %s: %s\n", name, what);
    abort();
}

/* Whether a line of tests/faults.txt begins with @id. */
static bool is_known(const char *id, size_t length)
{
    const char *source = getenv("SOURCE_DIR");
    char path[1024], line[2048];
    bool found = false;

    must(source != NULL, "SOURCE_DIR must name the sources for SIMPLER_TEST_FAULTS", id);
    (void)snprintf(path, sizeof(path), "%s/tests/faults.txt", source);
    FILE *file = fopen(path, "r");
    must(file != NULL, "cannot be read", path);
    while (!found && fgets(line, sizeof(line), file) != NULL)
        found = strncmp(line, id, length) == 0 && strncmp(line + length, " |", 2) == 0;
    (void)fclose(file);
    return found;
}

static void append(const char *path, const char *line)
{
    size_t length = strlen(line);
    int fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);

    must(fd >= 0, "cannot be opened", path);
    must(write(fd, line, length) == (ssize_t)length, "cannot be written", path);
    (void)close(fd);
}

static void saw(const char *id, uint64_t times, const char *format, va_list arguments)
{
    const char *path = getenv("SIMPLER_TEST_FAULTS");
    const char *at = strchr(id, '@'), *source = getenv("TEST_SOURCE");
    const char *runtime = at != NULL ? at + 1 : getenv("SIMPLER_TEST_RUNTIME");
    size_t length = at != NULL ? (size_t)(at - id) : strlen(id);
    char seen[512], line[1024];

    if (path == NULL || path[0] == '\0' || times == 0)
        return;
    must(is_known(id, length), "tests/faults.txt does not have this fault", id);
    int n = vsnprintf(seen, sizeof(seen), format, arguments);
    must(n > 0 && n < (int)sizeof(seen) && strpbrk(seen, "\t\n") == NULL,
         "what was seen is no line", id);
    n = snprintf(line, sizeof(line), "%.*s\t%s\t%llu\t%s\t%s\n", (int)length, id,
                 runtime != NULL ? runtime : "tensormap_and_ringbuffer", (unsigned long long)times,
                 source != NULL ? source : "?", seen);
    must(n > 0 && n < (int)sizeof(line), "what was seen is too long", id);
    append(path, line);
}

void fault_saw(const char *id, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    saw(id, 1, format, arguments);
    va_end(arguments);
}

void fault_saw_times(const char *id, uint64_t times, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    saw(id, times, format, arguments);
    va_end(arguments);
}

const char *fault_yes(bool truth)
{
    return truth ? "yes" : "no";
}

const char *fault_device(struct simpler_worker *worker)
{
    int rc = simpler_worker_quiesce(worker, 0);

    return rc == 0 ? "free" : rc == SIMPLER_ETIMEDOUT ? "busy" : simpler_status_name(rc);
}
