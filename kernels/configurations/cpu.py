"""Following configurations over events: each touches those of its lane that its symbol changes."""

from ..forest.contract import BOTTOM, LATEST
from ..jit import OFTEN, inline, jit
from ..streams.contract import ALL_LANES, OWN_LANE
from .contract import (
    ACCEPTS,
    AT_MOST,
    COUNT,
    EPOCH,
    EVENT,
    FIRST_LEAF,
    FLAGS,
    FREE,
    HIT,
    IS_KNOWN,
    LABEL,
    LANE,
    LESS,
    LINKS,
    MISSING,
    NEEDED,
    NO,
    NO_WINDOW,
    NODES,
    OTHER,
    ROOTS,
    SAME,
    SLOT,
    SLOT_AT,
    SLOTS,
    STARTS,
    STAYS,
    SWEEP_AT,
    TARGET,
    TEST,
    TIME_WINDOW,
    TOP,
    UNKNOWN,
    YES,
)
from .cpu_nodes import new_node, union

DONE = 0
STEP_MISSING = 1
CONFIGURATIONS_FULL = 2
GROUPS_FULL = 3
ARENA_FULL = 4
ROOTS_FULL = 5
LIMBS_FULL = 6
TOUCHED_FULL = 7
TOO_MANY = 8
SWEEP = 9

LIMB = 1 << 62
"""The base of counts."""


@inline
def _hash(lane, shape, bits, row, n_slots, last):
    mixed = (lane + 1) * 0x9E3779B97F4A7C1 + shape * 0x2545F4914F6CDD1D
    for k in range(n_slots):
        mixed ^= mixed >> 29
        mixed = mixed * 0x2127599BF4325C37 + bits[row, k]
    mixed ^= mixed >> 32
    mixed *= 0x2545F4914F6CDD1D
    return (mixed >> 20) & last


@jit
def _unlink(kept, row, n_slots):
    """Take a configuration out of the chain of its hash."""
    at = _hash(kept.lane[row], kept.shape[row], kept.bits, row, n_slots, kept.bucket.shape[0] - 1)
    one = kept.bucket[at]
    if one == row:
        kept.bucket[at] = kept.chain[row]
        return
    while kept.chain[one] != row:
        one = kept.chain[one]
    kept.chain[one] = kept.chain[row]


@inline
def _group_of(groups, lane, shape, progress):
    """The group of a shape in a lane, made if there is none."""
    at = groups.lane[lane, 0]
    while at >= 0 and groups.group[at, 0] != shape:
        at = groups.group[at, 2]
    if at < 0:
        at = progress[LINKS]
        progress[LINKS] = groups.group[at, 2]
        groups.group[at, 0] = shape
        groups.group[at, 1] = -1
        groups.group[at, 2] = groups.lane[lane, 0]
        groups.lane[lane, 0] = at
    return at


@jit
def arrange(kept, groups, count, count_of, progress):
    """Put the configurations of the first `count` rows into chains and groups, and all other rows aside.

    `count_of` int32 [shapes] in: the slots of each shape; all groups are made anew.
    """
    for at in range(kept.bucket.shape[0]):
        kept.bucket[at] = -1
    for lane in range(groups.lane.shape[0]):
        groups.lane[lane, 0] = -1
    for at in range(groups.group.shape[0]):
        groups.group[at, 2] = at + 1
    progress[LINKS] = 0
    for row in range(count):
        n_slots = count_of[kept.shape[row]]
        at = _hash(kept.lane[row], kept.shape[row], kept.bits, row, n_slots, kept.bucket.shape[0] - 1)
        kept.chain[row] = kept.bucket[at]
        kept.bucket[at] = row
        group = _group_of(groups, kept.lane[row], kept.shape[row], progress)
        kept.next[row] = groups.group[group, 1]
        groups.group[group, 1] = row
    for row in range(count, kept.shape.shape[0]):
        kept.shape[row] = -1
        kept.next[row] = row + 1
    progress[FREE] = count
    progress[COUNT] = count


@jit
def _forget(kept, groups, lane, count_of, progress):
    """Drop all configurations of a lane."""
    at = groups.lane[lane, 0]
    while at >= 0:
        row = groups.group[at, 1]
        while row >= 0:
            after = kept.next[row]
            _unlink(kept, row, count_of[kept.shape[row]])
            kept.shape[row] = -1
            kept.next[row] = progress[FREE]
            progress[FREE] = row
            progress[COUNT] -= 1
            row = after
        after = groups.group[at, 2]
        groups.group[at, 2] = progress[LINKS]
        progress[LINKS] = at
        at = after
    groups.lane[lane, 0] = -1
    groups.lane[lane, 2] = 0


