/* SPDX-License-Identifier: Apache-2.0 */
/* Parts are appended to the file and their place in the table is used again; what a part had
 * taken is given back when it goes. */
#include "platform/region_backing.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/memory.h"
#include "base/process.h"
#include "base/testpoint.h"
#include "simpler/status.h"
#include "wire/device_address.h"
#include "wire/region_wire.h"

#define PAGE            4096u
#define NAMES           1000
#define CLAIM_BYTES     ((uint64_t)2 << 20)
#define DIRECTORY_BYTES 160

struct simpler_region_backing {
    int fd;
    struct simpler_region_header *header; /* mapped */
    pthread_mutex_t lock;                 /* guards header->parts and end */
    uint64_t end;                         /* of the file */
    bool is_linked;
    char path[256];
};

/* ---- the file ---- */

/* 0, or an errno: the space is there. */
static int claim(int fd, uint64_t offset, uint64_t bytes)
{
    int error = 0;

    if (SIMPLER_FAILPOINT(REGION_CLAIM))
        return ENOSPC;
    /* A signal undoes the whole call: a timer must not undo all of it again and again. */
    for (uint64_t at = 0; at < bytes && error == 0; at += CLAIM_BYTES) {
        uint64_t n = bytes - at < CLAIM_BYTES ? bytes - at : CLAIM_BYTES;
        do
            error = posix_fallocate(fd, (off_t)(offset + at), (off_t)n);
        while (error == EINTR);
    }
    return error;
}

/* Ours alone; false: somebody who removes stale files was faster, or the name is taken. */
static bool create(struct simpler_region_backing *b, const char *directory, int number)
{
    struct stat info;

    (void)snprintf(b->path, sizeof(b->path), "%.160s/simpler-%lu-%ld-%d" SIMPLER_REGION_SUFFIX,
                   directory, (unsigned long)getuid(), (long)getpid(), number);
    b->fd = open(b->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (b->fd < 0)
        return false;
    if (flock(b->fd, LOCK_EX | LOCK_NB) == 0 && fstat(b->fd, &info) == 0 && info.st_nlink == 1)
        return true;
    (void)close(b->fd);
    b->fd = -1;
    errno = EEXIST;
    return false;
}

static int map_header(struct simpler_region_backing *b)
{
    int error = claim(b->fd, 0, SIMPLER_REGION_HEADER_BYTES);

    if (error != 0) {
        errno = error;
        return SIMPLER_EIO;
    }
    void *header =
        mmap(NULL, SIMPLER_REGION_HEADER_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, b->fd, 0);
    if (header == MAP_FAILED)
        return SIMPLER_EIO;
    b->header = header;
    b->end = SIMPLER_REGION_HEADER_BYTES;
    b->header->version = SIMPLER_REGION_VERSION;
    b->header->pid = getpid();
    b->header->start_time = simpler_process_start_time(getpid());
    atomic_signal_fence(memory_order_seq_cst);
    b->header->magic = SIMPLER_REGION_MAGIC;
    return 0;
}

int simpler_region_backing_open(const char *directory, struct simpler_region_backing **out)
{
    if (strlen(directory) > DIRECTORY_BYTES) {
        errno = ENAMETOOLONG;
        return SIMPLER_EIO;
    }
    struct simpler_region_backing *b = simpler_alloc_zeroed(1, sizeof(*b));
    if (b == NULL)
        return SIMPLER_ENOMEM;
    (void)pthread_mutex_init(&b->lock, NULL);
    b->fd = -1;
    for (int n = 0; b->fd < 0 && n < NAMES; n++) {
        if (!create(b, directory, n) && errno != EEXIST)
            break;
    }
    b->is_linked = b->fd >= 0;
    int rc = b->fd >= 0 ? map_header(b) : SIMPLER_EIO;
    if (rc != 0) {
        int error = errno;
        simpler_region_backing_close(b);
        errno = error;
        return rc;
    }
    *out = b;
    return 0;
}

void simpler_region_backing_unlink(struct simpler_region_backing *backing)
{
    if (backing->is_linked)
        (void)unlink(backing->path);
    backing->is_linked = false;
}

void simpler_region_backing_close(struct simpler_region_backing *backing)
{
    if (backing == NULL)
        return;
    simpler_region_backing_unlink(backing);
    if (backing->header != NULL)
        (void)munmap(backing->header, SIMPLER_REGION_HEADER_BYTES);
    if (backing->fd >= 0)
        (void)close(backing->fd);
    (void)pthread_mutex_destroy(&backing->lock);
    simpler_alloc_free(backing);
}

const char *simpler_region_backing_path(const struct simpler_region_backing *backing)
{
    return backing->path;
}

void simpler_region_backing_set_run(struct simpler_region_backing *backing, const char *prefix)
{
    struct simpler_region_header *header = backing->header;

    header->prefix[0] = '\0';
    atomic_signal_fence(memory_order_seq_cst);
    header->directory_dev = header->directory_ino = 0;
    if (prefix != NULL)
        (void)snprintf(header->prefix, sizeof(header->prefix), "%s", prefix);
}

void simpler_region_backing_set_directory(struct simpler_region_backing *backing)
{
    struct stat info;

    if (stat(backing->header->prefix, &info) != 0)
        return;
    backing->header->directory_dev = info.st_dev;
    backing->header->directory_ino = info.st_ino;
}

/* ---- parts ---- */

/* Under the lock; NULL: the table is full. */
static struct simpler_region_part *free_part(struct simpler_region_backing *b)
{
    for (uint32_t i = 0; i < SIMPLER_REGION_PARTS; i++) {
        if (b->header->parts[i].role == SIMPLER_REGION_FREE)
            return &b->header->parts[i];
    }
    return NULL;
}

/* Under the lock: a part at the end of the file. */
static void *append(struct simpler_region_backing *b, const struct simpler_region_request *request,
                    uint64_t bias)
{
    struct simpler_region_part *part = free_part(b);
    uint64_t bytes = (request->bytes + PAGE - 1) / PAGE * PAGE;
    void *place = MAP_FAILED;

    if (part == NULL || claim(b->fd, b->end, bytes) != 0)
        return NULL;
    place = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, b->fd, (off_t)b->end);
    if (place == MAP_FAILED) /* the next part takes the space */
        return NULL;
    part->client = request->client;
    part->index = request->index;
    part->offset = b->end;
    part->bytes = request->bytes;
    part->device = (uint64_t)(uintptr_t)place | bias;
    part->stride = request->stride;
    atomic_signal_fence(memory_order_seq_cst);
    part->role = request->role;
    b->end += bytes;
    return place;
}

