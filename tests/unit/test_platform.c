/* SPDX-License-Identifier: Apache-2.0 */
/* Platforms: the documented limits, names of hardware, usable CPUs. */
#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cm.h"
#include "platform/platform.h"
#include "platform/transport.h"
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
    assert_int_equal(cpu->dtypes, SIMPLER_PLATFORM_ALL_DTYPES);
    assert_ptr_equal(cpu->transport, &simpler_transport_mapped);
}

struct chip {
    const char *name;
    uint32_t max_threads, max_clusters;
    uint64_t counter_hz;
    bool small_floats;
    const struct simpler_transport_ops *transport;
};

/* SY-03: each with the limits and the memory of its documents. */
static void the_simulated_chips_have_their_documented_limits(void **state)
{
    static const struct chip chips[] = {
        {"a2a3sim", 4, 24, 50000000, false, &simpler_transport_mapped},
        {"a5sim", 5, 36, 1000000000, true, &simpler_transport_shadow},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(chips) / sizeof(chips[0]); i++) {
        const struct chip *wanted = &chips[i];
        const struct simpler_platform *chip = simpler_platform_find(wanted->name);
        assert_non_null(chip);
        assert_int_equal(chip->min_threads, 2);
        assert_int_equal(chip->max_threads, wanted->max_threads);
        assert_int_equal(chip->max_clusters, wanted->max_clusters);
        assert_int_equal(chip->default_clusters, 8);
        assert_int_equal(chip->counter_hz, wanted->counter_hz);
        assert_int_equal(chip->default_hazards, SIMPLER_HAZARDS_RAW);
        assert_int_equal(chip->device_count, 16);
        assert_ptr_equal(chip->transport, wanted->transport);
        for (uint32_t d = 0; d < SIMPLER_DTYPE_NUM; d++) {
            bool small = d >= SIMPLER_DTYPE_FP8E4M3FN && d <= SIMPLER_DTYPE_FP4E2M1;
            assert_int_equal(simpler_platform_has_dtype(chip, d), !small || wanted->small_floats);
        }
    }
}

static void hardware_names_have_a_substitute(void **state)
{
    (void)state;
    assert_null(simpler_platform_find("a2a3"));
    assert_null(simpler_platform_find(NULL));
    assert_string_equal(simpler_platform_substitute("a2a3"), "a2a3sim");
    assert_null(simpler_platform_find("a5"));
    assert_string_equal(simpler_platform_substitute("a5"), "a5sim");
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
        cmocka_unit_test(the_simulated_chips_have_their_documented_limits),
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
