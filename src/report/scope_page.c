/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The page from top to bottom: verdict, what is nearest to its capacity, how to
 * read it, Top Peaks, a section for each resource, sites, faults.
 */
#include "report/scope_page.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/logger.h"
#include "base/text.h"
#include "report/report_text.h"
#include "report/scope_chart.h"
#include "report/scope_panel.h"
#include "simpler/status.h"

/* What the curves may take of the megabyte that a page may have. */
#define CURVE_BYTES 850000u
#define MAX_COLUMNS 800u
#define MIN_COLUMNS 16u
#define SITE_ROWS   200u
/* More sites than this are not all listed, only those that a point names. */
#define MANY_SITES 2000u

static unsigned digits(uint64_t value)
{
    unsigned n = 1;
    for (; value >= 10; value /= 10)
        n++;
    return n;
}

/* Bytes of a name where many names stand. */
static uint64_t name_bytes(const struct simpler_scope_model *m, uint32_t id)
{
    size_t bytes = strlen(m->sites.texts[id]);
    return bytes > SIMPLER_PANEL_NAME_BYTES ? SIMPLER_PANEL_NAME_BYTES : bytes;
}

/* All names of the sites in the list for the hover, at most MANY_SITES of them. */
static uint64_t listed_name_bytes(const struct simpler_scope_model *m)
{
    uint64_t bytes = 0;
    for (uint32_t id = 0; id < m->sites.count && id < MANY_SITES; id++)
        bytes += name_bytes(m, id) + 3;
    return bytes;
}

/* Bytes of one point: its places in the drawing, its data, and its share of further names. */
static uint64_t point_bytes(const struct simpler_scope_model *m, uint64_t *whole_names)
{
    struct simpler_scope_peak peak;
    uint64_t greatest = 0, share = 0;

    *whole_names = 0;
    for (uint32_t row = 0; simpler_scope_model_peak(m, row, &peak); row++) {
        greatest = peak.point.value > greatest ? peak.point.value : greatest;
        /* Top Peaks and Max use; names are whole there. */
        *whole_names += 2 * strlen(m->sites.texts[peak.point.site]);
    }
    if (m->sites.count > MANY_SITES)
        share = 3 + listed_name_bytes(m) / MANY_SITES;
    return 17 + digits(m->counts.pairs) + digits(greatest) + digits(m->sites.count) + share;
}

/* Fewer columns where there are many curves, long numbers or many names. */
static void thin_curves(struct simpler_scope_model *m)
{
    const uint64_t lines =
        (uint64_t)m->ring_count * SIMPLER_SCOPE_RINGED_NUM * SIMPLER_SCOPE_METRIC_NUM + 1;
    uint64_t whole_names;
    const uint64_t each = 2 * lines * point_bytes(m, &whole_names);
    const uint64_t names = whole_names + listed_name_bytes(m);
    uint64_t columns = names < CURVE_BYTES ? (CURVE_BYTES - names) / each : 0;

    columns = columns > MAX_COLUMNS ? MAX_COLUMNS : columns < MIN_COLUMNS ? MIN_COLUMNS : columns;
    for (uint32_t i = 0; i < m->ring_count; i++) {
        for (int r = 0; r < SIMPLER_SCOPE_RINGED_NUM; r++) {
            for (int k = 0; k < SIMPLER_SCOPE_METRIC_NUM; k++)
                simpler_series_shrink(&m->rings[i].curves[r][k].series, (uint32_t)columns);
        }
    }
    simpler_series_shrink(&m->tensormap.series, (uint32_t)columns);
}

static void write_lines(FILE *out, const char *const *lines)
{
    for (; *lines != NULL; lines++) {
        (void)fputs(*lines, out);
        (void)fputc('\n', out);
    }
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

static void head(FILE *out, const struct simpler_scope_model *m)
{
    (void)fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                "<meta name=\"color-scheme\" content=\"light dark\">\n"
                "<link rel=\"icon\" href=\"data:,\">\n<title>Scope stats: ",
                out);
    simpler_report_text_html(out, base_name(m->file));
    (void)fputs("</title>\n<style>\n", out);
    write_lines(out, simpler_scope_page_style);
    (void)fputs("</style>\n</head>\n<body>\n", out);
}

