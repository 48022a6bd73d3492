/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TEST_SUPPORT_GRAPH_GEN_H
#define TEST_SUPPORT_GRAPH_GEN_H

/*
 * The correctness oracle: random programs with a serial reference.
 *
 * graph_generate makes a program from a seed: tasks with overlapping views,
 * scopes, explicit dependencies, accesses of the orchestration itself, and
 * sizes of windows, heap, pool and map from the smallest that the documents
 * promise to be enough.  graph_execute runs it through a worker,
 * graph_reference in submit order on one thread.  A task folds all it reads
 * into a digest and writes values that depend on it, so a missed or a wrong
 * order shows in a digest or in the final bytes.
 *
 * The generator keeps, for each byte, who wrote it last and who has read it
 * since.  What the runtime promises to infer is left to it; every other order
 * that the result needs is given as an explicit dependency (all of it in manual
 * scopes; writes after reads and after writes in hazards raw).
 */
#include <stdbool.h>
#include <stdint.h>

#include "kit.h"

#define GRAPH_MAX_TASKS        256u
#define GRAPH_MAX_OPS          1024u
#define GRAPH_MAX_ACCESSES     2048u
#define GRAPH_MAX_BUFFERS      256u
#define GRAPH_MAX_STEPS        4u
#define GRAPH_MAX_DEPENDENCIES 48u
#define GRAPH_MAX_GETS         64u
#define GRAPH_MEMORY_BYTES     262144u
#define GRAPH_NONE             0xffffu

/* Our own arithmetic of a view; the runtime's is compared with it. */
struct graph_view {
    uint32_t ndims;
    uint32_t dtype;
    uint32_t shape[SIMPLER_MAX_DIMS];
    uint32_t stride[SIMPLER_MAX_DIMS];
    uint64_t offset; /* elements */
};

enum graph_step_kind {
    GRAPH_STEP_VIEW,
    GRAPH_STEP_SLICE,
    GRAPH_STEP_TRANSPOSE,
    GRAPH_STEP_PERMUTE,
    GRAPH_STEP_RESHAPE
};

/* One call of a view function, with its arguments. */
struct graph_step {
    uint32_t kind;
    uint32_t n;
    uint32_t a[SIMPLER_MAX_DIMS];
    uint32_t b[SIMPLER_MAX_DIMS];
};

struct graph_access {
    uint16_t buffer;
    uint8_t use;        /* enum simpler_tensor_use */
    bool manual_dep;    /* the descriptor's flag */
    bool reads, writes; /* what the kernel does */
    bool rebased;       /* the base is not the buffer's own descriptor */
    uint8_t step_count;
    struct graph_view base;
    struct graph_step step[GRAPH_MAX_STEPS];
    struct graph_view view; /* after all steps */
};

struct graph_buffer {
    struct graph_view whole;
    uint32_t bytes;
    uint32_t memory; /* offset in the reference's memory */
    bool external;
    bool manual_dep;
    bool has_initial_value;
    uint64_t initial_value;
    uint16_t creator; /* task, or GRAPH_NONE */
};

enum graph_task_kind { GRAPH_TASK_KERNEL, GRAPH_TASK_DUMMY, GRAPH_TASK_ALLOC };

/* One element decides whether the task runs. */
struct graph_predicate {
    uint8_t op;      /* enum simpler_predicate_op; 0: none */
    uint16_t access; /* of the task: the operand's view */
    uint32_t index[SIMPLER_MAX_DIMS];
    int64_t target;
};

/*
 * A kernel of several blocks or lanes.  One block does the work: all its lanes read, meet
 * at a barrier, and the last one writes; with sync_start all blocks read.  A deferred task
 * is written by a thread of the test when its kernel has returned.
 */
struct graph_form {
    uint8_t lanes;  /* mask of enum simpler_lane; 0: a plain task */
    int16_t blocks; /* at least 1 */
    int16_t worker; /* the block that works */
    bool sync_start, deferred, timed, hint;
};

struct graph_task {
    uint8_t kind;
    uint8_t variant;
    uint8_t ring;
    uint8_t rotation; /* argument i is access (i + rotation) % access_count */
    bool kinds_given;
    bool sleeps;
    uint32_t local; /* number within the ring */
    uint32_t duration_ns;
    uint16_t first_access, access_count;
    uint16_t dependency_count;
    uint16_t dependency[GRAPH_MAX_DEPENDENCIES];
    uint8_t dependency_kind[GRAPH_MAX_DEPENDENCIES];
    struct graph_form form;
    struct graph_predicate predicate;
};

enum graph_op_kind {
    GRAPH_OP_SCOPE_BEGIN,
    GRAPH_OP_SCOPE_END,
    GRAPH_OP_TASK,
    GRAPH_OP_GET,
    GRAPH_OP_SET
};

