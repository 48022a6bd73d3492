/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The generator.  It walks through the program as the orchestration will, with
 * a model of what the documents promise, in three parts:
 *
 *   bytes    who wrote each byte last and who has read it since, and whether
 *            the runtime can know (tracked: automatic scope, no manual_dep, a use
 *            other than NO_DEP)
 *   ancestors  for each task the tasks that are surely done before it starts
 *   hold     for each ring what the open scopes keep: ids from the first task
 *            with OUTPUT on, their bytes, edges and map entries; from these come
 *            the smallest sizes that are enough
 */
#include "graph_gen.h"

#include <stdlib.h>
#include <string.h>

#include "graph_state.h"
#include "graph_view.h"

/* ---- buffers ---- */

static uint16_t new_buffer(struct gen *g, uint32_t bytes)
{
    struct graph_program *p = g->p;
    uint16_t id = (uint16_t)p->buffer_count++;
    struct graph_buffer *buffer = &p->buffer[id];
    memset(buffer, 0, sizeof(*buffer));
    graph_random_whole(&g->random, bytes, &buffer->whole);
    buffer->bytes = bytes;
    buffer->creator = GRAPH_NONE;
    buffer->memory = p->memory_bytes;
    p->memory_bytes += (bytes + 63) & ~63u;
    g->dead[id] = false;
    g->state[id] = calloc(bytes, sizeof(struct byte_state));
    if (g->state[id] == NULL)
        abort();
    for (uint32_t i = 0; i < bytes; i++)
        g->state[id][i].writer = GRAPH_NONE;
    return id;
}

static uint32_t random_bytes(struct gen *g)
{
    static const uint16_t sizes[] = {1, 8, 16, 24, 32, 48, 64, 64, 96, 128, 128, 192, 256, 384};
    return sizes[below(g, sizeof(sizes) / sizeof(sizes[0]))];
}

static void make_externals(struct gen *g)
{
    struct graph_program *p = g->p;
    p->external_count = 1 + below(g, 4);
    for (uint32_t i = 0; i < p->external_count; i++) {
        uint16_t id = new_buffer(g, 32 + random_bytes(g));
        p->buffer[id].external = true;
        for (uint32_t b = 0; b < p->buffer[id].bytes; b++)
            g->state[id][b].initialised = true;
    }
}

static uint16_t new_created(struct gen *g, uint16_t task)
{
    uint32_t bytes = chance(g, 4) ? 1024 + 8 * below(g, 300) : random_bytes(g);
    uint16_t id = new_buffer(g, bytes);
    struct graph_buffer *buffer = &g->p->buffer[id];
    buffer->creator = task;
    buffer->manual_dep = chance(g, 6);
    buffer->has_initial_value = chance(g, 35);
    buffer->initial_value = kit_random_next(&g->random);
    for (uint32_t b = 0; b < bytes; b++) {
        g->state[id][b].writer = task;
        g->state[id][b].initialised = buffer->has_initial_value;
    }
    return id;
}

/* A buffer that may be used now; the newest ones more often. */
static uint16_t pick_buffer(struct gen *g)
{
    uint32_t count = g->p->buffer_count;
    for (int i = 0; i < 8; i++) {
        uint32_t id = chance(g, 50) && count > 6 ? count - 1 - below(g, 6) : below(g, count);
        if (!g->dead[id])
            return (uint16_t)id;
    }
    return (uint16_t)below(g, g->p->external_count);
}

/* ---- operations ---- */

static struct graph_op *new_op(struct gen *g, uint32_t kind)
{
    struct graph_op *op = &g->p->op[g->p->op_count++];
    memset(op, 0, sizeof(*op));
    op->kind = (uint8_t)kind;
    return op;
}

