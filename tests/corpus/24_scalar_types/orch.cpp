// SPDX-License-Identifier: Apache-2.0
// Scalars of every type, and every way to add them. The kernels write what they
// received as int64.
#include <stdint.h>

#include "pto_orchestration_api.h"

#define FUNC_TYPED 0
#define FUNC_RAW   1

enum Mode : uint16_t { MODE_SLOW = 3, MODE_FAST = 40000 };

extern "C" {

__attribute__((visibility("default"))) PTO2OrchestrationConfig
aicpu_orchestration_config(const ChipTaskArgs &orch_args)
{
    (void)orch_args;
    return PTO2OrchestrationConfig{
        .expected_arg_count = 13,
    };
}

__attribute__((visibility("default"))) void aicpu_orchestration_entry(const ChipTaskArgs &orch_args)
{
    const ChipTensor &typed_out = orch_args.tensor(0);
    const ChipTensor &raw_out = orch_args.tensor(1); // [3, 4]
    float f32 = from_u64<float>(orch_args.scalar(0));
    double f64 = from_u64<double>(orch_args.scalar(1));
    int8_t i8 = from_u64<int8_t>(orch_args.scalar(2));
    uint8_t u8 = from_u64<uint8_t>(orch_args.scalar(3));
    int16_t i16 = from_u64<int16_t>(orch_args.scalar(4));
    uint16_t u16 = from_u64<uint16_t>(orch_args.scalar(5));
    int32_t i32 = from_u64<int32_t>(orch_args.scalar(6));
    uint32_t u32 = from_u64<uint32_t>(orch_args.scalar(7));
    int64_t i64 = from_u64<int64_t>(orch_args.scalar(8));
    uint64_t u64 = from_u64<uint64_t>(orch_args.scalar(9));
    bool flag = from_u64<bool>(orch_args.scalar(10));
    Mode mode = flag ? MODE_FAST : MODE_SLOW;

    CoreTaskArgs typed;
    typed.add_output(typed_out);
    typed.add_scalar(f32, f64, i8, u8, i16, u16);
    typed.add_scalar(i32, u32, i64, u64, flag, mode);
    typed.dump(typed_out, f32, f64, i8, u8, i16, u16, i32, u32, i64, u64, flag, mode);
    rt_submit_aiv_task(FUNC_TYPED, typed);

    uint32_t row_shapes[2] = {1, 4};
    uint32_t at[3][2] = {{0, 0}, {1, 0}, {2, 0}};
    ChipTensor row0 = raw_out.view(row_shapes, at[0]);
    ChipTensor row1 = raw_out.view(row_shapes, at[1]);
    ChipTensor row2 = raw_out.view(row_shapes, at[2]);

    uint64_t words[4] = {to_u64(1.0f), to_u64<int16_t>(-1), to_u64(true), u64};
    CoreTaskArgs raw;
    raw.add_output(row0);
    raw.add_scalars(words, 4);
    rt_submit_aiv_task(FUNC_RAW, raw);

    int32_t ints[4] = {1, -1, INT32_MIN, INT32_MAX}; // zero-extended
    CoreTaskArgs from_ints;
    from_ints.add_output(row1);
    from_ints.add_scalars_i32(ints, 4);
    rt_submit_aiv_task(FUNC_RAW, from_ints);

    CoreTaskArgs copied; // i32, u32, i64, u64
    copied.add_output(row2);
    copied.copy_scalars_from(typed, 6, 4);
    rt_submit_aiv_task(FUNC_RAW, copied);
}

} // extern "C"
