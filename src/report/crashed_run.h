/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_REPORT_CRASHED_RUN_H
#define SIMPLER_REPORT_CRASHED_RUN_H

/* What a run leaves that has not ended, or was killed, and the directory to recover it by. */
#include <stdbool.h>

#define SIMPLER_CRASHED_BYTES 4096

/*
 * @path: a file or directory of a run, which need not exist: the output prefix, one of its
 * directories, a file in those.  True: the prefix, into @prefix, holds unfinished files.
 */
bool simpler_crashed_find(const char *path, char prefix[SIMPLER_CRASHED_BYTES]);

/*
 * Of a @prefix that was found: its scope stats have no sample on the disk, and no .live says
 * that there may be some in memory: nothing can be made of them.
 */
bool simpler_crashed_has_no_sample(const char *prefix);

#endif
