"""Hits of chains of which two steps are compared: the ends, with the latest start of the matches of each.

An old event is ready once later events have filled the steps between it and the new step; the ready ones are
always those up to some event. They are put into a tree of maxima over ranks, each with its latest start. A
new event takes the greatest start of the ranks that it matches. Events that have left the window stay in the
tree: their starts are below the least one that is admitted.

Where a new event matches all old ones below its value, or all above, a stack takes the place of the tree: an
old event goes once a later one matches whatever it matches. What is left ascends, and the last that is
matched has the latest start.

The stack takes a quarter of the time of the tree: 30 for 120 ms for 0.8 million events without a key, a
window of an hour. In longer chains it is slower than comparing each of a few old events in a window (28 for
16 ms). `a ; c` has a loop of its own, which takes a third of the time (20 for 60 ms: 0.8 million events of
500 keys, nine old ones in a window): what a new event matches is computed before, without a branch.
"""

import numpy as np

from ..comparisons.contract import (
    ABOVE,
    AT,
    AT_LEAST,
    AT_MOST,
    BELOW,
    GREATER,
    LESS,
    NO_VALUE,
    ArrangedEntries,
)  # fmt: skip
from ..comparisons.cpu_order import arrange, shown
from ..comparisons.cpu_value_ranges import GREATEST_WORD, LEAST_WORD, asked
from ..comparisons.tree import greatest, raised
from ..jit import SELDOM, inline, jit
from ..loop.contract import room_for_ends
from ..windows.contract import comparable
from . import cpu_nested_loop

FEW = 16
"""Up to this many old events in the window each is compared by itself: that is cheaper than a stack."""

NEAR = 8
"""So many of the last old events on the stack are looked at one by one, before the others are halved."""

NO_ORDER = ArrangedEntries(
    np.empty((0, 0), np.int32), np.empty((0, 0), np.int32), np.empty((0, 0), np.int64),
    np.empty((0, 0), np.int32),
)  # fmt: skip
"""The order of old events where a stack has them."""


def _side(tables):
    """Which old events a new one matches: 1: those below its value, -1: those above, 0: others."""
    ops = set(tables.test_op[tables.test_first[0] : tables.test_first[1]].tolist())
    if tables.view_slot[0] >= 0 or not ops:
        return 0
    return 1 if ops <= {LESS, AT_MOST} else -1 if ops <= {GREATER, AT_LEAST} else 0


@inline
def _stacked(stack, height, side, word, start):
    """Put an old event on the stack; gives how many are there then. Words are turned where `side` is -1."""
    turned = word if side > 0 else ~word
    while height > 0 and stack[0, height - 1] >= turned:
        height -= 1
    stack[0, height] = turned
    stack[1, height] = start
    return height + 1


@inline
def _matched(stack, height, most):
    """The start of the last old event on the stack whose turned word is at most `most`; -1: none."""
    # The last ones are matched most often.
    near = max(height - NEAR, 0)
    while height > near and stack[0, height - 1] > most:
        height -= 1
    if height > near:
        return stack[1, height - 1]
    below = 0
    above = height
    reach = NEAR
    while reach <= above and stack[0, above - reach] > most:
        above -= reach
        reach *= 2
    if reach <= above:
        below = above - reach + 1
    while below < above:
        middle = (below + above) >> 1
        if stack[0, middle] <= most:
            below = middle + 1
        else:
            above = middle
    return stack[1, below - 1] if below > 0 else -1


