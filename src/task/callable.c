/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Deep copies of callables.  A callable is checked whole before anything is
 * copied; two copies are equal when every function, id, name and direction is.
 */
#include "task/callable.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/logger.h"
#include "base/text.h"

#define MAX_SIGNATURE (SIMPLER_MAX_TENSORS + SIMPLER_MAX_SCALARS)

static const char *name_of(const struct simpler_callable *callable)
{
    return callable->name != NULL ? callable->name : "callable";
}

static int check_signature(const char *name, const struct simpler_kernel *kernel)
{
    bool scalar_seen = false;

    if (kernel->signature_count > MAX_SIGNATURE) {
        SIMPLER_ERROR("%s: kernel %u has a signature of %u argument%s, %d are possible", name,
                      kernel->func_id, kernel->signature_count,
                      simpler_text_plural(kernel->signature_count), MAX_SIGNATURE);
        return SIMPLER_EINVAL;
    }
    if (kernel->signature_count != 0 && kernel->signature == NULL) {
        SIMPLER_ERROR("%s: kernel %u counts %u direction%s, but signature is NULL", name,
                      kernel->func_id, kernel->signature_count,
                      simpler_text_plural(kernel->signature_count));
        return SIMPLER_EINVAL;
    }
    for (uint32_t i = 0; i < kernel->signature_count; i++) {
        uint32_t direction = kernel->signature[i];
        if (direction > SIMPLER_DIR_INOUT) {
            SIMPLER_ERROR("%s: kernel %u, argument %u: %u is no direction (0 to 3)", name,
                          kernel->func_id, i, direction);
            return SIMPLER_EINVAL;
        }
        if (scalar_seen && direction != SIMPLER_DIR_SCALAR) {
            SIMPLER_ERROR("%s: kernel %u, argument %u: a tensor after a scalar", name,
                          kernel->func_id, i);
            return SIMPLER_EINVAL;
        }
        scalar_seen = direction == SIMPLER_DIR_SCALAR;
    }
    return 0;
}

static int check_kernel(const char *name, const struct simpler_kernel *kernel)
{
    if (kernel->func_id > SIMPLER_MAX_FUNC_ID) {
        SIMPLER_ERROR("%s: func_id %u is above %d", name, kernel->func_id, SIMPLER_MAX_FUNC_ID);
        return SIMPLER_EINVAL;
    }
    if (kernel->fn == NULL) {
        SIMPLER_ERROR("%s: kernel %u has no function", name, kernel->func_id);
        return SIMPLER_EINVAL;
    }
    if (kernel->core_type > SIMPLER_CORE_AIV) {
        SIMPLER_ERROR("%s: kernel %u: core type %u is none of AIC (0), AIV (1)", name,
                      kernel->func_id, kernel->core_type);
        return SIMPLER_EINVAL;
    }
    return check_signature(name, kernel);
}

static int check_kernels(const struct simpler_callable *callable)
{
    bool seen[SIMPLER_MAX_FUNC_ID + 1] = {false};
    const char *name = name_of(callable);

    for (uint32_t i = 0; i < callable->kernel_count; i++) {
        const struct simpler_kernel *kernel = &callable->kernels[i];
        int rc = check_kernel(name, kernel);
        if (rc != 0)
            return rc;
        if (seen[kernel->func_id]) {
            SIMPLER_ERROR("%s: func_id %u is given twice", name, kernel->func_id);
            return SIMPLER_EINVAL;
        }
        seen[kernel->func_id] = true;
    }
    return 0;
}

static int check(const struct simpler_callable *callable)
{
    if (callable == NULL) {
        SIMPLER_ERROR("register: the callable is NULL");
        return SIMPLER_EINVAL;
    }
    if (callable->orchestrate == NULL) {
        SIMPLER_ERROR("%s: there is no orchestration function", name_of(callable));
        return SIMPLER_EINVAL;
    }
    if (callable->kernel_count != 0 && callable->kernels == NULL) {
        SIMPLER_ERROR("%s: %u kernel%s counted, but kernels is NULL", name_of(callable),
                      callable->kernel_count, simpler_text_plural(callable->kernel_count));
        return SIMPLER_EINVAL;
    }
    return check_kernels(callable);
}

/* FNV-1a over bytes. */
static void hash_bytes(uint64_t *hash, const void *data, size_t bytes)
{
    const unsigned char *p = data;

    for (size_t i = 0; i < bytes; i++)
        *hash = (*hash ^ p[i]) * 0x100000001b3u;
}

static void hash_text(uint64_t *hash, const char *text)
{
    if (text != NULL)
        hash_bytes(hash, text, strlen(text) + 1);
}

