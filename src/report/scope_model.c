/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From lines to the model: each sample is checked against the one before,
 * paired, and its metrics go into curves, peaks and sites.  One pass; the
 * memory depends on open scopes, rings and distinct sites, not on samples.
 */
#include "report/scope_model.h"

#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "base/compiler.h"
#include "base/logger.h"
#include "report/regular_file.h"
#include "report/scope_verdict.h"
#include "simpler/status.h"

static void note(struct simpler_scope_model *m, uint64_t line, size_t column, const char *text)
{
    if (m->fault_count < SIMPLER_SCOPE_MAX_FAULTS)
        m->faults[m->fault_count++] = (struct simpler_scope_fault){line, column, text};
}

static struct simpler_scope_ring *find_ring(struct simpler_scope_model *m, uint32_t ring)
{
    for (uint32_t i = 0; i < m->ring_count; i++) {
        if (m->rings[i].ring == ring)
            return &m->rings[i];
    }
    return NULL;
}

/* *out is NULL when there are too many rings already. */
static int need_ring(struct simpler_scope_model *m, uint32_t ring, struct simpler_scope_ring **out)
{
    *out = find_ring(m, ring);
    if (*out != NULL || m->ring_count == SIMPLER_SCOPE_MAX_RINGS)
        return 0;
    void *grown = simpler_alloc_resize(m->rings, m->ring_count + 1, sizeof(*m->rings));
    if (grown == NULL)
        return SIMPLER_ENOMEM;
    m->rings = grown;
    uint32_t at = m->ring_count++;
    for (; at > 0 && m->rings[at - 1].ring > ring; at--)
        m->rings[at] = m->rings[at - 1];
    m->rings[at] = (struct simpler_scope_ring){.ring = ring};
    *out = &m->rings[at];
    return 0;
}

static int intern_site(struct simpler_scope_model *m, struct simpler_json_span site, uint32_t *out)
{
    int rc;
    if (site.plain) {
        rc = simpler_site_table_intern(&m->sites, site.text, site.bytes, out);
    } else {
        size_t bytes = simpler_json_text(site, NULL, 0);
        char *text = simpler_alloc_zeroed(bytes + 1, 1);
        if (text == NULL)
            return SIMPLER_ENOMEM;
        (void)simpler_json_text(site, text, bytes + 1);
        rc = simpler_site_table_intern(&m->sites, text, bytes, out);
        simpler_alloc_free(text);
    }
    if (rc != 0 || *out < m->site_room)
        return rc;
    uint32_t room = m->site_room == 0 ? 64 : 2 * m->site_room;
    void *grown = simpler_alloc_resize(m->site_stats, room, sizeof(*m->site_stats));
    if (grown == NULL)
        return SIMPLER_ENOMEM;
    m->site_stats = grown;
    memset(m->site_stats + m->site_room, 0, (room - m->site_room) * sizeof(*m->site_stats));
    m->site_room = room;
    return 0;
}

/* Counters never go back and a tail never passes its head. */
static void check_counters(struct simpler_scope_model *m, struct simpler_scope_ring *ring,
                           const struct simpler_scope_sample *sample, uint64_t line)
{
    bool bad = false;
    for (int r = 0; r < SIMPLER_SCOPE_RINGED_NUM; r++) {
        bad = bad || sample->tail[r] > sample->head[r] || sample->head[r] < ring->last_head[r] ||
              sample->tail[r] < ring->last_tail[r];
        ring->last_head[r] = sample->head[r];
        ring->last_tail[r] = sample->tail[r];
    }
    if (bad) {
        m->counts.backwards++;
        note(m, line, 0, "a counter goes backwards, or a start is above its end");
    }
}

