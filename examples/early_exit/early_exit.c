/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Jacobi's method for A x = b with a fixed number of rounds submitted: every task of a
 * round has the predicate "not yet converged", so that the rounds behind the last one
 * that is needed are done without a run.  The orchestration never waits.
 */
#include "../scene_data.h"

enum { SWEEP, SETTLE };
enum { A, B, X, OPEN, ROUNDS, TENSORS };
#define ENOUGH 1e-6f

/* next = D^-1 (b - R x): the rows of this block. */
static int sweep(int64_t *args)
{
    const struct simpler_tensor *a = simpler_kernel_tensor(args, 0);
    const float *b = simpler_kernel_data(args, 1), *x = simpler_kernel_data(args, 2);
    float *next = simpler_kernel_data(args, 4);
    uint32_t n = a->shape[0], blocks = (uint32_t)simpler_kernel_block_num(args);

    for (uint32_t i = (uint32_t)simpler_kernel_block_idx(args); i < n; i += blocks) {
        const float *row = (const float *)simpler_tensor_data(a) + (uint64_t)i * n;
        float rest = b[i];
        for (uint32_t k = 0; k < n; k++)
            rest -= k == i ? 0 : row[k] * x[k];
        next[i] = rest / row[i];
    }
    return 0;
}

/* x = next; not open any more when nothing has moved. */
static int settle(int64_t *args)
{
    uint64_t n = simpler_tensor_numel(simpler_kernel_tensor(args, 0));
    const float *next = simpler_kernel_data(args, 0);
    float *x = simpler_kernel_data(args, 1), moved = 0;
    int32_t *open = simpler_kernel_data(args, 2), *rounds = simpler_kernel_data(args, 3);

    for (uint64_t i = 0; i < n; i++) {
        moved = fmaxf(moved, fabsf(next[i] - x[i]));
        x[i] = next[i];
    }
    *open = moved > ENOUGH;
    *rounds += 1;
    return 0;
}

static const uint8_t sweep_signature[] = {SIMPLER_DIR_IN, SIMPLER_DIR_IN, SIMPLER_DIR_IN,
                                          SIMPLER_DIR_IN, SIMPLER_DIR_OUT};
static const uint8_t settle_signature[] = {SIMPLER_DIR_IN, SIMPLER_DIR_INOUT, SIMPLER_DIR_INOUT,
                                           SIMPLER_DIR_INOUT};
static const struct simpler_kernel kernels[] = {
    {SWEEP, SIMPLER_CORE_AIC, "sweep", sweep, sweep_signature, 5},
    {SETTLE, SIMPLER_CORE_AIV, "settle", settle, settle_signature, 4},
};

static int submit_round(struct simpler_orch *orch, const struct simpler_tensor *t,
                        const struct simpler_tensor *next, int32_t blocks)
{
    struct simpler_predicate is_open = {&t[OPEN], {0}, SIMPLER_PREDICATE_NE, 0};
    struct simpler_task_args args;

    simpler_task_args_reset(&args);
    simpler_task_args_add_input(&args, &t[A]);
    simpler_task_args_add_input(&args, &t[B]);
    simpler_task_args_add_input(&args, &t[X]);
    simpler_task_args_add_input(&args, &t[OPEN]); /* whoever writes it is waited for */
    simpler_task_args_add_output(&args, next);
    simpler_task_args_set_block_num(&args, blocks);
    simpler_task_args_set_predicate(&args, &is_open);
    int rc = simpler_orch_submit_aic(orch, SWEEP, &args, NULL);
    if (rc != 0)
        return rc;
    simpler_task_args_reset(&args);
    simpler_task_args_add_input(&args, next);
    simpler_task_args_add_inout(&args, &t[X]);
    simpler_task_args_add_inout(&args, &t[OPEN]);
    simpler_task_args_add_inout(&args, &t[ROUNDS]);
    simpler_task_args_set_predicate(&args, &is_open);
    return simpler_orch_submit_aiv(orch, SETTLE, &args, NULL);
}

static void orchestrate(struct simpler_orch *orch, const struct simpler_orch_args *args)
{
    struct simpler_create_info info;
    struct simpler_task_outputs next;

    if (simpler_create_info_init(&info, args->tensor[X].shape, 1, SIMPLER_DTYPE_FLOAT32) != 0 ||
        simpler_orch_alloc_tensors(orch, &info, 1, &next) != 0)
        return;
    for (uint64_t i = 0; i < args->scalar[0]; i++) {
        if (submit_round(orch, args->tensor, &next.tensor[0], (int32_t)args->scalar[1]) != 0)
            return;
    }
}

/* ---- the scene ---- */

struct state {
    struct scene_data data;
    uint64_t scalar[2];
};

