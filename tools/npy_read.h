/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_TOOLS_NPY_READ_H
#define SIMPLER_TOOLS_NPY_READ_H

/* The elements of a numpy .npy file, and such a file from elements. */
#include <stddef.h>
#include <stdint.h>

/*
 * Reads an array that must have this dtype (in numpy's nearest type, see
 * report/npy_file.h) and @numel elements in row-major order, of any shape; with
 * @shape not NULL of that shape.  0, or SIMPLER_E* with the reason in @message.
 */
int simpler_npy_read(const char *path, uint32_t dtype, uint64_t numel, const uint32_t *shape,
                     uint32_t ndims, void *elements, char *message, size_t message_bytes);
int simpler_npy_write(const char *path, uint32_t dtype, const uint32_t *shape, uint32_t ndims,
                      const void *elements, size_t bytes);

#endif
