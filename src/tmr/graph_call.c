/* SPDX-License-Identifier: Apache-2.0 */
/* A graph here is its function, called: each task is ordered by its own tensors. */
#include <string.h>

#include "simpler/task.h"
#include "task/submit_args.h"
#include "tmr/engine.h"
#include "tmr/fatal.h"
#include "tmr/orch_functions.h"

static int refuse(struct simpler_orch *orch, const char *file, int line, const char *what)
{
    return simpler_fatal_latch(orch, SIMPLER_CODE_INVALID_ARGS, "graph at %s:%d: %s",
                               file == NULL ? "(unknown)" : file, line, what);
}

int simpler_tmr_submit_graph(struct simpler_orch *orch, simpler_graph_fn fn,
                             const struct simpler_task_args *args, const void *config,
                             size_t config_bytes, const char *file, int line)
{
    struct simpler_tensor tensors[SIMPLER_MAX_TENSORS];
    uint64_t scalars[SIMPLER_MAX_SCALARS];
    int status = simpler_fatal_status(orch);

    if (status != 0 && !orch->counting)
        return status;
    if (fn == NULL || args == NULL || (config == NULL && config_bytes != 0))
        return refuse(orch, file, line, "function, arguments or configuration are NULL");
    if (args->error != SIMPLER_ARGS_OK)
        return refuse(orch, file, line, simpler_task_args_error_text(args->error));
    if (!simpler_submit_counts_fit(args))
        return refuse(orch, file, line, SIMPLER_SUBMIT_NOT_RESET);
    if (args->dependency_count != 0)
        return refuse(
            orch, file, line,
            "explicit dependencies are for tasks; a graph's order comes from its tensors");
    for (uint32_t i = 0; i < args->tensor_count; i++) {
        if (args->use[i] == SIMPLER_USE_OUTPUT)
            return refuse(orch, file, line,
                          "a graph makes no tensor for its caller; allocate it before");
        if (args->use[i] == SIMPLER_USE_NO_DEP)
            return refuse(orch, file, line,
                          "add_no_dep is for tasks; a graph's order comes from its tensors");
        tensors[i] = *(const struct simpler_tensor *)args->tensor[i];
    }
    /* Copies: the function may fill the caller's arguments anew. */
    memcpy(scalars, args->scalar, args->scalar_count * sizeof(scalars[0]));
    struct simpler_graph_args given = {tensors, scalars, args->tensor_count, args->scalar_count,
                                       config};
    fn(orch, &given);
    return simpler_fatal_status(orch);
}
