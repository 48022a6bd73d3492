/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tensors and their views (SY-05): each operation on random tensors against an
 * enumeration of every element with the formula of tensor.h, and the limits.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cm.h"
#include "simpler/tensor.h"

#define ROUNDS 3000
static const uint32_t no_order[SIMPLER_MAX_DIMS] = {0, 1, 2, 3, 4};

static uint32_t random_below(uint32_t n)
{
    static uint64_t state = 0x9e3779b97f4a7c15u;
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)(state >> 20) % n;
}

static uint64_t element(const struct simpler_tensor *t, const uint32_t *index)
{
    uint64_t at = t->start_offset;
    for (uint32_t i = 0; i < t->ndims; i++)
        at += (uint64_t)index[i] * t->stride[i];
    return t->addr + at * simpler_dtype_bytes(t->dtype);
}

/* The next index in row-major order; false after the last. */
static bool advance(const struct simpler_tensor *t, uint32_t *index)
{
    for (uint32_t i = t->ndims; i-- > 0;) {
        if (++index[i] < t->shape[i])
            return true;
        index[i] = 0;
    }
    return false;
}

/* Extent, contiguity and element count as an enumeration finds them. */
static void check_caches(const struct simpler_tensor *t)
{
    uint32_t index[SIMPLER_MAX_DIMS] = {0};
    uint64_t first = element(t, index), last = first, n = 0;
    uint64_t bytes = simpler_dtype_bytes(t->dtype);
    bool in_order = true, unit_strides = true;
    uint64_t later = 1;

    assert_int_equal(simpler_tensor_check(t), 0);
    if (simpler_tensor_numel(t) == 0) {
        assert_int_equal(t->extent, 0);
        assert_true(t->is_contiguous);
        return;
    }
    do {
        uint64_t at = element(t, index);
        in_order = in_order && at == first + n * bytes;
        last = at > last ? at : last;
        n++;
    } while (advance(t, index));
    for (uint32_t i = t->ndims; i-- > 0;) {
        if (t->shape[i] == 1 && t->stride[i] != later)
            unit_strides = false;
        later *= t->shape[i];
    }
    assert_int_equal(simpler_tensor_numel(t), n);
    assert_int_equal(t->extent, (last - first) / bytes + 1);
    assert_int_equal(t->is_contiguous, in_order && unit_strides);
    assert_ptr_equal(simpler_tensor_data(t), (void *)(uintptr_t)first);
}

static struct simpler_tensor random_tensor(void)
{
    struct simpler_tensor t;
    uint32_t shape[SIMPLER_MAX_DIMS], stride[SIMPLER_MAX_DIMS];
    uint32_t ndims = 1 + random_below(SIMPLER_MAX_DIMS);
    void *addr = (void *)(uintptr_t)(4096 + random_below(1000) * 64);
    uint32_t dtype = random_below(SIMPLER_DTYPE_NUM);

    for (uint32_t i = 0; i < ndims; i++) {
        shape[i] = random_below(20) == 0 ? 0 : 1 + random_below(5);
        stride[i] = 1 + random_below(40);
    }
    if (random_below(2) == 0)
        assert_int_equal(simpler_tensor_init(&t, addr, shape, ndims, dtype), 0);
    else
        assert_int_equal(simpler_tensor_init_strided(&t, addr, shape, stride, ndims, dtype), 0);
    assert_int_equal(t.owner, SIMPLER_NO_OWNER);
    t.owner = random_below(1000);
    t.version = (int32_t)random_below(9);
    t.manual_dep = (uint8_t)random_below(2);
    t.address_space = (uint8_t)random_below(2);
    return t;
}

/* What no view changes. */
static void check_kept(const struct simpler_tensor *t, const struct simpler_tensor *view)
{
    assert_int_equal(view->addr, t->addr);
    assert_int_equal(view->buffer_bytes, t->buffer_bytes);
    assert_int_equal(view->owner, t->owner);
    assert_int_equal(view->version, t->version);
    assert_int_equal(view->dtype, t->dtype);
    assert_int_equal(view->address_space, t->address_space);
    assert_int_equal(view->manual_dep, 0);
    check_caches(view);
}

