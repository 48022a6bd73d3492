/* SPDX-License-Identifier: Apache-2.0 */
/* A panel: a stack of charts, beside it Line colors and Max use as tables. */
#include "report/scope_panel.h"

#include <inttypes.h>

#include "report/report_text.h"

void simpler_panel_amount(FILE *out, enum simpler_scope_resource resource, uint64_t value)
{
    char exact[SIMPLER_TEXT_BYTES], readable[SIMPLER_TEXT_BYTES];

    (void)simpler_report_text_count(exact, value);
    if (resource != SIMPLER_SCOPE_HEAP) {
        (void)fprintf(out, "<data value=\"%" PRIu64 "\">%s</data>", value, exact);
        return;
    }
    (void)simpler_report_text_bytes(readable, value);
    if (value < 1024)
        (void)fprintf(out, "<data value=\"%" PRIu64 "\">%s</data>", value, readable);
    else
        (void)fprintf(out, "<data value=\"%" PRIu64 "\">%s <small>(%s&nbsp;B)</small></data>",
                      value, readable, exact);
}

void simpler_panel_capacity(FILE *out, const struct simpler_scope_peak *peak)
{
    if (peak->capacity.known)
        simpler_panel_amount(out, peak->resource, peak->capacity.value);
    else
        (void)fputs("<span class=\"muted\">unknown</span>", out);
}

const char *simpler_panel_use_class(const struct simpler_scope_peak *peak)
{
    if (!peak->has_use)
        return "muted";
    return peak->use_percent >= 80 ? "danger" : peak->use_percent >= 50 ? "warn" : "ok";
}

void simpler_panel_use(FILE *out, const struct simpler_scope_peak *peak)
{
    char buffer[SIMPLER_TEXT_BYTES];
    (void)fprintf(out, "<span class=\"%s\">%s</span>", simpler_panel_use_class(peak),
                  peak->has_use ? simpler_report_text_percent(buffer, peak->use_percent)
                                : "unknown");
}

void simpler_panel_bar(FILE *out, const struct simpler_scope_peak *peak)
{
    if (!peak->has_use)
        return;
    const double width = peak->use_percent > 100 ? 100 : peak->use_percent;
    const char *fill = peak->use_percent >= 80   ? "#D55E00"
                       : peak->use_percent >= 50 ? "#E69F00"
                                                 : "#0072B2";
    (void)fprintf(out,
                  "<svg class=\"bar\" width=\"100%%\" height=\"6\" aria-hidden=\"true\"><rect "
                  "width=\"100%%\" height=\"6\" rx=\"3\" fill=\"#808080\" "
                  "fill-opacity=\"0.25\"/><rect width=\"%.2f%%\" height=\"6\" rx=\"3\" "
                  "fill=\"%s\"/></svg>",
                  width, fill);
}

void simpler_panel_name(FILE *out, const struct simpler_scope_model *m, uint32_t site)
{
    simpler_report_text_html_cut(out, m->sites.texts[site],
                                 m->ring_count > 8 ? SIMPLER_PANEL_NAME_BYTES : 4200);
}

static const char *meaning(enum simpler_scope_resource resource, enum simpler_scope_metric metric)
{
    static const char *const texts[] = {
        [SIMPLER_SCOPE_HIGH_WATER] = "upper bound of the occupancy reached",
        [SIMPLER_SCOPE_LIVE] = "occupied when the scope ends",
        [SIMPLER_SCOPE_ALLOC] = "allocated by the scope",
    };
    return resource == SIMPLER_SCOPE_TENSORMAP ? "entries in use when the scope ends"
                                               : texts[metric];
}

static void line_row(FILE *out, enum simpler_scope_resource resource,
                     enum simpler_scope_metric metric, const struct simpler_scope_curve *curve,
                     struct simpler_scope_number capacity)
{
    const struct simpler_chart_style *style = simpler_scope_chart_style(resource, metric);
    struct simpler_scope_peak peak = {.resource = resource, .capacity = capacity};

