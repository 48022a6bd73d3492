/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers of options and environment variables: what is taken is what strtoull
 * and strtoll make of the trimmed text; a list is taken exactly when its parts
 * between commas are.
 */
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define CHECK(x)     \
    do {             \
        if (!(x))    \
            abort(); \
    } while (0)

/* The library's answer on a text of blanks, one optional sign, digits, blanks. */
static bool reference(const char *text, bool is_signed, uint64_t *out)
{
    const char *p = text + strspn(text, " \t");
    const char *digits = p + (is_signed && (*p == '-' || *p == '+'));
    const char *rest = digits + strspn(digits, "0123456789");

    if (rest == digits || *(rest + strspn(rest, " \t")) != '\0')
        return false;
    errno = 0;
    *out = is_signed ? (uint64_t)strtoll(p, NULL, 10) : strtoull(p, NULL, 10);
    return errno == 0;
}

static void check_list(const char *text)
{
    uint64_t values[4] = {1, 2, 3, 4}, parts[4];
    char copy[512];
    size_t n = 0;
    bool ok = true;

    (void)strcpy(copy, text);
    for (char *at = copy; at != NULL; n++) {
        char *comma = strchr(at, ',');
        if (comma != NULL)
            *comma = '\0';
        ok = ok && n < 4 && reference(at, false, &parts[n]);
        at = comma != NULL ? comma + 1 : NULL;
    }
    ok = ok && (n == 1 || n == 4);
    CHECK(simpler_text_parse_list(text, values, 4) == ok);
    for (size_t i = 0; i < 4; i++)
        CHECK(values[i] == (ok ? parts[n == 1 ? 0 : i] : i + 1));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char text[512];
    uint64_t expected = 0, u = 77;
    int64_t i = 77;

    size = size < sizeof(text) - 1 ? size : sizeof(text) - 1;
    memcpy(text, data, size);
    text[size] = '\0';
    bool ok = reference(text, false, &expected);
    CHECK(simpler_text_parse_u64(text, &u) == ok);
    CHECK(u == (ok ? expected : 77));
    ok = reference(text, true, &expected);
    CHECK(simpler_text_parse_i64(text, &i) == ok);
    CHECK(i == (ok ? (int64_t)expected : 77));
    check_list(text);
    return 0;
}
