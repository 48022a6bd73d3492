/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which file a run gets is decided once, from how its lane ended and from what
 * the framework could prove: the whole one with seven keys, one that names what
 * the host received, or none, and then no predecessor's either.
 */
#include "collect/scope_stats/scope_stats_collector.h"

#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "base/logger.h"

struct simpler_scope_stats_collector {
    struct simpler_prof_session *session;
    struct simpler_prof_client client; /* the session's, for as long as it lives */
    struct scope_stats_file file;
    uint32_t run_epoch;
    struct scope_stats_capacities capacities;
};

static void collect(void *self, uint32_t shard, const struct simpler_prof_ready_entry *entry,
                    const struct simpler_prof_buffer *buffer)
{
    struct simpler_scope_stats_collector *c = self;
    uint32_t count = atomic_load_explicit(&buffer->count, memory_order_acquire);

    (void)shard;
    simpler_scope_stats_file_append(&c->file, simpler_prof_records(buffer), count, entry->run_epoch,
                                    entry->buffer_seq);
}

static int acquire_all(struct simpler_scope_stats_collector *c,
                       const struct scope_stats_collector_config *config)
{
    uint32_t buffers = config->buffers != 0 ? config->buffers : SCOPE_STATS_BUFFERS;
    uint32_t records =
        config->records_per_buffer != 0 ? config->records_per_buffer : SCOPE_STATS_RECORDS;

    c->client = (struct simpler_prof_client){
        .name = "scope stats",
        .magic = SCOPE_STATS_MAGIC,
        .kind_count = 1,
        .client_bytes = sizeof(struct scope_stats_block),
        .max_shards = 1,
        .buffers_per_lane = {buffers},
        .collect = collect,
    };
    struct simpler_prof_session_config session = {
        .client = &c->client,
        .self = c,
        .transport = config->transport,
        .lane_count = 1,
        .ready_depth = SCOPE_STATS_READY_DEPTH,
        .kind = {{sizeof(struct scope_stats_record), records}},
        .backstop_ns = config->backstop_ns,
        .first_index = config->first_index,
    };
    int rc = simpler_scope_stats_file_init(&c->file);
    return rc != 0 ? rc : simpler_prof_session_open(&session, &c->session);
}

int simpler_scope_stats_collector_open(const struct scope_stats_collector_config *config,
                                       struct simpler_scope_stats_collector **out)
{
    struct simpler_scope_stats_collector *c = simpler_alloc_zeroed(1, sizeof(*c));

    if (c == NULL)
        return SIMPLER_ENOMEM;
    int rc = acquire_all(c, config);
    if (rc != 0) {
        simpler_scope_stats_collector_close(c);
        return rc;
    }
    *out = c;
    return 0;
}

void simpler_scope_stats_collector_close(struct simpler_scope_stats_collector *collector)
{
    if (collector == NULL)
        return;
    if (collector->session != NULL)
        simpler_prof_session_close(collector->session);
    simpler_scope_stats_file_fini(&collector->file);
    simpler_alloc_free(collector);
}

uint64_t
simpler_scope_stats_collector_device_base(const struct simpler_scope_stats_collector *collector)
{
    return simpler_prof_session_device_base(collector->session);
}

int simpler_scope_stats_collector_admit(struct simpler_scope_stats_collector *collector,
                                        uint32_t run_epoch, const char *prefix,
                                        const struct scope_stats_capacities *capacities)
{
    if (!capacities->known) {
        SIMPLER_ERROR("scope stats: run %" PRIu32 " is refused: its capacities are not known",
                      run_epoch);
        return SIMPLER_EINVAL;
    }
    int rc = simpler_prof_session_admit(collector->session, run_epoch);
    if (rc != 0)
        return rc;
    collector->run_epoch = run_epoch;
    collector->capacities = *capacities;
    (void)simpler_scope_stats_file_open(&collector->file, prefix);
    return 0;
}

/* Whether the device ran with the sizes that the host has admitted. */
static bool fits_binding(const struct scope_stats_block *block,
                         const struct scope_stats_capacities *c)
{
    for (int r = 0; r < SCOPE_STATS_MAX_RING_DEPTH; r++) {
        if ((uint32_t)block->window_cap[r] != c->task_window[r] ||
            (uint32_t)block->dep_pool_cap[r] != c->dep_pool[r] || block->heap_cap[r] != c->heap[r])
            return false;
    }
    return (uint32_t)block->tensormap_cap == c->tensormap;
}

