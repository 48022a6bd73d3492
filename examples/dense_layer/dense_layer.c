/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One layer of a network, Y = tanh(X W + b), in tiles: a matrix product on AIC makes
 * each tile of X W, bias and activation on AIV make the tile of Y from it.  The tiles of
 * X, W and Y are views; those in between live in the scope of their row.
 */
#include "../scene_data.h"

enum { PRODUCT, ACTIVATE };
enum { X, W, B, Y, TENSORS };

static const float *row_of(const struct simpler_tensor *t, uint32_t row)
{
    return (const float *)simpler_tensor_data(t) + (uint64_t)row * t->stride[0];
}

/* c = a b; a: rows x all, b: all x columns. */
static int product(int64_t *args)
{
    const struct simpler_tensor *a = simpler_kernel_tensor(args, 0);
    const struct simpler_tensor *b = simpler_kernel_tensor(args, 1);
    const struct simpler_tensor *c = simpler_kernel_tensor(args, 2);

    for (uint32_t i = 0; i < a->shape[0]; i++) {
        float *to = (float *)simpler_tensor_data(c) + (uint64_t)i * c->stride[0];
        memset(to, 0, b->shape[1] * sizeof(float));
        for (uint32_t k = 0; k < a->shape[1]; k++) {
            const float factor = row_of(a, i)[k], *from = row_of(b, k);
            for (uint32_t j = 0; j < b->shape[1]; j++)
                to[j] += factor * from[j];
        }
    }
    return 0;
}

/* y = tanh(c + bias), bias by column. */
static int activate(int64_t *args)
{
    const struct simpler_tensor *c = simpler_kernel_tensor(args, 0);
    const float *bias = simpler_kernel_data(args, 1);
    const struct simpler_tensor *y = simpler_kernel_tensor(args, 2);

    for (uint32_t i = 0; i < c->shape[0]; i++) {
        float *to = (float *)simpler_tensor_data(y) + (uint64_t)i * y->stride[0];
        for (uint32_t j = 0; j < c->shape[1]; j++)
            to[j] = tanhf(row_of(c, i)[j] + bias[j]);
    }
    return 0;
}

static const uint8_t signature[] = {SIMPLER_DIR_IN, SIMPLER_DIR_IN, SIMPLER_DIR_OUT};
static const struct simpler_kernel kernels[] = {
    {PRODUCT, SIMPLER_CORE_AIC, "product", product, signature, 3},
    {ACTIVATE, SIMPLER_CORE_AIV, "activate", activate, signature, 3},
};

static uint32_t least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* One tile of Y. */
static int submit_tile(struct simpler_orch *orch, const struct simpler_tensor *t,
                       const struct simpler_tensor *rows, uint32_t i, uint32_t j, uint32_t tile)
{
    uint32_t columns = least(tile, t[Y].shape[1] - j);
    uint32_t shape[] = {rows->shape[0], columns};
    struct simpler_tensor w, b, y;
    struct simpler_create_info info;
    struct simpler_task_outputs c;
    struct simpler_task_args args;

    if (simpler_tensor_slice(&t[W], 1, j, j + columns, 1, &w) != 0 ||
        simpler_tensor_slice(&t[B], 0, j, j + columns, 1, &b) != 0 ||
        simpler_tensor_view(&t[Y], shape, (const uint32_t[]){i, j}, &y) != 0 ||
        simpler_create_info_init(&info, shape, 2, SIMPLER_DTYPE_FLOAT32) != 0)
        return SIMPLER_EINVAL;
    simpler_task_args_reset(&args);
    simpler_task_args_add_input(&args, rows);
    simpler_task_args_add_input(&args, &w);
    simpler_task_args_add_create(&args, &info);
    int rc = simpler_orch_submit_aic(orch, PRODUCT, &args, &c);
    if (rc != 0)
        return rc;
    simpler_task_args_reset(&args);
    simpler_task_args_add_input(&args, &c.tensor[0]);
    simpler_task_args_add_input(&args, &b);
    simpler_task_args_add_output(&args, &y);
    return simpler_orch_submit_aiv(orch, ACTIVATE, &args, NULL);
}

