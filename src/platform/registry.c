/* SPDX-License-Identifier: Apache-2.0 */
/* The platforms of this host, the default first, and what stands in for real hardware. */
#include "platform/platform.h"

#include <string.h>

#include "platform/platform_list.h"

/* Hardware that this host does not have; the first platform that exists stands in. */
struct hardware {
    const char *name;
    const char *substitutes[2];
};

const struct simpler_platform *const simpler_platform_list[] = {
    &simpler_platform_cpu,
    &simpler_platform_a2a3sim,
    NULL,
};

static const struct hardware hardware_list[] = {
    {"a2a3", {"a2a3sim", NULL}},
    {"a5", {"a5sim", "a2a3sim"}},
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

static const char *first_that_exists(const struct hardware *hardware)
{
    for (size_t i = 0; i < sizeof(hardware->substitutes) / sizeof(hardware->substitutes[0]); i++) {
        const struct simpler_platform *found = simpler_platform_find(hardware->substitutes[i]);
        if (found != NULL)
            return found->name;
    }
    return NULL;
}

const char *simpler_platform_substitute(const char *name)
{
    if (name == NULL)
        return NULL;
    for (size_t i = 0; i < sizeof(hardware_list) / sizeof(hardware_list[0]); i++) {
        if (strcmp(hardware_list[i].name, name) == 0)
            return first_that_exists(&hardware_list[i]);
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
