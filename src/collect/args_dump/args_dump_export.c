/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The counts stand before the entries, so every record is seen before the first
 * is written.  Both times the payload counts as cut to what args.bin holds.
 */
#include "collect/args_dump/args_dump_export.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/rename_new.h"
#include "base/testpoint.h"
#include "collect/args_dump/args_dump_line.h"
#include "simpler/dtype.h"
#include "simpler/status.h"

#define BUFFER_BYTES (256u * 1024)
#define PARTIAL      ARGS_DUMP_MANIFEST ".partial"

struct counts {
    uint64_t before, after;
    uint64_t role[3];
};

struct manifest {
    struct args_dump_export *e;
    int fd;
    char *buffer;
    size_t filled;
    struct counts counts;
    bool first;
};

static int flush(struct manifest *m)
{
    const char *p = m->buffer;

    while (m->filled != 0) {
        ssize_t n = -1;
        errno = EIO;
        if (!SIMPLER_FAILPOINT(DUMP_MANIFEST_WRITE))
            n = write(m->fd, p, m->filled);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            m->e->error = errno;
            return SIMPLER_EIO;
        }
        p += n;
        m->filled -= (size_t)n;
    }
    return 0;
}

/* Room for one entry and what stands around it. */
static int make_room(struct manifest *m)
{
    return BUFFER_BYTES - m->filled < 2 * ARGS_DUMP_LINE_MAX ? flush(m) : 0;
}

static uint64_t bytes_there(const struct args_dump_export *e, const struct args_dump_record *r)
{
    return r->payload_offset < e->bin_bytes ? e->bin_bytes - r->payload_offset : 0;
}

static bool is_cut(const struct args_dump_export *e, const struct args_dump_record *r)
{
    return r->payload_size > bytes_there(e, r);
}

/* Bytes that args.bin does not have are not in the entry either. */
static void cut_payload(const struct args_dump_export *e, struct args_dump_record *r)
{
    if (!is_cut(e, r))
        return;
    uint64_t there = bytes_there(e, r);
    uint32_t shift = simpler_dtype_shift(r->dtype);
    r->payload_size = there >> shift << shift;
    r->truncated = 1;
}

static int see(void *context, const struct args_dump_record *r)
{
    struct manifest *m = context;

    m->e->entries++;
    m->e->truncated += r->truncated != 0 || is_cut(m->e, r);
    m->counts.before += r->stage == ARGS_DUMP_BEFORE;
    m->counts.after += r->stage != ARGS_DUMP_BEFORE;
    m->counts.role[r->role < 3 ? r->role : 2]++;
    return 0;
}

static const char *number_or_null(bool unknown, uint64_t value, char text[24])
{
    (void)snprintf(text, 24, unknown ? "null" : "%" PRIu64, value);
    return text;
}

static int write_head(void *context)
{
    struct manifest *m = context;
    const struct args_dump_export *e = m->e;
    char level[24], dropped[24];

    int n = snprintf(
        m->buffer, BUFFER_BYTES,
        "{\n"
        "  \"run_dir\": \"args_dump\",\n"
        "  \"bin_format\": {\n"
        "    \"type\": \"logical_contiguous\",\n"
        "    \"byte_order\": \"little_endian\"\n"
        "  },\n"
        "  \"dump_args_level\": %s,\n"
        "  \"total_args\": %" PRIu64 ",\n"
        "  \"before_dispatch\": %" PRIu64 ",\n"
        "  \"after_completion\": %" PRIu64 ",\n"
        "  \"input_args\": %" PRIu64 ",\n"
        "  \"output_args\": %" PRIu64 ",\n"
        "  \"inout_args\": %" PRIu64 ",\n"
        "  \"truncated_args\": %" PRIu64 ",\n"
        "  \"dropped_records\": %s,\n"
        "%s"
        "  \"bin_file\": %s,\n"
        "  \"args\": [",
        number_or_null(e->level_unknown, e->level, level), e->entries, m->counts.before,
        m->counts.after, m->counts.role[0], m->counts.role[1], m->counts.role[2], e->truncated,
        number_or_null(e->dropped_unknown, e->dropped_records, dropped),
        e->recovered ? "  \"recovered\": true,\n" : "", e->has_bin ? "\"args.bin\"" : "null");
    m->filled = (size_t)n;
    return 0;
}

static int write_entry(void *context, struct args_dump_record *r)
{
    struct manifest *m = context;
    int rc = make_room(m);

    if (rc != 0)
        return rc;
    cut_payload(m->e, r);
    char *to = m->buffer + m->filled;
    *to = ',';
    to += !m->first;
    m->first = false;
    memcpy(to, "\n    ", 5);
    to += 5;
    to += simpler_args_dump_line(to, r);
    m->filled = (size_t)(to - m->buffer);
    return 0;
}

static int write_all(struct manifest *m, struct args_dump_store *store)
{
    static const char tail[] = "\n  ]\n}\n";
    int rc = simpler_args_dump_store_visit(store, see, write_head, write_entry, m);

    if (rc != 0) {
        if (m->e->error == 0)
            m->e->error = rc == SIMPLER_ENOMEM ? ENOMEM : errno;
        return rc;
    }
    memcpy(m->buffer + m->filled, tail, sizeof(tail) - 1);
    m->filled += sizeof(tail) - 1;
    return flush(m);
}

static int fail(struct args_dump_export *e)
{
    e->error = errno;
    return SIMPLER_EIO;
}

static int publish(const struct args_dump_export *e)
{
    return e->is_new ? simpler_rename_new(e->directory, PARTIAL, ARGS_DUMP_MANIFEST)
                     : renameat(e->directory, PARTIAL, e->directory, ARGS_DUMP_MANIFEST);
}

int simpler_args_dump_export(struct args_dump_export *e, struct args_dump_store *store)
{
    struct manifest m = {.e = e, .first = true};

    e->entries = e->truncated = 0;
    e->error = 0;
    m.buffer = simpler_alloc_resize(NULL, BUFFER_BYTES, 1);
    if (m.buffer == NULL) {
        e->error = ENOMEM;
        return SIMPLER_ENOMEM;
    }
    m.fd = openat(e->directory, PARTIAL,
                  O_WRONLY | O_CREAT | O_TRUNC | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC, 0666);
    int rc = m.fd < 0 ? fail(e) : write_all(&m, store);
    if (m.fd >= 0 && close(m.fd) != 0 && rc == 0)
        rc = fail(e);
    if (rc == 0 && publish(e) != 0)
        rc = e->is_new && errno == EEXIST ? SIMPLER_EEXIST : fail(e);
    if (rc != 0)
        (void)unlinkat(e->directory, PARTIAL, 0);
    simpler_alloc_free(m.buffer);
    return rc;
}
