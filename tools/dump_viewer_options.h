/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_TOOLS_DUMP_VIEWER_OPTIONS_H
#define SIMPLER_TOOLS_DUMP_VIEWER_OPTIONS_H

/* What the command line of simpler dump-viewer asks for. */
#include <stdbool.h>

#include "report/dump_export.h"
#include "report/dump_filter.h"

#define SIMPLER_DUMP_VIEWER_NAME "dump-viewer"

struct simpler_dump_viewer_options {
    const char *path; /* NULL: the newest dump */
    struct simpler_dump_filter filter;
    enum simpler_dump_format format;
    bool wants_export;
    bool wants_stats;
    bool wants_check;
    bool wants_json;
};

/*
 * Fills a zeroed object; 0 or an exit status, with the mistake told.  The
 * filter must be finished in both cases.
 */
int simpler_dump_viewer_options_parse(struct simpler_dump_viewer_options *o, int argc, char **argv);

extern const char simpler_dump_viewer_options_help[];

#endif
