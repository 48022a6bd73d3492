/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Trains a two-layer network on Fashion-MNIST (Debian: dataset-fashion-mnist).
 * It is right when the losses of its batches equal those of serial.c bit for
 * bit and the trained network labels enough test images correctly.
 */
#include "simpler/scene.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dataset.h"
#include "graph.h"
#include "kernels.h"
#include "serial.h"

enum { P_EPOCHS, P_BATCH, P_HIDDEN, P_LIMIT, P_CHECK_EPOCHS, P_ACCURACY };

static const struct simpler_scene_param params[] = {
    {"epochs", "passes over the training images", 6, 1, 1000},
    {"batch", "images a step; a remainder of the images is left out", 100, 1, 500},
    {"hidden", "units of the hidden layer", 128, 1, 512},
    {"limit", "training images, and test images, that are used at most", 60000, 1, 60000},
    {"check_epochs", "epochs whose losses are compared with the serial version", 2, 0, 1000},
    {"accuracy", "percent of the test images that must be right", 87, 0, 100},
    {NULL, NULL, 0, 0, 0},
};

static const struct simpler_scene_value small_params[] = {
    {"epochs", 3},       {"batch", 50},    {"hidden", 40}, {"limit", 1500},
    {"check_epochs", 3}, {"accuracy", 70}, {NULL, 0},
};

/*
 * Rings far smaller than the defaults: some ten batches are in flight, whose
 * tensors fit the caches.  Rings 0 and 1 (root and epoch) hold nothing.
 */
#define RUNTIME_ENV                                                                            \
    {                                                                                          \
        .ring_task_window = {16, 16, 128, 512}, .ring_heap = {65536, 65536, 8 << 20, 8 << 20}, \
    }

static const struct simpler_scene_case cases[] = {
    {.name = "default", .config = {.runtime_env = RUNTIME_ENV}},
    {.name = "small", .config = {.runtime_env = RUNTIME_ENV}, .params = small_params},
};

/* One training: the images, the weights and the losses. */
struct state {
    struct fashion_training training;
    struct fashion_images train, test;
    struct fashion_weights weights;
    float *memory; /* of all weights and velocities */
    float *losses;
    struct simpler_tensor tensor[FASHION_TENSORS];
};

/* Weights and velocities in one piece of memory, initialised; NULL if there is none. */
static float *make_weights(uint32_t hidden, struct fashion_weights *out)
{
    const size_t size1 = FASHION_INPUTS * (size_t)hidden;
    const size_t size2 = ((size_t)hidden + 1) * FASHION_CLASSES;
    float *memory = calloc(2 * (size1 + size2), sizeof(float));
    if (memory == NULL)
        return NULL;
    out->w1 = memory;
    out->v1 = out->w1 + size1;
    out->w2 = out->v1 + size1;
    out->v2 = out->w2 + size2;
    fashion_serial_init(hidden, out);
    return memory;
}

static int describe(struct state *s)
{
    const uint32_t hidden = s->training.config.hidden, units = hidden + 1;
    const uint32_t count = s->train.count, losses = s->training.epochs * s->training.steps;
    struct simpler_tensor *t = s->tensor;
    int rc = 0;

    rc |= simpler_tensor_init(&t[FASHION_T_PIXELS], s->train.pixel,
                              SIMPLER_DIMS(count, FASHION_PIXELS), SIMPLER_DTYPE_UINT8);
    rc |= simpler_tensor_init(&t[FASHION_T_LABELS], s->train.label, SIMPLER_DIMS(count),
                              SIMPLER_DTYPE_UINT8);
    rc |= simpler_tensor_init(&t[FASHION_T_W1], s->weights.w1, SIMPLER_DIMS(FASHION_INPUTS, hidden),
                              SIMPLER_DTYPE_FLOAT32);
    rc |= simpler_tensor_init(&t[FASHION_T_V1], s->weights.v1, SIMPLER_DIMS(FASHION_INPUTS, hidden),
                              SIMPLER_DTYPE_FLOAT32);
    rc |= simpler_tensor_init(&t[FASHION_T_W2], s->weights.w2, SIMPLER_DIMS(units, FASHION_CLASSES),
                              SIMPLER_DTYPE_FLOAT32);
    rc |= simpler_tensor_init(&t[FASHION_T_V2], s->weights.v2, SIMPLER_DIMS(units, FASHION_CLASSES),
                              SIMPLER_DTYPE_FLOAT32);
    rc |= simpler_tensor_init(&t[FASHION_T_LOSSES], s->losses, SIMPLER_DIMS(losses),
                              SIMPLER_DTYPE_FLOAT32);
    return rc == 0 ? 0 : SIMPLER_EINVAL;
}

