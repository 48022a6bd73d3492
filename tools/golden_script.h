/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_TOOLS_GOLDEN_SCRIPT_H
#define SIMPLER_TOOLS_GOLDEN_SCRIPT_H

/*
 * Expected results by a Python function: it gets the arguments as they were
 * before the run, by name, and returns arrays by name.
 */
#include "scene_args.h"

/*
 * Runs m->dir/SCRIPT's function with $PYTHON, else /usr/bin/python3 (which has
 * Debian's numpy), else python3.  @expected[t] gets the bytes of tensor t, for
 * every tensor that is not in.  What Python says goes to standard error.
 */
int simpler_golden_script_run(const struct simpler_manifest *m,
                              const struct simpler_scene_args *args, const char *script,
                              void **expected, char *message, size_t message_bytes);

#endif
