/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two maps over the whole run, in which nothing retires: one infers what
 * hazards raw orders, the other what hazards all would.  A pair that only the
 * second knows is unordered unless a path leads from the one task to the other.
 *
 * Created buffers recycle heap memory, so a tensor with an owner is known by
 * owner and address together.
 */
#include "tmr/hazard_check.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"

/* Tasks of each ring that are checked; more are counted and reported. */
#define MAX_TASKS   (1u << 20)
#define MAX_ENTRIES (1u << 22)
#define SHOWN       6u

struct node {
    uint64_t id;
    const char *file;
    uint64_t first_pred; /* into preds */
    uint32_t stamp;      /* last search that visited it */
    int32_t line;
};

struct pair {
    uint32_t before, after;
};

/* A growing array of 32-bit node numbers. */
struct list {
    uint32_t *item;
    uint64_t count, capacity;
};

struct simpler_hazard_check {
    uint32_t never_retired[CHIP_MAX_RING_DEPTH];
    struct simpler_tensormap *raw, *all;
    struct node *nodes;
    uint64_t node_count, node_capacity;
    struct list preds, conflicts, todo;
    struct list node_of[CHIP_MAX_RING_DEPTH];
    uint32_t stamp;
    uint64_t pairs, unchecked;
    struct pair shown[SHOWN];
    /* Where the sinks put what they get. */
    struct list *into;
    struct simpler_edge_sink sink;
    uint64_t ids[64];
};

static bool list_push(struct list *list, uint32_t item)
{
    if (list->count == list->capacity) {
        uint64_t capacity = list->capacity == 0 ? 256 : list->capacity * 2;
        uint32_t *grown = simpler_alloc_resize(list->item, capacity, sizeof(*grown));
        if (grown == NULL)
            return false;
        list->item = grown;
        list->capacity = capacity;
    }
    list->item[list->count++] = item;
    return true;
}

static void flush(struct simpler_edge_sink *sink)
{
    struct simpler_hazard_check *check =
        (struct simpler_hazard_check *)(void *)((char *)sink -
                                                offsetof(struct simpler_hazard_check, sink));
    for (uint32_t i = 0; i < sink->count; i++) {
        const struct list *ring = &check->node_of[sink->ids[i] >> 32];
        if ((uint32_t)sink->ids[i] < ring->count &&
            !list_push(check->into, ring->item[(uint32_t)sink->ids[i]]))
            check->unchecked++;
    }
    sink->count = 0;
}

int simpler_hazard_check_open(struct simpler_hazard_check **out)
{
    struct simpler_hazard_check *check = simpler_alloc_zeroed(1, sizeof(*check));
    if (check == NULL)
        return SIMPLER_ENOMEM;
    struct simpler_tensormap_config config = {
        .capacity = MAX_ENTRIES,
        .window = {MAX_TASKS, MAX_TASKS, MAX_TASKS, MAX_TASKS},
        .track_readers = true,
        .alive = check->never_retired,
    };
    int rc = simpler_tensormap_open(&config, &check->all);
    config.track_readers = false;
    if (rc == 0)
        rc = simpler_tensormap_open(&config, &check->raw);
    if (rc != 0) {
        simpler_hazard_check_close(check);
        return rc;
    }
    check->sink = (struct simpler_edge_sink){check->ids, 0, 64, flush};
    *out = check;
    return 0;
}

void simpler_hazard_check_close(struct simpler_hazard_check *check)
{
    if (check == NULL)
        return;
    simpler_tensormap_close(check->all);
    simpler_tensormap_close(check->raw);
    for (uint32_t r = 0; r < CHIP_MAX_RING_DEPTH; r++)
        simpler_alloc_free(check->node_of[r].item);
    simpler_alloc_free(check->preds.item);
    simpler_alloc_free(check->conflicts.item);
    simpler_alloc_free(check->todo.item);
    simpler_alloc_free(check->nodes);
    simpler_alloc_free(check);
}

/* The node of a new task, or NULL when it cannot be kept. */
static struct node *add_node(struct simpler_hazard_check *check, struct simpler_orch *orch,
                             uint32_t number)
{
    const struct simpler_task_slot *slot = &orch->device->table.slot[number];
    const struct simpler_task_desc *desc = &orch->device->table.desc[number];

    if (slot->id >= MAX_TASKS || check->node_of[slot->ring].count != slot->id)
        return NULL;
    if (check->node_count == check->node_capacity) {
        uint64_t capacity = check->node_capacity == 0 ? 1024 : check->node_capacity * 2;
        struct node *grown = simpler_alloc_resize(check->nodes, capacity, sizeof(*grown));
        if (grown == NULL)
            return NULL;
        check->nodes = grown;
        check->node_capacity = capacity;
    }
    if (!list_push(&check->node_of[slot->ring], (uint32_t)check->node_count))
        return NULL;
    struct node *node = &check->nodes[check->node_count++];
    *node = (struct node){simpler_task_id_of(slot), desc->file, check->preds.count, 0, desc->line};
    return node;
}

static void add_pred(struct simpler_hazard_check *check, uint64_t id)
{
    if (id >> 32 < CHIP_MAX_RING_DEPTH && (uint32_t)id < check->node_of[id >> 32].count &&
        !list_push(&check->preds, check->node_of[id >> 32].item[(uint32_t)id]))
        check->unchecked++;
}