static void begin_scope(struct gen *g)
{
    bool manual = is_manual(g) || chance(g, g->style.manual_chance);
    struct graph_op *op = new_op(g, GRAPH_OP_SCOPE_BEGIN);
    op->mode = manual ? SIMPLER_SCOPE_MANUAL : SIMPLER_SCOPE_AUTO;
    g->depth++;
    struct scope *scope = &g->scope[g->depth];
    scope->mode = op->mode;
    scope->ring = (uint8_t)graph_state_ring_of(g);
    scope->saved = g->hold[scope->ring];
    scope->first_buffer = g->p->buffer_count;
}

static void end_scope(struct gen *g)
{
    struct scope *scope = &g->scope[g->depth];
    new_op(g, GRAPH_OP_SCOPE_END)->index = (uint16_t)scope->first_buffer;
    for (uint32_t i = scope->first_buffer; i < g->p->buffer_count; i++)
        g->dead[i] = true;
    /* An outer scope of the ring that holds already keeps the inner one's ids too. */
    if (scope->saved.from == UINT32_MAX)
        g->hold[scope->ring] = scope->saved;
    g->depth--;
}

static struct graph_task *new_task(struct gen *g, uint32_t kind)
{
    struct graph_program *p = g->p;
    struct graph_task *task = &p->task[p->task_count];
    memset(task, 0, sizeof(*task));
    task->kind = (uint8_t)kind;
    task->ring = (uint8_t)graph_state_ring_of(g);
    task->local = g->next[task->ring];
    task->first_access = (uint16_t)p->access_count;
    new_op(g, GRAPH_OP_TASK)->index = (uint16_t)p->task_count++;
    p->kernel_count += kind == GRAPH_TASK_KERNEL;
    return task;
}

static struct graph_access *new_access(struct gen *g)
{
    struct graph_access *access = &g->p->access[g->p->access_count++];
    memset(access, 0, sizeof(*access));
    return access;
}

static bool can_create(const struct gen *g, uint32_t count)
{
    return g->p->buffer_count + count < GRAPH_MAX_BUFFERS &&
           g->p->memory_bytes + count * 4096 < GRAPH_MEMORY_BYTES;
}

static void choose_use(struct gen *g, struct graph_access *a, bool kernel)
{
    static const uint8_t uses[10] = {SIMPLER_USE_INPUT,  SIMPLER_USE_INPUT,
                                     SIMPLER_USE_INPUT,  SIMPLER_USE_INPUT,
                                     SIMPLER_USE_INOUT,  SIMPLER_USE_INOUT,
                                     SIMPLER_USE_INOUT,  SIMPLER_USE_OUTPUT_EXISTING,
                                     SIMPLER_USE_NO_DEP, SIMPLER_USE_OUTPUT_EXISTING};
    a->use = uses[below(g, 10)];
    a->manual_dep = g->p->buffer[a->buffer].manual_dep || chance(g, 5);
    bool initialised = graph_state_all_initialised(g, a);
    if (!initialised && a->use != SIMPLER_USE_NO_DEP)
        a->use = SIMPLER_USE_OUTPUT_EXISTING;
    if (!kernel)
        return;
    a->reads = initialised && (a->use == SIMPLER_USE_INPUT || a->use == SIMPLER_USE_INOUT ||
                               (a->use == SIMPLER_USE_NO_DEP && chance(g, 70)));
    a->writes = a->use == SIMPLER_USE_INOUT || a->use == SIMPLER_USE_OUTPUT_EXISTING ||
                (a->use == SIMPLER_USE_NO_DEP && chance(g, 50));
}

static void add_output(struct gen *g, uint16_t task, bool kernel, uint64_t *output_bytes)
{
    uint16_t id = new_created(g, task);
    struct graph_buffer *buffer = &g->p->buffer[id];
    struct graph_access *a = new_access(g);
    a->buffer = id;
    a->use = SIMPLER_USE_OUTPUT;
    a->manual_dep = buffer->manual_dep;
    graph_whole_view(buffer, a);
    a->reads = kernel && buffer->has_initial_value;
    a->writes = kernel && (!buffer->has_initial_value || chance(g, 60));
    *output_bytes += (buffer->bytes + ROUND_OUTPUT - 1) / ROUND_OUTPUT * ROUND_OUTPUT;
}

