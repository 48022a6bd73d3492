/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The static functions return false once something is wrong; the reader then has
 * said it.
 */
#include "scene_manifest.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"
#include "commands.h"
#include "manifest_args.h"
#include "manifest_reader.h"
#include "report/regular_file.h"

/* ---- config: of the scene, and of a case, which goes before it ---- */

#define CONFIG_KEYS "hazards aicpu_thread_num cluster_count exec runtime runtime_env"

static bool read_sizes(const struct simpler_manifest_reader *r, json_t *env, const char *key,
                       uint64_t *out, uint32_t count)
{
    json_t *value = json_object_get(env, key);

    if (value == NULL)
        return true;
    for (uint32_t i = 0; i < count; i++) {
        json_t *entry = json_is_array(value) && json_array_size(value) == count
                            ? json_array_get(value, i)
                            : value;
        if (!json_is_integer(entry) || json_integer_value(entry) < 0)
            return simpler_manifest_fail(r, "runtime_env.%s is no size%s", key,
                                         count > 1 ? " nor four of them" : "");
        out[i] = (uint64_t)json_integer_value(entry);
    }
    return true;
}

static bool read_runtime_env(const struct simpler_manifest_reader *r, json_t *object,
                             struct simpler_runtime_env *out)
{
    json_t *env = json_object_get(object, "runtime_env");

    return env == NULL ||
           (simpler_manifest_check_keys(r, env,
                                        "ring_task_window ring_heap ring_dep_pool tensormap") &&
            read_sizes(r, env, "ring_task_window", out->ring_task_window, CHIP_MAX_RING_DEPTH) &&
            read_sizes(r, env, "ring_heap", out->ring_heap, CHIP_MAX_RING_DEPTH) &&
            read_sizes(r, env, "ring_dep_pool", out->ring_dep_pool, CHIP_MAX_RING_DEPTH) &&
            read_sizes(r, env, "tensormap", &out->tensormap, 1));
}

static bool read_config(const struct simpler_manifest_reader *r, json_t *object,
                        struct simpler_call_config *out)
{
    static const char *const execs[] = {"inline", "threads"};
    static const char *const hazards[] = {"default", "all", "raw"};
    int64_t threads = out->aicpu_thread_num, clusters = out->cluster_count;
    int exec = simpler_manifest_read_choice(r, object, "exec", execs, 2, (int)out->exec);
    int hazard = simpler_manifest_read_choice(r, object, "hazards", hazards, 3, (int)out->hazards);

    if (exec < 0 || hazard < 0 ||
        !simpler_manifest_read_integer(r, object, "aicpu_thread_num", 0, UINT32_MAX, false,
                                       &threads) ||
        !simpler_manifest_read_integer(r, object, "cluster_count", 0, UINT32_MAX, false,
                                       &clusters) ||
        !simpler_manifest_read_string(r, object, "runtime", false, &out->runtime) ||
        !read_runtime_env(r, object, &out->runtime_env))
        return false;
    out->exec = (uint32_t)exec;
    out->hazards = (uint32_t)hazard;
    out->aicpu_thread_num = (uint32_t)threads;
    out->cluster_count = (uint32_t)clusters;
    return true;
}

/* A list of names, or one name, as the text that a scene's case has. */
static bool read_platforms(const struct simpler_manifest_reader *r, json_t *object,
                           const char **out)
{
    json_t *list = json_object_get(object, "platform"), *name;
    char text[256] = "";
    size_t i, used = 0;

    if (list == NULL)
        return true;
    if (json_is_string(list))
        return simpler_manifest_read_string(r, object, "platform", true, out);
    if (!json_is_array(list) || json_array_size(list) == 0)
        return simpler_manifest_fail(r, "platform is no name nor a list of names");
    json_array_foreach(list, i, name)
    {
        if (!json_is_string(name) || used + json_string_length(name) + 2 > sizeof(text))
            return simpler_manifest_fail(r, "platform[%zu] is no name", i);
        used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s", i == 0 ? "" : ",",
                                 json_string_value(name));
    }
    /* The document owns it, as it owns the other strings. */
    json_t *joined = json_string(text);
    if (joined == NULL || json_object_set_new(object, "platform", joined) != 0)
        return simpler_manifest_fail(r, "out of memory");
    *out = json_string_value(json_object_get(object, "platform"));
    return true;
}