static void orchestrate(struct simpler_orch *orch, const struct simpler_orch_args *args)
{
    const struct simpler_tensor *t = args->tensor;
    uint32_t tile = (uint32_t)args->scalar[0];

    for (uint32_t i = 0; i < t[Y].shape[0]; i += tile) {
        struct simpler_tensor rows;
        if (simpler_tensor_slice(&t[X], 0, i, i + least(tile, t[Y].shape[0] - i), 1, &rows) != 0)
            return;
        SIMPLER_SCOPE(orch)
        {
            for (uint32_t j = 0; j < t[Y].shape[1]; j += tile) {
                if (submit_tile(orch, t, &rows, i, j, tile) != 0)
                    return;
            }
        }
    }
}

/* ---- the scene ---- */

struct state {
    struct scene_data data;
    uint64_t tile;
};

static int prepare(struct simpler_scene_run *run, char *message, size_t bytes)
{
    uint32_t rows = (uint32_t)run->param[0], all = (uint32_t)run->param[1];
    uint32_t columns = (uint32_t)run->param[2];
    struct state *s = run->state = calloc(1, sizeof(*s));

    if (s == NULL)
        return SIMPLER_ENOMEM;
    s->tile = (uint64_t)run->param[3];
    if (scene_data_random(&s->data, (const uint32_t[]){rows, all}, 2) == NULL ||
        scene_data_random(&s->data, (const uint32_t[]){all, columns}, 2) == NULL ||
        scene_data_random(&s->data, &columns, 1) == NULL ||
        scene_data_add(&s->data, SIMPLER_DTYPE_FLOAT32, (const uint32_t[]){rows, columns}, 2) ==
            NULL) {
        (void)snprintf(message, bytes, "no memory for %u x %u x %u", rows, all, columns);
        return SIMPLER_ENOMEM;
    }
    for (uint64_t i = 0; i < (uint64_t)all * columns; i++)
        ((float *)s->data.data[W])[i] /= sqrtf((float)all);
    run->args = (struct simpler_orch_args){
        .tensor = s->data.tensor, .tensor_count = TENSORS, .scalar = &s->tile, .scalar_count = 1};
    return 0;
}

static int check(struct simpler_scene_run *run, char *message, size_t bytes)
{
    const struct state *s = run->state;
    const float *x = s->data.data[X], *w = s->data.data[W], *b = s->data.data[B];
    uint32_t rows = (uint32_t)run->param[0], all = (uint32_t)run->param[1];
    uint32_t columns = (uint32_t)run->param[2];
    double *right = calloc((size_t)rows * columns, sizeof(*right));

    if (right == NULL)
        return 1;
    for (uint32_t i = 0; i < rows; i++) {
        for (uint32_t j = 0; j < columns; j++) {
            double sum = b[j];
            for (uint32_t k = 0; k < all; k++)
                sum += (double)x[(size_t)i * all + k] * w[(size_t)k * columns + j];
            right[(size_t)i * columns + j] = tanh(sum);
        }
    }
    int wrong =
        scene_data_compare(s->data.data[Y], right, (uint64_t)rows * columns, 1e-5, message, bytes);
    free(right);
    return wrong;
}

static void finish(struct simpler_scene_run *run)
{
    struct state *s = run->state;
    if (s != NULL)
        scene_data_free(&s->data);
    free(s);
    run->state = NULL;
}

static const struct simpler_scene_param params[] = {
    {"rows", "rows of X and Y", 256, 1, 1 << 14},
    {"inner", "columns of X, rows of W", 192, 1, 1 << 14},
    {"columns", "columns of W and Y", 320, 1, 1 << 14},
    {"tile", "rows and columns of a tile", 64, 1, 1 << 14},
    {NULL, NULL, 0, 0, 0},
};
static const struct simpler_scene_case cases[] = {{.name = "default"}};

SIMPLER_API const struct simpler_scene simpler_scene = {
    .abi = SIMPLER_SCENE_ABI,
    .hazards = SIMPLER_HAZARDS_ALL,
    .name = "dense_layer",
    .description = "tanh(X W + b): products on AIC, bias and activation on AIV",
    .callable = {.name = "dense_layer",
                 .orchestrate = orchestrate,
                 .file = __FILE__,
                 .line = __LINE__,
                 .kernels = kernels,
                 .kernel_count = sizeof(kernels) / sizeof(kernels[0]),
                 .expected_arg_count = TENSORS + 1},
    .params = params,
    .cases = cases,
    .case_count = 1,
    .prepare = prepare,
    .check = check,
    .finish = finish,
};
