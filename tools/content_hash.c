/* SPDX-License-Identifier: Apache-2.0 */
/* Two multiply-and-rotate lanes over words of 8 bytes, each with a full final mix. */
#include "content_hash.h"
#include "report/regular_file.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static uint64_t mix(uint64_t x)
{
    x ^= x >> 30;
    x *= UINT64_C(0xbf58476d1ce4e5b9);
    x ^= x >> 27;
    x *= UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

static void add_word(struct simpler_content_hash *hash, uint64_t word)
{
    hash->a = (hash->a ^ mix(word)) * UINT64_C(0x9e3779b97f4a7c15);
    hash->a ^= hash->a >> 29;
    hash->b = ((hash->b << 23 | hash->b >> 41) + word) * UINT64_C(0xd6e8feb86659fd93);
    hash->b ^= hash->b >> 32;
}

void simpler_content_hash_init(struct simpler_content_hash *hash)
{
    hash->a = UINT64_C(0x243f6a8885a308d3);
    hash->b = UINT64_C(0x13198a2e03707344);
}

void simpler_content_hash_bytes(struct simpler_content_hash *hash, const void *bytes, size_t n)
{
    const unsigned char *at = bytes;
    uint64_t word;

    add_word(hash, n);
    for (; n >= sizeof(word); n -= sizeof(word), at += sizeof(word)) {
        memcpy(&word, at, sizeof(word));
        add_word(hash, word);
    }
    word = 0;
    memcpy(&word, at, n);
    add_word(hash, word);
}

void simpler_content_hash_string(struct simpler_content_hash *hash, const char *text)
{
    simpler_content_hash_bytes(hash, text, strlen(text));
}

bool simpler_content_hash_file(struct simpler_content_hash *hash, const char *path)
{
    char block[65536];
    FILE *file = simpler_regular_file_fopen(path);
    size_t n;

    if (file == NULL)
        return false;
    do {
        n = fread(block, 1, sizeof(block), file);
        simpler_content_hash_bytes(hash, block, n);
    } while (n == sizeof(block));
    bool read = ferror(file) == 0;
    (void)fclose(file);
    return read;
}

void simpler_content_hash_text(const struct simpler_content_hash *hash,
                               char out[SIMPLER_CONTENT_HASH_TEXT])
{
    (void)snprintf(out, SIMPLER_CONTENT_HASH_TEXT, "%016" PRIx64 "%016" PRIx64,
                   mix(hash->a ^ hash->b), mix(hash->b + hash->a * 3));
}
