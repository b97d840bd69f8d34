"""The arrays of configurations: making room for them, and reading them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from cer_gpu.automata.configurations.shapes import Shape
from cer_gpu.engine.machines.answers import Answers
from cer_gpu.engine.machines.ends import Ends
from cer_gpu.engine.machines.open_runs import FollowedEvents, PushResult
from cer_gpu.engine.read.events import EventArrays
from cer_gpu.enumeration.blocks import some_of
from cer_gpu.enumeration.selection import left_of
from cer_gpu.enumeration.unordered_structure import NodeAnswers
from cer_gpu.kernels.configurations import contract as words
from cer_gpu.kernels.configurations.contract import OldRows, StateEnds, StateRows, TimedEvents
from cer_gpu.kernels.configurations.cpu_nodes import kept_nodes, nodes_below
from cer_gpu.kernels.forest.contract import LABEL, LEFT, RIGHT, UNION, Roots
from cer_gpu.kernels.sorting.order import ascending
from cer_gpu.kernels.windows.contract import comparable
from cer_gpu.plan.compiled_query import WindowPlan
from cer_gpu.plan.general import GeneralMachine

ROOM = 1 << 8
"""Room for rows at first."""

FEW_SLOTS = 16
"""Up to this many slots, rows have as many as the shape with most."""

ROW = 104
"""About the bytes that a configuration takes besides its slots, its node and its number."""

NODE = 32
"""The bytes of a node."""

STORED = ("shape", "lane", "slots", "began", "since", "node", "number")
"""The fields of `StateRows` that are stored."""


NO_VALUES = np.empty((0, 0), np.int64), np.empty((0, 0), np.float64), np.empty((0, 0), np.uint8)
"""The values of `TimedEvents` if no values are compared."""

NO_ENDS = np.empty((0, 0), np.uint64)
"""The `ends` of `TimedEvents` if it is not known where complex events may end."""


def no_events(dtype: np.dtype) -> TimedEvents:
    """None, whose times and places would be of a type."""
    none = np.empty(0, dtype)
    numbers = np.empty(0, np.int64)
    symbols, lanes = numbers.astype(np.uint16), numbers.astype(np.int32)
    return TimedEvents(symbols, lanes, none, none, numbers, *NO_VALUES, NO_ENDS.astype(dtype))


def timed_events(
    machine: GeneralMachine,
    window: WindowPlan | None,
    following: FollowedEvents,
    values: tuple[np.ndarray, np.ndarray, np.ndarray],
) -> TimedEvents:
    """The new events as kernels read them, with what later events are compared with."""
    new = slice(following.first, following.stop)
    times = places = np.empty(0, np.uint64)
    measured = following.events.measured
    if machine.timed:
        if window is not None and window.kind == "time":
            times = measured[new]
        else:
            times = comparable(following.times[new], 0).keys
        if times.dtype.kind == "f":
            times = times + 0.0  # -0.0 is the same time as 0.0
        places = times[:0]
    if machine.placed:
        places = measured[new].astype(times.dtype, copy=False)
    lanes = following.events.lanes
    number = following.positions[new]
    if machine.lists:
        number = np.arange(new.start, new.stop) if following.numbers is None else following.numbers
    # As wide as they can be: the kernel takes longest of all to compile, and is compiled once so.
    symbols = following.events.symbols[new].astype(np.uint16, copy=False)
    return TimedEvents(
        symbols,
        lanes[new] if len(lanes) else lanes,
        times,
        places,
        number,
        *values,
        NO_ENDS.astype(times.dtype),
        following.bounds.quiet.from_event(new.start),
    )


def rows_with_prefix(kept: StateRows, started: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Some rows, and the rows of configurations in which nothing is marked yet, ascending."""
    every = np.flatnonzero(kept.shape >= 0)
    before = every[started[kept.shape[every]] == 0]
    found: np.ndarray = np.sort(np.concatenate([rows, before]))
    return found


def room_for(
    rows: int, dtype: np.dtype, n_slots: int, lists: bool, limbs: int, indexed: bool = False
) -> StateRows:
    """Room for `rows` configurations; it holds none.

    It has nodes if complex events are listed, and an index if some are looked up by a value.
    """
    buckets = 1 << max(rows - 1, 1).bit_length() + 1
    slots = np.zeros((rows, max(n_slots, 1)), dtype)
    return StateRows(
        shape=np.full(rows, -1, np.int32),
        lane=np.empty(rows, np.int32),
        next=np.empty(rows, np.int32),
        before=np.empty(rows, np.int32),
        chain=np.empty(rows, np.int32),
        bucket=np.full(buckets, -1, np.int32),
        peer=np.empty(rows if indexed else 0, np.int32),
        peered=np.empty(rows if indexed else 0, np.int32),
        above=np.empty(rows if indexed else 0, np.int32),
        heads=np.empty(buckets if indexed else 0, np.int32),
        slots=slots,
        bits=slots.view(np.int64),
        reals=slots.view(np.float64),
        began=np.empty((rows, 2), np.int64),
        since=np.zeros(rows, dtype),
        node=np.empty(rows if lists else 0, np.int64),
        number=np.empty((rows, limbs), np.int64),
    )


