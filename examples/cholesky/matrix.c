/* SPDX-License-Identifier: Apache-2.0 */
/* The matrix to be factorised, and how far L L^T is from it. */
#include "matrix.h"

#include <cblas.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "simpler/status.h"

/* Element (i, j) with j <= i: noise in [-1, 1); a diagonal above the sum of the rest of its row. */
static double element(uint32_t i, uint32_t j, uint32_t size)
{
    uint64_t bits = ((uint64_t)i << 32 | j) * 0x9E3779B97F4A7C15u;
    bits = (bits ^ bits >> 29) * 0xBF58476D1CE4E5B9u;
    const double noise = (double)(bits >> 11) * 0x1p-52 - 1.0;
    return i == j ? noise + (double)size + 1.0 : noise;
}

void cholesky_matrix_fill(double *a, uint32_t size)
{
    for (size_t i = 0; i < size; i++) {
        for (size_t j = 0; j < size; j++)
            a[i * size + j] = element((uint32_t)(i > j ? i : j), (uint32_t)(i > j ? j : i), size);
    }
}

/* The norm of a symmetric matrix of which the lower triangle is given. */
static double norm(const double *a, size_t size)
{
    double sum = 0.0;
    for (size_t i = 0; i < size; i++) {
        for (size_t j = 0; j < i; j++)
            sum += 2.0 * a[i * size + j] * a[i * size + j];
        sum += a[i * size + i] * a[i * size + i];
    }
    return sqrt(sum);
}

int cholesky_matrix_residual(const double *l, uint32_t size, double *out)
{
    const size_t n = size;
    double *a = malloc(n * n * sizeof(double)), *low = calloc(n * n, sizeof(double));
    if (a == NULL || low == NULL) {
        free(a);
        free(low);
        return SIMPLER_ENOMEM;
    }
    cholesky_matrix_fill(a, size);
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j <= i; j++)
            low[i * n + j] = l[i * n + j];
    }
    const double scale = norm(a, n) * (double)size * DBL_EPSILON;
    cblas_dsyrk(CblasRowMajor, CblasLower, CblasNoTrans, (int)size, (int)size, -1.0, low, (int)size,
                1.0, a, (int)size);
    *out = norm(a, n) / scale;
    free(low);
    free(a);
    return 0;
}
