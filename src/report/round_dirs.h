/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_REPORT_ROUND_DIRS_H
#define SIMPLER_REPORT_ROUND_DIRS_H

/* The directories round_<i> that `simpler run --rounds` makes in its output prefix. */
#include <dirent.h>

struct simpler_round_dirs {
    struct dirent **entry; /* d_name; by number */
    int count;
};

/*
 * SIMPLER_EIO: @directory cannot be read, errno says why; @out is empty then.  Else
 * simpler_round_dirs_fini frees what @out owns.
 */
int simpler_round_dirs_list(const char *directory, struct simpler_round_dirs *out);
void simpler_round_dirs_fini(struct simpler_round_dirs *rounds);

#endif
