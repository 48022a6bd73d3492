/* SPDX-License-Identifier: Apache-2.0 */
/* The tensormap, case by case. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "base/testpoint.h"
#include "task/tensormap_state.h"

#define RING0 0u
#define RING1 (UINT64_C(1) << 32)

static uint32_t alive[CHIP_MAX_RING_DEPTH];
static struct simpler_tensormap *map;
static uint64_t edges[1u << 17];
static uint32_t edge_count;
static uint64_t ids[16];
static char memory[1 << 16];

/* Keeps what it gets, once each. */
static void keep(struct simpler_edge_sink *sink)
{
    for (uint32_t i = 0; i < sink->count; i++) {
        uint32_t k = edge_count > 64 ? edge_count : 0;
        while (k < edge_count && edges[k] != sink->ids[i])
            k++;
        edges[k] = sink->ids[i];
        edge_count += k == edge_count;
    }
    sink->count = 0;
}

static struct simpler_edge_sink sink = {.ids = ids, .capacity = 16, .flush = keep};

static void open_map(uint32_t capacity, uint32_t window, bool all)
{
    struct simpler_tensormap_config config = {
        .capacity = capacity,
        .window = {window, window, 4, 4},
        .track_readers = all,
        .alive = alive,
    };
    memset(alive, 0, sizeof(alive));
    assert_int_equal(simpler_tensormap_open(&config, &map), 0);
}

static int close_map(void **state)
{
    (void)state;
    simpler_tensormap_close(map);
    map = NULL;
    return 0;
}

static void use(const struct simpler_tensor *t, enum simpler_tensor_use how, uint64_t task)
{
    edge_count = 0;
    simpler_tensormap_access(map, t, how, task, &sink);
    keep(&sink);
}

static void retire(uint32_t ring, uint32_t to)
{
    simpler_tensormap_retire(map, ring, alive[ring], to);
    alive[ring] = to;
}

static bool has(uint64_t task)
{
    for (uint32_t i = 0; i < edge_count; i++)
        if (edges[i] == task)
            return true;
    return false;
}

static struct simpler_tensor matrix(uint32_t rows, uint32_t columns)
{
    struct simpler_tensor t;
    assert_int_equal(simpler_tensor_init(&t, memory, SIMPLER_DIMS(rows, columns), 0), 0);
    return t;
}

static struct simpler_tensor block(const struct simpler_tensor *t, uint32_t row, uint32_t column,
                                   uint32_t rows, uint32_t columns)
{
    struct simpler_tensor view;
    uint32_t shape[] = {rows, columns};
    uint32_t offset[] = {row, column};
    assert_int_equal(simpler_tensor_view(t, shape, offset, &view), 0);
    return view;
}

static void all_orders_three_hazards(void **state)
{
    (void)state;
    open_map(64, 64, true);
    struct simpler_tensor t = matrix(4, 4);
    use(&t, SIMPLER_USE_INOUT, 0);
    assert_int_equal(edge_count, 0);
    use(&t, SIMPLER_USE_INPUT, 1);
    assert_true(edge_count == 1 && has(0));
    use(&t, SIMPLER_USE_INPUT, 2);
    assert_true(edge_count == 1 && has(0));
    use(&t, SIMPLER_USE_OUTPUT_EXISTING, 3);
    assert_true(edge_count == 3 && has(0) && has(1) && has(2));
    use(&t, SIMPLER_USE_INPUT, 4);
    assert_true(edge_count == 1 && has(3));
    assert_int_equal(simpler_tensormap_used(map), 1);
}

static void raw_orders_reads_after_writes(void **state)
{
    (void)state;
    open_map(64, 64, false);
    struct simpler_tensor t = matrix(4, 4);
    use(&t, SIMPLER_USE_INPUT, 0);
    assert_int_equal(simpler_tensormap_used(map), 0);
    use(&t, SIMPLER_USE_OUTPUT_EXISTING, 1);
    use(&t, SIMPLER_USE_OUTPUT_EXISTING, 2);
    assert_int_equal(edge_count, 0);
    use(&t, SIMPLER_USE_INPUT, 3);
    assert_true(edge_count == 2 && has(1) && has(2));
    use(&t, SIMPLER_USE_INOUT, 4);
    assert_true(edge_count == 2 && has(1) && has(2));
    use(&t, SIMPLER_USE_INPUT, 5);
    assert_true(edge_count == 1 && has(4));
}

