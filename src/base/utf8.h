/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_BASE_UTF8_H
#define SIMPLER_BASE_UTF8_H

#include <stddef.h>

/* Length of the valid UTF-8 sequence at @text, 1 to 4; 0 if there is none. */
size_t simpler_utf8_length(const char *text, size_t bytes);

#endif
