/* SPDX-License-Identifier: Apache-2.0 */
#include "report/regular_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int simpler_regular_file_open(const char *path)
{
    struct stat info;
    /* O_NONBLOCK: opening a pipe must not wait for a writer. */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

    if (fd < 0)
        return -1;
    int error = fstat(fd, &info) != 0 ? errno : S_ISDIR(info.st_mode) ? EISDIR : 0;
    if (error == 0 && S_ISREG(info.st_mode))
        return fd;
    (void)close(fd);
    errno = error;
    return -1;
}

FILE *simpler_regular_file_fopen(const char *path)
{
    int fd = simpler_regular_file_open(path);

    if (fd < 0)
        return NULL;
    FILE *file = fdopen(fd, "rb");
    if (file == NULL)
        (void)close(fd);
    return file;
}

const char *simpler_regular_file_fault(int error)
{
    return error != 0 ? strerror(error) : "not a regular file (a pipe or a device)";
}