void *simpler_region_backing_map(const struct simpler_region_request *request, uint64_t bias)
{
    struct simpler_region_backing *b = request->backing;

    if (b == NULL)
        return simpler_memory_map(request->bytes);
    if (SIMPLER_FAILPOINT(MAP_MEMORY))
        return NULL;
    (void)pthread_mutex_lock(&b->lock);
    void *place = append(b, request, bias);
    (void)pthread_mutex_unlock(&b->lock);
    return place;
}

/* The part whose memory lies at @place. */
static void drop_part(struct simpler_region_backing *b, const void *place)
{
    for (uint32_t i = 0; i < SIMPLER_REGION_PARTS; i++) {
        struct simpler_region_part *part = &b->header->parts[i];
        if (part->role == SIMPLER_REGION_FREE || simpler_device_place(part->device) != place)
            continue;
        part->role = SIMPLER_REGION_FREE;
        (void)fallocate(b->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)part->offset,
                        (off_t)((part->bytes + PAGE - 1) / PAGE * PAGE));
        return;
    }
}

void simpler_region_backing_unmap(struct simpler_region_backing *backing, void *place, size_t bytes)
{
    if (place == NULL)
        return;
    if (backing == NULL) {
        simpler_memory_unmap(place, bytes);
        return;
    }
    (void)pthread_mutex_lock(&backing->lock);
    drop_part(backing, place);
    (void)pthread_mutex_unlock(&backing->lock);
    (void)munmap(place, (bytes + PAGE - 1) / PAGE * PAGE);
}
