/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_TASK_TENSORMAP_SEARCH_H
#define SIMPLER_TASK_TENSORMAP_SEARCH_H

/* The entries of other views that overlap one. */
#include "task/tensormap_class.h"

/* What a search is for. */
struct simpler_tensormap_search {
    struct simpler_tensormap *map;
    const struct simpler_tensormap_view *view;
    struct simpler_edge_sink *sink;
    bool writers;
    bool readers;
    bool remove; /* entries that the view covers */
};

/* All classes of the view's buffer but its own grid; not the view's own entry. */
void simpler_tensormap_search_others(const struct simpler_tensormap_search *search);

/* Edges to one entry's tasks. */
void simpler_tensormap_search_push(const struct simpler_tensormap_search *search, uint32_t e);

#endif
