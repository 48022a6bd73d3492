/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_TOOLS_SCENE_LOADER_H
#define SIMPLER_TOOLS_SCENE_LOADER_H

/* Scenes on disk: where they are, and how one becomes a struct simpler_scene. */
#include <stddef.h>

#include "simpler/scene.h"

#define SIMPLER_SCENES_MAX 128

/* Names of scenes that can be given without a path, sorted. */
struct simpler_scene_names {
    char text[SIMPLER_SCENES_MAX][64];
    char dir[SIMPLER_SCENES_MAX][512]; /* where each is */
    size_t count;
    size_t omitted; /* found, but the list is full or the name too long for it */
};

void simpler_scene_loader_list(struct simpler_scene_names *names);

/*
 * Loads a scene by path or name and checks it.  It stays loaded for the rest of
 * the process: kernels may still be running when a run has ended.
 *
 * @param path  receives the file that was loaded
 * @return 0 or a SIMPLER_EXIT_* with the reason on standard error
 */
int simpler_scene_loader_open(const char *scene, const struct simpler_scene **out, char *path,
                              size_t path_bytes);

#endif
