/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_COLLECT_ARGS_DUMP_COPY_H
#define SIMPLER_COLLECT_ARGS_DUMP_COPY_H

/* The logical-contiguous bytes of a view, and their CRC-32C taken while they are in cache. */
#include <stdint.h>

#include "collect/args_dump/args_dump_aicpu.h"

/* Number of elements. */
uint64_t simpler_args_dump_numel(const struct dump_args_info *info);

/* The first @bytes (whole elements) of the view, row-major, to @to; returns their CRC-32C. */
uint32_t simpler_args_dump_copy(uint8_t *to, const struct dump_args_info *info, uint64_t bytes);

#endif
