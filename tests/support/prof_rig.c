/* SPDX-License-Identifier: Apache-2.0 */
#include "prof_rig.h"

#include <pthread.h>
#include <sched.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cm.h"
#include "base/testpoint.h"

static const uint32_t record_bytes[RIG_KINDS] = {16, 64, 80, 128};

/* The first words of each record; the rest repeats seq. */
struct rig_record {
    uint32_t lane, kind, seq, check;
};

uint64_t rig_random(uint64_t *state)
{
    *state += 0x9e3779b97f4a7c15u;
    uint64_t z = *state;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static void sleep_us(uint64_t us)
{
    struct timespec ts = {(time_t)(us / 1000000), (long)(us % 1000000 * 1000)};
    (void)nanosleep(&ts, NULL);
}

static void add(struct rig_list *list, uint32_t seq)
{
    if (list->count == list->capacity) {
        list->capacity = list->capacity == 0 ? 1024 : list->capacity * 2;
        list->seq = realloc(list->seq, list->capacity * sizeof(*list->seq));
        if (list->seq == NULL)
            abort();
    }
    list->seq[list->count++] = seq;
}

static struct rig_stream *stream(struct rig *rig, uint32_t lane, uint32_t kind)
{
    return &rig->streams[lane * RIG_KINDS + kind];
}

static void fill(uint8_t *at, uint32_t bytes, uint32_t lane, uint32_t kind, uint32_t seq)
{
    struct rig_record record = {lane, kind, seq, ~seq};

    memcpy(at, &record, sizeof(record));
    memset(at + sizeof(record), (int)(seq & 0xff), bytes - sizeof(record));
}

static bool is_whole(const uint8_t *at, uint32_t bytes)
{
    struct rig_record record;

    memcpy(&record, at, sizeof(record));
    for (uint32_t i = sizeof(record); i < bytes; i++) {
        if (at[i] != (record.seq & 0xff))
            return false;
    }
    return record.check == ~record.seq;
}

static void note(struct rig *rig, const struct simpler_prof_ready_entry *entry, const uint8_t *at)
{
    struct rig_stream *to = stream(rig, entry->lane, entry->kind);
    struct rig_record record;

    memcpy(&record, at, sizeof(record));
    to->torn += !is_whole(at, record_bytes[entry->kind]);
    to->misplaced += record.lane != entry->lane || record.kind != entry->kind;
    to->order += to->got.count > 0 && to->got.seq[to->got.count - 1] >= record.seq;
    add(&to->got, record.seq);
}

static void collect(void *self, uint32_t shard, const struct simpler_prof_ready_entry *entry,
                    const struct simpler_prof_buffer *buffer)
{
    struct rig *rig = self;
    const uint8_t *at = simpler_prof_records(buffer);
    uint32_t count = atomic_load_explicit(&buffer->count, memory_order_relaxed);
    uint64_t chance = entry->buffer_seq + ((uint64_t)entry->lane << 20) + rig->seed;

    if (atomic_load_explicit(&rig->closed, memory_order_acquire))
        atomic_fetch_add_explicit(&rig->at_gate, 1, memory_order_relaxed);
    simpler_prof_session_set_busy(rig->session, shard, rig->busy_until_open);
    while (atomic_load_explicit(&rig->closed, memory_order_acquire))
        sleep_us(100);
    simpler_prof_session_set_busy(rig->session, shard, false);
    if (rig->busy_us != 0) {
        simpler_prof_session_set_busy(rig->session, shard, true);
        sleep_us(rig->busy_us);
        simpler_prof_session_set_busy(rig->session, shard, false);
    }
    for (uint32_t i = 0; i < rig->beats; i++) {
        sleep_us(rig->beat_us);
        simpler_prof_session_beat(rig->session, entry->lane);
    }
    uint64_t dice = rig_random(&chance);
    if (rig->slow_one_in != 0 && dice % rig->slow_one_in == 0)
        sleep_us((dice >> 32) % rig->slow_us);
    assert_true(entry->lane % (rig->config.lane_count < rig->client.max_shards
                                   ? rig->config.lane_count
                                   : rig->client.max_shards) ==
                shard);
    for (uint32_t i = 0; i < count; i++)
        note(rig, entry, at + (size_t)i * record_bytes[entry->kind]);
}

static void tick(void *self)
{
    struct rig *rig = self;
    atomic_fetch_add_explicit(&rig->ticks, 1, memory_order_relaxed);
    if (atomic_load(&rig->tick_again) == 0)
        return;
    simpler_prof_session_wake(rig->session);
    atomic_fetch_sub(&rig->tick_again, 1);
}

void rig_defaults(struct rig *rig, uint32_t lanes, uint32_t shards, uint64_t seed)
{
    memset(rig, 0, sizeof(*rig));
    rig->seed = seed;
    rig->records = 1000;
    rig->client = (struct simpler_prof_client){
        .name = "rig",
        .magic = RIG_MAGIC,
        .kind_count = RIG_KINDS,
        .client_bytes = 24,
        .max_shards = shards,
        .collect = collect,
        .tick = tick,
    };
    rig->config = (struct simpler_prof_session_config){
        .transport = &simpler_transport_mapped,
        .lane_count = lanes,
        .ready_depth = 8,
        .first_index = UINT32_MAX - 16,
    };
    for (uint32_t kind = 0; kind < RIG_KINDS; kind++) {
        rig->client.buffers_per_lane[kind] = 4;
        rig->config.kind[kind] =
            (struct simpler_prof_kind){record_bytes[kind], 4096 / record_bytes[kind]};
    }
}

void rig_randomize(struct rig *rig)
{
    uint64_t state = rig->seed;

    rig->config.ready_depth = 1u << (rig_random(&state) % 5);
    for (uint32_t kind = 0; kind < RIG_KINDS; kind++) {
        uint32_t first = 1 + (uint32_t)(rig_random(&state) % 12);
        rig->client.buffers_per_lane[kind] = first;
        rig->client.watermark[kind] = (uint32_t)(rig_random(&state) % 3) * 2;
        rig->client.max_buffers_per_lane[kind] = first + (uint32_t)(rig_random(&state) % 16);
        rig->config.kind[kind].records_per_buffer = 1 + (uint32_t)(rig_random(&state) % 40);
    }
}

int rig_open(struct rig *rig)
{
    rig->config.client = &rig->client;
    rig->config.self = rig;
    if (rig->streams == NULL)
        rig->streams = calloc((size_t)rig->config.lane_count * RIG_KINDS, sizeof(*rig->streams));
    return simpler_prof_session_open(&rig->config, &rig->session);
}

void rig_close(struct rig *rig)
{
    assert_true(simpler_prof_session_close(rig->session));
    rig->session = NULL;
    for (uint32_t i = 0; rig->streams != NULL && i < rig->config.lane_count * RIG_KINDS; i++) {
        free(rig->streams[i].sent.seq);
        free(rig->streams[i].got.seq);
    }
    free(rig->streams);
    rig->streams = NULL;
}

void rig_reset(struct rig *rig)
{
    for (uint32_t i = 0; i < rig->config.lane_count * RIG_KINDS; i++) {
        struct rig_stream *s = &rig->streams[i];
        struct rig_list sent = s->sent, got = s->got;
        memset(s, 0, sizeof(*s));
        s->sent = sent;
        s->got = got;
        s->sent.count = s->got.count = 0;
    }
}

struct simpler_prof_header *rig_header(struct rig *rig)
{
    return simpler_device_place(simpler_prof_session_device_base(rig->session));
}

void rig_attach(struct rig *rig, struct simpler_producer *producers, uint32_t epoch)
{
    struct simpler_prof_header *header = rig_header(rig);

    for (uint32_t lane = 0; lane < rig->config.lane_count; lane++) {
        for (uint32_t kind = 0; kind < RIG_KINDS; kind++)
            simpler_producer_attach(&producers[lane * RIG_KINDS + kind], header, lane, kind, epoch);
    }
    simpler_producer_publish_epoch(header, epoch);
}

void rig_begin(struct rig *rig, struct simpler_producer *producers, uint32_t epoch)
{
    rig_reset(rig);
    assert_int_equal(simpler_prof_session_admit(rig->session, epoch), 0);
    rig_attach(rig, producers, epoch);
}

bool rig_append(struct rig *rig, struct simpler_producer *producer)
{
    struct rig_stream *to = stream(rig, producer->lane_index, producer->kind);
    uint32_t seq = to->next++;
    uint8_t *at = simpler_producer_reserve(producer);

    if (at == NULL) {
        to->dropped++;
        return false;
    }
    fill(at, producer->record_bytes, producer->lane_index, producer->kind, seq);
    simpler_producer_commit(producer);
    add(&to->sent, seq);
    return true;
}

struct lane_thread {
    struct rig *rig;
    struct simpler_producer *producers; /* of the lane */
    uint64_t state;
    pthread_t thread;
};

static void step(struct lane_thread *lane)
{
    struct rig *rig = lane->rig;
    uint64_t dice = rig_random(&lane->state);
    struct simpler_producer *producer = &lane->producers[dice % RIG_KINDS];

    if (rig->gap_one_in != 0 && (dice >> 8) % rig->gap_one_in == 0)
        sleep_us((dice >> 32) % rig->gap_us);
    if (rig->refuse_one_in != 0 && (dice >> 16) % rig->refuse_one_in == 0) {
        simpler_producer_refuse(producer);
        stream(rig, producer->lane_index, producer->kind)->refused++;
        return;
    }
    (void)rig_append(rig, producer);
    /* A collector may flush early. */
    if ((dice >> 24) % 509 == 0)
        (void)simpler_producer_flush(producer);
}

static void *lane_main(void *arg)
{
    struct lane_thread *lane = arg;

    for (uint32_t i = 0; i < lane->rig->records; i++)
        step(lane);
    if (lane->rig->hold_one_in != 0 && rig_random(&lane->state) % lane->rig->hold_one_in == 0)
        return NULL;
    for (uint32_t kind = 0; kind < RIG_KINDS; kind++)
        simpler_producer_finish(&lane->producers[kind]);
    return NULL;
}

void rig_run(struct rig *rig, uint32_t epoch, struct simpler_prof_accounting *out)
{
    uint32_t lanes = rig->config.lane_count;
    struct simpler_producer *producers = calloc(lanes * RIG_KINDS, sizeof(*producers));
    struct lane_thread *threads = calloc(lanes, sizeof(*threads));
    enum simpler_lane_end *ends = calloc(lanes, sizeof(*ends));

    rig_begin(rig, producers, epoch);
    for (uint32_t l = 0; l < lanes; l++) {
        threads[l] = (struct lane_thread){
            .rig = rig, .producers = &producers[l * RIG_KINDS], .state = rig->seed + epoch + l};
        assert_int_equal(pthread_create(&threads[l].thread, NULL, lane_main, &threads[l]), 0);
    }
    for (uint32_t l = 0; l < lanes; l++)
        assert_int_equal(pthread_join(threads[l].thread, NULL), 0);
    assert_int_equal(simpler_prof_session_quiesce(rig->session, ends, out), 0);
    free(ends);
    free(threads);
    free(producers);
    rig_compare(rig, out);
}

static void compare(const struct rig_stream *s, uint32_t index)
{
    if (s->torn != 0 || s->misplaced != 0 || s->order != 0)
        fail_msg("stream %u: %u torn, %u misplaced, %u out of order", index, s->torn, s->misplaced,
                 s->order);
    if (s->sent.count != s->got.count)
        fail_msg("stream %u: %u accepted, %u collected", index, s->sent.count, s->got.count);
    if (s->sent.count != 0)
        assert_memory_equal(s->sent.seq, s->got.seq, s->sent.count * sizeof(*s->sent.seq));
}

void rig_compare(struct rig *rig, const struct simpler_prof_accounting *accounting)
{
    uint64_t attempted = 0, dropped = 0, refused = 0, got = 0;

    for (uint32_t i = 0; i < rig->config.lane_count * RIG_KINDS; i++) {
        const struct rig_stream *s = &rig->streams[i];
        compare(s, i);
        attempted += s->next + s->refused;
        dropped += s->dropped;
        refused += s->refused;
        got += s->got.count;
    }
    assert_true(accounting->known);
    assert_true(accounting->epoch_ok);
    assert_int_equal(accounting->total, attempted);
    assert_int_equal(accounting->received, got);
    assert_int_equal(accounting->dropped_no_free + accounting->dropped_ready_full, dropped);
    assert_int_equal(accounting->dropped_other, refused);
    assert_int_equal(accounting->refused_epoch, 0);
}

#if defined(SIMPLER_DEBUG)
static _Atomic uint64_t delay_seed;
static _Atomic uint32_t delay_one_in;
static _Thread_local uint64_t delay_state;

static bool delay(void *user, enum simpler_testpoint point)
{
    (void)user;
    if (delay_state == 0)
        delay_state = atomic_fetch_add_explicit(&delay_seed, 7919, memory_order_relaxed);
    uint64_t dice = rig_random(&delay_state) + (uint64_t)point;
    if (dice % atomic_load_explicit(&delay_one_in, memory_order_relaxed) != 0)
        return false;
    if ((dice >> 32) % 4 == 0)
        sleep_us((dice >> 40) % 200);
    else
        (void)sched_yield();
    return false;
}

void rig_delays_start(uint64_t seed, uint32_t one_in)
{
    atomic_store_explicit(&delay_seed, seed, memory_order_relaxed);
    atomic_store_explicit(&delay_one_in, one_in, memory_order_relaxed);
    simpler_testpoint_set(delay, NULL);
}

void rig_delays_stop(void)
{
    simpler_testpoint_set(NULL, NULL);
}
#else
void rig_delays_start(uint64_t seed, uint32_t one_in)
{
    (void)seed;
    (void)one_in;
}

void rig_delays_stop(void)
{
}
#endif
