/* SPDX-License-Identifier: Apache-2.0 */
/* On a full disk args.bin gives up room for the manifest, which is worth more. */
#include "collect/args_dump/args_dump_ending.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/logger.h"
#include "base/testpoint.h"
#include "base/text.h"
#include "collect/args_dump/args_dump_export.h"

#define ATTEMPTS 4

/* What the disk took of the payload; said once. */
static void check_payload(struct args_dump_ending *ending)
{
    ending->out.payload_bytes = ending->written - ending->first;
    if (ending->unplaced != 0)
        SIMPLER_ERROR("args dump: %s/" ARGS_DUMP_BIN ": %" PRIu64
                      " payload%s lost: no memory to note them, or they could not be read",
                      ending->out.path, ending->unplaced, simpler_text_plural(ending->unplaced));
    if (ending->payload_error == 0)
        return;
    SIMPLER_ERROR("args dump: %s/" ARGS_DUMP_BIN ": write failed: %s (errno %d): %" PRIu64
                  " of %" PRIu64 " payload bytes are there",
                  ending->out.path, strerror(ending->payload_error), ending->payload_error,
                  ending->written - ending->first, ending->end - ending->first);
}

/* Shortens args.bin by up to @bytes; false: it has nothing to give. */
static bool cut(struct args_dump_ending *ending, uint64_t bytes)
{
    uint64_t there = ending->written - ending->first;
    uint64_t less = bytes < there ? bytes : there;

    if (less == 0 || ending->bin < 0 ||
        ftruncate(ending->bin, (off_t)(ending->written - less)) != 0)
        return false;
    ending->written -= less;
    if (ending->payload_error == 0)
        ending->payload_error = ENOSPC;
    return true;
}

/* Tries until the disk has room for the manifest or args.bin has none to give. */
static int export_manifest(struct args_dump_ending *ending, struct args_dump_export *e)
{
    int rc = SIMPLER_EIO;

    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
        e->bin_bytes = ending->bin >= 0 ? ending->written : 0;
        rc = simpler_args_dump_export(e, ending->store);
        if (rc != SIMPLER_EIO || e->error != ENOSPC)
            return rc;
        uint64_t wanted =
            attempt + 2 < ATTEMPTS
                ? (simpler_args_dump_store_count(ending->store) + 1) * ARGS_DUMP_ENTRY_BYTES
                : UINT64_MAX;
        if (!cut(ending, wanted))
            return rc;
    }
    return rc;
}

static int export_run(struct args_dump_ending *ending)
{
    struct args_dump_outcome *out = &ending->out;
    struct args_dump_export e = {.directory = ending->directory,
                                 .level = ending->level,
                                 .has_bin = ending->bin >= 0,
                                 .is_new = ending->is_new};

    simpler_args_dump_store_finish(ending->store);
    uint64_t lost = atomic_load_explicit(&ending->store->lost, memory_order_relaxed);
    uint64_t records = simpler_args_dump_store_count(ending->store);

    e.dropped_unknown = !out->counts_known;
    e.dropped_records = out->dropped_no_free + out->dropped_ready_full + out->dropped_arena + lost;
    out->write_failed = lost;
    int rc = export_manifest(ending, &e);
    check_payload(ending);
    simpler_args_dump_store_drop_spool(ending->store);
    if (rc != 0) {
        SIMPLER_ERROR("args dump: %s: no manifest: %s (errno %d); %" PRIu64 " record%s lost",
                      out->path, e.error != 0 ? strerror(e.error) : simpler_status_text(rc),
                      e.error, records, simpler_text_plural(records));
        out->write_failed += records;
        return rc;
    }
    out->has_manifest = true;
    out->records = e.entries;
    out->truncated = e.truncated;
    return 0;
}

bool simpler_args_dump_ending_is_whole(const struct args_dump_ending *ending)
{
    const struct args_dump_outcome *out = &ending->out;

    return out->counts_known && out->dropped_no_free == 0 && out->dropped_ready_full == 0 &&
           out->dropped_arena == 0 && out->write_failed == 0 && ending->payload_error == 0 &&
           ending->unplaced == 0 && ending->open_error == 0;
}

static int write_files(struct args_dump_ending *ending)
{
    int rc = 0;

    if (ending->is_new && ending->open_error == EEXIST)
        rc = SIMPLER_EEXIST;
    else if (ending->directory >= 0 && ending->received != 0)
        rc = export_run(ending);
    else if (ending->given_up != 0)
        rc = SIMPLER_EIO;
    if (ending->given_up != 0)
        ending->out.write_failed = ending->given_up;
    if (rc != 0)
        return rc;
    return simpler_args_dump_ending_is_whole(ending) ? 0 : SIMPLER_EPARTIAL;
}

int simpler_args_dump_ending_write(struct args_dump_ending *ending)
{
    ending->out.status = write_files(ending);
    /* Nobody could read the payload by itself. */
    if (ending->out.status != 0 && !ending->out.has_manifest)
        simpler_args_dump_ending_discard(ending);
    return ending->out.status;
}

void simpler_args_dump_ending_discard(struct args_dump_ending *ending)
{
    simpler_args_dump_store_drop_spool(ending->store);
    if (ending->bin >= 0)
        (void)unlinkat(ending->directory, ARGS_DUMP_BIN, 0);
    ending->out.payload_bytes = 0;
}

/* ---- retained ---- */

struct args_dump_retained {
    struct args_dump_ending ending;
    struct args_dump_store store;
    struct args_dump_budget *budget;
    uint64_t bytes; /* of the budget */
};

int simpler_args_dump_retained_open(const struct args_dump_ending *ending,
                                    struct args_dump_budget *budget,
                                    struct args_dump_retained **out)
{
    struct args_dump_retained *run = simpler_alloc_zeroed(1, sizeof(*run));

    if (run == NULL)
        return SIMPLER_ENOMEM;
    simpler_args_dump_store_init(&run->store);
    run->budget = budget;
    run->bytes = simpler_args_dump_store_move(ending->store, &run->store, budget);
    run->ending = *ending;
    run->ending.store = &run->store;
    *out = run;
    return 0;
}

int simpler_args_dump_retained_write(struct args_dump_retained *run)
{
    SIMPLER_TESTPOINT(RETAINED_BEFORE_MANIFEST);
    return simpler_args_dump_ending_write(&run->ending);
}

void simpler_args_dump_retained_close(struct args_dump_retained *run)
{
    if (run == NULL)
        return;
    simpler_args_dump_store_fini(&run->store);
    atomic_fetch_sub_explicit(&run->budget->used, run->bytes, memory_order_relaxed);
    if (run->ending.bin >= 0)
        (void)close(run->ending.bin);
    if (run->ending.directory >= 0)
        (void)close(run->ending.directory);
    simpler_alloc_free(run);
}
