/* SPDX-License-Identifier: Apache-2.0 */
/* tests/cli/info_environment.py holds this table against the calls of getenv. */
#include "environment.h"

#include <stddef.h>

static const struct simpler_environment_variable rows[] = {
    {"SIMPLER_SCHEDULER_TIMEOUT_MS", "20000", "ms without progress after which a run ends"},
    {"SIMPLER_OP_EXECUTE_TIMEOUT_US", "45000000", "us; above the scheduler's on chip platforms"},
    {"SIMPLER_STREAM_SYNC_TIMEOUT_MS", "50000", "ms; above both on chip platforms"},
    {"PTO2_RING_TASK_WINDOW", "", "earlier spelling of SIMPLER_RING_TASK_WINDOW"},
    {"PTO2_RING_HEAP", "", "earlier spelling of SIMPLER_RING_HEAP"},
    {"PTO2_RING_DEP_POOL", "", "earlier spelling of SIMPLER_RING_DEP_POOL"},
    {"SIMPLER_CACHE_DIR", "", "where simpler build keeps its objects"},
    {"XDG_CACHE_HOME", "$HOME/.cache", "without SIMPLER_CACHE_DIR: they are in simpler/ there"},
    {"HOME", "", "see XDG_CACHE_HOME"},
    {"XDG_RUNTIME_DIR", "", "place of shared memory when /dev/shm cannot be written"},
    {"CXX", "c++", "compiler of simpler build"},
    {"CXXFLAGS", "", "options for it, blanks between"},
    {"PATH", "", "where the compiler is looked for"},
    {"CPATH", "", "read by the compiler; part of an object's key"},
    {"CPLUS_INCLUDE_PATH", "", "read by the compiler; part of an object's key"},
    {"LIBRARY_PATH", "", "read by the compiler; part of an object's key"},
    {"PYTHON", "/usr/bin/python3", "interpreter of golden scripts"},
    {"TMPDIR", "/tmp", "files for golden scripts"},
};

const struct simpler_environment_variable *simpler_environment_get(uint32_t index)
{
    return index < sizeof(rows) / sizeof(rows[0]) ? &rows[index] : NULL;
}
