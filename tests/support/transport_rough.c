/* SPDX-License-Identifier: Apache-2.0 */
#include "transport_rough.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "simpler/status.h"
#include "wire/device_address.h"

#define WORD      sizeof(uint64_t)
#define IN_FLIGHT 64

typedef uint64_t __attribute__((may_alias)) word;

static _Atomic int64_t calls_left = INT64_MAX, calls_to_fail;
static _Atomic uint64_t order_seed;

/* A region as it was made, with the words that both sides know. */
struct pair {
    struct simpler_region shadow;
    word *known;
};

struct range {
    const struct pair *pair;
    size_t offset, bytes;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards flight */
static struct range flight[IN_FLIGHT];

void transport_rough_fail(uint64_t nth, uint64_t times)
{
    atomic_store(&calls_to_fail, (int64_t)times);
    atomic_store(&calls_left, (int64_t)nth);
}

bool transport_rough_failed(void)
{
    return atomic_load(&calls_left) < 0;
}

static bool fails(void)
{
    int64_t left = atomic_fetch_sub(&calls_left, 1);
    return left <= 0 && left > -atomic_load(&calls_to_fail);
}

static void breach(const char *what, size_t offset, size_t bytes)
{
    fprintf(stderr, "transport: %s: %zu bytes at %zu\n", what, bytes, offset);
    abort();
}

/* ---- regions ---- */

static int rough_alloc(const struct simpler_region_request *request, struct simpler_region *out)
{
    struct pair *pair = calloc(1, sizeof(*pair));
    int rc = pair != NULL ? simpler_transport_shadow.alloc(request, &pair->shadow) : SIMPLER_ENOMEM;

    if (rc == 0 && (pair->known = calloc(request->bytes / WORD + 1, WORD)) == NULL) {
        simpler_transport_shadow.free(&pair->shadow);
        rc = SIMPLER_ENOMEM;
    }
    if (rc != 0) {
        free(pair);
        return rc;
    }
    *out = pair->shadow;
    out->cookie = pair;
    return 0;
}

static void rough_free(struct simpler_region *region)
{
    struct pair *pair = region->cookie;

    simpler_transport_shadow.free(&pair->shadow);
    free(pair->known);
    free(pair);
    memset(region, 0, sizeof(*region));
}

/* ---- ranges in flight ---- */

static bool overlaps(const struct range *a, const struct range *b)
{
    return a->pair == b->pair && a->offset < b->offset + b->bytes &&
           b->offset < a->offset + a->bytes;
}

static struct range *take_off(const struct pair *pair, size_t offset, size_t bytes)
{
    struct range mine = {pair, offset, bytes};
    struct range *at = NULL;

    if (offset > pair->shadow.bytes || bytes > pair->shadow.bytes - offset || bytes == 0)
        breach("a range leaves its region", offset, bytes);
    (void)pthread_mutex_lock(&lock);
    for (int i = 0; i < IN_FLIGHT; i++) {
        if (flight[i].pair != NULL && overlaps(&flight[i], &mine))
            breach("two ranges in flight overlap", offset, bytes);
        if (flight[i].pair == NULL)
            at = &flight[i];
    }
    if (at == NULL)
        breach("too many calls at once", offset, bytes);
    else
        *at = mine;
    (void)pthread_mutex_unlock(&lock);
    return at;
}

static void land(struct range *range)
{
    (void)pthread_mutex_lock(&lock);
    range->pair = NULL;
    (void)pthread_mutex_unlock(&lock);
}

/* ---- copies ---- */

/* The other side goes on for a while. */
static void linger(uint64_t dice)
{
    if (dice % 64 == 0)
        (void)nanosleep(&(struct timespec){0, (long)(dice >> 32 & 0xffff)}, NULL);
    else if (dice % 8 == 0)
        (void)sched_yield();
}

static uint64_t roll(void)
{
    uint64_t z = atomic_fetch_add(&order_seed, 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    return z ^ (z >> 27);
}

/* A word of the device that its side has written since the host knew it is not the host's. */
static void copy_word(struct pair *pair, size_t i, bool to_device)
{
    word *host = (word *)(void *)pair->shadow.host + i;
    word *device = (word *)simpler_device_place(pair->shadow.device) + i;
    uint64_t value = __atomic_load_n(to_device ? host : device, __ATOMIC_ACQUIRE);

    if (to_device && __atomic_load_n(device, __ATOMIC_ACQUIRE) !=
                         __atomic_load_n(&pair->known[i], __ATOMIC_RELAXED))
        breach("a flush over what the device has written", i * WORD, WORD);
    __atomic_store_n(&pair->known[i], value, __ATOMIC_RELAXED);
    __atomic_store_n(to_device ? device : host, value, __ATOMIC_RELEASE);
}

/* Each word once, from a random one on, up or down; a call that fails has copied some. */
static int copy(const struct simpler_region *region, size_t offset, size_t bytes, bool to_device)
{
    struct pair *pair = region->cookie;
    uint64_t dice = roll();

    if (offset % WORD != 0 || bytes % WORD != 0)
        breach("a range is not of words", offset, bytes);
    struct range *range = take_off(pair, offset, bytes);
    int rc = fails() ? SIMPLER_EIO : 0;
    size_t words = bytes / WORD, at = (size_t)(dice >> 20) % words;
    size_t end = rc == 0 ? words : (size_t)(dice >> 40) % words;
    for (size_t i = 0; i < end; i++) {
        copy_word(pair, offset / WORD + at, to_device);
        at = (dice & (1u << 19)) != 0 ? (at + 1) % words : (at + words - 1) % words;
        if (i % 8 == 0)
            linger(roll());
    }
    land(range);
    return rc;
}

static int rough_fetch(const struct simpler_region *region, size_t offset, size_t bytes)
{
    return copy(region, offset, bytes, false);
}

static int rough_flush(const struct simpler_region *region, size_t offset, size_t bytes)
{
    return copy(region, offset, bytes, true);
}

static const void *rough_view(const struct simpler_region *region, size_t offset, size_t bytes,
                              void *scratch)
{
    const struct pair *pair = region->cookie;
    struct range *range = take_off(pair, offset, bytes);
    size_t half = bytes / 2;
    bool failed = fails();

    if (!failed) {
        memset(scratch, 0xa5, bytes);
        (void)simpler_transport_shadow.view(&pair->shadow, offset + half, bytes - half,
                                            (uint8_t *)scratch + half);
        linger(roll());
        (void)simpler_transport_shadow.view(&pair->shadow, offset, half, scratch);
    }
    land(range);
    return failed ? NULL : scratch;
}

const struct simpler_transport_ops transport_rough = {
    .name = "rough",
    .has_doorbell = false,
    .alloc = rough_alloc,
    .free = rough_free,
    .fetch = rough_fetch,
    .flush = rough_flush,
    .view = rough_view,
};
