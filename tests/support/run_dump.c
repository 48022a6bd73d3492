/* SPDX-License-Identifier: Apache-2.0 */
/*
 * args_dump.json and args.bin, by what docs/formats.md and the documents of the args dump say
 * of them: what each entry is follows from the program, what its bytes are from the
 * serial reference.
 */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "run_files.h"

#define TENSORS_MOST SIMPLER_MAX_TENSORS

static const char *const top_keys[] = {"run_dir",
                                       "bin_format",
                                       "dump_args_level",
                                       "total_args",
                                       "before_dispatch",
                                       "after_completion",
                                       "input_args",
                                       "output_args",
                                       "inout_args",
                                       "truncated_args",
                                       "dropped_records",
                                       "bin_file",
                                       "args"};
static const char *const tensor_keys[] = {
    "task_id", "func_id", "role",         "stage",         "arg_index", "kind",       "dtype",
    "shape",   "strides", "start_offset", "is_contiguous", "truncated", "bin_offset", "bin_size"};
static const char *const scalar_keys[] = {
    "task_id",      "func_id",       "role",      "stage",      "arg_index",
    "kind",         "dtype",         "value",     "shape",      "strides",
    "start_offset", "is_contiguous", "truncated", "bin_offset", "bin_size"};

struct counts {
    int64_t before, after, input, output, inout, truncated;
};

struct extent {
    uint64_t offset, bytes;
};

struct dump {
    struct run_files *files;
    json_t *manifest;
    uint8_t *bin;
    uint64_t bin_bytes;
    bool gone; /* args.bin was taken away */
    int64_t dropped;
    struct counts counts;
    struct extent *extents;
    uint32_t extent_count;
    uint64_t last_key[3];
    /* What is there: of each access before and after, of each task its scalars. */
    bool tensors[GRAPH_MAX_ACCESSES][2];
    bool scalars[GRAPH_MAX_TASKS][2];
};

/* One entry, as it was read. */
struct entry {
    const json_t *json;
    uint32_t task, arg;
    bool after, scalar, truncated;
    const char *role;
    uint64_t offset, bytes;
};

static int64_t whole_number(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    return json_is_integer(value) ? json_integer_value(value) : -1;
}

static const char *text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text != NULL ? text : "";
}

static bool wrong(struct dump *d, const struct entry *e, const char *what)
{
    return run_files_fault(d->files, "manifest: task %u argument %u %s: %s", e->task, e->arg,
                           e->after ? "after" : "before", what);
}

/* ---- what an entry must be ---- */

static bool find_task(const struct dump *d, const char *id, uint32_t *out)
{
    const struct graph_program *p = d->files->program;
    unsigned long long raw = 0;
    char again[32];

    if (sscanf(id, "0x%16llx", &raw) != 1)
        return false;
    (void)snprintf(again, sizeof(again), "0x%016llx", raw);
    if (strcmp(id, again) != 0)
        return false;
    for (uint32_t i = 0; i < p->task_count; i++) {
        unsigned long long own = run_files_host_built(d->files)
                                     ? i
                                     : (unsigned long long)p->task[i].ring << 32 | p->task[i].local;
        if (own == raw) {
            *out = i;
            return true;
        }
    }
    return false;
}

static uint32_t access_at(const struct graph_program *p, uint32_t task, uint32_t arg)
{
    const struct graph_task *t = &p->task[task];
    return t->first_access + (arg + t->rotation) % t->access_count;
}

static const char *role_of(const struct graph_access *a)
{
    if (a->use == SIMPLER_USE_INPUT)
        return "input";
    return a->use == SIMPLER_USE_OUTPUT || a->use == SIMPLER_USE_OUTPUT_EXISTING ? "output"
                                                                                 : "inout";
}

static bool is_captured(const struct graph_access *a, bool after)
{
    return strcmp(role_of(a), "inout") == 0 || (strcmp(role_of(a), "output") == 0) == after;
}

static bool is_marked(const struct dump *d, uint32_t task)
{
    const struct graph_hooks *hooks = d->files->hooks;
    return hooks->marks != NULL && d->files->program->task[task].access_count != 0 &&
           hooks->marks(hooks->user, task);
}

