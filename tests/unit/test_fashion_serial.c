/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The serial training that the fashion_mnist scene is compared with: against
 * values computed by hand and against finite differences of the loss.
 */
#include "../../examples/fashion_mnist/serial.c"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>

#include "cm.h"

struct network {
    struct fashion_config config;
    struct fashion_images images;
    struct fashion_weights weights;
    size_t size1, size2;
    float *memory, *scratch;
    uint8_t *pixel, *label;
};

/* All weights and pixels 0, labels i % 10. */
static struct network make(uint32_t hidden, uint32_t batch)
{
    struct network n = {.config = {hidden, batch, 1.0f, 0.0f}};
    n.size1 = FASHION_INPUTS * (size_t)hidden;
    n.size2 = ((size_t)hidden + 1) * FASHION_CLASSES;
    n.memory = calloc(2 * (n.size1 + n.size2), sizeof(float));
    n.scratch = malloc(fashion_serial_scratch(&n.config) * sizeof(float));
    n.pixel = calloc(batch, FASHION_PIXELS);
    n.label = malloc(batch);
    assert_true(n.memory != NULL && n.scratch != NULL && n.pixel != NULL && n.label != NULL);
    n.weights = (struct fashion_weights){n.memory, n.memory + n.size1, n.memory + 2 * n.size1,
                                         n.memory + 2 * n.size1 + n.size2};
    for (uint32_t i = 0; i < batch; i++)
        n.label[i] = (uint8_t)(i % FASHION_CLASSES);
    n.images = (struct fashion_images){n.pixel, n.label, batch};
    return n;
}

static void drop(struct network *n)
{
    free(n->memory);
    free(n->scratch);
    free(n->pixel);
    free(n->label);
}

static float step(struct network *n)
{
    return fashion_serial_step(&n->config, &n->images, 0, &n->weights, n->scratch);
}

static void near_to(double is, double should, double tolerance)
{
    if (!(fabs(is - should) <= tolerance))
        fail_msg("is %.9g, should be %.9g within %g", is, should, tolerance);
}

/*
 * One unit whose bias is 2, no output weights: every class has p = 1/10, the
 * loss is log 10 and dz = 1/10 - (c == label).  The unit's output is 2.
 */
static void test_one_step_by_hand(void **state)
{
    (void)state;
    struct network n = make(1, 1);
    n.label[0] = 3;
    n.weights.w1[FASHION_PIXELS] = 2.0f;
    near_to((double)step(&n), log(10.0), 1e-6);
    for (size_t c = 0; c < FASHION_CLASSES; c++) {
        const double dz = 0.1 - (c == 3 ? 1.0 : 0.0);
        near_to((double)n.weights.w2[c], -2.0 * dz, 1e-6);             /* the unit's weight */
        near_to((double)n.weights.w2[FASHION_CLASSES + c], -dz, 1e-6); /* the bias */
    }
    /* dh = dz . w2 = 0 before the step, so that the first layer is as it was. */
    assert_true(n.weights.w1[FASHION_PIXELS] == 2.0f);
    drop(&n);
}

/* A pixel of 51 is 0.2; w1 = -1 leaves the unit dark and its weights untouched. */
static void test_a_dark_unit_learns_nothing(void **state)
{
    (void)state;
    struct network n = make(2, 1);
    memset(n.pixel, 51, FASHION_PIXELS);
    for (size_t k = 0; k < FASHION_PIXELS; k++) {
        n.weights.w1[2 * k] = -1.0f;
        n.weights.w1[2 * k + 1] = 1.0f / 156.8f; /* the sum over 784 * 0.2 is 1 */
    }
    n.weights.w2[FASHION_CLASSES] = 1.0f; /* from the second unit to class 0 */
    const double e = exp(1.0), sum = e + 9.0;
    near_to((double)step(&n), log(sum) - 1.0, 1e-4);
    /* Label 0: dz[0] = e / sum - 1, and only class 0 leads back to the second unit. */
    near_to((double)n.weights.v1[1], -0.2 * (e / sum - 1.0), 1e-4);
    for (size_t k = 0; k < FASHION_INPUTS; k++)
        assert_true(n.weights.v1[2 * k] == 0.0f);
    drop(&n);
}

