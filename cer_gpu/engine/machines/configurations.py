"""The configurations of a query on a stream, kept between events, for `cer_gpu.engine.machines.general`."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from cer_gpu.automata.configurations.formulas import stepped
from cer_gpu.automata.configurations.serialization import shape_of, written
from cer_gpu.automata.configurations.shapes import Shapes
from cer_gpu.automata.configurations.value_words import HeldWords
from cer_gpu.engine.machines.configuration_arrays import (
    FEW_SLOTS,
    NO_VALUES,
    ROOM,
    ROW,
    STORED,
    ReachedEnds,
    compacted,
    copy_rows,
    labels_at,
    most_open,
    no_events,
    numbers_of_limbs,
    one_more_limb,
    pushed_of,
    relabel,
    room_for,
    room_for_groups,
    room_for_state_ends,
    room_for_touched,
    rows_with_prefix,
    timed_events,
    width_of,
)
from cer_gpu.engine.machines.host_slots import slots_asked
from cer_gpu.engine.machines.lookahead import NEVER, Lookahead
from cer_gpu.engine.machines.open_runs import CONSUMES, FollowedEvents, PushResult, Renumbering
from cer_gpu.engine.machines.register_serialization import read_back, written_down
from cer_gpu.engine.machines.step_tables import GrowingSteps
from cer_gpu.engine.memory import NO_BOUND
from cer_gpu.engine.read.events import EventArrays
from cer_gpu.engine.read.held_values import HeldValues
from cer_gpu.engine.read.lanes import HeldLanes, grown
from cer_gpu.errors import DataError, LimitError
from cer_gpu.kernels.configurations import contract as words
from cer_gpu.kernels.configurations import cpu as kernels
from cer_gpu.kernels.configurations.contract import Groups, OldRows, Rules, StateEnds, StateRows, TimedEvents
from cer_gpu.kernels.configurations.cpu_groups import arrange
from cer_gpu.kernels.forest.contract import Roots
from cer_gpu.kernels.streams.contract import LaneBounds, StreamEvents
from cer_gpu.kernels.windows.contract import comparable
from cer_gpu.plan.compiled_query import CompiledQuery
from cer_gpu.plan.general import GeneralMachine

CONFIGURATIONS = 1 << 22
"""The most configurations that may be open at once."""

MEMORY = 1 << 30
"""The most bytes that they may take: if they keep many values, fewer may be open."""

LITTLE = 1 << 20
"""They may take so many bytes however little memory is allowed."""

LEAST = 1 << 12
"""From this many configurations on, late ones are searched and dropped."""

UNSWEPT = 1 << 62
"""More configurations than there are: where none can be late, none is searched."""


class ConfigurationRuns(HeldLanes):
    """The configurations of a query: `OpenRuns` and `LaneState`. Lanes that have some stay in memory.

    Parameters
    ----------
    query : CompiledQuery

    Attributes
    ----------
    count : int
        Events that the stream keeps.
    others : callable
        How many configurations are open elsewhere, of the same budget.
    """

    _kept: StateRows
    _now: TimedEvents
    _groups: Groups
    _touched: OldRows
    _rules: Rules

    def __init__(self, query: CompiledQuery) -> None:
        machine = query.machine
        assert isinstance(machine, GeneralMachine)
        self._machine = machine
        self._window = query.window
        self._consumes = CONSUMES[query.consume]
        self._expires = machine.timed or machine.placed or query.consume != "NONE"
        self._automaton = stepped(machine.formula, machine.symbols, machine.predicates)
        held = machine.held or HeldWords((), (None,) * len(self._automaton.comparisons))
        apart = machine.product == "hits" and bool(self._automaton.comparisons)
        self._shapes = Shapes(self._automaton, held, apart)
        self._values = HeldValues(machine.columns, held)
        self._lists = machine.lists
        self._limbs = int(machine.product == "counts" and not machine.lists)
        self._steps: GrowingSteps | None = None
        self.count = 0
        self.others: Callable[[], int] = int
        self._now = no_events(np.dtype(np.uint64))
        self._ahead: Lookahead | None = None
        self._learned = 0, 0, 0
        self._headroom = NO_BOUND
        self._progress = np.zeros(words.WORDS, np.int64)
        self._arena = np.empty((ROOM if self._lists else 0, 4), np.int64)

    # ---------------------------------------------------------------------------------------- pushes

    def push(self, following: FollowedEvents) -> Callable[[EventArrays], PushResult] | None:
        """Follow the configurations over further events; as `OpenRuns.push`."""
        reached = self.reached(following)
        return None if reached is None else partial(pushed_of, self._machine, reached)

    def reached(self, following: FollowedEvents) -> ReachedEnds | None:
        """What ends at further events; None if nothing does."""
        first, self.count, self._headroom = following.first, following.count, following.headroom
        events = self._now = timed_events(self._machine, self._window, following, self._read(following))
        if self._steps is None:
            self._begin(events.times if self._machine.timed else events.places)
        self._lanes_for(len(following.bounds.low))
        progress, ends = self._progress, room_for_state_ends(following.stop - first, self._limbs)
        self._rules = self._rules._replace(most=self._most(self._kept.slots.shape[1]))
        progress[[words.EVENT, words.HIT, words.ROOTS]] = 0
        if self._ahead is not None:
            self._ahead.begin(progress)
        ends = self._followed(following, ends)
        found, used = int(progress[words.HIT]), int(progress[words.ROOTS])
        if not found:
            return None
        event = ends.event[:found]
        event = event + first if following.numbers is None else following.numbers[event]
        number = numbers_of_limbs(ends.number[:found]) if self._limbs else None
        roots = Roots(ends.root_first[: found + 1], ends.root_label[:used], ends.root_node[:used])
        arena = self._arena[: progress[words.NODES]]
        return ReachedEnds(event, ends.lowest[:found], ends.latest[:found], number, arena, roots)

    def _followed(self, following: FollowedEvents, ends: StateEnds) -> StateEnds:
        """Follow the configurations over all events of a push."""
        for stop in following.stops():
            ends = self._follow(stop - following.first, ends)
        return ends

    def _read(self, following: FollowedEvents) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """What later events are compared with, as `TimedEvents` has it."""
        if not self._machine.columns:
            return NO_VALUES
        table = following.rows
        assert table is not None
        if self._values.crowded():
            self._values.keep(self._labels_held)
        values, moved = self._values.read(table)
        if moved and self._steps is not None:
            relabel(self._kept, self._shapes.all, moved)
            self._regroup(np.flatnonzero(self._kept.shape >= 0), len(self._kept.shape))
            self._steps.texts = self._values.text_labels()
            self._steps.note_programs(anew=True)
        if self._steps is not None:
            self._steps.note_texts(self._values.held_texts())
        return values

    def _labels_held(self, columns: frozenset[int]) -> np.ndarray:
        """The labels that are kept of some columns."""
        if self._steps is None:
            return np.empty(0, np.int64)
        found = [
            self._kept.bits[rows, slot] for rows, slot in labels_at(self._kept, self._shapes.all, columns)
        ]
        return np.concatenate([np.empty(0, np.int64), *found])

    def _follow(self, stop: int, ends: StateEnds) -> StateEnds:
        """Follow the configurations up to an event."""
        assert self._steps is not None
        progress = self._progress
        while True:
            status = kernels.follow(
                self._steps.tables, self._steps.programs, self._now, stop, self._rules, self._kept,
                self._groups, self._touched, self._arena, ends, progress,
            )  # fmt: skip
            if status == words.DONE:
                return ends
            if status == words.SWEEP:
                ends = self._sweep(ends)
            elif status == words.LOOK_AHEAD:
                assert self._ahead is not None
                self._now = self._ahead.looked(self._now, progress, len(self._groups.lane), self._steps)
            else:
                symbol = int(self._now.symbols[progress[words.EVENT]])
                ends = self._made_ready(int(status), symbol, ends)

    def _sweep(self, ends: StateEnds) -> StateEnds:
        """Drop the configurations that are late."""
        assert self._steps is not None
        progress, events = self._progress, self._now._replace(ends=self._now.ends[:0])
        progress[words.LANE] = 0
        while True:
            status = kernels.sweep(
                self._steps.tables, self._steps.programs, events, self._rules, self._kept, self._groups,
                self._touched, self._arena, ends, progress,
            )  # fmt: skip
            if status == words.DONE:
                break
            ends = self._made_ready(int(status), self._steps.tables.root.shape[1] - 1, ends)
        progress[words.SWEEP_AT] = max(LEAST, 2 * int(progress[words.COUNT])) if self._expires else UNSWEPT
        return ends

    def _made_ready(self, status: int, symbol: int, ends: StateEnds) -> StateEnds:
        """Do what a kernel needs before it can go on."""
        progress, needed = self._progress, int(self._progress[words.NEEDED])
        if status == words.STEP_MISSING:
            self._learn(int(progress[words.MISSING]), symbol)
        elif status in (words.CONFIGURATIONS_FULL, words.GROUPS_FULL):
            rows, room = np.flatnonzero(self._kept.shape >= 0), len(self._kept.shape)
            # To arrange them again takes long, so room is made for both at once.
            if len(rows) + needed + 2 > len(self._groups.group):
                self._groups = self._groups._replace(group=room_for_groups(2 * (len(rows) + needed)))
            self._regroup(rows, room if status == words.GROUPS_FULL else 2 * room + needed)
        elif status == words.ARENA_FULL:
            ends = self._collect(ends, 4 * needed)
        elif status == words.ROOTS_FULL:
            more = len(ends.root_node) + needed
            ends = ends._replace(
                root_label=np.append(ends.root_label, np.empty(more, np.int32)),
                root_node=np.append(ends.root_node, np.empty(more, np.int64)),
            )
        elif status == words.LIMBS_FULL:
            ends = self._more_limbs(ends)
        elif status == words.TOO_LARGE:
            raise self._too_large(int(progress[words.MISSING]))
        elif status == words.TOUCHED_FULL:
            self._touched = room_for_touched(2 * len(self._touched.leaf), self._kept)
        elif (most := self._most(self._kept.slots.shape[1])) > self._rules.most:
            self._rules = self._rules._replace(most=most)  # others have fewer by now
        else:
            raise self._too_many()
        return ends

    def _too_many(self) -> LimitError:
        assert self._steps is not None
        slots = self._steps.most_slots
        keeping = f", which keep up to {slots:,} times and values each" if slots > FEW_SLOTS else ""
        most = self._most_in_all(self._kept.slots.shape[1])
        what = f"more than {most:,} partial matches are open at once{keeping}"
        return LimitError(self._shapes.about(what))

    def _learn(self, row: int, symbol: int) -> None:
        """Find out what an event does to a configuration."""
        steps, kept = self._steps, self._kept
        assert steps is not None
        learned = self.count, int(self._progress[words.EVENT]), symbol
        crowded, self._learned = steps.crowded() and learned != self._learned, learned
        if crowded:
            self._forget()
            return
        at = row, int(self._progress[words.EVENT]), symbol
        told = slots_asked(steps, kept, self._groups, self._now, at, self._too_large)
        indexed = steps.indexed
        steps.learn(int(kept.shape[row]), symbol, told)
        if steps.most_slots > kept.slots.shape[1] or steps.indexed > indexed:
            self._regroup(np.flatnonzero(kept.shape >= 0), len(kept.shape))

    def _forget(self) -> None:
        """Forget what events do to shapes, and shapes that no configuration has: both take much memory."""
        kept, rows = self._kept, np.flatnonzero(self._kept.shape >= 0)
        used = np.setdiff1d(kept.shape[rows], [0])
        self._shapes = self._shapes.kept(used.tolist())
        self._steps = self._no_steps(kept.slots.dtype)
        if self._ahead is not None:
            self._ahead.note_in(self._steps)
        kept.shape[rows] = np.searchsorted(used, kept.shape[rows]) + (kept.shape[rows] > 0)
        self._regroup(rows, len(kept.shape))

    def _too_large(self, instruction: int) -> DataError:
        """The error of a whole number that does not fit 64 bits."""
        assert self._steps is not None
        about = self._shapes.registers.about(*self._steps.program_of(instruction))
        return DataError(f"integer overflow: {about} does not fit 64 bits; cast the column to float64")

    # ---------------------------------------------------------------------------------- what is kept

    def _begin(self, measured: np.ndarray) -> None:
        """Make room, now that it is known what clocks measure."""
        dtype = measured.dtype
        machine = self._machine
        self._steps = self._no_steps(dtype)
        self._groups = Groups(np.empty((0, 3), np.int64), np.empty((0, 2), dtype), room_for_groups(ROOM))
        width = width_of(self._steps.most_slots)
        most = self._most(width)
        self._kept = room_for(min(ROOM, most + 2), dtype, width, self._lists, self._limbs)
        self._touched = room_for_touched(len(self._kept.shape), self._kept)
        known = self._steps.tables
        arrange(self._kept, self._groups, 0, known.slots, known.indexed, self._progress)
        self._progress[words.SWEEP_AT] = LEAST if self._expires else UNSWEPT
        window, kind = self._window, words.NO_WINDOW
        size: Any = dtype.type(0)
        reads = {"time": machine.timed, "events": machine.placed}
        # A window that the machine does not measure is checked as a condition of the pattern.
        if window is not None and reads.get(window.kind, False):
            kind = words.TIME_WINDOW if window.kind == "time" else words.PLACE_WINDOW
            size = comparable(np.empty(0, dtype if dtype.kind == "f" else np.int64), window.size).size
            self._ahead = Lookahead(self._automaton, kind)
        self._progress[words.AHEAD_AT] = NEVER if self._ahead is None else self._ahead.at
        self._rules = Rules(
            kind if machine.product == "hits" else words.NO_WINDOW, kind, size, self._consumes, most
        )

    def _no_steps(self, dtype: np.dtype) -> GrowingSteps:
        """Empty tables of what events do."""
        reals = [word == "real" for word in self._shapes.registers.held.words]
        found = GrowingSteps(
            self._shapes, len(self._machine.symbols), self._automaton.tests.all, self._machine.reaches, dtype,
            reals,
        )  # fmt: skip
        found.texts = self._values.text_labels()
        found.note_texts(self._values.held_texts())
        return found

    def _most(self, width: int) -> int:
        """How many configurations of `width` slots may be open at once, beside those of others."""
        return max(self._most_in_all(width) - self.others(), 0)

    def _most_in_all(self, width: int) -> int:
        memory = min(MEMORY, max(self._headroom.memory or MEMORY, LITTLE))
        return most_open(width, self._lists, self._limbs, CONFIGURATIONS, memory)

    @property
    def open_count(self) -> int:
        """How many configurations are open."""
        return int(self._progress[words.COUNT])

    def _regroup(self, rows: np.ndarray, room: int) -> None:
        """Keep the configurations of some rows, with room for `room` of them where there is memory."""
        assert self._steps is not None
        old, count, steps = self._kept, len(rows), self._steps
        width, dtype, needed = width_of(steps.most_slots), old.slots.dtype, int(self._progress[words.NEEDED])
        most = self._most(width)
        self._rules = self._rules._replace(most=most)
        if count > most:
            raise self._too_many()
        least = count + needed + 2
        room = max(min(max(room, ROOM), most + needed), least)
        row = ROW + 8 * (width + self._lists + self._limbs)
        room = self._headroom.rows(room, least, row, self._shapes.about)
        kept = room_for(room, dtype, width, self._lists, self._limbs, steps.indexed > 0)
        copy_rows(old, rows, kept)
        self._kept = kept
        if kept.slots.shape[1] != self._touched.slots.shape[1]:
            self._touched = room_for_touched(min(len(self._touched.leaf), room), kept)
        if len(self._groups.group) < count + 2:
            self._groups = self._groups._replace(group=room_for_groups(2 * count + 2))
        arrange(kept, self._groups, count, steps.tables.slots, steps.tables.indexed, self._progress)

    def _lanes_for(self, count: int) -> None:
        """Make room for `count` lanes."""
        have = len(self._groups.lane)
        if count > have:
            lane = grown(self._groups.lane, count)
            lane[have:, 0] = -1
            self._groups = self._groups._replace(lane=lane, now=grown(self._groups.now, len(lane)))

    def _collect(self, ends: StateEnds, more: int) -> StateEnds:
        """Drop the nodes that nothing refers to any more; with room for as many again, and for some more."""
        used = int(self._progress[words.ROOTS])
        moved = self._compact(np.empty(0, np.int64), ends.root_node[:used], more)
        root_node = ends.root_node.copy()
        root_node[:used] = moved[root_node[:used]]
        return ends._replace(root_node=root_node)

    def _compact(self, place: np.ndarray, roots: np.ndarray, more: int) -> np.ndarray:
        """Keep the nodes below configurations and some roots; the new number of each node."""
        kept, count = self._kept, int(self._progress[words.NODES])
        rows = np.flatnonzero(kept.shape >= 0)
        wanted = np.concatenate([kept.node[rows], roots])
        self._arena, place_of, left = compacted(
            self._arena, count, wanted, place, more, partial(self._headroom.rows, advised=self._shapes.about)
        )
        self._progress[words.NODES] = left
        own = kept.node[rows]
        kept.node[rows] = np.where(own >= 0, place_of[np.maximum(own, 0)], -1) if count else own
        return place_of

    def _more_limbs(self, ends: StateEnds) -> StateEnds:
        """Count with one more digit to the base 2^62."""
        self._limbs += 1
        self._kept = self._kept._replace(number=one_more_limb(self._kept.number))
        self._touched = room_for_touched(len(self._touched.leaf), self._kept)
        self._progress[words.TOP] = 0
        return ends._replace(number=one_more_limb(ends.number))

    # -------------------------------------------------------------------------- of the stream's state

    def bound(self, events: StreamEvents, bounds: LaneBounds) -> None:
        """As `OpenRuns.bound`: the least start of what is open; no event is needed if none are listed."""
        bounds.least[:] = self.count
        if self._lists and self._steps is not None:
            self._progress[[words.HIT, words.ROOTS]] = 0
            self._sweep(room_for_state_ends(0, self._limbs))
            kept = self._kept
            rows = self._open_rows()
            np.minimum.at(bounds.least, kept.lane[rows], kept.began[rows, 0])

    def drop(self, dropped: Renumbering) -> None:
        """Give the events of what is open their new numbers; as `OpenRuns.drop`. `keep` does so for lanes."""
        self.count = dropped.count
        if not self._lists or self._steps is None:
            return
        rows = self._open_rows()
        self._regroup(rows_with_prefix(self._kept, self._steps.tables.started, rows), len(rows) + ROOM)
        self._compact(np.append(dropped.place, dropped.count), np.empty(0, np.int64), ROOM)
        kept = self._kept
        rows = np.flatnonzero(kept.shape >= 0)
        rows = rows[self._steps.tables.started[kept.shape[rows]] != 0]
        kept.began[rows] = dropped.moved(kept.began[rows])

    def _open_rows(self) -> np.ndarray:
        """The rows of configurations whose complex events have started."""
        assert self._steps is not None
        kept, groups = self._kept, self._groups
        rows = np.flatnonzero(kept.shape >= 0)
        rows = rows[self._steps.tables.started[kept.shape[rows]] != 0]
        known: np.ndarray = rows[groups.lane[kept.lane[rows], 1] == self._progress[words.EPOCH]]
        return known

    @property
    def nbytes(self) -> int:
        """Bytes that the configurations take."""
        if self._steps is None:
            return 0
        arrays = [*self._kept, *self._groups, *self._touched]
        return sum(array.nbytes for array in arrays) + 32 * int(self._progress[words.NODES])

    def arrays(self) -> dict[str, np.ndarray]:
        """The arrays that are stored with a stream, by name; as `OpenRuns.arrays`."""
        if self._steps is None:
            return {}
        kept, groups = self._kept, self._groups
        rows = np.flatnonzero(kept.shape >= 0)
        shapes = json.dumps([written(shape) for shape in self._shapes.all]).encode()
        found = {name: getattr(kept, name)[rows] for name in STORED if getattr(kept, name).size}
        return found | {
            "lanes": groups.lane[:, 1:],
            "now": groups.now,
            "arena": self._arena[: self._progress[words.NODES]],
            "epoch": self._progress[[words.EPOCH]],
            "shapes": np.frombuffer(shapes, np.uint8),
            "labels": np.frombuffer(written_down(self._values.state()), np.uint8),
        }

    def restore(self, arrays: dict[str, np.ndarray]) -> None:
        """Continue from what `arrays` returned."""
        if not arrays:
            return
        for text in json.loads(arrays["shapes"].tobytes())[1:]:
            self._shapes.put(shape_of(text))
        self._values.resume(read_back(arrays["labels"].tobytes()))
        self._begin(arrays["now"])
        self._now = no_events(arrays["now"].dtype)
        lane = np.full((len(arrays["lanes"]), 3), -1, np.int64)
        lane[:, 1:] = arrays["lanes"]
        self._groups = self._groups._replace(lane=lane, now=arrays["now"].copy())
        own = {name: arrays[name] for name in STORED if name in arrays}
        self._kept = self._kept._replace(**own)
        self._regroup(np.arange(len(own["shape"])), 2 * len(own["shape"]))
        self._touched = room_for_touched(ROOM, self._kept)
        self._arena = np.empty((2 * len(arrays["arena"]) + ROOM, 4), np.int64)
        self._arena[: len(arrays["arena"])] = arrays["arena"]
        self._progress[words.NODES] = len(arrays["arena"])
        self._progress[words.EPOCH] = arrays["epoch"][0]

    # --------------------------------------------------------------------------------------- of lanes

    def held(self) -> np.ndarray:
        """The lanes in which something is open, or in which something before a start is remembered."""
        if self._steps is None:
            return np.empty(0, np.int64)
        kept, groups = self._kept, self._groups
        rows = np.flatnonzero(kept.shape > 0)
        rows = rows[groups.lane[kept.lane[rows], 1] == self._progress[words.EPOCH]]
        lanes: np.ndarray = np.unique(kept.lane[rows]).astype(np.int64)
        return lanes

    def keep(self, used: np.ndarray, numbers: np.ndarray, count: int) -> None:
        """Forget all lanes but those in `used`; these have the given numbers from now on."""
        if self._steps is None:
            return
        kept, groups = self._kept, self._groups
        used, numbers = used[used < len(groups.lane)], numbers[used < len(groups.lane)]
        number = np.full(len(groups.lane), -1, np.int64)
        number[used] = numbers
        rows = np.flatnonzero(kept.shape >= 0)
        rows = rows[number[kept.lane[rows]] >= 0]
        kept.lane[rows] = number[kept.lane[rows]]
        lane, now = np.zeros((count, 3), np.int64), np.zeros((count, 2), groups.now.dtype)
        lane[:, 0] = -1
        lane[numbers], now[numbers] = groups.lane[used], groups.now[used]
        self._groups = groups._replace(lane=lane, now=now)
        self._regroup(rows, len(kept.shape))
