/* SPDX-License-Identifier: Apache-2.0 */
/* What an entry is: states, arithmetic at the limits of 32, 53 and 64 bits. AD-11, AD-14. */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "cm.h"
#include "report/dump_entry.h"
#include "report/npy_file.h"

static const uint64_t TWO_32 = (uint64_t)1 << 32;
static const uint64_t TWO_53 = (uint64_t)1 << 53;

static struct simpler_dump_entry tensor(uint64_t rows, uint64_t columns, uint64_t bin_size)
{
    struct simpler_dump_entry e = {.dtype = SIMPLER_DTYPE_FLOAT32,
                                   .dtype_text = "float32",
                                   .shape_count = 2,
                                   .shape = {rows, columns},
                                   .bin_size = bin_size};
    return e;
}

static void products_and_sums_are_checked(void **state)
{
    (void)state;
    struct simpler_dump_entry e = tensor(TWO_32, TWO_32 - 1, 0);
    uint64_t value;

    assert_true(simpler_dump_entry_numel(&e, &value));
    assert_true(value == UINT64_MAX - TWO_32 + 1);
    assert_false(simpler_dump_entry_bytes(&e, &value));
    e.shape[1] = TWO_32;
    assert_false(simpler_dump_entry_numel(&e, &value));
    e.shape_count = 3;
    e.shape[2] = 0; /* zero wins over what does not fit */
    assert_true(simpler_dump_entry_numel(&e, &value));
    assert_true(value == 0);
    assert_true(simpler_dump_range_fits(TWO_32 - 1, 1, TWO_32));
    assert_false(simpler_dump_range_fits(TWO_32, 1, TWO_32));
    assert_true(simpler_dump_range_fits(TWO_53 + 1, 1, TWO_53 + 2));
    assert_false(simpler_dump_range_fits(TWO_53 + 1, 1, TWO_53 + 1));
    assert_false(simpler_dump_range_fits(UINT64_MAX, UINT64_MAX, UINT64_MAX));
    assert_true(simpler_dump_range_fits(0, UINT64_MAX, UINT64_MAX));
}

static void states(void **state)
{
    (void)state;
    struct simpler_dump_bin_info bin = {"args.bin", true, 24};
    struct simpler_dump_bin_info none = {"", false, 0};
    struct simpler_dump_entry e = tensor(2, 3, 24);
    char note[256];

    assert_int_equal(simpler_dump_entry_state(&e, &bin), SIMPLER_DUMP_WHOLE);
    assert_int_equal(simpler_dump_entry_state(&e, &none), SIMPLER_DUMP_NO_BIN);
    e.bin_offset = 1;
    assert_int_equal(simpler_dump_entry_state(&e, &bin), SIMPLER_DUMP_BEYOND_BIN);
    simpler_dump_entry_note(&e, &bin, note, sizeof(note));
    assert_string_equal(note, "FAULT: bytes 1+24 lie beyond args.bin of 24 bytes");
    e.bin_offset = UINT64_MAX - 3;
    assert_int_equal(simpler_dump_entry_state(&e, &bin), SIMPLER_DUMP_BEYOND_BIN);
    e = tensor(2, 3, 20);
    assert_int_equal(simpler_dump_entry_state(&e, &bin), SIMPLER_DUMP_BAD_SIZE);
    e.truncated = true;
    assert_int_equal(simpler_dump_entry_state(&e, &bin), SIMPLER_DUMP_TRUNCATED);
    simpler_dump_entry_note(&e, &bin, note, sizeof(note));
    assert_string_equal(note, "truncated: 20 of 24 bytes");
    e = tensor(2, 3, 28);
    e.truncated = true;
    assert_int_equal(simpler_dump_entry_state(&e, &bin), SIMPLER_DUMP_BAD_SIZE);
    e = tensor(2, 3, 0);
    assert_int_equal(simpler_dump_entry_state(&e, &none), SIMPLER_DUMP_NOT_CAPTURED);
    e = tensor(2, 0, 0);
    assert_int_equal(simpler_dump_entry_state(&e, &none), SIMPLER_DUMP_EMPTY);
    e = tensor(2, 0, 4);
    assert_int_equal(simpler_dump_entry_state(&e, &bin), SIMPLER_DUMP_BAD_SIZE);
    e = tensor(TWO_32, TWO_32, 4);
    assert_int_equal(simpler_dump_entry_state(&e, &bin), SIMPLER_DUMP_BAD_SHAPE);
    e.shape_count = 0; /* one element */
    assert_int_equal(simpler_dump_entry_state(&e, &bin), SIMPLER_DUMP_WHOLE);
    simpler_dump_entry_note(&e, &bin, note, sizeof(note));
    assert_string_equal(note, "zero-dim");
    e.kind = SIMPLER_DUMP_SCALAR;
    assert_int_equal(simpler_dump_entry_state(&e, &bin), SIMPLER_DUMP_IS_SCALAR);
}

