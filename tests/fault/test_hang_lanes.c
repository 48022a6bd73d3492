/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ctest: TIMEOUT 900
 * runtimes: all
 * Kernels that return just before, at and just after the moment in which the run is taken away
 * from them, with both diagnostics, over and over (AD-29, SS-19, SS-22, SS-23).  After each run
 * the device's memory is read by the side of the collection, and once more when all threads have
 * left: a lane has one writer and is not touched after its end; each argument is in one lane
 * once, or is counted as lost once; what a hung task has written so far is in the monitor's lane
 * alone; the files say the same.  SIMPLER_TEST_ROUNDS, or SIMPLER_TEST_SECONDS: how long.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/testpoint.h"
#include "collect/args_dump/args_dump_wire.h"
#include "collect/scope_stats/scope_stats_wire.h"
#include "hang_rig.h"
#include "lane_watch.h"
#include "report/dump_manifest.h"
#include "report/scope_model.h"
#include "scope_file.h"

#define TASKS   5u
#define SCALARS 2u
/* A thread that is not proved to have left may stand at a gate whose host has: for 30 s. */
#define QUIESCE_NS 60000000000u

/* Where the kernels of a round are let go. */
enum place { BY_ITSELF, BEFORE_CLAIM, AFTER_CLAIM, AFTER_ASK, AT_CAPTURE, AFTER_RUN, PLACES };
static const char *const place_names[] = {"by itself",       "before the claim",
                                          "after the claim", "after the question",
                                          "at the capture",  "after the run"};

/* One task of a round, as its kernel sees it. */
struct note {
    _Atomic int calls, thread, done;
    uint32_t index;
    bool hangs;
};

/* Atomic: the monitor may still stand at a test point of a run that has ended by itself. */
static struct {
    uint32_t tasks, tensors;
    uint64_t own_ns; /* a kernel that hangs comes back after that by itself; 0: never */
    _Atomic enum place place;
    _Atomic uint64_t pause_ns;                          /* of who has let go */
    _Atomic uint64_t leave_ns;                          /* of a kernel that is about to return */
    _Atomic uint32_t drop_one_in, bin_from, scope_from; /* what fails; 0: nothing */
    _Atomic int waits;                                  /* the monitor, for a first kernel */
    _Atomic int let_go, begun, refused;
    _Atomic uint32_t switches, bin_writes, scope_writes, asked;
    struct note note[TASKS];
} now;

static uint64_t cells[TASKS + 1][8];

/* What has happened to the rounds. */
static struct {
    uint32_t own_end, hung, timed_out, unproved, met, dropped, partial, truncated, told_hung,
        unbegun;
    uint32_t inside[4]; /* by the number of threads that were */
    uint32_t place[PLACES];
} tally;

/* ---- a round ---- */

enum { FRESH = 1, RUNNING = 2, DONE = 3 };

static uint64_t value(uint32_t index, uint32_t state)
{
    return (uint64_t)(index + 1) << 8 | state;
}

/* The monitor's copy of a tensor that a kernel writes is a race that is meant: sanitized kernels
 * write nothing. */
static void leave_value(const int64_t *args, uint32_t index, uint32_t state)
{
    if (!kit_is_sanitized())
        *(uint64_t *)simpler_kernel_data(args, 0) = value(index, state);
}

static int work(const int64_t *args, uint32_t tensors, void *user)
{
    struct note *n = user;
    uint64_t end = now.own_ns != 0 ? kit_now_ns() + now.own_ns : UINT64_MAX;

    (void)tensors;
    leave_value(args, n->index, RUNNING);
    atomic_store(&n->thread, gettid());
    atomic_fetch_add(&n->calls, 1);
    atomic_store(&now.begun, 1);
    while (n->hangs && !atomic_load_explicit(&now.let_go, memory_order_acquire) &&
           kit_now_ns() < end)
        ;
    leave_value(args, n->index, DONE);
    atomic_store(&n->done, 1);
    return 0;
}

/* The run may have ended. */
static void note_answer(int rc)
{
    if (rc != 0)
        atomic_store(&now.refused, 1);
}

static void submit(struct simpler_orch *orch, struct note *n)
{
    struct simpler_tensor own = kit_tensor(cells[n->index], 8, SIMPLER_DTYPE_UINT64);
    struct simpler_tensor chain = kit_tensor(cells[TASKS], 1, SIMPLER_DTYPE_UINT64);
    struct simpler_task_args args;

    simpler_task_args_reset(&args);
    simpler_task_args_add_inout(&args, &own);
    if (now.tensors == 2)
        simpler_task_args_add_inout(&args, &chain);
    note_answer(kit_submit_variant(orch, n->hangs ? KIT_LONG : 0, &args, work, n, NULL));
}

