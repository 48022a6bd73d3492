/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_BENCH_CPU_USE_H
#define SIMPLER_BENCH_CPU_USE_H

/*
 * Whether a program had the CPUs that its threads wanted.  The scheduler counts for
 * each thread how long it ran and how long it was ready and did not (schedstat).
 */
#include <ctype.h>
#include <dirent.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

struct cpu_use {
    uint64_t ran_ns, waited_ns;
};

/* Of all threads of @pid; false: the kernel does not count. */
static inline bool cpu_use_of(pid_t pid, struct cpu_use *use)
{
    char path[300];
    bool counted = false;

    (void)snprintf(path, sizeof(path), "/proc/%ld/task", (long)pid);
    DIR *tasks = opendir(path);
    *use = (struct cpu_use){0, 0};
    for (struct dirent *e; tasks != NULL && (e = readdir(tasks)) != NULL;) {
        unsigned long long run = 0, wait = 0;
        if (!isdigit((unsigned char)e->d_name[0]))
            continue;
        (void)snprintf(path, sizeof(path), "/proc/%ld/task/%.20s/schedstat", (long)pid, e->d_name);
        FILE *file = fopen(path, "r");
        if (file == NULL)
            continue;
        if (fscanf(file, "%llu %llu", &run, &wait) == 2) {
            use->ran_ns += run;
            use->waited_ns += wait;
            counted = true;
        }
        (void)fclose(file);
    }
    if (tasks != NULL)
        (void)closedir(tasks);
    return counted;
}

#endif
