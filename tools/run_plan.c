/* SPDX-License-Identifier: Apache-2.0 */
/* Everything that can be wrong with cases, parameters and sizes is found before the first run. */
#include "run_plan.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"
#include "base/text.h"
#include "commands.h"
#include "misuse.h"
#include "run_output.h"

#define MAX_LISTED 256

/* ---- parameters ---- */

static uint32_t count_params(const struct simpler_scene *scene)
{
    uint32_t n = 0;

    while (scene->params != NULL && scene->params[n].name != NULL)
        n++;
    return n;
}

static int find_param(const struct simpler_scene *scene, uint32_t count, const char *name)
{
    for (uint32_t i = 0; i < count; i++) {
        if (strcmp(scene->params[i].name, name) == 0)
            return (int)i;
    }
    return -1;
}

static int unknown_param(const struct simpler_scene *scene, uint32_t count, const char *name)
{
    const char *names[MAX_LISTED];
    char answer[1024];

    if (count == 0)
        return simpler_misuse_error("run", "--param: scene %s has no parameters", scene->name);
    count = count < MAX_LISTED ? count : MAX_LISTED;
    for (uint32_t i = 0; i < count; i++)
        names[i] = scene->params[i].name;
    return simpler_misuse_error("run", "--param: scene %s has no parameter '%s'%s", scene->name,
                                name,
                                simpler_nearest_answer(name, names, count, answer, sizeof(answer)));
}

/* One value of the command line or of a case, checked against its range. */
static int set_param(const struct simpler_scene *scene, uint32_t count, const char *name,
                     int64_t value, int64_t *params)
{
    int i = find_param(scene, count, name);

    if (i < 0)
        return unknown_param(scene, count, name);
    const struct simpler_scene_param *param = &scene->params[i];
    if (value < param->min || value > param->max)
        return simpler_misuse_error(
            "run", "parameter %s is %" PRId64 "; legal is %" PRId64 " to %" PRId64 " (%s)", name,
            value, param->min, param->max, param->help != NULL ? param->help : "no help");
    params[i] = value;
    return 0;
}

/* The scene's defaults, then the case's values, then the command line's. */
static int resolve_params(struct simpler_run_case *c, const struct simpler_scene *scene,
                          uint32_t count, const struct simpler_run_options *options)
{
    const struct simpler_scene_value *value = c->scene_case->params;
    int rc = 0;

    c->params = calloc((size_t)count + 1, sizeof(*c->params));
    if (c->params == NULL) {
        (void)fputs("simpler run: out of memory\n", stderr);
        return SIMPLER_EXIT_FAILED;
    }
    for (uint32_t i = 0; i < count; i++)
        c->params[i] = scene->params[i].value;
    for (; rc == 0 && value != NULL && value->name != NULL; value++)
        rc = set_param(scene, count, value->name, value->value, c->params);
    for (uint32_t i = 0; rc == 0 && i < options->param_count; i++)
        rc = set_param(scene, count, options->params[i].name, options->params[i].value, c->params);
    return rc;
}

/* ---- config ---- */

static void override_sizes(uint64_t *to, const uint64_t *from, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (from[i] != 0)
            to[i] = from[i];
    }
}

/* Options before the case; for hazards the scene comes third. */
static int resolve_config(struct simpler_run_case *c, const struct simpler_scene *scene,
                          const struct simpler_run_options *options)
{
    const struct simpler_call_config *given = &options->config;
    struct simpler_call_config *config = &c->config;
    struct simpler_runtime_env *env = &config->runtime_env;
    char message[512] = "";

    *config = c->scene_case->config;
    if (given->runtime != NULL)
        config->runtime = given->runtime;
    if (given->aicpu_thread_num != 0)
        config->aicpu_thread_num = given->aicpu_thread_num;
    if (given->cluster_count != 0)
        config->cluster_count = given->cluster_count;
    if (given->hazards != SIMPLER_HAZARDS_DEFAULT)
        config->hazards = given->hazards;
    if (config->hazards == SIMPLER_HAZARDS_DEFAULT)
        config->hazards = scene->hazards;
    if (options->exec_given)
        config->exec = given->exec;
    if (given->check_hazards != 0)
        config->check_hazards = 1;
    if (given->enable_scope_stats != 0)
        config->enable_scope_stats = 1;
    if (given->enable_dump_args != 0)
        config->enable_dump_args = given->enable_dump_args;
    config->output_prefix = options->out_dir; /* each round gets a place below */
    if (given->deadline_ns != 0)
        config->deadline_ns = given->deadline_ns;
    override_sizes(env->ring_task_window, given->runtime_env.ring_task_window, CHIP_MAX_RING_DEPTH);
    override_sizes(env->ring_heap, given->runtime_env.ring_heap, CHIP_MAX_RING_DEPTH);
    override_sizes(env->ring_dep_pool, given->runtime_env.ring_dep_pool, CHIP_MAX_RING_DEPTH);
    override_sizes(&env->tensormap, &given->runtime_env.tensormap, 1);
    override_sizes(&env->ready_queue, &given->runtime_env.ready_queue, 1);
    if (simpler_info_resolve_config(options->platform.name, config, &c->resolved, message,
                                    sizeof(message)) != 0)
        return simpler_misuse_error("run", "case %s: %s", c->scene_case->name, message);
    return 0;
}

