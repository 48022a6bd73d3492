/* SPDX-License-Identifier: Apache-2.0 */
/*
 * External merge sort.  All runs but the last have the run's capacity; the
 * merge gives each an equal part of the run buffer and keeps the heads in a heap.
 */
#include "report/extent_sort.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "simpler/status.h"

/* The part of one run that is in memory during the merge. */
struct run_reader {
    struct simpler_extent *buffer;
    size_t capacity;
    size_t at;
    size_t filled;
    uint64_t file_offset; /* of the next extent in the spill */
    uint64_t left;        /* extents of the run that are not in the buffer yet */
};

static int compare(const void *a, const void *b)
{
    const struct simpler_extent *x = a;
    const struct simpler_extent *y = b;

    if (x->offset != y->offset)
        return x->offset < y->offset ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

void simpler_extent_sort_init(struct simpler_extent_sort *s, size_t run_capacity)
{
    memset(s, 0, sizeof(*s));
    s->run_capacity = run_capacity;
}

void simpler_extent_sort_fini(struct simpler_extent_sort *s)
{
    if (s->spill != NULL)
        (void)fclose(s->spill);
    simpler_alloc_free(s->run_lengths);
    simpler_alloc_free(s->run);
    memset(s, 0, sizeof(*s));
}

static int spill_run(struct simpler_extent_sort *s)
{
    uint64_t *lengths =
        simpler_alloc_resize(s->run_lengths, s->run_count + 1, sizeof(*s->run_lengths));

    if (lengths == NULL)
        return SIMPLER_ENOMEM;
    s->run_lengths = lengths;
    if (s->spill == NULL)
        s->spill = tmpfile();
    if (s->spill == NULL)
        return SIMPLER_EIO;
    qsort(s->run, s->used, sizeof(*s->run), compare);
    if (fwrite(s->run, sizeof(*s->run), s->used, s->spill) != s->used)
        return SIMPLER_EIO;
    lengths[s->run_count++] = s->used;
    s->used = 0;
    return 0;
}

static int grow_run(struct simpler_extent_sort *s)
{
    size_t wanted = s->allocated == 0 ? 256 : 2 * s->allocated;
    wanted = wanted < s->run_capacity ? wanted : s->run_capacity;
    struct simpler_extent *run = simpler_alloc_resize(s->run, wanted, sizeof(*run));

    if (run == NULL)
        return SIMPLER_ENOMEM;
    s->run = run;
    s->allocated = wanted;
    return 0;
}

int simpler_extent_sort_add(struct simpler_extent_sort *s, const struct simpler_extent *extent)
{
    if (s->used == s->allocated) {
        int rc = s->used == s->run_capacity ? spill_run(s) : grow_run(s);
        if (rc != 0)
            return rc;
    }
    s->run[s->used++] = *extent;
    return 0;
}

static int refill(struct simpler_extent_sort *s, struct run_reader *r)
{
    size_t n = r->left < r->capacity ? (size_t)r->left : r->capacity;

    r->at = 0;
    r->filled = n;
    if (n == 0)
        return 0;
    if (fseeko(s->spill, (off_t)(r->file_offset * sizeof(*r->buffer)), SEEK_SET) != 0 ||
        fread(r->buffer, sizeof(*r->buffer), n, s->spill) != n)
        return SIMPLER_EIO;
    r->file_offset += n;
    r->left -= n;
    return 0;
}

static bool is_before(const struct run_reader *a, const struct run_reader *b)
{
    return compare(&a->buffer[a->at], &b->buffer[b->at]) < 0;
}

/* Restores the heap below @at. */
static void sift_down(struct run_reader **heap, size_t n, size_t at)
{
    for (;;) {
        size_t least = at;
        for (size_t child = 2 * at + 1; child <= 2 * at + 2 && child < n; child++) {
            if (is_before(heap[child], heap[least]))
                least = child;
        }
        if (least == at)
            return;
        struct run_reader *swap = heap[at];
        heap[at] = heap[least];
        heap[least] = swap;
        at = least;
    }
}

static int open_readers(struct simpler_extent_sort *s, struct run_reader *readers,
                        struct run_reader **heap)
{
    uint64_t offset = 0;
    size_t part = s->run_capacity / s->run_count;

    for (size_t i = 0; i < s->run_count; i++) {
        readers[i] = (struct run_reader){.buffer = s->run + i * part,
                                         .capacity = part,
                                         .file_offset = offset,
                                         .left = s->run_lengths[i]};
        offset += s->run_lengths[i];
        heap[i] = &readers[i];
        int rc = refill(s, heap[i]);
        if (rc != 0)
            return rc;
    }
    for (size_t i = s->run_count; i-- > 0;)
        sift_down(heap, s->run_count, i);
    return 0;
}

static int merge(struct simpler_extent_sort *s, struct run_reader *readers,
                 struct run_reader **heap, simpler_extent_fn fn, void *user)
{
    size_t n = s->run_count;
    int rc = open_readers(s, readers, heap);

    while (rc == 0 && n > 0) {
        struct run_reader *first = heap[0];
        fn(user, &first->buffer[first->at++]);
        if (first->at == first->filled)
            rc = refill(s, first);
        if (first->filled == 0)
            heap[0] = heap[--n];
        sift_down(heap, n, 0);
    }
    return rc;
}

static int merge_runs(struct simpler_extent_sort *s, simpler_extent_fn fn, void *user)
{
    struct run_reader *readers = simpler_alloc_zeroed(s->run_count, sizeof(*readers));
    struct run_reader **heap = simpler_alloc_zeroed(s->run_count, sizeof(*heap));
    int rc = SIMPLER_ENOMEM;

    if (s->run_count > s->run_capacity)
        rc = SIMPLER_EOVERFLOW;
    else if (readers != NULL && heap != NULL)
        rc = merge(s, readers, heap, fn, user);
    simpler_alloc_free(heap);
    simpler_alloc_free(readers);
    return rc;
}

int simpler_extent_sort_each(struct simpler_extent_sort *s, simpler_extent_fn fn, void *user)
{
    if (s->run_count > 0) {
        int rc = s->used > 0 ? spill_run(s) : 0;
        return rc != 0 ? rc : merge_runs(s, fn, user);
    }
    if (s->used > 0)
        qsort(s->run, s->used, sizeof(*s->run), compare);
    for (size_t i = 0; i < s->used; i++)
        fn(user, &s->run[i]);
    return 0;
}
