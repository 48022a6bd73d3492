// SPDX-License-Identifier: Apache-2.0
// The shapes on oneTBB's flow graph, build and run; with BENCH_REPLAY built once and run
// again and again.  Its edges are given by hand.
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <oneapi/tbb/flow_graph.h>
#include <oneapi/tbb/global_control.h>

#include "shapes.h"

using namespace oneapi::tbb::flow;
using node = continue_node<continue_msg>;

namespace
{

struct task_graph {
    graph g;
    broadcast_node<continue_msg> start{g};
    std::vector<std::unique_ptr<node>> nodes;

    template <typename Body> node *add(Body body)
    {
        nodes.push_back(std::make_unique<node>(g, [body](const continue_msg &) {
            body();
            return continue_msg();
        }));
        return nodes.back().get();
    }
    void run()
    {
        start.try_put(continue_msg());
        g.wait_for_all();
    }
};

void plain(task_graph &t, const char *shape)
{
    node *last = nullptr;
    for (uint32_t i = 0; i < BENCH_TASKS; i++) {
        bench_cell *c = &bench_cells[shape[0] == 'o' ? i : 0];
        node *n = shape[0] == 'e' ? t.add([] {}) : t.add([c] { bench_inc(c); });
        if (shape[0] == 'c' && last != nullptr)
            make_edge(*last, *n);
        else
            make_edge(t.start, *n);
        last = n;
    }
}

void wave(task_graph &t)
{
    const uint32_t n = BENCH_SIDE;
    std::vector<node *> at(n * n);
    for (uint32_t i = 1; i <= n; i++) {
        for (uint32_t j = 1; j <= n; j++) {
            node *x = t.add([i, j] {
                bench_wave(bench_grid(i - 1, j), bench_grid(i, j - 1), bench_grid(i - 1, j - 1),
                           bench_grid(i, j));
            });
            at[(i - 1) * n + j - 1] = x;
            if (i > 1)
                make_edge(*at[(i - 2) * n + j - 1], *x);
            if (j > 1)
                make_edge(*at[(i - 1) * n + j - 2], *x);
            if (i > 1 && j > 1)
                make_edge(*at[(i - 2) * n + j - 2], *x);
            if (i == 1 && j == 1)
                make_edge(t.start, *x);
        }
    }
}

void tree(task_graph &t)
{
    std::vector<node *> at(2 * BENCH_LEAVES);
    for (uint32_t i = BENCH_LEAVES; i < 2 * BENCH_LEAVES; i++) {
        at[i] = t.add([i] { bench_inc(&bench_cells[i]); });
        make_edge(t.start, *at[i]);
    }
    for (uint32_t i = BENCH_LEAVES - 1; i > 0; i--) {
        at[i] = t.add(
            [i] { bench_join(&bench_cells[2 * i], &bench_cells[2 * i + 1], &bench_cells[i]); });
        make_edge(*at[2 * i], *at[i]);
        make_edge(*at[2 * i + 1], *at[i]);
    }
}

uint64_t kernel_rounds; // of metg; read when a node runs

// Read after write, and write after read of the row before last.
void metg(task_graph &t)
{
    std::vector<node *> before(BENCH_WIDTH), now(BENCH_WIDTH);
    for (uint32_t s = 1; s <= BENCH_STEPS; s++) {
        for (uint32_t i = 0; i < BENCH_WIDTH; i++) {
            now[i] = t.add([s, i] {
                bench_stencil(bench_row(s - 1, bench_left(i)), bench_row(s - 1, i),
                              bench_row(s - 1, bench_right(i)), bench_row(s, i), kernel_rounds);
            });
            if (s == 1) {
                make_edge(t.start, *now[i]);
                continue;
            }
            for (uint32_t k = bench_left(i); k <= bench_right(i); k++)
                make_edge(*before[k], *now[i]);
        }
        before.swap(now);
    }
}

void build(task_graph &t, const char *shape)
{
    if (strcmp(shape, "wave") == 0)
        wave(t);
    else if (strcmp(shape, "tree") == 0)
        tree(t);
    else if (strcmp(shape, "metg") == 0)
        metg(t);
    else
        plain(t, shape);
}

int run(const char *shape, uint64_t ns)
{
    kernel_rounds = ns;
    if (strcmp(shape, "pending") == 0 || strcmp(shape, "fan") == 0)
        return 0;
#ifdef BENCH_REPLAY
    static std::map<std::string, std::unique_ptr<task_graph>> graphs;
    std::unique_ptr<task_graph> &t = graphs[shape];
    if (!t) {
        t = std::make_unique<task_graph>();
        build(*t, shape);
    }
    t->run();
#else
    task_graph t;
    build(t, shape);
    t.run();
#endif
    return 1;
}

} // namespace

int main()
{
    oneapi::tbb::global_control limit(oneapi::tbb::global_control::max_allowed_parallelism,
                                      BENCH_THREADS);
    return bench_serve(run);
}