/* What is in use never passes its capacity; only a sum over a scope may. */
static void check_occupancy(struct simpler_scope_model *m, struct simpler_scope_ring *ring,
                            const struct simpler_scope_sample *sample, uint64_t line)
{
    bool above = m->meta.tensormap_max.known && sample->tensormap > m->meta.tensormap_max.value;

    for (int r = 0; r < SIMPLER_SCOPE_RINGED_NUM; r++) {
        struct simpler_scope_number capacity =
            simpler_scope_record_capacity(&m->meta, (enum simpler_scope_resource)r, ring->ring);
        above = above || (capacity.known && sample->head[r] >= sample->tail[r] &&
                          sample->head[r] - sample->tail[r] > capacity.value);
    }
    if (above) {
        m->counts.above_capacity++;
        note(m, line, 0, "more in use than the capacity");
    }
}

static void check_origin(struct simpler_scope_model *m, const struct simpler_scope_sample *sample,
                         uint64_t line)
{
    if (m->counts.lines == 0) {
        m->first_epoch = sample->run_epoch;
    } else if (sample->run_epoch != m->first_epoch) {
        m->counts.foreign_epoch++;
        note(m, line, 0, "the sample belongs to another run (run_epoch)");
    } else if (sample->buf_seq < m->last_buf_seq) {
        m->counts.out_of_order++;
        note(m, line, 0, "the sample is out of order (buf_seq)");
    }
    m->last_buf_seq = sample->buf_seq;
}

static int add_point(struct simpler_scope_curve *curve, struct simpler_series_point point,
                     uint64_t own)
{
    if (curve->series.count == 0 || point.value > curve->peak.value) {
        curve->peak = point;
        curve->own = own;
    }
    return simpler_series_add(&curve->series, point);
}

static void add_site_peak(struct simpler_scope_model *m, enum simpler_scope_resource resource,
                          struct simpler_series_point point)
{
    struct simpler_scope_site *site = &m->site_stats[point.site];
    double use;

    if (site->pairs == 0 || point.value > site->peaks[resource].value)
        site->peaks[resource] = point;
    if (!simpler_scope_model_use(
            point.value, simpler_scope_record_capacity(&m->meta, resource, point.ring), &use))
        return;
    if (!site->has_use || use > site->use_percent)
        site->use_percent = use;
    site->has_use = true;
}

static bool is_consistent(const struct simpler_pairing_begin *begin,
                          const struct simpler_scope_sample *end)
{
    for (int r = 0; r < SIMPLER_SCOPE_RINGED_NUM; r++) {
        if (end->head[r] < begin->tail[r] || end->head[r] < end->tail[r] ||
            end->head[r] < begin->head[r])
            return false;
    }
    return true;
}

static int add_ringed(struct simpler_scope_model *m, struct simpler_scope_ring *ring,
                      const struct simpler_pairing_begin *begin,
                      const struct simpler_scope_sample *end, uint32_t site)
{
    struct simpler_series_point point = {0, ring->pairs, site, ring->ring};

    for (int r = 0; r < SIMPLER_SCOPE_RINGED_NUM; r++) {
        uint64_t own = end->head[r] - begin->head[r];
        const uint64_t values[SIMPLER_SCOPE_METRIC_NUM] = {end->head[r] - begin->tail[r],
                                                           end->head[r] - end->tail[r], own};
        for (int k = 0; k < SIMPLER_SCOPE_METRIC_NUM; k++) {
            point.value = values[k];
            int rc = add_point(&ring->curves[r][k], point, own);
            if (rc != 0)
                return rc;
        }
        point.value = values[SIMPLER_SCOPE_HIGH_WATER];
        add_site_peak(m, (enum simpler_scope_resource)r, point);
    }
    return 0;
}

