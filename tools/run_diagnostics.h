/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_TOOLS_RUN_DIAGNOSTICS_H
#define SIMPLER_TOOLS_RUN_DIAGNOSTICS_H

/* What the diagnostics of a round left, read back and shown. */
#include <stdbool.h>
#include <stdio.h>

#include "json_writer.h"
#include "report/scope_model.h"
#include "simpler/worker.h"

struct simpler_run_diagnostics {
    struct simpler_scope_model *scope_stats; /* NULL: no file, or it could not be read */
    char page[1088];                         /* scope_stats.html; empty: there is none */
};

/* After a round: reads scope_stats.jsonl and writes its page; what fails is a warning. */
void simpler_run_diagnostics_make(struct simpler_run_diagnostics *d,
                                  const struct simpler_run_result *result);
/*
 * Across runs, after the barrier: the same for what a round has left under @prefix.
 * @result, when it is this round's, learns what there is.  False: scope stats that were
 * asked for are not there, or not whole.
 */
bool simpler_run_diagnostics_collect(struct simpler_run_diagnostics *d, const char *prefix,
                                     const struct simpler_call_config *config,
                                     struct simpler_run_result *result);
/* A zeroed one is allowed. */
void simpler_run_diagnostics_fini(struct simpler_run_diagnostics *d);

/* Whether something that was asked for is missing or incomplete. */
bool simpler_run_diagnostics_incomplete(const struct simpler_run_result *result);

/* Lines for the summary, each with an indent; the table of peaks when @peaks. */
void simpler_run_diagnostics_text(FILE *out, const struct simpler_run_diagnostics *d,
                                  const struct simpler_run_result *result, bool peaks);
/* The keys "scope_stats" and "args_dump", each when it was on. */
void simpler_run_diagnostics_json(struct simpler_json_writer *w,
                                  const struct simpler_run_diagnostics *d,
                                  const struct simpler_run_result *result);

#endif
