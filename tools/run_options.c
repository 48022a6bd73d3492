/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One row an option.  A row's function stores the value or writes into @why
 * what is wrong and what is legal.
 */
#include "run_options.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"
#include "base/text.h"
#include "commands.h"
#include "misuse.h"
#include "simpler/log.h"

#define WHY_BYTES 512

const char simpler_run_options_help[] =
    "usage: simpler run SCENE [OPTIONS]\n"
    "\n"
    "SCENE is the path of a shared object, a name that is found in the directory\n"
    "`scenes` beside the program or in build/scenes (`simpler info` lists them), or a\n"
    "directory of C++ sources with a scene.json (`simpler help build`).\n"
    "\n"
    "what to run\n"
    "  --case NAME            this case alone; may be repeated (default: all)\n"
    "  --manual MODE          cases that are marked manual: exclude, include, only (exclude)\n"
    "  --param NAME=VALUE     a parameter of the scene, in every case; may be repeated\n"
    "  --rounds N             each case N times (1)\n"
    "  -x, --exitfirst        stop at the first failure\n"
    "  --skip-golden          do not compare with the golden result\n"
    "where\n"
    "  -p, --platform NAME    see `simpler info` (default: this host's CPUs)\n"
    "  --runtime NAME         see `simpler info` (the case's, else tensormap_and_ringbuffer)\n"
    "  -d, --device ID        device of the platform (0)\n"
    "  --aicpu-threads N      device threads (the CPUs that may be used, at least 2)\n"
    "  --clusters N           clusters of one AIC and two AIV cores (8)\n"
    "  --exec MODE            kernels run inline or on threads, one a core (inline)\n"
    "how\n"
    "  --hazards MODE         orders that are inferred: all or raw\n"
    "                         (the case's, else the scene's, else the platform's)\n"
    "  --check-hazards        with raw: report every pair that is not ordered; a pair fails\n"
    "  --deadline SECONDS     cancel a run that takes longer\n"
    "  --ring-task-window N   task slots; one number or four with commas, one a ring\n"
    "  --ring-heap N          bytes; likewise\n"
    "  --ring-dep-pool N      dependency entries; likewise\n"
    "  --tensormap N          entries of the tensormap\n"
    "  --ready-queue N        entries of a ready queue (host_build_graph)\n"
    "diagnostics\n"
    "  --enable-scope-stats   peaks of every resource for each scope, with a report\n"
    "  --dump-args [N]        what every task saw: 1 what the scene has marked (also\n"
    "                         without N), 2 everything, 3 as 2 with the bytes of marked\n"
    "                         tensors alone, 0 nothing; `simpler dump-viewer` shows it\n"
    "  --collect-across-runs  files are written in the background while the next round runs\n"
    "  --crash-safe           diagnostic memory outlives a crash or SIGKILL; `simpler recover`\n"
    "                         completes the files (--no-crash-safe: the default).  An args\n"
    "                         dump then claims 128 MiB of /dev/shm a thread\n"
    "output\n"
    "  --out DIR              where diagnostics go, in place of `outputs`; DIR/latest is a link\n"
    "                         to the last directory that was made\n"
    "  --log-level LEVEL      debug, info, timing, warn, error, none (warn)\n"
    "  --json                 one JSON document on standard output; what the scene prints\n"
    "                         goes to standard error\n"
    "  --quiet                only what failed\n"
    "\n"
    "Sizes go before the case's config, which goes before the environment.  A remedy\n"
    "ring_task_window[1] = 32 is --ring-task-window 32, or with 0 for the rings that are\n"
    "to stay as they are, --ring-task-window 0,32,0,0.\n"
    "An edge is counted only if the task that is waited for was not done yet.\n"
    "A run without progress for $SIMPLER_SCHEDULER_TIMEOUT_MS (20000) ends as hung.\n"
    "Exit status: 0 all passed, 1 something failed, 2 bad usage, 3 results right but\n"
    "a diagnostic is missing or incomplete.  SIGINT cancels the run, a second one kills.\n"
    "A kernel that runs then gets up to 5 s to return.  SIGUSR1 shows what runs; on\n"
    "host_build_graph from when the orchestration has returned.\n";

