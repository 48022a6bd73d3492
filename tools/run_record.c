/* SPDX-License-Identifier: Apache-2.0 */
/* Questions on records that both reports ask. */
#include "run_record.h"

#include <stdlib.h>

static int compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

bool simpler_run_record_times(const struct simpler_run_record *record, uint64_t *median,
                              uint64_t *min, uint64_t *max)
{
    uint64_t *times = calloc((size_t)record->round_count + 1, sizeof(*times));
    uint32_t n = 0;

    for (uint32_t i = 0; times != NULL && i < record->round_count; i++) {
        if (record->rounds[i].passed)
            times[n++] = record->rounds[i].wall_ns;
    }
    if (n != 0) {
        qsort(times, n, sizeof(*times), compare);
        *median =
            n % 2 != 0 ? times[n / 2] : times[n / 2 - 1] + (times[n / 2] - times[n / 2 - 1]) / 2;
        *min = times[0];
        *max = times[n - 1];
    }
    free(times);
    return n != 0;
}

uint32_t simpler_run_record_passed(const struct simpler_run_summary *summary)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < summary->record_count; i++)
        n += summary->records[i].failed_count == 0 && summary->records[i].round_count != 0;
    return n;
}

bool simpler_run_record_whole(const struct simpler_run_summary *summary)
{
    for (uint32_t i = 0; i < summary->record_count; i++) {
        if (summary->records[i].incomplete_count != 0)
            return false;
    }
    return true;
}

const char *simpler_run_record_golden(enum simpler_run_golden golden)
{
    static const char *const words[] = {"not reached", "skipped", "right", "wrong", "failed"};

    return words[golden];
}
