/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which file a run gets is decided once, from how its lane ended and from what
 * the framework could prove: the whole one with seven keys, one that names what
 * the host received, or none, and then no predecessor's either.
 */
#include "collect/scope_stats/scope_stats_collector.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/logger.h"
#include "base/text.h"

struct simpler_scope_stats_collector {
    struct simpler_prof_session *session;
    struct simpler_prof_client client; /* the session's, for as long as it lives */
    struct scope_stats_file file;
    uint32_t run_epoch;
    struct scope_stats_capacities capacities;
    struct scope_stats_budget budget;
    bool is_durable; /* a buffer is in the file before the device has it again */
    struct scope_stats_retained *retained; /* of the admitted run; NULL: it goes to file */
};

static void collect(void *self, uint32_t shard, const struct simpler_prof_ready_entry *entry,
                    const struct simpler_prof_buffer *buffer)
{
    struct simpler_scope_stats_collector *c = self;
    uint32_t count = atomic_load_explicit(&buffer->count, memory_order_acquire);

    (void)shard;
    if (c->retained != NULL)
        simpler_scope_stats_retained_append(c->retained, simpler_prof_records(buffer), count,
                                            entry->run_epoch, entry->buffer_seq);
    else
        simpler_scope_stats_file_append(&c->file, simpler_prof_records(buffer), count,
                                        entry->run_epoch, entry->buffer_seq);
    if (c->is_durable)
        simpler_scope_stats_file_flush(&c->file);
}

static int acquire_all(struct simpler_scope_stats_collector *c,
                       const struct scope_stats_collector_config *config)
{
    uint32_t buffers = config->buffers != 0 ? config->buffers : SCOPE_STATS_BUFFERS;
    uint32_t records =
        config->records_per_buffer != 0 ? config->records_per_buffer : SCOPE_STATS_RECORDS;

    c->budget.bytes = config->budget_bytes != 0 ? config->budget_bytes : SCOPE_STATS_BUDGET_BYTES;
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
        .backing = config->backing,
        .lane_count = 1,
        .ready_depth = SCOPE_STATS_READY_DEPTH,
        .kind = {{sizeof(struct scope_stats_record), records}},
        .backstop_ns = config->backstop_ns,
        .first_index = config->first_index,
    };
    c->is_durable = config->backing != NULL;
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
    if (collector == NULL || !simpler_prof_session_close(collector->session))
        return;
    simpler_scope_stats_retained_close(collector->retained);
    simpler_scope_stats_file_fini(&collector->file);
    simpler_alloc_free(collector);
}

uint64_t
simpler_scope_stats_collector_device_base(const struct simpler_scope_stats_collector *collector)
{
    return simpler_prof_session_device_base(collector->session);
}

static int admit(struct simpler_scope_stats_collector *c, uint32_t run_epoch,
                 const struct scope_stats_capacities *capacities)
{
    if (!capacities->known) {
        SIMPLER_ERROR("scope stats: run %" PRIu32 " is refused: its capacities are not known",
                      run_epoch);
        return SIMPLER_EINVAL;
    }
    int rc = simpler_prof_session_admit(c->session, run_epoch);
    if (rc != 0)
        return rc;
    c->run_epoch = run_epoch;
    c->capacities = *capacities;
    return 0;
}

int simpler_scope_stats_collector_admit(struct simpler_scope_stats_collector *collector,
                                        uint32_t run_epoch, const char *prefix,
                                        const struct scope_stats_capacities *capacities)
{
    int rc = admit(collector, run_epoch, capacities);

    if (rc == 0)
        (void)simpler_scope_stats_file_open(&collector->file, prefix);
    return rc;
}

/* Where memory is shared the producer leaves its accounting in a terminal of the run's own. */
static void want_terminals(struct simpler_scope_stats_collector *c)
{
    struct scope_stats_block *block = simpler_prof_session_client_block(c->session);

    if (simpler_prof_session_is_mapped(c->session))
        block->terminal_count = SCOPE_STATS_TERMINALS;
}

int simpler_scope_stats_collector_admit_retained(struct simpler_scope_stats_collector *collector,
                                                 uint32_t run_epoch, const char *prefix,
                                                 const struct scope_stats_capacities *capacities)
{
    int rc = simpler_scope_stats_retained_open(&collector->budget, run_epoch, prefix,
                                               &collector->retained);

    if (rc == 0)
        rc = admit(collector, run_epoch, capacities);
    if (rc != 0) {
        simpler_scope_stats_retained_close(collector->retained);
        collector->retained = NULL;
        return rc;
    }
    want_terminals(collector);
    return 0;
}

