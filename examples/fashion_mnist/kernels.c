/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernels.  Each works on one tile; a tile is a view, so rows lie one
 * stride apart.  Sums keep the order of network.h.
 */
#include "kernels.h"

#include <math.h>
#include <string.h>

#include "network.h"

/* A two-dimensional float32 tensor whose columns are neighbours. */
struct matrix {
    float *at;
    size_t rows, columns, stride;
};

static struct matrix matrix_of(const int64_t *args, uint32_t i)
{
    const struct simpler_tensor *t = simpler_kernel_tensor(args, i);
    return (struct matrix){simpler_tensor_data(t), t->shape[0], t->shape[1], t->stride[0]};
}

static float *row_of(const struct matrix *m, size_t row)
{
    return m->at + row * m->stride;
}

static void clear(const struct matrix *m)
{
    for (size_t i = 0; i < m->rows; i++)
        memset(row_of(m, i), 0, m->columns * sizeof(float));
}

/* Four terms of each sum at once, added from left to right. */
static void add_four(float *restrict sum, const float *a, size_t a_step, const float *restrict b,
                     size_t b_step, size_t width)
{
    const float a0 = a[0], a1 = a[a_step], a2 = a[2 * a_step], a3 = a[3 * a_step];
    const float *b1 = b + b_step, *b2 = b1 + b_step, *b3 = b2 + b_step;
    for (size_t j = 0; j < width; j++)
        sum[j] = sum[j] + a0 * b[j] + a1 * b1[j] + a2 * b2[j] + a3 * b3[j];
}

/*
 * sum[i][j] += a[i][k] * b[k][j] over k ascending, where a[i][k] lies at
 * a + i * a_row + k * a_step.  k is the outer loop: a few rows of b are used on
 * all rows of sum while they are in the first-level cache.
 */
static void multiply(const struct matrix *sum, const float *a, size_t a_row, size_t a_step,
                     const struct matrix *b)
{
    size_t k = 0;
    for (; k + 4 <= b->rows; k += 4) {
        for (size_t i = 0; i < sum->rows; i++)
            add_four(row_of(sum, i), a + i * a_row + k * a_step, a_step, row_of(b, k), b->stride,
                     sum->columns);
    }
    for (; k < b->rows; k++) {
        for (size_t i = 0; i < sum->rows; i++) {
            float *to = row_of(sum, i), term = a[i * a_row + k * a_step];
            for (size_t j = 0; j < sum->columns; j++)
                to[j] += term * row_of(b, k)[j];
        }
    }
}

/* Bytes to floats; the last column is the constant 1 that feeds the biases. */
static int load(int64_t *args)
{
    const struct simpler_tensor *pixel = simpler_kernel_tensor(args, 0);
    const struct matrix x = matrix_of(args, 1);
    const uint8_t *from = simpler_tensor_data(pixel);

    for (size_t i = 0; i < x.rows; i++, from += pixel->stride[0]) {
        float *to = row_of(&x, i);
        for (size_t k = 0; k < FASHION_PIXELS; k++)
            to[k] = (float)from[k] * (1.0f / 255.0f);
        to[FASHION_PIXELS] = 1.0f;
    }
    return 0;
}

static int hidden(int64_t *args)
{
    const struct matrix x = matrix_of(args, 0), w = matrix_of(args, 1), h = matrix_of(args, 2);

    clear(&h);
    multiply(&h, x.at, x.stride, 1, &w);
    for (size_t i = 0; i < h.rows; i++) {
        float *row = row_of(&h, i);
        for (size_t j = 0; j < h.columns; j++)
            row[j] = row[j] > 0.0f ? row[j] : 0.0f;
    }
    return 0;
}

/* A row of z becomes a row of dz; returns the loss. */
static float softmax(float *z, uint8_t label, float batch)
{
    float largest = z[0], sum = 0.0f;
    for (size_t c = 1; c < FASHION_CLASSES; c++)
        largest = fmaxf(largest, z[c]);
    const float of_label = z[label] - largest;
    for (size_t c = 0; c < FASHION_CLASSES; c++)
        sum += z[c] = expf(z[c] - largest);
    for (size_t c = 0; c < FASHION_CLASSES; c++)
        z[c] = (z[c] / sum - (c == label ? 1.0f : 0.0f)) / batch;
    return logf(sum) - of_label;
}

