/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_TOOLS_SCENE_MANIFEST_H
#define SIMPLER_TOOLS_SCENE_MANIFEST_H

/*
 * scene.json of a directory of sources, read and checked as a whole (docs/porting.md
 * tells what it may hold).  Strings belong to the document, which the manifest keeps.
 */
#include <stdbool.h>
#include <stdint.h>

#include "element.h"
#include "simpler/scene.h"

struct json_t; /* jansson's */

enum simpler_manifest_init {
    SIMPLER_INIT_FILL,   /* number[0] everywhere; zeros when nothing is given */
    SIMPLER_INIT_ARANGE, /* number[0] + i * number[1] */
    SIMPLER_INIT_RANDOM, /* from number[0] to number[1], integers inclusive */
    SIMPLER_INIT_VALUES, /* one number an element */
    SIMPLER_INIT_NPY,    /* the elements of a file */
};

struct simpler_manifest_arg {
    const char *name;
    bool is_scalar;
    uint32_t dtype;
    uint64_t bits; /* of a scalar */
    uint32_t ndims;
    uint32_t shape[SIMPLER_MAX_DIMS];
    uint64_t numel;
    enum simpler_arg_direction direction;
    enum simpler_manifest_init init;
    struct simpler_element_number number[2];
    uint64_t seed;
    const char *npy;
    const struct json_t *values;
};

struct simpler_manifest_golden {
    const char *script;         /* FILE:FUNCTION; NULL: none */
    const struct json_t *files; /* argument's name to .npy file; NULL: none */
    double rtol, atol;
};

struct simpler_manifest_case {
    struct simpler_manifest_arg *args;
    uint32_t arg_count;
    uint32_t tensor_count;
    struct simpler_manifest_golden golden;
};

struct simpler_manifest_kernel {
    uint32_t func_id;
    const char *name;
    const char *source;
    const char *entry;
    enum simpler_core_type core_type;
    uint8_t *signature;
    uint32_t signature_count;
};

struct simpler_manifest {
    struct json_t *root;
    const char *dir; /* borrowed */
    const char *name;
    const char *description;
    const char *source;
    const char *entry;
    const char *config; /* the function that says how many arguments are expected */
    const char **include_dirs;
    uint32_t include_dir_count;
    struct simpler_manifest_kernel *kernels;
    uint32_t kernel_count;
    struct simpler_scene_case *scene_cases; /* as many as cases */
    struct simpler_manifest_case *cases;
    uint32_t case_count;
};

#define SIMPLER_MANIFEST_FILE "scene.json"

/*
 * Reads DIR/scene.json.  0, or SIMPLER_EXIT_FAILED with the place and the fault
 * on standard error.  simpler_manifest_close is due in both cases.
 */
int simpler_manifest_open(struct simpler_manifest *m, const char *command, const char *dir);
void simpler_manifest_close(struct simpler_manifest *m);

/* Entry @i of a list of values. */
struct simpler_element_number simpler_manifest_value(const struct json_t *values, uint64_t i);
/* The file of a golden's argument; NULL when there is none. */
const char *simpler_manifest_golden_file(const struct json_t *files, const char *name);

#endif
