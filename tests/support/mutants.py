#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Seeded faults of the engine and of its copies: each must be killed by the tests.

    mutants.py [--list] [NAME...]

Works in a copy of the tree (build/mutants): applies one patch, builds, runs the
tests of the engine until one fails, takes the patch back.  A patch is a
replacement that must match exactly the stated number of times; when the source
has changed so that it does not, the script fails, and the patch wants an update.
Exit status 0: every mutant was killed; 1: one survived or did not apply.
"""
import os
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
WORK = ROOT / "build" / "mutants"


class Suite:
    """Programs that run against a mutant, cheapest first, with seconds; a hang counts as killed."""

    def __init__(self, *tests, **environment):
        self.tests = tests
        self.environment = environment


TESTS = Suite(
    ("test_pass_through", 60),
    ("test_map_overlap", 60),
    ("test_random_graphs", 60),
    ("test_codes", 60),
    ("test_codes_calls", 60),
    ("test_failures", 60),
    ("test_api_semantics", 60),
    ("test_launch", 60),
    ("test_deferred", 60),
    ("test_traps", 90),
    ("test_points", 60),
    SIMPLER_TEST_SECONDS="10")

# Against what is copied between host and device, and in which order.
COPY_TESTS = Suite(
    ("test_prof_exact", 60),
    ("test_transport_bytes", 60),
    ("test_args_dump", 60),
    SIMPLER_TEST_SECONDS="10", SIMPLER_TEST_TRANSPORT="rough")

# Against what an args dump sees of tasks that are run as they are submitted.
PASSING_TESTS = Suite(
    ("test_args_dump_passing", 60),
    ("test_hangs", 120),
    ("test_hang_files", 120),
    ("test_hang_seams", 120),
    SIMPLER_TEST_SECONDS="10")

# Against a run that is taken away from its threads.
HANG_TESTS = Suite(
    ("test_hang_lanes", 120),
    ("test_hang_seams", 120),
    SIMPLER_TEST_SECONDS="10")

# Against what a thread keeps for itself of a wide fan.
FAN_TESTS = Suite(("test_fan", 60), SIMPLER_TEST_SECONDS="10")

# Against plans that say which thread does what.
TRACK_TESTS = Suite(("test_grain_tracks", 60), ("test_tracks", 60), SIMPLER_TEST_SECONDS="10")

# Against blocks that stay behind a file; with seconds it would write 20 GB.
VOLUME_TESTS = Suite(("test_args_dump_volume", 60))

# Against what a run leaves behind after a fault.
FAULT_TESTS = Suite(("test_random_faults", 120), SIMPLER_TEST_SECONDS="10")

SUITES = [TESTS, COPY_TESTS, PASSING_TESTS, HANG_TESTS, FAN_TESTS, TRACK_TESTS, VOLUME_TESTS,
          FAULT_TESTS]

# name, what is wrong, preset, [(file, old, new)], and tests where they are not TESTS
MUTANTS = [
    ("tail-before-slot", "a free queue's index is flushed before its slot", "dev", [
        ("src/prof/drain.c",
         "    if (!flush(session, slot, sizeof(*slot)))\n        return false;\n", ""),
        ("src/prof/drain.c",
         "    (void)flush(session, &queue->tail, sizeof(uint64_t));\n",
         "    (void)flush(session, &queue->tail, sizeof(uint64_t));\n"
         "    (void)flush(session, slot, sizeof(*slot));\n")], COPY_TESTS),
    ("entries-before-tail", "ready entries are fetched before their index", "dev", [
        ("src/prof/drain.c",
         "    if (!fetch(session, at, SIMPLER_PROF_LANE_OWN_BYTES))\n",
         "    if (!fetch(session, entries + (size_t)lane * depth, depth * sizeof(*entries)) ||\n"
         "        !fetch(session, at, SIMPLER_PROF_LANE_OWN_BYTES))\n"),
        ("src/prof/drain.c",
         "        if (!fetch(session, entry, sizeof(*entry)))\n            return false;\n", "")],
     COPY_TESTS),
    ("whole-line-flushed", "the device's fields of a lane are flushed too", "dev", [
        ("src/prof/drain.c", "    (void)flush(session, &at->head, sizeof(uint64_t));\n",
         "    (void)flush(session, at, 128);\n")], COPY_TESTS),
    ("whole-arena-copied", "the arena is copied, not the slice", "dev", [
        ("src/collect/args_dump/args_dump_collector.c",
         "simpler_prof_session_view(c->session, &c->arenas[lane], at, r->payload_size);",
         "(const uint8_t *)simpler_prof_session_view(c->session, &c->arenas[lane], 0, size) + at;")],
     COPY_TESTS),
    ("bias-kept", "the producer follows a device address as it is", "dev", [
        ("src/wire/device_address.h", "(address & ~SIMPLER_DEVICE_BIAS)", "(address)")], COPY_TESTS),
    ("track-of-another-part", "a thread takes a grain by the plan of a part that is over", "dev", [
        ("src/hbg/track_sched.c", "at >> 32 != part->serial || ", "")], TRACK_TESTS),
    ("track-head-of-another-part", "what was seen of one part's grain counts for another's", "dev", [
        ("src/hbg/track_sched.c", "    if (thread->head != at) {",
         "    if ((uint32_t)thread->head != (uint32_t)at) {")], TRACK_TESTS),
    ("track-not-ready", "every second producer of a grain is looked at", "dev", [
        ("src/hbg/track_sched.c",
         "memory_order_acquire) != SIMPLER_HBG_WAKE_CLOSED)\n            return false;",
         "memory_order_acquire) != SIMPLER_HBG_WAKE_CLOSED &&\n"
         "            thread->head_edge % 2 != 0)\n            return false;")], TRACK_TESTS),
    ("track-before-its-producers", "a grain of several producers has a place before the last", "dev", [
        ("src/hbg/grain_tracks.c",
         "        s->missing[g] = plan->edge_from[g + 1] - plan->edge_from[g];\n",
         "        s->missing[g] = plan->edge_from[g + 1] - plan->edge_from[g];\n"
         "        s->missing[g] -= s->missing[g] > 1;\n")], TRACK_TESTS),
    ("edge-lost", "one edge in 1,000 is lost", "dev", [
        ("src/tmr/linking.c",
         "    orch->pending[orch->pending_count++] = number;\n",
         "    static uint32_t seen;\n    if (seen % 1000 == 0)\n        return;\n"
         "    orch->pending[orch->pending_count++] = number;\n")]),
    ("stride-ignored", "views are taken as contiguous", "dev", [
        ("src/task/view_box.c",
         "    box->run = UINT64_C(1) << simpler_dtype_shift(tensor->dtype);\n",
         "    box->run = simpler_tensor_numel(tensor) << simpler_dtype_shift(tensor->dtype);\n"
         "    box->dims = 0;\n")]),
    ("covered-as-none", "a view that is covered counts as apart", "dev", [
        ("src/task/tensormap_search.c",
         "    if (!simpler_view_box_overlaps(box, start, other, other_start))\n        return;\n",
         "    if (!simpler_view_box_overlaps(box, start, other, other_start) ||\n"
         "        simpler_view_box_covers(box, start, other, other_start))\n        return;\n")]),
    ("contained-as-equal", "a write inside an entry removes all of it", "dev", [
        ("src/task/tensormap_search.c",
         "simpler_view_box_covers(box, start, other, other_start))",
         "(simpler_view_box_covers(box, start, other, other_start) ||\n"
         "                            simpler_view_box_covers(other, other_start, box, start)))")]),
    ("wake-up-lost", "a parking thread does not look again", "dev", [
        ("src/tmr/scheduler.c",
         "    uint32_t number = simpler_scheduler_find(thread);\n"
         "    if (number != SIMPLER_NO_TASK || is_closing(device) || simpler_spread_is_offered(device)) {\n",
         "    uint32_t number = SIMPLER_NO_TASK;\n    if (is_closing(device)) {\n")]),
    ("ready-relaxed", "a ready task is published without release", "tsan", [
        ("src/task/ready_queue.h",
         "atomic_store_explicit(&q->tail, tail + 1, memory_order_release);",
         "atomic_store_explicit(&q->tail, tail + 1, memory_order_relaxed);")]),
    ("decrement-relaxed", "the last reference is taken without acquire", "tsan", [
        ("src/tmr/scheduler.c",
         "    if (atomic_load_explicit(&consumer->fanin, memory_order_acquire) == n)\n",
         "    if (atomic_load_explicit(&consumer->fanin, memory_order_relaxed) == n)\n"),
        ("src/tmr/scheduler.c",
         "    return atomic_fetch_sub_explicit(&consumer->fanin, n, memory_order_acq_rel) - n;",
         "    return atomic_fetch_sub_explicit(&consumer->fanin, n, memory_order_relaxed) - n;")]),
    ("references-kept", "a thread sleeps on references that it owes", "dev", [
        ("src/tmr/scheduler.c", "    if (SIMPLER_UNLIKELY(thread->owed_count != 0))\n",
         "    if (SIMPLER_UNLIKELY(thread->owed_count > OWED_MOST))\n")], FAN_TESTS),
    ("references-lost", "one of several references is not dropped", "dev", [
        ("src/tmr/scheduler.c", "    int32_t n = thread->owed_count;\n",
         "    int32_t n = thread->owed_count - (thread->owed_count > 1);\n")], FAN_TESTS),
    ("stack-kept", "others get nothing more of a long stack", "dev", [
        ("src/tmr/scheduler.c", "        share_stack(thread);\n",
         "        if (number == SIMPLER_NO_TASK)\n            share_stack(thread);\n")], FAN_TESTS),
    ("closed-counted", "a task waits for a producer that was done when it was linked", "dev", [
        ("src/tmr/linking.c", "    if (closed == 0)\n        return false;\n",
         "    if (closed != (int32_t)orch->pending_count)\n        return false;\n")]),
    ("window-off-by-one", "one task too many is admitted", "dev", [
        ("src/tmr/admission.c", "    if (live >= ring->mask)\n",
         "    if (live > ring->mask)\n"),
        ("src/tmr/submit.c",
         "    if (SIMPLER_LIKELY(simpler_ring_live(orch, orch->current) < ring->mask &&",
         "    if (SIMPLER_LIKELY(simpler_ring_live(orch, orch->current) <= ring->mask &&")]),
    ("heap-one-early", "the heap's tail follows the next task", "dev", [
        ("src/tmr/admission.c",
         "&device->table.desc[simpler_ring_slot(ring, id - 1)];\n",
         "&device->table.desc[simpler_ring_slot(ring, id < ring->next ? id : id - 1)];\n")]),
    ("consumers-ignored", "outputs are freed while a task still reads them", "dev", [
        ("src/tmr/admission.c", "        if (desc->last_consumer[q] > orch->ring[q].done_from)\n"
         "            return false;\n", "")]),
    ("hold-ignored", "an open scope does not keep its outputs", "dev", [
        ("src/tmr/admission.c",
         "    return ring->hold_from < ring->next ? ring->hold_from : ring->next;\n",
         "    return ring->next;\n")]),
    ("poison-stops", "successors of a failed task run", "dev", [
        ("src/tmr/scheduler.c",
         "        if (SIMPLER_UNLIKELY(done == SIMPLER_DONE_FAILED))\n"
         "            atomic_store_explicit(&c->poisoned, 1, memory_order_relaxed);\n", "")]),
    ("closed-unchecked", "an edge is put on the list of a finished task", "dev", [
        ("src/tmr/linking.c",
         "        if (head == SIMPLER_LINK_CLOSED) {\n", "        if (false) {\n")]),
    ("poison-forgotten", "a task does not learn that a finished producer has failed", "dev", [
        ("src/tmr/linking.c",
         "    if (is_closed(producer)) {\n        poison(self, producer);\n        return;\n    }\n",
         "    if (is_closed(producer))\n        return;\n")]),
    ("readers-dropped", "a writer does not wait for readers", "dev", [
        ("src/task/tensormap_entry.c", "    if (last == 0)\n        return;\n    do {\n"
         "        n = map->node[n].next;\n        simpler_tensormap_entry_push(",
         "    if (last == 0 || map->track_readers)\n        return;\n    do {\n"
         "        n = map->node[n].next;\n        simpler_tensormap_entry_push(")]),
    ("run-twice", "a handed-on task is published as well", "dev", [
        ("src/tmr/scheduler.c",
         "    if (thread->handed == SIMPLER_NO_TASK && !device->exec_threads)\n"
         "        thread->handed = ready;\n",
         "    if (thread->handed == SIMPLER_NO_TASK && !device->exec_threads) {\n"
         "        thread->handed = ready;\n        simpler_scheduler_publish(thread, ready);\n"
         "    }\n")]),
    ("settled-stays", "tasks pass through although a shared one is not done", "dev", [
        ("src/tmr/linking.c", "    orch->settled = SIMPLER_SETTLED_NOT;\n", "")]),
    ("settled-early", "tasks pass through before all others are done", "dev", [
        ("src/tmr/submit.c", "        if (orch->ring[r].done_from != orch->ring[r].next)\n"
         "            return false;\n", "")]),
    ("settled-though-failed", "tasks pass through although one has failed", "dev", [
        ("src/tmr/solo.c", "    orch->settled = SIMPLER_SETTLED_NOT;\n", "    (void)orch;\n")]),
    ("spoiled-captured", "outputs are captured by descriptors that the kernel may have written",
     "dev", [("src/tmr/solo_capture.c",
              "    simpler_solo_set_args(thread, c->args, c->made);\n", "")], PASSING_TESTS),
    ("deferred-without-args", "a task that is done later is captured from an empty slot", "dev", [
        ("src/tmr/submit.c", "    if (orch->dump_level == 0 || status != 0)\n",
         "    if (orch->dump_level != 0 || status != 0)\n")], PASSING_TESTS),
    ("late-flush", "a revoked orchestrator publishes its samples once more", "dev", [
        ("src/tmr/hang.c", "        simpler_scope_sample_abandon(&device->orch);\n",
         "        (void)0;\n")], HANG_TESTS),
    ("late-outputs", "a revoked thread captures what the monitor has captured", "dev", [
        ("src/tmr/arg_capture.c", "    if (simpler_kernel_is_revoked(thread))\n        return;\n",
         "")], HANG_TESTS),
    ("partial-in-own-lane", "partial outputs go to the lane of a thread", "dev", [
        ("src/tmr/arg_capture.c", "    return simpler_device_lanes(device->run) - 1;",
         "    return device->thread_count - 1;")], HANG_TESTS),
    ("unproved-read", "the lane of a thread that is neither out nor revoked is read", "dev", [
        ("src/task/kernel_guard.c",
         "? SIMPLER_DEVICE_LANE_STOPPED\n"
         "                                                                    : SIMPLER_DEVICE_LANE_UNPROVED;",
         "? SIMPLER_DEVICE_LANE_STOPPED\n"
         "                                                                    : SIMPLER_DEVICE_LANE_STOPPED;")],
     HANG_TESTS),
    ("answer-unawaited", "a thread that was asked goes on before it is answered", "dev", [
        ("src/task/kernel_guard.c",
         "    while (atomic_load_explicit(revoke, memory_order_acquire) == SIMPLER_REVOKE_ASKED)\n"
         "        simpler_clock_relax();\n"
         "    if (atomic_load_explicit(revoke, memory_order_acquire) == SIMPLER_REVOKE_NOT)\n",
         "    if (atomic_load_explicit(revoke, memory_order_acquire) <= SIMPLER_REVOKE_ASKED)\n")],
     HANG_TESTS),
    ("cut-unseen", "a run in which the stop kept tasks from running is told as ended", "dev", [
        ("src/tmr/monitor.c",
         "(orch->status == 0 && atomic_load_explicit(&device->cut, memory_order_relaxed) == 0);",
         "(orch->status == 0);")], HANG_TESTS),
    ("loss-twice", "a dropped argument is counted by the buffer and by the arena", "dev", [
        ("src/collect/args_dump/args_dump_producer.c",
         "    if (SIMPLER_UNLIKELY(r == NULL))\n        return;\n    r->role = role;\n",
         "    if (SIMPLER_UNLIKELY(r == NULL)) {\n        refuse(s);\n        return;\n    }\n"
         "    r->role = role;\n")], HANG_TESTS),
    ("blocks-kept", "what was reserved behind args.bin is not given back", "dev", [
        ("src/collect/args_dump/args_dump_collector.c",
         "    simpler_args_dump_writer_trim(&c->writer);\n", "")], VOLUME_TESTS),
    ("descriptor-kept", "a file of samples that is given up stays open", "dev", [
        ("src/collect/scope_stats/scope_stats_file.c",
         "    (void)close(file->fd);\n    file->fd = -1;\n"
         "    simpler_scope_stats_file_partial_path(file, path);\n    (void)unlink(path);\n",
         "    file->fd = -1;\n    simpler_scope_stats_file_partial_path(file, path);\n"
         "    (void)unlink(path);\n")], FAULT_TESTS),
    ("threads-kept", "a device whose threads do not all start keeps those that have", "dev", [
        ("src/hbg/hbg_threads.c",
         "    int rc = start_threads(device, run);\n    if (rc != 0)\n"
         "        simpler_hbg_stop_threads(device);\n",
         "    int rc = start_threads(device, run);\n    if (rc != 0)\n"
         "        device->threads = NULL;\n")], FAULT_TESTS),
    ("refused-lines-miscounted", "of samples that a full disk refuses one is not counted", "dev", [
        ("src/collect/scope_stats/scope_stats_file.c",
         "    file->lines_refused += file->lines_buffered;\n",
         "    file->lines_refused += file->lines_buffered - 1;\n")], FAULT_TESTS),
    ("payload-orphaned", "args.bin stays although its manifest could not be written", "dev", [
        ("src/collect/args_dump/args_dump_ending.c",
         "    if (ending->out.status != 0 && !ending->out.has_manifest)\n",
         "    if (ending->out.status == SIMPLER_EEXIST)\n")], FAULT_TESTS),
    ("predecessor-kept", "a run that goes without scope stats leaves an earlier one's file", "dev", [
        ("src/host/diagnostics.c",
         "        simpler_scope_stats_collector_forget(output_prefix);\n",
         "        (void)output_prefix;\n")], FAULT_TESTS),
    ("failure-unrecorded", "the map does not learn of a task that failed as it passed", "dev", [
        ("src/tmr/submit.c",
         "    find_producers(orch, q, id);\n    keep_arguments(", "    keep_arguments(")]),
    ("done-before-walk", "a slot may be reused while its list is walked", "dev", [
        ("src/tmr/scheduler.c",
         "    while (link != 0) {\n        /* The next link",
         "    atomic_store_explicit(&device->table.done[number], done, memory_order_release);\n"
         "    while (link != 0) {\n        /* The next link")]),
    ("set-does-not-wait", "a set does not wait for readers", "dev", [
        ("src/tmr/tensor_data.c",
         "    simpler_tensormap_lookup(orch->map, tensor, true, readers, &u.sink);",
         "    simpler_tensormap_lookup(orch->map, tensor, true, false, &u.sink);")]),
    ("padding-unfilled", "an initial value leaves recycled memory as it was", "dev", [
        ("src/tmr/submit_slot.c",
         "        simpler_submit_fill_initial(block, bytes, info);",
         "        simpler_submit_fill_initial(block, 8, info);")]),
    ("cohort-in-parts", "a sync_start task is started with the blocks that fit", "dev", [
        ("src/tmr/cohort.c", "        bool together = launch->sync_start;\n",
         "        bool together = false;\n")]),
    ("cluster-in-parts", "a block is started with the lanes that have a core", "dev", [
        ("src/tmr/cohort.c",
         "            release_unit(pool, launch, unit, held);\n            return false;\n",
         "            return held != 0;\n")]),
    ("block-twice", "two threads may take one range of blocks", "dev", [
        ("src/tmr/spread.c",
         "    } while (!atomic_compare_exchange_weak_explicit(place, &word, word - ((uint64_t)count << 48),\n"
         "                                                    memory_order_acquire, memory_order_relaxed));\n",
         "    } while (0);\n"
         "    atomic_store_explicit(place, word - ((uint64_t)count << 48), memory_order_relaxed);\n")]),
    ("last-block-first", "a task is done before its last block", "dev", [
        ("src/tmr/launch.c",
         "    return atomic_fetch_sub_explicit(&launch->left, 1, memory_order_acq_rel) == 1;",
         "    return atomic_fetch_sub_explicit(&launch->left, 1, memory_order_acq_rel) == 2 ||\n"
         "           (launch->block_num == 1 && launch->lane_count == 1);")]),
    ("barrier-open", "a barrier lets the first one through", "dev", [
        ("src/task/resident.c",
         "    if (atomic_fetch_add_explicit(&group->arrived, 1, memory_order_acq_rel) + 1 != group->members)\n",
         "    if (atomic_fetch_add_explicit(&group->arrived, 1, memory_order_acq_rel) + 1 < group->members / 2)\n")]),
    ("predicate-ignored", "a task runs whatever its predicate says", "dev", [
        ("src/tmr/launch.c",
         "        if (predicate_holds(launch))\n            return false;\n",
         "        return false;\n")]),
    ("held-not", "a deferred task is done when its kernel has returned", "dev", [
        ("src/task/deferral.c", "        if (!e.held || (!all && !holds(&e.condition)))\n",
         "        if (!e.held)\n")]),
    ("publish-held-back", "a ready task that is long is kept on the own stack", "dev", [
        ("src/tmr/linking.c",
         "    simpler_scheduler_publish(orch->thread, number);\n    help(orch);\n",
         "    orch->device->table.slot[number].link[0] = orch->thread->stack;\n"
         "    orch->thread->stack = number;\n")]),
]


def run(command, log, seconds=None, environment=None):
    """Exit status; None when the time was over."""
    process = subprocess.Popen(command, cwd=WORK, stdout=log, stderr=subprocess.STDOUT,
                               start_new_session=True, env={**os.environ, **(environment or {})})
    try:
        return process.wait(seconds)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, 9)
        process.wait()
        return None


def copy_tree():
    WORK.mkdir(parents=True, exist_ok=True)
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True,
                            capture_output=True).stdout.decode().split("\0")
    for name in filter(None, listed):
        source, target = ROOT / name, WORK / name
        if not source.is_file():
            continue
        text = source.read_bytes()
        if target.is_file() and target.read_bytes() == text:
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(text)
        target.chmod(source.stat().st_mode)


def configure(preset, log):
    """Anew each time: a target of a source that is new must be there before it is built."""
    return run(["cmake", "--preset", preset, "-DSIMPLER_WERROR=OFF"], log) == 0


def build(preset, log):
    targets = [name for suite in SUITES for name, _ in suite.tests]
    jobs = str(os.cpu_count() or 1)
    return run(["cmake", "--build", f"build/{preset}", "-j", jobs, "--target", *targets], log) == 0


def apply(patches):
    """The texts before, or a complaint."""
    before = {}
    for name, old, new in patches:
        path = WORK / name
        text = path.read_text()
        before.setdefault(name, text)
        if text.count(old) != 1:
            restore(before)
            return None, f"{name}: the text to replace is there {text.count(old)} times"
        path.write_text(text.replace(old, new))
    return before, None


def restore(before):
    for name, text in before.items():
        (WORK / name).write_text(text)


def kill(preset, log, suite):
    """Name of the test that fails, and how; None when all pass."""
    environment = {"SIMPLER_GRAPH_BRIEF": "1", **suite.environment}
    for name, seconds in suite.tests:
        status = run([f"build/{preset}/tests/{name}"], log, seconds, environment)
        if status is None:
            return f"{name} (hangs)"
        if status != 0:
            return name if status > 0 else f"{name} (signal {-status})"
    return None


def try_mutant(mutant, log):
    name, what, preset, patches, *suite = mutant
    start = time.monotonic()
    before, complaint = apply(patches)
    if complaint:
        print(f"{name}: DOES NOT APPLY: {complaint}")
        return False
    try:
        killer = kill(preset, log, suite[0] if suite else TESTS) if build(preset, log) else "the compiler"
    finally:
        restore(before)
    took = time.monotonic() - start
    if killer == "the compiler":
        print(f"{name}: DOES NOT BUILD, see {log.name}")
        return False
    print(f"{name} ({what}): {'killed by ' + killer if killer else 'SURVIVED'}, {took:.0f} s",
          flush=True)
    return killer is not None


def main():
    names = [a for a in sys.argv[1:] if not a.startswith("--")]
    if "--list" in sys.argv:
        for name, what, preset, *_ in MUTANTS:
            print(f"{name:26} {preset:5} {what}")
        return 0
    chosen = [m for m in MUTANTS if not names or m[0] in names]
    if len(chosen) != (len(names) or len(MUTANTS)):
        print("no such mutant; --list shows them", file=sys.stderr)
        return 2
    copy_tree()
    alive = 0
    with open(WORK / "log.txt", "w") as log:
        for preset in sorted({m[2] for m in chosen}):
            if not (configure(preset, log) and build(preset, log)):
                print(f"the tree does not build, see {log.name}")
                return 1
            killer = next(filter(None, (kill(preset, log, suite) for suite in SUITES)), None)
            if killer:
                print(f"{killer} fails without any mutant (preset {preset}), see {log.name}")
                return 1
        for mutant in chosen:
            alive += not try_mutant(mutant, log)
    print(f"{len(chosen) - alive} of {len(chosen)} mutants killed")
    return 1 if alive else 0


if __name__ == "__main__":
    sys.exit(main())
