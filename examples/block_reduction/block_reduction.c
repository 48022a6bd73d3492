/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Softmax of one long vector by the blocks of one task that wait for each other: each
 * block has a part; maximum and sum are reduced in a tree, a barrier between its levels,
 * and then every block finishes its own part.
 */
#include "../scene_data.h"

enum { SOFTMAX };
enum { X, Y, TENSORS };

/* partial[0] becomes the reduction of all blocks' values. */
static int reduce(const int64_t *args, float *partial, int maximum)
{
    int self = simpler_kernel_block_idx(args), blocks = simpler_kernel_block_num(args);
    int rc = simpler_kernel_sync_all(args);

    for (int step = 1; step < blocks && rc == 0; step *= 2) {
        if (self % (2 * step) == 0 && self + step < blocks)
            partial[self] = maximum ? fmaxf(partial[self], partial[self + step])
                                    : partial[self] + partial[self + step];
        rc = simpler_kernel_sync_all(args);
    }
    return rc;
}

static int softmax(int64_t *args)
{
    uint64_t n = simpler_tensor_numel(simpler_kernel_tensor(args, 0));
    uint64_t self = (uint64_t)simpler_kernel_block_idx(args);
    uint64_t blocks = (uint64_t)simpler_kernel_block_num(args);
    uint64_t from = n * self / blocks, to = n * (self + 1) / blocks;
    const float *x = simpler_kernel_data(args, 0);
    float *y = simpler_kernel_data(args, 1);
    float *maxima = simpler_kernel_data(args, 2), *sums = maxima + blocks;

    maxima[self] = -INFINITY;
    for (uint64_t i = from; i < to; i++)
        maxima[self] = fmaxf(maxima[self], x[i]);
    int rc = reduce(args, maxima, 1);
    if (rc != 0)
        return rc;
    double sum = 0;
    for (uint64_t i = from; i < to; i++) {
        y[i] = expf(x[i] - maxima[0]);
        sum += y[i];
    }
    sums[self] = (float)sum;
    rc = reduce(args, sums, 0);
    for (uint64_t i = from; i < to && rc == 0; i++)
        y[i] /= sums[0];
    return rc;
}

static const uint8_t signature[] = {SIMPLER_DIR_IN, SIMPLER_DIR_OUT, SIMPLER_DIR_OUT};
static const struct simpler_kernel kernels[] = {
    {SOFTMAX, SIMPLER_CORE_AIV, "softmax", softmax, signature, 3},
};

static void orchestrate(struct simpler_orch *orch, const struct simpler_orch_args *args)
{
    uint32_t blocks = (uint32_t)args->scalar[0], most = simpler_orch_available_aiv_count(orch);
    struct simpler_create_info partial;
    struct simpler_task_args task;

    if (blocks == 0 || blocks > most)
        blocks = most;
    if (simpler_create_info_init(&partial, SIMPLER_DIMS(2, blocks), SIMPLER_DTYPE_FLOAT32) != 0)
        return;
    simpler_task_args_reset(&task);
    simpler_task_args_add_input(&task, &args->tensor[X]);
    simpler_task_args_add_output(&task, &args->tensor[Y]);
    simpler_task_args_add_create(&task, &partial);
    simpler_task_args_set_block_num(&task, (int32_t)blocks);
    simpler_task_args_set_require_sync_start(&task, 1);
    (void)simpler_orch_submit_aiv(orch, SOFTMAX, &task, NULL);
}

/* ---- the scene ---- */

struct state {
    struct scene_data data;
    uint64_t blocks;
};

static int prepare(struct simpler_scene_run *run, char *message, size_t bytes)
{
    uint32_t n = (uint32_t)run->param[0];
    struct state *s = run->state = calloc(1, sizeof(*s));

    if (s == NULL)
        return SIMPLER_ENOMEM;
    s->blocks = (uint64_t)run->param[1];
    float *x = scene_data_random(&s->data, &n, 1);
    if (x == NULL || scene_data_add(&s->data, SIMPLER_DTYPE_FLOAT32, &n, 1) == NULL) {
        (void)snprintf(message, bytes, "no memory for %u element%s", n, n == 1 ? "" : "s");
        return SIMPLER_ENOMEM;
    }
    for (uint32_t i = 0; i < n; i++)
        x[i] *= 8;
    run->args = (struct simpler_orch_args){
        .tensor = s->data.tensor, .tensor_count = TENSORS, .scalar = &s->blocks, .scalar_count = 1};
    return 0;
}

static int check(struct simpler_scene_run *run, char *message, size_t bytes)
{
    const struct state *s = run->state;
    const float *x = s->data.data[X];
    uint32_t n = (uint32_t)run->param[0];
    double *right = calloc(n, sizeof(*right)), sum = 0;

    if (right == NULL)
        return 1;
    for (uint32_t i = 0; i < n; i++)
        sum += exp((double)x[i]);
    for (uint32_t i = 0; i < n; i++)
        right[i] = exp((double)x[i]) / sum;
    int wrong = scene_data_compare(s->data.data[Y], right, n, 1e-5, message, bytes);
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
    {"elements", "elements of the vector", 100000, 1, 1 << 26},
    {"blocks", "blocks of the task; 0: as many as AIV cores", 0, 0, 1000},
    {NULL, NULL, 0, 0, 0},
};
static const struct simpler_scene_case cases[] = {
    {.name = "default"},
    {.name = "many", .platforms = "cpu", .config = {.cluster_count = 24}},
};

SIMPLER_API const struct simpler_scene simpler_scene = {
    .abi = SIMPLER_SCENE_ABI,
    .hazards = SIMPLER_HAZARDS_ALL,
    .name = "block_reduction",
    .description = "softmax of a vector by blocks that reduce in a tree with barriers",
    .callable = {.name = "block_reduction",
                 .orchestrate = orchestrate,
                 .file = __FILE__,
                 .line = __LINE__,
                 .kernels = kernels,
                 .kernel_count = sizeof(kernels) / sizeof(kernels[0]),
                 .expected_arg_count = TENSORS + 1},
    .params = params,
    .cases = cases,
    .case_count = 2,
    .prepare = prepare,
    .check = check,
    .finish = finish,
};
