"""Answers of rules listed from the events of each lane, which lie side by side: no runs are built.

All events of an answer share the lane's key, and each of them fills one atom. The events of a lane are put
next to each other, in the order of the stream. The answers at an event are then found by looking at the rows
before its own, as far as the window reaches: each is taken as the start of answers, the earliest first, and
the other atoms are filled from the rows between. So answers come in canonical order (start, events of the
atoms), ends in that of the stream, and both are written where they stay.

A row that is looked at may lead to no answer. How many are is what this form may cost more than the lists of
runs (`cpu_expansion`): `STEPS` has it, and the pass ends where it is too large.

1.2 to 1.85 times as fast as those lists: rules of two to five atoms with one shared key, and `Q_0` (CPU
time of the whole query, a million events).
"""

import numpy as np

from ..jit import SELDOM, inline, jit
from .contract import ATOM_BITS, COMPARED, DEALT, EVENT_AT, LANE, LEAST_OF, LOOKED, TAG

DONE, ROWS_FULL, CHOICE_FULL, TOO_SLOW = range(4)

AT, ENDS, ROWS, STEPS, TOUCHED, WORDS = range(6)
"""Words of `progress`, from which `expand` continues after an array was full; `WORDS` is their number."""

DIGIT = 11
"""Bits of a lane that one pass sorts by."""

STRIP = 128
"""Events whose rows are brought into the cache before they are looked at."""

MOST_ROWS = (1 << 31 - ATOM_BITS) - 1
"""So many rows before its own an event's tag can say."""

FREE = 1 << 14
"""So many rows may be looked at in any case; `LOOKED` for each event and each answer."""


@jit
def admitted(window, begin, stop, least):
    """Write the least event that the window of each event admits.

    `window` MeasuredWindow in: with keys, which ascend; `begin`, `stop` int64 in: the events from `begin` on,
    before `stop`; `least` int32 [n] out.
    """
    keys = window.keys
    low, high = 0, begin
    while low < high:
        middle = (low + high) // 2
        if keys[begin] - keys[middle] <= window.size:
            high = middle
        else:
            low = middle + 1
    at = np.uint64(low)
    for i in range(np.uint64(begin), np.uint64(stop)):
        while keys[i] - keys[at] > window.size:
            at += np.uint64(1)
        least[i] = at


@jit
def tally(tables, symbols, lanes, begin, stop, count):
    """Count the events of a part of the stream that fill an atom, by bucket: the lower bits of their lanes.

    ==========  =======================  ===============================================================
    `tables`    LaneAtoms                in
    `symbols`   uint8 or uint16 [n]      in
    `lanes`     int32 [n]                in: at least 0
    `begin`     int64                    in: the events begin .. stop - 1
    `stop`      int64
    `count`     int64 [buckets]          out
    ==========  =======================  ===============================================================
    """
    mask = np.uint64(count.shape[0] - 1)
    count[:] = 0
    for i in range(np.uint64(begin), np.uint64(stop)):
        if tables.atom[np.uint64(symbols[i])] >= 0:
            count[np.uint64(lanes[i]) & mask] += 1


@jit
def deal(tables, symbols, lanes, slots, least, begin, stop, next_row, rows):
    """Write a row for each event of a part of the stream that fills an atom, in the bucket of its lane.

    ==========  =======================  ===============================================================
    `tables`    LaneAtoms                in
    `symbols`   uint8 or uint16 [n]      in
    `lanes`     int32 [n]                in: at least 0
    `slots`     int32 [columns, n]       in
    `least`     int32 [n]                in
    `begin`     int64                    in: the events begin .. stop - 1
    `stop`      int64
    `next_row`  int64 [buckets]          in/out: the row of the next event in each bucket
    `rows`      int32 [n, DEALT + k]     out: by bucket, each in the order of the stream
    ==========  =======================  ===============================================================
    """
    mask = np.uint64(next_row.shape[0] - 1)
    for i in range(np.uint64(begin), np.uint64(stop)):
        own = tables.atom[np.uint64(symbols[i])]
        if own < 0:
            continue
        bucket = np.uint64(lanes[i]) & mask
        at = np.uint64(next_row[bucket])
        next_row[bucket] = at + np.uint64(1)
        rows[at, EVENT_AT] = i
        rows[at, TAG] = own
        rows[at, LANE] = lanes[i]
        rows[at, LEAST_OF] = least[i]
        atom = np.uint64(own)
        for k in range(np.uint64(tables.column.shape[1])):
            column = tables.column[atom, k]
            slot = slots[np.uint64(max(column, np.int32(0))), i]
            rows[at, k + np.uint64(DEALT)] = slot if column >= 0 else -1


