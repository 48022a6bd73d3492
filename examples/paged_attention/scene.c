/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Attention of some heads over a cache of keys and values in pages, as a decoder does it:
 * each sequence has its own length and a table of its pages.  The pages of a sequence are
 * merged one by one (online softmax), so that no row of scores is ever whole.  Case auto
 * leaves the order to the runtime; case manual gives every dependency itself.
 */
#include "../scene_data.h"
#include "kernels.h"

enum { Q, K, V, TABLE, LENGTH, OUT, TENSORS };

/* What the tasks of one sequence share. */
struct sequence {
    struct simpler_orch *orch;
    const struct simpler_tensor *tensor;
    uint32_t index, heads, depth, tokens;
    int manual;
    struct simpler_tensor q, out, state;
    struct simpler_task_id merged; /* the last MERGE, or the state's allocation */
};

/* The task comes after these, if nothing is inferred. */
static void come_after(const struct sequence *s, struct simpler_task_deps *deps,
                       struct simpler_task_args *args)
{
    if (s->manual)
        simpler_task_deps_bind(deps, args);
}

static int make_info(struct simpler_create_info *info, uint32_t rows, uint32_t columns)
{
    return simpler_create_info_init(info, SIMPLER_DIMS(rows, columns), SIMPLER_DTYPE_FLOAT32);
}

static int pick_page(const struct sequence *s, int which, uint32_t page, struct simpler_tensor *out)
{
    return simpler_tensor_slice(&s->tensor[which], 0, page, page + 1, 1, out);
}

static int submit_page(struct sequence *s, uint32_t page, uint32_t valid)
{
    struct simpler_create_info scores, pairs, sums;
    struct simpler_task_outputs qk, soft, pv, merged;
    struct simpler_task_deps deps;
    struct simpler_task_args args;
    struct simpler_tensor k, v;

    if (pick_page(s, K, page, &k) != 0 || pick_page(s, V, page, &v) != 0 ||
        make_info(&scores, s->heads, s->tokens) != 0 || make_info(&pairs, s->heads, 2) != 0 ||
        make_info(&sums, s->heads, s->depth) != 0)
        return SIMPLER_EINVAL;
    simpler_task_args_reset(&args);
    simpler_task_args_add_input(&args, &s->q);
    simpler_task_args_add_input(&args, &k);
    simpler_task_args_add_create(&args, &scores);
    simpler_task_args_add_scalar(&args, SIMPLER_SCALAR(valid));
    int rc = simpler_orch_submit_aic(s->orch, SCORES, &args, &qk);

    simpler_task_deps_reset(&deps);
    simpler_task_deps_add(&deps, qk.id);
    simpler_task_args_reset(&args);
    simpler_task_args_add_input(&args, &qk.tensor[0]);
    simpler_task_args_add_create(&args, &scores);
    simpler_task_args_add_create(&args, &pairs);
    simpler_task_args_add_scalar(&args, SIMPLER_SCALAR(valid));
    come_after(s, &deps, &args);
    if (rc == 0)
        rc = simpler_orch_submit_aiv(s->orch, WEIGHTS, &args, &soft);
    if (rc != 0)
        return rc;

    simpler_task_deps_reset(&deps);
    simpler_task_deps_add(&deps, soft.id);
    simpler_task_args_reset(&args);
    simpler_task_args_add_input(&args, &soft.tensor[0]);
    simpler_task_args_add_input(&args, &v);
    simpler_task_args_add_create(&args, &sums);
    simpler_task_args_add_scalar(&args, SIMPLER_SCALAR(valid));
    come_after(s, &deps, &args);
    rc = simpler_orch_submit_aic(s->orch, VALUES, &args, &pv);
    if (rc != 0)
        return rc;

    simpler_task_deps_add(&deps, pv.id);
    simpler_task_deps_add(&deps, s->merged);
    simpler_task_args_reset(&args);
    simpler_task_args_add_input(&args, &soft.tensor[1]);
    simpler_task_args_add_input(&args, &pv.tensor[0]);
    simpler_task_args_add_inout(&args, &s->state);
    come_after(s, &deps, &args);
    rc = simpler_orch_submit_aiv(s->orch, MERGE, &args, &merged);
    s->merged = merged.id;
    return rc;
}