typedef bool (*apply_fn)(struct simpler_run_options *o, const char *value, char *why);

/* A choice by its word: the index, or -1 with @why. */
static int choose(const char *value, const char *const *words, size_t count, char *why)
{
    char answer[256];

    for (size_t i = 0; i < count; i++) {
        if (strcmp(value, words[i]) == 0)
            return (int)i;
    }
    (void)snprintf(why, WHY_BYTES, "there is no '%.60s'%s", value,
                   simpler_nearest_answer(value, words, count, answer, sizeof(answer)));
    return -1;
}

/* A number in min .. max. */
static bool number(const char *value, uint64_t min, uint64_t max, uint64_t *out, char *why)
{
    uint64_t parsed;

    if (simpler_text_parse_u64(value, &parsed) && parsed >= min && parsed <= max) {
        *out = parsed;
        return true;
    }
    (void)snprintf(why, WHY_BYTES, "'%.60s' is no number from %" PRIu64 " to %" PRIu64, value, min,
                   max);
    return false;
}

/* ---- what to run ---- */

static bool apply_case(struct simpler_run_options *o, const char *value, char *why)
{
    if (o->case_count == SIMPLER_RUN_MAX_CASES) {
        (void)snprintf(why, WHY_BYTES, "at most %d cases", SIMPLER_RUN_MAX_CASES);
        return false;
    }
    o->cases[o->case_count++] = value;
    return true;
}

static bool apply_manual(struct simpler_run_options *o, const char *value, char *why)
{
    static const char *const words[] = {"exclude", "include", "only"};
    int i = choose(value, words, 3, why);

    if (i >= 0)
        o->manual = (enum simpler_run_manual)i;
    return i >= 0;
}

static bool apply_param(struct simpler_run_options *o, const char *value, char *why)
{
    const char *equals = strchr(value, '=');
    struct simpler_run_param *param = &o->params[o->param_count];

    if (o->param_count == SIMPLER_RUN_MAX_PARAMS) {
        (void)snprintf(why, WHY_BYTES, "at most %d parameters", SIMPLER_RUN_MAX_PARAMS);
        return false;
    }
    if (equals == NULL || equals == value || (size_t)(equals - value) >= sizeof(param->name) ||
        !simpler_text_parse_i64(equals + 1, &param->value)) {
        (void)snprintf(why, WHY_BYTES, "'%.60s' is not NAME=NUMBER", value);
        return false;
    }
    memcpy(param->name, value, (size_t)(equals - value));
    o->param_count++;
    return true;
}

static bool apply_rounds(struct simpler_run_options *o, const char *value, char *why)
{
    uint64_t n;

    if (!number(value, 1, 1000000, &n, why))
        return false;
    o->rounds = (uint32_t)n;
    return true;
}

static bool apply_exit_first(struct simpler_run_options *o, const char *value, char *why)
{
    (void)value;
    (void)why;
    return o->exit_first = true;
}

static bool apply_skip_golden(struct simpler_run_options *o, const char *value, char *why)
{
    (void)value;
    (void)why;
    return o->skip_golden = true;
}

/* ---- where ---- */

static bool apply_platform(struct simpler_run_options *o, const char *value, char *why)
{
    const char *substitute = simpler_info_substitute(value);
    const char *names[32];
    uint32_t count = 0;
    char answer[256];

    while (count < 32 && simpler_info_platform(count, &o->platform) == 0) {
        if (strcmp(o->platform.name, value) == 0)
            return true;
        names[count++] = o->platform.name;
    }
    if (substitute != NULL)
        (void)snprintf(why, WHY_BYTES, "%s: no such device on this host: use %s", value,
                       substitute);
    else
        (void)snprintf(why, WHY_BYTES, "there is no platform '%.60s'%s", value,
                       simpler_nearest_answer(value, names, count, answer, sizeof(answer)));
    return false;
}

