/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tensor geometry that is given beside a task: it travels with the task's arguments,
 * so what is given is compared with them and nothing depends on it.
 */
#include <inttypes.h>

#include "base/logger.h"
#include "base/text.h"
#include "task/orch_ops.h"
#include "task/submit_args.h"

static bool equal(const struct simpler_tensor *a, const struct simpler_tensor *b)
{
    if (a->ndims != b->ndims || a->dtype != b->dtype || a->start_offset != b->start_offset)
        return false;
    for (uint32_t i = 0; i < a->ndims; i++) {
        if (a->shape[i] != b->shape[i] || a->stride[i] != b->stride[i])
            return false;
    }
    return true;
}

static int compare(const struct simpler_tensor *info, const struct simpler_tensor *is,
                   uint64_t task, uint32_t i)
{
    if (info->ndims - 1 < SIMPLER_MAX_DIMS && equal(info, is))
        return 0;
    SIMPLER_WARN(
        "task 0x%016" PRIx64 ", argument %" PRIu32 ": the tensor info says %s with %" PRIu32
        " dimension%s, first %" PRIu32 "; the argument is %s with %" PRIu32 ", first %" PRIu32,
        task, i, simpler_dtype_name(info->dtype), info->ndims, simpler_text_plural(info->ndims),
        info->shape[0], simpler_dtype_name(is->dtype), is->ndims, is->shape[0]);
    return SIMPLER_EINVAL;
}

int simpler_orch_set_tensor_info_to_task(struct simpler_orch *orch, struct simpler_task_id task,
                                         const struct simpler_tensor *info, uint32_t count)
{
    if (orch == NULL) {
        SIMPLER_ERROR("set_tensor_info_to_task: orch is NULL");
        return SIMPLER_EINVAL;
    }
    const struct simpler_orch_ops *ops = simpler_orch_ops_of(orch);
    int rc = info == NULL && count != 0 ? SIMPLER_EINVAL : 0;

    for (uint32_t i = 0; i < count && rc == 0 && ops->get_argument != NULL; i++) {
        struct simpler_tensor is;
        if (ops->get_argument(orch, task.raw, i, &is) != 0) {
            SIMPLER_WARN("task 0x%016" PRIx64 " has no tensor argument %" PRIu32, task.raw, i);
            return SIMPLER_EINVAL;
        }
        rc = compare(&info[i], &is, task.raw, i);
    }
    return rc;
}

/* The arguments as they are given, before the task has an id. */
static void check_args(const struct simpler_task_args *args, const struct simpler_tensor *info,
                       uint32_t count)
{
    if (args == NULL || info == NULL || args->tensor_count > SIMPLER_MAX_TENSORS)
        return;
    for (uint32_t i = 0; i < count && i < args->tensor_count; i++) {
        struct simpler_tensor made;
        const struct simpler_tensor *is = args->tensor[i];
        uint64_t bytes;
        if (args->use[i] == SIMPLER_USE_OUTPUT) {
            if (!simpler_submit_output_bytes(args->tensor[i], &bytes))
                continue;
            simpler_submit_make_output(args->tensor[i], 0, SIMPLER_NO_OWNER, &made);
            is = &made;
        }
        (void)compare(&info[i], is, SIMPLER_TASK_ID_NONE, i);
    }
}

int simpler_orch_add_task_with_tensor_info_at(struct simpler_orch *orch, uint32_t core_type,
                                              uint32_t func_id,
                                              const struct simpler_task_args *args,
                                              const struct simpler_tensor *info, uint32_t count,
                                              struct simpler_task_outputs *out, const char *file,
                                              int line)
{
    if (orch != NULL && core_type > SIMPLER_CORE_AIV)
        simpler_orch_report_fatal(orch, SIMPLER_CODE_INVALID_ARGS,
                                  "add_task_with_tensor_info at %s:%d: core type %" PRIu32
                                  " is none of AIC (0), AIV (1)",
                                  file == NULL ? "(unknown)" : file, line, core_type);
    else if (orch != NULL)
        check_args(args, info, count);
    /* After a fatal error a submit answers with it and empties @out. */
    return core_type == SIMPLER_CORE_AIC
               ? simpler_orch_submit_aic_at(orch, func_id, args, out, file, line)
               : simpler_orch_submit_aiv_at(orch, func_id, args, out, file, line);
}