/* Nothing is known yet: no sum, no weight, and the smallest maximum. */
static int make_state(struct sequence *s)
{
    struct simpler_create_info info;
    struct simpler_task_outputs made;
    float nothing = -1e30f;
    int rc = make_info(&info, s->heads, s->depth + 2);

    /* Sums of that size vanish when the first page's maximum is taken: exp(-1e30 - m) is 0. */
    simpler_create_info_set_initial_value(&info, &nothing);
    if (rc == 0)
        rc = simpler_orch_alloc_tensors(s->orch, &info, 1, &made);
    s->state = made.tensor[0];
    s->merged = made.id;
    return rc;
}

static int submit_sequence(struct sequence *s)
{
    struct simpler_task_args args;
    int32_t length = 0, page = 0;
    uint32_t at[] = {s->index, 0};
    int rc = simpler_orch_get_tensor_data(s->orch, &s->tensor[LENGTH], at, &length);

    if (rc == 0)
        rc = make_state(s);
    for (uint32_t done = 0; rc == 0 && done < (uint32_t)length; done += s->tokens, at[1]++) {
        uint32_t left = (uint32_t)length - done;
        rc = simpler_orch_get_tensor_data(s->orch, &s->tensor[TABLE], at, &page);
        if (rc == 0)
            rc = submit_page(s, (uint32_t)page, left < s->tokens ? left : s->tokens);
    }
    if (rc != 0)
        return rc;
    simpler_task_args_reset(&args);
    simpler_task_args_add_input(&args, &s->state);
    simpler_task_args_add_output(&args, &s->out);
    if (s->manual)
        simpler_task_args_set_dependencies(&args, &s->merged, 1);
    return simpler_orch_submit_aiv(s->orch, DIVIDE, &args, NULL);
}

static void orchestrate(struct simpler_orch *orch, const struct simpler_orch_args *args)
{
    const struct simpler_tensor *t = args->tensor;
    struct sequence s = {.orch = orch, .tensor = t, .manual = args->scalar[0] != 0};

    s.heads = t[Q].shape[1];
    s.depth = t[Q].shape[2];
    s.tokens = t[K].shape[1];
    for (s.index = 0; s.index < t[Q].shape[0]; s.index++) {
        if (simpler_tensor_slice(&t[Q], 0, s.index, s.index + 1, 1, &s.q) != 0 ||
            simpler_tensor_slice(&t[OUT], 0, s.index, s.index + 1, 1, &s.out) != 0)
            return;
        SIMPLER_SCOPE_MODE(orch, s.manual ? SIMPLER_SCOPE_MANUAL : SIMPLER_SCOPE_AUTO)
        {
            if (submit_sequence(&s) != 0)
                return;
        }
    }
}

/* ---- the scene ---- */

enum { SEQUENCES, HEADS, DEPTH, TOKENS, PAGES, MANUAL };

struct state {
    struct scene_data data;
    uint64_t manual;
};

/* Lengths from one token on; the pages of the pool in an order that is nobody's. */
static void fill_tables(struct state *s, const int64_t *param)
{
    int32_t *table = s->data.data[TABLE], *length = s->data.data[LENGTH];
    int64_t pool = param[SEQUENCES] * param[PAGES];

    for (int64_t b = 0; b < param[SEQUENCES]; b++) {
        length[b] = (int32_t)(1 + b * 7919 % (param[PAGES] * param[TOKENS]));
        for (int64_t p = 0; p < param[PAGES]; p++)
            table[b * param[PAGES] + p] = (int32_t)(pool - 1 - (p * param[SEQUENCES] + b));
    }
}