static bool apply_runtime(struct simpler_run_options *o, const char *value, char *why)
{
    struct simpler_runtime_info runtime;
    const char *names[8];
    uint32_t count = 0;
    int i;

    for (; count < 8 && simpler_info_runtime(count, &runtime) == 0; count++)
        names[count] = runtime.name;
    i = choose(value, names, count, why);
    if (i >= 0)
        o->config.runtime = names[i];
    return i >= 0;
}

static bool apply_device(struct simpler_run_options *o, const char *value, char *why)
{
    uint64_t id;

    if (simpler_text_parse_u64(value, &id) && id <= INT32_MAX) {
        o->device_id = (uint32_t)id;
        return true;
    }
    if (value[0] != '\0' && strspn(value, "0123456789,-") == strlen(value) &&
        strspn(value, "0123456789") > 0 && strpbrk(value, ",-") != NULL)
        (void)snprintf(why, WHY_BYTES,
                       "'%.60s' names several devices; a run takes one, so give one id", value);
    else
        (void)snprintf(why, WHY_BYTES, "'%.60s' is no device id", value);
    return false;
}

static bool apply_threads(struct simpler_run_options *o, const char *value, char *why)
{
    uint64_t n;

    if (!number(value, 1, UINT32_MAX, &n, why))
        return false;
    o->config.aicpu_thread_num = (uint32_t)n;
    return true;
}

static bool apply_clusters(struct simpler_run_options *o, const char *value, char *why)
{
    uint64_t n;

    if (!number(value, 1, UINT32_MAX, &n, why))
        return false;
    o->config.cluster_count = (uint32_t)n;
    return true;
}

static bool apply_exec(struct simpler_run_options *o, const char *value, char *why)
{
    static const char *const words[] = {"inline", "threads"};
    int i = choose(value, words, 2, why);

    if (i < 0)
        return false;
    o->config.exec = i == 0 ? SIMPLER_EXEC_INLINE : SIMPLER_EXEC_THREADS;
    return o->exec_given = true;
}

/* ---- how ---- */

static bool apply_hazards(struct simpler_run_options *o, const char *value, char *why)
{
    static const char *const words[] = {"all", "raw"};
    int i = choose(value, words, 2, why);

    if (i < 0)
        return false;
    o->config.hazards = i == 0 ? SIMPLER_HAZARDS_ALL : SIMPLER_HAZARDS_RAW;
    return true;
}

static bool apply_check_hazards(struct simpler_run_options *o, const char *value, char *why)
{
    (void)value;
    (void)why;
    o->config.check_hazards = 1;
    return true;
}

static bool apply_deadline(struct simpler_run_options *o, const char *value, char *why)
{
    char *end;
    double seconds = strtod(value, &end);

    /* From a nanosecond to a century; the comparison is false for a NaN. */
    if (end == value || *end != '\0' || !(seconds >= 1e-9 && seconds <= 3.2e9)) {
        (void)snprintf(why, WHY_BYTES, "'%.60s' is no number of seconds above 0", value);
        return false;
    }
    o->config.deadline_ns = (uint64_t)(seconds * 1e9);
    return true;
}

static bool apply_list(uint64_t *values, uint32_t count, const char *value, char *why)
{
    if (simpler_text_parse_list(value, values, count))
        return true;
    (void)snprintf(why, WHY_BYTES, "'%.60s' is not %s", value,
                   count == 1 ? "one number" : "one number or four with commas between");
    return false;
}

static bool apply_window(struct simpler_run_options *o, const char *value, char *why)
{
    return apply_list(o->config.runtime_env.ring_task_window, CHIP_MAX_RING_DEPTH, value, why);
}

static bool apply_heap(struct simpler_run_options *o, const char *value, char *why)
{
    return apply_list(o->config.runtime_env.ring_heap, CHIP_MAX_RING_DEPTH, value, why);
}

static bool apply_pool(struct simpler_run_options *o, const char *value, char *why)
{
    return apply_list(o->config.runtime_env.ring_dep_pool, CHIP_MAX_RING_DEPTH, value, why);
}