/* A label that is no class fails the task: the run says so instead of learning nonsense. */
static int output(int64_t *args)
{
    const struct matrix h = matrix_of(args, 0), w = matrix_of(args, 1), dz = matrix_of(args, 3);
    const uint8_t *label = simpler_kernel_data(args, 2);
    float *row_loss = simpler_kernel_data(args, 4);
    uint32_t batch;

    simpler_kernel_scalar(args, 5, &batch, sizeof(batch));
    clear(&dz);
    multiply(&dz, h.at, h.stride, 1, &w);
    for (size_t i = 0; i < dz.rows; i++) {
        if (label[i] >= FASHION_CLASSES)
            return 1;
        row_loss[i] = softmax(row_of(&dz, i), label[i], (float)batch);
    }
    return 0;
}

static int loss(int64_t *args)
{
    const float *row_loss = simpler_kernel_data(args, 0);
    const uint32_t batch = simpler_kernel_tensor(args, 0)->shape[0];
    float sum = 0.0f;

    for (size_t i = 0; i < batch; i++)
        sum += row_loss[i];
    *(float *)simpler_kernel_data(args, 1) = sum / (float)batch;
    return 0;
}

static int back(int64_t *args)
{
    const struct matrix dz = matrix_of(args, 0), w = matrix_of(args, 1);
    const struct matrix h = matrix_of(args, 2), dh = matrix_of(args, 3);

    for (size_t i = 0; i < dh.rows; i++) {
        const float *term = row_of(&dz, i), *unit = row_of(&h, i);
        for (size_t j = 0; j < dh.columns; j++) {
            const float *weight = row_of(&w, j);
            float sum = 0.0f;
            for (size_t c = 0; c < FASHION_CLASSES; c++)
                sum += term[c] * weight[c];
            row_of(&dh, i)[j] = unit[j] > 0.0f ? sum : 0.0f;
        }
    }
    return 0;
}

static int gradient(int64_t *args)
{
    const struct matrix a = matrix_of(args, 0), b = matrix_of(args, 1), g = matrix_of(args, 2);

    clear(&g);
    multiply(&g, a.at, 1, a.stride, &b);
    return 0;
}

static int descend(int64_t *args)
{
    const struct matrix g = matrix_of(args, 0), w = matrix_of(args, 1), v = matrix_of(args, 2);
    float rate, momentum;

    simpler_kernel_scalar(args, 3, &rate, sizeof(rate));
    simpler_kernel_scalar(args, 4, &momentum, sizeof(momentum));
    for (size_t i = 0; i < g.rows; i++) {
        float *restrict weight = row_of(&w, i), *restrict velocity = row_of(&v, i);
        const float *restrict slope = row_of(&g, i);
        for (size_t j = 0; j < g.columns; j++) {
            velocity[j] = momentum * velocity[j] - rate * slope[j];
            weight[j] = weight[j] + velocity[j];
        }
    }
    return 0;
}

#define SIGNATURE(...) \
    (const uint8_t[]){__VA_ARGS__}, (uint32_t)sizeof((const uint8_t[]){__VA_ARGS__})
#define IN    SIMPLER_DIR_IN
#define OUT   SIMPLER_DIR_OUT
#define INOUT SIMPLER_DIR_INOUT

/* Matrix products go to the matrix cores (AIC), the rest to the vector cores (AIV). */
const struct simpler_kernel fashion_kernels[FASHION_KERNELS] = {
    {FASHION_LOAD, SIMPLER_CORE_AIV, "load", load, SIGNATURE(IN, OUT)},
    {FASHION_HIDDEN, SIMPLER_CORE_AIC, "hidden", hidden, SIGNATURE(IN, IN, OUT)},
    {FASHION_OUTPUT, SIMPLER_CORE_AIV, "output", output, SIGNATURE(IN, IN, IN, OUT, OUT)},
    {FASHION_LOSS, SIMPLER_CORE_AIV, "loss", loss, SIGNATURE(IN, OUT)},
    {FASHION_BACK, SIMPLER_CORE_AIC, "back", back, SIGNATURE(IN, IN, IN, OUT)},
    {FASHION_GRADIENT, SIMPLER_CORE_AIC, "gradient", gradient, SIGNATURE(IN, IN, OUT)},
    {FASHION_DESCEND, SIMPLER_CORE_AIV, "descend", descend, SIGNATURE(IN, INOUT, INOUT)},
};
