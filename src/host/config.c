/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Resolution of a call config.  The sizes of struct simpler_runtime_env are one
 * table; its rows serve checks, environment, defaults and `simpler info`.
 *
 * A bad value in a config is refused: somebody wrote it for this run.  A bad
 * value in the environment is ignored whole with one warning: it may be meant
 * for another program.
 */
#include "host/config.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/logger.h"
#include "base/nearest.h"
#include "base/text.h"
#include "host/runtimes.h"

#define PROGRESS_INTERVAL_NS 250000000u
/* Cold work before the no-progress clock starts: registration, loading, handshake. */
#define ARMING_GUARD_NS 1500000000u
#define MAX_TIMEOUT_NS  ((uint64_t)1 << 60)

const struct simpler_config_size simpler_config_sizes[SIMPLER_CONFIG_SIZES] = {
    {
        .field = "ring_task_window",
        .variable = "SIMPLER_RING_TASK_WINDOW",
        .old_variable = "PTO2_RING_TASK_WINDOW",
        .unit = "slots",
        .legal = "a power of two from 4 to 33554432",
        .offset = offsetof(struct simpler_runtime_env, ring_task_window),
        .count = CHIP_MAX_RING_DEPTH,
        .min = SIMPLER_TASK_WINDOW_MIN,
        .max = SIMPLER_TASK_WINDOW_MAX,
        .multiple = 1,
        .default_value = SIMPLER_TASK_WINDOW_DEFAULT,
        .power_of_two = true,
    },
    {
        .field = "ring_heap",
        .variable = "SIMPLER_RING_HEAP",
        .old_variable = "PTO2_RING_HEAP",
        .unit = "bytes",
        .legal = "a multiple of 1024 from 1024 to 17592186044416",
        .offset = offsetof(struct simpler_runtime_env, ring_heap),
        .count = CHIP_MAX_RING_DEPTH,
        .min = SIMPLER_HEAP_MIN,
        .max = SIMPLER_HEAP_MAX,
        .multiple = SIMPLER_HEAP_UNIT,
        .default_value = SIMPLER_HEAP_DEFAULT,
    },
    {
        .field = "ring_dep_pool",
        .variable = "SIMPLER_RING_DEP_POOL",
        .old_variable = "PTO2_RING_DEP_POOL",
        .unit = "entries",
        .legal = "a number from 4 to 268435456",
        .offset = offsetof(struct simpler_runtime_env, ring_dep_pool),
        .count = CHIP_MAX_RING_DEPTH,
        .min = SIMPLER_DEP_POOL_MIN,
        .max = SIMPLER_DEP_POOL_MAX,
        .multiple = 1,
        .default_value = SIMPLER_DEP_POOL_DEFAULT,
    },
    {
        .field = "tensormap",
        .variable = "SIMPLER_TENSORMAP",
        .unit = "entries",
        .legal = "a number from 16 to 67108864",
        .offset = offsetof(struct simpler_runtime_env, tensormap),
        .count = 1,
        .min = SIMPLER_TENSORMAP_MIN,
        .max = SIMPLER_TENSORMAP_MAX,
        .multiple = 1,
        .default_value = SIMPLER_TENSORMAP_DEFAULT,
    },
    {
        .field = "ready_queue",
        .variable = "SIMPLER_READY_QUEUE",
        .unit = "entries",
        .legal = "a number from 4 to 33554432",
        .offset = offsetof(struct simpler_runtime_env, ready_queue),
        .count = 1,
        .min = SIMPLER_READY_QUEUE_MIN,
        .max = SIMPLER_READY_QUEUE_MAX,
        .multiple = 1,
        .default_value = SIMPLER_READY_QUEUE_MAX,
    },
};

