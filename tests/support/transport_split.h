/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_TESTS_TRANSPORT_SPLIT_H
#define SIMPLER_TESTS_TRANSPORT_SPLIT_H

/*
 * A transport for tests whose host and device have memory of their own: nothing
 * is seen without fetch and flush, words are copied in a random order, nobody can
 * wake the other side, and the nth call may fail.
 */
#include "platform/transport.h"

extern const struct simpler_transport_ops transport_split;

/* The @nth fetch or flush from now (0 is the next) fails; @times of them. */
void transport_split_fail(uint64_t nth, uint64_t times);
/* Whether one has failed since. */
bool transport_split_failed(void);

#endif