static uint64_t hash_of(const struct simpler_callable *callable)
{
    uint64_t hash = 0xcbf29ce484222325u;

    hash_text(&hash, callable->name);
    hash_text(&hash, callable->file);
    hash_bytes(&hash, &callable->line, sizeof(callable->line));
    hash_bytes(&hash, &callable->orchestrate, sizeof(callable->orchestrate));
    hash_bytes(&hash, &callable->expected_arg_count, sizeof(callable->expected_arg_count));
    for (uint32_t i = 0; i < callable->kernel_count; i++) {
        const struct simpler_kernel *kernel = &callable->kernels[i];
        hash_bytes(&hash, &kernel->func_id, sizeof(kernel->func_id));
        hash_bytes(&hash, &kernel->core_type, sizeof(kernel->core_type));
        hash_bytes(&hash, &kernel->fn, sizeof(kernel->fn));
        hash_text(&hash, kernel->name);
        hash_bytes(&hash, kernel->signature, kernel->signature_count);
    }
    return hash;
}

static int copy_kernel(struct simpler_kernel *to, const struct simpler_kernel *from)
{
    char default_name[32];

    *to = *from;
    to->signature = NULL;
    (void)snprintf(default_name, sizeof(default_name), "kernel %u", from->func_id);
    to->name = simpler_alloc_string(from->name != NULL ? from->name : default_name);
    if (to->name == NULL)
        return SIMPLER_ENOMEM;
    if (from->signature_count == 0)
        return 0;
    uint8_t *signature = simpler_alloc_zeroed(from->signature_count, 1);
    if (signature == NULL)
        return SIMPLER_ENOMEM;
    memcpy(signature, from->signature, from->signature_count);
    to->signature = signature;
    return 0;
}

static int copy_kernels(struct simpler_callable_copy *copy, const struct simpler_callable *from)
{
    if (from->kernel_count == 0)
        return 0;
    struct simpler_kernel *kernels = simpler_alloc_zeroed(from->kernel_count, sizeof(*kernels));
    if (kernels == NULL)
        return SIMPLER_ENOMEM;
    copy->callable.kernels = kernels;
    copy->callable.kernel_count = from->kernel_count;
    for (uint32_t i = 0; i < from->kernel_count; i++) {
        uint32_t func_id = from->kernels[i].func_id;
        int rc = copy_kernel(&kernels[i], &from->kernels[i]);
        if (rc != 0)
            return rc;
        copy->by_id[func_id] = &kernels[i];
        if (func_id >= copy->func_id_count)
            copy->func_id_count = func_id + 1;
    }
    return 0;
}

static int copy_all(struct simpler_callable_copy *copy, const struct simpler_callable *from)
{
    copy->callable.orchestrate = from->orchestrate;
    copy->callable.line = from->line;
    copy->callable.expected_arg_count = from->expected_arg_count;
    copy->callable.name = simpler_alloc_string(name_of(from));
    if (copy->callable.name == NULL)
        return SIMPLER_ENOMEM;
    if (from->file != NULL) {
        copy->callable.file = simpler_alloc_string(from->file);
        if (copy->callable.file == NULL)
            return SIMPLER_ENOMEM;
    }
    int rc = copy_kernels(copy, from);
    if (rc == 0)
        copy->hash = hash_of(&copy->callable);
    return rc;
}

int simpler_callable_copy_init(struct simpler_callable_copy *copy,
                               const struct simpler_callable *from)
{
    memset(copy, 0, sizeof(*copy));
    int rc = check(from);
    if (rc != 0)
        return rc;
    rc = copy_all(copy, from);
    if (rc != 0) {
        SIMPLER_ERROR("%s: out of memory while it is registered", name_of(from));
        simpler_callable_copy_fini(copy);
    }
    return rc;
}

void simpler_callable_copy_fini(struct simpler_callable_copy *copy)
{
    if (copy == NULL)
        return;
    for (uint32_t i = 0; i < copy->callable.kernel_count; i++) {
        simpler_alloc_free((void *)(uintptr_t)copy->callable.kernels[i].signature);
        simpler_alloc_free((void *)(uintptr_t)copy->callable.kernels[i].name);
    }
    simpler_alloc_free((void *)(uintptr_t)copy->callable.kernels);
    simpler_alloc_free((void *)(uintptr_t)copy->callable.file);
    simpler_alloc_free((void *)(uintptr_t)copy->callable.name);
    memset(copy, 0, sizeof(*copy));
}

static bool text_equal(const char *a, const char *b)
{
    return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

static bool kernel_equal(const struct simpler_kernel *a, const struct simpler_kernel *b)
{
    return a->func_id == b->func_id && a->core_type == b->core_type && a->fn == b->fn &&
           text_equal(a->name, b->name) && a->signature_count == b->signature_count &&
           (a->signature_count == 0 || memcmp(a->signature, b->signature, a->signature_count) == 0);
}

bool simpler_callable_copy_equal(const struct simpler_callable_copy *a,
                                 const struct simpler_callable_copy *b)
{
    const struct simpler_callable *x = &a->callable;
    const struct simpler_callable *y = &b->callable;

    if (a->hash != b->hash || x->orchestrate != y->orchestrate || x->line != y->line ||
        x->expected_arg_count != y->expected_arg_count || x->kernel_count != y->kernel_count ||
        !text_equal(x->name, y->name) || !text_equal(x->file, y->file))
        return false;
    for (uint32_t i = 0; i < x->kernel_count; i++) {
        if (!kernel_equal(&x->kernels[i], &y->kernels[i]))
            return false;
    }
    return true;
}
