/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TEST_SUPPORT_USAGE_H
#define TEST_SUPPORT_USAGE_H

/* What this process holds, for tests that want it to hold nothing more at their end. */
#include <stdbool.h>

struct usage {
    int threads;
    int descriptors;
    int regions;    /* files of this process in /dev/shm */
    int mappings;   /* lines of /proc/self/maps */
    long allocated; /* bytes that malloc has given out; 0 under a sanitizer */
    long resident;  /* bytes */
};

struct usage usage_now(void);

/*
 * Whether threads, descriptors and regions are as they were.  A thread that was joined may
 * be listed for a moment more: it is waited for, two seconds at most.
 */
bool usage_is_back(const struct usage *before, struct usage *now);

/* Entries of a directory, "." and ".." among them; -1: there is none. */
int usage_entries(const char *directory);

#endif
