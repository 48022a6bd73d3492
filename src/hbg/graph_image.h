/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_HBG_GRAPH_IMAGE_H
#define SIMPLER_HBG_GRAPH_IMAGE_H

/*
 * A graph as the device gets it: one block without pointers.  Every section is
 * found by its offset from the block's start.
 *
 *   nodes      a task each, in submit order, which is an order in which they may run
 *   words      the tasks' arguments: a tensor is a view and a distance, a scalar is itself
 *   edge_from  node i comes after the tasks edges[edge_from[i]] .. edges[edge_from[i + 1] - 1],
 *              which are node numbers below i, descending
 *   launches   what tasks with blocks, lanes, a predicate or a timing slot ask for
 *   views      the forms of tensors, each relative to a base
 *   dumps      what an args dump needs of each task; empty when nobody will ask
 *
 * A base is what differs from run to run: where a buffer lies.  Base 0 is the
 * graph's own outputs; the others are the buffers that a run uses, or the
 * arguments of a recorded graph.
 */
#include <stddef.h>
#include <stdint.h>

#include "base/compiler.h"
#include "collect/args_dump/args_dump_task_aicpu.h"
#include "simpler/task.h"
#include "simpler/tensor.h"
#include "task/launch_args.h"

#define SIMPLER_HBG_FUNC_DUMMY 0xffffu /* no kernel */
#define SIMPLER_HBG_FUNC_GRAPH 0xfffeu /* a recorded graph; words[first_word] is its number */

#define SIMPLER_HBG_FUNC_LAUNCH 0xfffdu /* see launches; words[first_word] is its number there */

#define SIMPLER_HBG_SCALARS 0x1fu
#define SIMPLER_HBG_RARE    0x40u /* no plain call of a kernel */
#define SIMPLER_HBG_BOUND   0x20u /* two words more: for each scalar 0, or 1 + its binding */

struct simpler_hbg_node {
    uint32_t first_word;
    uint16_t func_id;
    uint8_t tensor_count;
    uint8_t scalars; /* number | SIMPLER_HBG_BOUND | SIMPLER_HBG_RARE */
};

/* A tensor apart from where it lies: addr and owner are relative to the base. */
struct simpler_hbg_view {
    struct simpler_tensor tensor;
    uint32_t base;
    uint32_t reserved[15];
};

/* An argument word that is a tensor. */
#define SIMPLER_HBG_DISTANCE_BITS 32

/* See task/launch_args.h. */
struct simpler_hbg_launch {
    uint8_t lanes; /* mask of enum simpler_lane */
    uint8_t lane_count;
    uint8_t timing_slot; /* or SIMPLER_NO_TIMING */
    uint8_t sync_start;
    uint8_t op; /* enum simpler_predicate_op; the operand lies behind a base */
    uint8_t operand_bytes, operand_shift;
    uint8_t reserved;
    int32_t block_num;
    uint16_t func_id[SIMPLER_LANES]; /* SIMPLER_NO_FUNC: no kernel */
    uint16_t reserved2;
    uint32_t operand_base;
    uint64_t operand; /* bytes behind the base's address */
    int64_t target;
};

struct simpler_hbg_image {
    uint64_t bytes;      /* of the whole block */
    uint64_t heap_bytes; /* of its outputs */
    uint32_t node_count;
    uint32_t view_count;
    uint32_t edge_count;
    uint32_t base_count;
    uint32_t launch_count;
    uint64_t nodes, words, edge_from, edges, launches, views, dumps; /* offsets; dumps 0: none */
};

/* What a base stands for in one run. */
struct simpler_hbg_base {
    uint64_t addr;
    uint64_t buffer_bytes; /* 0: the view's own */
    uint64_t start_offset; /* elements, added to the view's */
    uint64_t owner;        /* of a bound tensor */
    int32_t version;
    uint8_t address_space;
    uint8_t is_bound; /* buffer_bytes, owner, version, address_space count */
};

SIMPLER_INLINE const void *simpler_hbg_at(const struct simpler_hbg_image *image, uint64_t offset)
{
    return (const uint8_t *)image + offset;
}

SIMPLER_INLINE const struct simpler_hbg_node *
simpler_hbg_nodes(const struct simpler_hbg_image *image)
{
    return simpler_hbg_at(image, image->nodes);
}

SIMPLER_INLINE const uint64_t *simpler_hbg_words(const struct simpler_hbg_image *image)
{
    return simpler_hbg_at(image, image->words);
}

SIMPLER_INLINE const uint32_t *simpler_hbg_edge_from(const struct simpler_hbg_image *image)
{
    return simpler_hbg_at(image, image->edge_from);
}

SIMPLER_INLINE const uint32_t *simpler_hbg_edges(const struct simpler_hbg_image *image)
{
    return simpler_hbg_at(image, image->edges);
}

SIMPLER_INLINE const struct simpler_hbg_view *
simpler_hbg_views(const struct simpler_hbg_image *image)
{
    return simpler_hbg_at(image, image->views);
}

SIMPLER_INLINE const struct simpler_hbg_launch *
simpler_hbg_launch_of(const struct simpler_hbg_image *image, uint32_t number)
{
    const struct simpler_hbg_launch *launches = simpler_hbg_at(image, image->launches);
    return &launches[simpler_hbg_words(image)[simpler_hbg_nodes(image)[number].first_word]];
}

/* The words of a task's arguments. */
SIMPLER_INLINE const uint64_t *simpler_hbg_args_of(const struct simpler_hbg_image *image,
                                                   uint32_t number)
{
    const struct simpler_hbg_node *node = &simpler_hbg_nodes(image)[number];
    return simpler_hbg_words(image) + node->first_word + (node->func_id == SIMPLER_HBG_FUNC_LAUNCH);
}

SIMPLER_INLINE const struct dump_args_submit *
simpler_hbg_dumps(const struct simpler_hbg_image *image)
{
    return simpler_hbg_at(image, image->dumps);
}

#endif
