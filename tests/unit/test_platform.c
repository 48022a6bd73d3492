/* SPDX-License-Identifier: Apache-2.0 */
/* Platforms: the documented limits, names of hardware, usable CPUs. */
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "platform/platform.h"
#include "platform/usable_cpus.h"
#include "simpler/call_config.h"

static void cpu_is_the_default(void **state)
{
    (void)state;
    const struct simpler_platform *cpu = simpler_platform_find("cpu");

    assert_non_null(cpu);
    assert_ptr_equal(simpler_platform_list[0], cpu);
    assert_int_equal(cpu->min_threads, 1);
    assert_int_equal(cpu->max_threads, 256);
    assert_int_equal(cpu->default_clusters, 8);
    assert_int_equal(cpu->default_hazards, SIMPLER_HAZARDS_ALL);
}

static void the_simulated_chip_has_its_documented_limits(void **state)
{
    (void)state;
    const struct simpler_platform *chip = simpler_platform_find("a2a3sim");

    assert_non_null(chip);
    assert_int_equal(chip->min_threads, 2);
    assert_int_equal(chip->max_threads, 4);
    assert_int_equal(chip->max_clusters, 24);
    assert_int_equal(chip->default_clusters, 8);
    assert_int_equal(chip->counter_hz, 50000000);
    assert_int_equal(chip->default_hazards, SIMPLER_HAZARDS_RAW);
}

static void hardware_names_have_a_substitute(void **state)
{
    (void)state;
    assert_null(simpler_platform_find("a2a3"));
    assert_null(simpler_platform_find(NULL));
    assert_string_equal(simpler_platform_substitute("a2a3"), "a2a3sim");
    assert_non_null(simpler_platform_find(simpler_platform_substitute("a5")));
    assert_null(simpler_platform_substitute("cpu"));
    assert_null(simpler_platform_substitute("nonsense"));
    assert_null(simpler_platform_substitute(NULL));
}

static void thread_counts_stay_in_the_limits(void **state)
{
    (void)state;
    struct simpler_platform p = {.min_threads = 1, .max_threads = 256};
    uint32_t usable = simpler_platform_usable_cpus();

    assert_int_equal(simpler_platform_thread_count(&p, 1), 1);
    assert_int_equal(simpler_platform_thread_count(&p, 300), 256);
    assert_int_equal(simpler_platform_thread_count(&p, 0), usable < 2 ? 2 : usable);
    p.min_threads = 2;
    assert_int_equal(simpler_platform_thread_count(&p, 1), 2);
    p.max_threads = 2;
    assert_int_equal(simpler_platform_thread_count(&p, 0), 2);
}

static void affinity_limits_the_cpus(void **state)
{
    (void)state;
    cpu_set_t before, one;

    assert_int_equal(sched_getaffinity(0, sizeof(before), &before), 0);
    CPU_ZERO(&one);
    for (size_t i = 0; i < CPU_SETSIZE; i++) {
        if (CPU_ISSET(i, &before)) {
            CPU_SET(i, &one);
            break;
        }
    }
    assert_true((int)simpler_platform_usable_cpus() <= CPU_COUNT(&before));
    assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
    assert_int_equal(simpler_platform_usable_cpus(), 1);
    assert_int_equal(sched_setaffinity(0, sizeof(before), &before), 0);
}

/* A tree of small files below a fresh directory. */
static char root[] = "/tmp/simpler-cgroup-XXXXXX";

static void write_file(const char *path, const char *text)
{
    char full[512];

    (void)snprintf(full, sizeof(full), "%s%s", root, path);
    for (char *slash = strchr(full + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        (void)mkdir(full, 0700);
        *slash = '/';
    }
    FILE *file = fopen(full, "w");
    assert_non_null(file);
    (void)fputs(text, file);
    (void)fclose(file);
}

static int make_root(void **state)
{
    (void)state;
    (void)strcpy(root + strlen(root) - 6, "XXXXXX");
    return mkdtemp(root) == NULL;
}

static int remove_root(void **state)
{
    char command[256];

    (void)state;
    (void)snprintf(command, sizeof(command), "rm -rf '%s'", root);
    return system(command);
}

static void version_2_takes_the_tightest_parent(void **state)
{
    (void)state;
    assert_int_equal(simpler_usable_cpus_quota(root), UINT32_MAX);
    write_file("/proc/self/cgroup", "0::/a/b\n");
    assert_int_equal(simpler_usable_cpus_quota(root), UINT32_MAX);
    write_file("/sys/fs/cgroup/a/b/cpu.max", "max 100000\n");
    assert_int_equal(simpler_usable_cpus_quota(root), UINT32_MAX);
    write_file("/sys/fs/cgroup/a/cpu.max", "250000 100000\n");
    assert_int_equal(simpler_usable_cpus_quota(root), 3);
    write_file("/sys/fs/cgroup/a/b/cpu.max", "400000 100000\n");
    assert_int_equal(simpler_usable_cpus_quota(root), 3);
    write_file("/sys/fs/cgroup/a/b/cpu.max", "50000 100000\n");
    assert_int_equal(simpler_usable_cpus_quota(root), 1);
}

static void a_container_sees_its_group_at_the_mount(void **state)
{
    (void)state;
    write_file("/proc/self/cgroup", "0::/not/visible/here\n");
    write_file("/sys/fs/cgroup/cpu.max", "200000 100000\n");
    assert_int_equal(simpler_usable_cpus_quota(root), 2);
}

static void version_1_reads_the_cpu_controller(void **state)
{
    (void)state;
    write_file("/proc/self/cgroup", "3:cpuset:/a\n2:cpuacct,cpu:/a\n1:name=systemd:/a\n0::/\n");
    write_file("/sys/fs/cgroup/cpu/a/cpu.cfs_period_us", "100000\n");
    write_file("/sys/fs/cgroup/cpu/a/cpu.cfs_quota_us", "-1\n");
    assert_int_equal(simpler_usable_cpus_quota(root), UINT32_MAX);
    write_file("/sys/fs/cgroup/cpu/a/cpu.cfs_quota_us", "600000\n");
    assert_int_equal(simpler_usable_cpus_quota(root), 6);
    write_file("/proc/self/cgroup", "3:cpuset:/a\n1:cpuacct:/a\n");
    assert_int_equal(simpler_usable_cpus_quota(root), UINT32_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cpu_is_the_default),
        cmocka_unit_test(the_simulated_chip_has_its_documented_limits),
        cmocka_unit_test(hardware_names_have_a_substitute),
        cmocka_unit_test(thread_counts_stay_in_the_limits),
        cmocka_unit_test(affinity_limits_the_cpus),
        cmocka_unit_test_setup_teardown(version_2_takes_the_tightest_parent, make_root,
                                        remove_root),
        cmocka_unit_test_setup_teardown(a_container_sees_its_group_at_the_mount, make_root,
                                        remove_root),
        cmocka_unit_test_setup_teardown(version_1_reads_the_cpu_controller, make_root, remove_root),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