@jit
def group(one, other, begin, stop, shift, passes, counter):
    """Sort the rows of a bucket by lane, stably, digit by digit.

    ==========  =======================  ===============================================================
    `one`       int32 [n, DEALT + k]     in: the rows; of an even number of passes out, else scratch
    `other`     int32 [n, DEALT + k]     of an odd number of passes out, else scratch
    `begin`     int64                    in: the bucket has the rows begin .. stop - 1
    `stop`      int64
    `shift`     int64                    in: the lower bits of a lane, which its bucket has in common
    `passes`    int64                    in: at least 1; so many digits tell all lanes apart
    `counter`   int64 [2**DIGIT + 1]     scratch
    ==========  =======================  ===============================================================
    """
    mask = counter.shape[0] - 2
    for turn in range(passes):
        source, target = (one, other) if turn % 2 == 0 else (other, one)
        counter[:] = 0
        for r in range(begin, stop):
            counter[(source[r, LANE] >> shift & mask) + 1] += 1
        counter[0] = begin
        for k in range(1, counter.shape[0]):
            counter[k] += counter[k - 1]
        for r in range(begin, stop):
            digit = source[r, LANE] >> shift & mask
            at = counter[digit]
            counter[digit] = at + 1
            for k in range(source.shape[1]):
                target[at, k] = source[r, k]
        shift += DIGIT


@jit
def reach(dealt, begin, stop, latest, rows, rank):
    """Say how far the window of each event reaches in its lane, and which events may be ends.

    ==========  =======================  ===============================================================
    `dealt`     int32 [n, DEALT + k]     in: by lane, each in the order of the stream
    `begin`     int64                    in: a bucket has the rows begin .. stop - 1
    `stop`      int64
    `latest`    int32 [atoms]            scratch
    `rows`      int32 [n, COMPARED + k]  out: the same rows, each with its tag
    `rank`      int32 [events]           out: the row of each event whose window has one for every other
                                         atom, and -1 for the other events
    ==========  =======================  ===============================================================

    A window may admit more rows than a tag can say: the tag then says `MOST_ROWS`.
    """
    lane, low = -1, begin
    for p in range(begin, stop):
        if dealt[p, LANE] != lane:
            lane, low = dealt[p, LANE], p
            latest[:] = -1
        event, own, least = dealt[p, EVENT_AT], dealt[p, TAG], dealt[p, LEAST_OF]
        while dealt[low, EVENT_AT] < least:
            low += 1
        latest[own] = event
        missing = 0
        for a in range(latest.shape[0]):
            missing += latest[a] < least
        rank[event] = p if missing == 0 else -1
        rows[p, EVENT_AT] = event
        rows[p, TAG] = own | min(p - low, MOST_ROWS) << ATOM_BITS
        for k in range(rows.shape[1] - COMPARED):
            rows[p, COMPARED + k] = dealt[p, DEALT + k]


@inline
def _atom(rows, r):
    """The atom that the event of a row fills."""
    return rows[r, TAG] & ((1 << ATOM_BITS) - 1)


@inline
def _candidates(tables, rows, p, scratch):
    """The rows from which the answers at an event are made, also by atom; 0 where an atom has none."""
    kept, of_atom, count, passed = scratch.kept, scratch.of_atom, scratch.number, scratch.passed
    own = _atom(rows, p)
    atoms = count.shape[0]
    for a in range(atoms):
        count[a] = 0
        passed[a] = 0
    left = 0
    for r in range(p - (rows[p, TAG] >> ATOM_BITS), p):
        # Without branches: which rows fit cannot be foreseen.
        atom = _atom(rows, r)
        place = tables.place[own, atom]
        fits = atom != own
        if place >= 0:
            slot = rows[p, place]
            fits &= (slot >= 0) & (slot == rows[r, tables.place[atom, own]])
        kept[left] = r
        left += fits
        of_atom[atom, count[atom]] = r
        count[atom] += fits
    missing = 0
    for a in range(atoms):
        missing += (count[a] == 0) & (a != own)
    return left if missing == 0 else 0


@inline
def _last(tables, rows, scratch, depth, found, n):
    """Write the answers that fill the last atom in all ways; how many answers there are by then."""
    choice, event, start = scratch.choice, found.event, found.start
    chosen = depth + 2
    atom = scratch.others[depth]
    column = scratch.of_atom[atom]
    for z in range(scratch.at[depth], scratch.number[atom]):
        r = column[z]
        fits = True
        for d in range(1, chosen):
            one = _atom(rows, choice[d])
            place = tables.place[one, atom]
            if place >= 0:
                slot = rows[choice[d], place]
                fits &= (slot >= 0) & (slot == rows[r, tables.place[atom, one]])
        # What does not fit is written over.
        for d in range(chosen):
            event[n, _atom(rows, choice[d])] = rows[choice[d], EVENT_AT]
        event[n, atom] = rows[r, EVENT_AT]
        start[n] = rows[choice[1], EVENT_AT]
        n += fits
    return n


@inline
def _fit(tables, rows, one, other):
    """Whether two events of a lane agree in all that their atoms share."""
    place = tables.place[_atom(rows, one), _atom(rows, other)]
    fits = True
    if place >= 0:
        slot = rows[one, place]
        fits = (slot >= 0) & (slot == rows[other, tables.place[_atom(rows, other), _atom(rows, one)]])
    return fits


