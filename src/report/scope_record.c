/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading of the two kinds of line.  A sample is first tried in the exact
 * shape in which the exporter writes it; any other order, spacing or further
 * key takes the general way.
 */
#include "report/scope_record.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/compiler.h"
#include "simpler/status.h"

/* Is a key, perhaps written with escapes, this name? */
static bool key_is(struct simpler_json_span key, const char *name)
{
    char text[64];
    if (key.plain)
        return strlen(name) == key.bytes && memcmp(key.text, name, key.bytes) == 0;
    return simpler_json_text(key, text, sizeof(text)) < sizeof(text) && strcmp(text, name) == 0;
}

/* ---- samples ---- */

/* Numeric keys of a sample: X(key, member), in the order of the file. */
#define NUMBER_MAP(X)                                       \
    X("depth", depth)                                       \
    X("ring", ring)                                         \
    X("task_window_start", tail[SIMPLER_SCOPE_TASK_WINDOW]) \
    X("task_window_end", head[SIMPLER_SCOPE_TASK_WINDOW])   \
    X("heap_start", tail[SIMPLER_SCOPE_HEAP])               \
    X("heap_end", head[SIMPLER_SCOPE_HEAP])                 \
    X("dep_pool_start", tail[SIMPLER_SCOPE_DEP_POOL])       \
    X("dep_pool_end", head[SIMPLER_SCOPE_DEP_POOL])         \
    X("tensormap", tensormap)                               \
    X("run_epoch", run_epoch)                               \
    X("buf_seq", buf_seq)

static const char *const sample_keys[] = {"site", "phase",
#define X(key, member) key,
                                          NUMBER_MAP(X)
#undef X
};
#define SAMPLE_KEYS (sizeof(sample_keys) / sizeof(sample_keys[0]))

static const char *const missing_faults[] = {"the key \"site\" is missing",
                                             "the key \"phase\" is missing",
#define X(key, member) "the key \"" key "\" is missing",
                                             NUMBER_MAP(X)
#undef X
};

static bool try_literal(struct simpler_json_scan *s, const char *literal, size_t bytes)
{
    if ((size_t)(s->end - s->at) < bytes || memcmp(s->at, literal, bytes) != 0)
        return false;
    s->at += bytes;
    return true;
}
#define TRY(s, literal) try_literal(s, literal, sizeof(literal) - 1)

static bool fixed_shape(struct simpler_json_scan *s, struct simpler_scope_sample *out)
{
    if (!TRY(s, "{\"site\": ") || !simpler_json_scan_string(s, &out->site) ||
        !TRY(s, ", \"phase\": "))
        return false;
    out->is_end = TRY(s, "\"end\"");
    if (!out->is_end && !TRY(s, "\"begin\""))
        return false;
#define X(key, member)                                                         \
    if (!TRY(s, ", \"" key "\": ") || !simpler_json_scan_u64(s, &out->member)) \
        return false;
    NUMBER_MAP(X)
#undef X
    return TRY(s, "}") && simpler_json_scan_end(s);
}

static bool read_phase(struct simpler_json_scan *s, bool *is_end)
{
    struct simpler_json_span phase;
    if (!simpler_json_scan_string(s, &phase))
        return false;
    *is_end = key_is(phase, "end");
    return *is_end || key_is(phase, "begin") ||
           simpler_json_scan_fail(s, "phase is neither \"begin\" nor \"end\"");
}

static bool read_value(struct simpler_json_scan *s, size_t key, struct simpler_scope_sample *out)
{
    uint64_t *const numbers[] = {
#define X(key, member) &out->member,
        NUMBER_MAP(X)
#undef X
    };
    if (key == 0)
        return simpler_json_scan_string(s, &out->site);
    if (key == 1)
        return read_phase(s, &out->is_end);
    return simpler_json_scan_u64(s, numbers[key - 2]);
}