static void graph(struct simpler_orch *orch, void *user)
{
    (void)user;
    for (uint32_t i = 0; i < now.tasks; i++) {
        note_answer(simpler_orch_scope_begin_at(orch, SIMPLER_SCOPE_AUTO, "graph.c", (int)i));
        submit(orch, &now.note[i]);
        note_answer(simpler_orch_scope_end(orch));
    }
}

static void let_go(bool here)
{
    if (!here)
        return;
    atomic_store_explicit(&now.let_go, 1, memory_order_release);
    kit_spin_ns(now.pause_ns);
}

#if defined(SIMPLER_DEBUG)
static bool is_from(_Atomic uint32_t *count, uint32_t from)
{
    return from != 0 && atomic_fetch_add(count, 1) + 1 >= from;
}

/* A thread that is new may need longer than the budget to begin. */
static void wait_for_a_kernel(void)
{
    uint64_t end = kit_now_ns() + 200000000;

    while (now.waits != 0 && now.begun == 0 && kit_now_ns() < end)
        kit_sleep_ns(20000);
}

static bool at_point(void *user, enum simpler_testpoint point)
{
    (void)user;
    switch (point) {
    case SIMPLER_TESTPOINT_MONITOR_BEFORE_CLAIM:
        wait_for_a_kernel();
        let_go(now.place == BEFORE_CLAIM);
        return false;
    case SIMPLER_TESTPOINT_HANG_CLAIMED:
        let_go(now.place == AFTER_CLAIM);
        return false;
    case SIMPLER_TESTPOINT_REVOKE_AFTER_ASK:
        let_go(now.place == AFTER_ASK);
        return false;
    case SIMPLER_TESTPOINT_PARTIAL_BEFORE_CAPTURE:
        let_go(now.place == AT_CAPTURE);
        return false;
    case SIMPLER_TESTPOINT_KERNEL_BEFORE_LEAVE:
        kit_spin_ns(now.leave_ns);
        return false;
    case SIMPLER_TESTPOINT_KERNEL_ASKED:
        atomic_fetch_add(&now.asked, 1);
        return false;
    case SIMPLER_TESTPOINT_REVOKE_AT_ONCE:
        return true;
    case SIMPLER_TESTPOINT_PRODUCER_SWITCH:
        return now.drop_one_in != 0 && atomic_fetch_add(&now.switches, 1) % now.drop_one_in == 0;
    case SIMPLER_TESTPOINT_DUMP_BIN_WRITE:
        return is_from(&now.bin_writes, now.bin_from);
    case SIMPLER_TESTPOINT_SCOPE_FILE_WRITE:
        return is_from(&now.scope_writes, now.scope_from);
    default:
        return false;
    }
}
#endif

static uint32_t some(struct kit_random *chance, uint32_t percent, uint32_t most)
{
    return kit_random_chance(chance, percent) ? 1 + kit_random_below(chance, most) : 0;
}

static void choose_tasks(struct kit_random *chance)
{
    now.tasks = 1 + kit_random_below(chance, TASKS);
    now.tensors = 1 + kit_random_below(chance, 2);
    uint32_t first = kit_random_below(chance, now.tasks);
    for (uint32_t i = 0; i < TASKS; i++) {
        struct note *n = &now.note[i];
        n->index = i;
        n->hangs = i == first || kit_random_chance(chance, 20);
        n->calls = n->thread = n->done = 0;
        cells[i][0] = value(i, FRESH);
    }
    cells[TASKS][0] = value(TASKS, FRESH);
}

static void choose(struct kit_random *chance, struct simpler_call_config *config)
{
    now.let_go = now.begun = now.refused = 0;
    now.switches = now.bin_writes = now.scope_writes = now.asked = 0;
    choose_tasks(chance);
    now.place = (enum place)kit_random_below(chance, PLACES);
#if !defined(SIMPLER_DEBUG)
    now.place = kit_random_chance(chance, 80) ? BY_ITSELF : AFTER_RUN;
#endif
    now.own_ns = now.place == BY_ITSELF ? 300000 + kit_random_below(chance, 2700000) : 0;
    now.waits = kit_random_chance(chance, 90);
    now.pause_ns = some(chance, 60, 4000);
    now.leave_ns = some(chance, 30, 2000);
    now.drop_one_in = some(chance, 10, 4);
    now.bin_from = some(chance, 5, 2);
    now.scope_from = some(chance, 5, 2);
    /* Some end by their deadline, and hang then. */
    config->deadline_ns = kit_random_chance(chance, 10) ? 500000 : 0;
}