static void scalars_have_bits(void **state)
{
    (void)state;
    static const struct {
        uint32_t dtype;
        const char *value;
        bool fine;
        uint64_t bits;
    } cases[] = {
        {SIMPLER_DTYPE_FLOAT32, "1.5", true, 0x3fc00000},
        {SIMPLER_DTYPE_FLOAT32, "nan", true, 0x7fc00000},
        {SIMPLER_DTYPE_FLOAT32, "null", true, 0x7fc00000},
        {SIMPLER_DTYPE_FLOAT32, "-inf", true, 0xff800000},
        {SIMPLER_DTYPE_FLOAT32, "-$Inf", true, 0xff800000},
        {SIMPLER_DTYPE_FLOAT32, "1x", false, 0},
        {SIMPLER_DTYPE_FLOAT64, "-0.0", true, 0x8000000000000000},
        {SIMPLER_DTYPE_INT16, "-1", true, 0xffff},
        {SIMPLER_DTYPE_INT16, "65535", true, 0xffff},
        {SIMPLER_DTYPE_INT16, "65536", false, 0},
        {SIMPLER_DTYPE_INT16, "-32769", false, 0},
        {SIMPLER_DTYPE_UINT16, "-1", false, 0},
        {SIMPLER_DTYPE_UINT64, "18446744073709551615", true, UINT64_MAX},
        {SIMPLER_DTYPE_UINT64, "18446744073709551616", false, 0},
        {SIMPLER_DTYPE_INT64, "-9223372036854775808", true, 0x8000000000000000},
        {SIMPLER_DTYPE_BOOL, "true", true, 1},
        {SIMPLER_DTYPE_BOOL, "false", true, 0},
        {SIMPLER_DTYPE_INT32, "", false, 0},
        {SIMPLER_DTYPE_NUM, "1", false, 0},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct simpler_dump_entry e = {.kind = SIMPLER_DUMP_SCALAR, .dtype = cases[i].dtype};
        uint64_t bits = 0;
        (void)snprintf(e.value, sizeof(e.value), "%s", cases[i].value);
        if (simpler_dump_entry_scalar_bits(&e, &bits) != cases[i].fine || bits != cases[i].bits)
            fail_msg("case %zu: %s", i, cases[i].value);
    }
}

/* AD-15: task as an unsigned number, before < after, argument, role. */
static void order(void **state)
{
    (void)state;
    struct simpler_dump_entry a = {.task_id = 1};
    struct simpler_dump_entry b = {.task_id = UINT64_MAX};

    assert_true(simpler_dump_entry_compare(&a, &b) < 0);
    b = a;
    assert_int_equal(simpler_dump_entry_compare(&a, &b), 0);
    b.role = SIMPLER_DUMP_OUTPUT;
    assert_true(simpler_dump_entry_compare(&a, &b) < 0);
    a.arg_index = 1;
    assert_true(simpler_dump_entry_compare(&a, &b) > 0);
    b.stage = SIMPLER_DUMP_AFTER;
    assert_true(simpler_dump_entry_compare(&a, &b) < 0);
}

static void array_headers(void **state)
{
    (void)state;
    static const uint64_t shape[] = {3, 0, 18446744073709551615U};
    char header[SIMPLER_NPY_HEADER_MAX];
    size_t n = simpler_npy_file_header(SIMPLER_DTYPE_FLOAT32, shape, 3, 64, header);

    assert_int_equal(n % 64, 0);
    assert_memory_equal(header, "\x93NUMPY\x01\x00", 8);
    assert_int_equal((unsigned char)header[8] + 256 * (unsigned char)header[9], n - 10);
    assert_int_equal(header[n - 1], '\n');
    header[n - 1] = '\0';
    assert_non_null(strstr(header + 10, "{'descr': '<f4', 'fortran_order': False, 'shape': "
                                        "(3, 0, 18446744073709551615), }"));
    n = simpler_npy_file_header(SIMPLER_DTYPE_BFLOAT16, shape, 1, 64, header);
    header[n - 1] = '\0';
    assert_non_null(
        strstr(header + 10, "'descr': '<u2', 'fortran_order': False, 'shape': (3,), }"));
    n = simpler_npy_file_header(SIMPLER_DTYPE_BOOL, NULL, 0, 64, header);
    header[n - 1] = '\0';
    assert_non_null(strstr(header + 10, "'descr': '|b1', 'fortran_order': False, 'shape': (), }"));
    n = simpler_npy_file_header(SIMPLER_DTYPE_INT8, shape, 3, 4096, header);
    assert_int_equal(n, 4096);
    assert_int_equal((unsigned char)header[8] + 256 * (unsigned char)header[9], n - 10);
    assert_int_equal(header[n - 1], '\n');
    assert_int_equal(header[n - 2], ' ');
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_and_sums_are_checked),
        cmocka_unit_test(states),
        cmocka_unit_test(scalars_have_bits),
        cmocka_unit_test(order),
        cmocka_unit_test(array_headers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
