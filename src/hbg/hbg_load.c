/* SPDX-License-Identifier: Apache-2.0 */
/* The graph goes to the device: the run's own in one image, recorded ones are there already. */
#include <string.h>

#include "base/alloc.h"
#include "hbg/hbg_device.h"

static int ensure_image(struct simpler_hbg_device *device, uint64_t bytes)
{
    if (bytes <= device->image_capacity)
        return 0;
    simpler_alloc_free(device->image);
    device->image_capacity = 0;
    device->image = simpler_alloc_aligned(1, bytes + bytes / 4);
    if (device->image == NULL)
        return SIMPLER_ENOMEM;
    device->image_capacity = bytes + bytes / 4;
    return 0;
}

static int copy_graph(struct simpler_hbg_device *device)
{
    const struct simpler_hbg_builder *b = &device->orch->main.builder;
    int rc = ensure_image(device, simpler_hbg_builder_image_bytes(b));

    if (rc != 0)
        return rc;
    simpler_hbg_builder_pack(b, device->image);
    if (b->base_count > device->base_capacity) {
        simpler_alloc_free(device->bases);
        device->base_capacity = 0;
        device->bases = simpler_alloc_zeroed(b->base_count, 2 * sizeof(*device->bases));
        if (device->bases == NULL)
            return SIMPLER_ENOMEM;
        device->base_capacity = 2 * b->base_count;
    }
    for (uint32_t i = 1; i < b->base_count; i++)
        device->bases[i] = (struct simpler_hbg_base){.addr = b->base_addr[i]};
    device->bases[0] = (struct simpler_hbg_base){.addr = device->orch->main.heap};
    return 0;
}

static struct simpler_hbg_costs costs_of(const struct simpler_hbg_device *device)
{
    struct simpler_hbg_costs costs = {
        .threads = device->parallel,
        .handover_ns = atomic_load_explicit(&device->handover_ns, memory_order_relaxed),
        .has_cpus = device->spin_allowed,
        .kernel_ns = device->estimates->ns,
        .defers = device->estimates->defers,
        .defer_serial = device->estimates->defer_serial,
        .one_task_a_grain = device->run->exec == SIMPLER_EXEC_THREADS,
    };
    return costs;
}

static int plan_all(struct simpler_hbg_device *device)
{
    struct simpler_hbg_costs costs = costs_of(device);
    int rc = simpler_hbg_plan_make(&device->plan, device->image, &costs);

    costs.reused = true;
    for (uint32_t i = 0; i < device->orch->call_count && rc == 0; i++)
        rc = simpler_hbg_recorded_plan(device->orch->calls[i].graph, &costs);
    return rc;
}

static int ensure_parts(struct simpler_hbg_device *device, uint32_t count)
{
    if (count <= device->part_capacity)
        return 0;
    simpler_alloc_free(device->parts);
    device->part_capacity = 0;
    device->parts = simpler_alloc_zeroed(count, 2 * sizeof(*device->parts));
    if (device->parts == NULL)
        return SIMPLER_ENOMEM;
    device->part_capacity = 2 * count;
    return 0;
}

static void init_part(struct simpler_hbg_device *device, struct simpler_hbg_part *part,
                      uint32_t *units, uint32_t *nodes)
{
    part->serial = ++device->serial;
    part->first_unit = *units;
    part->failed = device->failed + *nodes;
    part->poisoned = false;
    atomic_store_explicit(&part->tracked, false, memory_order_relaxed);
    atomic_store_explicit(&part->any_failed, false, memory_order_relaxed);
    atomic_store_explicit(&part->remaining, part->plan->grain_count, memory_order_relaxed);
    *units += part->plan->grain_count;
    *nodes += part->image->node_count;
}

static void init_parts(struct simpler_hbg_device *device)
{
    const struct simpler_hbg_orch *orch = device->orch;
    struct simpler_hbg_part *part = &device->parts[0];
    uint32_t units = 0, nodes = 0;

    device->part_count = 1 + orch->call_count;
    part->image = device->image;
    part->plan = &device->plan;
    part->bases = device->bases;
    part->scalars = NULL;
    part->sites = orch->main.builder.site;
    part->id_base = 0;
    part->call_unit = part->call_node = SIMPLER_HBG_NO_UNIT;
    init_part(device, part, &units, &nodes);
    for (uint32_t i = 0; i < orch->call_count; i++) {
        const struct simpler_hbg_call *call = &orch->calls[i];
        part = &device->parts[1 + i];
        part->image = call->graph->image;
        part->plan = &call->graph->plan;
        part->bases = &orch->call_bases[call->first_base];
        part->scalars = &orch->call_scalars[call->first_scalar];
        part->sites = call->graph->sites;
        part->id_base = call->first_id;
        part->call_node = call->node;
        /* It has a grain for itself. */
        part->call_unit = simpler_hbg_plan_grain_of(&device->plan, call->node);
        init_part(device, part, &units, &nodes);
    }
    /* A run that hung may have left one. */
    atomic_store_explicit(&device->tracked, NULL, memory_order_relaxed);
    atomic_store_explicit(&device->tracks_taken, 0, memory_order_relaxed);
    memset((void *)device->units, 0, units * sizeof(*device->units));
    if (device->failed_dirty)
        memset((void *)device->failed, 0, 2 * (size_t)device->env.ring_task_window[0]);
    device->failed_dirty = false;
}

int simpler_hbg_load(struct simpler_hbg_device *device)
{
    int rc = copy_graph(device);

    if (rc == 0)
        rc = plan_all(device);
    if (rc == 0)
        rc = ensure_parts(device, 1 + device->orch->call_count);
    if (rc == 0)
        init_parts(device);
    return rc;
}
