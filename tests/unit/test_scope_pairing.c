/* SPDX-License-Identifier: Apache-2.0 */
/* Pairing against a naive reference, and the table of sites. */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cm.h"
#include "report/scope_pairing.h"
#include "report/site_table.h"

static struct simpler_pairing_begin begin_at(uint64_t line)
{
    struct simpler_pairing_begin begin = {.line = line};
    return begin;
}

/* SS-32: by ring and site, innermost first. */
static void pairs_are_innermost_first(void **state)
{
    struct simpler_pairing p = {0};
    struct simpler_pairing_begin begin;
    (void)state;
    assert_false(simpler_pairing_try_pop(&p, 0, 0, &begin));
    const struct {
        uint32_t ring, site;
    } pushed[] = {{0, 1}, {0, 2}, {0, 1}, {1, 1}};
    for (uint64_t i = 0; i < 4; i++) {
        begin = begin_at(i);
        assert_int_equal(simpler_pairing_push(&p, pushed[i].ring, pushed[i].site, &begin), 0);
    }
    assert_true(simpler_pairing_try_pop(&p, 0, 1, &begin) && begin.line == 2);
    assert_true(simpler_pairing_try_pop(&p, 0, 1, &begin) && begin.line == 0);
    assert_false(simpler_pairing_try_pop(&p, 0, 1, &begin));
    assert_true(simpler_pairing_try_pop(&p, 1, 1, &begin) && begin.line == 3);
    assert_true(p.open == 1);
    uint32_t next = 0, ring, site;
    uint64_t count;
    assert_true(simpler_pairing_next_open(&p, &next, &ring, &site, &count));
    assert_true(ring == 0 && site == 2 && count == 1);
    assert_false(simpler_pairing_next_open(&p, &next, &ring, &site, &count));
    simpler_pairing_fini(&p);
    simpler_pairing_fini(&p);
}

/* The reference is a list of all open begins, searched from its end. */
static void agrees_with_a_plain_list(void **state)
{
    enum { STEPS = 20000, SITES = 40, RINGS = 3 };
    struct {
        uint32_t ring, site;
        uint64_t line;
    } *list = malloc(STEPS * sizeof(*list));
    struct simpler_pairing p = {0};
    size_t open = 0;
    (void)state;
    assert_non_null(list);
    srand(4711);
    for (uint64_t step = 0; step < STEPS; step++) {
        uint32_t ring = (uint32_t)rand() % RINGS, site = (uint32_t)rand() % SITES;
        struct simpler_pairing_begin begin = begin_at(step);
        if (rand() % 100 < 52) {
            assert_int_equal(simpler_pairing_push(&p, ring, site, &begin), 0);
            list[open].ring = ring;
            list[open].site = site;
            list[open++].line = step;
        } else {
            size_t at = open;
            while (at > 0 && (list[at - 1].ring != ring || list[at - 1].site != site))
                at--;
            assert_int_equal(simpler_pairing_try_pop(&p, ring, site, &begin), at > 0);
            if (at > 0) {
                assert_true(begin.line == list[at - 1].line);
                memmove(&list[at - 1], &list[at], (open - at) * sizeof(*list));
                open--;
            }
        }
        assert_true(p.open == open);
    }
    simpler_pairing_fini(&p);
    free(list);
}

static void memory_is_that_of_the_open_scopes(void **state)
{
    struct simpler_pairing p = {0};
    struct simpler_pairing_begin begin = begin_at(0);
    (void)state;
    for (int i = 0; i < 100000; i++) {
        assert_int_equal(simpler_pairing_push(&p, 0, 5, &begin), 0);
        assert_true(simpler_pairing_try_pop(&p, 0, 5, &begin));
    }
    assert_true(p.node_room <= 64 && p.stack_room <= 64);
    simpler_pairing_fini(&p);
}

static void sites_get_one_number_each(void **state)
{
    struct simpler_site_table t = {0};
    char text[32];
    uint32_t id;
    (void)state;
    for (int round = 0; round < 2; round++) {
        for (uint32_t i = 0; i < 5000; i++) {
            int bytes = snprintf(text, sizeof(text), "file%u.cpp:%u", i / 10, i);
            assert_int_equal(simpler_site_table_intern(&t, text, (size_t)bytes, &id), 0);
            assert_int_equal(id, i);
            assert_string_equal(t.texts[id], text);
        }
    }
    assert_int_equal(t.count, 5000);
    /* A text and its beginning are two sites. */
    assert_int_equal(simpler_site_table_intern(&t, "file0.cpp:1", 10, &id), 0);
    assert_int_equal(id, 5000);
    simpler_site_table_fini(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pairs_are_innermost_first),
        cmocka_unit_test(agrees_with_a_plain_list),
        cmocka_unit_test(memory_is_that_of_the_open_scopes),
        cmocka_unit_test(sites_get_one_number_each),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
