/* SPDX-License-Identifier: Apache-2.0 */
/* The registry; no other file of host/ names a runtime. */
#include "host/runtimes.h"

#include <string.h>

#include "hbg/hbg_runtime.h"
#include "tmr/tmr_runtime.h"

const struct simpler_runtime *const simpler_runtimes[SIMPLER_RUNTIMES] = {
    &simpler_runtime_tmr,
    &simpler_runtime_hbg,
};

int simpler_runtimes_find(const char *name)
{
    if (name == NULL)
        return 0;
    for (int i = 0; i < SIMPLER_RUNTIMES; i++) {
        if (strcmp(simpler_runtimes[i]->name, name) == 0)
            return i;
    }
    return -1;
}
