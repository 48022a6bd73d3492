/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TEST_SUPPORT_HANG_RIG_H
#define TEST_SUPPORT_HANG_RIG_H

/*
 * Runs that do not end by themselves: a worker with a short budget, kernels that
 * spin at a gate, the lines of the log, and the files that such a run leaves.
 */
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "cm.h"
#include "kit.h"

#define HANG_BUDGET_MS 300u

extern struct kit hang_kit;
extern struct simpler_run_result hang_result; /* of the last hang_run */
extern uint64_t hang_cells[64][8];            /* tensors, see hang_submit_on */
extern _Atomic int hang_hold;                 /* 0: a thread stands at a test point */
extern char hang_prefix[];                    /* where hang_with_diagnostics writes */

/* The kernel's own memory: a gate that it spins at, and what it has written. */
struct hang_spinner {
    _Atomic int inside;
    _Atomic int let_go;
    uint64_t own_ns; /* a hot kernel comes back by itself after that; 0: never */
};

/* An orchestration that does not return until it is let go. */
struct hang_never {
    _Atomic int inside, let_go;
    bool with_task;
    int answer;
};

/* A task with tensor @index, read and written. */
int hang_submit_on(struct simpler_orch *orch, uint32_t index, uint32_t variant, kit_kernel fn,
                   void *user);
/* @user: a struct hang_spinner; leaves 42 in its tensor, if it has one, and spins. */
int hang_spin_kernel(const int64_t *args, uint32_t tensors, void *user);

/* Set-up and tear-down: a worker; all threads are let go and waited for. */
int hang_start(void **state);
int hang_end(void **state);
/* NULL: the default. */
void hang_open_worker(const struct simpler_worker_config *config);
#define HANG_TEST(fn) cmocka_unit_test_setup_teardown(fn, hang_start, hang_end)
/* Runs the tests of a program, with a directory for what they write. */
int hang_main(const struct CMUnitTest *tests, size_t count);

/* The status; KIT_UNEXPECTED if the orchestration expected something else. */
int hang_run(kit_orch fn, void *user, const struct simpler_call_config *config);
void hang_next_runs_are_right(void);
/* A line of the log, an error, that has both; the result's message has @text. */
bool hang_was_logged(const char *a, const char *b);
void hang_must_say(const char *text);
/* There the orchestration is the caller's own code, and every task is of ring 0. */
bool hang_on_hbg(void);

/* What was seen of the last run: status and diagnostics, and the device now. */
void hang_saw(const char *fault);

/* Both diagnostics, everything dumped. */
struct simpler_call_config hang_with_diagnostics(uint32_t threads);
/* The file below the prefix, until the next call; NULL: there is none. */
const char *hang_read_file(const char *name);
int hang_count_of(const char *haystack, const char *needle);

#endif
