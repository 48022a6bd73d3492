/* SPDX-License-Identifier: Apache-2.0 */
#include "scope_file.h"

#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cm.h"

static void path_of(const char *prefix, char path[256])
{
    (void)snprintf(path, 256, "%s/scope_stats/scope_stats.jsonl", prefix);
}

bool scope_file_exists(const char *prefix)
{
    char path[256];

    path_of(prefix, path);
    return access(path, F_OK) == 0;
}

static void parse(const char *line, struct scope_file_sample *s)
{
    char again[512];

    memset(s, 0, sizeof(*s));
    (void)sscanf(line,
                 "{\"site\": \"%63[^:]:%ld\", \"phase\": \"%7[^\"]\", \"depth\": %ld, \"ring\": "
                 "%ld, \"task_window_start\": %llu, \"task_window_end\": %llu, \"heap_start\": "
                 "%llu, \"heap_end\": %llu, \"dep_pool_start\": %llu, \"dep_pool_end\": %llu, "
                 "\"tensormap\": %llu, \"run_epoch\": %llu, \"buf_seq\": %llu}",
                 s->file, &s->line, s->phase, &s->depth, &s->ring, &s->task_start, &s->task_end,
                 &s->heap_start, &s->heap_end, &s->pool_start, &s->pool_end, &s->tensormap,
                 &s->run_epoch, &s->buf_seq);
    (void)snprintf(again, sizeof(again),
                   "{\"site\": \"%s:%ld\", \"phase\": \"%s\", \"depth\": %ld, \"ring\": %ld, "
                   "\"task_window_start\": %llu, \"task_window_end\": %llu, \"heap_start\": %llu, "
                   "\"heap_end\": %llu, \"dep_pool_start\": %llu, \"dep_pool_end\": %llu, "
                   "\"tensormap\": %llu, \"run_epoch\": %llu, \"buf_seq\": %llu}\n",
                   s->file, s->line, s->phase, s->depth, s->ring, s->task_start, s->task_end,
                   s->heap_start, s->heap_end, s->pool_start, s->pool_end, s->tensormap,
                   s->run_epoch, s->buf_seq);
    assert_string_equal(line, again);
    assert_true(strcmp(s->phase, "begin") == 0 || strcmp(s->phase, "end") == 0);
}

struct scope_file scope_file_read(const char *prefix)
{
    struct scope_file file = {{0}, NULL, 0};
    char path[256], line[2048];
    uint32_t room = 0;

    path_of(prefix, path);
    FILE *in = fopen(path, "r");
    if (in == NULL)
        fail_msg("%s is not there", path);
    assert_non_null(fgets(line, sizeof(line), in));
    size_t n = strcspn(line, "\n");
    assert_int_equal(line[n], '\n');
    while (n > 0 && line[n - 1] == ' ')
        n--;
    assert_true(n < sizeof(file.metadata));
    memcpy(file.metadata, line, n);
    while (fgets(line, sizeof(line), in) != NULL) {
        if (file.count == room) {
            room = room == 0 ? 64 : 2 * room;
            file.samples = realloc(file.samples, room * sizeof(*file.samples));
            assert_non_null(file.samples);
        }
        parse(line, &file.samples[file.count++]);
    }
    (void)fclose(in);
    return file;
}

void scope_file_free(struct scope_file *file)
{
    free(file->samples);
    memset(file, 0, sizeof(*file));
}

void scope_file_make_prefix(char prefix[128])
{
    const char *base = getenv("TMPDIR");

    (void)snprintf(prefix, 128, "%s/scope_XXXXXX", base != NULL ? base : "/tmp");
    assert_non_null(mkdtemp(prefix));
}

static int remove_one(const char *path, const struct stat *info, int flag, struct FTW *walk)
{
    (void)info;
    (void)flag;
    (void)walk;
    return remove(path);
}

void scope_file_remove_prefix(const char *prefix)
{
    (void)nftw(prefix, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}
