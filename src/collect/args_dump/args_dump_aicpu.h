/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_COLLECT_ARGS_DUMP_AICPU_H
#define SIMPLER_COLLECT_ARGS_DUMP_AICPU_H

/*
 * The platform API of the args dump: plain values, no runtime type crosses it.
 * Every thread that runs kernels is a producer with a lane of its own.
 *
 *     the leader, at the start of a run      set_dump_args_enabled,
 *                                            set_platform_dump_base, dump_args_init
 *     a thread, around what it captures      dump_args_begin, dump_arg_record ...,
 *                                            dump_args_end
 *     the leader, at the end                 dump_args_flush
 */
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The leader's; enablement is never inferred from the base. */
void set_dump_args_enabled(bool enable);
void set_platform_dump_base(uint64_t dump_data_base);
/*
 * Initialises every lane of the run with that number and latches the level, which
 * it returns: 0 (off: not enabled, or no base) to 3.
 */
uint32_t dump_args_init(uint32_t run_epoch);

/* A run as its threads need it, the same for all. */
struct dump_args_run {
    uint64_t base;
    uint32_t run_epoch;
};

/* What the records of one task and stage have in common. */
struct dump_args_task {
    uint64_t task_id;
    uint32_t submit_seq;
    uint8_t stage; /* 0 before dispatch, 1 after completion */
    uint8_t func_count;
    uint16_t func_ids[3];
};

/* One tensor argument. */
struct dump_args_info {
    uint64_t buffer_addr;
    uint64_t start_offset; /* elements */
    uint32_t ndims;        /* 1 to 5 */
    uint8_t dtype;
    uint8_t is_contiguous;
    const uint32_t *shape;
    const uint32_t *stride; /* elements */
};

/* Attaches the calling thread to its lane, once a run; starts the clock of this capture. */
void dump_args_begin(const struct dump_args_run *run, uint32_t lane);
/* @role: 0 input, 1 output, 2 inout.  Without @payload the metadata alone. */
void dump_arg_record(const struct dump_args_task *task, const struct dump_args_info *info,
                     uint8_t role, uint32_t arg_index, bool payload);
void dump_args_scalar(const struct dump_args_task *task, uint32_t arg_index, uint8_t dtype,
                      uint64_t value, bool ambiguous);
void dump_args_end(void);

/* Publishes what the calling thread's lane holds; nothing when it captured nothing. */
void dump_args_flush(const struct dump_args_run *run, uint32_t lane);

/* What the host is to warn of, once a run each. */
enum dump_args_note {
    DUMP_ARGS_NOTE_DISAGREES = 0, /* signature and add_*: @a use, @b direction */
    DUMP_ARGS_NOTE_UNREACHED = 1, /* the signature ends before the tensor @arg */
    DUMP_ARGS_NOTE_MISMATCH = 2 /* metadata of argument @arg makes no sense: the task is skipped */
};
void dump_args_note(enum dump_args_note note, uint64_t task_id, uint32_t func_id, uint32_t arg,
                    uint32_t a, uint32_t b);

#ifdef __cplusplus
}
#endif
#endif
