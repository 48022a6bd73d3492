/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_REPORT_SCOPE_PANEL_H
#define SIMPLER_REPORT_SCOPE_PANEL_H

/* Parts of the page: amounts, bars, and the panels of a resource with chart and summary. */
#include <stdio.h>

#include "report/scope_chart.h"
#include "report/scope_model.h"

/* A name longer than this is cut where many names stand. */
#define SIMPLER_PANEL_NAME_BYTES 200

/* An amount with its exact value for machines and sorting: <data value="8192">8.00 KiB</data>. */
void simpler_panel_amount(FILE *out, enum simpler_scope_resource resource, uint64_t value);
void simpler_panel_capacity(FILE *out, const struct simpler_scope_peak *peak);
void simpler_panel_use(FILE *out, const struct simpler_scope_peak *peak);
/* A bar of the use, capped at its end; nothing where the use is unknown. */
void simpler_panel_bar(FILE *out, const struct simpler_scope_peak *peak);
/* "danger" from 80 %, "warn" from 50 %, "ok", or "muted" where the use is unknown. */
const char *simpler_panel_use_class(const struct simpler_scope_peak *peak);
void simpler_panel_name(FILE *out, const struct simpler_scope_model *m, uint32_t site);

/* All panels of a resource; nothing where no scope is paired. */
void simpler_panel_section(FILE *out, const struct simpler_scope_model *m,
                           enum simpler_scope_resource resource, struct simpler_chart_sites *sites);

#endif
