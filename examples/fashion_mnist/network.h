/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FASHION_NETWORK_H
#define FASHION_NETWORK_H

/*
 * The network: 784 pixels, one hidden layer of rectified units, 10 classes,
 * softmax and cross entropy; trained by gradient descent with momentum.
 *
 * A bias is the last row of its weights, fed by a constant 1.  Every sum runs
 * in this order, in float32, from 0, one term at a time, wherever it is made:
 *
 *   x[i][k]    = pixel * (1/255), x[i][784] = 1
 *   h[i][j]    = relu(sum over k ascending of x[i][k] * w1[k][j]), h[i][hidden] = 1
 *   z[i][c]    = sum over j ascending of h[i][j] * w2[j][c]
 *   m          = largest z[i][c];  s = sum over c ascending of expf(z[i][c] - m)
 *   loss[i]    = logf(s) - (z[i][label] - m)
 *   dz[i][c]   = (expf(z[i][c] - m) / s - (c == label)) / batch
 *   dh[i][j]   = h[i][j] > 0 ? sum over c ascending of dz[i][c] * w2[j][c] : 0
 *   g2[j][c]   = sum over i ascending of h[i][j] * dz[i][c]
 *   g1[k][j]   = sum over i ascending of x[i][k] * dh[i][j]
 *   v          = momentum * v - rate * g;  w = w + v   (each layer)
 *   batch loss = (sum over i ascending of loss[i]) / batch
 *
 * So the tiled and the serial version give the same bits.
 */
#include <stdint.h>

enum {
    FASHION_PIXELS = 784,
    FASHION_INPUTS = FASHION_PIXELS + 1, /* and the 1 of the bias */
    FASHION_CLASSES = 10
};

struct fashion_config {
    uint32_t hidden;
    uint32_t batch; /* images a step */
    float rate;
    float momentum;
};

/* Images are rows of FASHION_PIXELS bytes. */
struct fashion_images {
    const uint8_t *pixel;
    const uint8_t *label; /* below FASHION_CLASSES */
    uint32_t count;
};

/* Row-major: w1 is FASHION_INPUTS x hidden, w2 is (hidden + 1) x FASHION_CLASSES. */
struct fashion_weights {
    float *w1, *v1;
    float *w2, *v2;
};

/* The learning rate of an epoch: halved after each but the first. */
static inline float fashion_rate(float rate, uint32_t epoch)
{
    for (uint32_t e = 2; e <= epoch && rate > 0.0f; e++)
        rate *= 0.5f;
    return rate;
}

#endif
