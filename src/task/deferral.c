/* SPDX-License-Identifier: Apache-2.0 */
#include "task/deferral.h"

#include "base/clock.h"

#define FIRST_NAP_NS 20000u
#define LAST_NAP_NS  1000000u
/* Of many threads each naps longer: together they look as often as these. */
#define MOST_NAPPERS 8u

static bool try_lock(struct simpler_deferral_list *list)
{
    /* acquire, pairs with D1. */
    return atomic_exchange_explicit(&list->lock, 1, memory_order_acquire) == 0;
}

static void lock(struct simpler_deferral_list *list)
{
    while (!try_lock(list))
        simpler_clock_relax();
}

static void unlock(struct simpler_deferral_list *list)
{
    /* D1, release. */
    atomic_store_explicit(&list->lock, 0, memory_order_release);
}

static uint32_t count(const struct simpler_deferral_list *list)
{
    return atomic_load_explicit(&list->open, memory_order_relaxed);
}

static void touch(struct simpler_deferral_list *list)
{
    atomic_store_explicit(&list->changed_ns, simpler_clock_ns(), memory_order_relaxed);
}

void simpler_deferral_reset(struct simpler_deferral_list *list)
{
    atomic_store_explicit(&list->open, 0, memory_order_relaxed);
}

/* ---- registration ---- */

static int check(const struct simpler_async_condition *condition, const char **why)
{
    if (condition == NULL) {
        *why = "the condition is NULL";
        return SIMPLER_CODE_ASYNC_REGISTRATION_FAILED;
    }
    if (condition->reserved != 0) {
        *why = "a reserved member of the condition is not 0: zero it before you fill it";
        return SIMPLER_CODE_ASYNC_REGISTRATION_FAILED;
    }
    if (condition->type != SIMPLER_ASYNC_COUNTER && condition->type != SIMPLER_ASYNC_EVENT) {
        *why = "the condition's type is none of COUNTER (1) and EVENT (2)";
        return SIMPLER_CODE_ASYNC_COMPLETION_INVALID;
    }
    if (condition->counter == NULL) {
        *why = "the condition's counter is NULL";
        return SIMPLER_CODE_ASYNC_COMPLETION_INVALID;
    }
    return 0;
}

int simpler_deferral_add(struct simpler_deferral_list *list, const void *owner, uint64_t task,
                         const struct simpler_async_condition *condition, const char **why)
{
    int code = check(condition, why);

    if (code != 0)
        return code;
    lock(list);
    uint32_t at = count(list);
    bool fits = at < SIMPLER_MAX_ASYNC_CONDITIONS;
    if (fits) {
        list->entry[at] =
            (struct simpler_deferral){.condition = *condition, .owner = owner, .task = task};
        atomic_store_explicit(&list->open, at + 1, memory_order_relaxed);
        touch(list);
    }
    unlock(list);
    if (fits)
        return 0;
    *why = "256 conditions are open, the most that a run can have: let fewer tasks defer at once";
    return SIMPLER_CODE_ASYNC_WAIT_OVERFLOW;
}

void simpler_deferral_assign(struct simpler_deferral_list *list, const void *owner, uint64_t task)
{
    lock(list);
    for (uint32_t i = 0; i < count(list); i++) {
        struct simpler_deferral *e = &list->entry[i];
        if (e->owner == owner && e->task == SIMPLER_DEFERRAL_UNASSIGNED)
            e->task = task;
    }
    unlock(list);
}

bool simpler_deferral_note(struct simpler_deferral_list *list, uint64_t task, uint64_t note)
{
    bool has = false;

    lock(list);
    for (uint32_t i = 0; i < count(list); i++) {
        if (list->entry[i].task != task)
            continue;
        list->entry[i].note = note;
        has = true;
    }
    unlock(list);
    return has;
}

void simpler_deferral_hold(struct simpler_deferral_list *list, uint64_t task)
{
    lock(list);
    for (uint32_t i = 0; i < count(list); i++) {
        if (list->entry[i].task == task)
            list->entry[i].held = true;
    }
    unlock(list);
}

