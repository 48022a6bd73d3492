/* SPDX-License-Identifier: Apache-2.0 */
/* A chunk a buffer, of exactly its size: a small run takes little, and nothing is moved twice. */
#include "collect/scope_stats/scope_stats_retained.h"

#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "base/logger.h"
#include "base/testpoint.h"
#include "base/text.h"

static uint64_t chunk_bytes(uint32_t count)
{
    return sizeof(struct scope_stats_chunk) + (uint64_t)count * sizeof(struct scope_stats_record);
}

int simpler_scope_stats_retained_open(struct scope_stats_budget *budget, uint32_t run_epoch,
                                      const char *prefix, struct scope_stats_retained **out)
{
    struct scope_stats_retained *run = simpler_alloc_zeroed(1, sizeof(*run));

    if (run == NULL)
        return SIMPLER_ENOMEM;
    run->prefix = simpler_alloc_string(prefix);
    if (run->prefix == NULL) {
        simpler_alloc_free(run);
        return SIMPLER_ENOMEM;
    }
    run->budget = budget;
    run->run_epoch = run_epoch;
    *out = run;
    return 0;
}

static void drop_first(struct scope_stats_retained *run)
{
    struct scope_stats_chunk *chunk = run->first;

    run->first = chunk->next;
    if (run->first == NULL)
        run->last = NULL;
    /* relaxed: a limit orders nothing. */
    atomic_fetch_sub_explicit(&run->budget->used, chunk_bytes(chunk->count), memory_order_relaxed);
    simpler_alloc_free(chunk);
}

void simpler_scope_stats_retained_close(struct scope_stats_retained *run)
{
    if (run == NULL)
        return;
    while (run->first != NULL)
        drop_first(run);
    simpler_alloc_free(run->prefix);
    simpler_alloc_free(run);
}

/* Room for a buffer within the budget, or NULL. */
static struct scope_stats_chunk *try_chunk(struct scope_stats_budget *budget, uint32_t count)
{
    uint64_t bytes = chunk_bytes(count);
    struct scope_stats_chunk *chunk = NULL;

    /* One collector adds at a time; the writer only takes away. */
    if (atomic_load_explicit(&budget->used, memory_order_relaxed) + bytes <= budget->bytes)
        chunk = simpler_alloc_resize(NULL, 1, bytes);
    if (chunk != NULL)
        atomic_fetch_add_explicit(&budget->used, bytes, memory_order_relaxed);
    return chunk;
}

void simpler_scope_stats_retained_append(struct scope_stats_retained *run,
                                         const struct scope_stats_record *records, uint32_t count,
                                         uint32_t run_epoch, uint32_t buffer_seq)
{
    struct scope_stats_chunk *chunk = try_chunk(run->budget, count);

    run->received += count;
    if (chunk == NULL)
        return;
    chunk->next = NULL;
    chunk->count = count;
    chunk->run_epoch = run_epoch;
    chunk->buffer_seq = buffer_seq;
    memcpy(chunk->records, records, count * sizeof(*records));
    if (run->last == NULL)
        run->first = chunk;
    else
        run->last->next = chunk;
    run->last = chunk;
    run->retained += count;
}

/* ---- writing ---- */

static void write_samples(struct scope_stats_retained *run, struct scope_stats_file *file)
{
    while (run->first != NULL) {
        const struct scope_stats_chunk *chunk = run->first;
        SIMPLER_TESTPOINT(RETAINED_BEFORE_CHUNK);
        simpler_scope_stats_file_append(file, chunk->records, chunk->count, chunk->run_epoch,
                                        chunk->buffer_seq);
        drop_first(run);
    }
    simpler_scope_stats_file_flush(file);
}

/* What the disk did not take is a refusal of the host's too. */
static bool complete_metadata(struct scope_stats_retained *run, const struct scope_stats_file *file)
{
    struct scope_stats_metadata *m = &run->metadata;

    m->host_received = run->received;
    m->host_retained = file->lines;
    bool whole =
        !m->counts_unknown && m->dropped == 0 && !m->fatal && m->host_retained == m->host_received;
    if (!m->counts_unknown)
        m->verdict = whole ? "published" : "partial_safe";
    return whole;
}

static void warn(const struct scope_stats_retained *run, const char *path)
{
    const struct scope_stats_metadata *m = &run->metadata;

    SIMPLER_WARN("scope stats: run %" PRIu32 ": %s is %s: %" PRIu64 " sample%s received, %" PRIu64
                 " kept, %" PRIu64 " dropped on the device%s",
                 run->run_epoch, path, m->verdict, m->host_received,
                 simpler_text_plural(m->host_received), m->host_retained, m->dropped,
                 m->fatal ? ", a device code was latched" : "");
}

int simpler_scope_stats_retained_write(struct scope_stats_retained *run,
                                       struct scope_stats_file *file)
{
    int rc = simpler_scope_stats_file_open_new(file, run->prefix);

    write_samples(run, file);
    bool whole = complete_metadata(run, file);
    if (rc == 0)
        rc = simpler_scope_stats_file_close(file, &run->metadata);
    else
        (void)simpler_scope_stats_file_discard(file);
    if (rc != 0 || whole)
        return rc;
    warn(run, file->path);
    return SIMPLER_EPARTIAL;
}
