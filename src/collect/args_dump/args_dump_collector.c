/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A buffer's records go to the store, their payloads to the writer, which gives
 * them their places in args.bin in the same order.  At the run's end the caller
 * writes what is left and exports the manifest; on a full disk args.bin gives up
 * room for it.
 */
#include "collect/args_dump/args_dump_collector.h"

#include <inttypes.h>
#include <pthread.h>
#include <string.h>

#include "base/alloc.h"
#include "base/logger.h"
#include "base/memory.h"
#include "base/text.h"
#include "collect/args_dump/args_dump_ending.h"
#include "collect/args_dump/args_dump_files.h"
#include "collect/args_dump/args_dump_store.h"
#include "collect/args_dump/args_dump_writer.h"
#include "wire/region_wire.h"

#define MAX_SHARDS 2u
_Static_assert(MAX_SHARDS <= ARGS_DUMP_MAX_SHARDS, "the store has a piece for each");

struct simpler_args_dump_collector {
    struct simpler_prof_session *session;
    struct simpler_prof_client client;
    const struct simpler_transport_ops *transport;
    struct simpler_region_backing *backing; /* NULL: a crash may lose records */
    struct args_dump_block *block;
    struct simpler_region *arenas; /* one a lane */
    uint32_t lane_count;
    struct args_dump_writer writer;
    struct args_dump_store store;

    uint32_t run_epoch;
    struct args_dump_files files;
    struct args_dump_retained *retained; /* of the run that was settled */
    struct args_dump_ending *ending;     /* of the run that is being settled; else NULL */
    struct args_dump_budget *budget;
    uint64_t *places[MAX_SHARDS]; /* of the payloads of the buffer that is collected */
    _Atomic bool settling;        /* the caller is about to write what is left */
};

/* ---- collecting ---- */

static uint64_t count_payloads(const struct args_dump_record *records, uint32_t count)
{
    uint64_t n = 0;

    for (uint32_t i = 0; i < count; i++)
        n += records[i].payload_size != 0;
    return n;
}

/*
 * The payload's bytes on the host; NULL: they cannot be had, which fails the run, or
 * the record names none of its arena.  They stay until they are acknowledged.
 */
static const uint8_t *fetch_payload(struct simpler_args_dump_collector *c, uint32_t lane,
                                    const struct args_dump_record *r)
{
    uint64_t size = c->block->lanes[lane].arena_size;
    uint64_t at = r->payload_offset % size;

    if (r->payload_size > size - at)
        return NULL;
    return simpler_prof_session_view(c->session, &c->arenas[lane], at, r->payload_size);
}

/* Gives the payloads of a buffer to the writer, under its lock; places[] are theirs. */
static void put_payloads(struct simpler_args_dump_collector *c, uint32_t lane,
                         const struct args_dump_record *records, uint32_t count, uint64_t *places)
{
    for (uint32_t i = 0; i < count; i++) {
        const struct args_dump_record *r = &records[i];
        places[i] = UINT64_MAX;
        if (r->payload_size == 0)
            continue;
        const uint8_t *at = fetch_payload(c, lane, r);
        if (at == NULL)
            simpler_args_dump_writer_refuse(&c->writer, lane);
        else
            (void)simpler_args_dump_writer_put(&c->writer, lane, at, r->payload_size, &places[i]);
    }
}

static void store_records(struct simpler_args_dump_collector *c, uint32_t shard,
                          const struct simpler_prof_ready_entry *entry,
                          const struct args_dump_record *records, uint32_t count)
{
    const uint64_t *places = c->places[shard];

    for (uint32_t i = 0; i < count; i++) {
        struct args_dump_record *r = simpler_args_dump_store_append(&c->store, shard);
        if (r == NULL)
            continue;
        *r = records[i];
        r->payload_offset = r->payload_size != 0 ? places[i] : 0;
        if (c->backing != NULL)
            simpler_args_dump_mark(r, entry->lane, entry->buffer_seq, records[i].payload_offset);
    }
}

/*
 * The records are in the spool, with their payloads' places in args.bin and in the arena,
 * before the writer can see a payload, and so before anything of an arena is given back; and
 * before the buffer is.  Wherever the process is killed each record is in its buffer or in
 * the spool.
 */
static bool put_durably(struct simpler_args_dump_collector *c, uint32_t shard,
                        const struct simpler_prof_ready_entry *entry,
                        const struct args_dump_record *records, uint32_t count)
{
    put_payloads(c, entry->lane, records, count, c->places[shard]);
    store_records(c, shard, entry, records, count);
    return simpler_args_dump_store_try_spill(&c->store, shard);
}

