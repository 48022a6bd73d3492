/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_TOOLS_RUN_RECORD_H
#define SIMPLER_TOOLS_RUN_RECORD_H

/* What the rounds of one case did; the reports read nothing else. */
#include "run_diagnostics.h"
#include "run_peaks.h"
#include "run_plan.h"

enum simpler_run_golden {
    SIMPLER_GOLDEN_NOT_REACHED, /* the run failed before */
    SIMPLER_GOLDEN_SKIPPED,     /* as asked, or the scene has none */
    SIMPLER_GOLDEN_RIGHT,
    SIMPLER_GOLDEN_WRONG,
    SIMPLER_GOLDEN_FAILED /* the comparison itself failed */
};

struct simpler_run_round {
    uint64_t wall_ns;
    int status; /* of the run, or of prepare */
    bool passed;
};

struct simpler_run_record {
    const struct simpler_run_case *plan;
    struct simpler_run_round *rounds;
    uint32_t round_count; /* that were begun */
    uint32_t failed_count;
    uint32_t incomplete_count;      /* a diagnostic that was asked for is missing or incomplete */
    struct simpler_run_peaks peaks; /* of all rounds */
    uint32_t shown;                 /* the round (from 0) that the rest is of: */
    /* the first that failed, else the last. */
    struct simpler_run_result result;
    struct simpler_run_diagnostics diagnostics;
    enum simpler_run_golden golden;
    char golden_message[1024];
    char prepare_message[1024]; /* why prepare failed, else empty */
};

/* Everything that a report needs. */
struct simpler_run_summary {
    const struct simpler_scene *scene;
    const char *path;
    const struct simpler_run_options *options;
    const struct simpler_run_plan *plan;
    struct simpler_run_record *records; /* one a case, in order */
    uint32_t record_count;              /* that were begun */
    bool interrupted;
    bool left_behind; /* a run hung, and a thread of it is still inside the scene */
};

/* Wall times of the rounds that passed: median, least, greatest; false when there are none. */
bool simpler_run_record_times(const struct simpler_run_record *record, uint64_t *median,
                              uint64_t *min, uint64_t *max);
/* Cases that were begun and whose rounds all passed. */
uint32_t simpler_run_record_passed(const struct simpler_run_summary *summary);
/* Whether every diagnostic of every round is whole. */
bool simpler_run_record_whole(const struct simpler_run_summary *summary);
const char *simpler_run_record_golden(enum simpler_run_golden golden);

#endif