/* An access that does not need more than the explicit dependencies can hold. */
static void add_use(struct gen *g, bool kernel)
{
    struct graph_access *a = new_access(g);
    a->buffer = pick_buffer(g);
    graph_random_view(&g->random, &g->p->buffer[a->buffer], a);
    choose_use(g, a, kernel);
}

static void add_dependency(struct gen *g, struct graph_task *task, uint32_t on, uint8_t kind)
{
    (void)g;
    task->dependency[task->dependency_count] = (uint16_t)on;
    task->dependency_kind[task->dependency_count++] = kind;
    task->kinds_given |= kind != (SIMPLER_DEP_WAIT | SIMPLER_DEP_RETAIN);
}

/* In a manual scope nothing but an explicit dependency keeps a created buffer. */
static bool must_retain(const struct gen *g, const struct graph_task *task, uint32_t on)
{
    if (!is_manual(g))
        return false;
    for (uint32_t i = 0; i < task->access_count; i++) {
        const struct graph_access *a = &g->p->access[task->first_access + i];
        if (a->use != SIMPLER_USE_OUTPUT && g->p->buffer[a->buffer].creator == on)
            return true;
    }
    return false;
}

static uint8_t random_kind(struct gen *g, uint8_t needed)
{
    return chance(g, 60) ? SIMPLER_DEP_WAIT | SIMPLER_DEP_RETAIN
                         : (uint8_t)(needed | (chance(g, 30) ? SIMPLER_DEP_RETAIN : 0));
}

/*
 * Gives an explicit dependency for each needed order that is neither inferred
 * nor follows from the others.  False when there are too many.
 */
static bool add_needed(struct gen *g, struct graph_task *task, const struct order *order,
                       struct bits *sure)
{
    for (uint32_t i = (uint32_t)(task - g->p->task); i-- > 0;) {
        if (!bit_get(&order->needed, i))
            continue;
        bool waits = !bit_get(sure, i) || chance(g, 15);
        bool retains = must_retain(g, task, i);
        if (!waits && !retains)
            continue;
        if (task->dependency_count == GRAPH_MAX_DEPENDENCIES)
            return false;
        uint8_t kind =
            (uint8_t)((waits ? SIMPLER_DEP_WAIT : 0) | (retains ? SIMPLER_DEP_RETAIN : 0));
        add_dependency(g, task, i, random_kind(g, kind));
        if (waits) {
            bits_or(sure, &g->ancestors[i]);
            bit_set(sure, i);
        }
    }
    return true;
}

static void add_extra(struct gen *g, struct graph_task *task, struct bits *sure)
{
    uint32_t self = (uint32_t)(task - g->p->task);
    while (self > 0 && task->dependency_count < GRAPH_MAX_DEPENDENCIES &&
           chance(g, g->style.explicit_chance)) {
        uint32_t on = chance(g, 60) && self > 4 ? self - 1 - below(g, 4) : below(g, self);
        uint8_t kind = (uint8_t)(1 + below(g, 3));
        add_dependency(g, task, on, kind);
        if (kind & SIMPLER_DEP_WAIT) {
            bits_or(sure, &g->ancestors[on]);
            bit_set(sure, on);
        }
    }
}

/* Takes the task's last access away, with the buffer that it created. */
static void drop_access(struct gen *g, struct graph_task *task)
{
    g->p->access_count--;
    task->access_count--;
    if (g->p->access[g->p->access_count].use == SIMPLER_USE_OUTPUT)
        abort();
}

/* Orders the task after all that it needs; drops accesses that need too much. */
static struct bits order_task(struct gen *g, struct graph_task *task)
{
    for (;;) {
        struct order order = {{{0}}, {{0}}};
        struct bits sure = g->done;
        task->dependency_count = 0;
        task->kinds_given = false;
        for (uint32_t i = 0; i < task->access_count; i++)
            graph_state_order_access(g, &g->p->access[task->first_access + i], &order);
        graph_state_close_over(g, &order.inferred, &sure);
        if (add_needed(g, task, &order, &sure)) {
            add_extra(g, task, &sure);
            return sure;
        }
        drop_access(g, task);
    }
}

