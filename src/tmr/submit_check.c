/* SPDX-License-Identifier: Apache-2.0 */
#include "tmr/submit_check.h"

#include "tmr/launch.h"

/* Bits of args->extra that make a task one of shape LAUNCH. */
#define LAUNCH_EXTRAS                                                            \
    (SIMPLER_EXTRA_BLOCKS | SIMPLER_EXTRA_SYNC_START | SIMPLER_EXTRA_PREDICATE | \
     SIMPLER_EXTRA_TIMING)

int simpler_submit_invalid(struct simpler_orch *orch, struct simpler_submit_site site,
                           const char *what, uint32_t arg)
{
    return simpler_fatal_latch(
        orch, SIMPLER_CODE_INVALID_ARGS, "submit at %s:%d (kernel %u), argument %u: %s",
        site.file == NULL ? "(unknown)" : site.file, site.line, site.func_id, arg, what);
}

int simpler_submit_no_kernel(struct simpler_orch *orch, struct simpler_submit_site site,
                             uint32_t func_id)
{
    return simpler_fatal_latch(orch, SIMPLER_CODE_INVALID_ARGS,
                               "submit at %s:%d: the callable has no kernel %u",
                               site.file == NULL ? "(unknown)" : site.file, site.line, func_id);
}

int simpler_submit_wrong_core(struct simpler_orch *orch, struct simpler_submit_site site,
                              uint32_t func_id, uint32_t core_type)
{
    return simpler_fatal_latch(orch, SIMPLER_CODE_INVALID_ARGS,
                               "submit at %s:%d: kernel %u is registered for %s cores, not for %s",
                               site.file == NULL ? "(unknown)" : site.file, site.line, func_id,
                               core_type == SIMPLER_CORE_AIC ? "AIV" : "AIC",
                               core_type == SIMPLER_CORE_AIC ? "AIC" : "AIV");
}

/* A valid type that the platform's cores do not have. */
SIMPLER_COLD static int no_dtype(struct simpler_orch *orch, struct simpler_submit_site site,
                                 uint32_t dtype, uint32_t arg)
{
    return simpler_fatal_latch(
        orch, SIMPLER_CODE_INVALID_ARGS,
        "submit at %s:%d (kernel %u), argument %u is %s, which platform %s does not have",
        site.file == NULL ? "(unknown)" : site.file, site.line, site.func_id, arg,
        simpler_dtype_name(dtype), orch->device->platform->name);
}

bool simpler_submit_takes(struct simpler_orch *orch, const struct simpler_tensor *t)
{
    if (!simpler_submit_is_sane(t) || !simpler_platform_has_dtype(orch->device->platform, t->dtype))
        return false;
    *(t->is_contiguous ? &orch->sane_form : &orch->strided_form) = simpler_submit_form(t);
    return true;
}

int simpler_submit_check_closely(struct simpler_orch *orch, struct simpler_submit_site site,
                                 const struct simpler_tensor *t, uint32_t arg)
{
    if (simpler_submit_takes(orch, t))
        return 0;
    if (!simpler_submit_is_sane(t))
        return simpler_submit_invalid(orch, site, "the tensor is not valid", arg);
    return no_dtype(orch, site, t->dtype, arg);
}

static int check_output(struct simpler_orch *orch, struct simpler_submit_site site,
                        const struct simpler_create_info *info, uint32_t arg, uint64_t *heap_bytes)
{
    uint64_t bytes;

    if (!simpler_submit_output_bytes(info, &bytes) ||
        __builtin_add_overflow(*heap_bytes, bytes, heap_bytes))
        return simpler_submit_invalid(orch, site, "the create-info is not valid", arg);
    if (SIMPLER_UNLIKELY(info->dtype >= SIMPLER_SUBMIT_PLAIN_DTYPES) &&
        !simpler_platform_has_dtype(orch->device->platform, info->dtype))
        return no_dtype(orch, site, info->dtype, arg);
    return 0;
}

int simpler_submit_check_outputs(struct simpler_orch *orch, struct simpler_submit_site site,
                                 const struct simpler_task_args *args, uint64_t *heap_bytes)
{
    int status = 0;

    for (uint32_t i = 0; i < args->tensor_count && status == 0; i++)
        status = args->use[i] == SIMPLER_USE_OUTPUT
                     ? check_output(orch, site, args->tensor[i], i, heap_bytes)
                     : simpler_submit_check_closely(orch, site, args->tensor[i], i);
    return status;
}

