/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_KERNEL_H
#define SIMPLER_KERNEL_H

/*
 * What a kernel is and what it sees.  args[0 .. tensors-1] are addresses of
 * struct simpler_tensor, the scalars follow as 64-bit words with their bytes
 * low; args[48] and args[49] are the local and the global context.  The array
 * and the tensors live until the kernel returns.  The array is the kernel's own; the
 * tensors are const, for they may be those that the orchestration has submitted.
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
 *
 * Threads:  one of the device's, or of a core; several blocks at once.  It may wait for other
 *           kernels by the functions below alone.
 * Lifetime: @args and its tensors until it returns.
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

struct simpler_member;

struct simpler_local_context {
    int32_t block_idx;
    int32_t block_num;
    struct simpler_member *member; /**< the runtime's: with whom this kernel may wait */
};

struct simpler_global_context {
    int32_t sub_block_id; /**< AIV lane of the cluster, 0 or 1; 0 on AIC */
};

/* @args NULL, which no kernel is called with, has no tensor, and scalars of 0. */

/** The tensor that is argument @i. */
static inline const struct simpler_tensor *simpler_kernel_tensor(const int64_t *args, uint32_t i)
{
    return args == NULL ? NULL : (const struct simpler_tensor *)(uintptr_t)args[i];
}

/** The first element of the tensor that is argument @i. */
static inline void *simpler_kernel_data(const int64_t *args, uint32_t i)
{
    return simpler_tensor_data(simpler_kernel_tensor(args, i));
}

/** Copies the scalar that is argument @i (tensors count) to @value, @bytes long, at most 8. */
static inline void simpler_kernel_scalar(const int64_t *args, uint32_t i, void *value, size_t bytes)
{
    const int64_t bits = args == NULL ? 0 : args[i];
    if (value != NULL && bytes <= sizeof(bits))
        memcpy(value, &bits, bytes);
}

/* The context at @place; NULL outside a kernel. */
static inline const void *simpler_kernel_context(const int64_t *args, uint32_t place)
{
    return args == NULL ? NULL : (const void *)(uintptr_t)args[place];
}

/** Which block of its task the kernel is, from 0; outside a kernel 0. */
static inline int32_t simpler_kernel_block_idx(const int64_t *args)
{
    const struct simpler_local_context *local =
        (const struct simpler_local_context *)simpler_kernel_context(args,
                                                                     SIMPLER_KERNEL_LOCAL_CONTEXT);
    return local == NULL ? 0 : local->block_idx;
}

/** How many blocks its task has; outside a kernel 1. */
static inline int32_t simpler_kernel_block_num(const int64_t *args)
{
    const struct simpler_local_context *local =
        (const struct simpler_local_context *)simpler_kernel_context(args,
                                                                     SIMPLER_KERNEL_LOCAL_CONTEXT);
    return local == NULL ? 1 : local->block_num;
}

/** Which AIV lane of its cluster the kernel runs on, 0 or 1; on AIC and outside a kernel 0. */
static inline int32_t simpler_kernel_sub_block_id(const int64_t *args)
{
    const struct simpler_global_context *global =
        (const struct simpler_global_context *)simpler_kernel_context(
            args, SIMPLER_KERNEL_GLOBAL_CONTEXT);
    return global == NULL ? 0 : global->sub_block_id;
}

/*
 * Waiting for each other.  The kernels of one block of a mixed task, and all kernels of a
 * sync_start task, are resident: each runs on a core of its own, at the same time.  Only
 * they may wait; a call elsewhere (also with args that are NULL) returns
 * -REQUIRE_SYNC_START_INVALID at once, and the run fails with code 7.  What a kernel has written
 * before it arrives or sets a flag is seen by those that pass the barrier or take the flag.
 *
 * A wait that can never end returns SIMPLER_EKERNEL: a kernel that must arrive has returned.
 * When the run is stopped it returns the run's status.  The kernel should return then.
 *
 * Threads: that of the kernel whose @args they are, until it returns.
 */

