/* SPDX-License-Identifier: Apache-2.0 */
#include "run_peaks.h"

#include <inttypes.h>

#include "report/report_text.h"
#include "base/text.h"

/* The row of a peak, made when it is new; NULL when there is no room. */
static struct simpler_run_peak *find(struct simpler_run_peaks *peaks,
                                     const struct simpler_scope_peak *p)
{
    uint64_t ring = p->resource == SIMPLER_SCOPE_TENSORMAP ? 0 : p->ring;

    for (uint32_t i = 0; i < peaks->count; i++) {
        if (peaks->rows[i].resource == p->resource && peaks->rows[i].ring == ring)
            return &peaks->rows[i];
    }
    if (peaks->count == SIMPLER_RUN_PEAK_ROWS)
        return NULL;
    struct simpler_run_peak *row = &peaks->rows[peaks->count++];
    *row = (struct simpler_run_peak){.resource = p->resource, .ring = ring, .least = UINT64_MAX};
    return row;
}

void simpler_run_peaks_add(struct simpler_run_peaks *peaks, const struct simpler_scope_model *m,
                           uint32_t round)
{
    struct simpler_scope_peak p;

    peaks->rounds++;
    for (uint32_t i = 0; simpler_scope_model_peak(m, i, &p); i++) {
        struct simpler_run_peak *row = find(peaks, &p);
        uint64_t value = p.point.value;
        if (row == NULL)
            continue;
        if (row->rounds++ == 0 || value > row->most) {
            row->most = value;
            row->capacity = p.capacity;
            row->round_of_most = round;
        }
        row->least = value < row->least ? value : row->least;
        row->sum += (double)value;
    }
}

static void amount(FILE *out, enum simpler_scope_resource resource, uint64_t value)
{
    char buffer[SIMPLER_TEXT_BYTES];

    (void)fprintf(out, " %14s",
                  resource == SIMPLER_SCOPE_HEAP ? simpler_report_text_bytes(buffer, value)
                                                 : simpler_report_text_count(buffer, value));
}

static void print_row(FILE *out, const struct simpler_run_peak *row)
{
    char buffer[SIMPLER_TEXT_BYTES];
    double percent;

    (void)fprintf(out, "  %-12s", simpler_scope_model_resource_label(row->resource));
    if (row->resource == SIMPLER_SCOPE_TENSORMAP)
        (void)fprintf(out, " %10s", "global");
    else
        (void)fprintf(out, " %10" PRIu64, row->ring);
    amount(out, row->resource, row->least);
    amount(out, row->resource, (uint64_t)(row->sum / row->rounds + 0.5));
    amount(out, row->resource, row->most);
    bool known = simpler_scope_model_use(row->most, row->capacity, &percent);
    (void)fprintf(out, " %9s %9" PRIu32 "\n",
                  known ? simpler_report_text_percent(buffer, percent) : "unknown",
                  row->round_of_most);
}

void simpler_run_peaks_text(FILE *out, const struct simpler_run_peaks *peaks)
{
    if (peaks->rounds == 0)
        return;
    (void)fprintf(out, "  peaks of %" PRIu32 " round%s\n  %-12s %10s %14s %14s %14s %9s %9s\n",
                  peaks->rounds, simpler_text_plural(peaks->rounds), "Resource", "ring_depth",
                  "least", "mean", "most", "Use", "in round");
    for (uint32_t i = 0; i < peaks->count; i++)
        print_row(out, &peaks->rows[i]);
}

void simpler_run_peaks_json(struct simpler_json_writer *w, const struct simpler_run_peaks *peaks)
{
    simpler_json_writer_open(w, "peaks_over_rounds", '[');
    for (uint32_t i = 0; i < peaks->count; i++) {
        const struct simpler_run_peak *row = &peaks->rows[i];
        simpler_json_writer_open(w, NULL, '{');
        simpler_json_writer_string(w, "resource", simpler_scope_model_resource_key(row->resource));
        simpler_json_writer_u64(w, "ring_depth", row->ring);
        simpler_json_writer_u64(w, "rounds", row->rounds);
        simpler_json_writer_u64(w, "least", row->least);
        simpler_json_writer_u64(w, "mean", (uint64_t)(row->sum / row->rounds + 0.5));
        simpler_json_writer_u64(w, "most", row->most);
        simpler_json_writer_u64(w, "round_of_most", row->round_of_most);
        simpler_json_writer_close(w, '}');
    }
    simpler_json_writer_close(w, ']');
}