@inline
def _put(kept, groups, lane, shape, n_slots, row, arena, progress):
    """Put in the configuration that was written into the first free row, or add it to its like."""
    at = _hash(lane, shape, kept.bits, row, n_slots, kept.bucket.shape[0] - 1)
    one = kept.bucket[at]
    while one >= 0:
        if kept.shape[one] == shape and kept.lane[one] == lane:
            same = True
            for k in range(n_slots):
                if kept.bits[one, k] != kept.bits[row, k]:
                    same = False
                    break
            if same:
                break
        one = kept.chain[one]
    if one < 0:
        progress[FREE] = kept.next[row]
        progress[COUNT] += 1
        kept.shape[row] = shape
        kept.lane[row] = lane
        kept.chain[row] = kept.bucket[at]
        kept.bucket[at] = row
        group = _group_of(groups, lane, shape, progress)
        kept.next[row] = groups.group[group, 1]
        groups.group[group, 1] = row
    else:
        kept.began[one, 0] = min(kept.began[one, 0], kept.began[row, 0])
        if kept.began[row, 1] > kept.began[one, 1]:
            kept.began[one, 1] = kept.began[row, 1]
            kept.since[one] = kept.since[row]
        if kept.node.shape[0] > 0 and kept.node[row] >= 0:
            kept.node[one] = union(arena, progress, kept.node[row], kept.node[one])
        carry = 0
        for k in range(kept.number.shape[1]):
            total = kept.number[one, k] + kept.number[row, k] + carry
            carry = 0
            if total >= LIMB:
                total -= LIMB
                carry = 1
            kept.number[one, k] = total
        if kept.number.shape[1] > 0:
            progress[TOP] = max(progress[TOP], kept.number[one, kept.number.shape[1] - 1])


@inline
def _compares(steps, kept, events, event, row, reference):
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


@jit
def _gather(steps, events, kept, groups, touched, lane, symbol, progress):
    """Find the configurations of a lane that an event changes, and their leaves: how many, or -1 - status."""
    n = 0
    at = groups.lane[lane, 0]
    while at >= 0:
        shape = groups.group[at, 0]
        root = steps.root[shape, symbol]
        row = groups.group[at, 1]
        while row >= 0 and root != STAYS:
            if n == touched.leaf.shape[0]:
                return -1 - TOUCHED_FULL
            reference = root
            while reference >= 0:
                test = steps.tree[reference, TEST]
                asked = steps.measure[test]
                if asked >= IS_KNOWN:
                    holds = _compares(steps, kept, events, progress[EVENT], row, reference)
                else:
                    age = groups.now[lane, asked] - kept.slots[row, steps.tree[reference, SLOT]]
                    holds = steps.low[test] <= age and age <= steps.high[test]
                reference = steps.tree[reference, YES if holds else NO]
            if reference == UNKNOWN:
                progress[MISSING] = row
                return -1 - STEP_MISSING
            touched.leaf[n, 0] = row
            touched.leaf[n, 1] = -reference - FIRST_LEAF
            n += 1
            row = kept.next[row]
        at = groups.group[at, 2]
    return n


@jit
def _takes(steps, kept, touched, n, progress):
    """How many outcomes the leaves of some configurations have."""
    outcomes = 0
    for k in range(n):
        leaf = touched.leaf[k, 1]
        outcomes += steps.leaf[leaf + 1] - steps.leaf[leaf]
    return outcomes


@jit
def _take_out(kept, groups, touched, lane, n, count_of, progress):
    """Take configurations out of their groups, whole groups each, with copies of what they are."""
    for k in range(n):
        row = touched.leaf[k, 0]
        shape = kept.shape[row]
        n_slots = count_of[shape]
        for s in range(n_slots):
            touched.slots[k, s] = kept.slots[row, s]
        touched.began[k, 0] = kept.began[row, 0]
        touched.began[k, 1] = kept.began[row, 1]
        touched.since[k] = kept.since[row]
        if kept.node.shape[0] > 0:
            touched.node[k] = kept.node[row]
        for limb in range(kept.number.shape[1]):
            touched.number[k, limb] = kept.number[row, limb]
        _unlink(kept, row, n_slots)
        kept.shape[row] = -1
        kept.next[row] = progress[FREE]
        progress[FREE] = row
        progress[COUNT] -= 1
        touched.leaf[k, 0] = shape
    # The groups that are left without configurations are dropped.
    before = -1
    at = groups.lane[lane, 0]
    while at >= 0:
        after = groups.group[at, 2]
        row = groups.group[at, 1]
        if row < 0 or kept.shape[row] < 0:
            if before < 0:
                groups.lane[lane, 0] = after
            else:
                groups.group[before, 2] = after
            groups.group[at, 2] = progress[LINKS]
            progress[LINKS] = at
        else:
            before = at
        at = after


