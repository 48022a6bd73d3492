/* SPDX-License-Identifier: Apache-2.0 */
#include "manifest_reader.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"
#include "simpler/dtype.h"

bool simpler_manifest_fail(const struct simpler_manifest_reader *r, const char *format, ...)
{
    va_list args;

    (void)fprintf(stderr, "simpler %s: %s: %s%s", r->command, r->file, r->where,
                  r->where[0] != '\0' ? ": " : "");
    va_start(args, format);
    (void)vfprintf(stderr, format, args);
    va_end(args);
    (void)fputc('\n', stderr);
    return false;
}

bool simpler_manifest_check_keys(const struct simpler_manifest_reader *r, json_t *object,
                                 const char *known)
{
    const char *words[32], *key;
    char text[512], answer[512];
    size_t count = 0;
    json_t *value;

    if (!json_is_object(object))
        return simpler_manifest_fail(r, "an object is expected here");
    (void)snprintf(text, sizeof(text), "%s", known);
    for (char *rest = text, *word; count < 32 && (word = strsep(&rest, " ")) != NULL;)
        words[count++] = word;
    json_object_foreach(object, key, value)
    {
        size_t i = 0;
        while (i < count && strcmp(words[i], key) != 0)
            i++;
        if (i == count)
            return simpler_manifest_fail(
                r, "there is no key '%.60s' here%s", key,
                simpler_nearest_answer(key, words, count, answer, sizeof(answer)));
    }
    return true;
}

bool simpler_manifest_read_string(const struct simpler_manifest_reader *r, json_t *object,
                                  const char *key, bool required, const char **out)
{
    json_t *value = json_object_get(object, key);

    if (value == NULL)
        return !required || simpler_manifest_fail(r, "%s is missing", key);
    if (!json_is_string(value) || json_string_length(value) == 0 ||
        strlen(json_string_value(value)) != json_string_length(value))
        return simpler_manifest_fail(r, "%s is no text", key);
    *out = json_string_value(value);
    return true;
}

bool simpler_manifest_read_integer(const struct simpler_manifest_reader *r, json_t *object,
                                   const char *key, int64_t min, int64_t max, bool required,
                                   int64_t *out)
{
    json_t *value = json_object_get(object, key);

    if (value == NULL)
        return !required || simpler_manifest_fail(r, "%s is missing", key);
    if (!json_is_integer(value) || json_integer_value(value) < min ||
        json_integer_value(value) > max)
        return simpler_manifest_fail(r, "%s is no integer from %" PRId64 " to %" PRId64, key, min,
                                     max);
    *out = json_integer_value(value);
    return true;
}

int simpler_manifest_read_choice(const struct simpler_manifest_reader *r, json_t *object,
                                 const char *key, const char *const *words, size_t count,
                                 int otherwise)
{
    const char *text = NULL;
    char answer[256];

    if (json_object_get(object, key) == NULL)
        return otherwise;
    if (!simpler_manifest_read_string(r, object, key, true, &text))
        return -1;
    for (size_t i = 0; i < count; i++) {
        if (strcmp(words[i], text) == 0)
            return (int)i;
    }
    (void)simpler_manifest_fail(r, "%s: there is no '%.60s'%s", key, text,
                                simpler_nearest_answer(text, words, count, answer, sizeof(answer)));
    return -1;
}

bool simpler_manifest_read_number(const json_t *value, struct simpler_element_number *out)
{
    if (!json_is_number(value))
        return false;
    *out = json_is_integer(value) ? simpler_element_integer(json_integer_value(value))
                                  : simpler_element_real(json_real_value(value));
    return true;
}

bool simpler_manifest_read_dtype(const struct simpler_manifest_reader *r, json_t *object,
                                 const char *key, uint32_t *out)
{
    const char *text = NULL, *names[SIMPLER_DTYPE_NUM];

    if (!simpler_manifest_read_string(r, object, key, true, &text))
        return false;
    if (simpler_dtype_parse(text, out) == 0)
        return true;
    for (uint32_t i = 0; i < SIMPLER_DTYPE_NUM; i++)
        names[i] = simpler_dtype_name(i);
    const char *guess = simpler_nearest_guess(text, names, SIMPLER_DTYPE_NUM);
    return simpler_manifest_fail(
        r,
        "%s '%.60s' is no element type (float32, float16, bfloat16, float64, int8 to int64, "
        "uint8 to uint64, bool)%s%s%s",
        key, text, guess != NULL ? "; did you mean " : "", guess != NULL ? guess : "",
        guess != NULL ? "?" : "");
}

void *simpler_manifest_allocate(const struct simpler_manifest_reader *r, size_t count, size_t bytes)
{
    void *block = calloc(count != 0 ? count : 1, bytes);

    if (block == NULL)
        (void)simpler_manifest_fail(r, "out of memory");
    return block;
}