static void put_buffer(struct simpler_args_dump_collector *c, uint32_t shard,
                       const struct simpler_prof_ready_entry *entry,
                       const struct args_dump_record *records, uint32_t count, uint64_t payloads)
{
    bool wake = !atomic_load_explicit(&c->settling, memory_order_relaxed);
    bool spooled = true;

    if (payloads != 0 || c->backing != NULL) {
        simpler_args_dump_writer_lock(&c->writer);
        if (c->backing != NULL)
            spooled = put_durably(c, shard, entry, records, count);
        else
            put_payloads(c, entry->lane, records, count, c->places[shard]);
        simpler_args_dump_writer_unlock(&c->writer, wake && payloads != 0);
    }
    if (c->backing == NULL)
        store_records(c, shard, entry, records, count);
    else if (!spooled)
        simpler_args_dump_store_spill(&c->store, shard);
}

static void collect(void *self, uint32_t shard, const struct simpler_prof_ready_entry *entry,
                    const struct simpler_prof_buffer *buffer)
{
    struct simpler_args_dump_collector *c = self;
    const struct args_dump_record *records = simpler_prof_records(buffer);
    uint32_t count = atomic_load_explicit(&buffer->count, memory_order_acquire);
    uint64_t payloads = count_payloads(records, count);

    if (count == 0)
        return;
    if (simpler_args_dump_files_ensure(&c->files, count, payloads != 0))
        put_buffer(c, shard, entry, records, count, payloads);
    else
        simpler_args_dump_writer_give_up(&c->writer, entry->lane, (uint32_t)payloads);
}

/* Where args.bin ends, and why there. */
static void describe_payload(const struct simpler_args_dump_collector *c,
                             struct args_dump_ending *ending)
{
    ending->written = c->writer.written;
    ending->payload_error = c->writer.error;
}

static bool give_room(void *self)
{
    struct simpler_args_dump_collector *c = self;
    uint64_t spooled = atomic_load_explicit(&c->store.spooled, memory_order_relaxed);
    uint64_t wanted = (spooled + 100000) * ARGS_DUMP_ENTRY_BYTES;
    bool given = simpler_args_dump_writer_cut(&c->writer, wanted) != 0;

    /* The last records go to the spool when the end has been described. */
    if (c->ending != NULL)
        describe_payload(c, c->ending);
    return given;
}

/* ---- life ---- */

static int map_arenas(struct simpler_args_dump_collector *c, uint64_t bytes)
{
    c->arenas = simpler_alloc_zeroed(c->lane_count, sizeof(*c->arenas));
    if (c->arenas == NULL)
        return SIMPLER_ENOMEM;
    for (uint32_t l = 0; l < c->lane_count; l++) {
        struct simpler_region_request request = {
            .bytes = (size_t)bytes,
            .backing = c->backing,
            .role = SIMPLER_REGION_ARENA,
            .client = ARGS_DUMP_MAGIC,
            .index = l,
        };
        int rc = c->transport->alloc(&request, &c->arenas[l]);
        if (rc != 0)
            return rc;
        c->block->lanes[l].arena_base = c->arenas[l].device;
        c->block->lanes[l].arena_size = bytes;
        simpler_event_init(&c->block->lanes[l].acked);
    }
    return simpler_prof_session_flush(c->session, c->block, c->client.client_bytes);
}

static int acquire_all(struct simpler_args_dump_collector *c,
                       const struct args_dump_collector_config *config)
{
    uint32_t records =
        config->records_per_buffer != 0 ? config->records_per_buffer : ARGS_DUMP_RECORDS;
    uint32_t buffers = config->buffers != 0 ? config->buffers : ARGS_DUMP_BUFFERS;
    uint64_t average = config->avg_bytes != 0 ? config->avg_bytes : ARGS_DUMP_AVG_BYTES, arena;

    if (__builtin_mul_overflow((uint64_t)records * buffers, average, &arena) || arena > (uint64_t)1
                                                                                            << 44)
        return SIMPLER_EINVAL;
    c->client = (struct simpler_prof_client){
        .name = "args dump",
        .magic = ARGS_DUMP_MAGIC,
        .kind_count = 1,
        .client_bytes =
            sizeof(struct args_dump_block) + config->lanes * sizeof(struct args_dump_lane),
        .max_shards = MAX_SHARDS,
        .buffers_per_lane = {buffers},
        .collect = collect,
    };
    struct simpler_prof_session_config session = {
        .client = &c->client,
        .self = c,
        .transport = config->transport,
        .backing = config->backing,
        .lane_count = config->lanes,
        .ready_depth = config->ready_depth != 0 ? config->ready_depth : ARGS_DUMP_READY_DEPTH,
        .kind = {{sizeof(struct args_dump_record), records}},
        .backstop_ns = config->backstop_ns,
        .write_limit_ns = config->write_limit_ns,
        .first_index = config->first_index,
    };
    for (uint32_t s = 0; s < MAX_SHARDS; s++)
        c->places[s] = simpler_alloc_zeroed(records, sizeof(*c->places[s]));
    int rc = simpler_args_dump_writer_init(&c->writer);
    if (rc == 0)
        rc = simpler_args_dump_files_init(&c->files, &c->writer, &c->store);
    if (c->places[0] == NULL || c->places[1] == NULL)
        rc = SIMPLER_ENOMEM;
    if (rc == 0)
        rc = simpler_prof_session_open(&session, &c->session);
    if (rc != 0)
        return rc;
    c->block = simpler_prof_session_client_block(c->session);
    c->writer.lanes = c->block->lanes;
    c->writer.first = config->bin_first;
    c->writer.session = c->session;
    c->writer.shard_count = config->lanes < MAX_SHARDS ? config->lanes : MAX_SHARDS;
    return map_arenas(c, arena);
}