/* Of five arguments the map is told of the two that are neither outputs nor without order. */
static void arguments_are_accessed_together(void **state)
{
    (void)state;
    static const struct simpler_create_info info = {.ndims = 1, .shape = {1}};
    open_map(64, 64, true);
    struct simpler_tensor t = matrix(4, 4);
    struct simpler_tensor row[4];
    for (uint32_t i = 0; i < 4; i++) {
        row[i] = block(&t, i, 0, 1, 4);
        use(&row[i], SIMPLER_USE_INOUT, i);
    }
    for (uint32_t owner = 0; owner < 3; owner++) {
        struct simpler_task_args args;
        struct simpler_tensor used[4] = {row[0], row[1], row[2], row[3]};
        used[2].manual_dep = 1;
        if (owner != 0)
            used[owner == 1 ? 2 : 3].owner = 7;
        simpler_task_args_reset(&args);
        simpler_task_args_add_input(&args, &used[0]);
        simpler_task_args_add_create(&args, &info);
        simpler_task_args_add_no_dep(&args, &used[1]);
        simpler_task_args_add_inout(&args, &used[2]);
        simpler_task_args_add_inout(&args, &used[3]);
        edge_count = 0;
        assert_true(simpler_tensormap_access_args(map, &args, 10 + owner, &sink) == (owner != 0));
        keep(&sink);
        assert_true(edge_count == 2 && has(0) && has(owner == 0 ? 3 : 9 + owner));
    }
    use(&row[1], SIMPLER_USE_INOUT, 20);
    assert_true(edge_count == 1 && has(1));
    use(&row[2], SIMPLER_USE_INOUT, 21);
    assert_true(edge_count == 1 && has(2));
    use(&row[0], SIMPLER_USE_INOUT, 22);
    assert_true(edge_count == 4 && has(0) && has(10) && has(11) && has(12));
}

/* Bytes [start, start + bytes) of one buffer, which need not be there. */
static struct simpler_tensor run(uint64_t start, uint32_t bytes)
{
    struct simpler_tensor t;
    assert_int_equal(simpler_tensor_init(&t, memory, SIMPLER_DIMS(bytes), SIMPLER_DTYPE_UINT8), 0);
    t.buffer_bytes = UINT64_C(1) << 40;
    t.start_offset = start;
    return t;
}

static void a_new_cell_keeps_its_first_reader(void **state)
{
    (void)state;
    open_map(64, 64, true);
    struct simpler_tensor first = run(0, 64), other = run(64, 64);
    use(&first, SIMPLER_USE_INOUT, 0);
    use(&other, SIMPLER_USE_INPUT, 1);
    assert_int_equal(edge_count, 0);
    use(&other, SIMPLER_USE_INPUT, 2);
    assert_int_equal(edge_count, 0);
    use(&other, SIMPLER_USE_INOUT, 3);
    assert_true(edge_count == 2 && has(1) && has(2));
}

/* Cells that are 2^32 apart have the same 32 bits of a number. */
static void cells_beyond_four_billion_are_others(void **state)
{
    (void)state;
    open_map(64, 64, true);
    struct simpler_tensor first = run(0, 64), far = run(UINT64_C(64) << 32, 64);
    use(&first, SIMPLER_USE_INOUT, 0);
    use(&far, SIMPLER_USE_INOUT, 1);
    assert_int_equal(edge_count, 0);
    use(&first, SIMPLER_USE_INPUT, 2);
    assert_true(edge_count == 1 && has(0));
    use(&far, SIMPLER_USE_INPUT, 3);
    assert_true(edge_count == 1 && has(1));
}

