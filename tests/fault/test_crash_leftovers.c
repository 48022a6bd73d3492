/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ctest: TIMEOUT 300
 * What a killed process has left is torn, damaged, gone or cannot be read now: recover
 * says so, takes what is whole, and keeps what may be read later.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/testpoint.h"
#include "cm.h"
#include "crash_rig.h"
#include "faults.h"
#include "host/config.h"
#include "host/stale_regions.h"
#include "kit.h"
#include "report/dump_manifest.h"
#include "report/scope_model.h"

static struct simpler_recover_result result;

/* ---- torn ends ---- */

static void append(const char *prefix, const char *name, const char *text)
{
    char path[256];

    (void)snprintf(path, sizeof(path), "%s/%s", prefix, name);
    FILE *f = fopen(path, "a");
    assert_non_null(f);
    assert_true(fputs(text, f) >= 0);
    assert_int_equal(fclose(f), 0);
}

/* Lines of the file, which ends with one. */
static uint64_t count_lines(const char *prefix)
{
    char path[256];
    uint64_t lines = 0;
    int c, last = '\n';

    (void)snprintf(path, sizeof(path), "%s/scope_stats/scope_stats.jsonl", prefix);
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    for (; (c = fgetc(f)) != EOF; last = c)
        lines += c == '\n';
    assert_int_equal(last, '\n');
    assert_int_equal(fclose(f), 0);
    return lines;
}

/* The memory is gone: what is in the file, less what is torn. */
static void torn_end_without_region(void **state)
{
    struct crash_rig rig;
    char prefix[128], region[256] = "";

    (void)state;
    crash_rig_open(&rig);
    for (int tries = 0; region[0] == '\0' && tries < 20; tries++) {
        crash_rig_start(&rig);
        crash_rig_wait(&rig, 2500);
        assert_true(crash_rig_kill(&rig));
        crash_rig_prefix(&rig, atomic_load(&rig.proof->run), prefix);
        crash_rig_region(prefix, region);
    }
    assert_int_equal(unlink(region), 0);
    append(prefix, "scope_stats/scope_stats.jsonl.partial", "{\"site\": \"crash.c:9\", \"ph");
    assert_int_equal(simpler_recover(prefix, &result), 0);
    assert_int_equal(result.has_region, 0);
    assert_non_null(strstr(result.message, "the region is not there"));
    fault_saw("region-is-gone", "region=%s named=yes", fault_yes(result.has_region));
    if (result.scope_stats.state == SIMPLER_RECOVER_RECOVERED)
        assert_int_equal(count_lines(prefix), result.scope_stats.records + 1);
    crash_rig_close(&rig);
}

/* A write that was cut leaves the beginning of a line, or of a record. */
static void torn_ends(void **state)
{
    struct crash_rig rig;
    char prefix[128];

    (void)state;
    crash_rig_open(&rig);
    crash_rig_start(&rig);
    crash_rig_wait(&rig, 1500);
    assert_true(crash_rig_kill(&rig));
    uint32_t run = atomic_load(&rig.proof->run);
    crash_rig_prefix(&rig, run, prefix);
    if (crash_rig_has(prefix, "scope_stats/scope_stats.jsonl.partial"))
        append(prefix, "scope_stats/scope_stats.jsonl.partial", "{\"site\": \"crash.c:9\", \"ph");
    if (crash_rig_has(prefix, "args_dump/.spool"))
        append(prefix, "args_dump/.spool", "a record of 128 bytes");
    append(prefix, ".live.new", "simpler-l");
    int rc = simpler_recover(prefix, &result);
    assert_int_equal(rc, 0);
    assert_int_equal(crash_rig_check(&rig, run, false), 0);
    fault_saw("torn-leftovers", "recover=%s records=all", simpler_status_name(rc));
    crash_rig_close(&rig);
}

/* ---- what cannot be read now ---- */

#if defined(SIMPLER_DEBUG)
struct unreadable {
    enum simpler_testpoint point;
    int from; /* the first that fails */
    _Atomic int seen;
};

