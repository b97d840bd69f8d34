"""The complex events of an automaton that a strategy of SELECT leaves, in chunks and in streams."""

from __future__ import annotations

from collections.abc import Callable

from cer_gpu.engine.machines.chunk import Chunk
from cer_gpu.engine.machines.ends import Ends
from cer_gpu.engine.machines.open_spans import OpenEnds, OpenSpans
from cer_gpu.engine.machines.strategies import (
    ChosenInSpans,
    SingleChoice,
    SpansOfHits,
    best_beside_falling,
    best_in_spans,
)
from cer_gpu.engine.workers import Workers
from cer_gpu.kernels.runs.contract import TransitionTables
from cer_gpu.kernels.selection import cpu as best
from cer_gpu.plan.automaton import Choice
from cer_gpu.plan.compiled_query import CompiledQuery


class Chooser:
    """Chooses among the complex events that end at one event.

    Parameters
    ----------
    tables : TransitionTables
        With barred symbols, for a window over an attribute.
    choice : Choice
    query : CompiledQuery
    n_symbols : int
        How many symbols there are, without the barred ones.
    workers : Workers
    """

    def __init__(
        self,
        tables: TransitionTables,
        choice: Choice,
        query: CompiledQuery,
        n_symbols: int,
        workers: Workers,
    ) -> None:
        self._tables = tables
        self._choice = choice
        self._query = query
        self._n_symbols = n_symbols
        self._workers = workers
        self._latest = choice.strategy == "LAST"

    def of_open(self, ends: OpenEnds) -> SingleChoice | ChosenInSpans:
        """The complex events that are left at ends of a push: the window of each end is run again.

        Which complex events MAX leaves, and NEXT and LAST where several have the same positions, depends on
        which others begin in the window: one that is left out comes back when the window has left those that
        were preferred to it. To know this in advance, a run would have to keep for each state the latest
        start of a preferred run, and runs that differ in these starts could not be put together: with w open
        events and n states there may be w^n kinds of them. So an end costs as many steps as its window has
        events of its lane, and only when it is listed. Under CONSUME BY no two ends share an event of their
        lane, so each event is run again once.
        """
        spans = OpenSpans(ends, self._n_symbols)
        if not self._choice.single:
            return ChosenInSpans(self._choice, spans, self._workers)
        parts = best_in_spans(self._tables, spans, self._latest, self._workers)
        return SingleChoice(best.joined(parts), ends.ends.event, self._choice.shown)

    def of_chunk(
        self, chunk: Chunk, ends: Ends, paths_of: Callable[[Chunk, Ends, bool], best.Paths]
    ) -> SingleChoice | ChosenInSpans:
        """The complex events that are left at ends of a chunk.

        Parameters
        ----------
        chunk : Chunk
        ends : Ends
        paths_of : callable
            Gives what NEXT, or LAST if its third argument is true, leaves at the ends of a chunk without
            falling lanes. It is not kept: it belongs to the runner that has the chooser.
        """
        if not self._choice.single:
            return ChosenInSpans(self._choice, SpansOfHits(chunk, ends, self._n_symbols), self._workers)
        if len(chunk.falling.begin):
            apart = self._query.consume != "NONE"
            paths = best_beside_falling(
                self._tables, chunk, ends, self._latest, apart, self._n_symbols, self._workers
            )
        else:
            paths = paths_of(chunk, ends, self._latest)
        return SingleChoice(paths, ends.event, self._choice.shown)
