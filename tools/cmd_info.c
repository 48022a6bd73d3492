/* SPDX-License-Identifier: Apache-2.0 */
/* simpler info: what this host offers and what a run would get. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "environment.h"
#include "json_writer.h"
#include "misuse.h"
#include "scene_loader.h"
#include "simpler/dtype.h"
#include "simpler/info.h"
#include "simpler/version.h"

static const char *hazards_name(uint32_t hazards)
{
    return hazards == SIMPLER_HAZARDS_ALL ? "all" : "raw";
}

/* ---- text ---- */

static void print_platforms(void)
{
    struct simpler_platform_info p;

    (void)printf("\n%-10s %-12s %-14s %-9s %-8s %s\n", "platform", "threads", "clusters", "devices",
                 "hazards", "");
    for (uint32_t i = 0; simpler_info_platform(i, &p) == 0; i++) {
        char threads[40], clusters[40], devices[40];
        (void)snprintf(threads, sizeof(threads), "%" PRIu32 "-%" PRIu32 " (%" PRIu32 ")",
                       p.min_threads, p.max_threads, p.default_threads);
        (void)snprintf(clusters, sizeof(clusters), "1-%" PRIu32 " (%" PRIu32 ")", p.max_clusters,
                       p.default_clusters);
        (void)snprintf(devices, sizeof(devices), "0-%" PRIu32, p.device_count - 1);
        (void)printf("%-10s %-12s %-14s %-9s %-8s %s%s\n", p.name, threads, clusters,
                     p.device_count == 1 ? "0" : devices, hazards_name(p.default_hazards),
                     p.description, i == 0 ? " (default)" : "");
    }
}

static void print_runtimes(void)
{
    struct simpler_runtime_info r;

    (void)puts("\nruntimes");
    for (uint32_t i = 0; simpler_info_runtime(i, &r) == 0; i++)
        (void)printf("  %-24s %s%s\n", r.name, r.description, i == 0 ? " (default)" : "");
}

static void print_sizes(void)
{
    struct simpler_size_info size;

    (void)printf("\n%-18s %12s  %s\n", "size", "default", "legal");
    for (uint32_t i = 0; simpler_info_size(i, &size) == 0; i++)
        (void)printf("%-18s %12" PRIu64 "  %s %s%s\n", size.field, size.default_value, size.legal,
                     size.unit, size.count > 1 ? ", each ring" : "");
}

static void print_variables(void)
{
    const struct simpler_environment_variable *row;
    struct simpler_size_info size;
    struct simpler_variable_info v;

    (void)printf("\n%-32s %-16s %s\n", "environment", "default", "meaning");
    for (uint32_t i = 0; simpler_info_size(i, &size) == 0; i++)
        (void)printf("%-32s %-16" PRIu64 " %s, %s\n", size.variable, size.default_value, size.field,
                     size.unit);
    for (uint32_t i = 0; (row = simpler_environment_get(i)) != NULL; i++)
        (void)printf("%-32s %-16s %s\n", row->name, row->default_text, row->meaning);
    for (uint32_t i = 0; simpler_info_variable(i, &v) == 0; i++) {
        if (v.problem[0] == '\0')
            (void)printf("  %s=%s (in force)\n", v.name, v.value);
        else
            (void)printf("  %s is ignored: %s\n", v.name, v.problem);
    }
}

static void print_scenes(const struct simpler_scene_names *names)
{
    (void)puts("\nscenes");
    for (size_t i = 0; i < names->count; i++)
        (void)printf("  %-20s %s/%s.so\n", names->text[i], names->dir[i], names->text[i]);
    if (names->omitted != 0)
        (void)printf("  and %zu more, which can be run as well\n", names->omitted);
    else if (names->count == 0)
        (void)puts("  none was found");
}

/* ---- JSON ---- */

static void write_missing_dtypes(struct simpler_json_writer *w, uint32_t dtypes)
{
    simpler_json_writer_open(w, "missing_dtypes", '[');
    for (uint32_t d = 0; d < SIMPLER_DTYPE_NUM; d++) {
        if ((dtypes >> d & 1) == 0)
            simpler_json_writer_string(w, NULL, simpler_dtype_name(d));
    }
    simpler_json_writer_close(w, ']');
}

static void write_platforms(struct simpler_json_writer *w)
{
    struct simpler_platform_info p;

    simpler_json_writer_open(w, "platforms", '[');
    for (uint32_t i = 0; simpler_info_platform(i, &p) == 0; i++) {
        simpler_json_writer_open(w, NULL, '{');
        simpler_json_writer_string(w, "name", p.name);
        simpler_json_writer_string(w, "description", p.description);
        simpler_json_writer_u64(w, "min_threads", p.min_threads);
        simpler_json_writer_u64(w, "max_threads", p.max_threads);
        simpler_json_writer_u64(w, "default_threads", p.default_threads);
        simpler_json_writer_u64(w, "max_clusters", p.max_clusters);
        simpler_json_writer_u64(w, "default_clusters", p.default_clusters);
        simpler_json_writer_u64(w, "device_count", p.device_count);
        simpler_json_writer_u64(w, "counter_hz", p.counter_hz);
        simpler_json_writer_string(w, "default_hazards", hazards_name(p.default_hazards));
        simpler_json_writer_string(w, "memory", p.copies_diagnostics ? "copied" : "shared");
        write_missing_dtypes(w, p.dtypes);
        simpler_json_writer_close(w, '}');
    }
    simpler_json_writer_close(w, ']');
}

