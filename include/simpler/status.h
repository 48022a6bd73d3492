/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_STATUS_H
#define SIMPLER_STATUS_H

/*
 * Statuses, and what holds in all of these headers unless a comment says otherwise:
 *
 * - A function that can fail returns 0 or a negative status.  What it gives goes through its
 *   last pointers, which are unchanged when it fails.
 * - A pointer that is handed in is borrowed until the call returns, the memory stays the
 *   caller's; NULL where none is allowed is SIMPLER_EINVAL, or, of a function that returns
 *   nothing, does nothing.  A pointer that is given back lives as long as the library.
 * - A call does not block, may come from any thread, and does not call the caller back.
 *   What a comment says of that stands behind "Blocks:" and "Threads:".
 * - Sizes count bytes, shapes and strides elements, times nanoseconds.
 */
#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define SIMPLER_API __attribute__((visibility("default")))
#else
#define SIMPLER_API
#endif

/*
 * Every status: 0 or negative.  The first block are the codes that a device
 * latches; a run's status is minus that code.  X(number, NAME, text).
 */
#define SIMPLER_DEVICE_CODE_MAP(X)                                                       \
    X(1, SCOPE_DEADLOCK, "the open scope holds every slot of its task window")           \
    X(2, HEAP_RING_DEADLOCK, "the heap ring cannot hold the outputs of the open scopes") \
    X(3, FLOW_CONTROL_DEADLOCK, "the task window is full and cannot drain")              \
    X(4, DEP_POOL_OVERFLOW, "the dependency pool cannot hold the pending edges")         \
    X(5, INVALID_ARGS, "a call of the orchestration has invalid arguments")              \
    X(6, DEPENDENCY_OVERFLOW, "a task has too many dependencies")                        \
    X(7, REQUIRE_SYNC_START_INVALID, "a cohort cannot be resident at once")              \
    X(8, TENSOR_WAIT_TIMEOUT, "the producer of a tensor did not finish in time")         \
    X(9, EXPLICIT_ORCH_FATAL, "the orchestration reported a fatal error")                \
    X(10, SCOPE_TASKS_OVERFLOW, "the record of the open scopes' tasks is full")          \
    X(11, TENSORMAP_OVERFLOW, "the tensormap cannot hold the live tensors")              \
    X(100, SCHEDULER_TIMEOUT, "no scheduler made progress for the whole budget")         \
    X(101, ASYNC_COMPLETION_INVALID, "an asynchronous completion is invalid")            \
    X(102, ASYNC_WAIT_OVERFLOW, "too many asynchronous conditions")                      \
    X(103, ASYNC_REGISTRATION_FAILED, "an asynchronous message is illegal")              \
    X(104, READY_QUEUE_OVERFLOW, "a ready queue is full")

enum simpler_device_code {
    SIMPLER_CODE_NONE = 0,
#define X(number, NAME, text) SIMPLER_CODE_##NAME = (number),
    SIMPLER_DEVICE_CODE_MAP(X)
#undef X
};

/* Statuses of the host's functions.  X(number, NAME, text). */
#define SIMPLER_STATUS_MAP(X)                             \
    X(-1000, EINVAL, "invalid argument")                  \
    X(-1001, ENOMEM, "out of memory")                     \
    X(-1002, EIO, "input or output failed")               \
    X(-1003, ENOENT, "no such file, name or object")      \
    X(-1004, EEXIST, "exists already")                    \
    X(-1005, EBUSY, "the device is busy")                 \
    X(-1006, ETIMEDOUT, "timed out")                      \
    X(-1007, ECANCELED, "canceled")                       \
    X(-1008, EKERNEL, "a kernel reported a failure")      \
    X(-1009, EFORMAT, "malformed input")                  \
    X(-1010, ENOSYS, "not supported here")                \
    X(-1011, EOVERFLOW, "a size or a count does not fit") \
    X(-1012, ETHREAD, "a thread could not be started")    \
    X(-1013, EPARTIAL, "something is missing from a diagnostic")

enum simpler_status {
    SIMPLER_OK = 0,
#define X(number, NAME, text) SIMPLER_##NAME = (number),
    SIMPLER_STATUS_MAP(X)
#undef X
};

/**
 * Name of a status ("SIMPLER_EINVAL", "SCOPE_DEADLOCK"); "UNKNOWN" for others.
 *
 * @param status  0, a negative SIMPLER_E*, or minus a device code
 */
SIMPLER_API const char *simpler_status_name(int status);

/**
 * One sentence on a status, without a full stop; never NULL.
 *
 * @param status  as above; of others "unknown status"
 */
SIMPLER_API const char *simpler_status_text(int status);

#ifdef __cplusplus
}
#endif
#endif
