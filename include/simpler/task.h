/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_TASK_H
#define SIMPLER_TASK_H

/*
 * Task arguments and task ids.  A struct simpler_task_args lives on the
 * orchestration's stack; it refers to tensors and create-infos, which must stay
 * valid until the submit returns, and copies scalars.  The first error wins and
 * makes the submit fail; a call after an error adds nothing.
 */
#include <stddef.h>
#include <stdint.h>

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
    SIMPLER_ARGS_TOO_MANY_TENSORS,
    SIMPLER_ARGS_TOO_MANY_SCALARS,
    SIMPLER_ARGS_NULL,
    SIMPLER_ARGS_BAD_DTYPE,
    SIMPLER_ARGS_BAD_TENSOR,
    SIMPLER_ARGS_DEPENDENCIES_TWICE,
    SIMPLER_ARGS_SCALAR_RANGE,
    SIMPLER_ARGS_DUMP_NOTHING,
    SIMPLER_ARGS_DUMP_UNKNOWN,
    SIMPLER_ARGS_DUMP_NULL,
    SIMPLER_ARGS_ERROR_NUM
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
};

/** `struct simpler_task_args args; simpler_task_args_reset(&args);` */
static inline void simpler_task_args_reset(struct simpler_task_args *args)
{
    args->tensor_count = 0;
    args->scalar_count = 0;
    args->error = SIMPLER_ARGS_OK;
    args->error_arg = 0;
    args->output_count = 0;
    args->dependency_count = 0;
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
    if (args->error == SIMPLER_ARGS_OK) {
        args->error = error;
        args->error_arg = arg;
    }
}

/* The common part of the add functions below. */
static inline void simpler_task_args_add(struct simpler_task_args *args, const void *tensor,
                                         enum simpler_tensor_use use)
{
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

#ifndef __cplusplus
#define simpler_task_args_dump(args, ...)                                   \
    simpler_task_args_dump_list((args), (const void *const[]){__VA_ARGS__}, \
                                sizeof((const void *const[]){__VA_ARGS__}) / sizeof(void *))
#endif

/** One sentence on an enum simpler_task_args_error; names the limit where there is one. */
SIMPLER_API const char *simpler_task_args_error_text(uint32_t error);

#ifdef __cplusplus
}

template <class... Args>
inline void simpler_task_args_dump(struct simpler_task_args *args, const Args *...addresses)
{
    const void *const list[] = {addresses...};
    simpler_task_args_dump_list(args, list, sizeof...(Args));
}
#endif
#endif
