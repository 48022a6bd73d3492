/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The five shapes and METG beside the peers that are here, interleaved slice by
 * slice; each slice is labelled near or far by a round-trip probe before and
 * after it.  Ends with the gate of anchors: our time over that of gcc's OpenMP.
 *
 *     bench_shapes [SLICES [PEER...]]
 *
 * bench_replay is the same with graphs that are built once and run again and
 * again, against oneTBB's.
 *
 * 5 slices of every peer unless said otherwise; PEER is openmp, openmp_llvm, tbb
 * or starpu.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define MAX_PEERS  8
#define MAX_SLICES 101
#define SHAPES     6
#define METG       5 /* the last shape */
#define TRIES      5 /* runs of a shape a slice */
#define NEAR_NS    150.0

static const char *const shape_names[SHAPES] = {"empty", "own", "chain", "wave", "tree", "metg"};
#ifdef BENCH_REPLAY
/* A recorded graph, replayed, is ahead of every static graph. */
static const double gates[SHAPES] = {1, 1, 1, 1, 1, 1};
static const double targets[SHAPES] = {8, 15, 8, 30, 25, 120};
#define GATE_PEER "oneTBB, run only"
#define GATES     6
static const char *const names[][2] = {{"simpler replay", "peer_simpler_replay"},
                                       {GATE_PEER, "peer_tbb_replay"},
                                       {"gcc OpenMP", "peer_openmp"},
                                       {"LLVM OpenMP", "peer_openmp_llvm"}};
#else
/* At most this share of gcc's OpenMP (anchors); METG has no gate against it. */
static const double gates[SHAPES] = {0.40, 0.20, 0.12, 0.21, 0.18, 0};
static const double targets[SHAPES] = {30, 45, 40, 80, 55, 400};
#define GATE_PEER "gcc OpenMP"
#define GATES     5
static const char *const names[][2] = {{"simpler", "peer_simpler"},
                                       {GATE_PEER, "peer_openmp"},
                                       {"LLVM OpenMP", "peer_openmp_llvm"},
                                       {"oneTBB flow", "peer_tbb"},
                                       {"StarPU", "peer_starpu"}};
#endif

enum placement { NEAR, FAR, MOVED, PLACEMENTS };
static const char *const placement_names[PLACEMENTS] = {"near", "far", "moved"};

struct peer {
    const char *name;
    FILE *to, *from;
    double ns[SHAPES][MAX_SLICES];
};