static bool is_recorded(const struct dump *d, uint32_t task)
{
    return d->files->config->enable_dump_args != 1 || is_marked(d, task);
}

static bool has_payload(const struct dump *d, uint32_t task)
{
    return d->files->config->enable_dump_args == 2 || is_marked(d, task);
}

static bool has_right_functions(struct dump *d, const struct entry *e)
{
    const json_t *list = json_object_get(e->json, "func_id");
    const struct graph_task *t = &d->files->program->task[e->task];
    size_t lanes = t->form.lanes == 0 ? 1 : (size_t)__builtin_popcount(t->form.lanes);

    if (run_files_host_built(d->files))
        return json_array_size(list) == 1 && json_integer_value(json_array_get(list, 0)) == -1;
    if (json_array_size(list) != lanes)
        return false;
    /* The kit's ids: one a number of tensors and a variant. */
    for (size_t i = 0; i < lanes; i++) {
        if (json_integer_value(json_array_get(list, i)) % KIT_VARIANT != t->access_count)
            return false;
    }
    return lanes != 1 || t->form.lanes != 0 ||
           json_integer_value(json_array_get(list, 0)) / KIT_VARIANT == t->variant;
}

static bool has_right_view(struct dump *d, const struct entry *e, const struct graph_view *view)
{
    const json_t *shape = json_object_get(e->json, "shape");
    const json_t *strides = json_object_get(e->json, "strides");
    bool empty = graph_view_numel(view) == 0;

    if (json_array_size(shape) != view->ndims || json_array_size(strides) != view->ndims)
        return wrong(d, e, "shape");
    for (uint32_t i = 0; i < view->ndims; i++) {
        if (json_integer_value(json_array_get(shape, i)) != view->shape[i])
            return wrong(d, e, "shape");
        if (json_integer_value(json_array_get(strides, i)) != (empty ? 1 : view->stride[i]))
            return wrong(d, e, "strides");
    }
    if (!empty && whole_number(e->json, "start_offset") != (int64_t)view->offset)
        return wrong(d, e, "start_offset");
    if (!empty &&
        json_is_true(json_object_get(e->json, "is_contiguous")) != graph_view_contiguous(view))
        return wrong(d, e, "is_contiguous");
    return strcmp(text_of(e->json, "dtype"), simpler_dtype_name(view->dtype)) == 0 ||
           wrong(d, e, "dtype");
}

/* ---- bytes ---- */

/* No other access of the task writes to the buffer. */
static bool is_only_writer(const struct graph_program *p, uint32_t task, uint32_t access)
{
    const struct graph_task *t = &p->task[task];

    for (uint32_t i = t->first_access; i < t->first_access + t->access_count; i++) {
        if (i != access && p->access[i].writes && p->access[i].buffer == p->access[access].buffer)
            return false;
    }
    return true;
}

/* Elements of a view may lie on each other: then the last one stays. */
static bool is_plain(const struct graph_view *view)
{
    return graph_view_numel(view) != 0 && graph_view_contiguous(view);
}

static bool has_right_bytes(struct dump *d, const struct entry *e, uint32_t access)
{
    const struct graph_program *p = d->files->program;
    const struct graph_access *a = &p->access[access];
    uint32_t i = access - p->task[e->task].first_access, size = graph_dtype_bytes(a->view.dtype);
    const uint8_t *data = d->bin + e->offset;

    if (!e->after && a->reads && !e->truncated && graph_expected()->runs[e->task] != 0)
        return graph_fold_packed(i, data, size, e->bytes / size) ==
                   graph_expected()->seen[access] ||
               wrong(d, e, "the payload is not what was there");
    /* What a kernel that has not ended had written may be anything. */
    if (!e->after || !a->writes || graph_actual()->digest[e->task] == 0 ||
        (p->task[e->task].form.deferred && d->files->result->status != 0) || !is_plain(&a->view) ||
        !is_only_writer(p, e->task, access))
        return true;
    for (uint64_t k = 0; k < e->bytes / size; k++) {
        uint64_t value = graph_written(graph_expected()->digest[e->task], i, k);
        if (memcmp(&value, data + k * size, size) != 0)
            return wrong(d, e, "the payload is not what was written");
    }
    return true;
}