    peak.has_use = simpler_scope_model_use(curve->peak.value, capacity, &peak.use_percent);
    (void)fprintf(out,
                  "<tr data-metric=\"%s\"><td><svg class=\"swatch\" width=\"26\" height=\"10\" "
                  "aria-hidden=\"true\"><line class=\"line %s\" x1=\"0\" x2=\"26\" y1=\"5\" "
                  "y2=\"5\" stroke=\"%s\" stroke-width=\"3\" stroke-dasharray=\"%s\"/></svg> <b>%s"
                  "</b><br><small>%s</small></td><td class=\"num\">",
                  simpler_scope_model_metric_key(metric), style->class_name, style->colour,
                  style->dash, simpler_scope_model_metric_label(resource, metric),
                  meaning(resource, metric));
    simpler_panel_amount(out, resource, curve->peak.value);
    (void)fputs("</td><td class=\"num\">", out);
    simpler_panel_use(out, &peak);
    (void)fputs("</td></tr>\n", out);
}

static void line_colors(FILE *out, enum simpler_scope_resource resource,
                        const struct simpler_scope_curve *curves, int count,
                        struct simpler_scope_number capacity)
{
    (void)fputs("<table class=\"line-colors\"><caption>Line colors</caption><thead><tr><th "
                "scope=\"col\">Line</th><th scope=\"col\" class=\"num\">Peak</th><th scope=\"col\" "
                "class=\"num\">Use</th></tr></thead><tbody>\n",
                out);
    for (int k = 0; k < count; k++)
        line_row(out, resource, count == 1 ? SIMPLER_SCOPE_LIVE : (enum simpler_scope_metric)k,
                 &curves[k], capacity);
    (void)fputs("</tbody></table>\n", out);
}

static void max_use(FILE *out, const struct simpler_scope_model *m,
                    const struct simpler_scope_peak *p)
{
    (void)fprintf(out,
                  "<table class=\"max-use\"><caption>Max use</caption><tbody>\n"
                  "<tr><th scope=\"row\">Metric</th><td>%s</td></tr>\n"
                  "<tr><th scope=\"row\">Peak</th><td>",
                  simpler_scope_model_metric_label(p->resource, p->metric));
    simpler_panel_amount(out, p->resource, p->point.value);
    (void)fputs("</td></tr>\n<tr><th scope=\"row\">Capacity</th><td>", out);
    simpler_panel_capacity(out, p);
    (void)fputs("</td></tr>\n<tr><th scope=\"row\">Use</th><td>", out);
    simpler_panel_use(out, p);
    simpler_panel_bar(out, p);
    (void)fprintf(out,
                  "</td></tr>\n<tr><th scope=\"row\">Peak scope</th><td>%" PRIu64 "</td></tr>\n"
                  "<tr><th scope=\"row\">Peak site</th><td class=\"site\">",
                  p->point.index);
    simpler_panel_name(out, m, p->point.site);
    (void)fputs("</td></tr>\n", out);
    if (p->resource == SIMPLER_SCOPE_TENSORMAP)
        (void)fprintf(
            out, "<tr><th scope=\"row\">Peak context ring_depth</th><td>%" PRIu64 "</td></tr>\n",
            p->ring);
    (void)fputs("</tbody></table>\n", out);
}

static void chart_figure(FILE *out, const struct simpler_scope_model *m,
                         const struct simpler_chart *chart, struct simpler_chart_sites *sites)
{
    (void)fputs("<figure>\n<figcaption>", out);
    for (int i = 0; i < chart->curve_count; i++)
        (void)fprintf(out, "%s%s", i > 0 ? " and " : "",
                      simpler_scope_model_metric_label(chart->resource, chart->metrics[i]));
    (void)fputs(" <span class=\"muted\">by scope index", out);
    if (chart->curves[0]->series.count < chart->scopes)
        (void)fputs("; line: greatest of each column, band: down to the least", out);
    (void)fputs("</span></figcaption>\n", out);
    simpler_scope_chart(out, m, chart, sites);
    (void)fputs("</figure>\n", out);
}

