/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_HBG_HBG_HANG_H
#define SIMPLER_HBG_HBG_HANG_H

/*
 * A run that does not end by itself.  Its caller waits for the end and so owns the
 * no-progress clock: there is no thread for it.
 */
#include "hbg/hbg_engine.h"
#include "base/idle_clock.h"

/* Before any thread is started. */
void simpler_hbg_hang_init(struct simpler_hbg_device *device);

/* Threads of the device, then core threads; both may be asked for those not started. */
uint32_t simpler_hbg_hang_threads(const struct simpler_hbg_device *device);
struct simpler_hbg_thread *simpler_hbg_hang_thread(const struct simpler_hbg_device *device,
                                                   uint32_t i);

/* Every thread is told to leave; wakes all. */
void simpler_hbg_ask_out(struct simpler_hbg_device *device);

/* What the caller has seen of a run. */
struct simpler_hbg_look {
    uint64_t progress;
    int32_t stop;                    /* a stop gives the kernels inside a budget of their own */
    struct simpler_idle_clock idle;  /* since the last progress */
    struct simpler_idle_clock still; /* since no thread is in the run and no unit is ready */
};

/* How long the caller may wait until it looks (again). */
uint64_t simpler_hbg_look_ns(const struct simpler_hbg_device *device);
/* Looks; true: the run hangs, for *idle_ns. */
bool simpler_hbg_look(struct simpler_hbg_device *device, struct simpler_hbg_look *look,
                      uint64_t *idle_ns);

/*
 * The caller looks at what the run is made of: until it is out again the run is not cut anew.
 * False: it is over, or just being cut.
 */
bool simpler_hbg_visit(struct simpler_hbg_device *device);
void simpler_hbg_visit_end(struct simpler_hbg_device *device);

/* The run hangs, says its caller: it is not cut anew from now on.  Before anybody is asked out. */
void simpler_hbg_hang_claim(struct simpler_hbg_device *device);
/* After the freeze: a thread has begun to cut the run anew before that, and not finished. */
bool simpler_hbg_hang_is_cut(const struct simpler_hbg_device *device);
/* Takes the run away from its threads, which were asked out; writes device->busy. */
void simpler_hbg_hang_freeze(struct simpler_hbg_device *device);
/* The run hung: what the log and @stall say of it. */
struct simpler_stall;
void simpler_hbg_end_hung(struct simpler_hbg_device *device, uint64_t idle_ns, int32_t stop,
                          struct simpler_stall *stall);

/* The line of a crash: what @thread, the caller, is inside of; a stack for leave. */
void *simpler_hbg_crash_enter(struct simpler_hbg_thread *thread);
void simpler_hbg_crash_leave(void *stack);

#endif
