/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/args_dump/args_dump_task_aicpu.h"

#include <string.h>

#include "base/compiler.h"
#include "base/testpoint.h"

enum { LEVEL_PARTIAL = 1, LEVEL_FULL = 2 };
enum { ROLE_INPUT, ROLE_OUTPUT, ROLE_INOUT, ROLE_NONE };

void dump_args_submit_fill(struct dump_args_submit *out, const struct simpler_task_args *args,
                           uint32_t submit_seq)
{
#if SIMPLER_DFX
    out->mask = args->dump_mask;
    out->ambiguous = (uint16_t)args->dump_ambiguous;
#else
    out->mask = 0;
    out->ambiguous = 0;
#endif
    out->submit_seq = submit_seq;
    memcpy(out->use, args->use, args->tensor_count);
    memcpy(out->scalar_dtype, args->scalar_dtype, args->scalar_count);
    out->tensor_count = (uint8_t)args->tensor_count;
    out->scalar_count = (uint8_t)args->scalar_count;
    if (SIMPLER_FAILPOINT(DUMP_LOSE_METADATA))
        out->tensor_count++;
    if (SIMPLER_FAILPOINT(DUMP_SPOIL_METADATA) && args->tensor_count != 0)
        out->use[args->tensor_count - 1] = UINT8_MAX;
}

/* What a direction, or a use, says; ROLE_NONE: not dumped. */
static uint32_t role_of_direction(uint32_t direction)
{
    return direction == SIMPLER_DIR_IN      ? ROLE_INPUT
           : direction == SIMPLER_DIR_OUT   ? ROLE_OUTPUT
           : direction == SIMPLER_DIR_INOUT ? ROLE_INOUT
                                            : ROLE_NONE;
}

static uint32_t role_of_use(uint32_t use)
{
    static const uint8_t roles[] = {
        [SIMPLER_USE_INPUT] = ROLE_INPUT,  [SIMPLER_USE_OUTPUT] = ROLE_OUTPUT,
        [SIMPLER_USE_INOUT] = ROLE_INOUT,  [SIMPLER_USE_OUTPUT_EXISTING] = ROLE_OUTPUT,
        [SIMPLER_USE_NO_DEP] = ROLE_INOUT, /* may be either */
    };
    return roles[use];
}

/* One stage of one task on its way to the dump. */
struct capture {
    const struct dump_args_view *view;
    struct dump_args_task task;
};

static uint32_t role_of(const struct capture *c, uint32_t i)
{
    const struct dump_args_view *v = c->view;
    uint32_t use = v->submit->use[i];
    uint32_t by_use = role_of_use(use);

    if (v->signature == NULL)
        return by_use;
    /* Scalars stand behind the tensors: they reach none. */
    if (i >= v->signature_count || v->signature[i] == SIMPLER_DIR_SCALAR) {
        dump_args_note(DUMP_ARGS_NOTE_UNREACHED, v->task_id, v->func_id, i, 0, 0);
        return ROLE_NONE;
    }
    uint32_t direction = v->signature[i];
    uint32_t role = role_of_direction(direction);
    if (SIMPLER_UNLIKELY(role != by_use) && use != SIMPLER_USE_NO_DEP)
        dump_args_note(DUMP_ARGS_NOTE_DISAGREES, v->task_id, v->func_id, i, use, direction);
    return role;
}

static bool is_selected(const struct capture *c, uint32_t arg)
{
    return (c->view->submit->mask >> arg & 1) != 0;
}

static const struct simpler_tensor *tensor_of(const struct dump_args_view *view, uint32_t i)
{
    return (const struct simpler_tensor *)(uintptr_t)view->args[i];
}

