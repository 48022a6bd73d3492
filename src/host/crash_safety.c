/* SPDX-License-Identifier: Apache-2.0 */
#include "host/crash_safety.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/logger.h"
#include "base/process.h"
#include "host/config.h"
#include "host/live_file.h"
#include "host/stale_regions.h"
#include "simpler/status.h"

static void refuse(struct simpler_crash_safety *safety, const char *what, const char *why)
{
    SIMPLER_WARN("not crash-safe: %s: %s", what, why);
    safety->wanted = false;
}

struct simpler_region_backing *simpler_crash_safety_ensure(struct simpler_crash_safety *safety)
{
    const char *directory = simpler_config_region_directory();

    if (!safety->wanted || safety->backing != NULL)
        return safety->backing;
    simpler_stale_regions_remove(directory);
    if (simpler_region_backing_open(directory, &safety->backing) != 0)
        refuse(safety, directory, strerror(errno));
    return safety->backing;
}

void simpler_crash_safety_refuse(struct simpler_crash_safety *safety, const char *what)
{
    char text[128];

    (void)snprintf(text, sizeof(text), "%s has no room for the memory of %s",
                   simpler_config_region_directory(), what);
    refuse(safety, text, "it is anonymous");
}

static bool make_absolute(const char *prefix, char out[4096])
{
    char here[2048] = "";

    if (prefix[0] != '/' && getcwd(here, sizeof(here)) == NULL)
        return false;
    int n = snprintf(out, 4096, "%s%s%s", here, here[0] != '\0' ? "/" : "", prefix);
    return n > 0 && n < 4096;
}

/* Another process, or another worker of this one, is writing there. */
static bool is_taken(const struct simpler_crash_safety *safety)
{
    struct simpler_live other;

    return simpler_live_file_read(safety->prefix, &other) == 0 &&
           strcmp(other.region, simpler_region_backing_path(safety->backing)) != 0 &&
           simpler_process_is_alive(other.pid, other.start_time);
}

void simpler_crash_safety_forget_dead(const char *prefix)
{
    struct simpler_live other;

    if (simpler_live_file_read(prefix, &other) == 0 &&
        !simpler_process_is_alive(other.pid, other.start_time))
        simpler_live_file_remove(prefix);
}

bool simpler_crash_safety_begin(struct simpler_crash_safety *safety, const char *prefix,
                                struct simpler_live *live)
{
    if (!make_absolute(prefix, safety->prefix) || is_taken(safety)) {
        SIMPLER_WARN("not crash-safe: %s: %s", prefix,
                     safety->prefix[0] != '\0' ? "another run writes there"
                                               : "the path is too long");
        safety->prefix[0] = '\0';
        return false;
    }
    live->pid = getpid();
    live->start_time = simpler_process_start_time(getpid());
    (void)snprintf(live->region, sizeof(live->region), "%s",
                   simpler_region_backing_path(safety->backing));
    simpler_region_backing_set_run(safety->backing, safety->prefix);
    if (simpler_live_file_write(safety->prefix, live) == 0) {
        simpler_region_backing_set_directory(safety->backing);
        return true;
    }
    SIMPLER_WARN("not crash-safe: %s/" SIMPLER_LIVE_NAME ": %s", prefix, strerror(errno));
    simpler_region_backing_set_run(safety->backing, NULL);
    safety->prefix[0] = '\0';
    return false;
}

void simpler_crash_safety_end(struct simpler_crash_safety *safety)
{
    if (safety->prefix[0] == '\0')
        return;
    simpler_live_file_remove(safety->prefix);
    simpler_region_backing_set_run(safety->backing, NULL);
    safety->prefix[0] = '\0';
}

void simpler_crash_safety_abandon(struct simpler_crash_safety *safety)
{
    if (safety->backing == NULL)
        return;
    simpler_region_backing_unlink(safety->backing);
    safety->unlinked = true;
}

void simpler_crash_safety_fini(struct simpler_crash_safety *safety)
{
    simpler_region_backing_close(safety->backing);
    safety->backing = NULL;
    safety->unlinked = false;
}
