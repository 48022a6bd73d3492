/* SPDX-License-Identifier: Apache-2.0 */
/* Charts: grid and texts in percent of the whole, curves in a nested, stretched view box. */
#include "report/scope_chart.h"

#include <inttypes.h>
#include <math.h>

#include "base/text.h"
#include "report/report_text.h"

/* The view box of the curves, and where it lies in the chart, in percent. */
#define BOX_WIDTH  2000.0
#define BOX_HEIGHT 1000.0
#define TOP        7.0
#define HEIGHT     80.0
/* With so few scopes each one gets a dot. */
#define DOTS_UP_TO 60

static const struct simpler_chart_style ringed_styles[] = {
    [SIMPLER_SCOPE_HIGH_WATER] = {"#D55E00", "none", "high-water"},
    [SIMPLER_SCOPE_LIVE] = {"#009E73", "7 3", "live"},
    [SIMPLER_SCOPE_ALLOC] = {"#0072B2", "2 2", "alloc"},
};
static const struct simpler_chart_style tensormap_style = {"#CC79A7", "9 2 2 2", "entries"};

const struct simpler_chart_style *simpler_scope_chart_style(enum simpler_scope_resource resource,
                                                            enum simpler_scope_metric metric)
{
    return resource == SIMPLER_SCOPE_TENSORMAP ? &tensormap_style : &ringed_styles[metric];
}

double simpler_scope_chart_step(double top, int ticks, int whole)
{
    static const double steps[] = {1, 2, 2.5, 5, 7.5, 10};
    const double wanted = top / ticks;
    const double power = pow(10, floor(log10(wanted > 0 ? wanted : 1)));

    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
        double step = steps[i] * power;
        if (step >= wanted * (1 - 1e-9) && (!whole || step == floor(step)))
            return step;
    }
    return whole ? 1 : 10 * power;
}

/* What the axis counts in: entries, or bytes in a unit that fits the peak. */
struct axis {
    double top; /* in raw units: peak * 1.1 */
    double unit;
    const char *name;
};