static void number_chip(FILE *out, struct simpler_scope_number n, const char *what)
{
    char buffer[SIMPLER_TEXT_BYTES];
    if (n.known)
        (void)fprintf(out, "<li>%s %s</li>\n", simpler_report_text_count(buffer, n.value), what);
    else
        (void)fprintf(out, "<li class=\"unknown\">unknown %s</li>\n", what);
}

static void record_chips(FILE *out, const struct simpler_scope_model *m)
{
    const struct simpler_scope_counts *c = &m->counts;

    (void)fputs("<ul class=\"chips\" id=\"record-counts\">\n", out);
    number_chip(out, m->meta.total, "records");
    number_chip(out, m->meta.dropped, "dropped");
    number_chip(out, (struct simpler_scope_number){c->lines, true}, "samples in the file");
    number_chip(out, (struct simpler_scope_number){c->pairs, true}, "total paired scopes");
    number_chip(out, (struct simpler_scope_number){c->unpaired_begin + c->unpaired_end, true},
                "unpaired samples");
    number_chip(out, (struct simpler_scope_number){m->ring_count, true}, "ring_depths");
    (void)fputs("</ul>\n", out);
}

static void header(FILE *out, const struct simpler_scope_model *m)
{
    static const char *const icons[] = {"\xe2\x9c\x96", "\xe2\x96\xbc", "?",
                                        "\xe2\x9a\xa0", "\xe2\x89\xa0", "\xe2\x9c\x94"};
    struct simpler_scope_peak dominant;
    const char *key = simpler_scope_model_chip_key(m->chip);

    (void)fputs("<header>\n<p class=\"eyebrow\">Scope stats</p>\n<h1>", out);
    simpler_report_text_html(out, base_name(m->file));
    (void)fprintf(out,
                  "</h1>\n<div class=\"verdict\" data-status=\"%s\"><strong id=\"status-chip\" "
                  "data-status=\"%s\"><span aria-hidden=\"true\">%s</span> %s</strong>\n"
                  "<p id=\"status-sentence\">",
                  key, key, icons[m->chip], simpler_scope_model_chip_label(m->chip));
    simpler_report_text_html(out, m->sentence);
    (void)fputs("</p></div>\n<p class=\"dominant\">Dominant scope site: <b id=\"dominant-site\" "
                "class=\"site\">",
                out);
    if (simpler_scope_model_dominant(m, &dominant))
        simpler_panel_name(out, m, dominant.point.site);
    else
        (void)fputs("unknown", out);
    (void)fputs("</b></p>\n", out);
    record_chips(out, m);
    (void)fputs("</header>\n<main>\n", out);
}

/* The scope that drove a peak, and how much of it is its own. */
static void driver(FILE *out, const struct simpler_scope_model *m,
                   const struct simpler_scope_peak *p)
{
    char buffer[SIMPLER_TEXT_BYTES];
    const double own = 100.0 * (double)p->own / (double)(p->point.value > 0 ? p->point.value : 1);

    if (p->point.value == 0) {
        (void)fputs("No scope used it.", out);
        return;
    }
    (void)fputs("Driven by <b class=\"site\">", out);
    simpler_panel_name(out, m, p->point.site);
    (void)fprintf(out,
                  "</b>, scope %" PRIu64 ", ring_depth %" PRIu64 ", which added <b>%s</b> of it",
                  p->point.index, p->ring, simpler_report_text_percent(buffer, own));
    (void)fputs(p->own < p->point.value ? "; the rest was there when it began." : ".", out);
}

