/* SPDX-License-Identifier: Apache-2.0 */
/* Rows are written for millions of entries: no printf where a row is plain. */
#include "report/dump_list.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "report/dump_text.h"
#include "report/number.h"
#include "report/number_text.h"

/* Widths of the columns that both tables begin with. */
enum { W_INDEX = 7, W_TASK = 18, W_STAGE = 6, W_ROLE = 6, W_ARG = 4, W_FUNC = 8, W_DTYPE = 9 };
enum { W_SHAPE = 18, W_BYTES = 12, W_COUNT = 12, W_VALUE = 16, W_SPECIAL = 9 };

static void rule(struct simpler_out_stream *o)
{
    for (int i = 0; i < 100; i++)
        simpler_out_stream_char(o, '-');
    simpler_out_stream_char(o, '\n');
}

static void column_right(struct simpler_out_stream *o, const char *text, size_t width)
{
    simpler_out_stream_right(o, text, width);
    simpler_out_stream_char(o, ' ');
}

static void column_left(struct simpler_out_stream *o, const char *text, size_t width)
{
    simpler_out_stream_left(o, text, width);
    simpler_out_stream_char(o, ' ');
}

static void column_u64(struct simpler_out_stream *o, uint64_t value, size_t width)
{
    char text[24];

    (void)simpler_number_text_decimal(value, text);
    column_right(o, text, width);
}

static void common_head(struct simpler_out_stream *o)
{
    column_right(o, "idx", W_INDEX);
    column_left(o, "task_id", W_TASK);
    column_left(o, "stage", W_STAGE);
    column_left(o, "role", W_ROLE);
    column_right(o, "arg", W_ARG);
}

/* "[3, 4]" into a fixed buffer; what does not fit is cut. */
static size_t dims_text(const uint64_t *dims, uint32_t count, char out[256])
{
    size_t n = 0;

    out[n++] = '[';
    for (uint32_t i = 0; i < count; i++) {
        if (i > 0) {
            out[n++] = ',';
            out[n++] = ' ';
        }
        n += simpler_number_text_decimal(dims[i], out + n);
    }
    out[n++] = ']';
    out[n] = '\0';
    return n;
}

static void funcs_text(const struct simpler_dump_entry *e, char out[512])
{
    size_t n = 0;

    out[n++] = '[';
    for (uint32_t i = 0; i < e->func_count; i++) {
        if (i > 0)
            out[n++] = ',';
        if (e->func_ids[i] < 0)
            out[n++] = '-';
        uint64_t magnitude =
            e->func_ids[i] < 0 ? 0 - (uint64_t)e->func_ids[i] : (uint64_t)e->func_ids[i];
        n += simpler_number_text_decimal(magnitude, out + n);
    }
    out[n++] = ']';
    out[n] = '\0';
}

static void task_text(uint64_t task, char out[20])
{
    static const char digits[] = "0123456789abcdef";

    out[0] = '0';
    out[1] = 'x';
    for (int i = 0; i < 16; i++)
        out[2 + i] = digits[task >> (60 - 4 * i) & 15];
    out[18] = '\0';
}

static void common_row(struct simpler_out_stream *o, const struct simpler_dump_entry *e)
{
    char task[20];

    task_text(e->task_id, task);
    column_u64(o, e->index, W_INDEX);
    column_left(o, task, W_TASK);
    column_left(o, simpler_dump_stage_short_name(e->stage), W_STAGE);
    column_left(o, simpler_dump_role_name(e->role), W_ROLE);
    column_u64(o, e->arg_index, W_ARG);
}

void simpler_dump_list_head(struct simpler_out_stream *o)
{
    common_head(o);
    column_left(o, "func", W_FUNC);
    column_left(o, "dtype", W_DTYPE);
    column_left(o, "shape", W_SHAPE);
    column_right(o, "bytes", W_BYTES);
    simpler_out_stream_text(o, "note\n");
    rule(o);
}

void simpler_dump_list_row(struct simpler_out_stream *o, const struct simpler_dump_entry *e,
                           const char *note)
{
    char text[512];

    common_row(o, e);
    funcs_text(e, text);
    column_left(o, text, W_FUNC);
    column_left(o, e->dtype_text, W_DTYPE);
    (void)dims_text(e->shape, e->shape_count, text);
    column_left(o, text, W_SHAPE);
    column_u64(o, e->bin_size, W_BYTES);
    simpler_out_stream_text(o, note);
    if (e->ambiguous)
        simpler_out_stream_text(o, note[0] == '\0' ? "ambiguous" : "; ambiguous");
    simpler_out_stream_char(o, '\n');
}

