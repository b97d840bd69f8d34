"""The columns that need a list of the matches (durations and starts), which is made once for both."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import pyarrow as pa

from cer_gpu.backtesting.asked import AskedQuery
from cer_gpu.backtesting.durations import DurationSums, duration_type, without_durations
from cer_gpu.backtesting.parted import Parted
from cer_gpu.backtesting.starts import StartsSeen, without_starts
from cer_gpu.backtesting.table import QUERY, placed
from cer_gpu.engine.answers.notes import Notes
from cer_gpu.engine.run.bound import BoundQuery

MOST = 1 << 26
"""Of a query with more matches than these none is listed: it would take minutes."""


Made: TypeAlias = Callable[[str, Callable[[], list[pa.Table]]], list[pa.Table]]


class ListedFor(NamedTuple):
    """The columns that need a list of the matches."""

    starts: bool
    durations: bool

    @property
    def told(self) -> str:
        """The columns, in words."""
        return " and ".join(name for name, wanted in self._asdict().items() if wanted)


def with_listed(
    tables: Sequence[pa.Table],
    asked: Sequence[AskedQuery],
    bound: Sequence[BoundQuery],
    wanted: ListedFor,
    parted: Parted,
    timed: bool,
    notes: Notes,
    made: Made,
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
        Makes or restores the tables of a query: see `KeptBacktest.made`.
    """
    found = []
    for table in tables:
        numbers = table.column(QUERY).to_numpy()
        for number in np.unique(numbers).tolist():
            own = table.filter(pa.array(numbers == number))
            query = None if too_many(asked[number], own, wanted.told, notes) else bound[number]
            found += made(f"{wanted.told} of {number}", partial(_listed, own, query, wanted, parted, timed))
    return found or [_with_columns(table, None, wanted, parted, timed) for table in tables]


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


def _listed(*given: Any) -> list[pa.Table]:
    return [_with_columns(*given)]


def _with_columns(
    found: pa.Table, bound: BoundQuery | None, wanted: ListedFor, parted: Parted, timed: bool
) -> pa.Table:
    """What was found of one query, with the columns; `bound` is None where they are not known."""
    kind = duration_type(found.schema.field("first").type if timed else None)
    if bound is None or not len(found):
        found = without_starts(found) if wanted.starts else found
        return without_durations(found, kind) if wanted.durations else found
    starts = StartsSeen(parted) if wanted.starts else None
    durations = DurationSums(parted, timed) if wanted.durations else None
    for batch in bound.matches().batches():
        keys = placed(batch, parted, timed)
        if starts is not None:
            starts.add(batch, keys)
        if durations is not None:
            durations.add(batch, keys)
    found = found if starts is None else starts.added_to(found)
    return found if durations is None else durations.added_to(found, kind)