int simpler_args_dump_collector_open(const struct args_dump_collector_config *config,
                                     struct simpler_args_dump_collector **out)
{
    struct simpler_args_dump_collector *c = simpler_alloc_aligned(1, sizeof(*c));

    if (c == NULL)
        return SIMPLER_ENOMEM;
    c->transport = config->transport;
    c->backing = config->backing;
    c->lane_count = config->lanes;
    c->files.directory = c->files.bin = -1;
    simpler_args_dump_store_init(&c->store);
    c->store.make_room = give_room;
    c->store.self = c;
    c->budget = config->budget;
    if (config->spool_records != 0)
        c->store.piece_records = c->store.run_records = config->spool_records;
    c->store.keep_spool = c->backing != NULL;
    /* A buffer finds room in memory, so that it goes to the spool as a whole. */
    if (c->backing != NULL && c->store.piece_records < config->records_per_buffer)
        c->store.piece_records = config->records_per_buffer;
    int rc = acquire_all(c, config);
    if (rc != 0) {
        simpler_args_dump_collector_close(c);
        return rc;
    }
    *out = c;
    return 0;
}

void simpler_args_dump_collector_close(struct simpler_args_dump_collector *collector)
{
    struct simpler_args_dump_collector *c = collector;

    if (c == NULL || (c->session != NULL && simpler_prof_session_is_lost(c->session)))
        return;
    if (c->files.lock_ready)
        simpler_args_dump_files_close(&c->files);
    simpler_args_dump_writer_fini(&c->writer);
    simpler_args_dump_retained_close(c->retained);
    bool may_free = c->session == NULL || simpler_prof_session_may_free(c->session);
    if (!simpler_prof_session_close(c->session))
        return;
    simpler_args_dump_store_fini(&c->store);
    for (uint32_t l = 0; c->arenas != NULL && l < c->lane_count; l++) {
        if (c->arenas[l].host != NULL && may_free)
            c->transport->free(&c->arenas[l]);
    }
    simpler_alloc_free(c->arenas);
    for (uint32_t s = 0; s < MAX_SHARDS; s++)
        simpler_alloc_free(c->places[s]);
    simpler_args_dump_files_fini(&c->files);
    simpler_alloc_free(c);
}

uint32_t simpler_args_dump_collector_lanes(const struct simpler_args_dump_collector *collector)
{
    return collector->lane_count;
}

uint64_t
simpler_args_dump_collector_device_base(const struct simpler_args_dump_collector *collector)
{
    return simpler_prof_session_device_base(collector->session);
}

/* ---- a run ---- */

static int admit(struct simpler_args_dump_collector *c, uint32_t run_epoch, const char *prefix,
                 uint32_t level, bool is_new)
{
    simpler_args_dump_files_start(&c->files, prefix, level, is_new);
    c->run_epoch = run_epoch;
    atomic_store_explicit(&c->settling, false, memory_order_relaxed);
    c->block->dump_args_level = level;
    int rc = simpler_prof_session_flush(c->session, &c->block->dump_args_level, sizeof(uint64_t));
    /* An acknowledgement whose copy failed would count for payloads of this run. */
    for (uint32_t l = 0; rc == 0 && l < c->lane_count; l++)
        rc = simpler_prof_session_flush(c->session, &c->block->lanes[l].completed_payloads,
                                        sizeof(uint64_t));
    return rc != 0 ? rc : simpler_prof_session_admit(c->session, run_epoch);
}

