/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_TESTS_TRANSPORT_COUNTING_H
#define SIMPLER_TESTS_TRANSPORT_COUNTING_H

/* The shadow transport, with what it has copied. */
#include "platform/transport.h"

struct transport_counts {
    uint64_t calls;         /* of fetch, flush and view */
    uint64_t fetched_words; /* bytes of fetches of at most TRANSPORT_WORDS: indices and counters */
    uint64_t fetched_bulk;  /* of the others: records */
    uint64_t flushed;
    uint64_t viewed;
};

#define TRANSPORT_WORDS 64u

extern const struct simpler_transport_ops transport_counting;

/* Since the last reset. */
struct transport_counts transport_counting_get(void);
void transport_counting_reset(void);

#endif
