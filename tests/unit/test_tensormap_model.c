/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tensormap against a model that knows every byte of every access.
 *
 * Complete: a live task that conflicts with an earlier one comes after it,
 * directly or through others.  Precise: a direct edge is between accesses that
 * share a byte.  The number of entries in use is exact.  Random views of all
 * kinds, several rings, retirement in between, both modes.
 *
 * ctest: TIMEOUT 120
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cm.h"
#include "task/tensormap.h"

#define BYTES      2304 /* of a buffer */
#define BYTE_WORDS (BYTES / 64)
#define BUFFERS    3
#define RINGS      3
#define WINDOW     64
#define TASKS      1500 /* of one round */
#define TASK_WORDS ((TASKS + 63) / 64)
#define ACCESSES   5 /* of one task, at most */
#define ENTRIES    (TASKS * ACCESSES)
#ifndef ROUNDS
#define ROUNDS 12
#endif

struct bytes {
    uint32_t buffer;
    uint64_t word[BYTE_WORDS];
};

struct access {
    struct bytes bytes;
    enum simpler_tensor_use use;
};

struct task {
    uint64_t id;
    uint32_t access_count;
    struct access access[ACCESSES];
    uint64_t after[TASK_WORDS]; /* transitively */
    bool completed;             /* retired, or before a retired one */
    bool retired;
};

struct entry {
    struct bytes bytes;
    uint32_t latest;
    bool removed;
};

struct model {
    struct simpler_tensormap *map;
    uint64_t random;
    bool all;
    bool nice; /* aligned views alone: precision and count are exact */
    bool few;  /* of few forms */
    uint32_t alive[CHIP_MAX_RING_DEPTH];
    uint32_t next[CHIP_MAX_RING_DEPTH];
    uint32_t number[CHIP_MAX_RING_DEPTH][TASKS]; /* of a ring's task */
    uint32_t task_count;
    struct task task[TASKS];
    uint32_t entry_count;
    struct entry entry[ENTRIES];
    uint64_t ids[16];
    struct simpler_edge_sink sink;
    /* Of the access that is being checked. */
    const struct access *now;
    bool looking; /* it is a lookup, which may find the task itself */
    uint64_t edges;
    uint64_t checked;
};

static struct model *model;
static uint64_t buffers[BUFFERS][BYTES / 8];

static uint32_t below(uint32_t n)
{
    model->random ^= model->random << 13;
    model->random ^= model->random >> 7;
    model->random ^= model->random << 17;
    return (uint32_t)((model->random >> 11) % n);
}

/* Every byte of the view, element by element. */
static void fill_bytes(struct bytes *bytes, uint32_t buffer, const struct simpler_tensor *t)
{
    uint64_t size = simpler_dtype_bytes(t->dtype);
    uint32_t at[SIMPLER_MAX_DIMS] = {0};
    memset(bytes, 0, sizeof(*bytes));
    bytes->buffer = buffer;
    for (uint64_t n = simpler_tensor_numel(t); n > 0; n--) {
        uint64_t element = t->start_offset;
        for (uint32_t i = 0; i < t->ndims; i++)
            element += (uint64_t)at[i] * t->stride[i];
        for (uint64_t b = element * size; b < (element + 1) * size; b++) {
            assert_true(b < BYTES);
            bytes->word[b / 64] |= UINT64_C(1) << b % 64;
        }
        for (uint32_t i = t->ndims; i-- > 0;) {
            if (++at[i] < t->shape[i])
                break;
            at[i] = 0;
        }
    }
}

static bool share(const struct bytes *a, const struct bytes *b)
{
    uint64_t common = 0;
    for (int i = 0; i < BYTE_WORDS; i++)
        common |= a->word[i] & b->word[i];
    return a->buffer == b->buffer && common != 0;
}

