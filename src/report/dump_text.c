/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Elements are streamed twice, for the overview and for the list; nothing is
 * kept, so a tensor may be larger than memory.  Columns have the width of the
 * type's longest text: a value that changes moves no other.
 */
#include "report/dump_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "report/number.h"
#include "report/number_text.h"

void simpler_dump_text_dims(struct simpler_out_stream *o, const uint64_t *dims, uint32_t count)
{
    simpler_out_stream_char(o, '[');
    for (uint32_t i = 0; i < count; i++) {
        simpler_out_stream_text(o, i == 0 ? "" : ", ");
        simpler_out_stream_u64(o, dims[i]);
    }
    simpler_out_stream_char(o, ']');
}

void simpler_dump_text_funcs(struct simpler_out_stream *o, const struct simpler_dump_entry *e)
{
    simpler_out_stream_char(o, '[');
    for (uint32_t i = 0; i < e->func_count; i++)
        simpler_out_stream_format(o, "%s%" PRId64, i == 0 ? "" : ", ", e->func_ids[i]);
    simpler_out_stream_char(o, ']');
}

/* One element, seen in order; index counts from 0. */
typedef void (*element_fn)(struct simpler_out_stream *o, const struct simpler_dump_entry *e,
                           uint64_t index, const unsigned char *element);

static int each_element(struct simpler_out_stream *o, const struct simpler_dump_entry *e,
                        struct simpler_dump_payload *p, size_t size, element_fn fn)
{
    uint64_t left = e->bin_size / size;
    uint64_t index = 0;

    while (left > 0) {
        size_t n = SIMPLER_DUMP_PIECE_BYTES / size;
        n = left < n ? (size_t)left : n;
        int rc = simpler_dump_payload_read(p, e->bin_offset + index * size, n * size);
        if (rc != 0)
            return rc;
        for (size_t i = 0; i < n; i++)
            fn(o, e, index + i, p->piece + i * size);
        index += n;
        left -= n;
    }
    return 0;
}

/* The text of one element; two values of a packed one with @between in the middle. */
static void put_values(struct simpler_out_stream *o, uint32_t dtype, const unsigned char *element,
                       size_t width, char between)
{
    char text[SIMPLER_NUMBER_TEXT_MAX];
    uint64_t bits = simpler_number_load(dtype, element);

    if (simpler_number_values(dtype) == 2) {
        (void)simpler_number_text(dtype, bits & 15, text);
        simpler_out_stream_right(o, text, width);
        simpler_out_stream_char(o, between);
        bits >>= 4;
    }
    (void)simpler_number_text(dtype, bits, text);
    simpler_out_stream_right(o, text, width);
}

static uint64_t row_length(const struct simpler_dump_entry *e)
{
    return e->shape_count == 0 ? 1 : e->shape[e->shape_count - 1];
}

static void put_overview(struct simpler_out_stream *o, const struct simpler_dump_entry *e,
                         uint64_t index, const unsigned char *element)
{
    uint64_t columns = row_length(e);
    uint64_t column = index % columns;

    if (column > 0)
        simpler_out_stream_char(o, ' ');
    else if (e->shape_count > 2 && index > 0 && index / columns % e->shape[e->shape_count - 2] == 0)
        simpler_out_stream_char(o, '\n'); /* a blank line between matrices */
    put_values(o, e->dtype, element, simpler_number_text_width(e->dtype), ' ');
    if (column == columns - 1 || index + 1 == e->bin_size / simpler_dtype_bytes(e->dtype))
        simpler_out_stream_char(o, '\n');
}

static void put_detail(struct simpler_out_stream *o, const struct simpler_dump_entry *e,
                       uint64_t index, const unsigned char *element)
{
    uint64_t place[SIMPLER_DUMP_MAX_DIMS];

    for (uint32_t i = e->shape_count; i-- > 0;) {
        place[i] = index % e->shape[i];
        index /= e->shape[i];
    }
    simpler_dump_text_dims(o, place, e->shape_count);
    simpler_out_stream_char(o, ' ');
    put_values(o, e->dtype, element, 0, ' ');
    simpler_out_stream_char(o, '\n');
}

static void put_csv(struct simpler_out_stream *o, const struct simpler_dump_entry *e,
                    uint64_t index, const unsigned char *element)
{
    uint64_t columns = row_length(e);

    if (index % columns > 0)
        simpler_out_stream_char(o, ',');
    put_values(o, e->dtype, element, 0, ',');
    if (index % columns == columns - 1 || index + 1 == e->bin_size / simpler_dtype_bytes(e->dtype))
        simpler_out_stream_char(o, '\n');
}

/* Bytes of an unknown type, 32 a row. */
static void put_hex(struct simpler_out_stream *o, const struct simpler_dump_entry *e,
                    uint64_t index, const unsigned char *element)
{
    static const char digits[] = "0123456789abcdef";

    if (index % 32 != 0)
        simpler_out_stream_char(o, ' ');
    simpler_out_stream_char(o, digits[*element >> 4]);
    simpler_out_stream_char(o, digits[*element & 15]);
    if (index % 32 == 31 || index + 1 == e->bin_size)
        simpler_out_stream_char(o, '\n');
}

