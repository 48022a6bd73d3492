/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_DTYPE_H
#define SIMPLER_DTYPE_H

#include <stddef.h>
#include <stdint.h>

#include "simpler/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * One row per element type: X(id, NAME, text, bytes).  The ids appear in
 * records, the texts in manifests: append only, never renumber.  FP4E2M1 packs
 * two values in a byte; its shapes count bytes.  fp8 and fp4 are not on every
 * platform (simpler/info.h); tensors of a type that is missing are refused.
 */
#define SIMPLER_DTYPE_MAP(X)         \
    X(0, FLOAT32, "float32", 4)      \
    X(1, FLOAT16, "float16", 2)      \
    X(2, INT32, "int32", 4)          \
    X(3, INT16, "int16", 2)          \
    X(4, INT8, "int8", 1)            \
    X(5, UINT8, "uint8", 1)          \
    X(6, BFLOAT16, "bfloat16", 2)    \
    X(7, INT64, "int64", 8)          \
    X(8, UINT64, "uint64", 8)        \
    X(9, UINT16, "uint16", 2)        \
    X(10, UINT32, "uint32", 4)       \
    X(11, BOOL, "bool", 1)           \
    X(12, FP8E4M3FN, "fp8e4m3fn", 1) \
    X(13, FP8E8M0, "fp8e8m0", 1)     \
    X(14, FP4E2M1, "fp4e2m1", 1)     \
    X(15, FLOAT64, "float64", 8)

enum simpler_dtype {
#define X(id, NAME, text, bytes) SIMPLER_DTYPE_##NAME = (id),
    SIMPLER_DTYPE_MAP(X)
#undef X
        SIMPLER_DTYPE_NUM
};

/** Bytes of one element (@dtype: enum simpler_dtype); 0 for an id that this version does not
 *  know. */
SIMPLER_API size_t simpler_dtype_bytes(uint32_t dtype);

/* Base-2 logarithms of the sizes, two bits a type. */
#define SIMPLER_DTYPE_X_(id, NAME, text, bytes) \
    | ((uint32_t)((bytes) == 8 ? 3 : (bytes) == 4 ? 2 : (bytes) == 2 ? 1 : 0) << (2 * (id)))
#define SIMPLER_DTYPE_SHIFTS (0u SIMPLER_DTYPE_MAP(SIMPLER_DTYPE_X_))

/** log2 of the bytes of one element; 0 to 3 without a meaning for an id that does not exist. */
static inline uint32_t simpler_dtype_shift(uint32_t dtype)
{
    return SIMPLER_DTYPE_SHIFTS >> (2 * dtype & 31) & 3;
}

/** Lower-case name as in a manifest; "UNKNOWN" for an id that this version does not know. */
SIMPLER_API const char *simpler_dtype_name(uint32_t dtype);

/**
 * The id of a name, whatever its case.
 *
 * @param name  NUL-terminated, may be NULL
 * @param out   receives the id
 * @retval SIMPLER_ENOENT  no such type
 * @retval SIMPLER_EINVAL  out is NULL
 */
SIMPLER_API int simpler_dtype_parse(const char *name, uint32_t *out);

#ifdef __cplusplus
}
#endif
#endif
