/* SPDX-License-Identifier: Apache-2.0 */
#include "base/rename_new.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

int simpler_rename_new(int directory, const char *from, const char *to)
{
    if (renameat2(directory, from, directory, to, RENAME_NOREPLACE) == 0)
        return 0;
    if (errno != EINVAL && errno != ENOSYS)
        return -1;
    if (linkat(directory, from, directory, to, 0) != 0)
        return -1;
    (void)unlinkat(directory, from, 0);
    return 0;
}