/* ---- what the lanes have ---- */

struct seen {
    uint32_t monitor; /* its lane */
    uint32_t before[TASKS], after[TASKS], partial[TASKS];
    int thread[LANE_WATCH_LANES]; /* that runs the tasks of the lane */
    uint64_t id[TASKS];           /* of the task */
    const char *fault;
    struct args_dump_record record[TASKS * 8];
    uint32_t count;
};

static void see_record(struct seen *s, uint32_t lane, const struct args_dump_record *r)
{
    uint32_t index = r->submit_seq - 1;

    if (index >= now.tasks || s->count == sizeof(s->record) / sizeof(s->record[0])) {
        s->fault = "a record of nobody";
        return;
    }
    s->record[s->count++] = *r;
    s->id[index] = r->task_id;
    int thread = atomic_load(&now.note[index].thread);
    if (lane == s->monitor) {
        s->partial[index]++;
        if (r->stage != ARGS_DUMP_AFTER)
            s->fault = "the monitor's lane has an input";
        return;
    }
    if (r->stage == ARGS_DUMP_BEFORE)
        s->before[index]++;
    else
        s->after[index]++;
    if (s->thread[lane] == 0)
        s->thread[lane] = thread;
    if (thread == 0 || s->thread[lane] != thread)
        s->fault = "a lane with the tasks of two threads";
}

static void see_buffer(void *user, uint32_t lane, const void *records, uint32_t count)
{
    const struct args_dump_record *r = records;

    for (uint32_t i = 0; i < count; i++)
        see_record(user, lane, &r[i]);
}

static void check_tasks(const struct seen *s, const struct lane_watch_run *run, bool whole)
{
    uint32_t started = 0, total = 0, partial = 0;

    for (uint32_t i = 0; i < TASKS; i++) {
        uint32_t calls = (uint32_t)atomic_load(&now.note[i].calls);
        assert_in_range(calls, 0, 1);
        started += calls;
        assert_in_range(s->before[i], whole ? calls * (now.tensors + SCALARS) : 0,
                        calls * (now.tensors + SCALARS));
        assert_in_range(s->after[i] + s->partial[i], whole ? calls * now.tensors : 0,
                        calls * now.tensors);
        assert_true(s->after[i] == 0 || s->partial[i] == 0);
        partial += s->partial[i];
    }
    for (uint32_t l = 0; l < run->lane_count; l++) {
        assert_int_equal(run->lane[l].total, run->lane[l].records + run->lane[l].dropped);
        total += run->lane[l].total;
        for (uint32_t k = 0; k < l; k++)
            assert_true(s->thread[k] == 0 || s->thread[k] != s->thread[l]);
    }
    /* Each argument of a task was attempted once, by its thread or by the monitor. */
    assert_int_equal(total, started * (2 * now.tensors + SCALARS));
    tally.partial += partial != 0;
}

/* How many threads the report has inside a kernel; those alone have partial outputs. */
static void check_inside(const struct lane_watch_run *run)
{
    uint32_t inside = (uint32_t)hang_count_of(hang_result.message, "is still inside ");

    assert_in_range(inside, 0, 3);
    assert_int_equal(run->lane[run->lane_count - 1].total, inside * now.tensors);
    tally.inside[inside]++;
}

static void check_dump_result(const struct lane_watch_run *run)
{
    const struct simpler_args_dump_result *d = &hang_result.args_dump;
    uint32_t records = 0, dropped = 0;

    for (uint32_t l = 0; l < run->lane_count; l++) {
        records += run->lane[l].records;
        dropped += run->lane[l].dropped;
    }
    assert_int_equal(d->refused_epoch, 0);
    assert_int_equal(d->write_failed, 0);
    assert_int_equal(d->records, records);
    assert_int_equal(d->dropped_no_free + d->dropped_ready_full + d->dropped_arena, dropped);
    assert_int_equal(d->has_manifest, records != 0);
    if (dropped != 0 || d->truncated != 0)
        assert_int_equal(d->status, SIMPLER_EPARTIAL);
    else if (now.bin_from == 0)
        assert_int_equal(d->status, 0);
    tally.dropped += dropped != 0;
    tally.truncated += d->truncated != 0;
}

/* ---- the files ---- */