static int prepare(struct simpler_scene_run *run, char *message, size_t message_bytes)
{
    const int64_t *param = run->param;
    const uint32_t limit = (uint32_t)param[P_LIMIT];
    struct state *s = calloc(1, sizeof(*s));
    if (s == NULL)
        return SIMPLER_ENOMEM;
    run->state = s;
    s->training.config =
        (struct fashion_config){(uint32_t)param[P_HIDDEN], (uint32_t)param[P_BATCH], 0.05f, 0.9f};
    s->training.epochs = (uint32_t)param[P_EPOCHS];
    int rc = fashion_dataset_read("train", limit, &s->train, message, message_bytes);
    if (rc == 0)
        rc = fashion_dataset_read("t10k", limit, &s->test, message, message_bytes);
    if (rc != 0)
        return rc;
    s->training.steps = s->train.count / s->training.config.batch;
    if (s->training.steps == 0) {
        (void)snprintf(
            message, message_bytes, "a batch of %u image%s is more than the %u there are",
            s->training.config.batch, s->training.config.batch == 1 ? "" : "s", s->train.count);
        return SIMPLER_EINVAL;
    }
    s->memory = make_weights(s->training.config.hidden, &s->weights);
    s->losses = calloc((size_t)s->training.epochs * s->training.steps, sizeof(float));
    if (s->memory == NULL || s->losses == NULL)
        return SIMPLER_ENOMEM;
    run->args = (struct simpler_orch_args){
        .tensor = s->tensor, .tensor_count = FASHION_TENSORS, .user = &s->training};
    return describe(s);
}

/* Trains serially and compares the losses of the first @epochs; 0 if all are equal. */
static int compare_losses(const struct state *s, struct fashion_weights *weights, float *scratch,
                          uint32_t epochs, char *message, size_t message_bytes)
{
    struct fashion_config config = s->training.config;

    for (uint32_t n = 0; n < epochs * s->training.steps; n++) {
        const uint32_t epoch = n / s->training.steps, step = n % s->training.steps;
        config.rate = fashion_rate(s->training.config.rate, epoch);
        const float loss =
            fashion_serial_step(&config, &s->train, step * config.batch, weights, scratch);
        if (memcmp(&loss, &s->losses[n], sizeof(loss)) != 0) {
            (void)snprintf(message, message_bytes,
                           "epoch %u, batch %u: the loss is %.9g, serially %.9g", epoch, step,
                           (double)s->losses[n], (double)loss);
            return 1;
        }
    }
    return 0;
}

static double mean_loss(const struct state *s, uint32_t epoch)
{
    double sum = 0.0;
    for (uint32_t step = 0; step < s->training.steps; step++)
        sum += (double)s->losses[epoch * s->training.steps + step];
    return sum / s->training.steps;
}

static int judge(const struct simpler_scene_run *run, float *scratch, double seconds,
                 uint32_t compared, char *message, size_t message_bytes)
{
    const struct state *s = run->state;
    const struct fashion_training *t = &s->training;
    const uint32_t correct =
        fashion_serial_correct(t->config.hidden, &s->test, &s->weights, scratch);
    const double percent = 100.0 * correct / s->test.count;
    const int enough = percent >= (double)run->param[P_ACCURACY];

    char equal[96] = "losses not compared";
    if (compared != 0)
        (void)snprintf(equal, sizeof(equal),
                       "the losses of %u batch%s equal the serial version's bit for bit", compared,
                       compared == 1 ? "" : "es");
    (void)snprintf(message, message_bytes,
                   "test accuracy %.2f %%%s after %u epoch%s in %.1f s; mean loss %.4f at first, "
                   "%.4f at last; %s",
                   percent, enough ? "" : " (too low)", t->epochs, t->epochs == 1 ? "" : "s",
                   seconds, mean_loss(s, 0), mean_loss(s, t->epochs - 1), equal);
    return enough ? 0 : 1;
}

static int check(struct simpler_scene_run *run, char *message, size_t message_bytes)
{
    const struct state *s = run->state;
    const double seconds = (double)(fashion_now_ns() - s->training.start_ns) * 1e-9;
    const uint32_t asked = (uint32_t)run->param[P_CHECK_EPOCHS];
    const uint32_t epochs = asked < s->training.epochs ? asked : s->training.epochs;
    struct fashion_weights weights;
    float *memory = make_weights(s->training.config.hidden, &weights);
    float *scratch = malloc(fashion_serial_scratch(&s->training.config) * sizeof(float));
    int wrong = 1;

    if (memory == NULL || scratch == NULL)
        (void)snprintf(message, message_bytes, "out of memory for the comparison");
    else
        wrong = compare_losses(s, &weights, scratch, epochs, message, message_bytes) ||
                judge(run, scratch, seconds, epochs * s->training.steps, message, message_bytes);
    free(scratch);
    free(memory);
    return wrong;
}

static void finish(struct simpler_scene_run *run)
{
    struct state *s = run->state;
    if (s == NULL)
        return;
    fashion_dataset_free(&s->train);
    fashion_dataset_free(&s->test);
    free(s->memory);
    free(s->losses);
    free(s);
    run->state = NULL;
}

SIMPLER_API const struct simpler_scene simpler_scene = {
    .abi = SIMPLER_SCENE_ABI,
    .hazards = SIMPLER_HAZARDS_ALL,
    .name = "fashion_mnist",
    .description = "trains a two-layer network on Fashion-MNIST",
    .callable = {.name = "fashion_train",
                 .orchestrate = fashion_train,
                 .file = __FILE__,
                 .line = __LINE__,
                 .kernels = fashion_kernels,
                 .kernel_count = FASHION_KERNELS,
                 .expected_arg_count = FASHION_TENSORS},
    .params = params,
    .cases = cases,
    .case_count = sizeof(cases) / sizeof(cases[0]),
    .prepare = prepare,
    .check = check,
    .finish = finish,
};
