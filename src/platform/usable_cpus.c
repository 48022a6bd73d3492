/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CPUs that this process may use: the smaller of its affinity mask and of the
 * tightest quota of its cgroup and that one's parents.
 *
 * Version 2 names the group in the line "0::/path" of /proc/self/cgroup and
 * keeps "<quota|max> <period>" in cpu.max; version 1 names it in the line whose
 * list of controllers has "cpu" and keeps two files.  Inside a container the
 * path may not exist below the mount; the mount itself is then the group.
 */
#include "platform/usable_cpus.h"

#include <errno.h>
#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "platform/platform.h"

#define PATH_BYTES 1024

static bool read_line(const char *path, char *line, size_t bytes)
{
    FILE *file = fopen(path, "re");

    if (file == NULL)
        return false;
    bool ok = fgets(line, (int)bytes, file) != NULL;
    (void)fclose(file);
    return ok;
}

static uint32_t cpus_of(double quota, double period)
{
    if (quota <= 0 || period <= 0)
        return UINT32_MAX;
    double cpus = quota / period;
    if (cpus >= UINT32_MAX)
        return UINT32_MAX;
    uint32_t whole = (uint32_t)cpus;
    return whole + ((double)whole < cpus);
}

/* "max 100000" has no number in front: no quota. */
static uint32_t quota_v2(const char *dir)
{
    char path[PATH_BYTES + 32], line[128];
    char *end;

    (void)snprintf(path, sizeof(path), "%s/cpu.max", dir);
    if (!read_line(path, line, sizeof(line)))
        return UINT32_MAX;
    double quota = strtod(line, &end);
    return end == line ? UINT32_MAX : cpus_of(quota, strtod(end, NULL));
}

static uint32_t quota_v1(const char *dir)
{
    char path[PATH_BYTES + 32], quota[64], period[64];

    (void)snprintf(path, sizeof(path), "%s/cpu.cfs_quota_us", dir);
    if (!read_line(path, quota, sizeof(quota)))
        return UINT32_MAX;
    (void)snprintf(path, sizeof(path), "%s/cpu.cfs_period_us", dir);
    if (!read_line(path, period, sizeof(period)))
        return UINT32_MAX;
    return cpus_of(strtod(quota, NULL), strtod(period, NULL));
}

/* The tightest quota of mount + group and of every directory between. */
static uint32_t tightest(const char *mount, const char *group, uint32_t (*quota)(const char *))
{
    char dir[PATH_BYTES];
    uint32_t least = UINT32_MAX;
    size_t mount_length = strlen(mount);

    int length = snprintf(dir, sizeof(dir), "%s%s", mount, group);
    if (length < 0 || (size_t)length >= sizeof(dir))
        return quota(mount);
    for (;;) {
        uint32_t here = quota(dir);
        least = here < least ? here : least;
        char *slash = strrchr(dir, '/');
        if (strlen(dir) <= mount_length || slash == NULL)
            return least;
        *slash = '\0';
    }
}

static bool names_cpu(const char *controllers, size_t length)
{
    for (const char *at = controllers; at < controllers + length;) {
        size_t word = strcspn(at, ",:");
        if (word == 3 && memcmp(at, "cpu", 3) == 0)
            return true;
        at += word + 1;
    }
    return false;
}

/* One line "id:controllers:/path" of /proc/self/cgroup. */
static uint32_t quota_of_line(const char *root, char *line)
{
    static const char *const v2_mounts[] = {"/sys/fs/cgroup", "/sys/fs/cgroup/unified"};
    static const char *const v1_mounts[] = {"/sys/fs/cgroup/cpu", "/sys/fs/cgroup/cpu,cpuacct"};
    char mount[PATH_BYTES];
    uint32_t least = UINT32_MAX;

    line[strcspn(line, "\n")] = '\0';
    char *controllers = strchr(line, ':');
    char *group = controllers != NULL ? strchr(controllers + 1, ':') : NULL;
    if (group == NULL)
        return least;
    bool v2 = group == controllers + 1;
    if (!v2 && !names_cpu(controllers + 1, (size_t)(group - controllers - 1)))
        return least;
    for (int i = 0; i < 2; i++) {
        (void)snprintf(mount, sizeof(mount), "%s%s", root, v2 ? v2_mounts[i] : v1_mounts[i]);
        uint32_t here = tightest(mount, group + 1, v2 ? quota_v2 : quota_v1);
        least = here < least ? here : least;
    }
    return least;
}

uint32_t simpler_usable_cpus_quota(const char *root)
{
    char path[PATH_BYTES], line[PATH_BYTES];
    uint32_t least = UINT32_MAX;

    (void)snprintf(path, sizeof(path), "%s/proc/self/cgroup", root);
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return least;
    while (fgets(line, sizeof(line), file) != NULL) {
        uint32_t here = quota_of_line(root, line);
        least = here < least ? here : least;
    }
    (void)fclose(file);
    return least;
}

/* The kernel refuses a mask that is too small for the machine: grow until it fits. */
static uint32_t affinity_cpus(void)
{
    for (size_t cpus = CPU_SETSIZE; cpus <= (size_t)1 << 20; cpus *= 4) {
        cpu_set_t *set = CPU_ALLOC(cpus);
        if (set == NULL)
            return 1;
        size_t bytes = CPU_ALLOC_SIZE(cpus);
        int failed = sched_getaffinity(0, bytes, set) != 0 ? errno : 0;
        int count = failed == 0 ? CPU_COUNT_S(bytes, set) : 0;
        CPU_FREE(set);
        if (count > 0)
            return (uint32_t)count;
        if (failed != EINVAL)
            return 1;
    }
    return 1;
}

uint32_t simpler_platform_usable_cpus(void)
{
    uint32_t affinity = affinity_cpus();
    uint32_t quota = simpler_usable_cpus_quota("");

    return quota < affinity ? quota : affinity;
}
