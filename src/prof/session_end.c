/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The end of a run in a session.
 *
 * At a proved end the caller itself does what is left to do: under the locks of
 * the roles it takes what the lanes have published, collects what is staged and
 * recovers what is held.  So an idle session is quiesced without waking anyone.
 */
#include "prof/session.h"
#include "prof/session_state.h"
#include "simpler/status.h"

static bool is_proved(const enum simpler_lane_end *ends, uint32_t lane)
{
    return simpler_prof_decide(&ends[lane], 1).may_drain;
}

/*
 * Takes the last publications of the lanes whose end is proved.  What a copy that failed has
 * left in a queue may still be collected, by the session's threads; it is older than what the
 * producer holds, which is not recovered then: a lane's records come in order or not at all.
 */
static void drain_proved(struct simpler_prof_session *session, const enum simpler_lane_end *ends)
{
    for (uint32_t lane = 0; lane < session->config.lane_count; lane++) {
        struct simpler_prof_shard *shard = &session->shards[lane % session->shard_count];
        if (!is_proved(ends, lane) || !simpler_session_take(session, &shard->drain_lock, "drain"))
            continue;
        session->behind[lane] = simpler_drain_lane(shard, lane, false) == SIMPLER_DRAINED_BEHIND;
        (void)pthread_mutex_unlock(&shard->drain_lock);
    }
}

static void collect_staged(struct simpler_prof_session *session)
{
    for (uint32_t s = 0; s < session->shard_count; s++) {
        struct simpler_prof_shard *shard = &session->shards[s];
        if (!simpler_session_take(session, &shard->collect_lock, "collector"))
            return;
        (void)simpler_collector_run(shard);
        (void)pthread_mutex_unlock(&shard->collect_lock);
    }
}

/* Whether the producers of the admitted run were initialised. */
static int check_epoch(struct simpler_prof_session *session, bool *ok)
{
    int rc =
        simpler_prof_session_fetch(session, &session->header->accounting_epoch, sizeof(uint64_t));

    /* acquire, pairs with R5. */
    if (rc == 0)
        *ok = atomic_load_explicit(&session->header->accounting_epoch, memory_order_acquire) ==
              atomic_load_explicit(&session->epoch, memory_order_relaxed);
    return rc;
}

static int recover_proved(struct simpler_prof_session *session, const enum simpler_lane_end *ends)
{
    int rc = 0;

    for (uint32_t lane = 0; rc == 0 && lane < session->config.lane_count; lane++) {
        struct simpler_prof_shard *shard = &session->shards[lane % session->shard_count];
        if (!is_proved(ends, lane) || session->behind[lane])
            continue;
        if (!simpler_session_take(session, &shard->collect_lock, "collector"))
            return SIMPLER_ETIMEDOUT;
        rc = simpler_recover_lane(session, lane);
        (void)pthread_mutex_unlock(&shard->collect_lock);
    }
    return rc;
}

static void add_received(struct simpler_prof_session *session, struct simpler_prof_accounting *out)
{
    for (uint32_t s = 0; s < session->shard_count; s++) {
        struct simpler_prof_shard *shard = &session->shards[s];
        if (!simpler_session_take(session, &shard->collect_lock, "collector"))
            return;
        out->received += shard->received;
        out->recovered += shard->recovered;
        out->refused_epoch += shard->refused;
        (void)pthread_mutex_unlock(&shard->collect_lock);
    }
}

/* Reads what is shared, as far as the ends allow; *out has what the host counted. */
static int settle(struct simpler_prof_session *session, const enum simpler_lane_end *ends,
                  const struct simpler_prof_verdict *verdict, struct simpler_prof_accounting *out)
{
    bool some = false;
    int rc = 0;

    for (uint32_t lane = 0; lane < session->config.lane_count; lane++)
        some |= is_proved(ends, lane);
    if (some)
        rc = check_epoch(session, &out->epoch_ok);
    if (rc == 0 && out->epoch_ok)
        rc = recover_proved(session, ends);
    add_received(session, out);
    if (rc == 0 && out->epoch_ok && verdict->may_read)
        rc = simpler_recover_accounting(session, out);
    if (rc != 0)
        simpler_session_fail(session, "the end of a run cannot be read", rc);
    return atomic_load_explicit(&session->failed, memory_order_acquire) ? SIMPLER_EIO : 0;
}

/*
 * A thread of ours has stopped.  What it has or had is not asked for; where memory is shared the
 * producers' own counters say what they attempted and dropped.
 */
static void settle_lost(struct simpler_prof_session *session,
                        const struct simpler_prof_verdict *verdict,
                        struct simpler_prof_accounting *out)
{
    *out = (struct simpler_prof_accounting){0};
    session->may_free = false;
    if (verdict->may_read && simpler_prof_session_is_mapped(session) &&
        check_epoch(session, &out->epoch_ok) == 0 && out->epoch_ok)
        (void)simpler_recover_accounting(session, out);
    /* What comes late is refused. */
    atomic_store_explicit(&session->epoch, 0, memory_order_relaxed);
    out->known = false;
}

int simpler_prof_session_quiesce(struct simpler_prof_session *session,
                                 const enum simpler_lane_end *ends,
                                 struct simpler_prof_accounting *out)
{
    struct simpler_prof_verdict verdict = simpler_prof_decide(ends, session->config.lane_count);
    struct simpler_prof_accounting accounting = {0};

    if (atomic_load_explicit(&session->epoch, memory_order_relaxed) == 0)
        return SIMPLER_EINVAL;
    drain_proved(session, ends);
    if (!verdict.may_drain && !session->lost)
        simpler_session_stop(session);
    if (!session->lost)
        collect_staged(session);
    int rc = session->lost ? SIMPLER_ETIMEDOUT : settle(session, ends, &verdict, &accounting);
    if (session->lost) {
        settle_lost(session, &verdict, out);
        return SIMPLER_ETIMEDOUT;
    }
    session->may_free = verdict.may_free;
    if (rc != 0)
        accounting.known = false;
    /* relaxed: the collectors have nothing of this run any more. */
    atomic_store_explicit(&session->epoch, 0, memory_order_relaxed);
    /* A buffer that a failed copy left behind may be collected late: this ends first. */
    for (uint32_t s = 0; s < session->shard_count; s++) {
        if (simpler_session_take(session, &session->shards[s].collect_lock, "collector"))
            (void)pthread_mutex_unlock(&session->shards[s].collect_lock);
    }
    *out = accounting;
    return rc;
}
