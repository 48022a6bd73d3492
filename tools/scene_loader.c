/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A scene that is named without a slash and without ".so" is looked for in
 * `scenes` beside the program, then in build/scenes of the working directory; else
 * it may be a directory of sources (scene_dir.h).
 */
#include "scene_loader.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/nearest.h"
#include "commands.h"
#include "misuse.h"
#include "scene_dir.h"
#include "report/regular_file.h"

#define SUFFIX ".so"

/* Fills @dir with the nth place to look in; false after the last. */
static bool search_dir(int nth, char *dir, size_t bytes)
{
    char program[512];

    if (nth == 1)
        return snprintf(dir, bytes, "build/scenes") > 0;
    if (nth > 1)
        return false;
    ssize_t length = readlink("/proc/self/exe", program, sizeof(program) - 1);
    program[length > 0 ? length : 0] = '\0';
    char *slash = strrchr(program, '/');
    if (slash != NULL)
        *slash = '\0';
    (void)snprintf(dir, bytes, "%s/scenes", slash != NULL ? program : ".");
    return true;
}

static bool has_suffix(const char *name)
{
    size_t length = strlen(name);

    return length > strlen(SUFFIX) && strcmp(name + length - strlen(SUFFIX), SUFFIX) == 0;
}

static bool is_listed(const struct simpler_scene_names *names, const char *name)
{
    for (size_t i = 0; i < names->count; i++) {
        if (strcmp(names->text[i], name) == 0)
            return true;
    }
    return false;
}

/* Adds one name at its place in the order. */
static void insert_name(struct simpler_scene_names *names, const char *name, const char *dir)
{
    size_t at = names->count;

    if (is_listed(names, name))
        return;
    if (names->count == SIMPLER_SCENES_MAX) {
        names->omitted++;
        return;
    }
    for (; at > 0 && strcmp(names->text[at - 1], name) > 0; at--) {
        memcpy(names->text[at], names->text[at - 1], sizeof(names->text[at]));
        memcpy(names->dir[at], names->dir[at - 1], sizeof(names->dir[at]));
    }
    (void)snprintf(names->text[at], sizeof(names->text[at]), "%s", name);
    (void)snprintf(names->dir[at], sizeof(names->dir[at]), "%s", dir);
    names->count++;
}

static void list_dir(struct simpler_scene_names *names, const char *path)
{
    DIR *dir = opendir(path);
    const struct dirent *entry;
    char name[64];

    if (dir == NULL)
        return;
    while ((entry = readdir(dir)) != NULL) {
        size_t length = strlen(entry->d_name);
        if (!has_suffix(entry->d_name))
            continue;
        if (length - strlen(SUFFIX) >= sizeof(name)) {
            names->omitted++;
            continue;
        }
        (void)snprintf(name, sizeof(name), "%.*s", (int)(length - strlen(SUFFIX)), entry->d_name);
        insert_name(names, name, path);
    }
    (void)closedir(dir);
}

void simpler_scene_loader_list(struct simpler_scene_names *names)
{
    char dir[512];

    names->count = 0;
    names->omitted = 0;
    for (int i = 0; search_dir(i, dir, sizeof(dir)); i++)
        list_dir(names, dir);
}

/* What lies in the working directory under the name of a scene; true: it was told. */
static bool tell_file(const char *scene)
{
    char object[256];
    struct stat info;

    (void)snprintf(object, sizeof(object), "./%.200s" SUFFIX, scene);
    if (access(object, F_OK) == 0)
        (void)simpler_misuse_error("run", "there is no scene '%s'; did you mean the file %s?",
                                   scene, object);
    else if (stat(scene, &info) == 0)
        (void)simpler_misuse_error("run",
                                   "%s is neither a shared object nor a directory: a scene in C is "
                                   "built by gcc -shared -fPIC -o first.so first.c",
                                   scene);
    else
        return false;
    return true;
}

