/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The verdict.  Each check states one reason with its numbers; a reason belongs
 * to a chip, and the chips are ordered from the gravest to Healthy.
 */
#include "report/scope_verdict.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "simpler/status.h"

struct reasons {
    FILE *out;
    enum simpler_scope_chip chip;
};

__attribute__((format(printf, 3, 4))) static void
reason(struct reasons *r, enum simpler_scope_chip chip, const char *format, ...)
{
    va_list args;
    if (chip < r->chip)
        r->chip = chip;
    va_start(args, format);
    (void)vfprintf(r->out, format, args);
    va_end(args);
    (void)fputs(". ", r->out);
}

static bool is_saturated(struct simpler_scope_number n)
{
    return n.known && n.value >= SIMPLER_SCOPE_SATURATED;
}

static void check_fatal(struct reasons *r, const struct simpler_scope_meta *meta)
{
    if (meta->fatal == SIMPLER_SCOPE_YES)
        reason(r, SIMPLER_SCOPE_CHIP_FATAL,
               "A fatal error was latched during the run: samples past it are diagnostic only");
    else if (meta->present && meta->fatal == SIMPLER_SCOPE_UNKNOWN)
        reason(r, SIMPLER_SCOPE_CHIP_UNKNOWN_COUNTS, "Whether a fatal error occurred is unknown");
}

static void check_dropped(struct reasons *r, const struct simpler_scope_meta *meta)
{
    if (is_saturated(meta->dropped) || is_saturated(meta->total)) {
        reason(r, SIMPLER_SCOPE_CHIP_UNKNOWN_COUNTS,
               "A device counter reached its limit of %u, so the true counts are unknown",
               SIMPLER_SCOPE_SATURATED);
        return;
    }
    if (!meta->dropped.known || meta->dropped.value == 0)
        return;
    if (meta->total.known && meta->total.value > 0)
        reason(r, SIMPLER_SCOPE_CHIP_DROPPED,
               "%" PRIu64 " of %" PRIu64 " record%s (%.2f%%) %s dropped on the device, so peaks "
               "may be higher than shown",
               meta->dropped.value, meta->total.value, simpler_text_plural(meta->total.value),
               100.0 * (double)meta->dropped.value / (double)meta->total.value,
               simpler_text_by_count(meta->dropped.value, "was", "were"));
    else
        reason(r, SIMPLER_SCOPE_CHIP_DROPPED,
               "%" PRIu64 " record%s dropped on the device, so peaks may be higher than shown",
               meta->dropped.value, simpler_text_by_count(meta->dropped.value, " was", "s were"));
}

static void check_counts_known(struct reasons *r, const struct simpler_scope_model *m)
{
    const struct simpler_scope_meta *meta = &m->meta;
    const bool flagged = meta->counts_unknown == SIMPLER_SCOPE_YES;
    const bool cut = strcmp(meta->verdict, "partial_cut_unknown") == 0;

    if (!meta->present) {
        reason(r, SIMPLER_SCOPE_CHIP_UNKNOWN_COUNTS,
               "The file has no usable metadata line, so losses and capacities are unknown");
        return;
    }
    if (!meta->dropped.known || !meta->total.known)
        reason(r, SIMPLER_SCOPE_CHIP_UNKNOWN_COUNTS,
               "The device's own counts are unknown (%s%s%s): how many samples are missing cannot "
               "be told",
               meta->dropped.known ? "" : "dropped",
               !meta->dropped.known && !meta->total.known ? ", " : "",
               meta->total.known ? "" : "total");
    if (flagged || cut)
        reason(r, SIMPLER_SCOPE_CHIP_UNKNOWN_COUNTS,
               "The collector says that its counts cannot be trusted%s",
               cut ? " (partial_cut_unknown)" : "");
    if (meta->verdict[0] != 0 && flagged != cut)
        reason(r, SIMPLER_SCOPE_CHIP_INCOMPLETE,
               "The metadata contradict themselves: collection_verdict and counts_unknown");
}

static void check_quality(struct reasons *r, const struct simpler_scope_meta *meta)
{
    const bool has_verdict = meta->verdict[0] != 0;

    if (strcmp(meta->verdict, "partial_safe") == 0)
        reason(r, SIMPLER_SCOPE_CHIP_INCOMPLETE, "The collector calls the collection partial");
    else if (has_verdict && strcmp(meta->verdict, "published") != 0 &&
             strcmp(meta->verdict, "partial_cut_unknown") != 0)
        reason(r, SIMPLER_SCOPE_CHIP_INCOMPLETE, "The collection verdict is not a known one");
    if (has_verdict != meta->received.known || has_verdict != meta->retained.known ||
        has_verdict != (meta->counts_unknown != SIMPLER_SCOPE_UNKNOWN))
        reason(r, SIMPLER_SCOPE_CHIP_INCOMPLETE,
               "Only some of the four collection-quality keys are known");
    if (meta->received.known && meta->retained.known &&
        meta->received.value != meta->retained.value)
        reason(r, SIMPLER_SCOPE_CHIP_INCOMPLETE,
               "The host received %" PRIu64 " record%s and kept %" PRIu64, meta->received.value,
               simpler_text_plural(meta->received.value), meta->retained.value);
}

