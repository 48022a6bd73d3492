/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as a manifest: read twice with the same result, each entry judged
 * and written as a row and as JSON, the whole checked.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "report/dump_check.h"
#include "report/dump_filter.h"
#include "report/dump_list.h"
#include "report/dump_manifest.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct simpler_out_stream out;
static struct simpler_dump_payload payload;

static void require(bool condition)
{
    if (!condition)
        abort();
}

static void look_at(const struct simpler_dump_entry *e)
{
    enum simpler_dump_state state = simpler_dump_entry_state(e, &payload.info);
    char note[256];
    uint64_t bits;

    simpler_dump_entry_note(e, &payload.info, note, sizeof(note));
    require((state >= SIMPLER_DUMP_FAULTS) == (strncmp(note, "FAULT", 5) == 0));
    if (state == SIMPLER_DUMP_WHOLE || state == SIMPLER_DUMP_TRUNCATED)
        require(simpler_dump_range_fits(e->bin_offset, e->bin_size, payload.info.bytes) ||
                e->bin_size == 0);
    (void)simpler_dump_entry_scalar_bits(e, &bits);
    simpler_dump_list_row(&out, e, note);
    simpler_dump_list_json_entry(&out, e, state, note);
}

/* The status at the end; *entries counts. */
static int read_all(struct simpler_dump_manifest *m, uint64_t *entries)
{
    struct simpler_dump_entry e;
    int rc;

    *entries = 0;
    while ((rc = simpler_dump_manifest_next(m, &e)) > 0) {
        require(e.index == *entries);
        ++*entries;
        look_at(&e);
    }
    return rc;
}

static void ignore_fault(void *user, uint64_t index, const char *text)
{
    (void)user;
    (void)index;
    require(text[0] != '\0');
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct simpler_dump_manifest *m;
    struct simpler_dump_checked checked;
    uint64_t first;
    uint64_t second;

    if (payload.info.bytes == 0) {
        payload.info.bytes = 1 << 20;
        payload.info.is_there = true;
        memcpy(payload.info.name, "args.bin", 9);
        simpler_out_stream_init(&out, open("/dev/null", O_WRONLY));
    }
    int rc = simpler_dump_manifest_open_bytes("fuzz", data, size, &m);
    if (rc == 0) {
        rc = read_all(m, &first);
        if (rc == 0) {
            simpler_dump_manifest_rewind(m);
            require(read_all(m, &second) == 0 && first == second);
            require(simpler_dump_check_run(m, &payload, ignore_fault, NULL, &checked) == 0);
            require(checked.entries == first);
        }
    }
    /* A failure always has its sentence. */
    require((rc == 0) == (simpler_dump_manifest_error(m)[0] == '\0'));
    out.used = 0;
    simpler_dump_manifest_close(m);
    return 0;
}
