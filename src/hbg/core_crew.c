/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Core threads for kernels that may wait for each other: cluster i has three,
 * started when first needed, parked otherwise.  One task at a time; its blocks go
 * out in waves of as many clusters as there are, with sync_start in one.
 *
 *   field   written by                    read by   publishes
 *   job     the task's thread (release, J1)  core   the block, its groups
 *   left    cores (acq_rel, J2)           the task's thread   the kernels' effects
 */
#include <pthread.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/logger.h"
#include "base/testpoint.h"
#include "hbg/hbg_device.h"
#include "hbg/hbg_hang.h"
#include "hbg/hbg_launch.h"

struct crew_core {
    struct simpler_hbg_thread thread;
    struct simpler_hbg_crew *crew;
    _Atomic uint32_t job; /* 0: none; 1: its block */
    struct simpler_event wake;
    int32_t block;
    uint32_t lane;
};

struct simpler_hbg_crew {
    struct simpler_hbg_device *device;
    pthread_mutex_t turn; /* of the task that has the cores */
    uint32_t clusters;
    struct crew_core *cores; /* 3 a cluster */
    struct simpler_block_group *groups;
    struct simpler_group task;
    /* The task. */
    const struct simpler_hbg_part *part;
    uint32_t number;
    _Atomic uint32_t left;
    _Atomic int32_t status;
    struct simpler_event done;
    _Atomic bool closing;
};

static void run_core(struct crew_core *core)
{
    struct simpler_hbg_crew *crew = core->crew;
    int32_t none = 0;

    int status =
        simpler_hbg_run_block(&core->thread, crew->part, crew->number, core->block, core->lane);
    if (status != 0)
        (void)atomic_compare_exchange_strong_explicit(&crew->status, &none, status,
                                                      memory_order_relaxed, memory_order_relaxed);
    simpler_member_leave(&core->thread.member);
    if (core->thread.left)
        return;
    core->thread.member.task = NULL;
    core->thread.member.block = NULL;
    atomic_store_explicit(&core->job, 0, memory_order_relaxed);
    /* J2, acq_rel. */
    if (atomic_fetch_sub_explicit(&crew->left, 1, memory_order_acq_rel) == 1)
        simpler_event_notify_rare(&crew->done, 1);
}

static void *core_main(void *argument)
{
    struct crew_core *core = argument;
    void *stack = simpler_hbg_crash_enter(&core->thread);

    while (!core->thread.left &&
           !atomic_load_explicit(&core->crew->closing, memory_order_acquire)) {
        /* acquire, pairs with J1. */
        if (atomic_load_explicit(&core->job, memory_order_acquire) != 0) {
            run_core(core);
            continue;
        }
        uint32_t seen = simpler_event_prepare_rare(&core->wake);
        if (atomic_load_explicit(&core->job, memory_order_acquire) != 0 ||
            atomic_load_explicit(&core->crew->closing, memory_order_acquire))
            simpler_event_cancel(&core->wake);
        else
            simpler_event_wait(&core->wake, seen, UINT64_MAX);
    }
    simpler_hbg_crash_leave(stack);
    simpler_kernel_guard_exit(&core->thread.place.guard, &core->crew->device->guarded);
    return NULL;
}

static bool ensure_core(struct crew_core *core)
{
    if (core->thread.started)
        return true;
    atomic_store_explicit(&core->thread.place.guard.state, SIMPLER_THREAD_LIVE,
                          memory_order_relaxed);
    if (SIMPLER_FAILPOINT(THREAD_START) ||
        pthread_create(&core->thread.handle, NULL, core_main, core) != 0) {
        atomic_store_explicit(&core->thread.place.guard.state, SIMPLER_THREAD_EXITED,
                              memory_order_relaxed);
        SIMPLER_ERROR("a mixed or sync_start task needs cores, and no thread could be started");
        return false;
    }
    return core->thread.started = true;
}