static void card(FILE *out, const struct simpler_scope_model *m, const struct simpler_scope_peak *p)
{
    char buffer[SIMPLER_TEXT_BYTES];

    (void)fprintf(out, "<article class=\"card\" data-resource=\"%s\">\n<h3>%s</h3>\n",
                  simpler_scope_model_resource_key(p->resource),
                  simpler_scope_model_resource_label(p->resource));
    (void)fprintf(out, "<p class=\"big %s\">%s</p>\n", simpler_panel_use_class(p),
                  p->has_use ? simpler_report_text_percent(buffer, p->use_percent) : "unknown use");
    simpler_panel_bar(out, p);
    (void)fputs("<p>Peak <b>", out);
    simpler_panel_amount(out, p->resource, p->point.value);
    (void)fputs("</b> of ", out);
    simpler_panel_capacity(out, p);
    (void)fputs("</p>\n<p>", out);
    driver(out, m, p);
    (void)fputs("</p>\n</article>\n", out);
}

static void answer(FILE *out, const struct simpler_scope_model *m)
{
    struct simpler_scope_peak peak;

    (void)fputs("<section id=\"answer\" aria-label=\"Peak of each resource\">\n"
                "<h2>What is nearest to its limit</h2>\n",
                out);
    if (m->counts.pairs == 0) {
        (void)fputs("<p id=\"no-scopes\" class=\"empty\">There is no paired scope in this file, so "
                    "there are no peaks and no charts.</p>\n</section>\n",
                    out);
        return;
    }
    (void)fputs("<div class=\"cards\">\n", out);
    for (int r = 0; r < SIMPLER_SCOPE_RESOURCE_NUM; r++) {
        if (simpler_scope_model_worst(m, (enum simpler_scope_resource)r, &peak))
            card(out, m, &peak);
    }
    (void)fputs("</div>\n</section>\n", out);
}

static void formula_guide(FILE *out)
{
    static const char *const text[] = {
        "<section id=\"formula-guide\">\n<h2>Formula Guide</h2>\n<div class=\"guide\">\n",
        "<dl>\n<dt>Task window</dt><dd>Slots of a ring's task window, one for each task that is "
        "submitted and not yet released.</dd>\n"
        "<dt>Heap</dt><dd>Bytes of a ring's output heap.</dd>\n"
        "<dt>Dep pool</dt><dd>Entries of a ring's dependency-list pool.</dd>\n"
        "<dt>TensorMap</dt><dd>Entries of the one map from tensors to their producers; it is "
        "shared by all ring_depths.</dd>\n</dl>\n",
        "<dl>\n<dt>High water <code>scope_high_water = end.head &minus; begin.tail</code></dt>"
        "<dd>Upper bound on the occupancy this scope reached: entry backlog plus everything it "
        "allocated. Not bounded by capacity: a scope that streams more than the capacity shows "
        "more than 100%.</dd>\n"
        "<dt>Live at exit <code>real_occupancy = end.head &minus; end.tail</code></dt>"
        "<dd>What is still occupied when the scope ends. Always between 0 and the capacity. "
        "For TensorMap: its live entries.</dd>\n"
        "<dt>Alloc per scope <code>scope_alloc = end.head &minus; begin.head</code></dt>"
        "<dd>What this scope allocated in total; it can exceed the capacity.</dd>\n</dl>\n",
        "</div>\n<p class=\"hint\">Head and tail are a resource's allocation frontier and released "
        "boundary. <b>Use</b> is peak / capacity. <b>Scope Index</b> counts the paired scopes of a "
        "ring_depth in the order in which they end, from 0; for TensorMap those of all "
        "ring_depths.</p>\n</section>\n",
    };
    for (size_t i = 0; i < sizeof(text) / sizeof(text[0]); i++)
        (void)fputs(text[i], out);
}

static void sort_head(FILE *out, const char *const *names, const char *numeric)
{
    (void)fputs("<thead><tr>", out);
    for (size_t i = 0; names[i] != NULL; i++)
        (void)fprintf(out, "<th scope=\"col\"%s>%s</th>", numeric[i] == 'n' ? " class=\"num\"" : "",
                      names[i]);
    (void)fputs("</tr></thead>\n<tbody>\n", out);
}

