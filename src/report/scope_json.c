/* SPDX-License-Identifier: Apache-2.0 */
/* The facts of the report for machines: exact integers, null for what is unknown. */
#include "report/scope_json.h"

#include <inttypes.h>
#include <string.h>

#include "base/utf8.h"
#include "report/report_text.h"

static void number(FILE *out, const char *key, struct simpler_scope_number n)
{
    if (n.known)
        (void)fprintf(out, "\"%s\": %" PRIu64, key, n.value);
    else
        (void)fprintf(out, "\"%s\": null", key);
}

static void text(FILE *out, const char *key, const char *value)
{
    (void)fprintf(out, "\"%s\": ", key);
    simpler_report_text_json(out, value);
}

static void truth(FILE *out, const char *key, enum simpler_scope_truth value)
{
    static const char *const words[] = {"null", "false", "true"};
    (void)fprintf(out, "\"%s\": %s", key, words[value]);
}

static void records(FILE *out, const struct simpler_scope_model *m)
{
    const struct simpler_scope_counts *c = &m->counts;

    (void)fputs("  \"records\": {", out);
    number(out, "total", m->meta.total);
    (void)fputs(", ", out);
    number(out, "dropped", m->meta.dropped);
    (void)fputs(", ", out);
    number(out, "host_received", m->meta.received);
    (void)fputs(", ", out);
    number(out, "host_retained", m->meta.retained);
    (void)fprintf(out,
                  ", \"lines\": %" PRIu64 ", \"damaged_lines\": %" PRIu64 ", \"holes\": %" PRIu64
                  ", \"pairs\": %" PRIu64 ", \"inconsistent_pairs\": %" PRIu64
                  ", \"unpaired_begin\": %" PRIu64 ", \"unpaired_end\": %" PRIu64
                  ", \"torn\": %s},\n",
                  c->lines, c->damaged, c->holes, c->pairs, c->inconsistent, c->unpaired_begin,
                  c->unpaired_end, c->torn ? "true" : "false");
}

static void capacities(FILE *out, const struct simpler_scope_model *m)
{
    (void)fputs("  \"capacities\": {", out);
    for (int r = 0; r < SIMPLER_SCOPE_RINGED_NUM; r++) {
        const struct simpler_scope_array *max = &m->meta.ring_max[r];
        (void)fprintf(out,
                      "\"%s\": ", simpler_scope_model_resource_key((enum simpler_scope_resource)r));
        (void)fputs(max->count == 0 ? "null" : "[", out);
        for (size_t i = 0; i < max->count; i++) {
            const char *comma = i > 0 ? ", " : "";
            if (max->items[i].known)
                (void)fprintf(out, "%s%" PRIu64, comma, max->items[i].value);
            else
                (void)fprintf(out, "%snull", comma);
        }
        (void)fputs(max->count == 0 ? ", " : "], ", out);
    }
    number(out, "tensormap", m->meta.tensormap_max);
    (void)fputs("},\n", out);
}

static void percent(FILE *out, const char *key, bool known, double value)
{
    if (known)
        (void)fprintf(out, "\"%s\": %.2f", key, value);
    else
        (void)fprintf(out, "\"%s\": null", key);
}

static void peak(FILE *out, const struct simpler_scope_model *m, const struct simpler_scope_peak *p)
{
    const bool global = p->resource == SIMPLER_SCOPE_TENSORMAP;

    (void)fputs("{", out);
    text(out, "resource", simpler_scope_model_resource_key(p->resource));
    if (global)
        (void)fputs(", \"ring_depth\": null, ", out);
    else
        (void)fprintf(out, ", \"ring_depth\": %" PRIu64 ", ", p->ring);
    text(out, "metric", simpler_scope_model_metric_key(p->metric));
    (void)fprintf(out, ", \"peak\": %" PRIu64 ", ", p->point.value);
    number(out, "capacity", p->capacity);
    (void)fputs(", ", out);
    percent(out, "use_percent", p->has_use, p->use_percent);
    (void)fputs(", ", out);
    text(out, "site", m->sites.texts[p->point.site]);
    (void)fprintf(out, ", \"scope_index\": %" PRIu64 ", \"own\": %" PRIu64 ", ", p->point.index,
                  p->own);
    percent(out, "own_percent", p->point.value > 0,
            100.0 * (double)p->own / (double)(p->point.value > 0 ? p->point.value : 1));
    (void)fprintf(out, ", \"context_ring_depth\": %" PRIu64 "}", p->ring);
}

