/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_HOST_STALE_REGIONS_H
#define SIMPLER_HOST_STALE_REGIONS_H

/*
 * Removes the region files in @directory whose process has ended and that nobody can
 * use: no run was under way, or its .live does not name the file any more.  What
 * `simpler recover` can use stays.
 */
void simpler_stale_regions_remove(const char *directory);

#endif