static void peak_row(FILE *out, const struct simpler_scope_model *m,
                     const struct simpler_scope_peak *p)
{
    const bool global = p->resource == SIMPLER_SCOPE_TENSORMAP;

    (void)fprintf(out, "<tr data-resource=\"%s\" data-ring=\"",
                  simpler_scope_model_resource_key(p->resource));
    if (global)
        (void)fputs("global\">", out);
    else
        (void)fprintf(out, "%" PRIu64 "\">", p->ring);
    (void)fprintf(out, "<td>%s</td><td>", simpler_scope_model_resource_label(p->resource));
    if (global)
        (void)fputs("global", out);
    else
        (void)fprintf(out, "%" PRIu64, p->ring);
    (void)fprintf(out, "</td><td>%s</td><td class=\"num\">",
                  simpler_scope_model_metric_label(p->resource, p->metric));
    simpler_panel_amount(out, p->resource, p->point.value);
    (void)fputs("</td><td class=\"num\">", out);
    simpler_panel_capacity(out, p);
    (void)fputs("</td><td class=\"num use\">", out);
    simpler_panel_use(out, p);
    simpler_panel_bar(out, p);
    (void)fputs("</td><td class=\"site\">", out);
    simpler_panel_name(out, m, p->point.site);
    (void)fprintf(out, "</td><td class=\"num\">%" PRIu64 "</td></tr>\n", p->point.index);
}

static void top_peaks(FILE *out, const struct simpler_scope_model *m)
{
    static const char *const names[] = {"Resource", "ring_depth", "Metric",      "Peak", "Capacity",
                                        "Use",      "Site",       "Scope Index", NULL};
    struct simpler_scope_peak peak;

    (void)fputs("<section>\n<h2>Top Peaks</h2>\n<div class=\"scroll\" tabindex=\"0\" "
                "role=\"region\" aria-label=\"Top Peaks\"><table id=\"top-peaks\" "
                "class=\"sortable\">\n",
                out);
    sort_head(out, names, "---nnn-n");
    for (uint32_t row = 0; simpler_scope_model_peak(m, row, &peak); row++)
        peak_row(out, m, &peak);
    if (m->counts.pairs == 0)
        (void)fputs("<tr><td colspan=\"8\">no paired scope</td></tr>\n", out);
    (void)fputs("</tbody></table></div>\n</section>\n", out);
}

struct ranked {
    double use; /* negative: not known */
    uint32_t id;
};

/* By use, then by first appearance. */
static bool ranks_before(const struct ranked *a, const struct ranked *b)
{
    return a->use != b->use ? a->use > b->use : a->id < b->id;
}

/* Keeps the first SITE_ROWS by rank: an insertion that mostly fails at once. */
static uint32_t rank_sites(const struct simpler_scope_model *m, struct ranked *rows)
{
    uint32_t count = 0;
    for (uint32_t id = 0; id < m->sites.count; id++) {
        const struct simpler_scope_site *site = &m->site_stats[id];
        struct ranked one = {site->has_use ? site->use_percent : -1, id};
        if (count == SITE_ROWS && !ranks_before(&one, &rows[count - 1]))
            continue;
        uint32_t at = count < SITE_ROWS ? count++ : count - 1;
        for (; at > 0 && ranks_before(&one, &rows[at - 1]); at--)
            rows[at] = rows[at - 1];
        rows[at] = one;
    }
    return count;
}

static void site_row(FILE *out, const struct simpler_scope_model *m, const struct ranked *row)
{
    const struct simpler_scope_site *site = &m->site_stats[row->id];
    char buffer[SIMPLER_TEXT_BYTES];

    (void)fputs("<tr><td class=\"site\">", out);
    simpler_report_text_html_cut(out, m->sites.texts[row->id], SIMPLER_PANEL_NAME_BYTES);
    (void)fprintf(out, "</td><td class=\"num\"><data value=\"%" PRIu64 "\">%s</data></td>",
                  site->pairs, simpler_report_text_count(buffer, site->pairs));
    for (int r = 0; r < SIMPLER_SCOPE_RESOURCE_NUM; r++) {
        (void)fputs("<td class=\"num\">", out);
        if (site->pairs > 0)
            simpler_panel_amount(out, (enum simpler_scope_resource)r, site->peaks[r].value);
        else
            (void)fputs("unpaired", out);
        (void)fputs("</td>", out);
    }
    (void)fprintf(out, "<td class=\"num\">%s</td></tr>\n",
                  row->use >= 0 ? simpler_report_text_percent(buffer, row->use) : "unknown");
}

