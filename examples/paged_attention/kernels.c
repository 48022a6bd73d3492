/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels.h"

#include <math.h>
#include <string.h>

struct rows {
    float *at;
    uint32_t rows, columns;
};

static struct rows rows_of(const int64_t *args, uint32_t i)
{
    const struct simpler_tensor *t = simpler_kernel_tensor(args, i);
    return (struct rows){simpler_tensor_data(t), t->shape[t->ndims - 2], t->shape[t->ndims - 1]};
}

static uint32_t valid_of(const int64_t *args, uint32_t i)
{
    uint32_t valid;
    simpler_kernel_scalar(args, i, &valid, sizeof(valid));
    return valid;
}

static int scores(int64_t *args)
{
    const struct rows q = rows_of(args, 0), k = rows_of(args, 1), s = rows_of(args, 2);
    uint32_t valid = valid_of(args, 3);
    float scale = 1 / sqrtf((float)q.columns);

    for (uint32_t h = 0; h < q.rows; h++) {
        for (uint32_t t = 0; t < valid; t++) {
            float sum = 0;
            for (uint32_t d = 0; d < q.columns; d++)
                sum += q.at[h * q.columns + d] * k.at[t * k.columns + d];
            s.at[h * s.columns + t] = sum * scale;
        }
    }
    return 0;
}

static int weights(int64_t *args)
{
    const struct rows s = rows_of(args, 0), p = rows_of(args, 1), ml = rows_of(args, 2);
    uint32_t valid = valid_of(args, 3);

    for (uint32_t h = 0; h < s.rows; h++) {
        float most = -INFINITY, sum = 0;
        for (uint32_t t = 0; t < valid; t++)
            most = fmaxf(most, s.at[h * s.columns + t]);
        for (uint32_t t = 0; t < valid; t++) {
            float w = expf(s.at[h * s.columns + t] - most);
            p.at[h * p.columns + t] = w;
            sum += w;
        }
        ml.at[2 * h] = most;
        ml.at[2 * h + 1] = sum;
    }
    return 0;
}

static int values(int64_t *args)
{
    const struct rows p = rows_of(args, 0), v = rows_of(args, 1), o = rows_of(args, 2);
    uint32_t valid = valid_of(args, 3);

    for (uint32_t h = 0; h < p.rows; h++) {
        memset(&o.at[h * o.columns], 0, o.columns * sizeof(float));
        for (uint32_t t = 0; t < valid; t++) {
            for (uint32_t d = 0; d < o.columns; d++)
                o.at[h * o.columns + d] += p.at[h * p.columns + t] * v.at[t * v.columns + d];
        }
    }
    return 0;
}

/* Online softmax: both sides are brought to the larger maximum. */
static int merge(int64_t *args)
{
    const struct rows ml = rows_of(args, 0), o = rows_of(args, 1), state = rows_of(args, 2);

    for (uint32_t h = 0; h < o.rows; h++) {
        float *row = &state.at[h * state.columns], *old_m = &row[o.columns];
        float m = fmaxf(*old_m, ml.at[2 * h]);
        float old = expf(*old_m - m), new = expf(ml.at[2 * h] - m);
        for (uint32_t d = 0; d < o.columns; d++)
            row[d] = old * row[d] + new *o.at[h * o.columns + d];
        row[o.columns + 1] = old * row[o.columns + 1] + new *ml.at[2 * h + 1];
        *old_m = m;
    }
    return 0;
}

static int divide(int64_t *args)
{
    const struct rows state = rows_of(args, 0), out = rows_of(args, 1);

    for (uint32_t h = 0; h < out.rows; h++) {
        const float *row = &state.at[h * state.columns];
        for (uint32_t d = 0; d < out.columns; d++)
            out.at[h * out.columns + d] = row[d] / row[out.columns + 1];
    }
    return 0;
}

static const uint8_t in_in_out[] = {SIMPLER_DIR_IN, SIMPLER_DIR_IN, SIMPLER_DIR_OUT,
                                    SIMPLER_DIR_SCALAR};
static const uint8_t in_out_out[] = {SIMPLER_DIR_IN, SIMPLER_DIR_OUT, SIMPLER_DIR_OUT,
                                     SIMPLER_DIR_SCALAR};
static const uint8_t in_in_inout[] = {SIMPLER_DIR_IN, SIMPLER_DIR_IN, SIMPLER_DIR_INOUT};
static const uint8_t in_out[] = {SIMPLER_DIR_IN, SIMPLER_DIR_OUT};

const struct simpler_kernel attention_kernels[KERNELS] = {
    {SCORES, SIMPLER_CORE_AIC, "scores", scores, in_in_out, 4},
    {WEIGHTS, SIMPLER_CORE_AIV, "weights", weights, in_out_out, 4},
    {VALUES, SIMPLER_CORE_AIC, "values", values, in_in_out, 4},
    {MERGE, SIMPLER_CORE_AIV, "merge", merge, in_in_inout, 3},
    {DIVIDE, SIMPLER_CORE_AIV, "divide", divide, in_out, 2},
};
