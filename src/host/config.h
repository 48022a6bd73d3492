/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_HOST_CONFIG_H
#define SIMPLER_HOST_CONFIG_H

/*
 * From what a caller asks for to what a run gets: config entry, else
 * environment, else default.  All environment reading is here.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "platform/platform.h"
#include "simpler/call_config.h"

/* Bytes of the longest output_prefix. */
#define SIMPLER_CONFIG_PREFIX_MAX 1023

/* One field of struct simpler_runtime_env. */
struct simpler_config_size {
    const char *field;
    const char *variable;     /* of the environment */
    const char *old_variable; /* the earlier spelling, read when variable is not set; or NULL */
    const char *unit;
    const char *legal; /* "a power of two from ..." */
    size_t offset;     /* in struct simpler_runtime_env */
    uint32_t count;    /* values there */
    uint64_t min, max, multiple, default_value;
    bool power_of_two;
};

#define SIMPLER_CONFIG_SIZES 5
extern const struct simpler_config_size simpler_config_sizes[SIMPLER_CONFIG_SIZES];

/*
 * The text of the environment's variable for a size and the spelling in force;
 * NULL when none is set (an empty value counts as not set).
 */
const char *simpler_config_variable(const struct simpler_config_size *size, const char **name);

/*
 * Parses such a text into values[size->count], 0 where it leaves an entry
 * unset.  SIMPLER_EINVAL: @message gets why.
 */
int simpler_config_parse(const struct simpler_config_size *size, const char *text, uint64_t *values,
                         char *message, size_t message_bytes);

/* Sizes that the environment sets, else 0; if wished one warning for each bad variable. */
void simpler_config_read_environment(struct simpler_runtime_env *out, bool warn);

/* Where files of diagnostic memory go: /dev/shm, or where that is not to be had
 * $XDG_RUNTIME_DIR. */
const char *simpler_config_region_directory(void);

/* The three budgets of a run that makes no progress, each detected by who stands behind it. */
struct simpler_config_timeouts {
    uint64_t scheduler_ns;   /* the device declares the hang: 20 s */
    uint64_t op_execute_ns;  /* the hardware reaps the operation: 45 s */
    uint64_t stream_sync_ns; /* the host gives up: 50 s */
};

/*
 * Defaults, and over them SIMPLER_SCHEDULER_TIMEOUT_MS, SIMPLER_OP_EXECUTE_TIMEOUT_US and
 * SIMPLER_STREAM_SYNC_TIMEOUT_MS.  A value that is no number above 0 is ignored with
 * a warning.  @onboard: scheduler < op-execute < stream-sync must hold, and
 * stream-sync must cover the scheduler's budget and 1.5 s more; else all three are
 * ignored.  A simulator has the scheduler's budget alone, and no order.
 */
void simpler_config_read_timeouts(bool onboard, struct simpler_config_timeouts *out, bool warn);

/*
 * The config of a run, no zeros left but deadline_ns, check_hazards and exec.
 * SIMPLER_EINVAL: @message names field, value and what is legal; @out unchanged.
 */
int simpler_config_resolve(const struct simpler_platform *platform,
                           const struct simpler_call_config *config,
                           const struct simpler_runtime_env *environment,
                           struct simpler_call_config *out, char *message, size_t message_bytes);

#endif
