/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tensormap alone against exact bytes: random views of one buffer, and for
 * the last access every task that wrote one of its bytes last must be among what
 * its edges lead to.  The random graphs show a missed overlap only when the first
 * task is slow; this shows it always.
 */
#include <stdlib.h>
#include <string.h>

#include "cm.h"
#include "graph_view.h"
#include "task/tensormap.h"

#define MOST_VIEWS 20
#define MOST_BYTES 512

static uint64_t ids[64];
static const uint32_t alive[CHIP_MAX_RING_DEPTH];

struct set {
    uint32_t count;
    struct graph_buffer buffer;
    struct graph_access access[MOST_VIEWS];
    uint8_t touched[MOST_VIEWS][MOST_BYTES];
    uint32_t before[MOST_VIEWS]; /* bits of the tasks that surely come earlier */
};

static void no_flush(struct simpler_edge_sink *sink)
{
    (void)sink;
    fail_msg("more edges than there are tasks");
}

static void to_tensor(const struct graph_view *view, uint32_t buffer_bytes,
                      struct simpler_tensor *out)
{
    memset(out, 0, sizeof(*out));
    out->addr = 0x100000;
    out->buffer_bytes = buffer_bytes;
    out->owner = SIMPLER_NO_OWNER;
    out->start_offset = view->offset;
    out->ndims = view->ndims;
    out->dtype = (uint8_t)view->dtype;
    out->extent = graph_view_extent(view);
    out->is_contiguous = graph_view_contiguous(view);
    for (uint32_t d = 0; d < view->ndims; d++) {
        out->shape[d] = view->shape[d];
        out->stride[d] = view->stride[d];
    }
}

static void mark_bytes(const struct graph_view *view, uint8_t *touched)
{
    uint32_t size = graph_dtype_bytes(view->dtype);
    uint64_t numel = graph_view_numel(view);
    memset(touched, 0, MOST_BYTES);
    for (uint64_t i = 0; i < numel; i++)
        memset(touched + graph_view_byte(view, i), 1, size);
}

static void make_set(struct kit_random *random, uint32_t count, struct set *set)
{
    memset(&set->buffer, 0, sizeof(set->buffer));
    set->count = count;
    set->buffer.bytes = 8 * (1 + kit_random_below(random, 40));
    graph_random_whole(random, set->buffer.bytes, &set->buffer.whole);
    for (uint32_t i = 0; i < count; i++) {
        struct graph_access *access = &set->access[i];
        memset(access, 0, sizeof(*access));
        graph_random_view(random, &set->buffer, access);
        access->writes = i == 0 || kit_random_chance(random, 50);
        access->use = access->writes ? SIMPLER_USE_INOUT : SIMPLER_USE_INPUT;
        mark_bytes(&access->view, set->touched[i]);
    }
    set->access[count - 1].writes = false;
    set->access[count - 1].use = SIMPLER_USE_INPUT;
}

/* Whether task @writer wrote a byte last that the last access reads. */
static bool is_last_writer(const struct set *set, uint32_t writer)
{
    const uint8_t *read = set->touched[set->count - 1];
    if (!set->access[writer].writes)
        return false;
    for (uint32_t b = 0; b < set->buffer.bytes; b++) {
        uint32_t last = set->count;
        for (uint32_t i = 0; i + 1 < set->count; i++) {
            if (set->access[i].writes && set->touched[i][b])
                last = i;
        }
        if (read[b] && last == writer)
            return true;
    }
    return false;
}

static void print_set(const struct set *set)
{
    for (uint32_t i = 0; i < set->count; i++) {
        const struct graph_view *view = &set->access[i].view;
        print_message("  %u %s %s start %llu:", i, set->access[i].writes ? "INOUT" : "INPUT",
                      simpler_dtype_name(view->dtype), (unsigned long long)view->offset);
        for (uint32_t d = 0; d < view->ndims; d++)
            print_message(" %u/%u", view->shape[d], view->stride[d]);
        print_message("\n");
    }
}

static void access_in_turn(struct simpler_tensormap *map, struct set *set)
{
    simpler_tensormap_reset(map, true);
    for (uint32_t i = 0; i < set->count; i++) {
        struct simpler_edge_sink sink = {ids, 0, 64, no_flush};
        struct simpler_tensor tensor;
        to_tensor(&set->access[i].view, set->buffer.bytes, &tensor);
        simpler_tensormap_access(map, &tensor, set->access[i].use, i, &sink);
        set->before[i] = 0;
        for (uint32_t k = 0; k < sink.count; k++) {
            assert_true(sink.ids[k] < i);
            set->before[i] |= UINT32_C(1) << sink.ids[k] | set->before[sink.ids[k]];
        }
    }
}

static void check_set(struct simpler_tensormap *map, struct set *set)
{
    access_in_turn(map, set);
    for (uint32_t i = 0; i + 1 < set->count; i++) {
        if ((set->before[set->count - 1] >> i & 1) || !is_last_writer(set, i))
            continue;
        print_message("access %u wrote what the last access reads, and there is no edge\n", i);
        print_set(set);
        fail();
    }
}

static void check_sets(uint32_t most_views, uint32_t sets)
{
    static const struct simpler_tensormap_config config = {4096, {64, 64, 64, 64}, true, alive};
    static struct set set;
    struct kit_random random = {most_views};
    struct simpler_tensormap *map;
    assert_int_equal(simpler_tensormap_open(&config, &map), 0);
    for (uint32_t i = 0; i < sets; i++) {
        make_set(&random, 2 + kit_random_below(&random, most_views - 1), &set);
        check_set(map, &set);
    }
    simpler_tensormap_close(map);
}

static void two_views(void **state)
{
    (void)state;
    check_sets(2, kit_is_sanitized() ? 20000 : 200000);
}

static void several_views(void **state)
{
    (void)state;
    check_sets(6, kit_is_sanitized() ? 10000 : 100000);
}

static void many_views(void **state)
{
    (void)state;
    check_sets(MOST_VIEWS, kit_is_sanitized() ? 5000 : 50000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_views),
        cmocka_unit_test(several_views),
        cmocka_unit_test(many_views),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
