/* SPDX-License-Identifier: Apache-2.0 */
/* One file an argument; a file that cannot be finished is removed again. */
#include "report/dump_export.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "report/dump_text.h"
#include "report/npy_file.h"
#include "report/number.h"
#include "report/out_stream.h"

/* Payload from this size on is copied by the kernel. */
#define COPY_BYTES (SIMPLER_OUT_BYTES / 2)

struct simpler_dump_exporter {
    enum simpler_dump_format format;
    struct simpler_dump_payload *payload;
    int folder; /* -1 until the first file */
    char directory[4096];
    char path[4112];
    /* The greatest key so far: what does not follow it may have that one's name. */
    struct simpler_dump_entry greatest;
    bool has_greatest;
    struct simpler_out_stream stream;
};

static const struct {
    const char *name;
    const char *ending;
} formats[] = {
#define X(NAME, text, ending) {text, ending},
    SIMPLER_DUMP_FORMAT_MAP(X)
#undef X
};

const char *simpler_dump_format_name(enum simpler_dump_format format)
{
    return formats[format].name;
}

int simpler_dump_exporter_open(const char *directory, enum simpler_dump_format format,
                               struct simpler_dump_payload *payload,
                               struct simpler_dump_exporter **out)
{
    struct simpler_dump_exporter *x = simpler_alloc_zeroed(1, sizeof(*x));

    if (x == NULL)
        return SIMPLER_ENOMEM;
    x->format = format;
    x->payload = payload;
    x->folder = -1;
    (void)snprintf(x->directory, sizeof(x->directory), "%s", directory);
    (void)snprintf(x->path, sizeof(x->path), "%s/%s", x->directory, formats[format].name);
    *out = x;
    return 0;
}

void simpler_dump_exporter_close(struct simpler_dump_exporter *x)
{
    if (x == NULL)
        return;
    if (x->folder >= 0)
        (void)close(x->folder);
    simpler_alloc_free(x);
}

static int fail_errno(struct simpler_dump_exported *out, const char *path, int error)
{
    (void)snprintf(out->note, sizeof(out->note), "%.160s: %s", path, strerror(error));
    return SIMPLER_EIO;
}

/*
 * The dump's own time stays: by default the viewer shows the newest dump, and
 * looking at an old one must not make it that.
 */
static int make_folder(const struct simpler_dump_exporter *x)
{
    struct stat st;
    bool known = stat(x->directory, &st) == 0;

    if (mkdir(x->path, 0777) != 0)
        return -1;
    if (known) {
        struct timespec times[2] = {st.st_atim, st.st_mtim};
        (void)utimensat(AT_FDCWD, x->directory, times, 0);
    }
    return 0;
}

