/* SPDX-License-Identifier: Apache-2.0 */
/* Least recently used first; sizes are those of files, in whole blocks. */
#include "unit_prune.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "content_hash.h"

#define MAX_BYTES  (UINT64_C(256) << 20)
#define KEPT_BYTES (UINT64_C(192) << 20)
#define BLOCK      4096u
#define HOUR       3600
#define DAY        (24 * HOUR)

struct entry {
    char name[SIMPLER_CONTENT_HASH_TEXT + 8];
    uint64_t bytes;
    struct timespec used;
};

struct entries {
    struct entry *all;
    size_t count;
    size_t room;
    uint64_t bytes;
};

/*
 * The lock of an entry that this process uses and whose stamp it cannot set; -1: there is none.
 * Of the program's main thread, as all of this.
 */
static int kept = -1;

static int open_lock(const char *dir, int how)
{
    char path[4096];

    (void)snprintf(path, sizeof(path), "%s/.lock", dir);
    int lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (lock < 0) /* the cache is another user's, or read-only: a lock needs no writing */
        lock = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (lock >= 0 && flock(lock, how) != 0) {
        (void)close(lock);
        return -1;
    }
    return lock;
}

int simpler_unit_prune_enter(const char *dir)
{
    return open_lock(dir, LOCK_SH);
}

void simpler_unit_prune_leave(int lock)
{
    if (lock >= 0)
        (void)close(lock);
}

void simpler_unit_prune_use(int lock, const char *object, const char *list)
{
    bool stamped = utimensat(AT_FDCWD, object, NULL, 0) == 0;

    (void)utimensat(AT_FDCWD, list, NULL, 0);
    if (!stamped && kept < 0 && lock >= 0)
        kept = fcntl(lock, F_DUPFD_CLOEXEC, 0);
}

void simpler_unit_prune_loaded(void)
{
    simpler_unit_prune_leave(kept);
    kept = -1;
}

/* "<hash>.so" or "<hash>.deps". */
static bool is_entry(const char *name)
{
    size_t digits = strspn(name, "0123456789abcdef");

    return digits == SIMPLER_CONTENT_HASH_TEXT - 1 &&
           (strcmp(name + digits, ".so") == 0 || strcmp(name + digits, ".deps") == 0);
}

/* ".<process>.<index>" and what is named after it: see unit_build.c. */
static bool is_unfinished(const char *name)
{
    if (name[0] != '.')
        return false;
    size_t process = strspn(name + 1, "0123456789");
    const char *dot = name + 1 + process;
    return process > 0 && *dot == '.' && dot[1] >= '0' && dot[1] <= '9';
}

static bool add(struct entries *entries, const char *name, const struct stat *info)
{
    if (entries->count == entries->room) {
        size_t room = entries->room == 0 ? 256 : entries->room * 2;
        struct entry *grown = realloc(entries->all, room * sizeof(*grown));
        if (grown == NULL)
            return false;
        entries->all = grown;
        entries->room = room;
    }
    struct entry *e = &entries->all[entries->count++];
    (void)snprintf(e->name, sizeof(e->name), "%.*s", (int)sizeof(e->name) - 1, name);
    e->bytes = ((uint64_t)info->st_size + BLOCK - 1) / BLOCK * BLOCK;
    e->used = info->st_mtim;
    entries->bytes += e->bytes;
    return true;
}

static void look_at(int dir, const char *name, time_t now, struct entries *entries)
{
    struct stat info;

    if ((!is_entry(name) && !is_unfinished(name)) ||
        fstatat(dir, name, &info, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(info.st_mode))
        return;
    if (is_entry(name))
        (void)add(entries, name, &info);
    else if (info.st_mtim.tv_sec < now - DAY)
        (void)unlinkat(dir, name, 0);
}

static int by_use(const void *a, const void *b)
{
    const struct timespec *x = &((const struct entry *)a)->used;
    const struct timespec *y = &((const struct entry *)b)->used;

    if (x->tv_sec != y->tv_sec)
        return x->tv_sec < y->tv_sec ? -1 : 1;
    return (x->tv_nsec > y->tv_nsec) - (x->tv_nsec < y->tv_nsec);
}

static void remove_oldest(int dir, struct entries *entries, time_t now)
{
    qsort(entries->all, entries->count, sizeof(entries->all[0]), by_use);
    for (size_t i = 0; i < entries->count && entries->bytes > KEPT_BYTES &&
                       entries->all[i].used.tv_sec < now - HOUR;
         i++) {
        if (unlinkat(dir, entries->all[i].name, 0) == 0)
            entries->bytes -= entries->all[i].bytes;
    }
}

void simpler_unit_prune(const char *dir)
{
    struct entries entries = {NULL, 0, 0, 0};
    const time_t now = time(NULL);

    int lock = open_lock(dir, LOCK_EX | LOCK_NB);
    DIR *list = lock >= 0 ? opendir(dir) : NULL;
    if (list != NULL) {
        const struct dirent *found;
        while ((found = readdir(list)) != NULL)
            look_at(dirfd(list), found->d_name, now, &entries);
        if (entries.bytes > MAX_BYTES)
            remove_oldest(dirfd(list), &entries, now);
        (void)closedir(list);
    }
    free(entries.all);
    simpler_unit_prune_leave(lock);
}
