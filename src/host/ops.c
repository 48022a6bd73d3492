/* SPDX-License-Identifier: Apache-2.0 */
/* The table of what orchestrations call. */
#include "simpler/ops.h"

const struct simpler_ops_table *simpler_ops(void)
{
    static const struct simpler_ops_table table = {.bytes = sizeof(table),
#define X(name) .name = simpler_##name,
                                                   SIMPLER_OPS_MAP(X)
#undef X
    };
    return &table;
}
