/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_REPORT_SCOPE_RECORD_H
#define SIMPLER_REPORT_SCOPE_RECORD_H

/*
 * The two kinds of line of a scope_stats.jsonl: metadata and sample.  Keys come
 * in any order; unknown ones are kept aside (metadata) or passed over (sample).
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/json_scan.h"

/* Resources in the order of the report: X(NAME, key, label, unit). */
#define SIMPLER_SCOPE_RESOURCE_MAP(X)                     \
    X(TASK_WINDOW, "task_window", "Task window", "slots") \
    X(HEAP, "heap", "Heap", "B")                          \
    X(DEP_POOL, "dep_pool", "Dep pool", "entries")        \
    X(TENSORMAP, "tensormap", "TensorMap", "entries")

enum simpler_scope_resource {
#define X(NAME, key, label, unit) SIMPLER_SCOPE_##NAME,
    SIMPLER_SCOPE_RESOURCE_MAP(X)
#undef X
        SIMPLER_SCOPE_RESOURCE_NUM
};
/* Those with a head and a tail for each ring. */
#define SIMPLER_SCOPE_RINGED_NUM 3

/* The device counters clamp here; a count that reached it is not known. */
#define SIMPLER_SCOPE_SATURATED 4294967295u

/* A number that may be null or missing. */
struct simpler_scope_number {
    uint64_t value;
    bool known;
};

enum simpler_scope_truth { SIMPLER_SCOPE_UNKNOWN, SIMPLER_SCOPE_NO, SIMPLER_SCOPE_YES };

struct simpler_scope_array {
    struct simpler_scope_number *items;
    size_t count;
};

struct simpler_scope_meta {
    bool present; /* line 1 is metadata */
    enum simpler_scope_truth fatal;
    enum simpler_scope_truth counts_unknown;
    struct simpler_scope_number dropped, total, received, retained;
    struct simpler_scope_array ring_max[SIMPLER_SCOPE_RINGED_NUM];
    struct simpler_scope_number tensormap_max;
    char verdict[32]; /* empty: the key is not there or null */
    char *other;      /* unknown keys as the inside of a JSON object; NULL: none */
    unsigned missing; /* bit per key of the documented seven */
    char fault[128];  /* first value of a wrong type; empty: none */
};

struct simpler_scope_sample {
    struct simpler_json_span site;
    bool is_end;
    uint64_t depth, ring;
    uint64_t tail[SIMPLER_SCOPE_RINGED_NUM], head[SIMPLER_SCOPE_RINGED_NUM];
    uint64_t tensormap, run_epoch, buf_seq;
};

/* Whether a line 1 is a sample, so that the file has no metadata. */
bool simpler_scope_record_is_sample(const char *text, size_t bytes);

/*
 * SIMPLER_EFORMAT: the text is no JSON object (@scan tells where); values of a
 * wrong type and missing keys are no failure, they are unknown and noted.
 */
int simpler_scope_record_meta(struct simpler_json_scan *scan, struct simpler_scope_meta *out);
void simpler_scope_record_meta_fini(struct simpler_scope_meta *meta);
/* Name of a key of the documented seven, by bit of `missing`; NULL behind the last. */
const char *simpler_scope_record_meta_key(unsigned bit);

/* False: @scan holds fault and place.  The site points into the text. */
bool simpler_scope_record_sample(struct simpler_json_scan *scan, struct simpler_scope_sample *out);

/* Capacity of a resource on a ring; unknown for a ring behind the array. */
struct simpler_scope_number simpler_scope_record_capacity(const struct simpler_scope_meta *meta,
                                                          enum simpler_scope_resource resource,
                                                          uint64_t ring);

#endif
