/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Few records never leave memory.  Else the spool is sorted in place in runs,
 * and the runs are merged through a heap of their first records, each run read
 * through its own part of one buffer.
 */
#include "collect/args_dump/args_dump_store.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/logger.h"
#include "base/testpoint.h"
#include "collect/args_dump/args_dump_sort.h"
#include "simpler/status.h"

#define RECORD_BYTES  sizeof(struct args_dump_record)
#define PIECE_RECORDS 8192u
#define RUN_RECORDS   200000u

/* ---- bytes ---- */

/* Where sorted runs are: in the spool itself, unless it is kept. */
static int sorted_file(const struct args_dump_store *store)
{
    return store->keep_spool ? store->sorted : store->spool;
}

static int transfer(int fd, void *data, size_t bytes, uint64_t at, bool write)
{
    uint8_t *p = data;

    while (bytes != 0) {
        ssize_t n = write ? pwrite(fd, p, bytes, (off_t)at) : pread(fd, p, bytes, (off_t)at);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            errno = n == 0 ? EIO : errno;
            return SIMPLER_EIO;
        }
        p += n;
        at += (uint64_t)n;
        bytes -= (size_t)n;
    }
    return 0;
}

static int read_records(int fd, struct args_dump_record *to, uint64_t first, size_t count)
{
    return transfer(fd, to, count * RECORD_BYTES, first * RECORD_BYTES, false);
}

static int write_records(int fd, struct args_dump_record *from, uint64_t first, size_t count)
{
    if (SIMPLER_FAILPOINT(DUMP_SPOOL_WRITE)) {
        errno = EIO;
        return SIMPLER_EIO;
    }
    return transfer(fd, from, count * RECORD_BYTES, first * RECORD_BYTES, true);
}

/* ---- life ---- */

void simpler_args_dump_store_init(struct args_dump_store *store)
{
    memset(store, 0, sizeof(*store));
    store->directory = store->spool = store->sorted = -1;
    store->lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    store->run_records = RUN_RECORDS;
    store->piece_records = PIECE_RECORDS;
    store->spool_name = ARGS_DUMP_SPOOL;
}

static void close_spool(struct args_dump_store *store)
{
    if (store->spool >= 0)
        (void)close(store->spool);
    if (store->sorted >= 0)
        (void)close(store->sorted);
    store->spool = store->sorted = -1;
}

void simpler_args_dump_store_fini(struct args_dump_store *store)
{
    for (uint32_t s = 0; s < ARGS_DUMP_MAX_SHARDS; s++)
        simpler_alloc_free(store->piece[s].records);
    if (store->piece_records != 0)
        close_spool(store);
    memset(store, 0, sizeof(*store));
}

void simpler_args_dump_store_start(struct args_dump_store *store, int directory)
{
    close_spool(store);
    for (uint32_t s = 0; s < ARGS_DUMP_MAX_SHARDS; s++)
        store->piece[s].count = 0;
    store->reserve = (struct args_dump_reserve){0, false};
    store->spoilt = false;
    atomic_store_explicit(&store->spooled, 0, memory_order_relaxed);
    atomic_store_explicit(&store->lost, 0, memory_order_relaxed);
    atomic_store_explicit(&store->error, 0, memory_order_relaxed);
    store->directory = directory;
}

void simpler_args_dump_store_drop_spool(struct args_dump_store *store)
{
    if (store->spool < 0)
        return;
    bool has_sorted = store->sorted >= 0;
    close_spool(store);
    (void)unlinkat(store->directory, store->spool_name, 0);
    if (has_sorted)
        (void)unlinkat(store->directory, ARGS_DUMP_SORTED, 0);
}

/* ---- appending ---- */

static void lose(struct args_dump_store *store, uint64_t count, int error)
{
    int none = 0;

    atomic_fetch_add_explicit(&store->lost, count, memory_order_relaxed);
    (void)atomic_compare_exchange_strong_explicit(&store->error, &none, error, memory_order_relaxed,
                                                  memory_order_relaxed);
}

