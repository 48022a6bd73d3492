/* SPDX-License-Identifier: Apache-2.0 */
#include "crash_rig.h"

#include <stdarg.h>
#include <errno.h>
#include <ftw.h>
#include <glob.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/testpoint.h"
#include "kit.h"

/* Lines of the scopes around the tasks; inner ones lie beyond. */
#define INNER      1000000
#define THREADS    3u
#define INNERS     6u /* a task: so that buffers of samples are used again in a run */
#define BOUNDARIES (2 + 2 * INNERS)

static const uint32_t words_of[CRASH_RIG_CHAINS] = {3, 40, 300};

static void require(bool truth, const char *what)
{
    if (truth)
        return;
    perror(what);
    abort();
}

/* ---- the child ---- */

/* A word of what task @id - 1 leaves; ids with the high bit are what a chain begins with. */
static uint32_t pattern(uint32_t id, uint32_t word)
{
    return word == 0 ? id : (uint32_t)kit_mix((uint64_t)id << 32 | word);
}

static uint32_t first_id(uint32_t chain)
{
    return 0x80000000u | chain;
}

static struct crash_proof *proof;
static uint32_t current_run;
static uint32_t chain_data[CRASH_RIG_CHAINS][300];

static int step_kernel(const int64_t *args, uint32_t tensors, void *user)
{
    uint32_t index = (uint32_t)(uintptr_t)user;
    uint32_t *data = simpler_kernel_data(args, 0);

    (void)tensors;
    /* What came before this call is published, what is around it as well. */
    atomic_store_explicit(&proof->runs[current_run].started[index], 1, memory_order_release);
    for (uint32_t w = 0; w < words_of[index % CRASH_RIG_CHAINS]; w++)
        data[w] = pattern(index + 1, w);
    return 0;
}

static void passed(void)
{
    atomic_fetch_add_explicit(&proof->runs[current_run].boundaries, 1, memory_order_release);
}

static void begin(struct simpler_orch *orch, int line)
{
    if (simpler_orch_scope_begin_at(orch, SIMPLER_SCOPE_AUTO, "crash.c", line) == 0)
        passed();
}

static void end(struct simpler_orch *orch)
{
    if (simpler_orch_scope_end(orch) == 0)
        passed();
}

static void graph(struct simpler_orch *orch, void *user)
{
    const struct simpler_tensor *chains = user;
    struct simpler_task_args args;

    for (uint32_t i = 0; i < CRASH_RIG_TASKS; i++) {
        begin(orch, (int)i + 1);
        for (uint32_t n = 0; n < INNERS; n++) {
            begin(orch, (int)i + INNER);
            end(orch);
        }
        simpler_task_args_reset(&args);
        simpler_task_args_add_inout(&args, &chains[i % CRASH_RIG_CHAINS]);
        kit_submit(orch, &args, step_kernel, (void *)(uintptr_t)i, NULL);
        end(orch);
    }
}

static void run_once(struct kit *kit, const struct crash_rig *rig, uint32_t run)
{
    struct simpler_call_config config = kit_config(THREADS);
    struct simpler_tensor chains[CRASH_RIG_CHAINS];
    struct simpler_run_result result;
    char prefix[128];

    current_run = run;
    for (uint32_t c = 0; c < CRASH_RIG_CHAINS; c++) {
        chains[c] = kit_tensor(chain_data[c], words_of[c], kit_dtype(SIMPLER_DTYPE_UINT32));
        for (uint32_t w = 0; w < words_of[c]; w++)
            chain_data[c][w] = pattern(first_id(c), w);
    }
    crash_rig_prefix(rig, run, prefix);
    config.output_prefix = prefix;
    config.enable_scope_stats = 1;
    config.enable_dump_args = 2;
    atomic_store_explicit(&proof->run, run, memory_order_release);
    int rc = kit_run(kit, graph, chains, &config, &result);
    require(rc == 0 && result.scope_stats.status == 0 && result.args_dump.status == 0 &&
                result.crash_safe == rig->crash_safe,
            "a run of the child");
    atomic_store_explicit(&proof->completed, run + 1, memory_order_release);
}

