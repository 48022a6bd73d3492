/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_TASK_TENSORMAP_CLASS_H
#define SIMPLER_TASK_TENSORMAP_CLASS_H

/* Buffers, their classes, and the forms of views. */
#include "task/tensormap_state.h"

/* A view that is being accessed. */
struct simpler_tensormap_view {
    struct simpler_tensormap_slot *slot;
    uint64_t addr;
    uint64_t start;        /* byte offset */
    uint64_t buffer_bytes; /* a hint */
    uint32_t buffer;       /* 0: has no entries */
    uint64_t origin;       /* of its grid, if it can have one */
    uint32_t class;        /* the grid that the view is a cell of; 0: none */
    uint32_t cell;
    uint32_t entry; /* 0: none */
};

/* The buffer's record, 0 if there is none. */
uint32_t simpler_tensormap_class_find_buffer(struct simpler_tensormap *map, uint64_t addr);

/* Fills in class, cell and entry. */
void simpler_tensormap_class_find(struct simpler_tensormap *map,
                                  struct simpler_tensormap_view *view);

/* A new entry for a cell of a grid that has none. */
uint32_t simpler_tensormap_class_add_cell(struct simpler_tensormap *map, uint32_t c, uint32_t cell,
                                          uint64_t start);

/* A new entry for the view, and whatever it lacks. */
uint32_t simpler_tensormap_class_make_entry(struct simpler_tensormap *map,
                                            struct simpler_tensormap_view *view);

/* The class has no entries: frees it unless it is pinned. */
void simpler_tensormap_class_release(struct simpler_tensormap *map, uint32_t c);
/* Frees a buffer without classes. */
void simpler_tensormap_class_release_buffer(struct simpler_tensormap *map, uint32_t b);
/* One entry or class less uses the form. */
void simpler_tensormap_class_release_form(struct simpler_tensormap *map, uint32_t f);

#endif