@jit
def _limits(tables, apart, events, side, flip, limit, steps, halt):
    """Write what each event of `a ; c` matches as `c`: the greatest word of an `a`, turned.

    The parameters are those of `_hits`, `flip` int64 is -1 where `side` is, else 0, and out are `limit` int64
    [events] and `steps` uint8 [events]: the steps that an event may be, without those that it has no value
    for.
    """
    count = events.symbols.shape[0]
    beyond = ABOVE if side > 0 else BELOW
    row = tables.order_value[tables.view_order[0]]
    for i in range(count):
        mask = apart.steps[events.symbols[i]]
        steps[i] = mask if events.sides[row, i] != NO_VALUE else mask & 2
        limit[i] = GREATEST_WORD
    for test in range(tables.test_first[0], tables.test_first[1]):
        value = tables.test_value[test]
        equal = tables.test_op[test] in (AT_MOST, AT_LEAST)
        for i in range(count):
            if i % SELDOM == 0 and halt[0]:
                return
            lies = events.sides[value, i]
            word = events.words[value, i] ^ flip
            same = lies == beyond or (equal and lies == AT)
            if lies == NO_VALUE or (word == LEAST_WORD and not same):
                steps[i] &= 1
            limit[i] = min(limit[i], word - (0 if same else 1))


@jit
def _pair_hits(words, flip, steps, limit, window, segments, stack, since, out, halt):
    """Write the hits of `a ; c` where a stack has the old events; gives how many there are.

    =========  ========================  ============================================================
    `words`    int64 [events]            in: of `a`
    `flip`     int64                     in: as for `_limits`
    `steps`    uint8 [events]            in: of `_limits`
    `limit`    int64 [events]            in: of `_limits`
    `window`   MeasuredWindow            in
    `segments` ComparedSegments          in
    `stack`    int64 [2, rows]           scratch: turned words, of which the later are the larger, and events
    `since`    as the keys [rows or 0]   scratch: their keys
    `out`      FoundEnds                 out
    `halt`     uint8 [1]                 in: see `jit`
    =========  ========================  ============================================================
    """
    keys = window.keys
    windowed = keys.shape[0] > 0
    n = 0
    for g in range(segments.begin.shape[0]):
        height = 0
        bottom = 0
        report = segments.report[g]
        for i in range(segments.begin[g], segments.stop[g]):
            if i % SELDOM == 0 and halt[0]:
                return n
            if steps[i] & 2 and i >= report:
                if windowed:
                    # Those that have left the window lie at the bottom: the later ones above are larger.
                    while bottom < height and keys[i] - since[bottom] > window.size:
                        bottom += 1
                if bottom < height and stack[0, bottom] <= limit[i]:
                    out.event[n] = i
                    out.start[n] = _matched(stack, height, limit[i])
                    n += 1
            if steps[i] & 1:
                height = _stacked(stack, height, 1, words[i] ^ flip, i)
                if windowed:
                    since[height - 1] = keys[i]
                bottom = min(bottom, height - 1)
    return n


