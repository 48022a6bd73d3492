/* SPDX-License-Identifier: Apache-2.0 */
/*
 * f = (a + b + 1)(a + b + 2) + (a + b): five small vector tasks.
 *
 * The root scope makes c = a + b; the inner scope makes d = c + 1, e = c + 2,
 * g = d * e and f = g + c.  c, d, e and g are allocated by the runtime: each
 * lives in the heap ring of the scope that created it and is gone when that
 * scope has ended.  d and e do not depend on each other and may run at once.
 */
#include "simpler/scene.h"

#include <stdio.h>
#include <stdlib.h>

/* The kernels. */

enum { ADD, ADD_SCALAR, MULTIPLY };

static size_t length(const int64_t *args)
{
    return simpler_tensor_numel(simpler_kernel_tensor(args, 0));
}

static int add(int64_t *args)
{
    const float *x = simpler_kernel_data(args, 0), *y = simpler_kernel_data(args, 1);
    float *z = simpler_kernel_data(args, 2);
    const size_t n = length(args);
    for (size_t i = 0; i < n; i++)
        z[i] = x[i] + y[i];
    return 0;
}

static int add_scalar(int64_t *args)
{
    const float *x = simpler_kernel_data(args, 0);
    float *z = simpler_kernel_data(args, 1), summand;
    const size_t n = length(args);
    simpler_kernel_scalar(args, 2, &summand, sizeof(summand));
    for (size_t i = 0; i < n; i++)
        z[i] = x[i] + summand;
    return 0;
}

static int multiply(int64_t *args)
{
    const float *x = simpler_kernel_data(args, 0), *y = simpler_kernel_data(args, 1);
    float *z = simpler_kernel_data(args, 2);
    const size_t n = length(args);
    for (size_t i = 0; i < n; i++)
        z[i] = x[i] * y[i];
    return 0;
}

static const uint8_t two_in[] = {SIMPLER_DIR_IN, SIMPLER_DIR_IN, SIMPLER_DIR_OUT};
static const uint8_t one_in[] = {SIMPLER_DIR_IN, SIMPLER_DIR_OUT, SIMPLER_DIR_SCALAR};
static const struct simpler_kernel kernels[] = {
    {ADD, SIMPLER_CORE_AIV, "add", add, two_in, 3},
    {ADD_SCALAR, SIMPLER_CORE_AIV, "add_scalar", add_scalar, one_in, 3},
    {MULTIPLY, SIMPLER_CORE_AIV, "multiply", multiply, two_in, 3},
};

/* The orchestration. */

enum { A, B, F, TENSORS };

/* Submits z = kernel(x, y), where the runtime allocates z. */
static int submit_new(struct simpler_orch *orch, uint32_t kernel, const struct simpler_tensor *x,
                      const struct simpler_tensor *y, struct simpler_tensor *z)
{
    struct simpler_create_info info;
    struct simpler_task_outputs out;
    struct simpler_task_args args;

    int rc = simpler_create_info_init(&info, x->shape, x->ndims, x->dtype);
    if (rc != 0)
        return rc;
    simpler_task_args_reset(&args);
    simpler_task_args_add_input(&args, x);
    simpler_task_args_add_input(&args, y);
    simpler_task_args_add_create(&args, &info);
    rc = simpler_orch_submit_aiv(orch, kernel, &args, &out);
    if (rc == 0)
        *z = out.tensor[0];
    return rc;
}

/* Submits z = x + summand, where the runtime allocates z. */
static int submit_add_scalar(struct simpler_orch *orch, const struct simpler_tensor *x,
                             float summand, struct simpler_tensor *z)
{
    struct simpler_create_info info;
    struct simpler_task_outputs out;
    struct simpler_task_args args;

    int rc = simpler_create_info_init(&info, x->shape, x->ndims, x->dtype);
    if (rc != 0)
        return rc;
    simpler_task_args_reset(&args);
    simpler_task_args_add_input(&args, x);
    simpler_task_args_add_create(&args, &info);
    simpler_task_args_add_scalar(&args, SIMPLER_SCALAR(summand));
    rc = simpler_orch_submit_aiv(orch, ADD_SCALAR, &args, &out);
    if (rc == 0)
        *z = out.tensor[0];
    return rc;
}

