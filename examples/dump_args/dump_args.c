/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Five small tasks to look at with `simpler run dump_args --dump-args` and
 * `simpler dump-viewer`; four of them mark arguments:
 *
 *     c = x + y                      x and c
 *     d = c * factor + factor        factor, which was added twice, and d
 *     e[i] = sum of m[i][1, 3, 5]    the strided view of m
 *     acc += step * (d + e)          all, eight types of scalars among them
 *     result = 2 * acc               nothing
 */
#include "simpler/scene.h"

#include <stdio.h>
#include <stdlib.h>

enum { ADD, SCALE, ROW_SUMS, ACCUMULATE, DOUBLE };
enum { N = 8, COLUMNS = 6 };

/* The kernels. */

static int add(int64_t *args)
{
    const float *x = simpler_kernel_data(args, 0), *y = simpler_kernel_data(args, 1);
    float *c = simpler_kernel_data(args, 2);
    for (int i = 0; i < N; i++)
        c[i] = x[i] + y[i];
    return 0;
}

static int scale(int64_t *args)
{
    const float *c = simpler_kernel_data(args, 0);
    float *d = simpler_kernel_data(args, 1), factor, summand;
    simpler_kernel_scalar(args, 2, &factor, sizeof(factor));
    simpler_kernel_scalar(args, 3, &summand, sizeof(summand));
    for (int i = 0; i < N; i++)
        d[i] = c[i] * factor + summand;
    return 0;
}

static int row_sums(int64_t *args)
{
    const struct simpler_tensor *m = simpler_kernel_tensor(args, 0);
    const float *from = simpler_kernel_data(args, 0);
    float *e = simpler_kernel_data(args, 1);
    for (uint32_t i = 0; i < m->shape[0]; i++) {
        e[i] = 0;
        for (uint32_t j = 0; j < m->shape[1]; j++)
            e[i] += from[i * m->stride[0] + j * m->stride[1]];
    }
    return 0;
}

static int accumulate(int64_t *args)
{
    const float *d = simpler_kernel_data(args, 0), *e = simpler_kernel_data(args, 1);
    int32_t *acc = simpler_kernel_data(args, 2);
    int8_t step;
    simpler_kernel_scalar(args, 3, &step, sizeof(step));
    for (int i = 0; i < N; i++)
        acc[i] += step * (int32_t)(d[i] + e[i]);
    return 0;
}

static int twice(int64_t *args)
{
    const int32_t *acc = simpler_kernel_data(args, 0);
    int32_t *result = simpler_kernel_data(args, 1);
    for (int i = 0; i < N; i++)
        result[i] = 2 * acc[i];
    return 0;
}

static const uint8_t in_in_out[] = {SIMPLER_DIR_IN, SIMPLER_DIR_IN, SIMPLER_DIR_OUT};
static const uint8_t in_out[] = {SIMPLER_DIR_IN, SIMPLER_DIR_OUT};
static const uint8_t in_in_inout[] = {SIMPLER_DIR_IN, SIMPLER_DIR_IN, SIMPLER_DIR_INOUT};
static const struct simpler_kernel kernels[] = {
    {ADD, SIMPLER_CORE_AIV, "add", add, in_in_out, 3},
    {SCALE, SIMPLER_CORE_AIV, "scale", scale, in_out, 2},
    {ROW_SUMS, SIMPLER_CORE_AIV, "row \"sums\"", row_sums, in_out, 2},
    {ACCUMULATE, SIMPLER_CORE_AIC, "accumulate", accumulate, in_in_inout, 3},
    {DOUBLE, SIMPLER_CORE_AIV, "double/\xc3\xa9", twice, in_out, 2},
};

/* The orchestration. */

enum { X, Y, M, ACC, RESULT, TENSORS };

static int submit_add(struct simpler_orch *orch, const struct simpler_orch_args *run,
                      const struct simpler_create_info *vector, struct simpler_task_outputs *out)
{
    struct simpler_task_args args;
    simpler_task_args_reset(&args);
    simpler_task_args_add_input(&args, &run->tensor[X]);
    simpler_task_args_add_input(&args, &run->tensor[Y]);
    simpler_task_args_add_create(&args, vector);
    simpler_task_args_dump(&args, &run->tensor[X], vector);
    return simpler_orch_submit_aiv(orch, ADD, &args, out);
}

static int submit_scale(struct simpler_orch *orch, const struct simpler_tensor *c,
                        const struct simpler_create_info *vector, struct simpler_task_outputs *out)
{
    struct simpler_task_args args;
    float factor = 1.5f;
    simpler_task_args_reset(&args);
    simpler_task_args_add_input(&args, c);
    simpler_task_args_add_create(&args, vector);
    simpler_task_args_add_scalar(&args, SIMPLER_SCALAR(factor));
    simpler_task_args_add_scalar(&args, SIMPLER_SCALAR(factor));
    simpler_task_args_dump(&args, &factor, vector);
    return simpler_orch_submit_aiv(orch, SCALE, &args, out);
}

static int submit_row_sums(struct simpler_orch *orch, const struct simpler_tensor *m,
                           const struct simpler_create_info *vector,
                           struct simpler_task_outputs *out)
{
    struct simpler_task_args args;
    struct simpler_tensor odd;
    int rc = simpler_tensor_slice(m, 1, 1, COLUMNS, 2, &odd);
    if (rc != 0)
        return rc;
    simpler_task_args_reset(&args);
    simpler_task_args_add_input(&args, &odd);
    simpler_task_args_add_create(&args, vector);
    simpler_task_args_dump(&args, &odd);
    return simpler_orch_submit_aiv(orch, ROW_SUMS, &args, out);
}