struct scope_stats_retained *
simpler_scope_stats_collector_take(struct simpler_scope_stats_collector *collector)
{
    struct scope_stats_retained *run = collector->retained;

    collector->retained = NULL;
    return run;
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

static uint64_t dropped(const struct simpler_prof_accounting *a)
{
    return a->dropped_no_free + a->dropped_ready_full + a->dropped_other;
}

/* What both kinds of run say about a proved end. */
static void note_accounting(const struct simpler_scope_stats_collector *c,
                            const struct simpler_prof_accounting *accounting,
                            struct scope_stats_block *block, struct scope_stats_outcome *out)
{
    if (atomic_load_explicit(&block->site_cut, memory_order_relaxed) != 0)
        SIMPLER_WARN("scope stats: run %" PRIu32 " has sites whose file name is longer than %d "
                     "bytes; they are cut",
                     c->run_epoch, SCOPE_STATS_SITE_BYTES - 1);
    out->dropped_no_free = accounting->dropped_no_free;
    out->dropped_ready_full = accounting->dropped_ready_full;
    out->dropped_too_deep = accounting->dropped_other;
    out->counts_known = accounting->known;
    /* acquire: pairs with on_fatal. */
    out->fatal = atomic_load_explicit(&block->fatal_latched, memory_order_acquire) != 0;
}

/* ---- a run whose file is finished here ---- */

static int settle_proven(struct simpler_scope_stats_collector *c,
                         const struct simpler_prof_accounting *accounting,
                         struct scope_stats_outcome *out)
{
    struct scope_stats_file *file = &c->file;

    out->counts_known =
        out->counts_known && file->lines + file->lines_refused == accounting->received;
    struct scope_stats_metadata metadata = {
        .fatal_known = true,
        .fatal = out->fatal,
        .counts_known = out->counts_known,
        .dropped = dropped(accounting) + file->lines_refused,
        .total = accounting->total,
        .capacities = c->capacities,
    };
    int write_status = file->status;
    int rc = simpler_scope_stats_file_close(file, &metadata);
    if (rc != 0)
        return rc;
    out->has_file = true;
    return write_status != 0 || dropped(accounting) != 0 || !out->counts_known ? SIMPLER_EPARTIAL
                                                                               : 0;
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

static int settle_file(struct simpler_scope_stats_collector *c, bool proven, const char *why,
                       const struct simpler_prof_accounting *accounting,
                       struct scope_stats_outcome *out)
{
    int rc;

    simpler_scope_stats_file_flush(&c->file);
    if (!proven)
        rc = settle_unproven(c, accounting->received, out);
    else
        rc = why != NULL ? refuse(c, why) : settle_proven(c, accounting, out);
    if (out->has_file)
        out->records = c->file.lines;
    out->write_failed = c->file.lines_refused;
    memcpy(out->path, c->file.path, sizeof(out->path));
    return rc;
}

/* ---- a run without a producer, or without a collector ---- */

void simpler_scope_stats_collector_forget(const char *prefix)
{
    char path[SCOPE_STATS_PATH_BYTES];

    if (simpler_scope_stats_file_path(prefix, path))
        (void)unlink(path);
}

int simpler_scope_stats_collector_write_empty(const char *prefix, bool fatal,
                                              struct scope_stats_outcome *out)
{
    struct scope_stats_metadata metadata = {
        .fatal_known = true, .fatal = fatal, .counts_known = true};
    struct scope_stats_file file = {.fd = -1};

    memset(out, 0, sizeof(*out));
    out->counts_known = true;
    int rc = simpler_scope_stats_file_init(&file);
    if (rc == 0)
        rc = simpler_scope_stats_file_open(&file, prefix);
    if (rc == 0) {
        simpler_scope_stats_file_flush(&file);
        rc = simpler_scope_stats_file_close(&file, &metadata);
    } else if (file.path[0] != '\0') {
        (void)simpler_scope_stats_file_discard(&file);
    } else {
        simpler_scope_stats_collector_forget(prefix);
    }
    memcpy(out->path, file.path, sizeof(out->path));
    simpler_scope_stats_file_fini(&file);
    out->has_file = rc == 0;
    return out->status = rc;
}

/* ---- a retained run ---- */

/*
 * The terminal's numbers instead of those that the next run is about to reset.  A
 * producer that was stopped before it could leave has none; its counters stand still.
 */
static void use_terminal(const struct simpler_scope_stats_collector *c,
                         struct scope_stats_block *block, struct simpler_prof_accounting *a)
{
    if (block->terminal_count == 0)
        return;
    struct scope_stats_terminal *t = &block->terminal[c->run_epoch % block->terminal_count];
    /* acquire, pairs with T1. */
    if (atomic_load_explicit(&t->run_epoch, memory_order_acquire) != c->run_epoch)
        return;
    a->total = t->total;
    a->dropped_no_free = t->dropped_no_free;
    a->dropped_ready_full = t->dropped_ready_full;
    a->dropped_other = t->dropped_other;
    bool exact = t->total != UINT32_MAX && t->dropped_no_free != UINT32_MAX &&
                 t->dropped_ready_full != UINT32_MAX && t->dropped_other != UINT32_MAX;
    a->known = exact && t->live_at_close == a->recovered && a->total == a->received + dropped(a);
}

/* What the file is to say, but for what the host keeps. */
static int freeze(struct simpler_scope_stats_collector *c,
                  const struct simpler_prof_accounting *accounting, struct scope_stats_outcome *out)
{
    struct scope_stats_retained *run = c->retained;
    bool known = out->counts_known && run->received == accounting->received;

    out->counts_known = known;
    run->metadata = (struct scope_stats_metadata){
        .fatal_known = true,
        .fatal = out->fatal,
        .counts_known = known,
        .dropped = dropped(accounting),
        .total = accounting->total,
        .capacities = c->capacities,
        .verdict = "partial_cut_unknown",
        .counts_unknown = !known,
    };
    out->is_retained = true;
    out->records = run->retained;
    out->write_failed = run->received - run->retained;
    bool whole = known && !out->fatal && dropped(accounting) == 0 && out->write_failed == 0;
    return whole ? 0 : SIMPLER_EPARTIAL;
}

static int settle_retained(struct simpler_scope_stats_collector *c, bool proven, const char *why,
                           const struct simpler_prof_accounting *accounting,
                           struct scope_stats_outcome *out)
{
    (void)simpler_scope_stats_file_path(c->retained->prefix, out->path);
    if (proven && why == NULL)
        return freeze(c, accounting, out);
    /* The collector threads are joined, or have nothing of it any more. */
    SIMPLER_ERROR("scope stats: run %" PRIu32 " has no file: %s", c->run_epoch,
                  proven ? why : "it is not proved that the device has ended");
    simpler_scope_stats_retained_close(simpler_scope_stats_collector_take(c));
    return SIMPLER_EPARTIAL;
}

/* A thread may be inside the file: it stays as it is, under its temporary name. */
static int settle_lost(const struct simpler_scope_stats_collector *c,
                       const struct simpler_prof_accounting *accounting,
                       struct scope_stats_outcome *out)
{
    SIMPLER_ERROR("scope stats: run %" PRIu32 " has no file: the collector has stopped; %" PRIu64
                  " sample%s attempted",
                  c->run_epoch, accounting->total, simpler_text_plural(accounting->total));
    out->dropped_no_free = accounting->dropped_no_free;
    out->dropped_ready_full = accounting->dropped_ready_full;
    out->dropped_too_deep = accounting->dropped_other;
    if (c->retained != NULL)
        (void)simpler_scope_stats_file_path(c->retained->prefix, out->path);
    else
        memcpy(out->path, c->file.path, sizeof(out->path));
    return out->status = SIMPLER_EPARTIAL;
}

bool simpler_scope_stats_collector_is_lost(const struct simpler_scope_stats_collector *collector)
{
    return simpler_prof_session_is_lost(collector->session);
}

int simpler_scope_stats_collector_settle(struct simpler_scope_stats_collector *collector,
                                         enum simpler_lane_end end, struct scope_stats_outcome *out)
{
    struct simpler_scope_stats_collector *c = collector;
    struct scope_stats_block *block = simpler_prof_session_client_block(c->session);
    struct simpler_prof_accounting accounting = {0};
    const char *why = NULL;
    /* The last flush of the lane is proof of its end. */
    if (end == SIMPLER_LANE_UNPROVED && simpler_prof_session_flushed(c->session, 0))
        end = SIMPLER_LANE_STOPPED;
    bool proven = simpler_prof_decide(&end, 1).may_read;
    int rc = simpler_prof_session_quiesce(c->session, &end, &accounting);

    memset(out, 0, sizeof(*out));
    if (simpler_prof_session_is_lost(c->session))
        return settle_lost(c, &accounting, out);
    out->refused_epoch = accounting.refused_epoch;
    if (proven) {
        if (rc == 0)
            rc = simpler_prof_session_fetch(c->session, block, sizeof(*block));
        why = refusal(c, block, rc, &accounting);
        if (why == NULL && c->retained != NULL)
            use_terminal(c, block, &accounting);
        if (why == NULL)
            note_accounting(c, &accounting, block, out);
    }
    out->status = c->retained != NULL ? settle_retained(c, proven, why, &accounting, out)
                                      : settle_file(c, proven, why, &accounting, out);
    return out->status;
}

void simpler_scope_stats_collector_prove_late(struct simpler_scope_stats_collector *collector)
{
    simpler_prof_session_prove_late(collector->session);
}
