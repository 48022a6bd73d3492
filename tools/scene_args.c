/* SPDX-License-Identifier: Apache-2.0 */
#include "scene_args.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "npy_read.h"

size_t simpler_scene_args_bytes(const struct simpler_manifest_arg *arg)
{
    return (size_t)arg->numel * simpler_dtype_bytes(arg->dtype);
}

static uint64_t splitmix64(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static bool is_float(uint32_t dtype)
{
    return dtype == SIMPLER_DTYPE_FLOAT32 || dtype == SIMPLER_DTYPE_FLOAT64 ||
           dtype == SIMPLER_DTYPE_FLOAT16 || dtype == SIMPLER_DTYPE_BFLOAT16;
}

/* The number as a 64-bit integer, whose arithmetic wraps. */
static uint64_t wrapped(const struct simpler_element_number *number)
{
    return number->is_negative ? 0 - number->magnitude : number->magnitude;
}

static struct simpler_element_number random_number(const struct simpler_manifest_arg *arg,
                                                   uint64_t z)
{
    const struct simpler_element_number *low = &arg->number[0], *high = &arg->number[1];

    if (is_float(arg->dtype))
        return simpler_element_real(low->real +
                                    (high->real - low->real) * ((double)(z >> 11) * 0x1p-53));
    uint64_t values = wrapped(high) - wrapped(low) + 1; /* 0: all 2^64 */
    return simpler_element_integer((int64_t)(wrapped(low) + (values != 0 ? z % values : z)));
}

/* What element @i is before the run. */
static struct simpler_element_number number_of(const struct simpler_manifest_arg *arg, uint64_t i,
                                               uint64_t *state)
{
    const struct simpler_element_number *number = arg->number;

    switch (arg->init) {
    case SIMPLER_INIT_ARANGE:
        if (number[0].is_integer && number[1].is_integer)
            return simpler_element_integer(
                (int64_t)(wrapped(&number[0]) + i * wrapped(&number[1])));
        return simpler_element_real(number[0].real + (double)i * number[1].real);
    case SIMPLER_INIT_RANDOM:
        return random_number(arg, splitmix64(state));
    case SIMPLER_INIT_VALUES:
        return simpler_manifest_value(arg->values, i);
    default:
        return number[0];
    }
}

static int fill(const struct simpler_manifest *m, const struct simpler_manifest_arg *arg,
                void *elements, char *message, size_t message_bytes)
{
    const size_t width = simpler_dtype_bytes(arg->dtype);
    uint64_t state = arg->seed << 32, bits;
    char path[2048];

    if (arg->init == SIMPLER_INIT_NPY) {
        (void)snprintf(path, sizeof(path), "%s/%s", m->dir, arg->npy);
        return simpler_npy_read(path, arg->dtype, arg->numel, arg->shape, arg->ndims, elements,
                                message, message_bytes);
    }
    for (uint64_t i = 0; i < arg->numel; i++) {
        const struct simpler_element_number number = number_of(arg, i, &state);
        if (!simpler_element_encode(arg->dtype, &number, &bits)) {
            (void)snprintf(message, message_bytes,
                           "%s: element %" PRIu64 " (%.17g) does not fit %s", arg->name, i,
                           number.real, simpler_dtype_name(arg->dtype));
            return SIMPLER_EINVAL;
        }
        memcpy((char *)elements + i * width, &bits, width);
    }
    return 0;
}

static int make_tensor(struct simpler_scene_args *args, uint32_t t,
                       const struct simpler_manifest *m, const struct simpler_manifest_arg *arg,
                       char *message, size_t message_bytes)
{
    const size_t bytes = simpler_scene_args_bytes(arg);
    void *elements = NULL;

    args->before[t] = malloc(bytes != 0 ? bytes : 1);
    if (args->before[t] == NULL || posix_memalign(&elements, 64, bytes != 0 ? bytes : 1) != 0) {
        (void)snprintf(message, message_bytes, "%s: no memory for %zu bytes", arg->name, bytes);
        return SIMPLER_ENOMEM;
    }
    /* The tensor owns its elements from here on. */
    args->tensors[t].addr = (uint64_t)(uintptr_t)elements;
    int rc = simpler_tensor_init(&args->tensors[t], elements, arg->shape, arg->ndims, arg->dtype);
    if (rc != 0) {
        (void)snprintf(message, message_bytes, "%s: %s", arg->name, simpler_status_text(rc));
        return rc;
    }
    rc = fill(m, arg, elements, message, message_bytes);
    if (rc == 0)
        memcpy(args->before[t], elements, bytes);
    return rc;
}

int simpler_scene_args_make(struct simpler_scene_args *args, const struct simpler_manifest *m,
                            const struct simpler_manifest_case *c, char *message,
                            size_t message_bytes)
{
    uint32_t tensors = 0, scalars = 0;

    args->c = c;
    args->tensors = aligned_alloc(64, (c->tensor_count + 1) * sizeof(*args->tensors));
    args->scalars = calloc(c->arg_count + 1, sizeof(*args->scalars));
    args->before = calloc(c->tensor_count + 1, sizeof(*args->before));
    if (args->tensors == NULL || args->scalars == NULL || args->before == NULL)
        return SIMPLER_ENOMEM;
    memset(args->tensors, 0, (c->tensor_count + 1) * sizeof(*args->tensors));
    for (uint32_t i = 0; i < c->arg_count; i++) {
        const struct simpler_manifest_arg *arg = &c->args[i];
        if (arg->is_scalar) {
            args->scalars[scalars++] = arg->bits;
            continue;
        }
        int rc = make_tensor(args, tensors++, m, arg, message, message_bytes);
        if (rc != 0)
            return rc;
    }
    return 0;
}

void simpler_scene_args_free(struct simpler_scene_args *args)
{
    for (uint32_t t = 0; args->c != NULL && t < args->c->tensor_count; t++) {
        if (args->tensors != NULL)
            free((void *)(uintptr_t)args->tensors[t].addr);
        if (args->before != NULL)
            free(args->before[t]);
    }
    free(args->tensors);
    free(args->scalars);
    free(args->before);
    memset(args, 0, sizeof(*args));
}
