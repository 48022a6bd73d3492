/* SPDX-License-Identifier: Apache-2.0 */
/* A generated program in words, and the shortest one that still fails. */
#include <stdio.h>
#include <stdlib.h>

#include "graph_gen.h"

void graph_print(const struct graph_program *p)
{
    static const char *const uses[] = {"INPUT", "OUTPUT", "INOUT", "OUTPUT_EXISTING", "NO_DEP"};
    uint32_t depth = 0;
    for (uint32_t i = 0; i < p->op_count; i++) {
        const struct graph_op *op = &p->op[i];
        depth -= op->kind == GRAPH_OP_SCOPE_END;
        fprintf(stderr, "%*s", (int)(2 * depth + 2), "");
        depth += op->kind == GRAPH_OP_SCOPE_BEGIN;
        if (op->kind != GRAPH_OP_TASK) {
            static const char *const kinds[] = {"scope", "end", "", "get", "set"};
            fprintf(stderr, "%s%s\n", op->mode ? "manual " : "", kinds[op->kind]);
            continue;
        }
        const struct graph_task *task = &p->task[op->index];
        fprintf(stderr, "task %u ring %u:%u %s%s", op->index, task->ring, task->local,
                (const char *[]){"kernel", "dummy", "alloc"}[task->kind],
                task->dependency_count != 0 ? " after" : "");
        if (task->form.lanes != 0 || task->form.deferred || task->predicate.op != 0)
            fprintf(stderr, " (lanes %u blocks %d%s%s%s)", task->form.lanes, task->form.blocks,
                    task->form.sync_start ? " together" : "",
                    task->form.deferred ? " deferred" : "",
                    task->predicate.op != 0 ? " predicate" : "");
        for (uint32_t d = 0; d < task->dependency_count; d++)
            fprintf(stderr, " %u/%u", task->dependency[d], task->dependency_kind[d]);
        fprintf(stderr, "\n");
        for (uint32_t k = 0; k < task->access_count; k++) {
            const struct graph_access *a =
                &p->access[task->first_access + (k + task->rotation) % task->access_count];
            fprintf(stderr, "%*s%s%s buffer %u %s offset %llu", (int)(2 * depth + 6), "",
                    uses[a->use], a->manual_dep ? " manual" : "", a->buffer,
                    simpler_dtype_name(a->view.dtype), (unsigned long long)a->view.offset);
            for (uint32_t d = 0; d < a->view.ndims; d++)
                fprintf(stderr, " %u/%u", a->view.shape[d], a->view.stride[d]);
            fprintf(stderr, "\n");
        }
    }
}

static bool prefix_fails(uint64_t seed, struct kit *kit, const struct graph_options *options,
                         uint32_t tasks, struct graph_program *program)
{
    char message[512];
    struct graph_options shorter = *options;
    shorter.task_limit = tasks;
    graph_generate(program, seed, &shorter);
    for (int i = 0; i < 10; i++) {
        if (!graph_check(program, kit, message, sizeof(message)))
            return true;
    }
    return false;
}

bool graph_try_seed(uint64_t seed, struct kit *kit, const struct graph_options *given)
{
    static struct graph_program program;
    static const struct graph_options none;
    const struct graph_options *options = given != NULL ? given : &none;
    char message[2560];
    graph_generate(&program, seed, options);
    if (graph_check(&program, kit, message, sizeof(message)))
        return true;
    const struct simpler_call_config *config = &program.config;
    fprintf(stderr, "seed %llu (%u tasks, %u operations, hazards %s, %u threads, exec %s): %s\n",
            (unsigned long long)seed, program.task_count, program.op_count,
            config->hazards == SIMPLER_HAZARDS_RAW ? "raw" : "all", config->aicpu_thread_num,
            config->exec == SIMPLER_EXEC_THREADS ? "threads" : "inline", message);
    uint32_t shortest = 0;
    if (getenv("SIMPLER_GRAPH_BRIEF") != NULL)
        return false;
    for (uint32_t step = program.task_count, n = step; step > 0; step /= 2) {
        while (n > step && prefix_fails(seed, kit, options, n - step, &program)) {
            n -= step;
            shortest = n;
        }
    }
    fprintf(stderr, "again: SIMPLER_GRAPH_SEED=%llu%s", (unsigned long long)seed,
            options->calm ? " SIMPLER_GRAPH_CALM=1" : "");
    if (shortest != 0)
        fprintf(stderr, " SIMPLER_GRAPH_TASKS=%u (the shortest prefix that failed in 10 runs)",
                shortest);
    fprintf(stderr, "\n");
    struct graph_options last = *options;
    if (shortest != 0)
        last.task_limit = shortest;
    graph_generate(&program, seed, &last);
    graph_print(&program);
    return false;
}
