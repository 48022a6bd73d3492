/* SPDX-License-Identifier: Apache-2.0 */
/* What simpler/info.h tells: the tables of platforms and sizes, read-only. */
#include "simpler/info.h"

#include <stdio.h>
#include <string.h>

#include "host/config.h"
#include "host/runtimes.h"
#include "platform/platform.h"
#include "platform/transport.h"

int simpler_info_platform(uint32_t index, struct simpler_platform_info *out)
{
    uint32_t count = 0;

    if (out == NULL)
        return SIMPLER_EINVAL;
    while (simpler_platform_list[count] != NULL)
        count++;
    if (index >= count)
        return SIMPLER_ENOENT;
    const struct simpler_platform *p = simpler_platform_list[index];
    *out = (struct simpler_platform_info){
        .name = p->name,
        .description = p->description,
        .min_threads = p->min_threads,
        .max_threads = p->max_threads,
        .default_threads = simpler_platform_thread_count(p, 0),
        .max_clusters = p->max_clusters,
        .default_clusters = p->default_clusters,
        .device_count = p->device_count,
        .default_hazards = p->default_hazards,
        .counter_hz = p->counter_hz,
        .dtypes = p->dtypes,
        .copies_diagnostics = p->transport != &simpler_transport_mapped,
    };
    return 0;
}

int simpler_info_runtime(uint32_t index, struct simpler_runtime_info *out)
{
    if (out == NULL)
        return SIMPLER_EINVAL;
    if (index >= SIMPLER_RUNTIMES)
        return SIMPLER_ENOENT;
    out->name = simpler_runtimes[index]->name;
    out->description = simpler_runtimes[index]->description;
    return 0;
}

const char *simpler_info_substitute(const char *name)
{
    return simpler_platform_substitute(name);
}

uint32_t simpler_info_usable_cpus(void)
{
    return simpler_platform_usable_cpus();
}

int simpler_info_size(uint32_t index, struct simpler_size_info *out)
{
    if (out == NULL)
        return SIMPLER_EINVAL;
    if (index >= SIMPLER_CONFIG_SIZES)
        return SIMPLER_ENOENT;
    const struct simpler_config_size *size = &simpler_config_sizes[index];
    *out = (struct simpler_size_info){
        .field = size->field,
        .variable = size->variable,
        .unit = size->unit,
        .legal = size->legal,
        .count = size->count,
        .default_value = size->default_value,
        .min = size->min,
        .max = size->max,
    };
    return 0;
}

int simpler_info_variable(uint32_t index, struct simpler_variable_info *out)
{
    uint64_t values[CHIP_MAX_RING_DEPTH];
    uint32_t found = 0;

    if (out == NULL)
        return SIMPLER_EINVAL;
    for (size_t i = 0; i < SIMPLER_CONFIG_SIZES; i++) {
        const struct simpler_config_size *size = &simpler_config_sizes[i];
        const char *name = NULL;
        const char *text = simpler_config_variable(size, &name);
        if (text == NULL || found++ != index)
            continue;
        memset(out, 0, sizeof(*out));
        out->name = name;
        (void)snprintf(out->value, sizeof(out->value), "%s", text);
        (void)simpler_config_parse(size, text, values, out->problem, sizeof(out->problem));
        return 0;
    }
    return SIMPLER_ENOENT;
}

int simpler_info_resolve_config(const char *platform, const struct simpler_call_config *config,
                                struct simpler_call_config *out, char *message,
                                size_t message_bytes)
{
    const struct simpler_platform *found =
        platform == NULL ? simpler_platform_list[0] : simpler_platform_find(platform);
    struct simpler_runtime_env environment;
    char answer[256];

    if (out == NULL || (message == NULL && message_bytes != 0))
        return SIMPLER_EINVAL;
    if (message_bytes != 0)
        message[0] = '\0';
    if (found == NULL) {
        (void)snprintf(message, message_bytes, "there is no platform '%.60s'%s", platform,
                       simpler_platform_answer(platform, answer, sizeof(answer)));
        return SIMPLER_ENOENT;
    }
    simpler_config_read_environment(&environment, false);
    return simpler_config_resolve(found, config, &environment, out, message, message_bytes);
}