static void finish_task(struct gen *g, struct graph_task *task, uint64_t output_bytes)
{
    uint16_t self = (uint16_t)(task - g->p->task);
    struct bits edges = {{0}};
    uint32_t entries = 0;
    g->ancestors[self] = order_task(g, task);
    memcpy(g->p->before[self], g->ancestors[self].w, sizeof(g->p->before[self]));
    for (uint32_t i = 0; i < task->access_count; i++) {
        const struct graph_access *a = &g->p->access[task->first_access + i];
        if (a->use != SIMPLER_USE_OUTPUT && g->p->buffer[a->buffer].creator != GRAPH_NONE)
            bit_set(&edges, g->p->buffer[a->buffer].creator);
        if (is_tracked(g, a)) {
            graph_state_bound_edges(g, a, &edges);
            entries++;
        }
    }
    for (uint32_t i = 0; i < task->dependency_count; i++)
        bit_set(&edges, task->dependency[i]);
    for (uint32_t i = 0; i < task->access_count; i++) {
        const struct graph_access *a = &g->p->access[task->first_access + i];
        if (is_tracked(g, a))
            graph_state_add_touch(g, a, self);
        if (graph_state_reads_now(a))
            graph_state_leave_read(g, a, self);
    }
    for (uint32_t i = 0; i < task->access_count; i++) {
        const struct graph_access *a = &g->p->access[task->first_access + i];
        if (graph_state_writes_now(a))
            graph_state_leave_write(g, a, self);
    }
    graph_state_account(g, task->ring, graph_state_count_bits(&edges), entries, output_bytes);
}

static void set_time(struct gen *g, struct graph_task *task)
{
    if (chance(g, g->style.busy_chance))
        task->duration_ns = below(g, g->style.busy_ns) + 1;
    if (g->style.sleep_chance != 0 && below(g, 1000) < g->style.sleep_chance) {
        task->duration_ns = 1000 * (20 + below(g, 180));
        task->sleeps = true;
    }
}

static uint32_t form_below(struct gen *g, uint32_t n)
{
    return kit_random_below(&g->form_random, n);
}

/* Lanes, blocks and what else a task may be besides one call of one kernel. */
static void choose_form(struct gen *g, struct graph_task *task)
{
    static const uint8_t lanes[] = {2, 2, 2, 1, 3, 5, 6, 7, 7};
    struct graph_form *form = &task->form;
    uint32_t clusters = g->p->config.cluster_count;

    form->blocks = 1;
    if (form_below(g, 100) >= g->style.form_chance)
        return;
    form->timed = form_below(g, 8) == 0;
    form->hint = form_below(g, 4) == 0;
    if (form_below(g, 6) == 0) {
        form->deferred = true;
        return;
    }
    form->lanes = lanes[form_below(g, sizeof(lanes))];
    form->blocks = (int16_t)(1 + form_below(g, 5));
    form->sync_start = form_below(g, 3) == 0;
    uint32_t most = form->lanes == 2 ? 2 * clusters : clusters;
    if (form->sync_start && (uint32_t)form->blocks > most)
        form->blocks = (int16_t)most;
    form->worker = (int16_t)form_below(g, (uint32_t)form->blocks);
}

/* All that the task may leave unwritten has a value already. */
static bool may_be_off(const struct gen *g, const struct graph_task *task)
{
    for (uint32_t i = 0; i < task->access_count; i++) {
        const struct graph_access *a = &g->p->access[task->first_access + i];
        if (a->use == SIMPLER_USE_OUTPUT ? !g->p->buffer[a->buffer].has_initial_value
                                         : a->writes && !graph_state_all_initialised(g, a))
            return false;
    }
    return true;
}