static void a_new_tensor_has_the_documented_layout(void **state)
{
    (void)state;
    struct simpler_tensor t;
    uint32_t shape[] = {2, 3, 4};

    assert_int_equal(sizeof(struct simpler_tensor), 128);
    assert_int_equal(sizeof(struct simpler_create_info), 64);
    assert_int_equal(offsetof(struct simpler_tensor, start_offset), 24);
    assert_int_equal(offsetof(struct simpler_tensor, version), 32);
    assert_int_equal(offsetof(struct simpler_tensor, dtype), 40);
    assert_int_equal(offsetof(struct simpler_tensor, shape), 44);
    assert_int_equal(offsetof(struct simpler_tensor, extent), 64);
    assert_int_equal(offsetof(struct simpler_tensor, stride), 72);
    memset(&t, 0xff, sizeof(t));
    assert_int_equal(simpler_tensor_init(&t, (void *)640, shape, 3, SIMPLER_DTYPE_FLOAT32), 0);
    assert_int_equal(t.stride[0], 12);
    assert_int_equal(t.stride[1], 4);
    assert_int_equal(t.stride[2], 1);
    assert_int_equal(t.stride[3], 0);
    assert_int_equal(t.buffer_bytes, 96);
    assert_int_equal(t.extent, 24);
    assert_int_equal(t.address_space, SIMPLER_SPACE_HOST);
    assert_int_equal(t.reserved[35], 0);
}

static void random_tensors_keep_the_rules(void **state)
{
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        struct simpler_tensor t = random_tensor();
        check_caches(&t);
        assert_int_equal(t.buffer_bytes, t.extent * simpler_dtype_bytes(t.dtype));
    }
}

static void view_is_a_block(void **state)
{
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        struct simpler_tensor t = random_tensor(), v;
        uint32_t shape[SIMPLER_MAX_DIMS], offset[SIMPLER_MAX_DIMS];
        uint32_t index[SIMPLER_MAX_DIMS] = {0}, in_parent[SIMPLER_MAX_DIMS];
        for (uint32_t i = 0; i < t.ndims; i++) {
            offset[i] = random_below(t.shape[i] + 1);
            shape[i] = random_below(t.shape[i] - offset[i] + 1);
        }
        assert_int_equal(simpler_tensor_view(&t, shape, offset, &v), 0);
        check_kept(&t, &v);
        assert_memory_equal(v.shape, shape, t.ndims * sizeof(uint32_t));
        if (simpler_tensor_numel(&v) == 0) {
            assert_int_equal(v.start_offset, t.start_offset);
            continue;
        }
        do {
            for (uint32_t i = 0; i < t.ndims; i++)
                in_parent[i] = offset[i] + index[i];
            assert_int_equal(element(&v, index), element(&t, in_parent));
        } while (advance(&v, index));
    }
}

/* Dimension i of the view is dimension order[i] of the tensor. */
static void check_permuted(const struct simpler_tensor *t, const struct simpler_tensor *v,
                           const uint32_t *order)
{
    uint32_t index[SIMPLER_MAX_DIMS] = {0}, in_parent[SIMPLER_MAX_DIMS];

    check_kept(t, v);
    for (uint32_t i = 0; i < t->ndims; i++)
        assert_int_equal(v->shape[i], t->shape[order[i]]);
    if (simpler_tensor_numel(v) == 0)
        return;
    do {
        for (uint32_t i = 0; i < t->ndims; i++)
            in_parent[order[i]] = index[i];
        assert_int_equal(element(v, index), element(t, in_parent));
    } while (advance(v, index));
}

