/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The file is one object: keys, the array of entries, perhaps more keys.  Each
 * step (a key with its value, an entry) is parsed from the window; when the
 * window ends too early it is filled once more and the step tried again.
 */
#include "report/dump_manifest.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "report/dump_parse.h"
#include "report/dump_source.h"
#include "report/regular_file.h"

/* Below this many bytes the window is filled before a step, not after a failed one. */
#define LOW_WATER ((size_t)16 * 1024)

struct simpler_dump_manifest {
    struct simpler_dump_source source;
    struct simpler_dump_header header;
    char *path;
    bool first_key;   /* no key of the top object was taken yet */
    bool first_entry; /* no entry of the array was taken yet */
    bool in_array;    /* the next step is an entry or the array's end */
    bool has_array;   /* the array was met; array_offset is behind its bracket */
    bool at_end;      /* the top object is closed */
    uint64_t array_offset;
    uint64_t next_index;
    const char *key; /* the key a fault lies in, or NULL */
    char key_text[64];
    char error[640];
};

/* What a step does: true when done, else the scanner has the fault. */
typedef bool (*step_fn)(struct simpler_dump_manifest *m, struct simpler_json_scan *s, void *out);

const char *simpler_dump_count_name(enum simpler_dump_count count)
{
    static const char *const names[] = {
#define X(NAME, text) [SIMPLER_DUMP_COUNT_##NAME] = (text),
        SIMPLER_DUMP_COUNT_MAP(X)
#undef X
    };
    return names[count];
}

__attribute__((format(printf, 3, 4))) static int fail(struct simpler_dump_manifest *m, int rc,
                                                      const char *format, ...)
{
    va_list args;

    va_start(args, format);
    (void)vsnprintf(m->error, sizeof(m->error), format, args);
    va_end(args);
    return rc;
}

static int fail_read(struct simpler_dump_manifest *m)
{
    return fail(m, SIMPLER_EIO, "%s: reading failed: %s", m->path, strerror(errno));
}

static int fail_scan(struct simpler_dump_manifest *m, const struct simpler_json_scan *s)
{
    uint64_t line;
    uint64_t column;
    char entry[40] = "";
    char key[80] = "";

    const char *fault = s->fault;
    if (s->at == s->end)
        fault = simpler_dump_source_is_last(&m->source) ? "the file ends too early"
                                                        : "more than 1 MiB in one value";
    simpler_dump_source_place(&m->source, m->source.offset + (uint64_t)(s->at - m->source.window),
                              &line, &column);
    if (m->in_array)
        (void)snprintf(entry, sizeof(entry), " entry %" PRIu64 ":", m->next_index);
    if (m->key != NULL)
        (void)snprintf(key, sizeof(key), " \"%s\":", m->key);
    return fail(m, SIMPLER_EFORMAT, "%s:%s%s %s (line %" PRIu64 ", column %" PRIu64 ")", m->path,
                entry, key, fault, line, column);
}

/* Takes one step; on failure nothing is consumed. */
static int take(struct simpler_dump_manifest *m, step_fn step, void *out)
{
    struct simpler_dump_source *source = &m->source;
    struct simpler_json_scan s;

    if (source->filled - source->at < LOW_WATER && !simpler_dump_source_is_last(source) &&
        simpler_dump_source_fill(source) != 0)
        return fail_read(m);
    for (bool again = false;; again = true) {
        simpler_json_scan_init(&s, source->window + source->at, source->filled - source->at);
        m->key = NULL;
        if (step(m, &s, out)) {
            source->at = (size_t)(s.at - source->window);
            return 0;
        }
        if (again || simpler_dump_source_is_last(source))
            return fail_scan(m, &s);
        if (simpler_dump_source_fill(source) != 0)
            return fail_read(m);
    }
}

/* A value at the top ends with a comma or the bracket: a number may go on behind the window. */
static bool ends_value(struct simpler_json_scan *s)
{
    char c = simpler_json_scan_peek(s);
    return c == ',' || c == '}' || simpler_json_scan_fail(s, "expected ',' or a closing bracket");
}

