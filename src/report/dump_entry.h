/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_REPORT_DUMP_ENTRY_H
#define SIMPLER_REPORT_DUMP_ENTRY_H

/*
 * One argument of an args dump as its manifest tells it, and what follows from
 * that: how many bytes it should have, whether they are there, what it is.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "simpler/dtype.h"

enum {
    SIMPLER_DUMP_MAX_DIMS = 8, /* the writer's limit is 5 */
    SIMPLER_DUMP_MAX_FUNCS = 16,
    SIMPLER_DUMP_TEXT_BYTES = 64,
};

enum simpler_dump_stage { SIMPLER_DUMP_BEFORE, SIMPLER_DUMP_AFTER };
enum simpler_dump_role { SIMPLER_DUMP_INPUT, SIMPLER_DUMP_OUTPUT, SIMPLER_DUMP_INOUT };
enum simpler_dump_kind { SIMPLER_DUMP_TENSOR, SIMPLER_DUMP_SCALAR };

/* The keys of an entry in the documented order: X(NAME, text). */
#define SIMPLER_DUMP_KEY_MAP(X)         \
    X(TASK_ID, "task_id")               \
    X(FUNC_ID, "func_id")               \
    X(ROLE, "role")                     \
    X(STAGE, "stage")                   \
    X(ARG_INDEX, "arg_index")           \
    X(AMBIGUOUS, "arg_index_ambiguous") \
    X(KIND, "kind")                     \
    X(DTYPE, "dtype")                   \
    X(VALUE, "value")                   \
    X(SHAPE, "shape")                   \
    X(STRIDES, "strides")               \
    X(START_OFFSET, "start_offset")     \
    X(IS_CONTIGUOUS, "is_contiguous")   \
    X(TRUNCATED, "truncated")           \
    X(BIN_OFFSET, "bin_offset")         \
    X(BIN_SIZE, "bin_size")

enum simpler_dump_key {
#define X(NAME, text) SIMPLER_DUMP_KEY_##NAME,
    SIMPLER_DUMP_KEY_MAP(X)
#undef X
        SIMPLER_DUMP_KEY_NUM
};

struct simpler_dump_entry {
    uint64_t index; /* position in the manifest's array */
    uint32_t keys;  /* bit of each simpler_dump_key that the entry has */
    uint64_t task_id;
    uint64_t arg_index;
    enum simpler_dump_stage stage;
    enum simpler_dump_role role;
    enum simpler_dump_kind kind;
    bool ambiguous;
    bool is_contiguous;
    bool truncated;
    uint32_t dtype; /* SIMPLER_DTYPE_NUM: the name is not one that this version knows */
    char dtype_text[SIMPLER_DUMP_TEXT_BYTES];
    uint32_t func_count;
    int64_t func_ids[SIMPLER_DUMP_MAX_FUNCS];
    uint32_t shape_count;
    uint32_t stride_count;
    uint64_t shape[SIMPLER_DUMP_MAX_DIMS];
    uint64_t strides[SIMPLER_DUMP_MAX_DIMS];
    uint64_t start_offset;
    uint64_t bin_offset;
    uint64_t bin_size;
    bool value_is_string;
    char value[SIMPLER_DUMP_TEXT_BYTES]; /* a scalar's value, without quotes; "" if none */
};

/* What an entry is; the last ones are faults. */
enum simpler_dump_state {
    SIMPLER_DUMP_WHOLE,
    SIMPLER_DUMP_IS_SCALAR,
    SIMPLER_DUMP_EMPTY,        /* a dimension of 0: no bytes to have */
    SIMPLER_DUMP_NOT_CAPTURED, /* has elements, but the dump kept the metadata alone */
    SIMPLER_DUMP_TRUNCATED,    /* fewer bytes than the tensor has, and the entry says so */
    SIMPLER_DUMP_FAULTS,       /* first of the faults, not a state */
    SIMPLER_DUMP_BAD_SHAPE = SIMPLER_DUMP_FAULTS,
    SIMPLER_DUMP_BAD_SIZE,
    SIMPLER_DUMP_NO_BIN,
    SIMPLER_DUMP_BEYOND_BIN,
};

/* The payload file as far as a look at it needs to know. */
struct simpler_dump_bin_info {
    char name[256]; /* "" when bin_file is null */
    bool is_there;
    uint64_t bytes;
};

/* Product of the shape; false when it does not fit 64 bits. */
bool simpler_dump_entry_numel(const struct simpler_dump_entry *e, uint64_t *out);
/* Bytes that the whole tensor has; false when they do not fit or the type is unknown. */
bool simpler_dump_entry_bytes(const struct simpler_dump_entry *e, uint64_t *out);
/* Whether [offset, offset + size) lies inside @total bytes; no sum that overflows. */
bool simpler_dump_range_fits(uint64_t offset, uint64_t size, uint64_t total);

enum simpler_dump_state simpler_dump_entry_state(const struct simpler_dump_entry *e,
                                                 const struct simpler_dump_bin_info *bin);
/* One phrase on the state, with its numbers; "" for an ordinary whole tensor. */
void simpler_dump_entry_note(const struct simpler_dump_entry *e,
                             const struct simpler_dump_bin_info *bin, char *out, size_t capacity);
/* The bits of a scalar's value; false when the value is none of its type. */
bool simpler_dump_entry_scalar_bits(const struct simpler_dump_entry *e, uint64_t *out);
/* Order of an export: task, stage, argument, role; <0, 0, >0. */
int simpler_dump_entry_compare(const struct simpler_dump_entry *a,
                               const struct simpler_dump_entry *b);

const char *simpler_dump_stage_name(enum simpler_dump_stage stage);       /* before_dispatch */
const char *simpler_dump_stage_short_name(enum simpler_dump_stage stage); /* before */
const char *simpler_dump_role_name(enum simpler_dump_role role);
const char *simpler_dump_role_short_name(enum simpler_dump_role role); /* in, out, inout */
const char *simpler_dump_kind_name(enum simpler_dump_kind kind);
const char *simpler_dump_key_name(enum simpler_dump_key key);

#endif
