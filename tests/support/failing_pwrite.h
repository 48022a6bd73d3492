/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_TESTS_FAILING_PWRITE_H
#define SIMPLER_TESTS_FAILING_PWRITE_H

/*
 * pwrite of a program that includes this, in all of it: a disk that is full at a known moment,
 * which takes half of the bytes before it says so.
 */
#include <stdbool.h>

/* Of the calls from now on number @nth (from 0) writes half, the one after it fails with @error. */
void failing_pwrite_arm(int nth, int error);
/* Whether it has failed since the last arm. */
bool failing_pwrite_fired(void);

#endif
