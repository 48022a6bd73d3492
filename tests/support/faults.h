/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TEST_SUPPORT_FAULTS_H
#define TEST_SUPPORT_FAULTS_H

/*
 * What a test saw of a fault that it has injected: a line for the fault matrix
 * (docs/reliability.md), which scripts/faults.py compares with what tests/faults.txt promises.
 * Called after the fault was really there, with tokens "key=value" made of measured values:
 *
 *     fault_saw("lost-edge", "status=%s device=%s", simpler_status_name(rc), fault_device(worker));
 *
 * The line goes to the file that SIMPLER_TEST_FAULTS names, in one write, so that several
 * processes may share it; without that variable nothing is written.  A name that
 * tests/faults.txt does not have ends the program.  Any thread, also in a child of fork.
 */
#include <stdbool.h>
#include <stdint.h>

#include "simpler/simpler.h"

#if defined(__GNUC__)
#define FAULT_FORMAT(at, arguments) __attribute__((format(printf, at, arguments)))
#else
#define FAULT_FORMAT(at, arguments)
#endif

/* Once; on the runtime of SIMPLER_TEST_RUNTIME, or the one that @id names: "hang@host_build_graph".
 */
void fault_saw(const char *id, const char *format, ...) FAULT_FORMAT(2, 3);
/* The same was seen of so many injections; 0: no line. */
void fault_saw_times(const char *id, uint64_t times, const char *format, ...) FAULT_FORMAT(3, 4);

/* Words for tokens. */
const char *fault_yes(bool truth);
/* "busy" while a kernel or an orchestration is still inside, "free". */
const char *fault_device(struct simpler_worker *worker);

#endif