/* Behind what is there; under the lock.  Nothing of what could not be written stays. */
static int spool_piece(struct args_dump_store *store, const struct args_dump_piece *piece)
{
    uint64_t first = atomic_load_explicit(&store->spooled, memory_order_relaxed);

    if (store->spool < 0)
        store->spool = openat(store->directory, store->spool_name,
                              O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (store->spool < 0)
        return SIMPLER_EIO;
    simpler_args_dump_reserve_ahead(&store->reserve, store->spool, first * RECORD_BYTES,
                                    piece->count * RECORD_BYTES);
    int rc = write_records(store->spool, piece->records, first, piece->count);
    int error = errno;
    if (rc == 0)
        atomic_store_explicit(&store->spooled, first + piece->count, memory_order_relaxed);
    else
        (void)ftruncate(store->spool, (off_t)(first * RECORD_BYTES));
    errno = error;
    return rc;
}

static bool try_spill(struct args_dump_store *store, const struct args_dump_piece *piece)
{
    (void)pthread_mutex_lock(&store->lock);
    int rc = spool_piece(store, piece);
    int error = errno;
    (void)pthread_mutex_unlock(&store->lock);
    errno = error;
    return rc == 0;
}

/*
 * The piece is empty afterwards; what could not be written is lost.  Room is made without the
 * lock: that waits for the writer, and who gives it payloads may be waiting for the lock.
 */
static void spill(struct args_dump_store *store, struct args_dump_piece *piece)
{
    bool spilled = try_spill(store, piece);

    if (!spilled && errno == ENOSPC && store->make_room != NULL && store->make_room(store->self))
        spilled = try_spill(store, piece);
    if (!spilled)
        lose(store, piece->count, errno);
    piece->count = 0;
}

bool simpler_args_dump_store_try_spill(struct args_dump_store *store, uint32_t shard)
{
    struct args_dump_piece *piece = &store->piece[shard];

    if (piece->count != 0 && !try_spill(store, piece))
        return false;
    piece->count = 0;
    return true;
}

void simpler_args_dump_store_spill(struct args_dump_store *store, uint32_t shard)
{
    if (store->piece[shard].count != 0)
        spill(store, &store->piece[shard]);
}

struct args_dump_record *simpler_args_dump_store_append(struct args_dump_store *store,
                                                        uint32_t shard)
{
    struct args_dump_piece *piece = &store->piece[shard];

    if (piece->records == NULL)
        piece->records = simpler_alloc_aligned(store->piece_records, RECORD_BYTES);
    if (piece->records == NULL) {
        lose(store, 1, ENOMEM);
        return NULL;
    }
    if (piece->count == store->piece_records)
        spill(store, piece);
    return &piece->records[piece->count++];
}

void simpler_args_dump_store_finish(struct args_dump_store *store)
{
    bool spooled = atomic_load_explicit(&store->spooled, memory_order_relaxed) != 0;

    for (uint32_t s = 0; spooled && s < ARGS_DUMP_MAX_SHARDS; s++) {
        if (store->piece[s].count != 0)
            spill(store, &store->piece[s]);
    }
    /* The manifest may want the room. */
    if (spooled)
        simpler_args_dump_reserve_trim(&store->reserve, store->spool,
                                       atomic_load_explicit(&store->spooled, memory_order_relaxed) *
                                           RECORD_BYTES);
}

uint64_t simpler_args_dump_store_count(const struct args_dump_store *store)
{
    uint64_t count = atomic_load_explicit(&store->spooled, memory_order_relaxed);

    for (uint32_t s = 0; s < ARGS_DUMP_MAX_SHARDS; s++)
        count += store->piece[s].count;
    return count;
}

/* ---- moving ---- */

/* All of it in one piece of exactly its size, or NULL: it is to be spooled. */
static struct args_dump_record *copy_pieces(const struct args_dump_store *from, uint64_t count,
                                            const struct args_dump_budget *budget)
{
    /* relaxed: a limit orders nothing; one collector adds at a time. */
    uint64_t used = atomic_load_explicit(&budget->used, memory_order_relaxed);
    struct args_dump_record *copy = NULL;
    size_t at = 0;

    if (used + count * RECORD_BYTES <= budget->bytes)
        copy = simpler_alloc_resize(NULL, count, RECORD_BYTES);
    for (uint32_t s = 0; copy != NULL && s < ARGS_DUMP_MAX_SHARDS; s++) {
        if (from->piece[s].count != 0)
            memcpy(copy + at, from->piece[s].records, from->piece[s].count * RECORD_BYTES);
        at += from->piece[s].count;
    }
    return copy;
}

static uint64_t move_pieces(struct args_dump_store *from, struct args_dump_store *to,
                            struct args_dump_budget *budget)
{
    uint64_t count = simpler_args_dump_store_count(from);
    bool spooled = atomic_load_explicit(&from->spooled, memory_order_relaxed) != 0;
    struct args_dump_record *copy = spooled || count == 0 ? NULL : copy_pieces(from, count, budget);

    if (copy != NULL) {
        atomic_fetch_add_explicit(&budget->used, count * RECORD_BYTES, memory_order_relaxed);
        to->piece[0].records = copy;
        to->piece[0].count = (uint32_t)count;
        return count * RECORD_BYTES;
    }
    for (uint32_t s = 0; s < ARGS_DUMP_MAX_SHARDS; s++) {
        if (from->piece[s].count != 0)
            spill(from, &from->piece[s]);
    }
    return 0;
}

uint64_t simpler_args_dump_store_move(struct args_dump_store *from, struct args_dump_store *to,
                                      struct args_dump_budget *budget)
{
    uint64_t bytes = move_pieces(from, to, budget);

    to->directory = from->directory;
    to->run_records = from->run_records;
    to->piece_records = from->piece_records;
    to->spool_name = from->spool_name;
    to->spool = from->spool;
    to->reserve = from->reserve;
    from->spool = -1;
    /* relaxed: the collectors have nothing of this run any more. */
    atomic_store_explicit(&to->spooled, atomic_load_explicit(&from->spooled, memory_order_relaxed),
                          memory_order_relaxed);
    atomic_store_explicit(&to->lost, atomic_load_explicit(&from->lost, memory_order_relaxed),
                          memory_order_relaxed);
    simpler_args_dump_store_start(from, -1);
    return bytes;
}

/* ---- visiting ---- */

/* A part of the records in memory, and what sorts it. */
struct batch {
    struct args_dump_record *records, *sorted;
    struct args_dump_record *result; /* one of the two */
    struct args_dump_item *items, *scratch;
};

static int batch_init(struct batch *b, size_t count)
{
    b->records = simpler_alloc_resize(NULL, count, RECORD_BYTES);
    b->sorted = simpler_alloc_resize(NULL, count, RECORD_BYTES);
    b->items = simpler_alloc_resize(NULL, count, sizeof(*b->items));
    b->scratch = simpler_alloc_resize(NULL, count, sizeof(*b->scratch));
    return b->records != NULL && b->sorted != NULL && b->items != NULL && b->scratch != NULL
               ? 0
               : SIMPLER_ENOMEM;
}

static void batch_fini(struct batch *b)
{
    simpler_alloc_free(b->records);
    simpler_alloc_free(b->sorted);
    simpler_alloc_free(b->items);
    simpler_alloc_free(b->scratch);
}

/* records, seen and sorted: what they are now is the result. */
static int batch_sort(struct batch *b, size_t count, args_dump_see_fn *see, void *context)
{
    uint64_t last = 0;
    bool in_order = true;

    for (size_t i = 0; i < count; i++) {
        int rc = see(context, &b->records[i]);
        if (rc != 0)
            return rc;
        uint64_t key = simpler_args_dump_key(&b->records[i]);
        in_order = in_order && key >= last;
        last = key;
        b->items[i] = (struct args_dump_item){key, i};
    }
    b->result = b->records;
    if (in_order)
        return 0;
    b->result = b->sorted;
    const struct args_dump_item *order = simpler_args_dump_sort(b->items, b->scratch, count);
    for (size_t i = 0; i < count; i++)
        b->sorted[i] = b->records[order[i].index];
    return 0;
}

static int visit_batch(const struct batch *b, size_t count, args_dump_visit_fn *visit,
                       void *context)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < count; i++)
        rc = visit(context, &b->result[i]);
    return rc;
}