/** Lanes of a block, in the order of struct simpler_mixed_kernels. */
enum simpler_lane { SIMPLER_LANE_AIC = 0, SIMPLER_LANE_AIV0 = 1, SIMPLER_LANE_AIV1 = 2 };
#define SIMPLER_LANES      3
#define SIMPLER_LANE_FLAGS 16

/**
 * Barrier of all kernels of the task: a sync_start task, or a mixed task of one block.
 *
 * @retval 0                            everybody has arrived
 * @retval -REQUIRE_SYNC_START_INVALID  the task is neither; code 7
 * @retval SIMPLER_EKERNEL              one of them has returned and will not arrive
 * @retval other                        the status of a run that has been stopped
 *
 * Blocks: until then; it spins and parks.
 */
SIMPLER_API int simpler_kernel_sync_all(const int64_t *args);

/** Barrier of the lanes of this block: any mixed or sync_start task.  Else as
 *  simpler_kernel_sync_all. */
SIMPLER_API int simpler_kernel_sync_block(const int64_t *args);

/**
 * Raises flag 0 to 15 of a lane of this block by one; does not wait.
 *
 * @param lane  enum simpler_lane
 * @retval SIMPLER_EINVAL               no such flag, or the task has no kernel on that lane
 * @retval -REQUIRE_SYNC_START_INVALID  the task is neither mixed nor sync_start; code 7
 */
SIMPLER_API int simpler_kernel_set_flag(const int64_t *args, uint32_t lane, uint32_t flag);

/**
 * Waits until that flag of the own lane is above 0 and lowers it by one.
 *
 * @retval SIMPLER_EINVAL  no such flag
 * Else, and Blocks, as simpler_kernel_sync_all.
 */
SIMPLER_API int simpler_kernel_wait_flag(const int64_t *args, uint32_t flag);

/** The lane that this kernel of a mixed task runs as: enum simpler_lane. */
SIMPLER_API uint32_t simpler_kernel_lane(const int64_t *args);

/** What a task may wait for after its kernels have returned. */
enum simpler_async_type {
    SIMPLER_ASYNC_COUNTER = 1, /**< the counter is at least @expected */
    SIMPLER_ASYNC_EVENT = 2    /**< the counter is not 0 */
};

/** A 32-bit counter that anybody raises: another kernel, a thread of the host.  One that is NULL
 * is not raised (the log says so) and reads 0. */
struct simpler_async_counter {
    uint32_t value; /**< by the functions below alone */
};
/** Raises it by @n, modulo 2^32; what the caller wrote before is seen by who waits for it.  From
 *  any thread, also of the host. */
SIMPLER_API void simpler_async_counter_add(struct simpler_async_counter *counter, uint32_t n);
/** Its value; what was written before that was reached is seen. */
SIMPLER_API uint32_t simpler_async_counter_get(const struct simpler_async_counter *counter);

struct simpler_async_condition {
    uint32_t type;                         /**< enum simpler_async_type */
    uint32_t expected;                     /**< COUNTER alone */
    struct simpler_async_counter *counter; /**< must stay valid until the task is done */
    uint64_t reserved;                     /**< 0 */
};
/** Conditions of one run that may be open at once. */
#define SIMPLER_MAX_ASYNC_CONDITIONS 256

/**
 * Defers the completion of the kernel's task until @condition, which is copied, holds; each
 * call adds one.  The kernel returns meanwhile and its core is free.  What the raiser of the
 * counter has written before is seen by the task's consumers; the raiser may be whatever does
 * not depend on the task.  On every runtime.
 *
 * @retval 0                           registered
 * @retval -ASYNC_COMPLETION_INVALID   an unknown type, a counter that is NULL; code 101
 * @retval -ASYNC_WAIT_OVERFLOW        256 conditions are open; code 102
 * @retval -ASYNC_REGISTRATION_FAILED  @condition is NULL, reserved is not 0, the kernel has
 *                                     returned (seen on host_build_graph alone); code 103
 */
SIMPLER_API int simpler_kernel_defer(const int64_t *args,
                                     const struct simpler_async_condition *condition);

/** One kernel of a callable; simpler_worker_register copies it, with name and signature. */
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