static int by_entry(const void *a, const void *b)
{
    const struct args_dump_record *x = a, *y = b;

    if (x->task_id != y->task_id)
        return x->task_id < y->task_id ? -1 : 1;
    if (x->stage != y->stage)
        return x->stage < y->stage ? -1 : 1;
    return x->arg_index < y->arg_index ? -1 : x->arg_index > y->arg_index;
}

static void check_payload(const struct seen *s, const struct simpler_dump_entry *e, int bin)
{
    uint64_t word = 0;
    uint32_t index = 0;

    assert_int_equal(pread(bin, &word, sizeof(word), (off_t)e->bin_offset), sizeof(word));
    if (e->arg_index != 0 || kit_is_sanitized())
        return;
    while (s->id[index] != e->task_id)
        assert_true(++index < TASKS);
    if (e->stage == SIMPLER_DUMP_BEFORE)
        assert_int_equal(word, value(index, FRESH));
    else if (s->partial[index] == 0)
        assert_int_equal(word, value(index, DONE));
    else
        assert_true(word == value(index, RUNNING) || word == value(index, DONE));
}

/* The manifest has what is in the lanes' buffers, in its order, each once. */
static void check_manifest(struct seen *s)
{
    struct simpler_dump_manifest *m;
    struct simpler_dump_entry e;
    uint32_t i = 0, truncated = 0;
    char path[256];

    qsort(s->record, s->count, sizeof(s->record[0]), by_entry);
    (void)snprintf(path, sizeof(path), "%s/args_dump/args.bin", hang_prefix);
    int bin = open(path, O_RDONLY | O_CLOEXEC);
    assert_true(bin >= 0);
    (void)snprintf(path, sizeof(path), "%s/args_dump/args_dump.json", hang_prefix);
    assert_int_equal(simpler_dump_manifest_open(path, &m), 0);
    for (; simpler_dump_manifest_next(m, &e) > 0; i++) {
        assert_true(i < s->count);
        assert_int_equal(e.task_id, s->record[i].task_id);
        assert_int_equal(e.stage, s->record[i].stage);
        assert_int_equal(e.arg_index, s->record[i].arg_index);
        truncated += e.truncated;
        if (e.kind == SIMPLER_DUMP_TENSOR && !e.truncated)
            check_payload(s, &e, bin);
    }
    assert_string_equal(simpler_dump_manifest_error(m), "");
    const struct simpler_dump_header *h = simpler_dump_manifest_header(m);
    assert_int_equal(i, s->count);
    assert_int_equal(truncated, hang_result.args_dump.truncated);
    assert_int_equal(h->count[SIMPLER_DUMP_COUNT_TRUNCATED], truncated);
    assert_int_equal(h->count[SIMPLER_DUMP_COUNT_DROPPED],
                     hang_result.args_dump.dropped_no_free +
                         hang_result.args_dump.dropped_ready_full);
    simpler_dump_manifest_close(m);
    (void)close(bin);
}

static void check_scope_file(uint32_t epoch, int rc)
{
    const struct simpler_scope_stats_result *r = &hang_result.scope_stats;
    struct scope_file file = scope_file_read(hang_prefix);
    struct simpler_scope_model *model;
    char path[256];

    assert_int_equal(file.count, r->records);
    for (uint32_t i = 0; i < file.count; i++)
        assert_int_equal(file.samples[i].run_epoch, epoch);
    bool fatal = rc == -SIMPLER_CODE_SCHEDULER_TIMEOUT;
    assert_non_null(strstr(file.metadata, fatal ? "\"fatal\": true" : "\"fatal\": false"));
    (void)snprintf(path, sizeof(path), "%s/scope_stats/scope_stats.jsonl", hang_prefix);
    assert_int_equal(simpler_scope_model_read(path, NULL, NULL, &model), 0);
    assert_int_equal(model->counts.lines, file.count);
    assert_int_equal(model->counts.damaged + model->counts.foreign_epoch, 0);
    simpler_scope_model_close(model);
    scope_file_free(&file);
}

static void check_scope_stats(const struct lane_watch_run *run, int rc)
{
    const struct simpler_scope_stats_result *r = &hang_result.scope_stats;

    assert_int_equal(r->refused_epoch, 0);
    if (r->has_file)
        check_scope_file(run->epoch, rc);
    else
        assert_false(scope_file_exists(hang_prefix));
    if (hang_on_hbg() || !r->counts_known)
        return;
    assert_int_equal(run->lane[0].total, run->lane[0].records + run->lane[0].dropped);
    assert_int_equal(r->records + r->write_failed, run->lane[0].records);
    assert_int_equal(r->dropped_no_free + r->dropped_ready_full, run->lane[0].dropped);
    assert_int_equal(r->status == 0,
                     r->has_file && r->write_failed == 0 && run->lane[0].dropped == 0);
    if (now.scope_from == 0)
        assert_true(r->has_file);
}

