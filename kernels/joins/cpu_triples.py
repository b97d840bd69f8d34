"""Answers of rules of three atoms that share a key, made bucket by bucket and lane by lane.

As in `cpu_lanes`, the answers at an event are made from the rows of its lane that its window admits. Here the
rows of a bucket are not written in the order of their lanes: only their numbers are sorted. In one pass over
the lanes each event is added to those of its lane that fill its atom, and finds in the lists of the two other
atoms what its window admits and what agrees with it.

The answers of a bucket are written lane by lane. `in_order` lists the ends of all buckets in the order of the
stream, each with the place of its answers, and `copied` puts these where they stay.
"""

import numpy as np

from ..jit import SELDOM, inline, jit
from .contract import DEALT, EVENT_AT, FIRST_ROW, LANE, LATEST_START, LEAST_OF, NUMBER, TAG
from .cpu_lanes import DIGIT, DONE, ENDS, ROWS, ROWS_FULL, STEPS, TOO_SLOW

NO_SLOT = np.int32(-2)
"""No slot is this one; -1 stands for no value."""


@jit
def sort(rows, begin, stop, shift, passes, counter, one, other):
    """Sort the numbers of the rows of a bucket by lane, stably, digit by digit.

    ==========  =======================  ===============================================================
    `rows`      int32 [n, DEALT + k]     in: by bucket, each in the order of the stream
    `begin`     int64                    in: the bucket has the rows begin .. stop - 1
    `stop`      int64
    `shift`     int64                    in: the lower bits of a lane, which its bucket has in common
    `passes`    int64                    in: at least 1; so many digits tell all lanes apart
    `counter`   int64 [2**DIGIT + 1]     scratch
    `one`       int32 [stop - begin]     of an even number of passes out, else scratch
    `other`     int32 [stop - begin]     of an odd number of passes out, else scratch
    ==========  =======================  ===============================================================
    """
    mask = counter.shape[0] - 2
    for i in range(stop - begin):
        one[i] = begin + i
    for turn in range(passes):
        source, target = (one, other) if turn % 2 == 0 else (other, one)
        counter[:] = 0
        for r in range(begin, stop):
            counter[(rows[r, LANE] >> shift & mask) + 1] += 1
        for k in range(1, counter.shape[0]):
            counter[k] += counter[k - 1]
        for i in range(stop - begin):
            digit = rows[source[i], LANE] >> shift & mask
            at = counter[digit]
            counter[digit] = at + 1
            target[at] = source[i]
        shift += DIGIT


@inline
def _asked(slot):
    """What a slot is compared with: a missing value agrees with none."""
    return slot if slot >= 0 else NO_SLOT


@inline
def _admitted(near, pair, own, at, other, low):
    """Keep the events of another atom that agree with an event, from the low-th on; how many there are.

    `at` is where the event is among those of its atom.
    """
    kept, n = near.kept[other], np.uint64(0)
    stop = np.uint64(near.number[other])
    column = np.uint64(pair[other, own])
    if column == 0:
        for z in range(low, stop):
            kept[n] = z
            n += np.uint64(1)
    else:
        key, slots = _asked(near.slot[own, np.uint64(pair[own, other]), at]), near.slot[other, column]
        for z in range(low, stop):
            # Without branches: what agrees cannot be foreseen.
            kept[n] = z
            n += np.uint64(slots[z] == key)
    return n


@inline
def _pairs(pair, near, own, left, event_of, n):
    """Write the answers at an end from what fills the two other atoms, the earliest start first."""
    x, y, last, number_x, number_y = left
    event, of_x, of_y = near.event, near.kept[x], near.kept[y]
    i, j = np.uint64(0), np.uint64(0)
    latest = np.int32(0)
    while (i < number_x) & (j < number_y):
        is_x = event[x, np.uint64(of_x[i])] < event[y, np.uint64(of_y[j])]
        first = np.uint64(of_x[i] if is_x else of_y[j])
        i += np.uint64(is_x)
        j += np.uint64(not is_x)
        one, other = (x, y) if is_x else (y, x)
        key = _asked(near.slot[one, np.uint64(pair[one, other]), first])
        slots = near.slot[other, np.uint64(pair[other, one])]
        begin, stop = (j, number_y) if is_x else (i, number_x)
        after = of_y if is_x else of_x
        began = event[one, first]
        before = n
        for z in range(begin, stop):
            r = np.uint64(after[z])
            event_of[n, own] = last
            event_of[n, one] = began
            event_of[n, other] = event[other, r]
            # What does not fit is written over.
            n += np.uint64(slots[r] == key)
        latest = began if n > before else latest
    return n, latest


@inline
def _first_admitted(near, atom, least):
    """The first event of an atom in this lane that a window admits; how many there are if there is none."""
    low, stop = np.uint64(near.low[atom]), np.uint64(near.number[atom])
    while (low < stop) and near.event[atom, low] < least:
        low += np.uint64(1)
    near.low[atom] = low
    return low