static bool is_within(const struct bytes *a, const struct bytes *b)
{
    uint64_t outside = 0;
    for (int i = 0; i < BYTE_WORDS; i++)
        outside |= a->word[i] & ~b->word[i];
    return a->buffer == b->buffer && outside == 0;
}

static void byte_range(const struct bytes *a, uint32_t *low, uint32_t *high)
{
    *low = BYTES;
    *high = 0;
    for (uint32_t b = 0; b < BYTES; b++)
        if (a->word[b / 64] >> b % 64 & 1) {
            *low = b < *low ? b : *low;
            *high = b + 1;
        }
}

static bool ranges_meet(const struct bytes *a, const struct bytes *b)
{
    uint32_t a_low, a_high, b_low, b_high;
    byte_range(a, &a_low, &a_high);
    byte_range(b, &b_low, &b_high);
    return a->buffer == b->buffer && a_low < b_high && b_low < a_high;
}

/* Whether the later access needs the edge, as the header's table has it. */
static bool conflicts(const struct access *later, const struct access *earlier)
{
    bool earlier_writes = earlier->use != SIMPLER_USE_INPUT;
    if (model->all)
        return earlier_writes || later->use != SIMPLER_USE_INPUT;
    return earlier_writes && later->use != SIMPLER_USE_OUTPUT_EXISTING;
}

/* Row-major [rows][columns] of four-byte elements: blocks of it that nest. */
static void nice_view(struct simpler_tensor *t, const void *buffer)
{
    uint32_t kind = below(10);
    if (kind == 0) {
        assert_int_equal(simpler_tensor_init(t, buffer, SIMPLER_DIMS(24, 24), 0), 0);
        return;
    }
    if (kind == 1) {
        /* A run of one length at a multiple of it. */
        uint32_t bytes[] = {36, 64, 96, 288};
        uint32_t n = bytes[below(4)];
        assert_int_equal(simpler_tensor_init(t, buffer, SIMPLER_DIMS(BYTES), SIMPLER_DTYPE_UINT8),
                         0);
        uint32_t offset = below(BYTES / n) * n;
        assert_int_equal(simpler_tensor_view(t, &n, &offset, t), 0);
        return;
    }
    if (kind == 2) {
        /* Every second or third column, or row. */
        assert_int_equal(simpler_tensor_init(t, buffer, SIMPLER_DIMS(24, 24), 0), 0);
        uint32_t step = 2 + below(2);
        assert_int_equal(simpler_tensor_slice(t, below(2), below(step), 24, step, t), 0);
        return;
    }
    if (kind == 3) {
        /* A cube's block, seen in any order of its dimensions. */
        static const uint32_t edge[] = {1, 2, 4, 8};
        assert_int_equal(simpler_tensor_init(t, buffer, SIMPLER_DIMS(8, 8, 8), 2), 0);
        uint32_t shape[3], offset[3];
        for (int i = 0; i < 3; i++) {
            shape[i] = edge[below(4)];
            offset[i] = below(8 / shape[i]) * shape[i];
        }
        assert_int_equal(simpler_tensor_view(t, shape, offset, t), 0);
        assert_int_equal(simpler_tensor_transpose(t, below(3), below(3), t), 0);
        return;
    }
    static const uint32_t edge[] = {2, 3, 4, 6, 8, 12, 24};
    assert_int_equal(simpler_tensor_init(t, buffer, SIMPLER_DIMS(24, 24), 0), 0);
    uint32_t shape[2] = {edge[below(7)], edge[below(7)]};
    if (kind > 5)
        shape[0] = shape[1] = 6;
    uint32_t offset[2] = {below(24 / shape[0]) * shape[0], below(24 / shape[1]) * shape[1]};
    assert_int_equal(simpler_tensor_view(t, shape, offset, t), 0);
}

/*
 * Two or three forms that are apart at first and meet when their grids grow: a
 * buffer with few classes, whose views are found the short way.
 */