/* By one of the elements that the task reads: what orders it before the task is there. */
static void choose_predicate(struct gen *g, struct graph_task *task)
{
    static const uint8_t ops[] = {SIMPLER_PREDICATE_EQ, SIMPLER_PREDICATE_NE, SIMPLER_PREDICATE_GT,
                                  SIMPLER_PREDICATE_LT, SIMPLER_PREDICATE_GE, SIMPLER_PREDICATE_LE};
    struct graph_predicate *p = &task->predicate;

    if (form_below(g, 100) >= g->style.predicate_chance || task->access_count == 0 ||
        !may_be_off(g, task))
        return;
    uint32_t i = form_below(g, task->access_count);
    const struct graph_access *a = &g->p->access[task->first_access + i];
    if (!a->reads || a->use == SIMPLER_USE_OUTPUT || graph_view_numel(&a->view) == 0)
        return;
    p->op = ops[form_below(g, sizeof(ops))];
    p->access = (uint16_t)i;
    p->target = (int64_t)form_below(g, 256) - 128;
    for (uint32_t d = 0; d < a->view.ndims; d++)
        p->index[d] = form_below(g, a->view.shape[d]);
}

static void make_task(struct gen *g)
{
    bool kernel = !chance(g, g->style.dummy_chance);
    struct graph_task *task = new_task(g, kernel ? GRAPH_TASK_KERNEL : GRAPH_TASK_DUMMY);
    uint16_t self = (uint16_t)(g->p->task_count - 1);
    uint32_t outputs = chance(g, g->style.output_chance) ? 1 + below(g, 3) : 0;
    uint32_t uses = below(g, g->style.max_accesses + 1);
    if (chance(g, g->style.wide_chance))
        uses = 8 + below(g, MAX_TASK_ACCESS - 8 - outputs + 1);
    if (!can_create(g, outputs))
        outputs = 0;
    if (outputs > 0 && chance(g, 10))
        uses = 0;
    do
        task->variant = (uint8_t)below(g, KIT_VARIANTS);
    while (task->variant == KIT_LONG);
    uint64_t output_bytes = 0;
    for (uint32_t i = 0; i < outputs; i++)
        add_output(g, self, kernel, &output_bytes);
    /* What the task creates is not there for its own other arguments. */
    for (uint32_t i = 0; i < outputs; i++)
        g->dead[g->p->buffer_count - 1 - i] = true;
    for (uint32_t i = 0; i < uses; i++)
        add_use(g, kernel);
    for (uint32_t i = 0; i < outputs; i++)
        g->dead[g->p->buffer_count - 1 - i] = false;
    task->access_count = (uint16_t)(g->p->access_count - task->first_access);
    task->form.blocks = 1;
    if (kernel) {
        set_time(g, task);
        choose_form(g, task);
        choose_predicate(g, task);
    }
    finish_task(g, task, output_bytes);
    if (task->predicate.access >= task->access_count)
        memset(&task->predicate, 0, sizeof(task->predicate));
    task->rotation = (uint8_t)(task->access_count == 0 ? 0 : below(g, task->access_count));
}

static void make_alloc(struct gen *g)
{
    struct graph_task *task = new_task(g, GRAPH_TASK_ALLOC);
    uint16_t self = (uint16_t)(g->p->task_count - 1);
    uint64_t output_bytes = 0;
    uint32_t count = 1 + below(g, 3);
    for (uint32_t i = 0; i < count; i++)
        add_output(g, self, false, &output_bytes);
    task->access_count = (uint16_t)count;
    memset(g->p->before[self], 0, sizeof(g->p->before[self]));
    bit_set(&g->done, self);
    graph_state_account(g, task->ring, 0, 0, output_bytes);
}

