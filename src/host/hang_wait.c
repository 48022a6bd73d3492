/* SPDX-License-Identifier: Apache-2.0 */
/* What a hung run has left behind: its device is busy until every thread has come back. */
#include "host/worker_state.h"

void simpler_worker_state_note_failed(struct simpler_worker *worker)
{
    (void)pthread_mutex_lock(&worker->hang_lock);
    worker->may_hang = true;
    (void)pthread_mutex_unlock(&worker->hang_lock);
}

/* Waits for every device; *why: the first that stays busy. */
static int quiesce_all(struct simpler_worker *worker, uint64_t timeout_ns, const char **why)
{
    for (uint32_t i = 0; i < SIMPLER_RUNTIMES; i++) {
        const struct simpler_runtime *runtime = simpler_runtimes[i];
        int rc = runtime->quiesce == NULL || worker->devices[i] == NULL
                     ? 0
                     : runtime->quiesce(worker->devices[i], timeout_ns, why);
        if (rc != 0)
            return rc;
    }
    return 0;
}

int simpler_worker_state_settle(struct simpler_worker *worker, uint64_t timeout_ns,
                                const char **why)
{
    int rc = 0;

    *why = "another thread waits for it";
    /* Who waits with a limit holds the lock; the next run must not wait as long. */
    if (pthread_mutex_trylock(&worker->hang_lock) != 0)
        return SIMPLER_ETIMEDOUT;
    if (worker->may_hang)
        rc = quiesce_all(worker, timeout_ns, why);
    if (rc == 0 && worker->may_hang) {
        worker->may_hang = false;
        simpler_diagnostics_prove_late(&worker->diagnostics);
    }
    (void)pthread_mutex_unlock(&worker->hang_lock);
    return rc;
}
