"""Ordered enumeration: the complex events of one end, one by one in canonical order, however many they are.

The canonical order is ascending (start, marked events, labels). A table made once, backwards over the
event that the end admits, says for each event k and state q what a run that is in q after k can still do:

- `ends`: reach the end at j without another mark,
- `next`: the least event that it can mark and still reach the end, going unmarked until then, and
  `at`: the state in which it arrives there.

The walk chooses starts in ascending order, then the marked events one after another, always the least next
one. It follows a set of states, those that runs with these marked events can be in, because runs may differ
in labels alone. When the marked events are complete, the labels are listed in ascending order along the
transitions between these sets, after states that lead nowhere are cut off. From a state a label leads to one
state, so no complex event is listed twice. Every choice leads to a complex event: after a preparation linear
in the number of admitted events, the time between two complex events is linear in their sizes.
"""

import numpy as np

from ..jit import OFTEN, jit
from .contract import (
    ADVANCE,
    BLOCK_FULL,
    DEPTH,
    DONE,
    EDGES,
    EMIT,
    ENTER,
    MARKS,
    NEXT_START,
    PHASE,
    STACK_FULL,
    START,
    STATES,
    WRITTEN,
)


@jit
def prepare(tables, symbols, lowest, j, ahead, halt):
    """Fill the table of an end, `ahead`.

    `tables` TransitionTables, `symbols` uint8 or uint16 [events], `lowest` and `j` int64: in; `ahead` Ahead:
    out; `halt` uint8 [1] in: see `jit`.
    """
    for k in range(j - 1, lowest - 2, -1):
        if k % OFTEN == 0 and halt[0]:
            return
        row = k - lowest + 1
        event = k + 1
        for q in range(ahead.next.shape[1]):
            ahead.next[row, q] = -1
            ahead.at[row, q] = -1
            ahead.ends[row, q] = 0
        symbol = symbols[event]
        for t in range(tables.first[symbol], tables.first[symbol + 1]):
            q = tables.source[t]
            r = tables.target[t]
            if tables.label[t] == 0:
                if event == j:
                    ahead.ends[row, q] = tables.accepting[t]
                elif r >= 0:
                    ahead.ends[row, q] = ahead.ends[row + 1, r]
                    ahead.next[row, q] = ahead.next[row + 1, r]
                    ahead.at[row, q] = ahead.at[row + 1, r]
            elif _useful(tables, ahead, t, lowest, event, j):
                # labels ascend, so a mark here is seen after the unmarked transition, and precedes it
                ahead.next[row, q] = event - lowest
                ahead.at[row, q] = q


@jit
def _useful(tables, ahead, t, lowest, event, j):
    """Whether a transition at an event can still reach the end."""
    if event == j:
        return tables.accepting[t] != 0
    r = tables.target[t]
    row = event - lowest + 1
    return r >= 0 and (ahead.ends[row, r] != 0 or ahead.next[row, r] >= 0)


@jit
def _finishes(ahead, choices, frame, s, lowest, j):
    """Whether the runs in state number s of a frame may end without another mark."""
    if frame > 0 and choices.event[frame] == j:
        return True
    row = choices.event[frame] - lowest + (1 if frame > 0 else 0)
    return ahead.ends[row, choices.state[s]] != 0


@jit
def _prune(ahead, choices, progress, lowest, j):
    """Mark the states through which the labels can pass; gives whether there are any."""
    depth = progress[DEPTH]
    low = choices.state_first[depth]
    found = False
    for s in range(low, progress[STATES]):
        choices.live[s] = _finishes(ahead, choices, depth, s, lowest, j)
        found = found or choices.live[s] != 0
    if found:
        for s in range(low):
            choices.live[s] = 0
        for edge in range(progress[EDGES] - 1, -1, -1):
            if choices.live[choices.target[edge]]:
                choices.live[choices.source[edge]] = 1
    return found


@jit
def _take(choices, frame, edge, stop):
    """The first live edge from `edge` on that leads into a frame from where the labels are; -1 if none."""
    source = choices.target[choices.taken[frame - 1]] if frame > 1 else choices.state_first[0]
    while edge < stop:
        if choices.source[edge] == source and choices.live[choices.target[edge]]:
            return edge
        edge += 1
    return -1


@jit
def _next_labels(choices, progress, fresh):
    """Go to the first (`fresh`) or the next labels for the marked events; gives whether there are any."""
    depth = progress[DEPTH]
    frame = depth
    edge = np.int64(-1)
    if fresh:
        frame = 0
    while not fresh and frame > 0:
        stop = choices.edge_first[frame + 1] if frame < depth else progress[EDGES]
        edge = _take(choices, frame, choices.taken[frame] + 1, stop)
        if edge >= 0:
            choices.taken[frame] = edge
            break
        frame -= 1
    if not fresh and frame == 0:
        return False
    for below in range(frame + 1, depth + 1):
        stop = choices.edge_first[below + 1] if below < depth else progress[EDGES]
        choices.taken[below] = _take(choices, below, choices.edge_first[below], stop)
    return True


