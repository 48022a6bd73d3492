// SPDX-License-Identifier: Apache-2.0
// One layer of a small network recorded once as a graph and replayed with other
// weights and buffers (host_build_graph only).
#include <stdint.h>

#include "pto_orchestration_api.h"

#define FUNC_MATVEC     0
#define FUNC_LEAKY_RELU 1

// Tensors: x [n], weight [n, n], y [n]; scalar: the slope below zero. The
// configuration says how often the activation is applied.
static void layer(const GraphTaskArgs &graph_args, uint32_t activations)
{
    const ChipTensor &x = graph_args.tensor(0);
    const ChipTensor &weight = graph_args.tensor(1);
    const ChipTensor &y = graph_args.tensor(2);
    float slope = from_u64<float>(graph_args.scalar(0));

    CoreTaskArgs matvec;
    matvec.add_input(x, weight);
    matvec.add_output(y);
    rt_submit_aic_task(FUNC_MATVEC, matvec);

    for (uint32_t i = 0; i < activations; i++) {
        CoreTaskArgs activation;
        activation.add_inout(y);
        activation.add_scalar(slope);
        rt_submit_aiv_task(FUNC_LEAKY_RELU, activation);
    }
}

extern "C" {

__attribute__((visibility("default"))) PTO2OrchestrationConfig
aicpu_orchestration_config(const ChipTaskArgs &orch_args)
{
    (void)orch_args;
    return PTO2OrchestrationConfig{
        .expected_arg_count = 3,
    };
}

__attribute__((visibility("default"))) void
graph_replay_orchestration(const ChipTaskArgs &orch_args)
{
    const ChipTensor &states = orch_args.tensor(0);  // [layers + 1, n]
    const ChipTensor &weights = orch_args.tensor(1); // [layers, n, n]
    uint32_t layers = weights.shapes[0];
    uint32_t n = weights.shapes[1];
    uint32_t state_shapes[2] = {1, n};
    uint32_t weight_shapes[3] = {1, n, n};
    uint32_t vector[1] = {n};
    uint32_t matrix[2] = {n, n};

    for (uint32_t i = 0; i < layers; i++) {
        uint32_t x_at[2] = {i, 0};
        uint32_t y_at[2] = {i + 1, 0};
        uint32_t w_at[3] = {i, 0, 0};
        ChipTensor x = states.view(state_shapes, x_at).reshape(vector, 1);
        ChipTensor y = states.view(state_shapes, y_at).reshape(vector, 1);
        ChipTensor weight = weights.view(weight_shapes, w_at).reshape(matrix, 2);
        float slope = from_u64<float>(orch_args.scalar(0)) / static_cast<float>(i + 1);

        GraphTaskArgs graph_args;
        graph_args.add_input(x);
        graph_args.add_input(weight);
        graph_args.add_output(y);
        graph_args.add_scalar(slope);
        // two recordings: the last layer applies the activation twice
        uint32_t activations = i + 1 == layers ? 2 : 1;
        rt_submit_graph(layer, graph_args, activations);
    }
}

} // extern "C"