/* Two grids that were found apart, of which one then grows into the other. */
static void a_grid_grows_into_another(void **state)
{
    (void)state;
    for (int down = 0; down < 2; down++) {
        open_map(64, 64, true);
        struct simpler_tensor a = run(down ? 1920 : 0, 64), b = run(960, 96), next = run(960, 64);
        use(&a, SIMPLER_USE_INOUT, 0);
        use(&b, SIMPLER_USE_INOUT, 1);
        for (uint64_t task = 2; task < 6; task++)
            use(task % 2 ? &a : &b, SIMPLER_USE_INOUT, task);
        assert_true(edge_count == 1 && has(3));
        use(&next, SIMPLER_USE_INOUT, 6);
        assert_true(edge_count == 1 && has(4));
        use(&b, SIMPLER_USE_INPUT, 7);
        assert_true(edge_count == 2 && has(4) && has(6));
        close_map(state);
    }
}

static void a_task_is_never_after_itself(void **state)
{
    (void)state;
    open_map(64, 64, true);
    struct simpler_tensor t = matrix(4, 4);
    struct simpler_tensor top = block(&t, 0, 0, 2, 4);
    use(&t, SIMPLER_USE_INPUT, 0);
    use(&top, SIMPLER_USE_INOUT, 0);
    assert_int_equal(edge_count, 0);
    use(&t, SIMPLER_USE_INOUT, 0);
    assert_int_equal(edge_count, 0);
    use(&top, SIMPLER_USE_INPUT, 1);
    assert_true(edge_count == 1 && has(0));
}

static void empty_views_and_other_uses_do_nothing(void **state)
{
    (void)state;
    open_map(64, 64, true);
    struct simpler_tensor t = matrix(0, 4);
    struct simpler_tensor some = matrix(4, 4);
    use(&t, SIMPLER_USE_INOUT, 0);
    use(&some, SIMPLER_USE_NO_DEP, 0);
    assert_int_equal(simpler_tensormap_used(map), 0);
    use(&some, SIMPLER_USE_INPUT, 1);
    assert_int_equal(edge_count, 0);
}

/* A block's bytes are the same whatever the type, the order of dimensions or the shape. */
static void one_view_has_one_entry(void **state)
{
    (void)state;
    open_map(64, 64, true);
    struct simpler_tensor t = matrix(8, 8);
    struct simpler_tensor a = block(&t, 2, 2, 4, 4);
    struct simpler_tensor b, c, d, e;
    assert_int_equal(simpler_tensor_transpose(&a, 0, 1, &b), 0);
    assert_int_equal(simpler_tensor_init(&c, memory, SIMPLER_DIMS(8, 4), SIMPLER_DTYPE_FLOAT64), 0);
    c = block(&c, 2, 1, 4, 2);
    use(&a, SIMPLER_USE_INOUT, 0);
    use(&b, SIMPLER_USE_INOUT, 1);
    assert_true(edge_count == 1 && has(0));
    use(&c, SIMPLER_USE_INOUT, 2);
    assert_true(edge_count == 1 && has(1));
    assert_int_equal(simpler_tensormap_used(map), 1);
    assert_int_equal(simpler_tensor_reshape(&t, SIMPLER_DIMS(4, 2, 8), &d), 0);
    assert_int_equal(simpler_tensor_reshape(&t, SIMPLER_DIMS(64), &e), 0);
    use(&d, SIMPLER_USE_INOUT, 3);
    assert_true(edge_count == 1 && has(2));
    use(&e, SIMPLER_USE_INPUT, 4);
    assert_true(edge_count == 1 && has(3));
    assert_int_equal(simpler_tensormap_used(map), 1);
}

static void interleaved_slices_do_not_meet(void **state)
{
    (void)state;
    open_map(64, 64, true);
    /* An odd row length: the outer stride is no multiple of the inner one. */
    for (uint32_t columns = 14; columns <= 15; columns++) {
        uint32_t task = columns * 4;
        struct simpler_tensor t = matrix(6, columns);
        struct simpler_tensor even, odd, row;
        assert_int_equal(simpler_tensor_slice(&t, 1, 0, columns, 2, &even), 0);
        assert_int_equal(simpler_tensor_slice(&t, 1, 1, columns, 2, &odd), 0);
        row = block(&t, 3, 0, 1, columns);
        use(&even, SIMPLER_USE_INOUT, task - 56);
        use(&odd, SIMPLER_USE_INOUT, task - 55);
        assert_false(has(task - 56));
        use(&row, SIMPLER_USE_INPUT, task - 54);
        assert_true(has(task - 56) && has(task - 55));
    }
}