static int add_pair(struct simpler_scope_model *m, struct simpler_scope_ring *ring,
                    const struct simpler_pairing_begin *begin,
                    const struct simpler_scope_sample *end, uint32_t site, uint64_t line)
{
    if (!is_consistent(begin, end)) {
        m->counts.inconsistent++;
        note(m, line, 0, "the scope ends below where it began");
        return 0;
    }
    if (begin->depth != end->depth) {
        m->counts.depth_differs++;
        note(m, line, 0, "begin and end of the scope name different depths");
    }
    int rc = add_ringed(m, ring, begin, end, site);
    if (rc != 0)
        return rc;
    struct simpler_series_point point = {end->tensormap, m->counts.pairs, site, ring->ring};
    add_site_peak(m, SIMPLER_SCOPE_TENSORMAP, point);
    m->site_stats[site].pairs++;
    ring->pairs++;
    m->counts.pairs++;
    return add_point(&m->tensormap, point,
                     end->tensormap > begin->tensormap ? end->tensormap - begin->tensormap : 0);
}

static int push_begin(struct simpler_scope_model *m, const struct simpler_scope_sample *sample,
                      uint32_t site, uint64_t line)
{
    struct simpler_pairing_begin begin = {
        .depth = sample->depth, .tensormap = sample->tensormap, .line = line};
    memcpy(begin.tail, sample->tail, sizeof(begin.tail));
    memcpy(begin.head, sample->head, sizeof(begin.head));
    return simpler_pairing_push(&m->pairing, (uint32_t)sample->ring, site, &begin);
}

static int add_sample(struct simpler_scope_model *m, const struct simpler_scope_sample *sample,
                      uint64_t line)
{
    struct simpler_scope_ring *ring = NULL;
    struct simpler_pairing_begin begin;
    uint32_t site;

    check_origin(m, sample, line);
    m->counts.lines++;
    int rc = sample->ring > UINT32_MAX ? 0 : need_ring(m, (uint32_t)sample->ring, &ring);
    if (rc != 0)
        return rc;
    if (ring == NULL) {
        m->counts.uncharted++;
        note(m, line, 0, "more rings than the report can show");
        return 0;
    }
    rc = intern_site(m, sample->site, &site);
    if (rc != 0)
        return rc;
    check_counters(m, ring, sample, line);
    check_occupancy(m, ring, sample, line);
    if (!sample->is_end)
        return push_begin(m, sample, site, line);
    if (simpler_pairing_try_pop(&m->pairing, ring->ring, site, &begin))
        return add_pair(m, ring, &begin, sample, site, line);
    m->counts.unpaired_end++;
    note(m, line, 0, "an end without its begin");
    return 0;
}

static bool is_blank(const struct simpler_line *line)
{
    for (size_t i = 0; i < line->bytes; i++) {
        if (strchr(" \t\r", line->text[i]) == NULL || line->text[i] == 0)
            return false;
    }
    return true;
}

static int add_line(struct simpler_scope_model *m, const struct simpler_line *line)
{
    struct simpler_scope_sample sample;
    struct simpler_json_scan scan;

    if (line->hole_bytes > 0) {
        m->counts.holes++;
        m->counts.hole_bytes += line->hole_bytes;
        note(m, line->number, 0, "a hole of NUL bytes");
    }
    m->counts.torn = line->torn;
    if (is_blank(line))
        return 0;
    if (line->too_long) {
        m->counts.damaged++;
        note(m, line->number, 0, "the line is longer than 64 KiB");
        return 0;
    }
    simpler_json_scan_init(&scan, line->text, line->bytes);
    if (simpler_scope_record_sample(&scan, &sample))
        return add_sample(m, &sample, line->number);
    m->counts.damaged++;
    note(m, line->number, simpler_json_scan_column(&scan),
         line->torn ? "the file ends inside this line" : scan.fault);
    return 0;
}

/* Line 1; a sample there is handed on, for the file has no metadata. */
static int add_first_line(struct simpler_scope_model *m, const struct simpler_line *line)
{
    struct simpler_json_scan scan;

    if (line->hole_bytes > 0 || line->too_long || is_blank(line) ||
        simpler_scope_record_is_sample(line->text, line->bytes))
        return add_line(m, line);
    simpler_json_scan_init(&scan, line->text, line->bytes);
    m->counts.torn = line->torn;
    if (simpler_scope_record_meta(&scan, &m->meta) == 0)
        return 0;
    m->counts.damaged++;
    note(m, line->number, simpler_json_scan_column(&scan), scan.fault);
    return 0;
}

