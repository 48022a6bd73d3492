/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The network of network.h as plain loops.  Nothing here is shared with the
 * kernels, so that equal losses say something.
 */
#include "serial.h"

#include <math.h>
#include <string.h>

/* The scratch memory of one step, cut into its arrays. */
struct step {
    float *x;  /* batch x FASHION_INPUTS */
    float *h;  /* batch x (hidden + 1) */
    float *dz; /* batch x FASHION_CLASSES; z before the softmax */
    float *dh; /* batch x hidden */
    float *g1; /* as w1 */
    float *g2; /* as w2 */
};

uint64_t fashion_serial_scratch(const struct fashion_config *config)
{
    uint64_t hidden = config->hidden;
    uint64_t row = FASHION_INPUTS + hidden + 1 + FASHION_CLASSES + hidden;
    return config->batch * row + FASHION_INPUTS * hidden + (hidden + 1) * FASHION_CLASSES;
}

static struct step cut(const struct fashion_config *config, float *scratch)
{
    size_t hidden = config->hidden;
    struct step s;

    s.x = scratch;
    s.h = s.x + (size_t)config->batch * FASHION_INPUTS;
    s.dz = s.h + config->batch * (hidden + 1);
    s.dh = s.dz + (size_t)config->batch * FASHION_CLASSES;
    s.g1 = s.dh + config->batch * hidden;
    s.g2 = s.g1 + FASHION_INPUTS * hidden;
    return s;
}

/* sum[j] = from 0, over k ascending, a[k] * b[k][j]: one row of a product. */
static void row_times_matrix(float *sum, const float *a, const float *b, size_t depth, size_t width)
{
    memset(sum, 0, width * sizeof(float));
    for (size_t k = 0; k < depth; k++) {
        for (size_t j = 0; j < width; j++)
            sum[j] += a[k] * b[k * width + j];
    }
}

/* x, h and z of one image. */
static void forward(uint32_t hidden, const uint8_t *pixel, const struct fashion_weights *weights,
                    float *x, float *h, float *z)
{
    for (size_t k = 0; k < FASHION_PIXELS; k++)
        x[k] = (float)pixel[k] * (1.0f / 255.0f);
    x[FASHION_PIXELS] = 1.0f;
    row_times_matrix(h, x, weights->w1, FASHION_INPUTS, hidden);
    for (size_t j = 0; j < hidden; j++)
        h[j] = h[j] > 0.0f ? h[j] : 0.0f;
    h[hidden] = 1.0f;
    row_times_matrix(z, h, weights->w2, (size_t)hidden + 1, FASHION_CLASSES);
}

/* z becomes dz; the return value is the loss of the image. */
static float softmax(float *z, uint8_t label, uint32_t batch)
{
    float largest = z[0];
    for (size_t c = 1; c < FASHION_CLASSES; c++)
        largest = z[c] > largest ? z[c] : largest;
    float shifted = z[label] - largest;
    float sum = 0.0f;
    for (size_t c = 0; c < FASHION_CLASSES; c++) {
        z[c] = expf(z[c] - largest);
        sum += z[c];
    }
    for (size_t c = 0; c < FASHION_CLASSES; c++)
        z[c] = (z[c] / sum - (c == label ? 1.0f : 0.0f)) / (float)batch;
    return logf(sum) - shifted;
}

static void backward(uint32_t hidden, const float *w2, const float *dz, const float *h, float *dh)
{
    for (size_t j = 0; j < hidden; j++) {
        float sum = 0.0f;
        for (size_t c = 0; c < FASHION_CLASSES; c++)
            sum += dz[c] * w2[j * FASHION_CLASSES + c];
        dh[j] = h[j] > 0.0f ? sum : 0.0f;
    }
}

/* g[k][j] += a[k] * b[j]: one image's part of a gradient. */
static void add_outer(float *g, const float *a, const float *b, size_t rows, size_t width)
{
    for (size_t k = 0; k < rows; k++) {
        for (size_t j = 0; j < width; j++)
            g[k * width + j] += a[k] * b[j];
    }
}

static void descend(const struct fashion_config *config, float *w, float *v, const float *g,
                    size_t count)
{
    for (size_t n = 0; n < count; n++) {
        v[n] = config->momentum * v[n] - config->rate * g[n];
        w[n] = w[n] + v[n];
    }
}

float fashion_serial_step(const struct fashion_config *config, const struct fashion_images *images,
                          uint32_t first, struct fashion_weights *weights, float *scratch)
{
    size_t hidden = config->hidden;
    size_t size1 = FASHION_INPUTS * hidden, size2 = (hidden + 1) * FASHION_CLASSES;
    struct step s = cut(config, scratch);
    float loss = 0.0f;

    memset(s.g1, 0, (size1 + size2) * sizeof(float));
    for (size_t i = 0; i < config->batch; i++) {
        float *x = s.x + i * FASHION_INPUTS, *h = s.h + i * (hidden + 1);
        float *dz = s.dz + i * FASHION_CLASSES, *dh = s.dh + i * hidden;
        forward(config->hidden, images->pixel + (first + i) * FASHION_PIXELS, weights, x, h, dz);
        loss += softmax(dz, images->label[first + i], config->batch);
        backward(config->hidden, weights->w2, dz, h, dh);
        add_outer(s.g2, h, dz, hidden + 1, FASHION_CLASSES);
        add_outer(s.g1, x, dh, FASHION_INPUTS, hidden);
    }
    descend(config, weights->w1, weights->v1, s.g1, size1);
    descend(config, weights->w2, weights->v2, s.g2, size2);
    return loss / (float)config->batch;
}

uint32_t fashion_serial_correct(uint32_t hidden, const struct fashion_images *images,
                                const struct fashion_weights *weights, float *scratch)
{
    float *h = scratch + FASHION_INPUTS, *z = h + hidden + 1;
    uint32_t correct = 0;

    for (size_t i = 0; i < images->count; i++) {
        forward(hidden, images->pixel + i * FASHION_PIXELS, weights, scratch, h, z);
        size_t best = 0;
        for (size_t c = 1; c < FASHION_CLASSES; c++)
            best = z[c] > z[best] ? c : best;
        correct += best == images->label[i];
    }
    return correct;
}

/* Uniform in [-limit, limit), from the high bits of a linear congruential sequence. */
static void fill_uniform(float *w, size_t count, float limit, uint64_t *seed)
{
    for (size_t n = 0; n < count; n++) {
        *seed = *seed * 6364136223846793005u + 1442695040888963407u;
        w[n] = ((float)(*seed >> 40) / 8388608.0f - 1.0f) * limit;
    }
}

void fashion_serial_init(uint32_t hidden, struct fashion_weights *weights)
{
    size_t size1 = (size_t)FASHION_PIXELS * hidden, size2 = (size_t)hidden * FASHION_CLASSES;
    uint64_t seed = 1;

    fill_uniform(weights->w1, size1, sqrtf(6.0f / FASHION_PIXELS), &seed);
    fill_uniform(weights->w2, size2, sqrtf(6.0f / (float)hidden), &seed);
    memset(weights->w1 + size1, 0, hidden * sizeof(float));
    memset(weights->w2 + size2, 0, FASHION_CLASSES * sizeof(float));
    memset(weights->v1, 0, (size1 + hidden) * sizeof(float));
    memset(weights->v2, 0, (size2 + FASHION_CLASSES) * sizeof(float));
}
