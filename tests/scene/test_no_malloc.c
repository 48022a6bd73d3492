/* SPDX-License-Identifier: Apache-2.0 */
/*
 * In the steady state of a run nobody allocates: this program's own malloc counts
 * while the orchestration says so, on every thread (SY-01).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cm.h"
#include "kit.h"

#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define COUNTS 1
#else
#define COUNTS 0
#endif

static _Atomic int counting;
static _Atomic uint64_t calls;

#if COUNTS
/* The allocator behind the names that this program replaces. */
extern void *__libc_malloc(size_t bytes);
extern void *__libc_calloc(size_t count, size_t bytes);
extern void *__libc_realloc(void *block, size_t bytes);
extern void *__libc_memalign(size_t alignment, size_t bytes);
extern void __libc_free(void *block);

static void count_call(void)
{
    if (atomic_load_explicit(&counting, memory_order_relaxed))
        atomic_fetch_add_explicit(&calls, 1, memory_order_relaxed);
}

void *malloc(size_t bytes)
{
    count_call();
    return __libc_malloc(bytes);
}

void *calloc(size_t count, size_t bytes)
{
    count_call();
    return __libc_calloc(count, bytes);
}

void *realloc(void *block, size_t bytes)
{
    count_call();
    return __libc_realloc(block, bytes);
}

void *aligned_alloc(size_t alignment, size_t bytes)
{
    count_call();
    return __libc_memalign(alignment, bytes);
}

int posix_memalign(void **out, size_t alignment, size_t bytes)
{
    count_call();
    *out = __libc_memalign(alignment, bytes);
    return *out != NULL ? 0 : ENOMEM;
}

void free(void *block)
{
    count_call();
    __libc_free(block);
}
#endif

static struct kit kit;
static struct simpler_run_result result;
static uint64_t cells[256];

static int short_kernel(const int64_t *args, uint32_t tensors, void *user)
{
    (void)args;
    (void)tensors;
    if (user != NULL)
        kit_spin_ns(5000);
    return 0;
}

/* Every path: views, outputs, scopes, dummies, explicit edges, get and set, full window. */
static void work(struct simpler_orch *orch, uint32_t tasks)
{
    struct simpler_create_info info = kit_info(300, SIMPLER_DTYPE_FLOAT32);
    struct simpler_tensor whole = kit_tensor(cells, 256, SIMPLER_DTYPE_UINT64);
    static struct simpler_task_outputs out, other;
    struct simpler_task_args args;
    uint32_t origin = 0;
    uint64_t value = 1;
    for (uint32_t i = 0; i < tasks; i++) {
        SIMPLER_SCOPE(orch)
        {
            struct simpler_tensor cell = kit_cell(&whole, i % 256);
            struct simpler_tensor slice;
            simpler_tensor_slice(&whole, 0, i % 16, 256, 16, &slice);
            simpler_orch_alloc_tensors(orch, &info, 1, &out);
            simpler_task_args_reset(&args);
            simpler_task_args_add_create(&args, &info);
            simpler_task_args_add_input(&args, &slice);
            simpler_task_args_add_inout(&args, &cell);
            simpler_task_args_add_no_dep(&args, &out.tensor[0]);
            kit_submit_variant(orch, i % 8, &args, short_kernel, i % 50 == 0 ? cells : NULL,
                               &other);
            simpler_task_args_reset(&args);
            simpler_task_args_add_inout(&args, &other.tensor[0]);
            simpler_task_args_set_dependencies(&args, &out.id, 1);
            simpler_orch_submit_dummy(orch, &args, NULL);
            if (i % 100 == 0)
                simpler_orch_set_tensor_data(orch, &cell, &origin, &value);
        }
    }
}

static void warm_then_count(struct simpler_orch *orch, void *user)
{
    (void)user;
    work(orch, 3000);
    atomic_store(&counting, 1);
    work(orch, 3000);
    atomic_store(&counting, 0);
}

static void a_run_in_its_steady_state_allocates_nothing(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 6; i++) {
        struct simpler_call_config config = kit_config(1 + i % 3);
        kit_set_window(&config, i < 3 ? 64 : 1024);
        config.hazards = i % 2 == 0 ? SIMPLER_HAZARDS_ALL : SIMPLER_HAZARDS_RAW;
        config.exec = i == 5 ? SIMPLER_EXEC_THREADS : SIMPLER_EXEC_INLINE;
        atomic_store(&calls, 0);
        int rc = kit_run(&kit, warm_then_count, NULL, &config, &result);
        if (rc != 0)
            fail_msg("%s", result.message);
        assert_int_equal(atomic_load(&calls), 0);
    }
    if (!COUNTS)
        SKIP_TEST("the sanitizer owns malloc");
    /* The counter works. */
    atomic_store(&counting, 1);
    void *volatile block = malloc(10);
    free(block);
    atomic_store(&counting, 0);
    assert_int_equal(atomic_load(&calls), 2);
}

KIT_FIXTURE(kit)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_run_in_its_steady_state_allocates_nothing),
    };
    return cmocka_run_group_tests(tests, open_kit, close_kit);
}
