# SPDX-License-Identifier: Apache-2.0
"""The faults that mutants.py seeds, and which tests run against each."""


class Suite:
    """Programs that run against a mutant, cheapest first, in an environment."""

    def __init__(self, *tests, **environment):
        self.tests = tests
        self.environment = environment


TESTS = Suite(
    "test_pass_through",
    "test_map_overlap",
    "test_random_graphs",
    "test_codes",
    "test_codes_calls",
    "test_failures",
    "test_api_semantics",
    "test_launch",
    "test_deferred",
    "test_traps",
    "test_points",
    SIMPLER_TEST_SECONDS="10")

# Against what is copied between host and device, and in which order.
COPY_TESTS = Suite(
    "test_prof_exact",
    "test_transport_bytes",
    "test_args_dump",
    SIMPLER_TEST_SECONDS="10", SIMPLER_TEST_TRANSPORT="rough")

# Against what an args dump sees of tasks that are run as they are submitted.
PASSING_TESTS = Suite(
    "test_args_dump_passing",
    "test_hangs",
    "test_hang_files",
    "test_hang_seams",
    SIMPLER_TEST_SECONDS="10")

# Against stretches of tasks that pass through.
STRETCH_TESTS = Suite(
    "test_passing",
    "test_passing_args",
    "test_passing_seen",
    "test_passing_faults",
    "test_passing_times",
    SIMPLER_TEST_SECONDS="10")

# Against a run that is taken away from its threads.
HANG_TESTS = Suite(
    "test_hang_lanes",
    "test_hang_seams",
    SIMPLER_TEST_SECONDS="10")

# Against what a thread keeps for itself of a wide fan.
FAN_TESTS = Suite("test_fan", SIMPLER_TEST_SECONDS="10")

# Against plans that say which thread does what.
TRACK_TESTS = Suite("test_grain_tracks", "test_tracks", SIMPLER_TEST_SECONDS="10")

# Against blocks that stay behind a file; with seconds it would write 20 GB.
VOLUME_TESTS = Suite("test_args_dump_volume")

# Against what a run leaves behind after a fault.
FAULT_TESTS = Suite("test_scope_stats_steps", "test_random_faults", SIMPLER_TEST_SECONDS="10")

# Against the schedules of host_build_graph.
HBG_TESTS = Suite(
    "test_deferred_grains",
    "test_deferred",
    "test_recorded_graphs",
    "test_parts_meet",
    "test_random_graphs",
    SIMPLER_TEST_SECONDS="10", SIMPLER_TEST_RUNTIME="host_build_graph")

# Against what is read of a process that was killed.
CRASH_TESTS = Suite("test_args_dump_salvage", "test_crash_safe", "test_crash_leftovers")

# Against samples and arguments that are lost and not counted.
LOSS_TESTS = Suite("test_prof_gate", "test_prof_session", "test_prof_transport",
                   "test_args_dump_slow", "test_args_dump_collector", "test_args_dump_store")

# Against what the reports say of a file.
REPORT_TESTS = Suite("test_scope_model", "test_scope_series", "test_dump_filter",
                     "test_dump_check", "test_tensor_stats")

SUITES = [TESTS, COPY_TESTS, PASSING_TESTS, STRETCH_TESTS, HANG_TESTS, FAN_TESTS, TRACK_TESTS, VOLUME_TESTS,
          FAULT_TESTS, HBG_TESTS, CRASH_TESTS, LOSS_TESTS, REPORT_TESTS]