/* A submit fails only when the run has failed: then there is nothing more to do. */
static void orchestrate(struct simpler_orch *orch, const struct simpler_orch_args *args)
{
    struct simpler_tensor c, d, e, g;
    struct simpler_task_args last;

    if (submit_new(orch, ADD, &args->tensor[A], &args->tensor[B], &c) != 0)
        return;
    SIMPLER_SCOPE(orch)
    {
        if (submit_add_scalar(orch, &c, 1.0f, &d) != 0 ||
            submit_add_scalar(orch, &c, 2.0f, &e) != 0 ||
            submit_new(orch, MULTIPLY, &d, &e, &g) != 0)
            return;
        simpler_task_args_reset(&last);
        simpler_task_args_add_input(&last, &g);
        simpler_task_args_add_input(&last, &c);
        simpler_task_args_add_output(&last, &args->tensor[F]);
        (void)simpler_orch_submit_aiv(orch, ADD, &last, NULL);
    }
}

/* The scene: makes a and b, and compares f. */

struct state {
    struct simpler_tensor tensor[TENSORS];
    float *data[TENSORS];
};

static int prepare(struct simpler_scene_run *run, char *message, size_t message_bytes)
{
    const uint32_t count = (uint32_t)run->param[0];
    struct state *s = calloc(1, sizeof(*s));
    if (s == NULL)
        return SIMPLER_ENOMEM;
    run->state = s;
    for (int t = 0; t < TENSORS; t++) {
        s->data[t] = calloc(count, sizeof(float));
        if (s->data[t] == NULL) {
            (void)snprintf(message, message_bytes, "no memory for %u element%s", count,
                           count == 1 ? "" : "s");
            return SIMPLER_ENOMEM;
        }
        (void)simpler_tensor_init(&s->tensor[t], s->data[t], &count, 1, SIMPLER_DTYPE_FLOAT32);
    }
    for (uint32_t i = 0; i < count; i++) {
        s->data[A][i] = (float)(i % 1000) * 0.25f;
        s->data[B][i] = (float)(i % 77) / 3.0f;
    }
    run->args = (struct simpler_orch_args){.tensor = s->tensor, .tensor_count = TENSORS};
    return 0;
}

/* One rounding an operation, in the same order: the bits must be the same. */
static int check(struct simpler_scene_run *run, char *message, size_t message_bytes)
{
    const struct state *s = run->state;
    const uint32_t count = (uint32_t)run->param[0];

    for (uint32_t i = 0; i < count; i++) {
        const float c = s->data[A][i] + s->data[B][i];
        const float right = (c + 1.0f) * (c + 2.0f) + c;
        if (s->data[F][i] != right) {
            (void)snprintf(message, message_bytes, "f[%u] is %.9g, right is %.9g", i,
                           (double)s->data[F][i], (double)right);
            return 1;
        }
    }
    (void)snprintf(message, message_bytes, "%u element%s, all exact", count, count == 1 ? "" : "s");
    return 0;
}

static void finish(struct simpler_scene_run *run)
{
    struct state *s = run->state;
    if (s == NULL)
        return;
    for (int t = 0; t < TENSORS; t++)
        free(s->data[t]);
    free(s);
    run->state = NULL;
}

static const struct simpler_scene_param params[] = {
    {"elements", "elements of each vector", 16384, 1, 1 << 28},
    {NULL, NULL, 0, 0, 0},
};

static const struct simpler_scene_case cases[] = {{.name = "default"}};

SIMPLER_API const struct simpler_scene simpler_scene = {
    .abi = SIMPLER_SCENE_ABI,
    .hazards = SIMPLER_HAZARDS_ALL,
    .name = "vector_example",
    .description = "f = (a+b+1)(a+b+2)+(a+b) as five vector tasks in two scopes",
    .callable = {.name = "vector_example",
                 .orchestrate = orchestrate,
                 .file = __FILE__,
                 .line = __LINE__,
                 .kernels = kernels,
                 .kernel_count = sizeof(kernels) / sizeof(kernels[0]),
                 .expected_arg_count = TENSORS},
    .params = params,
    .cases = cases,
    .case_count = 1,
    .prepare = prepare,
    .check = check,
    .finish = finish,
};
