/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_REPORT_SCOPE_MODEL_H
#define SIMPLER_REPORT_SCOPE_MODEL_H

/*
 * What a scope_stats.jsonl says, ready to be rendered: counts, peaks with their
 * owners, curves, and everything that is wrong with the file.  Page, JSON and
 * terminal table all come from this one object.
 *
 * Scope index: the paired scopes of a ring in the order of their end records,
 * from 0; for TensorMap those of all rings together.
 */
#include <stdbool.h>
#include <stdint.h>

#include "report/line_reader.h"
#include "report/scope_pairing.h"
#include "report/scope_record.h"
#include "report/scope_series.h"
#include "report/site_table.h"

/* Rings with charts of their own; samples of further ones are counted. */
#define SIMPLER_SCOPE_MAX_RINGS  64
#define SIMPLER_SCOPE_MAX_FAULTS 20

enum simpler_scope_metric {
    SIMPLER_SCOPE_HIGH_WATER, /* end.head - begin.tail */
    SIMPLER_SCOPE_LIVE,       /* end.head - end.tail; TensorMap: end.tensormap */
    SIMPLER_SCOPE_ALLOC,      /* end.head - begin.head */
    SIMPLER_SCOPE_METRIC_NUM
};

struct simpler_scope_curve {
    struct simpler_series series;
    struct simpler_series_point peak; /* the first scope of several equal ones */
    uint64_t own;                     /* of the peak: what its scope allocated itself */
};

struct simpler_scope_ring {
    uint32_t ring;
    uint64_t pairs;
    struct simpler_scope_curve curves[SIMPLER_SCOPE_RINGED_NUM][SIMPLER_SCOPE_METRIC_NUM];
    /* The last sample, to see a counter that goes backwards. */
    uint64_t last_tail[SIMPLER_SCOPE_RINGED_NUM], last_head[SIMPLER_SCOPE_RINGED_NUM];
};

/*
 * Per site: its paired scopes, the greatest value of the risk metric of each
 * resource, and the highest use, which may be on another ring with less capacity.
 */
struct simpler_scope_site {
    uint64_t pairs;
    bool has_use;
    double use_percent;
    struct simpler_series_point peaks[SIMPLER_SCOPE_RESOURCE_NUM];
};

/* A line that could not be used, or a contradiction in one. */
struct simpler_scope_fault {
    uint64_t line;
    size_t column; /* 0: the whole line */
    const char *text;
};

struct simpler_scope_counts {
    uint64_t lines;   /* sample lines that could be used */
    uint64_t damaged; /* lines that could not */
    uint64_t holes;   /* runs of NUL bytes */
    uint64_t hole_bytes;
    uint64_t backwards;     /* samples whose counters go backwards or cross */
    uint64_t foreign_epoch; /* samples of another run than the first sample's */
    uint64_t out_of_order;  /* samples with a smaller buf_seq than the one before */
    uint64_t pairs;
    uint64_t inconsistent;   /* pairs whose difference would be negative: not shown */
    uint64_t depth_differs;  /* pairs whose begin and end name different depths */
    uint64_t above_capacity; /* samples with more in use than the capacity */
    uint64_t unpaired_begin;
    uint64_t unpaired_end;
    uint64_t uncharted; /* samples of rings beyond SIMPLER_SCOPE_MAX_RINGS */
    bool torn;          /* the last line has no newline */
};

enum simpler_scope_chip {
    SIMPLER_SCOPE_CHIP_FATAL,
    SIMPLER_SCOPE_CHIP_DROPPED,
    SIMPLER_SCOPE_CHIP_UNKNOWN_COUNTS,
    SIMPLER_SCOPE_CHIP_INCOMPLETE,
    SIMPLER_SCOPE_CHIP_UNPAIRED,
    SIMPLER_SCOPE_CHIP_HEALTHY,
};

struct simpler_scope_model {
    char *file; /* as it was named */
    struct simpler_scope_meta meta;
    struct simpler_site_table sites;
    struct simpler_scope_site *site_stats; /* by site id */
    uint32_t site_room;
    struct simpler_scope_ring *rings; /* ascending */
    uint32_t ring_count;
    struct simpler_scope_curve tensormap;
    struct simpler_scope_counts counts;
    struct simpler_scope_fault faults[SIMPLER_SCOPE_MAX_FAULTS];
    uint32_t fault_count;
    struct simpler_pairing pairing;
    uint64_t first_epoch, last_buf_seq;
    enum simpler_scope_chip chip;
    char *sentence; /* why the chip is what it is, and how much */
};

/* One row of Top Peaks: the risk metric of a resource on a ring. */
struct simpler_scope_peak {
    enum simpler_scope_resource resource;
    enum simpler_scope_metric metric;
    uint64_t ring; /* TensorMap: the context of the peak */
    struct simpler_scope_number capacity;
    struct simpler_series_point point;
    uint64_t own;
    bool has_use;
    double use_percent;
};

/*
 * Reads a whole file.  What can be used is, the rest is counted; only a file
 * without anything usable fails:
 *
 * @retval SIMPLER_ENOENT, SIMPLER_EIO  it cannot be read
 * @retval SIMPLER_EFORMAT              neither metadata nor a sample
 * Failures are logged with file, line and fault.  @watch (may be NULL) hears how far it is.
 */
int simpler_scope_model_read(const char *path, simpler_line_watch_fn watch, void *watch_user,
                             struct simpler_scope_model **out);
/* The same from a reader, which stays the caller's. */
int simpler_scope_model_read_lines(struct simpler_line_reader *reader, const char *name,
                                   struct simpler_scope_model **out);
void simpler_scope_model_close(struct simpler_scope_model *m);

/* Rows of Top Peaks in their order; false behind the last. */
bool simpler_scope_model_peak(const struct simpler_scope_model *m, uint32_t row,
                              struct simpler_scope_peak *out);
/* The row with the highest use; false: no capacity is known. */
bool simpler_scope_model_dominant(const struct simpler_scope_model *m,
                                  struct simpler_scope_peak *out);
/* The row of a resource with the highest use, or the highest peak where no use is known. */
bool simpler_scope_model_worst(const struct simpler_scope_model *m,
                               enum simpler_scope_resource resource,
                               struct simpler_scope_peak *out);
/* False: no capacity, or one of 0. */
bool simpler_scope_model_use(uint64_t value, struct simpler_scope_number capacity, double *percent);

const char *simpler_scope_model_resource_key(enum simpler_scope_resource resource);
const char *simpler_scope_model_resource_label(enum simpler_scope_resource resource);
const char *simpler_scope_model_metric_key(enum simpler_scope_metric metric);
const char *simpler_scope_model_metric_label(enum simpler_scope_resource resource,
                                             enum simpler_scope_metric metric);
/* "fatal", "dropped", "unknown-counts", ...; and as a reader sees it. */
const char *simpler_scope_model_chip_key(enum simpler_scope_chip chip);
const char *simpler_scope_model_chip_label(enum simpler_scope_chip chip);

#endif