/* v = 0.5 v - 2 g, w = w + v on weights whose gradient is 0. */
static void test_momentum(void **state)
{
    (void)state;
    struct network n = make(1, 1);
    n.config.momentum = 0.5f;
    n.config.rate = 2.0f;
    n.weights.v1[5] = 8.0f;
    (void)step(&n);
    assert_true(n.weights.v1[5] == 4.0f && n.weights.w1[5] == 4.0f);
    (void)step(&n);
    assert_true(n.weights.v1[5] == 2.0f && n.weights.w1[5] == 6.0f);
    drop(&n);
}

static double loss_with(struct network *n, float *weight, float value)
{
    const float before = *weight;
    n->config.rate = 0.0f;
    *weight = value;
    const double loss = (double)step(n);
    *weight = before;
    return loss;
}

/* The velocity after a step of rate 1 from rest is minus the gradient. */
static void compare_gradient(struct network *n, float *w, const float *v, size_t count,
                             size_t every)
{
    const float e = 0.005f;
    size_t large = 0;
    for (size_t i = 0; i < count; i += every) {
        const float at = w[i];
        const double up = loss_with(n, &w[i], at + e), down = loss_with(n, &w[i], at - e);
        near_to(-(double)v[i], (up - down) / (2.0 * (double)e), 1e-3);
        large += fabsf(v[i]) > 1e-2f;
    }
    assert_true(large > 10); /* a test on gradients that are all 0 would say nothing */
}

static void test_gradient_by_finite_differences(void **state)
{
    (void)state;
    struct network n = make(6, 4);
    uint64_t seed = 7;
    for (size_t p = 0; p < 4 * FASHION_PIXELS; p++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        n.pixel[p] = (uint8_t)(seed >> 56);
    }
    fashion_serial_init(6, &n.weights);
    const size_t bytes = (n.size1 + n.size2) * 2 * sizeof(float);
    float *start = malloc(bytes), *moved = malloc(bytes);
    assert_true(start != NULL && moved != NULL);
    memcpy(start, n.memory, bytes);
    (void)step(&n);
    memcpy(moved, n.memory, bytes);
    memcpy(n.memory, start, bytes);
    n.config.momentum = 0.0f;
    compare_gradient(&n, n.weights.w1, moved + n.size1, n.size1, 29);
    compare_gradient(&n, n.weights.w2, moved + 2 * n.size1 + n.size2, n.size2, 1);
    free(start);
    free(moved);
    drop(&n);
}

/* With output biases alone the answer is the class of the largest, whatever the image. */
static void test_correct_counts(void **state)
{
    (void)state;
    struct network n = make(1, 25);
    n.weights.w2[FASHION_CLASSES + 7] = 1.0f; /* labels 7 and 17 */
    assert_int_equal(fashion_serial_correct(1, &n.images, &n.weights, n.scratch), 2);
    n.weights.w2[FASHION_CLASSES + 4] = 2.0f; /* labels 4, 14 and 24 */
    assert_int_equal(fashion_serial_correct(1, &n.images, &n.weights, n.scratch), 3);
    drop(&n);
}

static void test_rate_is_halved_after_each_epoch_but_the_first(void **state)
{
    (void)state;
    const float expected[] = {8.0f, 8.0f, 4.0f, 2.0f, 1.0f, 0.5f, 0.25f};
    for (uint32_t epoch = 0; epoch < 7; epoch++)
        assert_true(fashion_rate(8.0f, epoch) == expected[epoch]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_step_by_hand),
        cmocka_unit_test(test_a_dark_unit_learns_nothing),
        cmocka_unit_test(test_momentum),
        cmocka_unit_test(test_gradient_by_finite_differences),
        cmocka_unit_test(test_correct_counts),
        cmocka_unit_test(test_rate_is_halved_after_each_epoch_but_the_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
