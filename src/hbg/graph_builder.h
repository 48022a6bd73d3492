/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_HBG_GRAPH_BUILDER_H
#define SIMPLER_HBG_GRAPH_BUILDER_H

/*
 * The host's side of an image while the orchestration runs.  Every array is
 * reserved by the task window and touched on use; nothing here allocates
 * after open.
 */
#include <stdbool.h>
#include <stdint.h>

#include "hbg/graph_image.h"

/* All bases of one graph; the view table has a word of 32 bits for them. */
#define SIMPLER_HBG_MAX_EDGES (1u << 30)

/* Where a task was submitted; stays on the host. */
struct simpler_hbg_site {
    const char *file;
    int32_t line;
    uint32_t depth; /* of the scope; in a recorded graph those of its own */
};

struct simpler_hbg_builder {
    uint32_t window; /* nodes that fit */
    bool dumps_kept;
    uint32_t node_count;
    uint32_t edge_count;
    uint32_t view_count;
    uint32_t launch_count;
    uint32_t base_count;
    uint64_t word_count;
    uint64_t heap_bytes;
    uint32_t depth; /* of the scope that is open; the orchestrator's */
    struct simpler_hbg_node *node;
    uint64_t *word;
    uint32_t *edge_from; /* window + 1 */
    uint32_t *edge;
    struct dump_args_submit *dump;
    struct simpler_hbg_site *site;
    uint32_t *mark; /* of a node: 1 + the last node that has an edge to it */
    struct simpler_hbg_view *view;
    struct simpler_hbg_launch *launch;
    uint64_t *base_addr;               /* of each base */
    uint32_t *view_table, *base_table; /* 1 + index; open addressing */
    uint32_t table_mask;
    uint32_t last_view[SIMPLER_MAX_TENSORS]; /* of argument i, as it was last; UINT32_MAX: none */
    uint32_t first_edge;                     /* of the node that is being made */
};

/* SIMPLER_ENOMEM. */
int simpler_hbg_builder_open(struct simpler_hbg_builder *builder, uint32_t window);
void simpler_hbg_builder_close(struct simpler_hbg_builder *builder);
/* An empty graph; @dumps_kept: with what a dump needs. */
void simpler_hbg_builder_reset(struct simpler_hbg_builder *builder, bool dumps_kept);

/* The base of an address, made when it is new. */
uint32_t simpler_hbg_builder_base(struct simpler_hbg_builder *builder, uint64_t addr);

/* Whether any task has used that address. */
bool simpler_hbg_builder_has_base(const struct simpler_hbg_builder *builder, uint64_t addr);

/* An edge of the node that is being made; each producer once.  False: too many in all. */
bool simpler_hbg_builder_add_edge(struct simpler_hbg_builder *builder, uint32_t producer);
/* Appends the word of argument @i: a view of @base at @addr_distance bytes behind it. */
void simpler_hbg_builder_add_tensor(struct simpler_hbg_builder *builder, uint32_t i,
                                    const struct simpler_tensor *tensor, uint32_t base,
                                    uint64_t addr_distance, uint64_t owner);
/* The node is whole: its edges are sorted.  @words_from: word_count before its arguments. */
void simpler_hbg_builder_finish_node(struct simpler_hbg_builder *builder, uint32_t func_id,
                                     uint32_t tensor_count, uint32_t scalars, uint64_t words_from,
                                     const char *file, int line);

/* Bytes of the image, and the image itself into that many bytes, 64-byte aligned. */
uint64_t simpler_hbg_builder_image_bytes(const struct simpler_hbg_builder *builder);
void simpler_hbg_builder_pack(const struct simpler_hbg_builder *builder, void *block);

#endif