static void put_head(struct simpler_out_stream *o, const struct simpler_dump_entry *e)
{
    simpler_out_stream_format(o, "# task_id: 0x%016" PRIx64 "\n", e->task_id);
    simpler_out_stream_format(o, "# role: %s\n", simpler_dump_role_name(e->role));
    simpler_out_stream_format(o, "# stage: %s\n", simpler_dump_stage_name(e->stage));
    simpler_out_stream_format(o, "# arg_index: %" PRIu64 "\n", e->arg_index);
    if (e->ambiguous)
        simpler_out_stream_text(o, "# arg_index_ambiguous: true\n");
    simpler_out_stream_format(o, "# dtype: %s\n", e->dtype_text);
    simpler_out_stream_format(o, "# kind: %s\n", simpler_dump_kind_name(e->kind));
    simpler_out_stream_format(o, "# is_contiguous: %s\n", e->is_contiguous ? "true" : "false");
    simpler_out_stream_text(o, "# shape: ");
    simpler_dump_text_dims(o, e->shape, e->shape_count);
    simpler_out_stream_text(o, "\n# strides: ");
    simpler_dump_text_dims(o, e->strides, e->stride_count);
    simpler_out_stream_format(o, "\n# start_offset: %" PRIu64 "\n# func_id: ", e->start_offset);
    simpler_dump_text_funcs(o, e);
    simpler_out_stream_format(
        o, "\n# index: %" PRIu64 "\n# bin_offset: %" PRIu64 "\n# bin_size: %" PRIu64 "\n", e->index,
        e->bin_offset, e->bin_size);
}

static void put_truncated(struct simpler_out_stream *o, const struct simpler_dump_entry *e)
{
    uint64_t bytes;

    if (simpler_dump_entry_bytes(e, &bytes))
        simpler_out_stream_format(o,
                                  "# WARNING: truncated: %" PRIu64 " of %" PRIu64
                                  " bytes are here, %" PRIu64 " of %" PRIu64 " element%s\n",
                                  e->bin_size, bytes, e->bin_size / simpler_dtype_bytes(e->dtype),
                                  bytes / simpler_dtype_bytes(e->dtype),
                                  simpler_text_plural(bytes / simpler_dtype_bytes(e->dtype)));
    else
        simpler_out_stream_format(o, "# WARNING: truncated: %" PRIu64 " bytes are here\n",
                                  e->bin_size);
}

static int put_elements(struct simpler_out_stream *o, const struct simpler_dump_entry *e,
                        struct simpler_dump_payload *p)
{
    size_t size = simpler_dtype_bytes(e->dtype);

    if (size == 0) {
        simpler_out_stream_text(o, "# Bytes (unknown dtype), hexadecimal:\n");
        return each_element(o, e, p, 1, put_hex);
    }
    if (simpler_number_family(e->dtype) == SIMPLER_NUMBER_FLOAT)
        simpler_out_stream_format(o, "# numbers: %s\n", simpler_number_text_legend);
    if (simpler_number_values(e->dtype) == 2)
        simpler_out_stream_text(o, "# packed: two values an element, the low four bits first\n");
    simpler_out_stream_text(o, "\n# Overview:\n");
    int rc = each_element(o, e, p, size, put_overview);
    if (rc != 0)
        return rc;
    simpler_out_stream_text(o, "\n# Detail:\n");
    return each_element(o, e, p, size, put_detail);
}

int simpler_dump_text_write(struct simpler_out_stream *o, const struct simpler_dump_entry *e,
                            struct simpler_dump_payload *p)
{
    put_head(o, e);
    switch (simpler_dump_entry_state(e, &p->info)) {
    case SIMPLER_DUMP_IS_SCALAR:
        simpler_out_stream_format(o, "# value: %s\n", e->value);
        return 0;
    case SIMPLER_DUMP_EMPTY:
        simpler_out_stream_text(o, "# (empty: a dimension is 0, there are no elements)\n");
        return 0;
    case SIMPLER_DUMP_NOT_CAPTURED:
        simpler_out_stream_text(o, "# (no data: not captured, the dump has the metadata alone)\n");
        return 0;
    case SIMPLER_DUMP_TRUNCATED:
        put_truncated(o, e);
        return put_elements(o, e, p);
    default:
        return put_elements(o, e, p);
    }
}

int simpler_dump_text_write_csv(struct simpler_out_stream *o, const struct simpler_dump_entry *e,
                                struct simpler_dump_payload *p)
{
    uint64_t bits;
    char text[SIMPLER_NUMBER_TEXT_MAX];

    if (e->kind == SIMPLER_DUMP_SCALAR) {
        if (!simpler_dump_entry_scalar_bits(e, &bits))
            return SIMPLER_EFORMAT;
        (void)simpler_number_text(e->dtype, bits, text);
        simpler_out_stream_format(o, "%s\n", text);
        return 0;
    }
    size_t size = simpler_dtype_bytes(e->dtype);
    return size == 0 ? each_element(o, e, p, 1, put_hex) : each_element(o, e, p, size, put_csv);
}
