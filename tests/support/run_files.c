/* SPDX-License-Identifier: Apache-2.0 */
/* What lies under the prefix of a run that has ended, and nothing else. */
#include "run_files.h"

#include <dirent.h>
#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

bool run_files_fault(struct run_files *files, const char *format, ...)
{
    va_list list;

    if (files->message[0] == '\0') {
        va_start(list, format);
        (void)vsnprintf(files->message, sizeof(files->message), format, list);
        va_end(list);
    }
    return false;
}

bool run_files_has_keys(const json_t *object, const char *const *keys, uint32_t count)
{
    void *at = json_object_iter((json_t *)(uintptr_t)object);

    for (uint32_t i = 0; i < count; i++) {
        if (at == NULL || strcmp(json_object_iter_key(at), keys[i]) != 0)
            return false;
        at = json_object_iter_next((json_t *)(uintptr_t)object, at);
    }
    return at == NULL;
}

bool run_files_has_code(const struct run_files *files)
{
    return files->result->status < 0 && files->result->status > -1000;
}

bool run_files_never_began(struct run_files *files)
{
    int status = files->result->status;

    return status == SIMPLER_ECANCELED || status == SIMPLER_ENOMEM || status == SIMPLER_ETHREAD ||
           run_files_fault(files, "a run that ended with %d has begun no diagnostics", status);
}

bool run_files_host_built(const struct run_files *files)
{
    return files->config->runtime != NULL;
}

/* A directory has these files at the most. */
static bool has_only(struct run_files *files, const char *place, const char *const *names,
                     uint32_t count)
{
    char path[256];

    (void)snprintf(path, sizeof(path), "%s%s", files->prefix, place);
    DIR *dir = opendir(path);
    if (dir == NULL)
        return true;
    bool right = true;
    for (struct dirent *entry; (entry = readdir(dir)) != NULL;) {
        uint32_t i = 0;
        while (i < count && strcmp(entry->d_name, names[i]) != 0)
            i++;
        if (i == count && strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            right = run_files_fault(files, "%s/%s was left behind", path, entry->d_name);
    }
    (void)closedir(dir);
    return right;
}

static bool has_no_traces(struct run_files *files)
{
    static const char *const top[] = {"scope_stats", "args_dump"};
    static const char *const scope[] = {"scope_stats.jsonl"};
    static const char *const dump[] = {"args_dump.json", "args.bin"};

    return files->stray ||
           (has_only(files, "", top, 2) && has_only(files, "/scope_stats", scope, 1) &&
            has_only(files, "/args_dump", dump, 2));
}

bool run_files_check(struct run_files *files)
{
    files->message[0] = '\0';
    files->files_read = files->lines_read = files->partial = 0;
    return run_files_check_samples(files) && run_files_check_dump(files) && has_no_traces(files);
}
