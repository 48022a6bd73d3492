/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A directory of its own holds the arguments (one .npy a tensor, args.json for
 * names and scalars) and takes the results.
 */
#include "golden_script.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "json_writer.h"
#include "npy_read.h"
#include "report/number.h"

extern char **environ;

#define DIR_BYTES 512

static const char driver[] =
    "import importlib.util, json, os, sys\n"
    "sys.dont_write_bytecode = True\n"
    "try:\n"
    "    import numpy as np\n"
    "except ImportError:\n"
    "    sys.exit('simpler: ' + sys.executable + ' has no numpy (python3-numpy); PYTHON names "
    "another')\n"
    "work, file, function = sys.argv[1:]\n"
    "sys.path.insert(0, os.path.dirname(os.path.abspath(file)))\n"
    "args = {}\n"
    "with open(work + '/args.json') as f:\n"
    "    described = json.load(f)\n"
    "for a in described:\n"
    "    if 'tensor' in a:\n"
    "        args[a['name']] = np.load(work + '/' + str(a['tensor']) + '.npy')\n"
    "    else:\n"
    "        v = a['value']\n"
    "        args[a['name']] = float.fromhex(v) if isinstance(v, str) else v\n"
    "spec = importlib.util.spec_from_file_location('golden', file)\n"
    "module = importlib.util.module_from_spec(spec)\n"
    "spec.loader.exec_module(module)\n"
    "shapes = {k: v.shape for k, v in args.items() if isinstance(v, np.ndarray)}\n"
    "found = getattr(module, function)(args)\n"
    "for a in described:\n"
    "    if a.get('expected'):\n"
    "        if a['name'] not in found:\n"
    "            sys.exit('simpler: ' + function + ' returns nothing for ' + a['name'])\n"
    "        array = np.ascontiguousarray(found[a['name']])\n"
    "        np.save(work + '/golden_' + str(a['tensor']) + '.npy', array)\n";

static void write_scalar(struct simpler_json_writer *w, const struct simpler_manifest_arg *arg)
{
    char text[64];

    switch (simpler_number_family(arg->dtype)) {
    case SIMPLER_NUMBER_FLOAT:
        /* As C99's hexadecimal text: every bit, and inf and nan too. */
        (void)snprintf(text, sizeof(text), "%a", simpler_number_float(arg->dtype, arg->bits).value);
        simpler_json_writer_string(w, "value", text);
        return;
    case SIMPLER_NUMBER_SIGNED:
        simpler_json_writer_i64(w, "value", simpler_number_signed(arg->dtype, arg->bits));
        return;
    default:
        if (arg->dtype == SIMPLER_DTYPE_BOOL)
            simpler_json_writer_bool(w, "value", arg->bits != 0);
        else
            simpler_json_writer_u64(w, "value", arg->bits);
    }
}

/* Names and scalars; tensors are numbered. */
static int write_description(const char *dir, const struct simpler_manifest_case *c)
{
    struct simpler_json_writer w;
    char path[DIR_BYTES + 32];
    uint64_t tensor = 0;

    (void)snprintf(path, sizeof(path), "%s/args.json", dir);
    FILE *file = fopen(path, "w");
    if (file == NULL)
        return SIMPLER_EIO;
    simpler_json_writer_init(&w, file);
    simpler_json_writer_open(&w, NULL, '[');
    for (uint32_t i = 0; i < c->arg_count; i++) {
        const struct simpler_manifest_arg *arg = &c->args[i];
        simpler_json_writer_open(&w, NULL, '{');
        simpler_json_writer_string(&w, "name", arg->name);
        if (arg->is_scalar)
            write_scalar(&w, arg);
        else {
            simpler_json_writer_u64(&w, "tensor", tensor++);
            simpler_json_writer_bool(&w, "expected", arg->direction != SIMPLER_DIR_IN);
        }
        simpler_json_writer_close(&w, '}');
    }
    simpler_json_writer_close(&w, ']');
    bool written = ferror(file) == 0;
    return fclose(file) == 0 && written ? 0 : SIMPLER_EIO;
}

