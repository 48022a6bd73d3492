/* SPDX-License-Identifier: Apache-2.0 */
#include "host/live_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/directories.h"
#include "base/text.h"
#include "simpler/status.h"

#define PATH_BYTES 4096
#define FRESH      SIMPLER_LIVE_NAME ".new"

static bool name(char path[PATH_BYTES], const char *prefix, const char *file)
{
    int n = snprintf(path, PATH_BYTES, "%s/%s", prefix, file);
    return n > 0 && n < PATH_BYTES;
}

static int put(const char *path, const char *text, size_t bytes)
{
    /* What stands there is torn, or somebody's pipe or link. */
    (void)unlink(path);
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);

    if (fd < 0)
        return -1;
    ssize_t n = write(fd, text, bytes);
    int error = n < 0 ? errno : ENOSPC;
    (void)close(fd);
    if (n == (ssize_t)bytes)
        return 0;
    (void)unlink(path);
    errno = error;
    return -1;
}

int simpler_live_file_write(const char *prefix, const struct simpler_live *live)
{
    char path[PATH_BYTES], fresh[PATH_BYTES], text[1024];

    if (!name(path, prefix, SIMPLER_LIVE_NAME) || !name(fresh, prefix, FRESH))
        return SIMPLER_EOVERFLOW;
    int n = snprintf(text, sizeof(text),
                     "simpler-live %u\npid %" PRId64 "\nstart_time %" PRIu64 "\nrun_epoch %" PRIu32
                     "\nscope_stats %d\nargs_dump %" PRIu32 "\nregion %s\nend 1\n",
                     SIMPLER_LIVE_VERSION, live->pid, live->start_time, live->run_epoch,
                     live->scope_stats, live->args_dump, live->region);
    if (put(fresh, text, (size_t)n) != 0 &&
        (errno != ENOENT || simpler_directories_make(prefix) != 0 ||
         put(fresh, text, (size_t)n) != 0))
        return SIMPLER_EIO;
    if (rename(fresh, path) == 0)
        return 0;
    int error = errno;
    (void)unlink(fresh);
    errno = error;
    return SIMPLER_EIO;
}

void simpler_live_file_remove(const char *prefix)
{
    char path[PATH_BYTES];

    if (name(path, prefix, SIMPLER_LIVE_NAME))
        (void)unlink(path);
}

void simpler_live_file_remove_fresh(const char *prefix)
{
    char path[PATH_BYTES];

    if (name(path, prefix, FRESH))
        (void)unlink(path);
}

/* ---- reading ---- */

/* One row a line, in this order. */
static const char *const keys[] = {"simpler-live", "pid",       "start_time", "run_epoch",
                                   "scope_stats",  "args_dump", "region",     "end"};
enum { KEY_VERSION, KEY_PID, KEY_START, KEY_EPOCH, KEY_SCOPE, KEY_DUMP, KEY_REGION, KEY_END, KEYS };

static bool take_region(const char *value, struct simpler_live *live)
{
    size_t bytes = strlen(value);

    if (bytes == 0 || bytes >= sizeof(live->region) || value[0] != '/')
        return false;
    memcpy(live->region, value, bytes + 1);
    return true;
}

static bool take(int key, const char *value, struct simpler_live *live)
{
    static const uint64_t most[] = {SIMPLER_LIVE_VERSION, INT32_MAX, UINT64_MAX, UINT32_MAX, 1, 3};
    uint64_t n = 0;

    if (key == KEY_REGION)
        return take_region(value, live);
    if (!simpler_text_parse_u64(value, &n))
        return false;
    if (key == KEY_END)
        return n == 1;
    if (n > most[key])
        return false;
    if (key == KEY_PID)
        live->pid = (int64_t)n;
    else if (key == KEY_START)
        live->start_time = n;
    else if (key == KEY_EPOCH)
        live->run_epoch = (uint32_t)n;
    else if (key == KEY_SCOPE)
        live->scope_stats = n != 0;
    else if (key == KEY_DUMP)
        live->args_dump = (uint32_t)n;
    return key != KEY_VERSION || n == SIMPLER_LIVE_VERSION;
}

int simpler_live_file_parse(const char *text, size_t bytes, struct simpler_live *out)
{
    struct simpler_live live = {0};
    char line[512];

    for (int key = 0; key < KEYS; key++) {
        const char *end = memchr(text, '\n', bytes);
        size_t length = end != NULL ? (size_t)(end - text) : 0;
        size_t head = strlen(keys[key]);
        if (end == NULL || length >= sizeof(line) || length < head + 2 ||
            memcmp(text, keys[key], head) != 0 || text[head] != ' ' ||
            memchr(text, '\0', length) != NULL)
            return SIMPLER_EFORMAT;
        memcpy(line, text + head + 1, length - head - 1);
        line[length - head - 1] = '\0';
        if (!take(key, line, &live))
            return SIMPLER_EFORMAT;
        bytes -= length + 1;
        text = end + 1;
    }
    if (bytes != 0)
        return SIMPLER_EFORMAT;
    *out = live;
    return 0;
}

int simpler_live_file_read(const char *prefix, struct simpler_live *out)
{
    char path[PATH_BYTES], text[SIMPLER_LIVE_BYTES];

    if (!name(path, prefix, SIMPLER_LIVE_NAME))
        return SIMPLER_ENOENT;
    /* What stands there may be a pipe, or a link elsewhere. */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
    if (fd < 0)
        return errno == ENOENT || errno == ENOTDIR ? SIMPLER_ENOENT : SIMPLER_EIO;
    ssize_t n = read(fd, text, sizeof(text));
    (void)close(fd);
    return n < 0 ? SIMPLER_EIO : simpler_live_file_parse(text, (size_t)n, out);
}
