/* SPDX-License-Identifier: Apache-2.0 */
/* Lines cover every byte of the input once: text, hole, newline. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "report/line_reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define CHECK(x)     \
    do {             \
        if (!(x))    \
            abort(); \
    } while (0)

/* The input @copies times over, so that lines and holes pass the buffer's size. */
static void read_copies(const uint8_t *data, size_t size, size_t copies)
{
    struct simpler_line_reader *reader;
    struct simpler_line line;
    uint64_t lines = 0, end = 0;
    char *text = malloc(size * copies + 1);

    CHECK(text != NULL);
    for (size_t i = 0; i < copies; i++)
        memcpy(text + i * size, data, size);
    CHECK(simpler_line_reader_open_bytes(text, size * copies, &reader) == 0);
    while (simpler_line_reader_next(reader, &line) > 0) {
        CHECK(line.number == ++lines && line.offset >= end);
        CHECK(line.bytes <= SIMPLER_LINE_MAX_BYTES);
        CHECK(memcmp(line.text, text + line.offset + line.hole_bytes, line.bytes) == 0);
        CHECK(memchr(line.text, '\n', line.bytes) == NULL);
        end = line.offset + line.hole_bytes + line.bytes;
        CHECK(line.torn ? end == size * copies : true);
    }
    CHECK(simpler_line_reader_offset(reader) == size * copies);
    simpler_line_reader_close(reader);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    read_copies(data, size, 1);
    if (size > 0 && size < 4096)
        read_copies(data, size, 600000 / size / 8 + 1);
    return 0;
}
