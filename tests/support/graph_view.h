/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TEST_SUPPORT_GRAPH_VIEW_H
#define TEST_SUPPORT_GRAPH_VIEW_H

/* Random views for the graph generator. */
#include "graph_gen.h"

/* A random row-major shape of @bytes bytes, in a random type whose size divides them. */
void graph_random_whole(struct kit_random *random, uint32_t bytes, struct graph_view *out);
/* Fills base, rebased, steps and view of an access to @buffer. */
void graph_random_view(struct kit_random *random, const struct graph_buffer *buffer,
                       struct graph_access *access);
/* Makes the access one of the whole buffer. */
void graph_whole_view(const struct graph_buffer *buffer, struct graph_access *access);

#endif