# name, what is wrong, preset, [(file, old, new)], and tests where they are not TESTS
MUTANTS = [
    ("tail-before-slot", "a free queue's index is flushed before its slot", "dev", [
        ("src/prof/drain.c",
         "    if (!flush(session, slot, sizeof(*slot)))\n        return false;\n", ""),
        ("src/prof/drain.c",
         "    tell(session, lane, &queue->tail);\n",
         "    tell(session, lane, &queue->tail);\n"
         "    (void)flush(session, slot, sizeof(*slot));\n")], COPY_TESTS),
    ("entries-before-tail", "ready entries are fetched before their index", "dev", [
        ("src/prof/drain.c",
         "    if (!fetch(session, at, SIMPLER_PROF_LANE_OWN_BYTES))\n",
         "    if (!fetch(session, entries + (size_t)lane * depth, depth * sizeof(*entries)) ||\n"
         "        !fetch(session, at, SIMPLER_PROF_LANE_OWN_BYTES))\n"),
        ("src/prof/drain.c",
         "        if (!fetch(session, entry, sizeof(*entry)))\n            return SIMPLER_DRAINED_BEHIND;\n", "")],
     COPY_TESTS),
    ("whole-line-flushed", "the device's fields of a lane are flushed too", "dev", [
        ("src/prof/drain.c", "    beat(at);\n    tell(session, lane, &at->head);\n",
         "    beat(at);\n    (void)flush(session, at, 128);\n")], COPY_TESTS),
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
         "    static uint32_t seen;\n    if (seen++ % 1000 == 0)\n        return;\n"
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
    ("stretch-id", "a task of a stretch has the id of its first", "dev", [
        ("src/tmr/passing.c", "simpler_passing_id(orch, simpler_passing_passed(orch))",
         "simpler_passing_id(orch, 0)")], STRETCH_TESTS),
    ("stretch-id-seen", "a report names the first task of a stretch", "dev", [
        ("src/tmr/passing.h", "simpler_passing_id(orch, simpler_passing_count(orch))",
         "simpler_passing_id(orch, 0)")], STRETCH_TESTS),
    ("stretch-answer", "the answer of a submit keeps an earlier count", "dev", [
        ("src/tmr/passing.c", "        out->count = 0;\n", "")], STRETCH_TESTS),
    ("stretch-past-last-id", "a stretch may pass the last id", "dev", [
        ("src/tmr/passing.c", "    if (most > ids)\n        most = ids;\n", "    (void)ids;\n")],
     STRETCH_TESTS),
    ("stretch-modulo", "a kernel is known by the low bits of its id", "dev", [
        ("src/tmr/passing.c", "known == func_id && args != NULL", "args != NULL")], STRETCH_TESTS),
    ("stretch-core", "AIC and AIV kernels share their places", "dev", [
        ("src/tmr/passing.c", "orch->passing.known[shape]", "orch->passing.known[0 * shape]"),
        ("src/tmr/passing.c", "orch->passing.fn[shape]", "orch->passing.fn[0 * shape]"),
        ("src/tmr/passing.c", "orch->passing.known[q->shape]", "orch->passing.known[0]"),
        ("src/tmr/passing.c", "orch->passing.fn[q->shape]", "orch->passing.fn[0]")],
     STRETCH_TESTS),
    ("stretch-extras", "extras of a task are not looked at in a stretch", "dev", [
        ("src/tmr/passing.c", "args->error | args->extra | args->output_count",
         "args->error | args->output_count")], STRETCH_TESTS),
    ("stretch-args-error", "an error of the arguments is not looked at in a stretch", "dev", [
        ("src/tmr/passing.c", "args->error | args->extra | args->output_count",
         "args->extra | args->output_count")], STRETCH_TESTS),
    ("stretch-dependencies", "explicit dependencies are not looked at in a stretch", "dev", [
        ("src/tmr/passing.c", "args->output_count | args->dependency_count;",
         "args->output_count;")], STRETCH_TESTS),
    ("stretch-unreset", "counts of arguments are not looked at in a stretch", "dev", [
        ("src/tmr/passing.c", "!simpler_submit_counts_fit(args) ||", "false ||")], STRETCH_TESTS),
    ("stretch-tensors", "tensors are not looked at in a stretch", "dev", [
        ("src/tmr/passing.c", "            !simpler_submit_takes(orch, args->tensor[i]))\n",
         "            args->tensor[i] == NULL)\n")], STRETCH_TESTS),
    ("stretch-map-room", "a stretch takes what the map cannot hold", "dev", [
        ("src/tmr/passing.c", "orch->map_credit < args->tensor_count", "false")], STRETCH_TESTS),
    ("stretch-map-credit", "what a task of a stretch leaves in the map is not counted", "dev", [
        ("src/tmr/passing.c", "    orch->map_credit = 0;", "    ;")], STRETCH_TESTS),
    ("stretch-contexts", "a kernel of a stretch gets what the one before has left", "dev", [
        ("src/tmr/passing.c", "    simpler_kernel_set_contexts(thread);\n", "")], STRETCH_TESTS),
    ("stretch-site", "a report names the site of an earlier submit", "dev", [
        ("src/tmr/passing.c", "    orch->solo_line = line;\n", "    (void)line;\n")], STRETCH_TESTS),
    ("stretch-failure", "a failure in a stretch is not kept", "dev", [
        ("src/tmr/passing.c", "(((uint32_t)status | orch->thread->deferred) != 0)",
         "((orch->thread->deferred) != 0)")], STRETCH_TESTS),
    ("stretch-deferred", "a task of a stretch is done as its kernel returns", "dev", [
        ("src/tmr/passing.c", "(((uint32_t)status | orch->thread->deferred) != 0)",
         "(((uint32_t)status) != 0)")], STRETCH_TESTS),
    ("stretch-unstopped", "a stretch goes on when the run is stopped", "dev", [
        ("src/tmr/passing.c", "(odd_words(args) | (uint32_t)stop_of(orch)) == 0",
         "odd_words(args) == 0")],
     STRETCH_TESTS),
    ("stretch-over-scope", "a scope begins within a stretch", "dev", [
        ("src/tmr/passing.c",
         "    simpler_passing_end(orch);\n    int status = simpler_tmr_scope_begin(",
         "    int status = simpler_tmr_scope_begin(")], STRETCH_TESTS),
    ("stretch-not-renewed", "a stretch that has had its tasks is not followed by another", "dev", [
        ("src/tmr/passing.c", "    simpler_submit_look_around(orch);\n    go_on(orch);\n",
         "    simpler_submit_look_around(orch);\n")], STRETCH_TESTS),
    ("stretch-never-looked", "a stretch is renewed without a look at the times", "dev", [
        ("src/tmr/passing.c", "    simpler_submit_look_around(orch);\n", "")], STRETCH_TESTS),
    ("stretch-unchecked", "a long stretch has no check in between", "dev", [
        ("src/tmr/passing.c", "    passing->until = completed + SIMPLER_STRETCH_FIRST;\n",
         "    passing->until = completed + SIMPLER_STRETCH_CALM;\n")], STRETCH_TESTS),
    ("stretch-untimed", "a stretch goes past the kernel that is to be timed", "dev", [
        ("src/tmr/passing.c", "    if (most > timing)\n        most = timing;\n",
         "    (void)timing;\n")], STRETCH_TESTS),
    ("stretch-long-known", "a kernel that was found long may still pass", "dev", [
        ("src/tmr/handover.c", "        simpler_passing_drop(orch, func_id);\n", "")], STRETCH_TESTS),
    ("stretch-fatal-inside", "an error that a kernel reports ends the stretch it is in", "dev", [
        ("src/tmr/passing.c",
         "    if (atomic_load_explicit(&orch->thread->counts.guard.kernel, memory_order_relaxed) ==\n"
         "        SIMPLER_NO_KERNEL)\n", "")], STRETCH_TESTS),
    ("stretch-held", "a stretch goes on in a scope whose ring is held", "dev", [
        ("src/tmr/passing.c", "    if (simpler_ring_live(orch, orch->current) == 0)\n        begin(orch);\n",
         "    begin(orch);\n")], STRETCH_TESTS),
    ("stretch-not-calm", "a stretch is long from the start", "dev", [
        ("src/tmr/handover.h", "    return orch->calm >= SIMPLER_CALM_LOOKS;", "    return true;")],
     STRETCH_TESTS),
    ("stretch-wrapped", "marks of before the count of submits wrapped in a stretch stay", "dev", [
        ("src/tmr/passing.c", "        simpler_linking_renumber(orch);\n",
         "        orch->submit_seq = 1;\n")], STRETCH_TESTS),
    ("stretch-peak", "tasks of a stretch leave no mark on their ring's window", "dev", [
        ("src/tmr/passing.c", "        ring->window_peak = 1;\n", "        ring->window_peak = 0;\n")],
     STRETCH_TESTS),
    ("stretch-over-alloc", "tensors are allocated within a stretch", "dev", [
        ("src/tmr/passing.c",
         "    simpler_passing_end(orch);\n    return simpler_tmr_alloc_tensors(",
         "    return simpler_tmr_alloc_tensors(")], STRETCH_TESTS),
    ("stretch-over-mixed", "a mixed task is submitted within a stretch", "dev", [
        ("src/tmr/passing.c",
         "    simpler_passing_end(orch);\n    return simpler_tmr_submit_mixed(",
         "    return simpler_tmr_submit_mixed(")], STRETCH_TESTS),
    ("stretch-at-return", "what is left of a stretch is forgotten as the orchestration returns", "dev", [
        ("src/tmr/orchestrator.c", "    simpler_passing_end(orch);\n", "")], STRETCH_TESTS),
    ("stretch-at-hang", "a hung run is reported without its stretch", "dev", [
        ("src/tmr/monitor.c", "        simpler_passing_end(&device->orch);\n", "        (void)0;\n")],
     STRETCH_TESTS),
    ("stretch-unretired", "tasks of a stretch stay in the window", "dev", [
        ("src/tmr/passing.c", "    orch->device->alive[orch->current] = ring->next;\n", "")],
     STRETCH_TESTS),
    ("stretch-unrun", "kernels of a stretch are not counted", "dev", [
        ("src/tmr/passing.c", "    simpler_scheduler_count_many(&thread->counts.run, count);\n", "")],
     STRETCH_TESTS),
    ("stretch-unsubmitted", "tasks of a stretch are not counted", "dev", [
        ("src/tmr/passing.c", "    orch->submitted += count;\n", "")], STRETCH_TESTS),
    ("stretch-watched", "a stretch begins though an args dump is to see every task", "dev", [
        ("src/tmr/submit.c", "    if (!watched && q->shape", "    if (q->shape")], STRETCH_TESTS),
    ("stretch-unlooked", "that tasks of a stretch take long is not seen", "dev", [
        ("src/tmr/handover.c", "        orch->closely = CLOSELY;\n", ""),
        ("src/tmr/handover.c", "        orch->thread->timing = 0;\n", "")], STRETCH_TESTS),
    ("stretch-one-timed", "one kernel of several that may have become long is timed", "dev", [
        ("src/tmr/handover.c", "        orch->closely = CLOSELY;\n", "")], STRETCH_TESTS),
    ("stretch-long-kept", "a kernel that was handed over may still pass", "dev", [
        ("src/tmr/submit.c", "    simpler_passing_drop(orch, q->func_id);\n", "")], STRETCH_TESTS),
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
         "    else\n        simpler_scope_stats_collector_forget(output_prefix);\n",
         "    else\n        (void)output_prefix;\n")], FAULT_TESTS),
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
        ("src/task/deferral.c",
         "    return c->type == SIMPLER_ASYNC_EVENT ? value != 0 : value >= c->expected;\n",
         "    (void)value;\n    return true;\n")]),
    ("publish-held-back", "a ready task that is long is kept on the own stack", "dev", [
        ("src/tmr/linking.c",
         "    simpler_scheduler_publish(orch->thread, number);\n    help(orch);\n",
         "    orch->device->table.slot[number].link[0] = orch->thread->stack;\n"
         "    orch->thread->stack = number;\n")]),
    ("edges-relaxed", "an edge and its producer's effects are published without order (P3, P4)",
     "tsan", [
         ("src/tmr/linking.c",
          "link,\n                                                    memory_order_release, memory_order_acquire));",
          "link,\n                                                    memory_order_relaxed, memory_order_relaxed));"),
         ("src/tmr/scheduler.c",
          "atomic_exchange_explicit(&slot->fanout, SIMPLER_LINK_CLOSED, memory_order_acq_rel);",
          "atomic_exchange_explicit(&slot->fanout, SIMPLER_LINK_CLOSED, memory_order_relaxed);")]),
    ("done-relaxed", "a slot is given back without release (P7)", "tsan", [
        ("src/tmr/scheduler.c",
         "atomic_store_explicit(&device->table.done[number], done, memory_order_release);\n"
         "    simpler_scheduler_count_completed(thread);\n    if (ready",
         "atomic_store_explicit(&device->table.done[number], done, memory_order_relaxed);\n"
         "    simpler_scheduler_count_completed(thread);\n    if (ready")]),
    ("unit-relaxed", "a unit is closed without order (W2)", "tsan", [
        ("src/hbg/unit_sched.c", "SIMPLER_HBG_WAKE_CLOSED, memory_order_acq_rel);",
         "SIMPLER_HBG_WAKE_CLOSED, memory_order_relaxed);")], HBG_TESTS),
    ("recut-forgets", "what a grain had done is done again when the run is cut anew", "dev", [
        ("src/hbg/recut.c", "n < part->plan->first[g + 1]; n++)\n",
         "n < part->plan->first[g] + 1; n++)\n")], HBG_TESTS),
    ("recut-cursor-kept", "a unit of the new cut is looked at from an old one's place on", "dev", [
        ("src/hbg/recut.c", "        unit->next = unit->cursor = 0;\n", "        unit->next = 0;\n")],
     HBG_TESTS),
    ("deferred-any", "a task is done when the first of its conditions holds", "dev", [
        ("src/task/deferral.c", "        if (!has_more(list, e.task",
         "        if (e.held || !has_more(list, e.task")]),
    ("salvage-unchecked", "a payload of a killed process is believed whatever its bytes", "dev", [
        ("src/collect/args_dump/args_dump_salvage.c", "    return crc == r->crc32c;\n",
         "    return crc == r->crc32c || true;\n")], CRASH_TESTS),
    ("recovered-twice", "a record that is in a file and in a buffer is taken from both", "dev", [
        ("src/collect/args_dump/args_dump_recover.c",
         "            r->written[buffer]++;\n", "            (void)0;\n")], CRASH_TESTS),
    ("recovered-of-another", "buffers of an earlier run are taken for the killed one's", "dev", [
        ("src/prof/region_reader.c", "        buffer->run_epoch != run_epoch || ",
         "        run_epoch == 0 || ")], CRASH_TESTS),
    ("released-unspooled", "a buffer is given back before its records are in the spool", "dev", [
        ("src/collect/args_dump/args_dump_collector.c",
         "    return simpler_args_dump_store_try_spill(&c->store, shard);\n",
         "    (void)shard;\n    return true;\n")], CRASH_TESTS),
    ("loss-uncounted", "a record for which there is no buffer is lost in silence", "dev", [
        ("src/prof/producer.c", "    clamped_add(cause);\n    return NULL;\n",
         "    (void)cause;\n    return NULL;\n")], LOSS_TESTS),
    ("held-before-published", "what a lane holds comes before what its queue still has", "dev", [
        ("src/prof/session_end.c", "if (!is_proved(ends, lane) || session->behind[lane])",
         "if (!is_proved(ends, lane))")], LOSS_TESTS),
    ("cut-at-the-end-unknown", "what args.bin gave up as the run ended is promised", "dev", [
        ("src/collect/args_dump/args_dump_collector.c",
         "    if (c->ending != NULL)\n        describe_payload(c, c->ending);\n", "")],
     LOSS_TESTS),
    ("half-sorted-shown", "a spool that is sorted in half is sorted again", "dev", [
        ("src/collect/args_dump/args_dump_store.c",
         "    store->spoilt |= rc != 0 && !store->keep_spool;\n", "")], LOSS_TESTS),
    ("untold-for-ever", "an index that did not reach the device is not told again", "dev", [
        ("src/prof/drain.c", "        session->untold[lane] = true;\n", "        return;\n")],
     LOSS_TESTS),
    ("peak-from-head", "a high-water mark begins where the scope's own tasks do", "dev", [
        ("src/report/scope_model.c", "{end->head[r] - begin->tail[r],\n",
         "{end->head[r] - begin->head[r],\n")], REPORT_TESTS),
    ("loss-healthy", "a file that lacks one sample is called healthy", "dev", [
        ("src/report/scope_verdict.c", "    if (!meta->dropped.known || meta->dropped.value == 0)\n",
         "    if (!meta->dropped.known || meta->dropped.value <= 1)\n")], REPORT_TESTS),
    ("filter-end-left-out", "a range of tasks leaves its last one out", "dev", [
        ("src/report/dump_filter.c",
         "            if (value >= f->ranges[field][i].first && value <= f->ranges[field][i].last)\n",
         "            if (value >= f->ranges[field][i].first &&\n"
         "                (value < f->ranges[field][i].last || value == f->ranges[field][i].first))\n")],
     REPORT_TESTS),
]
