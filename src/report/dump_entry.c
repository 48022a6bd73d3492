/* SPDX-License-Identifier: Apache-2.0 */
/* What a manifest's entry means; all arithmetic on its numbers is checked. */
#include "report/dump_entry.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/number.h"

const char *simpler_dump_stage_name(enum simpler_dump_stage stage)
{
    return stage == SIMPLER_DUMP_BEFORE ? "before_dispatch" : "after_completion";
}

const char *simpler_dump_stage_short_name(enum simpler_dump_stage stage)
{
    return stage == SIMPLER_DUMP_BEFORE ? "before" : "after";
}

const char *simpler_dump_role_name(enum simpler_dump_role role)
{
    static const char *const names[] = {"input", "output", "inout"};
    return names[role];
}

const char *simpler_dump_role_short_name(enum simpler_dump_role role)
{
    static const char *const names[] = {"in", "out", "inout"};
    return names[role];
}

const char *simpler_dump_kind_name(enum simpler_dump_kind kind)
{
    return kind == SIMPLER_DUMP_TENSOR ? "tensor" : "scalar";
}

const char *simpler_dump_key_name(enum simpler_dump_key key)
{
    static const char *const names[] = {
#define X(NAME, text) [SIMPLER_DUMP_KEY_##NAME] = (text),
        SIMPLER_DUMP_KEY_MAP(X)
#undef X
    };
    return names[key];
}

bool simpler_dump_entry_numel(const struct simpler_dump_entry *e, uint64_t *out)
{
    uint64_t product = 1;

    /* A zero anywhere makes the product zero, whatever the others are. */
    for (uint32_t i = 0; i < e->shape_count; i++) {
        if (e->shape[i] == 0) {
            *out = 0;
            return true;
        }
    }
    for (uint32_t i = 0; i < e->shape_count; i++) {
        if (product > UINT64_MAX / e->shape[i])
            return false;
        product *= e->shape[i];
    }
    *out = product;
    return true;
}

bool simpler_dump_entry_bytes(const struct simpler_dump_entry *e, uint64_t *out)
{
    uint64_t numel;
    uint64_t size = simpler_dtype_bytes(e->dtype);

    if (!simpler_dump_entry_numel(e, &numel) || size == 0 || numel > UINT64_MAX / size)
        return false;
    *out = numel * size;
    return true;
}

bool simpler_dump_range_fits(uint64_t offset, uint64_t size, uint64_t total)
{
    return offset <= total && size <= total - offset;
}

/* Whether the bytes that an entry names are there. */
static enum simpler_dump_state payload_state(const struct simpler_dump_entry *e,
                                             const struct simpler_dump_bin_info *bin,
                                             enum simpler_dump_state fine)
{
    if (e->bin_size == 0)
        return fine;
    if (bin->name[0] == '\0' || !bin->is_there)
        return SIMPLER_DUMP_NO_BIN;
    if (!simpler_dump_range_fits(e->bin_offset, e->bin_size, bin->bytes))
        return SIMPLER_DUMP_BEYOND_BIN;
    return fine;
}

enum simpler_dump_state simpler_dump_entry_state(const struct simpler_dump_entry *e,
                                                 const struct simpler_dump_bin_info *bin)
{
    uint64_t numel;
    uint64_t bytes;

    if (e->kind == SIMPLER_DUMP_SCALAR)
        return SIMPLER_DUMP_IS_SCALAR;
    if (!simpler_dump_entry_numel(e, &numel))
        return SIMPLER_DUMP_BAD_SHAPE;
    if (numel == 0)
        return e->bin_size == 0 ? SIMPLER_DUMP_EMPTY : SIMPLER_DUMP_BAD_SIZE;
    if (e->bin_size == 0 && !e->truncated)
        return SIMPLER_DUMP_NOT_CAPTURED;
    if (e->dtype >= SIMPLER_DTYPE_NUM)
        return payload_state(e, bin, e->truncated ? SIMPLER_DUMP_TRUNCATED : SIMPLER_DUMP_WHOLE);
    if (!simpler_dump_entry_bytes(e, &bytes))
        return SIMPLER_DUMP_BAD_SHAPE;
    if (e->bin_size > bytes || (e->bin_size < bytes && !e->truncated))
        return SIMPLER_DUMP_BAD_SIZE;
    return payload_state(e, bin, e->truncated ? SIMPLER_DUMP_TRUNCATED : SIMPLER_DUMP_WHOLE);
}

static void truncated_note(const struct simpler_dump_entry *e, char *out, size_t capacity)
{
    uint64_t bytes;

    if (simpler_dump_entry_bytes(e, &bytes))
        (void)snprintf(out, capacity, "truncated: %" PRIu64 " of %" PRIu64 " bytes", e->bin_size,
                       bytes);
    else
        (void)snprintf(out, capacity, "truncated: %" PRIu64 " bytes", e->bin_size);
}

static void size_note(const struct simpler_dump_entry *e, char *out, size_t capacity)
{
    uint64_t bytes = 0;

    (void)simpler_dump_entry_bytes(e, &bytes);
    (void)snprintf(out, capacity, "FAULT: bin_size is %" PRIu64 ", shape and dtype make %" PRIu64,
                   e->bin_size, bytes);
}

static void bin_note(const struct simpler_dump_entry *e, const struct simpler_dump_bin_info *bin,
                     char *out, size_t capacity)
{
    if (bin->name[0] == '\0')
        (void)snprintf(out, capacity, "FAULT: names %" PRIu64 " bytes, but bin_file is null",
                       e->bin_size);
    else
        (void)snprintf(out, capacity, "FAULT: names %" PRIu64 " bytes, but there is no %s",
                       e->bin_size, bin->name);
}