/* A matrix that begins in the middle of a buffer's row. */
static void tiles_of_a_shifted_matrix_are_apart(void **state)
{
    (void)state;
    open_map(256, 256, true);
    struct simpler_tensor t;
    assert_int_equal(simpler_tensor_init(&t, memory, SIMPLER_DIMS(16, 16), 0), 0);
    t.start_offset = 25;
    t.buffer_bytes = (25 + 256) * 4;
    for (uint32_t i = 0; i < 16; i++) {
        struct simpler_tensor tile = block(&t, i / 4 * 4, i % 4 * 4, 4, 4);
        use(&tile, SIMPLER_USE_INOUT, i);
        assert_int_equal(edge_count, 0);
    }
    for (uint32_t i = 0; i < 4; i++) {
        struct simpler_tensor panel = block(&t, 0, i * 4, 16, 4);
        use(&panel, SIMPLER_USE_INPUT, 16 + i);
        assert_int_equal(edge_count, 4);
        for (uint32_t k = 0; k < 4; k++)
            assert_true(has(k * 4 + i));
    }
}

static void a_covering_write_replaces_what_it_covers(void **state)
{
    (void)state;
    open_map(256, 256, true);
    struct simpler_tensor t = matrix(16, 16);
    for (uint32_t i = 0; i < 16; i++) {
        struct simpler_tensor tile = block(&t, i / 4 * 4, i % 4 * 4, 4, 4);
        use(&tile, SIMPLER_USE_INOUT, i);
    }
    assert_int_equal(simpler_tensormap_used(map), 16);
    struct simpler_tensor panel = block(&t, 4, 0, 4, 16);
    use(&panel, SIMPLER_USE_INOUT, 16);
    assert_int_equal(edge_count, 4);
    assert_int_equal(simpler_tensormap_used(map), 13);
    struct simpler_tensor across = block(&t, 2, 0, 4, 4);
    use(&across, SIMPLER_USE_INPUT, 17);
    assert_true(edge_count == 2 && has(0) && has(16));
    use(&t, SIMPLER_USE_OUTPUT_EXISTING, 18);
    assert_true(edge_count == 14 && has(17));
    assert_int_equal(simpler_tensormap_used(map), 1);
}

static void dead_tasks_are_not_reported(void **state)
{
    (void)state;
    open_map(64, 64, true);
    struct simpler_tensor t = matrix(4, 4);
    use(&t, SIMPLER_USE_INOUT, 0);
    use(&t, SIMPLER_USE_INPUT, 1);
    use(&t, SIMPLER_USE_INPUT, RING1 | 0);
    retire(0, 1);
    assert_int_equal(simpler_tensormap_used(map), 1);
    use(&t, SIMPLER_USE_INOUT, 2);
    assert_true(edge_count == 2 && has(1) && has(RING1 | 0));
    retire(0, 3);
    assert_int_equal(simpler_tensormap_used(map), 0);
    use(&t, SIMPLER_USE_INOUT, 3);
    assert_int_equal(edge_count, 0);
    assert_int_equal(simpler_tensormap_used(map), 1);
}

/* The reader that came last is gone, an earlier one of another ring is not. */
static void an_entry_outlives_its_latest_task(void **state)
{
    (void)state;
    open_map(64, 64, true);
    struct simpler_tensor t = matrix(4, 4);
    use(&t, SIMPLER_USE_INPUT, RING0);
    use(&t, SIMPLER_USE_INPUT, RING1);
    retire(1, 1);
    assert_int_equal(simpler_tensormap_used(map), 0);
    use(&t, SIMPLER_USE_INOUT, RING1 | 1);
    assert_true(edge_count == 1 && has(RING0));
}

