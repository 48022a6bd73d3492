/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_TOOLS_RUN_OUTPUT_H
#define SIMPLER_TOOLS_RUN_OUTPUT_H

/*
 * Where the diagnostics of a case go:
 *
 *     OUT/<scene>_<case>_<YYYYMMDD_HHMMSS>[_N]/[round_<i>/]
 *     OUT/latest    a link to the last of them
 */
#include <stdbool.h>
#include <stdint.h>

#include "run_options.h"

/* Longest prefix that a run takes, with its NUL. */
#define SIMPLER_RUN_PREFIX_BYTES 1024

/*
 * Before the first run: 0, or SIMPLER_EXIT_USAGE when nothing can be written under
 * options->out_dir, with the reason on standard error.  @makes: the directory is made if it
 * is missing, since only that tells for certain.
 */
int simpler_run_output_check(const struct simpler_run_options *options, bool makes);

/*
 * Makes the directory of a case under options->out_dir; a name that is taken gets
 * a number.  Always fills @prefix; a directory that cannot be made is said on
 * standard error and left to the diagnostics, which fail on it.  SIMPLER_EXIT_USAGE
 * when the path is too long.
 */
int simpler_run_output_make(const struct simpler_run_options *options, const char *scene,
                            const char *scene_case, char prefix[SIMPLER_RUN_PREFIX_BYTES]);

/* The prefix of round @index (from 0): a subdirectory when there are several. */
void simpler_run_output_round(const struct simpler_run_options *options, const char *prefix,
                              uint32_t index, char out[SIMPLER_RUN_PREFIX_BYTES]);

#endif
