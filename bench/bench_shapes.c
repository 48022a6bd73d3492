/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The five shapes and METG beside the peers that are here, interleaved slice by
 * slice; each slice is labelled near or far by a round-trip probe before and
 * after it.  Ends with the gate of anchors: our time over that of gcc's OpenMP.
 *
 * A ratio of two runtimes on two CPUs says something only while both had two.  So a
 * run in which one of them had not (had_cpus) is taken again, whatever time it took; a
 * slice that lacks such runs is "not measured" and another one is taken, up to three
 * times as many as asked for.
 *
 *     bench_shapes [SLICES [PEER...]]
 *
 * bench_replay is the same with graphs that are built once and run again and
 * again, against oneTBB's.
 *
 * 5 slices of every peer unless said otherwise; PEER is openmp, openmp_llvm, tbb
 * or starpu.  Exit status 1: a gate was missed, or our own program gave no number.
 */
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "cpu_use.h"

#define MAX_PEERS  8
#define MAX_SLICES 303
#define SHAPES     6
#define METG       5 /* the last shape */
#define TRIES      5 /* runs of a shape a slice */
/* With those in which a CPU was missing; a run of METG is short. */
#define MORE_TRIES      20
#define MORE_METG_TRIES 60
#define NEAR_NS         150.0
/* What all threads of a program may wait for CPUs in a run, of its time; and what those of
 * the peer in the gate have to get, for a thread that has not come to run yet has not been
 * seen to wait.  Our idle thread may sleep. */
#define MAX_WAIT 0.05
/* Or so long: a thread that is woken behind another one of its program waits for some tens of
 * microseconds, one that a foreign process keeps from its CPU for a slice, which is milliseconds.
 */
#define MAX_WAIT_NS 100000.0
#ifdef BENCH_REPLAY
#define PEER_MIN_CPUS 0.9 /* oneTBB builds with one thread, and its idle ones sleep */
#else
#define PEER_MIN_CPUS 1.3
#endif
/* Other peers that take longer: one run a slice; METG in the first slice alone. */
#define SLOW_RUN_NS  100000000u
#define SLOW_METG_NS 2000000000u

static const char *const shape_names[SHAPES] = {"empty", "own", "chain", "wave", "tree", "metg"};
#ifdef BENCH_REPLAY
/* A recorded graph, replayed, is ahead of every static graph. */
static const double gates[SHAPES] = {1, 1, 1, 1, 1, 1};
static const double targets[SHAPES] = {8, 15, 8, 30, 25, 120};
#define GATE_PEER "oneTBB, run only"
#define GATES     6
/* A window bounds what a recorded graph can hold. */
#define FIRST_OF_TRAPS 1
static const char *const names[][2] = {{"simpler replay", "peer_simpler_replay"},
                                       {GATE_PEER, "peer_tbb_replay"},
                                       {"gcc OpenMP", "peer_openmp"},
                                       {"LLVM OpenMP", "peer_openmp_llvm"}};
#else
/* At most this share of gcc's OpenMP (anchors); METG has no gate against it. */
static const double gates[SHAPES] = {0.40, 0.20, 0.12, 0.21, 0.18, 0};
static const double targets[SHAPES] = {30, 45, 40, 80, 55, 400};
#define GATE_PEER      "gcc OpenMP"
#define GATES          5
#define FIRST_OF_TRAPS 0
static const char *const names[][2] = {{"simpler", "peer_simpler"},
                                       {GATE_PEER, "peer_openmp"},
                                       {"LLVM OpenMP", "peer_openmp_llvm"},
                                       {"oneTBB flow", "peer_tbb"},
                                       {"StarPU", "peer_starpu"}};
#endif

enum placement { NEAR, FAR, MOVED, UNMEASURED, PLACEMENTS };
static const char *const placement_names[PLACEMENTS] = {
    "near", "far", "moved", "not measured, the second CPU was not there"};

struct peer {
    const char *name;
    pid_t pid;
    FILE *to, *from;
    bool judged;                   /* it is in the gate: its runs need their CPUs */
    bool slow_metg;                /* not searched again */
    bool failed;                   /* it gave no number */
    uint32_t lost;                 /* runs that lacked a CPU, in this slice */
    double ns[SHAPES][MAX_SLICES]; /* NAN: not measured, negative: none */
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