static void peaks(FILE *out, const struct simpler_scope_model *m)
{
    struct simpler_scope_peak p;

    (void)fputs("  \"peaks\": [", out);
    for (uint32_t row = 0; simpler_scope_model_peak(m, row, &p); row++) {
        (void)fputs(row > 0 ? ",\n    " : "\n    ", out);
        peak(out, m, &p);
    }
    (void)fputs("\n  ],\n", out);
}

static void curve(FILE *out, const struct simpler_scope_model *m,
                  const struct simpler_scope_curve *c, enum simpler_scope_resource resource,
                  enum simpler_scope_metric metric, const uint32_t *ring)
{
    (void)fputs("{", out);
    text(out, "resource", simpler_scope_model_resource_key(resource));
    if (ring != NULL)
        (void)fprintf(out, ", \"ring_depth\": %" PRIu32 ", ", *ring);
    else
        (void)fputs(", \"ring_depth\": null, ", out);
    text(out, "metric", simpler_scope_model_metric_key(metric));
    (void)fprintf(out, ", \"peak\": %" PRIu64 ", \"scope_index\": %" PRIu64 ", ", c->peak.value,
                  c->peak.index);
    text(out, "site", m->sites.texts[c->peak.site]);
    (void)fputs("}", out);
}

/* The peak of every line of every chart, not of the risk metric alone. */
static void lines(FILE *out, const struct simpler_scope_model *m)
{
    const char *comma = "\n    ";

    (void)fputs("  \"lines\": [", out);
    for (uint32_t i = 0; i < m->ring_count; i++) {
        const struct simpler_scope_ring *ring = &m->rings[i];
        for (int k = 0; ring->pairs > 0 && k < SIMPLER_SCOPE_RINGED_NUM * SIMPLER_SCOPE_METRIC_NUM;
             k++) {
            int r = k / SIMPLER_SCOPE_METRIC_NUM, metric = k % SIMPLER_SCOPE_METRIC_NUM;
            (void)fputs(comma, out);
            curve(out, m, &ring->curves[r][metric], (enum simpler_scope_resource)r,
                  (enum simpler_scope_metric)metric, &ring->ring);
            comma = ",\n    ";
        }
    }
    if (m->tensormap.series.count > 0) {
        (void)fputs(comma, out);
        curve(out, m, &m->tensormap, SIMPLER_SCOPE_TENSORMAP, SIMPLER_SCOPE_LIVE, NULL);
    }
    (void)fputs("\n  ],\n", out);
}

static void rings(FILE *out, const struct simpler_scope_model *m)
{
    (void)fputs("  \"ring_depths\": [", out);
    for (uint32_t i = 0; i < m->ring_count; i++)
        (void)fprintf(out, "%s{\"ring_depth\": %" PRIu32 ", \"pairs\": %" PRIu64 "}",
                      i > 0 ? ", " : "", m->rings[i].ring, m->rings[i].pairs);
    (void)fputs("],\n", out);
}

static void unpaired(FILE *out, const struct simpler_scope_model *m)
{
    uint32_t next = 0, ring, site;
    uint64_t count;
    const char *comma = "";

    (void)fputs("  \"unpaired\": [", out);
    while (simpler_pairing_next_open(&m->pairing, &next, &ring, &site, &count)) {
        (void)fprintf(out, "%s{\"ring_depth\": %" PRIu32 ", \"count\": %" PRIu64 ", ", comma, ring,
                      count);
        text(out, "site", m->sites.texts[site]);
        (void)fputs("}", out);
        comma = ", ";
    }
    (void)fputs("],\n", out);
}

