// SPDX-License-Identifier: Apache-2.0
// simpler.hpp over the C API: what its calls do, by runs through the worker (SY-05, AD-05).
#include <atomic>
#include <csetjmp>
#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <thread>

extern "C" {
#include "cm.h"
}

#include "simpler/simpler.hpp"

using namespace simpler;

namespace
{
constexpr uint32_t N = 100;
constexpr int ADD = 0, INCREMENT = 1;

// z = x + y
int add(int64_t *args)
{
    const auto *x = reinterpret_cast<const ChipTensor *>(args[0]);
    const auto *y = reinterpret_cast<const ChipTensor *>(args[1]);
    const auto *z = reinterpret_cast<const ChipTensor *>(args[2]);
    for (uint64_t i = 0; i < z->numel(); i++)
        z->data<float>()[i] = x->data<float>()[i] + y->data<float>()[i];
    return 0;
}

// y = x + scalar
int increment(int64_t *args)
{
    const auto *x = reinterpret_cast<const ChipTensor *>(args[0]);
    const auto *y = reinterpret_cast<const ChipTensor *>(args[1]);
    for (uint64_t i = 0; i < y->numel(); i++)
        y->data<float>()[i] = x->data<float>()[i] + from_u64<float>(args[2]);
    return 0;
}

const simpler_kernel kernels[] = {
    {ADD, SIMPLER_CORE_AIV, "add", add, nullptr, 0},
    {INCREMENT, SIMPLER_CORE_AIC, "increment", increment, nullptr, 0}};

simpler_worker *worker;
simpler_run_result result;
float data[3][N];

int open_worker(void **)
{
    return simpler_worker_open(nullptr, &worker);
}

int close_worker(void **)
{
    simpler_worker_close(worker);
    return 0;
}

template <void (*Entry)(const ChipTaskArgs &)> int run(const char *runtime = nullptr)
{
    simpler_callable callable{};
    callable.orchestrate = orchestration<Entry>;
    callable.kernels = kernels;
    callable.kernel_count = 2;
    uint32_t handle;
    assert_int_equal(simpler_worker_register(worker, &callable, &handle), 0);
    simpler_tensor tensors[3];
    for (int t = 0; t < 3; t++)
        assert_int_equal(simpler_tensor_init(&tensors[t], data[t], &N, 1, SIMPLER_DTYPE_FLOAT32),
                         0);
    const uint64_t scalars[] = {to_u64(2.5f), 7};
    simpler_orch_args args{};
    args.tensor = tensors;
    args.tensor_count = 3;
    args.scalar = scalars;
    args.scalar_count = 2;
    simpler_call_config config{};
    config.runtime = runtime;
    return simpler_worker_run(worker, handle, &args, &config, &result);
}

// Run by the orchestrator's thread: cmocka's asserts belong to the main thread.
std::atomic<int> wrong_line;
#define EXPECT(truth)                \
    do {                             \
        if (!(truth) && !wrong_line) \
            wrong_line = __LINE__;   \
    } while (0)

void assert_run(int rc)
{
    assert_string_equal(result.message, "");
    assert_int_equal(rc, 0);
    assert_int_equal(wrong_line, 0);
}

void assert_fails(int rc, int code, const char *text)
{
    assert_int_equal(rc, -code);
    if (std::strstr(result.message, text) == nullptr)
        fail_msg("no '%s' in: %s", text, result.message);
    assert_int_equal(wrong_line, 0);
}

// f = (a + b + 1)(...): outputs of several scopes, used after their TaskOutputTensors are gone.
const ChipTensor &sum_of(const ChipTensor &x, const ChipTensor &y)
{
    TensorCreateInfo info(x.shapes, x.ndims, x.dtype);
    CoreTaskArgs args;
    args.add_input(x, y);
    args.add_output(info);
    return rt_submit_aiv_task(ADD, args).get_ref(0);
}

void graph(const ChipTaskArgs &run_args)
{
    const ChipTensor &c = sum_of(run_args.tensor(0), run_args.tensor(1));
    for (int i = 0; i < 700; i++) { // more outputs than a chunk has cells
        SIMPLER_SCOPE()
        {
            const ChipTensor &inner = sum_of(c, c);
            EXPECT(inner.numel() == N && inner.buffer.addr != 0);
            SIMPLER_SCOPE_GUARD();
            const ChipTensor &deeper = sum_of(inner, c);
            EXPECT(deeper.owner_task_id >> 32 == 2); // ring 2: root, block, guard
        }
    }
    const ChipTensor &d = sum_of(c, c);
    CoreTaskArgs args;
    args.add_input(d);
    args.add_output(run_args.tensor(2));
    args.add_scalar(run_args.scalar<float>(0));
    TaskOutputTensors none = rt_submit_aic_task(INCREMENT, args);
    EXPECT(none.task_id().is_valid() && none.empty());
}

void test_graph(void **)
{
    for (uint32_t i = 0; i < N; i++) {
        data[0][i] = static_cast<float>(i);
        data[1][i] = 1.0f;
    }
    assert_run(run<graph>());
    for (uint32_t i = 0; i < N; i++)
        assert_true(data[2][i] == 2.0f * (static_cast<float>(i) + 1.0f) + 2.5f);
    assert_int_equal(result.stats.tasks, 1 + 2 * 700 + 2);
}

void keeps_outer_outputs(const ChipTaskArgs &run_args)
{
    rt_scope_begin();
    const ChipTensor &outer = sum_of(run_args.tensor(0), run_args.tensor(1));
    const ChipTensor copy = outer;
    const ChipTensor *first = nullptr;
    for (int i = 0; i < 3; i++) {
        rt_scope_begin();
        const ChipTensor *inner = &sum_of(outer, outer);
        if (first == nullptr)
            first = inner;
        EXPECT(inner == first); // an ended scope's room is used again
        rt_scope_end();
        EXPECT(std::memcmp(&copy, &outer, sizeof(copy)) == 0);
    }
    rt_scope_end();
    rt_scope_begin(ScopeMode::MANUAL);
    TensorCreateInfo info({4, 5}, DataType::INT32);
    info.set_initial_value(int32_t{-3});
    TaskOutputTensors two = alloc_tensors(info, info);
    TaskOutputTensors one = alloc_tensors(&info, 1);
    EXPECT(two.size() == 2 && one.size() == 1 && two.task_id() != one.task_id());
    const uint32_t at[] = {3, 4};
    EXPECT(get_tensor_data<int32_t>(two.get_ref(1), 2, at) == -3);
    set_tensor_data(two.get_ref(1), {3, 4}, 12);
    EXPECT(get_tensor_data<int32_t>(two.get_ref(1), {3, 4}) == 12);
    EXPECT(get_tensor_data<int32_t>(two.get_ref(1), {3, 3}) == -3);
    rt_scope_end();
    CoreTaskArgs create;
    create.add_output(info);
    EXPECT(alloc_tensors(create).size() == 1);
    EXPECT(rt_submit_dummy_task(create).get_ref(0).shapes[1] == 5);
    EXPECT(rt_available_cluster_count() == 8 && rt_available_aiv_count() == 16);
    EXPECT(!rt_is_fatal());
}

void test_scopes_and_data(void **)
{
    assert_run(run<keeps_outer_outputs>());
}

// Two devices at once: what a thread knows of its run is its own.
int run_on_own_worker()
{
    static float numbers[N];
    simpler_worker *own;
    simpler_callable callable{};
    callable.orchestrate = orchestration<keeps_outer_outputs>;
    callable.kernels = kernels;
    callable.kernel_count = 2;
    simpler_tensor tensors[2];
    simpler_orch_args args{};
    args.tensor = tensors;
    args.tensor_count = 2;
    uint32_t handle;
    int rc = simpler_worker_open(nullptr, &own);
    if (rc != 0)
        return rc;
    for (simpler_tensor &tensor : tensors)
        rc = rc != 0 ? rc : simpler_tensor_init(&tensor, numbers, &N, 1, SIMPLER_DTYPE_FLOAT32);
    rc = rc != 0 ? rc : simpler_worker_register(own, &callable, &handle);
    for (int i = 0; i < 20 && rc == 0; i++)
        rc = simpler_worker_run(own, handle, &args, nullptr, nullptr);
    const int closed = simpler_worker_close(own);
    return rc != 0 ? rc : closed;
}

void test_two_devices(void **)
{
    int first = -1, second = -1;
    std::thread one([&] { first = run_on_own_worker(); });
    std::thread other([&] { second = run_on_own_worker(); });
    one.join();
    other.join();
    assert_int_equal(first, 0);
    assert_int_equal(second, 0);
    assert_int_equal(wrong_line, 0);
}

void fails_once(const ChipTaskArgs &run_args)
{
    TaskOutputTensors gone;
    rt_report_fatal(SIMPLER_CODE_EXPLICIT_ORCH_FATAL, "given up after %d", 3);
    EXPECT(rt_is_fatal());
    // Whoever goes on gets empty answers and does no harm.
    const ChipTensor &c = sum_of(run_args.tensor(0), run_args.tensor(1));
    EXPECT(c.buffer.addr == 0 && c.numel() == 1);
    EXPECT(c.view({3}, {9}).numel() == 1);
    EXPECT(get_tensor_data<float>(run_args.tensor(0), {1}) == 0.0f);
    SIMPLER_SCOPE()
    {
        EXPECT(!alloc_tensors(TensorCreateInfo({1u})).task_id().is_valid());
    }
}

void test_fatal(void **)
{
    assert_fails(run<fails_once>(), SIMPLER_CODE_EXPLICIT_ORCH_FATAL, "given up after 3");
}

void throws(const ChipTaskArgs &)
{
    SIMPLER_SCOPE()
    {
        throw std::runtime_error("no such table");
    }
}

void test_exception(void **)
{
    assert_fails(run<throws>(), SIMPLER_CODE_EXPLICIT_ORCH_FATAL, "no such table");
}

template <int CASE> void mistake(const ChipTaskArgs &run_args)
{
    const ChipTensor &x = run_args.tensor(0);
    CoreTaskArgs args;
    if constexpr (CASE == 0)
        (void)run_args.tensor(3);
    if constexpr (CASE == 1)
        (void)x.view({N}, {1});
    if constexpr (CASE == 2) {
        args.add_input(x);
        (void)rt_submit_dummy_task(args).get_ref(0);
    }
    if constexpr (CASE == 3) {
        args.add_scalar(1);
        args.add_input(x);
        (void)rt_submit_dummy_task(args);
    }
    if constexpr (CASE == 4)
        (void)get_tensor_data<float>(x, {N});
    if constexpr (CASE == 5)
        (void)alloc_tensors(TensorCreateInfo({1, 1, 1, 1, 1, 1}));
    if constexpr (CASE == 6)
        (void)x.reshape({N + 1});
    if constexpr (CASE == 7) {
        args.add_input(x);
        (void)alloc_tensors(args);
    }
    EXPECT(rt_is_fatal());
}

void test_mistakes(void **)
{
    assert_fails(run<mistake<0>>(), SIMPLER_CODE_INVALID_ARGS, "tensor(3): tensors of the run: 3");
    assert_fails(run<mistake<1>>(), SIMPLER_CODE_INVALID_ARGS, "view: ");
    assert_fails(run<mistake<2>>(), SIMPLER_CODE_INVALID_ARGS, "get_ref(0): the task has 0");
    assert_fails(run<mistake<3>>(), SIMPLER_CODE_INVALID_ARGS, "a tensor was added after a scalar");
    // The submit's own line, not one of the header.
    assert_non_null(std::strstr(result.message, "test_simpler_cpp.cpp:"));
    assert_fails(run<mistake<4>>(), SIMPLER_CODE_INVALID_ARGS, "get_tensor_data: ");
    assert_fails(run<mistake<5>>(), SIMPLER_CODE_INVALID_ARGS, "TensorCreateInfo: ");
    assert_fails(run<mistake<6>>(), SIMPLER_CODE_INVALID_ARGS, "reshape: ");
    assert_fails(run<mistake<7>>(), SIMPLER_CODE_INVALID_ARGS, "takes create-infos alone");
}

enum class Color : uint8_t { RED = 200 };

void test_scalars(void **)
{
    CoreTaskArgs args;
    const float f = 1.5f;
    double d = -2.0;
    bool b = true;
    int8_t i8 = -1;
    uint16_t u16 = 65535;
    long long i64 = -5;
    Color color = Color::RED;
    args.add_scalar(f, d, b, i8, u16, i64, color, 3);
    const simpler_task_args *c = args.c();
    const uint8_t dtypes[] = {SIMPLER_DTYPE_FLOAT32, SIMPLER_DTYPE_FLOAT64, SIMPLER_DTYPE_BOOL,
                              SIMPLER_DTYPE_INT8,    SIMPLER_DTYPE_UINT16,  SIMPLER_DTYPE_INT64,
                              SIMPLER_DTYPE_UINT64,  SIMPLER_DTYPE_INT32};
    assert_memory_equal(c->scalar_dtype, dtypes, sizeof(dtypes));
    assert_int_equal(c->scalar[0], 0x3fc00000);
    assert_int_equal(c->scalar[1], 0xc000000000000000);
    assert_int_equal(c->scalar[3], 0xff); // zero-filled: the value's own bytes low
    assert_int_equal(c->scalar[4], 65535);
    assert_int_equal(c->scalar[5], static_cast<uint64_t>(-5));
    assert_int_equal(c->scalar[6], 200);
    assert_ptr_equal(c->scalar_source[0], &f);
    assert_ptr_equal(c->scalar_source[6], &color);
    assert_null(c->scalar_source[7]); // an rvalue
    CoreTaskArgs copy;
    copy.copy_scalars_from(args, 1, 2);
    assert_int_equal(copy.scalar_count(), 2);
    copy.copy_scalars_from(args, 7, 2);
    assert_true(copy.has_error);
    CoreTaskArgs raw;
    const uint64_t wide[] = {1, 2};
    const int32_t narrow[] = {-1};
    raw.add_scalars(wide, 2);
    raw.add_scalars_i32(narrow, 1);
    assert_int_equal(raw.c()->scalar[2], 0xffffffff);
}

void test_dump(void **)
{
    ChipTensor x{}, y{}, other{};
    TensorCreateInfo info({4u}), other_info({4u});
    float scale = 1.0f, other_scale = 1.0f;
    CoreTaskArgs args;
    args.add_input(x);
    args.add_output(info);
    args.add_inout(y);
    args.add_no_dep(other);
    args.add_scalar(scale, other_scale, scale);
    args.dump(y, info, scale);
#if SIMPLER_DFX
    assert_int_equal(args.c()->dump_mask, 4 | 2 | 16);
    assert_int_equal(args.c()->dump_ambiguous, 1);
    args.dump();
    assert_int_equal(args.c()->dump_mask, 127);
    const ChipTensor stranger = x;
    args.dump(stranger);
    assert_string_equal(args.error_msg, "dump: the tensor is not in this argument object");
    args.clear();
    assert_true(args.has_error);
    args.reset();
    assert_false(args.has_error);
    args.add_input(x);
    args.dump(other_info);
    assert_string_equal(args.error_msg, "dump: the create-info is not in this argument object");
    args.reset();
    args.dump();
    assert_true(args.has_error);
    args.reset();
    args.add_input(x);
    args.dump(scale);
    assert_string_equal(args.error_msg, "dump: the scalar is not in this argument object");
#endif
}

void test_launch_and_more(void **)
{
    CoreTaskArgs args;
    assert_int_equal(args.c()->extra, 0);
    args.launch_spec.set_block_num(7);
    args.launch_spec.set_require_sync_start(true);
    args.set_task_timing_slot(15);
    args.set_allow_early_resolve(true);
    assert_int_equal(args.c()->block_num, 7);
    assert_int_equal(args.c()->extra, SIMPLER_EXTRA_BLOCKS | SIMPLER_EXTRA_SYNC_START |
                                          SIMPLER_EXTRA_TIMING | SIMPLER_EXTRA_EARLY_RESOLVE);
    args.reset(); // the launch spec stays
    args.launch_spec.set_core_num(9);
    assert_int_equal(args.c()->block_num, 9);
    assert_int_equal(args.c()->extra, SIMPLER_EXTRA_BLOCKS | SIMPLER_EXTRA_SYNC_START);
    args.set_task_timing_slot(16);
    assert_true(args.has_error);

    const ChipTensor x = make_tensor_external(data, &N, 1);
    CoreTaskPredicate predicate;
    predicate.operand.tensor = &x;
    predicate.operand.ndims = 1;
    predicate.operand.indices[0] = 4;
    predicate.op = PredicateOp::LE;
    predicate.target = -2;
    CoreTaskArgs guarded;
    guarded.set_predicate(predicate);
    simpler_predicate c{};
    if (!guarded.has_error)
        c = guarded.c()->predicate;
    assert_ptr_equal(c.tensor, &x);
    assert_true(c.index[0] == 4 && c.op == SIMPLER_PREDICATE_LE && c.target == -2);
    predicate.operand.ndims = 2;
    guarded.set_predicate(predicate);
    assert_true(guarded.has_error);
    CoreTaskArgs always;
    always.set_predicate(CoreTaskPredicate{});
    assert_int_equal(always.c()->extra & SIMPLER_EXTRA_PREDICATE, 0);
}

// y = x + scalar, the scalar bound to each call, and how often a graph is called.
int bound_calls, reading_calls, configured_calls;

void bound_graph(const GraphTaskArgs &graph)
{
    bound_calls++;
    CoreTaskArgs args;
    args.add_input(graph.tensor(0));
    args.add_output(graph.tensor(1));
    args.add_scalar(graph.scalar(0));
    rt_submit_aic_task(INCREMENT, args);
}

// The same, but the scalar's value is part of what is submitted.
void reading_graph(const GraphTaskArgs &graph)
{
    reading_calls++;
    const float value = from_u64<float>(graph.scalar(0));
    CoreTaskArgs args;
    args.add_input(graph.tensor(0));
    args.add_output(graph.tensor(1));
    args.add_scalar(value);
    rt_submit_aic_task(INCREMENT, args);
}

void configured_graph(const GraphTaskArgs &graph, int8_t first, const double &second)
{
    configured_calls++;
    EXPECT(first == -7 && (second == 0.5 || second == 1.5));
    CoreTaskArgs args;
    args.add_input(graph.tensor(0));
    args.add_output(graph.tensor(1));
    args.add_scalar(static_cast<float>(second));
    rt_submit_aic_task(INCREMENT, args);
}

void graphs(const ChipTaskArgs &run_args)
{
    for (uint32_t i = 0; i < 3; i++) {
        const float summand = static_cast<float>(i + 1);
        GraphTaskArgs graph;
        graph.add_input(run_args.tensor(i % 2));
        graph.add_output(run_args.tensor(1 - i % 2));
        graph.add_scalar(summand);
        rt_submit_graph(bound_graph, graph);
        GraphTaskArgs next;
        next.add_input(run_args.tensor(1 - i % 2));
        next.add_output(run_args.tensor(2));
        next.add_scalar(summand);
        rt_submit_graph(reading_graph, next);
    }
    GraphTaskArgs last;
    last.add_input(run_args.tensor(2));
    last.add_output(run_args.tensor(0));
    rt_submit_graph(configured_graph, last, -7, 0.5);
    GraphTaskArgs back;
    back.add_input(run_args.tensor(0));
    back.add_output(run_args.tensor(2));
    rt_submit_graph(configured_graph, back, int8_t{-7}, 1.5f);
}

// Replayed graphs compute what called ones do; only what cannot change is replayed.
void test_graphs(void **)
{
    for (const char *runtime : {"tensormap_and_ringbuffer", "host_build_graph"}) {
        std::memset(data, 0, sizeof(data));
        bound_calls = reading_calls = configured_calls = 0;
        assert_run(run<graphs>(runtime));
        // x1 = 1, x0 = 3, x1 = 6, x2 = 9; then +0.5, +1.5.
        assert_true(data[1][0] == 6.0f && data[0][5] == 9.5f && data[2][N - 1] == 11.0f);
        const bool recorded = std::strcmp(runtime, "host_build_graph") == 0;
        assert_int_equal(bound_calls, recorded ? 1 : 3);
        assert_int_equal(reading_calls, 3);
        assert_int_equal(configured_calls, 2); // two configurations
    }
}

ChipTensor current; // the caller's, changed by what it calls

// y = x + scalar, read as a number.
void changing_graph(const GraphTaskArgs &graph)
{
    current = graph.tensor(1);
    reading_graph(graph);
}

void calls_changing_graph(const ChipTaskArgs &run_args)
{
    for (uint32_t i = 0; i < 3; i++) {
        current = run_args.tensor(i % 2);
        GraphTaskArgs graph;
        graph.add_input(current);
        graph.add_output(run_args.tensor(1 - i % 2));
        graph.add_scalar(static_cast<float>(i + 1));
        rt_submit_graph(changing_graph, graph);
    }
}

// The first call is the runtime's, the later ones the header's own: a graph has what was given.
void test_changed_tensor(void **)
{
    for (const char *runtime : {"tensormap_and_ringbuffer", "host_build_graph"}) {
        std::memset(data, 0, sizeof(data));
        reading_calls = 0;
        assert_run(run<calls_changing_graph>(runtime));
        // x1 = 1, x0 = 3, x1 = 6.
        assert_true(data[1][0] == 6.0f && data[0][5] == 3.0f);
        assert_int_equal(reading_calls, 3);
    }
}

void wrong_graph(const GraphTaskArgs &graph)
{
    (void)graph.tensor(1);
}

void submits_wrong_graph(const ChipTaskArgs &run_args)
{
    GraphTaskArgs graph;
    graph.add_input(run_args.tensor(0));
    rt_submit_graph(wrong_graph, graph);
    EXPECT(rt_is_fatal());
    graph.add_scalar(1);
    graph.add_input(run_args.tensor(0));
    rt_submit_graph(wrong_graph, graph); // nothing happens any more
}

void test_wrong_graph(void **)
{
    assert_fails(run<submits_wrong_graph>(), SIMPLER_CODE_INVALID_ARGS,
                 "tensor(1): tensors of the graph: 1");
}

void test_dependencies(void **)
{
    TaskId ids[3];
    for (uint64_t i = 0; i < 3; i++)
        ids[i].raw = i;
    CoreTaskArgsWithDeps<2> args;
    args.add_dep(ids[0]);
    for (int again = 0; again < 2; again++) { // can be submitted again
        const CoreTaskArgs &bound = args.finalize();
        assert_int_equal(bound.c()->dependency_count, 1 + again);
        assert_int_equal(bound.c()->dependency_kind[0], SIMPLER_DEP_WAIT | SIMPLER_DEP_RETAIN);
        if (again == 0)
            args.add_dep_wait(ids[1]);
        else
            assert_int_equal(bound.c()->dependency_kind[1], SIMPLER_DEP_WAIT);
    }
    args.add_dep(ids[2]);
    assert_true(args.has_error);
    CoreTaskArgs twice;
    twice.set_dependencies(ids, 3);
    twice.set_dependencies(nullptr, 0);
    twice.set_dependencies(ids, 2);
    assert_false(twice.has_error);
    twice.set_dependencies(ids, 2);
    assert_true(twice.has_error);
    const DepFlags kinds[] = {DepFlags::WAIT, DepFlags::WAIT | DepFlags::RETAIN};
    CoreTaskArgs with_kinds;
    with_kinds.set_dependencies_with_kinds(ids, kinds, 2);
    assert_int_equal(with_kinds.c()->dependency_kind[1], 3);
    with_kinds.reset();
    with_kinds.set_dependencies_with_kinds(ids, nullptr, 2);
    assert_true(with_kinds.has_error);
}

// Views are those of tensor.h, with manual_dep as asked for.
void test_views(void **)
{
    float memory[4 * 6] = {};
    const uint32_t shape[] = {4, 6}, block[] = {2, 3}, offset[] = {1, 2};
    const ChipTensor t =
        make_tensor_external(memory, shape, 2, DataType::FLOAT32, true, 3, AddressSpace::DEVICE);
    assert_true(t.manual_dep && t.version == 3 && t.address_space == AddressSpace::DEVICE);
    assert_int_equal(t.buffer.size, sizeof(memory));
    const ChipTensor view = t.view(block, offset);
    assert_ptr_equal(view.data<float>(), memory + 8);
    assert_true(!view.manual_dep && !view.is_contiguous && view.extent_elem() == 9);
    assert_true(t.view({2, 3}, {1, 2}, true).manual_dep);
    const ChipTensor turned = view.transpose(0, 1);
    assert_true(turned.shapes[0] == 3 && turned.strides[0] == 1 && turned.strides[1] == 6);
    assert_true(t.permute({1, 0}).shapes[0] == 6);
    const ChipTensor third = t.slice(1, 1, 6, 2);
    assert_true(third.shapes[1] == 3 && third.strides[1] == 2 && third.start_offset == 1);
    assert_true(t.reshape({24}).numel() == 24 && t.reshape({24}).nbytes() == 96);
    const uint32_t strides[] = {8, 1};
    assert_int_equal(make_tensor_strided(memory, block, strides, 2).buffer.size, 11 * 4);
    assert_int_equal(TensorCreateInfo(shape, 2, DataType::INT64).buffer_size_bytes(), 192);
    assert_string_equal(get_dtype_name(DataType::BFLOAT16), "bfloat16");
    assert_int_equal(get_element_size(DataType::INT64), 8);
}
} // namespace

int main()
{
    const CMUnitTest tests[] = {
        cmocka_unit_test(test_graph),          cmocka_unit_test(test_scopes_and_data),
        cmocka_unit_test(test_two_devices),    cmocka_unit_test(test_fatal),
        cmocka_unit_test(test_exception),      cmocka_unit_test(test_mistakes),
        cmocka_unit_test(test_scalars),        cmocka_unit_test(test_launch_and_more),
        cmocka_unit_test(test_dependencies),   cmocka_unit_test(test_graphs),
        cmocka_unit_test(test_changed_tensor), cmocka_unit_test(test_wrong_graph),
        cmocka_unit_test(test_dump),           cmocka_unit_test(test_views),
    };
    simpler_log_set_level(SIMPLER_LOG_NONE);
    return cmocka_run_group_tests(tests, open_worker, close_worker);
}
