/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/args_dump/args_dump_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/directories.h"
#include "base/logger.h"
#include "collect/args_dump/args_dump_export.h"

#define DIRECTORY "/args_dump"

int simpler_args_dump_files_init(struct args_dump_files *files, struct args_dump_writer *writer,
                                 struct args_dump_store *store)
{
    files->writer = writer;
    files->store = store;
    files->directory = files->bin = -1;
    files->lock_ready = pthread_mutex_init(&files->lock, NULL) == 0;
    return files->lock_ready ? 0 : SIMPLER_ENOMEM;
}

void simpler_args_dump_files_fini(struct args_dump_files *files)
{
    if (files->lock_ready)
        (void)pthread_mutex_destroy(&files->lock);
}

static void note_failure(struct args_dump_files *files, const char *what)
{
    files->open_error = errno;
    SIMPLER_ERROR("args dump: %s: %s: %s (errno %d)", files->path, what, strerror(errno), errno);
}

static void open_bin(struct args_dump_files *files)
{
    if (files->bin_opened || files->directory < 0)
        return;
    files->bin_opened = true;
    files->bin = openat(files->directory, ARGS_DUMP_BIN,
                        O_RDWR | O_CREAT | O_CLOEXEC | (files->is_new ? O_EXCL : O_TRUNC), 0666);
    if (files->bin < 0)
        note_failure(files, "args.bin cannot be made");
    else
        simpler_args_dump_writer_set_file(files->writer, files->bin);
}

/* The directory, locked for this run as long as it is open; -1, EBUSY while another run has it. */
static int open_locked(const char *path)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) != 0) {
        (void)close(fd);
        errno = EBUSY;
        return -1;
    }
    return fd;
}

/* What an earlier run left under this prefix would be taken for this one's. */
static void remove_old(const struct args_dump_files *files)
{
    static const char *const names[] = {ARGS_DUMP_MANIFEST, ARGS_DUMP_MANIFEST ".partial",
                                        ARGS_DUMP_BIN,      ARGS_DUMP_SPOOL,
                                        ARGS_DUMP_SORTED,   ARGS_DUMP_RECOVERED};
    char path[ARGS_DUMP_PATH_BYTES + 32];

    for (size_t i = 0; files->path[0] != '\0' && i < sizeof(names) / sizeof(names[0]); i++) {
        (void)snprintf(path, sizeof(path), "%s/%s", files->path, names[i]);
        if (unlink(path) != 0 && errno != ENOENT && errno != ENOTDIR)
            SIMPLER_WARN("args dump: %s of an earlier run cannot be removed: %s", path,
                         strerror(errno));
    }
}

/* With the first record: the directory, and args.bin at levels 1 and 2. */
static void open_directory(struct args_dump_files *files)
{
    if (files->opened)
        return;
    files->opened = true;
    errno = ENAMETOOLONG;
    if (files->path[0] == '\0' || simpler_directories_make(files->path) != 0 ||
        (files->directory = open_locked(files->path)) < 0) {
        note_failure(files,
                     errno == EBUSY ? "another run writes here" : "the directory cannot be made");
        return;
    }
    if (files->taken && !files->is_new)
        remove_old(files); /* what the other run left meanwhile */
    simpler_args_dump_store_start(files->store, files->directory);
    if (files->level != ARGS_DUMP_HYBRID)
        open_bin(files);
}

bool simpler_args_dump_files_ensure(struct args_dump_files *files, uint32_t count, bool has_payload)
{
    (void)pthread_mutex_lock(&files->lock);
    open_directory(files);
    if (has_payload)
        open_bin(files);
    bool there = files->directory >= 0;
    files->given_up += there ? 0 : count;
    (void)pthread_mutex_unlock(&files->lock);
    return there;
}

void simpler_args_dump_files_close(struct args_dump_files *files)
{
    simpler_args_dump_writer_start(files->writer);
    if (files->bin >= 0)
        (void)close(files->bin);
    if (files->directory >= 0)
        (void)close(files->directory);
    files->bin = files->directory = -1;
}

static void set_path(struct args_dump_files *files, const char *prefix)
{
    int n = snprintf(files->path, sizeof(files->path), "%s" DIRECTORY, prefix);

    if (n < 0 || (size_t)n >= sizeof(files->path))
        files->path[0] = '\0';
}

/* What an earlier run left goes, unless another run writes there now. */
static void clear_place(struct args_dump_files *files)
{
    int fd = open_locked(files->path);

    files->taken = fd < 0 && errno == EBUSY;
    if (!files->taken)
        remove_old(files);
    if (fd >= 0)
        (void)close(fd);
}

void simpler_args_dump_files_start(struct args_dump_files *files, const char *prefix,
                                   uint32_t level, bool is_new)
{
    simpler_args_dump_files_close(files);
    simpler_args_dump_store_start(files->store, -1);
    files->level = level;
    files->is_new = is_new;
    files->opened = files->bin_opened = files->taken = false;
    files->open_error = 0;
    files->given_up = 0;
    set_path(files, prefix);
    if (!is_new)
        clear_place(files);
}

/* The manifest and what it speaks of; what a process that died has left may be recovered. */
void simpler_args_dump_files_forget(const char *prefix)
{
    struct args_dump_files files;

    set_path(&files, prefix);
    int fd = open_locked(files.path);
    if (fd >= 0 && unlinkat(fd, ARGS_DUMP_MANIFEST, 0) == 0)
        (void)unlinkat(fd, ARGS_DUMP_BIN, 0);
    if (fd >= 0)
        (void)close(fd);
}