uint32_t simpler_deferral_hold_all(struct simpler_deferral_list *list,
                                   uint64_t task[SIMPLER_MAX_ASYNC_CONDITIONS])
{
    lock(list);
    uint32_t open = count(list);
    for (uint32_t i = 0; i < open; i++) {
        list->entry[i].held = true;
        task[i] = list->entry[i].task;
    }
    unlock(list);
    return open;
}

uint32_t simpler_deferral_held(struct simpler_deferral_list *list,
                               uint64_t task[SIMPLER_MAX_ASYNC_CONDITIONS])
{
    uint32_t held = 0;

    lock(list);
    for (uint32_t i = 0; i < count(list); i++) {
        if (list->entry[i].held)
            task[held++] = list->entry[i].task;
    }
    unlock(list);
    return held;
}

/* Under the lock. */
static void remove_entry(struct simpler_deferral_list *list, uint32_t i)
{
    uint32_t last = count(list) - 1;
    list->entry[i] = list->entry[last];
    atomic_store_explicit(&list->open, last, memory_order_relaxed);
}

void simpler_deferral_drop(struct simpler_deferral_list *list, uint64_t task)
{
    lock(list);
    for (uint32_t i = count(list); i-- > 0;) {
        if (list->entry[i].task == task)
            remove_entry(list, i);
    }
    unlock(list);
}

/* ---- looking ---- */

static bool holds(const struct simpler_async_condition *c)
{
    uint32_t value = simpler_async_counter_get(c->counter);
    return c->type == SIMPLER_ASYNC_EVENT ? value != 0 : value >= c->expected;
}

/* Whether the task has more conditions; they are told of one that was given up. */
static bool has_more(struct simpler_deferral_list *list, uint64_t task, bool cut)
{
    bool more = false;

    for (uint32_t i = 0; i < count(list); i++) {
        if (list->entry[i].task != task)
            continue;
        list->entry[i].cut |= cut;
        more = true;
    }
    return more;
}

uint32_t simpler_deferral_take(struct simpler_deferral_list *list, bool all,
                               struct simpler_deferral_met *met, uint32_t most)
{
    uint32_t found = 0;

    if (!try_lock(list))
        return 0;
    for (uint32_t i = count(list); i-- > 0 && found < most;) {
        struct simpler_deferral e = list->entry[i];
        bool is_met = e.held && holds(&e.condition), cut = e.cut || !is_met;
        if (!is_met && !(e.held && all))
            continue;
        remove_entry(list, i);
        touch(list);
        if (!has_more(list, e.task, cut))
            met[found++] = (struct simpler_deferral_met){e.task, e.note, cut};
    }
    unlock(list);
    return found;
}

bool simpler_deferral_view(struct simpler_deferral_list *list, struct simpler_deferral_view *out)
{
    const struct simpler_deferral *shown = NULL;

    lock(list);
    for (uint32_t i = 0; i < count(list); i++) {
        const struct simpler_deferral *e = &list->entry[i];
        if (e->held && shown == NULL)
            shown = e;
    }
    if (shown != NULL)
        *out = (struct simpler_deferral_view){
            .task = shown->task,
            .open = count(list),
            .value = simpler_async_counter_get(shown->condition.counter),
            .expected =
                shown->condition.type == SIMPLER_ASYNC_EVENT ? 1 : shown->condition.expected,
        };
    unlock(list);
    return shown != NULL;
}

uint64_t simpler_deferral_nap_ns(const struct simpler_deferral_list *list, uint64_t *nap_ns,
                                 uint32_t threads, uint64_t longest)
{
    uint64_t last = (uint64_t)LAST_NAP_NS * (threads < MOST_NAPPERS ? threads : MOST_NAPPERS);

    if (!simpler_deferral_is_open(list)) {
        *nap_ns = 0;
        return longest;
    }
    uint64_t nap = *nap_ns == 0 ? FIRST_NAP_NS : 2 * *nap_ns;
    *nap_ns = nap > last ? last : nap;
    return *nap_ns < longest ? *nap_ns : longest;
}