static bool any_shape(struct simpler_json_scan *s, struct simpler_scope_sample *out)
{
    unsigned seen = 0;

    if (!simpler_json_scan_open(s, '{'))
        return false;
    for (bool first = true; !simpler_json_scan_try(s, '}'); first = false) {
        struct simpler_json_span key;
        size_t i = 0;
        if (!first && simpler_json_scan_peek(s) != ',')
            return simpler_json_scan_fail(s, "expected ',' or '}'");
        if (!simpler_json_scan_any_key(s, &key))
            return false;
        while (i < SAMPLE_KEYS && !key_is(key, sample_keys[i]))
            i++;
        if (i < SAMPLE_KEYS && (seen & 1u << i) != 0)
            return simpler_json_scan_fail(s, "a key stands twice");
        if (i < SAMPLE_KEYS ? !read_value(s, i, out) : !simpler_json_scan_skip(s, NULL))
            return false;
        if (i < SAMPLE_KEYS)
            seen |= 1u << i;
    }
    for (size_t i = 0; i < SAMPLE_KEYS; i++) {
        if ((seen & 1u << i) == 0)
            return simpler_json_scan_fail(s, missing_faults[i]);
    }
    return simpler_json_scan_end(s);
}

bool simpler_scope_record_sample(struct simpler_json_scan *scan, struct simpler_scope_sample *out)
{
    const char *begin = scan->begin;
    size_t bytes = (size_t)(scan->end - begin);

    if (SIMPLER_LIKELY(fixed_shape(scan, out)))
        return true;
    simpler_json_scan_init(scan, begin, bytes);
    return any_shape(scan, out);
}

bool simpler_scope_record_is_sample(const char *text, size_t bytes)
{
    struct simpler_json_scan s;
    struct simpler_json_span key;

    simpler_json_scan_init(&s, text, bytes);
    if (!simpler_json_scan_open(&s, '{'))
        return false;
    while (simpler_json_scan_peek(&s) != '}' && simpler_json_scan_any_key(&s, &key) &&
           simpler_json_scan_skip(&s, NULL)) {
        if (key_is(key, "site") || key_is(key, "phase"))
            return true;
    }
    return false;
}

/* ---- metadata ---- */

static const char *const meta_keys[] = {
    "fatal",
    "dropped",
    "total",
    "task_window_max",
    "heap_max",
    "dep_pool_max",
    "tensormap_max",
    "collection_verdict",
    "counts_unknown",
    "host_received_records",
    "host_retained_records",
};
#define META_KEYS   (sizeof(meta_keys) / sizeof(meta_keys[0]))
#define META_NEEDED 7

const char *simpler_scope_record_meta_key(unsigned bit)
{
    return bit < META_NEEDED ? meta_keys[bit] : NULL;
}

static bool read_truth(struct simpler_json_scan *s, enum simpler_scope_truth *out)
{
    bool yes;
    if (!simpler_json_scan_try_null(s)) {
        if (!simpler_json_scan_bool(s, &yes))
            return false;
        *out = yes ? SIMPLER_SCOPE_YES : SIMPLER_SCOPE_NO;
    }
    return true;
}

static bool read_number(struct simpler_json_scan *s, struct simpler_scope_number *out)
{
    if (simpler_json_scan_try_null(s))
        return true;
    out->known = simpler_json_scan_u64(s, &out->value);
    return out->known;
}

static bool append_item(struct simpler_json_scan *s, struct simpler_scope_array *out)
{
    struct simpler_scope_number item = {0};
    if (!read_number(s, &item))
        return false;
    if ((out->count & (out->count - 1)) == 0) {
        size_t room = out->count == 0 ? 1 : 2 * out->count;
        void *grown = simpler_alloc_resize(out->items, room, sizeof(*out->items));
        if (grown == NULL)
            return simpler_json_scan_fail(s, "out of memory");
        out->items = grown;
    }
    out->items[out->count++] = item;
    return true;
}

static bool read_array(struct simpler_json_scan *s, struct simpler_scope_array *out)
{
    if (simpler_json_scan_try_null(s))
        return true;
    if (!simpler_json_scan_open(s, '['))
        return false;
    if (simpler_json_scan_try(s, ']'))
        return true;
    do {
        if (!append_item(s, out))
            return false;
    } while (simpler_json_scan_try(s, ','));
    return simpler_json_scan_close(s, ']');
}

static bool read_verdict(struct simpler_json_scan *s, char *out, size_t capacity)
{
    struct simpler_json_span text;
    if (simpler_json_scan_try_null(s))
        return true;
    if (!simpler_json_scan_string(s, &text))
        return false;
    (void)simpler_json_text(text, out, capacity);
    return true;
}