@jit
def _carry_out(steps, events, kept, groups, touched, arena, ends, rules, lane, n, number, progress):
    """Put in what becomes of the configurations that an event changes; whether complex events end.

    `number` int64 in: what the event is called.
    """
    accepted = False
    event = progress[EVENT]
    time = groups.now[lane, 0]
    place = groups.now[lane, 1]
    end = progress[HIT]
    limbs = kept.number.shape[1]
    for k in range(n):
        leaf = touched.leaf[k, 1]
        started = steps.started[touched.leaf[k, 0]]
        for o in range(steps.leaf[leaf], steps.leaf[leaf + 1]):
            label = steps.outcome[o, LABEL]
            starts = steps.outcome[o, FLAGS] & STARTS
            row = progress[FREE]
            base = -1
            if starts:
                kept.began[row, 0] = number
                kept.began[row, 1] = number
                kept.since[row] = time if rules.window == TIME_WINDOW else place
                for limb in range(limbs):
                    kept.number[row, limb] = 1 if limb == 0 else 0
                if kept.node.shape[0] > 0:
                    base = new_node(arena, progress, BOTTOM, -1, number, number)
            else:
                kept.began[row, 0] = touched.began[k, 0]
                kept.began[row, 1] = touched.began[k, 1]
                kept.since[row] = touched.since[k]
                for limb in range(limbs):
                    kept.number[row, limb] = touched.number[k, limb]
                if kept.node.shape[0] > 0:
                    base = touched.node[k]
            if started and rules.window != NO_WINDOW:
                now = time if rules.window == TIME_WINDOW else place
                if now - kept.since[row] > rules.size:
                    continue
            if steps.outcome[o, FLAGS] & ACCEPTS:
                if not accepted:
                    accepted = True
                    ends.event[end] = event
                    ends.lowest[end] = kept.began[row, 0]
                    ends.latest[end] = kept.began[row, 1]
                    for limb in range(limbs):
                        ends.number[end, limb] = kept.number[row, limb]
                else:
                    ends.lowest[end] = min(ends.lowest[end], kept.began[row, 0])
                    ends.latest[end] = max(ends.latest[end], kept.began[row, 1])
                    carry = 0
                    for limb in range(limbs):
                        total = ends.number[end, limb] + kept.number[row, limb] + carry
                        carry = 0
                        if total >= LIMB:
                            total -= LIMB
                            carry = 1
                        ends.number[end, limb] = total
                if kept.node.shape[0] > 0:
                    root = progress[ROOTS]
                    ends.root_label[root] = label
                    ends.root_node[root] = base
                    progress[ROOTS] = root + 1
            target = steps.outcome[o, TARGET]
            if target < 0:
                continue
            n_slots = steps.outcome[o, SLOTS]
            first = steps.outcome[o, SLOT_AT]
            for s in range(n_slots):
                source = steps.source[first + s]
                if source >= 0:
                    kept.slots[row, s] = touched.slots[k, source]
                elif source == -1:
                    kept.slots[row, s] = time
                elif source == -2:
                    kept.slots[row, s] = place
                else:
                    kept.bits[row, s] = events.values[-3 - source, event]
            if kept.node.shape[0] > 0:
                kept.node[row] = base
                if label > 0:
                    kept.node[row] = new_node(arena, progress, label, base, number, arena[base, LATEST])
            _put(kept, groups, lane, target, n_slots, row, arena, progress)
    return accepted


