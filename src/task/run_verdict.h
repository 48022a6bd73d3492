/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_TASK_RUN_VERDICT_H
#define SIMPLER_TASK_RUN_VERDICT_H

/* The lines of a failed run's message that every runtime writes alike. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "simpler/worker.h"

/* Whether a run's status is minus a device code (and not a SIMPLER_E*). */
static inline bool simpler_run_verdict_is_code(int status)
{
    return status < 0 && status > -1000;
}

/* Appends to a text of @bytes; what does not fit is cut. */
void simpler_run_verdict_append(char *text, size_t bytes, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Status, codes, the line for machines and the one that explains; @explanation for codes. */
void simpler_run_verdict_head(struct simpler_run_result *result, int status,
                              const char *explanation);

/* The first kernel that failed. */
struct simpler_run_failure {
    const char *kernel; /* its name */
    uint32_t func_id;
    uint64_t task_id;
    int status;       /* that it returned */
    const char *file; /* of the submit; NULL: unknown */
    int line;
};
void simpler_run_verdict_failure(struct simpler_run_result *result,
                                 const struct simpler_run_failure *failure);

#endif
