/* SPDX-License-Identifier: Apache-2.0 */
/* Questions to a finished model: the rows of Top Peaks, their use, names. */
#include <stddef.h>

#include "report/scope_model.h"

static const struct {
    const char *key, *label;
} resource_names[] = {
#define X(NAME, key, label, unit) {key, label},
    SIMPLER_SCOPE_RESOURCE_MAP(X)
#undef X
};

static const struct {
    const char *key, *label;
} metric_names[] = {
    [SIMPLER_SCOPE_HIGH_WATER] = {"scope_high_water", "High water"},
    [SIMPLER_SCOPE_LIVE] = {"real_occupancy", "Live at exit"},
    [SIMPLER_SCOPE_ALLOC] = {"scope_alloc", "Alloc per scope"},
};

static const struct {
    const char *key, *label;
} chip_names[] = {
    [SIMPLER_SCOPE_CHIP_FATAL] = {"fatal", "Fatal"},
    [SIMPLER_SCOPE_CHIP_DROPPED] = {"dropped", "Dropped"},
    [SIMPLER_SCOPE_CHIP_UNKNOWN_COUNTS] = {"unknown-counts", "Unknown counts"},
    [SIMPLER_SCOPE_CHIP_INCOMPLETE] = {"incomplete", "Incomplete"},
    [SIMPLER_SCOPE_CHIP_UNPAIRED] = {"unpaired", "Unpaired"},
    [SIMPLER_SCOPE_CHIP_HEALTHY] = {"healthy", "Healthy"},
};

const char *simpler_scope_model_resource_key(enum simpler_scope_resource resource)
{
    return resource_names[resource].key;
}

const char *simpler_scope_model_resource_label(enum simpler_scope_resource resource)
{
    return resource_names[resource].label;
}

const char *simpler_scope_model_metric_key(enum simpler_scope_metric metric)
{
    return metric_names[metric].key;
}

const char *simpler_scope_model_metric_label(enum simpler_scope_resource resource,
                                             enum simpler_scope_metric metric)
{
    return resource == SIMPLER_SCOPE_TENSORMAP ? "Live entries" : metric_names[metric].label;
}

const char *simpler_scope_model_chip_key(enum simpler_scope_chip chip)
{
    return chip_names[chip].key;
}

const char *simpler_scope_model_chip_label(enum simpler_scope_chip chip)
{
    return chip_names[chip].label;
}

bool simpler_scope_model_use(uint64_t value, struct simpler_scope_number capacity, double *percent)
{
    if (!capacity.known || capacity.value == 0)
        return false;
    *percent = 100.0 * (double)value / (double)capacity.value;
    return true;
}

static void fill_peak(const struct simpler_scope_model *m, enum simpler_scope_resource resource,
                      enum simpler_scope_metric metric, const struct simpler_scope_curve *curve,
                      struct simpler_scope_peak *out)
{
    *out = (struct simpler_scope_peak){.resource = resource,
                                       .metric = metric,
                                       .ring = curve->peak.ring,
                                       .point = curve->peak,
                                       .own = curve->own};
    out->capacity = simpler_scope_record_capacity(&m->meta, resource, out->ring);
    out->has_use = simpler_scope_model_use(curve->peak.value, out->capacity, &out->use_percent);
}

bool simpler_scope_model_peak(const struct simpler_scope_model *m, uint32_t row,
                              struct simpler_scope_peak *out)
{
    for (uint32_t i = 0; i < m->ring_count; i++) {
        if (m->rings[i].pairs == 0)
            continue;
        if (row < SIMPLER_SCOPE_RINGED_NUM) {
            fill_peak(m, (enum simpler_scope_resource)row, SIMPLER_SCOPE_HIGH_WATER,
                      &m->rings[i].curves[row][SIMPLER_SCOPE_HIGH_WATER], out);
            return true;
        }
        row -= SIMPLER_SCOPE_RINGED_NUM;
    }
    if (row > 0 || m->tensormap.series.count == 0)
        return false;
    fill_peak(m, SIMPLER_SCOPE_TENSORMAP, SIMPLER_SCOPE_LIVE, &m->tensormap, out);
    return true;
}

bool simpler_scope_model_dominant(const struct simpler_scope_model *m,
                                  struct simpler_scope_peak *out)
{
    struct simpler_scope_peak peak;
    bool found = false;
    for (uint32_t row = 0; simpler_scope_model_peak(m, row, &peak); row++) {
        if (peak.has_use && (!found || peak.use_percent > out->use_percent)) {
            *out = peak;
            found = true;
        }
    }
    return found;
}

static bool is_worse(const struct simpler_scope_peak *a, const struct simpler_scope_peak *b)
{
    if (a->has_use != b->has_use)
        return a->has_use;
    return a->has_use ? a->use_percent > b->use_percent : a->point.value > b->point.value;
}

bool simpler_scope_model_worst(const struct simpler_scope_model *m,
                               enum simpler_scope_resource resource, struct simpler_scope_peak *out)
{
    struct simpler_scope_peak peak;
    bool found = false;
    for (uint32_t row = 0; simpler_scope_model_peak(m, row, &peak); row++) {
        if (peak.resource == resource && (!found || is_worse(&peak, out))) {
            *out = peak;
            found = true;
        }
    }
    return found;
}
