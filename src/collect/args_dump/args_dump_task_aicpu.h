/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_COLLECT_ARGS_DUMP_TASK_AICPU_H
#define SIMPLER_COLLECT_ARGS_DUMP_TASK_AICPU_H

/*
 * One task as any runtime tells it to the args dump: which of its arguments are
 * recorded, in which stage and as what.
 *
 * The kernel's signature gives each tensor its direction, by position; a kernel
 * without one is taken at its submit's word.  Inputs and scalars are captured
 * before the kernel runs, outputs after it and before anybody learns that it is
 * done, both on the thread that runs it.
 */
#include "collect/args_dump/args_dump_aicpu.h"
#include "simpler/kernel.h"
#include "simpler/task.h"

enum { DUMP_ARGS_STAGE_BEFORE, DUMP_ARGS_STAGE_AFTER };

/* What outlives the submit: selection, dtypes, uses. */
struct dump_args_submit {
    uint64_t mask; /* selected arguments: tensors, then scalars */
    uint32_t submit_seq;
    uint16_t ambiguous; /* bit a scalar */
    uint8_t tensor_count, scalar_count;
    uint8_t scalar_dtype[SIMPLER_MAX_SCALARS];
    uint8_t use[SIMPLER_MAX_TENSORS]; /* enum simpler_tensor_use */
};

void dump_args_submit_fill(struct dump_args_submit *out, const struct simpler_task_args *args,
                           uint32_t submit_seq);

struct dump_args_view {
    uint64_t task_id;
    uint16_t func_id;     /* of the kernel whose signature counts, for notes */
    uint8_t func_count;   /* 1 to 3 */
    uint16_t func_ids[3]; /* as the record shows them; UINT16_MAX: -1 */
    uint32_t level;
    uint32_t tensor_count, scalar_count;
    const uint8_t *signature; /* NULL: none */
    uint32_t signature_count;
    const struct dump_args_submit *submit;
    /* As the kernel gets them: addresses of struct simpler_tensor, then scalars. */
    const int64_t *args;
};

/* Whether a level records anything of such a task. */
static inline int dump_args_wants(uint32_t level, const struct dump_args_submit *submit)
{
    return level > 1 || submit->mask != 0;
}

/* Whether the stage after completion may record anything; needs no argument of the view. */
bool dump_args_has_outputs(const struct dump_args_view *view);
/* Records the arguments of one stage. */
void dump_args_task_capture(const struct dump_args_run *run, uint32_t lane,
                            const struct dump_args_view *view, uint8_t stage);

#endif
