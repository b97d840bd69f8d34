"""The strategy of SELECT where a window or CONSUME BY decides which complex events it may choose from."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import TypeVar

import numpy as np

from cer_gpu.engine.machines.answers import Sharing
from cer_gpu.engine.machines.chunk import Chunk, Segments
from cer_gpu.engine.machines.ends import Ends, ends_of
from cer_gpu.engine.workers import Workers
from cer_gpu.enumeration import structure
from cer_gpu.enumeration.blocks import numbers_joined
from cer_gpu.frozen_dataclass import dataclass
from cer_gpu.kernels.attribute_windows.cpu_order import first_admitted
from cer_gpu.kernels.counts.cpu import counts
from cer_gpu.kernels.forest.contract import Block, CountedHits
from cer_gpu.kernels.monitor.cpu import rename
from cer_gpu.kernels.runs.barriers import NO_START, with_bars
from cer_gpu.kernels.runs.contract import TransitionTables
from cer_gpu.kernels.runs.programs import backward_program, forward_program
from cer_gpu.kernels.selection import cpu as best
from cer_gpu.kernels.selection.cpu_ranks import best_ranked, steps
from cer_gpu.plan.automaton import Choice

SPAN_EVENTS = 1 << 18
"""About how many events of spans are run at a time."""

MARKS = 1 << 20
"""About how many marks a block has."""

MARKS_OF_ONE = 8
"""About how many marks each complex event has room for, if fewer are found in one go."""

PAYS = 1.0
"""If the spans of hits have this many times the events that a tree over the lanes runs, the tree is built."""

Result = TypeVar("Result")


class SingleChoice:
    """The one complex event that NEXT or LAST leaves at each hit, if its marked events identify it.

    Parameters
    ----------
    found : best.Paths
        The hits in the order of `end`.
    end : ndarray, shape (hits,), int64
    shown : ndarray, shape (labels,), int32
        The label that is shown in place of each label, after the SELECT list has dropped marks; 0 for no
        mark.
    """

    sharing: Sharing = "ends"

    def __init__(self, found: best.Paths, end: np.ndarray, shown: np.ndarray) -> None:
        self._found = found
        self._end = end
        self._shown = shown
        self.count = np.ones(len(end), np.int64)

    def work(self, limit: int | None) -> np.ndarray:
        """As `Answers.work`."""
        return self.count

    def blocks(self, order: np.ndarray, limit: int | None = None, size: int | None = None) -> Iterator[Block]:
        """The complex events of some hits; as `Answers.blocks`."""
        if limit == 0:
            return
        length = best.lengths(self._found, order, self._shown)
        for part in ranges_of_work(length, MARKS if size is None else min(MARKS, MARKS_OF_ONE * size)):
            first, event, label = best.marks(self._found, self._end, order[part], self._shown, length[part])
            yield Block(order[part], self._found.start[order[part]], first, event, label)


class ChosenInSpans:
    """The complex events that a strategy leaves at each hit, found by running the span of the hit again.

    The span of a hit, the events from its least start to its end, is a stream of its own, on which the
    automaton of what the strategy leaves runs; other ends in it are ignored. So a hit costs as many steps as
    its window has relevant events. This is for patterns in which the window decides what is left: of `(X ; Y
    ; E) OR (Y ; E)` MAX leaves a Y and an E only where no X before that Y is admitted. Where the window does
    not matter, as for `A ; B+ ; C`, there is no choice at run time (`cer_gpu.plan.regular_automata`).

    Where the attribute of WITHIN falls, the span is what lies between the first start that the hit admits and
    the hit: in the worst case the whole partition. For NEXT and LAST hits share a tree there
    (`best_of_falling`), since of all paths between two states the best one is enough. For MAX, listing takes
    as long as running the spans, however it is found: of `A+ ; B` MAX leaves at a B all A's from the first
    admitted one on, so that n A's and then n B's have answers of n * (n + 1) marks, where the spans have n *
    (3 * n + 1) / 2 events. Only counts could do with less. A tree over time would then hold in each node what
    its events add, which depends on what the admitted starts before them have led to, the state of the
    monitor: for `(X ; Y ; E) OR (Y ; E)` two matrices, one where an X has been admitted and one where none
    has; in general as many as the monitor has states, 3^|Q| in the worst case, of |Q|^2 numbers each. An
    event would take log(events) * 3^|Q| * |Q|^3 steps in place of the spans: n log n for one pattern, but
    more than the spans unless partitions are long and automata small. There is no such tree.

    Parameters
    ----------
    choice : Choice
        With tables.
    spans : HitSpans
    workers : Workers
        Count, several spans at a time.
    """

    sharing: Sharing = "ends"

    def __init__(self, choice: Choice, spans: HitSpans, workers: Workers) -> None:
        assert choice.tables is not None
        assert choice.monitor is not None
        self._monitor = choice.monitor
        self._tables = choice.tables
        self._programs = forward_program(self._tables), backward_program(self._tables)
        self._spans = spans
        self.count = self._counts(workers)

    def work(self, limit: int | None) -> np.ndarray:
        """As `Answers.work`: the span is run, whatever it leaves."""
        listed = self.count if limit is None else np.minimum(self.count, limit)
        return np.maximum(listed, self._spans.length)

    def blocks(self, order: np.ndarray, limit: int | None = None, size: int | None = None) -> Iterator[Block]:
        """The complex events of some hits, each hit's in canonical order; as `Answers.blocks`."""
        for part in self._spans.groups(order):
            gathered = self._spans.gather(part)
            symbols = self._renamed(gathered)
            built = structure.Structure(self._tables)
            ends = CountedHits(*gathered.ends, self.count[part])
            built.build(symbols, gathered.begin, gathered.stop, ends)
            for block in built.blocks(None, limit, size):
                start, event = gathered.event[block.start], gathered.event[block.event]
                yield block._replace(hit=part[block.hit], start=start, event=event)

    def _counts(self, workers: Workers) -> np.ndarray:
        """How many complex events each hit has, shape (hits,), int64 or object."""

        def counted(part: np.ndarray) -> np.ndarray:
            gathered = self._spans.gather(part)
            symbols = self._renamed(gathered)
            return counts(self._tables, *self._programs, symbols, *gathered.ends, True)

        number = [np.empty(0, np.int64), *self._spans.map(counted, workers)]
        return numbers_joined(number)

    def _renamed(self, gathered: GatheredSpans) -> np.ndarray:
        """The symbols of the choice's tables, given by its monitor."""
        read = self._spans.without_ends(gathered.symbol)
        state = np.zeros(len(gathered.begin), np.int32)
        return rename(self._monitor, read, gathered.span, state)


