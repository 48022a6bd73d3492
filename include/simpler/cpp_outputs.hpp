// SPDX-License-Identifier: Apache-2.0
#ifndef SIMPLER_CPP_OUTPUTS_HPP
#define SIMPLER_CPP_OUTPUTS_HPP

/*
 * Where the tensors that submits give back live: until the scope of the submit
 * ends, whatever becomes of the TaskOutputTensors.  A stack in chunks, one a
 * thread; a scope's begin pushes a cell that remembers the scope outside it.
 * Scopes hold their tasks, so the stack is as long as the task windows allow.
 */
#include <cstdlib>
#include <cstring>

#include "simpler/cpp_tensor.hpp"
#include "simpler/task.h"

namespace simpler
{
inline namespace SIMPLER_CPP_NAMESPACE
{
/** Ring and number within the ring of one task. */
struct TaskId : simpler_task_id {
    static TaskId invalid()
    {
        TaskId id;
        id.raw = SIMPLER_TASK_ID_NONE;
        return id;
    }
    bool is_valid() const
    {
        return raw != SIMPLER_TASK_ID_NONE;
    }
    uint32_t ring() const
    {
        return static_cast<uint32_t>(raw >> 32);
    }
    uint32_t local() const
    {
        return static_cast<uint32_t>(raw);
    }
    friend bool operator==(TaskId a, TaskId b)
    {
        return a.raw == b.raw;
    }
    friend bool operator!=(TaskId a, TaskId b)
    {
        return a.raw != b.raw;
    }
};
static_assert(sizeof(TaskId) == sizeof(simpler_task_id), "an array of one is the other");

namespace detail
{
struct OutputChunk {
    static constexpr uint32_t CELLS = 480; // about 60 KiB
    OutputChunk *before, *after;
    uint32_t used;
    ChipTensor cell[CELLS];
};

/* What a scope's begin remembers, in one cell. */
struct OutputMark {
    OutputChunk *chunk; // of the enclosing scope's mark
    uint32_t at;
};
static_assert(sizeof(OutputMark) <= sizeof(ChipTensor), "one cell");

/* The innermost scope's mark. */
SIMPLER_HIDDEN inline thread_local OutputMark innermost_mark{};

inline OutputChunk *next_chunk()
{
    OutputChunk *last = this_thread.last_output;
    OutputChunk *chunk = last != nullptr ? last->after : nullptr;
    if (chunk == nullptr) {
        chunk = static_cast<OutputChunk *>(std::aligned_alloc(64, sizeof(OutputChunk)));
        if (chunk == nullptr) {
            fault("no memory for the tensors that submits give back");
            return nullptr;
        }
        chunk->before = last;
        chunk->after = nullptr;
        (last != nullptr ? last->after : this_thread.first_output) = chunk;
    }
    chunk->used = 0;
    return this_thread.last_output = chunk;
}

/* @n cells in a row (at most 32), or null when there is no memory. */
inline ChipTensor *take_cells(uint32_t n)
{
    OutputChunk *chunk = this_thread.last_output;
    if (chunk == nullptr || chunk->used + n > OutputChunk::CELLS)
        chunk = next_chunk();
    if (chunk == nullptr)
        return nullptr;
    chunk->used += n;
    return &chunk->cell[chunk->used - n];
}

inline void open_output_scope()
{
    ChipTensor *cell = take_cells(1);
    if (cell == nullptr)
        return;
    std::memcpy(static_cast<void *>(cell), &innermost_mark, sizeof(OutputMark));
    innermost_mark = {this_thread.last_output, this_thread.last_output->used - 1};
}

inline void close_output_scope()
{
    const OutputMark mark = innermost_mark;
    if (mark.chunk == nullptr)
        return;
    std::memcpy(&innermost_mark, &mark.chunk->cell[mark.at], sizeof(OutputMark));
    mark.chunk->used = mark.at;
    this_thread.last_output = mark.chunk;
}

inline void free_outputs()
{
    for (OutputChunk *chunk = this_thread.first_output; chunk != nullptr;) {
        OutputChunk *after = chunk->after;
        std::free(chunk);
        chunk = after;
    }
    this_thread.first_output = this_thread.last_output = nullptr;
    innermost_mark = {};
}

/* Every thread's run begins and ends here. */
inline void bind(simpler_orch *orch)
{
    free_outputs();
    this_thread.orch = orch;
}
} // namespace detail

/**
 * What a submit gives back: the task's id and its OUTPUT tensors, in the order
 * of the adds.  The tensors may be used until the scope of the submit ends.
 * After a fatal error: no tensors and an invalid id.
 */
class TaskOutputTensors
{
  public:
    TaskOutputTensors() = default;

    TaskId task_id() const
    {
        return id_;
    }
    uint32_t size() const
    {
        return count_;
    }
    bool empty() const
    {
        return count_ == 0;
    }
    /** One OUTPUT; an index beyond them is a fault, after a fatal error an empty tensor. */
    const ChipTensor &get_ref(uint32_t index) const
    {
        if (index < count_)
            return tensors_[index];
        if (detail::orch() == nullptr || !rt_is_fatal())
            detail::fault("get_ref(%u): the task has %u OUTPUT tensors", index, count_);
        return detail::nothing;
    }

    /* From the C API's answer. */
    static TaskOutputTensors keep(const simpler_task_outputs &c)
    {
        TaskOutputTensors out;
        out.id_.raw = c.id.raw;
        if (c.count == 0)
            return out;
        ChipTensor *cells = detail::take_cells(c.count);
        if (cells == nullptr)
            return TaskOutputTensors();
        std::memcpy(static_cast<void *>(cells), c.tensor, c.count * sizeof(*cells));
        out.tensors_ = cells;
        out.count_ = c.count;
        return out;
    }

  private:
    TaskId id_ = TaskId::invalid();
    const ChipTensor *tensors_ = nullptr;
    uint32_t count_ = 0;
};
} // namespace SIMPLER_CPP_NAMESPACE
} // namespace simpler

#endif