static bool step_bin_file(struct simpler_dump_manifest *m, struct simpler_json_scan *s)
{
    char *name = m->header.bin_file;

    m->header.has_bin_file = true;
    if (!simpler_dump_parse_text(s, name, sizeof(m->header.bin_file)))
        return false;
    /* A manifest must not make its reader open files elsewhere. */
    if (strchr(name, '/') != NULL || strcmp(name, "..") == 0 || strcmp(name, ".") == 0)
        return simpler_json_scan_fail(s, "not the name of a file beside the manifest");
    return true;
}

static bool step_count(struct simpler_dump_manifest *m, struct simpler_json_scan *s,
                       struct simpler_json_span key, bool *is_count)
{
    *is_count = true;
    for (unsigned i = 0; i < SIMPLER_DUMP_COUNT_NUM; i++) {
        if (simpler_dump_parse_is(key, simpler_dump_count_name((enum simpler_dump_count)i))) {
            /* What a run that died cannot tell is null. */
            if (simpler_json_scan_try_null(s)) {
                m->header.is_unknown[i] = true;
                return true;
            }
            m->header.has_count[i] = true;
            return simpler_json_scan_u64(s, &m->header.count[i]);
        }
    }
    *is_count = false;
    return true;
}

static bool step_value(struct simpler_dump_manifest *m, struct simpler_json_scan *s,
                       struct simpler_json_span key, bool *is_array)
{
    bool is_count;

    if (simpler_dump_parse_is(key, "args") || simpler_dump_parse_is(key, "tensors")) {
        *is_array = true;
        if (m->has_array && m->at_end)
            return simpler_json_scan_fail(s, "a second array of entries");
        return simpler_json_scan_open(s, '[');
    }
    if (!step_count(m, s, key, &is_count))
        return false;
    if (simpler_dump_parse_is(key, "bin_file")) {
        if (!step_bin_file(m, s))
            return false;
    } else if (simpler_dump_parse_is(key, "recovered")) {
        if (!simpler_json_scan_bool(s, &m->header.is_recovered))
            return false;
    } else if (simpler_dump_parse_is(key, "bin_format")) {
        if (!simpler_dump_parse_bin_format(s))
            return false;
    } else if (!is_count && !simpler_json_scan_skip(s, NULL)) {
        return false;
    }
    return ends_value(s);
}

enum top_step { TOP_KEY, TOP_ARRAY, TOP_CLOSED };

/* A key of the top object with its value, the array's bracket, or the object's end. */
static bool step_top(struct simpler_dump_manifest *m, struct simpler_json_scan *s, void *out)
{
    enum top_step *what = out;
    struct simpler_json_span key;
    bool is_array = false;

    if (m->first_key && !simpler_json_scan_open(s, '{'))
        return false;
    if (simpler_json_scan_try(s, '}')) {
        *what = TOP_CLOSED;
        return true;
    }
    if (!simpler_dump_parse_key(s, m->first_key, &key))
        return false;
    (void)simpler_json_text(key, m->key_text, sizeof(m->key_text));
    m->key = m->key_text;
    if (!step_value(m, s, key, &is_array))
        return false;
    *what = is_array ? TOP_ARRAY : TOP_KEY;
    return true;
}

/* Takes keys up to the array or the end of the object. */
static int take_keys(struct simpler_dump_manifest *m, enum top_step *what)
{
    do {
        int rc = take(m, step_top, what);
        if (rc != 0)
            return rc;
        m->first_key = false;
    } while (*what == TOP_KEY);
    return 0;
}

/* An entry, or the array's end: *out is NULL to skip what is between. */
struct entry_step {
    struct simpler_dump_entry *entry;
    bool closed;
};

static bool step_entry(struct simpler_dump_manifest *m, struct simpler_json_scan *s, void *out)
{
    struct entry_step *step = out;

    step->closed = simpler_json_scan_try(s, ']');
    if (step->closed)
        return true;
    if (!m->first_entry && !simpler_json_scan_try(s, ','))
        return simpler_json_scan_fail(s, "expected ',' or ']'");
    if (step->entry == NULL)
        return simpler_json_scan_skip(s, NULL) && simpler_json_scan_peek(s) != 0;
    return simpler_dump_parse_entry(s, step->entry, &m->key);
}

/* Nothing but blanks may follow the top object. */
static int take_rest(struct simpler_dump_manifest *m)
{
    struct simpler_dump_source *source = &m->source;
    struct simpler_json_scan s;

    for (;;) {
        simpler_json_scan_init(&s, source->window + source->at, source->filled - source->at);
        if (!simpler_json_scan_end(&s))
            return fail_scan(m, &s);
        source->at = source->filled;
        if (simpler_dump_source_is_last(source))
            return 0;
        if (simpler_dump_source_fill(source) != 0)
            return fail_read(m);
    }
}

