/* SPDX-License-Identifier: Apache-2.0 */
// ctest: TIMEOUT 300
/*
 * A dump of any size: in `make soak` (SIMPLER_TEST_SECONDS is set) 20 GB at level 2, else
 * 530 MiB, through arenas of 16 MiB.  args.bin is a real file; what has been checked
 * is punched out of it while the run goes on, so that the disk never holds it all.
 * Every byte is compared, every entry of the manifest must stand where its bytes were.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "cm.h"
#include "dump_rig.h"
#include "report/dump_manifest.h"
#include "simpler/log.h"

#define BYTES  ((size_t)1 << 20)
#define WORDS  (BYTES / 8)
#define MOST   20000u /* payloads */
#define NO_SUM UINT32_MAX

static uint64_t words[WORDS];

/* ---- the run ---- */

static uint64_t word_of(uint64_t sum, size_t k)
{
    return (k + 1) * 0x9e3779b97f4a7c15u + sum;
}

/* Task i finds sum i and leaves i + 1. */
static int stamp(const int64_t *args, uint32_t tensors, void *user)
{
    uint64_t *at = simpler_kernel_data(args, 0);

    (void)tensors;
    (void)user;
    for (size_t k = 0; k < WORDS; k++)
        at[k]++;
    return 0;
}

static void graph(struct simpler_orch *orch, void *user)
{
    uint32_t tasks = *(uint32_t *)user;
    struct simpler_tensor t = kit_tensor(words, WORDS, SIMPLER_DTYPE_UINT64);
    struct simpler_task_args args;

    for (uint32_t i = 0; i < tasks; i++) {
        simpler_task_args_reset(&args);
        simpler_task_args_add_inout(&args, &t);
        KIT_EXPECT_EQUAL(kit_submit(orch, &args, stamp, NULL, NULL), 0);
    }
}

/* ---- the checker ---- */

struct checker {
    pthread_t thread;
    _Atomic bool ended; /* the run: the file's size is final */
    uint32_t sum[MOST]; /* of the payload at each MiB of the file */
    uint32_t count;     /* payloads checked */
    uint32_t wrong;     /* payloads that are none */
    uint64_t most_kept; /* bytes of the file on the disk at once */
    bool has_holes;
};
static struct checker checker;

static void check_payload(struct checker *c, const uint64_t *payload)
{
    uint64_t sum = payload[0] - word_of(0, 0);
    bool right = sum < MOST;

    for (size_t k = 0; k < WORDS && right; k++)
        right = payload[k] == word_of(sum, k);
    c->wrong += !right;
    c->sum[c->count++] = right ? (uint32_t)sum : NO_SUM;
}

/* Checks what is in the file; false: nothing new. */
static bool check_more(struct checker *c, int fd)
{
    static uint64_t payload[WORDS];
    uint64_t at = c->count * (uint64_t)BYTES;
    struct stat st;

    if (c->count == MOST || fstat(fd, &st) != 0 || (uint64_t)st.st_size < at + BYTES ||
        pread(fd, payload, BYTES, (off_t)at) != (ssize_t)BYTES)
        return false;
    if ((uint64_t)st.st_blocks * 512 > c->most_kept)
        c->most_kept = (uint64_t)st.st_blocks * 512;
    check_payload(c, payload);
    c->has_holes = c->has_holes && fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                                             (off_t)at, (off_t)BYTES) == 0;
    return true;
}

static void *checker_main(void *argument)
{
    struct checker *c = argument;
    char path[256];
    int fd = -1;

    dump_path(path, sizeof(path), "args.bin");
    for (;;) {
        bool ended = atomic_load_explicit(&c->ended, memory_order_acquire);
        if (fd < 0)
            fd = open(path, O_RDWR | O_CLOEXEC);
        if (fd >= 0 && check_more(c, fd))
            continue;
        if (ended)
            break;
        kit_sleep_ns(200000);
    }
    if (fd >= 0)
        (void)close(fd);
    return NULL;
}

