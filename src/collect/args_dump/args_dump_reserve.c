/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A file that has grown to some MiB will go on: as much again is reserved, up to
 * a limit.  Short files pay nothing.  A disk that is filling up keeps its blocks
 * for what is really written.
 */
#include "collect/args_dump/args_dump_reserve.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/logger.h"
#include "base/testpoint.h"

#define LEAST_BYTES ((uint64_t)4 << 20)
#define MOST_BYTES  ((uint64_t)64 << 20)
#define FREE_PARTS  8u /* at most this part of what the disk has */

static bool has_plenty(int fd, uint64_t bytes)
{
    struct statvfs st;

    return fstatvfs(fd, &st) == 0 && (uint64_t)st.f_bavail * st.f_frsize / FREE_PARTS > bytes;
}

static bool reserve_blocks(int fd, uint64_t at, uint64_t bytes)
{
    if (SIMPLER_FAILPOINT(DUMP_RESERVE) || !has_plenty(fd, bytes))
        return false;
    return fallocate(fd, FALLOC_FL_KEEP_SIZE, (off_t)at, (off_t)bytes) == 0;
}

void simpler_args_dump_reserve_ahead(struct args_dump_reserve *reserve, int fd, uint64_t at,
                                     uint64_t bytes)
{
    if (reserve->refused || at < LEAST_BYTES || at + bytes <= reserve->end)
        return;
    uint64_t from = reserve->end > at ? reserve->end : at;
    uint64_t more = at < MOST_BYTES ? at : MOST_BYTES;
    reserve->refused = !reserve_blocks(fd, from, more);
    if (!reserve->refused)
        reserve->end = from + more;
}

void simpler_args_dump_reserve_trim(struct args_dump_reserve *reserve, int fd, uint64_t size)
{
    /* Blocks behind an unchanged size go too. */
    if (reserve->end > size && ftruncate(fd, (off_t)size) != 0)
        SIMPLER_WARN("args dump: blocks behind the file's end could not be given back (errno %d)",
                     errno);
    reserve->end = 0;
    reserve->refused = false;
}