static void transpose_and_permute_reorder(void **state)
{
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        struct simpler_tensor t = random_tensor(), v;
        uint32_t order[SIMPLER_MAX_DIMS];
        uint32_t x = random_below(t.ndims), y = random_below(t.ndims);
        memcpy(order, no_order, sizeof(order));
        order[x] = y;
        order[y] = x;
        assert_int_equal(simpler_tensor_transpose(&t, x, y, &v), 0);
        check_permuted(&t, &v, order);
        for (uint32_t i = t.ndims; i-- > 1;) {
            uint32_t other = random_below(i + 1), swap = order[i];
            order[i] = order[other];
            order[other] = swap;
        }
        assert_int_equal(simpler_tensor_permute(&t, order, &v), 0);
        check_permuted(&t, &v, order);
    }
}

static void slice_takes_every_step_th(void **state)
{
    (void)state;
    int done = 0;
    for (int round = 0; round < ROUNDS; round++) {
        struct simpler_tensor t = random_tensor(), v;
        uint32_t index[SIMPLER_MAX_DIMS] = {0}, in_parent[SIMPLER_MAX_DIMS];
        uint32_t dim = random_below(t.ndims), step = 1 + random_below(4), count = 0;
        if (t.shape[dim] == 0)
            continue;
        uint32_t start = random_below(t.shape[dim]);
        uint32_t end = start + 1 + random_below(t.shape[dim] - start);
        for (uint32_t i = start; i < end; i += step)
            count++;
        assert_int_equal(simpler_tensor_slice(&t, dim, start, end, step, &v), 0);
        check_kept(&t, &v);
        assert_int_equal(v.shape[dim], count);
        assert_int_equal(v.stride[dim], t.stride[dim] * step);
        done++;
        if (simpler_tensor_numel(&v) == 0)
            continue;
        do {
            memcpy(in_parent, index, sizeof(index));
            in_parent[dim] = start + index[dim] * step;
            assert_int_equal(element(&v, index), element(&t, in_parent));
        } while (advance(&v, index));
    }
    assert_true(done > ROUNDS / 2);
}

/* Random extents whose product is @n (above 0). */
static uint32_t split(uint64_t n, uint32_t *shape)
{
    uint32_t ndims = 1 + random_below(SIMPLER_MAX_DIMS);
    for (uint32_t i = 0; i + 1 < ndims; i++) {
        do
            shape[i] = 1 + random_below(6);
        while (n % shape[i] != 0);
        n /= shape[i];
    }
    shape[ndims - 1] = (uint32_t)n;
    return ndims;
}

static void reshape_keeps_the_order_of_elements(void **state)
{
    (void)state;
    int reshaped = 0, refused = 0;
    for (int round = 0; round < ROUNDS; round++) {
        struct simpler_tensor t = random_tensor(), v;
        uint32_t shape[SIMPLER_MAX_DIMS] = {0};
        uint32_t index[SIMPLER_MAX_DIMS] = {0}, in_parent[SIMPLER_MAX_DIMS] = {0};
        uint64_t n = simpler_tensor_numel(&t);
        uint32_t ndims = n == 0 ? 1 + random_below(SIMPLER_MAX_DIMS) : split(n, shape);
        if (!t.is_contiguous) {
            assert_int_equal(simpler_tensor_reshape(&t, shape, ndims, &v), SIMPLER_EINVAL);
            refused++;
            continue;
        }
        assert_int_equal(simpler_tensor_reshape(&t, shape, ndims, &v), 0);
        check_kept(&t, &v);
        assert_int_equal(v.ndims, ndims);
        reshaped++;
        if (n == 0)
            continue;
        do
            assert_int_equal(element(&v, index), element(&t, in_parent));
        while (advance(&v, index) && advance(&t, in_parent));
        shape[0]++;
        assert_int_equal(simpler_tensor_reshape(&t, shape, ndims, &v), SIMPLER_EINVAL);
    }
    assert_true(reshaped > 500 && refused > 500);
}

