/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A queue with free-running indices and one thread at each end: the ready queue,
 * the free queue (wire/prof_wire.h) and the host's rings (prof/spsc.h).  Items
 * come in order, none is lost, none is read before it was written or after its
 * slot was reused.  A release store is a step after the data's; a bugged variant
 * has them the other way round.
 *
 * pass: BUG=0
 * fail: BUG=1   the producer publishes tail before the slot (no release at P)
 * fail: BUG=2   the consumer publishes head before it has read (no release at C)
 * fail: BUG=3   the test for room lets one too many in
 * fail: BUG=4   indices wrap at a number that is no multiple of the capacity
 */
#define CAPACITY 2
#define ITEMS    14
#if BUG == 4
#define WRAP 7
#else
#define WRAP 8
#endif
#define USED(t, h) ((t + WRAP - h) % WRAP)

byte tail = WRAP - 1;
byte head = WRAP - 1;
byte slot[CAPACITY];

active proctype producer()
{
    byte item = 1, t, h;
    do
    :: item > ITEMS -> break
    :: else ->
        t = tail;
        h = head;
        if
#if BUG == 3
        :: USED(t, h) > CAPACITY -> skip
#else
        :: USED(t, h) == CAPACITY -> skip
#endif
        :: else ->
#if BUG == 1
            tail = (t + 1) % WRAP;
            slot[t % CAPACITY] = item;
#else
            slot[t % CAPACITY] = item;
            tail = (t + 1) % WRAP;
#endif
            item++
        fi
    od
}

active proctype consumer()
{
    byte expected = 1, t, h, item;
    do
    :: expected > ITEMS -> break
    :: else ->
        h = head;
        t = tail;
        if
        :: t == h -> skip
        :: else ->
#if BUG == 2
            head = (h + 1) % WRAP;
            item = slot[h % CAPACITY];
#else
            item = slot[h % CAPACITY];
            head = (h + 1) % WRAP;
#endif
            assert(item == expected);
            expected++
        fi
    od
}