static bool cannot_be_read(void *user, enum simpler_testpoint point)
{
    struct unreadable *u = user;

    return point == u->point && atomic_fetch_add(&u->seen, 1) >= u->from;
}

/* A recovery whose @from-th step at the point fails, and all after it; false: none did. */
static bool recover_unreadable(const char *prefix, enum simpler_testpoint point, int from, int *rc)
{
    struct unreadable u = {.point = point, .from = from};

    simpler_testpoint_set(cannot_be_read, &u);
    *rc = simpler_recover(prefix, &result);
    simpler_testpoint_set(NULL, NULL);
    return atomic_load(&u.seen) > from;
}
#endif

static bool says(const char *text)
{
    return strstr(result.message, text) != NULL ||
           strstr(result.scope_stats.message, text) != NULL ||
           strstr(result.args_dump.message, text) != NULL;
}

/* It is said, with one of the texts, and everything stays for the next try. */
static void must_have_stayed(const char *prefix, const char *region, int rc, const char *text,
                             const char *other)
{
    assert_int_equal(rc, SIMPLER_EIO);
    if (!says(text) && !says(other))
        fail_msg("'%s' is not in '%s', '%s', '%s'", text, result.message,
                 result.scope_stats.message, result.args_dump.message);
    assert_true(crash_rig_has(prefix, ".live"));
    assert_int_equal(access(region, F_OK), 0);
}

/* A process that was killed inside a run; its rig stays open. */
static void crash_inside(struct crash_rig *rig, uint32_t boundaries, char prefix[128],
                         char region[256])
{
    region[0] = '\0';
    for (int tries = 0; region[0] == '\0' && tries < 20; tries++) {
        crash_rig_start(rig);
        crash_rig_wait(rig, boundaries);
        assert_true(crash_rig_kill(rig));
        crash_rig_prefix(rig, atomic_load(&rig->proof->run), prefix);
        crash_rig_region(prefix, region);
    }
    assert_string_not_equal(region, "");
}

/* Whatever cannot be read of the memory, and from wherever on: nothing is given up for that. */
static void region_that_cannot_be_read(void **state)
{
    struct crash_rig rig;
    char prefix[128], region[256];
    int rc = 0, failed = 0;

    (void)state;
    crash_rig_open(&rig);
    crash_inside(&rig, 1500, prefix, region);
    if (geteuid() == 0) {
        assert_int_equal(chown(region, 12345, (gid_t)-1), 0);
        rc = simpler_recover(prefix, &result);
        must_have_stayed(prefix, region, rc, "belongs to user 12345: recover as that one", "?");
        assert_int_equal(chown(region, 0, (gid_t)-1), 0);
    } else {
        assert_int_equal(chmod(region, 0), 0);
        rc = simpler_recover(prefix, &result);
        must_have_stayed(prefix, region, rc, "the region cannot be opened: Permission denied", "?");
        assert_int_equal(chmod(region, 0600), 0);
    }
#if defined(SIMPLER_DEBUG)
    assert_true(recover_unreadable(prefix, SIMPLER_TESTPOINT_REGION_OPEN, 0, &rc));
    must_have_stayed(prefix, region, rc, "the region cannot be opened: Permission denied", "?");
    for (int from = 0;
         recover_unreadable(prefix, SIMPLER_TESTPOINT_REGION_READ, from, &rc) && rc != 0;
         from += 1 + from / 3) {
        must_have_stayed(prefix, region, rc, simpler_status_text(SIMPLER_EIO), strerror(EIO));
        failed++;
    }
    print_message("%d recoveries could not read the memory\n", failed);
    assert_true(failed > 3);
#else
    rc = simpler_recover(prefix, &result);
#endif
    assert_int_equal(rc, 0);
    assert_int_equal(access(region, F_OK), -1);
    assert_int_equal(crash_rig_check(&rig, atomic_load(&rig.proof->run), false), 0);
    (void)failed;
    crash_rig_close(&rig);
}

/* ---- args.bin that has lost pages ---- */

