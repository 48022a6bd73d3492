/* SPDX-License-Identifier: Apache-2.0 */
/* The arguments of a case in a scene.json. */
#include "manifest_args.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

#define MAX_ELEMENTS (UINT64_C(1) << 34)

static bool read_scalar(const struct simpler_manifest_reader *r, json_t *object,
                        struct simpler_manifest_arg *arg)
{
    json_t *value = json_object_get(object, "value");
    struct simpler_element_number number = {0};

    if (!simpler_manifest_check_keys(r, object, "name scalar value") ||
        !simpler_manifest_read_dtype(r, object, "scalar", &arg->dtype))
        return false;
    if (json_is_boolean(value))
        number = simpler_element_integer(json_is_true(value));
    else if (json_is_string(value) ? !simpler_element_parse(json_string_value(value), &number)
                                   : !simpler_manifest_read_number(value, &number))
        return simpler_manifest_fail(r, "value is no number");
    if (simpler_element_encode(arg->dtype, &number, &arg->bits))
        return true;
    return simpler_manifest_fail(r, "value does not fit %s", simpler_dtype_name(arg->dtype));
}

static bool read_shape(const struct simpler_manifest_reader *r, json_t *object,
                       struct simpler_manifest_arg *arg)
{
    json_t *shape = json_object_get(object, "shape"), *extent;
    size_t i;

    if (!json_is_array(shape) || json_array_size(shape) == 0 ||
        json_array_size(shape) > SIMPLER_MAX_DIMS)
        return simpler_manifest_fail(r, "shape is no list of 1 to %d extents", SIMPLER_MAX_DIMS);
    arg->ndims = (uint32_t)json_array_size(shape);
    arg->numel = 1;
    json_array_foreach(shape, i, extent)
    {
        if (!json_is_integer(extent) || json_integer_value(extent) < 0 ||
            json_integer_value(extent) > UINT32_MAX)
            return simpler_manifest_fail(r, "shape[%zu] is no extent", i);
        arg->shape[i] = (uint32_t)json_integer_value(extent);
        if (arg->shape[i] != 0 && arg->numel > MAX_ELEMENTS / arg->shape[i])
            return simpler_manifest_fail(r, "the tensor has more than %" PRIu64 " elements",
                                         MAX_ELEMENTS);
        arg->numel *= arg->shape[i];
    }
    return true;
}

/* Two numbers of an array. */
static bool read_pair(const struct simpler_manifest_reader *r, json_t *init, const char *key,
                      struct simpler_manifest_arg *arg)
{
    json_t *pair = json_object_get(init, key);

    return (json_is_array(pair) && json_array_size(pair) == 2 &&
            simpler_manifest_read_number(json_array_get(pair, 0), &arg->number[0]) &&
            simpler_manifest_read_number(json_array_get(pair, 1), &arg->number[1])) ||
           simpler_manifest_fail(r, "init.%s is no list of two numbers", key);
}

static bool read_values(const struct simpler_manifest_reader *r, json_t *values,
                        struct simpler_manifest_arg *arg)
{
    struct simpler_element_number number;
    json_t *value;
    size_t i;

    if (!json_is_array(values) || json_array_size(values) != arg->numel)
        return simpler_manifest_fail(
            r, "init.values has %zu number%s, the tensor %" PRIu64 " element%s",
            json_array_size(values), simpler_text_plural(json_array_size(values)), arg->numel,
            simpler_text_plural(arg->numel));
    json_array_foreach(values, i, value)
    {
        if (!simpler_manifest_read_number(value, &number))
            return simpler_manifest_fail(r, "init.values[%zu] is no number", i);
    }
    arg->init = SIMPLER_INIT_VALUES;
    arg->values = values;
    return true;
}

static bool read_random(const struct simpler_manifest_reader *r, json_t *init,
                        struct simpler_manifest_arg *arg)
{
    int64_t seed = 0;

    arg->init = SIMPLER_INIT_RANDOM;
    if (!read_pair(r, init, "random", arg) ||
        !simpler_manifest_read_integer(r, init, "seed", 0, UINT32_MAX, true, &seed))
        return false;
    arg->seed = (uint64_t)seed;
    return arg->number[0].real <= arg->number[1].real ||
           simpler_manifest_fail(r, "init.random ends before it begins");
}