static bool has_right_payload(struct dump *d, const struct entry *e, uint32_t access)
{
    const struct graph_view *view = &d->files->program->access[access].view;
    uint64_t size = graph_dtype_bytes(view->dtype), whole = graph_view_numel(view) * size;

    if (!has_payload(d, e->task))
        return (e->bytes == 0 && !e->truncated) || wrong(d, e, "payload of an unmarked tensor");
    if (e->truncated ? e->bytes >= whole || e->bytes % size != 0 : e->bytes != whole)
        return wrong(d, e, "bin_size");
    if (e->bytes == 0)
        return e->offset == 0 || wrong(d, e, "bin_offset without payload");
    if (e->offset > d->bin_bytes || e->bytes > d->bin_bytes - e->offset)
        return wrong(d, e, "the payload is beyond args.bin");
    d->extents[d->extent_count++] = (struct extent){e->offset, e->bytes};
    return has_right_bytes(d, e, access);
}

/* ---- one entry ---- */

static bool see_tensor(struct dump *d, const struct entry *e)
{
    const struct graph_program *p = d->files->program;

    if (!run_files_has_keys(e->json, tensor_keys, 14))
        return wrong(d, e, "keys");
    if (e->arg >= p->task[e->task].access_count)
        return wrong(d, e, "no such tensor");
    uint32_t access = access_at(p, e->task, e->arg);
    const struct graph_access *a = &p->access[access];
    if (d->tensors[access][e->after])
        return wrong(d, e, "twice");
    d->tensors[access][e->after] = true;
    if (strcmp(e->role, role_of(a)) != 0 || !is_captured(a, e->after))
        return wrong(d, e, "role");
    return has_right_view(d, e, &a->view) && has_right_payload(d, e, access);
}

static bool see_scalar(struct dump *d, const struct entry *e)
{
    uint32_t n = e->arg - d->files->program->task[e->task].access_count;
    const json_t *value = json_object_get(e->json, "value");

    if (!run_files_has_keys(e->json, scalar_keys, 15) || n > 1 || e->after ||
        strcmp(e->role, "input") != 0 || e->bytes != 0 || e->offset != 0 || e->truncated ||
        json_array_size(json_object_get(e->json, "shape")) != 0)
        return wrong(d, e, "scalar");
    if (d->scalars[e->task][n])
        return wrong(d, e, "twice");
    d->scalars[e->task][n] = true;
    return (json_is_integer(value) &&
            (uint64_t)json_integer_value(value) == graph_scalar(e->task, n)) ||
           wrong(d, e, "value");
}

static void count_entry(struct counts *c, const struct entry *e)
{
    *(e->after ? &c->after : &c->before) += 1;
    c->input += strcmp(e->role, "input") == 0;
    c->output += strcmp(e->role, "output") == 0;
    c->inout += strcmp(e->role, "inout") == 0;
    c->truncated += e->truncated;
}

/* Sorted by task, stage and argument. */
static bool is_in_order(struct dump *d, const struct entry *e)
{
    uint64_t id = strtoull(text_of(e->json, "task_id"), NULL, 16);
    uint64_t key[3] = {id, e->after, e->arg + 1};

    for (uint32_t i = 0; i < 3; i++) {
        if (key[i] != d->last_key[i]) {
            bool later = key[i] > d->last_key[i];
            memcpy(d->last_key, key, sizeof(key));
            return later || wrong(d, e, "out of order");
        }
    }
    return wrong(d, e, "twice in a row");
}

static bool is_launch(const struct graph_task *task)
{
    return task->form.lanes != 0 || task->form.timed || task->predicate.op != 0;
}

/*
 * More than a call of one kernel: it was dispatched, and the run ended before a kernel was
 * called; or none could be called, which is a failure of the task.
 */
static bool may_be_dispatched(const struct dump *d, uint32_t task, bool after)
{
    int status = d->files->result->status;

    return status != 0 && (!after || status == SIMPLER_EKERNEL) &&
           is_launch(&d->files->program->task[task]);
}

