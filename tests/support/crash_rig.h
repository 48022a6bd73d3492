/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TEST_SUPPORT_CRASH_RIG_H
#define TEST_SUPPORT_CRASH_RIG_H

/*
 * Runs in a process of its own that is killed at some moment, with scope stats and an
 * args dump; what it had published by then it notes in shared memory, by the side of the
 * orchestration and of the kernels.  Afterwards the files are checked against that by
 * what the documents say of them, without any code that writes or recovers them.
 */
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "simpler/recover.h"

#define CRASH_RIG_TASKS  300
#define CRASH_RIG_RUNS   64
#define CRASH_RIG_CHAINS 3

/* Shared by both processes. */
struct crash_proof {
    _Atomic uint32_t run;       /* that is under way, or was the last */
    _Atomic uint32_t completed; /* runs whose call has returned */
    struct {
        _Atomic uint32_t boundaries;              /* scope boundaries that were passed */
        _Atomic uint8_t started[CRASH_RIG_TASKS]; /* kernels that were called */
    } runs[CRASH_RIG_RUNS];
};

struct crash_rig {
    char directory[64];
    struct crash_proof *proof;
    pid_t child; /* 0: none */
    pid_t last;  /* that was killed: what it has left goes with the rig, or the next child */
    bool crash_safe;
    bool one_prefix;       /* every run has that of the first */
    uint32_t tensor_bytes; /* an arena holds 48 tensors of this size */
    uint32_t runs;         /* at most; the child then ends by itself */
};

/* A fresh directory, an empty proof. */
void crash_rig_open(struct crash_rig *rig);
void crash_rig_close(struct crash_rig *rig);

/* Starts a child that runs until it is killed, or rig->runs are done. */
void crash_rig_start(struct crash_rig *rig);
/* Waits until the first run has passed so many scope boundaries. */
void crash_rig_wait(const struct crash_rig *rig, uint32_t boundaries);
/* Kills it and waits for its end; false: it had ended by itself, and well. */
bool crash_rig_kill(struct crash_rig *rig);

/* The prefix of a run. */
void crash_rig_prefix(const struct crash_rig *rig, uint32_t run, char path[128]);
/* Whether a file is there under a prefix. */
bool crash_rig_has(const char *prefix, const char *name);
/* The region that the prefix's .live names; empty: none. */
void crash_rig_region(const char *prefix, char region[256]);

/* simpler_recover in a process that is killed at the @step-th test point, or (release builds)
 * after so many 10 us; true: it was. */
bool crash_rig_recover_killed(const char *prefix, int step);

/*
 * Checks the files of a run: every sample and argument that was published is there once, with
 * the right bytes; nothing else is.  @whole: it had ended, and the files say that they are
 * complete.  Returns the number of faults, each printed.
 */
int crash_rig_check(const struct crash_rig *rig, uint32_t run, bool whole);

#endif