void simpler_args_dump_collector_forget(const char *prefix)
{
    simpler_args_dump_files_forget(prefix);
}

int simpler_args_dump_collector_admit(struct simpler_args_dump_collector *collector,
                                      uint32_t run_epoch, const char *prefix, uint32_t level)
{
    return admit(collector, run_epoch, prefix, level, false);
}

int simpler_args_dump_collector_admit_retained(struct simpler_args_dump_collector *collector,
                                               uint32_t run_epoch, const char *prefix,
                                               uint32_t level)
{
    return admit(collector, run_epoch, prefix, level, true);
}

struct args_dump_retained *
simpler_args_dump_collector_take(struct simpler_args_dump_collector *collector)
{
    struct args_dump_retained *run = collector->retained;

    collector->retained = NULL;
    return run;
}

/* ---- the end ---- */

/* What the lanes' threads have counted becomes the host's. */
static int fetch_counts(struct simpler_args_dump_collector *c)
{
    int rc = simpler_prof_session_fetch(c->session, c->block->notes, sizeof(c->block->notes));

    for (uint32_t l = 0; rc == 0 && l < c->lane_count; l++)
        rc = simpler_prof_session_fetch(c->session, &c->block->lanes[l].arena_write_offset,
                                        ARGS_DUMP_LANE_OWN_BYTES);
    return rc;
}

static void add_lanes(const struct simpler_args_dump_collector *c, struct args_dump_outcome *out)
{
    for (uint32_t l = 0; l < c->lane_count; l++) {
        struct args_dump_lane *lane = &c->block->lanes[l];
        uint64_t records = atomic_load_explicit(&lane->records, memory_order_relaxed);
        uint64_t truncated = atomic_load_explicit(&lane->truncated, memory_order_relaxed);
        uint64_t dropped = atomic_load_explicit(&lane->arena_dropped, memory_order_relaxed);
        out->capture_ns += atomic_load_explicit(&lane->capture_ns, memory_order_relaxed);
        out->dropped_arena += dropped;
        if (records != 0 || dropped != 0)
            SIMPLER_INFO("args dump: run %" PRIu32 " thread %" PRIu32 ": %" PRIu64
                         " record%s, %" PRIu64 " truncated, %" PRIu64 " dropped at the arena",
                         c->run_epoch, l, records, simpler_text_plural(records), truncated,
                         dropped);
    }
}

static void warn_notes(const struct simpler_args_dump_collector *c)
{
    static const char *const uses[] = {"add_input",  "add_create", "add_inout", "add_output",
                                       "add_no_dep", "?",          "?",         "?"};
    static const char *const directions[] = {"SCALAR", "IN", "OUT", "INOUT", "?", "?", "?", "?"};

    for (uint32_t n = 0; n < ARGS_DUMP_NOTES; n++) {
        uint64_t v = atomic_load_explicit(&c->block->notes[n], memory_order_relaxed);
        uint64_t id = (v >> 56 & 255) << 32 | (v >> 24 & 0xffffffff);
        uint32_t func = v >> 13 & 2047, arg = v >> 7 & 63;
        if (v == 0)
            continue;
        if (n == 0)
            SIMPLER_WARN("args dump: task 0x%016" PRIx64 " (kernel %" PRIu32 "): tensor %" PRIu32
                         " was added by %s, but the kernel's signature says %s, which rules (the "
                         "first of the run)",
                         id, func, arg, uses[v >> 1 & 7], directions[v >> 4 & 7]);
        else if (n == 1)
            SIMPLER_WARN("args dump: task 0x%016" PRIx64 " (kernel %" PRIu32
                         "): the signature ends before tensor %" PRIu32
                         "; such tensors are not dumped (the first of the run)",
                         id, func, arg);
        else
            SIMPLER_WARN("args dump: task 0x%016" PRIx64 " (kernel %" PRIu32
                         "): what is noted of argument %" PRIu32
                         " is missing or does not fit the task; such tasks are not dumped, with "
                         "none of their arguments (the first of the run)",
                         id, func, arg);
    }
}

/* What has been collected; @out has the counts of losses. */
static struct args_dump_ending describe(struct simpler_args_dump_collector *c, uint64_t received,
                                        const struct args_dump_outcome *out)
{
    struct args_dump_ending ending = {
        .run_epoch = c->run_epoch,
        .level = c->files.level,
        .is_new = c->files.is_new,
        .directory = c->files.directory,
        .bin = c->files.bin,
        .received = received,
        .given_up = c->files.given_up,
        .first = c->writer.first,
        .end = c->writer.offset,
        .unplaced = c->writer.unplaced,
        .open_error = c->files.open_error,
        .store = &c->store,
        .out = *out,
    };

    describe_payload(c, &ending);
    memcpy(ending.out.path, c->files.path, sizeof(ending.out.path));
    return ending;
}