static int submit_accumulate(struct simpler_orch *orch, const struct simpler_tensor *d,
                             const struct simpler_tensor *e, const struct simpler_tensor *acc)
{
    struct simpler_task_args args;
    int8_t step = -3;
    uint16_t port = 65535;
    int32_t below = -2000000000;
    int64_t far_below = INT64_MIN;
    uint64_t all_ones = UINT64_MAX;
    double tenth = 0.1;
    float third = 1.0f / 3.0f;
    _Bool yes = 1;
    simpler_task_args_reset(&args);
    simpler_task_args_add_input(&args, d);
    simpler_task_args_add_input(&args, e);
    simpler_task_args_add_inout(&args, acc);
    simpler_task_args_add_scalar(&args, SIMPLER_SCALAR(step));
    simpler_task_args_add_scalar(&args, SIMPLER_SCALAR(port));
    simpler_task_args_add_scalar(&args, SIMPLER_SCALAR(below));
    simpler_task_args_add_scalar(&args, SIMPLER_SCALAR(far_below));
    simpler_task_args_add_scalar(&args, SIMPLER_SCALAR(all_ones));
    simpler_task_args_add_scalar(&args, SIMPLER_SCALAR(tenth));
    simpler_task_args_add_scalar(&args, SIMPLER_SCALAR(third));
    simpler_task_args_add_scalar(&args, SIMPLER_SCALAR(yes));
    simpler_task_args_dump_all(&args);
    return simpler_orch_submit_aic(orch, ACCUMULATE, &args, NULL);
}

/* A submit fails only when the run has failed: then there is nothing more to do. */
static void orchestrate(struct simpler_orch *orch, const struct simpler_orch_args *run)
{
    struct simpler_create_info vector;
    struct simpler_task_outputs c, d, e;
    struct simpler_task_args args;

    if (simpler_create_info_init(&vector, SIMPLER_DIMS(N), SIMPLER_DTYPE_FLOAT32) != 0 ||
        submit_add(orch, run, &vector, &c) != 0 ||
        submit_scale(orch, &c.tensor[0], &vector, &d) != 0 ||
        submit_row_sums(orch, &run->tensor[M], &vector, &e) != 0 ||
        submit_accumulate(orch, &d.tensor[0], &e.tensor[0], &run->tensor[ACC]) != 0)
        return;
    simpler_task_args_reset(&args);
    simpler_task_args_add_input(&args, &run->tensor[ACC]);
    simpler_task_args_add_output(&args, &run->tensor[RESULT]);
    (void)simpler_orch_submit_aiv(orch, DOUBLE, &args, NULL);
}

/* The scene. */

struct state {
    struct simpler_tensor tensor[TENSORS];
    float x[N], y[N], m[N][COLUMNS];
    int32_t acc[N], result[N];
};

static int prepare(struct simpler_scene_run *run, char *message, size_t message_bytes)
{
    struct state *s = calloc(1, sizeof(*s));

    (void)message;
    (void)message_bytes;
    if (s == NULL)
        return SIMPLER_ENOMEM;
    run->state = s;
    for (int i = 0; i < N; i++) {
        s->x[i] = (float)i;
        s->y[i] = (float)(100 + i) / 2;
        s->acc[i] = 1000 * i;
        for (int j = 0; j < COLUMNS; j++)
            s->m[i][j] = (float)(10 * i + j);
    }
    (void)simpler_tensor_init(&s->tensor[X], s->x, SIMPLER_DIMS(N), SIMPLER_DTYPE_FLOAT32);
    (void)simpler_tensor_init(&s->tensor[Y], s->y, SIMPLER_DIMS(N), SIMPLER_DTYPE_FLOAT32);
    (void)simpler_tensor_init(&s->tensor[M], s->m, SIMPLER_DIMS(N, COLUMNS), SIMPLER_DTYPE_FLOAT32);
    (void)simpler_tensor_init(&s->tensor[ACC], s->acc, SIMPLER_DIMS(N), SIMPLER_DTYPE_INT32);
    (void)simpler_tensor_init(&s->tensor[RESULT], s->result, SIMPLER_DIMS(N), SIMPLER_DTYPE_INT32);
    run->args = (struct simpler_orch_args){.tensor = s->tensor, .tensor_count = TENSORS};
    return 0;
}

static int check(struct simpler_scene_run *run, char *message, size_t message_bytes)
{
    const struct state *s = run->state;

    for (int i = 0; i < N; i++) {
        const float c = s->x[i] + s->y[i], d = c * 1.5f + 1.5f;
        const float e = (float)(30 * i + 1 + 3 + 5);
        const int32_t right = 2 * (1000 * i - 3 * (int32_t)(d + e));
        if (s->result[i] != right) {
            (void)snprintf(message, message_bytes, "result[%d] is %d, right is %d", i,
                           (int)s->result[i], (int)right);
            return 1;
        }
    }
    (void)snprintf(message, message_bytes, "%d element%s, all exact", N, N == 1 ? "" : "s");
    return 0;
}

static void finish(struct simpler_scene_run *run)
{
    free(run->state);
    run->state = NULL;
}

static const struct simpler_scene_case cases[] = {{.name = "default"}};

SIMPLER_API const struct simpler_scene simpler_scene = {
    .abi = SIMPLER_SCENE_ABI,
    .hazards = SIMPLER_HAZARDS_ALL,
    .name = "dump_args",
    .description = "five tasks with marked arguments, for --dump-args",
    .callable = {.name = "dump_args",
                 .orchestrate = orchestrate,
                 .file = __FILE__,
                 .line = __LINE__,
                 .kernels = kernels,
                 .kernel_count = sizeof(kernels) / sizeof(kernels[0]),
                 .expected_arg_count = TENSORS},
    .cases = cases,
    .case_count = 1,
    .prepare = prepare,
    .check = check,
    .finish = finish,
};
