/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scalars and explicit dependencies of a task's arguments; tensors are added by
 * the inline functions of task.h.  A call adds all that it was asked to or, with
 * the first error recorded, nothing.
 */
#include "simpler/task.h"

#include <stdbool.h>
#include <string.h>

#include "base/logger.h"

#define TEXT_OF_(n) #n
#define TEXT_OF(n)  TEXT_OF_(n)

static const char *const error_texts[] = {
    [SIMPLER_ARGS_OK] = "no error",
    [SIMPLER_ARGS_TENSOR_AFTER_SCALAR] = "a tensor was added after a scalar; tensors come first",
    [SIMPLER_ARGS_TOO_MANY_TENSORS] =
        "more than " TEXT_OF(SIMPLER_MAX_TENSORS) " tensors in one task",
    [SIMPLER_ARGS_TOO_MANY_SCALARS] =
        "more than " TEXT_OF(SIMPLER_MAX_SCALARS) " scalars in one task",
    [SIMPLER_ARGS_NULL] = "a pointer is NULL",
    [SIMPLER_ARGS_BAD_DTYPE] = "an element type that does not exist",
    [SIMPLER_ARGS_BAD_TENSOR] = "a tensor or create-info breaks the rules of its header",
    [SIMPLER_ARGS_DEPENDENCIES_TWICE] = "explicit dependencies were set twice",
    [SIMPLER_ARGS_SCALAR_RANGE] = "scalars were copied from beyond the end of the other arguments",
    [SIMPLER_ARGS_DUMP_NOTHING] = "the dump selects all arguments, but none was added before",
    [SIMPLER_ARGS_DUMP_UNKNOWN] =
        ("the dump selects an address from which no tensor, create-info or scalar was added (the "
         "number is its place in the selection)"),
    [SIMPLER_ARGS_DUMP_NULL] =
        "the dump selects the address NULL (the number is its place in the selection)",
    [SIMPLER_ARGS_BLOCK_NUM] = "block_num is outside 1 to " TEXT_OF(SIMPLER_MAX_BLOCKS),
    [SIMPLER_ARGS_TIMING_SLOT] = "the task timing slot is none of -1 and 0 to 15",
    [SIMPLER_ARGS_PREDICATE] = "the predicate is NULL or has a comparison that does not exist",
    [SIMPLER_ARGS_TOO_MANY_DEPS] =
        "more than " TEXT_OF(SIMPLER_MAX_DEPS) " explicit dependencies were collected",
    [SIMPLER_ARGS_DUMP_NO_TENSOR] = "dump: the tensor is not in this argument object",
    [SIMPLER_ARGS_DUMP_NO_CREATE_INFO] = "dump: the create-info is not in this argument object",
    [SIMPLER_ARGS_DUMP_NO_SCALAR] = "dump: the scalar is not in this argument object",
};
_Static_assert(sizeof(error_texts) / sizeof(error_texts[0]) == SIMPLER_ARGS_ERROR_NUM,
               "each error has a text");

/* An object that is not there can record no error. */
static bool is_given(const struct simpler_task_args *args)
{
    if (args == NULL)
        SIMPLER_ERROR("task arguments: args is NULL");
    return args != NULL;
}

/* Whether @n more scalars from @values may be added; records the error if not. */
static bool may_add(struct simpler_task_args *args, const void *values, uint32_t n)
{
    if (!is_given(args) || args->error != SIMPLER_ARGS_OK || n == 0)
        return false;
    if (values == NULL) {
        simpler_task_args_set_error(args, SIMPLER_ARGS_NULL,
                                    args->tensor_count + args->scalar_count);
        return false;
    }
    if (args->scalar_count > SIMPLER_MAX_SCALARS || n > SIMPLER_MAX_SCALARS - args->scalar_count) {
        simpler_task_args_set_error(args, SIMPLER_ARGS_TOO_MANY_SCALARS,
                                    args->tensor_count + SIMPLER_MAX_SCALARS);
        return false;
    }
    return true;
}

static void append(struct simpler_task_args *args, uint64_t bits, uint32_t dtype,
                   const void *source)
{
    uint32_t i = args->scalar_count++;

    args->scalar[i] = bits;
    args->scalar_dtype[i] = (uint8_t)dtype;
    args->scalar_source[i] = source;
}

void simpler_task_args_add_scalar(struct simpler_task_args *args, const void *value, uint32_t dtype)
{
    uint64_t bits = 0;

    if (!may_add(args, value, 1))
        return;
    if (dtype >= SIMPLER_DTYPE_NUM) {
        simpler_task_args_set_error(args, SIMPLER_ARGS_BAD_DTYPE,
                                    args->tensor_count + args->scalar_count);
        return;
    }
    memcpy(&bits, value, simpler_dtype_bytes(dtype));
    append(args, bits, dtype, value);
}

void simpler_task_args_add_scalars(struct simpler_task_args *args, const uint64_t *values,
                                   uint32_t n)
{
    if (!may_add(args, values, n))
        return;
    for (uint32_t i = 0; i < n; i++)
        append(args, values[i], SIMPLER_DTYPE_UINT64, NULL);
}