static void a_live_writer_counts_when_its_reader_is_gone(void **state)
{
    (void)state;
    open_map(64, 64, true);
    struct simpler_tensor t = matrix(4, 4);
    struct simpler_tensor half = block(&t, 0, 0, 4, 2);
    use(&t, SIMPLER_USE_INOUT, RING0);
    use(&t, SIMPLER_USE_INPUT, RING1);
    retire(1, 1);
    use(&half, SIMPLER_USE_INPUT, RING1 | 1);
    assert_true(edge_count == 1 && has(RING0));
}

/*
 * Cells of many buffers at random, nearly all of them dead: entries, classes and
 * buffers come and go while others of theirs are used.
 */
static void what_was_forgotten_is_made_anew(void **state)
{
    (void)state;
    enum { BUFFERS = 300, CELLS = 3, LIVE = 20 };
    static uint32_t last[BUFFERS][CELLS];
    open_map(64, 64, true);
    uint32_t random = 1;
    for (uint32_t i = 1; i < 300000; i++) {
        random = random * 1664525 + 1013904223;
        uint32_t b = (random >> 8) % BUFFERS;
        uint32_t c = (random >> 20) % CELLS;
        b = i / 1000 % 3 == 0 ? b % 4 : b;
        struct simpler_tensor t = matrix(CELLS, 4);
        t = block(&t, c, 0, 1, 4);
        t.addr += (uint64_t)b * 4096;
        use(&t, SIMPLER_USE_INOUT, i);
        bool live = last[b][c] >= alive[0] && last[b][c] != 0;
        assert_int_equal(edge_count, live);
        assert_true(!live || has(last[b][c]));
        last[b][c] = i;
        if (i > LIVE)
            retire(0, i - LIVE);
    }
    memset(last, 0, sizeof(last));
}

/* A view that has a loose entry keeps it when there is a grid for its form again. */
static void a_loose_entry_is_its_views_only_one(void **state)
{
    (void)state;
    open_map(256, 256, true);
    struct simpler_tensor t;
    uint32_t task = 0;
    assert_int_equal(simpler_tensor_init(&t, memory, SIMPLER_DIMS(4096), SIMPLER_DTYPE_UINT8), 0);
    struct simpler_tensor view, other;
    uint32_t length = 64, offset = 0;
    for (uint32_t i = 1; i <= SIMPLER_TENSORMAP_GRIDS; i++) {
        uint32_t many = 64 + i;
        offset = 2048 - many;
        assert_int_equal(simpler_tensor_view(&t, &many, &offset, &view), 0);
        use(&view, SIMPLER_USE_INPUT, task++);
    }
    offset = 0;
    assert_int_equal(simpler_tensor_view(&t, &length, &offset, &view), 0);
    use(&view, SIMPLER_USE_INOUT, RING1);
    offset = 64;
    assert_int_equal(simpler_tensor_view(&t, &length, &offset, &other), 0);
    retire(0, task);
    for (int i = 0; i < 50; i++) {
        offset = 128 + (uint32_t)i * 64;
        assert_int_equal(simpler_tensor_view(&t, &length, &offset, &other), 0);
        use(&other, SIMPLER_USE_INOUT, task++);
    }
    uint32_t used = simpler_tensormap_used(map);
    use(&view, SIMPLER_USE_INPUT, RING1 | 1);
    assert_true(edge_count == 1 && has(RING1));
    assert_int_equal(simpler_tensormap_used(map), used);
}

static void lookup_changes_nothing(void **state)
{
    (void)state;
    open_map(64, 64, true);
    struct simpler_tensor t = matrix(4, 4);
    use(&t, SIMPLER_USE_INOUT, 0);
    use(&t, SIMPLER_USE_INPUT, 1);
    struct simpler_tensor half = block(&t, 0, 0, 4, 2);
    for (int i = 0; i < 2; i++) {
        edge_count = 0;
        simpler_tensormap_lookup(map, i ? &half : &t, true, false, &sink);
        keep(&sink);
        assert_true(edge_count == 1 && has(0));
        edge_count = 0;
        simpler_tensormap_lookup(map, i ? &half : &t, false, true, &sink);
        keep(&sink);
        assert_true(edge_count == 1 && has(1));
    }
    assert_int_equal(simpler_tensormap_used(map), 1);
}

