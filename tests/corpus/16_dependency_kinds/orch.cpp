// SPDX-License-Identifier: Apache-2.0
// A diamond with named edges in a manual scope: a -> b, a -> c, then d reads b
// and c and writes where a has read. That last edge needs the order only (WAIT).
#include <stdint.h>

#include "pto_orchestration_api.h"

#define FUNC_AFFINE   0
#define FUNC_MULTIPLY 1

extern "C" {

__attribute__((visibility("default"))) PTO2OrchestrationConfig
aicpu_orchestration_config(const ChipTaskArgs &orch_args)
{
    (void)orch_args;
    return PTO2OrchestrationConfig{
        .expected_arg_count = 2,
    };
}

__attribute__((visibility("default"))) void aicpu_orchestration_entry(const ChipTaskArgs &orch_args)
{
    const ChipTensor &x = orch_args.tensor(0); // read by a, overwritten by d
    const ChipTensor &copy = orch_args.tensor(1);
    TensorCreateInfo ci(x.shapes, 1, DataType::FLOAT32);

    rt_scope_begin(PTO2ScopeMode::MANUAL);

    CoreTaskArgs args_a; // a = 2 x + 1
    args_a.add_input(x);
    args_a.add_output(ci);
    args_a.add_scalar(2.0f, 1.0f);
    TaskOutputTensors a = rt_submit_aiv_task(FUNC_AFFINE, args_a);

    CoreTaskArgsWithDeps<> args_b; // b = a + 3
    args_b.add_input(a.get_ref(0));
    args_b.add_output(ci);
    args_b.add_scalar(1.0f, 3.0f);
    args_b.add_dep(a.task_id());
    TaskOutputTensors b = rt_submit_aiv_task(FUNC_AFFINE, args_b);

    PTO2TaskId only_a[1] = {a.task_id()};
    DepFlags only_a_kinds[1] = {DepFlags::WAIT | DepFlags::RETAIN};
    CoreTaskArgs args_c; // c = -a
    args_c.add_input(a.get_ref(0));
    args_c.add_output(ci);
    args_c.add_scalar(-1.0f, 0.0f);
    args_c.set_dependencies_with_kinds(only_a, only_a_kinds, 1);
    TaskOutputTensors c = rt_submit_aiv_task(FUNC_AFFINE, args_c);

    CoreTaskArgsWithDeps<4> args_d; // x = b * c
    args_d.add_input(b.get_ref(0), c.get_ref(0));
    args_d.add_output(x);
    args_d.add_dep(b.task_id(), c.task_id());
    args_d.add_dep_wait(a.task_id());
    TaskOutputTensors d = rt_submit_aiv_task(FUNC_MULTIPLY, args_d);

    PTO2TaskId before_e[3] = {d.task_id(), b.task_id(), c.task_id()};
    DepFlags kinds_e[3] = {DepFlags::WAIT, DepFlags::WAIT, DepFlags::WAIT};
    CoreTaskArgs args_e; // copy = x
    args_e.add_input(x);
    args_e.add_output(copy);
    args_e.add_scalar(1.0f, 0.0f);
    args_e.set_dependencies_with_kinds(before_e, kinds_e, 3);
    rt_submit_aiv_task(FUNC_AFFINE, args_e);

    rt_scope_end();
}

} // extern "C"
