/* SPDX-License-Identifier: Apache-2.0 */
/* ctest: TIMEOUT 300 RUN_SERIAL */
/*
 * A dump whose memory is reached by copies takes at most 1.5 times as long as one
 * of shared memory: the same graphs on two chips, in turns in one process, from the
 * call to the finished manifest.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cm.h"
#include "kit.h"

#define BYTES ((size_t)64 << 20) /* what the tensors lie in */
#define LIMIT 1.5

static struct simpler_run_result result;
static uint8_t *memory;
static char prefix[64];

struct load {
    const char *name;
    uint32_t tasks, tensors, bytes; /* of each tensor */
    uint64_t spin_ns;               /* of each kernel */
    int rounds;
};

static int spin(const int64_t *args, uint32_t tensors, void *user)
{
    const struct load *load = user;

    (void)args;
    (void)tensors;
    if (load->spin_ns != 0)
        kit_spin_ns(load->spin_ns);
    return 0;
}

static void submit(struct simpler_orch *orch, void *user)
{
    struct load *load = user;
    struct simpler_tensor t[8];
    struct simpler_task_args args;

    for (uint32_t i = 0; i < load->tasks; i++) {
        simpler_task_args_reset(&args);
        for (uint32_t k = 0; k < load->tensors; k++) {
            size_t at = ((size_t)i * load->tensors + k) % (BYTES / load->bytes);
            t[k] = kit_tensor(memory + at * load->bytes, load->bytes, SIMPLER_DTYPE_UINT8);
            simpler_task_args_add_input(&args, &t[k]);
        }
        kit_submit(orch, &args, spin, load, NULL);
    }
}

static double run(struct kit *kit, struct load *load)
{
    struct simpler_call_config config = kit_config(2);
    char path[128];

    (void)snprintf(path, sizeof(path), "%s/args_dump/args.bin", prefix);
    (void)remove(path);
    config.enable_dump_args = 2;
    config.output_prefix = prefix;
    uint64_t start = kit_now_ns();
    assert_int_equal(kit_run(kit, submit, load, &config, &result), 0);
    uint64_t ns = kit_now_ns() - start;
    assert_int_equal(result.args_dump.status, 0);
    assert_int_equal(result.args_dump.payload_bytes,
                     (uint64_t)load->tasks * load->tensors * load->bytes);
    return (double)ns;
}

/*
 * The best of several rounds in turns, of more where it is not enough: what others do
 * to the machine makes a run only longer.
 */
static void compare(struct kit chips[2], struct load *load)
{
    double best[2] = {0, 0};
    int rounds = kit_is_optimised() ? load->rounds : 2;

    for (int i = 0; i < rounds || (i < 5 * rounds && best[1] > LIMIT * best[0]); i++) {
        for (int c = 0; c < 2; c++) {
            double ns = run(&chips[c], load);
            best[c] = i == 0 || ns < best[c] ? ns : best[c];
        }
    }
    double ratio = best[1] / best[0];
    print_message("%-28s %8.2f ms shared, %8.2f ms copied, ratio %.2f\n", load->name, best[0] / 1e6,
                  best[1] / 1e6, ratio);
    if (kit_is_optimised() && ratio > LIMIT)
        fail_msg("%s: %.2f times as long", load->name, ratio);
}

static void copies_take_at_most_half_as_long_again(void **state)
{
    static struct load loads[] = {
        {.name = "64 tensors of 1 MiB", .tasks = 64, .tensors = 1, .bytes = 1u << 20, .rounds = 11},
        {.name = "2,000 tensors of 16 KiB",
         .tasks = 500,
         .tensors = 4,
         .bytes = 16384,
         .rounds = 21},
        {.name = "80,000 tensors of 64 bytes",
         .tasks = 10000,
         .tensors = 8,
         .bytes = 64,
         .rounds = 11},
        {.name = "kernels of 20 us",
         .tasks = 500,
         .tensors = 2,
         .bytes = 4096,
         .spin_ns = 20000,
         .rounds = 21},
        {.name = "one task", .tasks = 1, .tensors = 1, .bytes = 64, .rounds = 301},
    };
    struct kit chips[2];
    char command[128];

    (void)state;
    (void)snprintf(prefix, sizeof(prefix), "/tmp/test_dump_time_XXXXXX");
    assert_non_null(mkdtemp(prefix));
    memory = malloc(BYTES);
    assert_non_null(memory);
    memset(memory, 7, BYTES);
    kit_open_platform(&chips[0], "a2a3sim");
    kit_open_platform(&chips[1], "a5sim");
    for (size_t i = 0; i < sizeof(loads) / sizeof(loads[0]); i++)
        compare(chips, &loads[i]);
    kit_close(&chips[0]);
    kit_close(&chips[1]);
    free(memory);
    (void)snprintf(command, sizeof(command), "rm -rf '%s'", prefix);
    assert_int_equal(system(command), 0);
    if (!kit_is_optimised())
        SKIP_TEST("the ratio is for optimised builds");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(copies_take_at_most_half_as_long_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
