/* SPDX-License-Identifier: Apache-2.0 */
/* simpler run: a scene's cases through a worker, judged and summed up. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

    config.platform = s->options->platform.name;
    config.device_id = (int)s->options->device_id;
    /* What goes wrong here is in the log already. */
    if (simpler_worker_open(&config, worker) != 0)
        return SIMPLER_EXIT_FAILED;
    if (simpler_worker_register(*worker, &s->scene->callable, handle) != 0 ||
        simpler_run_watch_start(*worker, !s->options->quiet) != 0) {
        simpler_worker_close(*worker);
        return SIMPLER_EXIT_FAILED;
    }
    return 0;
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

static int report(const struct simpler_run_summary *s)
{
    if (s->options->json)
        simpler_run_report_json(s, stdout);
    else
        simpler_run_report_text(s, stdout);
    if (fflush(stdout) != 0 || ferror(stdout) != 0) {
        (void)fputs("simpler run: the summary could not be written\n", stderr);
        return SIMPLER_EXIT_FAILED;
    }
    bool passed = simpler_run_record_passed(s) == s->plan->count && !s->interrupted;
    if (!passed)
        return SIMPLER_EXIT_FAILED;
    return simpler_run_record_whole(s) ? SIMPLER_EXIT_OK : SIMPLER_EXIT_PARTIAL;
}

static int run_plan(struct simpler_run_summary *s)
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
            rc = report(s);
        simpler_worker_close(worker);
    }
    free_records(s);
    return rc;
}

static int run_run(int argc, char **argv)
{
    static struct simpler_run_options options;
    struct simpler_run_plan plan;
    struct simpler_run_summary summary = {.options = &options, .plan = &plan};
    char path[1024] = "";

    int rc = simpler_run_options_parse(&options, argc, argv);
    if (rc == 0)
        rc = simpler_scene_loader_open(options.scene, &summary.scene, path, sizeof(path));
    if (rc == 0)
        rc = simpler_run_plan_init(&plan, summary.scene, &options);
    if (rc != 0)
        return rc;
    summary.path = path;
    rc = run_plan(&summary);
    simpler_run_plan_fini(&plan);
    return rc;
}

const struct simpler_command simpler_cmd_run = {
    .name = "run",
    .purpose = "runs a scene and checks its results",
    .help = simpler_run_options_help,
    .run = run_run,
};