static bool apply_tensormap(struct simpler_run_options *o, const char *value, char *why)
{
    return apply_list(&o->config.runtime_env.tensormap, 1, value, why);
}

static bool apply_ready_queue(struct simpler_run_options *o, const char *value, char *why)
{
    return apply_list(&o->config.runtime_env.ready_queue, 1, value, why);
}

/* ---- diagnostics ---- */

static bool apply_scope_stats(struct simpler_run_options *o, const char *value, char *why)
{
    (void)value;
    (void)why;
    o->config.enable_scope_stats = 1;
    return true;
}

/* @value NULL: the option stands alone. */
static bool apply_dump_args(struct simpler_run_options *o, const char *value, char *why)
{
    uint64_t level = 1;

    if (value != NULL && !number(value, 0, 3, &level, why))
        return false;
    o->config.enable_dump_args = (uint32_t)level;
    return true;
}

static bool apply_across_runs(struct simpler_run_options *o, const char *value, char *why)
{
    (void)value;
    (void)why;
    return o->across_runs = true;
}

static bool apply_crash_safe(struct simpler_run_options *o, const char *value, char *why)
{
    (void)value;
    (void)why;
    return o->crash_safe = true;
}

static bool apply_no_crash_safe(struct simpler_run_options *o, const char *value, char *why)
{
    (void)value;
    (void)why;
    o->crash_safe = false;
    return true;
}

/* ---- output ---- */

static bool apply_out(struct simpler_run_options *o, const char *value, char *why)
{
    (void)snprintf(why, WHY_BYTES, "the directory's name is empty");
    o->out_dir = value;
    o->out_given = true;
    return value[0] != '\0';
}

static bool apply_log_level(struct simpler_run_options *o, const char *value, char *why)
{
    static const char *const words[] = {"debug", "info", "timing", "warn", "error", "none"};
    static const int levels[] = {SIMPLER_LOG_DEBUG, SIMPLER_LOG_INFO,  SIMPLER_LOG_TIMING,
                                 SIMPLER_LOG_WARN,  SIMPLER_LOG_ERROR, SIMPLER_LOG_NONE};
    int i = choose(value, words, 6, why);

    (void)o;
    if (i >= 0)
        simpler_log_set_level(levels[i]);
    return i >= 0;
}

static bool apply_json(struct simpler_run_options *o, const char *value, char *why)
{
    (void)value;
    (void)why;
    return o->json = true;
}

static bool apply_quiet(struct simpler_run_options *o, const char *value, char *why)
{
    (void)value;
    (void)why;
    return o->quiet = true;
}

struct option_row {
    const char *name;
    const char *letter; /* NULL: none */
    bool takes_value;
    apply_fn apply;
    bool may_stand_alone; /* the next word is its value only when all digits */
};

static const struct option_row rows[] = {
    {"--platform", "-p", true, apply_platform, false},
    {"--runtime", NULL, true, apply_runtime, false},
    {"--device", "-d", true, apply_device, false},
    {"--case", NULL, true, apply_case, false},
    {"--manual", NULL, true, apply_manual, false},
    {"--param", NULL, true, apply_param, false},
    {"--rounds", NULL, true, apply_rounds, false},
    {"--exitfirst", "-x", false, apply_exit_first, false},
    {"--skip-golden", NULL, false, apply_skip_golden, false},
    {"--aicpu-threads", NULL, true, apply_threads, false},
    {"--clusters", NULL, true, apply_clusters, false},
    {"--exec", NULL, true, apply_exec, false},
    {"--hazards", NULL, true, apply_hazards, false},
    {"--check-hazards", NULL, false, apply_check_hazards, false},
    {"--deadline", NULL, true, apply_deadline, false},
    {"--ring-task-window", NULL, true, apply_window, false},
    {"--ring-heap", NULL, true, apply_heap, false},
    {"--ring-dep-pool", NULL, true, apply_pool, false},
    {"--tensormap", NULL, true, apply_tensormap, false},
    {"--ready-queue", NULL, true, apply_ready_queue, false},
    {"--enable-scope-stats", NULL, false, apply_scope_stats, false},
    {"--dump-args", NULL, true, apply_dump_args, true},
    {"--collect-across-runs", NULL, false, apply_across_runs, false},
    {"--crash-safe", NULL, false, apply_crash_safe, false},
    {"--no-crash-safe", NULL, false, apply_no_crash_safe, false},
    {"--out", NULL, true, apply_out, false},
    {"--log-level", NULL, true, apply_log_level, false},
    {"--json", NULL, false, apply_json, false},
    {"--quiet", NULL, false, apply_quiet, false},
};
#define ROWS (sizeof(rows) / sizeof(rows[0]))

