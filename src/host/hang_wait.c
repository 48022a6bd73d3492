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

/* ---- what is kept for those that have not come back ---- */

static bool may_hang(struct simpler_worker *worker)
{
    /* Who holds the lock waits for a hung run. */
    if (pthread_mutex_trylock(&worker->hang_lock) != 0)
        return true;
    bool may = worker->may_hang;
    (void)pthread_mutex_unlock(&worker->hang_lock);
    return may;
}

void simpler_worker_state_let_go(struct simpler_worker *worker, struct simpler_run *run)
{
    if (!may_hang(worker)) {
        simpler_run_release(run);
        return;
    }
    (void)pthread_mutex_lock(&worker->runner_lock);
    run->next = worker->kept;
    worker->kept = run;
    (void)pthread_mutex_unlock(&worker->runner_lock);
}

static void release_kept(struct simpler_worker *worker)
{
    (void)pthread_mutex_lock(&worker->runner_lock);
    struct simpler_run *run = worker->kept;
    worker->kept = NULL;
    (void)pthread_mutex_unlock(&worker->runner_lock);
    while (run != NULL) {
        struct simpler_run *next = run->next;
        simpler_run_release(run);
        run = next;
    }
}

/* ---- waiting ---- */

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
    if (rc == 0)
        release_kept(worker);
    return rc;
}
