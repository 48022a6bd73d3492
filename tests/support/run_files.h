/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TEST_SUPPORT_RUN_FILES_H
#define TEST_SUPPORT_RUN_FILES_H

/*
 * Reads what a run of a generated program left under its prefix, with a JSON parser that is not
 * ours, and compares it with what the documents say of it, with the run's result, and
 * with the reference: every sample, every entry, every byte of payload.
 */
#include <stdbool.h>
#include <stdint.h>

#include "graph_gen.h"

struct run_files {
    const char *prefix;
    const struct simpler_call_config *config; /* as it was asked for */
    const struct simpler_run_result *result;
    const struct graph_program *program; /* graph_execute's last one, judged */
    const struct graph_hooks *hooks;
    bool across;       /* the worker collects across runs, and has written */
    bool disturbed;    /* something may be missing, if it says so */
    bool stray;        /* the test itself has left something there */
    bool unknown;      /* how much is missing may be unknown */
    uint64_t *epoch;   /* run_epoch of the last file of this worker; 0: none yet */
    char message[512]; /* the first fault */
    /* What was read: files, samples and entries in them, files that say that something is missing.
     */
    uint32_t files_read, lines_read, partial;
};

/* False, with a message, when anything is not right. */
bool run_files_check(struct run_files *files);

/* The parts of it, by file. */
bool run_files_check_samples(struct run_files *files);
bool run_files_check_dump(struct run_files *files);

/* Keeps the first fault; false. */
bool run_files_fault(struct run_files *files, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Whether an object has exactly these keys, in this order. */
struct json_t;
bool run_files_has_keys(const struct json_t *object, const char *const *keys, uint32_t count);
/* The run's status is a device code. */
bool run_files_has_code(const struct run_files *files);
/* The run ended before its diagnostics had begun; false where it may not. */
bool run_files_never_began(struct run_files *files);
bool run_files_host_built(const struct run_files *files);

#endif
