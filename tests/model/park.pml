/* SPDX-License-Identifier: Apache-2.0 */
/*
 * base/event.h: a thread parks without missing what changes while it does.  The
 * notifier's change lies in its store buffer until it is flushed, by chance, by
 * a read-modify-write, or by the waiter's membarrier; so its plain load of
 * waiters may come first.  A lost wake is a waiter that sleeps while there is
 * something to do and nobody left to wake it: an invalid end state.
 *
 * pass: BUG=0
 * pass: BUG=0 RMW   no membarrier in the kernel: the notifier reads by RMW
 * fail: BUG=1   no membarrier
 * fail: BUG=2   the sleep does not compare the epoch
 * fail: BUG=3   the waiter announces itself after its last look
 * fail: BUG=4   the notifier looks for waiters before it makes its change
 * fail: BUG=5   the epoch is read after the look
 * fail: BUG=6   a wake without a new epoch
 */
#define CHANGES 3

byte made;          /* changes that are visible */
bool buffered;      /* one more in the notifier's store buffer */
byte waiters, epoch;
bool asleep;

inline drain_buffer()
{
    d_step {
        if
        :: buffered -> made++; buffered = false
        :: else
        fi
    }
}

/* Stores become visible some time. */
active proctype store_buffer()
{
end:
    do
    :: atomic { buffered -> made++; buffered = false }
    od
}

inline notify(count)
{
    if
    :: count > 0 ->
#if BUG != 6
        drain_buffer();
        epoch++;
#endif
        asleep = false
    :: else
    fi
}

active proctype notifier()
{
    byte i, count;
    for (i : 1 .. CHANGES) {
        !buffered;
#if BUG == 4
        count = waiters;
        buffered = true;
#else
        buffered = true;
#ifdef RMW
        atomic { drain_buffer(); count = waiters }
#else
        count = waiters;
#endif
#endif
        notify(count)
    }
}

active proctype waiter()
{
    byte taken, seen;
    bool found;
    do
    :: taken == CHANGES -> break
    :: else ->
#if BUG == 3
        seen = epoch;
        found = made > taken;
        waiters++;
#else
        waiters++;
#if BUG != 1
#ifndef RMW
        drain_buffer();
#endif
#endif
#if BUG == 5
        found = made > taken;
        seen = epoch;
#else
        seen = epoch;
        found = made > taken;
#endif
#endif
        if
        :: found -> taken++
        :: else ->
            atomic {
#if BUG == 2
                asleep = true
#else
                asleep = (epoch == seen)
#endif
            }
            !asleep
        fi;
        waiters--
    od
}
