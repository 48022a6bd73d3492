/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One compiler process a source, as many as there are CPUs.  Each writes beside
 * the cache's files under a name with this process's id.
 */
#include "unit_build.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/text.h"
#include "commands.h"
#include "header_dirs.h"
#include "simpler/info.h"
#include "report/regular_file.h"
#include "unit_prune.h"

extern char **environ;

#define MAX_WORDS  256
#define TEXT_BYTES 16384

/* A command line: words in one block of text. */
struct words {
    char *word[MAX_WORDS + 1];
    size_t count;
    char text[TEXT_BYTES];
    size_t used;
    bool full;
};

struct job {
    struct simpler_unit *unit;
    struct simpler_content_hash key;
    char fresh[SIMPLER_CACHE_PATH + 32];
    char depfile[SIMPLER_CACHE_PATH + 40];
    char log[SIMPLER_CACHE_PATH + 40];
    pid_t pid;
};

static void add_word(struct words *w, const char *head, const char *tail)
{
    size_t bytes = strlen(head) + strlen(tail) + 1;

    if (w->count == MAX_WORDS || bytes > sizeof(w->text) - w->used) {
        w->full = true;
        return;
    }
    w->word[w->count] = w->text + w->used;
    (void)snprintf(w->word[w->count++], bytes, "%s%s", head, tail);
    w->word[w->count] = NULL;
    w->used += bytes;
}

/* The words of an environment variable, blanks between. */
static void add_variable(struct words *w, const char *name, const char *otherwise)
{
    const char *value = getenv(name);
    char word[1024];

    if (value == NULL || value[strspn(value, " ")] == '\0')
        value = otherwise;
    while (*(value += strspn(value, " ")) != '\0') {
        size_t length = strcspn(value, " ");
        (void)snprintf(word, sizeof(word), "%.*s", (int)length, value);
        add_word(w, word, "");
        value += length;
    }
}

#define TEXT_OF_(x) #x
#define TEXT_OF(x)  TEXT_OF_(x)

static void make_command(struct words *w, const struct simpler_unit *unit,
                         const struct simpler_header_dirs *headers)
{
    static const char *const flags[] = {"-std=gnu++17",
                                        "-O2",
                                        "-fPIC",
                                        "-shared",
                                        "-fvisibility-inlines-hidden",
                                        "-ffp-contract=off",
                                        "-pthread",
                                        "-Wl,-z,defs",
                                        "-DSIMPLER_VIA_TABLE=1",
                                        "-D__gm__=",
                                        "-D__aicore__=",
                                        TEXT_OF(-DSIMPLER_DFX = SIMPLER_DFX)};

    memset(w, 0, offsetof(struct words, text));
    w->used = 0;
    w->full = false;
    add_variable(w, "CXX", "c++");
    for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++)
        add_word(w, flags[i], "");
    for (size_t i = 0; i < unit->include_dir_count; i++)
        add_word(w, "-I", unit->include_dirs[i]);
    add_word(w, "-I", headers->compat);
    add_word(w, "-I", headers->include);
    if (unit->entry != NULL) {
        add_word(w, "-include", "");
        add_word(w, "simpler/cpp_kernel_entry.hpp", "");
        add_word(w, "-DSIMPLER_KERNEL_ENTRY=", unit->entry);
    }
    add_variable(w, "CXXFLAGS", "");
    add_word(w, unit->source, "");
}

/* A compiler is known by its file: a new version is another size or time. */
static void hash_compiler(struct simpler_content_hash *hash, const char *name)
{
    const char *path = getenv("PATH");
    char file[PATH_MAX];
    struct stat info;

    if (strchr(name, '/') != NULL)
        path = NULL;
    while (path != NULL && *path != '\0') {
        size_t length = strcspn(path, ":");
        (void)snprintf(file, sizeof(file), "%.*s/%s", (int)length, path, name);
        if (access(file, X_OK) == 0) {
            name = file;
            break;
        }
        path += length + (path[length] == ':');
    }
    if (stat(name, &info) != 0)
        return;
    simpler_content_hash_string(hash, name);
    simpler_content_hash_bytes(hash, &info.st_size, sizeof(info.st_size));
    simpler_content_hash_bytes(hash, &info.st_mtim, sizeof(info.st_mtim));
}