#if defined(SIMPLER_DEBUG)
struct lost_pages {
    uint32_t from;  /* the first read that fails; those after it fail, */
    uint32_t every; /* or each n-th of them */
    uint32_t seen;
    bool come_back; /* at the second read */
    uint32_t again;
};

static bool page_is_lost(void *user, enum simpler_testpoint point)
{
    struct lost_pages *l = user;

    if (point == SIMPLER_TESTPOINT_DUMP_BIN_READ_AGAIN) {
        l->again++;
        return !l->come_back;
    }
    if (point != SIMPLER_TESTPOINT_DUMP_BIN_READ)
        return false;
    uint32_t n = l->seen++;
    return n >= l->from && (n - l->from) % l->every == 0;
}

static off_t size_of(const char *prefix, const char *name)
{
    char path[256];
    struct stat info;

    (void)snprintf(path, sizeof(path), "%s/args_dump/%s", prefix, name);
    return stat(path, &info) == 0 ? info.st_size : 0;
}

/* Of a manifest.  What is lost is of a page that is; without a region also what was not written
 * yet, or would lie behind the end of args.bin. */
struct payloads {
    uint64_t whole, lost;
    uint64_t begun; /* of those that are lost: they end before a page of the file */
    uint64_t scalars;
};

static void count_payload(struct payloads *p, const struct simpler_dump_entry *e, uint64_t bytes)
{
    p->scalars += e->kind == SIMPLER_DUMP_SCALAR;
    p->whole += e->kind == SIMPLER_DUMP_TENSOR && !e->truncated;
    p->lost += e->truncated;
    if (!e->truncated || e->bin_size == 0 || e->bin_offset + e->bin_size + 4 > bytes)
        return;
    p->begun++;
    assert_int_equal((e->bin_offset + e->bin_size) % 4096, 0);
}

static struct payloads count_payloads(const char *prefix)
{
    struct simpler_dump_manifest *manifest;
    struct simpler_dump_entry entry;
    struct payloads p = {0};
    uint64_t bytes = (uint64_t)size_of(prefix, "args.bin");
    char path[256];
    int rc;

    (void)snprintf(path, sizeof(path), "%s/args_dump/args_dump.json", prefix);
    assert_int_equal(simpler_dump_manifest_open(path, &manifest), 0);
    while ((rc = simpler_dump_manifest_next(manifest, &entry)) > 0)
        count_payload(&p, &entry, bytes);
    assert_int_equal(rc, 0);
    assert_int_equal(simpler_dump_manifest_header(manifest)->count[SIMPLER_DUMP_COUNT_TRUNCATED],
                     p.lost);
    simpler_dump_manifest_close(manifest);
    return p;
}

/* A run that was killed with records in its spool; recovered while pages of args.bin are lost. */
static struct payloads recover_with_pages(struct crash_rig *rig, bool has_region,
                                          struct lost_pages l)
{
    char prefix[128], region[256];

    crash_rig_open(rig);
    if (has_region)
        rig->tensor_bytes = 65536; /* no payload of a run is written over */
    do { /* until there are records, and some pages of payloads that have reached the disk */
        crash_inside(rig, 2000, prefix, region);
    } while (size_of(prefix, ".spool") < 100 * 128 || size_of(prefix, "args.bin") < 3 * 4096);
    if (!has_region)
        assert_int_equal(unlink(region), 0);
    simpler_testpoint_set(page_is_lost, &l);
    int rc = simpler_recover(prefix, &result);
    simpler_testpoint_set(NULL, NULL);
    assert_int_equal(rc, 0);
    assert_true(l.seen > l.from && l.again != 0);
    struct payloads p = count_payloads(prefix);
    assert_true(p.scalars != 0);
    assert_int_equal(p.whole + p.lost + p.scalars, result.args_dump.records);
    assert_int_equal(result.payloads_lost, p.lost);
    if (has_region)
        assert_int_equal(crash_rig_check(rig, atomic_load(&rig->proof->run), false), 0);
    if (!l.come_back)
        fault_saw("payload-unreadable", "recover=%s payload=%s", simpler_status_name(rc),
                  p.lost != 0 ? "cut" : "whole");
    crash_rig_close(rig);
    return p;
}

