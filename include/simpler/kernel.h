/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_KERNEL_H
#define SIMPLER_KERNEL_H

/*
 * What a kernel is and what it sees.  args[0 .. tensors-1] are addresses of
 * struct simpler_tensor, the scalars follow as 64-bit words with their bytes
 * low; args[48] and args[49] are the local and the global context.  The array
 * and the tensors live until the kernel returns.
 */
#include <stdint.h>
#include <string.h>

#include "simpler/tensor.h"

#ifdef __cplusplus
extern "C" {
#endif

#define SIMPLER_KERNEL_ARGS           50
#define SIMPLER_KERNEL_LOCAL_CONTEXT  48
#define SIMPLER_KERNEL_GLOBAL_CONTEXT 49

/**
 * Runs one block of one task.  0 is success; anything else fails the task: the
 * report names it, and tasks that depend on it do not run.
 */
typedef int (*simpler_kernel_fn)(int64_t *args);

enum simpler_core_type { SIMPLER_CORE_AIC = 0, SIMPLER_CORE_AIV = 1 };

/** Directions of a kernel's signature, one for each tensor, in order. */
enum simpler_arg_direction {
    SIMPLER_DIR_SCALAR = 0,
    SIMPLER_DIR_IN = 1,
    SIMPLER_DIR_OUT = 2,
    SIMPLER_DIR_INOUT = 3
};

struct simpler_local_context {
    int32_t block_idx;
    int32_t block_num;
};

struct simpler_global_context {
    int32_t sub_block_id; /**< AIV lane of the cluster, 0 or 1; 0 on AIC */
};

/** The tensor that is argument @i. */
static inline const struct simpler_tensor *simpler_kernel_tensor(const int64_t *args, uint32_t i)
{
    return (const struct simpler_tensor *)(uintptr_t)args[i];
}

/** The first element of the tensor that is argument @i. */
static inline void *simpler_kernel_data(const int64_t *args, uint32_t i)
{
    return simpler_tensor_data(simpler_kernel_tensor(args, i));
}

/** Copies the scalar that is argument @i (tensors count) to @value, @bytes long. */
static inline void simpler_kernel_scalar(const int64_t *args, uint32_t i, void *value, size_t bytes)
{
    memcpy(value, &args[i], bytes);
}

static inline int32_t simpler_kernel_block_idx(const int64_t *args)
{
    return ((const struct simpler_local_context *)(uintptr_t)args[SIMPLER_KERNEL_LOCAL_CONTEXT])
        ->block_idx;
}

static inline int32_t simpler_kernel_block_num(const int64_t *args)
{
    return ((const struct simpler_local_context *)(uintptr_t)args[SIMPLER_KERNEL_LOCAL_CONTEXT])
        ->block_num;
}

static inline int32_t simpler_kernel_sub_block_id(const int64_t *args)
{
    return ((const struct simpler_global_context *)(uintptr_t)args[SIMPLER_KERNEL_GLOBAL_CONTEXT])
        ->sub_block_id;
}

/** One kernel of a callable. */
struct simpler_kernel {
    uint32_t func_id;   /**< unique in its callable, below 1024 */
    uint32_t core_type; /**< enum simpler_core_type */
    const char *name;   /**< for reports; NULL: "kernel <func_id>" */
    simpler_kernel_fn fn;
    const uint8_t *signature; /**< enum simpler_arg_direction each, or NULL */
    uint32_t signature_count;
};

#ifdef __cplusplus
}
#endif
#endif