void simpler_dump_list_stats_head(struct simpler_out_stream *o)
{
    static const char *const values[] = {"min", "max", "mean", "l2"};
    static const char *const specials[] = {"nan", "+inf", "-inf", "zero", "subnormal"};

    common_head(o);
    column_left(o, "dtype", W_DTYPE);
    column_right(o, "count", W_COUNT);
    for (size_t i = 0; i < 4; i++)
        column_right(o, values[i], W_VALUE);
    for (size_t i = 0; i < 5; i++)
        column_right(o, specials[i], W_SPECIAL);
    simpler_out_stream_text(o, "note\n");
    rule(o);
}

static void column_bits(struct simpler_out_stream *o, const struct simpler_tensor_stats *s,
                        uint64_t bits)
{
    char text[SIMPLER_NUMBER_TEXT_MAX];

    (void)simpler_number_text(s->dtype, bits, text);
    column_right(o, text, W_VALUE);
}

static void column_double(struct simpler_out_stream *o, double value)
{
    char text[SIMPLER_NUMBER_TEXT_MAX];

    (void)snprintf(text, sizeof(text), "%.9g", value);
    column_right(o, text, W_VALUE);
}

static void stats_columns(struct simpler_out_stream *o, const struct simpler_tensor_stats *s)
{
    column_u64(o, s->count, W_COUNT);
    if (s->finite > 0) {
        column_bits(o, s, s->min_bits);
        column_bits(o, s, s->max_bits);
        column_double(o, s->mean);
        column_double(o, s->l2);
    } else {
        for (int i = 0; i < 4; i++)
            column_right(o, "-", W_VALUE);
    }
    column_u64(o, s->nan, W_SPECIAL);
    column_u64(o, s->positive_inf, W_SPECIAL);
    column_u64(o, s->negative_inf, W_SPECIAL);
    column_u64(o, s->zero, W_SPECIAL);
    column_u64(o, s->subnormal, W_SPECIAL);
}

/* What a reader should not have to find in the numbers. */
static const char *remark(const struct simpler_tensor_stats *s)
{
    if (s->count < 2)
        return "";
    if (s->zero == s->count)
        return "all zero";
    if (s->nan == s->count)
        return "all NaN";
    return s->finite == s->count && s->min_bits == s->max_bits ? "all equal" : "";
}

void simpler_dump_list_stats_row(struct simpler_out_stream *o, const struct simpler_dump_entry *e,
                                 const struct simpler_tensor_stats *s, const char *note)
{
    common_row(o, e);
    column_left(o, e->dtype_text, W_DTYPE);
    if (s != NULL) {
        stats_columns(o, s);
    } else {
        column_right(o, "-", W_COUNT);
        for (int i = 0; i < 4; i++)
            column_right(o, "-", W_VALUE);
        for (int i = 0; i < 5; i++)
            column_right(o, "-", W_SPECIAL);
    }
    simpler_out_stream_text(o, note);
    if (s != NULL && remark(s)[0] != '\0')
        simpler_out_stream_format(o, "%s%s", note[0] == '\0' ? "" : "; ", remark(s));
    simpler_out_stream_char(o, '\n');
}

void simpler_dump_list_json_header(struct simpler_out_stream *o,
                                   const struct simpler_dump_header *header)
{
    for (unsigned i = 0; i < SIMPLER_DUMP_COUNT_NUM; i++) {
        if (header->has_count[i])
            simpler_out_stream_format(o, "\"%s\": %" PRIu64 ", ",
                                      simpler_dump_count_name((enum simpler_dump_count)i),
                                      header->count[i]);
    }
    simpler_out_stream_text(o, "\"bin_file\": ");
    if (header->bin_file[0] == '\0')
        simpler_out_stream_text(o, "null");
    else
        simpler_out_stream_json(o, header->bin_file);
}

static void json_number(struct simpler_out_stream *o, const char *key, uint64_t value)
{
    simpler_out_stream_text(o, key);
    simpler_out_stream_u64(o, value);
}

static void json_dims(struct simpler_out_stream *o, const char *key, const uint64_t *dims,
                      uint32_t count)
{
    char text[256];

    simpler_out_stream_text(o, key);
    simpler_out_stream_bytes(o, text, dims_text(dims, count, text));
}

