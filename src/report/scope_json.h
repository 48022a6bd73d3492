/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_REPORT_SCOPE_JSON_H
#define SIMPLER_REPORT_SCOPE_JSON_H

#include <stdio.h>

#include "report/scope_model.h"

/* The facts of the page as one JSON object; @report: path of the page, NULL: none. */
void simpler_scope_json(FILE *out, const struct simpler_scope_model *m, const char *report);
/* Chip, sentence and the first @rows of Top Peaks by use, for a terminal. */
void simpler_scope_table(FILE *out, const struct simpler_scope_model *m, uint32_t rows);

#endif