/* Small buffers and, unless the rig says otherwise, arenas: they are used again many times in a
 * run. */
static void child_main(const struct crash_rig *rig)
{
    struct simpler_worker_config config = SIMPLER_WORKER_CONFIG_INIT;
    struct kit kit;

    config.dump = (struct simpler_dump_config){16, 3, rig->tensor_bytes, 4};
    config.crash_safe = rig->crash_safe;
    kit_open_config(&kit, &config);
    for (uint32_t run = 0; run < rig->runs; run++)
        run_once(&kit, rig, run);
    kit_close(&kit);
}

/* ---- the parent ---- */

void crash_rig_open(struct crash_rig *rig)
{
    memset(rig, 0, sizeof(*rig));
    rig->crash_safe = true;
    rig->runs = CRASH_RIG_RUNS;
    rig->tensor_bytes = 512;
    (void)snprintf(rig->directory, sizeof(rig->directory), "/tmp/simpler_crash_XXXXXX");
    require(mkdtemp(rig->directory) != NULL, "mkdtemp");
    rig->proof =
        mmap(NULL, sizeof(*rig->proof), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    require(rig->proof != MAP_FAILED, "mmap");
}

static int remove_one(const char *path, const struct stat *info, int type, struct FTW *where)
{
    (void)info;
    (void)type;
    (void)where;
    return remove(path);
}

static void remove_regions(const struct crash_rig *rig)
{
    char pattern[128];
    glob_t found = {0};

    (void)snprintf(pattern, sizeof(pattern), "/dev/shm/simpler-*-%ld-*.region", (long)rig->last);
    if (rig->last != 0 && glob(pattern, 0, NULL, &found) == 0)
        for (size_t i = 0; i < found.gl_pathc; i++)
            (void)unlink(found.gl_pathv[i]);
    globfree(&found);
}

void crash_rig_close(struct crash_rig *rig)
{
    remove_regions(rig);
    (void)nftw(rig->directory, remove_one, 8, FTW_DEPTH | FTW_PHYS);
    (void)munmap(rig->proof, sizeof(*rig->proof));
}

void crash_rig_prefix(const struct crash_rig *rig, uint32_t run, char path[128])
{
    (void)snprintf(path, 128, "%s/run_%u", rig->directory, rig->one_prefix ? 0 : run);
}

bool crash_rig_has(const char *prefix, const char *name)
{
    char path[256];

    (void)snprintf(path, sizeof(path), "%s/%s", prefix, name);
    return access(path, F_OK) == 0;
}

void crash_rig_region(const char *prefix, char region[256])
{
    char path[256];

    region[0] = '\0';
    (void)snprintf(path, sizeof(path), "%s/.live", prefix);
    FILE *f = fopen(path, "r");
    while (f != NULL && fscanf(f, "region %255s", region) != 1 && fgetc(f) != EOF)
        ;
    if (f != NULL)
        (void)fclose(f);
}

void crash_rig_start(struct crash_rig *rig)
{
    memset((void *)rig->proof, 0, sizeof(*rig->proof));
    proof = rig->proof;
    remove_regions(rig);
    (void)fflush(NULL);
    rig->child = fork();
    require(rig->child >= 0, "fork");
    if (rig->child != 0)
        return;
    child_main(rig);
    _exit(0);
}

void crash_rig_wait(const struct crash_rig *rig, uint32_t boundaries)
{
    while (atomic_load(&rig->proof->runs[0].boundaries) < boundaries) {
        require(waitpid(rig->child, NULL, WNOHANG) == 0, "the child ended before it was killed");
        kit_sleep_ns(100000);
    }
}

bool crash_rig_kill(struct crash_rig *rig)
{
    int status;

    (void)kill(rig->child, SIGKILL);
    require(waitpid(rig->child, &status, 0) == rig->child, "waitpid");
    rig->last = rig->child;
    rig->child = 0;
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)
        return true;
    require(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the child has failed");
    return false;
}

static bool kill_at(void *user, enum simpler_testpoint point)
{
    int *left = user;

    if (point == SIMPLER_TESTPOINT_RECOVER_STEP && --*left == 0)
        (void)raise(SIGKILL);
    return false;
}

bool crash_rig_recover_killed(const char *prefix, int step)
{
    static struct simpler_recover_result result;
    int status;

    (void)fflush(NULL);
    pid_t pid = fork();
    require(pid >= 0, "fork");
    if (pid == 0) {
        simpler_testpoint_set(kill_at, &step);
        (void)simpler_recover(prefix, &result);
        _exit(0);
    }
#if !defined(SIMPLER_DEBUG)
    kit_sleep_ns((uint64_t)step * 10000);
    (void)kill(pid, SIGKILL);
#endif
    require(waitpid(pid, &status, 0) == pid, "waitpid");
    return WIFSIGNALED(status);
}

/* ---- the check ---- */

struct check {
    char prefix[128];
    uint32_t run;
    bool whole;
    int faults;
};

__attribute__((format(printf, 2, 3))) static void fault(struct check *c, const char *format, ...)
{
    va_list args;

    if (c->faults++ >= 10)
        return;
    (void)fprintf(stderr, "%s: ", c->prefix);
    va_start(args, format);
    (void)vfprintf(stderr, format, args);
    va_end(args);
    (void)fputc('\n', stderr);
}

/* The whole file with a NUL behind it, or NULL. */
static char *load(struct check *c, const char *name, size_t *bytes)
{
    char path[256];
    struct stat info;

    (void)snprintf(path, sizeof(path), "%s/%s", c->prefix, name);
    FILE *f = fopen(path, "rb");
    if (f == NULL || fstat(fileno(f), &info) != 0) {
        if (f != NULL)
            (void)fclose(f);
        return NULL;
    }
    *bytes = (size_t)info.st_size;
    char *text = calloc(*bytes + 1, 1);
    require(text != NULL && fread(text, 1, *bytes, f) == *bytes, path);
    (void)fclose(f);
    return text;
}

/* What the boundaries of a run are, from the first of the orchestration on. */
struct boundary {
    int line;
    bool begins;
    int depth;
};

static struct boundary boundary_at(uint32_t n)
{
    uint32_t i = n / BOUNDARIES, k = n % BOUNDARIES;

    if (i >= CRASH_RIG_TASKS)
        return (struct boundary){-1, false, 0};
    if (k == 0 || k == BOUNDARIES - 1)
        return (struct boundary){(int)i + 1, k == 0, 1};
    return (struct boundary){(int)i + INNER, k % 2 == 1, 2};
}

static void check_sample(struct check *c, const char *line, uint32_t n)
{
    struct boundary b = boundary_at(n);
    char wanted[160];

    if (b.line < 0)
        (void)snprintf(wanted, sizeof(wanted), "\"phase\": \"end\", \"depth\": 0, ");
    else
        (void)snprintf(wanted, sizeof(wanted),
                       "{\"site\": \"crash.c:%d\", \"phase\": \"%s\", \"depth\": %d, ", b.line,
                       b.begins ? "begin" : "end", b.depth);
    if (strstr(line, wanted) == NULL || strchr(line, '}') != line + strlen(line) - 1)
        fault(c, "sample %u is %.80s, not %s", n, line, wanted);
}

static void check_metadata(struct check *c, const char *line, uint32_t samples)
{
    char received[64], retained[64];

    (void)snprintf(received, sizeof(received), "\"host_received_records\": %u,", samples);
    (void)snprintf(retained, sizeof(retained), "\"host_retained_records\": %u", samples);
    if (strstr(line, "\"recovered\": true") == NULL) {
        if (strstr(line, "{\"fatal\": false, \"dropped\": 0, ") != line)
            fault(c, "metadata of a whole file: %.120s", line);
        return;
    }
    if (c->whole)
        fault(c, "a whole file says that it is recovered");
    if (strstr(line,
               "{\"fatal\": null, \"dropped\": null, \"total\": null, \"task_window_max\": [") !=
            line ||
        strstr(line, "\"collection_verdict\": \"partial_cut_unknown\", \"counts_unknown\": true") ==
            NULL ||
        strstr(line, received) == NULL || strstr(line, retained) == NULL)
        fault(c, "metadata: %s", line);
}

static void check_scope_stats(struct check *c, const struct crash_rig *rig)
{
    uint32_t passed_count = atomic_load(&rig->proof->runs[c->run].boundaries), samples = 0;
    size_t bytes = 0;
    char *text = load(c, "scope_stats/scope_stats.jsonl", &bytes);

    if (text == NULL) {
        if (passed_count != 0 || c->whole)
            fault(c, "no scope stats, but %u boundaries were passed", passed_count);
        return;
    }
    if (bytes == 0 || text[bytes - 1] != '\n')
        fault(c, "the last line has no newline");
    char *first = text, *at = strchr(text, '\n');
    for (at = at != NULL ? at + 1 : text + bytes; *at != '\0'; samples++) {
        char *newline = strchr(at, '\n');
        if (newline != NULL)
            *newline = '\0';
        if (samples == 0 && strstr(at, "\"phase\": \"begin\", \"depth\": 0, ") == NULL)
            fault(c, "the first sample is not the root's: %.80s", at);
        if (samples != 0)
            check_sample(c, at, samples - 1);
        at = newline != NULL ? newline + 1 : at + strlen(at);
    }
    first[strcspn(first, "\n")] = '\0';
    check_metadata(c, first, samples);
    /* The root's begin comes before all, one may be sampled and not noted, and the root's end. */
    if (samples < passed_count + (passed_count != 0) || samples > passed_count + 2)
        fault(c, "%u samples, but %u boundaries were passed", samples, passed_count);
    if (c->whole && samples != passed_count + 2)
        fault(c, "%u samples of a whole run of %u boundaries", samples, passed_count);
    free(text);
}

/* A number behind a key of a line; aborts the check of the entry when it is not there. */
static bool number(const char *line, const char *key, uint64_t *out)
{
    const char *at = strstr(line, key);
    char *end;

    if (at == NULL)
        return false;
    *out = strtoull(at + strlen(key), &end, 10);
    return end != at + strlen(key);
}

struct seen {
    uint8_t before[CRASH_RIG_TASKS], after[CRASH_RIG_TASKS], scalar[CRASH_RIG_TASKS];
    uint32_t functions; /* the scalars that hold the kernel's address */
    uint64_t entries;
};

static void see_tensor(struct check *c, struct seen *s, const char *line, const uint32_t *bin,
                       size_t bin_bytes)
{
    bool after = strstr(line, "\"stage\": \"after_completion\"") != NULL;
    uint64_t offset = 0, size = 0;

    if (!number(line, "\"bin_offset\": ", &offset) || !number(line, "\"bin_size\": ", &size) ||
        strstr(line, "\"truncated\": false") == NULL || size < 4 || offset % 4 != 0 ||
        size > bin_bytes || offset > bin_bytes - size) {
        fault(c, "entry without its payload: %.400s", line);
        return;
    }
    const uint32_t *data = bin + offset / 4;
    uint32_t id = data[0], chain = 0, index = 0;
    if ((id & 0x80000000u) != 0) {
        chain = index = id & 0x7fffffffu;
    } else {
        chain = (id - 1) % CRASH_RIG_CHAINS;
        index = after ? id - 1 : id - 1 + CRASH_RIG_CHAINS;
    }
    if (index >= CRASH_RIG_TASKS || chain >= CRASH_RIG_CHAINS || size != words_of[chain] * 4) {
        fault(c, "a payload of nobody: word %#x: %.200s", id, line);
        return;
    }
    for (uint32_t w = 0; w < words_of[chain]; w++) {
        if (data[w] != pattern(id, w)) {
            fault(c, "task %u: word %u of the payload is wrong", index, w);
            return;
        }
    }
    (*(after ? &s->after : &s->before))[index]++;
}

static void see_scalar(struct check *c, struct seen *s, const char *line)
{
    uint64_t value = 0, argument = 0;

    if (!number(line, "\"value\": ", &value) || !number(line, "\"arg_index\": ", &argument))
        fault(c, "a scalar without a value: %.200s", line);
    else if (argument == 1)
        s->functions++;
    else if (argument == 2 && value < CRASH_RIG_TASKS)
        s->scalar[value]++;
    else
        fault(c, "a scalar of nobody: %.200s", line);
}

static void see_entries(struct check *c, struct seen *s, char *text, const char *bin,
                        size_t bin_bytes)
{
    uint64_t total = 0, dropped = 1;

    if (!number(text, "\"total_args\": ", &total) ||
        !number(text, "\"dropped_records\": ", &dropped) || dropped != 0 ||
        strstr(text, "\"dump_args_level\": 2,") == NULL)
        fault(c, "the manifest's head: %.300s", text);
    if (c->whole && strstr(text, "\"recovered\"") != NULL)
        fault(c, "a whole manifest says that it is recovered");
    for (char *at = text, *next; *at != '\0'; at = next) {
        char *newline = strchr(at, '\n');
        next = newline != NULL ? newline + 1 : at + strlen(at);
        if (newline != NULL)
            *newline = '\0';
        if (strncmp(at, "    {\"task_id\"", 14) != 0)
            continue;
        s->entries++;
        if (strstr(at, "\"kind\": \"tensor\"") != NULL)
            see_tensor(c, s, at, (const uint32_t *)(const void *)bin, bin_bytes);
        else
            see_scalar(c, s, at);
    }
    if (s->entries != total)
        fault(c, "%" PRIu64 " entries, total_args is %" PRIu64, s->entries, total);
}

static void check_args_dump(struct check *c, const struct crash_rig *rig)
{
    struct seen s = {0};
    size_t bytes = 0, bin_bytes = 0;
    uint32_t unstarted = 0;
    char *text = load(c, "args_dump/args_dump.json", &bytes);
    char *bin = load(c, "args_dump/args.bin", &bin_bytes);

    if (text != NULL)
        see_entries(c, &s, text, bin, bin_bytes);
    for (uint32_t i = 0; i < CRASH_RIG_TASKS; i++) {
        bool started = atomic_load(&rig->proof->runs[c->run].started[i]) != 0 || c->whole;
        bool ended =
            c->whole || (i + CRASH_RIG_CHAINS < CRASH_RIG_TASKS &&
                         atomic_load(&rig->proof->runs[c->run].started[i + CRASH_RIG_CHAINS]));
        if (s.before[i] > 1 || s.after[i] > 1 || s.scalar[i] > 1)
            fault(c, "task %u: an argument twice", i);
        unstarted += !started && s.before[i] != 0;
        if (started && (s.before[i] == 0 || s.scalar[i] == 0))
            fault(c, "task %u has run: its input is%s there, its scalar is%s", i,
                  s.before[i] == 0 ? " not" : "", s.scalar[i] == 0 ? " not" : "");
        if (ended && s.after[i] == 0)
            fault(c, "task %u has ended: its output is not there", i);
    }
    /* Of another run under the same prefix, or of a kernel that was about to be called. */
    if (unstarted > THREADS)
        fault(c, "%u tasks have an input and were not called", unstarted);
    free(text);
    free(bin);
}

static void check_traces(struct check *c)
{
    static const char *const names[] = {".live",
                                        ".live.new",
                                        "scope_stats/scope_stats.jsonl.partial",
                                        "args_dump/.spool",
                                        "args_dump/.recover",
                                        "args_dump/.sorted",
                                        "args_dump/args_dump.json.partial"};
    char path[256];

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        (void)snprintf(path, sizeof(path), "%s/%s", c->prefix, names[i]);
        if (access(path, F_OK) == 0)
            fault(c, "%s is still there", names[i]);
    }
}

int crash_rig_check(const struct crash_rig *rig, uint32_t run, bool whole)
{
    struct check c = {.run = run, .whole = whole};

    crash_rig_prefix(rig, run, c.prefix);
    check_scope_stats(&c, rig);
    check_args_dump(&c, rig);
    check_traces(&c);
    return c.faults;
}