/* Why a run with proof has no file, or NULL. */
static const char *refusal(const struct simpler_scope_stats_collector *c,
                           const struct scope_stats_block *block, int rc,
                           const struct simpler_prof_accounting *accounting)
{
    if (rc != 0)
        return "the shared accounting could not be read";
    if (!accounting->epoch_ok)
        return "the producer was not initialised by it";
    return fits_binding(block, &c->capacities) ? NULL : "the device has other capacities";
}

static int settle_proven(struct simpler_scope_stats_collector *c,
                         const struct simpler_prof_accounting *accounting,
                         struct scope_stats_block *block, struct scope_stats_outcome *out)
{
    struct scope_stats_file *file = &c->file;
    struct scope_stats_metadata metadata = {.fatal_known = true, .capacities = c->capacities};
    uint64_t dropped =
        accounting->dropped_no_free + accounting->dropped_ready_full + accounting->dropped_other;

    if (atomic_load_explicit(&block->site_cut, memory_order_relaxed) != 0)
        SIMPLER_WARN("scope stats: run %" PRIu32 " has sites whose file name is longer than %d "
                     "bytes; they are cut",
                     c->run_epoch, SCOPE_STATS_SITE_BYTES - 1);
    out->dropped_no_free = accounting->dropped_no_free;
    out->dropped_ready_full = accounting->dropped_ready_full;
    out->dropped_too_deep = accounting->dropped_other;
    out->counts_known =
        accounting->known && file->lines + file->lines_refused == accounting->received;
    /* acquire: pairs with on_fatal. */
    out->fatal = atomic_load_explicit(&block->fatal_latched, memory_order_acquire) != 0;
    metadata.fatal = out->fatal;
    metadata.counts_known = out->counts_known;
    metadata.dropped = dropped + file->lines_refused;
    metadata.total = accounting->total;
    int write_status = file->status;
    int rc = simpler_scope_stats_file_close(file, &metadata);
    if (rc != 0)
        return rc;
    out->has_file = true;
    return write_status != 0 || dropped != 0 || !out->counts_known ? SIMPLER_EPARTIAL : 0;
}

static int settle_unproven(struct simpler_scope_stats_collector *c, uint64_t received,
                           struct scope_stats_outcome *out)
{
    struct scope_stats_metadata metadata = {
        .capacities = c->capacities,
        .verdict = "partial_cut_unknown",
        .counts_unknown = true,
        .host_received = received,
        .host_retained = c->file.lines,
    };

    if (received == 0) {
        int rc = simpler_scope_stats_file_discard(&c->file);
        return rc != 0 ? rc : SIMPLER_EPARTIAL;
    }
    int rc = simpler_scope_stats_file_close(&c->file, &metadata);
    if (rc != 0)
        return rc;
    out->has_file = true;
    return SIMPLER_EPARTIAL;
}

static int refuse(struct simpler_scope_stats_collector *c, const char *why)
{
    SIMPLER_ERROR("scope stats: run %" PRIu32 " has no file: %s", c->run_epoch, why);
    int rc = simpler_scope_stats_file_discard(&c->file);
    return rc != 0 ? rc : SIMPLER_EPARTIAL;
}

int simpler_scope_stats_collector_settle(struct simpler_scope_stats_collector *collector,
                                         enum simpler_lane_end end, struct scope_stats_outcome *out)
{
    struct simpler_prof_accounting accounting = {0};
    bool proven = simpler_prof_decide(&end, 1).may_read;
    int rc = simpler_prof_session_quiesce(collector->session, &end, &accounting);

    memset(out, 0, sizeof(*out));
    simpler_scope_stats_file_flush(&collector->file);
    out->refused_epoch = accounting.refused_epoch;
    if (proven) {
        struct scope_stats_block *block = simpler_prof_session_client_block(collector->session);
        if (rc == 0)
            rc = simpler_prof_session_fetch(collector->session, block, sizeof(*block));
        const char *why = refusal(collector, block, rc, &accounting);
        rc = why != NULL ? refuse(collector, why)
                         : settle_proven(collector, &accounting, block, out);
    } else {
        rc = settle_unproven(collector, accounting.received, out);
    }
    if (out->has_file)
        out->records = collector->file.lines;
    out->write_failed = collector->file.lines_refused;
    memcpy(out->path, collector->file.path, sizeof(out->path));
    out->status = rc;
    return rc;
}