static bool read_init(const struct simpler_manifest_reader *r, json_t *object,
                      struct simpler_manifest_arg *arg)
{
    static const char *const words[] = {"zeros", "ones"};
    json_t *init = json_object_get(object, "init");

    arg->init = SIMPLER_INIT_FILL;
    arg->number[0] = simpler_element_integer(0);
    if (init == NULL || json_is_string(init)) {
        int word = simpler_manifest_read_choice(r, object, "init", words, 2, 0);
        arg->number[0] = simpler_element_integer(word);
        return word >= 0;
    }
    if (!simpler_manifest_check_keys(r, init, "fill arange random seed values npy"))
        return false;
    if (json_object_size(init) != (json_object_get(init, "random") != NULL ? 2 : 1))
        return simpler_manifest_fail(
            r, "init holds one of fill, arange, random with seed, values, npy");
    if (json_object_get(init, "random") != NULL)
        return read_random(r, init, arg);
    if (json_object_get(init, "arange") != NULL) {
        arg->init = SIMPLER_INIT_ARANGE;
        return read_pair(r, init, "arange", arg);
    }
    if (json_object_get(init, "values") != NULL)
        return read_values(r, json_object_get(init, "values"), arg);
    if (json_object_get(init, "npy") != NULL) {
        arg->init = SIMPLER_INIT_NPY;
        return simpler_manifest_read_string(r, init, "npy", true, &arg->npy);
    }
    return simpler_manifest_read_number(json_object_get(init, "fill"), &arg->number[0]) ||
           simpler_manifest_fail(r, "init.fill is no number");
}

static bool read_tensor(const struct simpler_manifest_reader *r, json_t *object,
                        struct simpler_manifest_arg *arg)
{
    static const char *const directions[] = {"in", "out", "inout"};
    int direction = simpler_manifest_read_choice(r, object, "dir", directions, 3, 0);

    if (direction < 0 || !simpler_manifest_check_keys(r, object, "name dtype shape dir init") ||
        !simpler_manifest_read_dtype(r, object, "dtype", &arg->dtype) ||
        !read_shape(r, object, arg) || !read_init(r, object, arg))
        return false;
    arg->direction = (enum simpler_arg_direction)(SIMPLER_DIR_IN + direction);
    return true;
}

bool simpler_manifest_read_args(struct simpler_manifest_reader *r, json_t *object,
                                struct simpler_manifest_case *c)
{
    json_t *list = json_object_get(object, "args"), *entry;
    size_t place = strlen(r->where), i;

    if (list != NULL && !json_is_array(list))
        return simpler_manifest_fail(r, "args is no list");
    c->args = simpler_manifest_allocate(r, json_array_size(list), sizeof(*c->args));
    if (c->args == NULL)
        return false;
    json_array_foreach(list, i, entry)
    {
        struct simpler_manifest_arg *arg = &c->args[c->arg_count++];
        (void)snprintf(r->where + place, sizeof(r->where) - place, ".args[%zu]", i);
        if (!json_is_object(entry) ||
            !simpler_manifest_read_string(r, entry, "name", true, &arg->name))
            return json_is_object(entry) ? false
                                         : simpler_manifest_fail(r, "an object is expected here");
        for (uint32_t k = 0; k + 1 < c->arg_count; k++) {
            if (strcmp(c->args[k].name, arg->name) == 0)
                return simpler_manifest_fail(r, "there are two arguments '%.60s'", arg->name);
        }
        arg->is_scalar = json_object_get(entry, "scalar") != NULL;
        if (!arg->is_scalar && c->arg_count - 1 > c->tensor_count)
            return simpler_manifest_fail(r, "a tensor after a scalar; tensors come first");
        if (!(arg->is_scalar ? read_scalar(r, entry, arg) : read_tensor(r, entry, arg)))
            return false;
        c->tensor_count += !arg->is_scalar;
    }
    r->where[place] = '\0';
    return true;
}