/* The texts above quote these. */
_Static_assert(SIMPLER_TASK_WINDOW_MIN == 4 && SIMPLER_TASK_WINDOW_MAX == 33554432, "legal");
_Static_assert(SIMPLER_HEAP_MIN == 1024 && SIMPLER_HEAP_UNIT == 1024, "legal");
_Static_assert(SIMPLER_HEAP_MAX == 17592186044416, "legal");
_Static_assert(SIMPLER_DEP_POOL_MIN == 4 && SIMPLER_DEP_POOL_MAX == 268435456, "legal");
_Static_assert(SIMPLER_READY_QUEUE_MIN == 4 && SIMPLER_READY_QUEUE_MAX == 33554432, "legal");
_Static_assert(SIMPLER_TENSORMAP_MIN == 16 && SIMPLER_TENSORMAP_MAX == 67108864, "legal");

static uint64_t *values_of(const struct simpler_config_size *size, struct simpler_runtime_env *env)
{
    return (uint64_t *)(void *)((char *)env + size->offset);
}

/* 0 is "unset" and always legal. */
static bool is_legal(const struct simpler_config_size *size, uint64_t value)
{
    if (value == 0)
        return true;
    return value >= size->min && value <= size->max && value % size->multiple == 0 &&
           (!size->power_of_two || (value & (value - 1)) == 0);
}

const char *simpler_config_variable(const struct simpler_config_size *size, const char **name)
{
    const char *names[] = {size->variable, size->old_variable};

    for (int i = 0; i < 2; i++) {
        const char *text = names[i] != NULL ? getenv(names[i]) : NULL;
        if (text != NULL && text[0] != '\0') {
            *name = names[i];
            return text;
        }
    }
    return NULL;
}

int simpler_config_parse(const struct simpler_config_size *size, const char *text, uint64_t *values,
                         char *message, size_t message_bytes)
{
    uint64_t parsed[CHIP_MAX_RING_DEPTH];

    if (!simpler_text_parse_list(text, parsed, size->count)) {
        (void)snprintf(message, message_bytes, "'%.60s' is not %s", text,
                       size->count == 1 ? "one number" : "one number or four with commas between");
        return SIMPLER_EINVAL;
    }
    for (uint32_t i = 0; i < size->count; i++) {
        if (!is_legal(size, parsed[i])) {
            (void)snprintf(message, message_bytes, "%" PRIu64 " is not legal, but %s is", parsed[i],
                           size->legal);
            return SIMPLER_EINVAL;
        }
    }
    memcpy(values, parsed, size->count * sizeof(*parsed));
    return 0;
}

void simpler_config_read_environment(struct simpler_runtime_env *out, bool warn)
{
    memset(out, 0, sizeof(*out));
    for (size_t i = 0; i < SIMPLER_CONFIG_SIZES; i++) {
        const struct simpler_config_size *size = &simpler_config_sizes[i];
        const char *name = NULL;
        const char *text = simpler_config_variable(size, &name);
        char message[256];
        if (text == NULL)
            continue;
        if (simpler_config_parse(size, text, values_of(size, out), message, sizeof(message)) != 0 &&
            warn)
            SIMPLER_WARN("environment variable %s is ignored: %s", name, message);
    }
}

static int resolve_size(const struct simpler_config_size *size, struct simpler_runtime_env *env,
                        const struct simpler_runtime_env *environment, char *message,
                        size_t message_bytes)
{
    struct simpler_runtime_env copy = *environment;
    const uint64_t *from_environment = values_of(size, &copy);
    uint64_t *values = values_of(size, env);

    for (uint32_t i = 0; i < size->count; i++) {
        if (!is_legal(size, values[i])) {
            char entry[16] = "";
            if (size->count > 1)
                (void)snprintf(entry, sizeof(entry), "[%" PRIu32 "]", i);
            (void)snprintf(message, message_bytes,
                           "runtime_env.%s%s is %" PRIu64 "; legal is %s, or 0 for the default",
                           size->field, entry, values[i], size->legal);
            return SIMPLER_EINVAL;
        }
        if (values[i] == 0)
            values[i] = from_environment[i] != 0 ? from_environment[i] : size->default_value;
    }
    return 0;
}