static void the_result_may_be_the_input(void **state)
{
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        struct simpler_tensor t = random_tensor(), v, alias = t;
        uint32_t order[SIMPLER_MAX_DIMS], zero[SIMPLER_MAX_DIMS] = {0};
        for (uint32_t i = 0; i < t.ndims; i++)
            order[i] = t.ndims - 1 - i;
        assert_int_equal(simpler_tensor_permute(&t, order, &v), 0);
        assert_int_equal(simpler_tensor_permute(&alias, order, &alias), 0);
        assert_memory_equal(&alias, &v, sizeof(v));
        alias = t;
        assert_int_equal(simpler_tensor_transpose(&t, 0, t.ndims - 1, &v), 0);
        assert_int_equal(simpler_tensor_transpose(&alias, 0, t.ndims - 1, &alias), 0);
        assert_memory_equal(&alias, &v, sizeof(v));
        alias = t;
        assert_int_equal(simpler_tensor_view(&t, t.shape, zero, &v), 0);
        assert_int_equal(simpler_tensor_view(&alias, alias.shape, zero, &alias), 0);
        assert_memory_equal(&alias, &v, sizeof(v));
        if (t.shape[0] == 0)
            continue;
        alias = t;
        assert_int_equal(simpler_tensor_slice(&t, 0, 0, t.shape[0], 2, &v), 0);
        assert_int_equal(simpler_tensor_slice(&alias, 0, 0, t.shape[0], 2, &alias), 0);
        assert_memory_equal(&alias, &v, sizeof(v));
    }
}

/* Every refused call leaves the result as it was. */
#define REFUSED(status, call)                            \
    do {                                                 \
        memset(&out, 0x5a, sizeof(out));                 \
        assert_int_equal(call, status);                  \
        assert_memory_equal(&out, &before, sizeof(out)); \
    } while (0)

static void bad_arguments_are_refused(void **state)
{
    (void)state;
    struct simpler_tensor t, out, before;
    uint32_t shape[6] = {4, 6, 1, 1, 1, 1}, stride[] = {6, 0}, offset[] = {1, 0};
    uint32_t twice[] = {0, 0}, beyond[] = {0, 2}, wraps[] = {UINT32_MAX, 0};

    memset(&before, 0x5a, sizeof(before));
    assert_int_equal(simpler_tensor_init(&t, (void *)64, shape, 2, SIMPLER_DTYPE_INT8), 0);
    REFUSED(SIMPLER_EINVAL, simpler_tensor_init(&out, NULL, shape, 0, 0));
    REFUSED(SIMPLER_EINVAL, simpler_tensor_init(&out, NULL, shape, 6, 0));
    REFUSED(SIMPLER_EINVAL, simpler_tensor_init(&out, NULL, shape, 2, SIMPLER_DTYPE_NUM));
    REFUSED(SIMPLER_EINVAL, simpler_tensor_init(&out, NULL, NULL, 2, 0));
    REFUSED(SIMPLER_EINVAL, simpler_tensor_init(NULL, NULL, shape, 2, 0));
    REFUSED(SIMPLER_EINVAL, simpler_tensor_init_strided(&out, NULL, shape, stride, 2, 0));
    REFUSED(SIMPLER_EINVAL, simpler_tensor_init_strided(&out, NULL, shape, NULL, 2, 0));
    REFUSED(SIMPLER_EINVAL, simpler_tensor_view(&t, t.shape, offset, &out));
    REFUSED(SIMPLER_EINVAL, simpler_tensor_view(&t, t.shape, wraps, &out));
    REFUSED(SIMPLER_EINVAL, simpler_tensor_view(NULL, t.shape, offset, &out));
    REFUSED(SIMPLER_EINVAL, simpler_tensor_transpose(&t, 0, 2, &out));
    REFUSED(SIMPLER_EINVAL, simpler_tensor_transpose(&t, 2, 0, &out));
    REFUSED(SIMPLER_EINVAL, simpler_tensor_permute(&t, twice, &out));
    REFUSED(SIMPLER_EINVAL, simpler_tensor_permute(&t, beyond, &out));
    REFUSED(SIMPLER_EINVAL, simpler_tensor_slice(&t, 2, 0, 1, 1, &out));
    REFUSED(SIMPLER_EINVAL, simpler_tensor_slice(&t, 0, 1, 1, 1, &out));
    REFUSED(SIMPLER_EINVAL, simpler_tensor_slice(&t, 0, 2, 1, 1, &out));
    REFUSED(SIMPLER_EINVAL, simpler_tensor_slice(&t, 0, 0, 5, 1, &out));
    REFUSED(SIMPLER_EINVAL, simpler_tensor_slice(&t, 0, 0, 4, 0, &out));
    REFUSED(SIMPLER_EOVERFLOW, simpler_tensor_slice(&t, 0, 0, 4, UINT32_MAX, &out));
    REFUSED(SIMPLER_EINVAL, simpler_tensor_reshape(&t, shape, 0, &out));
    REFUSED(SIMPLER_EINVAL, simpler_tensor_reshape(&t, shape, 6, &out));
}

