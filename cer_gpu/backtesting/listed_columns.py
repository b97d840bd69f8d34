"""Durations and starts: the columns for which matches have to be listed, which is done once for both."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
import pyarrow as pa

from cer_gpu.backtesting.checkpoint import BacktestCheckpoint
from cer_gpu.backtesting.listed_values import DistinctStarts, DurationSums, ListedKinds, duration_type
from cer_gpu.backtesting.queries import AskedQuery
from cer_gpu.backtesting.row_groups import Partition, RowGroups
from cer_gpu.backtesting.seams import More, Seams, pushed
from cer_gpu.backtesting.table import QUERY, placed
from cer_gpu.engine.answers.matches import Matches
from cer_gpu.engine.answers.notes import Notes
from cer_gpu.engine.read.sources.source import Source
from cer_gpu.engine.run.bound_query import BoundQuery
from cer_gpu.engine.run.options import Options
from cer_gpu.printable_text import brief
from cer_gpu.row_pattern_query import BoundRowPattern, ListedMatches

MOST = 1 << 26
"""The matches of a query are not listed if there are more of them: it would take minutes."""


class ResultKeeper(Protocol):
    """Keeps what is made: see `BacktestCheckpoint.made`."""

    def __call__(
        self, name: str, make: Callable[[], list[pa.Table]], more: More | None = None
    ) -> list[pa.Table]: ...


def with_listed(
    tables: Sequence[pa.Table],
    asked: Sequence[AskedQuery],
    bound: Sequence[BoundQuery | BoundRowPattern],
    wanted: ListedKinds,
    parted: RowGroups,
    notes: Notes,
    made: ResultKeeper,
    on: NewFileLister | None = None,
) -> list[pa.Table]:
    """The tables of the queries, with the columns that need a list of the matches.

    Parameters
    ----------
    tables : sequence of pyarrow.Table
        Rows with the number of their query. All rows of a query are in one table; the order is that of the
        result.
    asked : sequence of AskedQuery
    bound : sequence of BoundQuery or BoundRowPattern
    wanted : ListedKinds
    parted : Parted
    notes : Notes
        Gets a note for each query with too many matches, whose columns are null.
    made : callable
        Keeps what was made of a query: see `BacktestCheckpoint.made`.
    on : NewFileLister, optional
        What lists the matches of new files only.
    """
    found = []
    kind = duration_type(tables[0].schema.field("first").type if parted.timed and tables else None)
    left = {*range(len(asked))}
    for table in tables:
        numbers = table.column(QUERY).to_numpy()
        for number in np.unique(numbers).tolist():
            left.discard(number)
            own = table.filter(pa.array(numbers == number))
            if too_many(asked[number], own, wanted.told, notes):
                found.append(wanted.without(own, kind))
                continue
            listing = _QueryLister(bound[number], wanted, parted, on)
            found.append(listing.added_to(own, listing.made(f"{wanted.told} of {number}", made), kind))
    for number in left:  # there are no matches so far
        _QueryLister(bound[number], wanted, parted, on).none(f"{wanted.told} of {number}", made)
    return found or [wanted.without(table, kind) for table in tables]


def too_many(one: AskedQuery, found: pa.Table, what: str, notes: Notes) -> bool:
    """Whether a query has too many matches to list them for `what`; if so, add a note."""
    matches = sum(map(int, found.column("matches").to_pylist()))
    if matches > MOST:
        notes.say(
            f"the query {brief(one.name)} has {matches:,} matches: {what} are computed for up to {MOST:,}, "
            "and are null for this query",
            aloud=True,
        )
    return matches > MOST


class NewFileLister(NamedTuple):
    """What lists the matches of new files only, with what is kept of the others.

    Attributes
    ----------
    kept : BacktestCheckpoint
    seams : Seams
    source : Source
        The events of all files.
    options : Options
    """

    kept: BacktestCheckpoint
    seams: Seams
    source: Source
    options: Options


class ListedSums:
    """Takes matches for a table of durations, one of starts, or both; `before` holds earlier ones."""

    def __init__(
        self,
        wanted: ListedKinds,
        parted: RowGroups,
        partition: Partition,
        before: Sequence[pa.Table],
    ) -> None:
        self._parted, self._partition = parted, partition
        self._durations = DurationSums(parted) if wanted.durations else None
        self._starts = DistinctStarts(parted.names) if wanted.starts else None
        for one, table in zip(self._all, before):
            one.take(table)

    @property
    def _all(self) -> list[DurationSums | DistinctStarts]:
        return [one for one in (self._durations, self._starts) if one is not None]

    def add(self, matches: Matches | ListedMatches, first: int) -> None:
        """Take matches whose positions count from the event `first`."""
        for batch in matches.batches():
            keys = placed(batch, self._parted, self._partition)
            if self._durations is not None:
                self._durations.add(batch, keys, len(self._partition))
            if self._starts is not None:
                self._starts.add(batch, keys, first)

    def tables(self) -> list[pa.Table]:
        """A table of each; none where there are no matches so far."""
        return [] if any(one.empty for one in self._all) else [one.table() for one in self._all]


class _QueryLister:
    """Lists the matches of a query, for a table of durations, one of starts, or both."""

    def __init__(
        self,
        bound: BoundQuery | BoundRowPattern,
        wanted: ListedKinds,
        parted: RowGroups,
        on: NewFileLister | None,
    ) -> None:
        self._bound, self._wanted, self._parted, self._on = bound, wanted, parted, on

    def made(self, name: str, made: ResultKeeper) -> list[pa.Table]:
        """The tables of all events, with what was kept of them under a name."""
        if self._pushed and self._on is not None:
            return self._on.kept.going_on(name, self.going_on)
        return made(name, self.all, self.more)

    def none(self, name: str, made: ResultKeeper) -> None:
        """Keep under a name that there are no matches so far."""
        if self._pushed and self._on is not None:
            self._on.kept.going_on(name, self.going_on)
        else:
            made(name, list)

    @property
    def _pushed(self) -> bool:
        """Whether new events are pushed to a stream, since no window says how far back they reach."""
        on = self._on
        if isinstance(self._bound, BoundRowPattern):
            return False
        return on is not None and not on.seams.tell(self._bound) and not self._bound.place.numbers

    def _sums(self, before: Sequence[pa.Table]) -> ListedSums:
        partition = self._bound.partition
        return ListedSums(self._wanted, self._parted, partition, before)

    def all(self) -> list[pa.Table]:
        """The tables of all events."""
        return self._listed(self._bound, 0, [])

    def more(self, before: list[pa.Table], files: int) -> list[pa.Table] | None:
        """The same from those of the first files; None where that cannot be."""
        if isinstance(self._bound, BoundRowPattern):
            return None
        behind = None if self._on is None else self._on.seams.behind(self._bound, files)
        return None if behind is None else self._listed(behind.bound, behind.before, before)

    def going_on(self, state: dict[str, Any] | None, files: int) -> tuple[list[pa.Table], dict[str, Any]]:
        """The tables, from the state of the stream after the first files; see `GoOn`."""
        assert self._on is not None
        assert isinstance(self._bound, BoundQuery)
        before = [] if state is None else state["open"]
        sums = self._sums(before)
        stream, last = pushed(
            self._bound,
            self._on.source,
            self._on.options,
            None if state is None else state["stream"],
            files,
            lambda found: sums.add(found, 0),
        )
        kept = {"stream": stream, "open": sums.tables()}
        if last is not None:
            sums.add(last, 0)
        return sums.tables(), kept

    def _listed(
        self, bound: BoundQuery | BoundRowPattern, first: int, before: list[pa.Table]
    ) -> list[pa.Table]:
        """With the matches of a query over the events from `first` on."""
        sums = self._sums(before)
        sums.add(bound.matches(), first)
        return sums.tables()

    def added_to(self, found: pa.Table, listed: list[pa.Table], kind: pa.DataType) -> pa.Table:
        """What was found, with the columns."""
        durations, starts = DurationSums(self._parted), DistinctStarts(self._parted.names)
        if self._wanted.starts:
            starts.take(listed[-1])
            found = starts.added_to(found)
        if self._wanted.durations:
            durations.take(listed[0])
            found = durations.added_to(found, kind)
        return found
