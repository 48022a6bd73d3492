// SPDX-License-Identifier: Apache-2.0
#ifndef SIMPLER_COMPAT_TENSOR_H
#define SIMPLER_COMPAT_TENSOR_H

/* Tensors, for orchestrations and kernels. */
#ifndef SIMPLER_VIA_TABLE
#define SIMPLER_VIA_TABLE 1
#endif
#include "simpler/cpp_bind.hpp"
#include "simpler/cpp_tensor.hpp"

using simpler::AddressSpace;
using simpler::ChipTensor;
using simpler::DataType;
using simpler::MAX_TENSOR_DIMS;
using simpler::TensorCreateInfo;

using simpler::from_u64;
using simpler::get_dtype_name;
using simpler::get_element_size;
using simpler::make_tensor_external;
using simpler::make_tensor_strided;
using simpler::to_u64;

using Tensor = ChipTensor;

#endif