@jit
def follow(steps, events, stop, rules, kept, groups, touched, count_of, arena, ends, progress, halt):
    """Follow configurations over the next events; `DONE`, or what the host has to do.

    ============  ===================  ==================================================================
    `steps`       Steps                in
    `events`      TimedEvents          in
    `stop`        int64                in: one past the last event
    `rules`       Rules                in
    `kept`        Kept                 in/out
    `groups`      Groups               in/out
    `touched`     Touched              scratch
    `count_of`    int32 [shapes]       in: how many slots each shape has
    `arena`       int64 [nodes, 4]     in/out: nodes 0 .. progress[NODES] - 1; [0, 4]: none are made
    `ends`        FoundEnds            out: ends 0 .. progress[HIT] - 1, roots 0 .. progress[ROOTS] - 1
    `progress`    int64 [WORDS]        in/out: the next event in progress[EVENT], and so on
    `halt`        uint8 [1]            in: see `jit`
    ============  ===================  ==================================================================

    Nothing has been changed by an event for which the host has to do something first.
    """
    laned = events.lanes.shape[0] > 0
    listed = kept.node.shape[0] > 0
    while progress[EVENT] < stop:
        event = progress[EVENT]
        if halt[0] and event % OFTEN == 0:
            return DONE
        lane = 0
        if laned:
            lane = events.lanes[event]
        if groups.lane[lane, 1] != progress[EPOCH]:
            _forget(kept, groups, lane, count_of, progress)
            groups.lane[lane, 1] = progress[EPOCH]
        if progress[COUNT] + 2 > kept.shape.shape[0]:
            progress[NEEDED] = 2
            return CONFIGURATIONS_FULL
        if progress[COUNT] + 2 > groups.group.shape[0]:
            return GROUPS_FULL
        if events.times.shape[0] > 0:
            groups.now[lane, 0] = events.times[event]
        if events.places.shape[0] > 0:
            groups.now[lane, 1] = events.places[event]
        if progress[COUNT] > progress[SWEEP_AT]:
            return SWEEP
        if groups.lane[lane, 2] == 0:
            row = progress[FREE]
            kept.began[row, 0] = 0
            kept.began[row, 1] = -1
            if listed:
                kept.node[row] = -1
            for limb in range(kept.number.shape[1]):
                kept.number[row, limb] = 0
            _put(kept, groups, lane, 0, 0, row, arena, progress)
            groups.lane[lane, 2] = 1
        n = _gather(steps, events, kept, groups, touched, lane, events.symbols[event], progress)
        if n < 0:
            return -1 - n
        if n == 0:
            progress[EVENT] = event + 1
            continue
        outcomes = _takes(steps, kept, touched, n, progress)
        progress[NEEDED] = outcomes + 2
        if progress[COUNT] + outcomes + 2 > rules.most:
            return TOO_MANY
        if progress[COUNT] + outcomes + 2 > kept.shape.shape[0]:
            return CONFIGURATIONS_FULL
        if progress[COUNT] + outcomes + 2 > groups.group.shape[0]:
            return GROUPS_FULL
        if listed and progress[NODES] + 4 * outcomes + 4 > arena.shape[0]:
            return ARENA_FULL
        if listed and progress[ROOTS] + outcomes > ends.root_node.shape[0]:
            return ROOTS_FULL
        if kept.number.shape[1] > 0 and progress[TOP] >= LIMB // 2 // (progress[COUNT] + outcomes + 2):
            return LIMBS_FULL
        _take_out(kept, groups, touched, lane, n, count_of, progress)
        number = events.number[event]
        accepted = _carry_out(
            steps, events, kept, groups, touched, arena, ends, rules, lane, n, number, progress
        )
        if accepted:
            if listed:
                ends.root_first[progress[HIT] + 1] = progress[ROOTS]
            progress[HIT] += 1
            if rules.consumes == OWN_LANE:
                _forget(kept, groups, lane, count_of, progress)
            elif rules.consumes == ALL_LANES:
                progress[EPOCH] += 1
        progress[EVENT] = event + 1
    return DONE


@jit
def sweep(steps, events, rules, kept, groups, touched, count_of, arena, ends, progress, halt):
    """Drop the configurations that are late, and what others ask for no more; `DONE`, or as `follow`.

    As in `follow`; lanes from progress[LANE] on, as of the last event of each.
    """
    listed = kept.node.shape[0] > 0
    tick = steps.root.shape[1] - 1
    while progress[LANE] < groups.lane.shape[0]:
        lane = progress[LANE]
        if halt[0]:
            return DONE
        if groups.lane[lane, 1] != progress[EPOCH]:
            _forget(kept, groups, lane, count_of, progress)
            groups.lane[lane, 1] = progress[EPOCH]
        n = _gather(steps, events, kept, groups, touched, lane, tick, progress)
        if n < 0:
            return -1 - n
        outcomes = _takes(steps, kept, touched, n, progress)
        progress[NEEDED] = outcomes + 2
        if progress[COUNT] + outcomes + 2 > kept.shape.shape[0]:
            return CONFIGURATIONS_FULL
        if progress[COUNT] + outcomes + 2 > groups.group.shape[0]:
            return GROUPS_FULL
        if listed and progress[NODES] + 4 * outcomes + 4 > arena.shape[0]:
            return ARENA_FULL
        if kept.number.shape[1] > 0 and progress[TOP] >= LIMB // 2 // (progress[COUNT] + outcomes + 2):
            return LIMBS_FULL
        if n > 0:
            _take_out(kept, groups, touched, lane, n, count_of, progress)
            _carry_out(steps, events, kept, groups, touched, arena, ends, rules, lane, n, 0, progress)
        progress[LANE] = lane + 1
    return DONE
