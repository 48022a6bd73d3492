/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TEST_SUPPORT_PASSING_RIG_H
#define TEST_SUPPORT_PASSING_RIG_H

/*
 * Stretches of tasks that pass through (tmr/passing.h), on purpose and on every platform: an
 * orchestration of tensormap_and_ringbuffer that counts every kernel as short.
 */
#include <stdbool.h>
#include <stdint.h>

#include "kit.h"

/* No kernel is handed over from here on, whatever it takes. */
void passing_all_short(struct simpler_orch *orch);
/* Kernels that take less than @ns count as short; the round trip is not measured. */
void passing_short_below(struct simpler_orch *orch, uint64_t ns);
/* Whether a stretch is open; how many more may pass in it. */
bool passing_is_open(const struct simpler_orch *orch);
uint32_t passing_left(const struct simpler_orch *orch);
/*
 * Submits tasks of variant @variant without tensors, until at least @left (to 60) more may pass in
 * the stretch that is open then; KIT_EXPECTs that.  Returns how many.
 */
uint32_t passing_open(struct simpler_orch *orch, uint32_t variant, uint32_t left);
/* One such task. */
int passing_nop(struct simpler_orch *orch, uint32_t variant, struct simpler_task_outputs *out);

#endif
