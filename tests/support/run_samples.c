/* SPDX-License-Identifier: Apache-2.0 */
/* scope_stats.jsonl, by what docs/formats.md and the documents of scope stats say of it. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "run_files.h"

#define MAX_DEPTH 64

static const char *const metadata_keys[] = {"fatal",
                                            "dropped",
                                            "total",
                                            "task_window_max",
                                            "heap_max",
                                            "dep_pool_max",
                                            "tensormap_max",
                                            "collection_verdict",
                                            "counts_unknown",
                                            "host_received_records",
                                            "host_retained_records"};
static const char *const sample_keys[] = {"site",
                                          "phase",
                                          "depth",
                                          "ring",
                                          "task_window_start",
                                          "task_window_end",
                                          "heap_start",
                                          "heap_end",
                                          "dep_pool_start",
                                          "dep_pool_end",
                                          "tensormap",
                                          "run_epoch",
                                          "buf_seq"};

/* The first line.  Counts of -1 are unknown. */
struct metadata {
    int fatal; /* -1: null */
    int64_t dropped, total;
    bool has_capacities;
    int64_t capacity[3][CHIP_MAX_RING_DEPTH], tensormap_max;
    bool has_verdict, counts_unknown;
    const char *verdict;
    int64_t received, retained;
};

struct reading {
    struct run_files *files;
    struct metadata meta;
    int64_t lines, epoch, buffer;
    uint32_t depth; /* open scopes */
    int64_t last[CHIP_MAX_RING_DEPTH][6];
    uint32_t begun;
};

static int64_t whole_number(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    return json_is_integer(value) ? json_integer_value(value) : -1;
}

static bool read_capacities(const json_t *object, struct metadata *m)
{
    const json_t *map = json_object_get(object, "tensormap_max");

    m->has_capacities = !json_is_null(map);
    m->tensormap_max = m->has_capacities ? json_integer_value(map) : 0;
    if (m->has_capacities && !json_is_integer(map))
        return false;
    for (uint32_t k = 0; k < 3; k++) {
        const json_t *array = json_object_get(object, metadata_keys[3 + k]);
        if (!m->has_capacities && json_is_null(array))
            continue;
        if (!json_is_array(array) || json_array_size(array) != CHIP_MAX_RING_DEPTH)
            return false;
        for (uint32_t r = 0; r < CHIP_MAX_RING_DEPTH; r++)
            m->capacity[k][r] = json_integer_value(json_array_get(array, r));
    }
    return true;
}

static bool read_metadata(const json_t *object, struct metadata *m)
{
    const json_t *fatal = json_object_get(object, "fatal");
    bool seven = run_files_has_keys(object, metadata_keys, 7);

    if (!seven && !run_files_has_keys(object, metadata_keys, 11))
        return false;
    m->has_verdict = !seven;
    m->fatal = json_is_boolean(fatal) ? json_is_true(fatal) : -1;
    m->dropped = whole_number(object, "dropped");
    m->total = whole_number(object, "total");
    m->verdict = json_string_value(json_object_get(object, "collection_verdict"));
    m->counts_unknown = json_is_true(json_object_get(object, "counts_unknown"));
    m->received = whole_number(object, "host_received_records");
    m->retained = whole_number(object, "host_retained_records");
    if (m->has_verdict && (m->verdict == NULL || m->received < m->retained || m->retained < 0))
        return false;
    return (m->dropped < 0) == (m->total < 0) && read_capacities(object, m);
}

/* The sizes that the run was configured with. */
static bool has_right_capacities(const struct reading *r)
{
    const struct simpler_runtime_env *env = &r->files->config->runtime_env;
    const uint64_t *asked[] = {env->ring_task_window, env->ring_heap, env->ring_dep_pool};
    const struct metadata *m = &r->meta;

    if (!m->has_capacities)
        return run_files_host_built(r->files);
    if (run_files_host_built(r->files) ||
        (env->tensormap != 0 && m->tensormap_max != (int64_t)env->tensormap))
        return false;
    for (uint32_t k = 0; k < 3; k++) {
        for (uint32_t i = 0; i < CHIP_MAX_RING_DEPTH; i++) {
            if (m->capacity[k][i] <= 0 ||
                (asked[k][i] != 0 && m->capacity[k][i] != (int64_t)asked[k][i]))
                return false;
        }
    }
    return true;
}

/* ---- samples ---- */