static void few_view(struct simpler_tensor *t, const void *buffer)
{
    uint32_t rows = 2 + model->task_count / 5;
    rows = rows > 24 ? 24 : rows;
    assert_int_equal(simpler_tensor_init(t, buffer, SIMPLER_DIMS(24, 24), 0), 0);
    bool late = model->task_count > 150;
    bool left = below(2);
    uint32_t shape[2] = {2, left ? 12 : 6};
    uint32_t offset[2] = {below(rows / shape[0]) * shape[0], 0};
    if (!left)
        offset[1] = late ? below(4) * 6 : 12 + below(2) * 6;
    if (model->task_count > 400 && below(50) == 0) {
        shape[0] = 8;
        shape[1] = 24;
        offset[0] = below(3) * 8;
        offset[1] = 0;
    }
    assert_int_equal(simpler_tensor_view(t, shape, offset, t), 0);
}

/* Anything: odd bases, strides of one's own, permutations, slices, other types. */
static void wild_view(struct simpler_tensor *t, const void *buffer)
{
    static const uint32_t dtypes[] = {SIMPLER_DTYPE_UINT8, SIMPLER_DTYPE_INT16,
                                      SIMPLER_DTYPE_FLOAT32, SIMPLER_DTYPE_FLOAT64};
    if (below(4) == 0) {
        nice_view(t, buffer);
        return;
    }
    uint32_t dtype = dtypes[below(4)];
    uint32_t most = (uint32_t)(BYTES / simpler_dtype_bytes(dtype));
    for (;;) {
        uint32_t ndims = 1 + below(5);
        uint32_t shape[5], stride[5];
        uint64_t extent = 1;
        for (uint32_t i = 0; i < ndims; i++) {
            shape[i] = 1 + below(below(2) ? 4 : 9);
            stride[i] = 1 + below(below(2) ? 10 : 120);
            extent += (uint64_t)(shape[i] - 1) * stride[i];
        }
        if (below(2)) {
            /* Row-major, so that it can be cut like any tensor. */
            extent = 1;
            for (uint32_t i = 0; i < ndims; i++)
                extent *= shape[i];
            if (extent > most)
                continue;
            assert_int_equal(simpler_tensor_init(t, buffer, shape, ndims, dtype), 0);
            uint32_t dim = below(ndims);
            uint32_t start = below(shape[dim]);
            assert_int_equal(simpler_tensor_slice(t, dim, start, shape[dim], 1 + below(3), t), 0);
            assert_int_equal(simpler_tensor_transpose(t, below(ndims), below(ndims), t), 0);
        } else if (extent <= most) {
            assert_int_equal(simpler_tensor_init_strided(t, buffer, shape, stride, ndims, dtype),
                             0);
        } else {
            continue;
        }
        t->start_offset += below(most - (uint32_t)(t->start_offset + t->extent) + 1);
        t->buffer_bytes = BYTES;
        return;
    }
}

static bool is_before(const struct task *task, uint32_t number)
{
    return task->after[number / 64] >> number % 64 & 1;
}

/* An edge of the current task, the last one. */
static void take_edge(uint64_t id)
{
    struct task *task = &model->task[model->task_count - 1];
    uint32_t ring = (uint32_t)(id >> 32);
    assert_true(ring < RINGS);
    assert_true((uint32_t)id < model->next[ring]);
    assert_true((uint32_t)id >= model->alive[ring]);
    if (model->looking && id == task->id)
        return;
    assert_true(id != task->id);
    uint32_t number = model->number[ring][(uint32_t)id];
    const struct task *before = &model->task[number];
    bool shares = false;
    for (uint32_t i = 0; i < before->access_count; i++)
        shares =
            shares || (conflicts(model->now, &before->access[i]) &&
                       (model->nice ? share(&model->now->bytes, &before->access[i].bytes)
                                    : ranges_meet(&model->now->bytes, &before->access[i].bytes)));
    assert_true(shares);
    for (int i = 0; i < TASK_WORDS; i++)
        task->after[i] |= before->after[i];
    task->after[number / 64] |= UINT64_C(1) << number % 64;
    model->edges++;
}

