/* SPDX-License-Identifier: Apache-2.0 */
#include "scene_golden.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "golden_script.h"
#include "npy_read.h"
#include "report/number.h"
#include "report/number_text.h"
#include "base/text.h"

static bool is_close(const struct simpler_manifest_golden *golden, uint32_t dtype, uint64_t found,
                     uint64_t want)
{
    if (found == want)
        return true;
    if (simpler_number_family(dtype) != SIMPLER_NUMBER_FLOAT)
        return false;
    double x = simpler_number_float(dtype, found).value;
    double y = simpler_number_float(dtype, want).value;
    return x == y || (isnan(x) && isnan(y)) ||
           (isfinite(y) && fabs(x - y) <= golden->atol + golden->rtol * fabs(y));
}

/* "[i, j]" of element @at. */
static void name_element(const struct simpler_manifest_arg *arg, uint64_t at, char *out,
                         size_t bytes)
{
    uint64_t index[SIMPLER_MAX_DIMS];
    size_t n = 0;

    for (uint32_t k = arg->ndims; k-- > 0; at /= arg->shape[k])
        index[k] = at % arg->shape[k];
    for (uint32_t k = 0; k < arg->ndims; k++)
        n += (size_t)snprintf(out + n, bytes - n, "%s%" PRIu64, k == 0 ? "[" : ", ", index[k]);
    (void)snprintf(out + n, bytes - n, "]");
}

/* 0, or 1 with the first element that differs. */
static int compare(const struct simpler_manifest_golden *golden,
                   const struct simpler_manifest_arg *arg, const void *found, const void *want,
                   char *message, size_t message_bytes)
{
    const size_t width = simpler_dtype_bytes(arg->dtype);
    uint64_t wrong = 0, first = 0;

    for (uint64_t i = 0; i < arg->numel; i++) {
        uint64_t x = simpler_number_load(arg->dtype, (const char *)found + i * width);
        uint64_t y = simpler_number_load(arg->dtype, (const char *)want + i * width);
        if (!is_close(golden, arg->dtype, x, y) && wrong++ == 0)
            first = i;
    }
    if (wrong == 0)
        return 0;
    char place[80], is[SIMPLER_NUMBER_TEXT_MAX], right[SIMPLER_NUMBER_TEXT_MAX];
    name_element(arg, first, place, sizeof(place));
    (void)simpler_number_text(
        arg->dtype, simpler_number_load(arg->dtype, (const char *)found + first * width), is);
    (void)simpler_number_text(
        arg->dtype, simpler_number_load(arg->dtype, (const char *)want + first * width), right);
    (void)snprintf(message, message_bytes,
                   "%s%s is %s, %s %s; %" PRIu64 " of %" PRIu64 " element%s wrong", arg->name,
                   place, is,
                   arg->direction == SIMPLER_DIR_IN ? "it is an input and was" : "right is", right,
                   wrong, arg->numel, simpler_text_plural(arg->numel));
    return 1;
}

static int load_files(const struct simpler_manifest *m, const struct simpler_scene_args *args,
                      void **expected, char *message, size_t message_bytes)
{
    char path[2048];
    uint32_t tensor = 0;

    for (uint32_t i = 0; i < args->c->arg_count; i++) {
        const struct simpler_manifest_arg *arg = &args->c->args[i];
        uint32_t t = tensor;
        tensor += !arg->is_scalar;
        if (arg->is_scalar || arg->direction == SIMPLER_DIR_IN)
            continue;
        const char *file = simpler_manifest_golden_file(args->c->golden.files, arg->name);
        if (file == NULL) {
            (void)snprintf(message, message_bytes, "golden has no file for '%s'", arg->name);
            return SIMPLER_EINVAL;
        }
        (void)snprintf(path, sizeof(path), "%s/%s", m->dir, file);
        int rc = simpler_npy_read(path, arg->dtype, arg->numel, NULL, 0, expected[t], message,
                                  message_bytes);
        if (rc != 0)
            return rc;
    }
    return 0;
}

/* Every tensor; expected[t] of an input is what it was. */
static int compare_all(const struct simpler_scene_args *args, bool has_golden, void **expected,
                       char *message, size_t message_bytes)
{
    uint64_t elements = 0;
    uint32_t tensor = 0, compared = 0;

    for (uint32_t i = 0; i < args->c->arg_count; i++) {
        const struct simpler_manifest_arg *arg = &args->c->args[i];
        uint32_t t = tensor;
        tensor += !arg->is_scalar;
        if (arg->is_scalar || (!has_golden && arg->direction != SIMPLER_DIR_IN))
            continue;
        const struct simpler_manifest_golden exact = {.rtol = 0, .atol = 0};
        const bool is_input = arg->direction == SIMPLER_DIR_IN;
        if (compare(is_input ? &exact : &args->c->golden, arg,
                    simpler_tensor_data(&args->tensors[t]),
                    is_input ? args->before[t] : expected[t], message, message_bytes) != 0)
            return 1;
        compared += !is_input;
        elements += is_input ? 0 : arg->numel;
    }
    (void)snprintf(message, message_bytes, "%" PRIu64 " element%s of %" PRIu32 " tensor%s",
                   elements, simpler_text_plural(elements), compared,
                   simpler_text_plural(compared));
    return 0;
}

int simpler_scene_golden_check(const struct simpler_manifest *m,
                               const struct simpler_scene_args *args, char *message,
                               size_t message_bytes)
{
    const struct simpler_manifest_golden *golden = &args->c->golden;
    void **expected = calloc(args->c->tensor_count + 1, sizeof(*expected));
    uint32_t tensor = 0;
    int rc = expected != NULL ? 0 : SIMPLER_ENOMEM;

    for (uint32_t i = 0; rc == 0 && i < args->c->arg_count; i++) {
        if (args->c->args[i].is_scalar)
            continue;
        expected[tensor] = malloc(simpler_scene_args_bytes(&args->c->args[i]) + 1);
        rc = expected[tensor++] != NULL ? 0 : SIMPLER_ENOMEM;
    }
    if (rc == 0 && golden->script != NULL)
        rc = simpler_golden_script_run(m, args, golden->script, expected, message, message_bytes);
    else if (rc == 0 && golden->files != NULL)
        rc = load_files(m, args, expected, message, message_bytes);
    if (rc == 0)
        rc = compare_all(args, golden->script != NULL || golden->files != NULL, expected, message,
                         message_bytes);
    for (uint32_t t = 0; expected != NULL && t < args->c->tensor_count; t++)
        free(expected[t]);
    free(expected);
    return rc;
}