static void buffers_are_told_apart_by_address(void **state)
{
    (void)state;
    open_map(64, 64, true);
    struct simpler_tensor a = matrix(4, 4);
    struct simpler_tensor b = a;
    b.addr += 64;
    use(&a, SIMPLER_USE_INOUT, 0);
    use(&b, SIMPLER_USE_INOUT, 1);
    assert_int_equal(edge_count, 0);
    /* The same buffer of another declared size and type. */
    a.buffer_bytes = 1 << 20;
    a.dtype = SIMPLER_DTYPE_INT8;
    use(&a, SIMPLER_USE_INPUT, 2);
    assert_true(edge_count == 1 && has(0));
    a.addr = UINT64_MAX;
    use(&a, SIMPLER_USE_INOUT, 3);
    assert_int_equal(edge_count, 0);
    use(&a, SIMPLER_USE_INOUT, 4);
    assert_true(edge_count == 1 && has(3));
    a.addr = 0;
    use(&a, SIMPLER_USE_INOUT, 5);
    assert_int_equal(edge_count, 0);
}

static void huge_views_meet_everything(void **state)
{
    (void)state;
    open_map(64, 64, true);
    struct simpler_tensor t = matrix(4, 4);
    struct simpler_tensor huge = t;
    use(&t, SIMPLER_USE_INOUT, 0);
    huge.start_offset = UINT64_MAX - 4;
    use(&huge, SIMPLER_USE_INOUT, 1);
    assert_true(edge_count == 1 && has(0));
    use(&t, SIMPLER_USE_INPUT, 2);
    assert_true(edge_count == 1 && has(1));
    huge = t;
    huge.is_contiguous = 0;
    huge.ndims = 5;
    for (int i = 0; i < 5; i++) {
        huge.shape[i] = UINT32_MAX;
        huge.stride[i] = UINT32_MAX;
    }
    use(&huge, SIMPLER_USE_INOUT, 3);
    assert_true(edge_count == 2 && has(1) && has(2));
}

/* Ragged segments: more forms than a buffer may have grids. */
static void segments_of_any_length(void **state)
{
    (void)state;
    open_map(4096, 4096, true);
    struct simpler_tensor t;
    assert_int_equal(simpler_tensor_init(&t, memory, SIMPLER_DIMS(60000), SIMPLER_DTYPE_UINT8), 0);
    uint32_t at = 0;
    uint32_t n = 0;
    uint32_t start[500];
    for (; n < 300; n++) {
        uint32_t length = 7 + n * 37 % 200;
        struct simpler_tensor view;
        assert_int_equal(simpler_tensor_view(&t, &length, &at, &view), 0);
        use(&view, SIMPLER_USE_INOUT, n);
        assert_int_equal(edge_count, 0);
        start[n] = at;
        at += length;
    }
    for (uint32_t i = 0; i + 3 < n; i++) {
        struct simpler_tensor view;
        uint32_t offset = start[i] + 1;
        uint32_t length = start[i + 2] + 1 - offset;
        assert_int_equal(simpler_tensor_view(&t, &length, &offset, &view), 0);
        use(&view, SIMPLER_USE_INPUT, n + i);
        assert_true(edge_count == 3 && has(i) && has(i + 1) && has(i + 2));
    }
}

static void room_is_what_is_left(void **state)
{
    (void)state;
    open_map(16, 64, true);
    struct simpler_tensor t = matrix(64, 4);
    for (uint32_t i = 0; i < 16; i++) {
        struct simpler_tensor row = block(&t, i, 0, 1, 4);
        assert_int_equal(simpler_tensormap_room(map), 16 - i);
        use(&row, SIMPLER_USE_INOUT, i);
    }
    assert_int_equal(simpler_tensormap_room(map), 0);
    retire(0, 10);
    assert_int_equal(simpler_tensormap_room(map), 10);
}

