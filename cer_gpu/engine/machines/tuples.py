"""Rules of any form on the CPU: the answers of a chunk are found by lookups, and never all kept.

**Method.** An answer is found from its latest event (`cer_gpu.joins.lookups`). The events that fit an atom
are sorted by the values that the atom shares with those before it, so a lookup is a range of them. Binary
search cuts it to the window, and to what a comparison admits, by a second order of the same events. A block
of partial answers is extended by one atom at a time, so memory does not grow with the number of answers. If
answers are counted and not listed, they are not extended by the last atoms, as long as these read no event of
one another: the numbers of events that each finds are multiplied. If partial answers are many and lead to few
answers, a view of the chunk lists these instead (`cer_gpu.engine.machines.tuple_views`).

**Cost.** A lookup takes O(log n); with one comparison, so does the number of events that it finds. An event
costs as many steps as there are partial answers with it as the latest event. If these are very many and lead
to few answers, the run ends with a `LimitError` that names the atom that they come from.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from cer_gpu.engine.machines.chunk import Chunk
from cer_gpu.engine.machines.consume import ConsumeRunner, Consumption
from cer_gpu.engine.machines.ends import Ends, first_ends, no_ends
from cer_gpu.engine.machines.lookups import LARGEST, Lookups, TupleEnds
from cer_gpu.engine.machines.tuple_answers import FoundTuples, TupleAnswers, TupleFinder
from cer_gpu.engine.workers import Workers
from cer_gpu.enumeration.attribute_window import AttributeWindow
from cer_gpu.errors import LimitError
from cer_gpu.frozen_dataclass import dataclass
from cer_gpu.plan.compiled_query import CompiledQuery
from cer_gpu.plan.tuples import TupleMachine

if TYPE_CHECKING:
    from cer_gpu.engine.machines.tuple_views import TupleView

UNIT = 1 << 12
"""The least number of ends that a thread takes at a time."""

LEAST_ATOMS = 3
"""Atoms from which on partial answers may be in no answer."""


@dataclass(frozen=True, slots=True)
class LookupResult:
    """What is known of the answers of a chunk.

    Attributes
    ----------
    finder : TupleFinder
    tally : TupleEnds
        How many answers end at each event at which some end, with the latest start.
    found : FoundTuples or None
        The answers themselves, where they are few.
    """

    finder: TupleFinder
    tally: TupleEnds
    found: FoundTuples | None = None


class TupleRunner(ConsumeRunner):
    """Looks up the atoms of a rule on the CPU; a `MachineRunner`.

    Parameters
    ----------
    query : CompiledQuery
    workers : Workers
    """

    chunks = 1

    def __init__(self, query: CompiledQuery, workers: Workers) -> None:
        assert isinstance(query.machine, TupleMachine)
        self._machine = query.machine
        self._query = query
        self._workers = workers
        self._last: tuple[Chunk, LookupResult] | None = None
        self.consumption = Consumption(query)

    def ends(self, chunk: Chunk, bounded: bool = True) -> Ends:
        """The ends of a chunk; `lowest` is always there."""
        tally = self._looked(chunk).tally
        which = np.flatnonzero(tally.latest >= 0)
        if not len(which):
            return no_ends()
        starts = chunk.events.positions[tally.latest[which]]
        return Ends(tally.event[which], starts, tally.low[which])

    def counts(self, chunk: Chunk) -> tuple[np.ndarray, np.ndarray]:
        """The ends of a chunk and how many answers end at each, as `MachineRunner.counts`.

        If only the number of all answers is needed, one end may have all of them.
        """
        if self._machine.product == "count":
            found = self._total(chunk)
            if found is not None:
                number = np.array([found], np.int64 if found < LARGEST else object)
                return np.zeros(1, np.int64), number
        tally = self._looked(chunk).tally
        which = np.flatnonzero(tally.latest >= 0)
        return tally.event[which], tally.number[which]

    def needed(self, chunk: Chunk) -> np.ndarray:
        """As `MachineRunner.needed`: any event of a lane may be joined with a later one."""
        return chunk.lanes.begin

    def answers(self, chunk: Chunk, ends: Ends) -> TupleAnswers:
        """The answers at some ends of a chunk."""
        looked = self._looked(chunk)
        which = np.searchsorted(looked.tally.event, ends.event)
        return TupleAnswers(looked.finder, looked.tally.some(which), looked.found)

    def open_runs(self) -> None:
        """None: each push runs the open window again."""

    def _looked(self, chunk: Chunk) -> LookupResult:
        """What is known of the answers of a chunk, found once."""
        if self._last is None or self._last[0] is not chunk:
            self._last = (chunk, self._look(chunk))
        return self._last[1]

    def _look(self, chunk: Chunk) -> LookupResult:
        window = self._query.window
        held = None
        if chunk.held:
            assert window is not None
            held = AttributeWindow(chunk.events.keys, chunk.events.all_keyed, window.size)
        lookups = Lookups(self._machine, chunk.events, held)
        event, low = self._reported(chunk)
        return self._searched(chunk, lookups, event, low)

    def _searched(self, chunk: Chunk, lookups: Lookups, event: np.ndarray, low: np.ndarray) -> LookupResult:
        """What is known of the answers of a chunk by itself."""
        view = self._view(chunk, lookups, event, low)
        if view is not None:
            try:
                return self._listed(view, event, low) or LookupResult(view, view.tally(event, low))
            except LimitError:
                pass  # a multiplicity is above 2^62, of what may be in no answer
        if (looked := self._listed(lookups, event, low)) is not None:
            return looked
        units = max(min(len(event) // UNIT, 4 * self._workers.threads), 1)
        edges = [len(event) * number // units for number in range(units + 1)]

        def tally(unit: int) -> TupleEnds:
            part = slice(edges[unit], edges[unit + 1])
            return lookups.tally(event[part], low[part])

        lookups.prepare()
        parts = self._workers.map("counting", tally, range(units), len(event))
        return LookupResult(lookups, TupleEnds.joined(parts))

    def _listed(self, finder: TupleFinder, event: np.ndarray, low: np.ndarray) -> LookupResult | None:
        """The answers at some ends, where they are asked for and few."""
        if self._machine.product != "run":
            return None
        found = FoundTuples.within(finder, event, low)
        return None if found is None else LookupResult(finder, found.tally, found)

    def _view(self, chunk: Chunk, lookups: Lookups, event: np.ndarray, low: np.ndarray) -> TupleView | None:
        """What lists the answers by a tree, where it has less to do than lookups."""
        if len(lookups.paths) < LEAST_ATOMS:
            return None
        from cer_gpu.engine.machines.tuple_views import view_of  # most runs need no tree

        events = len(chunk.events.symbols)
        lane, time = None, np.arange(events)
        if len(chunk.lanes.begin) > 1:
            lane = np.searchsorted(chunk.lanes.begin, time, side="right")
            time[np.argsort(chunk.events.positions, kind="stable")] = np.arange(events)
        return view_of(lookups, lane, time, event, low)

    def _total(self, chunk: Chunk) -> int | None:
        """How many answers end at all events of a chunk; None where lookups count them."""
        lanes = chunk.segments
        events = len(chunk.events.symbols)
        # An event that is kept of an earlier chunk is in answers that were counted then.
        new = lanes.events == events and (lanes.report == lanes.begin).all()
        if not events or not new or chunk.held:
            return None
        from cer_gpu.engine.machines.tuple_total import total  # most runs need no tree

        lane = None
        if len(lanes.begin) > 1:
            lane = np.searchsorted(lanes.begin, np.arange(events), side="right")
        return total(self._machine, Lookups(self._machine, chunk.events, None), lane)

    def _reported(self, chunk: Chunk) -> tuple[np.ndarray, np.ndarray]:
        """The events at which answers may end that are reported, ascending, with the least each admits."""
        segments = chunk.segments
        event = np.concatenate(
            [np.empty(0, np.int64)]
            + [
                np.arange(first, stop)
                for first, stop in zip(segments.report.tolist(), segments.stop.tolist(), strict=True)
            ]
        )
        first = first_ends(segments, event)
        return event, chunk.lowest_starts(segments, first, event, self._query.window)


def runner(query: CompiledQuery, workers: Workers, carries: bool) -> TupleRunner:
    """The runner of lookups for a rule; it carries nothing."""
    return TupleRunner(query, workers)
