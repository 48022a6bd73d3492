/* SPDX-License-Identifier: Apache-2.0 */
/* The element types: one table, three look-ups. */
#include "simpler/dtype.h"

#include <strings.h>

struct dtype_info {
    const char *name;
    size_t bytes;
};

static const struct dtype_info dtype_table[] = {
#define X(id, NAME, text, bytes) [id] = {text, bytes},
    SIMPLER_DTYPE_MAP(X)
#undef X
};

#define X(id, NAME, text, bytes) +1
_Static_assert(sizeof(dtype_table) / sizeof(dtype_table[0]) == 0 SIMPLER_DTYPE_MAP(X),
               "dtype ids must be dense and start at 0");
#undef X

size_t simpler_dtype_bytes(uint32_t dtype)
{
    return dtype < SIMPLER_DTYPE_NUM ? dtype_table[dtype].bytes : 0;
}

const char *simpler_dtype_name(uint32_t dtype)
{
    return dtype < SIMPLER_DTYPE_NUM ? dtype_table[dtype].name : "UNKNOWN";
}

int simpler_dtype_parse(const char *name, uint32_t *out)
{
    if (out == NULL)
        return SIMPLER_EINVAL;
    if (name == NULL)
        return SIMPLER_ENOENT;
    for (uint32_t i = 0; i < SIMPLER_DTYPE_NUM; i++) {
        if (strcasecmp(name, dtype_table[i].name) == 0) {
            *out = i;
            return 0;
        }
    }
    return SIMPLER_ENOENT;
}
