/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CHOLESKY_MATRIX_H
#define CHOLESKY_MATRIX_H

#include <stdint.h>

/** A symmetric positive definite matrix of @size rows, always the same, row-major. */
void cholesky_matrix_fill(double *a, uint32_t size);

/**
 * ||A - L L^T|| / (||A|| * size * eps) in the Frobenius norm.
 *
 * @param l    its lower triangle is L; what is above it is not read
 * @param out  unchanged on failure
 * @retval SIMPLER_ENOMEM  no memory for a second matrix
 */
int cholesky_matrix_residual(const double *l, uint32_t size, double *out);

#endif