static int open_folder(struct simpler_dump_exporter *x, struct simpler_dump_exported *out)
{
    if (x->folder >= 0)
        return 0;
    if (make_folder(x) != 0 && errno != EEXIST)
        return fail_errno(out, x->path, errno);
    x->folder = open(x->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return x->folder < 0 ? fail_errno(out, x->path, errno) : 0;
}

/* ".bfloat16-as-uint16" for an array whose type numpy does not have. */
static const char *raw_type_suffix(const struct simpler_dump_exporter *x,
                                   const struct simpler_dump_entry *e, char *out, size_t capacity)
{
    bool is_raw = false;

    out[0] = '\0';
    if (x->format != SIMPLER_DUMP_FORMAT_NPY)
        return out;
    const char *type = simpler_npy_file_type(e->dtype, &is_raw);
    if (is_raw && e->dtype < SIMPLER_DTYPE_NUM)
        (void)snprintf(out, capacity, ".%s-as-uint%d", simpler_dtype_name(e->dtype),
                       8 * (type[2] - '0'));
    return out;
}

static void name_file(struct simpler_dump_exporter *x, const struct simpler_dump_entry *e,
                      char *out, size_t capacity)
{
    char stem[96];
    char again[32] = "";
    char suffix[64];

    (void)snprintf(stem, sizeof(stem), "task_0x%016" PRIx64 "_%s_%s%" PRIu64, e->task_id,
                   simpler_dump_stage_short_name(e->stage), simpler_dump_role_short_name(e->role),
                   e->arg_index);
    if (x->has_greatest && simpler_dump_entry_compare(&x->greatest, e) >= 0)
        (void)snprintf(again, sizeof(again), "_index%" PRIu64, e->index);
    else
        x->greatest = *e;
    x->has_greatest = true;
    (void)snprintf(out, capacity, "%s%s%s%s", stem, again,
                   raw_type_suffix(x, e, suffix, sizeof(suffix)), formats[x->format].ending);
}

/* Array header: the tensor's own shape, or one row of what a cut tensor has left. */
static size_t array_header(const struct simpler_dump_entry *e, char *header, uint64_t *bytes)
{
    uint64_t size = simpler_dtype_bytes(e->dtype) == 0 ? 1 : simpler_dtype_bytes(e->dtype);
    uint64_t left = e->bin_size / size;

    *bytes = left * size;
    size_t align = *bytes < COPY_BYTES ? 64 : 4096;
    if (e->kind == SIMPLER_DUMP_SCALAR)
        return simpler_npy_file_header(e->dtype, NULL, 0, 64, header);
    if (e->truncated || e->dtype >= SIMPLER_DTYPE_NUM)
        return simpler_npy_file_header(e->dtype, &left, 1, align, header);
    return simpler_npy_file_header(e->dtype, e->shape, e->shape_count, align, header);
}

static int write_scalar(struct simpler_dump_exporter *x, const struct simpler_dump_entry *e)
{
    unsigned char bytes[8];
    uint64_t bits;

    if (!simpler_dump_entry_scalar_bits(e, &bits))
        return SIMPLER_EFORMAT;
    for (size_t i = 0; i < sizeof(bits); i++)
        bytes[i] = (unsigned char)(bits >> (8 * i));
    simpler_out_stream_bytes(&x->stream, bytes, simpler_dtype_bytes(e->dtype));
    return 0;
}

/* npy and raw: a header or none, then the bytes as they are. */
static int write_bytes(struct simpler_dump_exporter *x, const struct simpler_dump_entry *e)
{
    char header[SIMPLER_NPY_HEADER_MAX];
    uint64_t bytes = e->bin_size;

    if (x->format == SIMPLER_DUMP_FORMAT_NPY)
        simpler_out_stream_bytes(&x->stream, header, array_header(e, header, &bytes));
    if (e->kind == SIMPLER_DUMP_SCALAR)
        return write_scalar(x, e);
    if (bytes < COPY_BYTES) { /* header and payload in one write */
        int rc =
            bytes > 0 ? simpler_dump_payload_read(x->payload, e->bin_offset, (size_t)bytes) : 0;
        if (rc == 0)
            simpler_out_stream_bytes(&x->stream, x->payload->piece, (size_t)bytes);
        return rc;
    }
    if (simpler_out_stream_flush(&x->stream) != 0)
        return 0; /* the stream's failure is told by the caller */
    return simpler_dump_payload_copy(x->payload, e->bin_offset, bytes, x->stream.fd);
}

static int write_content(struct simpler_dump_exporter *x, const struct simpler_dump_entry *e)
{
    switch (x->format) {
    case SIMPLER_DUMP_FORMAT_TXT:
        return simpler_dump_text_write(&x->stream, e, x->payload);
    case SIMPLER_DUMP_FORMAT_CSV:
        return simpler_dump_text_write_csv(&x->stream, e, x->payload);
    default:
        return write_bytes(x, e);
    }
}

static int write_file(struct simpler_dump_exporter *x, const struct simpler_dump_entry *e,
                      const char *name, struct simpler_dump_exported *out)
{
    int fd = openat(x->folder, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);

    if (fd < 0)
        return fail_errno(out, out->path, errno);
    simpler_out_stream_init(&x->stream, fd);
    errno = 0;
    int rc = write_content(x, e);
    int error = errno;
    if (simpler_out_stream_flush(&x->stream) != 0) {
        rc = SIMPLER_EIO;
        error = x->stream.error;
    }
    if (close(fd) != 0 && rc == 0) {
        rc = SIMPLER_EIO;
        error = errno;
    }
    if (rc == 0)
        return 0;
    (void)unlinkat(x->folder, name, 0);
    if (rc == SIMPLER_EFORMAT) {
        (void)snprintf(out->note, sizeof(out->note), "the value '%s' is no %s", e->value,
                       e->dtype_text);
        return rc;
    }
    return fail_errno(out, out->path, error == 0 ? EIO : error);
}

/* What a reader of an array must know about it. */
static void note_array(const struct simpler_dump_exporter *x, const struct simpler_dump_entry *e,
                       struct simpler_dump_exported *out)
{
    bool is_raw = false;

    if (x->format == SIMPLER_DUMP_FORMAT_NPY)
        (void)simpler_npy_file_type(e->dtype, &is_raw);
    size_t used = strlen(out->note);
    if (is_raw)
        (void)snprintf(out->note + used, sizeof(out->note) - used, "%s%s as its raw bits",
                       used > 0 ? "; " : "", e->dtype_text);
    used = strlen(out->note);
    if (e->truncated && x->format == SIMPLER_DUMP_FORMAT_NPY)
        (void)snprintf(out->note + used, sizeof(out->note) - used, "; one-dimensional");
}

int simpler_dump_exporter_write(struct simpler_dump_exporter *x, const struct simpler_dump_entry *e,
                                struct simpler_dump_exported *out)
{
    enum simpler_dump_state state = simpler_dump_entry_state(e, &x->payload->info);
    char name[192];

    out->path[0] = '\0';
    simpler_dump_entry_note(e, &x->payload->info, out->note, sizeof(out->note));
    if (state >= SIMPLER_DUMP_FAULTS)
        return SIMPLER_EFORMAT;
    if (state == SIMPLER_DUMP_NOT_CAPTURED && x->format != SIMPLER_DUMP_FORMAT_TXT)
        return 0;
    int rc = open_folder(x, out);
    if (rc != 0)
        return rc;
    name_file(x, e, name, sizeof(name));
    (void)snprintf(out->path, sizeof(out->path), "%s/%s", x->path, name);
    note_array(x, e, out);
    rc = write_file(x, e, name, out);
    return rc == 0 ? 1 : rc;
}
