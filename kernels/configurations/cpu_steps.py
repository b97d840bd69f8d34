"""What an event does to the configurations of a lane, looked up in their decision trees."""

from ..jit import inline, jit
from .contract import (
    AT_MOST,
    EQUAL,
    EVENT,
    FALLING,
    FALLING_FAILED,
    FIRST_LEAF,
    FLAGS,
    IS_KNOWN,
    LESS,
    MISSING,
    NO,
    NO_WINDOW,
    OTHER,
    PASSES,
    RANKED,
    REMAINS,
    RISING_FAILED,
    ROOT,
    SAME,
    SLOT,
    STAYS,
    STEP_MISSING,
    TEST,
    TESTED,
    TIME_WINDOW,
    TOO_LARGE,
    TOUCHED_FULL,
    UNKNOWN,
    WORKED_OUT,
    YES,
)
from .cpu_groups import place_of
from .cpu_programs import work_out
from .cpu_search_trees import is_finite, next_ranked, outermost


@inline
def columns_of(events):
    """How many columns of values the events have."""
    return events.values.shape[0]


@inline
def compares(steps, kept, events, event, row, reference):
    """Whether a comparison of a node holds."""
    test = steps.tree[reference, TEST]
    asked = steps.measure[test]
    column = steps.column[test, 0]
    if asked == IS_KNOWN:
        return events.known[column, event] != 0
    one = steps.tree[reference, SLOT]
    other = steps.tree[reference, OTHER]
    if steps.real[column]:
        first = kept.reals[row, one] if one >= 0 else events.reals[column, event]
        last = kept.reals[row, other] if other >= 0 else events.reals[steps.column[test, 1], event]
        if asked == LESS:
            return first < last
        if asked == AT_MOST:
            return first <= last
        return (first == last) == (asked == SAME)
    whole = kept.bits[row, one] if one >= 0 else events.values[column, event]
    next_whole = kept.bits[row, other] if other >= 0 else events.values[steps.column[test, 1], event]
    if asked == LESS:
        return whole < next_whole
    if asked == AT_MOST:
        return whole <= next_whole
    return (whole == next_whole) == (asked == SAME)


@inline
def late(steps, rules, kept, groups, lane, row):
    """Whether all complex events of a configuration have left the window of hits."""
    if rules.window == NO_WINDOW or not steps.started[kept.shape[row]]:
        return False
    return groups.now[lane, 0 if rules.window == TIME_WINDOW else 1] - kept.since[row] > rules.size


@inline
def hopeless(steps, rules, events, event, shape, since):
    """Whether no complex event of a configuration can end within its window after an event."""
    if events.ends.shape[0] == 0:
        return False
    low = steps.completing[shape, 0]
    high = steps.completing[shape, 1]
    found = low < high
    for c in range(low, high):
        found = found and events.ends[event, steps.completion[c]] - since > rules.size
    return found


@inline
def remains(steps, leaf):
    """Whether one of the outcomes of a leaf leaves the configuration as it is."""
    found = False
    for o in range(steps.leaf[leaf], steps.leaf[leaf + 1]):
        found = found or steps.outcome[o, FLAGS] & REMAINS != 0
    return found


@inline
def looks_up(steps, events, event, shape, symbol):
    """The test by which an event looks up the configurations of a shape, -1: it tests all of them."""
    reference = steps.root[shape, symbol]
    if steps.indexed[shape, 0] < 0:
        return -1
    while reference >= 0 and steps.measure[steps.tree[reference, TEST]] == IS_KNOWN:
        if events.known[steps.column[steps.tree[reference, TEST], 0], event] == 0:
            return -1
        reference = steps.tree[reference, YES]
    if reference < 0 or steps.tree[reference, PASSES] == 0:
        return -1
    if steps.tree[reference, PASSES] == EQUAL:
        slot = max(steps.tree[reference, SLOT], steps.tree[reference, OTHER])
        if slot != steps.indexed[shape, 0] or steps.indexed[shape, 1] >= RANKED:
            return -1
    return reference


