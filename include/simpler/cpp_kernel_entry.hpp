// SPDX-License-Identifier: Apache-2.0
#ifndef SIMPLER_CPP_KERNEL_ENTRY_HPP
#define SIMPLER_CPP_KERNEL_ENTRY_HPP

/*
 * Included before a kernel's source by `simpler build`: its function returns
 * nothing, what the runtime calls returns a status.
 */
#include <cstdint>

#ifndef SIMPLER_KERNEL_ENTRY
#define SIMPLER_KERNEL_ENTRY kernel_entry
#endif

extern "C" void SIMPLER_KERNEL_ENTRY(int64_t *args);

extern "C" __attribute__((visibility("default"))) int simpler_kernel_call(int64_t *args);
extern "C" int simpler_kernel_call(int64_t *args)
{
    SIMPLER_KERNEL_ENTRY(args);
    return 0;
}

#endif
