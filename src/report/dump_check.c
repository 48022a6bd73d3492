/* SPDX-License-Identifier: Apache-2.0 */
/* One pass over the entries, then one over their byte ranges in order. */
#include "report/dump_check.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "report/extent_sort.h"

struct check {
    simpler_dump_fault_fn fn;
    void *user;
    struct simpler_dump_checked result;
    const struct simpler_dump_bin_info *bin;
    const struct simpler_dump_header *header;
    struct simpler_extent_sort extents;
    uint64_t counts[SIMPLER_DUMP_COUNT_NUM]; /* as the entries tell them */
    struct simpler_dump_entry previous;
    uint64_t reach; /* end of the ranges so far, in order of offset */
    uint64_t reach_index;
};

__attribute__((format(printf, 3, 4))) static void fault(struct check *c, uint64_t index,
                                                        const char *format, ...)
{
    char text[320];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    c->result.faults++;
    c->fn(c->user, index, text);
}

static void count_entry(struct check *c, const struct simpler_dump_entry *e)
{
    c->counts[SIMPLER_DUMP_COUNT_TOTAL]++;
    c->counts[e->stage == SIMPLER_DUMP_BEFORE ? SIMPLER_DUMP_COUNT_BEFORE
                                              : SIMPLER_DUMP_COUNT_AFTER]++;
    c->counts[SIMPLER_DUMP_COUNT_INPUT + (unsigned)e->role]++;
    c->counts[SIMPLER_DUMP_COUNT_TRUNCATED] += e->truncated;
}

static void check_keys(struct check *c, const struct simpler_dump_entry *e)
{
    for (unsigned i = 0; i < SIMPLER_DUMP_KEY_NUM; i++) {
        bool optional = i == SIMPLER_DUMP_KEY_AMBIGUOUS ||
                        (i == SIMPLER_DUMP_KEY_VALUE && e->kind == SIMPLER_DUMP_TENSOR);
        if (!optional && (e->keys >> i & 1) == 0)
            fault(c, e->index, "the key \"%s\" is missing",
                  simpler_dump_key_name((enum simpler_dump_key)i));
    }
}

static void check_scalar(struct check *c, const struct simpler_dump_entry *e)
{
    uint64_t bits;

    if (e->role != SIMPLER_DUMP_INPUT || e->stage != SIMPLER_DUMP_BEFORE)
        fault(c, e->index, "a scalar that is not an input before dispatch");
    if (e->shape_count != 0 || e->bin_size != 0)
        fault(c, e->index, "a scalar with a shape or a payload");
    if (!simpler_dump_entry_scalar_bits(e, &bits))
        fault(c, e->index, "the value '%s' is no %s", e->value, e->dtype_text);
}

/* Whether the strides are those of a row-major array; a dimension of 1 may have any. */
static bool is_row_major(const struct simpler_dump_entry *e)
{
    uint64_t expected = 1;

    for (uint32_t i = e->shape_count; i-- > 0;) {
        if (e->shape[i] != 1 && e->strides[i] != expected)
            return false;
        if (e->shape[i] != 0 && expected > UINT64_MAX / e->shape[i])
            return false;
        expected *= e->shape[i];
    }
    return true;
}

static void check_tensor(struct check *c, const struct simpler_dump_entry *e)
{
    enum simpler_dump_state state = simpler_dump_entry_state(e, c->bin);
    char note[256];
    uint64_t bytes;

    simpler_dump_entry_note(e, c->bin, note, sizeof(note));
    if (state >= SIMPLER_DUMP_FAULTS)
        fault(c, e->index, "%s", note + strlen("FAULT: "));
    if (e->dtype >= SIMPLER_DTYPE_NUM)
        fault(c, e->index, "the dtype '%s' is unknown", e->dtype_text);
    if (state == SIMPLER_DUMP_NOT_CAPTURED && c->header->has_count[SIMPLER_DUMP_COUNT_LEVEL] &&
        c->header->count[SIMPLER_DUMP_COUNT_LEVEL] != 3)
        fault(c, e->index, "no payload, though level %" PRIu64 " captures it",
              c->header->count[SIMPLER_DUMP_COUNT_LEVEL]);
    if (e->truncated && simpler_dump_entry_bytes(e, &bytes) && e->bin_size == bytes)
        fault(c, e->index, "marked as truncated, but all %" PRIu64 " bytes are there", bytes);
    uint64_t element = simpler_dtype_bytes(e->dtype);
    if (e->truncated && element > 0 && e->bin_size % element != 0)
        fault(c, e->index,
              "truncated to %" PRIu64 " bytes, which are not whole elements of %" PRIu64,
              e->bin_size, element);
    if (e->bin_size == 0 && e->bin_offset != 0)
        fault(c, e->index, "bin_offset is %" PRIu64 " without a payload", e->bin_offset);
    if ((e->keys >> SIMPLER_DUMP_KEY_STRIDES & 1) == 0)
        return;
    if (e->stride_count != e->shape_count)
        fault(c, e->index, "%u dimension%s but %u stride%s", e->shape_count,
              simpler_text_plural(e->shape_count), e->stride_count,
              simpler_text_plural(e->stride_count));
    else if (e->is_contiguous && simpler_dump_entry_bytes(e, &bytes) && bytes > 0 &&
             !is_row_major(e))
        fault(c, e->index, "is_contiguous, but the strides are not row-major");
}

