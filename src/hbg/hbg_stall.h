/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_HBG_HBG_STALL_H
#define SIMPLER_HBG_HBG_STALL_H

/* What is said about a run of this runtime that makes no progress (task/stall_text.h). */
#include "hbg/hbg_engine.h"
#include "task/stall_text.h"

/* A task in words. */
struct simpler_hbg_named {
    const char *kernel; /* "dummy": none */
    uint32_t func_id;
    uint64_t id;
    struct simpler_hbg_site site;
};
/* @word as simpler_hbg_word makes it; for a signal handler as well. */
struct simpler_hbg_named simpler_hbg_stall_name(const struct simpler_hbg_device *device,
                                                uint64_t word, uint32_t node);

/*
 * After the freeze: looks, writes the log's lines and device->busy_text.  @stop: why the run had
 * been stopped before @idle_ns began, or 0.
 */
void simpler_hbg_stall_examine(struct simpler_hbg_device *device, uint64_t idle_ns, int32_t stop,
                               struct simpler_stall *out);
/* While the run goes on, by its caller. */
void simpler_hbg_stall_show(struct simpler_hbg_device *device);

#endif
