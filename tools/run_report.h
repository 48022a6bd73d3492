/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_TOOLS_RUN_REPORT_H
#define SIMPLER_TOOLS_RUN_REPORT_H

/* The summary of a run, for people and for machines. */
#include <stdio.h>

#include "run_record.h"

/* With --quiet only what failed. */
void simpler_run_report_text(const struct simpler_run_summary *summary, FILE *out);
void simpler_run_report_json(const struct simpler_run_summary *summary, FILE *out);

#endif