@inline
def _answers(tables, rows, p, left, scratch, found, n):
    """Write the answers at an event: how many answers there are by then, -1 without room, and rows tried."""
    atoms = tables.place.shape[0]
    own = _atom(rows, p)
    kept, count, passed = scratch.kept, scratch.number, scratch.passed
    choice, at, others = scratch.choice, scratch.at, scratch.others
    steps = 0
    choice[0] = p
    for c in range(left):
        first = _atom(rows, kept[c])
        passed[first] += 1
        choice[1] = kept[c]
        # The others, in the order of the atoms, from the rows after the start.
        more, empty = 0, 0
        for a in range(atoms):
            if a != own and a != first:
                others[more] = a
                more += 1
                empty += passed[a] == count[a]
        if empty > 0:
            break  # and so it is for all later starts
        depth = 0
        if more > 0:
            at[0] = passed[others[0]]
        while depth >= 0:
            last = depth >= more - 1
            room = count[others[depth]] - at[depth] if more > 0 else 1
            if last and n + room > found.start.shape[0]:
                n, depth, left = -1, -1, 0
            elif more == 0:
                found.event[n, own] = rows[p, EVENT_AT]
                found.event[n, first] = rows[kept[c], EVENT_AT]
                found.start[n] = rows[kept[c], EVENT_AT]
                n += 1
                depth = -1
            elif last:
                steps += room
                n = _last(tables, rows, scratch, depth, found, n)
                depth -= 1
            elif room == 0:
                depth -= 1
            else:
                r = scratch.of_atom[others[depth], at[depth]]
                at[depth] += 1
                steps += 1
                fits = True
                for d in range(1, depth + 2):
                    fits &= _fit(tables, rows, choice[d], r)
                if fits:
                    choice[depth + 2] = r
                    depth += 1
                    at[depth] = passed[others[depth]]
        if n < 0:
            break
    return n, steps


@jit
def expand(tables, rows, rank, least, bounds, scratch, found, progress, halt):
    """List the answers of some events, end after end; `DONE`, or why not.

    ============  =======================  ==============================================================
    `tables`      LaneAtoms                in
    `rows`        int32 [n, COMPARED + k]  in: lane by lane, each in the order of the stream
    `rank`        int32 [n]                in: the row of each event that may be an end, else -1
    `least`       int32 [n]                in: the least event that the window of each admits
    `bounds`      int64 [2]                in: the ends from bounds[0] on are reported, before bounds[1]
    `scratch`     LaneScratch              scratch
    `found`       LaneEnds                 out: progress[ENDS] ends, progress[ROWS] answers
    `progress`    int64 [WORDS]            in/out: zeros at first, but `AT`: bounds[0]
    `halt`        uint8 [1]                in: see `jit`
    ============  =======================  ==============================================================

    When an array is full, the host enlarges it and calls again with everything else as it is.
    """
    n = progress[ROWS]
    for strip in range(progress[AT], bounds[1], STRIP):
        if (strip - bounds[0]) % SELDOM < STRIP and halt[0]:
            return DONE
        stop = min(strip + STRIP, bounds[1])
        touched = 0
        # Loads that do not wait for each other: the rows of the strip are in the cache afterwards.
        for i in range(strip, stop):
            touched ^= rows[max(rank[i], 0), TAG]
        for i in range(strip, stop):
            p = max(rank[i], 0)
            touched ^= rows[max(p - (rows[p, TAG] >> ATOM_BITS), 0), EVENT_AT]
        progress[TOUCHED] = touched
        for i in range(strip, stop):
            p = np.int64(rank[i])
            if p < 0:
                continue
            before = rows[p, TAG] >> ATOM_BITS
            if before == MOST_ROWS:
                return TOO_SLOW
            if before >= scratch.kept.shape[0]:
                progress[AT] = i
                return CHOICE_FULL
            progress[STEPS] += before
            left = _candidates(tables, rows, p, scratch)
            if left == 0:
                continue
            m, steps = _answers(tables, rows, p, left, scratch, found, n)
            if m < 0:
                progress[AT] = i
                return ROWS_FULL
            progress[STEPS] += steps
            if m > n:
                end = progress[ENDS]
                found.end[end] = i
                found.latest[end] = found.start[m - 1]
                found.lowest[end] = least[i]
                found.begin[end + 1] = m
                progress[ENDS] = end + 1
                progress[ROWS] = n = m
        if progress[STEPS] > LOOKED * (stop - bounds[0] + n) + FREE:
            return TOO_SLOW
    progress[AT] = bounds[1]
    return DONE


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
    for e in range(np.uint64(first.shape[0])):
        for r in range(np.uint64(first[e]), np.uint64(first[e] + taken[e])):
            block.hit[n] = hits[e]
            least = event[r, 0]
            for a in range(np.uint64(event.shape[1])):
                block.event[n, a] = event[r, a]
                least = min(least, event[r, a])
            block.start[n] = least
            n += np.uint64(1)
