"""Following configurations: each event changes those configurations of its lane that its symbol concerns."""

from ..forest.contract import BOTTOM, LATEST
from ..jit import OFTEN, inline, jit
from ..streams.contract import NOTHING, OWN_LANE
from ..suppress.cpu import is_reported
from .contract import (
    ACCEPTS,
    AHEAD_AT,
    ARENA_FULL,
    CONFIGURATIONS_FULL,
    COUNT,
    DONE,
    EPOCH,
    EVENT,
    FLAGS,
    FREE,
    GROUPS_FULL,
    HIT,
    HOPELESS,
    LABEL,
    LANE,
    LIMB,
    LIMBS_FULL,
    LINKS,
    LOOK_AHEAD,
    NEEDED,
    NO_WINDOW,
    NODES,
    REMAINS,
    ROOTS,
    ROOTS_FULL,
    SLOT_AT,
    SLOTS,
    STARTS,
    SWEEP,
    SWEEP_AT,
    TARGET,
    TIME_WINDOW,
    TOO_MANY,
    TOP,
    WORK,
)
from .cpu_groups import forget, limbs_of, put, take_out
from .cpu_nodes import new_node
from .cpu_programs import work_out
from .cpu_steps import columns_of, gather, hopeless, late, remains, takes


@jit
def rows_out(steps, rules, events, kept, groups, touched, lane, symbol, n, progress):
    """Copy the configurations that an event changes, and take out those of them that do not remain."""
    removed = 0
    for k in range(n):
        row = touched.leaf[k, 0]
        shape = kept.shape[row]
        n_slots = steps.slots[shape]
        for s in range(n_slots):
            touched.slots[k, s] = kept.slots[row, s]
        touched.began[k, 0] = kept.began[row, 0]
        touched.began[k, 1] = kept.began[row, 1]
        touched.since[k] = kept.since[row]
        if kept.node.shape[0] > 0:
            touched.node[k] = kept.node[row]
        for limb in range(limbs_of(kept)):
            touched.number[k, limb] = kept.number[row, limb]
        touched.leaf[k, 0] = shape
        stays = remains(steps, touched.leaf[k, 1]) and not late(steps, rules, kept, groups, lane, row)
        if stays and hopeless(steps, rules, events, progress[EVENT], shape, kept.since[row]):
            stays = False
            progress[HOPELESS] += 1
        if not stays:
            take_out(kept, groups, row, n_slots, steps.indexed, progress)
            removed += 1
    # Groups that are left without configurations are dropped.
    before = -1
    at = groups.lane[lane, 0]
    while at >= 0 and removed > 0:
        after = groups.group[at, 2]
        if groups.group[at, 1] < 0:
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
def carried_out(steps, programs, events, kept, groups, touched, arena, ends, rules, lane, n, progress):
    """Put in the outcomes of the configurations that an event changes; gives whether complex events end."""
    accepted = False
    event = progress[EVENT]
    number = 0  # where time has passed, and nothing is read
    if event < events.number.shape[0]:
        number = events.number[event]
    time = groups.now[lane, 0]
    place = groups.now[lane, 1]
    end = progress[HIT]
    limbs = limbs_of(kept)
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
                kept.since[row] = time if rules.spans == TIME_WINDOW else place
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
            if target < 0 or steps.outcome[o, FLAGS] & REMAINS:
                continue
            if hopeless(steps, rules, events, event, target, kept.since[row]):
                progress[HOPELESS] += 1
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
                elif source > -3 - columns_of(events):
                    kept.bits[row, s] = events.values[-3 - source, event]
                elif programs is not None:
                    program = -3 - columns_of(events) - source
                    work_out(programs, program, touched.bits, k, events.values, event)
                    kept.bits[row, s] = programs.stack[0]
            if kept.node.shape[0] > 0:
                kept.node[row] = base
                if label > 0:
                    kept.node[row] = new_node(arena, progress, label, base, number, arena[base, LATEST])
            put(kept, groups, lane, target, n_slots, row, steps.indexed, arena, progress)
    return accepted


@inline
def consumes_at(events, event, lane):
    """Whether an end is reported, which then consumes."""
    return is_reported(events.quiet, event, lane)


