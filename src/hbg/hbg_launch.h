/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_HBG_HBG_LAUNCH_H
#define SIMPLER_HBG_HBG_LAUNCH_H

/*
 * Tasks that are more than one call of one kernel: blocks, lanes of a mixed task,
 * sync_start, a predicate, a timing slot.  The image has what they ask for; each is
 * a grain of its own.
 *
 * Blocks of a kernel that needs one core alone are offered to all threads
 * (block_spread.c); kernels that may wait for each other run on core threads,
 * one task at a time (core_crew.c).
 */
#include "hbg/hbg_engine.h"

/* What a kernel of this runtime may ask for. */
extern const struct simpler_member_ops simpler_hbg_member_ops;

/*
 * Runs one launch task to its end, or until its kernels have returned (thread->deferred): their
 * status, the first that was not 0.
 */
int simpler_hbg_run_launch(struct simpler_hbg_thread *thread, struct simpler_hbg_part *part,
                           uint32_t number);

/* The task's timing slot, if it has one, gets its time. */
void simpler_hbg_launch_note_end(struct simpler_hbg_device *device,
                                 const struct simpler_hbg_launch *launch, uint64_t start_ns);

/* Calls the kernel of one lane of one block on this thread; its status, or INT32_MIN when the run
 * has ended and it was not called. */
int simpler_hbg_run_block(struct simpler_hbg_thread *thread, const struct simpler_hbg_part *part,
                          uint32_t number, int32_t block, uint32_t lane);

/* All blocks, with the help of threads that have nothing else to do. */
int simpler_hbg_spread_blocks(struct simpler_hbg_thread *thread, struct simpler_hbg_part *part,
                              uint32_t number);
/* Takes blocks that are offered; false when there were none. */
bool simpler_hbg_spread_help(struct simpler_hbg_thread *thread);

/* All blocks and lanes on core threads, those that may wait for each other at once. */
int simpler_hbg_crew_run(struct simpler_hbg_thread *thread, struct simpler_hbg_part *part,
                         uint32_t number);
/* Core threads that may have been started, and each; any thread. */
uint32_t simpler_hbg_crew_count(const struct simpler_hbg_device *device);
struct simpler_hbg_thread *simpler_hbg_crew_thread(const struct simpler_hbg_device *device,
                                                   uint32_t i);
/* Tells the cores, and who waits for them, to leave. */
void simpler_hbg_crew_ask_out(struct simpler_hbg_device *device);
void simpler_hbg_crew_close(struct simpler_hbg_device *device);

#endif
