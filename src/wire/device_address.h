/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_WIRE_DEVICE_ADDRESS_H
#define SIMPLER_WIRE_DEVICE_ADDRESS_H

/*
 * Addresses of diagnostic memory as they cross the boundary.  Where host and
 * device share no mapping they carry a bias: bit 54, which no user address has
 * on x86-64 or aarch64, so that host code that follows one faults at once.  The
 * device's code takes the bias off, once a buffer and once a run.
 */
#include <stddef.h>
#include <stdint.h>

#include "base/compiler.h"

#define SIMPLER_DEVICE_BIAS (UINT64_C(1) << 54)

/* For device code alone: where the address is; NULL for 0. */
SIMPLER_INLINE void *simpler_device_place(uint64_t address)
{
    return (void *)(uintptr_t)(address & ~SIMPLER_DEVICE_BIAS);
}

#endif
