/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unit 0 is the orchestration; then one unit a kernel's source and entry, in the
 * order of the manifest.  Kernels of one source share it.
 */
#include "scene_dir.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/text.h"
#include "commands.h"
#include "scene_golden.h"
#include "simpler/ops.h"
#include "unit_build.h"
#include "unit_prune.h"
#include "report/regular_file.h"

struct scene_dir {
    struct simpler_manifest manifest;
    struct simpler_unit *units;
    size_t unit_count;
    size_t *kernel_unit; /* of each kernel */
    char **include_dirs;
    struct simpler_kernel *kernels;
    struct simpler_scene scene;
    simpler_bind_fn bind;
    void (*entry)(const struct simpler_orch_args *args);
    struct expectation (*expect)(const struct simpler_orch_args *args); /* NULL: none */
};

/* What aicpu_orchestration_config answers. */
struct expectation {
    int argument_count;
};

/* What the orchestration gets as its user pointer. */
struct run_state {
    struct scene_dir *dir;
    struct simpler_scene_args args;
};

bool simpler_scene_dir_is(const char *path)
{
    struct stat info;

    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

/* ---- building ---- */

static char *join(const char *dir, const char *file)
{
    char *path = NULL;

    if (file[0] == '/' ? asprintf(&path, "%s", file) < 0 : asprintf(&path, "%s/%s", dir, file) < 0)
        return NULL;
    return path;
}

/* The unit of a source and an entry, added when there is none; false without memory. */
static bool add_unit(struct scene_dir *d, const char *source, const char *entry, size_t *out)
{
    char *path = join(d->manifest.dir, source);
    size_t i = 1;

    while (i < d->unit_count && (path == NULL || strcmp(d->units[i].source, path) != 0 ||
                                 strcmp(d->units[i].entry, entry) != 0))
        i++;
    *out = i;
    if (path == NULL || (i < d->unit_count && entry != NULL)) {
        free(path);
        return path != NULL;
    }
    struct simpler_unit *unit = &d->units[d->unit_count++];
    unit->source = path;
    unit->entry = entry;
    unit->include_dirs = (const char *const *)d->include_dirs;
    unit->include_dir_count = d->manifest.include_dir_count;
    return true;
}

static bool list_units(struct scene_dir *d)
{
    const struct simpler_manifest *m = &d->manifest;
    size_t at;

    d->units = calloc(m->kernel_count + 1, sizeof(*d->units));
    d->kernel_unit = calloc(m->kernel_count + 1, sizeof(*d->kernel_unit));
    d->include_dirs = calloc(m->include_dir_count + 1, sizeof(*d->include_dirs));
    if (d->units == NULL || d->kernel_unit == NULL || d->include_dirs == NULL)
        return false;
    for (uint32_t i = 0; i < m->include_dir_count; i++) {
        d->include_dirs[i] = join(m->dir, m->include_dirs[i]);
        if (d->include_dirs[i] == NULL)
            return false;
    }
    bool listed = add_unit(d, m->source, NULL, &at);
    for (uint32_t i = 0; listed && i < m->kernel_count; i++)
        listed = add_unit(d, m->kernels[i].source, m->kernels[i].entry, &d->kernel_unit[i]);
    return listed;
}

static void free_dir(struct scene_dir *d)
{
    if (d == NULL)
        return;
    for (size_t i = 0; i < d->unit_count; i++)
        free((char *)d->units[i].source);
    for (uint32_t i = 0; d->include_dirs != NULL && i < d->manifest.include_dir_count; i++)
        free(d->include_dirs[i]);
    free(d->units);
    free(d->kernel_unit);
    free(d->include_dirs);
    free(d->kernels);
    simpler_manifest_close(&d->manifest);
    free(d);
}

/* A directory with all its objects in the cache. */
static int make_dir(const char *command, const char *path, struct scene_dir **out)
{
    struct scene_dir *d = calloc(1, sizeof(*d));
    int rc = SIMPLER_EXIT_FAILED;

    if (d != NULL)
        rc = simpler_manifest_open(&d->manifest, command, path);
    if (d == NULL || (rc == 0 && !list_units(d))) {
        (void)fprintf(stderr, "simpler %s: out of memory\n", command);
        rc = SIMPLER_EXIT_FAILED;
    }
    if (rc == 0)
        rc = simpler_unit_build(command, d->units, d->unit_count);
    if (rc != 0)
        free_dir(d);
    else
        *out = d;
    return rc;
}

int simpler_scene_dir_build(const char *command, const char *path, struct simpler_scene_build *out)
{
    struct scene_dir *d = NULL;
    int rc = make_dir(command, path, &d);

    if (rc != 0)
        return rc;
    memset(out, 0, sizeof(*out));
    out->source_count = d->unit_count;
    for (size_t i = 0; i < d->unit_count; i++)
        out->cached_count += d->units[i].was_cached;
    free_dir(d);
    return 0;
}

/* ---- the scene ---- */

static void orchestrate(struct simpler_orch *orch, const struct simpler_orch_args *args)
{
    const struct run_state *state = args->user;
    const struct scene_dir *d = state->dir;
    const struct simpler_binding begin = {simpler_ops(), orch}, end = {simpler_ops(), NULL};
    int given = (int)(args->tensor_count + args->scalar_count);

    d->bind(&begin);
    int expected = d->expect != NULL ? d->expect(args).argument_count : 0;
    if (expected > given)
        simpler_orch_report_fatal(orch, SIMPLER_CODE_INVALID_ARGS,
                                  "%s expects %d argument%s, but got %d", d->manifest.entry,
                                  expected, simpler_text_plural((uint64_t)expected), given);
    else
        d->entry(args);
    d->bind(&end);
}

static struct scene_dir *dir_of(const struct simpler_scene *scene)
{
    return (struct scene_dir *)((char *)scene - offsetof(struct scene_dir, scene));
}

static int prepare(struct simpler_scene_run *run, char *message, size_t message_bytes)
{
    struct scene_dir *d = dir_of(run->scene);
    const struct simpler_manifest *m = &d->manifest;
    const struct simpler_manifest_case *c = &m->cases[run->scene_case - m->scene_cases];
    struct run_state *state = calloc(1, sizeof(*state));

    if (state == NULL)
        return SIMPLER_ENOMEM;
    run->state = state;
    state->dir = d;
    int rc = simpler_scene_args_make(&state->args, m, c, message, message_bytes);
    if (rc == 0)
        run->args = (struct simpler_orch_args){.tensor = state->args.tensors,
                                               .tensor_count = c->tensor_count,
                                               .scalar = state->args.scalars,
                                               .scalar_count = c->arg_count - c->tensor_count,
                                               .user = state};
    return rc;
}

static int check(struct simpler_scene_run *run, char *message, size_t message_bytes)
{
    const struct run_state *state = run->state;

    return simpler_scene_golden_check(&state->dir->manifest, &state->args, message, message_bytes);
}

static void finish(struct simpler_scene_run *run)
{
    struct run_state *state = run->state;

    if (state != NULL)
        simpler_scene_args_free(&state->args);
    free(state);
    run->state = NULL;
}

/* ---- loading ---- */

static void *load(const char *command, const struct simpler_unit *unit)
{
    void *object = dlopen(unit->object, RTLD_NOW | RTLD_LOCAL);

    if (object == NULL)
        (void)fprintf(stderr, "simpler %s: the object of %s does not load: %s\n", command,
                      unit->source, dlerror());
    return object;
}

/* A function, or NULL with the reason said unless it may be missing. */
static void *find(const char *command, const struct simpler_unit *unit, void *object,
                  const char *name, const char *remedy)
{
    void *function = dlsym(object, name);

    if (function == NULL && remedy != NULL)
        (void)fprintf(stderr, "simpler %s: %s has no function %s: %s\n", command, unit->source,
                      name, remedy);
    return function;
}

static bool load_orchestration(const char *command, struct scene_dir *d)
{
    const struct simpler_unit *unit = &d->units[0];
    void *object = load(command, unit);

    if (object == NULL)
        return false;
    *(void **)&d->entry = find(command, unit, object, d->manifest.entry,
                               "it must be extern \"C\" and visible; \"entry\" names another");
    *(void **)&d->bind = find(command, unit, object, "framework_bind_runtime",
                              "it does not include pto_orchestration_api.h");
    *(void **)&d->expect = find(command, unit, object, d->manifest.config, NULL);
    return d->entry != NULL && d->bind != NULL;
}

static bool load_kernels(const char *command, struct scene_dir *d)
{
    const struct simpler_manifest *m = &d->manifest;
    const struct simpler_binding binding = {simpler_ops(), NULL};

    d->kernels = calloc(m->kernel_count + 1, sizeof(*d->kernels));
    for (uint32_t i = 0; d->kernels != NULL && i < m->kernel_count; i++) {
        const struct simpler_manifest_kernel *from = &m->kernels[i];
        const struct simpler_unit *unit = &d->units[d->kernel_unit[i]];
        struct simpler_kernel *kernel = &d->kernels[i];
        void *object = load(command, unit);
        if (object == NULL)
            return false;
        *(void **)&kernel->fn = find(command, unit, object, "simpler_kernel_call", "");
        simpler_bind_fn bind;
        *(void **)&bind = find(command, unit, object, "framework_bind_runtime", NULL);
        if (bind != NULL)
            bind(&binding);
        kernel->func_id = from->func_id;
        kernel->core_type = from->core_type;
        kernel->name = from->name;
        kernel->signature = from->signature;
        kernel->signature_count = from->signature_count;
        if (kernel->fn == NULL)
            return false;
    }
    return d->kernels != NULL;
}

/* Where the entry is, for the root scope: the first line that has its name and a parenthesis. */
static int find_entry_line(const struct scene_dir *d)
{
    const size_t length = strlen(d->manifest.entry);
    FILE *file = simpler_regular_file_fopen(d->units[0].source);
    char *text = NULL;
    size_t bytes = 0;
    int line = 0;
    bool found = false;

    while (file != NULL && !found && getline(&text, &bytes, file) >= 0) {
        line++;
        for (const char *at = text; !found && (at = strstr(at, d->manifest.entry)) != NULL; at++)
            found = at[length] == '(';
    }
    free(text);
    if (file != NULL)
        (void)fclose(file);
    return found ? line : 0;
}

int simpler_scene_dir_open(const char *command, const char *path, const struct simpler_scene **out)
{
    static struct scene_dir *kept; /* one scene a process */
    struct scene_dir *d = NULL;
    int rc = make_dir(command, path, &d);

    if (rc != 0)
        return rc;
    kept = d;
    bool loaded = load_orchestration(command, d) && load_kernels(command, d);
    simpler_unit_prune_loaded();
    if (!loaded)
        return SIMPLER_EXIT_FAILED;
    d->scene = (struct simpler_scene){
        .abi = SIMPLER_SCENE_ABI,
        /* What sources of these headers expect. */
        .hazards = SIMPLER_HAZARDS_RAW,
        .name = d->manifest.name,
        .description = d->manifest.description,
        .callable = {.name = d->manifest.name,
                     .orchestrate = orchestrate,
                     .file = d->units[0].source,
                     .line = find_entry_line(d),
                     .kernels = d->kernels,
                     .kernel_count = d->manifest.kernel_count},
        .cases = d->manifest.scene_cases,
        .case_count = d->manifest.case_count,
        .prepare = prepare,
        .check = check,
        .finish = finish,
    };
    *out = &kept->scene;
    return 0;
}
