/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_TOOLS_MANIFEST_ARGS_H
#define SIMPLER_TOOLS_MANIFEST_ARGS_H

#include "manifest_reader.h"
#include "scene_manifest.h"

/* Reads the list args of a case, tensors before scalars; false once something is wrong. */
bool simpler_manifest_read_args(struct simpler_manifest_reader *r, json_t *object,
                                struct simpler_manifest_case *c);

#endif