@jit
def _hits(tables, apart, events, window, segments, side, arranged, held, start, reached, out, halt):
    """Write the hits of all segments; gives how many there are.

    ==========  =================  =====================================================================
    `tables`    ComparedTables     in: view 0 shows the old events that a new one agrees with
    `apart`     StepPairTables        in
    `events`    PairedEvents       in
    `window`    MeasuredWindow     in
    `segments`  ComparedSegments   in
    `side`      int64              in: 1: a stack has the old events, smaller ones below, -1: larger ones;
                                   0: a tree has them
    `arranged`  Arranged           in: for the tree
    `held`      int64 [1, 2 rows]  scratch: a tree of maxima; [2, rows]: a stack of words, of which the later
                                   are the larger, and of starts
    `start`     int64 [rows]       scratch: of each old event the latest start of a way to it
    `reached`   int64 [steps]      scratch: after each step the latest start, and after those between the
                                   compared ones the latest old event; -1: none
    `out`       FoundEnds          out
    `halt`      uint8 [1]          in: see `jit`
    ==========  =================  =====================================================================
    """
    keys = window.keys
    windowed = keys.shape[0] > 0
    old = apart.old
    new = apart.new
    last = apart.last
    row = tables.order_value[tables.view_order[0]]
    n = 0
    for g in range(segments.begin.shape[0]):
        base = segments.base[g]
        begin = segments.begin[g]
        size = 0
        height = 0
        if side == 0:
            size = arranged.size[0, g]
            for k in range(2 * base, 2 * (base + size)):
                held[0, k] = -1
        for step in range(reached.shape[0]):
            reached[step] = -1
        put = begin
        low = begin
        for i in range(begin, segments.stop[g]):
            if i % SELDOM == 0 and halt[0]:
                return n
            mask = apart.steps[events.symbols[i]]
            start[base + i - begin] = -1
            if windowed:
                while keys[i] - keys[low] > window.size:
                    low += 1
            top = -1
            # From the last step to the first, so that each sees what earlier events have done.
            for step in range(last, -1, -1):
                if not mask >> step & 1:
                    continue
                value = i
                if step == new:
                    while put <= reached[new - 1]:
                        since = start[base + put - begin]
                        if since >= low and side != 0:
                            if events.sides[row, put] != NO_VALUE:
                                height = _stacked(held, height, side, events.words[row, put], since)
                        elif since >= low and arranged.rank[0, base + put - begin] >= 0:
                            raised(held, 0, 2 * base, size, arranged.rank[0, base + put - begin], since)
                        put += 1
                    value = -1
                    if side != 0:
                        least, most, _, _, _ = asked(tables, events, 0, i)
                        if least <= most:
                            value = _matched(held, height, most if side > 0 else ~least)
                    else:
                        a, b, c, d = shown(tables, events, arranged, base, size, 0, i)
                        if a < b:
                            value = greatest(held, 0, 2 * base, size, a, b)
                        if c < d:
                            value = max(value, greatest(held, 0, 2 * base, size, c, d))
                    if value < low:
                        value = -1
                elif step == old:
                    start[base + i - begin] = i if step == 0 else reached[step - 1]
                elif step > 0:
                    value = reached[step - 1]
                if step == last:
                    top = value
                else:
                    reached[step] = max(reached[step], value)
            if top >= low and i >= segments.report[g]:
                out.event[n] = i
                out.start[n] = top
                n += 1
    return n


def hits(tables, apart, events, keys, size, segments):
    """The hits of many segments, in their order.

    Parameters
    ----------
    tables, apart, events, keys, size, segments
        As for `cer_gpu.kernels.step_pairs.cpu_counts.counted_ends`.

    Returns
    -------
    event : ndarray, shape (hits,), int64
    start : ndarray, shape (hits,), int64
        The event of the latest start.
    """
    window = comparable(keys, size)
    side = _side(tables)
    if side and apart.last == 1:
        return _of_pairs(tables, apart, events, window, segments, side)
    one_by_one = apart._replace(few=min(apart.few, FEW)) if side else apart
    event, start, left = cpu_nested_loop.found(tables, one_by_one, events, window, segments)
    if not len(left.begin):
        return event, start
    arranged = NO_ORDER if side else arrange(tables, events, left)
    return cpu_nested_loop.merged((event, start), _run(tables, apart, events, window, left, side, arranged))


def _of_pairs(tables, apart, events, window, segments, side):
    """As `hits`, of `a ; c` where a stack has the old events."""
    out, rows, count = room_for_ends(segments), _longest(segments), len(events.symbols)
    limit, steps = np.empty(count, np.int64), np.empty(count, np.uint8)
    flip = -1 if side < 0 else 0
    _limits(tables, apart, events, side, flip, limit, steps)
    words = events.words[tables.order_value[tables.view_order[0]]]
    stack, since = np.empty((2, rows), np.int64), np.empty(min(rows, len(window.keys)), window.keys.dtype)
    n = _pair_hits(words, flip, steps, limit, window, segments, stack, since, out)
    return out.event[:n], out.start[:n]


def _longest(segments):
    return int((segments.stop - segments.begin).max(initial=0))


def _run(tables, apart, events, window, segments, side, arranged):
    out, rows = room_for_ends(segments), int(segments.base[-1])
    held = np.empty((2, _longest(segments)) if side else (1, 2 * rows), np.int64)
    start = np.empty(rows, np.int64)
    reached = np.empty(apart.last + 1, np.int64)
    n = _hits(tables, apart, events, window, segments, side, arranged, held, start, reached, out)
    return out.event[:n], out.start[:n]