def room_for_groups(count: int) -> np.ndarray:
    """Room for the groups of configurations."""
    return np.empty((count, words.GROUP_COLUMNS), np.int32)


def room_for_state_ends(count: int, limbs: int) -> StateEnds:
    """Room for the ends of `count` events."""
    return StateEnds(
        *(np.empty(count, np.int64) for _ in range(3)),
        number=np.empty((count, limbs), np.int64),
        root_first=np.zeros(count + 1, np.int64),
        root_label=np.empty(ROOM, np.int32),
        root_node=np.empty(ROOM, np.int64),
    )


def room_for_touched(rows: int, kept: StateRows) -> OldRows:
    """Room for `rows` configurations that an event changes."""
    slots = np.empty((rows, kept.slots.shape[1]), kept.slots.dtype)
    return OldRows(
        np.empty((rows, 2), np.int64),
        slots,
        slots.view(np.int64),
        np.empty((rows, 2), np.int64),
        np.empty(rows, kept.since.dtype),
        np.empty(rows if len(kept.node) else 0, np.int64),
        np.empty((rows, kept.number.shape[1]), np.int64),
    )


def compacted(
    arena: np.ndarray,
    count: int,
    wanted: np.ndarray,
    place: np.ndarray,
    more: int,
    rows: Callable[[int, int, int], int],
) -> tuple[np.ndarray, np.ndarray, int]:
    """The nodes below some, with room for more.

    Parameters
    ----------
    arena : ndarray, shape (capacity, 4), int64
        Of which `count` nodes are in use.
    wanted : ndarray, shape (k,), int64
    place : ndarray, shape (events,), int64
        The new number of each event; empty: numbers stay.
    more : int
        Nodes that there has to be room for.
    rows : callable
        Given how many nodes there should be room for, how many at least, and the bytes of one: how many the
        memory allows.

    Returns
    -------
    arena : ndarray, shape (capacity, 4), int64
    place_of : ndarray, shape (count,), int64
        The new number of each node, -1 for one that is dropped.
    left : int
        How many nodes are in use.
    """
    place_of = np.empty(count, np.int64)
    left = int(nodes_below(arena, count, wanted, place_of))
    room = max(ROOM, 2 * left + more)
    kept = np.empty((rows(room, left + more, NODE) if count else room, 4), np.int64)
    kept_nodes(arena, count, place, place_of, kept)
    return kept, place_of, left


def copy_rows(old: StateRows, rows: np.ndarray, kept: StateRows) -> None:
    """Copy the configurations of some rows to the first rows of `kept`."""
    count = len(rows)
    for name in ("shape", "lane", "began", "since", "node", "number"):
        own = getattr(old, name)
        if own.size:
            getattr(kept, name)[:count] = own[rows]
    both = np.s_[: min(old.slots.shape[1], kept.slots.shape[1])]
    kept.slots[:count, both] = old.slots[rows, both]


def one_more_limb(number: np.ndarray) -> np.ndarray:
    """Numbers with one more digit, the highest."""
    return np.ascontiguousarray(np.hstack([number, np.zeros((len(number), 1), np.int64)]))


def numbers_of_limbs(limbs: np.ndarray) -> np.ndarray:
    """Numbers in digits to the base 2^62 as int64, or as Python integers if one is larger."""
    if not limbs[:, 1:].any():
        return limbs[:, 0].copy()
    found = np.zeros(len(limbs), object)
    for digit in limbs.T[::-1]:
        found = found * words.LIMB + digit.astype(object)
    return found


def no_answers(some: Ends) -> Answers:
    """Raise: a run that lists nothing was asked for its complex events."""
    raise TypeError("a run for hits or counts lists no matches")


def width_of(slots: int) -> int:
    """How many slots rows have if shapes have up to `slots`: some more if these are many."""
    return slots if slots <= FEW_SLOTS else 1 << (slots - 1).bit_length()


