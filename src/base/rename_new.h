/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_BASE_RENAME_NEW_H
#define SIMPLER_BASE_RENAME_NEW_H

/*
 * Gives a file its name unless the name is taken: 0, or -1 and errno (EEXIST: it
 * is taken; nothing was changed).  Paths are relative to @directory.  One step
 * where the file system can do it; else a second name is made and the first removed.
 */
int simpler_rename_new(int directory, const char *from, const char *to);

#endif
