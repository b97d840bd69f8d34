"""Answers of rules of three atoms that share a key, made bucket by bucket and lane by lane.

As in `cpu_lanes`, the answers at an event are made from the rows of its lane that its window admits. Here the
rows of a bucket are not written in the order of their lanes: only their numbers are sorted, and rows are
copied lane by lane, so that the window lies in a cache. A row then has a **word** for each of its
slots: four times the slot, plus its atom. One comparison of words tells whether a row fills an atom and
agrees. Word 0 stands for the lane, which all rows of it share.

The answers of a bucket are written in the order of the stream. `in_order` lists the ends of all buckets in
this order, each with the place of its answers, and `copied` puts these where they stay.
"""

import numpy as np

from ..jit import SELDOM, inline, jit
from .contract import ATOM, DEALT, EVENT_AT, FIRST_ROW, LANE, LATEST_START, LEAST_OF, NUMBER, TAG
from .cpu_lanes import DIGIT, DONE, ENDS, ROWS, ROWS_FULL, STEPS, TOO_SLOW

NO_SLOT = np.int32(-1)
"""No word is this one: an atom is 0, 1 or 2."""

MOST_SLOTS = 1 << 31 - ATOM
"""Words of fewer slots than this fit."""


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
def _asked(word, atom):
    """The word of a row that agrees with this one, and fills an atom."""
    return (word >> ATOM << ATOM) | np.int32(atom) if word >= 0 else NO_SLOT


@inline
def _pairs(pair, near, own, left, event_of, n):
    """Write the answers at an end from what fills the two other atoms, the earliest start first."""
    x, y, last, number_x, number_y = left
    event, word = near.event, near.word
    of_x, of_y = near.kept[x], near.kept[y]
    i, j = np.uint64(0), np.uint64(0)
    latest = np.int32(0)
    while (i < number_x) & (j < number_y):
        is_x = of_x[i] < of_y[j]
        first = np.uint64(of_x[i] if is_x else of_y[j])
        i += np.uint64(is_x)
        j += np.uint64(not is_x)
        one, other = (x, y) if is_x else (y, x)
        key = _asked(word[np.uint64(pair[one, other]), first], other)
        column = np.uint64(pair[other, one])
        begin, stop = (j, number_y) if is_x else (i, number_x)
        after = of_y if is_x else of_x
        began = event[first]
        before = n
        for z in range(begin, stop):
            r = np.uint64(after[z])
            event_of[n, own] = last
            event_of[n, one] = began
            event_of[n, other] = event[r]
            # What does not fit is written over.
            n += np.uint64(word[column, r] == key)
        latest = began if n > before else latest
    return n, latest


@jit
def arrange(rows, order, begin, near):
    """Put the rows of a bucket lane by lane, with their words, and say how far the window of each reaches.

    ==========  =======================  ===============================================================
    `rows`      int32 [n, DEALT + k]     in: by bucket
    `order`     int32 [m]                in: the numbers of the rows of the bucket, by lane
    `begin`     int64                    in: the least of them
    `near`      LaneWords                out: all but `kept`
    ==========  =======================  ===============================================================
    """
    event, word = near.event, near.word
    lane, low = np.int32(-1), np.uint64(0)
    for p in range(np.uint64(order.shape[0])):
        d = np.uint64(order[p])
        if rows[d, LANE] != lane:
            lane, low = rows[d, LANE], p
        event[p] = rows[d, EVENT_AT]
        word[0, p] = rows[d, TAG]
        for k in range(np.uint64(rows.shape[1] - DEALT)):
            word[k + np.uint64(1), p] = rows[d, k + np.uint64(DEALT)] << ATOM | rows[d, TAG]
        while event[low] < rows[d, LEAST_OF]:
            low += np.uint64(1)
        near.low[p] = low
        near.rank[d - np.uint64(begin)] = p


@jit
def walk(pair, count, begin, report, near, found, progress, budget, halt):
    """Make the answers at the events of a bucket, in the order of the stream; `DONE`, or why not.

    ==========  =======================  ===============================================================
    `pair`      int64 [3, 3]             in: the word of a row that fills the first atom which is compared
                                         with one of a row that fills the second
    `count`     int64                    in: how many rows the bucket has
    `begin`     int64                    in: the first of them
    `report`    int64                    in: answers that end before this event are not made
    `near`      LaneWords                in; `kept` is scratch
    `found`     LaneTriples              out: the answers, from progress[ROWS] on, and where those of each row
                                         are
    `progress`  int64 [WORDS]            in/out: `ROWS` and `STEPS`, which go on from bucket to bucket
    `budget`    int64 [3]                in: the most steps, how many more each answer allows, and where the
                                         room for answers ends
    `halt`      uint8 [1]                in: see `jit`
    ==========  =======================  ===============================================================
    """
    n, room = np.uint64(progress[ROWS]), np.uint64(budget[2])
    steps = progress[STEPS]
    event, word, of_row = near.event, near.word, found.of_row
    for d in range(np.uint64(count)):
        if d % np.uint64(SELDOM) == 0 and halt[0]:
            return DONE
        p, row = np.uint64(near.rank[d]), d + np.uint64(begin)
        of_row[row, NUMBER] = 0
        if event[p] < report:
            continue
        own, low = np.uint64(word[0, p]), np.uint64(near.low[p])
        x = np.uint64(1) if own == 0 else np.uint64(0)
        y = np.uint64(3) - own - x
        key_x = _asked(word[np.uint64(pair[own, x]), p], x)
        key_y = _asked(word[np.uint64(pair[own, y]), p], y)
        column_x, column_y = np.uint64(pair[x, own]), np.uint64(pair[y, own])
        number_x, number_y = np.uint64(0), np.uint64(0)
        for r in range(low, p):
            # Without branches: which rows fit cannot be foreseen.
            near.kept[x, number_x] = r
            number_x += np.uint64(word[column_x, r] == key_x)
            near.kept[y, number_y] = r
            number_y += np.uint64(word[column_y, r] == key_y)
        steps += np.int64(p - low)
        if (number_x > 0) & (number_y > 0):
            steps += np.int64(number_x * number_y)
            if n + number_x * number_y > room:
                return ROWS_FULL
            left = (x, y, event[p], number_x, number_y)
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
    n = 0
    for i in range(bounds[0], bounds[1]):
        d = place[i]
        number = of_row[d, NUMBER]
        found.end[n] = i
        found.latest[n] = of_row[d, LATEST_START]
        found.lowest[n] = least[i]
        found.first[n] = of_row[d, FIRST_ROW]
        found.number[n] = number
        n += number > 0
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
    n = 0
    for e in range(first.shape[0]):
        for r in range(first[e], first[e] + taken[e]):
            block.hit[n] = hits[e]
            least = event[r, 0]
            for a in range(event.shape[1]):
                block.event[n, a] = event[r, a]
                least = min(least, event[r, a])
            block.start[n] = least
            n += 1
