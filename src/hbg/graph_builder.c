/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays that grow node by node; views and bases are kept once each. */
#include "hbg/graph_builder.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "simpler/status.h"

/* Words of the largest task: launch, tensors, scalars, two of bindings. */
#define MAX_WORDS (SIMPLER_MAX_TENSORS + SIMPLER_MAX_SCALARS + 3)

/* Every tensor of every task may be a view, and every view may have a base. */
static uint64_t max_views(uint32_t window)
{
    return (uint64_t)window * SIMPLER_MAX_TENSORS;
}

static uint64_t max_edges(uint32_t window)
{
    uint64_t pairs = (uint64_t)window * window / 2 + 1;
    return pairs < SIMPLER_HBG_MAX_EDGES ? pairs : SIMPLER_HBG_MAX_EDGES;
}

static uint32_t table_size(uint32_t window)
{
    uint64_t size = 64;
    while (size < 2 * max_views(window) && size < 1u << 31)
        size *= 2;
    return (uint32_t)size;
}

static bool map_array(void *place, uint64_t count, size_t bytes)
{
    void *memory = simpler_memory_map(count * bytes);
    *(void **)place = memory;
    return memory != NULL;
}

int simpler_hbg_builder_open(struct simpler_hbg_builder *b, uint32_t window)
{
    uint64_t n = window;

    memset(b, 0, sizeof(*b));
    b->window = window;
    b->table_mask = table_size(window) - 1;
    if (map_array(&b->node, n, sizeof(*b->node)) &&
        map_array(&b->word, n, MAX_WORDS * sizeof(*b->word)) &&
        map_array(&b->edge_from, n + 1, sizeof(*b->edge_from)) &&
        map_array(&b->edge, max_edges(window), sizeof(*b->edge)) &&
        map_array(&b->dump, n, sizeof(*b->dump)) && map_array(&b->site, n, sizeof(*b->site)) &&
        map_array(&b->mark, n, sizeof(*b->mark)) && map_array(&b->launch, n, sizeof(*b->launch)) &&
        map_array(&b->view, max_views(window), sizeof(*b->view)) &&
        map_array(&b->base_addr, max_views(window) + 1, sizeof(*b->base_addr)) &&
        map_array(&b->view_table, (uint64_t)b->table_mask + 1, sizeof(*b->view_table)) &&
        map_array(&b->base_table, (uint64_t)b->table_mask + 1, sizeof(*b->base_table)))
        return 0;
    simpler_hbg_builder_close(b);
    return SIMPLER_ENOMEM;
}

void simpler_hbg_builder_close(struct simpler_hbg_builder *b)
{
    uint64_t n = b->window;

    simpler_memory_unmap(b->node, n * sizeof(*b->node));
    simpler_memory_unmap(b->word, n * MAX_WORDS * sizeof(*b->word));
    simpler_memory_unmap(b->edge_from, (n + 1) * sizeof(*b->edge_from));
    simpler_memory_unmap(b->edge, max_edges(b->window) * sizeof(*b->edge));
    simpler_memory_unmap(b->dump, n * sizeof(*b->dump));
    simpler_memory_unmap(b->site, n * sizeof(*b->site));
    simpler_memory_unmap(b->mark, n * sizeof(*b->mark));
    simpler_memory_unmap(b->launch, n * sizeof(*b->launch));
    simpler_memory_unmap(b->view, max_views(b->window) * sizeof(*b->view));
    simpler_memory_unmap(b->base_addr, (max_views(b->window) + 1) * sizeof(*b->base_addr));
    simpler_memory_unmap(b->view_table, ((uint64_t)b->table_mask + 1) * sizeof(*b->view_table));
    simpler_memory_unmap(b->base_table, ((uint64_t)b->table_mask + 1) * sizeof(*b->base_table));
    memset(b, 0, sizeof(*b));
}

static uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 31) * 0x9e3779b97f4a7c15u;
    return x ^ x >> 29;
}

static uint32_t base_place(const struct simpler_hbg_builder *b, uint64_t addr)
{
    uint32_t at = (uint32_t)mix(addr) & b->table_mask;
    while (b->base_table[at] != 0 && b->base_addr[b->base_table[at] - 1] != addr)
        at = (at + 1) & b->table_mask;
    return at;
}