static int prepare(struct simpler_scene_run *run, char *message, size_t bytes)
{
    uint32_t n = (uint32_t)run->param[0], one = 1;
    struct state *s = run->state = calloc(1, sizeof(*s));

    if (s == NULL)
        return SIMPLER_ENOMEM;
    s->scalar[0] = (uint64_t)run->param[1];
    s->scalar[1] = (uint64_t)run->param[2];
    float *a = scene_data_random(&s->data, (const uint32_t[]){n, n}, 2);
    if (a == NULL || scene_data_random(&s->data, &n, 1) == NULL ||
        scene_data_add(&s->data, SIMPLER_DTYPE_FLOAT32, &n, 1) == NULL ||
        scene_data_add(&s->data, SIMPLER_DTYPE_INT32, &one, 1) == NULL ||
        scene_data_add(&s->data, SIMPLER_DTYPE_INT32, &one, 1) == NULL) {
        (void)snprintf(message, bytes, "no memory for %u unknown%s", n, n == 1 ? "" : "s");
        return SIMPLER_ENOMEM;
    }
    for (uint32_t i = 0; i < n; i++)
        a[(size_t)i * n + i] = (float)n; /* the sum of a row's others is about half of that */
    *(int32_t *)s->data.data[OPEN] = 1;
    run->args = (struct simpler_orch_args){
        .tensor = s->data.tensor, .tensor_count = TENSORS, .scalar = s->scalar, .scalar_count = 2};
    return 0;
}

/* Gauss, in double; the matrix is dominated by its diagonal. */
static double *solve(const struct state *s, uint32_t n)
{
    const float *a = s->data.data[A], *b = s->data.data[B];
    double *m = calloc((size_t)n * (n + 1), sizeof(*m)), *x = calloc(n, sizeof(*x));

    for (uint32_t i = 0; m != NULL && x != NULL && i < n; i++) {
        for (uint32_t k = 0; k < n; k++)
            m[(size_t)i * (n + 1) + k] = a[(size_t)i * n + k];
        m[(size_t)i * (n + 1) + n] = b[i];
    }
    for (uint32_t p = 0; m != NULL && x != NULL && p < n; p++) {
        for (uint32_t i = p + 1; i < n; i++) {
            double f = m[(size_t)i * (n + 1) + p] / m[(size_t)p * (n + 1) + p];
            for (uint32_t k = p; k <= n; k++)
                m[(size_t)i * (n + 1) + k] -= f * m[(size_t)p * (n + 1) + k];
        }
    }
    for (uint32_t i = n; m != NULL && x != NULL && i-- > 0;) {
        x[i] = m[(size_t)i * (n + 1) + n];
        for (uint32_t k = i + 1; k < n; k++)
            x[i] -= m[(size_t)i * (n + 1) + k] * x[k];
        x[i] /= m[(size_t)i * (n + 1) + i];
    }
    free(m);
    return x;
}

static int check(struct simpler_scene_run *run, char *message, size_t bytes)
{
    const struct state *s = run->state;
    int32_t rounds = *(const int32_t *)s->data.data[ROUNDS];
    double *right = solve(s, (uint32_t)run->param[0]);

    if (right == NULL)
        return 1;
    int wrong =
        scene_data_compare(s->data.data[X], right, (uint64_t)run->param[0], 1e-4, message, bytes);
    free(right);
    size_t at = strlen(message);
    (void)snprintf(message + at, bytes - at, "; of %lld round%s %d %s run",
                   (long long)run->param[1], run->param[1] == 1 ? "" : "s", rounds,
                   rounds == 1 ? "was" : "were");
    return wrong || rounds >= run->param[1] || *(const int32_t *)s->data.data[OPEN] != 0;
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
    {"unknowns", "unknowns of the system", 200, 1, 4000},
    {"rounds", "rounds that are submitted", 200, 2, 1 << 20},
    {"blocks", "blocks of a sweep", 8, 1, 1000},
    {NULL, NULL, 0, 0, 0},
};
static const struct simpler_scene_case cases[] = {{.name = "default"}};

SIMPLER_API const struct simpler_scene simpler_scene = {
    .abi = SIMPLER_SCENE_ABI,
    .hazards = SIMPLER_HAZARDS_ALL,
    .name = "early_exit",
    .description = "Jacobi's method whose rounds behind the last one that is needed do not run",
    .callable = {.name = "early_exit",
                 .orchestrate = orchestrate,
                 .file = __FILE__,
                 .line = __LINE__,
                 .kernels = kernels,
                 .kernel_count = sizeof(kernels) / sizeof(kernels[0]),
                 .expected_arg_count = TENSORS + 2},
    .params = params,
    .cases = cases,
    .case_count = 1,
    .prepare = prepare,
    .check = check,
    .finish = finish,
};