/* The row of "--name", "--name=value" or "-n". */
static const struct option_row *find_row(const char *arg)
{
    size_t length = strncmp(arg, "--", 2) == 0 ? strcspn(arg, "=") : strlen(arg);

    for (size_t i = 0; i < ROWS; i++) {
        if ((strlen(rows[i].name) == length && memcmp(rows[i].name, arg, length) == 0) ||
            (rows[i].letter != NULL && strcmp(rows[i].letter, arg) == 0))
            return &rows[i];
    }
    return NULL;
}

static int unknown_option(const char *arg)
{
    const char *names[ROWS];

    for (size_t i = 0; i < ROWS; i++)
        names[i] = rows[i].name;
    return simpler_misuse_option("run", arg, names, ROWS);
}

static bool is_all_digits(const char *word)
{
    return word[0] != '\0' && strspn(word, "0123456789") == strlen(word);
}

/* Applies argv[*at] and moves *at to the last argument that it used. */
static int take_option(struct simpler_run_options *o, int argc, char **argv, int *at)
{
    const char *arg = argv[*at];
    const struct option_row *row = find_row(arg);
    const char *value = strncmp(arg, "--", 2) == 0 ? strchr(arg, '=') : NULL;
    char why[WHY_BYTES] = "";

    if (row == NULL)
        return unknown_option(arg);
    if (value != NULL && !row->takes_value)
        return simpler_misuse_error("run", "%s takes no value", row->name);
    if (value != NULL)
        value++;
    if (value == NULL && row->may_stand_alone) {
        if (*at + 1 < argc && is_all_digits(argv[*at + 1]))
            value = argv[++*at];
    } else if (value == NULL && row->takes_value) {
        if (*at + 1 >= argc)
            return simpler_misuse_error("run", "%s needs a value", row->name);
        value = argv[++*at];
    }
    if (!row->apply(o, value, why))
        return simpler_misuse_error("run", "%s: %s", row->name, why);
    return 0;
}

static int check_together(const struct simpler_run_options *o)
{
    if (o->scene == NULL)
        return simpler_misuse_error("run", "which scene? (`simpler info` lists them)");
    if (o->crash_safe && o->across_runs)
        return simpler_misuse_error("run", "--crash-safe and --collect-across-runs exclude "
                                           "each other");
    if (o->device_id >= o->platform.device_count)
        return simpler_misuse_error(
            "run", "--device: platform %s has no device %" PRIu32 "; its devices are 0 to %" PRIu32,
            o->platform.name, o->device_id, o->platform.device_count - 1);
    return 0;
}

int simpler_run_options_parse(struct simpler_run_options *options, int argc, char **argv)
{
    bool options_end = false;

    memset(options, 0, sizeof(*options));
    options->rounds = 1;
    options->out_dir = "outputs";
    (void)simpler_info_platform(0, &options->platform);
    for (int i = 1; i < argc; i++) {
        int rc = 0;
        if (!options_end && strcmp(argv[i], "--") == 0)
            options_end = true;
        else if (!options_end && argv[i][0] == '-' && argv[i][1] != '\0')
            rc = take_option(options, argc, argv, &i);
        else if (options->scene != NULL)
            rc = simpler_misuse_error("run", "one scene at a time: '%s' or '%s'?", options->scene,
                                      argv[i]);
        else
            options->scene = argv[i];
        if (rc != 0)
            return rc;
    }
    return check_together(options);
}
