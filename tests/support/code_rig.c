/* SPDX-License-Identifier: Apache-2.0 */
#include "code_rig.h"

#include <stdio.h>
#include <string.h>

#include "cm.h"
#include "graph_gen.h"

int code_rig_run(struct kit *kit, kit_orch fn, void *user, const struct simpler_call_config *config,
                 struct simpler_run_result *result)
{
    memset(result, 0, sizeof(*result));
    int rc = kit_run(kit, fn, user, config, result);
    assert_int_equal(rc, result->status);
    return rc;
}

static int count_lines(const char *text)
{
    int count = 0;

    for (const char *line = text; line != NULL && *line != '\0';) {
        count++;
        line = strchr(line, '\n');
        line = line != NULL ? line + 1 : NULL;
    }
    return count;
}

void code_rig_check_report(const struct simpler_run_result *result, int code, int lines)
{
    char machine[96];

    (void)snprintf(machine, sizeof(machine),
                   "orch_error_code=%d sched_error_code=%d runtime_status=%d",
                   result->orch_error_code, result->sched_error_code, result->status);
    if (strstr(result->message, machine) == NULL)
        fail_msg("no line '%s' in: %s", machine, result->message);
    assert_int_equal(result->status, -code);
    assert_int_equal(result->orch_error_code, code);
    int count = count_lines(result->message);
    if (count < lines)
        fail_msg("%d lines where %d are promised: %s", count, lines, result->message);
}

void code_rig_next_run_is_right(struct kit *kit)
{
    struct graph_options options = {.calm = true};
    static uint64_t seed = 500000;

    for (int i = 0; i < 5; i++)
        assert_true(graph_try_seed(seed++, kit, &options));
}

int code_rig_touch(struct simpler_orch *orch, uint64_t cell[8])
{
    struct simpler_tensor tensor = kit_tensor(cell, 8, SIMPLER_DTYPE_UINT64);
    struct simpler_task_args args;

    simpler_task_args_reset(&args);
    simpler_task_args_add_inout(&args, &tensor);
    return kit_submit(orch, &args, kit_nop_kernel, NULL, NULL);
}