static const char *state_name(enum simpler_dump_state state)
{
    switch (state) {
    case SIMPLER_DUMP_WHOLE:
        return "whole";
    case SIMPLER_DUMP_IS_SCALAR:
        return "scalar";
    case SIMPLER_DUMP_EMPTY:
        return "empty";
    case SIMPLER_DUMP_NOT_CAPTURED:
        return "not_captured";
    case SIMPLER_DUMP_TRUNCATED:
        return "truncated";
    case SIMPLER_DUMP_BAD_SHAPE:
        return "bad_shape";
    case SIMPLER_DUMP_BAD_SIZE:
        return "bad_size";
    case SIMPLER_DUMP_NO_BIN:
        return "no_bin";
    default:
        return "beyond_bin";
    }
}

static void json_value(struct simpler_out_stream *o, const struct simpler_dump_entry *e)
{
    if (e->value[0] == '\0' && !e->value_is_string)
        return;
    simpler_out_stream_text(o, ", \"value\": ");
    if (e->value_is_string)
        simpler_out_stream_json(o, e->value);
    else
        simpler_out_stream_text(o, e->value);
}

void simpler_dump_list_json_entry(struct simpler_out_stream *o, const struct simpler_dump_entry *e,
                                  enum simpler_dump_state state, const char *note)
{
    char text[512];

    json_number(o, "\"index\": ", e->index);
    task_text(e->task_id, text);
    simpler_out_stream_text(o, ", \"task_id\": \"");
    simpler_out_stream_text(o, text);
    funcs_text(e, text);
    simpler_out_stream_text(o, "\", \"func_id\": ");
    simpler_out_stream_text(o, text);
    simpler_out_stream_text(o, ", \"role\": \"");
    simpler_out_stream_text(o, simpler_dump_role_name(e->role));
    simpler_out_stream_text(o, "\", \"stage\": \"");
    simpler_out_stream_text(o, simpler_dump_stage_name(e->stage));
    json_number(o, "\", \"arg_index\": ", e->arg_index);
    if (e->ambiguous)
        simpler_out_stream_text(o, ", \"arg_index_ambiguous\": true");
    simpler_out_stream_text(o, ", \"kind\": \"");
    simpler_out_stream_text(o, simpler_dump_kind_name(e->kind));
    simpler_out_stream_text(o, "\", \"dtype\": ");
    simpler_out_stream_json(o, e->dtype_text);
    json_value(o, e);
    json_dims(o, ", \"shape\": ", e->shape, e->shape_count);
    json_dims(o, ", \"strides\": ", e->strides, e->stride_count);
    json_number(o, ", \"start_offset\": ", e->start_offset);
    simpler_out_stream_text(o, e->is_contiguous ? ", \"is_contiguous\": true"
                                                : ", \"is_contiguous\": false");
    simpler_out_stream_text(o, e->truncated ? ", \"truncated\": true" : ", \"truncated\": false");
    json_number(o, ", \"bin_offset\": ", e->bin_offset);
    json_number(o, ", \"bin_size\": ", e->bin_size);
    simpler_out_stream_text(o, ", \"state\": \"");
    simpler_out_stream_text(o, state_name(state));
    simpler_out_stream_text(o, "\", \"note\": ");
    simpler_out_stream_json(o, note);
}

static void json_bits(struct simpler_out_stream *o, const char *key,
                      const struct simpler_tensor_stats *s, uint64_t bits)
{
    char text[SIMPLER_NUMBER_TEXT_MAX];

    (void)simpler_number_text(s->dtype, bits, text);
    simpler_out_stream_format(o, ", \"%s\": %s", key, s->finite > 0 ? text : "null");
}

static void json_double(struct simpler_out_stream *o, const char *key, double value, bool valid)
{
    if (valid && isfinite(value))
        simpler_out_stream_format(o, ", \"%s\": %.17g", key, value);
    else
        simpler_out_stream_format(o, ", \"%s\": null", key);
}

void simpler_dump_list_json_stats(struct simpler_out_stream *o,
                                  const struct simpler_tensor_stats *s)
{
    simpler_out_stream_format(o, "\"stats\": {\"count\": %" PRIu64, s->count);
    json_bits(o, "min", s, s->min_bits);
    json_bits(o, "max", s, s->max_bits);
    json_double(o, "mean", s->mean, s->finite > 0);
    json_double(o, "l2", s->l2, s->finite > 0);
    simpler_out_stream_format(o,
                              ", \"nan\": %" PRIu64 ", \"positive_inf\": %" PRIu64
                              ", \"negative_inf\": %" PRIu64 ", \"zero\": %" PRIu64
                              ", \"subnormal\": %" PRIu64 "}",
                              s->nan, s->positive_inf, s->negative_inf, s->zero, s->subnormal);
}