static int write_arguments(const char *dir, const struct simpler_scene_args *args)
{
    char path[DIR_BYTES + 32];
    uint32_t tensor = 0;
    int rc = write_description(dir, args->c);

    for (uint32_t i = 0; rc == 0 && i < args->c->arg_count; i++) {
        const struct simpler_manifest_arg *arg = &args->c->args[i];
        if (arg->is_scalar)
            continue;
        (void)snprintf(path, sizeof(path), "%s/%" PRIu32 ".npy", dir, tensor);
        rc = simpler_npy_write(path, arg->dtype, arg->shape, arg->ndims, args->before[tensor++],
                               simpler_scene_args_bytes(arg));
    }
    return rc;
}

/* 0, or SIMPLER_EIO with the reason. */
static int run_python(const char *dir, const char *file, const char *function, char *message,
                      size_t message_bytes)
{
    const char *python = getenv("PYTHON");
    pid_t pid;
    int status = -1;

    if (python == NULL || python[0] == '\0')
        python = access("/usr/bin/python3", X_OK) == 0 ? "/usr/bin/python3" : "python3";
    char *const command[] = {
        (char *)python,   (char *)"-c", (char *)driver, (char *)dir, (char *)file,
        (char *)function, NULL};
    int failed = posix_spawnp(&pid, python, NULL, NULL, command, environ);
    if (failed != 0) {
        (void)snprintf(message, message_bytes, "%s cannot be started: %s; PYTHON names another",
                       python, strerror(failed));
        return SIMPLER_EIO;
    }
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return 0;
    (void)snprintf(message, message_bytes, "%s:%s failed in %s (see above)", file, function,
                   python);
    return SIMPLER_EIO;
}

static int read_results(const char *dir, const struct simpler_scene_args *args, void **expected,
                        char *message, size_t message_bytes)
{
    char path[DIR_BYTES + 32], why[512];
    uint32_t tensor = 0;
    int rc = 0;

    for (uint32_t i = 0; rc == 0 && i < args->c->arg_count; i++) {
        const struct simpler_manifest_arg *arg = &args->c->args[i];
        uint32_t t = tensor;
        tensor += !arg->is_scalar;
        if (arg->is_scalar || arg->direction == SIMPLER_DIR_IN)
            continue;
        (void)snprintf(path, sizeof(path), "%s/golden_%" PRIu32 ".npy", dir, t);
        rc = simpler_npy_read(path, arg->dtype, arg->numel, NULL, 0, expected[t], why, sizeof(why));
        if (rc != 0)
            (void)snprintf(message, message_bytes, "the golden function's '%s' is of no use: %s",
                           arg->name, strrchr(why, ':') != NULL ? strrchr(why, ':') + 2 : why);
    }
    return rc;
}

static void remove_files(const char *dir, const struct simpler_manifest_case *c)
{
    char path[DIR_BYTES + 32];

    for (uint32_t t = 0; t < c->tensor_count; t++) {
        (void)snprintf(path, sizeof(path), "%s/%" PRIu32 ".npy", dir, t);
        (void)unlink(path);
        (void)snprintf(path, sizeof(path), "%s/golden_%" PRIu32 ".npy", dir, t);
        (void)unlink(path);
    }
    (void)snprintf(path, sizeof(path), "%s/args.json", dir);
    (void)unlink(path);
    (void)rmdir(dir);
}

int simpler_golden_script_run(const struct simpler_manifest *m,
                              const struct simpler_scene_args *args, const char *script,
                              void **expected, char *message, size_t message_bytes)
{
    const char *colon = strrchr(script, ':'), *tmp = getenv("TMPDIR");
    char dir[DIR_BYTES], file[2048];

    (void)snprintf(file, sizeof(file), "%s/%.*s", m->dir, (int)(colon - script), script);
    (void)snprintf(dir, sizeof(dir), "%.400s/simpler-golden-XXXXXX",
                   tmp != NULL && tmp[0] != '\0' ? tmp : "/tmp");
    if (mkdtemp(dir) == NULL) {
        (void)snprintf(message, message_bytes, "%s cannot be made: %s", dir, strerror(errno));
        return SIMPLER_EIO;
    }
    int rc = write_arguments(dir, args);
    if (rc != 0)
        (void)snprintf(message, message_bytes, "the arguments cannot be written to %s", dir);
    else
        rc = run_python(dir, file, colon + 1, message, message_bytes);
    if (rc == 0)
        rc = read_results(dir, args, expected, message, message_bytes);
    remove_files(dir, args->c);
    return rc;
}