static void check_order(struct check *c, const struct simpler_dump_entry *e)
{
    if (e->index > 0) {
        int order = simpler_dump_entry_compare(&c->previous, e);
        if (order > 0)
            fault(c, e->index,
                  "out of order: task, stage, argument and role sort before those "
                  "of the entry in front");
        else if (order == 0)
            fault(c, e->index, "the same task, stage, argument and role as the entry in front");
    }
    c->previous = *e;
}

static int check_entry(struct check *c, const struct simpler_dump_entry *e)
{
    struct simpler_extent extent = {e->bin_offset, e->bin_size, e->index};

    c->result.entries++;
    count_entry(c, e);
    check_keys(c, e);
    check_order(c, e);
    if (e->kind == SIMPLER_DUMP_SCALAR)
        check_scalar(c, e);
    else
        check_tensor(c, e);
    if (e->bin_size == 0 || e->bin_size > UINT64_MAX - e->bin_offset)
        return 0;
    return simpler_extent_sort_add(&c->extents, &extent);
}

/* One byte range, in order of offsets. */
static void check_extent(void *user, const struct simpler_extent *x)
{
    struct check *c = user;
    uint64_t end = x->offset + x->size;
    uint64_t limit = c->bin->bytes;

    if (x->offset < c->reach)
        fault(c, x->index,
              "bytes %" PRIu64 "+%" PRIu64 " overlap those of entry %" PRIu64
              ", which reach to %" PRIu64,
              x->offset, x->size, c->reach_index, c->reach);
    uint64_t from = x->offset > c->reach ? x->offset : c->reach;
    from = from < limit ? from : limit;
    uint64_t to = end < limit ? end : limit;
    c->result.named_bytes += to > from ? to - from : 0;
    if (end > c->reach) {
        c->reach = end;
        c->reach_index = x->index;
    }
}

/* A loss that nobody could count is told as null, and the level of a run that died. */
static bool may_be_unknown(const struct simpler_dump_header *h, unsigned count)
{
    return h->is_unknown[count] && (count == SIMPLER_DUMP_COUNT_DROPPED ||
                                    (count == SIMPLER_DUMP_COUNT_LEVEL && h->is_recovered));
}

static void check_header(struct check *c)
{
    for (unsigned i = 0; i < SIMPLER_DUMP_COUNT_NUM; i++) {
        const char *name = simpler_dump_count_name((enum simpler_dump_count)i);
        if (may_be_unknown(c->header, i))
            continue;
        if (!c->header->has_count[i]) {
            fault(c, SIMPLER_DUMP_NO_INDEX, "the header has no \"%s\"", name);
            continue;
        }
        if (i == SIMPLER_DUMP_COUNT_DROPPED)
            continue;
        if (i == SIMPLER_DUMP_COUNT_LEVEL) {
            if (c->header->count[i] > 3)
                fault(c, SIMPLER_DUMP_NO_INDEX, "dump_args_level is %" PRIu64, c->header->count[i]);
        } else if (c->header->count[i] != c->counts[i]) {
            fault(c, SIMPLER_DUMP_NO_INDEX, "%s is %" PRIu64 ", the entries make %" PRIu64, name,
                  c->header->count[i], c->counts[i]);
        }
    }
    if (!c->header->has_bin_file)
        fault(c, SIMPLER_DUMP_NO_INDEX, "the header has no \"bin_file\"");
    else if (c->header->bin_file[0] != '\0' && !c->bin->is_there)
        fault(c, SIMPLER_DUMP_NO_INDEX, "bin_file names %s, which is not there",
              c->header->bin_file);
}

static int check_all(struct check *c, struct simpler_dump_manifest *m)
{
    struct simpler_dump_entry e;
    int rc;

    while ((rc = simpler_dump_manifest_next(m, &e)) > 0) {
        rc = check_entry(c, &e);
        if (rc != 0)
            return rc;
    }
    if (rc != 0)
        return rc;
    rc = simpler_extent_sort_each(&c->extents, check_extent, c);
    if (rc != 0)
        return rc;
    check_header(c);
    c->result.unnamed_bytes = c->bin->bytes - c->result.named_bytes;
    return 0;
}

int simpler_dump_check_run(struct simpler_dump_manifest *m,
                           const struct simpler_dump_payload *payload, simpler_dump_fault_fn fn,
                           void *user, struct simpler_dump_checked *out)
{
    struct check c = {.fn = fn, .user = user};

    c.bin = &payload->info;
    c.header = simpler_dump_manifest_header(m);
    simpler_dump_manifest_rewind(m);
    simpler_extent_sort_init(&c.extents, SIMPLER_EXTENT_RUN);
    int rc = check_all(&c, m);
    simpler_extent_sort_fini(&c.extents);
    if (rc == 0)
        *out = c.result;
    return rc;
}
