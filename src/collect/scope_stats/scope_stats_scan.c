/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/scope_stats/scope_stats_scan.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "collect/scope_stats/scope_stats_line.h"
#include "simpler/status.h"

#define WINDOW_BYTES (256u * 1024)

/* ---- a line ---- */

/* The numbers behind the site, in their order. */
static const char *const keys[] = {
    ", \"depth\": ",           ", \"ring\": ",         ", \"task_window_start\": ",
    ", \"task_window_end\": ", ", \"heap_start\": ",   ", \"heap_end\": ",
    ", \"dep_pool_start\": ",  ", \"dep_pool_end\": ", ", \"tensormap\": ",
    ", \"run_epoch\": ",       ", \"buf_seq\": ",
};
enum { KEY_RING = 1, KEY_POOL_END = 7, KEY_EPOCH = 9, KEY_SEQ = 10, KEYS = 11 };

struct cursor {
    const char *at, *end;
};

static bool take_text(struct cursor *c, const char *text)
{
    size_t bytes = strlen(text);

    if ((size_t)(c->end - c->at) < bytes || memcmp(c->at, text, bytes) != 0)
        return false;
    c->at += bytes;
    return true;
}

/* Digits, perhaps behind a sign, whose value is then of no interest. */
static bool take_number(struct cursor *c, uint64_t *out)
{
    const char *start;
    uint64_t value = 0;

    if (c->at < c->end && *c->at == '-')
        c->at++;
    start = c->at;
    for (; c->at < c->end && *c->at >= '0' && *c->at <= '9'; c->at++) {
        if (__builtin_mul_overflow(value, (uint64_t)10, &value) ||
            __builtin_add_overflow(value, (uint64_t)(*c->at - '0'), &value))
            return false;
    }
    *out = value;
    return c->at != start;
}

static bool parse(const char *text, size_t bytes, uint64_t values[KEYS])
{
    static const char phase[] = "\", \"phase\": \"";
    struct cursor c = {text, text + bytes};

    if (!take_text(&c, "{\"site\": \""))
        return false;
    /* Quotes of a site are escaped: the first that is followed like this ends it. */
    c.at = memmem(c.at, (size_t)(c.end - c.at), phase, sizeof(phase) - 1);
    if (c.at == NULL)
        return false;
    c.at += sizeof(phase) - 1;
    if (!take_text(&c, "begin\"") && !take_text(&c, "end\""))
        return false;
    for (int k = 0; k < KEYS; k++) {
        if (!take_text(&c, keys[k]) || !take_number(&c, &values[k]))
            return false;
    }
    return take_text(&c, "}") && c.at == c.end;
}

/* ---- the file ---- */

static bool see_first(struct scope_stats_scan *s, const char *text, size_t bytes)
{
    size_t blanks = 0;

    while (blanks < bytes && text[blanks] == ' ')
        blanks++;
    s->first_bytes = bytes + 1;
    s->has_metadata = blanks != bytes;
    return bytes < SCOPE_STATS_LINE_MAX && (!s->has_metadata || text[0] == '{');
}

static bool see_sample(struct scope_stats_scan *s, const char *text, size_t bytes)
{
    uint64_t v[KEYS];

    if (!parse(text, bytes, v) || v[KEY_RING] >= SCOPE_STATS_MAX_RING_DEPTH ||
        v[KEY_EPOCH] > UINT32_MAX || v[KEY_SEQ] > UINT32_MAX || v[KEY_EPOCH] == 0 ||
        (s->lines != 0 && v[KEY_EPOCH] != s->run_epoch))
        return false;
    s->of_buffer = s->lines != 0 && v[KEY_SEQ] == s->buffer_seq ? s->of_buffer + 1 : 1;
    s->run_epoch = (uint32_t)v[KEY_EPOCH];
    s->buffer_seq = (uint32_t)v[KEY_SEQ];
    s->pool_head[v[KEY_RING]] = v[KEY_POOL_END];
    s->lines++;
    return true;
}

/* Whole lines of the window; returns their bytes. */
static size_t see_window(struct scope_stats_scan *s, const char *text, size_t bytes)
{
    const char *at = text, *end;

    while ((end = memchr(at, '\n', bytes - (size_t)(at - text))) != NULL) {
        size_t length = (size_t)(end - at);
        if (!(s->first_bytes == 0 ? see_first(s, at, length) : see_sample(s, at, length))) {
            s->bad_line = s->first_bytes == 0 ? 1 : s->lines + 2;
            break;
        }
        at = end + 1;
        s->whole_bytes += length + 1;
    }
    return (size_t)(at - text);
}

static int read_all(int fd, char *window, struct scope_stats_scan *s)
{
    size_t filled = 0;
    uint64_t offset = 0;

    for (;;) {
        ssize_t n = pread(fd, window + filled, WINDOW_BYTES - filled, (off_t)offset);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return SIMPLER_EIO;
        offset += (uint64_t)n;
        filled += (size_t)n;
        size_t used = see_window(s, window, filled);
        if (s->bad_line != 0)
            return SIMPLER_EFORMAT;
        memmove(window, window + used, filled - used);
        filled -= used;
        if (filled > SCOPE_STATS_LINE_MAX) {
            s->bad_line = s->first_bytes == 0 ? 1 : s->lines + 2;
            return SIMPLER_EFORMAT;
        }
        s->torn_bytes = filled;
        if (n == 0)
            return 0;
    }
}

int simpler_scope_stats_scan(int fd, struct scope_stats_scan *out)
{
    char *window = simpler_alloc_zeroed(WINDOW_BYTES, 1);

    memset(out, 0, sizeof(*out));
    if (window == NULL)
        return SIMPLER_ENOMEM;
    int rc = read_all(fd, window, out);
    simpler_alloc_free(window);
    return rc;
}
