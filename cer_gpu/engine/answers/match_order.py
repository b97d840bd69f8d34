"""The matches with the greatest or least values in a column, overall or for each key: `MatchOrder`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from cer_gpu.engine.answers.candidates import CandidateMatches, MatchKeys, can_be_key
from cer_gpu.engine.answers.tidy_form import EventRows
from cer_gpu.errors import DataError
from cer_gpu.language.near_names import near_name
from cer_gpu.lazy_modules import compute as pc
from cer_gpu.printable_text import names_text

DURATION = "duration"
"""What the time from the start to the end is called where no column has this name."""


class ChosenMatches(NamedTuple):
    """Some matches, the first one in front.

    Attributes
    ----------
    matches : ndarray, shape (n,), int64
        Their numbers among all, from 0.
    rows : pyarrow.Table
        What was given of them.
    """

    matches: np.ndarray
    rows: pa.Table


class MatchOrder(NamedTuple):
    """Which matches come first.

    Attributes
    ----------
    number : int
        How many are chosen, overall or for each key.
    by : str
        A column of the flat form, or `duration`.
    per : tuple of str
        Columns of the flat form that are the key; without any there is one choice.
    descending : bool
        Whether the greatest values come first. Values that are missing or NaN come last; of equal values the
        match that ends first comes first.
    times : tuple of str
        The columns of the times of the start and the end; empty without an order.
    """

    number: int
    by: str
    per: tuple[str, ...]
    descending: bool
    times: tuple[str, ...]

    def check(self, schema: pa.Schema, ids: bool) -> None:
        """Refuse columns that the flat form does not have, or that have no order.

        Raises
        ------
        DataError
        """
        names = schema.names
        for name in self.per:
            if name not in names:
                raise DataError(f"the matches have no column {names_text([name])}: {_said(name, names)}")
            if not can_be_key(kind := schema.field(name).type):
                raise DataError(f"the column {names_text([name])} is of type {kind}, which is no key")
        if self.by not in names:
            if self.by != DURATION:
                raise DataError(
                    f"the matches have no column {names_text([self.by])}: "
                    f"{_said(self.by, [*names, DURATION])}; for another value write a measure in SELECT, "
                    "such as LAST(b.price) - FIRST(a.price) AS gain"
                )
            if not self.times and ids:
                raise DataError("with event_id and without order_by a match has no duration: pass order_by")
        elif pa.types.is_nested(kind := schema.field(self.by).type) or pa.types.is_null(kind):
            raise DataError(f"the column {names_text([self.by])} is of type {kind}, which has no order")

    def chosen(
        self,
        parts: Iterable[tuple[pa.RecordBatch, pa.RecordBatch]],
        flat_schema: pa.Schema,
        schema: pa.Schema,
    ) -> ChosenMatches:
        """The matches that come first.

        Parameters
        ----------
        parts : iterable of (flat, rows)
            All matches, batch after batch: in flat form, and what is returned of the chosen ones.
        flat_schema, schema : pyarrow.Schema
            Of `flat`, and of `rows`.
        """
        keys = MatchKeys(self.per, flat_schema) if self.per else None
        candidates = CandidateMatches(self.number, self.descending, keys, schema)
        for flat, rows in parts:
            candidates.add(self._value(flat), flat, rows)
        return ChosenMatches(*candidates.chosen())

    def _value(self, flat: pa.RecordBatch) -> pa.Array:
        """What the matches of a batch are ordered by."""
        names = flat.schema.names
        if self.by in names:
            return flat.column(names.index(self.by))
        start, end = self.times or names[:2]
        return pc.subtract(flat.column(names.index(end)), flat.column(names.index(start)))


def _said(name: str, names: Sequence[str]) -> str:
    near = near_name(name, names, columns=True)
    meant = f"did you mean {names_text([near])}? " if near else ""
    return f"{meant}the columns are {names_text(list(dict.fromkeys(names)))}"


def picked(results: Iterable[Any], matches: np.ndarray) -> Iterator[Any]:
    """What a form makes of some matches, in their order.

    Parameters
    ----------
    results : iterable of RecordBatch or EventRows
        What it makes of all.
    matches : ndarray, shape (n,), int64
        The numbers of the wanted ones, none twice.
    """
    ascending = np.sort(matches)
    place = np.argsort(matches)  # the rank of each of `ascending`
    batches: list[pa.RecordBatch] = []
    ranks: list[np.ndarray] = []
    before, tidy = 0, False
    for found in results:
        tidy = isinstance(found, EventRows)
        batch = found.batch if tidy else found
        count = found.matches if tidy else len(found)
        low, high = np.searchsorted(ascending, [before, before + count])
        if low < high:
            wanted = ascending[low:high] - before
            own = batch.column(0).to_numpy() if tidy else np.arange(count)
            at = np.searchsorted(wanted, own)
            there = (at < len(wanted)) & (wanted[np.minimum(at, len(wanted) - 1)] == own)
            batches.append(batch.filter(pa.array(there)))
            ranks.append(place[low:high][at[there]])
        before += count
        if high == len(ascending):
            break
    if not batches:
        return
    every = np.concatenate(ranks)
    order = np.argsort(every, kind="stable")
    rows = pa.Table.from_batches(batches).take(pa.array(order)).combine_chunks()
    if not tidy:
        yield from rows.to_batches()
        return
    for made in rows.to_batches():  # one, where any event is marked
        yield EventRows(len(matches), made.set_column(0, made.schema.field(0), pa.array(every[order])))