static bool read_meta_value(struct simpler_json_scan *s, size_t key, struct simpler_scope_meta *out)
{
    switch (key) {
    case 0:
        return read_truth(s, &out->fatal);
    case 1:
        return read_number(s, &out->dropped);
    case 2:
        return read_number(s, &out->total);
    case 3:
    case 4:
    case 5:
        return read_array(s, &out->ring_max[key - 3]);
    case 6:
        return read_number(s, &out->tensormap_max);
    case 7:
        return read_verdict(s, out->verdict, sizeof(out->verdict));
    case 8:
        return read_truth(s, &out->counts_unknown);
    case 9:
        return read_number(s, &out->received);
    default:
        return read_number(s, &out->retained);
    }
}

/* A value of a wrong type leaves its key unknown; the rest of the line counts. */
static void take_meta_value(struct simpler_json_span value, size_t key,
                            struct simpler_scope_meta *out)
{
    struct simpler_json_scan s;

    simpler_json_scan_init(&s, value.text, value.bytes);
    if (read_meta_value(&s, key, out) && simpler_json_scan_end(&s))
        return;
    if (key >= 3 && key <= 5)
        out->ring_max[key - 3].count = 0;
    if (out->fault[0] == 0)
        (void)snprintf(out->fault, sizeof(out->fault), "%s: %s", meta_keys[key], s.fault);
}

/* Appends `"key": value` as it stands in the file. */
static int keep_aside(const char *from, const char *to, char **kept)
{
    size_t have = *kept == NULL ? 0 : strlen(*kept);
    size_t more = (size_t)(to - from);
    char *grown = simpler_alloc_resize(*kept, have + more + 3, 1);
    if (grown == NULL)
        return SIMPLER_ENOMEM;
    if (have > 0) {
        memcpy(grown + have, ", ", 2);
        have += 2;
    }
    memcpy(grown + have, from, more);
    grown[have + more] = 0;
    *kept = grown;
    return 0;
}

static bool read_meta_pair(struct simpler_json_scan *s, struct simpler_scope_meta *out,
                           unsigned *seen)
{
    struct simpler_json_span key, value;
    size_t i = 0;

    if (!simpler_json_scan_any_key(s, &key) || !simpler_json_scan_skip(s, &value))
        return false;
    while (i < META_KEYS && !key_is(key, meta_keys[i]))
        i++;
    if (i == META_KEYS)
        return keep_aside(key.text - 1, value.text + value.bytes, &out->other) == 0 ||
               simpler_json_scan_fail(s, "out of memory");
    if ((*seen & 1u << i) != 0)
        return simpler_json_scan_fail(s, "a key stands twice");
    *seen |= 1u << i;
    take_meta_value(value, i, out);
    return true;
}

int simpler_scope_record_meta(struct simpler_json_scan *scan, struct simpler_scope_meta *out)
{
    struct simpler_scope_meta meta = {0};
    unsigned seen = 0;
    bool fine = simpler_json_scan_open(scan, '{');

    for (bool first = true; fine && !simpler_json_scan_try(scan, '}'); first = false) {
        if (!first && simpler_json_scan_peek(scan) != ',')
            fine = simpler_json_scan_fail(scan, "expected ',' or '}'");
        fine = fine && read_meta_pair(scan, &meta, &seen);
    }
    fine = fine && simpler_json_scan_end(scan);
    if (fine && seen == 0)
        fine = simpler_json_scan_fail(scan, "no key of the metadata is here");
    if (!fine) {
        simpler_scope_record_meta_fini(&meta);
        return SIMPLER_EFORMAT;
    }
    meta.present = true;
    meta.missing = ~seen & ((1u << META_NEEDED) - 1);
    *out = meta;
    return 0;
}

void simpler_scope_record_meta_fini(struct simpler_scope_meta *meta)
{
    for (int i = 0; i < SIMPLER_SCOPE_RINGED_NUM; i++)
        simpler_alloc_free(meta->ring_max[i].items);
    simpler_alloc_free(meta->other);
    memset(meta, 0, sizeof(*meta));
}

struct simpler_scope_number simpler_scope_record_capacity(const struct simpler_scope_meta *meta,
                                                          enum simpler_scope_resource resource,
                                                          uint64_t ring)
{
    const struct simpler_scope_number unknown = {0};
    if (resource == SIMPLER_SCOPE_TENSORMAP)
        return meta->tensormap_max;
    const struct simpler_scope_array *max = &meta->ring_max[resource];
    return ring < max->count ? max->items[ring] : unknown;
}
