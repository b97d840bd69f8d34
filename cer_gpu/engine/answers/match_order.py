"""The matches with the greatest or least values in a column, overall or for each key: `MatchOrder`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from cer_gpu.engine.answers.tidy_form import EventRows
from cer_gpu.errors import DataError
from cer_gpu.language.near_names import near_name
from cer_gpu.lazy_modules import compute as pc
from cer_gpu.printable_text import names_text

DURATION = "duration"
"""What the time from the start to the end is called where no column has this name."""

_VALUE, _MATCH = "\0value", "\0match"


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
        self, parts: Iterable[tuple[pa.RecordBatch, pa.RecordBatch]], schema: pa.Schema
    ) -> ChosenMatches:
        """The matches that come first.

        Parameters
        ----------
        parts : iterable of (flat, rows)
            All matches, batch after batch: in flat form, and what is returned of the chosen ones.
        schema : pyarrow.Schema
            Of `rows`.
        """
        best: pa.Table | None = None
        held: pa.Table | None = None
        before = 0
        for flat, rows in parts:
            given = self._valued(flat, before)
            before += len(flat)
            best = given if best is None else pa.concat_tables([best, given])
            part = pa.Table.from_batches([rows])
            held = part if held is None else pa.concat_tables([held, part])
            first = pa.array(self._first(best))
            best, held = best.take(first), held.take(first).combine_chunks()
        if best is None or held is None:
            return ChosenMatches(np.empty(0, np.int64), schema.empty_table())
        return ChosenMatches(best[_MATCH].to_numpy(), held)

    def _valued(self, flat: pa.RecordBatch, before: int) -> pa.Table:
        """The value, the key and the number of each match of a batch."""
        names = flat.schema.names
        if self.by in names:
            value = flat.column(names.index(self.by))
        else:
            start, end = self.times or names[:2]
            value = pc.subtract(flat.column(names.index(end)), flat.column(names.index(start)))
        numbers = pa.array(np.arange(before, before + len(flat)))
        key = [_decoded(flat.column(names.index(name))) for name in self.per]
        columns = [_decoded(value), numbers, *key]
        return pa.table(columns, [_VALUE, _MATCH, *(f"\0{place}" for place in range(len(key)))])

    def _first(self, valued: pa.Table) -> np.ndarray:
        """The rows to keep, the first one in front."""
        order: Any = [(_VALUE, "descending" if self.descending else "ascending"), (_MATCH, "ascending")]
        ranked = pc.sort_indices(valued, sort_keys=order).to_numpy()  # nulls come last
        if not self.per:
            return ranked[: self.number]
        group = np.zeros(len(ranked), np.int64)
        for name in valued.column_names[2:]:
            column = valued[name].combine_chunks().dictionary_encode(null_encoding="encode")
            codes = group * len(column.dictionary) + column.indices.to_numpy(zero_copy_only=False)
            group = np.unique(codes, return_inverse=True)[1]
        own = group[ranked]
        together = np.argsort(own, kind="stable")
        begins = np.flatnonzero(np.diff(own[together], prepend=-1))
        within = np.empty(len(own), np.int64)
        lengths = np.diff(np.append(begins, len(own)))
        within[together] = np.arange(len(own)) - np.repeat(begins, lengths)
        return ranked[within < self.number]


def _said(name: str, names: Sequence[str]) -> str:
    near = near_name(name, names, columns=True)
    meant = f"did you mean {names_text([near])}? " if near else ""
    return f"{meant}the columns are {names_text(list(dict.fromkeys(names)))}"


def _decoded(column: pa.Array) -> pa.Array:
    return column.dictionary_decode() if pa.types.is_dictionary(column.type) else column


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
