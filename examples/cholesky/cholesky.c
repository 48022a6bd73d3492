/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tiled Cholesky factorisation A = L L^T of a symmetric positive definite
 * matrix.  The matrix is one row-major buffer; a tile is a view of it, so
 * dependencies follow from views that overlap.  Each task reads and writes tiles
 * in place: no tensor is created.
 *
 *   for each k:      L[k][k]  = potrf(A[k][k])
 *     for each i:    L[i][k]  = trsm(L[k][k], A[i][k])           i > k
 *     for each i:    A[i][i] -= L[i][k] L[i][k]^T    (syrk)      i > k
 *     for each i, j: A[i][j] -= L[i][k] L[j][k]^T    (gemm)      i > j > k
 */
#include "simpler/scene.h"

#include <cblas.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "matrix.h"

/* The kernels: BLAS on one tile, one thread each. */

enum { POTRF, TRSM, SYRK, GEMM };

/* LAPACK's Fortran entry; the last argument is the length of @uplo. */
extern void dpotrf_(const char *uplo, const int *n, double *a, const int *lda, int *info,
                    size_t uplo_length);

struct tile {
    double *at;
    int rows, columns, stride;
};

static struct tile tile_of(const int64_t *args, uint32_t i)
{
    const struct simpler_tensor *t = simpler_kernel_tensor(args, i);
    return (struct tile){simpler_tensor_data(t), (int)t->shape[0], (int)t->shape[1],
                         (int)t->stride[0]};
}

/* The lower triangle of a row-major tile is the upper one of LAPACK's column-major view. */
static int potrf(int64_t *args)
{
    const struct tile a = tile_of(args, 0);
    int info = 0;
    dpotrf_("U", &a.rows, a.at, &a.stride, &info, 1);
    return info; /* above 0: the matrix is not positive definite, the task fails */
}

static int trsm(int64_t *args)
{
    const struct tile l = tile_of(args, 0), a = tile_of(args, 1);
    cblas_dtrsm(CblasRowMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, a.rows, a.columns,
                1.0, l.at, l.stride, a.at, a.stride);
    return 0;
}

static int syrk(int64_t *args)
{
    const struct tile l = tile_of(args, 0), a = tile_of(args, 1);
    cblas_dsyrk(CblasRowMajor, CblasLower, CblasNoTrans, a.rows, l.columns, -1.0, l.at, l.stride,
                1.0, a.at, a.stride);
    return 0;
}

static int gemm(int64_t *args)
{
    const struct tile left = tile_of(args, 0), right = tile_of(args, 1), a = tile_of(args, 2);
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, a.rows, a.columns, left.columns, -1.0,
                left.at, left.stride, right.at, right.stride, 1.0, a.at, a.stride);
    return 0;
}

static const uint8_t signature[] = {SIMPLER_DIR_IN, SIMPLER_DIR_IN, SIMPLER_DIR_INOUT};
static const struct simpler_kernel kernels[] = {
    {POTRF, SIMPLER_CORE_AIV, "potrf", potrf, signature + 2, 1},
    {TRSM, SIMPLER_CORE_AIC, "trsm", trsm, signature + 1, 2},
    {SYRK, SIMPLER_CORE_AIC, "syrk", syrk, signature + 1, 2},
    {GEMM, SIMPLER_CORE_AIC, "gemm", gemm, signature, 3},
};

/* The orchestration. */

struct problem {
    uint32_t size, tile;
    uint64_t start_ns;
};

