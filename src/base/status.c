/* SPDX-License-Identifier: Apache-2.0 */
/* Names and texts of the statuses, both from the tables of status.h. */
#include "simpler/status.h"

const char *simpler_status_name(int status)
{
    switch (status) {
    case SIMPLER_OK:
        return "SIMPLER_OK";
#define X(number, NAME, text) \
    case -(number):           \
        return #NAME;
        SIMPLER_DEVICE_CODE_MAP(X)
#undef X
#define X(number, NAME, text) \
    case (number):            \
        return "SIMPLER_" #NAME;
        SIMPLER_STATUS_MAP(X)
#undef X
    default:
        return "UNKNOWN";
    }
}

const char *simpler_status_text(int status)
{
    switch (status) {
    case SIMPLER_OK:
        return "success";
#define X(number, NAME, text) \
    case -(number):           \
        return text;
        SIMPLER_DEVICE_CODE_MAP(X)
#undef X
#define X(number, NAME, text) \
    case (number):            \
        return text;
        SIMPLER_STATUS_MAP(X)
#undef X
    default:
        return "unknown status";
    }
}
