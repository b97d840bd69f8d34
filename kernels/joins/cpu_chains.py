"""Answers of chains of three steps, listed by two joins of sorted rows: no runs are built.

Each stage deals rows of the events that it stores or that look these up into buckets by the lower bits of
their slots, in the order of the stream; the rows of a bucket lie in a cache while they are sorted by slot,
and one pass over them finds what the window of each probe reaches. The first stage writes the firsts, slot
after slot, and tells of each second which of these are before it in its window. The second stage makes the
answers at each third: for each second before it in its window the firsts of that second, as far as the window
of the third reaches.

A second that is looked at may lead to no answer, as its firsts are too early. How many do is what this form
may cost more than the lists of runs (`cpu_expansion`): `STEPS` has it, and the pass ends where it is too
large.

1.25 to 1.35 times as fast as those lists: `a.x = b.x AND b.y = c.y` (CPU time of the whole query, a million
events).
"""

import numpy as np

from ..jit import SELDOM, inline, jit
from .chains import EVENT_AT, FIRST_OF, LANE, STOP_OF, TAG
from .contract import ASKED, FIRST_ROW, LATEST_START, NUMBER
from .cpu_lanes import DIGIT, DONE, ENDS, ROWS, ROWS_FULL, STEPS, TOO_SLOW

HALF = np.uint64(32)
"""Bits of the event of a second step in a pair."""

FEW_PAIRS = 24
"""Up to so many answers of an end are put in order one by one."""


@inline
def _bucket(code, events, i, turn, second, report, none):
    """The bucket of an event in a turn, its slot, and whether it looks entries up; `none` if it does neither.

    Without branches: what an event is cannot be foreseen.
    """
    own = code[turn, np.uint64(events.symbols[i])]
    slot = events.slots[np.uint64(max(own, np.int32(0)) >> 1), i]
    asks = (own & ASKED) != 0
    there = (own >= 0) & (slot >= 0)
    if second:
        there &= ((np.int64(i) >= report) & asks) | ((events.latest[i] >= events.least[i]) & (not asks))
    bucket = np.uint64(slot) & (none - np.uint64(1))
    return bucket if there else none, slot, asks


@jit
def tally(code, events, second, begin, stop, report, count):
    """Count the rows that some events have in each bucket of a stage.

    ==========  ======================  ================================================================
    `code`      int32 [turns, symbols]  in: of the stage
    `events`    ChainEvents             in
    `second`    bool                    in: whether it is the second stage
    `begin`     int64                   in: the events begin .. stop - 1
    `stop`      int64
    `report`    int64                   in: no answers are made that end before this event
    `count`     int64 [buckets + 1]     out; the last one is of no bucket
    ==========  ======================  ================================================================
    """
    none = np.uint64(count.shape[0] - 1)
    count[:] = 0
    for i in range(np.uint64(begin), np.uint64(stop)):
        for turn in range(np.uint64(code.shape[0])):
            bucket, _, _ = _bucket(code, events, i, turn, second, report, none)
            count[bucket] += 1


@jit
def deal(code, events, second, begin, stop, report, next_row, rows, place):
    """Write the rows of some events, each in its bucket.

    A probe comes before the entry of the same event, which it does not find.

    ==========  ======================  ================================================================
    `code`      int32 [turns, symbols]  in: of the stage
    `events`    ChainEvents             in
    `second`    bool                    in: whether it is the second stage
    `begin`     int64                   in: the events begin .. stop - 1
    `stop`      int64
    `report`    int64                   in: as for `tally`
    `next_row`  int64 [buckets + 1]     in/out: the row of the next event in each bucket, and one of none
    `rows`      int32 [m, ROW or more]  out: by bucket, each in the order of the stream
    `place`     int32 [n]               out, in the second stage: the row in which an event looks up, or that
                                        of no bucket
    ==========  ======================  ================================================================
    """
    none = np.uint64(next_row.shape[0] - 1)
    nowhere = next_row[none]
    for i in range(np.uint64(begin), np.uint64(stop)):
        seen = nowhere
        for turn in range(np.uint64(code.shape[0])):
            bucket, slot, asks = _bucket(code, events, i, turn, second, report, none)
            at = np.uint64(next_row[bucket])
            next_row[bucket] = at + np.uint64(bucket != none)
            rows[at, EVENT_AT] = i
            rows[at, LANE] = slot
            if second:
                rows[at, TAG] = events.least[i] if asks else -1 - events.latest[i]
                rows[at, FIRST_OF] = events.first[i]
                rows[at, STOP_OF] = events.stop[i]
                seen = np.int64(at) if asks & (bucket != none) else seen
            else:
                rows[at, TAG] = events.least[i] if asks else -1
        if second:
            place[i] = seen