/* Counters only grow, and what lies between the two ends fits. */
static bool has_right_counters(struct reading *r, const json_t *object, uint32_t ring)
{
    for (uint32_t i = 0; i < 6; i++) {
        int64_t value = whole_number(object, sample_keys[4 + i]);
        if (value < r->last[ring][i])
            return run_files_fault(r->files, "sample %lld: %s goes back", (long long)r->lines,
                                   sample_keys[4 + i]);
        r->last[ring][i] = value;
        if (i % 2 == 1 && (value < r->last[ring][i - 1] ||
                           value - r->last[ring][i - 1] > r->meta.capacity[i / 2][ring]))
            return run_files_fault(r->files, "sample %lld: %s is beyond the capacity",
                                   (long long)r->lines, sample_keys[4 + i]);
    }
    int64_t map = whole_number(object, "tensormap");
    if (map < 0 || map > r->meta.tensormap_max)
        return run_files_fault(r->files, "sample %lld: tensormap", (long long)r->lines);
    return true;
}

/* Begin and end are nested, as long as none is missing. */
static bool has_right_place(struct reading *r, const json_t *object, uint32_t depth)
{
    const char *site = json_string_value(json_object_get(object, "site"));
    const char *phase = json_string_value(json_object_get(object, "phase"));
    bool begin = phase != NULL && strcmp(phase, "begin") == 0;

    if (site == NULL || phase == NULL || (!begin && strcmp(phase, "end") != 0))
        return run_files_fault(r->files, "sample %lld: no site or phase", (long long)r->lines);
    if (strcmp(site, depth == 0 ? "kit.c:1" : "(unknown):0") != 0)
        return run_files_fault(r->files, "sample %lld: site %s", (long long)r->lines, site);
    if (r->meta.dropped != 0 || r->meta.has_verdict)
        return true;
    if (depth != r->depth - !begin)
        return run_files_fault(r->files, "sample %lld: a hole, depth %u while %u are open",
                               (long long)r->lines, depth, r->depth);
    r->depth += begin ? 1 : UINT32_MAX;
    r->begun += begin;
    return true;
}

static bool read_sample(struct reading *r, const char *line)
{
    json_error_t error;
    json_t *object = json_loads(line, JSON_REJECT_DUPLICATES, &error);
    bool right = object != NULL && run_files_has_keys(object, sample_keys, 13);

    if (right) {
        int64_t depth = whole_number(object, "depth"), ring = whole_number(object, "ring");
        int64_t epoch = whole_number(object, "run_epoch"), buffer = whole_number(object, "buf_seq");
        right = depth >= 0 && depth < MAX_DEPTH && ring == (depth < 3 ? depth : 3) && epoch > 0 &&
                (r->lines == 0 || epoch == r->epoch);
        bool hole = r->lines != 0 && buffer != r->buffer && buffer != r->buffer + 1;
        if (right && (buffer < r->buffer || (hole && r->meta.dropped == 0)))
            right = run_files_fault(r->files, "sample %lld: buffer %lld after %lld",
                                    (long long)r->lines, (long long)buffer, (long long)r->buffer);
        right = right && has_right_place(r, object, (uint32_t)depth) &&
                has_right_counters(r, object, (uint32_t)ring);
        r->epoch = epoch;
        r->buffer = buffer;
    }
    json_decref(object);
    r->lines++;
    return right || run_files_fault(r->files, "sample %lld: %.200s", (long long)r->lines, line);
}

/* ---- the file ---- */

static uint32_t scopes_of(const struct graph_program *program)
{
    uint32_t n = 1; /* the root */

    for (uint32_t i = 0; i < program->op_count; i++)
        n += program->op[i].kind == GRAPH_OP_SCOPE_BEGIN;
    return n;
}

/* What the metadata says, against the lines and what the run came to. */
static bool adds_up(struct reading *r)
{
    const struct metadata *m = &r->meta;
    struct run_files *files = r->files;
    bool known = m->dropped >= 0;

    if (!known && !files->unknown)
        return run_files_fault(files, "how much is missing is not known");
    if (known &&
        m->total != m->dropped + r->lines + (m->has_verdict ? m->received - m->retained : 0))
        return run_files_fault(files, "total %lld, dropped %lld, %lld lines", (long long)m->total,
                               (long long)m->dropped, (long long)r->lines);
    if (m->has_verdict && m->retained != r->lines)
        return run_files_fault(files, "retained %lld, %lld lines", (long long)m->retained,
                               (long long)r->lines);
    if (m->has_verdict && m->counts_unknown != (strcmp(m->verdict, "partial_cut_unknown") == 0))
        return run_files_fault(files, "verdict %s", m->verdict);
    if (known == m->counts_unknown && m->has_verdict)
        return run_files_fault(files, "the counts are and are not known");
    bool fatal = run_files_has_code(files);
    if (m->fatal >= 0 && m->fatal != fatal)
        return run_files_fault(files, "fatal is %d, the status %d", m->fatal,
                               files->result->status);
    if (m->has_verdict && strcmp(m->verdict, "published") == 0 && (m->dropped != 0 || fatal))
        return run_files_fault(files, "published, though something is missing");
    return true;
}

