/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_TOOLS_RUN_PEAKS_H
#define SIMPLER_TOOLS_RUN_PEAKS_H

/*
 * Peaks of several rounds: of each resource and ring the least, the mean and the
 * most of what the rounds' scope stats say, in flat memory.
 */
#include <stdint.h>
#include <stdio.h>

#include "json_writer.h"
#include "report/scope_model.h"

/* Three resources on each ring of a run and the tensormap. */
#define SIMPLER_RUN_PEAK_ROWS 13

struct simpler_run_peak {
    enum simpler_scope_resource resource;
    uint64_t ring;
    struct simpler_scope_number capacity; /* of the round with the most */
    uint64_t least, most;
    double sum;
    uint32_t rounds;
    uint32_t round_of_most; /* from 1 */
};

struct simpler_run_peaks {
    struct simpler_run_peak rows[SIMPLER_RUN_PEAK_ROWS];
    uint32_t count;
    uint32_t rounds; /* that had scope stats to read */
};

/* Adds a round (from 1). */
void simpler_run_peaks_add(struct simpler_run_peaks *peaks, const struct simpler_scope_model *m,
                           uint32_t round);
/* The table, indented; nothing without rounds. */
void simpler_run_peaks_text(FILE *out, const struct simpler_run_peaks *peaks);
/* "peaks_over_rounds". */
void simpler_run_peaks_json(struct simpler_json_writer *w, const struct simpler_run_peaks *peaks);

#endif
