/* SPDX-License-Identifier: Apache-2.0 */
/* What the program reads from the environment besides the sizes of simpler_info_size. */
#ifndef SIMPLER_TOOLS_ENVIRONMENT_H
#define SIMPLER_TOOLS_ENVIRONMENT_H

#include <stdint.h>

struct simpler_environment_variable {
    const char *name;
    const char *default_text; /* the value that its absence amounts to; "" for none */
    const char *meaning;      /* with the unit, if it has one */
};

/* Its rows one by one; NULL beyond the last. */
const struct simpler_environment_variable *simpler_environment_get(uint32_t index);

#endif
