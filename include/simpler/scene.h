/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_SCENE_H
#define SIMPLER_SCENE_H

/*
 * A scene is a shared object that exports one `struct simpler_scene` named
 * `simpler_scene`: what `simpler run FILE` needs to run it and to judge it.  The object, its
 * strings and arrays stay loaded to the program's end.
 *
 * prepare, check and finish are called by the program's main thread, once a round each, never
 * during a run; finish not at all when a run has left a kernel behind.
 */
#include "simpler/worker.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Goes up when a struct that a scene is built with changes its layout. */
#define SIMPLER_SCENE_ABI 5

/** A number that the user may set with --param NAME=VALUE. */
struct simpler_scene_param {
    const char *name;
    const char *help;
    int64_t value; /**< default */
    int64_t min, max;
};

/** A parameter's value in one case. */
struct simpler_scene_value {
    const char *name;
    int64_t value;
};

/** One case: a name, and what differs from the defaults. */
struct simpler_scene_case {
    const char *name;
    const char *platforms; /**< comma-separated names; NULL: all */
    int manual;            /**< 1: runs only with --manual include or only */
    struct simpler_call_config config;
    const struct simpler_scene_value *params; /**< ends with name NULL; NULL: none */
    /** The status that the run must end with; 0: it passes.  A run that fails as expected
     *  is right, and check is not called. */
    int expected_status;
};

/** One execution of one case, from prepare to finish. */
struct simpler_scene_run {
    const struct simpler_scene *scene;
    const struct simpler_scene_case *scene_case;
    const int64_t *param; /**< values in the order of scene->params */
    struct simpler_worker *worker;
    struct simpler_orch_args args; /**< prepare fills it; args.user may be anything */
    void *state;                   /**< the scene's own */
};

struct simpler_scene {
    uint32_t abi;     /**< SIMPLER_SCENE_ABI */
    uint32_t hazards; /**< enum simpler_hazards; 0: the platform's default */
    const char *name;
    const char *description; /**< one line */
    struct simpler_callable callable;
    const struct simpler_scene_param *params; /**< ends with name NULL; NULL: none */
    const struct simpler_scene_case *cases;
    uint32_t case_count;
    /** Makes the arguments. 0 or SIMPLER_E*; on failure @message says why. */
    int (*prepare)(struct simpler_scene_run *run, char *message, size_t message_bytes);
    /** Compares with the golden result: 0 right, 1 wrong; @message gets one line either way. */
    int (*check)(struct simpler_scene_run *run, char *message, size_t message_bytes);
    /** Frees what prepare made; also after a prepare that failed half-way. */
    void (*finish)(struct simpler_scene_run *run);
};

#ifdef __cplusplus
}
#endif
#endif