static uint64_t view_hash(const struct simpler_hbg_view *v)
{
    const struct simpler_tensor *t = &v->tensor;
    uint64_t h = mix(t->addr ^ (uint64_t)v->base << 40 ^ t->owner);

    for (uint32_t i = 0; i < t->ndims; i++)
        h = mix(h ^ ((uint64_t)t->shape[i] << 32 | t->stride[i]));
    return mix(h ^ t->start_offset ^ (uint64_t)t->dtype << 56 ^ t->buffer_bytes);
}

static uint32_t view_place(const struct simpler_hbg_builder *b, const struct simpler_hbg_view *v)
{
    uint32_t at = (uint32_t)view_hash(v) & b->table_mask;
    while (b->view_table[at] != 0 && memcmp(&b->view[b->view_table[at] - 1], v, sizeof(*v)) != 0)
        at = (at + 1) & b->table_mask;
    return at;
}

/* The tables are emptied by what was put there: cheap, whatever their size. */
void simpler_hbg_builder_reset(struct simpler_hbg_builder *b, bool dumps_kept)
{
    for (uint32_t i = b->view_count; i > 0; i--)
        b->view_table[view_place(b, &b->view[i - 1])] = 0;
    for (uint32_t i = b->base_count; i > 1; i--)
        b->base_table[base_place(b, b->base_addr[i - 1])] = 0;
    memset(b->mark, 0, b->node_count * sizeof(*b->mark));
    memset(b->last_view, 0xff, sizeof(b->last_view));
    b->dumps_kept = dumps_kept;
    b->node_count = b->edge_count = b->view_count = b->launch_count = 0;
    b->base_count = 1;
    b->word_count = b->heap_bytes = 0;
    b->first_edge = b->depth = 0;
    b->edge_from[0] = 0;
}

uint32_t simpler_hbg_builder_base(struct simpler_hbg_builder *b, uint64_t addr)
{
    uint32_t last = b->base_count - 1;

    if (last != 0 && b->base_addr[last] == addr)
        return last;
    uint32_t at = base_place(b, addr);
    if (b->base_table[at] == 0) {
        b->base_addr[b->base_count] = addr;
        b->base_table[at] = ++b->base_count;
    }
    return b->base_table[at] - 1;
}

bool simpler_hbg_builder_has_base(const struct simpler_hbg_builder *b, uint64_t addr)
{
    return b->base_table[base_place(b, addr)] != 0;
}

bool simpler_hbg_builder_add_edge(struct simpler_hbg_builder *b, uint32_t producer)
{
    if (b->mark[producer] == b->node_count + 1)
        return true;
    if (b->edge_count >= max_edges(b->window))
        return false;
    b->mark[producer] = b->node_count + 1;
    b->edge[b->edge_count++] = producer;
    return true;
}

/* The parts of a descriptor that a view keeps; what is not used is 0. */
static void make_view(const struct simpler_tensor *t, uint32_t base, uint64_t addr_distance,
                      uint64_t owner, struct simpler_hbg_view *out)
{
    memset(out, 0, sizeof(*out));
    out->base = base;
    out->tensor.addr = addr_distance;
    out->tensor.buffer_bytes = t->buffer_bytes;
    out->tensor.owner = owner;
    out->tensor.version = t->version;
    out->tensor.ndims = t->ndims;
    out->tensor.dtype = t->dtype;
    out->tensor.manual_dep = t->manual_dep;
    out->tensor.is_contiguous = t->is_contiguous;
    out->tensor.address_space = t->address_space;
    for (uint32_t i = 0; i < t->ndims; i++) {
        out->tensor.shape[i] = t->shape[i];
        out->tensor.stride[i] = t->stride[i];
    }
    out->tensor.extent = t->extent;
    out->tensor.start_offset = t->start_offset & ~(uint64_t)UINT32_MAX;
}

static uint32_t keep_view(struct simpler_hbg_builder *b, const struct simpler_hbg_view *v)
{
    uint32_t at = view_place(b, v);
    if (b->view_table[at] == 0) {
        b->view[b->view_count] = *v;
        b->view_table[at] = ++b->view_count;
    }
    return b->view_table[at] - 1;
}