/* One element of a random view. */
static bool pick_element(struct gen *g, struct graph_access *a)
{
    a->buffer = pick_buffer(g);
    graph_random_view(&g->random, &g->p->buffer[a->buffer], a);
    a->manual_dep = false;
    uint64_t numel = graph_view_numel(&a->view);
    if (g->p->buffer[a->buffer].manual_dep || numel == 0 || a->step_count == GRAPH_MAX_STEPS)
        return false;
    uint64_t at = below(g, (uint32_t)numel);
    struct graph_step *step = &a->step[a->step_count++];
    step->kind = GRAPH_STEP_VIEW;
    for (uint32_t d = a->view.ndims; d-- > 0;) {
        step->a[d] = 1;
        step->b[d] = (uint32_t)(at % a->view.shape[d]);
        at /= a->view.shape[d];
        a->view.offset += (uint64_t)step->b[d] * a->view.stride[d];
        a->view.shape[d] = 1;
    }
    return true;
}

/* The orchestration itself reads or writes one element. */
static void make_get_or_set(struct gen *g)
{
    if (is_manual(g) || g->p->get_count == GRAPH_MAX_GETS)
        return;
    struct graph_access *a = new_access(g);
    bool set = chance(g, 40);
    struct order order = {{{0}}, {{0}}};
    struct bits sure;
    bool usable = pick_element(g, a);
    a->use = set ? SIMPLER_USE_OUTPUT_EXISTING : SIMPLER_USE_INPUT;
    a->writes = set;
    a->reads = !set;
    if (usable) {
        /* In raw a set waits for the writers too: look it up as INOUT. */
        a->use = set ? SIMPLER_USE_INOUT : SIMPLER_USE_INPUT;
        graph_state_order_access(g, a, &order);
    }
    if (!usable || (!set && !graph_state_all_initialised(g, a)) ||
        !graph_state_is_waited(g, &order, &sure)) {
        g->p->access_count--;
        return;
    }
    g->done = sure;
    struct graph_op *op = new_op(g, set ? GRAPH_OP_SET : GRAPH_OP_GET);
    op->index = (uint16_t)(g->p->access_count - 1);
    op->value = kit_random_next(&g->random);
    if (set)
        graph_state_leave_write(g, a, GRAPH_NONE);
    else
        g->p->get_count++;
}

static bool full(const struct gen *g)
{
    return g->p->task_count >= g->style.tasks || g->p->op_count + MAX_DEPTH + 4 >= GRAPH_MAX_OPS ||
           g->p->access_count + 2 * MAX_TASK_ACCESS >= GRAPH_MAX_ACCESSES ||
           g->touch_count + 2 * MAX_TASK_ACCESS >= MAX_TOUCHES;
}

static void make_op(struct gen *g)
{
    if (!graph_state_ring_has_room(g)) {
        if (g->depth > 0)
            end_scope(g);
        else
            begin_scope(g);
        return;
    }
    if (g->depth < MAX_DEPTH && chance(g, g->style.scope_chance))
        begin_scope(g);
    else if (g->depth > 0 && chance(g, g->style.end_chance))
        end_scope(g);
    else if (chance(g, g->style.get_chance))
        make_get_or_set(g);
    else if (chance(g, g->style.alloc_chance) && can_create(g, 4))
        make_alloc(g);
    else
        make_task(g);
}

/* ---- the seed's decisions ---- */

static void choose_style(struct gen *g, const struct graph_options *options)
{
    struct style *s = &g->style;
    static const uint16_t holds[] = {3, 3, 7, 15, 63, 200};
    uint32_t length = below(g, 10);
    s->raw = chance(g, 40);
    s->tasks = length < 3 ? 1 + below(g, 12) : length < 9 ? 12 + below(g, 60) : 70 + below(g, 150);
    s->max_hold = holds[below(g, 6)];
    s->scope_chance = below(g, 4) == 0 ? 0 : 2 + below(g, 20);
    s->end_chance = 5 + below(g, 25);
    s->manual_chance = chance(g, 50) ? 0 : 30;
    s->output_chance = chance(g, 20) ? 0 : below(g, 60);
    s->alloc_chance = s->output_chance == 0 ? 0 : below(g, 10);
    s->dummy_chance = chance(g, 50) ? 0 : below(g, 25);
    s->get_chance = chance(g, 50) ? 0 : below(g, 12);
    s->wide_chance = chance(g, 70) ? 0 : 4;
    s->max_accesses = 1 + below(g, 5);
    s->explicit_chance = chance(g, 60) ? 0 : below(g, 40);
    s->form_chance = form_below(g, 2) == 0 ? 0 : 3 + form_below(g, 40);
    s->predicate_chance = form_below(g, 2) == 0 ? 0 : 2 + form_below(g, 25);
    bool calm = options != NULL && options->calm;
    s->busy_chance = calm || chance(g, 50) ? 0 : below(g, 60);
    s->busy_ns = chance(g, 50) ? 600 : 6000;
    s->sleep_chance = calm || chance(g, 80) ? 0 : 20;
}