void simpler_dump_entry_note(const struct simpler_dump_entry *e,
                             const struct simpler_dump_bin_info *bin, char *out, size_t capacity)
{
    switch (simpler_dump_entry_state(e, bin)) {
    case SIMPLER_DUMP_IS_SCALAR:
        (void)snprintf(out, capacity, "scalar %s%s", e->value[0] == '\0' ? "without value" : "= ",
                       e->value);
        return;
    case SIMPLER_DUMP_EMPTY:
        (void)snprintf(out, capacity, "empty");
        return;
    case SIMPLER_DUMP_NOT_CAPTURED:
        (void)snprintf(out, capacity, "not captured");
        return;
    case SIMPLER_DUMP_TRUNCATED:
        truncated_note(e, out, capacity);
        return;
    case SIMPLER_DUMP_BAD_SHAPE:
        (void)snprintf(out, capacity, "FAULT: the shape's product does not fit 64 bits");
        return;
    case SIMPLER_DUMP_BAD_SIZE:
        size_note(e, out, capacity);
        return;
    case SIMPLER_DUMP_NO_BIN:
        bin_note(e, bin, out, capacity);
        return;
    case SIMPLER_DUMP_BEYOND_BIN:
        (void)snprintf(out, capacity,
                       "FAULT: bytes %" PRIu64 "+%" PRIu64 " lie beyond %s of %" PRIu64 " bytes",
                       e->bin_offset, e->bin_size, bin->name, bin->bytes);
        return;
    default:
        break;
    }
    if (e->dtype >= SIMPLER_DTYPE_NUM)
        (void)snprintf(out, capacity, "unknown dtype: bytes alone");
    else
        (void)snprintf(out, capacity, "%s", e->shape_count == 0 ? "zero-dim" : "");
}

/* Infinities and NaN as manifests spell them, this version's and the earlier one's. */
static bool special_float(const char *text, double *out)
{
    static const struct {
        const char *text;
        double value;
    } specials[] = {
        {"nan", (double)__builtin_nanf("")}, {"null", (double)__builtin_nanf("")},
        {"inf", (double)__builtin_inff()},   {"$Inf", (double)__builtin_inff()},
        {"-inf", -(double)__builtin_inff()}, {"-$Inf", -(double)__builtin_inff()},
    };
    for (size_t i = 0; i < sizeof(specials) / sizeof(specials[0]); i++) {
        if (strcmp(text, specials[i].text) == 0) {
            *out = specials[i].value;
            return true;
        }
    }
    return false;
}

static bool float_bits(const struct simpler_dump_entry *e, uint64_t *out)
{
    char *end;
    double wide;

    if (e->dtype == SIMPLER_DTYPE_FLOAT32) {
        float narrow;
        uint32_t bits;
        if (special_float(e->value, &wide)) {
            narrow = (float)wide;
        } else {
            narrow = strtof(e->value, &end);
            if (*end != '\0')
                return false;
        }
        memcpy(&bits, &narrow, sizeof(bits));
        *out = bits;
        return true;
    }
    if (e->dtype != SIMPLER_DTYPE_FLOAT64)
        return false;
    if (!special_float(e->value, &wide)) {
        wide = strtod(e->value, &end);
        if (*end != '\0')
            return false;
    }
    memcpy(out, &wide, sizeof(*out));
    return true;
}

static bool integer_bits(const struct simpler_dump_entry *e, uint64_t *out)
{
    unsigned width = 8 * (unsigned)simpler_dtype_bytes(e->dtype);
    uint64_t mask = width == 64 ? UINT64_MAX : ((uint64_t)1 << width) - 1;
    char *end;

    errno = 0;
    if (e->value[0] == '-') {
        int64_t lowest = -(int64_t)(mask >> 1) - 1;
        int64_t value = strtoll(e->value, &end, 10);
        *out = (uint64_t)value & mask;
        return *end == '\0' && errno == 0 && value >= lowest &&
               simpler_number_family(e->dtype) == SIMPLER_NUMBER_SIGNED;
    }
    /* The earlier version prints small negative integers as unsigned ones. */
    uint64_t value = strtoull(e->value, &end, 10);
    *out = value;
    return *end == '\0' && errno == 0 && value <= mask;
}

bool simpler_dump_entry_scalar_bits(const struct simpler_dump_entry *e, uint64_t *out)
{
    uint64_t bits;

    if (e->value[0] == '\0' || e->dtype >= SIMPLER_DTYPE_NUM)
        return false;
    if (e->dtype == SIMPLER_DTYPE_BOOL && strcmp(e->value, "true") == 0)
        bits = 1;
    else if (e->dtype == SIMPLER_DTYPE_BOOL && strcmp(e->value, "false") == 0)
        bits = 0;
    else if (simpler_number_family(e->dtype) == SIMPLER_NUMBER_FLOAT) {
        if (!float_bits(e, &bits))
            return false;
    } else if (!integer_bits(e, &bits))
        return false;
    *out = bits;
    return true;
}

static int compare_u64(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

int simpler_dump_entry_compare(const struct simpler_dump_entry *a,
                               const struct simpler_dump_entry *b)
{
    int order = compare_u64(a->task_id, b->task_id);
    if (order == 0)
        order = compare_u64(a->stage, b->stage);
    if (order == 0)
        order = compare_u64(a->arg_index, b->arg_index);
    return order != 0 ? order : compare_u64(a->role, b->role);
}