/* Names of files that an #include might find there. */
static int is_header(const struct dirent *entry)
{
    const char *suffix = strrchr(entry->d_name, '.');

    return suffix == NULL || suffix[1] == 'h' || suffix[1] == 'i';
}

/* A header that appears may stand before the one that was found so far. */
static void hash_names(struct simpler_content_hash *hash, const char *dir)
{
    struct dirent **entries = NULL;
    int count = scandir(dir, &entries, is_header, alphasort);

    for (int i = 0; i < count; i++) {
        simpler_content_hash_string(hash, entries[i]->d_name);
        free(entries[i]);
    }
    free(entries);
}

static void hash_search_path(struct simpler_content_hash *hash, const struct simpler_unit *unit)
{
    static const char *const variables[] = {"CPATH", "CPLUS_INCLUDE_PATH", "LIBRARY_PATH"};
    char dir[PATH_MAX];

    for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++) {
        const char *value = getenv(variables[i]);
        simpler_content_hash_string(hash, value != NULL ? value : "");
    }
    (void)snprintf(dir, sizeof(dir), "%s", unit->source);
    char *slash = strrchr(dir, '/');
    if (slash != NULL)
        *slash = '\0';
    hash_names(hash, slash != NULL ? dir : ".");
    for (size_t i = 0; i < unit->include_dir_count; i++)
        hash_names(hash, unit->include_dirs[i]);
}

static bool hash_unit(struct simpler_content_hash *key, const struct words *w,
                      const struct simpler_unit *unit)
{
    char directory[PATH_MAX];

    simpler_content_hash_init(key);
    hash_compiler(key, w->word[0]);
    /* Relative paths are part of messages and of __FILE__. */
    simpler_content_hash_string(key, getcwd(directory, sizeof(directory)) != NULL ? directory : "");
    for (size_t i = 0; i < w->count; i++)
        simpler_content_hash_string(key, w->word[i]);
    hash_search_path(key, unit);
    return simpler_content_hash_file(key, unit->source);
}

/* 0 or an errno. */
static int start(struct job *job, struct words *w, const char *dir, size_t index)
{
    posix_spawn_file_actions_t actions;

    (void)snprintf(job->fresh, sizeof(job->fresh), "%s/.%d.%zu", dir, (int)getpid(), index);
    (void)snprintf(job->depfile, sizeof(job->depfile), "%s.d", job->fresh);
    (void)snprintf(job->log, sizeof(job->log), "%s.log", job->fresh);
    add_word(w, "-o", "");
    add_word(w, job->fresh, "");
    add_word(w, "-MD", "");
    add_word(w, "-MF", "");
    add_word(w, job->depfile, "");
    if (isatty(STDERR_FILENO))
        add_word(w, "-fdiagnostics-color=always", "");
    if (w->full)
        return E2BIG;
    if (posix_spawn_file_actions_init(&actions) != 0)
        return ENOMEM;
    int failed = posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, job->log,
                                                  O_WRONLY | O_CREAT | O_TRUNC, 0666);
    if (failed == 0)
        failed = posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
    if (failed == 0)
        failed = posix_spawnp(&job->pid, w->word[0], &actions, NULL, w->word, environ);
    (void)posix_spawn_file_actions_destroy(&actions);
    return failed;
}

/* What the compiler said, byte for byte. */
static void show_log(const char *path)
{
    char block[4096];
    FILE *log = fopen(path, "r");
    size_t n;

    while (log != NULL && (n = fread(block, 1, sizeof(block), log)) > 0)
        (void)fwrite(block, 1, n, stderr);
    if (log != NULL)
        (void)fclose(log);
    (void)unlink(path);
}

static bool finish(const char *command, struct job *job, const char *dir, int status)
{
    show_log(job->log);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
        int failed =
            simpler_unit_cache_store(dir, &job->key, job->fresh, job->depfile, job->unit->object);
        if (failed == 0)
            return true;
        (void)fprintf(stderr, "simpler %s: the object of %s cannot be kept in %s: %s\n", command,
                      job->unit->source, dir, strerror(failed));
        return false;
    }
    (void)unlink(job->fresh);
    (void)unlink(job->depfile);
    if (WIFSIGNALED(status))
        (void)fprintf(stderr, "simpler %s: the compiler of %s was ended by signal %d\n", command,
                      job->unit->source, WTERMSIG(status));
    return false;
}

