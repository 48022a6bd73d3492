/* SPDX-License-Identifier: Apache-2.0 */
/* Keys, separators and order are those of the scope-stats document, section 3. */
#include "collect/scope_stats/scope_stats_line.h"

#include <string.h>

#include "base/compiler.h"
#include "base/utf8.h"

#define REPLACEMENT "\xef\xbf\xbd"

/* Copies a literal; its length is known to the compiler. */
#define PUT(to, literal) (memcpy(to, literal, sizeof(literal) - 1), (to) + sizeof(literal) - 1)

static const char digit_pairs[] =
    "00010203040506070809101112131415161718192021222324252627282930313233343536373839404142434445"
    "46474849505152535455565758596061626364656667686970717273747576777879808182838485868788899091"
    "9293949596979899";

static char *put_pair(char *to, uint64_t value)
{
    memcpy(to, digit_pairs + 2 * value, 2);
    return to + 2;
}

static unsigned count_digits(uint64_t value)
{
    unsigned n = 1;

    for (; value >= 10000; value /= 10000)
        n += 4;
    return n + (value >= 10) + (value >= 100) + (value >= 1000);
}

SIMPLER_NOINLINE static char *put_long(char *to, uint64_t value)
{
    char *end = to + count_digits(value), *at = end;

    while (value >= 100) {
        at -= 2;
        (void)put_pair(at, value % 100);
        value /= 100;
    }
    if (value >= 10)
        (void)put_pair(at - 2, value);
    else
        at[-1] = (char)('0' + value);
    return end;
}

SIMPLER_INLINE char *put_number(char *to, uint64_t value)
{
    if (value < 10) {
        *to = (char)('0' + value);
        return to + 1;
    }
    if (value < 100)
        return put_pair(to, value);
    return put_long(to, value);
}

/* Task ids are unsigned in all but the documented type: they go on above 2^31. */
SIMPLER_INLINE char *put_counter(char *to, int32_t value)
{
    return put_number(to, (uint32_t)value);
}

SIMPLER_INLINE char *put_signed(char *to, int32_t value)
{
    if (value < 0)
        *to++ = '-';
    return put_number(to, value < 0 ? (uint64_t) - (int64_t)value : (uint64_t)value);
}

/* One character of a site as JSON wants it; returns the bytes that it took. */
static size_t put_escaped(char **to, const char *from, size_t left)
{
    static const char hex[] = "0123456789abcdef";
    unsigned char byte = (unsigned char)*from;
    size_t length = simpler_utf8_length(from, left);

    if (byte == '"' || byte == '\\') {
        *(*to)++ = '\\';
        *(*to)++ = (char)byte;
    } else if (byte < 0x20) {
        *to = PUT(*to, "\\u00");
        *(*to)++ = hex[byte >> 4];
        *(*to)++ = hex[byte & 15];
    } else if (length == 0) {
        *to = PUT(*to, REPLACEMENT);
    } else {
        memcpy(*to, from, length);
        *to += length;
    }
    return length != 0 ? length : 1;
}

static char *put_site(char *to, const char *site)
{
    size_t bytes = strnlen(site, SCOPE_STATS_SITE_BYTES);

    for (size_t i = 0; i < bytes;) {
        unsigned char byte = (unsigned char)site[i];
        if (SIMPLER_LIKELY(byte >= 0x20 && byte < 0x7f && byte != '"' && byte != '\\'))
            *to++ = site[i++];
        else
            i += put_escaped(&to, site + i, bytes - i);
    }
    return to;
}

static char *put_head(char *to, const struct scope_stats_record *record)
{
    to = PUT(to, "{\"site\": \"");
    to = put_site(to, record->site);
    *to++ = ':';
    return put_signed(to, record->line);
}

/* The head is copied whole when it is short and was met before. */
SIMPLER_INLINE char *copy_head(char *to, const struct scope_stats_record *record,
                               struct scope_stats_line_format *format)
{
    struct scope_stats_line_site *s =
        &format->sites[(uint32_t)record->line & (SCOPE_STATS_LINE_SITES - 1)];

    if (SIMPLER_LIKELY(s->bytes != 0 && s->line == record->line &&
                       memcmp(s->site, record->site, sizeof(s->site)) == 0)) {
        memcpy(to, s->text, sizeof(s->text));
        return to + s->bytes;
    }
    char *end = put_head(to, record);
    size_t bytes = (size_t)(end - to);
    if (bytes <= sizeof(s->text)) {
        memcpy(s->site, record->site, sizeof(s->site));
        memcpy(s->text, to, bytes);
        s->line = record->line;
        s->bytes = (uint32_t)bytes;
    }
    return end;
}

void simpler_scope_stats_line_run(struct scope_stats_line_format *format)
{
    memset(format->pool_head, 0, sizeof(format->pool_head));
}

/* The 64 bits of a head that only grows; a step back by less than half of 2^32 is kept as it is. */
SIMPLER_INLINE uint64_t widen(uint64_t *last, uint32_t low)
{
    uint64_t high = *last & ~(uint64_t)UINT32_MAX;

    if (SIMPLER_UNLIKELY(low < (uint32_t)*last && (uint32_t)*last - low > (uint32_t)INT32_MAX))
        high += (uint64_t)UINT32_MAX + 1;
    return *last = high | low;
}

SIMPLER_INLINE char *put_pool(char *to, const struct scope_stats_record *record,
                              struct scope_stats_line_format *format)
{
    uint32_t used = (uint32_t)record->dep_pool_end - (uint32_t)record->dep_pool_start;
    uint64_t head = widen(&format->pool_head[record->ring & (SCOPE_STATS_MAX_RING_DEPTH - 1)],
                          (uint32_t)record->dep_pool_end);

    to = PUT(to, ", \"dep_pool_start\": ");
    to = put_number(to, used <= head ? head - used : (uint32_t)record->dep_pool_start);
    to = PUT(to, ", \"dep_pool_end\": ");
    return put_number(to, head);
}

void simpler_scope_stats_line_buffer(struct scope_stats_line_format *format, uint32_t run_epoch,
                                     uint32_t buffer_seq)
{
    char *to = PUT(format->tail, ", \"run_epoch\": ");
    to = put_number(to, run_epoch);
    to = PUT(to, ", \"buf_seq\": ");
    to = put_number(to, buffer_seq);
    to = PUT(to, "}\n");
    format->tail_bytes = (size_t)(to - format->tail);
}

size_t simpler_scope_stats_line(char *to, const struct scope_stats_record *record,
                                struct scope_stats_line_format *format)
{
    char *start = to;

    to = copy_head(to, record, format);
    to = record->phase == 0 ? PUT(to, "\", \"phase\": \"begin\", \"depth\": ")
                            : PUT(to, "\", \"phase\": \"end\", \"depth\": ");
    to = put_signed(to, record->depth);
    to = PUT(to, ", \"ring\": ");
    to = put_signed(to, record->ring);
    to = PUT(to, ", \"task_window_start\": ");
    to = put_counter(to, record->task_start);
    to = PUT(to, ", \"task_window_end\": ");
    to = put_counter(to, record->task_end);
    to = PUT(to, ", \"heap_start\": ");
    to = put_number(to, record->heap_start);
    to = PUT(to, ", \"heap_end\": ");
    to = put_number(to, record->heap_end);
    to = put_pool(to, record, format);
    to = PUT(to, ", \"tensormap\": ");
    to = put_signed(to, record->tensormap);
    memcpy(to, format->tail, sizeof(format->tail));
    return (size_t)(to - start) + format->tail_bytes;
}
