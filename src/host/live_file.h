/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_HOST_LIVE_FILE_H
#define SIMPLER_HOST_LIVE_FILE_H

/*
 * <prefix>/.live: which process is writing here, and where its diagnostic memory is.
 * There from before the device begins until the run's files are complete; one that
 * stays is of a process that died.  Lines of a key, a blank and a value.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SIMPLER_LIVE_NAME    ".live"
#define SIMPLER_LIVE_VERSION 1u
#define SIMPLER_LIVE_BYTES   4096u /* at most, of the file */

struct simpler_live {
    int64_t pid;
    uint64_t start_time; /* of the process; base/process.h */
    uint32_t run_epoch;
    bool scope_stats;
    uint32_t args_dump; /* level */
    char region[256];   /* path; wire/region_wire.h */
};

/* Makes the directory as well; appears whole.  SIMPLER_EIO (errno), SIMPLER_EOVERFLOW. */
int simpler_live_file_write(const char *prefix, const struct simpler_live *live);
void simpler_live_file_remove(const char *prefix);
/* What is left of a write that was cut. */
void simpler_live_file_remove_fresh(const char *prefix);
/*
 * SIMPLER_ENOENT: there is none; SIMPLER_EIO; SIMPLER_EFORMAT: it is none of ours, torn, or of
 * another version.  @out unchanged on failure.
 */
int simpler_live_file_read(const char *prefix, struct simpler_live *out);
/* The same from bytes. */
int simpler_live_file_parse(const char *text, size_t bytes, struct simpler_live *out);

#endif