def most_open(n_slots: int, lists: bool, limbs: int, most: int, memory: int) -> int:
    """How many configurations may be open in `memory` bytes: an event copies those that it changes."""
    return min(most, memory // (2 * (ROW + 8 * (n_slots + lists + limbs))))


class ReachedEnds(NamedTuple):
    """What ends in a push, in the order of the stream.

    Attributes
    ----------
    event, lowest, latest : ndarray, shape (ends,), int64
        The events, and the least and the greatest start of what ends there.
    number : ndarray, shape (ends,), int64 or object, or None
        How many complex events end at each; None if they are not counted.
    arena : ndarray, shape (nodes, 4), int64
    roots : Roots
        Of the ends, if the machine `lists`.
    """

    event: np.ndarray
    lowest: np.ndarray
    latest: np.ndarray
    number: np.ndarray | None
    arena: np.ndarray
    roots: Roots


def in_one(parts: Sequence[ReachedEnds]) -> ReachedEnds:
    """What ends in any of several parts of a push, which have no event in common."""
    if len(parts) == 1:
        return parts[0]
    event = np.concatenate([part.event for part in parts])
    order = ascending(event)
    lowest, latest = (np.concatenate([part[each] for part in parts])[order] for each in (1, 2))
    numbers = [part.number for part in parts if part.number is not None]
    number = np.concatenate(numbers)[order] if numbers else None
    sizes = [len(part.arena) for part in parts]
    arena, before, roots = np.empty((sum(sizes), 4), np.int64), 0, []
    for part, size in zip(parts, sizes, strict=True):
        own = arena[before : before + size]
        own[:] = part.arena
        own[own[:, LEFT] >= 0, LEFT] += before
        own[own[:, LABEL] == UNION, RIGHT] += before
        roots.append(part.roots.node + before)
        before += size
    counts = np.concatenate([np.diff(part.roots.first) for part in parts])
    label = np.concatenate([part.roots.label for part in parts])
    whole = Roots(np.append(0, np.cumsum(counts)), label, np.concatenate(roots))
    return ReachedEnds(event[order], lowest, latest, number, arena, some_of(whole, order))


def pushed_of(machine: GeneralMachine, reached: ReachedEnds, seen: EventArrays) -> PushResult:
    """What ends in a push, from all events of the stream by then."""
    if not machine.lists:
        return PushResult(
            seen, Ends(reached.event, reached.latest, reached.lowest), no_answers, reached.number
        )
    ends = Ends(reached.event, seen.positions[reached.latest], reached.lowest)
    return pushed_lists(machine, seen, ends, reached.arena, reached.roots)


def pushed_lists(
    machine: GeneralMachine, seen: EventArrays, ends: Ends, arena: np.ndarray, roots: Roots
) -> PushResult:
    """What ends in a push of a machine that `lists`.

    Parameters
    ----------
    machine : GeneralMachine
    seen : EventArrays
        All events of the stream by then.
    ends : Ends
        In the order of their events.
    arena : ndarray, shape (capacity, 4), int64
    roots : Roots
        Of the ends.
    """
    chosen = machine.chosen

    def left(some: np.ndarray) -> tuple[np.ndarray, Roots]:
        own = some_of(roots, some)
        return (arena, own) if chosen is None else left_of(arena, own, chosen.strategy, chosen.shown)

    def answers(some: Ends) -> Answers:
        marks = NodeAnswers(*left(np.searchsorted(ends.event, some.event)), some.event, some.lowest)
        if not machine.label_atoms.size:
            return marks
        from cer_gpu.engine.machines.tuple_marks import MarkedTuples  # few queries need it

        return MarkedTuples(marks, machine.label_atoms)

    number = None
    if machine.product == "counts":
        number = np.diff(left(np.arange(len(ends)))[1].first)
    return PushResult(seen, ends, answers, number)


def labels_at(
    kept: StateRows, shapes: Sequence[Shape], columns: frozenset[int]
) -> Iterator[tuple[np.ndarray, int]]:
    """Where values of some columns are kept: yields rows, and the slot."""
    rows = np.flatnonzero(kept.shape >= 0)
    for shape in np.unique(kept.shape[rows]).tolist():
        own = rows[kept.shape[rows] == shape]
        for slot, measure in enumerate(shapes[shape].measures):
            if measure - 2 in columns:
                yield own, slot


def relabel(
    kept: StateRows, shapes: Sequence[Shape], moved: Sequence[tuple[frozenset[int], np.ndarray, np.ndarray]]
) -> None:
    """Replace labels: for some columns each, the old labels, ascending, and the new ones."""
    for columns, old, new in moved:
        for rows, slot in labels_at(kept, shapes, columns):
            kept.bits[rows, slot] = new[np.searchsorted(old, kept.bits[rows, slot])]
