/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_REPORT_DUMP_LOCATE_H
#define SIMPLER_REPORT_DUMP_LOCATE_H

/* Where a dump lies: a directory and the manifest in it. */
#include <stdbool.h>
#include <stddef.h>

#define SIMPLER_DUMP_MANIFEST_NAME "args_dump.json"

struct simpler_dump_place {
    char directory[4096]; /* of the manifest; the payload file and exports lie there too */
    char manifest[4096];
};

/*
 * @path: a dump's directory, the output directory above it, or a manifest; NULL
 * for the newest outputs/<any>/args_dump.  SIMPLER_ENOENT with a sentence in @error.
 */
int simpler_dump_locate(const char *path, struct simpler_dump_place *out, char *error,
                        size_t capacity);

#endif