static bool expected_lines(const struct simpler_scope_meta *meta, uint64_t *out)
{
    const bool saturated = is_saturated(meta->total) || is_saturated(meta->dropped);

    if (meta->retained.known)
        *out = meta->retained.value;
    else if (meta->total.known && meta->dropped.known && !saturated &&
             meta->total.value >= meta->dropped.value)
        *out = meta->total.value - meta->dropped.value;
    else
        return false;
    return true;
}

static void check_lines(struct reasons *r, const struct simpler_scope_model *m)
{
    const struct simpler_scope_meta *meta = &m->meta;
    uint64_t expected;
    const bool both = meta->total.known && meta->dropped.known && !is_saturated(meta->total);

    if (both && meta->total.value < meta->dropped.value)
        reason(r, SIMPLER_SCOPE_CHIP_INCOMPLETE,
               "The metadata contradict themselves: more records dropped than attempted");
    else if (both && meta->received.known &&
             meta->total.value - meta->dropped.value != meta->received.value)
        reason(r, SIMPLER_SCOPE_CHIP_INCOMPLETE,
               "The metadata contradict themselves: total minus dropped is not what the host "
               "received");
    if (!expected_lines(meta, &expected) || expected == m->counts.lines)
        return;
    if (m->counts.lines < expected)
        reason(r, SIMPLER_SCOPE_CHIP_INCOMPLETE,
               "The file has %" PRIu64 " of the %" PRIu64 " sample%s collected: %" PRIu64
               " %s missing",
               m->counts.lines, expected, simpler_text_plural(expected), expected - m->counts.lines,
               simpler_text_by_count(expected - m->counts.lines, "is", "are"));
    else
        reason(r, SIMPLER_SCOPE_CHIP_INCOMPLETE,
               "The file has %" PRIu64 " sample%s, %" PRIu64
               " more than the metadata say were collected",
               m->counts.lines, simpler_text_plural(m->counts.lines), m->counts.lines - expected);
}

static void check_damage(struct reasons *r, const struct simpler_scope_model *m)
{
    const struct simpler_scope_counts *c = &m->counts;

    if (c->torn)
        reason(r, SIMPLER_SCOPE_CHIP_INCOMPLETE,
               "The last line has no newline: the file was cut or is still being written");
    if (c->damaged > 0)
        reason(r, SIMPLER_SCOPE_CHIP_INCOMPLETE, "%" PRIu64 " line%s could not be read", c->damaged,
               simpler_text_plural(c->damaged));
    if (c->holes > 0)
        reason(r, SIMPLER_SCOPE_CHIP_INCOMPLETE,
               "%" PRIu64 " hole%s of NUL bytes (%" PRIu64 " bytes) in the file", c->holes,
               simpler_text_plural(c->holes), c->hole_bytes);
    if (m->meta.fault[0] != 0)
        reason(r, SIMPLER_SCOPE_CHIP_INCOMPLETE, "The metadata are damaged (%s)", m->meta.fault);
    for (unsigned bit = 0; simpler_scope_record_meta_key(bit) != NULL; bit++) {
        if ((m->meta.missing & 1u << bit) != 0)
            reason(r, SIMPLER_SCOPE_CHIP_INCOMPLETE, "The metadata lack the key %s",
                   simpler_scope_record_meta_key(bit));
    }
}