static uint64_t now_ns(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* The tile in row @i and column @j of tiles; those at the edges may be smaller. */
static struct simpler_tensor tile_at(const struct simpler_tensor *matrix, const struct problem *p,
                                     uint32_t i, uint32_t j)
{
    const uint32_t offset[] = {i * p->tile, j * p->tile};
    const uint32_t shape[] = {
        p->size - offset[0] < p->tile ? p->size - offset[0] : p->tile,
        p->size - offset[1] < p->tile ? p->size - offset[1] : p->tile,
    };
    struct simpler_tensor out = {0};
    (void)simpler_tensor_view(matrix, shape, offset, &out);
    return out;
}

/* The tasks below tile k of the diagonal, one row of tiles: trsm, syrk, then gemms. */
static void submit_row(struct simpler_orch *orch, const struct simpler_tensor *matrix,
                       const struct problem *p, uint32_t k, uint32_t i)
{
    const struct simpler_tensor left = tile_at(matrix, p, i, k);
    const struct simpler_tensor diagonal = tile_at(matrix, p, i, i);
    struct simpler_task_args args;

    simpler_task_args_reset(&args);
    simpler_task_args_add_input(&args, &left);
    simpler_task_args_add_inout(&args, &diagonal);
    (void)simpler_orch_submit_aic(orch, SYRK, &args, NULL);
    for (uint32_t j = k + 1; j < i; j++) {
        const struct simpler_tensor right = tile_at(matrix, p, j, k);
        const struct simpler_tensor target = tile_at(matrix, p, i, j);

        simpler_task_args_reset(&args);
        simpler_task_args_add_input(&args, &left);
        simpler_task_args_add_input(&args, &right);
        simpler_task_args_add_inout(&args, &target);
        (void)simpler_orch_submit_aic(orch, GEMM, &args, NULL);
    }
}

static void submit_column(struct simpler_orch *orch, const struct simpler_tensor *matrix,
                          const struct problem *p, uint32_t k, uint32_t tiles)
{
    const struct simpler_tensor diagonal = tile_at(matrix, p, k, k);
    struct simpler_task_args args;

    simpler_task_args_reset(&args);
    simpler_task_args_add_inout(&args, &diagonal);
    (void)simpler_orch_submit_aiv(orch, POTRF, &args, NULL);
    for (uint32_t i = k + 1; i < tiles; i++) {
        const struct simpler_tensor below = tile_at(matrix, p, i, k);

        simpler_task_args_reset(&args);
        simpler_task_args_add_input(&args, &diagonal);
        simpler_task_args_add_inout(&args, &below);
        (void)simpler_orch_submit_aic(orch, TRSM, &args, NULL);
    }
}

static void orchestrate(struct simpler_orch *orch, const struct simpler_orch_args *args)
{
    struct problem *p = args->user;
    const uint32_t tiles = (p->size + p->tile - 1) / p->tile;

    p->start_ns = now_ns();
    for (uint32_t k = 0; k < tiles && !simpler_orch_is_fatal(orch); k++) {
        SIMPLER_SCOPE(orch)
        {
            submit_column(orch, &args->tensor[0], p, k, tiles);
            for (uint32_t i = k + 1; i < tiles; i++)
                submit_row(orch, &args->tensor[0], p, k, i);
        }
    }
}

/* The scene. */

enum { P_SIZE, P_TILE };

struct state {
    struct problem problem;
    struct simpler_tensor tensor;
    double *matrix;
};

static int prepare(struct simpler_scene_run *run, char *message, size_t message_bytes)
{
    const uint32_t size = (uint32_t)run->param[P_SIZE];
    struct state *s = calloc(1, sizeof(*s));
    if (s == NULL)
        return SIMPLER_ENOMEM;
    run->state = s;
    if (openblas_get_parallel() != OPENBLAS_THREAD) {
        (void)snprintf(message, message_bytes,
                       "only OpenBLAS with pthreads can be called by several cores, this one is %s",
                       openblas_get_config());
        return SIMPLER_ENOSYS;
    }
    openblas_set_num_threads(1); /* each call stays on its core */
    s->problem = (struct problem){size, (uint32_t)run->param[P_TILE], 0};
    s->matrix = malloc((size_t)size * size * sizeof(double));
    if (s->matrix == NULL) {
        (void)snprintf(message, message_bytes, "no memory for a matrix of %u row%s", size,
                       size == 1 ? "" : "s");
        return SIMPLER_ENOMEM;
    }
    cholesky_matrix_fill(s->matrix, size);
    run->args =
        (struct simpler_orch_args){.tensor = &s->tensor, .tensor_count = 1, .user = &s->problem};
    return simpler_tensor_init(&s->tensor, s->matrix, SIMPLER_DIMS(size, size),
                               SIMPLER_DTYPE_FLOAT64);
}

/* A backward stable factorisation keeps the scaled residual near 1; wrong tiles give 1e10. */
static int check(struct simpler_scene_run *run, char *message, size_t message_bytes)
{
    const struct state *s = run->state;
    const double seconds = (double)(now_ns() - s->problem.start_ns) * 1e-9;
    const double n = s->problem.size;
    double residual;

    if (cholesky_matrix_residual(s->matrix, s->problem.size, &residual) != 0) {
        (void)snprintf(message, message_bytes, "out of memory for the residual");
        return 1;
    }
    const int right = residual < 10.0; /* false for NaN */
    (void)snprintf(message, message_bytes,
                   "||A - L L^T|| / (||A|| n eps) = %.3g%s; n = %u, tile %u, %.3f s, %.2f GFLOP/s",
                   residual, right ? "" : " (must be below 10)", s->problem.size, s->problem.tile,
                   seconds, n * n * n / 3.0 / seconds * 1e-9);
    return right ? 0 : 1;
}

static void finish(struct simpler_scene_run *run)
{
    struct state *s = run->state;
    if (s == NULL)
        return;
    free(s->matrix);
    free(s);
    run->state = NULL;
}

static const struct simpler_scene_param params[] = {
    {"size", "rows and columns of the matrix", 2048, 1, 32768},
    {"tile", "rows and columns of a tile", 128, 1, 32768},
    {NULL, NULL, 0, 0, 0},
};

static const struct simpler_scene_value small_params[] = {{"size", 300}, {"tile", 64}, {NULL, 0}};

static const struct simpler_scene_case cases[] = {
    {.name = "default"},
    {.name = "small", .params = small_params},
};

SIMPLER_API const struct simpler_scene simpler_scene = {
    .abi = SIMPLER_SCENE_ABI,
    .hazards = SIMPLER_HAZARDS_ALL, /* a tile is updated in place while others read it before */
    .name = "cholesky",
    .description = "tiled Cholesky factorisation on strided views of one buffer",
    .callable = {.name = "cholesky",
                 .orchestrate = orchestrate,
                 .file = __FILE__,
                 .line = __LINE__,
                 .kernels = kernels,
                 .kernel_count = sizeof(kernels) / sizeof(kernels[0]),
                 .expected_arg_count = 1},
    .params = params,
    .cases = cases,
    .case_count = sizeof(cases) / sizeof(cases[0]),
    .prepare = prepare,
    .check = check,
    .finish = finish,
};
