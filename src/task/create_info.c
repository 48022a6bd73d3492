/* SPDX-License-Identifier: Apache-2.0 */
/* Descriptors of buffers that the runtime is to allocate. */
#include <string.h>

#include "simpler/tensor.h"

int simpler_create_info_init(struct simpler_create_info *out, const uint32_t *shape, uint32_t ndims,
                             uint32_t dtype)
{
    struct simpler_tensor tensor;

    if (out == NULL)
        return SIMPLER_EINVAL;
    /* What makes a row-major tensor makes a create-info: one set of rules. */
    int rc = simpler_tensor_init(&tensor, NULL, shape, ndims, dtype);
    if (rc != 0)
        return rc;
    memset(out, 0, sizeof(*out));
    out->dtype = (uint8_t)dtype;
    out->ndims = ndims;
    memcpy(out->shape, tensor.shape, sizeof(out->shape));
    return 0;
}

void simpler_create_info_set_initial_value(struct simpler_create_info *info, const void *value)
{
    if (info == NULL || value == NULL)
        return;
    info->initial_value = 0;
    /* Little endian, as every target of the runtime: the element's bytes are low. */
    memcpy(&info->initial_value, value, simpler_dtype_bytes(info->dtype));
    info->has_initial_value = 1;
}