static void a_reset_forgets(void **state)
{
    (void)state;
    open_map(256, 64, true);
    struct simpler_tensor t = matrix(64, 4);
    for (int run = 0; run < 40; run++) {
        uint32_t rows = 1 + (uint32_t)run % 5;
        for (uint32_t i = 0; i + rows <= 60; i += rows) {
            struct simpler_tensor row = block(&t, i, 0, rows, 4);
            row.addr += (uint64_t)(run % 3) * 4096;
            use(&row, SIMPLER_USE_INOUT, i);
            assert_int_equal(edge_count, 0);
        }
        assert_int_equal(simpler_tensormap_used(map), 60 / rows);
        if (run % 2)
            retire(0, 30);
        simpler_tensormap_reset(map, run % 4 != 0);
        alive[0] = 0;
        assert_int_equal(simpler_tensormap_used(map), 0);
        assert_int_equal(simpler_tensormap_room(map), 256);
    }
}

/* Most of the pools' records that were ever handed out. */
static uint32_t records(void)
{
    return map->entries.next + map->nodes.next + map->classes.next + map->buffers.next +
           map->forms.next;
}

static void forgotten_buffers_leave_no_trace(void **state)
{
    (void)state;
    open_map(4096, 1024, true);
    uint32_t after = 0;
    for (uint32_t i = 0; i < 2000000; i++) {
        struct simpler_tensor t;
        uint32_t shape[] = {1 + i % 97, 1 + i % 89};
        assert_int_equal(simpler_tensor_init(&t, NULL, shape, 2, 0), 0);
        t.addr = UINT64_C(0x7f0000000000) + i * UINT64_C(4096);
        simpler_tensormap_access(map, &t, i % 3 ? SIMPLER_USE_INOUT : SIMPLER_USE_INPUT, i, &sink);
        if (i >= 1000 && i % 50 == 0)
            retire(0, i - 990);
        if (i == 20000)
            after = records();
    }
    assert_int_equal(sink.count, 0);
    assert_int_equal(records(), after);
    assert_true(after < 5 * 4000);
}

static void a_cell_that_is_only_read_does_not_grow(void **state)
{
    (void)state;
    open_map(64, 1024, true);
    struct simpler_tensor t = matrix(4, 4);
    use(&t, SIMPLER_USE_INOUT, RING1);
    use(&t, SIMPLER_USE_INPUT, RING1 | 1);
    for (uint32_t i = 0; i < 1000000; i++) {
        simpler_tensormap_access(map, &t, SIMPLER_USE_INPUT, i, &sink);
        sink.count = 0;
        if (i >= 100)
            retire(0, i - 99);
    }
    assert_true(map->nodes.next < 300);
    use(&t, SIMPLER_USE_INOUT, 1000000);
    assert_int_equal(edge_count, 2 + 100);
}

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void discard(struct simpler_edge_sink *s)
{
    edge_count += s->count;
    s->count = 0;
}

static double fan(uint32_t readers)
{
    struct simpler_edge_sink counter = {.ids = ids, .capacity = 16, .flush = discard};
    struct simpler_tensor t = matrix(4, 4);
    double best = 1e9;
    for (int i = 0; i < 5; i++) {
        simpler_tensormap_reset(map, true);
        edge_count = 0;
        double start = seconds();
        simpler_tensormap_access(map, &t, SIMPLER_USE_INOUT, 0, &counter);
        for (uint32_t k = 1; k <= readers; k++) {
            simpler_tensormap_access(map, &t, SIMPLER_USE_INPUT, k, &counter);
            discard(&counter);
        }
        simpler_tensormap_access(map, &t, SIMPLER_USE_INOUT, readers + 1, &counter);
        double took = seconds() - start;
        best = took < best ? took : best;
        discard(&counter);
        assert_int_equal(edge_count, 2 * readers + 1);
    }
    return best;
}

static void readers_cost_the_same_each(void **state)
{
    (void)state;
    open_map(64, 1u << 17, true);
    (void)fan(80000);
    double few = fan(20000);
    double many = fan(80000);
    assert_true(many < 6 * few);
}