void simpler_task_args_add_scalars_i32(struct simpler_task_args *args, const int32_t *values,
                                       uint32_t n)
{
    if (!may_add(args, values, n))
        return;
    for (uint32_t i = 0; i < n; i++)
        append(args, (uint32_t)values[i], SIMPLER_DTYPE_INT32, NULL);
}

void simpler_task_args_copy_scalars(struct simpler_task_args *args,
                                    const struct simpler_task_args *from, uint32_t offset,
                                    uint32_t n)
{
    if (!is_given(args))
        return;
    /* An object that was never reset may count anything. */
    if (args->error == SIMPLER_ARGS_OK && from != NULL &&
        (from->scalar_count > SIMPLER_MAX_SCALARS || offset > from->scalar_count ||
         n > from->scalar_count - offset)) {
        simpler_task_args_set_error(args, SIMPLER_ARGS_SCALAR_RANGE,
                                    args->tensor_count + args->scalar_count);
        return;
    }
    if (!may_add(args, from, n))
        return;
    for (uint32_t i = offset; i < offset + n; i++)
        append(args, from->scalar[i], from->scalar_dtype[i], NULL);
}

static void set_dependencies(struct simpler_task_args *args, const struct simpler_task_id *ids,
                             const uint8_t *kinds, uint32_t count)
{
    if (args->error != SIMPLER_ARGS_OK)
        return;
    if (count != 0 && args->dependency_count != 0) {
        simpler_task_args_set_error(args, SIMPLER_ARGS_DEPENDENCIES_TWICE, 0);
        return;
    }
    args->dependency = count != 0 ? ids : NULL;
    args->dependency_kind = count != 0 ? kinds : NULL;
    args->dependency_count = count;
}

void simpler_task_args_set_dependencies(struct simpler_task_args *args,
                                        const struct simpler_task_id *ids, uint32_t count)
{
    if (!is_given(args))
        return;
    if (count != 0 && ids == NULL)
        simpler_task_args_set_error(args, SIMPLER_ARGS_NULL, 0);
    set_dependencies(args, ids, NULL, count);
}

void simpler_task_args_set_dependencies_with_kinds(struct simpler_task_args *args,
                                                   const struct simpler_task_id *ids,
                                                   const uint8_t *kinds, uint32_t count)
{
    if (!is_given(args))
        return;
    if (count != 0 && (ids == NULL || kinds == NULL))
        simpler_task_args_set_error(args, SIMPLER_ARGS_NULL, 0);
    set_dependencies(args, ids, kinds, count);
}

#if SIMPLER_DFX

/* Payload index of the first argument that was added from @address, or -1. */
static int find_argument(const struct simpler_task_args *args, const void *address)
{
    for (uint32_t i = 0; i < args->tensor_count; i++) {
        if (args->tensor[i] == address)
            return (int)i;
    }
    for (uint32_t k = 0; k < args->scalar_count; k++) {
        if (args->scalar_source[k] == address)
            return (int)(args->tensor_count + k);
    }
    return -1;
}

static bool is_scalar_again(const struct simpler_task_args *args, const void *address, uint32_t k)
{
    while (++k < args->scalar_count) {
        if (args->scalar_source[k] == address)
            return true;
    }
    return false;
}

/* Selects one argument; false when there is none. */
static bool select_argument(struct simpler_task_args *args, const void *address)
{
    int at = find_argument(args, address);

    if (at < 0)
        return false;
    args->dump_mask |= (uint64_t)1 << at;
    if ((uint32_t)at >= args->tensor_count) {
        uint32_t k = (uint32_t)at - args->tensor_count;
        if (is_scalar_again(args, address, k))
            args->dump_ambiguous |= (uint64_t)1 << k;
    }
    return true;
}

void simpler_task_args_dump_list(struct simpler_task_args *args, const void *const *addresses,
                                 size_t count)
{
    if (!is_given(args))
        return;
    for (size_t i = 0; i < count && args->error == SIMPLER_ARGS_OK; i++) {
        if (addresses == NULL || addresses[i] == NULL)
            simpler_task_args_set_error(args, SIMPLER_ARGS_DUMP_NULL, (uint32_t)i);
        else if (!select_argument(args, addresses[i]))
            simpler_task_args_set_error(args, SIMPLER_ARGS_DUMP_UNKNOWN, (uint32_t)i);
    }
}

void simpler_task_args_dump_all(struct simpler_task_args *args)
{
    if (!is_given(args) || args->error != SIMPLER_ARGS_OK)
        return;
    uint32_t count = args->tensor_count + args->scalar_count;
    if (count == 0)
        simpler_task_args_set_error(args, SIMPLER_ARGS_DUMP_NOTHING, 0);
    else
        args->dump_mask |= ((uint64_t)1 << count) - 1;
}

#else

void simpler_task_args_dump_list(struct simpler_task_args *args, const void *const *addresses,
                                 size_t count)
{
    (void)args;
    (void)addresses;
    (void)count;
}

void simpler_task_args_dump_all(struct simpler_task_args *args)
{
    (void)args;
}

#endif

const char *simpler_task_args_error_text(uint32_t error)
{
    return error < SIMPLER_ARGS_ERROR_NUM ? error_texts[error] : "unknown error";
}
