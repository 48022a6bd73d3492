// SPDX-License-Identifier: Apache-2.0
#ifndef SIMPLER_CPP_TASK_ARGS_HPP
#define SIMPLER_CPP_TASK_ARGS_HPP

/*
 * The arguments of one task, with the names of the SIMPLER documents over
 * struct simpler_task_args.  What would outlive its object is rejected at
 * compile time; other mistakes are recorded, the first one wins, and the submit
 * fails with code 5.
 */
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "simpler/cpp_outputs.hpp"
#include "simpler/cpp_tensor.hpp"

namespace simpler
{
inline namespace SIMPLER_CPP_NAMESPACE
{
inline constexpr uint32_t CORE_MAX_TENSOR_ARGS = SIMPLER_MAX_TENSORS;
inline constexpr uint32_t CORE_MAX_SCALAR_ARGS = SIMPLER_MAX_SCALARS;

/**
 * A scalar of a graph, in the graph's function.  Given to add_scalar as it is, the
 * task gets each call's value; read as a number, the graph depends on the value.
 */
class GraphScalar
{
  public:
    GraphScalar(const uint64_t *address, bool *read) : address_(address), read_(read)
    {
    }
    operator uint64_t() const
    {
        *read_ = true;
        return *address_;
    }
    const uint64_t *address() const
    {
        return address_;
    }

  private:
    const uint64_t *address_;
    bool *read_;
};

namespace detail
{
template <class T> using Bare = std::remove_cv_t<std::remove_reference_t<T>>;
template <class T> inline constexpr bool is_tensor = std::is_same_v<Bare<T>, ChipTensor>;
template <class T> inline constexpr bool is_create_info = std::is_same_v<Bare<T>, TensorCreateInfo>;
template <class T> inline constexpr bool is_graph_scalar = std::is_same_v<Bare<T>, GraphScalar>;
template <class T>
inline constexpr bool is_scalar = (std::is_arithmetic_v<Bare<T>> ||
                                   std::is_enum_v<Bare<T>>)&&sizeof(Bare<T>) <= sizeof(uint64_t);

/* What a dump shows a scalar as. */
template <class T> constexpr uint32_t scalar_dtype()
{
    if constexpr (std::is_same_v<T, bool>)
        return SIMPLER_DTYPE_BOOL;
    else if constexpr (std::is_floating_point_v<T>)
        return sizeof(T) == 4 ? SIMPLER_DTYPE_FLOAT32 : SIMPLER_DTYPE_FLOAT64;
    else if constexpr (!std::is_integral_v<T>)
        return SIMPLER_DTYPE_UINT64;
    else if constexpr (std::is_signed_v<T>)
        return sizeof(T) == 1   ? SIMPLER_DTYPE_INT8
               : sizeof(T) == 2 ? SIMPLER_DTYPE_INT16
               : sizeof(T) == 4 ? SIMPLER_DTYPE_INT32
                                : SIMPLER_DTYPE_INT64;
    else
        return sizeof(T) == 1   ? SIMPLER_DTYPE_UINT8
               : sizeof(T) == 2 ? SIMPLER_DTYPE_UINT16
               : sizeof(T) == 4 ? SIMPLER_DTYPE_UINT32
                                : SIMPLER_DTYPE_UINT64;
}
} // namespace detail

/** What an explicit dependency does; several with |. */
enum class DepFlags : uint8_t {
    WAIT = SIMPLER_DEP_WAIT,    /**< runs after it */
    RETAIN = SIMPLER_DEP_RETAIN /**< keeps its outputs until this task is done */
};
constexpr DepFlags operator|(DepFlags a, DepFlags b)
{
    return static_cast<DepFlags>(static_cast<uint8_t>(a) | static_cast<uint8_t>(b));
}

/** Comparisons of a predicate; the element stands left of the target. */
enum class PredicateOp : uint32_t { NONE, EQ, NE, GT, LT, GE, LE };

/**
 * Whether a task runs, decided by one element when everything that it waits for
 * is done; the task that writes the element must be one of these.  Without op,
 * tensor or buffer the task always runs.
 */
struct CoreTaskPredicate {
    struct Operand {
        const ChipTensor *tensor = nullptr; /**< lives until the submit */
        uint32_t ndims = 0;                 /**< the tensor's */
        uint32_t indices[MAX_TENSOR_DIMS] = {};
    } operand;
    PredicateOp op = PredicateOp::NONE;
    int64_t target = 0;
};

/** How a task is spread: blocks, and whether all of them start together. */
class LaunchSpec
{
  public:
    /** 1 to 32767 blocks; both names are the same. */
    void set_block_num(int32_t n)
    {
        block_num_ = n;
    }
    void set_core_num(int32_t n)
    {
        block_num_ = n;
    }
    /** Every block on a core of its own, so that they may wait for each other. */
    void set_require_sync_start(bool required)
    {
        sync_start_ = required;
    }
    int32_t block_num() const
    {
        return block_num_;
    }
    int32_t core_num() const
    {
        return block_num_;
    }
    bool require_sync_start() const
    {
        return sync_start_;
    }

  private:
    int32_t block_num_ = 1;
    bool sync_start_ = false;
};

class CoreTaskArgs
{
  public:
    CoreTaskArgs()
    {
        simpler_task_args_reset(&c_);
    }
    CoreTaskArgs(const CoreTaskArgs &) = delete;
    CoreTaskArgs &operator=(const CoreTaskArgs &) = delete;

    LaunchSpec launch_spec; /**< stays through clear and reset */
    bool has_error = false;
    const char *error_msg = nullptr; /**< one sentence on the first mistake */

    /** The task reads the tensors. */
    template <class... T> void add_input(T &&...tensors)
    {
        check_tensors<T...>();
        (add(&tensors, SIMPLER_USE_INPUT), ...);
    }
    /** The task reads and writes the tensors. */
    template <class... T> void add_inout(T &&...tensors)
    {
        check_tensors<T...>();
        (add(&tensors, SIMPLER_USE_INOUT), ...);
    }
    /**
     * Tensors that the task writes and does not read, or create-infos of tensors
     * that the runtime allocates; not both in one call.
     */
    template <class... T> void add_output(T &&...outputs)
    {
        static_assert(sizeof...(T) > 0, "add_output takes at least one argument");
        static_assert((std::is_lvalue_reference_v<T> && ...),
                      "add_output refers to its arguments until the submit: give lvalues");
        static_assert((detail::is_tensor<T> && ...) || (detail::is_create_info<T> && ...),
                      "one add_output takes ChipTensors or TensorCreateInfos, not both");
        (add(&outputs,
             detail::is_create_info<T> ? SIMPLER_USE_OUTPUT : SIMPLER_USE_OUTPUT_EXISTING),
         ...);
    }
    /** The task uses the tensors; only their creators are waited for. */
    template <class... T> void add_no_dep(T &&...tensors)
    {
        check_tensors<T...>();
        (add(&tensors, SIMPLER_USE_NO_DEP), ...);
    }

    /** Numbers and enums, at most 8 bytes; an lvalue's address is what dump selects. */
    template <class... T> void add_scalar(T &&...values)
    {
        static_assert(sizeof...(T) > 0, "add_scalar takes at least one argument");
        static_assert(((detail::is_scalar<T> || detail::is_graph_scalar<T>)&&...),
                      "a scalar is a number or an enum of at most 8 bytes");
        (add_one_scalar(std::is_lvalue_reference_v<T> ? &values : nullptr, values), ...);
    }
    /** Raw 64-bit scalars; no dump selects them one by one. */
    void add_scalars(const uint64_t *values, uint32_t n)
    {
        SIMPLER_CALL(task_args_add_scalars)(&c_, values, n);
        note_error();
    }
    /** The same from 32-bit integers, zero-extended. */
    void add_scalars_i32(const int32_t *values, uint32_t n)
    {
        SIMPLER_CALL(task_args_add_scalars_i32)(&c_, values, n);
        note_error();
    }
    /** Scalars [offset, offset + n) of another object, with their dtypes. */
    void copy_scalars_from(const CoreTaskArgs &from, uint32_t offset, uint32_t n)
    {
        SIMPLER_CALL(task_args_copy_scalars)(&c_, &from.c_, offset, n);
        note_error();
    }

    /** Once an object; @ids are borrowed until the submit; 0 removes them. */
    void set_dependencies(const TaskId *ids, uint32_t n)
    {
        SIMPLER_CALL(task_args_set_dependencies)(&c_, ids, n);
        note_error();
    }
    void set_dependencies_with_kinds(const TaskId *ids, const DepFlags *kinds, uint32_t n)
    {
        SIMPLER_CALL(task_args_set_dependencies_with_kinds)
        (&c_, ids, reinterpret_cast<const uint8_t *>(kinds), n);
        note_error();
    }

    /** A hint that a consumer may be placed before this task is done; no result depends on it. */
    void set_allow_early_resolve(bool allowed)
    {
        simpler_task_args_set_allow_early_resolve(&c_, allowed);
    }
    /** The task runs only if the predicate, which is copied, holds. */
    void set_predicate(const CoreTaskPredicate &predicate)
    {
        const CoreTaskPredicate::Operand &operand = predicate.operand;
        simpler_predicate c{};
        c.tensor = reinterpret_cast<const simpler_tensor *>(operand.tensor);
        std::memcpy(c.index, operand.indices, sizeof(c.index));
        c.op = static_cast<uint32_t>(predicate.op);
        c.target = predicate.target;
        if (operand.tensor != nullptr && operand.ndims != operand.tensor->ndims)
            set_error(SIMPLER_ARGS_PREDICATE, 0);
        else
            simpler_task_args_set_predicate(&c_, &c);
        note_error();
    }
    /** Counts the task in timing slot 0 to 15 of the run's result; -1: in none. */
    void set_task_timing_slot(int32_t slot)
    {
        simpler_task_args_set_task_timing_slot(&c_, slot);
        note_error();
    }

    /**
     * Selects arguments for the args dump: tensors, create-infos and scalar
     * lvalues that were added before; without arguments all that were added.
     */
    template <class... T> void dump(T &&...selected)
    {
        static_assert((std::is_lvalue_reference_v<T> && ...),
                      "dump selects by address what was added before: give lvalues");
        static_assert(
            ((detail::is_tensor<T> || detail::is_create_info<T> || detail::is_scalar<T>)&&...),
            "dump selects ChipTensors, TensorCreateInfos and scalars");
        if constexpr (sizeof...(T) == 0) {
            SIMPLER_CALL(task_args_dump_all)(&c_);
            note_error();
        } else {
            (dump_one(&selected, detail::is_tensor<T>        ? SIMPLER_ARGS_DUMP_NO_TENSOR
                                 : detail::is_create_info<T> ? SIMPLER_ARGS_DUMP_NO_CREATE_INFO
                                                             : SIMPLER_ARGS_DUMP_NO_SCALAR),
             ...);
        }
    }

    uint32_t tensor_count() const
    {
        return c_.tensor_count;
    }
    uint32_t scalar_count() const
    {
        return c_.scalar_count;
    }

    /** Removes everything that was added; an error stays. */
    void clear()
    {
        const uint32_t error = c_.error, arg = c_.error_arg;
        simpler_task_args_reset(&c_);
        c_.error = error;
        c_.error_arg = arg;
    }
    /** The same, and the error is gone too. */
    void reset()
    {
        simpler_task_args_reset(&c_);
        has_error = false;
        error_msg = nullptr;
    }

    /* As the C API takes them, the launch spec of now included. */
    const simpler_task_args *c() const
    {
        simpler_task_args_set_block_num(&c_, launch_spec.block_num());
        simpler_task_args_set_require_sync_start(&c_, launch_spec.require_sync_start());
        return &c_;
    }

  protected:
    void set_error(uint32_t error, uint32_t arg)
    {
        simpler_task_args_set_error(&c_, error, arg);
        note_error();
    }

  private:
    template <class... T> static constexpr void check_tensors()
    {
        static_assert(sizeof...(T) > 0, "at least one tensor");
        static_assert((std::is_lvalue_reference_v<T> && ...),
                      "the task refers to its tensors until the submit: give lvalues");
        static_assert((detail::is_tensor<T> && ...), "ChipTensors only");
    }
    void note_error()
    {
        if (c_.error == SIMPLER_ARGS_OK || has_error)
            return;
        has_error = true;
        error_msg = SIMPLER_CALL(task_args_error_text)(c_.error);
    }
    void add(const void *tensor, simpler_tensor_use use)
    {
        simpler_task_args_add(&c_, tensor, use);
        note_error();
    }
    template <class T> void add_one_scalar(const T *source, const T &value)
    {
        if constexpr (detail::is_graph_scalar<T>) {
            SIMPLER_CALL(task_args_add_scalar)(&c_, value.address(), SIMPLER_DTYPE_UINT64);
            note_error();
            return;
        } else {
            add_number(source, value);
        }
    }
    template <class T> void add_number(const T *source, const T &value)
    {
        const uint64_t bits = to_u64(value);
        const uint32_t at = c_.scalar_count;
        SIMPLER_CALL(task_args_add_scalar)(&c_, &bits, detail::scalar_dtype<T>());
        if (c_.scalar_count > at)
            c_.scalar_source[at] = source;
        note_error();
    }
    void dump_one(const void *address, simpler_task_args_error without)
    {
        const uint32_t before = c_.error;
        SIMPLER_CALL(task_args_dump_list)(&c_, &address, 1);
        if (before == SIMPLER_ARGS_OK && c_.error == SIMPLER_ARGS_DUMP_UNKNOWN)
            c_.error = without;
        note_error();
    }

    mutable simpler_task_args c_;
};
/**
 * Arguments with room for their own explicit dependencies.
 */
template <std::size_t N = 16> class CoreTaskArgsWithDeps : private CoreTaskArgs
{
    static_assert(N > 0 && N <= UINT32_MAX, "room for at least one dependency");

  public:
    using CoreTaskArgs::add_inout;
    using CoreTaskArgs::add_input;
    using CoreTaskArgs::add_no_dep;
    using CoreTaskArgs::add_output;
    using CoreTaskArgs::add_scalar;
    using CoreTaskArgs::add_scalars;
    using CoreTaskArgs::add_scalars_i32;
    using CoreTaskArgs::copy_scalars_from;
    using CoreTaskArgs::dump;
    using CoreTaskArgs::error_msg;
    using CoreTaskArgs::has_error;
    using CoreTaskArgs::launch_spec;
    using CoreTaskArgs::scalar_count;
    using CoreTaskArgs::set_allow_early_resolve;
    using CoreTaskArgs::set_predicate;
    using CoreTaskArgs::set_task_timing_slot;
    using CoreTaskArgs::tensor_count;

    /** The task runs after the others, whose outputs stay until it is done. */
    template <class... Id> void add_dep(Id... ids)
    {
        static_assert((std::is_convertible_v<Id, TaskId> && ...), "add_dep takes task ids");
        (add_one(ids, DepFlags::WAIT | DepFlags::RETAIN), ...);
    }
    /** The task runs after the others, no more. */
    template <class... Id> void add_dep_wait(Id... ids)
    {
        static_assert((std::is_convertible_v<Id, TaskId> && ...), "add_dep_wait takes task ids");
        (add_one(ids, DepFlags::WAIT), ...);
    }
    uint32_t dep_count() const
    {
        return count_;
    }
    void clear()
    {
        CoreTaskArgs::clear();
        count_ = 0;
    }
    void reset()
    {
        CoreTaskArgs::reset();
        count_ = 0;
    }

    /* The arguments as a submit takes them; may be called again after more adds. */
    CoreTaskArgs &finalize()
    {
        set_dependencies(nullptr, 0);
        set_dependencies_with_kinds(ids_, kinds_, count_);
        return *this;
    }

  private:
    void add_one(TaskId id, DepFlags kind)
    {
        if (count_ == N) {
            set_error(SIMPLER_ARGS_TOO_MANY_DEPS, count_);
            return;
        }
        ids_[count_] = id;
        kinds_[count_++] = kind;
    }

    TaskId ids_[N];
    DepFlags kinds_[N];
    uint32_t count_ = 0;
};
} // namespace SIMPLER_CPP_NAMESPACE
} // namespace simpler

#endif
