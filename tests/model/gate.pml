/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The gates of prof/producer.c with their host-crash clock: a lane with two
 * buffers of one record, a ready queue of one entry.  A host that is not
 * scheduled is a stopped host.  Checked:
 *
 *   - each record is accepted or dropped, never both, and comes in order;
 *   - since the host's last move the lane stands still for one crash clock at
 *     most (and the step in which it notices the move);
 *   - it drops at once only while the host has not moved since the expiry;
 *   - LIVELY: if the host moves often enough nothing is dropped.
 *
 * moved_w and moved_d say "the heartbeat differs from the one noted" for the
 * two places that note it, so that no counter has to be bounded.
 *
 * pass: BUG=0
 * pass: BUG=0 LIVELY
 * fail: BUG=1   an expiry at the free gate counts what was just published
 * fail: BUG=2   an expiry is not remembered: the next record waits again
 * fail: BUG=3   an expiry is never forgotten
 * fail: BUG=4 LIVELY   heartbeats do not start the clock again
 * fail: BUG=5   the clock starts again with each look: no bound
 */
#define RECORDS  5
#define BACKSTOP 3

byte free = 1, at_host;   /* empty buffers: in the free queue, and with the host */
byte queue;               /* the record in the ready queue, 0 none */
byte last_got;
bool moved_w, moved_d;
byte stood;               /* ticks that the lane has stood since the host moved */

#define ACCEPTED 1
#define DROPPED  2
byte fate[RECORDS + 1];

inline host_moves()
{
    d_step { moved_w = true; moved_d = true; stood = 0 }
}

active proctype host()
{
end:
    do
    :: queue != 0 ->
        d_step {
            assert(fate[queue] == ACCEPTED);
            assert(queue > last_got);
            last_got = queue;
            queue = 0;
            at_host++;
            stood = 0
        }
        host_moves()
    :: at_host > 0 ->
        d_step { at_host--; free++; stood = 0 }
        host_moves()
#ifdef LIVELY
    :: host_moves()
#endif
    od
}

inline pass_gate(open, passed)
{
    d_step { waited = 0; moved_w = false }
    do
    :: open -> passed = true; dropping = false; break
    :: else ->
        if
        :: waited >= BACKSTOP -> passed = false; dropping = true; moved_d = false; break
        :: else ->
            atomic {
#ifdef LIVELY
                stood < 1;
#endif
                waited++;
                stood++;
                assert(stood <= BACKSTOP + 1)
            }
            d_step {
                if
#if BUG == 5
                :: true -> waited = 0
#elif BUG != 4
                :: moved_w -> waited = 0; moved_w = false
#endif
                :: else
                fi
            }
        fi
    od
}

inline drop(record)
{
    d_step {
#ifdef LIVELY
        assert(false);
#endif
        assert(fate[record] == 0);
        fate[record] = DROPPED
    }
}

active proctype producer()
{
    byte record, held, waited;
    bool has_buffer = true, dropping, passed;

    for (record : 1 .. RECORDS) {
        passed = true;
        if
        :: has_buffer && held == 0 -> skip
        :: else ->
            atomic {
                if
#if BUG == 3
                :: dropping -> passed = false; assert(!moved_d)
#elif BUG == 2
                :: false
#else
                :: dropping && !moved_d -> passed = false; assert(!moved_d)
#endif
                :: else
                fi
            }
            if
            :: passed && has_buffer ->
                pass_gate(queue == 0, passed);
                if
                :: passed -> queue = held; has_buffer = false
#if BUG != 1
                    ; held = 0
#endif
                :: else
                fi
            :: else
            fi;
            if
            :: passed ->
                pass_gate(free > 0, passed);
                if
                :: passed -> d_step { free--; has_buffer = true; held = 0 }
                :: else
#if BUG == 1
                    -> if
                       :: held != 0 -> drop(held)
                       :: else
                       fi
#endif
                fi
            :: else
            fi
        fi;
        if
        :: passed ->
            d_step {
                assert(fate[record] == 0);
                fate[record] = ACCEPTED;
                held = record
            }
        :: else -> drop(record)
        fi
    }
    for (record : 1 .. RECORDS) {
        assert(fate[record] != 0)
    }
}
