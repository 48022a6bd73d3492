/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What may be done after a run, from the ends of its producer lanes.  The one
 * place that decides: a thread that may still write forbids to chase what it
 * publishes, to read what it counts, to recover what it holds, to call a file
 * complete, and to free what it may touch.
 */
#include "prof/session.h"

struct simpler_prof_verdict simpler_prof_decide(const enum simpler_lane_end *ends, uint32_t count)
{
    bool proved = true;

    for (uint32_t i = 0; i < count; i++)
        proved &= ends[i] == SIMPLER_LANE_COMPLETE || ends[i] == SIMPLER_LANE_STOPPED;
    return (struct simpler_prof_verdict){
        .may_drain = proved,
        .may_read = proved,
        .may_recover = proved,
        .may_export = proved,
        .may_free = proved,
    };
}