static int prepare(struct simpler_scene_run *run, char *message, size_t bytes)
{
    const int64_t *p = run->param;
    uint32_t n = (uint32_t)p[SEQUENCES], heads = (uint32_t)p[HEADS], depth = (uint32_t)p[DEPTH];
    uint32_t pages = (uint32_t)p[PAGES];
    uint32_t q[] = {n, heads, depth}, pool[] = {n * pages, (uint32_t)p[TOKENS], depth};
    struct state *s = run->state = calloc(1, sizeof(*s));

    if (s == NULL)
        return SIMPLER_ENOMEM;
    s->manual = (uint64_t)p[MANUAL];
    if (scene_data_random(&s->data, q, 3) == NULL || scene_data_random(&s->data, pool, 3) == NULL ||
        scene_data_random(&s->data, pool, 3) == NULL ||
        scene_data_add(&s->data, SIMPLER_DTYPE_INT32, (const uint32_t[]){n, pages}, 2) == NULL ||
        scene_data_add(&s->data, SIMPLER_DTYPE_INT32, &n, 1) == NULL ||
        scene_data_add(&s->data, SIMPLER_DTYPE_FLOAT32, q, 3) == NULL) {
        (void)snprintf(message, bytes, "no memory for %u sequence%s", n, n == 1 ? "" : "s");
        return SIMPLER_ENOMEM;
    }
    for (uint32_t i = 0; i < n * heads * depth; i++)
        ((float *)s->data.data[Q])[i] *= 4; /* scores far enough apart for a softmax to matter */
    fill_tables(s, p);
    run->args = (struct simpler_orch_args){
        .tensor = s->data.tensor, .tensor_count = TENSORS, .scalar = &s->manual, .scalar_count = 1};
    return 0;
}

/* One head of one sequence, whole, in double. */
static void attend(const struct state *s, const int64_t *p, int64_t b, int64_t h, double *right)
{
    const float *k = s->data.data[K], *v = s->data.data[V];
    const float *q = (const float *)s->data.data[Q] + (b * p[HEADS] + h) * p[DEPTH];
    const int32_t *table = (const int32_t *)s->data.data[TABLE] + b * p[PAGES];
    int32_t length = ((const int32_t *)s->data.data[LENGTH])[b];
    double sum = 0;

    for (int32_t t = 0; t < length; t++) {
        int64_t at = (table[t / p[TOKENS]] * p[TOKENS] + t % p[TOKENS]) * p[DEPTH];
        double score = 0;
        for (int64_t d = 0; d < p[DEPTH]; d++)
            score += (double)q[d] * k[at + d];
        double w = exp(score / sqrt((double)p[DEPTH]));
        sum += w;
        for (int64_t d = 0; d < p[DEPTH]; d++)
            right[d] += w * v[at + d];
    }
    for (int64_t d = 0; d < p[DEPTH]; d++)
        right[d] /= sum;
}

static int check(struct simpler_scene_run *run, char *message, size_t bytes)
{
    const struct state *s = run->state;
    const int64_t *p = run->param;
    uint64_t n = (uint64_t)(p[SEQUENCES] * p[HEADS] * p[DEPTH]);
    double *right = calloc(n, sizeof(*right));

    if (right == NULL)
        return 1;
    for (int64_t b = 0; b < p[SEQUENCES]; b++) {
        for (int64_t h = 0; h < p[HEADS]; h++)
            attend(s, p, b, h, &right[(b * p[HEADS] + h) * p[DEPTH]]);
    }
    int wrong = scene_data_compare(s->data.data[OUT], right, n, 1e-5, message, bytes);
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
    {"sequences", "sequences of the batch", 24, 1, 4096},
    {"heads", "heads of a query", 16, 1, 256},
    {"depth", "numbers of a key, a query, a value", 64, 1, 1024},
    {"tokens", "tokens of a page", 32, 1, 1024},
    {"pages", "most pages of a sequence", 12, 1, 4096},
    {"manual", "1: explicit dependencies alone", 0, 0, 1},
    {NULL, NULL, 0, 0, 0},
};
static const struct simpler_scene_value manual_case[] = {{"manual", 1}, {NULL, 0}};
static const struct simpler_scene_case cases[] = {
    {.name = "auto"},
    {.name = "manual", .params = manual_case},
};

SIMPLER_API const struct simpler_scene simpler_scene = {
    .abi = SIMPLER_SCENE_ABI,
    .hazards = SIMPLER_HAZARDS_ALL,
    .name = "paged_attention",
    .description = "attention over a paged cache with online softmax, orders inferred or explicit",
    .callable = {.name = "paged_attention",
                 .orchestrate = orchestrate,
                 .file = __FILE__,
                 .line = __LINE__,
                 .kernels = attention_kernels,
                 .kernel_count = KERNELS,
                 .expected_arg_count = TENSORS + 1},
    .params = params,
    .cases = cases,
    .case_count = 2,
    .prepare = prepare,
    .check = check,
    .finish = finish,
};