static bool see_entry(struct dump *d, const json_t *json)
{
    struct entry e = {.json = json, .role = text_of(json, "role")};
    const char *stage = text_of(json, "stage"), *kind = text_of(json, "kind");
    int64_t arg = whole_number(json, "arg_index"), offset = whole_number(json, "bin_offset");
    int64_t bytes = whole_number(json, "bin_size");

    if (!find_task(d, text_of(json, "task_id"), &e.task))
        return run_files_fault(d->files, "manifest: a task of nobody: %s",
                               text_of(json, "task_id"));
    e.after = strcmp(stage, "after_completion") == 0;
    e.scalar = strcmp(kind, "scalar") == 0;
    e.truncated = json_is_true(json_object_get(json, "truncated"));
    if (arg < 0 || offset < 0 || bytes < 0 || (!e.after && strcmp(stage, "before_dispatch") != 0) ||
        (!e.scalar && strcmp(kind, "tensor") != 0))
        return wrong(d, &e, "a value is missing");
    e.arg = (uint32_t)arg;
    e.offset = (uint64_t)offset;
    e.bytes = (uint64_t)bytes;
    count_entry(&d->counts, &e);
    if (!is_recorded(d, e.task) || d->files->program->task[e.task].kind != GRAPH_TASK_KERNEL ||
        graph_expected()->runs[e.task] == 0)
        return wrong(d, &e, "a task that has no records");
    if (graph_actual()->runs[e.task] == 0 && !may_be_dispatched(d, e.task, e.after))
        return wrong(d, &e, "a task that did not run");
    return is_in_order(d, &e) && (has_right_functions(d, &e) || wrong(d, &e, "func_id")) &&
           (e.scalar ? see_scalar(d, &e) : see_tensor(d, &e));
}

/* ---- the files ---- */

static bool adds_up(struct dump *d)
{
    const json_t *m = d->manifest;
    int64_t entries = (int64_t)json_array_size(json_object_get(m, "args"));
    const struct counts said = {
        whole_number(m, "before_dispatch"), whole_number(m, "after_completion"),
        whole_number(m, "input_args"),      whole_number(m, "output_args"),
        whole_number(m, "inout_args"),      whole_number(m, "truncated_args")};

    if (memcmp(&said, &d->counts, sizeof(said)) != 0 || whole_number(m, "total_args") != entries)
        return run_files_fault(d->files, "manifest: its counts are not those of its entries");
    if (whole_number(m, "dump_args_level") != (int64_t)d->files->config->enable_dump_args)
        return run_files_fault(d->files, "manifest: dump_args_level");
    if (entries == 0 && d->dropped == 0)
        return run_files_fault(d->files, "manifest: without entries");
    return true;
}

static int by_offset(const void *a, const void *b)
{
    const struct extent *x = a, *y = b;
    return (x->offset > y->offset) - (x->offset < y->offset);
}

/* No byte belongs to two entries, and none to nobody unless something is missing. */
static bool lies_apart(struct dump *d)
{
    uint64_t end = 0;

    qsort(d->extents, d->extent_count, sizeof(*d->extents), by_offset);
    for (uint32_t i = 0; i < d->extent_count; i++) {
        if (d->extents[i].offset < end)
            return run_files_fault(d->files, "args.bin: byte %llu belongs to two entries",
                                   (unsigned long long)d->extents[i].offset);
        if (d->extents[i].offset > end && d->dropped == 0 && d->counts.truncated == 0)
            return run_files_fault(d->files, "args.bin: byte %llu belongs to nobody",
                                   (unsigned long long)end);
        end = d->extents[i].offset + d->extents[i].bytes;
    }
    if (end != d->bin_bytes && d->dropped == 0 && d->counts.truncated == 0)
        return run_files_fault(d->files, "args.bin: %llu bytes behind the last payload",
                               (unsigned long long)(d->bin_bytes - end));
    return true;
}

