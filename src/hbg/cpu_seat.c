/* SPDX-License-Identifier: Apache-2.0 */
#include "hbg/cpu_seat.h"

void simpler_hbg_seats_open(struct simpler_hbg_device *device, uint32_t usable_cpus)
{
    /* A machine with more CPUs than a set holds has some to spare. */
    device->has_seats = device->thread_count > 1 && device->thread_count <= usable_cpus &&
                        sched_getaffinity(0, sizeof(device->cpus), &device->cpus) == 0;
}

void simpler_hbg_seat_leave(struct simpler_hbg_thread *thread)
{
    atomic_store_explicit(&thread->seat, -1, memory_order_relaxed);
}

/* The CPUs that no other thread of the device has. */
static void find_free(const struct simpler_hbg_thread *thread, cpu_set_t *cpus)
{
    const struct simpler_hbg_device *device = thread->device;

    *cpus = device->cpus;
    for (uint32_t i = 0; i < device->thread_count; i++) {
        int seat = atomic_load_explicit(&device->threads[i].seat, memory_order_relaxed);
        if (i != thread->index && seat >= 0)
            CPU_CLR((size_t)seat, cpus);
    }
}

/* To the CPU, and free again: it stays there until there is a reason. */
static void move(const struct simpler_hbg_device *device, int cpu)
{
    cpu_set_t one;

    CPU_ZERO(&one);
    CPU_SET((size_t)cpu, &one);
    (void)sched_setaffinity(0, sizeof(one), &one);
    (void)sched_setaffinity(0, sizeof(device->cpus), &device->cpus);
}

void simpler_hbg_seat_take(struct simpler_hbg_thread *thread)
{
    int cpu = sched_getcpu(), other = 0;
    cpu_set_t free_cpus;

    if (!thread->device->has_seats || cpu < 0 || cpu >= CPU_SETSIZE)
        return;
    find_free(thread, &free_cpus);
    if (!CPU_ISSET((size_t)cpu, &free_cpus)) {
        while (other < CPU_SETSIZE && !CPU_ISSET((size_t)other, &free_cpus))
            other++;
        if (other < CPU_SETSIZE) {
            move(thread->device, other);
            cpu = other;
        }
    }
    atomic_store_explicit(&thread->seat, cpu, memory_order_relaxed);
}
