/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TEST_SUPPORT_CODE_RIG_H
#define TEST_SUPPORT_CODE_RIG_H

/*
 * Runs that end with a code of the device, and what its report must be.  A fault fails the
 * test that calls.
 */
#include "kit.h"

/* A run of @kit; its status, which @result has as well. */
int code_rig_run(struct kit *kit, kit_orch fn, void *user, const struct simpler_call_config *config,
                 struct simpler_run_result *result);

/* A line for machines, one that explains, and @lines in all at least. */
void code_rig_check_report(const struct simpler_run_result *result, int code, int lines);

/* After a failed run the same worker is as good as new. */
void code_rig_next_run_is_right(struct kit *kit);

/* Submits a task that does nothing, with an INOUT of eight uint64. */
int code_rig_touch(struct simpler_orch *orch, uint64_t cell[8]);

#endif