@jit
def _push(tables, symbols, ahead, choices, progress, lowest, j):
    """Choose the least next event in the top frame: `DONE`, `STACK_FULL`, or -1 where there is none."""
    depth = progress[DEPTH]
    low = choices.state_first[depth]
    high = progress[STATES]
    least = np.int64(-1)
    width = 0
    for s in range(low, high):
        if choices.next[s] >= 0 and (least < 0 or choices.next[s] < least):
            least = choices.next[s]
    if least < 0:
        return -1
    event = least + lowest
    symbol = symbols[event]
    width = (high - low) * (tables.first[symbol + 1] - tables.first[symbol])
    if (
        depth + 1 == choices.event.shape[0]
        or high + width + 1 > choices.state.shape[0]
        or progress[EDGES] + width > choices.source.shape[0]
    ):
        return STACK_FULL
    n_states = high
    n_edges = progress[EDGES]
    row = least + 1
    choices.event[depth + 1] = event
    choices.state_first[depth + 1] = n_states
    choices.edge_first[depth + 1] = n_edges
    for s in range(low, high):
        if choices.next[s] != least:
            continue
        at = choices.at[s]
        choices.next[s] = -1
        for t in range(tables.first[symbol], tables.first[symbol + 1]):
            if tables.source[t] != at:
                continue
            reached = tables.target[t]
            if tables.label[t] == 0:
                # the sibling choice: this event stays unmarked
                if event < j and reached >= 0:
                    choices.next[s] = ahead.next[row, reached]
                    choices.at[s] = ahead.at[row, reached]
                continue
            if not _useful(tables, ahead, t, lowest, event, j):
                continue
            if event == j:
                reached = -1
            target = high
            while target < n_states and choices.state[target] != reached:
                target += 1
            if target == n_states:
                choices.state[target] = reached
                choices.next[target] = -1 if event == j else ahead.next[row, reached]
                choices.at[target] = -1 if event == j else ahead.at[row, reached]
                n_states += 1
            choices.source[n_edges] = s
            choices.target[n_edges] = target
            choices.label[n_edges] = tables.label[t]
            n_edges += 1
    progress[DEPTH] = depth + 1
    progress[STATES] = n_states
    progress[EDGES] = n_edges
    return DONE


@jit
def _begin(ahead, choices, progress, lowest):
    """Frame 0: a run that starts at progress[START]."""
    row = progress[START] - lowest
    choices.event[0] = progress[START]
    choices.state_first[0] = 0
    choices.edge_first[0] = 0
    choices.state[0] = 0
    choices.next[0] = ahead.next[row, 0]
    choices.at[0] = ahead.at[row, 0]
    progress[DEPTH] = 0
    progress[STATES] = 1
    progress[EDGES] = 0


@jit
def walk(tables, symbols, admissible, lowest, j, ahead, choices, progress, out, halt):
    """Write the next complex events that end at j: `DONE` when there are no more, or a status as below.

    ============  ==========================  ============================================================
    `tables`      TransitionTables            in
    `symbols`     uint8 or uint16 [events]    in
    `admissible`  uint8 [j - lowest + 1]      in: whether a run may start at each event from `lowest` on;
                                              empty: everywhere
    `lowest`      int64                       in
    `j`           int64                       in: the end
    `ahead`       Ahead                       in: from `prepare`
    `choices`     Choices                     scratch, kept between the calls for one end
    `progress`    int64 [7]                   in/out: [lowest, 0, ...] at first; out: words `WRITTEN` and
                                              `MARKS`, the complex events and marks written by this call
    `out`         Listed                      out
    `halt`        uint8 [1]                   in: see `jit`
    ============  ==========================  ============================================================

    `BLOCK_FULL`: call again with an empty block (with room for j - lowest + 1 marks at least).
    `STACK_FULL`: enlarge `choices`, keep what is in it, and call again.
    """
    out_start, out_first, out_event, out_label = out
    progress[WRITTEN] = 0
    progress[MARKS] = 0
    out_first[0] = 0
    while not halt[0]:
        phase = progress[PHASE]
        if phase == NEXT_START:
            start = progress[START]
            if start > j:
                return DONE
            row = start - lowest
            if (admissible.shape[0] == 0 or admissible[row]) and (
                ahead.ends[row, 0] or ahead.next[row, 0] >= 0
            ):
                _begin(ahead, choices, progress, lowest)
                progress[PHASE] = ENTER
            else:
                progress[START] = start + 1
        elif phase == ENTER:
            if _prune(ahead, choices, progress, lowest, j):
                _next_labels(choices, progress, True)
                progress[PHASE] = EMIT
            else:
                progress[PHASE] = ADVANCE
        elif phase == EMIT:
            depth = progress[DEPTH]
            n = progress[WRITTEN]
            n_marks = progress[MARKS]
            if n == out_start.shape[0] or n_marks + depth > out_event.shape[0]:
                return BLOCK_FULL
            out_start[n] = progress[START]
            for frame in range(1, depth + 1):
                out_event[n_marks] = choices.event[frame]
                out_label[n_marks] = choices.label[choices.taken[frame]]
                n_marks += 1
            out_first[n + 1] = n_marks
            progress[WRITTEN] = n + 1
            progress[MARKS] = n_marks
            if not _next_labels(choices, progress, False):
                progress[PHASE] = ADVANCE
        else:
            status = _push(tables, symbols, ahead, choices, progress, lowest, j)
            if status == STACK_FULL:
                return STACK_FULL
            if status == DONE:
                progress[PHASE] = ENTER
            else:
                depth = progress[DEPTH]
                if depth == 0:
                    progress[START] += 1
                    progress[PHASE] = NEXT_START
                else:
                    progress[STATES] = choices.state_first[depth]
                    progress[EDGES] = choices.edge_first[depth]
                    progress[DEPTH] = depth - 1
    return DONE