static int sites_section(FILE *out, const struct simpler_scope_model *m)
{
    static const char *const names[] = {"Site",     "Scopes",    "Task window", "Heap",
                                        "Dep pool", "TensorMap", "Highest use", NULL};
    if (m->sites.count == 0)
        return 0;
    struct ranked *rows = simpler_alloc_zeroed(SITE_ROWS, sizeof(*rows));
    if (rows == NULL)
        return SIMPLER_ENOMEM;
    uint32_t count = rank_sites(m, rows);
    (void)fputs("<section>\n<h2>Scopes by site</h2>\n<p class=\"hint\">The greatest value that a "
                "scope of each site reached (High water; TensorMap: Live entries).",
                out);
    if (count < m->sites.count)
        (void)fprintf(
            out, " The %" PRIu32 " site%s with the highest use of %" PRIu32 "; --json lists all.",
            count, simpler_text_plural(count), m->sites.count);
    (void)fputs("</p>\n<p class=\"filter\" hidden><label for=\"scope-filter\">Filter scopes by "
                "site</label> <input id=\"scope-filter\" type=\"search\" autocomplete=\"off\"> "
                "<output id=\"filter-count\"></output></p>\n"
                "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Scopes by "
                "site\"><table id=\"sites\" class=\"sortable\">\n",
                out);
    sort_head(out, names, "-nnnnnn");
    for (uint32_t i = 0; i < count; i++)
        site_row(out, m, &rows[i]);
    (void)fputs("</tbody></table></div>\n</section>\n", out);
    simpler_alloc_free(rows);
    return 0;
}

static void unpaired_section(FILE *out, const struct simpler_scope_model *m)
{
    uint32_t next = 0, ring, site, rows = 0;
    uint64_t count;

    if (m->counts.unpaired_begin == 0)
        return;
    (void)fputs("<section id=\"unpaired\">\n<h2>Scopes without an end</h2>\n<table><thead><tr><th "
                "scope=\"col\">Site</th><th scope=\"col\">ring_depth</th><th scope=\"col\" "
                "class=\"num\">Begins without end</th></tr></thead><tbody>\n",
                out);
    while (rows < 50 && simpler_pairing_next_open(&m->pairing, &next, &ring, &site, &count)) {
        (void)fputs("<tr><td class=\"site\">", out);
        simpler_report_text_html_cut(out, m->sites.texts[site], SIMPLER_PANEL_NAME_BYTES);
        (void)fprintf(out, "</td><td>%" PRIu32 "</td><td class=\"num\">%" PRIu64 "</td></tr>\n",
                      ring, count);
        rows++;
    }
    (void)fputs("</tbody></table>\n", out);
    if (rows == 50)
        (void)fputs("<p class=\"hint\">The first 50 are shown; --json lists all.</p>\n", out);
    (void)fputs("</section>\n", out);
}

static void faults_section(FILE *out, const struct simpler_scope_model *m)
{
    if (m->fault_count == 0 && m->meta.other == NULL)
        return;
    (void)fputs("<section id=\"faults\">\n<h2>Notes on the file</h2>\n<ul>\n", out);
    for (uint32_t i = 0; i < m->fault_count; i++) {
        (void)fprintf(out, "<li>line %" PRIu64, m->faults[i].line);
        if (m->faults[i].column > 0)
            (void)fprintf(out, ", column %zu", m->faults[i].column);
        (void)fputs(": ", out);
        simpler_report_text_html(out, m->faults[i].text);
        (void)fputs("</li>\n", out);
    }
    if (m->fault_count == SIMPLER_SCOPE_MAX_FAULTS)
        (void)fputs("<li>only the first 20 are listed</li>\n", out);
    if (m->meta.other != NULL) {
        (void)fputs("<li>further metadata: <code>", out);
        simpler_report_text_html_cut(out, m->meta.other, 2000);
        (void)fputs("</code></li>\n", out);
    }
    (void)fputs("</ul>\n</section>\n", out);
}