static void take_edges(struct simpler_edge_sink *sink)
{
    for (uint32_t i = 0; i < sink->count; i++)
        take_edge(sink->ids[i]);
    sink->count = 0;
}

static void check_complete(const struct task *task)
{
    for (uint32_t k = 0; k + 1 < model->task_count; k++) {
        const struct task *before = &model->task[k];
        if (before->completed || is_before(task, k))
            continue;
        for (uint32_t i = 0; i < before->access_count; i++)
            if (conflicts(model->now, &before->access[i]) &&
                share(&model->now->bytes, &before->access[i].bytes))
                fail_msg("task %u is not after task %u: all %d, uses %d after %d",
                         model->task_count - 1, k, model->all, model->now->use,
                         before->access[i].use);
        model->checked++;
    }
}

/* The entries that the map should have. */
static void model_entry(const struct access *access)
{
    bool write = access->use != SIMPLER_USE_INPUT;
    if (!write && !model->all)
        return;
    bool ordered = model->all || access->use == SIMPLER_USE_INOUT;
    struct entry *own = NULL;
    for (uint32_t i = 0; i < model->entry_count; i++) {
        struct entry *e = &model->entry[i];
        if (e->removed)
            continue;
        if (memcmp(&e->bytes, &access->bytes, sizeof(e->bytes)) == 0)
            own = e;
        else if (write && ordered && is_within(&e->bytes, &access->bytes))
            e->removed = true;
    }
    if (own == NULL) {
        own = &model->entry[model->entry_count++];
        own->bytes = access->bytes;
        own->removed = false;
    }
    own->latest = model->task_count - 1;
}

static uint32_t model_used(void)
{
    uint32_t used = 0;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < model->entry_count; i++) {
        const struct entry *e = &model->entry[i];
        if (e->removed)
            continue;
        used += !model->task[e->latest].retired;
        /* An entry that is not in use may be forgotten: it counts again when it is used. */
        if (kept != i)
            model->entry[kept] = *e;
        kept++;
    }
    model->entry_count = kept;
    return used;
}

static uint32_t live_accesses(void)
{
    uint32_t accesses = 0;
    for (uint32_t i = 0; i < model->task_count; i++)
        accesses += model->task[i].retired ? 0 : model->task[i].access_count;
    return accesses;
}

static void submit(uint32_t ring)
{
    struct task *task = &model->task[model->task_count];
    uint32_t id = model->next[ring]++;
    memset(task, 0, sizeof(*task));
    task->id = (uint64_t)ring << 32 | id;
    model->number[ring][id] = model->task_count++;
    uint32_t n = 1 + below(ACCESSES);
    assert_true(simpler_tensormap_room(model->map) >= n);
    for (uint32_t i = 0; i < n; i++) {
        static const enum simpler_tensor_use uses[] = {
            SIMPLER_USE_INPUT, SIMPLER_USE_INPUT, SIMPLER_USE_INOUT, SIMPLER_USE_OUTPUT_EXISTING};
        struct access *access = &task->access[i];
        uint32_t buffer = below(BUFFERS);
        struct simpler_tensor t;
        if (model->few)
            few_view(&t, buffers[buffer]);
        else if (model->nice)
            nice_view(&t, buffers[buffer]);
        else
            wild_view(&t, buffers[buffer]);
        access->use = uses[below(4)];
        fill_bytes(&access->bytes, buffer, &t);
        model->now = access;
        if (below(8) == 0) {
            /* A lookup gets no more than an access would. */
            bool readers = access->use != SIMPLER_USE_INPUT;
            bool writers = model->all || access->use != SIMPLER_USE_OUTPUT_EXISTING;
            uint32_t used = simpler_tensormap_used(model->map);
            uint64_t after[TASK_WORDS];
            memcpy(after, task->after, sizeof(after));
            model->looking = true;
            simpler_tensormap_lookup(model->map, &t, writers, readers && writers, &model->sink);
            take_edges(&model->sink);
            model->looking = false;
            assert_int_equal(simpler_tensormap_used(model->map), used);
            check_complete(task);
            memcpy(task->after, after, sizeof(after));
        }
        simpler_tensormap_access(model->map, &t, access->use, task->id, &model->sink);
        take_edges(&model->sink);
        check_complete(task);
        task->access_count = i + 1;
        model_entry(access);
        if (model->nice)
            assert_int_equal(simpler_tensormap_used(model->map), model_used());
        else
            assert_true(simpler_tensormap_used(model->map) <= live_accesses());
    }
}

