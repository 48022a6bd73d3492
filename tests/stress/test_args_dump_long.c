/* SPDX-License-Identifier: Apache-2.0 */
// ctest: TIMEOUT 900
/* tests/scene/test_args_dump.c for longer: more seeds. */
#define PROPERTY_SECONDS 15
#include "../scene/test_args_dump.c"