/* ---- golden ---- */

static bool read_tolerance(const struct simpler_manifest_reader *r, json_t *object,
                           struct simpler_manifest_golden *out)
{
    json_t *tolerance = json_object_get(object, "tolerance"), *value;
    const char *key;

    if (tolerance == NULL)
        return true;
    if (!simpler_manifest_check_keys(r, tolerance, "rtol atol"))
        return false;
    json_object_foreach(tolerance, key, value)
    {
        if (!json_is_number(value) || json_number_value(value) < 0)
            return simpler_manifest_fail(r, "tolerance.%s is no number from 0", key);
        *(strcmp(key, "rtol") == 0 ? &out->rtol : &out->atol) = json_number_value(value);
    }
    return true;
}

static bool read_golden(const struct simpler_manifest_reader *r, json_t *object,
                        struct simpler_manifest_golden *out)
{
    json_t *golden = json_object_get(object, "golden"), *file;
    const char *name;

    if (!read_tolerance(r, object, out) || golden == NULL)
        return golden == NULL;
    out->script = NULL;
    out->files = NULL;
    if (json_is_string(golden)) {
        out->script = json_string_value(golden);
        return strchr(out->script, ':') != NULL ||
               simpler_manifest_fail(r, "golden '%.60s' is not FILE:FUNCTION", out->script);
    }
    if (!json_is_object(golden))
        return simpler_manifest_fail(
            r, "golden is neither \"FILE:FUNCTION\" nor an object of .npy files");
    json_object_foreach(golden, name, file)
    {
        if (!json_is_string(file))
            return simpler_manifest_fail(r, "golden.%s is no file", name);
    }
    out->files = golden;
    return true;
}

/* ---- cases, kernels, the whole ---- */

static bool read_case(struct simpler_manifest_reader *r, json_t *object,
                      struct simpler_scene_case *scene_case, struct simpler_manifest_case *c)
{
    int64_t code = 0;

    if (!simpler_manifest_check_keys(
            r, object, "name platform manual golden tolerance args expect_error " CONFIG_KEYS) ||
        !simpler_manifest_read_string(r, object, "name", true, &scene_case->name) ||
        !read_platforms(r, object, &scene_case->platforms) ||
        !read_config(r, object, &scene_case->config) || !read_golden(r, object, &c->golden) ||
        !simpler_manifest_read_integer(r, object, "expect_error", 0, 999, false, &code) ||
        !simpler_manifest_read_args(r, object, c))
        return false;
    scene_case->expected_status = -(int)code;
    scene_case->manual = json_is_true(json_object_get(object, "manual"));
    return true;
}

/* Cases begin with what the scene says of itself. */
static bool read_cases(struct simpler_manifest_reader *r, struct simpler_manifest *m)
{
    json_t *root = m->root, *list = json_object_get(root, "cases"), *entry;
    struct simpler_manifest_golden golden = {.rtol = 1e-5, .atol = 1e-6};
    struct simpler_scene_case scene = {0};
    size_t i;

    if (!read_config(r, root, &scene.config) || !read_golden(r, root, &golden) ||
        !read_platforms(r, root, &scene.platforms))
        return false;
    if (!json_is_array(list) || json_array_size(list) == 0)
        return simpler_manifest_fail(r, "cases is no list of at least one case");
    m->scene_cases = simpler_manifest_allocate(r, json_array_size(list), sizeof(*m->scene_cases));
    m->cases = simpler_manifest_allocate(r, json_array_size(list), sizeof(*m->cases));
    if (m->scene_cases == NULL || m->cases == NULL)
        return false;
    json_array_foreach(list, i, entry)
    {
        (void)snprintf(r->where, sizeof(r->where), "cases[%zu]", i);
        m->case_count++;
        m->scene_cases[i] = scene;
        m->cases[i].golden = golden;
        if (!read_case(r, entry, &m->scene_cases[i], &m->cases[i]))
            return false;
    }
    r->where[0] = '\0';
    return true;
}

