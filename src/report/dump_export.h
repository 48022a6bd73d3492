/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_REPORT_DUMP_EXPORT_H
#define SIMPLER_REPORT_DUMP_EXPORT_H

/*
 * Arguments as files beside the manifest:
 * <directory>/<format>/task_<id>_<before|after>_<in|out|inout><arg>.<ending>
 */
#include <stddef.h>
#include <stdint.h>

#include "report/dump_entry.h"
#include "report/dump_payload.h"

/* X(NAME, folder and name on the command line, ending). */
#define SIMPLER_DUMP_FORMAT_MAP(X) \
    X(TXT, "txt", ".txt")          \
    X(NPY, "npy", ".npy")          \
    X(CSV, "csv", ".csv")          \
    X(RAW, "raw", ".bin")

enum simpler_dump_format {
#define X(NAME, text, ending) SIMPLER_DUMP_FORMAT_##NAME,
    SIMPLER_DUMP_FORMAT_MAP(X)
#undef X
        SIMPLER_DUMP_FORMAT_NUM
};

const char *simpler_dump_format_name(enum simpler_dump_format format);

struct simpler_dump_exporter;

/* What became of one entry. */
struct simpler_dump_exported {
    char path[4352];
    char note[256]; /* what a reader of the file must know, or why there is no file; may be "" */
};

/* The folder is made with the first file.  SIMPLER_ENOMEM. */
int simpler_dump_exporter_open(const char *directory, enum simpler_dump_format format,
                               struct simpler_dump_payload *payload,
                               struct simpler_dump_exporter **out);
/*
 * 1: the file is written; 0: there is nothing to write and out->note says why;
 * SIMPLER_EFORMAT: the entry is at fault, SIMPLER_EIO: reading or writing
 * failed; out->note says what.
 */
int simpler_dump_exporter_write(struct simpler_dump_exporter *x, const struct simpler_dump_entry *e,
                                struct simpler_dump_exported *out);
/* NULL is fine. */
void simpler_dump_exporter_close(struct simpler_dump_exporter *x);

#endif