/* ---- the loop ---- */

struct views {
    struct lane_watch_run dump, scope;
};

static void look(struct views *v)
{
    assert_true(lane_watch_read(ARGS_DUMP_MAGIC, &v->dump, NULL, NULL));
    assert_int_equal(lane_watch_read(SCOPE_STATS_MAGIC, &v->scope, NULL, NULL), !hang_on_hbg());
    if (v->dump.fault != NULL || v->scope.fault != NULL)
        fail_msg("%s", v->dump.fault != NULL ? v->dump.fault : v->scope.fault);
}

static void see(struct seen *s)
{
    struct lane_watch_run run;

    memset(s, 0, sizeof(*s));
    (void)lane_watch_read(ARGS_DUMP_MAGIC, &run, NULL, NULL);
    s->monitor = run.lane_count - 1;
    (void)lane_watch_read(ARGS_DUMP_MAGIC, &run, see_buffer, s);
    if (s->fault != NULL)
        fail_msg("%s", s->fault);
}

static void count_end(int rc)
{
    tally.place[now.place]++;
    tally.met += atomic_load(&now.asked) != 0;
    tally.own_end += rc == 0;
    tally.hung += rc == -SIMPLER_CODE_SCHEDULER_TIMEOUT;
    tally.timed_out += rc == SIMPLER_ETIMEDOUT;
}

/* A thread had no CPU: for the whole grace, or for all of the run, which had not begun then. */
static void check_unknown(void)
{
    bool unproved = strstr(hang_result.message, "has not come back") != NULL;

    if (!unproved && strstr(hang_result.message, "0 of 0 tasks are not done") == NULL)
        fail_msg("dump %d, scope stats %d, counts not known: %s", hang_result.args_dump.status,
                 hang_result.scope_stats.status, hang_result.message);
    assert_int_equal(hang_result.args_dump.refused_epoch, 0);
    assert_int_equal(hang_result.args_dump.counts_known == 0,
                     hang_result.args_dump.status == SIMPLER_EPARTIAL);
    if (!unproved)
        assert_true(!hang_result.scope_stats.has_file && !hang_result.args_dump.has_manifest);
    assert_int_equal(hang_result.scope_stats.has_file, scope_file_exists(hang_prefix));
    (*(unproved ? &tally.unproved : &tally.unbegun))++;
}

/* Who passed, passed truly. */
static void check_all_ran(void)
{
    for (uint32_t i = 0; i < now.tasks; i++)
        assert_int_equal(atomic_load(&now.note[i].done), 1);
    assert_int_equal(hang_result.stats.tasks_run, now.tasks);
    assert_int_equal(atomic_load(&now.refused), 0);
    assert_string_equal(hang_result.message, "");
}

/* @v: from before anybody came back late. */
static void check(const struct views *v, int rc)
{
    static struct views after;
    static struct seen seen;

    if (hang_result.args_dump.counts_known == 0 || hang_result.scope_stats.counts_known == 0) {
        check_unknown();
        return;
    }
    look(&after);
    assert_int_equal(after.dump.digest, v->dump.digest);
    assert_int_equal(after.scope.digest, v->scope.digest);
    see(&seen);
    if (rc == 0)
        check_all_ran();
    check_dump_result(&v->dump);
    check_tasks(&seen, &v->dump, hang_result.args_dump.status == 0);
    check_inside(&v->dump);
    if (hang_result.args_dump.has_manifest)
        check_manifest(&seen);
    check_scope_stats(&v->scope, rc);
}

/* All ran, and the orchestration was refused nothing, and yet. */
static void count_untrue(int rc)
{
    bool all = rc == -SIMPLER_CODE_SCHEDULER_TIMEOUT && atomic_load(&now.refused) == 0;

    for (uint32_t i = 0; i < now.tasks; i++)
        all &= atomic_load(&now.note[i].done) != 0;
    tally.told_hung += all && strstr(hang_result.message, "is still inside") == NULL &&
                       strstr(hang_result.message, "has not come back") == NULL;
}

