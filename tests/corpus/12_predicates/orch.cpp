// SPDX-License-Identifier: Apache-2.0
// A task counts the negative elements; six tasks are dispatched or not by a
// comparison of that count with a limit, one for each operator.
#include <stdint.h>

#include "pto_orchestration_api.h"

#define FUNC_COUNT_NEGATIVE 0
#define FUNC_MARK           1

extern "C" {

__attribute__((visibility("default"))) PTO2OrchestrationConfig
aicpu_orchestration_config(const ChipTaskArgs &orch_args)
{
    (void)orch_args;
    return PTO2OrchestrationConfig{
        .expected_arg_count = 3,
    };
}

__attribute__((visibility("default"))) void aicpu_orchestration_entry(const ChipTaskArgs &orch_args)
{
    const ChipTensor &x = orch_args.tensor(0);
    const ChipTensor &marks = orch_args.tensor(1);
    int64_t limit = static_cast<int64_t>(orch_args.scalar(0));
    const PredicateOp ops[6] = {PredicateOp::EQ, PredicateOp::NE, PredicateOp::GT,
                                PredicateOp::LT, PredicateOp::GE, PredicateOp::LE};

    // counts[0][0] is the number of elements, counts[0][1] of negative ones.
    uint32_t count_shapes[2] = {1, 2};
    TensorCreateInfo count_ci(count_shapes, 2, DataType::INT32);
    CoreTaskArgs count;
    count.add_input(x);
    count.add_output(count_ci);
    TaskOutputTensors outs = rt_submit_aiv_task(FUNC_COUNT_NEGATIVE, count);
    const ChipTensor &counts = outs.get_ref(0);

    for (uint32_t i = 0; i < 6; i++) {
        uint32_t shapes[1] = {1};
        uint32_t offsets[1] = {i};
        ChipTensor mark = marks.view(shapes, offsets);

        CoreTaskPredicate predicate;
        predicate.operand.tensor = &counts;
        predicate.operand.ndims = 2;
        predicate.operand.indices[0] = 0;
        predicate.operand.indices[1] = 1;
        predicate.op = ops[i];
        predicate.target = limit;

        CoreTaskArgs args;
        args.add_input(counts); // the producer of the operand must be a dependency
        args.add_inout(mark);
        args.set_predicate(predicate);
        rt_submit_aiv_task(FUNC_MARK, args);
    }

    // An empty predicate always dispatches.
    uint32_t shapes[1] = {1};
    uint32_t offsets[1] = {6};
    ChipTensor last = marks.view(shapes, offsets);
    CoreTaskArgs args;
    args.add_input(counts);
    args.add_inout(last);
    args.set_predicate(CoreTaskPredicate{});
    rt_submit_aiv_task(FUNC_MARK, args);
}

} // extern "C"