/* Whether the file claims that nothing is missing. */
static bool claims_all(const struct metadata *m)
{
    return m->dropped == 0 && (!m->has_verdict || strcmp(m->verdict, "partial_cut_unknown") != 0) &&
           m->received == m->retained;
}

static bool is_complete(struct reading *r)
{
    struct run_files *files = r->files;
    bool samples = !run_files_host_built(files);
    int64_t all = 2 * (int64_t)scopes_of(files->program);

    /* What was lost has been counted. */
    if (samples && files->result->status == 0 && r->meta.total >= 0 && r->meta.total != all)
        return run_files_fault(files, "total %lld, but %lld boundaries were passed",
                               (long long)r->meta.total, (long long)all);
    if (!claims_all(&r->meta) || run_files_has_code(files))
        return true;
    if (samples && files->result->status == 0 && r->lines != all)
        return run_files_fault(files, "%lld samples of %lld boundaries, none dropped",
                               (long long)r->lines, (long long)all);
    if (!samples && r->lines != 0)
        return run_files_fault(files, "host_build_graph has no samples");
    if (r->depth != 0 || r->lines % 2 != 0)
        return run_files_fault(files, "%u scopes have no end", r->depth);
    return true;
}

/* The result says the same. */
static bool agrees(struct reading *r)
{
    const struct simpler_scope_stats_result *s = &r->files->result->scope_stats;
    uint64_t lost =
        s->dropped_no_free + s->dropped_ready_full + s->dropped_too_deep + s->write_failed;

    if (r->files->across)
        return true;
    if (s->status == 0 && (!claims_all(&r->meta) || r->meta.has_verdict))
        return run_files_fault(r->files, "status 0, though something is missing");
    if (s->status != 0 && claims_all(&r->meta))
        return run_files_fault(r->files, "status %d, though nothing is missing", s->status);
    if ((int64_t)s->records != r->lines)
        return run_files_fault(r->files, "%llu records, %lld lines", (unsigned long long)s->records,
                               (long long)r->lines);
    if (s->counts_known && r->meta.dropped >= 0 && (int64_t)lost != r->meta.dropped)
        return run_files_fault(r->files, "dropped %lld, by cause %llu", (long long)r->meta.dropped,
                               (unsigned long long)lost);
    return true;
}

static bool read_lines(struct reading *r, FILE *in)
{
    static char line[4096];
    json_error_t error;

    if (fgets(line, sizeof(line), in) == NULL || strchr(line, '\n') == NULL)
        return run_files_fault(r->files, "the first line is not whole");
    json_t *object = json_loads(line, JSON_REJECT_DUPLICATES, &error);
    bool right = json_is_object(object) && read_metadata(object, &r->meta);
    if (!right)
        (void)run_files_fault(r->files, "metadata: %.300s", line);
    else if (!has_right_capacities(r))
        right = run_files_fault(r->files, "capacities: %.300s", line);
    while (right && fgets(line, sizeof(line), in) != NULL)
        right = strchr(line, '\n') != NULL ? read_sample(r, line)
                                           : run_files_fault(r->files, "the last line is torn");
    right = right && adds_up(r) && is_complete(r) && agrees(r);
    r->files->files_read++;
    r->files->lines_read += (uint32_t)r->lines;
    r->files->partial += !claims_all(&r->meta);
    json_decref(object); /* the verdict is its own */
    return right;
}

static bool is_later(struct reading *r)
{
    if (r->lines == 0)
        return true;
    if ((uint64_t)r->epoch <= *r->files->epoch)
        return run_files_fault(r->files, "run_epoch %lld after %llu", (long long)r->epoch,
                               (unsigned long long)*r->files->epoch);
    *r->files->epoch = (uint64_t)r->epoch;
    return true;
}

bool run_files_check_samples(struct run_files *files)
{
    const struct simpler_scope_stats_result *s = &files->result->scope_stats;
    struct reading reading = {.files = files, .buffer = -1};
    char path[256];

    if (files->config->enable_scope_stats == 0)
        return true;
    (void)snprintf(path, sizeof(path), "%s/scope_stats/scope_stats.jsonl", files->prefix);
    struct stat info;
    if (!s->enabled)
        return run_files_never_began(files);
    FILE *in = stat(path, &info) == 0 && S_ISREG(info.st_mode) ? fopen(path, "r") : NULL;
    if (s->status != 0 && !files->disturbed && !files->across)
        return run_files_fault(files, "scope stats have status %d", s->status);
    if (!files->across && !files->stray && s->has_file != (in != NULL))
        return run_files_fault(files, "has_file is %d", s->has_file);
    if (in == NULL)
        return files->disturbed || run_files_fault(files, "no scope stats");
    bool right = read_lines(&reading, in) && is_later(&reading);
    (void)fclose(in);
    return right;
}
