/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_BASE_LOGGER_H
#define SIMPLER_BASE_LOGGER_H

/*
 * Logging inside the library.  error: the run is lost; warn: data is lost, say
 * how much; info: once a run; debug: per object.  Never from a hot path.
 */
#include "simpler/log.h"

#define SIMPLER_ERROR(...)     simpler_log_write(SIMPLER_LOG_ERROR, __VA_ARGS__)
#define SIMPLER_WARN(...)      simpler_log_write(SIMPLER_LOG_WARN, __VA_ARGS__)
#define SIMPLER_INFO(...)      simpler_log_write(SIMPLER_LOG_INFO, __VA_ARGS__)
#define SIMPLER_DEBUG_LOG(...) simpler_log_write(SIMPLER_LOG_DEBUG, __VA_ARGS__)

#endif
