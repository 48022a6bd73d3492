// SPDX-License-Identifier: Apache-2.0
#ifndef SIMPLER_CPP_GRAPH_HPP
#define SIMPLER_CPP_GRAPH_HPP

/*
 * Graphs: functions that submit tasks, called again and again with other
 * arguments.  host_build_graph records what a function has submitted and replays
 * it.  A function that reads a scalar's value may submit something else for
 * another value: it is noted at its first call and called each time from then on.
 */
#include <array>
#include <atomic>
#include <cstring>
#include <tuple>
#include <utility>

#include "simpler/cpp_orch.hpp"

namespace simpler
{
inline namespace SIMPLER_CPP_NAMESPACE
{
/** Arguments of one graph: tensors, by reference until the submit, and scalars. */
class GraphTaskArgs
{
  public:
    GraphTaskArgs() = default;
    /* What a graph's function sees of a submit. */
    explicit GraphTaskArgs(const simpler_graph_args *given) : given_(given)
    {
    }

    template <class... T> void add_input(T &&...tensors)
    {
        args_.add_input(std::forward<T>(tensors)...);
    }
    template <class... T> void add_inout(T &&...tensors)
    {
        args_.add_inout(std::forward<T>(tensors)...);
    }
    template <class... T> void add_output(T &&...tensors)
    {
        static_assert((detail::is_tensor<T> && ...), "a graph's outputs are ChipTensors");
        args_.add_output(std::forward<T>(tensors)...);
    }
    template <class... T> void add_scalar(T &&...values)
    {
        args_.add_scalar(std::forward<T>(values)...);
    }

    const ChipTensor &tensor(uint32_t i) const
    {
        if (i >= tensor_count()) {
            detail::fault("tensor(%u): tensors of the graph: %u", i, tensor_count());
            return detail::nothing;
        }
        return given_ != nullptr ? reinterpret_cast<const ChipTensor *>(given_->tensor)[i]
                                 : *static_cast<const ChipTensor *>(args_.c()->tensor[i]);
    }
    GraphScalar scalar(uint32_t i) const
    {
        static const uint64_t none = 0;
        if (i >= scalar_count()) {
            detail::fault("scalar(%u): scalars of the graph: %u", i, scalar_count());
            return GraphScalar(&none, &read_);
        }
        return GraphScalar(given_ != nullptr ? &given_->scalar[i] : &args_.c()->scalar[i], &read_);
    }
    uint32_t tensor_count() const
    {
        return given_ != nullptr ? given_->tensor_count : args_.tensor_count();
    }
    uint32_t scalar_count() const
    {
        return given_ != nullptr ? given_->scalar_count : args_.scalar_count();
    }

    const CoreTaskArgs &args() const
    {
        return args_;
    }
    /* Whether a scalar's value was asked for. */
    bool was_read() const
    {
        return read_;
    }

  private:
    CoreTaskArgs args_;
    const simpler_graph_args *given_ = nullptr; // null: the submitting side
    mutable bool read_ = false;
};

namespace detail
{
/* Functions that read a scalar's value: added once, never removed. */
struct ReadingFunctions {
    static constexpr uint32_t MAX = 64;
    std::atomic<uintptr_t> function[MAX];
    std::atomic<bool> full;
};
SIMPLER_HIDDEN inline ReadingFunctions reading_functions{};

inline bool is_reading(uintptr_t function)
{
    if (reading_functions.full.load(std::memory_order_relaxed))
        return true;
    for (const auto &known : reading_functions.function) {
        const uintptr_t found = known.load(std::memory_order_relaxed);
        if (found == function || found == 0)
            return found == function;
    }
    return false;
}

inline void note_reading(uintptr_t function)
{
    for (auto &known : reading_functions.function) {
        uintptr_t found = 0;
        if (known.compare_exchange_strong(found, function, std::memory_order_relaxed) ||
            found == function)
            return;
    }
    reading_functions.full.store(true, std::memory_order_relaxed);
}

/* A graph's function and its configuration, as the bytes that the runtime compares. */
template <class... P> struct GraphCall {
    using Fn = void (*)(const GraphTaskArgs &, P...);
    using Values = std::tuple<std::decay_t<P>...>;
    using Bytes = std::array<unsigned char, sizeof(Fn) + (sizeof(std::decay_t<P>) + ... + 0)>;
    static_assert((std::is_trivially_copyable_v<std::decay_t<P>> && ...),
                  "a graph's configuration is trivially copyable");

    static Bytes pack(Fn fn, const Values &values)
    {
        Bytes bytes{};
        std::size_t at = 0;
        auto put = [&](const auto &value) {
            std::memcpy(bytes.data() + at, &value, sizeof(value));
            at += sizeof(value);
        };
        put(fn);
        std::apply([&](const auto &...value) { (put(value), ...); }, values);
        return bytes;
    }

    static void call(simpler_orch *, const simpler_graph_args *given)
    {
        const unsigned char *at = static_cast<const unsigned char *>(given->config);
        auto take = [&](auto &value) {
            std::memcpy(&value, at, sizeof(value));
            at += sizeof(value);
        };
        Fn fn;
        Values values;
        take(fn);
        std::apply([&](auto &...value) { (take(value), ...); }, values);
        const GraphTaskArgs args(given);
        std::apply([&](auto &...value) { fn(args, value...); }, values);
        if (args.was_read())
            note_reading(reinterpret_cast<uintptr_t>(fn));
    }
};
} // namespace detail

namespace detail
{
/* A call's arguments as they are before its function runs, which may fill the caller's anew. */
struct TakenGraphArgs {
    explicit TakenGraphArgs(const simpler_task_args &args)
        : c{tensor, scalar, args.tensor_count, args.scalar_count, nullptr}
    {
        for (uint32_t i = 0; i < args.tensor_count; i++)
            tensor[i] = *static_cast<const simpler_tensor *>(args.tensor[i]);
        for (uint32_t i = 0; i < args.scalar_count; i++)
            scalar[i] = args.scalar[i];
    }
    TakenGraphArgs(const TakenGraphArgs &) = delete;
    TakenGraphArgs &operator=(const TakenGraphArgs &) = delete;

    simpler_tensor tensor[SIMPLER_MAX_TENSORS];
    uint64_t scalar[SIMPLER_MAX_SCALARS];
    simpler_graph_args c;
};

/* A graph's arguments and where the call stands. */
struct SitedGraphArgs {
    SitedGraphArgs(const GraphTaskArgs &a, const char *f = __builtin_FILE(),
                   int l = __builtin_LINE())
        : args(a), file(f), line(l)
    {
    }
    const GraphTaskArgs &args;
    const char *file;
    int line;
};
} // namespace detail

/** Submits what @fn(args, config...) submits; see orch.h for what a graph may do. */
template <class... P, class... Config>
void rt_submit_graph(void (*fn)(const GraphTaskArgs &, P...), detail::SitedGraphArgs sited,
                     Config &&...config)
{
    static_assert(sizeof...(P) == sizeof...(Config), "fn takes another configuration");
    using Call = detail::GraphCall<P...>;
    const GraphTaskArgs &args = sited.args;
    if (!detail::is_in_run("rt_submit_graph") || rt_is_fatal())
        return;
    const typename Call::Values values(static_cast<std::decay_t<P>>(config)...);
    if (detail::is_reading(reinterpret_cast<uintptr_t>(fn)) && !args.args().has_error) {
        const detail::TakenGraphArgs taken(*args.args().c());
        const GraphTaskArgs given(&taken.c);
        std::apply([&](const auto &...value) { fn(given, value...); }, values);
        return;
    }
    const typename Call::Bytes bytes = Call::pack(fn, values);
    (void)SIMPLER_CALL(orch_submit_graph_at)(detail::orch(), Call::call, args.args().c(),
                                             bytes.data(), bytes.size(), sited.file, sited.line);
}
} // namespace SIMPLER_CPP_NAMESPACE
} // namespace simpler

#endif
