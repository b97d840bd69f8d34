"""The orders of entries: the events that may be entries, sorted, and the ranks that a view shows."""

import numpy as np

from ..jit import jit
from .contract import (
    ABOVE,
    AT_LEAST,
    AT_MOST,
    BELOW,
    DIFFERENT,
    EQUAL,
    GREATER,
    LESS,
    NEIGHBOUR,
    NO_VALUE,
    ArrangedEntries,
)


@jit
def _place(segments, sorted_events, first, slots, words, order, out, halt):
    """Give the events of an order their ranks in each segment that has them.

    ===============  =======================  ============================================================
    `segments`       ComparedSegments         in
    `sorted_events`  int64 [n]                in: the events of the order, ascending by slot, then by word
    `first`          int64 [n]                in: for each event the first segment that it is not after
    `slots`          int32 [events] or [0]    in: what they are sorted by; empty: nothing
    `words`          int64 [events] or [0]    in
    `order`          int                      in
    `out`            Arranged                 out
    `halt`           uint8 [1]                in: see `jit`
    ===============  =======================  ============================================================
    """
    for k in range(sorted_events.shape[0]):
        event = sorted_events[k]
        g = first[k]
        while g < segments.begin.shape[0] and segments.begin[g] <= event:
            place = out.size[order, g]
            row = segments.base[g] + place
            if slots.shape[0] > 0:
                out.slot[order, row] = slots[event]
            if words.shape[0] > 0:
                out.word[order, row] = words[event]
            out.rank[order, segments.base[g] + event - segments.begin[g]] = place
            out.size[order, g] = place + 1
            g += 1


def arrange(tables, events, segments):
    """Sort the events of some segments into the orders of the automaton: `ArrangedEntries`."""
    n_orders, rows = len(tables.order_slot), int(segments.base[-1])
    out = ArrangedEntries(
        np.zeros((n_orders, len(segments.begin)), np.int32),
        np.zeros((n_orders, rows), np.int32),
        np.zeros((n_orders, rows), np.int64),
        np.full((n_orders, rows), -1, np.int32),
    )
    # A view of neighbours shows the last entry or none: it needs no order.
    searched = np.zeros(n_orders, bool)
    searched[tables.view_order[tables.view_near != NEIGHBOUR]] = True
    made = {}
    for state, enters in enumerate(entering(tables)):
        for order in range(tables.order_first[state], tables.order_first[state + 1]):
            if not searched[order]:
                continue
            slot, value = tables.order_slot[order], tables.order_value[order]
            alike = slot, value, enters.tobytes()
            if alike in made:  # states that keep the same events keep them in the same order
                for part in out:
                    part[order] = part[made[alike]]
                continue
            made[alike] = order
            there = enters[events.symbols]
            slots, words = events.slots[0:0], events.words[0:0]
            if slot >= 0:
                slots = events.slots[slot]
                there &= slots >= 0
            if value >= 0:
                words = events.words[value]
                there &= events.sides[value] != NO_VALUE
            found = np.flatnonzero(there)
            if slot >= 0 and value >= 0:
                found = found[np.lexsort((words[found], slots[found]))]
            elif slot >= 0:
                found = found[np.argsort(slots[found], kind="stable")]
            elif value >= 0:
                found = found[np.argsort(words[found])]
            first = np.searchsorted(segments.stop, found, side="right")
            own = (part.reshape(-1) if part.ndim > 1 else part for part in (slots, words))
            _place(segments, found, first, *own, order, out)
    return out


def entering(tables):
    """For each state which symbols enter it: bool [states, symbols]."""
    found = np.zeros((len(tables.accepting), tables.n_symbols), bool)
    for symbol in range(tables.n_symbols):
        found[tables.group_state[tables.first[symbol] : tables.first[symbol + 1]], symbol] = True
    return found


@jit
def search_slot(slots, order, low, high, slot):
    """The first of the rows low .. high - 1 of an order whose slot is at least `slot`, or `high`."""
    while low < high:
        middle = (low + high) >> 1
        if slots[order, middle] < slot:
            low = middle + 1
        else:
            high = middle
    return low