static int read_all(struct simpler_scope_model *m, struct simpler_line_reader *reader)
{
    struct simpler_line line;
    int got;

    while ((got = simpler_line_reader_next(reader, &line)) > 0) {
        int rc = line.number == 1 ? add_first_line(m, &line) : add_line(m, &line);
        if (rc != 0) {
            SIMPLER_ERROR("%s: line %llu: %s", m->file, (unsigned long long)line.number,
                          simpler_status_text(rc));
            return rc;
        }
    }
    if (got < 0)
        SIMPLER_ERROR("%s: reading failed after %llu bytes: %s", m->file,
                      (unsigned long long)simpler_line_reader_offset(reader), strerror(errno));
    return got;
}

static int check_usable(const struct simpler_scope_model *m)
{
    if (m->meta.present || m->counts.lines > 0)
        return 0;
    if (m->fault_count == 0) {
        SIMPLER_ERROR("%s: the file is empty", m->file);
    } else {
        const struct simpler_scope_fault *f = &m->faults[0];
        SIMPLER_ERROR("%s: line %llu, column %zu: %s; no metadata and no sample in this file",
                      m->file, (unsigned long long)f->line, f->column == 0 ? 1 : f->column,
                      f->text);
    }
    return SIMPLER_EFORMAT;
}

int simpler_scope_model_read_lines(struct simpler_line_reader *reader, const char *name,
                                   struct simpler_scope_model **out)
{
    struct simpler_scope_model *m = simpler_alloc_zeroed(1, sizeof(*m));
    if (m == NULL)
        return SIMPLER_ENOMEM;
    m->file = simpler_alloc_string(name);
    int rc = m->file == NULL ? SIMPLER_ENOMEM : read_all(m, reader);
    if (rc == 0)
        rc = check_usable(m);
    if (rc == 0) {
        m->counts.unpaired_begin = m->pairing.open;
        rc = simpler_scope_verdict(m);
    }
    if (rc != 0) {
        simpler_scope_model_close(m);
        return rc;
    }
    *out = m;
    return 0;
}

int simpler_scope_model_read(const char *path, simpler_line_watch_fn watch, void *watch_user,
                             struct simpler_scope_model **out)
{
    struct simpler_line_reader *reader;
    int rc = simpler_line_reader_open(path, &reader);
    if (rc != 0) {
        SIMPLER_ERROR("%s: cannot be read: %s", path,
                      rc == SIMPLER_ENOMEM ? simpler_status_text(rc)
                                           : simpler_regular_file_fault(errno));
        return rc;
    }
    simpler_line_reader_watch(reader, watch, watch_user);
    rc = simpler_scope_model_read_lines(reader, path, out);
    simpler_line_reader_close(reader);
    return rc;
}

static void close_curve(struct simpler_scope_curve *curve)
{
    simpler_series_fini(&curve->series);
}

void simpler_scope_model_close(struct simpler_scope_model *m)
{
    if (m == NULL)
        return;
    for (uint32_t i = 0; i < m->ring_count; i++) {
        for (int r = 0; r < SIMPLER_SCOPE_RINGED_NUM; r++) {
            for (int k = 0; k < SIMPLER_SCOPE_METRIC_NUM; k++)
                close_curve(&m->rings[i].curves[r][k]);
        }
    }
    close_curve(&m->tensormap);
    simpler_alloc_free(m->rings);
    simpler_pairing_fini(&m->pairing);
    simpler_site_table_fini(&m->sites);
    simpler_alloc_free(m->site_stats);
    simpler_scope_record_meta_fini(&m->meta);
    simpler_alloc_free(m->sentence);
    simpler_alloc_free(m->file);
    simpler_alloc_free(m);
}
