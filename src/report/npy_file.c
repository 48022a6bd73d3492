/* SPDX-License-Identifier: Apache-2.0 */
/* A .npy file is magic, version, length and a Python dictionary, then the bytes. */
#include "report/npy_file.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "simpler/dtype.h"

/* Magic, version 1.0 and the length's two bytes. */
#define PREFIX_BYTES 10

struct npy_type {
    const char *name;
    bool is_raw;
};

static const struct npy_type types[SIMPLER_DTYPE_NUM] = {
    [SIMPLER_DTYPE_FLOAT32] = {"<f4", false},  [SIMPLER_DTYPE_FLOAT16] = {"<f2", false},
    [SIMPLER_DTYPE_INT32] = {"<i4", false},    [SIMPLER_DTYPE_INT16] = {"<i2", false},
    [SIMPLER_DTYPE_INT8] = {"|i1", false},     [SIMPLER_DTYPE_UINT8] = {"|u1", false},
    [SIMPLER_DTYPE_BFLOAT16] = {"<u2", true},  [SIMPLER_DTYPE_INT64] = {"<i8", false},
    [SIMPLER_DTYPE_UINT64] = {"<u8", false},   [SIMPLER_DTYPE_UINT16] = {"<u2", false},
    [SIMPLER_DTYPE_UINT32] = {"<u4", false},   [SIMPLER_DTYPE_BOOL] = {"|b1", false},
    [SIMPLER_DTYPE_FP8E4M3FN] = {"|u1", true}, [SIMPLER_DTYPE_FP8E8M0] = {"|u1", true},
    [SIMPLER_DTYPE_FP4E2M1] = {"|u1", true},   [SIMPLER_DTYPE_FLOAT64] = {"<f8", false},
};

const char *simpler_npy_file_type(uint32_t dtype, bool *is_raw)
{
    if (dtype >= SIMPLER_DTYPE_NUM) {
        *is_raw = true;
        return "|u1";
    }
    *is_raw = types[dtype].is_raw;
    return types[dtype].name;
}

size_t simpler_npy_file_header(uint32_t dtype, const uint64_t *shape, uint32_t shape_count,
                               size_t align, char out[SIMPLER_NPY_HEADER_MAX])
{
    char *text = out + PREFIX_BYTES;
    size_t room = SIMPLER_NPY_HEADER_MAX - PREFIX_BYTES;
    bool is_raw;

    size_t n = (size_t)snprintf(text, room, "{'descr': '%s', 'fortran_order': False, 'shape': (",
                                simpler_npy_file_type(dtype, &is_raw));
    for (uint32_t i = 0; i < shape_count; i++)
        n += (size_t)snprintf(text + n, room - n, "%s%" PRIu64, i == 0 ? "" : ", ", shape[i]);
    n += (size_t)snprintf(text + n, room - n, "%s), }", shape_count == 1 ? "," : "");
    size_t total = (PREFIX_BYTES + n + align) / align * align;
    memset(text + n, ' ', total - PREFIX_BYTES - n - 1);
    out[total - 1] = '\n';
    memcpy(out, "\x93NUMPY\x01", 8); /* the literal's NUL is the minor version */
    out[8] = (char)((total - PREFIX_BYTES) & 0xff);
    out[9] = (char)((total - PREFIX_BYTES) >> 8);
    return total;
}