@jit
def search_word(words, order, low, high, word, beyond):
    """The first row of low .. high - 1 whose word is at least `word` (greater, if `beyond`), or `high`."""
    # Halves of a fixed size, so that the CPU has no branch to predict.
    left = high - low
    while left > 1:
        half = left >> 1
        own = words[order, low + half - 1]
        low += half if own < word or (beyond and own == word) else 0
        left -= half
    if left == 1:
        own = words[order, low]
        low += 1 if own < word or (beyond and own == word) else 0
    return low


@jit
def shown(tables, events, arranged, base, size, view, event):
    """The ranks that a view shows at an event: low .. hole - 1 and after .. high - 1; gives these four.

    ==========  ==============  ==========================================
    `tables`    ComparedTables  in
    `events`    PairedEvents    in
    `arranged`  Arranged        in
    `base`      int             in: the first row of the segment
    `size`      int             in: how many ranks the order has there
    `view`      int             in
    `event`     int             in
    ==========  ==============  ==========================================
    """
    order = tables.view_order[view]
    low = base
    high = base + size
    row = tables.view_slot[view]
    if row >= 0:
        slot = events.slots[row, event]
        if slot < 0:
            high = low
        else:
            low = search_slot(arranged.slot, order, low, high, slot)
            high = search_slot(arranged.slot, order, low, high, slot + 1)
    hole = high
    after = high
    split = False
    for test in range(tables.test_first[view], tables.test_first[view + 1]):
        value = tables.test_value[test]
        side = events.sides[value, event]
        word = events.words[value, event]
        op = tables.test_op[test]
        if side == NO_VALUE:
            high = low
        elif op == LESS:
            high = search_word(arranged.word, order, low, high, word, side == ABOVE)
        elif op == AT_MOST:
            high = search_word(arranged.word, order, low, high, word, side != BELOW)
        elif op == GREATER:
            low = search_word(arranged.word, order, low, high, word, side != BELOW)
        elif op == AT_LEAST:
            low = search_word(arranged.word, order, low, high, word, side == ABOVE)
        else:
            a = search_word(arranged.word, order, low, high, word, side == ABOVE)
            b = search_word(arranged.word, order, low, high, word, side != BELOW)
            if op == EQUAL:
                low = a
                high = b
            else:
                split = True
                hole = a
                after = b
    if split:
        hole = min(max(hole, low), high)
        after = min(max(after, low), high)
    else:
        hole = high
        after = high
    return low - base, hole - base, after - base, high - base


@jit
def together(tables, events, view, entered, event):
    """Whether two events satisfy the tests of a view, and are neighbours where it asks for that.

    ==========  ==============  =======================
    `tables`    ComparedTables  in
    `events`    PairedEvents    in
    `view`      int             in
    `entered`   int             in: the earlier event
    `event`     int             in
    ==========  ==============  =======================
    """
    order = tables.view_order[view]
    holds = tables.view_near[view] != NEIGHBOUR or events.places[event] == events.places[entered] + 1
    row = tables.view_slot[view]
    if row >= 0:
        slot = events.slots[tables.order_slot[order], entered]
        holds = holds and slot >= 0 and slot == events.slots[row, event]
    for test in range(tables.test_first[view], tables.test_first[view + 1]):
        old = tables.order_value[order]
        new = tables.test_value[test]
        side = events.sides[new, event]
        if events.sides[old, entered] == NO_VALUE or side == NO_VALUE:
            holds = False
        else:
            a = events.words[old, entered]
            b = events.words[new, event]
            less = a < b or (a == b and side == ABOVE)
            more = a > b or (a == b and side == BELOW)
            op = tables.test_op[test]
            if op == LESS:
                holds = holds and less
            elif op == AT_MOST:
                holds = holds and not more
            elif op == GREATER:
                holds = holds and more
            elif op == AT_LEAST:
                holds = holds and not less
            elif op == EQUAL:
                holds = holds and not less and not more
            elif op == DIFFERENT:
                holds = holds and (less or more)
    return holds