static struct axis axis_of(const struct simpler_chart *chart)
{
    static const char *const names[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    struct axis axis = {0, 1, chart->resource == SIMPLER_SCOPE_TASK_WINDOW ? "slots" : "entries"};
    uint64_t peak = 0;

    for (int i = 0; i < chart->curve_count; i++)
        peak = chart->curves[i]->peak.value > peak ? chart->curves[i]->peak.value : peak;
    axis.top = peak == 0 ? 1 : (double)peak * 1.1;
    if (chart->resource == SIMPLER_SCOPE_HEAP) {
        int unit = 0;
        for (; (double)peak / axis.unit >= 1024 && unit < 6; unit++)
            axis.unit *= 1024;
        axis.name = names[unit];
    }
    return axis;
}

static double x_percent(const struct simpler_chart *chart, uint64_t index)
{
    return chart->scopes < 2 ? 50 : 100.0 * (double)index / (double)(chart->scopes - 1);
}

static double y_percent(const struct axis *axis, double value)
{
    return TOP + HEIGHT * (1 - value / axis->top);
}

static void tick_text(FILE *out, double value, bool whole)
{
    char buffer[SIMPLER_TEXT_BYTES];
    if (whole && value < 1e18)
        (void)fputs(simpler_report_text_count(buffer, (uint64_t)value), out);
    else
        (void)fprintf(out, "%.10g", value);
}

static void y_grid(FILE *out, const struct axis *axis, int ticks)
{
    const bool whole = axis->unit == 1;
    const double step = simpler_scope_chart_step(axis->top / axis->unit, ticks, whole);

    for (int i = 0; i * step * axis->unit <= axis->top && i < 16; i++) {
        double y = y_percent(axis, i * step * axis->unit);
        (void)fprintf(out,
                      "<line x1=\"0\" x2=\"100%%\" y1=\"%.2f%%\" y2=\"%.2f%%\" stroke=\"#808080\" "
                      "stroke-opacity=\"%s\"/>\n",
                      y, y, i == 0 ? "0.9" : "0.28");
    }
}

/* Above the curves; none at the axis itself, where the x tick says 0. */
static void y_labels(FILE *out, const struct axis *axis, int ticks)
{
    const bool whole = axis->unit == 1;
    const double step = simpler_scope_chart_step(axis->top / axis->unit, ticks, whole);

    for (int i = 1; i * step * axis->unit <= axis->top && i < 16; i++) {
        double y = y_percent(axis, i * step * axis->unit);
        (void)fprintf(out,
                      "<text class=\"ty\" x=\"0\" y=\"%.2f%%\" dy=\"-3\" font-size=\"11\" "
                      "fill=\"#767676\">",
                      y);
        tick_text(out, i * step, whole);
        (void)fprintf(out, " %s</text>\n", axis->name);
    }
}

static void x_grid(FILE *out, const struct simpler_chart *chart)
{
    const uint64_t last = chart->scopes > 0 ? chart->scopes - 1 : 0;
    const uint64_t step = last == 0 ? 1 : (uint64_t)simpler_scope_chart_step((double)last, 8, true);

    for (uint64_t i = 0, tick = 0; i <= last; i += step, tick++) {
        double x = x_percent(chart, i);
        const char *anchor = x < 1 ? "start" : x > 97 ? "end" : "middle";
        (void)fprintf(out,
                      "<line x1=\"%.2f%%\" x2=\"%.2f%%\" y1=\"%.0f%%\" y2=\"%.0f%%\" "
                      "stroke=\"#808080\" stroke-opacity=\"0.7\"/><text class=\"tx%s\" "
                      "x=\"%.2f%%\" y=\"%.0f%%\" dy=\"15\" font-size=\"11\" fill=\"#767676\" "
                      "text-anchor=\"%s\">",
                      x, x, TOP + HEIGHT, TOP + HEIGHT + 1.5, tick % 2 == 1 ? " odd" : "", x,
                      TOP + HEIGHT, anchor);
        tick_text(out, (double)i, true);
        (void)fputs("</text>\n", out);
    }
}

static void capacity_line(FILE *out, const struct simpler_chart *chart, const struct axis *axis)
{
    if (!chart->capacity.known || (double)chart->capacity.value > axis->top ||
        chart->metrics[0] == SIMPLER_SCOPE_ALLOC)
        return;
    double y = y_percent(axis, (double)chart->capacity.value);
    (void)fprintf(out,
                  "<line class=\"cap\" x1=\"0\" x2=\"100%%\" y1=\"%.2f%%\" y2=\"%.2f%%\" "
                  "stroke=\"#767676\" stroke-width=\"1.5\" stroke-dasharray=\"1 3\"/><text "
                  "class=\"ty\" x=\"100%%\" y=\"%.2f%%\" dy=\"-3\" font-size=\"11\" "
                  "fill=\"#767676\" text-anchor=\"end\">capacity</text>\n",
                  y, y, y);
}

/* The one or two points of a column, in the order of their scopes. */
static int points_of(const struct simpler_series_column *column,
                     const struct simpler_series_point *out[2])
{
    const bool min_first = column->min.index < column->max.index;
    out[0] = min_first ? &column->min : &column->max;
    out[1] = min_first ? &column->max : &column->min;
    return column->min.index == column->max.index ? 1 : 2;
}

static uint32_t site_ref(struct simpler_chart_sites *sites, uint32_t site)
{
    if (sites->refs[site] == 0) {
        sites->order[sites->count] = site;
        sites->refs[site] = ++sites->count;
    }
    return sites->refs[site] - 1;
}

static void write_place(FILE *out, const struct simpler_chart *chart, const struct axis *axis,
                        const struct simpler_series_point *point, const char *blank)
{
    (void)fprintf(out, "%s%d %d", blank,
                  (int)lround(x_percent(chart, point->index) / 100 * BOX_WIDTH),
                  (int)lround((1 - (double)point->value / axis->top) * BOX_HEIGHT));
}

/* Whether columns stand for more than one scope. */
static bool is_thinned(const struct simpler_chart *chart, const struct simpler_series *series)
{
    return series->count < chart->scopes;
}

/* Between the least and the greatest values, where a column stands for many scopes. */
static void band(FILE *out, const struct simpler_chart *chart, const struct axis *axis,
                 const struct simpler_series *series, const struct simpler_chart_style *style)
{
    if (!is_thinned(chart, series))
        return;
    (void)fprintf(out, "<polygon class=\"band %s\" fill=\"%s\" fill-opacity=\"0.22\" points=\"",
                  style->class_name, style->colour);
    for (uint32_t i = 0; i < series->count; i++)
        write_place(out, chart, axis, &series->columns[i].max, i > 0 ? " " : "");
    for (uint32_t i = series->count; i > 0; i--)
        write_place(out, chart, axis, &series->columns[i - 1].min, " ");
    (void)fputs("\"/>\n", out);
}

/* For the hover: index,value,site[,ring] of every drawn point. */
static void write_data(FILE *out, const struct simpler_chart *chart,
                       const struct simpler_series *series, struct simpler_chart_sites *sites)
{
    const struct simpler_series_point *points[2];

    for (uint32_t i = 0; i < series->count; i++) {
        int n = points_of(&series->columns[i], points);
        for (int k = 0; k < n; k++) {
            (void)fprintf(out, "%s%" PRIu64 ",%" PRIu64 ",%" PRIu32, i + (uint32_t)k > 0 ? ";" : "",
                          points[k]->index, points[k]->value, site_ref(sites, points[k]->site));
            if (chart->ring == NULL)
                (void)fprintf(out, ",%" PRIu32, points[k]->ring);
        }
    }
}

static void curve(FILE *out, const struct simpler_chart *chart, int i, const struct axis *axis,
                  struct simpler_chart_sites *sites)
{
    const enum simpler_scope_metric metric = chart->metrics[i];
    const struct simpler_chart_style *style = simpler_scope_chart_style(chart->resource, metric);

