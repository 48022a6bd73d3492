/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_TOOLS_CONTENT_HASH_H
#define SIMPLER_TOOLS_CONTENT_HASH_H

/*
 * 128 bits of what a cache's entry depends on.  Good against accidents, not
 * against somebody who looks for two inputs with one hash.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct simpler_content_hash {
    uint64_t a, b;
};
#define SIMPLER_CONTENT_HASH_TEXT 33

void simpler_content_hash_init(struct simpler_content_hash *hash);
/* The bytes and how many there are: "ab", "c" is not "a", "bc". */
void simpler_content_hash_bytes(struct simpler_content_hash *hash, const void *bytes, size_t n);
void simpler_content_hash_string(struct simpler_content_hash *hash, const char *text);
/* A file's bytes; false when it cannot be read. */
bool simpler_content_hash_file(struct simpler_content_hash *hash, const char *path);
/* 32 hexadecimal digits. */
void simpler_content_hash_text(const struct simpler_content_hash *hash,
                               char out[SIMPLER_CONTENT_HASH_TEXT]);

#endif
