// SPDX-License-Identifier: Apache-2.0
// Args: r [n], phi [n], re [n], im [n]; the outputs may be strided.
#include <cmath>
#include <cstdint>

#include "tensor.h"

extern "C" void kernel_entry(int64_t *args)
{
    float *data[4];
    uint32_t stride[4];

    for (int i = 0; i < 4; i++) {
        ChipTensor *t = reinterpret_cast<ChipTensor *>(args[i]);
        data[i] = reinterpret_cast<float *>(t->buffer.addr) + t->start_offset;
        stride[i] = t->strides[0];
    }
    for (uint32_t i = 0; i < reinterpret_cast<ChipTensor *>(args[0])->shapes[0]; i++) {
        float r = data[0][i * stride[0]];
        float phi = data[1][i * stride[1]];
        data[2][i * stride[2]] = r * std::cos(phi);
        data[3][i * stride[3]] = r * std::sin(phi);
    }
}
