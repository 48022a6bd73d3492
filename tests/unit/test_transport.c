/* SPDX-License-Identifier: Apache-2.0 */
/*
 * AD-21: the two transports.  Mapped: one memory.  Shadow: nothing crosses without
 * a copy, a copy is of what it names and no more, and host code that follows a
 * device address dies at once.
 */
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cm.h"
#include "base/testpoint.h"
#include "platform/transport.h"
#include "simpler/status.h"
#include "wire/device_address.h"

#define BYTES 4096u

static const struct simpler_transport_ops *const both[] = {&simpler_transport_mapped,
                                                           &simpler_transport_shadow};

static struct simpler_region make(const struct simpler_transport_ops *transport)
{
    struct simpler_region region;

    assert_int_equal(transport->alloc(&(struct simpler_region_request){.bytes = BYTES}, &region),
                     0);
    assert_int_equal(region.bytes, BYTES);
    return region;
}

static uint8_t *device_of(const struct simpler_region *region)
{
    return simpler_device_place(region->device);
}

static bool is_zero(const uint8_t *at, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        if (at[i] != 0)
            return false;
    }
    return true;
}

static void memory_is_zeroed_and_aligned(void **state)
{
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct simpler_region region = make(both[i]);
        assert_int_equal((uintptr_t)region.host % 64, 0);
        assert_int_equal(region.device % 64, 0);
        assert_true(is_zero(region.host, BYTES) && is_zero(device_of(&region), BYTES));
        both[i]->free(&region);
        assert_null(region.host);
    }
}

static void mapped_memory_is_one(void **state)
{
    (void)state;
    struct simpler_region region = make(&simpler_transport_mapped);
    uint8_t scratch[8];

    assert_ptr_equal(device_of(&region), region.host);
    assert_int_equal(region.device, (uintptr_t)region.host);
    assert_ptr_equal(simpler_transport_mapped.view(&region, 17, 8, scratch), region.host + 17);
    simpler_transport_mapped.free(&region);
}

static void a_copy_is_of_what_it_names(void **state)
{
    (void)state;
    const struct simpler_transport_ops *t = &simpler_transport_shadow;
    struct simpler_region region = make(t);
    uint8_t *device = device_of(&region), scratch[40];

    memset(region.host, 1, BYTES);
    assert_true(is_zero(device, BYTES));
    assert_int_equal(t->flush(&region, 64, 16), 0);
    assert_true(is_zero(device, 64) && is_zero(device + 80, BYTES - 80));
    assert_int_equal(device[64] + device[79], 2);

    memset(device, 2, BYTES);
    assert_int_equal(region.host[8], 1);
    assert_int_equal(t->fetch(&region, 8, 8), 0);
    assert_int_equal(region.host[7], 1);
    assert_int_equal(region.host[8] + region.host[15], 4);
    assert_int_equal(region.host[16], 1);

    memset(scratch, 9, sizeof(scratch));
    device[BYTES - 1] = 3;
    assert_ptr_equal(t->view(&region, BYTES - 5, 5, scratch + 3), scratch + 3);
    assert_int_equal(scratch[2] + scratch[8], 18);
    assert_int_equal(scratch[3] + scratch[7], 5);
    t->free(&region);
}

static void what_is_not_inside_is_refused(void **state)
{
    (void)state;
    const struct simpler_transport_ops *t = &simpler_transport_shadow;
    struct simpler_region region = make(t);
    uint8_t scratch[16];

    assert_int_equal(t->fetch(&region, BYTES, 8), SIMPLER_EINVAL);
    assert_int_equal(t->fetch(&region, SIZE_MAX - 7, 8), SIMPLER_EINVAL);
    assert_int_equal(t->flush(&region, BYTES - 8, 16), SIMPLER_EINVAL);
    assert_int_equal(t->flush(&region, 4, 8), SIMPLER_EINVAL);
    assert_int_equal(t->flush(&region, 8, 4), SIMPLER_EINVAL);
    assert_null(t->view(&region, BYTES - 3, 4, scratch));
    assert_null(t->view(&region, SIZE_MAX, 4, scratch));
    t->free(&region);
}

#if defined(SIMPLER_DEBUG)
static bool fail_second(void *user, enum simpler_testpoint point)
{
    int *left = user;
    return point == SIMPLER_TESTPOINT_MAP_MEMORY && --*left <= 0;
}
#endif

/* The first or the second half cannot be had. */
static void without_memory_nothing_is_left(void **state)
{
    (void)state;
#if defined(SIMPLER_DEBUG)
    for (int nth = 1; nth <= 2; nth++) {
        struct simpler_region region = {.bytes = 77};
        int left = nth;
        simpler_testpoint_set(fail_second, &left);
        assert_int_equal(simpler_transport_shadow.alloc(
                             &(struct simpler_region_request){.bytes = BYTES}, &region),
                         SIMPLER_ENOMEM);
        simpler_testpoint_set(NULL, NULL);
        assert_int_equal(region.bytes, 77);
    }
#else
    skip();
#endif
}

/* Status of a child that reads a byte at the address. */
static int status_of_reading(uint64_t address)
{
    int status = 0;
    pid_t child = fork();

    assert_true(child >= 0);
    if (child == 0) {
        (void)signal(SIGSEGV, SIG_DFL);
        (void)signal(SIGBUS, SIG_DFL);
        _exit(*(volatile uint8_t *)(uintptr_t)address);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

static void following_a_device_address_is_fatal(void **state)
{
    (void)state;
    struct simpler_region region = make(&simpler_transport_shadow);
    uint8_t *device = device_of(&region);

    device[5] = 42;
    assert_int_equal(region.device & SIMPLER_DEVICE_BIAS, SIMPLER_DEVICE_BIAS);
    int status = status_of_reading(region.device + 5);
    assert_true(WIFSIGNALED(status));
    assert_true(WTERMSIG(status) == SIGSEGV || WTERMSIG(status) == SIGBUS);
    status = status_of_reading((uint64_t)(uintptr_t)device + 5);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 42);
    simpler_transport_shadow.free(&region);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_is_zeroed_and_aligned),
        cmocka_unit_test(mapped_memory_is_one),
        cmocka_unit_test(a_copy_is_of_what_it_names),
        cmocka_unit_test(what_is_not_inside_is_refused),
        cmocka_unit_test(without_memory_nothing_is_left),
        cmocka_unit_test(following_a_device_address_is_fatal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