static uint64_t now_ns(void)
{
    struct timespec ts;
    (void)clock_gettime(CLOCK_MONOTONIC, &ts);
    return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static _Atomic uint32_t ping, pong;

static void *answer(void *unused)
{
    (void)unused;
    for (uint32_t i = 1; i <= 20000; i++) {
        while (atomic_load_explicit(&ping, memory_order_acquire) != i)
            ;
        atomic_store_explicit(&pong, i, memory_order_release);
    }
    return NULL;
}

/* Round trip between two threads: the median of 20 averages over 1000. */
static double probe(void)
{
    pthread_t thread;
    double best = 1e9;

    atomic_store(&ping, 0);
    atomic_store(&pong, 0);
    if (pthread_create(&thread, NULL, answer, NULL) != 0)
        return 0;
    for (uint32_t block = 0; block < 20; block++) {
        uint64_t start = now_ns();
        for (uint32_t i = block * 1000 + 1; i <= (block + 1) * 1000; i++) {
            atomic_store_explicit(&ping, i, memory_order_release);
            while (atomic_load_explicit(&pong, memory_order_acquire) != i)
                ;
        }
        double ns = (double)(now_ns() - start) / 1000;
        if (ns < best)
            best = ns;
    }
    (void)pthread_join(thread, NULL);
    return best;
}

static bool start_peer(struct peer *peer, const char *name, const char *path)
{
    int in[2], out[2];

    if (access(path, X_OK) != 0 || pipe(in) != 0 || pipe(out) != 0)
        return false;
    pid_t pid = fork();
    if (pid == 0) {
        (void)dup2(in[0], 0);
        (void)dup2(out[1], 1);
        (void)close(in[1]);
        (void)close(out[0]);
        (void)execl(path, path, (char *)NULL);
        _exit(127);
    }
    (void)close(in[0]);
    (void)close(out[1]);
    peer->name = name;
    peer->to = fdopen(in[1], "w");
    peer->from = fdopen(out[0], "r");
    return pid > 0 && peer->to != NULL && peer->from != NULL;
}

/* Nanoseconds a task, or a negative number. */
static double ask(struct peer *peer, const char *shape, uint64_t ns)
{
    char line[64];
    double value;

    (void)fprintf(peer->to, "%s %llu\n", shape, (unsigned long long)ns);
    (void)fflush(peer->to);
    if (fgets(line, sizeof(line), peer->from) == NULL || sscanf(line, "%lf", &value) != 1)
        return -1;
    return value;
}

/* Whether kernels of @g nanoseconds keep 50 % efficiency, in one of three tries. */
static bool is_efficient(struct peer *peer, double g, double *cost)
{
    for (int i = 0; i < 3; i++) {
        double wall = ask(peer, "metg", (uint64_t)g);
        if (wall > 0 && g / (wall * 2) >= 0.5) {
            *cost = wall * 2;
            return true;
        }
    }
    return false;
}

/*
 * Elapsed x cores / tasks at the smallest kernel that keeps 50 % efficiency: its time
 * is doubled from below, so that none goes into kernels much longer than it, then
 * halved in between.  -1: no kernel of up to 66 us does.
 */
static double metg(struct peer *peer)
{
    double low = 16, high = 32, cost = -1;
    while (!is_efficient(peer, high, &cost)) {
        low = high;
        high *= 2;
        if (high > 66000)
            return -1;
    }
    for (int i = 0; i < 4; i++) {
        double middle = (low + high) / 2;
        if (is_efficient(peer, middle, &cost))
            high = middle;
        else
            low = middle;
    }
    return cost;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(const double *values, int n)
{
    double copy[MAX_SLICES];
    memcpy(copy, values, (size_t)n * sizeof(*copy));
    qsort(copy, (size_t)n, sizeof(*copy), by_value);
    return copy[n / 2];
}

/* A run takes milliseconds, as long as one interrupt: the median of several counts. */
static void measure_shape(struct peer *peers, int count, int shape, int slice)
{
    double tries[MAX_PEERS][TRIES];
    for (int i = 0; i < TRIES; i++) {
        for (int p = 0; p < count; p++)
            tries[p][i] = ask(&peers[p], shape_names[shape], 0);
    }
    for (int p = 0; p < count; p++)
        peers[p].ns[shape][slice] = median(tries[p], TRIES);
}

static void measure(struct peer *peers, int count, int slices, enum placement *places)
{
    for (int s = 0; s < slices; s++) {
        double before = probe();
        for (int k = 0; k < METG; k++)
            measure_shape(peers, count, k, s);
        for (int p = 0; p < count; p++)
            peers[p].ns[METG][s] = metg(&peers[p]);
        double after = probe();
        places[s] = before < NEAR_NS && after < NEAR_NS   ? NEAR
                    : before > NEAR_NS && after > NEAR_NS ? FAR
                                                          : MOVED;
        printf("slice %d: round trip %.0f and %.0f ns: %s\n", s + 1, before, after,
               placement_names[places[s]]);
        (void)fflush(stdout);
    }
}

/* The median of the slices of one placement. */
static double median_in(const double *ns, int slices, const enum placement *places,
                        enum placement place)
{
    double chosen[MAX_SLICES];
    int n = 0;
    for (int s = 0; s < slices; s++) {
        if (places[s] == place)
            chosen[n++] = ns[s];
    }
    return median(chosen, n);
}

static void print_table(const struct peer *peers, int count, int slices,
                        const enum placement *places, enum placement place)
{
    int n = 0;
    for (int s = 0; s < slices; s++)
        n += places[s] == place;
    if (n == 0) {
        printf("%s: not measured, no slice was\n", placement_names[place]);
        return;
    }
    printf("%s, medians of %d slices\n%-16s", placement_names[place], n, "ns a task");
    for (int k = 0; k < SHAPES; k++)
        printf("%10s", shape_names[k]);
    printf("\n");
    for (int p = 0; p < count; p++) {
        printf("%-16s", peers[p].name);
        for (int k = 0; k < SHAPES; k++)
            printf("%10.1f", median_in(peers[p].ns[k], slices, places, place));
        printf("\n");
    }
    printf("%-16s", "target");
    for (int k = 0; k < SHAPES; k++)
        printf("%10.0f", targets[k]);
    printf("\n");
}

/* Resident bytes of a task that is submitted and cannot run. */
static void print_pending(struct peer *peers, int count)
{
    for (int p = 0; p < count; p++) {
        /* This runtime's window bounds what can be pending. */
        uint64_t tasks = p == 0 ? 16000 : 1000000;
        double bytes = ask(&peers[p], "pending", tasks);
        if (bytes >= 0)
            printf("pending: %s %.0f bytes a task, %.1f MB for %llu\n", peers[p].name, bytes,
                   bytes * (double)tasks / 1e6, (unsigned long long)tasks);
    }
}

/* Linear runtimes show the same number twice. */
static void print_fan(struct peer *peers, int count)
{
    for (int p = 0; p < count; p++) {
        double few = ask(&peers[p], "fan", 5000), many = ask(&peers[p], "fan", 20000);
        if (few >= 0 && many >= 0)
            printf("fan: %s %.1f ns a reader with 5,000 readers, %.1f with 20,000\n", peers[p].name,
                   few, many);
    }
}

/* Every slice must keep the gate. */
static int check_gate(const struct peer *peers, int count, int slices)
{
    int gcc = -1, failed = 0;

    for (int p = 1; p < count; p++) {
        if (strcmp(peers[p].name, GATE_PEER) == 0)
            gcc = p;
    }
    if (gcc < 0) {
        printf("gate: not measured, " GATE_PEER " is not here\n");
        return 0;
    }
    for (int k = 0; k < GATES; k++) {
        double ratio[MAX_SLICES], worst = 0;
        int kept = 0;
        for (int s = 0; s < slices; s++) {
            bool right = peers[0].ns[k][s] > 0 && peers[gcc].ns[k][s] > 0;
            ratio[s] = right ? peers[0].ns[k][s] / peers[gcc].ns[k][s] : 1e9;
            worst = ratio[s] > worst ? ratio[s] : worst;
            kept += ratio[s] <= gates[k];
        }
        printf("gate %-6s ratio %.3f, worst %.3f, at most %.2f: %s in %d of %d slices\n",
               shape_names[k], median(ratio, slices), worst, gates[k],
               kept == slices ? "kept" : "MISSED, kept", kept, slices);
        failed |= kept != slices;
    }
    return failed;
}

/* Whether the peer program was asked for. */
static bool is_wanted(const char *program, int argc, char **argv)
{
    if (argc <= 2 || strcmp(program, names[0][1]) == 0)
        return true;
    for (int i = 2; i < argc; i++) {
        if (strcmp(program + strlen("peer_"), argv[i]) == 0)
            return true;
    }
    return false;
}

int main(int argc, char **argv)
{
    static struct peer peers[MAX_PEERS];
    static enum placement places[MAX_SLICES];
    char path[4096];
    int slices = argc > 1 ? atoi(argv[1]) : 5;
    int count = 0;

    if (slices < 1 || slices > MAX_SLICES) {
        (void)fprintf(stderr, "bench_shapes: SLICES is a number from 1 to %d\n", MAX_SLICES);
        return 2;
    }
    const char *slash = strrchr(argv[0], '/');
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        (void)snprintf(path, sizeof(path), "%.*s/%s", slash == NULL ? 1 : (int)(slash - argv[0]),
                       slash == NULL ? "." : argv[0], names[i][1]);
        if (!is_wanted(names[i][1], argc, argv))
            continue;
        if (start_peer(&peers[count], names[i][0], path))
            count++;
        else
            printf("%s: not here\n", names[i][0]);
    }
    if (count == 0 || strcmp(peers[0].name, names[0][0]) != 0)
        return 1;
    measure(peers, count, slices, places);
    for (int place = NEAR; place < PLACEMENTS; place++)
        print_table(peers, count, slices, places, (enum placement)place);
    print_fan(peers, count);
    print_pending(peers, count);
    return check_gate(peers, count, slices);
}
