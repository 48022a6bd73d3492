/* SPDX-License-Identifier: Apache-2.0 */
/* simpler/orch.h: each call goes to the runtime that the orchestrator belongs to. */
#include <stdarg.h>
#include <stdio.h>

#include "base/compiler.h"
#include "base/logger.h"
#include "task/orch_ops.h"

/* Without a run there is nothing to latch: the log has it. */
SIMPLER_COLD static int no_orch(const char *call)
{
    SIMPLER_ERROR("%s: orch is NULL; pass on the one that the orchestration was given", call);
    return SIMPLER_EINVAL;
}

SIMPLER_COLD static int no_submit(const char *call, struct simpler_task_outputs *out)
{
    if (out != NULL) {
        out->id.raw = SIMPLER_TASK_ID_NONE;
        out->count = 0;
    }
    return no_orch(call);
}

int simpler_orch_submit_aic_at(struct simpler_orch *orch, uint32_t func_id,
                               const struct simpler_task_args *args,
                               struct simpler_task_outputs *out, const char *file, int line)
{
    if (SIMPLER_UNLIKELY(orch == NULL))
        return no_submit("submit_aic", out);
    return simpler_orch_ops_of(orch)->submit.aic(orch, func_id, args, out, file, line);
}

int simpler_orch_submit_aiv_at(struct simpler_orch *orch, uint32_t func_id,
                               const struct simpler_task_args *args,
                               struct simpler_task_outputs *out, const char *file, int line)
{
    if (SIMPLER_UNLIKELY(orch == NULL))
        return no_submit("submit_aiv", out);
    return simpler_orch_ops_of(orch)->submit.aiv(orch, func_id, args, out, file, line);
}

int simpler_orch_submit_mixed_at(struct simpler_orch *orch,
                                 const struct simpler_mixed_kernels *kernels,
                                 const struct simpler_task_args *args,
                                 struct simpler_task_outputs *out, const char *file, int line)
{
    if (SIMPLER_UNLIKELY(orch == NULL))
        return no_submit("submit_mixed", out);
    return simpler_orch_ops_of(orch)->submit_mixed(orch, kernels, args, out, file, line);
}

int simpler_orch_submit_dummy_at(struct simpler_orch *orch, const struct simpler_task_args *args,
                                 struct simpler_task_outputs *out, const char *file, int line)
{
    if (SIMPLER_UNLIKELY(orch == NULL))
        return no_submit("submit_dummy", out);
    return simpler_orch_ops_of(orch)->submit_dummy(orch, args, out, file, line);
}

int simpler_orch_alloc_tensors_at(struct simpler_orch *orch,
                                  const struct simpler_create_info *infos, uint32_t count,
                                  struct simpler_task_outputs *out, const char *file, int line)
{
    if (SIMPLER_UNLIKELY(orch == NULL))
        return no_submit("alloc_tensors", out);
    return simpler_orch_ops_of(orch)->alloc_tensors(orch, infos, count, out, file, line);
}

int simpler_orch_submit_graph_at(struct simpler_orch *orch, simpler_graph_fn fn,
                                 const struct simpler_task_args *args, const void *config,
                                 size_t config_bytes, const char *file, int line)
{
    if (SIMPLER_UNLIKELY(orch == NULL))
        return no_orch("submit_graph");
    return simpler_orch_ops_of(orch)->submit_graph(orch, fn, args, config, config_bytes, file,
                                                   line);
}

int simpler_orch_scope_begin(struct simpler_orch *orch, enum simpler_scope_mode mode)
{
    return simpler_orch_scope_begin_at(orch, mode, NULL, 0);
}

int simpler_orch_scope_begin_at(struct simpler_orch *orch, enum simpler_scope_mode mode,
                                const char *file, int line)
{
    if (SIMPLER_UNLIKELY(orch == NULL))
        return no_orch("scope_begin");
    return simpler_orch_ops_of(orch)->scope_begin(orch, mode, file, line);
}

int simpler_orch_scope_end(struct simpler_orch *orch)
{
    if (SIMPLER_UNLIKELY(orch == NULL))
        return no_orch("scope_end");
    return simpler_orch_ops_of(orch)->scope_end(orch);
}

int simpler_orch_get_tensor_data(struct simpler_orch *orch, const struct simpler_tensor *tensor,
                                 const uint32_t *index, void *value)
{
    if (SIMPLER_UNLIKELY(orch == NULL))
        return no_orch("get_tensor_data");
    return simpler_orch_ops_of(orch)->get_tensor_data(orch, tensor, index, value);
}

int simpler_orch_set_tensor_data(struct simpler_orch *orch, const struct simpler_tensor *tensor,
                                 const uint32_t *index, const void *value)
{
    if (SIMPLER_UNLIKELY(orch == NULL))
        return no_orch("set_tensor_data");
    return simpler_orch_ops_of(orch)->set_tensor_data(orch, tensor, index, value);
}

void simpler_orch_report_fatal(struct simpler_orch *orch, int code, const char *format, ...)
{
    char text[1024];
    va_list args;

    if (SIMPLER_UNLIKELY(orch == NULL)) {
        (void)no_orch("report_fatal");
        return;
    }
    va_start(args, format);
    (void)vsnprintf(text, sizeof(text), format == NULL ? "(no text)" : format, args);
    va_end(args);
    /* The report is read line by line. */
    for (char *p = text; *p != '\0'; p++) {
        if ((unsigned char)*p < ' ')
            *p = ' ';
    }
    if (code <= 0 || code >= 1000)
        code = SIMPLER_CODE_EXPLICIT_ORCH_FATAL;
    simpler_orch_ops_of(orch)->report_fatal(orch, (enum simpler_device_code)code, text);
}

bool simpler_orch_is_fatal(const struct simpler_orch *orch)
{
    if (SIMPLER_UNLIKELY(orch == NULL))
        return no_orch("is_fatal") != 0;
    return simpler_orch_ops_of(orch)->is_fatal(orch);
}

uint32_t simpler_orch_available_cluster_count(const struct simpler_orch *orch)
{
    if (SIMPLER_UNLIKELY(orch == NULL)) {
        (void)no_orch("available_cluster_count");
        return 0;
    }
    return simpler_orch_ops_of(orch)->cluster_count(orch);
}

uint32_t simpler_orch_available_aiv_count(const struct simpler_orch *orch)
{
    return simpler_orch_available_cluster_count(orch) * 2;
}