static void capture_tensor(const struct capture *c, uint32_t i)
{
    const struct simpler_tensor *t = tensor_of(c->view, i);
    uint32_t level = c->view->level, role = role_of(c, i);
    bool wanted = c->task.stage == DUMP_ARGS_STAGE_BEFORE
                      ? role == ROLE_INPUT || role == ROLE_INOUT
                      : role == ROLE_OUTPUT || role == ROLE_INOUT;
    static const uint32_t ones[SIMPLER_MAX_DIMS] = {1, 1, 1, 1, 1};

    if (!wanted || (level == LEVEL_PARTIAL && !is_selected(c, i)))
        return;
    struct dump_args_info info = {
        .buffer_addr = t->addr,
        .start_offset = t->start_offset,
        .ndims = t->ndims,
        .dtype = t->dtype,
        .is_contiguous = t->is_contiguous,
        .shape = t->shape,
        /* Those of an empty tensor are not kept: 1 each, as one is made. */
        .stride = t->extent == 0 && t->is_contiguous ? ones : t->stride,
    };
    dump_arg_record(&c->task, &info, (uint8_t)role, i, level <= LEVEL_FULL || is_selected(c, i));
}

static void capture_scalars(const struct capture *c)
{
    const struct dump_args_view *v = c->view;

    for (uint32_t k = 0; k < v->scalar_count; k++) {
        uint32_t arg = v->tensor_count + k;
        if (v->level == LEVEL_PARTIAL && !is_selected(c, arg))
            continue;
        dump_args_scalar(&c->task, arg, v->submit->scalar_dtype[k], (uint64_t)v->args[arg],
                         v->level != LEVEL_FULL && (v->submit->ambiguous >> k & 1) != 0);
    }
}

/* The first argument whose metadata cannot be followed; their number: none. */
static uint32_t find_mismatch(const struct dump_args_view *v)
{
    const struct dump_args_submit *s = v->submit;

    if (s->tensor_count != v->tensor_count || s->scalar_count != v->scalar_count)
        return 0;
    for (uint32_t i = 0; i < v->tensor_count; i++) {
        const struct simpler_tensor *t = tensor_of(v, i);
        if (t->ndims - 1 >= SIMPLER_MAX_DIMS || t->dtype >= SIMPLER_DTYPE_NUM ||
            s->use[i] > SIMPLER_USE_NO_DEP)
            return i;
    }
    for (uint32_t k = 0; k < v->scalar_count; k++) {
        if (s->scalar_dtype[k] >= SIMPLER_DTYPE_NUM)
            return v->tensor_count + k;
    }
    return v->tensor_count + v->scalar_count;
}

/* False: the whole task is skipped, and the first of a run is told. */
static bool is_sane(const struct dump_args_view *v)
{
    uint32_t at = find_mismatch(v);

    if (SIMPLER_LIKELY(at == v->tensor_count + v->scalar_count))
        return true;
    dump_args_note(DUMP_ARGS_NOTE_MISMATCH, v->task_id, v->func_id, at, 0, 0);
    return false;
}

bool dump_args_has_outputs(const struct dump_args_view *v)
{
    uint32_t n = v->tensor_count;

    if (v->signature == NULL) {
        for (uint32_t i = 0; i < n; i++) {
            if (v->submit->use[i] != SIMPLER_USE_INPUT)
                return true;
        }
        return false;
    }
    for (uint32_t i = 0; i < n && i < v->signature_count; i++) {
        if (v->signature[i] == SIMPLER_DIR_OUT || v->signature[i] == SIMPLER_DIR_INOUT)
            return true;
    }
    return false;
}

void dump_args_task_capture(const struct dump_args_run *run, uint32_t lane,
                            const struct dump_args_view *view, uint8_t stage)
{
    struct capture c = {
        .view = view,
        .task = {.task_id = view->task_id,
                 .submit_seq = view->submit->submit_seq,
                 .stage = stage,
                 .func_count = view->func_count,
                 .func_ids = {view->func_ids[0], view->func_ids[1], view->func_ids[2]}},
    };

    if (!dump_args_wants(view->level, view->submit))
        return;
    dump_args_begin(run, lane);
    if (is_sane(view)) {
        for (uint32_t i = 0; i < view->tensor_count; i++)
            capture_tensor(&c, i);
        if (stage == DUMP_ARGS_STAGE_BEFORE)
            capture_scalars(&c);
    }
    dump_args_end();
}