static void retire(uint32_t ring, uint32_t to)
{
    simpler_tensormap_retire(model->map, ring, model->alive[ring], to);
    for (uint32_t id = model->alive[ring]; id < to; id++) {
        struct task *task = &model->task[model->number[ring][id]];
        task->retired = true;
        task->completed = true;
        for (uint32_t k = 0; k < model->task_count; k++)
            if (is_before(task, k))
                model->task[k].completed = true;
    }
    model->alive[ring] = to;
    if (model->nice)
        assert_int_equal(simpler_tensormap_used(model->map), model_used());
}

static void round_of_tasks(uint64_t seed, bool all, bool nice)
{
    model->random = seed * UINT64_C(0x9E3779B97F4A7C15) + 1;
    model->all = all;
    model->nice = nice;
    model->task_count = 0;
    model->entry_count = 0;
    memset(model->alive, 0, sizeof(model->alive));
    memset(model->next, 0, sizeof(model->next));
    simpler_tensormap_reset(model->map, all);
    assert_int_equal(simpler_tensormap_used(model->map), 0);
    uint32_t rings = 1 + below(RINGS);
    uint32_t held = 8 + below(WINDOW - 8); /* live tasks of a ring */
    uint32_t tasks = 200 + below(TASKS / 3);
    while (model->task_count < tasks) {
        uint32_t ring = below(rings);
        if (model->next[ring] - model->alive[ring] >= held || below(16) == 0)
            retire(ring, model->alive[ring] + below(model->next[ring] - model->alive[ring] + 1));
        if (model->next[ring] - model->alive[ring] < held)
            submit(ring);
    }
}

static int open_model(void **state)
{
    model = calloc(1, sizeof(*model));
    struct simpler_tensormap_config config = {
        .capacity = RINGS * WINDOW * ACCESSES,
        .window = {WINDOW, WINDOW, WINDOW, WINDOW},
        .alive = model->alive,
    };
    *state = model;
    model->sink =
        (struct simpler_edge_sink){.ids = model->ids, .capacity = 16, .flush = take_edges};
    return simpler_tensormap_open(&config, &model->map);
}

static int close_model(void **state)
{
    (void)state;
    simpler_tensormap_close(model->map);
    free(model);
    return 0;
}

static void run_rounds(uint64_t seed, bool nice)
{
    model->edges = 0;
    model->checked = 0;
    for (uint64_t i = 0; i < ROUNDS; i++) {
        round_of_tasks(seed + i, i % 2 == 0, nice);
    }
    assert_true(model->edges > 1000);
    assert_true(model->checked > 1000);
}

static void aligned_views_are_exact(void **state)
{
    (void)state;
    run_rounds(1, true);
}

static void grids_that_grow_are_searched(void **state)
{
    (void)state;
    model->few = true;
    run_rounds(2000, true);
}

static void any_views_are_complete(void **state)
{
    (void)state;
    run_rounds(1000, false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(aligned_views_are_exact, open_model, close_model),
        cmocka_unit_test_setup_teardown(grids_that_grow_are_searched, open_model, close_model),
        cmocka_unit_test_setup_teardown(any_views_are_complete, open_model, close_model),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