static void ring_panel(FILE *out, const struct simpler_scope_model *m,
                       const struct simpler_scope_ring *ring, enum simpler_scope_resource resource,
                       struct simpler_chart_sites *sites)
{
    char buffer[SIMPLER_TEXT_BYTES];
    const struct simpler_scope_curve *curves = ring->curves[resource];
    const struct simpler_scope_number capacity =
        simpler_scope_record_capacity(&m->meta, resource, ring->ring);
    struct simpler_scope_peak peak = {.resource = resource,
                                      .metric = SIMPLER_SCOPE_HIGH_WATER,
                                      .ring = ring->ring,
                                      .capacity = capacity,
                                      .point = curves[SIMPLER_SCOPE_HIGH_WATER].peak};
    struct simpler_chart chart = {
        .resource = resource,
        .ring = &ring->ring,
        .scopes = ring->pairs,
        .curves = {&curves[SIMPLER_SCOPE_HIGH_WATER], &curves[SIMPLER_SCOPE_LIVE]},
        .metrics = {SIMPLER_SCOPE_HIGH_WATER, SIMPLER_SCOPE_LIVE},
        .curve_count = 2,
        .capacity = capacity};

    peak.has_use = simpler_scope_model_use(peak.point.value, capacity, &peak.use_percent);
    (void)fprintf(out,
                  "<details class=\"panel\" open data-resource=\"%s\" data-ring=\"%" PRIu32
                  "\"><summary>ring_depth %" PRIu32 " <span class=\"muted\">%s paired scopes"
                  "</span></summary>\n<div class=\"panel-body\"><div class=\"charts\">\n",
                  simpler_scope_model_resource_key(resource), ring->ring, ring->ring,
                  simpler_report_text_count(buffer, ring->pairs));
    chart_figure(out, m, &chart, sites);
    chart.curves[0] = &curves[SIMPLER_SCOPE_ALLOC];
    chart.metrics[0] = SIMPLER_SCOPE_ALLOC;
    chart.curve_count = 1;
    chart_figure(out, m, &chart, sites);
    (void)fputs("</div>\n<div class=\"summary\">\n", out);
    line_colors(out, resource, curves, SIMPLER_SCOPE_METRIC_NUM, capacity);
    max_use(out, m, &peak);
    (void)fputs("</div></div></details>\n", out);
}

static void global_panel(FILE *out, const struct simpler_scope_model *m,
                         struct simpler_chart_sites *sites)
{
    char buffer[SIMPLER_TEXT_BYTES];
    struct simpler_scope_peak peak;
    const struct simpler_chart chart = {.resource = SIMPLER_SCOPE_TENSORMAP,
                                        .scopes = m->counts.pairs,
                                        .curves = {&m->tensormap},
                                        .metrics = {SIMPLER_SCOPE_LIVE},
                                        .curve_count = 1,
                                        .capacity = m->meta.tensormap_max};

    (void)fprintf(out,
                  "<details class=\"panel\" open data-resource=\"tensormap\" "
                  "data-ring=\"global\"><summary>global <span class=\"muted\">%s paired scopes of "
                  "all ring_depths</span></summary>\n<div class=\"panel-body\"><div "
                  "class=\"charts\">\n",
                  simpler_report_text_count(buffer, m->counts.pairs));
    chart_figure(out, m, &chart, sites);
    (void)fputs("</div>\n<div class=\"summary\">\n", out);
    line_colors(out, SIMPLER_SCOPE_TENSORMAP, &m->tensormap, 1, m->meta.tensormap_max);
    if (simpler_scope_model_worst(m, SIMPLER_SCOPE_TENSORMAP, &peak))
        max_use(out, m, &peak);
    (void)fputs("</div></div></details>\n", out);
}

void simpler_panel_section(FILE *out, const struct simpler_scope_model *m,
                           enum simpler_scope_resource resource, struct simpler_chart_sites *sites)
{
    if (m->counts.pairs == 0)
        return;
    (void)fprintf(out, "<section class=\"resource\" id=\"%s\">\n<h2>%s</h2>\n",
                  simpler_scope_model_resource_key(resource),
                  simpler_scope_model_resource_label(resource));
    for (uint32_t i = 0; resource != SIMPLER_SCOPE_TENSORMAP && i < m->ring_count; i++) {
        if (m->rings[i].pairs > 0)
            ring_panel(out, m, &m->rings[i], resource, sites);
    }
    if (resource == SIMPLER_SCOPE_TENSORMAP)
        global_panel(out, m, sites);
    (void)fputs("</section>\n", out);
}
