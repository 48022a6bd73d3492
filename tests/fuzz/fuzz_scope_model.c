/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as a scope_stats.jsonl: an error, or a page and a JSON text that the
 * library can read back and that agrees with the model.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "base/utf8.h"
#include "report/scope_json.h"
#include "report/scope_model.h"
#include "report/scope_page.h"
#include "simpler/log.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv);

#define CHECK(x)     \
    do {             \
        if (!(x))    \
            abort(); \
    } while (0)

static void ignore(void *user, int level, const char *line)
{
    (void)user;
    (void)level;
    (void)line;
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    simpler_log_set_callback(ignore, NULL);
    return 0;
}

static void check_counts(const struct simpler_scope_model *m)
{
    const struct simpler_scope_counts *c = &m->counts;
    const uint64_t charted = c->lines - c->uncharted;

    CHECK(2 * (c->pairs + c->inconsistent) + c->unpaired_begin + c->unpaired_end == charted);
    if (m->chip == SIMPLER_SCOPE_CHIP_HEALTHY)
        CHECK(c->damaged == 0 && c->holes == 0 && !c->torn && m->meta.present &&
              m->meta.total.value == c->lines && c->unpaired_begin + c->unpaired_end == 0);
}

static void check_json(const struct simpler_scope_model *m)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);
    CHECK(out != NULL);
    simpler_scope_json(out, m, "page");
    CHECK(fclose(out) == 0);
    json_t *root = json_loadb(text, bytes, JSON_DECODE_INT_AS_REAL | JSON_ALLOW_NUL, NULL);
    /* Unknown keys stand as in the file; what the library does not take there is no fault. */
    CHECK(root != NULL || m->meta.other != NULL);
    if (root != NULL) {
        const json_t *status = json_object_get(root, "status");
        CHECK(strcmp(json_string_value(json_object_get(status, "chip")),
                     simpler_scope_model_chip_key(m->chip)) == 0);
        CHECK(json_array_size(json_object_get(root, "sites")) == m->sites.count);
    }
    json_decref(root);
    free(text);
}

static void check_page(struct simpler_scope_model *m)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);
    CHECK(out != NULL);
    CHECK(simpler_scope_page(out, m) == 0);
    CHECK(fclose(out) == 0);
    for (size_t i = 0; i < bytes;) {
        size_t length = simpler_utf8_length(text + i, bytes - i);
        CHECK(length > 0 && text[i] != 0);
        i += length;
    }
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct simpler_line_reader *reader;
    struct simpler_scope_model *m = NULL;

    CHECK(simpler_line_reader_open_bytes((const char *)data, size, &reader) == 0);
    if (simpler_scope_model_read_lines(reader, "fuzz", &m) == 0) {
        check_counts(m);
        check_json(m);
        check_page(m);
    }
    simpler_scope_model_close(m);
    simpler_line_reader_close(reader);
    return 0;
}
