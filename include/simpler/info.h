/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_INFO_H
#define SIMPLER_INFO_H

/*
 * What this host offers and what a run would get: for tools and for error
 * messages of callers.  Strings live as long as the library, unless a struct
 * holds them as an array.
 */
#include <stddef.h>
#include <stdint.h>

#include "simpler/call_config.h"

#ifdef __cplusplus
extern "C" {
#endif

/** One platform and its limits. */
struct simpler_platform_info {
    const char *name;
    const char *description; /**< one line */
    uint32_t min_threads;    /**< device threads: legal from here */
    uint32_t max_threads;    /**< to here */
    uint32_t default_threads;
    uint32_t max_clusters;
    uint32_t default_clusters;
    uint32_t device_count;    /**< ids are 0 to device_count - 1 */
    uint32_t default_hazards; /**< enum simpler_hazards */
    uint64_t counter_hz;
    uint32_t dtypes; /**< bit an id of simpler/dtype.h: element types of its tensors */
    uint32_t
        copies_diagnostics; /**< 1: the host reads diagnostic memory through copies, 0: in place */
};

/**
 * The platforms one by one; the first is the default.
 * @retval SIMPLER_ENOENT  @index is beyond the last
 * @retval SIMPLER_EINVAL  out is NULL
 */
SIMPLER_API int simpler_info_platform(uint32_t index, struct simpler_platform_info *out);

/** For hardware that this host does not have ("a5") the platform to use instead ("a5sim"); NULL
 *  for every other name, and for NULL. */
SIMPLER_API const char *simpler_info_substitute(const char *name);

/** One runtime: how a graph is built and run. */
struct simpler_runtime_info {
    const char *name;
    const char *description; /**< one line */
};

/**
 * The runtimes one by one; the first is the default.
 * @retval SIMPLER_ENOENT  @index is beyond the last
 * @retval SIMPLER_EINVAL  out is NULL
 */
SIMPLER_API int simpler_info_runtime(uint32_t index, struct simpler_runtime_info *out);

/** CPUs that this process may use, at least 1: affinity and cgroup quota, read at each call. */
SIMPLER_API uint32_t simpler_info_usable_cpus(void);

/** One size of struct simpler_runtime_env. */
struct simpler_size_info {
    const char *field;    /**< "ring_task_window" */
    const char *variable; /**< "SIMPLER_RING_TASK_WINDOW" */
    const char *unit;     /**< "slots" */
    const char *legal;    /**< "a power of two from 4 to 33554432" */
    uint32_t count;       /**< values: one a ring, or 1 */
    uint64_t default_value;
    uint64_t min, max;
};

/**
 * The sizes one by one.
 * @retval SIMPLER_ENOENT  @index is beyond the last
 * @retval SIMPLER_EINVAL  out is NULL
 */
SIMPLER_API int simpler_info_size(uint32_t index, struct simpler_size_info *out);

/** An environment variable that is set and that the runtime reads. */
struct simpler_variable_info {
    const char *name;
    char value[128];   /**< its text, cut if it is longer */
    char problem[256]; /**< why it is ignored; empty when it is in force */
};

/**
 * The variables that are set, one by one, as they are now.  Not while another thread changes
 * the environment.
 * @retval SIMPLER_ENOENT  @index is beyond the last
 * @retval SIMPLER_EINVAL  out is NULL
 */
SIMPLER_API int simpler_info_variable(uint32_t index, struct simpler_variable_info *out);

/**
 * The config that a run would have: entries of @config, else of the
 * environment, else defaults; no size and no count of @out is zero.  Its strings are
 * @config's, or static.
 *
 * @param platform  NULL: the default
 * @param config    NULL: all defaults
 * @param message   gets one line that names field, value and what is legal, or ""
 * @param message_bytes  room of @message, 0: it is not wanted
 * @retval SIMPLER_EINVAL  a value is not legal; out is NULL, or message where there is room
 * @retval SIMPLER_ENOENT  no such platform
 */
SIMPLER_API int simpler_info_resolve_config(const char *platform,
                                            const struct simpler_call_config *config,
                                            struct simpler_call_config *out, char *message,
                                            size_t message_bytes);

#ifdef __cplusplus
}
#endif
#endif