static void one_round(struct kit_random *chance, uint32_t threads)
{
    struct simpler_call_config config = hang_with_diagnostics(threads);
    static struct views before;

    choose(chance, &config);
#if defined(SIMPLER_DEBUG)
    simpler_testpoint_set(at_point, NULL);
#endif
    int rc = hang_run(graph, NULL, &config);
    assert_true(rc == 0 || rc == -SIMPLER_CODE_SCHEDULER_TIMEOUT || rc == SIMPLER_ETIMEDOUT);
    count_untrue(rc);
    look(&before);
    let_go(true);
    assert_int_equal(simpler_worker_quiesce(hang_kit.worker, QUIESCE_NS), 0);
    simpler_testpoint_set(NULL, NULL);
    count_end(rc);
    check(&before, rc);
}

static void open_small(void)
{
    struct simpler_worker_config config = SIMPLER_WORKER_CONFIG_INIT;

    config.dump = (struct simpler_dump_config){
        .records_per_buffer = 4, .buffers_per_thread = 8, .avg_tensor_bytes = 4096};
    hang_open_worker(&config);
    lane_watch_install(hang_kit.worker);
}

static void quiet(void *user, int level, const char *line)
{
    (void)user;
    (void)level;
    (void)line;
}

static void run_rounds(uint32_t threads, uint32_t rounds, double seconds)
{
    struct kit_random chance = {kit_now_ns()};
    uint64_t end = kit_now_ns() + (uint64_t)(seconds * 1e9);

    print_message("%u threads, seed %llu\n", threads, (unsigned long long)chance.state);
    memset(&tally, 0, sizeof(tally));
#if defined(SIMPLER_DEBUG)
    simpler_testpoint_reset_hits();
#endif
    kit_close(&hang_kit);
    (void)setenv("SIMPLER_SCHEDULER_TIMEOUT_MS", "1", 1);
    simpler_log_set_callback(quiet, NULL);
    open_small();
    uint32_t done = 0;
    while (seconds > 0 ? kit_now_ns() < end : done < rounds) {
        one_round(&chance, threads);
        done++;
    }
    print_message("%u rounds: %u ended by themselves, %u hung, %u timed out; %u met the question, "
                  "%u with partial outputs, %u dropped, %u truncated, %u unproved, %u not begun; "
                  "%u told as hung "
                  "though all ran; inside %u %u %u %u\n",
                  done, tally.own_end, tally.hung, tally.timed_out, tally.met, tally.partial,
                  tally.dropped, tally.truncated, tally.unproved, tally.unbegun, tally.told_hung,
                  tally.inside[0], tally.inside[1], tally.inside[2], tally.inside[3]);
    for (int i = 0; i < PLACES; i++)
        print_message("  let go %s: %u\n", place_names[i], tally.place[i]);
    if (done < 100)
        return;
    assert_true(tally.own_end > done / 50 && tally.hung > done / 20);
    assert_true(tally.partial > done / 50 && tally.timed_out > 0);
    /* A stop between the orchestration's last call and the end of its root scope. */
    assert_true(tally.told_hung <= (hang_on_hbg() ? 0 : 1 + done / 100));
    assert_true(tally.unproved <= 1 + done / 50 && tally.unbegun <= 1 + done / 5);
#if defined(SIMPLER_DEBUG)
    /* The rounds of a sanitized build are too few for it to be sure. */
    assert_true(kit_is_sanitized() ||
                simpler_testpoint_hits(SIMPLER_TESTPOINT_HANG_TAKEN_BACK) > 0);
    assert_true(tally.met > done / 50 && tally.dropped > 0 && tally.truncated > 0);
#endif
}

static uint32_t wanted_rounds(void)
{
    const char *wanted = getenv("SIMPLER_TEST_ROUNDS");

    if (wanted != NULL)
        return (uint32_t)atoi(wanted);
#if defined(SIMPLER_DEBUG)
    return kit_is_sanitized() ? 800 : 3334;
#else
    return 300; /* nothing shortens the freeze there */
#endif
}

static void one_thread(void **state)
{
    (void)state;
    run_rounds(1, wanted_rounds(), kit_seconds(0) / 3);
}

static void two_threads(void **state)
{
    (void)state;
    run_rounds(2, wanted_rounds(), kit_seconds(0) / 3);
}

static void three_threads(void **state)
{
    (void)state;
    run_rounds(3, wanted_rounds(), kit_seconds(0) / 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        HANG_TEST(one_thread),
        HANG_TEST(two_threads),
        HANG_TEST(three_threads),
    };
    return hang_main(tests, sizeof(tests) / sizeof(tests[0]));
}
