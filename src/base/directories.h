/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_BASE_DIRECTORIES_H
#define SIMPLER_BASE_DIRECTORIES_H

/* Makes @path and those above it, like mkdir -p; 0, or -1 with errno.  At most 4095 bytes. */
int simpler_directories_make(const char *path);

#endif
