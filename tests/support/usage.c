/* SPDX-License-Identifier: Apache-2.0 */
#include "usage.h"

#include <dirent.h>
#include <malloc.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "kit.h"

static int count_names(const char *directory, const char *part)
{
    DIR *dir = opendir(directory);
    int n = 0;

    if (dir == NULL)
        return -1;
    for (struct dirent *entry; (entry = readdir(dir)) != NULL;)
        n += strstr(entry->d_name, part) != NULL;
    (void)closedir(dir);
    return n;
}

int usage_entries(const char *directory)
{
    return count_names(directory, "");
}

static int count_regions(void)
{
    char part[48];

    (void)snprintf(part, sizeof(part), "simpler-%u-%ld-", (unsigned)getuid(), (long)getpid());
    return count_names("/dev/shm", part);
}

static int count_mappings(void)
{
    FILE *in = fopen("/proc/self/maps", "r");
    int n = 0;

    if (in == NULL)
        return -1;
    for (int c; (c = getc(in)) != EOF;)
        n += c == '\n';
    (void)fclose(in);
    return n;
}

static long resident_bytes(void)
{
    long pages = 0, resident = 0;
    FILE *in = fopen("/proc/self/statm", "r");

    if (in == NULL || fscanf(in, "%ld %ld", &pages, &resident) != 2)
        resident = -1;
    if (in != NULL)
        (void)fclose(in);
    return resident * sysconf(_SC_PAGESIZE);
}

static long allocated_bytes(void)
{
#if defined(__GLIBC__)
    if (!kit_is_sanitized()) {
        struct mallinfo2 info = mallinfo2();
        return (long)(info.uordblks + info.hblkhd);
    }
#endif
    return 0;
}

struct usage usage_now(void)
{
    struct usage u = {0};

    (void)malloc_trim(0);
    u.allocated = allocated_bytes();
    u.resident = resident_bytes();
    u.mappings = count_mappings();
    u.regions = count_regions();
    u.descriptors = usage_entries("/proc/self/fd");
    u.threads = usage_entries("/proc/self/task");
    return u;
}

bool usage_is_back(const struct usage *before, struct usage *now)
{
    for (int i = 0; i < 2000; i++) {
        *now = usage_now();
        if (now->threads == before->threads && now->descriptors == before->descriptors &&
            now->regions == before->regions)
            return true;
        kit_sleep_ns(1000000);
    }
    return false;
}
