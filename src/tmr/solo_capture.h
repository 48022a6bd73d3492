/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_TMR_SOLO_CAPTURE_H
#define SIMPLER_TMR_SOLO_CAPTURE_H

/*
 * A task that the orchestrator runs as it is submitted, under an args dump: its
 * arguments are captured from the submit's, before the kernel and after it.
 */
#include "collect/args_dump/args_dump_task_aicpu.h"
#include "tmr/engine.h"
#include "tmr/submit_check.h"

struct simpler_solo_capture {
    struct dump_args_view view; /* its args are the thread's */
    const struct simpler_task_args *args;
    const struct simpler_tensor *made; /* the OUTPUTs, NULL: there are none */
    struct dump_args_submit submit;
};

#if SIMPLER_DFX

/* As simpler_solo_call.  A task that is not done yet is captured later, from its slot. */
int simpler_solo_capture_call(struct simpler_orch *orch, const struct simpler_submit_request *q,
                              const struct simpler_tensor *made, uint64_t id, uint64_t word);

/*
 * The task as the monitor sees it while its kernel runs: @tensors and @args
 * are the caller's, for SIMPLER_MAX_TENSORS each.
 */
struct dump_args_view simpler_solo_capture_view(const struct simpler_solo_capture *capture,
                                                struct simpler_tensor *tensors, int64_t *args);

#else

SIMPLER_INLINE int simpler_solo_capture_call(struct simpler_orch *orch,
                                             const struct simpler_submit_request *q,
                                             const struct simpler_tensor *made, uint64_t id,
                                             uint64_t word)
{
    (void)orch;
    (void)q;
    (void)made;
    (void)id;
    (void)word;
    return 0;
}

#endif
#endif