static bool unknown_direction(const struct simpler_manifest_reader *r, size_t i,
                              const json_t *entry, const char *const *words)
{
    const char *text = json_is_string(entry) ? json_string_value(entry) : NULL;
    char answer[256];

    if (text == NULL)
        return simpler_manifest_fail(r, "signature[%zu] is no text", i);
    return simpler_manifest_fail(r, "signature[%zu]: there is no '%.60s'%s", i, text,
                                 simpler_nearest_answer(text, words, 4, answer, sizeof(answer)));
}

static bool read_signature(const struct simpler_manifest_reader *r, json_t *object,
                           struct simpler_manifest_kernel *kernel)
{
    static const char *const words[] = {"scalar", "in", "out", "inout"};
    json_t *list = json_object_get(object, "signature"), *entry;
    size_t i;

    if (list == NULL)
        return true;
    if (!json_is_array(list))
        return simpler_manifest_fail(r, "signature is no list");
    kernel->signature = simpler_manifest_allocate(r, json_array_size(list), 1);
    if (kernel->signature == NULL)
        return false;
    json_array_foreach(list, i, entry)
    {
        int k = 0;
        while (k < 4 &&
               (!json_is_string(entry) || strcasecmp(json_string_value(entry), words[k]) != 0))
            k++;
        if (k == 4)
            return unknown_direction(r, i, entry, words);
        kernel->signature[kernel->signature_count++] = (uint8_t)k;
    }
    return true;
}

/* Whether a function of this name can be called: it becomes part of a command. */
static bool check_name(const struct simpler_manifest_reader *r, const char *name)
{
    for (const char *at = name; *at != '\0'; at++) {
        if (!isalnum((unsigned char)*at) && *at != '_')
            return simpler_manifest_fail(r, "'%.60s' is no function's name", name);
    }
    return true;
}

static bool read_kernel(const struct simpler_manifest_reader *r, json_t *object,
                        struct simpler_manifest_kernel *kernel)
{
    static const char *const types[] = {"aic", "aiv"};
    int64_t func_id = 0;
    int type = simpler_manifest_read_choice(r, object, "core_type", types, 2, SIMPLER_CORE_AIV);

    kernel->entry = "kernel_entry";
    if (type < 0 ||
        !simpler_manifest_check_keys(r, object, "func_id name source entry core_type signature") ||
        !simpler_manifest_read_integer(r, object, "func_id", 0, 1023, true, &func_id) ||
        !simpler_manifest_read_string(r, object, "name", false, &kernel->name) ||
        !simpler_manifest_read_string(r, object, "source", true, &kernel->source) ||
        !simpler_manifest_read_string(r, object, "entry", false, &kernel->entry) ||
        !check_name(r, kernel->entry) || !read_signature(r, object, kernel))
        return false;
    kernel->func_id = (uint32_t)func_id;
    kernel->core_type = (enum simpler_core_type)type;
    return true;
}

static bool read_kernels(struct simpler_manifest_reader *r, struct simpler_manifest *m)
{
    json_t *list = json_object_get(m->root, "kernels"), *entry;
    size_t i;

    if (!json_is_array(list))
        return simpler_manifest_fail(r, "kernels is no list");
    m->kernels = simpler_manifest_allocate(r, json_array_size(list), sizeof(*m->kernels));
    if (m->kernels == NULL)
        return false;
    json_array_foreach(list, i, entry)
    {
        (void)snprintf(r->where, sizeof(r->where), "kernels[%zu]", i);
        m->kernel_count++;
        if (!read_kernel(r, entry, &m->kernels[i]))
            return false;
        for (size_t k = 0; k < i; k++) {
            if (m->kernels[k].func_id == m->kernels[i].func_id)
                return simpler_manifest_fail(r, "func_id %u is that of kernels[%zu] too",
                                             m->kernels[i].func_id, k);
        }
    }
    r->where[0] = '\0';
    return true;
}