@jit
def follow(steps, programs, events, stop, rules, kept, groups, touched, arena, ends, progress, halt):
    """Follow configurations over the next events: `DONE`, or what the host has to do.

    ============  ===================  ==================================================================
    `steps`       Steps                in
    `programs`    Programs or None     in: None where there are none
    `events`      TimedEvents          in
    `stop`        int64                in: one past the last event
    `rules`       Rules                in
    `kept`        Kept                 in/out
    `groups`      Groups               in/out
    `touched`     Touched              scratch
    `arena`       int64 [nodes, 4]     in/out: nodes 0 .. progress[NODES] - 1; [0, 4]: no nodes are made
    `ends`        FoundEnds            out: ends 0 .. progress[HIT] - 1, roots 0 .. progress[ROOTS] - 1
    `progress`    int64 [WORDS]        in/out: the next event in progress[EVENT], and so on
    `halt`        uint8 [1]            in: see `jit`
    ============  ===================  ==================================================================

    Where the host has to do something first, the event in progress[EVENT] has changed nothing yet.
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
            forget(kept, groups, lane, steps.slots, steps.indexed, progress)
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
        if progress[WORK] > progress[AHEAD_AT]:
            return LOOK_AHEAD
        if groups.lane[lane, 2] == 0:
            row = progress[FREE]
            kept.began[row, 0] = 0
            kept.began[row, 1] = -1
            if listed:
                kept.node[row] = -1
            for limb in range(limbs_of(kept)):
                kept.number[row, limb] = 0
            put(kept, groups, lane, 0, 0, row, steps.indexed, arena, progress)
            groups.lane[lane, 2] = 1
        symbol = events.symbols[event]
        n = gather(steps, programs, events, rules, kept, groups, touched, lane, symbol, progress)
        if n < 0:
            return -1 - n
        if n == 0:
            progress[EVENT] = event + 1
            continue
        outcomes = takes(steps, kept, touched, n, progress)
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
        if limbs_of(kept) > 0 and progress[TOP] >= LIMB // 2 // (progress[COUNT] + outcomes + 2):
            return LIMBS_FULL
        progress[WORK] += n
        rows_out(steps, rules, events, kept, groups, touched, lane, symbol, n, progress)
        accepted = carried_out(
            steps, programs, events, kept, groups, touched, arena, ends, rules, lane, n, progress
        )
        if accepted:
            if listed:
                ends.root_first[progress[HIT] + 1] = progress[ROOTS]
            progress[HIT] += 1
            if rules.consumes != NOTHING and consumes_at(events, event, lane):
                if rules.consumes == OWN_LANE:
                    forget(kept, groups, lane, steps.slots, steps.indexed, progress)
                else:
                    progress[EPOCH] += 1
        progress[EVENT] = event + 1
    return DONE


@jit
def sweep(steps, programs, events, rules, kept, groups, touched, arena, ends, progress, halt):
    """Drop configurations that are late or have no complex event in time: `DONE`, or a status of `follow`.

    The parameters are those of `follow`; lanes from progress[LANE] on, as of the last event of each.
    """
    listed = kept.node.shape[0] > 0
    tick = steps.root.shape[1] - 1
    while progress[LANE] < groups.lane.shape[0]:
        lane = progress[LANE]
        if halt[0]:
            return DONE
        if groups.lane[lane, 1] != progress[EPOCH]:
            forget(kept, groups, lane, steps.slots, steps.indexed, progress)
            groups.lane[lane, 1] = progress[EPOCH]
        n = gather(steps, programs, events, rules, kept, groups, touched, lane, tick, progress)
        if n < 0:
            return -1 - n
        outcomes = takes(steps, kept, touched, n, progress)
        progress[NEEDED] = outcomes + 2
        if progress[COUNT] + outcomes + 2 > kept.shape.shape[0]:
            return CONFIGURATIONS_FULL
        if progress[COUNT] + outcomes + 2 > groups.group.shape[0]:
            return GROUPS_FULL
        if listed and progress[NODES] + 4 * outcomes + 4 > arena.shape[0]:
            return ARENA_FULL
        if limbs_of(kept) > 0 and progress[TOP] >= LIMB // 2 // (progress[COUNT] + outcomes + 2):
            return LIMBS_FULL
        if n > 0:
            rows_out(steps, rules, events, kept, groups, touched, lane, tick, n, progress)
            carried_out(steps, programs, events, kept, groups, touched, arena, ends, rules, lane, n, progress)
        progress[LANE] = lane + 1
    return DONE