static struct simpler_hbg_crew *open_crew(struct simpler_hbg_device *device, uint32_t clusters)
{
    struct simpler_hbg_crew *crew = simpler_alloc_aligned(1, sizeof(*crew));
    if (crew == NULL)
        return NULL;
    crew->cores = simpler_alloc_aligned((size_t)clusters * 3, sizeof(*crew->cores));
    crew->groups = simpler_alloc_aligned((size_t)clusters * 2, sizeof(*crew->groups));
    if (crew->cores == NULL || crew->groups == NULL || pthread_mutex_init(&crew->turn, NULL) != 0) {
        simpler_alloc_free(crew->cores);
        simpler_alloc_free(crew->groups);
        simpler_alloc_free(crew);
        return NULL;
    }
    crew->device = device;
    crew->clusters = clusters;
    simpler_event_init(&crew->done);
    for (uint32_t i = 0; i < 3 * clusters; i++) {
        struct crew_core *core = &crew->cores[i];
        core->crew = crew;
        simpler_event_init(&core->wake);
        simpler_hbg_init_thread(&core->thread, device, device->thread_count + i);
        /* Until it is started. */
        atomic_store_explicit(&core->thread.place.guard.state, SIMPLER_THREAD_EXITED,
                              memory_order_relaxed);
    }
    return crew;
}

uint32_t simpler_hbg_crew_count(const struct simpler_hbg_device *device)
{
    const struct simpler_hbg_crew *crew = atomic_load_explicit(&device->crew, memory_order_acquire);
    return crew == NULL ? 0 : 3 * crew->clusters;
}

struct simpler_hbg_thread *simpler_hbg_crew_thread(const struct simpler_hbg_device *device,
                                                   uint32_t i)
{
    return &atomic_load_explicit(&device->crew, memory_order_acquire)->cores[i].thread;
}

void simpler_hbg_crew_ask_out(struct simpler_hbg_device *device)
{
    struct simpler_hbg_crew *crew = atomic_load_explicit(&device->crew, memory_order_acquire);

    if (crew == NULL)
        return;
    atomic_store_explicit(&crew->closing, true, memory_order_release);
    for (uint32_t i = 0; i < 3 * crew->clusters; i++)
        simpler_event_notify_rare(&crew->cores[i].wake, 1);
    simpler_event_notify_rare(&crew->done, 1);
}

void simpler_hbg_crew_close(struct simpler_hbg_device *device)
{
    struct simpler_hbg_crew *crew = atomic_load_explicit(&device->crew, memory_order_acquire);

    if (crew == NULL)
        return;
    simpler_hbg_crew_ask_out(device);
    for (uint32_t i = 0; i < 3 * crew->clusters; i++) {
        if (crew->cores[i].thread.started)
            pthread_join(crew->cores[i].thread.handle, NULL);
    }
    pthread_mutex_destroy(&crew->turn);
    simpler_alloc_free(crew->cores);
    simpler_alloc_free(crew->groups);
    simpler_alloc_free(crew);
    atomic_store_explicit(&device->crew, NULL, memory_order_release);
}

/* The crew of the device, made by whoever comes first; NULL: out of memory. */
static struct simpler_hbg_crew *find_crew(struct simpler_hbg_device *device)
{
    struct simpler_hbg_crew *none = NULL;
    struct simpler_hbg_crew *crew = atomic_load_explicit(&device->crew, memory_order_acquire);

    if (crew != NULL)
        return crew;
    crew = open_crew(device, device->run->cluster_count);
    if (crew == NULL || atomic_compare_exchange_strong_explicit(
                            &device->crew, &none, crew, memory_order_acq_rel, memory_order_acquire))
        return crew;
    pthread_mutex_destroy(&crew->turn);
    simpler_alloc_free(crew->cores);
    simpler_alloc_free(crew->groups);
    simpler_alloc_free(crew);
    return none;
}

/* Blocks that have their cores at once: an AIV kernel alone can have both of a cluster. */
static uint32_t places(const struct simpler_hbg_crew *crew, const struct simpler_hbg_launch *launch)
{
    return launch->lanes == 1u << SIMPLER_LANE_AIV0 ? 2 * crew->clusters : crew->clusters;
}

static struct crew_core *core_of(struct simpler_hbg_crew *crew,
                                 const struct simpler_hbg_launch *launch, uint32_t place,
                                 uint32_t lane)
{
    if (launch->lanes == 1u << SIMPLER_LANE_AIV0)
        return &crew->cores[3 * (place / 2) + SIMPLER_LANE_AIV0 + place % 2];
    return &crew->cores[3 * place + lane];
}

