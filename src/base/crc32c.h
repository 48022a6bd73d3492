/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_BASE_CRC32C_H
#define SIMPLER_BASE_CRC32C_H

/* CRC-32C (Castagnoli), the CPU's own instruction where there is one. */
#include <stddef.h>
#include <stdint.h>

/* Of the bytes so far; 0 to start with, then what the last call returned. */
uint32_t simpler_crc32c(uint32_t crc, const void *data, size_t bytes);

#endif
