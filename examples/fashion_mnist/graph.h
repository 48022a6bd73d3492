/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FASHION_GRAPH_H
#define FASHION_GRAPH_H

#include <stdint.h>

#include "network.h"
#include "simpler/orch.h"

/* The tensors that a run is given, in order. */
enum fashion_tensor {
    FASHION_T_PIXELS, /* uint8, images x 784 */
    FASHION_T_LABELS, /* uint8, images */
    FASHION_T_W1,     /* float32, 785 x hidden */
    FASHION_T_V1,
    FASHION_T_W2, /* float32, (hidden + 1) x 10 */
    FASHION_T_V2,
    FASHION_T_LOSSES, /* float32, epochs * steps of an epoch */
    FASHION_TENSORS
};

/* What args->user points to. */
struct fashion_training {
    struct fashion_config config;
    uint32_t epochs;
    uint32_t steps;    /* batches an epoch */
    uint64_t start_ns; /* the orchestration notes when it starts */
};

void fashion_train(struct simpler_orch *orch, const struct simpler_orch_args *args);
/* CLOCK_MONOTONIC in nanoseconds. */
uint64_t fashion_now_ns(void);

#endif
