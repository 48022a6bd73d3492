/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_TOOLS_UNIT_PRUNE_H
#define SIMPLER_TOOLS_UNIT_PRUNE_H

/*
 * The bound of the cache of unit_cache.h.  An entry's time stamp is when it was last used.
 * Beyond 256 MiB the entries that were not used for longest go until 192 MiB are left, but none
 * that was used within the last hour: somebody may be about to load it.
 *
 * A lock on the file .lock keeps "is it there? then it is used now" and a pruning apart.  Who may
 * read the cache and not write it (another user, a read-only mount) cannot set the stamp: he keeps
 * the lock until he has loaded what he found.  Who cannot have the lock looks nevertheless and
 * does not prune.
 */

/* Around a look into the cache: a lock that is shared with others who look; -1: none. */
int simpler_unit_prune_enter(const char *dir);
void simpler_unit_prune_leave(int lock);

/* The entry is used now.  Where that cannot be noted, @lock stays taken: see the next one. */
void simpler_unit_prune_use(int lock, const char *object, const char *list);

/* What was found is loaded, or not wanted: it may go. */
void simpler_unit_prune_loaded(void);

/*
 * Brings the cache back under its bound, and removes what compilations of a day ago have
 * left.  Files that are not the cache's stay.  Nothing is done while somebody else looks.
 */
void simpler_unit_prune(const char *dir);

#endif
