/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_TOOLS_SCENE_GOLDEN_H
#define SIMPLER_TOOLS_SCENE_GOLDEN_H

/* What a case's tensors must be after the run. */
#include "scene_args.h"

/*
 * Compares every out and inout with the case's golden, and every in with what it
 * was.  0 right, 1 wrong, SIMPLER_E* when there is nothing to compare with; one
 * line in @message each time.  A case without golden compares its inputs alone.
 */
int simpler_scene_golden_check(const struct simpler_manifest *m,
                               const struct simpler_scene_args *args, char *message,
                               size_t message_bytes);

#endif