static void check_manifest(uint32_t tasks)
{
    struct simpler_dump_manifest *m;
    struct simpler_dump_entry e;
    uint32_t tensors = 0;
    char path[256];

    dump_path(path, sizeof(path), "args_dump.json");
    assert_int_equal(simpler_dump_manifest_open(path, &m), 0);
    while (simpler_dump_manifest_next(m, &e) > 0) {
        if (e.kind == SIMPLER_DUMP_SCALAR)
            continue;
        tensors++;
        assert_int_equal(e.bin_size, BYTES);
        assert_int_equal(e.bin_offset % BYTES, 0);
        assert_true(e.bin_offset / BYTES < checker.count);
        assert_int_equal(checker.sum[e.bin_offset / BYTES],
                         e.task_id + (e.stage == SIMPLER_DUMP_AFTER));
        checker.sum[e.bin_offset / BYTES] = NO_SUM; /* no other entry has it */
    }
    assert_string_equal(simpler_dump_manifest_error(m), "");
    simpler_dump_manifest_close(m);
    assert_int_equal(tensors, 2 * tasks);
}

/* Whether the disk has room for it; holes make much of it enough. */
static bool has_room(uint64_t bytes)
{
    struct statvfs st;

    return statvfs(dump_prefix, &st) == 0 && (uint64_t)st.f_bavail * st.f_frsize > bytes;
}

/* What was reserved ahead of the writes is given back; all else has been punched out. */
static void check_blocks(void)
{
    char path[256];
    struct stat st;

    dump_path(path, sizeof(path), "args.bin");
    assert_int_equal(stat(path, &st), 0);
    assert_true(!checker.has_holes || (uint64_t)st.st_blocks * 512 < 4 * BYTES);
}

static void any_volume(void **state)
{
    bool is_soak = getenv("SIMPLER_TEST_SECONDS") != NULL;
    /* 530 MiB: of blocks that are reserved 64 MiB at a time some are left over at the end. */
    uint32_t tasks = is_soak ? (uint32_t)(20000000000u / BYTES / 2) + 1 : 265;
    struct simpler_dump_config sizes = {
        .records_per_buffer = 32, .buffers_per_thread = 8, .avg_tensor_bytes = 65536};
    struct kit kit;

    (void)state;
    if (!has_room(2 * (uint64_t)tasks * BYTES)) {
        print_message("the disk has no room for %u MiB\n", 2 * tasks);
        skip();
    }
    checker.has_holes = true;
    for (size_t k = 0; k < WORDS; k++)
        words[k] = word_of(0, k);
    dump_open(&kit, &sizes);
    assert_int_equal(pthread_create(&checker.thread, NULL, checker_main, &checker), 0);
    int status = dump_run(&kit, graph, &tasks, dump_prefix, 2);
    atomic_store_explicit(&checker.ended, true, memory_order_release);
    assert_int_equal(pthread_join(checker.thread, NULL), 0);
    assert_int_equal(status, 0);
    assert_int_equal(dump_result.args_dump.status, 0);
    assert_int_equal(dump_result.args_dump.truncated, 0);
    assert_int_equal(dump_result.args_dump.records, tasks * 4);
    assert_int_equal(dump_result.args_dump.payload_bytes, 2 * (uint64_t)tasks * BYTES);
    assert_int_equal(checker.count, 2 * tasks);
    assert_int_equal(checker.wrong, 0);
    for (size_t k = 0; k < WORDS; k++)
        assert_int_equal(words[k], word_of(tasks, k));
    check_manifest(tasks);
    check_blocks();
    print_message("%u MiB, at most %llu MiB of it on the disk\n", 2 * tasks,
                  (unsigned long long)(checker.most_kept >> 20));
    kit_close(&kit);
}

int main(void)
{
    const struct CMUnitTest tests[] = {DUMP_TEST(any_volume)};
    simpler_log_set_level(SIMPLER_LOG_WARN);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
