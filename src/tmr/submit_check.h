/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_TMR_SUBMIT_CHECK_H
#define SIMPLER_TMR_SUBMIT_CHECK_H

/*
 * What a submit asks for, and whether it is valid.  A check that fails latches the
 * code, nothing else is changed.
 */
#include "task/submit_args.h"
#include "tmr/engine.h"
#include "tmr/fatal.h"

/* What the report of a submit that is not valid names. */
struct simpler_submit_site {
    const char *file;
    int line;
    uint32_t func_id;
};

struct simpler_submit_request {
    enum simpler_shape shape;
    uint32_t func_id;
    const struct simpler_task_args *args;
    struct simpler_task_outputs *out;
    const char *file;
    int line;
    uint64_t heap_bytes;
    const struct simpler_mixed_kernels *mixed; /* of a task of shape LAUNCH; NULL: one kernel */
};

SIMPLER_INLINE struct simpler_submit_site
simpler_submit_site_of(const struct simpler_submit_request *q)
{
    struct simpler_submit_site site = {q->file, q->line, q->func_id};
    return site;
}

/* Latches the code; what is wrong with argument @arg. */
SIMPLER_COLD int simpler_submit_invalid(struct simpler_orch *orch, struct simpler_submit_site site,
                                        const char *what, uint32_t arg);
SIMPLER_COLD int simpler_submit_no_kernel(struct simpler_orch *orch,
                                          struct simpler_submit_site site, uint32_t func_id);
SIMPLER_COLD int simpler_submit_wrong_core(struct simpler_orch *orch,
                                           struct simpler_submit_site site, uint32_t func_id,
                                           uint32_t core_type);

/* Whether a tensor is valid and of a type that the platform has; its form is remembered. */
bool simpler_submit_takes(struct simpler_orch *orch, const struct simpler_tensor *t);
/* A tensor of another form than the one before. */
int simpler_submit_check_closely(struct simpler_orch *orch, struct simpler_submit_site site,
                                 const struct simpler_tensor *t, uint32_t arg);
/* Tensors and create-infos; *heap_bytes gets the sum of what these need. */
int simpler_submit_check_outputs(struct simpler_orch *orch, struct simpler_submit_site site,
                                 const struct simpler_task_args *args, uint64_t *heap_bytes);
int simpler_submit_check_dependencies(struct simpler_orch *orch, struct simpler_submit_site site,
                                      const struct simpler_task_args *args);

/* Arguments that may be missing, have an error, or have extras; a task of shape LAUNCH gets it. */
int simpler_submit_check_odd(struct simpler_orch *orch, struct simpler_submit_request *q);

/* The kernel ids of a mixed task, by lane; -1 everywhere: none. */
void simpler_submit_ids_by_lane(const struct simpler_mixed_kernels *mixed,
                                int32_t id[SIMPLER_LANES]);

/* Fills the side array's entry of a task of shape LAUNCH. */
void simpler_submit_prepare_launch(struct simpler_orch *orch,
                                   const struct simpler_submit_request *q, uint32_t number);

SIMPLER_INLINE int simpler_submit_check_kernel_id(struct simpler_orch *orch,
                                                  const struct simpler_submit_request *q,
                                                  uint32_t func_id, uint32_t core_type)
{
    const struct simpler_device *device = orch->device;

    if (func_id >= device->kernel_count || device->kernels[func_id] == NULL)
        return simpler_submit_no_kernel(orch, simpler_submit_site_of(q), func_id);
    if (device->kernels[func_id]->core_type != core_type)
        return simpler_submit_wrong_core(orch, simpler_submit_site_of(q), func_id, core_type);
    return 0;
}

/* Valid, since one of the same form was; most tensors have the form of the one before. */
SIMPLER_INLINE bool simpler_submit_is_known(const struct simpler_orch *orch,
                                            const struct simpler_tensor *t)
{
    uint64_t form = simpler_submit_form(t);

    if (SIMPLER_LIKELY(form == orch->sane_form))
        return true;
    if (form != orch->strided_form || t->stride[0] == 0)
        return false;
    for (uint32_t i = t->ndims - 1; i != 0; i--) {
        if (t->stride[i] == 0)
            return false;
    }
    return true;
}

SIMPLER_INLINE int simpler_submit_check_tensors(struct simpler_orch *orch,
                                                struct simpler_submit_request *q)
{
    const struct simpler_task_args *args = q->args;

    if (args->output_count != 0) {
        uint64_t bytes = 0;
        int status = simpler_submit_check_outputs(orch, simpler_submit_site_of(q), args, &bytes);
        q->heap_bytes = bytes;
        return status;
    }
    for (uint32_t i = 0; i < args->tensor_count; i++) {
        if (SIMPLER_UNLIKELY(!simpler_submit_is_known(orch, args->tensor[i])) &&
            simpler_submit_check_closely(orch, simpler_submit_site_of(q), args->tensor[i], i) != 0)
            return simpler_fatal_status(orch);
    }
    return 0;
}

/* The arguments are there and have neither an error nor extras. */
SIMPLER_INLINE int simpler_submit_check_data(struct simpler_orch *orch,
                                             struct simpler_submit_request *q)
{
    int status = 0;

    if (SIMPLER_UNLIKELY(!simpler_submit_counts_fit(q->args)))
        return simpler_submit_invalid(orch, simpler_submit_site_of(q), SIMPLER_SUBMIT_NOT_RESET, 0);
    if (q->args->tensor_count != 0)
        status = simpler_submit_check_tensors(orch, q);
    if (SIMPLER_LIKELY(status == 0) && q->args->dependency_count != 0)
        status = simpler_submit_check_dependencies(orch, simpler_submit_site_of(q), q->args);
    return status;
}

/* A task of one kernel or none. */
SIMPLER_INLINE int simpler_submit_check_plain(struct simpler_orch *orch,
                                              struct simpler_submit_request *q)
{
    int status = 0;

    if (q->shape != SIMPLER_SHAPE_DUMMY)
        status = simpler_submit_check_kernel_id(orch, q, q->func_id, (uint32_t)q->shape);
    return SIMPLER_LIKELY(status == 0) ? simpler_submit_check_data(orch, q) : status;
}

/* Arguments that are missing, have an error, or have extras. */
SIMPLER_INLINE bool simpler_submit_is_odd(const struct simpler_task_args *args)
{
    return args == NULL || (args->error | args->extra) != 0;
}

#endif
