/* SPDX-License-Identifier: Apache-2.0 */
/* simpler run: a scene's cases through a worker, judged and summed up. */
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "commands.h"
#include "run_options.h"
#include "run_plan.h"
#include "run_report.h"
#include "run_rounds.h"
#include "run_watch.h"
#include "scene_loader.h"

static int open_worker(const struct simpler_run_summary *s, struct simpler_worker **worker,
                       uint32_t *handle)
{
    struct simpler_worker_config config = SIMPLER_WORKER_CONFIG_INIT;

    (void)simpler_worker_handle_crashes();
    config.platform = s->options->platform.name;
    config.device_id = (int)s->options->device_id;
    config.level = s->options->across_runs ? 3 : 2;
    config.collect_across_runs = s->options->across_runs;
    config.crash_safe = s->options->crash_safe;
    /* What goes wrong in the library is in the log already. */
    if (simpler_worker_open(&config, worker) != 0)
        return SIMPLER_EXIT_FAILED;
    if (simpler_worker_register(*worker, &s->scene->callable, handle) == 0) {
        int rc = simpler_run_watch_start(*worker, !s->options->quiet);
        if (rc == 0)
            return 0;
        (void)fprintf(stderr, "simpler run: %s\n", simpler_status_text(rc));
    }
    simpler_worker_close(*worker);
    return SIMPLER_EXIT_FAILED;
}

static void free_records(struct simpler_run_summary *s)
{
    for (uint32_t i = 0; s->records != NULL && i < s->plan->count; i++) {
        simpler_run_diagnostics_fini(&s->records[i].diagnostics);
        free(s->records[i].rounds);
    }
    free(s->records);
}

static int allocate_records(struct simpler_run_summary *s)
{
    s->records = calloc(s->plan->count, sizeof(*s->records));
    for (uint32_t i = 0; s->records != NULL && i < s->plan->count; i++) {
        s->records[i].rounds = calloc(s->options->rounds, sizeof(*s->records[i].rounds));
        if (s->records[i].rounds == NULL) {
            free_records(s);
            s->records = NULL;
        }
    }
    if (s->records != NULL)
        return 0;
    (void)fputs("simpler run: out of memory\n", stderr);
    return SIMPLER_EXIT_FAILED;
}

/*
 * With --json standard output is for the document alone: from here on what the
 * scene prints goes to standard error.  NULL when there is no standard output.
 */
static FILE *reserve_stdout(void)
{
    (void)fflush(stdout);
    int fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    FILE *reserved = fd >= 0 ? fdopen(fd, "w") : NULL;

    if (reserved != NULL)
        (void)dup2(STDERR_FILENO, STDOUT_FILENO);
    else if (fd >= 0)
        (void)close(fd);
    return reserved;
}

static int report(const struct simpler_run_summary *s, FILE *document)
{
    bool written = document != NULL;

    if (written && s->options->json)
        simpler_run_report_json(s, document);
    else if (written)
        simpler_run_report_text(s, document);
    if (!written || fflush(document) != 0 || ferror(document) != 0) {
        (void)fputs("simpler run: the summary could not be written\n", stderr);
        return SIMPLER_EXIT_FAILED;
    }
    bool passed = simpler_run_record_passed(s) == s->plan->count && !s->interrupted;
    if (!passed)
        return SIMPLER_EXIT_FAILED;
    return simpler_run_record_whole(s) ? SIMPLER_EXIT_OK : SIMPLER_EXIT_PARTIAL;
}

/*
 * A kernel that never returns is still inside the scene: nothing may be freed or unloaded.  The
 * diagnostics are closed, and the summary is written.
 */
static _Noreturn void leave(int status, FILE *document)
{
    (void)fputs("simpler run: a kernel or the orchestration is still inside the scene: no case is "
                "run after it\n",
                stderr);
    if (document != NULL && document != stdout && fclose(document) != 0 &&
        status == SIMPLER_EXIT_OK)
        status = SIMPLER_EXIT_FAILED;
    (void)fflush(NULL);
    _exit(status);
}

static int run_plan(struct simpler_run_summary *s, FILE *document)
{
    struct simpler_worker *worker = NULL;
    uint32_t handle = 0;

    int rc = allocate_records(s);
    if (rc != 0)
        return rc;
    rc = open_worker(s, &worker, &handle);
    if (rc == 0) {
        rc = simpler_run_rounds(s, worker, handle);
        simpler_run_watch_stop();
        if (rc == 0)
            rc = report(s, document);
        if (s->left_behind)
            leave(rc, document);
        simpler_worker_close(worker);
    }
    free_records(s);
    return rc;
}

/* The process that is to give a verdict; 0 once it has. */
static pid_t judge;

/* A scene that calls exit is none that has passed. */
static void on_exit_of_scene(void)
{
    if (judge != getpid())
        return;
    (void)fputs("simpler run: the scene ended the program\n", stderr);
    _exit(SIMPLER_EXIT_FAILED);
}

static int run_scene(struct simpler_run_summary *summary, struct simpler_run_plan *plan,
                     FILE *document)
{
    static char path[1024];
    const struct simpler_run_options *options = summary->options;

    int rc = simpler_scene_loader_open(options->scene, &summary->scene, path, sizeof(path));
    if (rc == 0)
        rc = simpler_run_plan_init(plan, summary->scene, options);
    if (rc != 0)
        return rc;
    summary->path = path;
    rc = run_plan(summary, document);
    simpler_run_plan_fini(plan);
    return rc;
}

static int run_run(int argc, char **argv)
{
    static struct simpler_run_options options;
    struct simpler_run_plan plan;
    struct simpler_run_summary summary = {.options = &options, .plan = &plan};

    int rc = simpler_run_options_parse(&options, argc, argv);
    if (rc != 0)
        return rc;
    FILE *document = options.json ? reserve_stdout() : stdout;
    if (atexit(on_exit_of_scene) == 0)
        judge = getpid();
    rc = run_scene(&summary, &plan, document);
    judge = 0;
    if (document != NULL && document != stdout && fclose(document) != 0)
        rc = rc == SIMPLER_EXIT_OK ? SIMPLER_EXIT_FAILED : rc;
    return rc;
}

const struct simpler_command simpler_cmd_run = {
    .name = "run",
    .purpose = "runs a scene and checks its results",
    .help = simpler_run_options_help,
    .run = run_run,
};
