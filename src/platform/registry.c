/* SPDX-License-Identifier: Apache-2.0 */
/* The platforms of this host, the default first, and what stands in for real hardware. */
#include "platform/platform.h"

#include <string.h>

#include "base/nearest.h"
#include "platform/platform_list.h"

/* Hardware that this host does not have, and what stands in. */
struct hardware {
    const char *name;
    const struct simpler_platform *substitute;
};

const struct simpler_platform *const simpler_platform_list[] = {
    &simpler_platform_cpu,
    &simpler_platform_a2a3sim,
    &simpler_platform_a5sim,
    NULL,
};
#define PLATFORMS (sizeof(simpler_platform_list) / sizeof(simpler_platform_list[0]) - 1)

static const struct hardware hardware_list[] = {
    {"a2a3", &simpler_platform_a2a3sim},
    {"a5", &simpler_platform_a5sim},
};

const struct simpler_platform *simpler_platform_find(const char *name)
{
    if (name == NULL)
        return NULL;
    for (size_t i = 0; simpler_platform_list[i] != NULL; i++) {
        if (strcmp(simpler_platform_list[i]->name, name) == 0)
            return simpler_platform_list[i];
    }
    return NULL;
}

const char *simpler_platform_answer(const char *name, char *text, size_t bytes)
{
    const char *names[PLATFORMS];

    for (size_t i = 0; i < PLATFORMS; i++)
        names[i] = simpler_platform_list[i]->name;
    return simpler_nearest_answer(name, names, PLATFORMS, text, bytes);
}

const char *simpler_platform_substitute(const char *name)
{
    if (name == NULL)
        return NULL;
    for (size_t i = 0; i < sizeof(hardware_list) / sizeof(hardware_list[0]); i++) {
        if (strcmp(hardware_list[i].name, name) == 0)
            return hardware_list[i].substitute->name;
    }
    return NULL;
}

uint32_t simpler_platform_thread_count(const struct simpler_platform *platform, uint32_t wanted)
{
    uint32_t count = wanted;

    if (count == 0) {
        count = simpler_platform_usable_cpus();
        count = count < 2 ? 2 : count;
    }
    if (count < platform->min_threads)
        return platform->min_threads;
    return count > platform->max_threads ? platform->max_threads : count;
}
