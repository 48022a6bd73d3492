/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_TESTS_FAILING_ALLOC_H
#define SIMPLER_TESTS_FAILING_ALLOC_H

/*
 * Makes the nth step of an init fail: allocations, mappings and thread starts
 * count alike (debug builds; elsewhere nothing fails).
 */
#include <stdbool.h>
#include <stdint.h>

/* The @nth failpoint from now (0 is the next) fails, once. */
void failing_alloc_arm(uint64_t nth);
/* Whether it has failed since the last arm. */
bool failing_alloc_fired(void);
void failing_alloc_disarm(void);
/* Whether this build has failpoints. */
bool failing_alloc_available(void);

#endif
