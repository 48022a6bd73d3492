/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_TOOLS_RUN_OPTIONS_H
#define SIMPLER_TOOLS_RUN_OPTIONS_H

/* The command line of `simpler run`, parsed and checked as far as it can be without the scene. */
#include <stdbool.h>
#include <stdint.h>

#include "simpler/info.h"

#define SIMPLER_RUN_MAX_CASES  64
#define SIMPLER_RUN_MAX_PARAMS 64

enum simpler_run_manual {
    SIMPLER_RUN_MANUAL_EXCLUDE,
    SIMPLER_RUN_MANUAL_INCLUDE,
    SIMPLER_RUN_MANUAL_ONLY
};

struct simpler_run_param {
    char name[64];
    int64_t value;
};

struct simpler_run_options {
    const char *scene; /* path or name */
    struct simpler_platform_info platform;
    uint32_t device_id;
    const char *cases[SIMPLER_RUN_MAX_CASES];
    uint32_t case_count; /* 0: all */
    uint32_t rounds;
    enum simpler_run_manual manual;
    struct simpler_call_config config; /* zeros are not given */
    bool exec_given;
    bool skip_golden;
    bool exit_first;
    bool across_runs; /* a worker of level 3 that collects across runs */
    bool crash_safe;
    bool json;
    bool quiet;
    const char *out_dir; /* takes the place of `outputs` */
    bool out_given;
    struct simpler_run_param params[SIMPLER_RUN_MAX_PARAMS];
    uint32_t param_count;
};

extern const char simpler_run_options_help[];

/* 0, or SIMPLER_EXIT_USAGE with the reason on standard error.  Sets the log level. */
int simpler_run_options_parse(struct simpler_run_options *options, int argc, char **argv);

#endif
