/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_TOOLS_RUN_PLAN_H
#define SIMPLER_TOOLS_RUN_PLAN_H

/* Which cases of a scene run, each with its parameters and its whole config. */
#include "run_options.h"
#include "simpler/scene.h"

struct simpler_run_case {
    const struct simpler_scene_case *scene_case;
    struct simpler_call_config config;   /* what the run is asked for */
    struct simpler_call_config resolved; /* what it gets */
    int64_t *params;                     /* in the order of scene->params */
};

struct simpler_run_plan {
    struct simpler_run_case *cases;
    uint32_t count;
    uint32_t param_count;
};

/* 0 or a SIMPLER_EXIT_* with the reason on standard error. */
int simpler_run_plan_init(struct simpler_run_plan *plan, const struct simpler_scene *scene,
                          const struct simpler_run_options *options);
/* Accepts a zeroed and a half-built plan. */
void simpler_run_plan_fini(struct simpler_run_plan *plan);

#endif