static int unknown_scene(const char *scene)
{
    if (tell_file(scene))
        return SIMPLER_EXIT_USAGE;
    struct simpler_scene_names *names = malloc(sizeof(*names));
    const char *pointers[SIMPLER_SCENES_MAX];
    char answer[1024], places[1100] = "";

    if (names == NULL)
        return SIMPLER_EXIT_FAILED;
    simpler_scene_loader_list(names);
    for (size_t i = 0; i < names->count; i++)
        pointers[i] = names->text[i];
    (void)search_dir(0, places, sizeof(places));
    if (names->count == 0)
        (void)simpler_misuse_error(
            "run", "there is no scene '%s', nor any other in %s or build/scenes", scene, places);
    else
        (void)simpler_misuse_error(
            "run", "there is no scene '%s'%s", scene,
            simpler_nearest_answer(scene, pointers, names->count, answer, sizeof(answer)));
    free(names);
    return SIMPLER_EXIT_USAGE;
}

/* The file of a scene; false when a name is found nowhere. */
static bool find_file(const char *scene, char *path, size_t bytes)
{
    char dir[512];

    if (strchr(scene, '/') != NULL || has_suffix(scene)) {
        (void)snprintf(path, bytes, "%s%s", strchr(scene, '/') != NULL ? "" : "./", scene);
        return true;
    }
    for (int i = 0; search_dir(i, dir, sizeof(dir)); i++) {
        (void)snprintf(path, bytes, "%s/%s" SUFFIX, dir, scene);
        if (access(path, F_OK) == 0)
            return true;
    }
    return false;
}

/* NULL, or what is wrong with the struct. */
static const char *fault_of(const struct simpler_scene *scene)
{
    if (scene->name == NULL)
        return "it has no name";
    if (scene->callable.orchestrate == NULL)
        return "its callable has no orchestration";
    if (scene->cases == NULL || scene->case_count == 0)
        return "it has no cases";
    if (scene->hazards > SIMPLER_HAZARDS_RAW)
        return "its hazards are none of enum simpler_hazards";
    for (uint32_t i = 0; i < scene->case_count; i++) {
        if (scene->cases[i].name == NULL)
            return "a case has no name";
    }
    return NULL;
}

int simpler_scene_loader_open(const char *scene, const struct simpler_scene **out, char *path,
                              size_t path_bytes)
{
    bool found_file = find_file(scene, path, path_bytes);
    if (simpler_scene_dir_is(found_file ? path : scene)) {
        (void)snprintf(path, path_bytes, "%s", scene);
        return simpler_scene_dir_open("run", scene, out);
    }
    if (!found_file)
        return unknown_scene(scene);
    int fd = simpler_regular_file_open(path); /* to load a pipe would wait for its writer */
    if (fd < 0)
        return simpler_misuse_error("run", "%s cannot be read: %s", path,
                                    simpler_regular_file_fault(errno));
    (void)close(fd);
    void *object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (object == NULL) {
        (void)fprintf(stderr,
                      "simpler run: the scene does not load: %s\n"
                      "(a scene is a shared object: gcc -shared -fPIC -o first.so first.c)\n",
                      dlerror());
        return SIMPLER_EXIT_FAILED;
    }
    const struct simpler_scene *found = dlsym(object, "simpler_scene");
    if (found == NULL) {
        (void)fprintf(stderr,
                      "simpler run: %s is no scene: it exports no `struct simpler_scene "
                      "simpler_scene`\n",
                      path);
        return SIMPLER_EXIT_FAILED;
    }
    if (found->abi != SIMPLER_SCENE_ABI) {
        (void)fprintf(stderr,
                      "simpler run: %s was built for scene interface %u, this program has %d; "
                      "build it again with this version's headers\n",
                      path, found->abi, SIMPLER_SCENE_ABI);
        return SIMPLER_EXIT_FAILED;
    }
    const char *fault = fault_of(found);
    if (fault != NULL) {
        (void)fprintf(stderr, "simpler run: %s is no valid scene: %s\n", path, fault);
        return SIMPLER_EXIT_FAILED;
    }
    *out = found;
    return 0;
}
