/* SPDX-License-Identifier: Apache-2.0 */
#include "base/directories.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PATH_BYTES 4096

static bool is_directory(const char *path)
{
    struct stat info;

    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

int simpler_directories_make(const char *path)
{
    char part[PATH_BYTES];
    size_t bytes = strlen(path);

    if (bytes >= sizeof(part)) {
        errno = ENAMETOOLONG;
        return -1;
    }
    memcpy(part, path, bytes + 1);
    for (size_t i = 1; i <= bytes; i++) {
        if (part[i] != '/' && part[i] != '\0')
            continue;
        part[i] = '\0';
        if (mkdir(part, 0777) != 0) {
            if (errno != EEXIST)
                return -1;
            if (!is_directory(part)) {
                errno = ENOTDIR;
                return -1;
            }
        }
        part[i] = path[i];
    }
    return 0;
}

static void cut_slashes(char *path)
{
    size_t bytes = strlen(path);

    while (bytes > 1 && path[bytes - 1] == '/')
        path[--bytes] = '\0';
}

/* The last part goes, until "/" or ".", which are there. */
static void cut_last(char *path)
{
    char *slash = strrchr(path, '/');

    if (slash == NULL)
        (void)strcpy(path, ".");
    else
        slash[slash == path] = '\0';
    cut_slashes(path);
}

static bool refuse(const char *path, const char *fault, char *why, size_t bytes)
{
    (void)snprintf(why, bytes, "%.200s%s%s", path, strlen(path) > 200 ? "..." : "", fault);
    return false;
}

static bool refuse_for(const char *path, int error, char *why, size_t bytes)
{
    char fault[128];

    (void)snprintf(fault, sizeof(fault), ": %s", strerror(error));
    return refuse(path, fault, why, bytes);
}

/* Whether entries can be made in @directory, as far as the system tells. */
static bool can_be_written(const char *directory, char *why, size_t bytes)
{
    if (faccessat(AT_FDCWD, directory, W_OK | X_OK, AT_EACCESS) == 0)
        return true;
    if (errno == EROFS)
        return refuse(directory, " is on a read-only file system", why, bytes);
    if (errno == EACCES)
        return refuse(directory, " cannot be written into by this user", why, bytes);
    /* Nobody has said no: a sandbox may not know the question.  Who tries it will see. */
    return true;
}

bool simpler_directories_check(const char *path, char *why, size_t bytes)
{
    char part[PATH_BYTES];
    struct stat info;

    if (path[0] == '\0')
        return refuse("''", " is no name", why, bytes);
    if (strlen(path) >= sizeof(part))
        return refuse(path, " is too long", why, bytes);
    memcpy(part, path, strlen(path) + 1);
    cut_slashes(part);
    /* What is not there has to be made in the one above it. */
    while (stat(part, &info) != 0) {
        if (errno != ENOENT && errno != ENOTDIR && errno != EACCES)
            return refuse_for(part, errno, why, bytes);
        if (strcmp(part, ".") == 0 || strcmp(part, "/") == 0)
            return refuse(part, " cannot be looked at", why, bytes);
        if (lstat(part, &info) == 0 && S_ISLNK(info.st_mode))
            return refuse(part, " is a link to nothing", why, bytes);
        cut_last(part);
    }
    if (!S_ISDIR(info.st_mode))
        return refuse(part, " is a file, not a directory", why, bytes);
    return can_be_written(part, why, bytes);
}
