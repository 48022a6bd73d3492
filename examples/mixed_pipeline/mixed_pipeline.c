/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A pipeline inside a mixed task: y_i = a_i / (1 + |a_i|) with a = M x, row by row.  AIC
 * multiplies stripes of rows into a buffer of two stripes; AIV0 and AIV1 each finish one
 * half of a stripe while AIC is at the next.  Flags hand stripes over and back.  Each
 * block of the task has some of the stripes.
 */
#include "../scene_data.h"

enum { MULTIPLY, FINISH };
enum { M, V, Y, TENSORS };
enum { STRIPE = 16, FILLED = 0, EMPTIED = 1 };

/* Stripes of this block: first, first + blocks, ... */
struct part {
    uint32_t first, step, stripes;
};

static struct part part_of(const int64_t *args)
{
    uint32_t rows = simpler_kernel_tensor(args, 0)->shape[0];
    return (struct part){(uint32_t)simpler_kernel_block_idx(args),
                         (uint32_t)simpler_kernel_block_num(args), rows / STRIPE};
}

/* This block's buffer of two stripes. */
static float *buffer_of(const int64_t *args, uint32_t turn)
{
    return (float *)simpler_kernel_data(args, 3) +
           (2 * (uint32_t)simpler_kernel_block_idx(args) + turn % 2) * STRIPE;
}

static int aic_multiply(int64_t *args)
{
    const struct simpler_tensor *m = simpler_kernel_tensor(args, 0);
    const float *x = simpler_kernel_data(args, 1);
    struct part part = part_of(args);
    uint32_t turn = 0;
    int rc = 0;

    for (uint32_t s = part.first; s < part.stripes && rc == 0; s += part.step, turn++) {
        /* The stripe before the last one must have been emptied by both. */
        for (uint32_t lane = 0; lane < 2 && turn >= 2 && rc == 0; lane++)
            rc = simpler_kernel_wait_flag(args, EMPTIED + lane);
        float *to = buffer_of(args, turn);
        for (uint32_t i = 0; i < STRIPE && rc == 0; i++) {
            const float *row =
                (const float *)simpler_tensor_data(m) + (uint64_t)(s * STRIPE + i) * m->stride[0];
            to[i] = 0;
            for (uint32_t k = 0; k < m->shape[1]; k++)
                to[i] += row[k] * x[k];
        }
        for (uint32_t lane = 0; lane < 2 && rc == 0; lane++)
            rc = simpler_kernel_set_flag(args, SIMPLER_LANE_AIV0 + lane, FILLED);
    }
    return rc;
}

static int aiv_finish(int64_t *args)
{
    struct part part = part_of(args);
    uint32_t lane = (uint32_t)simpler_kernel_sub_block_id(args), turn = 0;
    float *y = simpler_kernel_data(args, 2);
    int rc = 0;

    for (uint32_t s = part.first; s < part.stripes && rc == 0; s += part.step, turn++) {
        rc = simpler_kernel_wait_flag(args, FILLED);
        const float *from = buffer_of(args, turn) + lane * (STRIPE / 2);
        float *to = y + s * STRIPE + lane * (STRIPE / 2);
        for (uint32_t i = 0; i < STRIPE / 2 && rc == 0; i++)
            to[i] = from[i] / (1 + fabsf(from[i]));
        if (rc == 0)
            rc = simpler_kernel_set_flag(args, SIMPLER_LANE_AIC, EMPTIED + lane);
    }
    return rc;
}

static const uint8_t signature[] = {SIMPLER_DIR_IN, SIMPLER_DIR_IN, SIMPLER_DIR_OUT,
                                    SIMPLER_DIR_OUT};
static const struct simpler_kernel kernels[] = {
    {MULTIPLY, SIMPLER_CORE_AIC, "multiply", aic_multiply, signature, 4},
    {FINISH, SIMPLER_CORE_AIV, "finish", aiv_finish, signature, 4},
};

static void orchestrate(struct simpler_orch *orch, const struct simpler_orch_args *args)
{
    struct simpler_mixed_kernels pipeline = {MULTIPLY, FINISH, FINISH};
    uint32_t blocks = (uint32_t)args->scalar[0];
    struct simpler_create_info buffers;
    struct simpler_task_args task;

    if (simpler_create_info_init(&buffers, SIMPLER_DIMS(blocks, 2, STRIPE),
                                 SIMPLER_DTYPE_FLOAT32) != 0)
        return;
    simpler_task_args_reset(&task);
    simpler_task_args_add_input(&task, &args->tensor[M]);
    simpler_task_args_add_input(&task, &args->tensor[V]);
    simpler_task_args_add_output(&task, &args->tensor[Y]);
    simpler_task_args_add_create(&task, &buffers);
    simpler_task_args_set_block_num(&task, (int32_t)blocks);
    (void)simpler_orch_submit_mixed(orch, &pipeline, &task, NULL);
}

/* ---- the scene ---- */

struct state {
    struct scene_data data;
    uint64_t blocks;
};

static int prepare(struct simpler_scene_run *run, char *message, size_t bytes)
{
    uint32_t rows = (uint32_t)run->param[0] * STRIPE, columns = (uint32_t)run->param[1];
    struct state *s = run->state = calloc(1, sizeof(*s));

    if (s == NULL)
        return SIMPLER_ENOMEM;
    s->blocks = (uint64_t)run->param[2];
    if (scene_data_random(&s->data, (const uint32_t[]){rows, columns}, 2) == NULL ||
        scene_data_random(&s->data, &columns, 1) == NULL ||
        scene_data_add(&s->data, SIMPLER_DTYPE_FLOAT32, &rows, 1) == NULL) {
        (void)snprintf(message, bytes, "no memory for %u x %u", rows, columns);
        return SIMPLER_ENOMEM;
    }
    run->args = (struct simpler_orch_args){
        .tensor = s->data.tensor, .tensor_count = TENSORS, .scalar = &s->blocks, .scalar_count = 1};
    return 0;
}

static int check(struct simpler_scene_run *run, char *message, size_t bytes)
{
    const struct state *s = run->state;
    uint32_t rows = (uint32_t)run->param[0] * STRIPE, columns = (uint32_t)run->param[1];
    const float *m = s->data.data[M], *x = s->data.data[V];
    double *right = calloc(rows, sizeof(*right));

    if (right == NULL)
        return 1;
    for (uint32_t i = 0; i < rows; i++) {
        double sum = 0;
        for (uint32_t k = 0; k < columns; k++)
            sum += (double)m[(size_t)i * columns + k] * x[k];
        right[i] = sum / (1 + fabs(sum));
    }
    int wrong = scene_data_compare(s->data.data[Y], right, rows, 3e-5, message, bytes);
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
    {"stripes", "stripes of 16 rows", 100, 1, 1 << 16},
    {"columns", "columns of the matrix", 300, 1, 1 << 16},
    {"blocks", "blocks of the mixed task", 6, 1, 1000},
    {NULL, NULL, 0, 0, 0},
};
static const struct simpler_scene_case cases[] = {{.name = "default"}};

SIMPLER_API const struct simpler_scene simpler_scene = {
    .abi = SIMPLER_SCENE_ABI,
    .hazards = SIMPLER_HAZARDS_ALL,
    .name = "mixed_pipeline",
    .description =
        "AIC multiplies while AIV0 and AIV1 finish the stripe before, handed over by flags",
    .callable = {.name = "mixed_pipeline",
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