/* One block's kernels, not started yet. */
static void seat(struct simpler_hbg_crew *crew, const struct simpler_hbg_launch *launch,
                 uint32_t place, int32_t block, bool whole)
{
    struct simpler_block_group *group = &crew->groups[place];

    simpler_block_group_init(group, launch->lanes);
    for (uint32_t lane = 0; lane < SIMPLER_LANES; lane++) {
        if ((launch->lanes >> lane & 1) == 0)
            continue;
        struct crew_core *core = core_of(crew, launch, place, lane);
        core->block = block;
        core->lane = lane;
        core->thread.member.task = whole ? &crew->task : NULL;
        core->thread.member.block = group;
    }
}

static void start(struct simpler_hbg_crew *crew, const struct simpler_hbg_launch *launch,
                  uint32_t place)
{
    for (uint32_t lane = 0; lane < SIMPLER_LANES; lane++) {
        if ((launch->lanes >> lane & 1) == 0)
            continue;
        struct crew_core *core = core_of(crew, launch, place, lane);
        /* J1, release. */
        atomic_store_explicit(&core->job, 1, memory_order_release);
        simpler_event_notify_rare(&core->wake, 1);
    }
}

/* False: the run hangs. */
static bool wait_done(struct simpler_hbg_crew *crew)
{
    while (atomic_load_explicit(&crew->left, memory_order_acquire) != 0) {
        uint32_t seen = simpler_event_prepare_rare(&crew->done);
        if (simpler_hbg_is_closing(crew->device)) {
            simpler_event_cancel(&crew->done);
            return false;
        }
        if (atomic_load_explicit(&crew->left, memory_order_acquire) == 0)
            simpler_event_cancel(&crew->done);
        else
            simpler_event_wait(&crew->done, seen, UINT64_MAX);
    }
    return true;
}

static bool ensure_cores(struct simpler_hbg_crew *crew, const struct simpler_hbg_launch *launch,
                         uint32_t count)
{
    for (uint32_t place = 0; place < count; place++) {
        for (uint32_t lane = 0; lane < SIMPLER_LANES; lane++) {
            if ((launch->lanes >> lane & 1) != 0 &&
                !ensure_core(core_of(crew, launch, place, lane)))
                return false;
        }
    }
    return true;
}

static bool run_wave(struct simpler_hbg_crew *crew, struct simpler_hbg_thread *thread,
                     const struct simpler_hbg_launch *launch, int32_t first, uint32_t count)
{
    /* What may wait for all kernels of the task: see simpler_kernel_sync_all. */
    bool whole = launch->sync_start || launch->block_num == 1;

    if (!ensure_cores(crew, launch, count))
        return false;
    simpler_group_init(&crew->task, count * launch->lane_count);
    atomic_store_explicit(&crew->left, count * launch->lane_count, memory_order_relaxed);
    for (uint32_t place = 0; place < count; place++)
        seat(crew, launch, place, first + (int32_t)place, whole);
    for (uint32_t place = 0; place < count; place++)
        start(crew, launch, place);
    thread->left = !wait_done(crew);
    return !thread->left;
}

int simpler_hbg_crew_run(struct simpler_hbg_thread *thread, struct simpler_hbg_part *part,
                         uint32_t number)
{
    const struct simpler_hbg_launch *launch = simpler_hbg_launch_of(part->image, number);
    struct simpler_hbg_crew *crew = find_crew(thread->device);
    int32_t block = 0;
    bool ok = crew != NULL;

    if (!ok)
        return SIMPLER_ENOMEM;
    pthread_mutex_lock(&crew->turn);
    if (simpler_hbg_is_closing(thread->device)) {
        /* Cores are still at what they were given before. */
        pthread_mutex_unlock(&crew->turn);
        thread->left = true;
        return 0;
    }
    crew->part = part;
    crew->number = number;
    atomic_store_explicit(&crew->status, 0, memory_order_relaxed);
    while (ok && block < launch->block_num) {
        uint32_t left = (uint32_t)(launch->block_num - block), most = places(crew, launch);
        uint32_t count = left < most ? left : most;
        ok = run_wave(crew, thread, launch, block, count);
        block += (int32_t)count;
    }
    int status = ok ? atomic_load_explicit(&crew->status, memory_order_relaxed) : SIMPLER_ETHREAD;
    pthread_mutex_unlock(&crew->turn);
    return status;
}