static void what_does_not_fit_is_refused(void **state)
{
    (void)state;
    struct simpler_tensor out, before, t;
    struct simpler_create_info info;
    const uint32_t k = 65536, max = UINT32_MAX;
    uint32_t wide[] = {2, k, k}, elements[] = {k, k - 1}, far[] = {max, max},
             far_stride[] = {max, max};
    uint32_t bytes[] = {1u << 31, 1u << 31, 2}, wrap[] = {2, 2, 2, k, 32768};

    memset(&before, 0x5a, sizeof(before));
    REFUSED(SIMPLER_EOVERFLOW, simpler_tensor_init(&out, NULL, wide, 3, SIMPLER_DTYPE_INT8));
    REFUSED(SIMPLER_EOVERFLOW,
            simpler_tensor_init_strided(&out, NULL, far, far_stride, 2, SIMPLER_DTYPE_INT8));
    REFUSED(SIMPLER_EOVERFLOW, simpler_tensor_init(&out, NULL, wrap, 5, SIMPLER_DTYPE_INT8));
    /* 2^63 elements of 2 bytes; of 1 byte from an address in the upper half */
    uint32_t half[] = {2, 1u << 31}, half_stride[] = {1u << 31, 1};
    assert_int_equal(
        simpler_tensor_init_strided(&t, NULL, half, half_stride, 2, SIMPLER_DTYPE_INT64), 0);
    uint32_t long_stride[] = {1u << 31, max, 1};
    REFUSED(SIMPLER_EOVERFLOW,
            simpler_tensor_init_strided(&out, NULL, bytes, long_stride, 3, SIMPLER_DTYPE_INT16));
    REFUSED(SIMPLER_EOVERFLOW,
            simpler_tensor_init(&out, (void *)(UINTPTR_MAX - 10), elements, 2, SIMPLER_DTYPE_INT8));
    assert_int_equal(simpler_tensor_init(&t, NULL, elements, 2, SIMPLER_DTYPE_FLOAT64), 0);
    assert_int_equal(t.extent, (uint64_t)k * (k - 1));
    memset(&info, 0x5a, sizeof(info));
    assert_int_equal(simpler_create_info_init(&info, wide, 3, 0), SIMPLER_EOVERFLOW);
    assert_int_equal(info.ndims, 0x5a5a5a5a);
}

static void check_finds_every_broken_rule(void **state)
{
    (void)state;
    struct simpler_tensor t, bad;
    uint32_t shape[] = {4, 6};

    assert_int_equal(simpler_tensor_init(&t, (void *)64, shape, 2, SIMPLER_DTYPE_INT16), 0);
    assert_int_equal(simpler_tensor_check(NULL), SIMPLER_EINVAL);
#define BREAKS(change)                                                \
    do {                                                              \
        bad = t;                                                      \
        change;                                                       \
        assert_int_equal(simpler_tensor_check(&bad), SIMPLER_EINVAL); \
    } while (0)
    BREAKS(bad.ndims = 0);
    BREAKS(bad.ndims = 6);
    BREAKS(bad.dtype = SIMPLER_DTYPE_NUM);
    BREAKS(bad.stride[1] = 0);
    BREAKS(bad.extent++);
    BREAKS(bad.shape[0]++);
    BREAKS(bad.is_contiguous = 0);
    BREAKS(bad.start_offset = 1);
    BREAKS(bad.start_offset = UINT64_MAX);
    BREAKS(bad.buffer_bytes--);
    BREAKS(bad.addr = UINT64_MAX);
    BREAKS(bad.address_space = 2);
#undef BREAKS
    assert_int_equal(simpler_tensor_check(&t), 0);
}