/* ---- cases ---- */

/* Whether the comma-separated list (NULL: all) names the platform. */
static bool runs_on(const struct simpler_scene_case *c, const char *platform)
{
    const char *at = c->platforms;

    if (at == NULL)
        return true;
    while (*at != '\0') {
        size_t length = strcspn(at, ", ");
        if (length == strlen(platform) && memcmp(at, platform, length) == 0)
            return true;
        at += length;
        at += strspn(at, ", ");
    }
    return false;
}

static bool manual_fits(const struct simpler_scene_case *c, enum simpler_run_manual mode)
{
    if (mode == SIMPLER_RUN_MANUAL_INCLUDE)
        return true;
    return (c->manual != 0) == (mode == SIMPLER_RUN_MANUAL_ONLY);
}

static bool is_selected(const struct simpler_scene_case *c, const struct simpler_run_options *o)
{
    bool named = o->case_count == 0;

    for (uint32_t i = 0; i < o->case_count; i++)
        named = named || strcmp(o->cases[i], c->name) == 0;
    return named && runs_on(c, o->platform.name) && manual_fits(c, o->manual);
}

static int unknown_case(const struct simpler_scene *scene, const char *name)
{
    const char *names[MAX_LISTED];
    uint32_t count = scene->case_count < MAX_LISTED ? scene->case_count : MAX_LISTED;
    char answer[1024];

    for (uint32_t i = 0; i < count; i++)
        names[i] = scene->cases[i].name;
    return simpler_misuse_error("run", "--case: scene %s has no case '%s'%s", scene->name, name,
                                simpler_nearest_answer(name, names, count, answer, sizeof(answer)));
}

/* Each named case must exist and may be left out for no reason of its own. */
static int check_named(const struct simpler_scene *scene, const char *name,
                       const struct simpler_run_options *options)
{
    const struct simpler_scene_case *c = NULL;

    for (uint32_t i = 0; i < scene->case_count && c == NULL; i++) {
        if (strcmp(scene->cases[i].name, name) == 0)
            c = &scene->cases[i];
    }
    if (c == NULL)
        return unknown_case(scene, name);
    if (!runs_on(c, options->platform.name))
        return simpler_misuse_error("run", "--case: %s runs on %s, not on %s", name, c->platforms,
                                    options->platform.name);
    if (!manual_fits(c, options->manual))
        return simpler_misuse_error("run", "--case: %s is %s; add --manual include", name,
                                    c->manual != 0 ? "a manual case" : "not a manual case");
    return 0;
}

static int no_case_left(const struct simpler_scene *scene,
                        const struct simpler_run_options *options)
{
    static const char *const modes[] = {"exclude", "include", "only"};

    return simpler_misuse_error(
        "run", "scene %s has %" PRIu32 " case%s, none of which fits platform %s and --manual %s",
        scene->name, scene->case_count, simpler_text_plural(scene->case_count),
        options->platform.name, modes[options->manual]);
}

static int add_cases(struct simpler_run_plan *plan, const struct simpler_scene *scene,
                     const struct simpler_run_options *options)
{
    for (uint32_t i = 0; i < scene->case_count; i++) {
        if (!is_selected(&scene->cases[i], options))
            continue;
        struct simpler_run_case *c = &plan->cases[plan->count++];
        c->scene_case = &scene->cases[i];
        int rc = resolve_params(c, scene, plan->param_count, options);
        if (rc == 0)
            rc = resolve_config(c, scene, options);
        if (rc != 0)
            return rc;
    }
    return plan->count != 0 ? 0 : no_case_left(scene, options);
}

static bool has_diagnostics(const struct simpler_run_plan *plan)
{
    for (uint32_t i = 0; i < plan->count; i++) {
        const struct simpler_call_config *config = &plan->cases[i].config;
        if (config->enable_scope_stats != 0 || config->enable_dump_args != 0)
            return true;
    }
    return false;
}

int simpler_run_plan_init(struct simpler_run_plan *plan, const struct simpler_scene *scene,
                          const struct simpler_run_options *options)
{
    memset(plan, 0, sizeof(*plan));
    for (uint32_t i = 0; i < options->case_count; i++) {
        int rc = check_named(scene, options->cases[i], options);
        if (rc != 0)
            return rc;
    }
    plan->param_count = count_params(scene);
    plan->cases = calloc(scene->case_count, sizeof(*plan->cases));
    if (plan->cases == NULL) {
        (void)fputs("simpler run: out of memory\n", stderr);
        return SIMPLER_EXIT_FAILED;
    }
    int rc = add_cases(plan, scene, options);
    if (rc == 0 && (options->out_given || has_diagnostics(plan)))
        rc = simpler_run_output_check(options, has_diagnostics(plan));
    if (rc != 0)
        simpler_run_plan_fini(plan);
    return rc;
}

void simpler_run_plan_fini(struct simpler_run_plan *plan)
{
    for (uint32_t i = 0; i < plan->count; i++)
        free(plan->cases[i].params);
    free(plan->cases);
    memset(plan, 0, sizeof(*plan));
}