static bool read_include_dirs(struct simpler_manifest_reader *r, struct simpler_manifest *m)
{
    json_t *list = json_object_get(m->root, "include_dirs"), *entry;
    size_t i;

    if (list == NULL)
        return true;
    if (!json_is_array(list))
        return simpler_manifest_fail(r, "include_dirs is no list");
    m->include_dirs = simpler_manifest_allocate(r, json_array_size(list), sizeof(*m->include_dirs));
    if (m->include_dirs == NULL)
        return false;
    json_array_foreach(list, i, entry)
    {
        if (!json_is_string(entry))
            return simpler_manifest_fail(r, "include_dirs[%zu] is no directory", i);
        m->include_dirs[m->include_dir_count++] = json_string_value(entry);
    }
    return true;
}

static bool read_root(struct simpler_manifest_reader *r, struct simpler_manifest *m)
{
    json_t *root = m->root;

    m->entry = "aicpu_orchestration_entry";
    m->config = "aicpu_orchestration_config";
    return simpler_manifest_check_keys(
               r, root,
               "name description source entry config platform include_dirs kernels golden "
               "tolerance cases " CONFIG_KEYS) &&
           simpler_manifest_read_string(r, root, "name", true, &m->name) &&
           simpler_manifest_read_string(r, root, "description", false, &m->description) &&
           simpler_manifest_read_string(r, root, "source", true, &m->source) &&
           simpler_manifest_read_string(r, root, "entry", false, &m->entry) &&
           check_name(r, m->entry) &&
           simpler_manifest_read_string(r, root, "config", false, &m->config) &&
           check_name(r, m->config) && read_include_dirs(r, m) && read_kernels(r, m) &&
           read_cases(r, m);
}

int simpler_manifest_open(struct simpler_manifest *m, const char *command, const char *dir)
{
    struct simpler_manifest_reader r = {.command = command};
    json_error_t error;

    memset(m, 0, sizeof(*m));
    m->dir = dir;
    (void)snprintf(r.file, sizeof(r.file), "%s/" SIMPLER_MANIFEST_FILE, dir);
    FILE *file = simpler_regular_file_fopen(r.file);
    if (file == NULL) {
        (void)simpler_manifest_fail(&r, "cannot be read: %s", simpler_regular_file_fault(errno));
        return SIMPLER_EXIT_FAILED;
    }
    m->root = json_loadf(file, JSON_REJECT_DUPLICATES, &error);
    (void)fclose(file);
    if (m->root == NULL) {
        if (error.line > 0)
            (void)snprintf(r.where, sizeof(r.where), "line %d column %d", error.line, error.column);
        (void)simpler_manifest_fail(&r, "%s", error.text);
        return SIMPLER_EXIT_FAILED;
    }
    return read_root(&r, m) ? 0 : SIMPLER_EXIT_FAILED;
}

void simpler_manifest_close(struct simpler_manifest *m)
{
    for (uint32_t i = 0; i < m->case_count; i++)
        free(m->cases[i].args);
    for (uint32_t i = 0; i < m->kernel_count; i++)
        free(m->kernels[i].signature);
    free(m->cases);
    free(m->scene_cases);
    free(m->kernels);
    free(m->include_dirs);
    json_decref(m->root);
    memset(m, 0, sizeof(*m));
}

struct simpler_element_number simpler_manifest_value(const struct json_t *values, uint64_t i)
{
    struct simpler_element_number number = {0};

    (void)simpler_manifest_read_number(json_array_get(values, i), &number);
    return number;
}

const char *simpler_manifest_golden_file(const struct json_t *files, const char *name)
{
    return json_string_value(json_object_get(files, name));
}
