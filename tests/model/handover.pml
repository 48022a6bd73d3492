/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A buffer's way round: producer, drain, collector, and back.  Parking itself is
 * park.pml's; here a wake is sequentially consistent and the question is whether
 * everyone is told who has to be.  The collector gives a buffer on itself when
 * the drain's role is free; the last flushes of two kinds ring nobody.  A producer that
 * never gets on is an invalid end state.
 *
 * pass: BUG=0
 * fail: BUG=1   a producer sleeps at its gate without having rung
 * fail: BUG=2   the lane is not told of a buffer
 * fail: BUG=3   a collector that finds the drain's role taken tells nobody
 * fail: BUG=4   the drain parks without a last look
 */
byte queue;              /* entries of the ready queue; it has room for one */
byte free = 1;           /* empty buffers with the lane */
byte staged, stock, owed;
bool drain_lock;
byte bell_waiters;       /* the shard's doorbell has a sleeper, or soon */
bool bell, space;        /* the event's epoch is not the one that was noted */

inline ring()
{
    d_step {
        if
        :: bell_waiters > 0 -> bell = true
        :: else
        fi
    }
}

inline tell_lane()
{
    space = true
}

/* Under drain_lock. */
inline pay(any)
{
    do
    :: owed > 0 && stock > 0 ->
        d_step { stock--; owed--; free++; any = true }
#if BUG != 2
        tell_lane()
#endif
    :: else -> break
    od
}

inline pass(any)
{
    atomic { !drain_lock -> drain_lock = true }
    do
    :: queue > 0 ->
        d_step { staged++; owed++; any = true }
        queue--;
        tell_lane()
    :: else -> break
    od;
    pay(any);
    drain_lock = false
}

active proctype drain()
{
    bool any;
    do
    :: any = false;
        pass(any);
        if
        :: any
        :: else ->
            bell_waiters++;
            bell = false;
#if BUG != 4
            pass(any);
#endif
            if
            :: any
            :: else ->
                /* Looks whether a producer waits for a sign of life. */
                atomic { !drain_lock -> drain_lock = true }
                drain_lock = false;
end:            bell
            fi;
            bell_waiters--
        fi
    od
}

active proctype collector()
{
    bool any, mine;
end:
    do
    :: staged > 0 ->
        staged--;
        stock++;
        mine = false;
        atomic {
            if
            :: !drain_lock -> drain_lock = true; mine = true
            :: else
            fi
        }
        if
        :: mine ->
            pay(any);
            drain_lock = false
        :: else ->
#if BUG == 3
            skip
#else
            if
            :: bell_waiters > 0 ->
                if
                :: owed > 0 -> bell = true
                :: else
                fi
            :: else
            fi
#endif
        fi
    od
}

inline wait_for(open)
{
#if BUG != 1
    if
    :: !(open) -> ring()
    :: else
    fi;
#endif
    do
    :: open -> break
    :: else ->
        space = false;
        if
        :: open
        :: else -> space
        fi
    od
}

inline publish()
{
    wait_for(queue == 0);
    queue++
}

inline acquire()
{
    wait_for(free > 0);
    free--
}

/* Two kinds with a buffer each in hand, one more between them. */
active proctype producer()
{
    byte i;
    for (i : 1 .. 4) {
        publish();
        ring();
        acquire()
    }
    publish();
    publish()
}
