/* SPDX-License-Identifier: Apache-2.0 */
/* Lists and ranges, and what to say when a value is none that the dump has. */
#include "report/dump_filter.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "base/nearest.h"

/* A kernel id that the dump does not know, -1, lies in no open range. */
#define UNKNOWN_FUNC  UINT64_MAX
#define LAST_OF_FUNCS (UNKNOWN_FUNC - 1)

static const char *const field_names[SIMPLER_DUMP_FIELD_NUM] = {
    "task", "arg", "index", "func", "ring", "stage", "role", "dtype", "kind",
};

/* The names of a field in the order of their bits; aliases stand behind, NULL ends. */
struct name_bit {
    const char *name;
    unsigned bit;
    bool is_alias;
};

static const struct name_bit stage_names[] = {
    {"before", 0, false},          {"after", 1, false}, {"before_dispatch", 0, true},
    {"after_completion", 1, true}, {NULL, 0, false},
};
static const struct name_bit role_names[] = {
    {"input", 0, false}, {"output", 1, false}, {"inout", 2, false},
    {"in", 0, true},     {"out", 1, true},     {NULL, 0, false},
};
static const struct name_bit kind_names[] = {
    {"tensor", 0, false}, {"scalar", 1, false}, {NULL, 0, false}};
static const struct name_bit dtype_names[] = {
#define X(id, NAME, text, bytes) {text, id, false},
    SIMPLER_DTYPE_MAP(X)
#undef X
        {NULL, 0, false},
};

static const struct name_bit *names_of(enum simpler_dump_field field)
{
    switch (field) {
    case SIMPLER_DUMP_FIELD_STAGE:
        return stage_names;
    case SIMPLER_DUMP_FIELD_ROLE:
        return role_names;
    case SIMPLER_DUMP_FIELD_KIND:
        return kind_names;
    default:
        return dtype_names;
    }
}

/* Appends to a text of fixed capacity; what does not fit is cut. */
__attribute__((format(printf, 3, 4))) static void append(char *out, size_t capacity,
                                                         const char *format, ...)
{
    size_t used = strlen(out);
    va_list args;

    va_start(args, format);
    (void)vsnprintf(out + used, capacity - used, format, args);
    va_end(args);
}

/* What a field has in place of @wrong; aliases are not told. */
static const char *answer_name(const struct name_bit *names, const char *wrong, char *out,
                               size_t capacity)
{
    const char *words[32];
    size_t count = 0;

    for (; names->name != NULL && count < 32; names++) {
        if (!names->is_alias)
            words[count++] = names->name;
    }
    return simpler_nearest_answer(wrong, words, count, out, capacity);
}

static int add_name(struct simpler_dump_filter *f, enum simpler_dump_field field, const char *name,
                    char *error, size_t capacity)
{
    char answer[384];

    for (const struct name_bit *n = names_of(field); n->name != NULL; n++) {
        if (strcasecmp(n->name, name) == 0) {
            f->names[field] |= (uint32_t)1 << n->bit;
            return 0;
        }
    }
    (void)snprintf(error, capacity, "--%s: there is no %s '%s'%s", field_names[field],
                   field_names[field], name,
                   answer_name(names_of(field), name, answer, sizeof(answer)));
    return SIMPLER_EINVAL;
}

/* One number, decimal or 0x: false when there is none at *text. */
static bool parse_number(const char **text, uint64_t *out)
{
    const char *digits = "0123456789abcdef";
    const char *p = *text;
    unsigned base = strncasecmp(p, "0x", 2) == 0 ? 16 : 10;
    uint64_t value = 0;

    p += base == 16 ? 2 : 0;
    const char *first = p;
    for (;; p++) {
        char lower = *p >= 'A' && *p <= 'F' ? (char)(*p - 'A' + 'a') : *p;
        const char *at = *p == '\0' ? NULL : memchr(digits, lower, base);
        if (at == NULL)
            break;
        uint64_t digit = (uint64_t)(at - digits);
        if (value > (UINT64_MAX - digit) / base)
            return false;
        value = value * base + digit;
    }
    *text = p;
    *out = value;
    return p > first;
}

static bool parse_range(enum simpler_dump_field field, const char *text,
                        struct simpler_dump_range *out)
{
    memset(out, 0, sizeof(*out));
    if (field == SIMPLER_DUMP_FIELD_FUNC && strcmp(text, "-1") == 0) {
        out->first = out->last = UNKNOWN_FUNC;
        return true;
    }
    if (!parse_number(&text, &out->first))
        return false;
    out->last = out->first;
    if (*text == '\0')
        return true;
    if (*text++ != '-')
        return false;
    out->last = field == SIMPLER_DUMP_FIELD_FUNC ? LAST_OF_FUNCS : UINT64_MAX;
    if (*text == '\0')
        return true;
    return parse_number(&text, &out->last) && *text == '\0' && out->last >= out->first;
}