static void check_contradictions(struct reasons *r, const struct simpler_scope_counts *c)
{
    const struct {
        uint64_t count;
        const char *text;
    } rows[] = {
        {c->backwards, "with counters that go backwards"},
        {c->foreign_epoch, "from another run (run_epoch differs)"},
        {c->out_of_order, "out of order (buf_seq falls)"},
        {c->above_capacity, "with more in use than the capacity"},
        {c->uncharted, "on more rings than the report can show"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (rows[i].count > 0)
            reason(r, SIMPLER_SCOPE_CHIP_INCOMPLETE, "%" PRIu64 " sample%s %s", rows[i].count,
                   simpler_text_plural(rows[i].count), rows[i].text);
    }
    if (c->inconsistent > 0)
        reason(r, SIMPLER_SCOPE_CHIP_INCOMPLETE,
               "%" PRIu64 " scope%s left out, ending below where they began", c->inconsistent,
               simpler_text_plural(c->inconsistent));
    if (c->depth_differs > 0)
        reason(r, SIMPLER_SCOPE_CHIP_INCOMPLETE,
               "%" PRIu64 " scope%s whose begin and end name different depths", c->depth_differs,
               simpler_text_plural(c->depth_differs));
}

/* Of the rings that were used; a run without scopes has no capacities to know. */
static void check_capacities(struct reasons *r, const struct simpler_scope_model *m)
{
    for (int k = 0; m->meta.present && k < SIMPLER_SCOPE_RESOURCE_NUM; k++) {
        const enum simpler_scope_resource resource = (enum simpler_scope_resource)k;
        for (uint32_t i = 0; i < m->ring_count; i++) {
            if (simpler_scope_record_capacity(&m->meta, resource, m->rings[i].ring).known)
                continue;
            if (resource == SIMPLER_SCOPE_TENSORMAP)
                reason(r, SIMPLER_SCOPE_CHIP_INCOMPLETE,
                       "The capacity of TensorMap is not known, so its use cannot be told");
            else
                reason(r, SIMPLER_SCOPE_CHIP_INCOMPLETE,
                       "The capacity of %s on ring_depth %u is not known, so its use cannot be "
                       "told",
                       simpler_scope_model_resource_label(resource), m->rings[i].ring);
            break;
        }
    }
}

static void check_unpaired(struct reasons *r, const struct simpler_scope_model *m)
{
    const struct simpler_scope_counts *c = &m->counts;
    uint32_t next = 0, ring, site;
    uint64_t count;

    if (c->unpaired_begin > 0 &&
        simpler_pairing_next_open(&m->pairing, &next, &ring, &site, &count))
        reason(r, SIMPLER_SCOPE_CHIP_UNPAIRED,
               "%" PRIu64 " scope%s began and did not end in this file (one at %.200s, "
               "ring_depth %u); no metric is computed for %s",
               c->unpaired_begin, simpler_text_plural(c->unpaired_begin), m->sites.texts[site],
               ring, simpler_text_by_count(c->unpaired_begin, "it", "them"));
    if (c->unpaired_end > 0)
        reason(r, SIMPLER_SCOPE_CHIP_UNPAIRED, "%" PRIu64 " end sample%s without a begin",
               c->unpaired_end, simpler_text_plural(c->unpaired_end));
}

/* Where the first of the faults stands; the page lists more of them. */
static void say_place(FILE *out, const struct simpler_scope_model *m)
{
    if (m->fault_count == 0)
        return;
    (void)fprintf(out, "First fault: line %" PRIu64, m->faults[0].line);
    if (m->faults[0].column > 0)
        (void)fprintf(out, ", column %zu", m->faults[0].column);
    (void)fprintf(out, ": %s. ", m->faults[0].text);
}

#define WHO_RECORDS                                                                         \
    "Only runs of tensormap_and_ringbuffer record scopes; on host_build_graph the flag is " \
    "accepted and there is nothing to record. "

static void say_empty(FILE *out, const struct simpler_scope_meta *meta)
{
    (void)fputs("There are no samples to show. ", out);
    /* Not where some are missing. */
    if (meta->total.known && meta->total.value == 0)
        (void)fputs(WHO_RECORDS, out);
}

static void say_healthy(FILE *out, const struct simpler_scope_model *m)
{
    if (m->counts.lines == 0)
        (void)fputs("The run recorded no samples and lost none. " WHO_RECORDS, out);
    else
        (void)fprintf(out,
                      "Complete: %s%" PRIu64 " record%s %s here, none was dropped, and every "
                      "scope is paired (%" PRIu64 "). ",
                      simpler_text_by_count(m->counts.lines, "the ", "all "), m->counts.lines,
                      simpler_text_plural(m->counts.lines),
                      simpler_text_by_count(m->counts.lines, "is", "are"), m->counts.pairs);
}

static void say_all(struct reasons *r, const struct simpler_scope_model *m)
{
    check_fatal(r, &m->meta);
    check_dropped(r, &m->meta);
    check_counts_known(r, m);
    check_quality(r, &m->meta);
    check_lines(r, m);
    check_damage(r, m);
    check_contradictions(r, &m->counts);
    check_capacities(r, m);
    check_unpaired(r, m);
    say_place(r->out, m);
    if (r->chip == SIMPLER_SCOPE_CHIP_HEALTHY)
        say_healthy(r->out, m);
    else if (m->counts.lines == 0)
        say_empty(r->out, &m->meta);
}

int simpler_scope_verdict(struct simpler_scope_model *m)
{
    char *text = NULL;
    size_t bytes = 0;
    struct reasons r = {open_memstream(&text, &bytes), SIMPLER_SCOPE_CHIP_HEALTHY};

    if (r.out == NULL)
        return SIMPLER_ENOMEM;
    say_all(&r, m);
    if (fclose(r.out) != 0) {
        free(text);
        return SIMPLER_ENOMEM;
    }
    if (bytes > 0)
        text[bytes - 1] = 0; /* the blank behind the last full stop */
    m->chip = r.chip;
    simpler_alloc_free(m->sentence);
    m->sentence = text;
    return 0;
}
