/* SPDX-License-Identifier: Apache-2.0 */
#include "host/stale_regions.h"

#include <dirent.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/logger.h"
#include "base/process.h"
#include "base/testpoint.h"
#include "host/live_file.h"
#include "simpler/status.h"
#include "wire/region_wire.h"

/* The fields before the parts. */
#define HEAD_BYTES offsetof(struct simpler_region_header, parts)

/* The directory that the run wrote to is still where it was. */
static bool is_in_place(const struct simpler_region_header *header)
{
    struct stat info;

    return stat(header->prefix, &info) == 0 && info.st_dev == header->directory_dev &&
           info.st_ino == header->directory_ino;
}

/*
 * Whether a .live may name the region: the run's own, or one that cannot be seen since its
 * directory has moved.  In doubt it does.
 */
static bool is_named(const struct simpler_region_header *header, const char *path)
{
    struct simpler_live live;

    if (header->prefix[0] != '/')
        return false;
    int rc = simpler_live_file_read(header->prefix, &live);
    if (rc == 0 && strcmp(live.region, path) == 0)
        return true;
    if (rc != 0 && rc != SIMPLER_ENOENT && rc != SIMPLER_EFORMAT)
        return true;
    /* Without an identity the run had not begun. */
    if ((header->directory_dev == 0 && header->directory_ino == 0) || is_in_place(header))
        return false;
    SIMPLER_WARN("%s holds the diagnostics of a run that died, and %s is not there any more: "
                 "`simpler recover` where it is now, or remove the file",
                 path, header->prefix);
    return true;
}

/* Whether the file's process lives, or what it left may still be recovered. */
static bool is_of_use(int fd, const char *path)
{
    struct simpler_region_header *header = simpler_alloc_zeroed(1, sizeof(*header));
    bool is_used = true;

    if (header == NULL)
        return true;
    /* A header that is not whole is of a process that died while it made it; one that cannot be
     * read now may be anything. */
    ssize_t n = SIMPLER_FAILPOINT(REGION_READ) ? -1 : pread(fd, header, HEAD_BYTES, 0);
    if (n >= 0 && (n != (ssize_t)HEAD_BYTES || header->magic != SIMPLER_REGION_MAGIC)) {
        is_used = false;
    } else if (n >= 0) {
        header->prefix[SIMPLER_REGION_PREFIX - 1] = '\0';
        is_used =
            simpler_process_is_alive(header->pid, header->start_time) || is_named(header, path);
    }
    simpler_alloc_free(header);
    return is_used;
}

/* A file of ours, and it still has its name. */
static bool is_ours(int fd)
{
    struct stat info;

    return fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && info.st_uid == getuid() &&
           info.st_nlink != 0;
}

/*
 * Without the lock first: who recovers from the file must not find it taken by one that only
 * looks.  What is of no use is looked at again under it, for its process may just make it.
 */
static void look_at(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);

    if (fd < 0)
        return;
    if (is_ours(fd) && !is_of_use(fd, path) && flock(fd, LOCK_EX | LOCK_NB) == 0 && is_ours(fd) &&
        !is_of_use(fd, path)) {
        SIMPLER_INFO("%s of a process that has ended is removed", path);
        (void)unlink(path);
    }
    (void)close(fd);
}

void simpler_stale_regions_remove(const char *directory)
{
    char mine[64], path[512];
    struct dirent *entry;
    DIR *dir = opendir(directory);

    if (dir == NULL)
        return;
    int length = snprintf(mine, sizeof(mine), "simpler-%lu-", (unsigned long)getuid());
    while ((entry = readdir(dir)) != NULL) {
        const char *dot = strrchr(entry->d_name, '.');
        if (strncmp(entry->d_name, mine, (size_t)length) != 0 || dot == NULL ||
            strcmp(dot, SIMPLER_REGION_SUFFIX) != 0)
            continue;
        (void)snprintf(path, sizeof(path), "%.200s/%.255s", directory, entry->d_name);
        look_at(path);
    }
    (void)closedir(dir);
}