/* Whether min <= value <= max, else the message says what is. */
static bool in_range(const struct simpler_platform *platform, const char *field, uint32_t value,
                     uint32_t min, uint32_t max, char *message, size_t message_bytes)
{
    if (value >= min && value <= max)
        return true;
    (void)snprintf(message, message_bytes,
                   "%s is %" PRIu32 "; platform %s takes %" PRIu32 " to %" PRIu32
                   ", or 0 for the default",
                   field, value, platform->name, min, max);
    return false;
}

/* Whether value <= max, else the message lists @legal. */
static bool is_choice(const char *field, uint32_t value, uint32_t max, const char *legal,
                      char *message, size_t message_bytes)
{
    if (value <= max)
        return true;
    (void)snprintf(message, message_bytes, "%s is %" PRIu32 "; legal is %s", field, value, legal);
    return false;
}

static int resolve_device(const struct simpler_platform *platform, struct simpler_call_config *c,
                          char *message, size_t message_bytes)
{
    c->aicpu_thread_num =
        c->aicpu_thread_num != 0 ? c->aicpu_thread_num : simpler_platform_thread_count(platform, 0);
    c->cluster_count = c->cluster_count != 0 ? c->cluster_count : platform->default_clusters;
    if (!in_range(platform, "aicpu_thread_num", c->aicpu_thread_num, platform->min_threads,
                  platform->max_threads, message, message_bytes) ||
        !in_range(platform, "cluster_count", c->cluster_count, 1, platform->max_clusters, message,
                  message_bytes) ||
        !is_choice("hazards", c->hazards, SIMPLER_HAZARDS_RAW, "0 (default), 1 (all) or 2 (raw)",
                   message, message_bytes) ||
        !is_choice("exec", c->exec, SIMPLER_EXEC_THREADS, "0 (inline) or 1 (threads)", message,
                   message_bytes) ||
        !is_choice("check_hazards", c->check_hazards, 1, "0 or 1", message, message_bytes) ||
        !is_choice("enable_scope_stats", c->enable_scope_stats, 1, "0 or 1", message,
                   message_bytes) ||
        !is_choice("enable_dump_args", c->enable_dump_args, 3,
                   "0 (off), 1 (partial), 2 (full) or 3 (hybrid)", message, message_bytes))
        return SIMPLER_EINVAL;
    if (c->hazards == SIMPLER_HAZARDS_DEFAULT)
        c->hazards = platform->default_hazards;
    return 0;
}

static int resolve_runtime(struct simpler_call_config *c, char *message, size_t message_bytes)
{
    int i = simpler_runtimes_find(c->runtime);
    const char *names[SIMPLER_RUNTIMES];
    char answer[128];

    if (i >= 0) {
        c->runtime = simpler_runtimes[i]->name;
        return 0;
    }
    for (i = 0; i < SIMPLER_RUNTIMES; i++)
        names[i] = simpler_runtimes[i]->name;
    (void)snprintf(
        message, message_bytes, "there is no runtime '%.60s'%s", c->runtime,
        simpler_nearest_answer(c->runtime, names, SIMPLER_RUNTIMES, answer, sizeof(answer)));
    return SIMPLER_EINVAL;
}

static int check_prefix(const struct simpler_call_config *c, char *message, size_t message_bytes)
{
    const char *prefix = c->output_prefix != NULL ? c->output_prefix : "";

    if (c->enable_scope_stats == 0 && c->enable_dump_args == 0)
        return 0;
    if (prefix[0] == '\0') {
        (void)snprintf(message, message_bytes,
                       "output_prefix must be set when a diagnostic is on (%s)",
                       c->enable_scope_stats != 0 ? "enable_scope_stats" : "enable_dump_args");
        return SIMPLER_EINVAL;
    }
    if (strlen(prefix) > SIMPLER_CONFIG_PREFIX_MAX) {
        (void)snprintf(message, message_bytes, "output_prefix has %zu bytes; legal are up to %d",
                       strlen(prefix), SIMPLER_CONFIG_PREFIX_MAX);
        return SIMPLER_EINVAL;
    }
    return 0;
}

