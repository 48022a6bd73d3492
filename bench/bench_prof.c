/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the collection framework costs: medians of slices.
 *
 *     bench_prof [SLICES]        default 15
 *
 * append: one producer, one record, buffers that the host takes at once.
 * pipeline: records a second through one lane with a host that copies them.
 * dropped: a record while the host does not answer.  quiesce: the end of a run
 * that left nothing, and of a run of one record.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "prof/producer.h"
#include "prof/session.h"

#define MAX_SLICES 1000
#define RUNS       200

static int slices = 15;
static uint8_t copy[1u << 20];
static _Atomic bool closed;
static double took[MAX_SLICES];
static const enum simpler_lane_end ends[1];

static double now_ns(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void report(const char *name, const char *unit, int count)
{
    qsort(took, (size_t)count, sizeof(double), by_value);
    printf("%-34s %10.2f %s  (%.2f to %.2f)\n", name, took[count / 2], unit, took[count / 10],
           took[count - 1 - count / 10]);
}

static void collect(void *self, uint32_t shard, const struct simpler_prof_ready_entry *entry,
                    const struct simpler_prof_buffer *buffer)
{
    const uint32_t *record_bytes = self;

    (void)shard;
    (void)entry;
    while (atomic_load_explicit(&closed, memory_order_acquire))
        (void)nanosleep(&(struct timespec){0, 100000}, NULL);
    size_t bytes =
        (size_t)atomic_load_explicit(&buffer->count, memory_order_relaxed) * *record_bytes;
    memcpy(copy, simpler_prof_records(buffer), bytes < sizeof(copy) ? bytes : sizeof(copy));
}

struct rig {
    struct simpler_prof_client client;
    struct simpler_prof_session *session;
    struct simpler_prof_header *header;
    struct simpler_producer producer;
    uint32_t record_bytes;
    uint32_t epoch;
};

static void open_rig(struct rig *rig, uint32_t record_bytes, uint32_t records, uint32_t buffers,
                     uint64_t backstop_ns)
{
    rig->record_bytes = record_bytes;
    rig->epoch = 0;
    rig->client = (struct simpler_prof_client){
        .name = "bench", .kind_count = 1, .max_shards = 1, .collect = collect};
    rig->client.buffers_per_lane[0] = buffers;
    struct simpler_prof_session_config config = {
        .client = &rig->client,
        .self = &rig->record_bytes,
        .transport = &simpler_transport_mapped,
        .lane_count = 1,
        .ready_depth = 8,
        .backstop_ns = backstop_ns,
    };
    config.kind[0] = (struct simpler_prof_kind){record_bytes, records};
    if (simpler_prof_session_open(&config, &rig->session) != 0)
        abort();
    rig->header = simpler_device_place(simpler_prof_session_device_base(rig->session));
}

static void start(struct rig *rig)
{
    rig->epoch++;
    if (simpler_prof_session_admit(rig->session, rig->epoch) != 0)
        abort();
    simpler_producer_attach(&rig->producer, rig->header, 0, 0, rig->epoch);
    simpler_producer_publish_epoch(rig->header, rig->epoch);
}

static struct simpler_prof_accounting quiesce(struct rig *rig)
{
    struct simpler_prof_accounting accounting;
    if (simpler_prof_session_quiesce(rig->session, ends, &accounting) != 0 || !accounting.known)
        abort();
    return accounting;
}

/* As a collector writes its record: every word. */
static inline bool append(struct simpler_producer *producer, uint64_t value, uint32_t words)
{
    uint64_t *record = simpler_producer_reserve(producer);
    if (record == NULL)
        return false;
    for (uint32_t w = 0; w < words; w++)
        record[w] = value + w;
    simpler_producer_commit(producer);
    return true;
}

/* The append alone: one buffer of 4096 records, warm, attached again and again. */
#define BENCH_APPEND(BYTES)                                            \
    static void append_##BYTES(void)                                   \
    {                                                                  \
        struct rig rig;                                                \
        open_rig(&rig, BYTES, 4096, 1, 0);                             \
        for (int s = -1; s < slices; s++) {                            \
            double spent = 0;                                          \
            for (int round = 0; round < 50; round++) {                 \
                start(&rig);                                           \
                (void)append(&rig.producer, 0, BYTES / 8);             \
                double from = now_ns();                                \
                for (uint32_t i = 1; i < 4096; i++)                    \
                    (void)append(&rig.producer, i, BYTES / 8);         \
                spent += now_ns() - from;                              \
                (void)quiesce(&rig);                                   \
            }                                                          \
            if (s >= 0)                                                \
                took[s] = spent / (50 * 4095.0);                       \
        }                                                              \
        simpler_prof_session_close(rig.session);                       \
        report("append, " #BYTES " bytes, warm buffer", "ns", slices); \
    }
BENCH_APPEND(64)
BENCH_APPEND(80)
BENCH_APPEND(128)

static void pipeline(const char *name, uint32_t records, uint32_t buffers, uint32_t count)
{
    struct rig rig;

    open_rig(&rig, 80, records, buffers, 0);
    for (int s = -1; s < slices; s++) {
        start(&rig);
        double from = now_ns();
        for (uint32_t i = 0; i < count; i++) {
            if (!append(&rig.producer, i, 10))
                abort();
        }
        simpler_producer_finish(&rig.producer);
        if (quiesce(&rig).received != count)
            abort();
        if (s >= 0)
            took[s] = (now_ns() - from) / count;
    }
    simpler_prof_session_close(rig.session);
    report(name, "ns", slices);
}

static void dropped(void)
{
    struct rig rig;
    struct simpler_prof_accounting accounting;
    uint64_t lost = 0;
    uint32_t count = 1000000;

    open_rig(&rig, 80, 51, 2, 1000000);
    start(&rig);
    atomic_store_explicit(&closed, true, memory_order_release);
    double from = now_ns();
    while (append(&rig.producer, 0, 10))
        ;
    printf("%-34s %10.2f ms  (backstop 1 ms)\n", "stall until the first loss",
           (now_ns() - from) / 1e6);
    for (int s = 0; s < slices; s++) {
        from = now_ns();
        for (uint32_t i = 0; i < count; i++)
            lost += !append(&rig.producer, i, 10);
        took[s] = (now_ns() - from) / count;
    }
    atomic_store_explicit(&closed, false, memory_order_release);
    simpler_producer_finish(&rig.producer);
    accounting = quiesce(&rig);
    if (accounting.dropped_no_free + accounting.dropped_ready_full != lost + 1)
        abort();
    simpler_prof_session_close(rig.session);
    report("dropped record", "ns", slices);
}

static void quiesces(const char *name, uint32_t records)
{
    struct rig rig;

    open_rig(&rig, 80, 512, 4, 0);
    for (int r = 0; r < RUNS; r++) {
        start(&rig);
        for (uint32_t i = 0; i < records; i++)
            (void)append(&rig.producer, i, 10);
        double from = now_ns();
        simpler_producer_finish(&rig.producer);
        (void)quiesce(&rig);
        took[r] = (now_ns() - from) / 1000;
        /* The threads go to sleep, as between runs. */
        (void)nanosleep(&(struct timespec){0, 300000}, NULL);
    }
    simpler_prof_session_close(rig.session);
    report(name, "us", RUNS);
}

int main(int argc, char **argv)
{
    if (argc > 1)
        slices = atoi(argv[1]);
    if (slices < 1 || slices > MAX_SLICES)
        return 2;
    append_64();
    append_80();
    append_128();
    pipeline("pipeline, 80 B, 4 buffers of 512", 512, 4, 400000);
    pipeline("pipeline, 80 B, 2 buffers of 4 KiB", 50, 2, 100000);
    dropped();
    quiesces("quiesce, nothing recorded", 0);
    quiesces("finish and quiesce, one record", 1);
    return 0;
}
