/* SPDX-License-Identifier: Apache-2.0 */
/* The report for a terminal: verdict and the rows nearest to their capacity. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "report/report_text.h"
#include "report/scope_json.h"

static int by_use(const void *a, const void *b)
{
    const struct simpler_scope_peak *x = a, *y = b;
    if (x->has_use != y->has_use)
        return x->has_use ? -1 : 1;
    return x->use_percent > y->use_percent ? -1 : x->use_percent < y->use_percent;
}

static void amount(FILE *out, enum simpler_scope_resource resource, struct simpler_scope_number n)
{
    char buffer[SIMPLER_TEXT_BYTES];
    (void)fprintf(out, "  %14s",
                  !n.known                         ? "unknown"
                  : resource == SIMPLER_SCOPE_HEAP ? simpler_report_text_bytes(buffer, n.value)
                                                   : simpler_report_text_count(buffer, n.value));
}

static void print_row(FILE *out, const struct simpler_scope_model *m,
                      const struct simpler_scope_peak *p)
{
    char buffer[SIMPLER_TEXT_BYTES];

    (void)fprintf(out, "%-12s", simpler_scope_model_resource_label(p->resource));
    if (p->resource == SIMPLER_SCOPE_TENSORMAP)
        (void)fprintf(out, "  %10s", "global");
    else
        (void)fprintf(out, "  %10" PRIu64, p->ring);
    amount(out, p->resource, (struct simpler_scope_number){p->point.value, true});
    amount(out, p->resource, p->capacity);
    (void)fprintf(out, "  %9s  %11" PRIu64 "  ",
                  p->has_use ? simpler_report_text_percent(buffer, p->use_percent) : "unknown",
                  p->point.index);
    simpler_report_text_plain(out, m->sites.texts[p->point.site]);
    (void)fputc('\n', out);
}

void simpler_scope_table(FILE *out, const struct simpler_scope_model *m, uint32_t rows)
{
    struct simpler_scope_peak *peaks;
    uint32_t count = 0;

    (void)fprintf(out, "%s: ", simpler_scope_model_chip_label(m->chip));
    simpler_report_text_plain(out, m->sentence);
    (void)fputc('\n', out);
    peaks = simpler_alloc_zeroed(SIMPLER_SCOPE_MAX_RINGS * SIMPLER_SCOPE_RINGED_NUM + 1,
                                 sizeof(*peaks));
    while (peaks != NULL && simpler_scope_model_peak(m, count, &peaks[count]))
        count++;
    if (count > 0 && rows > 0) {
        qsort(peaks, count, sizeof(*peaks), by_use);
        (void)fprintf(out, "\n%-12s  %10s  %14s  %14s  %9s  %11s  %s\n", "Resource", "ring_depth",
                      "Peak", "Capacity", "Use", "Scope Index", "Site");
    }
    for (uint32_t i = 0; i < count && i < rows; i++)
        print_row(out, m, &peaks[i]);
    if (count > 0 && rows > 0)
        (void)fputs(
            "\nA ring's Peak is a scope's high water: what was in use when the scope began, "
            "and all\nthat it allocated until its end.  It bounds what was in use at once, "
            "and may exceed\nthe capacity.\n",
            out);
    simpler_alloc_free(peaks);
}
