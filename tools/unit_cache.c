/* SPDX-License-Identifier: Apache-2.0 */
/*
 * <key>.deps   headers, one path a line
 * <object>.so  <object> is the hash of key, paths and bytes of the headers
 */
#include "unit_cache.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/directories.h"
#include "commands.h"
#include "unit_prune.h"

int simpler_unit_cache_dir(const char *command, char out[SIMPLER_CACHE_PATH])
{
    const char *own = getenv("SIMPLER_CACHE_DIR"), *xdg = getenv("XDG_CACHE_HOME");
    const char *home = getenv("HOME");
    char why[320];
    int length;

    if (own != NULL && own[0] != '\0')
        length = snprintf(out, SIMPLER_CACHE_PATH, "%s", own);
    else if (xdg != NULL && xdg[0] != '\0')
        length = snprintf(out, SIMPLER_CACHE_PATH, "%s/simpler", xdg);
    else
        length = snprintf(out, SIMPLER_CACHE_PATH, "%s/.cache/simpler", home != NULL ? home : "");
    /* Room for a slash, a hash and a suffix. */
    bool fits = length < SIMPLER_CACHE_PATH - 64;
    if (fits && simpler_directories_make(out) == 0)
        return 0;
    (void)snprintf(why, sizeof(why), "%s", fits ? strerror(errno) : "its name is too long");
    if (fits)
        (void)simpler_directories_check(out, why, sizeof(why));
    (void)fprintf(stderr,
                  "simpler %s: the cache %s cannot be had: %s; set SIMPLER_CACHE_DIR to a "
                  "directory that can be written into\n",
                  command, out, why);
    return SIMPLER_EXIT_FAILED;
}

static void name_file(const char *dir, const struct simpler_content_hash *hash, const char *suffix,
                      char out[SIMPLER_CACHE_PATH])
{
    char text[SIMPLER_CONTENT_HASH_TEXT];

    simpler_content_hash_text(hash, text);
    (void)snprintf(out, SIMPLER_CACHE_PATH, "%.*s/%s%s", SIMPLER_CACHE_PATH - 64, dir, text,
                   suffix);
}

/* The object's name from the list of headers; false when one of them cannot be read. */
static bool name_object(const char *dir, const struct simpler_content_hash *key, FILE *list,
                        char object[SIMPLER_CACHE_PATH])
{
    struct simpler_content_hash hash = *key;
    char path[4096];

    while (fgets(path, sizeof(path), list) != NULL) {
        path[strcspn(path, "\n")] = '\0';
        simpler_content_hash_string(&hash, path);
        if (!simpler_content_hash_file(&hash, path))
            return false;
    }
    name_file(dir, &hash, ".so", object);
    return ferror(list) == 0;
}

bool simpler_unit_cache_find(const char *dir, const struct simpler_content_hash *key,
                             char object[SIMPLER_CACHE_PATH])
{
    char deps[SIMPLER_CACHE_PATH];

    name_file(dir, key, ".deps", deps);
    FILE *list = fopen(deps, "r");
    if (list == NULL)
        return false;
    bool named = name_object(dir, key, list, object);
    (void)fclose(list);
    if (!named)
        return false;
    int lock = simpler_unit_prune_enter(dir);
    bool found = access(object, R_OK) == 0;
    if (found)
        simpler_unit_prune_use(lock, object, deps);
    simpler_unit_prune_leave(lock);
    return found;
}

/* The next path of a make rule, unescaped; false at its end. */
static bool next_path(FILE *rule, char *out, size_t bytes)
{
    size_t n = 0;
    int c;

    while ((c = fgetc(rule)) != EOF) {
        int next = c == '\\' || c == '$' ? fgetc(rule) : EOF;
        if (c == '\\' && next == '\n')
            c = ' ';
        else if ((c == '\\' && (next == ' ' || next == '#' || next == '\\')) ||
                 (c == '$' && next == '$')) {
            if (n + 1 < bytes)
                out[n++] = (char)next;
            continue;
        } else if (next != EOF)
            (void)ungetc(next, rule);
        if (c == ' ' || c == '\n' || c == '\t') {
            if (n > 0)
                break;
            continue;
        }
        if (n + 1 < bytes)
            out[n++] = (char)c;
    }
    out[n] = '\0';
    return n > 0;
}

/* A dependency file as a list of paths without the target. */
static int convert_list(const char *depfile, const char *list)
{
    char path[4096];
    FILE *in = fopen(depfile, "r");
    FILE *out = in != NULL ? fopen(list, "w") : NULL;
    int failed = out == NULL ? errno : 0;

    if (out != NULL && next_path(in, path, sizeof(path))) {
        while (next_path(in, path, sizeof(path)))
            (void)fprintf(out, "%s\n", path);
    }
    if (out != NULL && (fflush(out) != 0 || ferror(out) != 0))
        failed = errno != 0 ? errno : EIO;
    if (out != NULL)
        (void)fclose(out);
    if (in != NULL)
        (void)fclose(in);
    return failed;
}

int simpler_unit_cache_store(const char *dir, const struct simpler_content_hash *key,
                             const char *fresh, const char *depfile,
                             char object[SIMPLER_CACHE_PATH])
{
    char deps[SIMPLER_CACHE_PATH], list[SIMPLER_CACHE_PATH + 8];

    name_file(dir, key, ".deps", deps);
    (void)snprintf(list, sizeof(list), "%s.list", fresh);
    int failed = convert_list(depfile, list);
    FILE *in = failed == 0 ? fopen(list, "r") : NULL;
    if (failed == 0 && (in == NULL || !name_object(dir, key, in, object)))
        failed = errno != 0 ? errno : EIO;
    if (in != NULL)
        (void)fclose(in);
    if (failed == 0 && (rename(fresh, object) != 0 || rename(list, deps) != 0))
        failed = errno;
    (void)unlink(depfile);
    if (failed != 0) {
        (void)unlink(list);
        (void)unlink(fresh);
    }
    return failed;
}
