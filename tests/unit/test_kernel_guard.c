/* SPDX-License-Identifier: Apache-2.0 */
/* The word around a kernel: what a thread that is asked, and is not inside one, makes of it. */
#include <stdint.h>

#include "cm.h"
#include "task/kernel_guard.h"

static void who_is_only_asked_is_not_revoked(void **state)
{
    static const bool revoked[] = {
        [SIMPLER_REVOKE_NOT] = false,
        [SIMPLER_REVOKE_ASKED] = false,
        [SIMPLER_REVOKE_DONE] = true,
        [SIMPLER_REVOKE_RELEASED] = true,
    };
    struct simpler_kernel_guard guard;

    (void)state;
    atomic_init(&guard.kernel, SIMPLER_NO_KERNEL);
    atomic_init(&guard.state, SIMPLER_THREAD_LIVE);
    for (uint32_t i = 0; i < sizeof(revoked); i++) {
        atomic_init(&guard.revoke, i);
        assert_int_equal(simpler_kernel_guard_is_revoked(&guard), revoked[i]);
    }
}

/* Asked before it has left: it finds the question behind the kernel, and says so. */
static void who_leaves_finds_the_question(void **state)
{
    struct simpler_kernel_guard guard;

    (void)state;
    atomic_init(&guard.state, SIMPLER_THREAD_LIVE);
    atomic_init(&guard.revoke, SIMPLER_REVOKE_NOT);
    simpler_kernel_guard_enter(&guard, 7);
    assert_int_equal(atomic_load(&guard.kernel), 7);
    atomic_store(&guard.revoke, SIMPLER_REVOKE_ASKED);
    assert_int_equal(simpler_kernel_guard_leave(&guard), SIMPLER_REVOKE_ASKED);
    assert_int_equal(atomic_load(&guard.kernel), SIMPLER_NO_KERNEL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_is_only_asked_is_not_revoked),
        cmocka_unit_test(who_leaves_finds_the_question),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
