/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_TESTS_TRANSPORT_ROUGH_H
#define SIMPLER_TESTS_TRANSPORT_ROUGH_H

/*
 * The shadow transport at its worst: whatever the contract does not promise
 * (platform/transport.h) does not hold.  The words of one call are copied in a
 * random order, from a random one on, and between two of them the other side may
 * go on for a while, so that they belong to different times.  The nth call may
 * fail.
 *
 * What the contract demands is checked, a breach aborts with its place: aligned
 * ranges inside the region, no two of one region that overlap in flight, and no
 * flush over a word that the device has written since the host knew it.
 */
#include "platform/transport.h"

extern const struct simpler_transport_ops transport_rough;

/* The @nth fetch, flush or view from now (0 is the next) fails; @times of them. */
void transport_rough_fail(uint64_t nth, uint64_t times);
/* Whether one has failed since. */
bool transport_rough_failed(void);

#endif