static struct payloads recover_with_lost_pages(struct crash_rig *rig, bool has_region,
                                               uint32_t from, uint32_t every)
{
    return recover_with_pages(rig, has_region, (struct lost_pages){.from = from, .every = every});
}
#endif

/* It ends nothing: what an arena has is whole, the rest is cut, said, and counted. */
static void payload_that_cannot_be_read(void **state)
{
    (void)state;
#if defined(SIMPLER_DEBUG)
    struct crash_rig rig;

    /* The memory has all of them. */
    struct payloads p = recover_with_lost_pages(&rig, true, 0, 1);
    assert_true(p.whole != 0 && p.lost == 0);
    assert_int_equal(result.payloads_from_region, p.whole);
    assert_int_equal(result.payloads_unreadable, 0);
    /* It is gone: nothing is there, or what was read before. */
    p = recover_with_lost_pages(&rig, false, 0, 1);
    assert_true(p.whole == 0 && p.lost != 0 && p.begun == 0);
    assert_in_range(result.payloads_unreadable, 1, p.lost);
    p = recover_with_lost_pages(&rig, false, 7, 1);
    assert_true(p.whole != 0 && p.whole <= 7 && p.lost > 7);
    assert_in_range(result.payloads_unreadable, 1, p.lost - (7 - p.whole));
    /* A block cannot be read and its first page can: what is on two pages is cut between them. */
    p = recover_with_lost_pages(&rig, false, 0, 2);
    assert_true(p.whole > p.begun && p.begun != 0);
    assert_int_equal(result.payloads_unreadable, p.begun);
    /* No page can be read at first, and each a little later: none is given up. */
    p = recover_with_pages(&rig, false, (struct lost_pages){.every = 1, .come_back = true});
    assert_true(p.whole != 0 && p.begun == 0);
    assert_int_equal(result.payloads_unreadable, 0);
#else
    SKIP_TEST("a release build has no test points");
#endif
}

/* ---- others who look ---- */

#if defined(SIMPLER_DEBUG)
struct onlooker {
    const char *region;
    _Atomic int looks, taken;
};

/* Whether whoever recovers at this moment would find the region taken. */
static bool is_it_taken(void *user, enum simpler_testpoint point)
{
    struct onlooker *o = user;

    if (point != SIMPLER_TESTPOINT_REGION_READ)
        return false;
    int fd = open(o->region, O_RDONLY | O_CLOEXEC);
    atomic_fetch_add(&o->looks, 1);
    atomic_fetch_add(&o->taken, fd < 0 || flock(fd, LOCK_EX | LOCK_NB) != 0);
    (void)close(fd);
    return false;
}
#endif

/* Whoever opens a worker or recovers elsewhere looks at each region: that is in nobody's way. */
static void who_only_looks_is_in_nobodys_way(void **state)
{
    (void)state;
#if defined(SIMPLER_DEBUG)
    struct crash_rig rig;
    char prefix[128], region[256];

    crash_rig_open(&rig);
    crash_inside(&rig, 1500, prefix, region);
    struct onlooker o = {.region = region};
    simpler_testpoint_set(is_it_taken, &o);
    simpler_stale_regions_remove(simpler_config_region_directory());
    simpler_testpoint_set(NULL, NULL);
    assert_true(atomic_load(&o.looks) > 0);
    assert_int_equal(atomic_load(&o.taken), 0);
    assert_int_equal(simpler_recover(prefix, &result), 0);
    crash_rig_close(&rig);
#else
    SKIP_TEST("the moment is a test point of debug builds");
#endif
}

/* ---- damaged leftovers ---- */