static void sites(FILE *out, const struct simpler_scope_model *m)
{
    (void)fputs("  \"sites\": [", out);
    for (uint32_t id = 0; id < m->sites.count; id++) {
        const struct simpler_scope_site *site = &m->site_stats[id];
        (void)fputs(id > 0 ? ",\n    {" : "\n    {", out);
        text(out, "site", m->sites.texts[id]);
        (void)fprintf(out, ", \"scopes\": %" PRIu64 ", ", site->pairs);
        percent(out, "highest_use_percent", site->has_use, site->use_percent);
        for (int r = 0; r < SIMPLER_SCOPE_RESOURCE_NUM && site->pairs > 0; r++)
            (void)fprintf(out, ", \"%s\": {\"peak\": %" PRIu64 ", \"ring_depth\": %" PRIu32 "}",
                          simpler_scope_model_resource_key((enum simpler_scope_resource)r),
                          site->peaks[r].value, site->peaks[r].ring);
        (void)fputs("}", out);
    }
    (void)fputs("\n  ],\n", out);
}

static void faults(FILE *out, const struct simpler_scope_model *m)
{
    (void)fputs("  \"faults\": [", out);
    for (uint32_t i = 0; i < m->fault_count; i++) {
        const struct simpler_scope_fault *f = &m->faults[i];
        (void)fprintf(out, "%s{\"line\": %" PRIu64 ", \"column\": %zu, ", i > 0 ? ", " : "",
                      f->line, f->column);
        text(out, "fault", f->text);
        (void)fputs("}", out);
    }
    (void)fputs("],\n", out);
}

/* The unknown keys stand as in the file, made valid UTF-8. */
static void other_metadata(FILE *out, const struct simpler_scope_model *m)
{
    (void)fputs("  \"other_metadata\": {", out);
    for (const char *p = m->meta.other; p != NULL && *p != 0;) {
        size_t bytes = simpler_utf8_length(p, strlen(p));
        (void)fwrite(bytes != 0 ? p : "\xef\xbf\xbd", 1, bytes != 0 ? bytes : 3, out);
        p += bytes != 0 ? bytes : 1;
    }
    (void)fputs("}\n", out);
}

void simpler_scope_json(FILE *out, const struct simpler_scope_model *m, const char *report)
{
    struct simpler_scope_peak dominant;

    (void)fputs("{\n  ", out);
    text(out, "file", m->file);
    (void)fputs(",\n  ", out);
    text(out, "report", report != NULL ? report : "");
    (void)fputs(",\n  \"status\": {", out);
    text(out, "chip", simpler_scope_model_chip_key(m->chip));
    (void)fputs(", ", out);
    text(out, "sentence", m->sentence);
    (void)fputs("},\n  ", out);
    truth(out, "fatal", m->meta.fatal);
    (void)fputs(",\n  ", out);
    truth(out, "counts_unknown", m->meta.counts_unknown);
    (void)fputs(",\n  ", out);
    if (m->meta.verdict[0] != 0)
        text(out, "collection_verdict", m->meta.verdict);
    else
        (void)fputs("\"collection_verdict\": null", out);
    (void)fputs(",\n", out);
    records(out, m);
    capacities(out, m);
    (void)fputs("  ", out);
    text(out, "dominant_site",
         simpler_scope_model_dominant(m, &dominant) ? m->sites.texts[dominant.point.site]
                                                    : "unknown");
    (void)fputs(",\n", out);
    rings(out, m);
    peaks(out, m);
    lines(out, m);
    unpaired(out, m);
    sites(out, m);
    faults(out, m);
    other_metadata(out, m);
    (void)fputs("}\n", out);
}