static int visit_memory(struct args_dump_store *store, struct batch *b, size_t count,
                        args_dump_see_fn *see, int (*between)(void *), args_dump_visit_fn *visit,
                        void *context)
{
    size_t at = 0;

    for (uint32_t s = 0; s < ARGS_DUMP_MAX_SHARDS; s++) {
        if (store->piece[s].count != 0)
            memcpy(b->records + at, store->piece[s].records, store->piece[s].count * RECORD_BYTES);
        at += store->piece[s].count;
    }
    int rc = batch_sort(b, count, see, context);
    if (rc == 0)
        rc = between(context);
    return rc == 0 ? visit_batch(b, count, visit, context) : rc;
}

static int open_sorted(struct args_dump_store *store)
{
    if (store->keep_spool && store->sorted < 0)
        store->sorted = openat(store->directory, ARGS_DUMP_SORTED,
                               O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0666);
    return sorted_file(store) >= 0 ? 0 : SIMPLER_EIO;
}

/* Over the run itself, unless the spool is kept: then half of a run spoils it. */
static int write_sorted(struct args_dump_store *store, const struct batch *b, uint64_t first,
                        size_t count)
{
    int rc = write_records(sorted_file(store), b->result, first, count);

    store->spoilt |= rc != 0 && !store->keep_spool;
    return rc;
}

static int fail_spoilt(void)
{
    errno = EIO;
    return SIMPLER_EIO;
}