    if (access(path, X_OK) != 0 || pipe2(in, O_CLOEXEC) != 0 || pipe2(out, O_CLOEXEC) != 0)
        return false;
    pid_t pid = fork();
    if (pid == 0) {
        (void)dup2(in[0], 0);
        (void)dup2(out[1], 1);
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        (void)execl(path, path, (char *)NULL);
        _exit(127);
    }
    (void)close(in[0]);
    (void)close(out[1]);
    peer->name = name;
    peer->pid = pid;
    peer->judged = strcmp(name, names[0][0]) == 0 || strcmp(name, GATE_PEER) == 0;
    peer->to = fdopen(in[1], "w");
    peer->from = fdopen(out[0], "r");
    return pid > 0 && peer->to != NULL && peer->from != NULL;
}

/* Idle threads of some peers spin for ever or for 200 ms: who is not asked is stopped. */
static void rest(const struct peer *peer)
{
    if (strcmp(peer->name, names[0][0]) != 0)
        (void)kill(peer->pid, SIGSTOP);
}

static void wake(const struct peer *peer)
{
    if (strcmp(peer->name, names[0][0]) != 0)
        (void)kill(peer->pid, SIGCONT);
}

/* Nanoseconds a task, or a negative number. */
static double ask(struct peer *peer, const char *shape, uint64_t ns)
{
    char line[64];
    double value = -1;

    wake(peer);
    (void)fprintf(peer->to, "%s %llu\n", shape, (unsigned long long)ns);
    (void)fflush(peer->to);
    if (fgets(line, sizeof(line), peer->from) == NULL || sscanf(line, "%lf", &value) != 1)
        value = -1;
    rest(peer);
    peer->failed |= value < 0;
    return value;
}

/* Whether @peer had its CPUs in a run of @wall nanoseconds. */
static bool had_cpus(const struct peer *peer, const struct cpu_use *before,
                     const struct cpu_use *after, double wall)
{
    double waited = (double)(after->waited_ns - before->waited_ns);
    double ran = (double)(after->ran_ns - before->ran_ns);

    return (waited <= MAX_WAIT * wall || waited <= MAX_WAIT_NS) &&
           (strcmp(peer->name, GATE_PEER) != 0 || ran >= PEER_MIN_CPUS * wall);
}

/* As ask; false when the program lacked a CPU meanwhile. */
static bool ask_undisturbed(struct peer *peer, const char *shape, uint64_t ns, double *value)
{
    struct cpu_use before, after;

    if (!peer->judged || !cpu_use_of(peer->pid, &before)) {
        *value = ask(peer, shape, ns);
        return true;
    }
    uint64_t start = now_ns();
    *value = ask(peer, shape, ns);
    double wall = (double)(now_ns() - start);
    bool had =
        !cpu_use_of(peer->pid, &after) || *value < 0 || had_cpus(peer, &before, &after, wall);
    peer->lost += !had;
    return had;
}

/*
 * Whether kernels of @g nanoseconds keep 50 % efficiency, in one of three tries; @missed
 * is set when too many tries lacked a CPU.
 */
static bool is_efficient(struct peer *peer, double g, double *cost, bool *missed)
{
    int good = 0;
    for (int i = 0; i < MORE_METG_TRIES && good < 3; i++) {
        double wall;
        if (!ask_undisturbed(peer, "metg", (uint64_t)g, &wall))
            continue;
        good++;
        if (wall > 0 && g / (wall * 2) >= 0.5) {
            *cost = wall * 2;
            return true;
        }
    }
    *missed |= good < 3;
    return false;
}

/*
 * Elapsed x cores / tasks at the smallest kernel that keeps 50 % efficiency: its time
 * is doubled from below, so that none goes into kernels much longer than it, then
 * halved in between.  -1: no kernel of up to 66 us does; NAN: a CPU was missing.
 */