int simpler_config_resolve(const struct simpler_platform *platform,
                           const struct simpler_call_config *config,
                           const struct simpler_runtime_env *environment,
                           struct simpler_call_config *out, char *message, size_t message_bytes)
{
    struct simpler_call_config c = SIMPLER_CALL_CONFIG_INIT;

    if (config != NULL)
        c = *config;
    int rc = resolve_device(platform, &c, message, message_bytes);
    if (rc == 0)
        rc = resolve_runtime(&c, message, message_bytes);
    if (rc == 0)
        rc = check_prefix(&c, message, message_bytes);
    for (size_t i = 0; rc == 0 && i < SIMPLER_CONFIG_SIZES; i++)
        rc = resolve_size(&simpler_config_sizes[i], &c.runtime_env, environment, message,
                          message_bytes);
    if (rc != 0)
        return rc;
    if (c.progress_interval_ns == 0)
        c.progress_interval_ns = PROGRESS_INTERVAL_NS;
    *out = c;
    return 0;
}

const char *simpler_config_region_directory(void)
{
    static const char usual[] = "/dev/shm";
    const char *own = getenv("XDG_RUNTIME_DIR");
    bool has_own = own != NULL && own[0] == '/';

    return access(usual, W_OK | X_OK) == 0 || !has_own ? usual : own;
}

static uint64_t read_timeout(const char *name, uint64_t unit_ns, uint64_t default_ns, bool warn)
{
    const char *text = getenv(name);
    uint64_t value, ns;

    if (text == NULL || text[0] == '\0')
        return default_ns;
    if (simpler_text_parse_u64(text, &value) && value != 0 &&
        !__builtin_mul_overflow(value, unit_ns, &ns) && ns <= MAX_TIMEOUT_NS)
        return ns;
    if (warn)
        SIMPLER_WARN("environment variable %s is ignored: '%.60s' is not a number above 0", name,
                     text);
    return default_ns;
}

/* The device must declare the hang before the hardware reaps it, and that before the host. */
static bool is_ordered(const struct simpler_config_timeouts *t)
{
    return t->scheduler_ns < t->op_execute_ns && t->op_execute_ns < t->stream_sync_ns &&
           t->stream_sync_ns >= t->scheduler_ns + ARMING_GUARD_NS;
}

void simpler_config_read_timeouts(bool onboard, struct simpler_config_timeouts *out, bool warn)
{
    static const struct simpler_config_timeouts defaults = {20000000000u, 45000000000u,
                                                            50000000000u};

    out->scheduler_ns =
        read_timeout("SIMPLER_SCHEDULER_TIMEOUT_MS", 1000000, defaults.scheduler_ns, warn);
    out->op_execute_ns =
        read_timeout("SIMPLER_OP_EXECUTE_TIMEOUT_US", 1000, defaults.op_execute_ns, warn);
    out->stream_sync_ns =
        read_timeout("SIMPLER_STREAM_SYNC_TIMEOUT_MS", 1000000, defaults.stream_sync_ns, warn);
    if (!onboard || is_ordered(out))
        return;
    if (warn)
        SIMPLER_WARN("the time-outs of the environment are ignored: scheduler (%" PRIu64
                     " ms) < op execute (%" PRIu64 " ms) < stream sync (%" PRIu64
                     " ms) must hold, and stream sync must be 1500 ms above the scheduler's",
                     out->scheduler_ns / 1000000, out->op_execute_ns / 1000000,
                     out->stream_sync_ns / 1000000);
    *out = defaults;
}