static void create_info_holds_bits_of_its_type(void **state)
{
    (void)state;
    struct simpler_create_info info;
    uint32_t shape[] = {3, 5};
    float one = 1.0f;
    uint64_t ones = UINT64_MAX;

    memset(&info, 0xff, sizeof(info));
    assert_int_equal(simpler_create_info_init(&info, shape, 2, SIMPLER_DTYPE_FLOAT32), 0);
    assert_int_equal(info.has_initial_value, 0);
    assert_int_equal(info.manual_dep, 0);
    assert_int_equal(info.shape[1], 5);
    assert_int_equal(info.shape[2], 0);
    simpler_create_info_set_initial_value(&info, &one);
    assert_int_equal(info.has_initial_value, 1);
    assert_int_equal(info.initial_value, 0x3f800000);
    assert_int_equal(simpler_create_info_init(&info, shape, 2, SIMPLER_DTYPE_UINT16), 0);
    simpler_create_info_set_initial_value(&info, &ones);
    assert_int_equal(info.initial_value, 0xffff);
    assert_int_equal(simpler_create_info_init(NULL, shape, 2, 0), SIMPLER_EINVAL);
    assert_int_equal(simpler_create_info_init(&info, shape, 0, 0), SIMPLER_EINVAL);
    assert_int_equal(simpler_create_info_init(&info, shape, 2, 99), SIMPLER_EINVAL);
}

/* A struct that was never made has any number of dimensions: nothing may walk them. */
static void a_descriptor_that_was_never_made_is_refused(void **state)
{
    static const uint32_t bad[] = {0, 6, 33, 12345, UINT32_MAX};
    const uint32_t few[5] = {0, 1, 2, 3, 4};
    float data[4] = {0};
    struct simpler_tensor t, out;

    (void)state;
    assert_int_equal(simpler_tensor_init(&t, data, SIMPLER_DIMS(2, 2), SIMPLER_DTYPE_FLOAT32), 0);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        t.ndims = bad[i];
        assert_int_equal(simpler_tensor_check(&t), SIMPLER_EINVAL);
        assert_int_equal(simpler_tensor_view(&t, few, few, &out), SIMPLER_EINVAL);
        assert_int_equal(simpler_tensor_transpose(&t, 0, 5, &out), SIMPLER_EINVAL);
        assert_int_equal(simpler_tensor_permute(&t, few, &out), SIMPLER_EINVAL);
        assert_int_equal(simpler_tensor_slice(&t, 5, 0, 1, 1, &out), SIMPLER_EINVAL);
        assert_int_equal(simpler_tensor_reshape(&t, few, 1, &out), SIMPLER_EINVAL);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_new_tensor_has_the_documented_layout),
        cmocka_unit_test(random_tensors_keep_the_rules),
        cmocka_unit_test(view_is_a_block),
        cmocka_unit_test(transpose_and_permute_reorder),
        cmocka_unit_test(slice_takes_every_step_th),
        cmocka_unit_test(reshape_keeps_the_order_of_elements),
        cmocka_unit_test(the_result_may_be_the_input),
        cmocka_unit_test(bad_arguments_are_refused),
        cmocka_unit_test(what_does_not_fit_is_refused),
        cmocka_unit_test(check_finds_every_broken_rule),
        cmocka_unit_test(a_descriptor_that_was_never_made_is_refused),
        cmocka_unit_test(create_info_holds_bits_of_its_type),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