static int add_range(struct simpler_dump_filter *f, enum simpler_dump_field field, const char *text,
                     char *error, size_t capacity)
{
    struct simpler_dump_range range;
    size_t n = f->range_count[field];

    if (!parse_range(field, text, &range)) {
        (void)snprintf(error, capacity,
                       "--%s: '%s' is neither a number nor a range like 2-4 (0x for hexadecimal)",
                       field_names[field], text);
        return SIMPLER_EINVAL;
    }
    if (n == SIMPLER_DUMP_MAX_RANGES) {
        (void)snprintf(error, capacity, "--%s: more than %d values", field_names[field],
                       SIMPLER_DUMP_MAX_RANGES);
        return SIMPLER_EINVAL;
    }
    struct simpler_dump_range *grown = simpler_alloc_resize(f->ranges[field], n + 1, sizeof(range));
    if (grown == NULL)
        return SIMPLER_ENOMEM;
    f->ranges[field] = grown;
    grown[n] = range;
    f->range_count[field] = n + 1;
    return 0;
}

int simpler_dump_filter_add(struct simpler_dump_filter *f, enum simpler_dump_field field,
                            const char *list, char *error, size_t capacity)
{
    char item[64];

    for (const char *p = list;; p++) {
        size_t bytes = strcspn(p, ",");
        bool fits = bytes < sizeof(item);
        if (bytes == 0 || (!fits && field < SIMPLER_DUMP_FIELD_NUMBERS)) {
            (void)snprintf(error, capacity, "--%s: '%.60s%s' is no list of values",
                           field_names[field], list, strlen(list) > 60 ? "..." : "");
            return SIMPLER_EINVAL;
        }
        /* No name is that long: of such a word the beginning is told. */
        (void)snprintf(item, sizeof(item), "%.*s%s", fits ? (int)bytes : 60, p, fits ? "" : "...");
        int rc = field < SIMPLER_DUMP_FIELD_NUMBERS ? add_range(f, field, item, error, capacity)
                                                    : add_name(f, field, item, error, capacity);
        if (rc != 0)
            return rc;
        p += bytes;
        if (*p == '\0')
            return 0;
    }
}

bool simpler_dump_filter_is_set(const struct simpler_dump_filter *f)
{
    for (unsigned i = 0; i < SIMPLER_DUMP_FIELD_NUM; i++) {
        if (i != SIMPLER_DUMP_FIELD_INDEX &&
            (f->names[i] != 0 || (i < SIMPLER_DUMP_FIELD_NUMBERS && f->range_count[i] > 0)))
            return true;
    }
    return false;
}

static bool is_index(const struct simpler_dump_filter *f)
{
    return f->range_count[SIMPLER_DUMP_FIELD_INDEX] > 0;
}

/* Whether a field of numbers takes part: INDEX alone when it is given. */
static bool takes_part(const struct simpler_dump_filter *f, unsigned field)
{
    return f->range_count[field] > 0 && (field == SIMPLER_DUMP_FIELD_INDEX || !is_index(f));
}

bool simpler_dump_filter_must_learn(const struct simpler_dump_filter *f)
{
    for (unsigned i = 0; i < SIMPLER_DUMP_FIELD_NUMBERS; i++) {
        if (takes_part(f, i))
            return true;
    }
    return false;
}

/* The number of a field; of FUNC the nth, so that an entry has several. */
static bool number_of(const struct simpler_dump_entry *e, unsigned field, unsigned nth,
                      uint64_t *out)
{
    switch (field) {
    case SIMPLER_DUMP_FIELD_TASK:
        *out = e->task_id;
        break;
    case SIMPLER_DUMP_FIELD_ARG:
        *out = e->arg_index;
        break;
    case SIMPLER_DUMP_FIELD_INDEX:
        *out = e->index;
        break;
    case SIMPLER_DUMP_FIELD_RING:
        *out = e->task_id >> 32;
        break;
    default:
        if (nth >= e->func_count)
            return false;
        *out = (uint64_t)e->func_ids[nth];
        return true;
    }
    return nth == 0;
}

static uint64_t distance(const struct simpler_dump_range *r, uint64_t value)
{
    return value < r->first ? r->first - value : value - r->last;
}

/* Keeps the nearest distinct numbers, nearest first. */
static void learn_number(struct simpler_dump_range *r, uint64_t value)
{
    unsigned at = r->nearest_count;

    if (value >= r->first && value <= r->last) {
        r->is_hit = true;
        return;
    }
    for (unsigned i = 0; i < r->nearest_count; i++) {
        if (r->nearest[i] == value)
            return;
    }
    while (at > 0 && distance(r, value) < distance(r, r->nearest[at - 1]))
        at--;
    if (at == SIMPLER_DUMP_NEAREST)
        return;
    if (r->nearest_count < SIMPLER_DUMP_NEAREST)
        r->nearest_count++;
    for (unsigned i = r->nearest_count - 1; i > at; i--)
        r->nearest[i] = r->nearest[i - 1];
    r->nearest[at] = value;
}