@inline
def asked_value(steps, events, event, reference):
    """The event's value in an equality, as the index of a shape compares it."""
    test = steps.tree[reference, TEST]
    column = steps.column[test, 0 if steps.tree[reference, SLOT] < 0 else 1]
    if steps.real[column] and events.reals[column, event] == 0.0:
        return 0
    return events.values[column, event]


@jit
def gather(steps, programs, events, rules, kept, groups, touched, lane, symbol, progress):
    """Find the configurations of a lane that an event changes, and their leaves: how many, or -1 - status."""
    n = 0
    at = groups.lane[lane, 0]
    while at >= 0:
        shape = groups.group[at, 0]
        root = steps.root[shape, symbol]
        row = groups.group[at, 1]
        looked = -1
        passes = 0
        down = False
        slot = steps.indexed[shape, 0]
        kind = steps.indexed[shape, 1]
        if root >= 0:
            looked = looks_up(steps, events, progress[EVENT], shape, symbol)
            if looked >= 0:
                passes = steps.tree[looked, PASSES]
                if passes == EQUAL:
                    value = asked_value(steps, events, progress[EVENT], looked)
                    row = kept.heads[place_of(kept, lane, shape, value)]
                else:
                    down = passes in (FALLING, FALLING_FAILED)
                    row = outermost(kept, groups.group[at, ROOT], down)
        last = -1  # the first row in the order of values that the test does not concern
        while row >= 0 and root != STAYS:
            if passes == EQUAL and (kept.shape[row] != shape or kept.lane[row] != lane):
                row = kept.peer[row]
                continue
            if n == touched.leaf.shape[0]:
                return -1 - TOUCHED_FULL
            progress[TESTED] += 1
            reference = root
            while reference >= 0:
                test = steps.tree[reference, TEST]
                asked = steps.measure[test]
                holds = False
                if asked == WORKED_OUT:
                    if programs is not None:
                        program = -3 - columns_of(events) - steps.tree[reference, SLOT]
                        at_fault = work_out(programs, program, kept.bits, row, events.values, progress[EVENT])
                        if at_fault >= 0:
                            progress[MISSING] = at_fault
                            return -1 - TOO_LARGE
                        holds = programs.stack[0] != 0
                elif asked >= IS_KNOWN:
                    holds = compares(steps, kept, events, progress[EVENT], row, reference)
                else:
                    age = groups.now[lane, asked] - kept.slots[row, steps.tree[reference, SLOT]]
                    holds = steps.low[test] <= age and age <= steps.high[test]
                if (
                    passes > EQUAL
                    and reference == looked
                    and last < 0
                    and holds == (passes in (RISING_FAILED, FALLING_FAILED))
                    and is_finite(kept, row, slot, kind)
                ):
                    last = row
                    break
                reference = steps.tree[reference, YES if holds else NO]
            if row == last:
                # From the other end: values that are not finite have no place in the order, and whole
                # numbers of a program are largest there.
                row = outermost(kept, groups.group[at, ROOT], not down)
                if row == last or (kind > RANKED and is_finite(kept, row, slot, kind)):
                    break
                continue
            if reference == UNKNOWN:
                progress[MISSING] = row
                return -1 - STEP_MISSING
            leaf = -reference - FIRST_LEAF
            first = steps.leaf[leaf]
            alone = steps.leaf[leaf + 1] == first + 1 and steps.outcome[first, FLAGS] == REMAINS
            if (
                not alone
                or late(steps, rules, kept, groups, lane, row)
                or hopeless(steps, rules, events, progress[EVENT], shape, kept.since[row])
            ):
                touched.leaf[n, 0] = row
                touched.leaf[n, 1] = leaf
                n += 1
            if passes == 0:
                row = kept.next[row]
            elif passes == EQUAL:
                row = kept.peer[row]
            elif last < 0:
                row = next_ranked(kept, row, down)
            else:
                row = next_ranked(kept, row, not down)
                if row == last or is_finite(kept, row, slot, kind):
                    break
        at = groups.group[at, 2]
    return n


@jit
def takes(steps, kept, touched, n, progress):
    """How many outcomes the leaves of the first `n` touched configurations have together."""
    outcomes = 0
    for k in range(n):
        leaf = touched.leaf[k, 1]
        outcomes += steps.leaf[leaf + 1] - steps.leaf[leaf]
    return outcomes