/* 128 x 128 tiles, each in a buffer of its own or all in one. */
static double tiles(bool one_buffer)
{
    struct simpler_edge_sink counter = {.ids = ids, .capacity = 16, .flush = discard};
    struct simpler_tensor t = matrix(128 * 8, 128 * 8);
    struct simpler_tensor tile = block(&t, 0, 0, 8, 8);
    uint32_t task = 0;
    double best = 1e9;
    simpler_tensormap_reset(map, true);
    for (int pass = 0; pass < 6; pass++) {
        double start = seconds();
        for (uint32_t i = 0; i < 128 * 128; i++) {
            if (one_buffer)
                tile.start_offset = (i / 128 * 8 * 128 + i % 128) * 8;
            else
                tile.addr = t.addr + (uint64_t)i * 4096;
            simpler_tensormap_access(map, &tile, SIMPLER_USE_INOUT, task++, &counter);
            discard(&counter);
        }
        double took = seconds() - start;
        best = pass > 0 && took < best ? took : best;
    }
    assert_int_equal(simpler_tensormap_used(map), 128 * 128);
    return best;
}

/* A map that walks the tiles of a buffer takes a thousand times as long. */
static void tiles_of_one_buffer_cost_what_buffers_do(void **state)
{
    (void)state;
    open_map(65536, 1u << 17, true);
    double buffers = tiles(false);
    assert_true(tiles(true) < 4 * buffers);
}

#if defined(SIMPLER_DEBUG)
static int fail_at;

static bool fail_nth(void *user, enum simpler_testpoint point)
{
    (void)user;
    return (point == SIMPLER_TESTPOINT_ALLOC || point == SIMPLER_TESTPOINT_MAP_MEMORY) &&
           fail_at-- == 0;
}
#endif

static void open_fails_cleanly_at_each_step(void **state)
{
    (void)state;
#if defined(SIMPLER_DEBUG)
    struct simpler_tensormap_config config = {
        .capacity = 64, .window = {64, 64, 64, 64}, .alive = alive};
    struct simpler_tensormap *none = NULL;
    int steps = 0;
    int rc = SIMPLER_ENOMEM;
    for (; rc != 0; steps++) {
        fail_at = steps;
        simpler_testpoint_set(fail_nth, NULL);
        rc = simpler_tensormap_open(&config, &map);
        simpler_testpoint_set(NULL, NULL);
        assert_true(rc == 0 || (rc == SIMPLER_ENOMEM && map == none));
    }
    assert_true(steps > 8);
#endif
}

#define TEST(name) cmocka_unit_test_teardown(name, close_map)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(all_orders_three_hazards),
        TEST(raw_orders_reads_after_writes),
        TEST(arguments_are_accessed_together),
        TEST(a_new_cell_keeps_its_first_reader),
        TEST(cells_beyond_four_billion_are_others),
        TEST(a_grid_grows_into_another),
        TEST(a_task_is_never_after_itself),
        TEST(empty_views_and_other_uses_do_nothing),
        TEST(one_view_has_one_entry),
        TEST(interleaved_slices_do_not_meet),
        TEST(tiles_of_a_shifted_matrix_are_apart),
        TEST(a_covering_write_replaces_what_it_covers),
        TEST(dead_tasks_are_not_reported),
        TEST(an_entry_outlives_its_latest_task),
        TEST(a_live_writer_counts_when_its_reader_is_gone),
        TEST(what_was_forgotten_is_made_anew),
        TEST(a_loose_entry_is_its_views_only_one),
        TEST(lookup_changes_nothing),
        TEST(buffers_are_told_apart_by_address),
        TEST(huge_views_meet_everything),
        TEST(segments_of_any_length),
        TEST(room_is_what_is_left),
        TEST(a_reset_forgets),
        TEST(forgotten_buffers_leave_no_trace),
        TEST(a_cell_that_is_only_read_does_not_grow),
        TEST(readers_cost_the_same_each),
        TEST(tiles_of_one_buffer_cost_what_buffers_do),
        TEST(open_fails_cleanly_at_each_step),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