class HitSpans(ABC):
    """The span of each hit: the events from the first at which it may begin to its end.

    Parameters
    ----------
    symbols : ndarray, shape (events,), uint8 or uint16
    n_symbols : int
        Of the query; greater symbols are those of barred events (`cer_gpu.kernels.runs.barriers`).
    begin, length : ndarray, shape (hits,), int64
        The events of each span: the first of them among `events`, and how many.
    events : ndarray, shape (m,), int64, or None
        The events of which spans are ranges; None: all.

    Attributes
    ----------
    length : ndarray, shape (hits,), int64
    """

    def __init__(
        self,
        symbols: np.ndarray,
        n_symbols: int,
        begin: np.ndarray,
        length: np.ndarray,
        events: np.ndarray | None = None,
    ) -> None:
        self._symbols = symbols
        self._n_symbols = n_symbols
        self._begin = begin
        self._events = events
        self.length = length

    @property
    @abstractmethod
    def falls(self) -> bool:
        """Whether some hits do not admit all events of their span as starts."""

    @abstractmethod
    def outside(self, event: np.ndarray, hit: np.ndarray) -> np.ndarray:
        """Which events the hits, one for each event, do not admit as starts, where `falls`; bool."""

    def groups(self, order: np.ndarray) -> Iterator[np.ndarray]:
        """Groups of hits with about `SPAN_EVENTS` events in their spans."""
        for part in ranges_of_work(self.length[order], SPAN_EVENTS):
            yield order[part]

    def map(self, function: Callable[[np.ndarray], Result], workers: Workers) -> list[Result]:
        """The results of a function for groups of hits, by several threads."""
        groups = self.groups(np.arange(len(self.length)))
        return workers.map("choosing", function, groups, int(self.length.sum()))

    def gather(self, part: np.ndarray) -> GatheredSpans:
        """The events of the spans of some hits."""
        length, begin = self.length[part], self._begin[part]
        stop = np.cumsum(length)
        span = np.repeat(np.arange(len(part), dtype=np.int32), length)
        event = np.arange(len(span)) + np.repeat(begin - stop + length, length)
        if self._events is not None:
            event = self._events[event]
        symbol = self._symbols[event]
        if self.falls:
            outside = self.outside(event, np.repeat(part, length))
            symbol = with_bars(symbol, outside * np.uint8(NO_START), self._n_symbols)
        return GatheredSpans(event, symbol, span, stop - length, stop)

    def without_ends(self, symbol: np.ndarray) -> np.ndarray:
        """Symbols, without the bars against ends: the one end of a span is not barred."""
        most = 2 * self._n_symbols
        return symbol if int(symbol.max(initial=0)) < most else symbol % symbol.dtype.type(most)


class SpansOfHits(HitSpans):
    """The spans of the hits of a chunk.

    Parameters
    ----------
    chunk : Chunk
    hits : Ends
    n_symbols : int
        As for `HitSpans`.
    """

    def __init__(self, chunk: Chunk, hits: Ends, n_symbols: int) -> None:
        lowest, self._ranks, self._end = hits.lowest, chunk.ranks, hits.event
        if chunk.ranks is not None:
            lowest = first_admitted(chunk.ranks, lowest, hits.event)
        super().__init__(chunk.events.symbols, n_symbols, lowest, hits.event - lowest + 1)

    @property
    def falls(self) -> bool:
        """Whether some lane of the chunk is falling."""
        return self._ranks is not None

    def outside(self, event: np.ndarray, hit: np.ndarray) -> np.ndarray:
        """As `HitSpans.outside`, by their ranks."""
        assert self._ranks is not None
        found: np.ndarray = self._ranks.rank[event] < self._ranks.least[self._end[hit]]
        return found