static void foot(FILE *out, const struct simpler_scope_model *m,
                 const struct simpler_chart_sites *sites)
{
    (void)fputs("</main>\n<dialog id=\"chart-modal\" aria-labelledby=\"modal-title\"><div "
                "class=\"modal-head\"><h2 id=\"modal-title\"></h2><button type=\"button\" "
                "id=\"modal-close\">Close</button></div><div id=\"modal-body\"></div></dialog>\n"
                "<div id=\"tip\" role=\"status\" hidden></div>\n"
                "<script type=\"application/json\" id=\"chart-sites\">[",
                out);
    for (uint32_t i = 0; i < sites->count; i++) {
        if (i > 0)
            (void)fputc(',', out);
        simpler_report_text_json_cut(out, m->sites.texts[sites->order[i]],
                                     SIMPLER_PANEL_NAME_BYTES);
    }
    (void)fputs("]</script>\n<script>\n", out);
    write_lines(out, simpler_scope_page_script);
    (void)fputs("</script>\n</body>\n</html>\n", out);
}

static int body(FILE *out, const struct simpler_scope_model *m, struct simpler_chart_sites *sites)
{
    head(out, m);
    header(out, m);
    answer(out, m);
    formula_guide(out);
    top_peaks(out, m);
    for (int r = 0; r < SIMPLER_SCOPE_RESOURCE_NUM; r++)
        simpler_panel_section(out, m, (enum simpler_scope_resource)r, sites);
    int rc = sites_section(out, m);
    if (rc != 0)
        return rc;
    unpaired_section(out, m);
    faults_section(out, m);
    foot(out, m, sites);
    return 0;
}

int simpler_scope_page(FILE *out, struct simpler_scope_model *m)
{
    struct simpler_chart_sites sites = {0};
    int rc = SIMPLER_ENOMEM;

    thin_curves(m);
    sites.refs = simpler_alloc_zeroed((size_t)m->sites.count + 1, sizeof(*sites.refs));
    sites.order = simpler_alloc_zeroed((size_t)m->sites.count + 1, sizeof(*sites.order));
    if (sites.refs != NULL && sites.order != NULL)
        rc = body(out, m, &sites);
    simpler_alloc_free(sites.order);
    simpler_alloc_free(sites.refs);
    return rc;
}

static int write_to(const char *path, struct simpler_scope_model *m)
{
    FILE *out = fopen(path, "wb");
    if (out == NULL)
        return SIMPLER_EIO;
    int rc = simpler_scope_page(out, m);
    bool failed = ferror(out) != 0;
    failed = fclose(out) != 0 || failed;
    return rc == 0 && failed ? SIMPLER_EIO : rc;
}

int simpler_scope_page_write(const char *path, struct simpler_scope_model *m)
{
    static const char suffix[] = ".partial";
    char *partial = simpler_alloc_zeroed(strlen(path) + sizeof(suffix), 1);
    if (partial == NULL)
        return SIMPLER_ENOMEM;
    (void)stpcpy(stpcpy(partial, path), suffix);
    int rc = write_to(partial, m);
    if (rc == 0 && rename(partial, path) != 0)
        rc = SIMPLER_EIO;
    if (rc != 0) {
        SIMPLER_ERROR("%s: cannot be written: %s", path,
                      rc == SIMPLER_EIO ? strerror(errno) : simpler_status_text(rc));
        (void)unlink(partial);
    }
    simpler_alloc_free(partial);
    return rc;
}