/* Of several runs each is written; a single one is the result as it is in memory. */
static int sort_runs(struct args_dump_store *store, struct batch *b, uint64_t total,
                     args_dump_see_fn *see, void *context)
{
    bool several = total > store->run_records;
    int rc = store->spoilt ? fail_spoilt() : several ? open_sorted(store) : 0;

    for (uint64_t first = 0; rc == 0 && first < total; first += store->run_records) {
        size_t n =
            total - first < store->run_records ? (size_t)(total - first) : store->run_records;
        rc = read_records(store->spool, b->records, first, n);
        if (rc == 0)
            rc = batch_sort(b, n, see, context);
        if (rc == 0 && several && (store->keep_spool || b->result == b->sorted))
            rc = write_sorted(store, b, first, n);
    }
    return rc;
}

/* A sorted run on its way through its window. */
struct run {
    uint64_t key; /* of the record at `at` */
    struct args_dump_record *window;
    uint32_t at, filled;
    uint64_t next, end; /* in the spool */
};

/* False at the end of the run; *rc tells of a failure. */
static bool run_next(const struct args_dump_store *store, struct run *r, uint32_t capacity, int *rc)
{
    if (++r->at >= r->filled) {
        uint64_t left = r->end - r->next;
        r->filled = left < capacity ? (uint32_t)left : capacity;
        r->at = 0;
        if (r->filled == 0)
            return false;
        *rc = read_records(sorted_file(store), r->window, r->next, r->filled);
        if (*rc != 0)
            return false;
        r->next += r->filled;
    }
    r->key = simpler_args_dump_key(&r->window[r->at]);
    return true;
}

/* Restores the heap below @i; the least key is at 0, of equal ones the earlier run. */
static void sift(struct run **heap, size_t count, size_t i)
{
    for (;;) {
        size_t least = i;
        for (size_t child = 2 * i + 1; child <= 2 * i + 2 && child < count; child++) {
            if (heap[child]->key < heap[least]->key ||
                (heap[child]->key == heap[least]->key && heap[child] < heap[least]))
                least = child;
        }
        if (least == i)
            return;
        struct run *swap = heap[i];
        heap[i] = heap[least];
        heap[least] = swap;
        i = least;
    }
}

static int merge(const struct args_dump_store *store, struct run **heap, size_t count,
                 uint32_t capacity, args_dump_visit_fn *visit, void *context)
{
    int rc = 0;

    for (size_t i = count; i-- > 0;)
        sift(heap, count, i);
    while (rc == 0 && count != 0) {
        struct run *r = heap[0];
        rc = visit(context, &r->window[r->at]);
        if (rc == 0 && !run_next(store, r, capacity, &rc))
            heap[0] = heap[--count];
        sift(heap, count, 0);
    }
    return rc;
}

static int merge_runs(struct args_dump_store *store, struct batch *b, uint64_t total,
                      args_dump_visit_fn *visit, void *context)
{
    size_t count = (size_t)((total + store->run_records - 1) / store->run_records), used = 0;
    uint32_t capacity = (uint32_t)(store->run_records / count);
    struct run *runs = simpler_alloc_zeroed(count, sizeof(*runs));
    struct run **heap = simpler_alloc_zeroed(count, sizeof(*heap));
    int rc = runs == NULL || heap == NULL || capacity == 0 ? SIMPLER_ENOMEM : 0;

    for (size_t i = 0; rc == 0 && i < count; i++) {
        struct run *r = &runs[i];
        r->window = b->records + i * capacity;
        r->next = i * (uint64_t)store->run_records;
        r->end = r->next + store->run_records < total ? r->next + store->run_records : total;
        if (run_next(store, r, capacity, &rc))
            heap[used++] = r;
    }
    if (rc == 0)
        rc = merge(store, heap, used, capacity, visit, context);
    simpler_alloc_free(heap);
    simpler_alloc_free(runs);
    return rc;
}

int simpler_args_dump_store_visit(struct args_dump_store *store, args_dump_see_fn *see,
                                  int (*between)(void *context), args_dump_visit_fn *visit,
                                  void *context)
{
    struct batch b = {0};
    bool spooled = atomic_load_explicit(&store->spooled, memory_order_relaxed) != 0;

    simpler_args_dump_store_finish(store);
    uint64_t total = simpler_args_dump_store_count(store);
    bool is_long = spooled && total > store->run_records;
    int rc = batch_init(&b, is_long ? store->run_records : (size_t)total);
    if (rc == 0 && !spooled)
        rc = visit_memory(store, &b, (size_t)total, see, between, visit, context);
    if (rc == 0 && spooled) {
        rc = sort_runs(store, &b, total, see, context);
        if (rc == 0)
            rc = between(context);
        if (rc == 0)
            rc = is_long ? merge_runs(store, &b, total, visit, context)
                         : visit_batch(&b, (size_t)total, visit, context);
    }
    batch_fini(&b);
    return rc;
}
