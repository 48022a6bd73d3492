/* SPDX-License-Identifier: Apache-2.0 */
/* The header is a Python dictionary of three keys, in any order. */
#include "npy_read.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "report/npy_file.h"
#include "report/regular_file.h"
#include "simpler/dtype.h"

#define HEADER_MAX 65536

/* The text behind 'key': and blanks, or NULL. */
static const char *value_of(const char *header, const char *key)
{
    char quoted[32];

    (void)snprintf(quoted, sizeof(quoted), "'%s':", key);
    const char *at = strstr(header, quoted);
    if (at == NULL)
        return NULL;
    at += strlen(quoted);
    return at + strspn(at, " ");
}

/* NULL, or what is wrong. */
static const char *check_shape(const char *text, uint64_t numel, const uint32_t *shape,
                               uint32_t ndims)
{
    uint64_t n = 1;
    uint32_t k = 0;
    char *end;

    if (text == NULL || *text++ != '(')
        return "its header has no shape";
    for (; *text != ')'; k++) {
        uint64_t extent = strtoull(text, &end, 10);
        if (end == text || (extent != 0 && n > UINT64_MAX / extent))
            return "its shape cannot be read";
        if (shape != NULL && (k >= ndims || extent != shape[k]))
            return "it has another shape";
        n *= extent;
        text = end + strspn(end, ", ");
    }
    if (n != numel)
        return "it has another number of elements";
    return shape != NULL && k != ndims ? "it has another shape" : NULL;
}

static const char *check_header(const char *header, uint32_t dtype, uint64_t numel,
                                const uint32_t *shape, uint32_t ndims)
{
    bool is_raw;
    const char *type = simpler_npy_file_type(dtype, &is_raw);
    const char *descr = value_of(header, "descr"), *order = value_of(header, "fortran_order");

    if (descr == NULL || order == NULL)
        return "its header cannot be read";
    if (descr[0] != '\'' || strncmp(descr + 1, type, strlen(type)) != 0 ||
        descr[1 + strlen(type)] != '\'')
        return "it has another dtype";
    if (strncmp(order, "False", 5) != 0 && numel > 1)
        return "it is in Fortran order";
    return check_shape(value_of(header, "shape"), numel, shape, ndims);
}

/* The header as text, to be freed; NULL when there is none. */
static char *read_header(FILE *file)
{
    unsigned char head[12] = {0};

    if (fread(head, 1, 10, file) != 10 || memcmp(head, "\x93NUMPY", 6) != 0)
        return NULL;
    size_t length = head[8] | (size_t)head[9] << 8;
    if (head[6] > 1) { /* two more bytes of length */
        if (fread(head + 10, 1, 2, file) != 2)
            return NULL;
        length |= (size_t)head[10] << 16 | (size_t)head[11] << 24;
    }
    char *header = length < HEADER_MAX ? malloc(length + 1) : NULL;
    if (header != NULL && fread(header, 1, length, file) != length) {
        free(header);
        return NULL;
    }
    if (header != NULL)
        header[length] = '\0';
    return header;
}

int simpler_npy_read(const char *path, uint32_t dtype, uint64_t numel, const uint32_t *shape,
                     uint32_t ndims, void *elements, char *message, size_t message_bytes)
{
    FILE *file = simpler_regular_file_fopen(path);
    size_t bytes = (size_t)numel * simpler_dtype_bytes(dtype);

    if (file == NULL) {
        (void)snprintf(message, message_bytes, "%s: %s", path, simpler_regular_file_fault(errno));
        return SIMPLER_EIO;
    }
    char *header = read_header(file);
    const char *fault =
        header == NULL ? "it is no .npy file" : check_header(header, dtype, numel, shape, ndims);
    if (fault == NULL && fread(elements, 1, bytes, file) != bytes)
        fault = "it ends early";
    if (fault != NULL)
        (void)snprintf(message, message_bytes, "%s does not fit %" PRIu64 " element%s of %s: %s",
                       path, numel, simpler_text_plural(numel), simpler_dtype_name(dtype), fault);
    free(header);
    (void)fclose(file);
    return fault == NULL ? 0 : SIMPLER_EFORMAT;
}

int simpler_npy_write(const char *path, uint32_t dtype, const uint32_t *shape, uint32_t ndims,
                      const void *elements, size_t bytes)
{
    char header[SIMPLER_NPY_HEADER_MAX];
    uint64_t wide[8] = {0};
    FILE *file = fopen(path, "wb");

    if (file == NULL)
        return SIMPLER_EIO;
    for (uint32_t i = 0; i < ndims && i < 8; i++)
        wide[i] = shape[i];
    size_t n = simpler_npy_file_header(dtype, wide, ndims, 64, header);
    bool written = fwrite(header, 1, n, file) == n && fwrite(elements, 1, bytes, file) == bytes;
    return fclose(file) == 0 && written ? 0 : SIMPLER_EIO;
}
