/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_REPORT_NPY_FILE_H
#define SIMPLER_REPORT_NPY_FILE_H

/* Headers of numpy's .npy files, format 1.0. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SIMPLER_NPY_HEADER_MAX 4096

/*
 * numpy's name of the type that holds the elements.  *is_raw: numpy has no such
 * type, the name is that of an integer with the same bits.  "|u1" for a dtype
 * of unknown size, whose bytes are exported one by one.
 */
const char *simpler_npy_file_type(uint32_t dtype, bool *is_raw);
/*
 * The header of an array in row-major order; its length is a multiple of @align,
 * which is one of 64 (the format's) and 4096.  With the latter the elements begin
 * on a page: the kernel copies whole pages, and they can be mapped.
 */
size_t simpler_npy_file_header(uint32_t dtype, const uint64_t *shape, uint32_t shape_count,
                               size_t align, char out[SIMPLER_NPY_HEADER_MAX]);

#endif
