/* SPDX-License-Identifier: Apache-2.0 */
#ifndef EXAMPLES_SCENE_DATA_H
#define EXAMPLES_SCENE_DATA_H

/* The arrays of a scene, and the comparison with a result in double precision. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "simpler/scene.h"

#define SCENE_DATA_MAX 16

struct scene_data {
    struct simpler_tensor tensor[SCENE_DATA_MAX];
    void *data[SCENE_DATA_MAX];
    uint32_t count;
    uint64_t random;
};

/* A zeroed array and its tensor; NULL when there is no memory. */
static inline void *scene_data_add(struct scene_data *s, uint32_t dtype, const uint32_t *shape,
                                   uint32_t ndims)
{
    uint64_t n = 1;
    for (uint32_t i = 0; i < ndims; i++)
        n *= shape[i];
    void *data = calloc(n, simpler_dtype_bytes(dtype));
    if (data == NULL || s->count == SCENE_DATA_MAX ||
        simpler_tensor_init(&s->tensor[s->count], data, shape, ndims, dtype) != 0) {
        free(data);
        return NULL;
    }
    s->data[s->count++] = data;
    return data;
}

/* The same of float32, filled with numbers from -1 to 1. */
static inline float *scene_data_random(struct scene_data *s, const uint32_t *shape, uint32_t ndims)
{
    float *data = scene_data_add(s, SIMPLER_DTYPE_FLOAT32, shape, ndims);
    for (uint64_t i = 0; data != NULL && i < simpler_tensor_numel(&s->tensor[s->count - 1]); i++) {
        s->random = s->random * 6364136223846793005u + 1442695040888963407u;
        data[i] = (float)(int32_t)(s->random >> 32) / 2147483648.0f;
    }
    return data;
}

static inline void scene_data_free(struct scene_data *s)
{
    for (uint32_t i = 0; i < s->count; i++)
        free(s->data[i]);
    s->count = 0;
}

/* 0 when the largest difference is at most @tolerance times the largest right value. */
static inline int scene_data_compare(const float *got, const double *right, uint64_t n,
                                     double tolerance, char *message, size_t bytes)
{
    double scale = 0, worst = 0;
    uint64_t at = 0;
    for (uint64_t i = 0; i < n; i++) {
        double off = fabs((double)got[i] - right[i]);
        scale = fmax(scale, fabs(right[i]));
        if (!(off <= worst)) { /* a NaN is the worst */
            worst = off;
            at = i;
        }
    }
    int wrong = !(worst <= tolerance * scale);
    (void)snprintf(message, bytes,
                   "%llu element%s, largest error %.2g of %.2g (allowed %.1g)%s at element %llu",
                   (unsigned long long)n, n == 1 ? "" : "s", worst, scale, tolerance,
                   wrong ? ": WRONG" : "", (unsigned long long)at);
    return wrong;
}

#endif
