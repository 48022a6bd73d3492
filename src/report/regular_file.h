/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_REPORT_REGULAR_FILE_H
#define SIMPLER_REPORT_REGULAR_FILE_H

/*
 * Opens what a user names for reading.  A pipe would wait for its writer and a device
 * may never end, so only regular files are let in; nothing here blocks.
 */
#include <stdio.h>

/*
 * A descriptor that the caller closes, or -1.  errno says why; 0: the file is there, but it
 * is a pipe, a socket or a device.
 */
int simpler_regular_file_open(const char *path);
/* The same as a stream; NULL. */
FILE *simpler_regular_file_fopen(const char *path);
/* Why errno of a failed open is what it is; static or as strerror. */
const char *simpler_regular_file_fault(int error);

#endif