@dataclass(frozen=True, slots=True)
class GatheredSpans:
    """The events of the spans of some hits, one span after another.

    Attributes
    ----------
    event : ndarray, shape (m,), int64
        The event of the chunk.
    symbol : ndarray, shape (m,), uint8 or uint16
        Its symbol, barred where the hit does not admit it as a start.
    span : ndarray, shape (m,), int32
        The span that it belongs to.
    begin, stop : ndarray, shape (spans,), int64
        Where each span begins and stops among these events.
    """

    event: np.ndarray
    symbol: np.ndarray
    span: np.ndarray
    begin: np.ndarray
    stop: np.ndarray

    @property
    def ends(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The hits of the spans, one each: `first`, `event` and `lowest` as the kernels read them."""
        return np.arange(len(self.begin) + 1), self.stop - 1, self.begin


def best_in_segments(
    tables: TransitionTables, chunk: Chunk, found: Ends, latest: bool, workers: Workers
) -> list[best.Paths]:
    """The paths that NEXT, or LAST if `latest`, leaves at ends in segments, unit by unit."""

    def run(segments: Segments) -> best.Paths:
        own = ends_of(segments, found)
        return best.best(tables, chunk.events.symbols, *own, latest)

    return workers.map("choosing", run, chunk.segments.units(workers.threads), chunk.segments.events)


def best_beside_falling(
    tables: TransitionTables,
    chunk: Chunk,
    found: Ends,
    latest: bool,
    apart: bool,
    n_symbols: int,
    workers: Workers,
) -> best.Paths:
    """The paths that NEXT or LAST leaves at the ends of a chunk in which some lanes fall.

    Parameters
    ----------
    tables : TransitionTables
        With barred symbols.
    chunk : Chunk
    found : Ends
    latest : bool
        LAST in place of NEXT.
    apart : bool
        Whether spans do not overlap, as under CONSUME BY; otherwise each may be as long as the lane.
    n_symbols : int
        As for `HitSpans`.
    workers : Workers
    """
    falls = chunk.falls(found.event)
    rising, falling = found.parted(falls)
    spans = SpansOfHits(chunk, falling, n_symbols)
    at_once = PAYS * steps(chunk.falling.stop - chunk.falling.begin, tables.n_live).sum()
    if apart or int(spans.length.sum()) <= at_once:
        parts = best_in_spans(tables, spans, latest, workers)
    else:
        parts = best_of_falling(tables, chunk, falling, latest, workers)
    paths = best.joined([*best_in_segments(tables, chunk, rising, latest, workers), *parts])
    # The ends in falling lanes are the last ones of the paths.
    place = np.argsort(np.argsort(falls, kind="stable"), kind="stable")
    return best.Paths(paths.arena, *(part[place] for part in paths[1:]))


def best_in_spans(
    tables: TransitionTables, spans: HitSpans, latest: bool, workers: Workers
) -> list[best.Paths]:
    """The paths that NEXT or LAST leaves at hits, found by running each span again; group by group.

    Parameters
    ----------
    tables : TransitionTables
        With barred symbols.
    spans : HitSpans
    latest : bool
        LAST in place of NEXT.
    workers : Workers
    """

    def run(part: np.ndarray) -> best.Paths:
        gathered = spans.gather(part)
        found = best.best(tables, gathered.symbol, *gathered.ends, latest)
        found.arena[:, best.EVENT] = gathered.event[found.arena[:, best.EVENT]]
        return found._replace(start=gathered.event[found.start])

    return spans.map(run, workers)


def best_of_falling(
    tables: TransitionTables, chunk: Chunk, found: Ends, latest: bool, workers: Workers
) -> list[best.Paths]:
    """The paths that NEXT or LAST leaves at the hits of falling lanes, unit by unit.

    Parameters
    ----------
    tables : TransitionTables
        With barred symbols.
    chunk : Chunk
    found : Ends
        The hits of the falling lanes, which admit any start of their lane.
    latest : bool
        LAST in place of NEXT.
    workers : Workers
    """
    lanes, ranks = chunk.falling, chunk.ranks
    assert ranks is not None

    def run(part: Segments) -> best.Paths:
        first, event, _ = ends_of(part, found)
        return best_ranked(tables, chunk.events.symbols, ranks, part.begin, part.stop, first, event, latest)

    return workers.map("choosing", run, lanes.units(workers.threads), lanes.events)


def ranges_of_work(work: np.ndarray, size: int) -> Iterator[slice]:
    """Ranges of items with about `size` work each."""
    if len(work):
        running = np.cumsum(work)
        edges = {0, len(work), *(np.searchsorted(running, np.arange(size, running[-1], size)) + 1).tolist()}
        yield from (slice(low, high) for low, high in pairwise(sorted(edges)))
