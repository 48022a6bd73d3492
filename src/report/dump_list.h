/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_REPORT_DUMP_LIST_H
#define SIMPLER_REPORT_DUMP_LIST_H

/* Entries as rows of a table or as members of a JSON document. */
#include "report/dump_entry.h"
#include "report/dump_manifest.h"
#include "report/out_stream.h"
#include "report/tensor_stats.h"

/* The first column is the index in the manifest. */
void simpler_dump_list_head(struct simpler_out_stream *o);
void simpler_dump_list_row(struct simpler_out_stream *o, const struct simpler_dump_entry *e,
                           const char *note);
void simpler_dump_list_stats_head(struct simpler_out_stream *o);
/* @s is NULL when there is nothing to compute from. */
void simpler_dump_list_stats_row(struct simpler_out_stream *o, const struct simpler_dump_entry *e,
                                 const struct simpler_tensor_stats *s, const char *note);

/* "key": value pairs without braces, so that the caller can add more. */
void simpler_dump_list_json_header(struct simpler_out_stream *o,
                                   const struct simpler_dump_header *header);
void simpler_dump_list_json_entry(struct simpler_out_stream *o, const struct simpler_dump_entry *e,
                                  enum simpler_dump_state state, const char *note);
void simpler_dump_list_json_stats(struct simpler_out_stream *o,
                                  const struct simpler_tensor_stats *s);

#endif
