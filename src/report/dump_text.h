/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_REPORT_DUMP_TEXT_H
#define SIMPLER_REPORT_DUMP_TEXT_H

/*
 * An argument as text for people and for diff: a head of "# key: value" lines,
 * an overview in rows of the last dimension, a line an element with its place;
 * or as comma-separated rows without a head.
 */
#include "report/dump_entry.h"
#include "report/dump_payload.h"
#include "report/out_stream.h"

/*
 * Both: the entry is none of the faults.  A scalar that has no bits is a
 * SIMPLER_EFORMAT of csv; SIMPLER_EIO when the payload cannot be read.  Failures
 * to write are the stream's.
 */
int simpler_dump_text_write(struct simpler_out_stream *o, const struct simpler_dump_entry *e,
                            struct simpler_dump_payload *p);
int simpler_dump_text_write_csv(struct simpler_out_stream *o, const struct simpler_dump_entry *e,
                                struct simpler_dump_payload *p);
/* "[3, 4]" */
void simpler_dump_text_dims(struct simpler_out_stream *o, const uint64_t *dims, uint32_t count);
void simpler_dump_text_funcs(struct simpler_out_stream *o, const struct simpler_dump_entry *e);

#endif