void simpler_hbg_builder_add_tensor(struct simpler_hbg_builder *b, uint32_t i,
                                    const struct simpler_tensor *tensor, uint32_t base,
                                    uint64_t addr_distance, uint64_t owner)
{
    struct simpler_hbg_view v;
    uint32_t view = b->last_view[i];

    make_view(tensor, base, addr_distance, owner, &v);
    if (view >= b->view_count || memcmp(&b->view[view], &v, sizeof(v)) != 0) {
        view = keep_view(b, &v);
        b->last_view[i] = view;
    }
    b->word[b->word_count++] =
        (uint64_t)view << SIMPLER_HBG_DISTANCE_BITS | (tensor->start_offset & UINT32_MAX);
}

static int descending(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? 1 : x > y ? -1 : 0;
}

static void sort_edges(uint32_t *edge, uint32_t count)
{
    if (count > 16) {
        qsort(edge, count, sizeof(*edge), descending);
        return;
    }
    for (uint32_t i = 1; i < count; i++) {
        uint32_t e = edge[i], k = i;
        for (; k > 0 && edge[k - 1] < e; k--)
            edge[k] = edge[k - 1];
        edge[k] = e;
    }
}

void simpler_hbg_builder_finish_node(struct simpler_hbg_builder *b, uint32_t func_id,
                                     uint32_t tensor_count, uint32_t scalars, uint64_t words_from,
                                     const char *file, int line)
{
    uint32_t n = b->node_count++;

    b->node[n] = (struct simpler_hbg_node){
        .first_word = (uint32_t)words_from,
        .func_id = (uint16_t)func_id,
        .tensor_count = (uint8_t)tensor_count,
        .scalars = (uint8_t)(scalars | (func_id >= SIMPLER_HBG_FUNC_LAUNCH ? SIMPLER_HBG_RARE : 0)),
    };
    sort_edges(&b->edge[b->first_edge], b->edge_count - b->first_edge);
    b->site[n] = (struct simpler_hbg_site){file, line, b->depth};
    b->first_edge = b->edge_count;
    b->edge_from[n + 1] = b->edge_count;
}

static uint64_t round_up(uint64_t n)
{
    return (n + SIMPLER_CACHE_LINE - 1) & ~(uint64_t)(SIMPLER_CACHE_LINE - 1);
}

/* The header of the image, with every offset. */
static struct simpler_hbg_image lay_out(const struct simpler_hbg_builder *b)
{
    struct simpler_hbg_image image = {
        .heap_bytes = b->heap_bytes,
        .node_count = b->node_count,
        .view_count = b->view_count,
        .edge_count = b->edge_count,
        .base_count = b->base_count,
        .launch_count = b->launch_count,
    };
    uint64_t at = round_up(sizeof(image));

    image.nodes = at;
    at = round_up(at + b->node_count * sizeof(*b->node));
    image.words = at;
    at = round_up(at + b->word_count * sizeof(*b->word));
    image.edge_from = at;
    at = round_up(at + ((uint64_t)b->node_count + 1) * sizeof(*b->edge_from));
    image.edges = at;
    at = round_up(at + b->edge_count * sizeof(*b->edge));
    image.launches = at;
    at = round_up(at + b->launch_count * sizeof(*b->launch));
    image.views = at;
    at = round_up(at + b->view_count * sizeof(*b->view));
    if (b->dumps_kept) {
        image.dumps = at;
        at = round_up(at + b->node_count * sizeof(*b->dump));
    }
    image.bytes = at;
    return image;
}

uint64_t simpler_hbg_builder_image_bytes(const struct simpler_hbg_builder *b)
{
    return lay_out(b).bytes;
}

void simpler_hbg_builder_pack(const struct simpler_hbg_builder *b, void *block)
{
    struct simpler_hbg_image image = lay_out(b);
    uint8_t *to = block;

    memcpy(to, &image, sizeof(image));
    memcpy(to + image.nodes, b->node, b->node_count * sizeof(*b->node));
    memcpy(to + image.words, b->word, b->word_count * sizeof(*b->word));
    memcpy(to + image.edge_from, b->edge_from, ((size_t)b->node_count + 1) * sizeof(*b->edge_from));
    memcpy(to + image.edges, b->edge, b->edge_count * sizeof(*b->edge));
    memcpy(to + image.launches, b->launch, b->launch_count * sizeof(*b->launch));
    memcpy(to + image.views, b->view, b->view_count * sizeof(*b->view));
    if (b->dumps_kept)
        memcpy(to + image.dumps, b->dump, b->node_count * sizeof(*b->dump));
}