static double metg(struct peer *peer)
{
    double low = 16, high = 32, cost = -1;
    bool missed = false;
    while (!is_efficient(peer, high, &cost, &missed)) {
        low = high;
        high *= 2;
        if (missed || peer->failed || high > 66000)
            return missed ? NAN : -1;
    }
    for (int i = 0; i < 4; i++) {
        double middle = (low + high) / 2;
        if (is_efficient(peer, middle, &cost, &missed))
            high = middle;
        else
            low = middle;
    }
    return missed ? NAN : cost;
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

/* On a terminal: what is being measured. */
static void progress(int slice, const char *shape, const char *peer)
{
    if (isatty(STDERR_FILENO))
        (void)fprintf(stderr, "\r\033[Kslice %d: %s %s", slice + 1, shape, peer);
}

struct tries {
    double ns[TRIES];
    int count;
    bool slow;
};

/* One run of every peer; false when one of those in the gate lacked a CPU. */
static bool try_shape(struct peer *peers, int count, int shape, struct tries *tries, double *got)
{
    bool had = true;
    for (int p = 0; p < count; p++) {
        if (!peers[p].judged && (tries[p].slow || tries[p].count == TRIES))
            continue;
        uint64_t start = now_ns();
        had &= ask_undisturbed(&peers[p], shape_names[shape], 0, &got[p]);
        tries[p].slow = !peers[p].judged && now_ns() - start > SLOW_RUN_NS;
        if (!peers[p].judged)
            tries[p].ns[tries[p].count++] = got[p];
    }
    for (int p = 0; p < count && had; p++) {
        if (peers[p].judged)
            tries[p].ns[tries[p].count++] = got[p];
    }
    return had;
}

/*
 * A run takes milliseconds, as long as one interrupt: the median of several counts.
 * False when too few of them had their CPUs.
 */
static bool measure_shape(struct peer *peers, int count, int shape, int slice)
{
    struct tries tries[MAX_PEERS] = {0};
    double got[MAX_PEERS];
    int good = 0;

    progress(slice, shape_names[shape], "");
    for (int i = 0; i < MORE_TRIES && good < TRIES; i++)
        good += try_shape(peers, count, shape, tries, got);
    for (int p = 0; p < count; p++)
        peers[p].ns[shape][slice] = tries[p].count == 0 ? NAN : median(tries[p].ns, tries[p].count);
    return good == TRIES;
}

static void measure_metg(struct peer *peer, int slice)
{
    peer->ns[METG][slice] = NAN;
    if (peer->slow_metg)
        return;
    progress(slice, shape_names[METG], peer->name);
    uint64_t start = now_ns();
    peer->ns[METG][slice] = metg(peer);
    peer->slow_metg = now_ns() - start > SLOW_METG_NS && !isnan(peer->ns[METG][slice]) &&
                      strcmp(peer->name, names[0][0]) != 0;
}

static enum placement measure_slice(struct peer *peers, int count, int slice)
{
    bool had = true;
    uint32_t lost = 0;

    for (int p = 0; p < count; p++)
        peers[p].lost = 0;
    double before = probe();
    for (int k = 0; k < METG; k++)
        had &= measure_shape(peers, count, k, slice);
    for (int p = 0; p < count; p++)
        measure_metg(&peers[p], slice);
    double after = probe();
    for (int p = 0; p < count; p++)
        lost += peers[p].lost;
    enum placement place = !had                                  ? UNMEASURED
                           : before < NEAR_NS && after < NEAR_NS ? NEAR
                           : before > NEAR_NS && after > NEAR_NS ? FAR
                                                                 : MOVED;
    for (int p = 0; p < count && place == UNMEASURED; p++)
        peers[p].slow_metg = false;
    progress(slice, "\r", "\033[K\r");
    printf("slice %d: round trip %.0f and %.0f ns, %u run%s lacked a CPU (%u of ours): %s\n",
           slice + 1, before, after, lost, lost == 1 ? "" : "s", peers[0].lost,
           placement_names[place]);
    (void)fflush(stdout);
    return place;
}

/* Until @wanted slices are measured, *good of them; how many were taken. */
static int measure(struct peer *peers, int count, int wanted, enum placement *places, int *good)
{
    int s = 0;
    for (*good = 0; *good < wanted && s < 3 * wanted && !peers[0].failed; s++) {
        places[s] = measure_slice(peers, count, s);
        *good += places[s] != UNMEASURED;
    }
    return s;
}

/* The median of the slices of one placement; NAN: there is none. */
static double median_in(const double *ns, int slices, const enum placement *places,
                        enum placement place)
{
    double chosen[MAX_SLICES];
    int n = 0;
    for (int s = 0; s < slices; s++) {
        if (places[s] == place && !isnan(ns[s]))
            chosen[n++] = ns[s];
    }
    return n == 0 ? NAN : median(chosen, n);
}

static void print_cell(double ns)
{
    if (isnan(ns) || ns < 0)
        printf("%10s", "-");
    else
        printf("%10.1f", ns);
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
    printf("%s, medians of %d slice%s\n%-16s", placement_names[place], n, n == 1 ? "" : "s",
           "ns a task");
    for (int k = 0; k < SHAPES; k++)
        printf("%10s", shape_names[k]);
    printf("\n");
    for (int p = 0; p < count; p++) {
        printf("%-16s", peers[p].name);
        for (int k = 0; k < SHAPES; k++)
            print_cell(median_in(peers[p].ns[k], slices, places, place));
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
    for (int p = FIRST_OF_TRAPS; p < count; p++) {
        /* This runtime's window bounds what can be pending. */
        uint64_t tasks = p == 0 ? 16000 : 1000000;
        double bytes = ask(&peers[p], "pending", tasks);
        if (bytes >= 0)
            printf("pending: %s %.0f bytes a task, %.1f MB for %llu\n", peers[p].name, bytes,
                   bytes * (double)tasks / 1e6, (unsigned long long)tasks);
    }
}

/* A median of three: the first run may have to take new memory. */
static double fan(struct peer *peer, uint64_t readers)
{
    double tries[3];
    for (int i = 0; i < 3; i++)
        tries[i] = ask(peer, "fan", readers);
    return median(tries, 3);
}

/* Linear runtimes show the same number twice. */
static void print_fan(struct peer *peers, int count)
{
    for (int p = FIRST_OF_TRAPS; p < count; p++) {
        double few = fan(&peers[p], 5000), many = fan(&peers[p], 20000);
        if (few >= 0 && many >= 0)
            printf("fan: %s %.1f ns a reader with 5,000 readers, %.1f with 20,000\n", peers[p].name,
                   few, many);
    }
}

/* Every slice of a placement must keep the gate. */
static int check_gate_of(const struct peer *ours, const struct peer *gcc, int shape, int slices,
                         const enum placement *places, enum placement place)
{
    double ratio[MAX_SLICES], worst = 0;
    int kept = 0, n = 0;

    for (int s = 0; s < slices; s++) {
        double a = ours->ns[shape][s], b = gcc->ns[shape][s];
        if (places[s] != place || isnan(a) || isnan(b))
            continue;
        ratio[n] = a > 0 && b > 0 ? a / b : 1e9;
        worst = ratio[n] > worst ? ratio[n] : worst;
        kept += ratio[n++] <= gates[shape];
    }
    if (n == 0)
        return 0;
    printf("gate %-6s %-5s ratio %.3f, worst %.3f, at most %.2f: %s in %d of %d slice%s\n",
           shape_names[shape], placement_names[place], median(ratio, n), worst, gates[shape],
           kept == n ? "kept" : "MISSED, kept", kept, n, n == 1 ? "" : "s");
    return kept != n;
}

static int check_gate(const struct peer *peers, int count, int slices, const enum placement *places)
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
        for (int place = NEAR; place < UNMEASURED; place++)
            failed |=
                check_gate_of(&peers[0], &peers[gcc], k, slices, places, (enum placement)place);
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

    if (slices < 1 || slices > MAX_SLICES / 3) {
        (void)fprintf(stderr, "bench_shapes: SLICES is a number from 1 to %d\n", MAX_SLICES / 3);
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
    (void)signal(SIGPIPE, SIG_IGN); /* a peer that has died answers nothing */
    int wanted = slices, good;
    slices = measure(peers, count, wanted, places, &good);
    for (int place = NEAR; place < UNMEASURED; place++)
        print_table(peers, count, slices, places, (enum placement)place);
    print_fan(peers, count);
    print_pending(peers, count);
    int missed = check_gate(peers, count, slices, places);
    if (peers[0].failed)
        printf("FAILED: %s gave no number\n", peers[0].name);
    if (good < wanted)
        printf("NOT MEASURED: %d of %d slice%s; the machine is too busy, or a program waits for "
               "CPUs\n",
               good, wanted, wanted == 1 ? "" : "s");
    return missed != 0 || peers[0].failed || good < wanted;
}