int simpler_submit_check_dependencies(struct simpler_orch *orch, struct simpler_submit_site site,
                                      const struct simpler_task_args *args)
{
    for (uint32_t i = 0; i < args->dependency_count; i++) {
        uint64_t raw = args->dependency[i].raw;
        if (raw >> 32 >= CHIP_MAX_RING_DEPTH || (uint32_t)raw >= orch->ring[(raw >> 32) & 3].next)
            return simpler_fatal_latch(orch, SIMPLER_CODE_INVALID_ARGS,
                                       "submit at %s:%d: dependency %u names no task "
                                       "(0x%016llx)",
                                       site.file == NULL ? "(unknown)" : site.file, site.line, i,
                                       (unsigned long long)raw);
    }
    return 0;
}

void simpler_submit_ids_by_lane(const struct simpler_mixed_kernels *mixed,
                                int32_t id[SIMPLER_LANES])
{
    id[SIMPLER_LANE_AIC] = mixed->aic_kernel_id;
    id[SIMPLER_LANE_AIV0] = mixed->aiv0_kernel_id;
    id[SIMPLER_LANE_AIV1] = mixed->aiv1_kernel_id;
    /* An AIV1 alone runs as AIV0. */
    if (id[SIMPLER_LANE_AIC] < 0 && id[SIMPLER_LANE_AIV0] < 0) {
        id[SIMPLER_LANE_AIV0] = id[SIMPLER_LANE_AIV1];
        id[SIMPLER_LANE_AIV1] = -1;
    }
}

static struct simpler_launch_request launch_request(const struct simpler_device *device,
                                                    const struct simpler_submit_request *q)
{
    struct simpler_launch_request request = {
        {SIMPLER_NO_FUNC, SIMPLER_NO_FUNC, SIMPLER_NO_FUNC}, q->args, q->file, q->line};
    int32_t id[SIMPLER_LANES];

    if (q->mixed != NULL) {
        simpler_submit_ids_by_lane(q->mixed, id);
        for (uint32_t lane = 0; lane < SIMPLER_LANES; lane++)
            request.func_id[lane] = (uint16_t)id[lane];
    } else {
        bool aic = device->kernels[q->func_id]->core_type == SIMPLER_CORE_AIC;
        request.func_id[aic ? SIMPLER_LANE_AIC : SIMPLER_LANE_AIV0] = (uint16_t)q->func_id;
    }
    return request;
}

void simpler_submit_prepare_launch(struct simpler_orch *orch,
                                   const struct simpler_submit_request *q, uint32_t number)
{
    struct simpler_launch_request request = launch_request(orch->device, q);

    simpler_launch_prepare(orch, number, &request);
}

/* A task that is more than one call of one kernel: its shape is LAUNCH from here on. */
static int check_launch(struct simpler_orch *orch, struct simpler_submit_request *q)
{
    static const struct simpler_mixed_kernels none = {-1, -1, -1};

    if (q->shape == SIMPLER_SHAPE_DUMMY)
        q->mixed = &none;
    q->shape = SIMPLER_SHAPE_LAUNCH;
    struct simpler_launch_request request = launch_request(orch->device, q);
    return simpler_launch_check(orch, &request);
}

static int check_mixed(struct simpler_orch *orch, const struct simpler_submit_request *q)
{
    int32_t id[SIMPLER_LANES];
    int status = 0;

    simpler_submit_ids_by_lane(q->mixed, id);
    for (uint32_t lane = 0; lane < SIMPLER_LANES && status == 0; lane++) {
        if (id[lane] < -1)
            status = simpler_submit_invalid(orch, simpler_submit_site_of(q),
                                            "a kernel id of a mixed task is below -1", 0);
        else if (id[lane] >= 0)
            status = simpler_submit_check_kernel_id(orch, q, (uint32_t)id[lane],
                                                    lane == SIMPLER_LANE_AIC ? SIMPLER_CORE_AIC
                                                                             : SIMPLER_CORE_AIV);
    }
    return status;
}

int simpler_submit_check_odd(struct simpler_orch *orch, struct simpler_submit_request *q)
{
    int status;

    if (q->args == NULL)
        return simpler_submit_invalid(orch, simpler_submit_site_of(q), "the arguments are NULL", 0);
    if (q->args->error != SIMPLER_ARGS_OK)
        return simpler_submit_invalid(orch, simpler_submit_site_of(q),
                                      simpler_task_args_error_text(q->args->error),
                                      q->args->error_arg);
    if (q->mixed == NULL)
        status = simpler_submit_check_plain(orch, q);
    else
        status = check_mixed(orch, q);
    if (status == 0 && q->mixed != NULL)
        status = simpler_submit_check_data(orch, q);
    if (status == 0 && (q->mixed != NULL || (q->args->extra & LAUNCH_EXTRAS) != 0))
        status = check_launch(orch, q);
    return status;
}
