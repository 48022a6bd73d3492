/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_TOOLS_SCENE_ARGS_H
#define SIMPLER_TOOLS_SCENE_ARGS_H

/* The arguments of one case of a manifest, made, and what they were before the run. */
#include "scene_manifest.h"

struct simpler_scene_args {
    const struct simpler_manifest_case *c;
    struct simpler_tensor *tensors; /* in the order of the case's tensors */
    uint64_t *scalars;
    void **before; /* each tensor's bytes as they were made */
};

/* 0, or SIMPLER_E* with the reason in @message; _free is due in both cases. */
int simpler_scene_args_make(struct simpler_scene_args *args, const struct simpler_manifest *m,
                            const struct simpler_manifest_case *c, char *message,
                            size_t message_bytes);
void simpler_scene_args_free(struct simpler_scene_args *args);

/* Bytes of a tensor's elements. */
size_t simpler_scene_args_bytes(const struct simpler_manifest_arg *arg);

#endif