/* Waits for one of the jobs that run; whether it compiled. */
static bool reap(const char *command, struct job *jobs, size_t count, const char *dir)
{
    int status;
    pid_t pid = waitpid(-1, &status, 0);

    for (size_t i = 0; i < count; i++) {
        if (pid < 0 && errno != EINTR)
            jobs[i].pid = 0; /* there is none left to wait for */
        else if (pid > 0 && jobs[i].pid == pid) {
            jobs[i].pid = 0;
            return finish(command, &jobs[i], dir, status);
        }
    }
    return pid > 0 || errno == EINTR;
}

static uint64_t now_ns(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static size_t count_running(const struct job *jobs, size_t count)
{
    size_t n = 0;

    for (size_t i = 0; i < count; i++)
        n += jobs[i].pid != 0;
    return n;
}

/* On a terminal, once a second has passed, how far it is; with @left 0 the line goes. */
static void show_progress(size_t left, size_t count, uint64_t start)
{
    static bool shown;

    if (!isatty(STDERR_FILENO) || (left != 0 && now_ns() - start < 1000000000) ||
        (left == 0 && !shown))
        return;
    shown = left != 0;
    if (left != 0)
        (void)fprintf(stderr, "\rcompiling, %zu of %zu source%s left\033[K", left, count,
                      simpler_text_plural(count));
    else
        (void)fputs("\r\033[K", stderr);
}

/* Finds the unit in the cache or starts its compiler; false when it can do neither. */
static bool begin(const char *command, struct job *job, const char *dir,
                  const struct simpler_header_dirs *headers, size_t index)
{
    static struct words w;

    make_command(&w, job->unit, headers);
    if (w.full) {
        (void)fprintf(stderr, "simpler %s: the compiler's command for %s is too long\n", command,
                      job->unit->source);
        return false;
    }
    if (!hash_unit(&job->key, &w, job->unit)) {
        (void)fprintf(stderr, "simpler %s: %s cannot be read: %s\n", command, job->unit->source,
                      simpler_regular_file_fault(errno));
        return false;
    }
    job->unit->was_cached = simpler_unit_cache_find(dir, &job->key, job->unit->object);
    if (job->unit->was_cached)
        return true;
    int failed = start(job, &w, dir, index);
    if (failed == 0)
        return true;
    job->pid = 0;
    (void)fprintf(stderr, "simpler %s: the compiler %s cannot be started: %s; CXX names another\n",
                  command, w.word[0], strerror(failed));
    return false;
}

int simpler_unit_build(const char *command, struct simpler_unit *units, size_t count)
{
    char dir[SIMPLER_CACHE_PATH];
    struct simpler_header_dirs headers;
    const uint64_t started = now_ns();
    size_t failed = 0, fresh = 0;

    if (!simpler_header_dirs_find(&headers)) {
        (void)fprintf(stderr,
                      "simpler %s: the headers that sources include are neither where `make "
                      "install` puts them nor in %s: install them again\n",
                      command, headers.include);
        return SIMPLER_EXIT_FAILED;
    }

    int rc = simpler_unit_cache_dir(command, dir);
    if (rc != 0)
        return rc;
    struct job *jobs = calloc(count, sizeof(*jobs));
    if (jobs == NULL) {
        (void)fprintf(stderr, "simpler %s: out of memory\n", command);
        return SIMPLER_EXIT_FAILED;
    }
    for (size_t i = 0; i < count; i++) {
        jobs[i].unit = &units[i];
        failed += !begin(command, &jobs[i], dir, &headers, i);
        fresh += !units[i].was_cached;
        while (count_running(jobs, count) >= simpler_info_usable_cpus()) {
            failed += !reap(command, jobs, count, dir);
            show_progress(count - i, count, started);
        }
    }
    while (count_running(jobs, count) > 0) {
        failed += !reap(command, jobs, count, dir);
        show_progress(count_running(jobs, count), count, started);
    }
    show_progress(0, count, started);
    free(jobs);
    if (fresh != 0)
        simpler_unit_prune(dir);
    if (failed == 0)
        return 0;
    (void)fprintf(stderr, "simpler %s: %zu of %zu source%s %s not compile\n", command, failed,
                  count, simpler_text_plural(count), simpler_text_by_count(failed, "does", "do"));
    return SIMPLER_EXIT_FAILED;
}
