"""The matches of a row pattern over ordered rows: `MatchFinder`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import timedelta
from itertools import pairwise
from typing import TypeAlias

import numpy as np
import pyarrow as pa

from cer_gpu.engine.choice_arrays import choice_lists, room_of, symbols_of
from cer_gpu.engine.free_memory import free_memory
from cer_gpu.engine.rows.fixed_values import FixedValues
from cer_gpu.engine.rows.ordered_rows import OrderedRows, times_of
from cer_gpu.engine.rows.row_matches import RowMatches
from cer_gpu.engine.rows.search import Search
from cer_gpu.engine.rows.search_code import SearchCode
from cer_gpu.engine.rows.shared_matches import SharedMatches
from cer_gpu.engine.rows.start_chains import EVERYWHERE, Exits, StartChains, StartRange, StartRows
from cer_gpu.engine.rows.value_types import steps_of
from cer_gpu.engine.workers import Workers
from cer_gpu.errors import DataError, LimitError
from cer_gpu.kernels.row_patterns import contract as k
from cer_gpu.kernels.row_patterns import cpu, overlap
from cer_gpu.patterns.choices import OrderedAutomaton
from cer_gpu.patterns.conditions import ParsedCondition, is_of_one_row
from cer_gpu.patterns.live_states import LiveStates, TooManyStates
from cer_gpu.patterns.tree import Operation, RowPatternClause, Skip, SkipMode

UNIT = 1 << 16
"""Rows of neighbouring partitions that a thread does at a time, at least."""

TABLED = 1 << 24
"""Entries of a table of choices, above which choices are looked for in their lists."""

MOST_VARIABLES = 64
"""Variables of a pattern: a word has a bit for each."""

PART = 1 << 19
"""Rows of matches that may overlap that are found at a time, about."""

MODES = {
    SkipMode.PAST_LAST_ROW: k.PAST_LAST_ROW,
    SkipMode.TO_NEXT_ROW: k.TO_NEXT_ROW,
    SkipMode.TO_FIRST: k.TO_FIRST,
    SkipMode.TO_LAST: k.TO_LAST,
}


KernelCall: TypeAlias = Callable[[k.MatchRoom, np.ndarray], int]
"""A call of a kernel that writes matches into a room, and goes on where it stopped."""


def _masks(
    automaton: OrderedAutomaton,
    conditions: Mapping[str, ParsedCondition],
    values: FixedValues,
    rows: OrderedRows,
) -> np.ndarray:
    """For each row the variables whose fixed conditions hold, as bits: uint8, uint16 or uint64.

    Conditions that speak of the row alone are computed for the rows as they lie, whose bits are then put in
    order; the others for the rows in order.
    """
    count = len(automaton.variables)
    dtype = next(kind for kind in (np.uint8, np.uint16, np.uint64) if count <= 8 * np.dtype(kind).itemsize)
    lying, ordered, everything = np.zeros(rows.count, dtype), None, 0
    for variable, name in enumerate(automaton.variables):
        fixed = conditions[name].fixed if name in conditions else ()
        if not fixed:
            everything |= 1 << variable
            continue
        condition = fixed[0] if len(fixed) == 1 else Operation("and", fixed)
        if is_of_one_row(condition):
            _mark(values.of_lying_row(condition), variable, lying)
        else:
            ordered = np.zeros(rows.count, dtype) if ordered is None else ordered
            _mark(values.of_row(condition), variable, ordered)
    masks = rows.in_order(lying)
    if ordered is not None:
        masks |= ordered
    return masks | dtype(everything) if everything else masks


def _mark(holds: pa.Array, variable: int, masks: np.ndarray) -> None:
    """Set the bit of a variable where its condition is true."""
    if pa.types.is_null(holds.type):
        return
    there, data = holds.buffers()
    nothing = np.zeros(0, np.uint8)
    bits = nothing if data is None else np.frombuffer(data, np.uint8)
    valid = nothing if there is None or not holds.null_count else np.frombuffer(there, np.uint8)
    cpu.mark(bits, valid, masks.dtype.type(1 << variable), masks, holds.offset)


def _times(clause: RowPatternClause, rows: OrderedRows) -> tuple[np.ndarray, int]:
    """The times of all rows and the span of WITHIN; without one no times."""
    if clause.within is None:
        return np.zeros(0, np.int64), 0
    key = clause.order_by[0]
    column = rows.column(key.column)
    return times_of(column, key.column, key.descending), span_in(clause.within, column.type)


def span_in(span: timedelta, kind: pa.DataType) -> int:
    """A span of time in the unit of a column, rounded up: what is less than it is less than that."""
    micros = span // timedelta(microseconds=1)
    if pa.types.is_date32(kind):
        return -(-micros // (86_400 * 10**6))
    steps = steps_of(pa.timestamp("ms") if pa.types.is_date64(kind) else kind)
    return -(-micros * steps // 10**6)


class MatchFinder:
    """Finds the preferred matches that AFTER MATCH SKIP leaves.

    Parameters
    ----------
    clause : RowPatternClause
    automaton : OrderedAutomaton
    conditions : mapping of str to ParsedCondition
    values : FixedValues
    rows : OrderedRows
    workers : Workers
    starts : StartRows
        Where matches may start.
    device : int or None
        A device that finds matches whose conditions are fixed, if they do not overlap.
    """

    def __init__(
        self,
        clause: RowPatternClause,
        automaton: OrderedAutomaton,
        conditions: Mapping[str, ParsedCondition],
        values: FixedValues,
        rows: OrderedRows,
        workers: Workers,
        device: int | None = None,
        starts: StartRows = EVERYWHERE,
    ) -> None:
        self._clause = clause
        self._device = device
        self._automaton = automaton
        self._rows = rows
        self._values = values
        self._masks = _masks(automaton, conditions, values, rows)
        self._times, self._span = _times(clause, rows)
        self._open = {name: parts.open for name, parts in conditions.items() if parts.open}
        self._workers = workers
        self._choices = choice_lists(automaton)
        takes = [name in clause.skip.variables for name in automaton.variables]
        self._skip = k.SkipRule(MODES[clause.skip.mode], np.array(takes, np.uint8), starts.starts)
        self._before = starts.before
        self._units = _units(rows.lanes, workers.threads)

    def found(self) -> Iterator[RowMatches]:
        """The matches.

        They come all at once, or in parts where they may overlap.

        Raises
        ------
        DataError
            When AFTER MATCH SKIP cannot be followed.
        LimitError
            When a search tries too many rows for one start.
        """
        on_device = self._device is not None and self._skip.mode == k.PAST_LAST_ROW
        everywhere = not len(self._skip.starts)
        if on_device and not (self._open or len(self._times)) and self._rows.count and everywhere:
            found = self._on_device(self._device or 0)
            if found is not None:
                return iter([found])
        return self._found(self._calls())

    def shared(self) -> Iterator[SharedMatches] | None:
        """All matches where one starts at every row, with rows that they share; None if they do not share.

        Choices of matches that WITHIN bounds, or whose conditions look at the match so far, depend on where
        the match began.
        """
        tables = None if self._open or len(self._times) else self._tables()
        return None if tables is None else self._shared(tables)

    def _shared(self, choices: k.TabledChoices) -> Iterator[SharedMatches]:
        def share(lanes: np.ndarray) -> SharedMatches:
            open_ = np.zeros((4, len(self._choices.variable_of)), np.int64)
            count, matches = overlap.share(choices, lanes, self._skip, *overlap.room_of(0, 0), open_)
            nodes, begun = overlap.room_of(count, matches)
            overlap.share(choices, lanes, self._skip, nodes, begun, open_)
            lane = np.searchsorted(self._rows.lanes, begun.rows, side="right") - 1
            numbers = np.arange(matches) - np.searchsorted(lane, lane) + 1
            if len(self._before):
                numbers += self._before[lane]
            return SharedMatches(nodes, begun, numbers, self._automaton, self._rows)

        for lanes in self._units:
            yield self._workers.map("matching", share, [lanes], self._rows.count)[0]

    def exits(self, rows: StartRange, entries: int) -> Exits:
        """Where the search leaves some rows of the one partition, for each row that it may enter."""
        call = self._calls()(self._rows.lanes)
        return StartChains(call, self._skip, self._choices.variable_of, rows).exits(entries)

    def _calls(self) -> Callable[[np.ndarray], KernelCall]:
        """What gives the kernel that finds the matches of some neighbouring partitions."""
        if self._open:
            return self._searching(SearchCode(self._values, self._automaton.variables, self._open))
        tables = None if len(self._times) else self._tables()
        if tables is None:
            return self._bounded()
        return lambda lanes: lambda room, at: int(cpu.matches(tables, lanes, self._skip, room, at))

    def _searching(self, code: SearchCode) -> Callable[[np.ndarray], KernelCall]:
        """With conditions on the match so far."""
        try:
            live = self._live()
        except TooManyStates:
            live = np.zeros(0, np.int32), np.zeros((0, 0), np.uint8)
        program, columns = code.program(), code.columns.columns(self._rows.count)

        masks = self._masks.astype(np.uint64)

        def search(lanes: np.ndarray) -> KernelCall:
            rows = k.PatternRows(masks, lanes, self._times)
            return Search(self._choices, rows, live, program, columns, self._span, self._skip).step

        return search

    def _live_states(self) -> tuple[np.ndarray, LiveStates]:
        """The symbol of each row, and the automaton that reads them backward."""
        symbols, known = symbols_of(self._masks, len(self._automaton.variables))
        return symbols, LiveStates(self._automaton, known)

    def _live(self) -> tuple[np.ndarray, np.ndarray]:
        """The state of each row, and the slots of each state."""
        symbols, live = self._live_states()
        states = np.empty(self._rows.count, np.int32)

        def back(lanes: np.ndarray) -> None:
            at = np.array([len(lanes) - 2, lanes[-1] - 1, 0, 0, 0], np.int64)
            while cpu.live(symbols, lanes, live.table, states, at) == k.MISSING:
                row = int(at[k.ROW])
                last = row == lanes[at[k.LANE] + 1] - 1
                live.fill(0 if last else int(states[row + 1]), int(symbols[row]))

        self._workers.map("matching", back, self._units, self._rows.count)
        return states, live.members()

    def _on_device(self, device: int) -> RowMatches | None:
        from cer_gpu.engine.cuda.row_patterns import matches_on_device

        symbols, live = self._live_states()
        found = matches_on_device(device, self._choices, live, symbols, self._rows.lanes)
        return None if found is None else RowMatches(*found)

    def _tables(self) -> k.TabledChoices | None:
        """The choices at each row; None where there are too many states."""
        try:
            states, member = self._live()
        except TooManyStates:
            return None
        if member.size > TABLED:
            return None
        begins = np.empty((2, len(member)), np.int32)
        follows = np.empty((member.shape[1], len(member)), np.int32)
        cpu.choose(self._choices, member, begins, follows)

        return k.TabledChoices(self._choices.variable_of, begins, follows, states)

    def _bounded(self) -> Callable[[np.ndarray], KernelCall]:
        slots, masks = len(self._choices.variable_of), self._masks.astype(np.uint64)

        def forward(lanes: np.ndarray) -> KernelCall:
            ends = _scratch(int(np.diff(lanes).max(initial=0)), slots)
            variable_of = self._choices.variable_of
            bounded = k.BoundedChoices(
                variable_of, self._choices, masks, self._times, self._span, ends, np.full(1, -1)
            )
            return lambda room, at: int(cpu.bounded_matches(bounded, lanes, self._skip, room, at))

        return forward

    def _found(self, call_of: Callable[[np.ndarray], KernelCall]) -> Iterator[RowMatches]:
        """The matches of all partitions; `call_of` gives what finds those of some neighbours.

        Matches that do not overlap have no more rows than there are. Others may have many times as many, and
        come in parts.
        """
        if self._skip.mode == k.PAST_LAST_ROW:
            whole = self._workers.map(
                "matching",
                lambda lanes: [*self._parts(lanes, call_of(lanes), len(self._masks))],
                self._units,
                self._rows.count,
            )
            yield _joined([part for parts in whole for part in parts])
            return
        for lanes in self._units:
            call = call_of(lanes)

            def go(room: k.MatchRoom, at: np.ndarray, call: KernelCall = call) -> int:
                # In a thread, so that Ctrl-C takes effect.
                made = self._workers.map("matching", lambda _: call(room, at), [None], self._rows.count)
                return made[0]

            yield from self._parts(lanes, go, PART)

    def _parts(self, lanes: np.ndarray, go: KernelCall, most: int) -> Iterator[RowMatches]:
        """The matches of neighbouring partitions, in parts of about `most` rows: a kernel is called again
        until all are found.
        """
        count = int(lanes[-1] - lanes[0])
        room = room_of(min(count, most) // 8 + 16, min(count, most) + 16)
        at = np.array([0, lanes[0], 0, 0, 0], np.int64)
        if len(self._before) == 1:  # what conditions know of MATCH_NUMBER()
            at[k.NUMBER] = self._before[0]
        while True:
            status = go(room, at)
            matches, slots = int(at[k.MATCHES]), int(at[k.SLOTS])
            full = status == k.FULL and matches and slots + len(room.starts) >= most
            if status == k.DONE or full:
                yield RowMatches(
                    room.starts[:matches].copy(), room.lengths[:matches].copy(), room.slots[:slots].copy()
                )
                at[k.MATCHES] = at[k.SLOTS] = 0
                if status == k.DONE:
                    return
            elif status == k.FULL:
                room = _larger(room, matches == len(room.starts))
            else:
                raise self._skipped(status, room, at)

    def _skipped(self, status: int, room: k.MatchRoom, at: np.ndarray) -> DataError:
        match = int(at[k.MATCHES]) - 1
        row = int(self._rows.row_numbers(room.starts[match : match + 1])[0])
        return DataError(_skip_message(self._clause.skip, status, row))


def _skip_message(skip: Skip, status: int, row: int) -> str:
    what = "has no row of it" if status == k.ABSENT else "begins with it, so it would be found again"
    return (
        f"AFTER MATCH {skip.mode.value} {skip.name} cannot be followed: the match that begins at row {row} "
        f"of the table (counted from 0) {what}. Skip to another variable, or PAST LAST ROW"
    )


def _units(lanes: np.ndarray, threads: int) -> list[np.ndarray]:
    """The partitions in stretches of neighbours, as bounds of their rows."""
    count = int(lanes[-1])
    size = max(UNIT, -(-count // (4 * threads)))
    edges = np.unique(np.searchsorted(lanes, np.arange(0, count, size)))
    edges = np.concatenate([edges[edges < len(lanes) - 1], [len(lanes) - 1]])
    return [lanes[first : last + 1] for first, last in pairwise(edges)]


def _larger(room: k.MatchRoom, more_matches: bool) -> k.MatchRoom:
    """Room for twice as many matches, or for twice as many rows of them."""
    starts, lengths, slots = room
    if more_matches:
        return k.MatchRoom(_doubled(starts), _doubled(lengths), slots)
    return k.MatchRoom(starts, lengths, _doubled(slots))


def _doubled(array: np.ndarray) -> np.ndarray:
    larger = np.empty(2 * len(array) + 1, array.dtype)
    larger[: len(array)] = array
    return larger


def _scratch(rows: int, slots: int) -> np.ndarray:
    """Room for an end of each row and slot, int64.

    Raises
    ------
    LimitError
        When there is no memory for it.
    """
    free = free_memory()
    if free is not None and 8 * rows * slots > free // 2:
        raise LimitError(
            f"a partition of {rows:,} rows and a pattern of {slots:,} places take {8 * rows * slots:,} "
            f"bytes, and {free:,} are free: make the numbers in {{ }} smaller, or partition by more columns"
        )
    return np.empty((rows, slots), np.int64)


def _joined(parts: Sequence[RowMatches]) -> RowMatches:
    if len(parts) == 1:
        return parts[0]
    arrays = [
        np.concatenate([getattr(part, name) for part in parts]) if parts else np.zeros(0, kind)
        for name, kind in (("starts", np.int64), ("lengths", np.int64), ("slots", np.int32))
    ]
    return RowMatches(*arrays)
