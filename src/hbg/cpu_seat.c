/* SPDX-License-Identifier: Apache-2.0 */
#include "hbg/cpu_seat.h"

#include <sched.h>

void simpler_hbg_seats_open(struct simpler_hbg_device *device, uint32_t usable_cpus)
{
    device->has_seats = device->thread_count > 1 && device->thread_count <= usable_cpus;
}

void simpler_hbg_seat_leave(struct simpler_hbg_thread *thread)
{
    atomic_store_explicit(&thread->seat, -1, memory_order_relaxed);
}

/* CPUs of @mine that no other thread of the device has; the first, or -1. */
static int find_free(const struct simpler_hbg_thread *thread, const cpu_set_t *mine)
{
    const struct simpler_hbg_device *device = thread->device;
    cpu_set_t cpus = *mine;

    for (uint32_t i = 0; i < device->thread_count; i++) {
        int seat = atomic_load_explicit(&device->threads[i].seat, memory_order_relaxed);
        if (i != thread->index && seat >= 0)
            CPU_CLR((size_t)seat, &cpus);
    }
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (CPU_ISSET((size_t)cpu, &cpus))
            return cpu;
    }
    return -1;
}

/* Another thread that is awake has @cpu. */
static bool is_taken(const struct simpler_hbg_thread *thread, int cpu)
{
    const struct simpler_hbg_device *device = thread->device;

    for (uint32_t i = 0; i < device->thread_count; i++) {
        if (i != thread->index &&
            atomic_load_explicit(&device->threads[i].seat, memory_order_relaxed) == cpu)
            return true;
    }
    return false;
}

/* To a free CPU, and as mobile again as it was: it stays there until there is a reason. */
static int move(const struct simpler_hbg_thread *thread, int from)
{
    cpu_set_t mine, one;

    /* A machine with more CPUs than a set holds has some to spare. */
    if (sched_getaffinity(0, sizeof(mine), &mine) != 0)
        return from;
    int cpu = find_free(thread, &mine);
    if (cpu < 0)
        return from;
    CPU_ZERO(&one);
    CPU_SET((size_t)cpu, &one);
    (void)sched_setaffinity(0, sizeof(one), &one);
    (void)sched_setaffinity(0, sizeof(mine), &mine);
    return cpu;
}

void simpler_hbg_seat_take(struct simpler_hbg_thread *thread)
{
    int cpu = sched_getcpu();

    if (!thread->device->has_seats || cpu < 0 || cpu >= CPU_SETSIZE)
        return;
    if (is_taken(thread, cpu))
        cpu = move(thread, cpu);
    atomic_store_explicit(&thread->seat, cpu, memory_order_relaxed);
}