static uint64_t power_of_two(uint64_t n)
{
    uint64_t p = 4;
    while (p < n)
        p *= 2;
    return p;
}

/* The smallest size half of the time, twice that, or the default. */
static uint64_t choose_size(struct gen *g, uint64_t smallest)
{
    uint32_t choice = below(g, 8);
    return choice < 5 ? smallest : choice < 7 ? smallest * 2 : 0;
}

static void choose_config(struct gen *g)
{
    struct simpler_call_config *config = &g->p->config;
    static const uint8_t threads[] = {1, 2, 2, 2, 3, 4, 8, 2};
    memset(config, 0, sizeof(*config));
    config->aicpu_thread_num = kit_threads(threads[below(g, sizeof(threads))]);
    config->cluster_count = 1 + below(g, 8);
    config->hazards = g->style.raw ? SIMPLER_HAZARDS_RAW : SIMPLER_HAZARDS_ALL;
    config->exec = chance(g, 20) ? SIMPLER_EXEC_THREADS : SIMPLER_EXEC_INLINE;
    config->check_hazards = g->style.raw && chance(g, 15);
}

static void choose_sizes(struct gen *g)
{
    struct simpler_runtime_env *env = &g->p->config.runtime_env;
    for (uint32_t r = 0; r < CHIP_MAX_RING_DEPTH; r++) {
        uint64_t heap = (g->need_heap[r] + 1023) / 1024 * 1024;
        uint64_t pool = g->need_pool[r] < 4 ? 4 : g->need_pool[r];
        env->ring_task_window[r] = choose_size(g, power_of_two(g->need_window[r] + 1));
        env->ring_heap[r] = choose_size(g, heap < 1024 ? 1024 : heap);
        env->ring_dep_pool[r] = choose_size(g, pool);
    }
    env->tensormap = choose_size(g, g->need_map < 16 ? 16 : g->need_map);
}

void graph_generate(struct graph_program *program, uint64_t seed,
                    const struct graph_options *options)
{
    struct gen *g = calloc(1, sizeof(*g));
    if (g == NULL)
        abort();
    g->p = program;
    g->random.state = kit_mix(seed + 1);
    g->form_random.state = kit_mix(seed + 0x517cc1b727220a95u);
    program->seed = seed;
    program->op_count = program->task_count = program->access_count = 0;
    program->buffer_count = program->get_count = program->kernel_count = 0;
    program->memory_bytes = 0;
    for (uint32_t r = 0; r < CHIP_MAX_RING_DEPTH; r++)
        g->hold[r].from = UINT32_MAX;
    choose_style(g, options);
    if (options != NULL && options->host_built)
        g->style.get_chance = 0;
    choose_config(g);
    if (options != NULL && options->task_limit != 0 && options->task_limit < g->style.tasks)
        g->style.tasks = options->task_limit;
    make_externals(g);
    while (!full(g))
        make_op(g);
    while (g->depth > 0)
        end_scope(g);
    g->random.state = kit_mix(~seed);
    choose_sizes(g);
    if (options != NULL && options->host_built) {
        memset(&program->config.runtime_env, 0, sizeof(program->config.runtime_env));
        program->config.runtime = "host_build_graph";
    }
    for (uint32_t i = 0; i < program->buffer_count; i++)
        free(g->state[i]);
    free(g);
}
