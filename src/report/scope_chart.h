/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_REPORT_SCOPE_CHART_H
#define SIMPLER_REPORT_SCOPE_CHART_H

/*
 * One chart as inline SVG.  It has no view box of its own: places are
 * percentages, so that it fills any width and its texts keep their size; only
 * the curves stretch.  All colours and dashes are presentation attributes and
 * survive a policy that forbids style sheets.
 */
#include <stdint.h>
#include <stdio.h>

#include "report/scope_model.h"

/* Colour and dash of each line, the same in tables and charts. */
struct simpler_chart_style {
    const char *colour; /* of Okabe and Ito */
    const char *dash;   /* stroke-dasharray, "none" for a whole line */
    const char *class_name;
};

/* Numbers the sites that the points of a page name, in the order of their use. */
struct simpler_chart_sites {
    uint32_t *refs;  /* by site id: number + 1, 0 = not yet */
    uint32_t *order; /* by number: site id */
    uint32_t count;
};

struct simpler_chart {
    enum simpler_scope_resource resource;
    const uint32_t *ring; /* NULL: all rings */
    uint64_t scopes;      /* length of the x axis */
    const struct simpler_scope_curve *curves[2];
    enum simpler_scope_metric metrics[2];
    int curve_count;
    struct simpler_scope_number capacity;
};

const struct simpler_chart_style *simpler_scope_chart_style(enum simpler_scope_resource resource,
                                                            enum simpler_scope_metric metric);
void simpler_scope_chart(FILE *out, const struct simpler_scope_model *m,
                         const struct simpler_chart *chart, struct simpler_chart_sites *sites);
/* A readable step for about @ticks ticks up to @top; a whole number if @whole. */
double simpler_scope_chart_step(double top, int ticks, int whole);

#endif