/* Some bytes of a file are others, or its end is gone. */
static void damage(const char *path, struct kit_random *random)
{
    struct stat info;
    int fd = open(path, O_RDWR | O_CLOEXEC);

    if (fd < 0 || fstat(fd, &info) != 0 || info.st_size == 0) {
        (void)close(fd);
        return;
    }
    if (kit_random_chance(random, 30)) {
        assert_int_equal(ftruncate(fd, (off_t)(kit_random_next(random) % (uint64_t)info.st_size)),
                         0);
    } else {
        /* Of a region, mostly what others hang on. */
        uint64_t span =
            kit_random_chance(random, 80) && info.st_size > 80000 ? 80000 : (uint64_t)info.st_size;
        for (uint32_t i = kit_random_below(random, 20) + 1; i != 0; i--) {
            uint64_t value = kit_random_chance(random, 50) ? UINT64_MAX : kit_random_next(random);
            off_t at = (off_t)(kit_random_next(random) % span);
            assert_true(pwrite(fd, &value, kit_random_below(random, 8) + 1, at) > 0);
        }
    }
    (void)close(fd);
}

/* Whatever is there after a recovery, its readers take it. */
static void read_back(const char *prefix)
{
    struct simpler_dump_manifest *manifest;
    struct simpler_dump_entry entry;
    struct simpler_scope_model *model;
    char path[256];
    int rc;

    if (crash_rig_has(prefix, "args_dump/args_dump.json")) {
        (void)snprintf(path, sizeof(path), "%s/args_dump/args_dump.json", prefix);
        assert_int_equal(simpler_dump_manifest_open(path, &manifest), 0);
        while ((rc = simpler_dump_manifest_next(manifest, &entry)) > 0)
            ;
        assert_int_equal(rc, 0);
        simpler_dump_manifest_close(manifest);
    }
    if (crash_rig_has(prefix, "scope_stats/scope_stats.jsonl")) {
        (void)snprintf(path, sizeof(path), "%s/scope_stats/scope_stats.jsonl", prefix);
        assert_int_equal(simpler_scope_model_read(path, NULL, NULL, &model), 0);
        simpler_scope_model_close(model);
    }
}

static void damage_once(struct kit_random *random, int *done)
{
    static const char *const names[] = {".live", "scope_stats/scope_stats.jsonl.partial",
                                        "args_dump/.spool", "args_dump/args.bin"};
    struct crash_rig rig;
    char prefix[128], path[256], region[256];

    crash_rig_open(&rig);
    crash_rig_start(&rig);
    crash_rig_wait(&rig, kit_random_below(random, 2000));
    assert_true(crash_rig_kill(&rig));
    crash_rig_prefix(&rig, atomic_load(&rig.proof->run), prefix);
    crash_rig_region(prefix, region);
    uint32_t which = kit_random_below(random, 8);
    if (which < 4)
        (void)snprintf(path, sizeof(path), "%s/%s", prefix, names[which]);
    damage(which < 4 ? path : region, random);
    int rc = simpler_recover(prefix, &result);
    assert_true(rc == 0 || rc == SIMPLER_EFORMAT || rc == SIMPLER_EIO || rc == SIMPLER_ENOENT);
    *done += rc == 0;
    if (rc == 0)
        assert_int_equal(simpler_recover(prefix, &result), 0);
    read_back(prefix);
    fault_saw("damaged-leftovers", "recover=%s readers=right", rc == 0 ? "done" : "refused");
    if (region[0] != '\0')
        (void)unlink(region);
    crash_rig_close(&rig);
}

static void damaged_leftovers(void **state)
{
    struct kit_random random = {kit_now_ns()};
    int done = 0, rounds = kit_is_sanitized() ? 60 : 200;

    (void)state;
    print_message("seed %llu\n", (unsigned long long)random.state);
    for (int i = 0; i < rounds; i++)
        damage_once(&random, &done);
    print_message("%d of %d recovered\n", done, rounds);
    assert_true(done > rounds / 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(torn_ends),
        cmocka_unit_test(torn_end_without_region),
        cmocka_unit_test(region_that_cannot_be_read),
        cmocka_unit_test(payload_that_cannot_be_read),
        cmocka_unit_test(who_only_looks_is_in_nobodys_way),
        cmocka_unit_test(damaged_leftovers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
