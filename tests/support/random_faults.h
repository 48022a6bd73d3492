/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TEST_SUPPORT_RANDOM_FAULTS_H
#define TEST_SUPPORT_RANDOM_FAULTS_H

/*
 * What goes wrong in a run of tests/fault/test_random_faults.c: a table of faults, each with
 * what it does to a run that is about to begin, and what the run may come to.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>

#include "graph_gen.h"

struct random_fault;

/* One run. */
struct fault_round {
    const struct random_fault *fault;
    struct kit_random random;
    struct kit *kit;
    struct simpler_call_config config;
    struct graph_program *program;
    struct graph_hooks hooks;
    char prefix[192];
    const char *small_disk; /* a mounted tmpfs of 64 KiB, or NULL */
    bool across;            /* the worker collects across runs */
    bool short_budget;      /* of a hang */
    bool rare;              /* one of the runs that may take long */
    bool rough;             /* its transport can fail */
    uint32_t victim;        /* task or operation */
    uint32_t mark_percent;
    uint64_t delay_ns;
    _Atomic bool fired, let_go;
    _Atomic bool over; /* the run's call has returned */
    pthread_t helper;
    struct rlimit limit; /* as it was */
    struct simpler_run *run;
    bool closed; /* the worker is closed by the run itself */
};

struct random_fault {
    const char *name;
    uint32_t weight;
    /* Whether it can be done here; NULL: always. */
    bool (*fits)(const struct fault_round *round);
    /* Before the run, and when its call has returned; either may be NULL. */
    void (*arm)(struct fault_round *round);
    void (*disarm)(struct fault_round *round);
    /* What the run may come to besides 0; ends with 0. */
    int status[8];
    bool sure;     /* once it has fired the status is not 0 */
    bool disturbs; /* something may be missing from its files */
    bool stray;    /* it leaves something of its own there */
    bool unknown;  /* how much is missing may be unknown */
};

extern const struct random_fault random_faults[];
extern const uint32_t random_fault_count;

/* By weight, one that fits; @name: that one.  NULL: it does not fit. */
const struct random_fault *random_fault_choose(struct fault_round *round, const char *name);
bool random_fault_allows(const struct fault_round *round, int status);
/* Whether this build has seams. */
bool random_fault_has_seams(void);
/* Files and directories below a path, and the path. */
void random_fault_remove_tree(const char *path);

#endif
