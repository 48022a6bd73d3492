/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_TOOLS_SCENE_DIR_H
#define SIMPLER_TOOLS_SCENE_DIR_H

/* A directory of C++ sources with a scene.json, built and as a scene. */
#include <stdbool.h>
#include <stddef.h>

#include "simpler/scene.h"

/* What a build did. */
struct simpler_scene_build {
    size_t source_count;
    size_t cached_count;
};

bool simpler_scene_dir_is(const char *path);

/*
 * Reads the manifest and compiles what the cache does not have.  0, or an exit
 * status with the reason on standard error.
 */
int simpler_scene_dir_build(const char *command, const char *path, struct simpler_scene_build *out);

/*
 * The same, and loads the objects.  The scene stays for the rest of the process:
 * kernels may still be running when a run has ended.
 */
int simpler_scene_dir_open(const char *command, const char *path, const struct simpler_scene **out);

#endif
