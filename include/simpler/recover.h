/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_RECOVER_H
#define SIMPLER_RECOVER_H

/*
 * What the diagnostics of a process hold that died in the middle of a run: a crash, a
 * SIGKILL, an exit.  With crash_safe of the worker's config no record is missing, and no payload
 * that the disk has kept; without it, what had not reached the disk is.
 */
#include <stdint.h>

#include "simpler/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/** What became of one diagnostic. */
enum simpler_recover_state {
    SIMPLER_RECOVER_NOTHING = 0,   /**< it has left nothing, or nothing that can be read */
    SIMPLER_RECOVER_COMPLETE = 1,  /**< its file was there already, of the run or of a recovery */
    SIMPLER_RECOVER_RENAMED = 2,   /**< its file was whole and has its name now */
    SIMPLER_RECOVER_RECOVERED = 3, /**< its file is there now; what it lacks is said in it */
    SIMPLER_RECOVER_FAILED = 4     /**< see status and message; nothing is lost, try again */
};

struct simpler_recover_part {
    int state;            /**< enum simpler_recover_state */
    int status;           /**< 0, SIMPLER_EBUSY, SIMPLER_EIO, SIMPLER_EFORMAT, SIMPLER_ENOMEM */
    uint64_t records;     /**< in the file */
    uint64_t from_region; /**< of those: they were in the dead process's memory alone */
    uint64_t torn_bytes;  /**< of a record that was not whole; left out */
    char path[1088];      /**< of the file */
    char message[160];    /**< of a failure; of NOTHING: what was removed, and why */
};

struct simpler_recover_result {
    /** Process that wrote, of a directory with a .live; 0: there is none. */
    int64_t pid;
    int has_region;    /**< 1: its diagnostic memory was there: every record that was made is */
    char region[256];  /**< its path; empty: none is named */
    char message[256]; /**< why a region that is named was not used, or the call failed */
    struct simpler_recover_part scope_stats;
    struct simpler_recover_part args_dump;
    uint64_t payloads_from_region; /**< of args_dump */
    uint64_t payloads_lost;        /**< of args_dump: cut, and said so in their entries */
    uint64_t records_refused;      /**< of args_dump: they make no sense */
    uint64_t unnamed_bytes;        /**< of an args.bin whose records died with the process */
    /** Of payloads_lost: the disk does not give back a page of args.bin, also when it is asked
     * again a little later; they end before it. */
    uint64_t payloads_unreadable;
};

/**
 * Make everything readable that a dead process has left under an output prefix.
 *
 * May be called again at any time, also after it was killed itself; when everything is
 * done it says so and changes nothing.
 *
 * @param directory  the output prefix of the run; of `simpler run --rounds` one of its round_<i>
 * @param out        always filled
 * @retval 0                done, or there was nothing to do
 * @retval SIMPLER_EINVAL   a pointer is NULL
 * @retval SIMPLER_ENOENT   there is no such directory
 * @retval SIMPLER_EBUSY    the process still runs (out->pid), or another one recovers here
 * @retval SIMPLER_EIO      something cannot be read now, or another user's; nothing is lost.  The
 *                          exception: a page of args.bin that its medium twice does not give back
 *                          is taken for lost, and what no memory has of it is cut
 *                          (out->payloads_unreadable; the call returns 0)
 * @retval other            the first failure of a part; the rest was done
 *
 * Blocks: for its files: it reads and writes at most what the run had recorded.
 */
SIMPLER_API int simpler_recover(const char *directory, struct simpler_recover_result *out);

#ifdef __cplusplus
}
#endif
#endif
