/* SPDX-License-Identifier: Apache-2.0 */
#include "dump_rig.h"

#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cm.h"
#include "report/dump_manifest.h"
#include "simpler/log.h"

char dump_prefix[64];
struct simpler_run_result dump_result;

/* ---- places ---- */

int dump_make_prefix(void **state)
{
    (void)state;
    (void)snprintf(dump_prefix, sizeof(dump_prefix), "/tmp/test_dump_XXXXXX");
    return mkdtemp(dump_prefix) == NULL;
}

int dump_remove_prefix(void **state)
{
    char command[128];

    (void)state;
    (void)snprintf(command, sizeof(command), "rm -rf '%s'", dump_prefix);
    return system(command);
}

void dump_path(char *path, size_t bytes, const char *name)
{
    (void)snprintf(path, bytes, "%s/args_dump/%s", dump_prefix, name);
}

bool dump_exists(const char *name)
{
    char path[256];
    dump_path(path, sizeof(path), name);
    return access(path, F_OK) == 0;
}

/* ---- runs ---- */

void dump_open(struct kit *kit, const struct simpler_dump_config *sizes)
{
    struct simpler_worker_config config = SIMPLER_WORKER_CONFIG_INIT;

    config.dump = *sizes;
    kit_open_config(kit, &config);
}

void dump_open_small(struct kit *kit)
{
    dump_open(kit, &(struct simpler_dump_config){
                       .records_per_buffer = 4, .buffers_per_thread = 4, .avg_tensor_bytes = 256});
}

int dump_run(struct kit *kit, kit_orch fn, void *user, const char *where, uint32_t level)
{
    struct simpler_call_config config = kit_config(2);

    config.enable_dump_args = level;
    config.output_prefix = where;
    return kit_run(kit, fn, user, &config, &dump_result);
}

/* ---- the chain ---- */

int dump_increment(const int64_t *args, uint32_t tensors, void *user)
{
    int32_t *cells = simpler_kernel_data(args, 0);

    (void)tensors;
    (void)user;
    for (int i = 0; i < DUMP_CELLS; i++)
        cells[i]++;
    return 0;
}

void dump_chain_graph(struct simpler_orch *orch, void *user)
{
    struct dump_chain *chain = user;
    struct simpler_tensor t = kit_tensor(chain->cells, DUMP_CELLS, SIMPLER_DTYPE_INT32);
    struct simpler_task_args args;

    for (uint32_t i = 0; i < chain->tasks; i++) {
        bool last = i + 1 == chain->tasks && chain->last != NULL;
        simpler_task_args_reset(&args);
        simpler_task_args_add_inout(&args, &t);
        (void)kit_submit(orch, &args, last ? chain->last : dump_increment, chain, NULL);
    }
}

void dump_check_chain(uint32_t *truncated)
{
    struct simpler_dump_manifest *m;
    struct simpler_dump_entry e;
    char path[256];
    uint64_t entries = 0;
    struct stat st;

    dump_path(path, sizeof(path), "args.bin");
    int bin = open(path, O_RDONLY);
    assert_true(bin >= 0 && fstat(bin, &st) == 0);
    assert_int_equal(st.st_size, dump_result.args_dump.payload_bytes);
    dump_path(path, sizeof(path), "args_dump.json");
    assert_int_equal(simpler_dump_manifest_open(path, &m), 0);
    *truncated = 0;
    while (simpler_dump_manifest_next(m, &e) > 0) {
        int32_t cells[DUMP_CELLS], want = (int32_t)e.task_id + (e.stage == SIMPLER_DUMP_AFTER);
        entries++;
        if (e.kind == SIMPLER_DUMP_SCALAR)
            continue;
        assert_true(e.bin_size == sizeof(cells) || e.truncated);
        assert_int_equal(e.bin_size % 4, 0);
        *truncated += e.truncated;
        assert_int_equal(pread(bin, cells, e.bin_size, (off_t)e.bin_offset), e.bin_size);
        for (uint64_t i = 0; i < e.bin_size / 4; i++)
            assert_int_equal(cells[i], want);
    }
    assert_string_equal(simpler_dump_manifest_error(m), "");
    assert_int_equal(simpler_dump_manifest_header(m)->count[SIMPLER_DUMP_COUNT_TRUNCATED],
                     *truncated);
    simpler_dump_manifest_close(m);
    (void)close(bin);
    assert_int_equal(entries, dump_result.args_dump.records);
}

/* ---- the log ---- */

static void keep_line(void *user, int level, const char *line)
{
    struct dump_log *log = user;
    size_t used = strlen(log->text);

    (void)level;
    log->lines++;
    (void)snprintf(log->text + used, sizeof(log->text) - used, "%s\n", line);
}

void dump_log_start(struct dump_log *log)
{
    memset(log, 0, sizeof(*log));
    simpler_log_set_callback(keep_line, log);
}

void dump_log_stop(void)
{
    simpler_log_set_callback(NULL, NULL);
}

/* ---- what fails, what is slow ---- */

#if defined(SIMPLER_DEBUG)
static _Atomic int failing; /* enum simpler_testpoint */
static _Atomic int64_t before_failure;

static bool fail_from_nth(void *user, enum simpler_testpoint point)
{
    (void)user;
    return (int)point == atomic_load_explicit(&failing, memory_order_relaxed) &&
           atomic_fetch_sub_explicit(&before_failure, 1, memory_order_relaxed) <= 0;
}

void dump_fail_from(enum simpler_testpoint point, int64_t nth)
{
    atomic_store_explicit(&failing, (int)point, memory_order_relaxed);
    atomic_store_explicit(&before_failure, nth, memory_order_relaxed);
    simpler_testpoint_set(fail_from_nth, NULL);
}

bool dump_failed(void)
{
    return atomic_load_explicit(&before_failure, memory_order_relaxed) < 0;
}

static _Atomic uint64_t sleep_ns;
static _Atomic bool sleep_exactly;

static bool write_slowly(void *user, enum simpler_testpoint point)
{
    static _Atomic uint64_t calls;
    uint64_t most = atomic_load_explicit(&sleep_ns, memory_order_relaxed);
    uint64_t n = atomic_fetch_add_explicit(&calls, 1, memory_order_relaxed);

    (void)user;
    if (point == SIMPLER_TESTPOINT_DUMP_BIN_WRITE)
        kit_sleep_ns(
            atomic_load_explicit(&sleep_exactly, memory_order_relaxed) ? most : kit_mix(n) % most);
    return false;
}

void dump_slow_writes(uint64_t most_ns, bool exact)
{
    atomic_store_explicit(&sleep_ns, most_ns, memory_order_relaxed);
    atomic_store_explicit(&sleep_exactly, exact, memory_order_relaxed);
    simpler_testpoint_set(write_slowly, NULL);
}
#endif
