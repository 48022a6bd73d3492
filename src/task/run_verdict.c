/* SPDX-License-Identifier: Apache-2.0 */
#include "task/run_verdict.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

void simpler_run_verdict_append(char *text, size_t bytes, const char *format, ...)
{
    size_t at = strlen(text);
    va_list args;

    va_start(args, format);
    (void)vsnprintf(text + at, bytes - at, format, args);
    va_end(args);
}

void simpler_run_verdict_head(struct simpler_run_result *result, int status,
                              const char *explanation)
{
    int code = simpler_run_verdict_is_code(status) ? -status : 0;

    result->status = status;
    result->message[0] = '\0';
    if (status == 0)
        return;
    result->orch_error_code = code < 100 ? code : 0;
    result->sched_error_code = code >= 100 ? code : 0;
    simpler_run_verdict_append(result->message, sizeof(result->message),
                               "orch_error_code=%d sched_error_code=%d runtime_status=%d\n",
                               result->orch_error_code, result->sched_error_code, status);
    simpler_run_verdict_append(result->message, sizeof(result->message), "%s: %s%s%s\n",
                               simpler_status_name(status), simpler_status_text(status),
                               code != 0 ? ": " : "", code != 0 ? explanation : "");
}

void simpler_run_verdict_failure(struct simpler_run_result *result,
                                 const struct simpler_run_failure *failure)
{
    simpler_run_verdict_append(
        result->message, sizeof(result->message),
        "kernel %s (func_id %u) of task 0x%016llx returned %d; it was submitted at %s:%d; "
        "%llu kernel%s failed, %llu task%s not run since a task before failed\n",
        failure->kernel, failure->func_id, (unsigned long long)failure->task_id, failure->status,
        failure->file == NULL ? "(unknown)" : failure->file, failure->line,
        (unsigned long long)result->stats.tasks_failed,
        simpler_text_plural(result->stats.tasks_failed),
        (unsigned long long)result->stats.tasks_poisoned,
        simpler_text_plural(result->stats.tasks_poisoned));
}