/* The task's kernels have all ended, and it is known to be done. */
static bool has_ended(const struct dump *d, uint32_t task)
{
    const struct graph_program *p = d->files->program;

    if (p->task[task].kind != GRAPH_TASK_KERNEL || graph_expected()->runs[task] == 0)
        return false;
    if (d->files->result->status == 0)
        return true;
    return !p->task[task].form.deferred && p->task[task].form.lanes == 0 &&
           graph_actual()->digest[task] != 0;
}

/* Where nothing is said to be missing, all of it is there. */
static bool is_complete(struct dump *d)
{
    const struct graph_program *p = d->files->program;

    for (uint32_t t = 0; t < p->task_count; t++) {
        if (!has_ended(d, t) || !is_recorded(d, t))
            continue;
        bool scalars = d->files->config->enable_dump_args != 1;
        if (scalars && !(d->scalars[t][0] && d->scalars[t][1]))
            return run_files_fault(d->files, "manifest: no scalars of task %u", t);
        for (uint32_t i = p->task[t].first_access;
             i < (uint32_t)p->task[t].first_access + p->task[t].access_count; i++) {
            for (int after = 0; after < 2; after++) {
                if (is_captured(&p->access[i], after) && !d->tensors[i][after])
                    return run_files_fault(d->files, "manifest: access %u of task %u %s is missing",
                                           i - p->task[t].first_access, t,
                                           after ? "after" : "before");
            }
        }
    }
    return true;
}

/* Entries and losses together are all that was to be recorded. */
static bool accounts_for_all(struct dump *d)
{
    const struct graph_program *p = d->files->program;
    int64_t all = 0, there = d->counts.before + d->counts.after;

    if (d->files->result->status != 0 || d->dropped < 0)
        return true;
    for (uint32_t t = 0; t < p->task_count; t++) {
        if (!has_ended(d, t) || !is_recorded(d, t))
            continue;
        all += d->files->config->enable_dump_args != 1 ? 2 : 0;
        for (uint32_t i = p->task[t].first_access;
             i < (uint32_t)p->task[t].first_access + p->task[t].access_count; i++)
            all += is_captured(&p->access[i], false) + is_captured(&p->access[i], true);
    }
    return there + d->dropped == all ||
           run_files_fault(d->files, "%lld entries and %lld dropped, but %lld were to be recorded",
                           (long long)there, (long long)d->dropped, (long long)all);
}

static bool agrees(struct dump *d)
{
    const struct simpler_args_dump_result *r = &d->files->result->args_dump;
    uint64_t lost = r->dropped_no_free + r->dropped_ready_full + r->dropped_arena + r->write_failed;
    bool whole = d->dropped == 0 && d->counts.truncated == 0;

    if (d->files->across)
        return true;
    if (r->status == 0 && !whole)
        return run_files_fault(d->files, "status 0, dropped %lld, truncated %lld, %llu bytes",
                               (long long)d->dropped, (long long)d->counts.truncated,
                               (unsigned long long)d->bin_bytes);
    if (r->status != 0 && whole && r->counts_known)
        return run_files_fault(d->files, "status %d, though nothing is missing", r->status);
    if (r->counts_known == (d->dropped < 0))
        return run_files_fault(d->files, "dropped_records %lld, counts_known %d",
                               (long long)d->dropped, r->counts_known);
    if ((int64_t)r->records != d->counts.before + d->counts.after ||
        (int64_t)r->truncated != d->counts.truncated || r->payload_bytes != d->bin_bytes)
        return run_files_fault(d->files, "result: %llu records, %llu bytes; files: %lld, %llu",
                               (unsigned long long)r->records, (unsigned long long)r->payload_bytes,
                               (long long)(d->counts.before + d->counts.after),
                               (unsigned long long)d->bin_bytes);
    return !r->counts_known || (int64_t)lost == d->dropped ||
           run_files_fault(d->files, "dropped %lld, by cause %llu", (long long)d->dropped,
                           (unsigned long long)lost);
}

