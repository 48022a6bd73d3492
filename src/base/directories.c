/* SPDX-License-Identifier: Apache-2.0 */
#include "base/directories.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

int simpler_directories_make(const char *path)
{
    char part[4096];
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
        if (mkdir(part, 0777) != 0 && errno != EEXIST)
            return -1;
        part[i] = path[i];
    }
    return 0;
}
