// SPDX-License-Identifier: Apache-2.0
#ifndef SIMPLER_CPP_ORCH_HPP
#define SIMPLER_CPP_ORCH_HPP

/*
 * What an orchestration in C++ calls: submits, scopes, data.  Errors are those
 * of orch.h; none is returned: the run has failed, rt_is_fatal() says so, and
 * every further call does nothing.
 */
#include <cstdint>
#include <cstring>
#include <initializer_list>

#include "simpler/cpp_task_args.hpp"

namespace simpler
{
inline namespace SIMPLER_CPP_NAMESPACE
{
/** The arguments of the run, handed to the entry. */
class ChipTaskArgs
{
  public:
    explicit ChipTaskArgs(const simpler_orch_args &c) : c_(c)
    {
    }
    /** One tensor; an index beyond them is a fault. */
    const ChipTensor &tensor(uint32_t i) const
    {
        if (i < c_.tensor_count)
            return reinterpret_cast<const ChipTensor *>(c_.tensor)[i];
        detail::fault("tensor(%u): tensors of the run: %u", i, c_.tensor_count);
        return detail::nothing;
    }
    /** One scalar, its bytes low; from_u64<T> gives the value back. */
    uint64_t scalar(uint32_t i) const
    {
        if (i < c_.scalar_count)
            return c_.scalar[i];
        detail::fault("scalar(%u): scalars of the run: %u", i, c_.scalar_count);
        return 0;
    }
    template <class T> T scalar(uint32_t i) const
    {
        return from_u64<T>(scalar(i));
    }
    uint32_t tensor_count() const
    {
        return c_.tensor_count;
    }
    uint32_t scalar_count() const
    {
        return c_.scalar_count;
    }

  private:
    simpler_orch_args c_;
};
static_assert(sizeof(ChipTaskArgs) == sizeof(simpler_orch_args),
              "a loader passes the one as the other");

/** What an object's aicpu_orchestration_config answers. */
struct OrchestrationConfig {
    int expected_arg_count; /**< fewer tensors + scalars make the run fail; 0: any */
};

inline constexpr int32_t INVALID_KERNEL_ID = -1;

/** The kernels of one task; those of -1 are not there. */
struct MixedKernels {
    int32_t aic_kernel_id = INVALID_KERNEL_ID;
    int32_t aiv0_kernel_id = INVALID_KERNEL_ID;
    int32_t aiv1_kernel_id = INVALID_KERNEL_ID;
};

namespace detail
{
inline const CoreTaskArgs &as_args(const CoreTaskArgs &args)
{
    return args;
}

template <std::size_t N> const CoreTaskArgs &as_args(CoreTaskArgsWithDeps<N> &args)
{
    return args.finalize();
}

template <class Submit> TaskOutputTensors submit(const char *function, Submit call)
{
    simpler_task_outputs out;
    if (!is_in_run(function) || call(&out) != 0)
        return TaskOutputTensors();
    return TaskOutputTensors::keep(out);
}
} // namespace detail

/**
 * Submit one task to an AIC or an AIV core.  @args, CoreTaskArgs or CoreTaskArgsWithDeps, may
 * be reset and used again after the return.
 * Blocks: while a ring, the pool or the map is full; it runs tasks meanwhile.
 */
template <class Args>
TaskOutputTensors rt_submit_aic_task(int32_t kernel_id, Args &args,
                                     const char *file = __builtin_FILE(),
                                     int line = __builtin_LINE())
{
    return detail::submit("rt_submit_aic_task", [&](simpler_task_outputs *out) {
        return SIMPLER_SUBMIT(aic)(detail::orch(), static_cast<uint32_t>(kernel_id),
                                   detail::as_args(args).c(), out, file, line);
    });
}

template <class Args>
TaskOutputTensors rt_submit_aiv_task(int32_t kernel_id, Args &args,
                                     const char *file = __builtin_FILE(),
                                     int line = __builtin_LINE())
{
    return detail::submit("rt_submit_aiv_task", [&](simpler_task_outputs *out) {
        return SIMPLER_SUBMIT(aiv)(detail::orch(), static_cast<uint32_t>(kernel_id),
                                   detail::as_args(args).c(), out, file, line);
    });
}

/**
 * Submit a mixed task: an AIC kernel and up to two AIV kernels of one cluster, which
 * see the same arguments.  One kernel alone is a task of its own core type.
 */
template <class Args>
TaskOutputTensors rt_submit_task(const MixedKernels &kernels, Args &args,
                                 const char *file = __builtin_FILE(), int line = __builtin_LINE())
{
    const simpler_mixed_kernels c = {kernels.aic_kernel_id, kernels.aiv0_kernel_id,
                                     kernels.aiv1_kernel_id};
    return detail::submit("rt_submit_task", [&](simpler_task_outputs *out) {
        return SIMPLER_CALL(orch_submit_mixed_at)(detail::orch(), &c, detail::as_args(args).c(),
                                                  out, file, line);
    });
}

/** A task without a kernel: it takes part in dependencies and allocates its outputs. */
template <class Args>
TaskOutputTensors rt_submit_dummy_task(Args &args, const char *file = __builtin_FILE(),
                                       int line = __builtin_LINE())
{
    return detail::submit("rt_submit_dummy_task", [&](simpler_task_outputs *out) {
        return SIMPLER_CALL(orch_submit_dummy_at)(detail::orch(), detail::as_args(args).c(), out,
                                                  file, line);
    });
}

/** Allocates @n tensors without a task that writes them; they are ready at once. */
inline TaskOutputTensors alloc_tensors(const TensorCreateInfo infos[], uint32_t n,
                                       const char *file = __builtin_FILE(),
                                       int line = __builtin_LINE())
{
    return detail::submit("alloc_tensors", [&](simpler_task_outputs *out) {
        return SIMPLER_CALL(orch_alloc_tensors_at)(
            detail::orch(), infos == nullptr ? nullptr : infos->c(), n, out, file, line);
    });
}

namespace detail
{
/* A create-info and where the call stands that it is the first argument of. */
struct SitedInfo {
    SitedInfo(const TensorCreateInfo &i, const char *f = __builtin_FILE(), int l = __builtin_LINE())
        : info(i), file(f), line(l)
    {
    }
    const TensorCreateInfo &info;
    const char *file;
    int line;
};
} // namespace detail

template <class... Info>
TaskOutputTensors alloc_tensors(detail::SitedInfo first, const Info &...more)
{
    static_assert((detail::is_create_info<Info> && ...), "alloc_tensors takes TensorCreateInfos");
    const TensorCreateInfo list[] = {first.info, more...};
    return alloc_tensors(list, 1 + sizeof...(Info), first.file, first.line);
}

/** The same for arguments that have OUTPUT create-infos alone. */
inline TaskOutputTensors alloc_tensors(const CoreTaskArgs &args,
                                       const char *file = __builtin_FILE(),
                                       int line = __builtin_LINE())
{
    const simpler_task_args *c = args.c();
    simpler_create_info list[SIMPLER_MAX_TENSORS];
    if (args.has_error || c->scalar_count != 0 || c->tensor_count != c->output_count) {
        detail::fault("alloc_tensors: %s",
                      args.has_error ? args.error_msg : "takes create-infos alone");
        return TaskOutputTensors();
    }
    for (uint32_t i = 0; i < c->tensor_count; i++)
        list[i] = *static_cast<const simpler_create_info *>(c->tensor[i]);
    return detail::submit("alloc_tensors", [&](simpler_task_outputs *out) {
        return SIMPLER_CALL(orch_alloc_tensors_at)(detail::orch(), list, c->tensor_count, out, file,
                                                   line);
    });
}

enum class ScopeMode { AUTO = SIMPLER_SCOPE_AUTO, MANUAL = SIMPLER_SCOPE_MANUAL };

namespace detail
{
inline bool begin_scope(simpler_orch *orch, ScopeMode mode, const char *file, int line)
{
    if (SIMPLER_CALL(orch_scope_begin_at)(orch, static_cast<simpler_scope_mode>(mode), file,
                                          line) != 0)
        return false;
    open_output_scope();
    return true;
}

inline void end_scope(simpler_orch *orch)
{
    close_output_scope();
    (void)SIMPLER_CALL(orch_scope_end)(orch);
}
} // namespace detail

/** Opens and closes a scope by hand; see orch.h.  SIMPLER_SCOPE is safer. */
inline void rt_scope_begin(ScopeMode mode = ScopeMode::AUTO)
{
    if (detail::is_in_run("rt_scope_begin"))
        (void)detail::begin_scope(detail::orch(), mode, nullptr, 0);
}

inline void rt_scope_end()
{
    if (detail::is_in_run("rt_scope_end"))
        detail::end_scope(detail::orch());
}

/** A scope for as long as the object lives. */
class ScopeGuard
{
  public:
    explicit ScopeGuard(ScopeMode mode = ScopeMode::AUTO, const char *file = __builtin_FILE(),
                        int line = __builtin_LINE())
        : orch_(detail::orch())
    {
        if (!detail::is_in_run("SIMPLER_SCOPE") || !detail::begin_scope(orch_, mode, file, line))
            orch_ = nullptr;
    }
    explicit ScopeGuard(simpler_orch *orch, ScopeMode mode = ScopeMode::AUTO,
                        const char *file = __builtin_FILE(), int line = __builtin_LINE())
        : orch_(orch)
    {
        if (!detail::begin_scope(orch_, mode, file, line))
            orch_ = nullptr;
    }
    ScopeGuard(const ScopeGuard &) = delete;
    ScopeGuard &operator=(const ScopeGuard &) = delete;
    ~ScopeGuard()
    {
        if (orch_ != nullptr)
            detail::end_scope(orch_);
    }

  private:
    simpler_orch *orch_; // null: the begin was refused, there is nothing to end
};

/**
 * One element of a tensor, waiting for the tasks that write it; 0 when the
 * tensor has no buffer or the run has failed.  @T has the element's size.
 */
template <class T>
T get_tensor_data(const ChipTensor &tensor, uint32_t ndims, const uint32_t indices[])
{
    uint64_t bits = 0;
    if (!detail::is_in_run("get_tensor_data") || rt_is_fatal())
        return from_u64<T>(0);
    if (tensor.buffer.addr == 0)
        LOG_ERROR("the tensor has no buffer");
    else if (ndims != tensor.ndims)
        detail::fault("get_tensor_data: indices: %u, dimensions of the tensor: %u", ndims,
                      tensor.ndims);
    else {
        const simpler_tensor c = detail::to_c(tensor);
        if (SIMPLER_CALL(orch_get_tensor_data)(detail::orch(), &c, indices, &bits) ==
            SIMPLER_EINVAL)
            detail::fault("get_tensor_data: an index is beyond the tensor's shape");
    }
    return from_u64<T>(bits);
}

template <class T>
T get_tensor_data(const ChipTensor &tensor, std::initializer_list<uint32_t> indices)
{
    return get_tensor_data<T>(tensor, static_cast<uint32_t>(indices.size()), indices.begin());
}

/** Writes one element; it waits also for the tasks that read what is there. */
template <class T>
void set_tensor_data(const ChipTensor &tensor, uint32_t ndims, const uint32_t indices[], T value)
{
    const uint64_t bits = to_u64(value);
    if (!detail::is_in_run("set_tensor_data") || rt_is_fatal())
        return;
    if (tensor.buffer.addr == 0)
        LOG_ERROR("the tensor has no buffer");
    else if (ndims != tensor.ndims)
        detail::fault("set_tensor_data: indices: %u, dimensions of the tensor: %u", ndims,
                      tensor.ndims);
    else {
        const simpler_tensor c = detail::to_c(tensor);
        if (SIMPLER_CALL(orch_set_tensor_data)(detail::orch(), &c, indices, &bits) ==
            SIMPLER_EINVAL)
            detail::fault("set_tensor_data: an index is beyond the tensor's shape");
    }
}

template <class T>
void set_tensor_data(const ChipTensor &tensor, std::initializer_list<uint32_t> indices, T value)
{
    set_tensor_data<T>(tensor, static_cast<uint32_t>(indices.size()), indices.begin(), value);
}
} // namespace SIMPLER_CPP_NAMESPACE
} // namespace simpler

/**
 * `SIMPLER_SCOPE() { ... }`: a scope for the block, with SIMPLER_SCOPE(ScopeMode::MANUAL)
 * one in which explicit dependencies alone order tasks.  `SIMPLER_SCOPE_GUARD();` is a
 * scope for the rest of the block that it stands in.
 */
#undef SIMPLER_SCOPE
#undef SIMPLER_SCOPE_MODE
#define SIMPLER_SCOPE_GUARD(...)                                           \
    [[maybe_unused]] ::simpler::ScopeGuard SIMPLER_SCOPE_NAME(__COUNTER__) \
    {                                                                      \
        __VA_ARGS__                                                        \
    }
#define SIMPLER_SCOPE(...)             if (SIMPLER_SCOPE_GUARD(__VA_ARGS__); true)
#define SIMPLER_SCOPE_MODE(orch, mode) SIMPLER_SCOPE(orch, static_cast<::simpler::ScopeMode>(mode))

#endif
