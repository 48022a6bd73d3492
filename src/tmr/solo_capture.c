/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The caller's tensors stay as they are until the submit returns, while the
 * kernel may write the array and the descriptors that it was given: behind the
 * kernel these are made again.
 */
#include "tmr/solo_capture.h"

#include "tmr/arg_capture.h"
#include "tmr/solo.h"

#if SIMPLER_DFX

/* What the monitor is told of a task of which the level records nothing. */
static const struct dump_args_submit nothing_marked;
static const struct simpler_solo_capture unmarked = {
    .view = {.level = 1, .submit = &nothing_marked}};

static void describe(struct simpler_solo_capture *c, const struct simpler_orch *orch,
                     const struct simpler_submit_request *q, uint64_t id)
{
    const struct simpler_kernel *kernel = orch->device->kernels[q->func_id];
    uint16_t func_id = (uint16_t)q->func_id;

    /* What has no slot is not counted yet. */
    dump_args_submit_fill(&c->submit, q->args, (uint32_t)orch->submitted + (c->made == NULL));
    c->args = q->args;
    c->view = (struct dump_args_view){
        .task_id = id,
        .func_id = func_id,
        .func_count = 1,
        .func_ids = {func_id, UINT16_MAX, UINT16_MAX},
        .level = orch->dump_level,
        .tensor_count = q->args->tensor_count,
        .scalar_count = q->args->scalar_count,
        .signature = kernel->signature,
        .signature_count = kernel->signature_count,
        .submit = &c->submit,
        .args = orch->thread->args,
    };
}

/* The thread's lane gets the outputs, unless the monitor has written what there was. */
static void capture_after(struct simpler_thread *thread, const struct simpler_solo_capture *c)
{
    if (simpler_kernel_is_revoked(thread) || !dump_args_has_outputs(&c->view))
        return;
    simpler_solo_set_args(thread, c->args, c->made);
    simpler_arg_capture_own(thread, &c->view, DUMP_ARGS_STAGE_AFTER);
}

static int call_unmarked(struct simpler_orch *orch, const struct simpler_submit_request *q,
                         const struct simpler_tensor *made, uint64_t word)
{
    orch->solo_capture = &unmarked;
    int status = simpler_solo_call(orch->thread, q->func_id, q->args, made, word);
    simpler_arg_capture_barrier(orch->thread);
    orch->solo_capture = NULL;
    return status;
}

int simpler_solo_capture_call(struct simpler_orch *orch, const struct simpler_submit_request *q,
                              const struct simpler_tensor *made, uint64_t id, uint64_t word)
{
    struct simpler_thread *thread = orch->thread;
    struct simpler_solo_capture c;

    if (orch->dump_level == 1 && q->args->dump_mask == 0)
        return call_unmarked(orch, q, made, word);
    c.made = made;
    describe(&c, orch, q, id);
    simpler_solo_set_args(thread, q->args, made);
    simpler_arg_capture_own(thread, &c.view, DUMP_ARGS_STAGE_BEFORE);
    simpler_kernel_set_contexts(thread);
    orch->solo_capture = &c;
    int status = simpler_kernel_call(thread, q->func_id, word);
    simpler_arg_capture_barrier(thread);
    if (thread->deferred == 0 || status != 0)
        capture_after(thread, &c);
    orch->solo_capture = NULL;
    return status;
}

struct dump_args_view simpler_solo_capture_view(const struct simpler_solo_capture *capture,
                                                struct simpler_tensor *tensors, int64_t *args)
{
    struct dump_args_view view = capture->view;
    const struct simpler_tensor *made = capture->made;

    for (uint32_t i = 0; i < view.tensor_count; i++) {
        bool output = made != NULL && capture->args->use[i] == SIMPLER_USE_OUTPUT;
        tensors[i] = *(output ? made++ : (const struct simpler_tensor *)capture->args->tensor[i]);
        args[i] = (int64_t)(uintptr_t)&tensors[i];
    }
    view.args = args;
    return view;
}

#endif