/* The manifest is left to who takes the run; false: it is to be written now. */
static bool retain(struct simpler_args_dump_collector *c, struct args_dump_ending *ending)
{
    uint64_t records = simpler_args_dump_store_count(&c->store);

    if (ending->received == 0 ||
        simpler_args_dump_retained_open(ending, c->budget, &c->retained) != 0)
        return false;
    ending->out.is_retained = true;
    ending->out.records = records;
    ending->out.payload_bytes = ending->written - ending->first;
    c->files.bin = c->files.directory = -1; /* its own now */
    return true;
}

/* @proven: every lane's end is; else a retained run leaves nothing. */
static int settle_files(struct simpler_args_dump_collector *c, bool proven,
                        struct args_dump_ending *ending)
{
    if (!c->files.is_new)
        return simpler_args_dump_ending_write(ending);
    if (proven && !retain(c, ending))
        return simpler_args_dump_ending_write(ending);
    if (proven)
        return simpler_args_dump_ending_is_whole(ending) ? 0 : SIMPLER_EPARTIAL;
    SIMPLER_ERROR("args dump: run %" PRIu32
                  " has no files: it is not proved that the device has ended",
                  c->run_epoch);
    simpler_args_dump_ending_discard(ending);
    return SIMPLER_EPARTIAL;
}

/* A thread may be inside the files: they stay as they are, without a manifest. */
static int settle_lost(const struct simpler_args_dump_collector *c,
                       const struct simpler_prof_accounting *accounting, bool may_read,
                       struct args_dump_outcome *out)
{
    /* Where the memory is shared nothing has to be copied for it. */
    if (may_read && simpler_prof_session_is_mapped(c->session))
        add_lanes(c, out);
    SIMPLER_ERROR("args dump: run %" PRIu32 " has no manifest: the collector has stopped; %" PRIu64
                  " record%s attempted",
                  c->run_epoch, accounting->total, simpler_text_plural(accounting->total));
    out->dropped_no_free = accounting->dropped_no_free;
    out->dropped_ready_full = accounting->dropped_ready_full;
    memcpy(out->path, c->files.path, sizeof(out->path));
    return out->status = SIMPLER_EPARTIAL;
}

bool simpler_args_dump_collector_is_lost(const struct simpler_args_dump_collector *collector)
{
    return simpler_prof_session_is_lost(collector->session);
}

int simpler_args_dump_collector_settle(struct simpler_args_dump_collector *collector,
                                       enum simpler_lane_end *ends, struct args_dump_outcome *out)
{
    struct simpler_args_dump_collector *c = collector;
    struct simpler_prof_accounting accounting = {0};
    struct simpler_prof_verdict verdict;

    /* The last flush of a lane is proof of its end. */
    for (uint32_t l = 0; l < c->lane_count; l++) {
        if (ends[l] == SIMPLER_LANE_UNPROVED && simpler_prof_session_flushed(c->session, l))
            ends[l] = SIMPLER_LANE_STOPPED;
    }
    verdict = simpler_prof_decide(ends, c->lane_count);
    atomic_store_explicit(&c->settling, true, memory_order_relaxed);
    int rc = simpler_prof_session_quiesce(c->session, ends, &accounting);
    memset(out, 0, sizeof(*out));
    /* Its thread may stand in a write as well. */
    if (simpler_prof_session_wait_for(c->session, &c->writer.role, "writer") != 0)
        return settle_lost(c, &accounting, verdict.may_read, out);
    simpler_args_dump_writer_finish(&c->writer);
    simpler_args_dump_writer_trim(&c->writer);
    if (verdict.may_read && rc == 0)
        rc = fetch_counts(c);
    if (verdict.may_read && rc == 0) {
        add_lanes(c, out);
        warn_notes(c);
        out->counts_known = accounting.known;
        out->dropped_no_free = accounting.dropped_no_free;
        out->dropped_ready_full = accounting.dropped_ready_full;
    }
    out->refused_epoch = accounting.refused_epoch;
    struct args_dump_ending ending = describe(c, accounting.received, out);
    c->ending = &ending;
    ending.out.status = settle_files(c, verdict.may_export, &ending);
    c->ending = NULL;
    *out = ending.out;
    simpler_args_dump_files_close(&c->files);
    return out->status;
}

void simpler_args_dump_collector_prove_late(struct simpler_args_dump_collector *collector)
{
    simpler_prof_session_prove_late(collector->session);
}
