/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_TASK_H
#define SIMPLER_TASK_H

/*
 * Task arguments and task ids.  A struct simpler_task_args lives on the
 * orchestration's stack; it refers to tensors and create-infos, which must stay
 * valid until the submit returns, and copies scalars.  The first error wins and
 * makes the submit fail; a call after an error adds nothing.  A call whose object is NULL
 * does nothing, and a submit without arguments is code 5.
 */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "simpler/tensor.h"

#ifdef __cplusplus
extern "C" {
#endif

/** 0: what a dump selects is not kept; the same for the library and its users. */
#ifndef SIMPLER_DFX
#define SIMPLER_DFX 1
#endif

#define SIMPLER_MAX_TENSORS 32
#define SIMPLER_MAX_SCALARS 16
/** Blocks of one task. */
#define SIMPLER_MAX_BLOCKS 32767
/** Timing slots of one run. */
#define SIMPLER_TIMING_SLOTS 16
/** Explicit dependencies that a struct simpler_task_deps holds. */
#define SIMPLER_MAX_DEPS 16

/** Ring in the high 32 bits, number within the ring in the low 32 bits. */
struct simpler_task_id {
    uint64_t raw;
};
#define SIMPLER_TASK_ID_NONE UINT64_MAX

/** How a task uses a tensor. */
enum simpler_tensor_use {
    SIMPLER_USE_INPUT = 0,           /**< reads */
    SIMPLER_USE_OUTPUT = 1,          /**< the runtime allocates it */
    SIMPLER_USE_INOUT = 2,           /**< reads and writes */
    SIMPLER_USE_OUTPUT_EXISTING = 3, /**< writes, does not read */
    SIMPLER_USE_NO_DEP = 4           /**< the creator's edge alone */
};

/** Kinds of an explicit dependency. */
enum simpler_dependency_kind {
    SIMPLER_DEP_WAIT = 1,  /**< runs after it */
    SIMPLER_DEP_RETAIN = 2 /**< keeps its outputs until this task is done */
};

/** Why the arguments are invalid; 0 is none.  simpler_task_args_error_text explains it. */
enum simpler_task_args_error {
    SIMPLER_ARGS_OK = 0,
    SIMPLER_ARGS_TENSOR_AFTER_SCALAR,
    SIMPLER_ARGS_TOO_MANY_TENSORS, /**< SIMPLER_MAX_TENSORS */
    SIMPLER_ARGS_TOO_MANY_SCALARS, /**< SIMPLER_MAX_SCALARS */
    SIMPLER_ARGS_NULL,
    SIMPLER_ARGS_BAD_DTYPE,
    SIMPLER_ARGS_BAD_TENSOR, /**< breaks a rule of tensor.h */
    SIMPLER_ARGS_DEPENDENCIES_TWICE,
    SIMPLER_ARGS_SCALAR_RANGE, /**< copied from beyond the other's end */
    SIMPLER_ARGS_DUMP_NOTHING, /**< dump_all before anything was added */
    SIMPLER_ARGS_DUMP_UNKNOWN, /**< dump of an address that nothing was added from */
    SIMPLER_ARGS_DUMP_NULL,
    SIMPLER_ARGS_BLOCK_NUM,
    SIMPLER_ARGS_TIMING_SLOT,
    SIMPLER_ARGS_PREDICATE,
    SIMPLER_ARGS_TOO_MANY_DEPS,
    /* As DUMP_UNKNOWN, by the type of what was selected. */
    SIMPLER_ARGS_DUMP_NO_TENSOR,
    SIMPLER_ARGS_DUMP_NO_CREATE_INFO,
    SIMPLER_ARGS_DUMP_NO_SCALAR,
    SIMPLER_ARGS_ERROR_NUM
};

/** Comparisons of a predicate; the element stands left of the target. */
enum simpler_predicate_op {
    SIMPLER_PREDICATE_NONE = 0, /**< always runs */
    SIMPLER_PREDICATE_EQ = 1,
    SIMPLER_PREDICATE_NE = 2,
    SIMPLER_PREDICATE_GT = 3,
    SIMPLER_PREDICATE_LT = 4,
    SIMPLER_PREDICATE_GE = 5,
    SIMPLER_PREDICATE_LE = 6
};

/**
 * One element decides whether a task runs, when everything that the task waits for
 * is done: its bytes, sign-extended to 64 bits, are compared with the target.  A
 * task that does not run keeps its place in the order, and its outputs stay as they
 * were allocated.  Whoever writes the element must be a dependency of the task.
 */
struct simpler_predicate {
    const struct simpler_tensor *tensor; /**< NULL, or one without a buffer: always runs */
    uint32_t index[SIMPLER_MAX_DIMS];    /**< of the element; as many as it has dimensions */
    uint32_t op;                         /**< enum simpler_predicate_op */
    int64_t target;
};

/** Bits of struct simpler_task_args::extra: what was set of its last members. */
enum simpler_task_extra {
    SIMPLER_EXTRA_BLOCKS = 1,
    SIMPLER_EXTRA_SYNC_START = 2,
    SIMPLER_EXTRA_PREDICATE = 4,
    SIMPLER_EXTRA_TIMING = 8,
    SIMPLER_EXTRA_EARLY_RESOLVE = 16
};

/**
 * Arguments of one task.  Initialise with simpler_task_args_reset; the arrays
 * beyond the counts are never read.
 */
struct simpler_task_args {
    uint32_t tensor_count;
    uint32_t scalar_count;
    uint32_t error;     /**< enum simpler_task_args_error */
    uint32_t error_arg; /**< index of the argument at fault */
    uint32_t output_count;
    uint32_t dependency_count;
    uint32_t extra;                           /**< enum simpler_task_extra */
    const struct simpler_task_id *dependency; /**< borrowed until the submit */
    const uint8_t *dependency_kind;           /**< NULL: WAIT and RETAIN each */
#if SIMPLER_DFX
    uint64_t dump_mask;      /**< bit an argument: tensors, then scalars */
    uint64_t dump_ambiguous; /**< bit a scalar: selected by an address that was added twice */
#endif
    const void *tensor[SIMPLER_MAX_TENSORS]; /**< simpler_tensor or, OUTPUT, create_info */
    uint8_t use[SIMPLER_MAX_TENSORS];        /**< enum simpler_tensor_use */
    uint8_t scalar_dtype[SIMPLER_MAX_SCALARS];
    uint64_t scalar[SIMPLER_MAX_SCALARS];
    const void *scalar_source[SIMPLER_MAX_SCALARS]; /**< address it was added from */
    /* Read where a bit of extra says so. */
    int32_t block_num;
    int32_t task_timing_slot;
    struct simpler_predicate predicate;
};

/** `struct simpler_task_args args; simpler_task_args_reset(&args);` */
static inline void simpler_task_args_reset(struct simpler_task_args *args)
{
    if (args == NULL)
        return;
    args->tensor_count = 0;
    args->scalar_count = 0;
    args->error = SIMPLER_ARGS_OK;
    args->error_arg = 0;
    args->output_count = 0;
    args->dependency_count = 0;
    args->extra = 0;
    args->dependency = NULL;
    args->dependency_kind = NULL;
#if SIMPLER_DFX
    args->dump_mask = 0;
    args->dump_ambiguous = 0;
#endif
}

static inline void simpler_task_args_set_error(struct simpler_task_args *args, uint32_t error,
                                               uint32_t arg)
{
    if (args != NULL && args->error == SIMPLER_ARGS_OK) {
        args->error = error;
        args->error_arg = arg;
    }
}

/* The common part of the add functions below. */
static inline void simpler_task_args_add(struct simpler_task_args *args, const void *tensor,
                                         enum simpler_tensor_use use)
{
    if (args == NULL)
        return;
    uint32_t i = args->tensor_count;
    if ((args->scalar_count | args->error) != 0 || i >= SIMPLER_MAX_TENSORS || tensor == NULL) {
        simpler_task_args_set_error(args,
                                    tensor == NULL             ? SIMPLER_ARGS_NULL
                                    : i >= SIMPLER_MAX_TENSORS ? SIMPLER_ARGS_TOO_MANY_TENSORS
                                                               : SIMPLER_ARGS_TENSOR_AFTER_SCALAR,
                                    i);
        return;
    }
    args->tensor[i] = tensor;
    args->use[i] = (uint8_t)use;
    args->output_count += use == SIMPLER_USE_OUTPUT;
    args->tensor_count = i + 1;
}

/** The task reads @tensor. */
static inline void simpler_task_args_add_input(struct simpler_task_args *args,
                                               const struct simpler_tensor *tensor)
{
    simpler_task_args_add(args, tensor, SIMPLER_USE_INPUT);
}

/** The task reads and writes @tensor. */
static inline void simpler_task_args_add_inout(struct simpler_task_args *args,
                                               const struct simpler_tensor *tensor)
{
    simpler_task_args_add(args, tensor, SIMPLER_USE_INOUT);
}

/** The task writes all of @tensor and does not read it. */
static inline void simpler_task_args_add_output(struct simpler_task_args *args,
                                                const struct simpler_tensor *tensor)
{
    simpler_task_args_add(args, tensor, SIMPLER_USE_OUTPUT_EXISTING);
}

/** The runtime allocates the tensor; submit returns it. */
static inline void simpler_task_args_add_create(struct simpler_task_args *args,
                                                const struct simpler_create_info *info)
{
    simpler_task_args_add(args, info, SIMPLER_USE_OUTPUT);
}

/** The task uses @tensor; only its creator, if it has one, is waited for. */
static inline void simpler_task_args_add_no_dep(struct simpler_task_args *args,
                                                const struct simpler_tensor *tensor)
{
    simpler_task_args_add(args, tensor, SIMPLER_USE_NO_DEP);
}

/**
 * Appends one scalar; scalars come after all tensors.
 *
 * @param value  its bytes are copied now; its address is what a dump selects
 * @param dtype  enum simpler_dtype; at most 8 bytes
 */
SIMPLER_API void simpler_task_args_add_scalar(struct simpler_task_args *args, const void *value,
                                              uint32_t dtype);

/** Appends @n raw 64-bit scalars without a dump address, dtype uint64. */
SIMPLER_API void simpler_task_args_add_scalars(struct simpler_task_args *args,
                                               const uint64_t *values, uint32_t n);

/** Appends @n 32-bit scalars, zero-extended, without a dump address, dtype int32. */
SIMPLER_API void simpler_task_args_add_scalars_i32(struct simpler_task_args *args,
                                                   const int32_t *values, uint32_t n);

/** Appends scalars [offset, offset + n) of another object, with their dtypes. */
SIMPLER_API void simpler_task_args_copy_scalars(struct simpler_task_args *args,
                                                const struct simpler_task_args *from,
                                                uint32_t offset, uint32_t n);

/** A value's own bytes, low, in a word of zeros: how a scalar travels; 0 if there are more than 8.
 */
static inline uint64_t simpler_to_u64(const void *value, size_t bytes)
{
    uint64_t bits = 0;
    if (value != NULL && bytes <= sizeof(bits))
        memcpy(&bits, value, bytes);
    return bits;
}

/** The inverse; more than 8 bytes are left as they are. */
static inline void simpler_from_u64(uint64_t bits, void *value, size_t bytes)
{
    if (value != NULL && bytes <= sizeof(bits))
        memcpy(value, &bits, bytes);
}

#ifndef __cplusplus
/** `SIMPLER_SCALAR(x)` stands for the two arguments "value, dtype" of a C lvalue. */
#define SIMPLER_SCALAR(x)                           \
    &(x), _Generic((x), float                       \
                   : SIMPLER_DTYPE_FLOAT32, double  \
                   : SIMPLER_DTYPE_FLOAT64, int8_t  \
                   : SIMPLER_DTYPE_INT8, int16_t    \
                   : SIMPLER_DTYPE_INT16, int32_t   \
                   : SIMPLER_DTYPE_INT32, int64_t   \
                   : SIMPLER_DTYPE_INT64, uint8_t   \
                   : SIMPLER_DTYPE_UINT8, uint16_t  \
                   : SIMPLER_DTYPE_UINT16, uint32_t \
                   : SIMPLER_DTYPE_UINT32, uint64_t \
                   : SIMPLER_DTYPE_UINT64, _Bool    \
                   : SIMPLER_DTYPE_BOOL)
#endif

/**
 * Explicit dependencies, once an object (a second non-empty call is an error).
 *
 * @param ids    borrowed until the submit returns
 * @param count  0 removes them
 */
SIMPLER_API void simpler_task_args_set_dependencies(struct simpler_task_args *args,
                                                    const struct simpler_task_id *ids,
                                                    uint32_t count);

/** The same, with one enum simpler_dependency_kind mask each. */
SIMPLER_API void simpler_task_args_set_dependencies_with_kinds(struct simpler_task_args *args,
                                                               const struct simpler_task_id *ids,
                                                               const uint8_t *kinds,
                                                               uint32_t count);

/**
 * Explicit dependencies that are collected one by one, up to 16 of them.
 *
 *     struct simpler_task_deps deps;
 *     simpler_task_deps_reset(&deps);
 *     simpler_task_deps_add(&deps, out.id);
 *     simpler_task_deps_bind(&deps, &args);    // @deps must live until the submit
 *
 * The same deps may be bound to the arguments of many tasks.
 */
struct simpler_task_deps {
    uint32_t count; /**< above SIMPLER_MAX_DEPS: too many were added */
    struct simpler_task_id id[SIMPLER_MAX_DEPS];
    uint8_t kind[SIMPLER_MAX_DEPS];
};

static inline void simpler_task_deps_reset(struct simpler_task_deps *deps)
{
    if (deps != NULL)
        deps->count = 0;
}

/* The common part of the two functions below. */
static inline void simpler_task_deps_put(struct simpler_task_deps *deps, struct simpler_task_id id,
                                         uint8_t kind)
{
    if (deps == NULL)
        return;
    if (deps->count < SIMPLER_MAX_DEPS) {
        deps->id[deps->count] = id;
        deps->kind[deps->count] = kind;
    }
    deps->count += deps->count <= SIMPLER_MAX_DEPS;
}

/** Runs after @id and keeps its outputs: WAIT and RETAIN. */
static inline void simpler_task_deps_add(struct simpler_task_deps *deps, struct simpler_task_id id)
{
    simpler_task_deps_put(deps, id, SIMPLER_DEP_WAIT | SIMPLER_DEP_RETAIN);
}

/** Runs after @id alone: WAIT. */
static inline void simpler_task_deps_add_wait(struct simpler_task_deps *deps,
                                              struct simpler_task_id id)
{
    simpler_task_deps_put(deps, id, SIMPLER_DEP_WAIT);
}

/** Makes @deps the dependencies of @args; NULL or more than 16 are an error of @args. */
static inline void simpler_task_deps_bind(const struct simpler_task_deps *deps,
                                          struct simpler_task_args *args)
{
    if (deps == NULL)
        simpler_task_args_set_error(args, SIMPLER_ARGS_NULL, 0);
    else if (deps->count > SIMPLER_MAX_DEPS)
        simpler_task_args_set_error(args, SIMPLER_ARGS_TOO_MANY_DEPS, SIMPLER_MAX_DEPS);
    else
        simpler_task_args_set_dependencies_with_kinds(args, deps->id, deps->kind, deps->count);
}

static inline void simpler_task_args_set_extra(struct simpler_task_args *args, uint32_t bit,
                                               int set)
{
    if (args != NULL)
        args->extra = set ? args->extra | bit : args->extra & ~bit;
}

/**
 * The task runs as @block_num blocks, 1 to 32767: each calls the kernel with its own
 * block index, in any order, at once or one after another.  The task is done when all are.
 */
static inline void simpler_task_args_set_block_num(struct simpler_task_args *args,
                                                   int32_t block_num)
{
    if (block_num < 1 || block_num > SIMPLER_MAX_BLOCKS) {
        simpler_task_args_set_error(args, SIMPLER_ARGS_BLOCK_NUM, 0);
        return;
    }
    if (args == NULL)
        return;
    args->block_num = block_num;
    simpler_task_args_set_extra(args, SIMPLER_EXTRA_BLOCKS, block_num > 1);
}

/** The same under its other name. */
static inline void simpler_task_args_set_core_num(struct simpler_task_args *args, int32_t core_num)
{
    simpler_task_args_set_block_num(args, core_num);
}

/**
 * All blocks are started together, each on a core of its own, so that they may wait for
 * each other (kernel.h).  More blocks than the device has AIV cores, for an AIV kernel, or
 * clusters, for others, make the submit fail with code 7.
 */
static inline void simpler_task_args_set_require_sync_start(struct simpler_task_args *args,
                                                            int required)
{
    simpler_task_args_set_extra(args, SIMPLER_EXTRA_SYNC_START, required);
}

/** A hint that a consumer may be placed before this task is done; no result depends on it. */
static inline void simpler_task_args_set_allow_early_resolve(struct simpler_task_args *args,
                                                             int allowed)
{
    simpler_task_args_set_extra(args, SIMPLER_EXTRA_EARLY_RESOLVE, allowed);
}

/** The task runs only if @predicate, which is copied, holds.  Dummies ignore it. */
static inline void simpler_task_args_set_predicate(struct simpler_task_args *args,
                                                   const struct simpler_predicate *predicate)
{
    if (predicate == NULL || predicate->op > SIMPLER_PREDICATE_LE) {
        simpler_task_args_set_error(args, SIMPLER_ARGS_PREDICATE, 0);
        return;
    }
    if (args == NULL)
        return;
    args->predicate = *predicate;
    simpler_task_args_set_extra(args, SIMPLER_EXTRA_PREDICATE,
                                predicate->op != SIMPLER_PREDICATE_NONE);
}

/** Counts the task in timing slot 0 to 15 of the run's result; -1: in none. */
static inline void simpler_task_args_set_task_timing_slot(struct simpler_task_args *args,
                                                          int32_t slot)
{
    if (slot < -1 || slot >= SIMPLER_TIMING_SLOTS) {
        simpler_task_args_set_error(args, SIMPLER_ARGS_TIMING_SLOT, 0);
        return;
    }
    if (args == NULL)
        return;
    args->task_timing_slot = slot;
    simpler_task_args_set_extra(args, SIMPLER_EXTRA_TIMING, slot >= 0);
}

/**
 * Select arguments for the args dump (levels 1 and 3 of enable_dump_args) by the
 * addresses that they were added from: tensors, create-infos and scalars, mixed;
 * several calls add up.  The first match counts; a scalar's address that was
 * added twice is marked ambiguous.  An address that is not of this object, or
 * NULL, makes the submit fail, whatever the level.
 *
 *     simpler_task_args_dump(&args, &x, &z, &scale);
 */
SIMPLER_API void simpler_task_args_dump_list(struct simpler_task_args *args,
                                             const void *const *addresses, size_t count);
/** Selects everything that was added so far; nothing is an error. */
SIMPLER_API void simpler_task_args_dump_all(struct simpler_task_args *args);

/** The same; an address without an argument is the error that stands at its place in @errors. */
static inline void simpler_task_args_dump_as(struct simpler_task_args *args,
                                             const void *const *addresses, size_t count,
                                             const uint8_t *errors, size_t error_count)
{
    const int is_first = args != NULL && args->error == SIMPLER_ARGS_OK;
    simpler_task_args_dump_list(args, addresses, count);
    if (is_first && errors != NULL && args->error == SIMPLER_ARGS_DUMP_UNKNOWN &&
        args->error_arg < error_count)
        args->error = errors[args->error_arg];
}

#ifndef __cplusplus
/* What is wrong when no argument was added from the address @p. */
#define SIMPLER_DUMP_ERROR(p) \
    _Generic((p),                                                          \
             struct simpler_tensor * : SIMPLER_ARGS_DUMP_NO_TENSOR,        \
             const struct simpler_tensor * : SIMPLER_ARGS_DUMP_NO_TENSOR,  \
             struct simpler_create_info * : SIMPLER_ARGS_DUMP_NO_CREATE_INFO, \
             const struct simpler_create_info * : SIMPLER_ARGS_DUMP_NO_CREATE_INFO, \
             void * : SIMPLER_ARGS_DUMP_UNKNOWN,                           \
             const void * : SIMPLER_ARGS_DUMP_UNKNOWN,                     \
             default : SIMPLER_ARGS_DUMP_NO_SCALAR)
#define SIMPLER_DUMP_ERRORS_8(a, b, c, d, e, f, g, h)                                           \
    SIMPLER_DUMP_ERROR(a), SIMPLER_DUMP_ERROR(b), SIMPLER_DUMP_ERROR(c), SIMPLER_DUMP_ERROR(d), \
        SIMPLER_DUMP_ERROR(e), SIMPLER_DUMP_ERROR(f), SIMPLER_DUMP_ERROR(g), SIMPLER_DUMP_ERROR(h)
#define SIMPLER_DUMP_ERRORS_16(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, ...) \
    SIMPLER_DUMP_ERRORS_8(a, b, c, d, e, f, g, h), SIMPLER_DUMP_ERRORS_8(i, j, k, l, m, n, o, p)
#define SIMPLER_DUMP_NOTHING_8 \
    (void *)0, (void *)0, (void *)0, (void *)0, (void *)0, (void *)0, (void *)0, (void *)0
/** Beyond the first 16 of one call the error does not tell tensors and scalars apart. */
#define simpler_task_args_dump(args, ...)                                                        \
    simpler_task_args_dump_as((args), (const void *const[]){__VA_ARGS__},                        \
                              sizeof((const void *const[]){__VA_ARGS__}) / sizeof(void *),       \
                              (const uint8_t[]){SIMPLER_DUMP_ERRORS(                             \
                                  __VA_ARGS__, SIMPLER_DUMP_NOTHING_8, SIMPLER_DUMP_NOTHING_8)}, \
                              16)
#define SIMPLER_DUMP_ERRORS(...) SIMPLER_DUMP_ERRORS_16(__VA_ARGS__)
#endif

/** One sentence on an enum simpler_task_args_error; names the limit where there is one.  Never
 *  NULL. */
SIMPLER_API const char *simpler_task_args_error_text(uint32_t error);

#ifdef __cplusplus
}

/* What is wrong when no argument was added from such an address. */
template <class T> constexpr uint8_t simpler_dump_error(const T *)
{
    return SIMPLER_ARGS_DUMP_NO_SCALAR;
}
constexpr uint8_t simpler_dump_error(const struct simpler_tensor *)
{
    return SIMPLER_ARGS_DUMP_NO_TENSOR;
}
constexpr uint8_t simpler_dump_error(const struct simpler_create_info *)
{
    return SIMPLER_ARGS_DUMP_NO_CREATE_INFO;
}
constexpr uint8_t simpler_dump_error(const void *)
{
    return SIMPLER_ARGS_DUMP_UNKNOWN;
}

template <class... Args>
inline void simpler_task_args_dump(struct simpler_task_args *args, const Args *...addresses)
{
    const void *const list[] = {addresses...};
    const uint8_t errors[] = {simpler_dump_error(addresses)...};
    simpler_task_args_dump_as(args, list, sizeof...(Args), errors, sizeof...(Args));
}
#endif
#endif
