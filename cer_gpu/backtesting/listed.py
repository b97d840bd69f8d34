"""The columns that need a list of the matches (durations and starts), which is made once for both."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np
import pyarrow as pa

from cer_gpu.backtesting.asked import AskedQuery
from cer_gpu.backtesting.durations import DurationSums, duration_type, without_durations
from cer_gpu.backtesting.listed_for import ListedFor
from cer_gpu.backtesting.parted import Parted
from cer_gpu.backtesting.seams import More, Seams
from cer_gpu.backtesting.starts import StartsSeen, without_starts
from cer_gpu.backtesting.table import QUERY, placed
from cer_gpu.engine.answers.notes import Notes
from cer_gpu.engine.run.bound import BoundQuery

MOST = 1 << 26
"""Of a query with more matches than these none is listed: it would take minutes."""


class Made(Protocol):
    """Keeps what is made: see `KeptBacktest.made`."""

    def __call__(
        self, name: str, make: Callable[[], list[pa.Table]], more: More | None = None
    ) -> list[pa.Table]: ...


def with_listed(
    tables: Sequence[pa.Table],
    asked: Sequence[AskedQuery],
    bound: Sequence[BoundQuery],
    wanted: ListedFor,
    parted: Parted,
    timed: bool,
    notes: Notes,
    made: Made,
    seams: Seams | None = None,
) -> list[pa.Table]:
    """The tables of the queries, with the columns that need a list of the matches.

    Parameters
    ----------
    tables : sequence of pyarrow.Table
        Rows with the number of their query. All rows of a query are in one table; the order is that of the
        result.
    asked : sequence of AskedQuery
    bound : sequence of BoundQuery
    wanted : ListedFor
    parted : Parted
    timed : bool
        Whether the run has an order.
    notes : Notes
        Gets a note for each query with too many matches, whose columns are null.
    made : callable
        Keeps what was made of a query: see `KeptBacktest.made`.
    seams : Seams, optional
        Where matches are listed of new files only.
    """
    found = []
    kind = duration_type(tables[0].schema.field("first").type if timed and tables else None)
    left = {*range(len(asked))}
    for table in tables:
        numbers = table.column(QUERY).to_numpy()
        for number in np.unique(numbers).tolist():
            left.discard(number)
            own = table.filter(pa.array(numbers == number))
            if too_many(asked[number], own, wanted.told, notes):
                found.append(_without(own, wanted, kind))
                continue
            listing = _Listing(bound[number], wanted, parted, timed, seams)
            listed = made(f"{wanted.told} of {number}", listing.all, listing.more)
            found.append(listing.added_to(own, listed, kind))
    for number in left:
        made(f"{wanted.told} of {number}", list)  # there are no matches so far
    return found or [_without(table, wanted, kind) for table in tables]


def too_many(one: AskedQuery, found: pa.Table, what: str, notes: Notes) -> bool:
    """Whether a query has too many matches to list them for `what`; if so, add a note."""
    matches = sum(map(int, found.column("matches").to_pylist()))
    if matches > MOST:
        notes.say(
            f"the query {one.name!r} has {matches:,} matches: {what} are worked out for up to {MOST:,}; "
            "those of this query are null",
            aloud=True,
        )
    return matches > MOST


class _Listing:
    """Lists the matches of a query, for a table of durations, one of starts, or both."""

    def __init__(
        self, bound: BoundQuery, wanted: ListedFor, parted: Parted, timed: bool, seams: Seams | None
    ) -> None:
        self._bound, self._wanted, self._parted, self._timed = bound, wanted, parted, timed
        self._seams = seams

    def all(self) -> list[pa.Table]:
        """The tables of all events."""
        return self._listed(self._bound, 0, [])

    def more(self, before: list[pa.Table], files: int) -> list[pa.Table] | None:
        """The same from those of the first files; None where that cannot be."""
        behind = None if self._seams is None else self._seams.behind(self._bound, files)
        return None if behind is None else self._listed(behind.bound, behind.before, before)

    def _listed(self, bound: BoundQuery, first: int, before: list[pa.Table]) -> list[pa.Table]:
        """With the matches of a query over the events from `first` on."""
        durations, starts = DurationSums(self._parted, self._timed), StartsSeen(self._parted.names)
        sums = [
            one
            for one, asked in ((durations, self._wanted.durations), (starts, self._wanted.starts))
            if asked
        ]
        for one, table in zip(sums, before):
            one.take(table)
        for batch in bound.matches().batches():
            keys = placed(batch, self._parted, self._timed)
            if self._wanted.durations:
                durations.add(batch, keys)
            if self._wanted.starts:
                starts.add(batch, keys, first)
        return [] if any(one.empty for one in sums) else [one.table() for one in sums]

    def added_to(self, found: pa.Table, listed: list[pa.Table], kind: pa.DataType) -> pa.Table:
        """What was found, with the columns."""
        durations, starts = DurationSums(self._parted, self._timed), StartsSeen(self._parted.names)
        if self._wanted.starts:
            starts.take(listed[-1])
            found = starts.added_to(found)
        if self._wanted.durations:
            durations.take(listed[0])
            found = durations.added_to(found, kind)
        return found


def _without(found: pa.Table, wanted: ListedFor, kind: pa.DataType) -> pa.Table:
    """What was found, where the columns are not known."""
    found = without_starts(found) if wanted.starts else found
    return without_durations(found, kind) if wanted.durations else found
