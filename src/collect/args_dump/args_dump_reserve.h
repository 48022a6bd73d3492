/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_COLLECT_ARGS_DUMP_RESERVE_H
#define SIMPLER_COLLECT_ARGS_DUMP_RESERVE_H

/*
 * Blocks behind the end of a growing file, asked for ahead of its writes: these
 * then need no block of their own, which makes them half as fast again.  The
 * file's size is never changed; what is left over is given back by a trim, or by
 * whoever shortens the file.
 *
 * Threads: one writer of the file at a time.
 */
#include <stdbool.h>
#include <stdint.h>

struct args_dump_reserve {
    uint64_t end; /* up to where blocks were asked for */
    bool refused; /* the disk has too few, or cannot do it */
};

/* Before @bytes are written at @at, the end of the file. */
void simpler_args_dump_reserve_ahead(struct args_dump_reserve *reserve, int fd, uint64_t at,
                                     uint64_t bytes);
/* The file ends at @size, and so do its blocks. */
void simpler_args_dump_reserve_trim(struct args_dump_reserve *reserve, int fd, uint64_t size);

#endif