@jit
def sort(rows, begin, stop, shift, passes, counter, one, other):
    """Sort the numbers of the rows of a bucket by lane, stably, digit by digit.

    ==========  =======================  ===============================================================
    `rows`      int32 [n, columns]       in: by bucket, each in the order of the stream
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


@jit
def join_firsts(rows, order, begin, firsts, events):
    """Write the firsts of a bucket slot by slot, and which of them each second has in its window.

    ==========  ======================  ================================================================
    `rows`      int32 [m, ROW]          in
    `order`     int32 [k]               in: the rows of the bucket, by slot
    `begin`     int64                   in: the least of them
    `firsts`    int32 [m]               out: the events of the firsts from firsts[begin] on
    `events`    ChainEvents             out: `latest`, `first` and `stop` of the seconds
    ==========  ======================  ================================================================
    """
    lane, n = np.int32(-1), np.int64(begin)
    low = n
    for p in range(order.shape[0]):
        d = np.uint64(order[p])
        if rows[d, LANE] != lane:
            lane, low = rows[d, LANE], n
        event, least = np.uint64(rows[d, EVENT_AT]), rows[d, TAG]
        if least < 0:
            firsts[n] = event
            n += 1
        else:
            while low < n and firsts[low] < least:
                low += 1
            events.latest[event] = firsts[n - 1] if low < n else -1
            events.first[event] = low
            events.stop[event] = n


@inline
def _sift(pair, low, at, size):
    """Let the value at a place of a heap sink until none below it is greater."""
    own = pair[low + at]
    child = 2 * at + 1
    while child < size:
        if child + 1 < size and pair[low + child + 1] > pair[low + child]:
            child += 1
        if pair[low + child] <= own:
            break
        pair[low + at] = pair[low + child]
        at, child = child, 2 * child + 1
    pair[low + at] = own


@inline
def _put_in_order(pair, low, high):
    """Sort the answers of an end: few one by one, many by a heap."""
    size = high - low
    if size > FEW_PAIRS:
        for at in range(size // 2 - 1, -1, -1):
            _sift(pair, low, at, size)
        for last in range(size - 1, 0, -1):
            greatest = pair[low]
            pair[low] = pair[low + last]
            pair[low + last] = greatest
            _sift(pair, low, 0, last)
    else:
        for i in range(low + 1, high):
            own = pair[i]
            j = i
            while j > low and pair[j - 1] > own:
                pair[j] = pair[j - 1]
                j -= 1
            pair[j] = own


@jit
def join_thirds(rows, order, firsts, entries, found, progress, budget, halt):
    """Make the answers at the thirds of a bucket; `DONE`, or why not.

    ==========  ======================  ================================================================
    `rows`      int32 [m, LONG_ROW]     in
    `order`     int32 [k]               in: the rows of the bucket, by slot
    `firsts`    int32 [.]               in: from `join_firsts`
    `entries`   ChainEntries            scratch
    `found`     ChainAnswers            out: the answers, from progress[ROWS] on, and where those of each row
                                        are
    `progress`  int64 [WORDS]           in/out: `ROWS` and `STEPS`, which go on from bucket to bucket
    `budget`    int64 [3]               in: the most steps, how many more each answer allows, and where the
                                        room for answers ends
    `halt`      uint8 [1]               in: see `jit`
    ==========  ======================  ================================================================
    """
    n, steps, room = progress[ROWS], progress[STEPS], budget[2]
    lane = np.int32(-1)
    low = count = np.int64(0)
    pair, of_row = found.pair, found.of_row
    for p in range(order.shape[0]):
        if p % SELDOM == 0 and halt[0]:
            return DONE
        d = np.uint64(order[p])
        if rows[d, LANE] != lane:
            lane, low, count = rows[d, LANE], 0, 0
        event, least = rows[d, EVENT_AT], rows[d, TAG]
        if least < 0:
            entries.event[count] = event
            entries.latest[count] = -1 - least
            entries.first[count] = rows[d, FIRST_OF]
            entries.stop[count] = rows[d, STOP_OF]
            count += 1
            continue
        while low < count and entries.event[low] < least:
            low += 1
        before = n
        for e in range(low, count):
            if entries.latest[e] < least:
                steps += 1
                continue
            first, at = np.int64(entries.first[e]), np.int64(entries.stop[e]) - 1
            if n + at - first >= room:
                return ROWS_FULL
            second = np.uint64(entries.event[e])
            while at >= first and firsts[at] >= least:
                pair[n] = np.uint64(firsts[at]) << HALF | second
                n += 1
                at -= 1
        of_row[d, NUMBER] = n - before
        if n > before:
            if n > before + 1:
                _put_in_order(pair, before, n)
            of_row[d, FIRST_ROW] = before
            of_row[d, LATEST_START] = pair[n - 1] >> HALF
        if steps > budget[0] + budget[1] * n:
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
def copied(first, taken, hits, event, pair, out_hit, out):
    """Copy the first answers of some ends to where they stay.

    ==========  ======================  ================================================================
    `first`     int64 [ends]            in: where the answers of each end begin
    `taken`     int64 [ends]            in: how many of them are copied
    `hits`      int64 [ends]            in
    `event`     int64 [ends]            in: the events of the third step
    `pair`      uint64 [room]           in
    `out_hit`   int64 [answers]         out
    `out`       int64 [3, answers]      out: the events of each step
    ==========  ======================  ================================================================
    """
    n = 0
    low = (np.uint64(1) << HALF) - np.uint64(1)
    for e in range(first.shape[0]):
        for r in range(first[e], first[e] + taken[e]):
            out_hit[n] = hits[e]
            out[0, n] = pair[r] >> HALF
            out[1, n] = pair[r] & low
            out[2, n] = event[e]
            n += 1
