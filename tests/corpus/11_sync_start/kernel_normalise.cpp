// SPDX-License-Identifier: Apache-2.0
// Args: x [n], partial [blocks], counter [1] (zero at the start), y [n].
#include <cmath>
#include <cstdint>
#include <thread>

#include "intrinsic.h"
#include "tensor.h"

static ChipTensor *tensor(int64_t arg)
{
    return reinterpret_cast<ChipTensor *>(arg);
}

static float *floats(const ChipTensor *t)
{
    return reinterpret_cast<float *>(t->buffer.addr) + t->start_offset;
}

extern "C" void kernel_entry(int64_t *args)
{
    const float *x = floats(tensor(args[0]));
    float *partial = floats(tensor(args[1]));
    int32_t *counter = reinterpret_cast<int32_t *>(tensor(args[2])->buffer.addr);
    float *y = floats(tensor(args[3]));
    uint32_t n = tensor(args[0])->shapes[0];
    uint32_t block = static_cast<uint32_t>(get_block_idx(args));
    uint32_t blocks = static_cast<uint32_t>(get_block_num(args));

    float max = 0.0f;
    for (uint32_t i = block; i < n; i += blocks)
        max = std::fmax(max, std::fabs(x[i]));
    partial[block] = max;

    __atomic_fetch_add(counter, 1, __ATOMIC_ACQ_REL);
    while (__atomic_load_n(counter, __ATOMIC_ACQUIRE) < static_cast<int32_t>(blocks))
        std::this_thread::yield();

    for (uint32_t b = 0; b < blocks; b++)
        max = std::fmax(max, partial[b]);
    for (uint32_t i = block; i < n; i += blocks)
        y[i] = x[i] / max;
}