/* From behind the array to the end of the file. */
static int take_tail(struct simpler_dump_manifest *m)
{
    enum top_step what;

    m->in_array = false;
    m->at_end = true;
    int rc = take_keys(m, &what);
    return rc != 0 ? rc : take_rest(m);
}

int simpler_dump_manifest_next(struct simpler_dump_manifest *m, struct simpler_dump_entry *out)
{
    struct entry_step step = {.entry = out, .closed = false};

    if (m->error[0] != '\0')
        return SIMPLER_EFORMAT;
    if (!m->in_array)
        return 0;
    int rc = take(m, step_entry, &step);
    if (rc != 0)
        return rc;
    if (step.closed) {
        rc = take_tail(m);
        return rc;
    }
    m->first_entry = false;
    if (out != NULL)
        out->index = m->next_index;
    m->next_index++;
    return 1;
}

void simpler_dump_manifest_rewind(struct simpler_dump_manifest *m)
{
    if (m->error[0] != '\0')
        return;
    simpler_dump_source_seek(&m->source, m->array_offset);
    m->in_array = true;
    m->first_entry = true;
    m->at_end = false;
    m->next_index = 0;
}

/* Keys in front of the array; if bin_file is not among them, those behind it as well. */
static int read_header(struct simpler_dump_manifest *m)
{
    enum top_step what;
    int rc = take_keys(m, &what);

    if (rc != 0)
        return rc;
    if (what == TOP_CLOSED)
        return fail(m, SIMPLER_EFORMAT,
                    "%s: no \"args\" array: this is not the manifest of an args dump", m->path);
    m->has_array = true;
    m->in_array = true;
    m->array_offset = m->source.offset + m->source.at;
    if (m->header.has_bin_file)
        return 0;
    do
        rc = simpler_dump_manifest_next(m, NULL);
    while (rc > 0);
    if (rc == 0)
        simpler_dump_manifest_rewind(m);
    return rc;
}

static struct simpler_dump_manifest *create(const char *name)
{
    struct simpler_dump_manifest *m = simpler_alloc_zeroed(1, sizeof(*m));

    if (m == NULL)
        return NULL;
    m->path = simpler_alloc_string(name);
    if (m->path == NULL) {
        simpler_alloc_free(m);
        return NULL;
    }
    m->first_key = true;
    m->first_entry = true;
    return m;
}

int simpler_dump_manifest_open(const char *path, struct simpler_dump_manifest **out)
{
    struct simpler_dump_manifest *m = create(path);

    *out = m;
    if (m == NULL)
        return SIMPLER_ENOMEM;
    errno = 0;
    int rc = simpler_dump_source_open(&m->source, path, SIMPLER_DUMP_ENTRY_MAX_BYTES);
    if (rc == SIMPLER_ENOMEM)
        return fail(m, rc, "%s: out of memory", path);
    if (rc != 0)
        return fail(m, rc, "%s: %s", path, simpler_regular_file_fault(errno));
    return read_header(m);
}

int simpler_dump_manifest_open_bytes(const char *name, const void *bytes, size_t count,
                                     struct simpler_dump_manifest **out)
{
    struct simpler_dump_manifest *m = create(name);

    *out = m;
    if (m == NULL)
        return SIMPLER_ENOMEM;
    int rc = simpler_dump_source_open_bytes(&m->source, bytes, count, SIMPLER_DUMP_ENTRY_MAX_BYTES);
    return rc != 0 ? fail(m, rc, "%s: out of memory", name) : read_header(m);
}

const struct simpler_dump_header *
simpler_dump_manifest_header(const struct simpler_dump_manifest *m)
{
    return &m->header;
}

const char *simpler_dump_manifest_error(const struct simpler_dump_manifest *m)
{
    return m == NULL ? "out of memory" : m->error;
}

void simpler_dump_manifest_close(struct simpler_dump_manifest *m)
{
    if (m == NULL)
        return;
    simpler_dump_source_close(&m->source);
    simpler_alloc_free(m->path);
    simpler_alloc_free(m);
}