static bool load_bin(struct dump *d)
{
    const char *name = json_string_value(json_object_get(d->manifest, "bin_file"));
    char path[256];
    struct stat info;

    (void)snprintf(path, sizeof(path), "%s/args_dump/args.bin", d->files->prefix);
    if (name == NULL) {
        bool right = d->files->config->enable_dump_args == 3 || d->files->disturbed;
        return right || run_files_fault(d->files, "manifest: no bin_file");
    }
    FILE *in = fopen(path, "rb");
    if (in == NULL || strcmp(name, "args.bin") != 0 || fstat(fileno(in), &info) != 0) {
        if (in != NULL)
            (void)fclose(in);
        d->gone = d->files->stray; /* somebody else was at it */
        return d->gone || run_files_fault(d->files, "manifest: its bin_file %s is not there", name);
    }
    d->bin_bytes = (uint64_t)info.st_size;
    d->bin = malloc(d->bin_bytes + 1);
    bool right = d->bin != NULL && fread(d->bin, 1, d->bin_bytes, in) == d->bin_bytes;
    (void)fclose(in);
    return right || run_files_fault(d->files, "args.bin cannot be read");
}

static bool read_manifest(struct dump *d)
{
    const json_t *entries = json_object_get(d->manifest, "args");
    size_t count = json_array_size(entries);

    if (!run_files_has_keys(d->manifest, top_keys, 13))
        return run_files_fault(d->files, "manifest: its keys");
    d->dropped = whole_number(d->manifest, "dropped_records");
    if (d->dropped < 0 && !d->files->unknown)
        return run_files_fault(d->files, "manifest: dropped_records");
    d->extents = calloc(count + 1, sizeof(*d->extents));
    bool right = d->extents != NULL && load_bin(d);
    if (d->gone)
        return right;
    for (size_t i = 0; right && i < count; i++)
        right = see_entry(d, json_array_get(entries, i));
    d->files->files_read++;
    d->files->lines_read += (uint32_t)count;
    d->files->partial += d->dropped != 0 || d->counts.truncated != 0;
    bool whole = d->dropped == 0 && (d->files->across || d->files->result->args_dump.counts_known);
    return right && adds_up(d) && lies_apart(d) && (!whole || is_complete(d)) &&
           accounts_for_all(d) && agrees(d);
}

/* Without a manifest nothing may be there, and if that is right, nothing was to be told. */
static bool is_rightly_absent(struct dump *d)
{
    const struct simpler_args_dump_result *r = &d->files->result->args_dump;
    char path[256];

    (void)snprintf(path, sizeof(path), "%s/args_dump/args.bin", d->files->prefix);
    if (!d->files->across && r->status == 0 && r->records != 0)
        return run_files_fault(d->files, "no manifest of %llu records",
                               (unsigned long long)r->records);
    if (!d->files->stray && access(path, F_OK) == 0)
        return run_files_fault(d->files, "args.bin without a manifest");
    return d->files->disturbed || is_complete(d);
}

bool run_files_check_dump(struct run_files *files)
{
    static struct dump dump; /* large; one at a time */
    const struct simpler_args_dump_result *r = &files->result->args_dump;
    struct dump *d = &dump;
    json_error_t error;
    char path[256];
    bool right;

    if (files->config->enable_dump_args == 0)
        return true;
    memset(d, 0, sizeof(*d));
    d->files = files;
    (void)snprintf(path, sizeof(path), "%s/args_dump/args_dump.json", files->prefix);
    struct stat info;
    bool there = stat(path, &info) == 0 && S_ISREG(info.st_mode);
    if (r->level == 0)
        return run_files_never_began(files);
    if (r->status != 0 && !files->disturbed && !files->across)
        return run_files_fault(files, "the args dump has status %d", r->status);
    if (!files->across && !files->stray && r->has_manifest != there)
        return run_files_fault(files, "has_manifest is %d", r->has_manifest);
    if (!there)
        return is_rightly_absent(d);
    d->manifest = json_load_file(path, JSON_REJECT_DUPLICATES, &error);
    right = json_is_object(d->manifest)
                ? read_manifest(d)
                : run_files_fault(files, "%s: line %d: %s", path, error.line, error.text);
    json_decref(d->manifest);
    free(d->extents);
    free(d->bin);
    return right;
}