bool simpler_dump_filter_learn(struct simpler_dump_filter *f, const struct simpler_dump_entry *e)
{
    bool all_hit = true;
    uint64_t value;

    for (unsigned field = 0; field < SIMPLER_DUMP_FIELD_NUMBERS; field++) {
        if (!takes_part(f, field))
            continue;
        for (size_t i = 0; i < f->range_count[field]; i++) {
            struct simpler_dump_range *r = &f->ranges[field][i];
            for (unsigned nth = 0; !r->is_hit && number_of(e, field, nth, &value); nth++)
                learn_number(r, value);
            all_hit = all_hit && r->is_hit;
        }
    }
    return all_hit;
}

static void append_number(char *out, size_t capacity, unsigned field, uint64_t value)
{
    if (field == SIMPLER_DUMP_FIELD_TASK)
        append(out, capacity, "0x%016" PRIx64, value);
    else if (field == SIMPLER_DUMP_FIELD_FUNC && value == UNKNOWN_FUNC)
        append(out, capacity, "-1");
    else
        append(out, capacity, "%" PRIu64, value);
}

/* Whether no entry that was learnt tells its kernels. */
static bool has_no_func(const struct simpler_dump_range *r, unsigned field)
{
    return field == SIMPLER_DUMP_FIELD_FUNC && r->nearest_count == 1 &&
           r->nearest[0] == UNKNOWN_FUNC;
}

static void explain_range(const struct simpler_dump_range *r, unsigned field, char *out,
                          size_t capacity)
{
    (void)snprintf(out, capacity, "--%s: the dump has no %s ", field_names[field],
                   field_names[field]);
    append_number(out, capacity, field, r->first);
    if (r->last != r->first) {
        append(out, capacity, "-");
        if (r->last < LAST_OF_FUNCS)
            append_number(out, capacity, field, r->last);
    }
    if (r->nearest_count == 0) {
        append(out, capacity, ": it has no entries");
    } else if (has_no_func(r, field)) {
        append(out, capacity,
               ": all its kernel ids are -1, unknown, as host_build_graph writes them; filter by "
               "--task, or dump a run with --runtime tensormap_and_ringbuffer");
        return;
    } else {
        append(out, capacity, "; the nearest are ");
    }
    for (unsigned i = 0; i < r->nearest_count; i++) {
        append(out, capacity, i == 0 ? "" : ", ");
        append_number(out, capacity, field, r->nearest[i]);
    }
}

bool simpler_dump_filter_explain(const struct simpler_dump_filter *f, char *out, size_t capacity)
{
    for (unsigned field = 0; field < SIMPLER_DUMP_FIELD_NUMBERS; field++) {
        if (!takes_part(f, field))
            continue;
        for (size_t i = 0; i < f->range_count[field]; i++) {
            if (!f->ranges[field][i].is_hit) {
                explain_range(&f->ranges[field][i], field, out, capacity);
                return true;
            }
        }
    }
    return false;
}

static bool numbers_match(const struct simpler_dump_filter *f, unsigned field,
                          const struct simpler_dump_entry *e)
{
    uint64_t value;

    for (unsigned nth = 0; number_of(e, field, nth, &value); nth++) {
        for (size_t i = 0; i < f->range_count[field]; i++) {
            if (value >= f->ranges[field][i].first && value <= f->ranges[field][i].last)
                return true;
        }
    }
    return false;
}

static bool name_matches(uint32_t wanted, unsigned bit)
{
    return wanted == 0 || (wanted >> bit & 1) != 0;
}

bool simpler_dump_filter_matches(const struct simpler_dump_filter *f,
                                 const struct simpler_dump_entry *e)
{
    for (unsigned field = 0; field < SIMPLER_DUMP_FIELD_NUMBERS; field++) {
        if (takes_part(f, field) && !numbers_match(f, field, e))
            return false;
    }
    return is_index(f) || (name_matches(f->names[SIMPLER_DUMP_FIELD_STAGE], e->stage) &&
                           name_matches(f->names[SIMPLER_DUMP_FIELD_ROLE], e->role) &&
                           name_matches(f->names[SIMPLER_DUMP_FIELD_KIND], e->kind) &&
                           name_matches(f->names[SIMPLER_DUMP_FIELD_DTYPE], e->dtype));
}

void simpler_dump_filter_fini(struct simpler_dump_filter *f)
{
    for (unsigned i = 0; i < SIMPLER_DUMP_FIELD_NUMBERS; i++)
        simpler_alloc_free(f->ranges[i]);
    memset(f, 0, sizeof(*f));
}
