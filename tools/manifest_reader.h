/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_TOOLS_MANIFEST_READER_H
#define SIMPLER_TOOLS_MANIFEST_READER_H

/*
 * Values of a scene.json.  A function that returns false has said on standard
 * error what is wrong, with the place in the document.  A key that is missing
 * and not required leaves the result as it was.
 */
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "element.h"

struct simpler_manifest_reader {
    const char *command;
    char file[1024];
    char where[256]; /* place in the document */
};

/* Says it; always false. */
bool simpler_manifest_fail(const struct simpler_manifest_reader *r, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Every key of @object must be a word of @known (blanks between). */
bool simpler_manifest_check_keys(const struct simpler_manifest_reader *r, json_t *object,
                                 const char *known);
/* Not empty; it belongs to the document. */
bool simpler_manifest_read_string(const struct simpler_manifest_reader *r, json_t *object,
                                  const char *key, bool required, const char **out);
bool simpler_manifest_read_integer(const struct simpler_manifest_reader *r, json_t *object,
                                   const char *key, int64_t min, int64_t max, bool required,
                                   int64_t *out);
/* The place of a word in a list, @otherwise for a missing one, -1 when it is none of them. */
int simpler_manifest_read_choice(const struct simpler_manifest_reader *r, json_t *object,
                                 const char *key, const char *const *words, size_t count,
                                 int otherwise);
bool simpler_manifest_read_dtype(const struct simpler_manifest_reader *r, json_t *object,
                                 const char *key, uint32_t *out);
/* Says nothing: false when @value is no number. */
bool simpler_manifest_read_number(const json_t *value, struct simpler_element_number *out);
/* Zeroed, freed by free; NULL when there is no memory, which has been said. */
void *simpler_manifest_allocate(const struct simpler_manifest_reader *r, size_t count,
                                size_t bytes);

#endif