    band(out, chart, axis, &chart->curves[i]->series, style);
    (void)fprintf(out,
                  "<polyline class=\"line %s\" data-metric=\"%s\" data-label=\"%s\" fill=\"none\" "
                  "stroke=\"%s\" stroke-width=\"1.8\" stroke-linejoin=\"round\" "
                  "stroke-dasharray=\"%s\" vector-effect=\"non-scaling-stroke\" points=\"",
                  style->class_name, simpler_scope_model_metric_key(metric),
                  simpler_scope_model_metric_label(chart->resource, metric), style->colour,
                  style->dash);
    for (uint32_t k = 0; k < chart->curves[i]->series.count; k++)
        write_place(out, chart, axis, &chart->curves[i]->series.columns[k].max, k > 0 ? " " : "");
    (void)fputs("\" data-points=\"", out);
    write_data(out, chart, &chart->curves[i]->series, sites);
    (void)fputs("\"/>\n", out);
}

static void dot(FILE *out, const struct simpler_chart *chart, const struct axis *axis,
                const struct simpler_series_point *point, double radius,
                const struct simpler_chart_style *style)
{
    (void)fprintf(out, "<circle class=\"dot %s\" cx=\"%.2f%%\" cy=\"%.2f%%\" r=\"%g\" fill=\"%s\"",
                  style->class_name, x_percent(chart, point->index),
                  y_percent(axis, (double)point->value), radius, style->colour);
}

static void dots(FILE *out, const struct simpler_scope_model *m, const struct simpler_chart *chart,
                 int i, const struct axis *axis)
{
    const struct simpler_scope_curve *c = chart->curves[i];
    const struct simpler_chart_style *style =
        simpler_scope_chart_style(chart->resource, chart->metrics[i]);

    for (uint32_t k = 0; chart->scopes <= DOTS_UP_TO && k < c->series.count; k++) {
        dot(out, chart, axis, &c->series.columns[k].max, 2.5, style);
        (void)fputs("/>\n", out);
    }
    /* The peak says what it is without any script. */
    dot(out, chart, axis, &c->peak, 4.5, style);
    (void)fprintf(out,
                  " stroke=\"#ffffff\" stroke-width=\"1.5\"><title>%s peak: scope #%" PRIu64
                  ", y=%" PRIu64 ", site=",
                  simpler_scope_model_metric_label(chart->resource, chart->metrics[i]),
                  c->peak.index, c->peak.value);
    simpler_report_text_html_cut(out, m->sites.texts[c->peak.site], 200);
    (void)fputs("</title></circle>\n", out);
}

static void open_svg(FILE *out, const struct simpler_scope_model *m,
                     const struct simpler_chart *chart, const struct axis *axis)
{
    const struct simpler_series_point *peak = &chart->curves[0]->peak;

    (void)fputs("<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"chart\" data-resource=\"", out);
    (void)fputs(simpler_scope_model_resource_key(chart->resource), out);
    if (chart->ring != NULL)
        (void)fprintf(out, "\" data-ring=\"%" PRIu32, *chart->ring);
    else
        (void)fputs("\" data-ring=\"global", out);
    (void)fputs("\" data-metrics=\"", out);
    for (int i = 0; i < chart->curve_count; i++)
        (void)fprintf(out, "%s%s", i > 0 ? " " : "",
                      simpler_scope_model_metric_key(chart->metrics[i]));
    (void)fprintf(out,
                  "\" data-scopes=\"%" PRIu64 "\" data-top=\"%.17g\" data-unit=\"%s\" "
                  "width=\"100%%\" height=\"%d\" overflow=\"visible\" font-family=\"sans-serif\" "
                  "tabindex=\"0\" role=\"img\" aria-label=\"%s",
                  chart->scopes, axis->top,
                  chart->resource == SIMPLER_SCOPE_HEAP ? "B" : axis->name,
                  chart->metrics[0] == SIMPLER_SCOPE_ALLOC ? 150 : 250,
                  simpler_scope_model_resource_label(chart->resource));
    if (chart->ring != NULL)
        (void)fprintf(out, ", ring_depth %" PRIu32, *chart->ring);
    (void)fprintf(out,
                  ": %s over %" PRIu64 " scope%s, peak %" PRIu64 " at scope %" PRIu64 ", site ",
                  simpler_scope_model_metric_label(chart->resource, chart->metrics[0]),
                  chart->scopes, simpler_text_plural(chart->scopes), peak->value, peak->index);
    simpler_report_text_html_cut(out, m->sites.texts[peak->site], 200);
    (void)fputs("\">\n", out);
}

void simpler_scope_chart(FILE *out, const struct simpler_scope_model *m,
                         const struct simpler_chart *chart, struct simpler_chart_sites *sites)
{
    const struct axis axis = axis_of(chart);
    const int ticks = chart->metrics[0] == SIMPLER_SCOPE_ALLOC ? 4 : 5;

    open_svg(out, m, chart, &axis);
    y_grid(out, &axis, ticks);
    x_grid(out, chart);
    capacity_line(out, chart, &axis);
    (void)fprintf(out,
                  "<svg class=\"plot\" x=\"0\" y=\"%g%%\" width=\"100%%\" height=\"%g%%\" "
                  "viewBox=\"0 0 %g %g\" preserveAspectRatio=\"none\" overflow=\"visible\">\n",
                  TOP, HEIGHT, BOX_WIDTH, BOX_HEIGHT);
    for (int i = 0; i < chart->curve_count; i++)
        curve(out, chart, i, &axis, sites);
    (void)fputs("</svg>\n", out);
    y_labels(out, &axis, ticks);
    for (int i = 0; i < chart->curve_count; i++)
        dots(out, m, chart, i, &axis);
    (void)fputs("</svg>\n", out);
}
