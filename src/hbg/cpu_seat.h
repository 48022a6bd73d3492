/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_HBG_CPU_SEAT_H
#define SIMPLER_HBG_CPU_SEAT_H

/*
 * A thread that wakes looks whether another one that is awake has its CPU, and
 * then moves to one that nobody has.  Where there are as many threads as CPUs
 * the kernel likes to wake a thread on its waker's CPU (in a guest an idle CPU
 * counts as taken), and leaves the two there for milliseconds.
 *
 *   field  written by  read by          publishes
 *   seat   its thread  others, relaxed  nothing: a hint, the kernel may have moved the thread
 */
#include "hbg/hbg_engine.h"

/* Whether each thread can have a CPU; before they are started. */
void simpler_hbg_seats_open(struct simpler_hbg_device *device, uint32_t usable_cpus);
/* The thread sleeps from now on. */
void simpler_hbg_seat_leave(struct simpler_hbg_thread *thread);
/* It has just woken: three system calls if it has to move, none if not. */
void simpler_hbg_seat_take(struct simpler_hbg_thread *thread);

#endif