struct graph_op {
    uint8_t kind;
    uint8_t mode;   /* of a scope */
    uint16_t index; /* task; access of a get or set; first buffer that an end frees */
    uint64_t value; /* of a set */
};

struct graph_program {
    uint64_t seed;
    uint32_t op_count, task_count, access_count, buffer_count, external_count, get_count;
    uint32_t kernel_count; /* tasks that are neither dummies nor allocations */
    uint32_t memory_bytes;
    struct simpler_call_config config;
    struct graph_op op[GRAPH_MAX_OPS];
    struct graph_task task[GRAPH_MAX_TASKS];
    struct graph_access access[GRAPH_MAX_ACCESSES];
    struct graph_buffer buffer[GRAPH_MAX_BUFFERS];
    /* Bits: the tasks that must have ended before this one starts. */
    uint64_t before[GRAPH_MAX_TASKS][GRAPH_MAX_TASKS / 64];
};

/* What an execution leaves. */
struct graph_trace {
    uint64_t digest[GRAPH_MAX_TASKS];
    uint64_t seen[GRAPH_MAX_ACCESSES]; /* what each access read */
    uint32_t runs[GRAPH_MAX_TASKS];
    uint64_t got[GRAPH_MAX_GETS];
    uint8_t *memory; /* GRAPH_MEMORY_BYTES; the external buffers are compared */
};

struct graph_options {
    uint32_t task_limit; /* 0: as the seed says */
    bool calm;           /* no kernel computes or sleeps for a while: for many programs */
    bool host_built;     /* for host_build_graph: no data is read back, sizes are the defaults */
};

/* Never fails: the same seed and options give the same program. */
void graph_generate(struct graph_program *program, uint64_t seed,
                    const struct graph_options *options);
void graph_reference(const struct graph_program *program, struct graph_trace *trace);

/*
 * Runs the program on the kit's worker.  Returns false with one line in
 * @message when it failed or when anything differs from the reference.
 */
bool graph_check(const struct graph_program *program, struct kit *kit, char *message,
                 size_t message_bytes);

/* What happens beside a program, in runs that may fail; NULL: nothing. */
struct graph_hooks {
    void *user;
    /* In place of simpler_worker_run. */
    int (*start)(void *user, struct kit *kit, const struct simpler_orch_args *args,
                 const struct simpler_call_config *config, struct simpler_run_result *result);
    /* First in each kernel; what it returns, unless 0, is the kernel's status. */
    int (*kernel)(void *user, uint32_t task);
    /* Before each operation; not 0: the orchestration returns. */
    int (*operation)(void *user, struct simpler_orch *orch, uint32_t op);
    /* Whether an args dump is told to mark the whole task. */
    bool (*marks)(void *user, uint32_t task);
    bool may_fail; /* calls may answer with a status: then the orchestration returns */
};

/*
 * Runs the program with another config and with hooks; the status.  What it left can be
 * judged until the next one: all of it, as graph_check does, or (after graph_execute has failed,
 * and no kernel is inside any more) what there is: each task that ran has read what it must
 * and ran once, and all that must have ended before it had.
 */
int graph_execute(const struct graph_program *program, struct kit *kit,
                  const struct simpler_call_config *config, const struct graph_hooks *hooks,
                  struct simpler_run_result *result);
bool graph_judge(const struct simpler_run_result *result, char *message, size_t bytes);
bool graph_judge_part(int status, char *message, size_t bytes);
/* Once judged: what it left and what the reference has; runs counts calls of kernels. */
const struct graph_trace *graph_actual(void);
const struct graph_trace *graph_expected(void);
/* The bits of scalar @n (0 or 1) of a task of that run. */
uint64_t graph_scalar(uint32_t task, uint32_t n);
/* What a kernel has seen (struct graph_trace) in its access @i, given the elements in a row. */
uint64_t graph_fold_packed(uint32_t i, const uint8_t *data, uint32_t size, uint64_t numel);
/* Element @at of what a kernel with that digest writes through its access @i. */
uint64_t graph_written(uint64_t digest, uint32_t i, uint64_t at);

/*
 * graph_generate and graph_check of one seed; after a failure it looks for the
 * shortest prefix of the program that still fails and prints how to replay it.
 */
bool graph_try_seed(uint64_t seed, struct kit *kit, const struct graph_options *options);

/* Prints a program, for a failure's report. */
void graph_print(const struct graph_program *program);

/* Byte offset of element @i, in row-major order of the shape, from the buffer's start. */
uint64_t graph_view_byte(const struct graph_view *view, uint64_t i);
uint64_t graph_view_numel(const struct graph_view *view);
bool graph_view_contiguous(const struct graph_view *view);
uint64_t graph_view_extent(const struct graph_view *view);
uint32_t graph_dtype_bytes(uint32_t dtype);

#endif
