/* SPDX-License-Identifier: Apache-2.0 */
#include "task/crash_task.h"

void simpler_crash_task_add(struct simpler_crash_text *text, const char *kernel, uint32_t func_id,
                            uint64_t task, const char *file, int32_t line)
{
    simpler_crash_add(text, " in kernel ");
    simpler_crash_add(text, kernel);
    simpler_crash_add(text, " (func_id ");
    simpler_crash_add_number(text, func_id);
    simpler_crash_add(text, ") of task ");
    simpler_crash_add_hex(text, task);
    simpler_crash_add(text, ", submitted at ");
    simpler_crash_add(text, file);
    simpler_crash_add(text, ":");
    simpler_crash_add_number(text, line < 0 ? 0 : (uint64_t)line);
}