@jit
def walk(pair, rows, order, report, near, found, progress, budget, halt):
    """Make the answers at the events of a bucket, lane by lane; `DONE`, or why not.

    ==========  =======================  ===============================================================
    `pair`      int64 [3, 3]             in: the number of the slot of the first atom that is compared with
                                         one of the second; 0: they share the lane alone
    `rows`      int32 [n, DEALT + k]     in: by bucket
    `order`     int32 [m]                in: the numbers of the rows of the bucket, by lane
    `report`    int64                    in: answers that end before this event are not made
    `near`      LaneLists                scratch; `slot` is 0 in column 0
    `found`     LaneTriples              out: the answers, from progress[ROWS] on, and where those of each row
                                         are
    `progress`  int64 [WORDS]            in/out: `ROWS` and `STEPS`, which go on from bucket to bucket
    `budget`    int64 [3]                in: the most steps, how many more each answer allows, and where the
                                         room for answers ends
    `halt`      uint8 [1]                in: see `jit`
    ==========  =======================  ===============================================================
    """
    n, room = np.uint64(progress[ROWS]), np.uint64(budget[2])
    steps, of_row = progress[STEPS], found.of_row
    lane = np.int32(-1)
    for p in range(np.uint64(order.shape[0])):
        if p % np.uint64(SELDOM) == 0 and halt[0]:
            return DONE
        row = np.uint64(order[p])
        if rows[row, LANE] != lane:
            lane = rows[row, LANE]
            near.number[:] = 0
            near.low[:] = 0
        event, own, least = rows[row, EVENT_AT], np.uint64(rows[row, TAG]), rows[row, LEAST_OF]
        at = np.uint64(near.number[own])
        near.number[own] = at + np.uint64(1)
        near.event[own, at] = event
        for k in range(np.uint64(rows.shape[1] - DEALT)):
            near.slot[own, k + np.uint64(1), at] = rows[row, k + np.uint64(DEALT)]
        if event < report:
            continue
        of_row[row, NUMBER] = 0
        x = np.uint64(1) if own == 0 else np.uint64(0)
        y = np.uint64(3) - own - x
        low_x, low_y = _first_admitted(near, x, least), _first_admitted(near, y, least)
        if (low_x == near.number[x]) | (low_y == near.number[y]):
            continue
        steps += near.number[x] - np.int64(low_x) + near.number[y] - np.int64(low_y)
        number_x = _admitted(near, pair, own, at, x, low_x)
        number_y = _admitted(near, pair, own, at, y, low_y)
        if (number_x > 0) & (number_y > 0):
            steps += np.int64(number_x * number_y)
            if n + number_x * number_y > room:
                return ROWS_FULL
            left = (x, y, event, number_x, number_y)
            m, latest = _pairs(pair, near, own, left, found.event, n)
            of_row[row, NUMBER] = m - n
            of_row[row, FIRST_ROW] = n
            of_row[row, LATEST_START] = latest
            n = m
        if steps > budget[0] + budget[1] * np.int64(n):
            return TOO_SLOW
    progress[ROWS], progress[STEPS] = n, steps
    return DONE


@jit
def in_order(place, of_row, least, bounds, found, progress):
    """List the ends among some events, in the order of the stream.

    ==========  ================  ======================================================================
    `place`     int32 [n]         in: the row of each event
    `of_row`    int32 [m, 3]      in: the answers at each row
    `least`     int32 [n]         in: the least event that the window of each admits
    `bounds`    int64 [2]         in: the events bounds[0] .. bounds[1] - 1
    `found`     PlacedEnds        out: progress[ENDS] ends; one more is written over
    `progress`  int64 [WORDS]     out: `ENDS`
    ==========  ================  ======================================================================
    """
    n = np.uint64(0)
    for i in range(np.uint64(bounds[0]), np.uint64(bounds[1])):
        d = np.uint64(place[i])
        number = of_row[d, NUMBER]
        found.end[n] = i
        found.latest[n] = of_row[d, LATEST_START]
        found.lowest[n] = least[i]
        found.first[n] = of_row[d, FIRST_ROW]
        found.number[n] = number
        n += np.uint64(number > 0)
    progress[ENDS] = n


@jit
def copied(first, taken, hits, event, block):
    """Copy the first answers of some ends to where they stay.

    ==========  =======================  ===============================================================
    `first`     int64 [ends]             in: where the answers of each end begin
    `taken`     int64 [ends]             in: how many of them are copied
    `hits`      int64 [ends]             in
    `event`     int32 [rows, atoms]      in
    `block`     CopiedAnswers            out
    ==========  =======================  ===============================================================
    """
    n = np.uint64(0)
    three = event.shape[1] == 3
    for e in range(np.uint64(first.shape[0])):
        for r in range(np.uint64(first[e]), np.uint64(first[e] + taken[e])):
            block.hit[n] = hits[e]
            least = event[r, 0]
            if three:
                # So a compiler unrolls it.
                block.event[n, 0] = event[r, 0]
                block.event[n, 1] = event[r, 1]
                block.event[n, 2] = event[r, 2]
                least = min(least, event[r, 1], event[r, 2])
            else:
                for a in range(np.uint64(event.shape[1])):
                    block.event[n, a] = event[r, a]
                    least = min(least, event[r, a])
            block.start[n] = least
            n += np.uint64(1)
