/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The orchestration: what is computed from what, tile by tile.  It says nothing
 * about order; that follows from the tensors.
 *
 * Scopes: epoch, batch, layer.  What a batch needs from its first layer to its
 * last is allocated in the batch's scope, gradients in the layer's; both come
 * out of the heap rings and are used again when their scope has ended.
 */
#include "graph.h"

#include <time.h>

#include "kernels.h"

/* Extents of a tile.  A task of 25 x 64 units reads 785 inputs: 1.3 million multiplications. */
enum { ROW_TILE = 25, UNIT_TILE = 64, INPUT_TILE = 157 };

/* One batch: its images and what is computed from them. */
struct batch {
    struct simpler_orch *orch;
    const struct fashion_config *config;
    const struct simpler_tensor *given; /* enum fashion_tensor */
    struct simpler_tensor pixels, labels, loss;
    struct simpler_tensor x, h, dz, row_loss;
};

uint64_t fashion_now_ns(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static uint32_t tile(uint32_t start, uint32_t end, uint32_t size)
{
    return end - start < size ? end - start : size;
}

/* A block of a matrix.  A block that leaves the matrix stays empty, which the submit refuses. */
static struct simpler_tensor block(const struct simpler_tensor *matrix, uint32_t row, uint32_t rows,
                                   uint32_t column, uint32_t columns)
{
    struct simpler_tensor out = {0};
    (void)simpler_tensor_view(matrix, (const uint32_t[]){rows, columns},
                              (const uint32_t[]){row, column}, &out);
    return out;
}

/* All columns of some rows. */
static struct simpler_tensor rows_of(const struct simpler_tensor *matrix, uint32_t row,
                                     uint32_t rows)
{
    return block(matrix, row, rows, 0, matrix->shape[1]);
}

/* Some elements of a vector. */
static struct simpler_tensor part(const struct simpler_tensor *vector, uint32_t start,
                                  uint32_t count)
{
    struct simpler_tensor out = {0};
    (void)simpler_tensor_view(vector, &count, &start, &out);
    return out;
}

static struct simpler_create_info float_matrix(uint32_t rows, uint32_t columns)
{
    struct simpler_create_info info = {0};
    (void)simpler_create_info_init(&info, SIMPLER_DIMS(rows, columns), SIMPLER_DTYPE_FLOAT32);
    return info;
}

/* The tensors that live as long as the batch. */
static int allocate(struct batch *b)
{
    const uint32_t batch = b->config->batch;
    const float one = 1.0f;
    struct simpler_create_info infos[] = {
        float_matrix(batch, FASHION_INPUTS), float_matrix(batch, b->config->hidden + 1),
        float_matrix(batch, FASHION_CLASSES), float_matrix(batch, 1)};
    struct simpler_task_outputs made;

    /* The last column of h stays 1: it feeds the biases of the second layer. */
    simpler_create_info_set_initial_value(&infos[1], &one);
    int rc = simpler_orch_alloc_tensors(b->orch, infos, 4, &made);
    if (rc != 0)
        return rc;
    b->x = made.tensor[0];
    b->h = made.tensor[1];
    b->dz = made.tensor[2];
    return simpler_tensor_reshape(&made.tensor[3], &batch, 1, &b->row_loss);
}

static void submit_load(struct batch *b)
{
    for (uint32_t row = 0; row < b->config->batch; row += ROW_TILE) {
        const uint32_t rows = tile(row, b->config->batch, ROW_TILE);
        const struct simpler_tensor pixels = rows_of(&b->pixels, row, rows);
        const struct simpler_tensor x = rows_of(&b->x, row, rows);
        struct simpler_task_args args;

        simpler_task_args_reset(&args);
        simpler_task_args_add_input(&args, &pixels);
        simpler_task_args_add_output(&args, &x);
        (void)simpler_orch_submit_aiv(b->orch, FASHION_LOAD, &args, NULL);
    }
}

static void submit_hidden_tile(struct batch *b, uint32_t row, uint32_t unit)
{
    const uint32_t rows = tile(row, b->config->batch, ROW_TILE);
    const uint32_t units = tile(unit, b->config->hidden, UNIT_TILE);
    const struct simpler_tensor x = rows_of(&b->x, row, rows);
    const struct simpler_tensor w = block(&b->given[FASHION_T_W1], 0, FASHION_INPUTS, unit, units);
    const struct simpler_tensor h = block(&b->h, row, rows, unit, units);
    struct simpler_task_args args;

    simpler_task_args_reset(&args);
    simpler_task_args_add_input(&args, &x);
    simpler_task_args_add_input(&args, &w);
    simpler_task_args_add_output(&args, &h);
    (void)simpler_orch_submit_aic(b->orch, FASHION_HIDDEN, &args, NULL);
}

static void submit_hidden(struct batch *b)
{
    SIMPLER_SCOPE(b->orch)
    {
        for (uint32_t row = 0; row < b->config->batch; row += ROW_TILE) {
            for (uint32_t unit = 0; unit < b->config->hidden; unit += UNIT_TILE)
                submit_hidden_tile(b, row, unit);
        }
    }
}

static void submit_output_tile(struct batch *b, uint32_t row)
{
    const uint32_t rows = tile(row, b->config->batch, ROW_TILE);
    const struct simpler_tensor h = rows_of(&b->h, row, rows);
    const struct simpler_tensor labels = part(&b->labels, row, rows);
    const struct simpler_tensor dz = rows_of(&b->dz, row, rows);
    const struct simpler_tensor row_loss = part(&b->row_loss, row, rows);
    struct simpler_task_args args;

    simpler_task_args_reset(&args);
    simpler_task_args_add_input(&args, &h);
    simpler_task_args_add_input(&args, &b->given[FASHION_T_W2]);
    simpler_task_args_add_input(&args, &labels);
    simpler_task_args_add_output(&args, &dz);
    simpler_task_args_add_output(&args, &row_loss);
    simpler_task_args_add_scalar(&args, SIMPLER_SCALAR(b->config->batch));
    (void)simpler_orch_submit_aiv(b->orch, FASHION_OUTPUT, &args, NULL);
}

static void submit_output(struct batch *b)
{
    SIMPLER_SCOPE(b->orch)
    {
        struct simpler_task_args args;

        for (uint32_t row = 0; row < b->config->batch; row += ROW_TILE)
            submit_output_tile(b, row);
        simpler_task_args_reset(&args);
        simpler_task_args_add_input(&args, &b->row_loss);
        simpler_task_args_add_output(&args, &b->loss);
        (void)simpler_orch_submit_aiv(b->orch, FASHION_LOSS, &args, NULL);
    }
}

static void submit_back_tile(struct batch *b, const struct simpler_tensor *dh, uint32_t row,
                             uint32_t unit)
{
    const uint32_t rows = tile(row, b->config->batch, ROW_TILE);
    const uint32_t units = tile(unit, b->config->hidden, UNIT_TILE);
    const struct simpler_tensor dz = rows_of(&b->dz, row, rows);
    const struct simpler_tensor w = rows_of(&b->given[FASHION_T_W2], unit, units);
    const struct simpler_tensor h = block(&b->h, row, rows, unit, units);
    const struct simpler_tensor out = block(dh, row, rows, unit, units);
    struct simpler_task_args args;

    simpler_task_args_reset(&args);
    simpler_task_args_add_input(&args, &dz);
    simpler_task_args_add_input(&args, &w);
    simpler_task_args_add_input(&args, &h);
    simpler_task_args_add_output(&args, &out);
    (void)simpler_orch_submit_aic(b->orch, FASHION_BACK, &args, NULL);
}

/* The gradient of the weights from @a (columns) to @b, and the step along it. */
static void submit_step(struct batch *b, const struct simpler_tensor *from,
                        const struct simpler_tensor *to, const struct simpler_tensor *w,
                        const struct simpler_tensor *v)
{
    const struct simpler_create_info info = float_matrix(w->shape[0], w->shape[1]);
    struct simpler_task_outputs made;
    struct simpler_task_args args;

    simpler_task_args_reset(&args);
    simpler_task_args_add_input(&args, from);
    simpler_task_args_add_input(&args, to);
    simpler_task_args_add_create(&args, &info);
    if (simpler_orch_submit_aic(b->orch, FASHION_GRADIENT, &args, &made) != 0)
        return;

    simpler_task_args_reset(&args);
    simpler_task_args_add_input(&args, &made.tensor[0]);
    simpler_task_args_add_inout(&args, w);
    simpler_task_args_add_inout(&args, v);
    simpler_task_args_add_scalar(&args, SIMPLER_SCALAR(b->config->rate));
    simpler_task_args_add_scalar(&args, SIMPLER_SCALAR(b->config->momentum));
    (void)simpler_orch_submit_aiv(b->orch, FASHION_DESCEND, &args, NULL);
}

static void submit_hidden_step(struct batch *b, const struct simpler_tensor *dh, uint32_t input,
                               uint32_t unit)
{
    const uint32_t batch = b->config->batch;
    const uint32_t inputs = tile(input, FASHION_INPUTS, INPUT_TILE);
    const uint32_t units = tile(unit, b->config->hidden, UNIT_TILE);
    const struct simpler_tensor from = block(&b->x, 0, batch, input, inputs);
    const struct simpler_tensor to = block(dh, 0, batch, unit, units);
    const struct simpler_tensor w = block(&b->given[FASHION_T_W1], input, inputs, unit, units);
    const struct simpler_tensor v = block(&b->given[FASHION_T_V1], input, inputs, unit, units);

    submit_step(b, &from, &to, &w, &v);
}

static void submit_hidden_backward(struct batch *b)
{
    SIMPLER_SCOPE(b->orch)
    {
        const struct simpler_create_info info = float_matrix(b->config->batch, b->config->hidden);
        struct simpler_task_outputs made;

        if (simpler_orch_alloc_tensors(b->orch, &info, 1, &made) != 0)
            return;
        for (uint32_t row = 0; row < b->config->batch; row += ROW_TILE) {
            for (uint32_t unit = 0; unit < b->config->hidden; unit += UNIT_TILE)
                submit_back_tile(b, &made.tensor[0], row, unit);
        }
        for (uint32_t input = 0; input < FASHION_INPUTS; input += INPUT_TILE) {
            for (uint32_t unit = 0; unit < b->config->hidden; unit += UNIT_TILE)
                submit_hidden_step(b, &made.tensor[0], input, unit);
        }
    }
}

static void submit_output_backward(struct batch *b)
{
    SIMPLER_SCOPE(b->orch)
    submit_step(b, &b->h, &b->dz, &b->given[FASHION_T_W2], &b->given[FASHION_T_V2]);
}

/*
 * The hidden layer goes backward first: it reads the weights of the output layer
 * that the output layer's own step then changes (a write after a read).
 */
static void submit_batch(struct batch *b)
{
    SIMPLER_SCOPE(b->orch)
    {
        if (allocate(b) != 0)
            return;
        submit_load(b);
        submit_hidden(b);
        submit_output(b);
        submit_hidden_backward(b);
        submit_output_backward(b);
    }
}

void fashion_train(struct simpler_orch *orch, const struct simpler_orch_args *args)
{
    struct fashion_training *training = args->user;
    struct fashion_config config = training->config;
    struct batch b = {.orch = orch, .config = &config, .given = args->tensor};

    training->start_ns = fashion_now_ns();
    for (uint32_t epoch = 0; epoch < training->epochs; epoch++) {
        config.rate = fashion_rate(training->config.rate, epoch);
        SIMPLER_SCOPE(orch)
        {
            for (uint32_t step = 0; step < training->steps; step++) {
                const uint32_t first = step * config.batch;
                b.pixels = rows_of(&args->tensor[FASHION_T_PIXELS], first, config.batch);
                b.labels = part(&args->tensor[FASHION_T_LABELS], first, config.batch);
                b.loss = part(&args->tensor[FASHION_T_LOSSES], epoch * training->steps + step, 1);
                submit_batch(&b);
            }
        }
        if (simpler_orch_is_fatal(orch))
            return;
    }
}