static void write_runtimes(struct simpler_json_writer *w)
{
    struct simpler_runtime_info r;

    simpler_json_writer_open(w, "runtimes", '[');
    for (uint32_t i = 0; simpler_info_runtime(i, &r) == 0; i++) {
        simpler_json_writer_open(w, NULL, '{');
        simpler_json_writer_string(w, "name", r.name);
        simpler_json_writer_string(w, "description", r.description);
        simpler_json_writer_close(w, '}');
    }
    simpler_json_writer_close(w, ']');
}

static void write_sizes(struct simpler_json_writer *w)
{
    struct simpler_size_info size;

    simpler_json_writer_open(w, "sizes", '[');
    for (uint32_t i = 0; simpler_info_size(i, &size) == 0; i++) {
        simpler_json_writer_open(w, NULL, '{');
        simpler_json_writer_string(w, "field", size.field);
        simpler_json_writer_string(w, "variable", size.variable);
        simpler_json_writer_u64(w, "count", size.count);
        simpler_json_writer_string(w, "unit", size.unit);
        simpler_json_writer_u64(w, "default", size.default_value);
        simpler_json_writer_u64(w, "min", size.min);
        simpler_json_writer_u64(w, "max", size.max);
        simpler_json_writer_string(w, "legal", size.legal);
        simpler_json_writer_close(w, '}');
    }
    simpler_json_writer_close(w, ']');
}

static void write_variables(struct simpler_json_writer *w)
{
    struct simpler_variable_info v;

    simpler_json_writer_open(w, "environment", '[');
    for (uint32_t i = 0; simpler_info_variable(i, &v) == 0; i++) {
        simpler_json_writer_open(w, NULL, '{');
        simpler_json_writer_string(w, "name", v.name);
        simpler_json_writer_string(w, "value", v.value);
        simpler_json_writer_bool(w, "in_force", v.problem[0] == '\0');
        simpler_json_writer_string(w, "problem", v.problem);
        simpler_json_writer_close(w, '}');
    }
    simpler_json_writer_close(w, ']');
}

static void write_variable(struct simpler_json_writer *w, const char *name,
                           const char *default_text, const char *meaning)
{
    simpler_json_writer_open(w, NULL, '{');
    simpler_json_writer_string(w, "name", name);
    simpler_json_writer_string(w, "default", default_text);
    simpler_json_writer_string(w, "meaning", meaning);
    simpler_json_writer_close(w, '}');
}

static void write_known_variables(struct simpler_json_writer *w)
{
    const struct simpler_environment_variable *row;
    struct simpler_size_info size;
    char text[64];

    simpler_json_writer_open(w, "variables", '[');
    for (uint32_t i = 0; simpler_info_size(i, &size) == 0; i++) {
        (void)snprintf(text, sizeof(text), "%" PRIu64, size.default_value);
        write_variable(w, size.variable, text, size.field);
    }
    for (uint32_t i = 0; (row = simpler_environment_get(i)) != NULL; i++)
        write_variable(w, row->name, row->default_text, row->meaning);
    simpler_json_writer_close(w, ']');
}

static void write_scenes(struct simpler_json_writer *w, const struct simpler_scene_names *names)
{
    char path[600];

    simpler_json_writer_open(w, "scenes", '[');
    for (size_t i = 0; i < names->count; i++) {
        (void)snprintf(path, sizeof(path), "%s/%s.so", names->dir[i], names->text[i]);
        simpler_json_writer_open(w, NULL, '{');
        simpler_json_writer_string(w, "name", names->text[i]);
        simpler_json_writer_string(w, "path", path);
        simpler_json_writer_close(w, '}');
    }
    simpler_json_writer_close(w, ']');
    simpler_json_writer_u64(w, "scenes_omitted", names->omitted);
}

static void write_json(const struct simpler_scene_names *names)
{
    struct simpler_json_writer w;

    simpler_json_writer_init(&w, stdout);
    simpler_json_writer_open(&w, NULL, '{');
    simpler_json_writer_string(&w, "version", SIMPLER_VERSION);
    simpler_json_writer_u64(&w, "usable_cpus", simpler_info_usable_cpus());
    write_platforms(&w);
    write_runtimes(&w);
    write_sizes(&w);
    write_known_variables(&w);
    write_variables(&w);
    write_scenes(&w, names);
    simpler_json_writer_close(&w, '}');
}

static int run_info(int argc, char **argv)
{
    static const char *const json_option = "--json";
    bool json = argc > 1;

    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], json_option) != 0)
            return argv[i][0] == '-'
                       ? simpler_misuse_option("info", argv[i], &json_option, 1)
                       : simpler_misuse_error("info", "takes no '%s', only --json", argv[i]);
    }
    struct simpler_scene_names *names = malloc(sizeof(*names));
    if (names == NULL) {
        (void)fputs("simpler info: out of memory\n", stderr);
        return SIMPLER_EXIT_FAILED;
    }
    simpler_scene_loader_list(names);
    if (json) {
        write_json(names);
    } else {
        (void)printf("simpler %s, %" PRIu32 " usable CPUs\n", SIMPLER_VERSION,
                     simpler_info_usable_cpus());
        print_platforms();
        print_runtimes();
        print_sizes();
        print_variables();
        print_scenes(names);
    }
    free(names);
    return SIMPLER_EXIT_OK;
}

const struct simpler_command simpler_cmd_info = {
    .name = "info",
    .purpose = "tells what this host offers: platforms, sizes, scenes",
    .help = "usage: simpler info [--json]\n"
            "\n"
            "Version, usable CPUs, platforms with their limits (defaults in brackets), sizes\n"
            "of rings, pools and map, every environment variable that is read, with its default,\n"
            "the sizes among them that are in force, and the scenes that `simpler run` finds\n"
            "by name.\n",
    .run = run_info,
};