/* What the run orders: explicit dependencies, creators, reads after writes. */
static void infer_raw(struct simpler_hazard_check *check, struct simpler_orch *orch,
                      const struct simpler_task_args *args, uint64_t self)
{
    for (uint32_t i = 0; i < args->dependency_count; i++) {
        if (args->dependency_kind == NULL || (args->dependency_kind[i] & SIMPLER_DEP_WAIT) != 0)
            add_pred(check, args->dependency[i].raw);
    }
    check->into = &check->preds;
    for (uint32_t i = 0; i < args->tensor_count && !orch->manual; i++) {
        if (args->use[i] == SIMPLER_USE_OUTPUT)
            continue;
        const struct simpler_tensor *t = args->tensor[i];
        add_pred(check, t->owner);
        if (args->use[i] == SIMPLER_USE_NO_DEP || t->manual_dep)
            continue;
        struct simpler_tensor known = *t;
        if (t->owner != SIMPLER_NO_OWNER)
            known.addr ^= (t->owner + 1) * UINT64_C(0x9e3779b97f4a7c40);
        simpler_tensormap_access(check->raw, &known, (enum simpler_tensor_use)args->use[i], self,
                                 &check->sink);
    }
    flush(&check->sink);
}

/* Every earlier task that uses the same bytes, one of the two writing. */
static void infer_all(struct simpler_hazard_check *check, const struct simpler_task_args *args,
                      uint64_t self)
{
    check->conflicts.count = 0;
    check->into = &check->conflicts;
    for (uint32_t i = 0; i < args->tensor_count; i++) {
        if (args->use[i] == SIMPLER_USE_OUTPUT || args->use[i] == SIMPLER_USE_NO_DEP)
            continue;
        struct simpler_tensor known = *(const struct simpler_tensor *)args->tensor[i];
        if (known.owner != SIMPLER_NO_OWNER)
            known.addr ^= (known.owner + 1) * UINT64_C(0x9e3779b97f4a7c40);
        simpler_tensormap_access(check->all, &known, (enum simpler_tensor_use)args->use[i], self,
                                 &check->sink);
    }
    flush(&check->sink);
}

/* Stamps every node from @least on that comes before node @from. */
static void stamp_before(struct simpler_hazard_check *check, uint32_t from, uint32_t least)
{
    uint32_t stamp = ++check->stamp;

    check->todo.count = 0;
    if (!list_push(&check->todo, from))
        return;
    while (check->todo.count != 0) {
        uint32_t at = check->todo.item[--check->todo.count];
        uint64_t end =
            at + 1 < check->node_count ? check->nodes[at + 1].first_pred : check->preds.count;
        for (uint64_t i = check->nodes[at].first_pred; i < end; i++) {
            uint32_t pred = check->preds.item[i];
            if (pred < least || check->nodes[pred].stamp == stamp)
                continue;
            check->nodes[pred].stamp = stamp;
            if (!list_push(&check->todo, pred))
                return;
        }
    }
}

static void judge(struct simpler_hazard_check *check, uint32_t self)
{
    uint32_t least = self;

    for (uint64_t i = 0; i < check->conflicts.count; i++) {
        if (check->conflicts.item[i] < least)
            least = check->conflicts.item[i];
    }
    if (check->conflicts.count == 0)
        return;
    stamp_before(check, self, least);
    for (uint64_t i = 0; i < check->conflicts.count; i++) {
        struct node *other = &check->nodes[check->conflicts.item[i]];
        if (check->conflicts.item[i] == self || other->stamp == check->stamp)
            continue;
        other->stamp = check->stamp; /* each pair once */
        if (check->pairs < SHOWN)
            check->shown[check->pairs] = (struct pair){check->conflicts.item[i], self};
        check->pairs++;
    }
}

void simpler_hazard_check_submit(struct simpler_hazard_check *check, struct simpler_orch *orch,
                                 const struct simpler_task_args *args, uint32_t number)
{
    struct node *node = add_node(check, orch, number);
    if (node == NULL || simpler_tensormap_room(check->all) < args->tensor_count ||
        simpler_tensormap_room(check->raw) < args->tensor_count) {
        check->unchecked++;
        return;
    }
    uint32_t self = (uint32_t)(node - check->nodes);
    uint64_t id = node->id;
    infer_raw(check, orch, args, id);
    infer_all(check, args, id);
    judge(check, self);
}

uint64_t simpler_hazard_check_pairs(const struct simpler_hazard_check *check)
{
    return check->pairs;
}

static void line(char **text, size_t *bytes, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static void line(char **text, size_t *bytes, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    int n = vsnprintf(*text, *bytes, format, args);
    va_end(args);
    size_t used = n < 0 ? 0 : (size_t)n < *bytes ? (size_t)n : *bytes - 1;
    *text += used;
    *bytes -= used;
}

void simpler_hazard_check_report(const struct simpler_hazard_check *check, char *text, size_t bytes)
{
    if (bytes == 0)
        return;
    for (uint64_t i = 0; i < check->pairs && i < SHOWN; i++) {
        const struct node *a = &check->nodes[check->shown[i].before];
        const struct node *b = &check->nodes[check->shown[i].after];
        line(&text, &bytes,
             "unordered: task 0x%016llx (%s:%d) and task 0x%016llx (%s:%d) use the same bytes\n",
             (unsigned long long)a->id, a->file == NULL ? "(unknown)" : a->file, a->line,
             (unsigned long long)b->id, b->file == NULL ? "(unknown)" : b->file, b->line);
    }
    if (check->pairs > SHOWN)
        line(&text, &bytes, "and %llu unordered pair%s more\n",
             (unsigned long long)(check->pairs - SHOWN), simpler_text_plural(check->pairs - SHOWN));
    if (check->unchecked != 0)
        line(&text, &bytes, "%llu task%s not checked (more than %u a ring)\n",
             (unsigned long long)check->unchecked, simpler_text_plural(check->unchecked),
             MAX_TASKS);
}
