"""Tables of a report: rows in the order of their parameters, numbers in one format, no constant columns."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from datetime import timedelta
from html import escape
from typing import NamedTuple

import pyarrow as pa

from cer_gpu.backtesting.number_format import figures, lengths_of_time, percents
from cer_gpu.backtesting.variant_label import order_of
from cer_gpu.engine.answers.display import cells
from cer_gpu.lazy_modules import compute as pc

MOST_ROWS = 2000
"""Rows of a table of the page at most; those with most hits, or the first ones."""

COUNTS = frozenset({"hits", "matches", "starts", "n", "died", "position"})
"""Columns of counts, which are shown even if they say the same in every row."""

SHARES = frozenset({"positive", "base_positive", "positive_gain_low", "positive_gain_high"})
"""Columns of shares and their differences, which are shown in percent."""

LONG = timedelta(hours=1)
"""Where times lie this far apart, parts of a second are left out."""


class ReportTable(NamedTuple):
    """A table of the page.

    Attributes
    ----------
    title : str
    table : pyarrow.Table
        Its first columns are the query and the parameters.
    parameters : int
        How many parameters there are.
    by : str or None
        Which rows are shown where there are too many: those with the greatest values in this column.
    alike : collection of str
        Columns of numbers that are shown with as many decimals.
    """

    title: str
    table: pa.Table
    parameters: int
    by: str | None = None
    alike: Collection[str] = ()

    def html(self) -> Iterator[str]:
        """The table as HTML, and what is said of it."""
        shown, told = self._chosen()
        names = shown.schema.names
        same = _constant(shown)
        left = [place for place in range(len(names)) if place not in same]
        texts = self._texts(shown)
        yield f"<h2>{escape(self.title)} <small>{escape(told)}</small></h2>"
        if said := ", ".join(f"{names[place]} = {texts[place][0]}" for place in same if texts[place][0]):
            yield f"<p class='about'>The same in every row: {escape(said)}.</p>"
        numbers = ["number" if _is_right(kind) else "" for kind in shown.schema.types]
        head = "".join(
            f"<th class='{numbers[place]}'><button type='button'>{escape(names[place])}</button></th>"
            for place in left
        )
        keys = {place: _keys(shown.column(place), 1 <= place <= self.parameters) for place in left}
        rows = "".join(
            "<tr>"
            + "".join(
                f"<td class='{numbers[place]}'{keys[place][row]}>{escape(texts[place][row])}</td>"
                for place in left
            )
            + "</tr>"
            for row in range(len(shown))
        )
        yield (
            f"<div class='table' tabindex='0'><table><thead><tr>{head}</tr></thead>"
            f"<tbody>{rows}</tbody></table></div>"
        )

    def _chosen(self) -> tuple[pa.Table, str]:
        """The rows that are shown, in the order of their parameters, and how many of how many there are."""
        shown, told = self.table, f"{len(self.table):,} {'row' if len(self.table) == 1 else 'rows'}"
        if len(shown) > MOST_ROWS:
            which = "that come first"
            if self.by is not None:
                shown, which = shown.sort_by([(self.by, "descending")]), f"with most {self.by}"
            shown = shown.slice(0, MOST_ROWS)
            told = f"the {MOST_ROWS:,} of {len(self.table):,} rows {which}"
        given = [shown.column(place).to_pylist() for place in range(self.parameters + 1)]
        first = {query: place for place, query in enumerate(dict.fromkeys(self.table.column(0).to_pylist()))}
        keys = [(first[query], *map(order_of, values)) for query, *values in zip(*given, strict=True)]
        order = sorted(range(len(shown)), key=keys.__getitem__)
        return shown.take(pa.array(order, pa.int64())), told

    def _texts(self, shown: pa.Table) -> list[list[str]]:
        """The cells of each column."""
        alike = [
            value
            for name in shown.schema.names
            if name in self.alike
            for value in shown[name].to_pylist()
            if value is not None
        ]
        whole = _far_apart([column for column in shown.columns if pa.types.is_timestamp(column.type)])
        texts = [
            _shown(column, field.name, alike if field.name in self.alike else None, place <= self.parameters)
            for place, (field, column) in enumerate(zip(shown.schema, shown.columns, strict=True))
        ]
        return [
            [_FRACTION.sub("", text) for text in own] if whole and pa.types.is_timestamp(kind) else own
            for kind, own in zip(shown.schema.types, texts, strict=True)
        ]


def _constant(shown: pa.Table) -> list[int]:
    """The columns that say the same in all of several rows; of figures those that say nothing."""
    found = []
    for place, name in enumerate(shown.schema.names):
        column = shown.column(place)
        empty = len(column) > 0 and column.null_count == len(column)
        several = len(column) > 1 and name not in COUNTS
        if empty or (several and len(column.unique()) == 1):
            found.append(place)
    return found


def _is_number(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind))


def _is_right(kind: pa.DataType) -> bool:
    return _is_number(kind) or bool(pa.types.is_duration(kind))


def _keys(column: pa.ChunkedArray, is_parameter: bool) -> list[str]:
    """By what the script sorts the cells of a column, as an attribute, where their text is not enough."""
    values = column.to_pylist() if is_parameter or pa.types.is_duration(column.type) else []
    if not values or _is_number(column.type):
        return [""] * len(column)
    places = {key: place for place, key in enumerate(sorted({order_of(value) for value in values}))}
    return [f" data-sort='{places[order_of(value)]}'" for value in values]


def _shown(column: pa.ChunkedArray, name: str, alike: Sequence[float] | None, is_given: bool) -> list[str]:
    """The cells of a column: numbers in one format, durations in one unit, times without a T."""
    kind = column.type
    if _is_number(kind) and is_given:  # a parameter is shown as it was given
        return ["" if value is None else _given(value) for value in column.to_pylist()]
    if name in SHARES:
        return percents(column.to_pylist())
    if name in COUNTS or name in ("base_n", "blocks"):
        return ["" if value is None else f"{value:,}" for value in column.to_pylist()]
    if _is_number(kind):
        return figures(column.to_pylist(), alike)
    if pa.types.is_duration(kind):
        return lengths_of_time(column.to_pylist())
    if pa.types.is_timestamp(kind):
        return [text.replace("T", " ", 1) for text in cells(column)]
    return cells(column)


def _given(value: float) -> str:
    """The value of a parameter; of a large whole number the thousands apart."""
    return f"{value:,}" if isinstance(value, int) and abs(value) >= 10_000 else str(value)


def _far_apart(columns: Sequence[pa.ChunkedArray]) -> bool:
    """Whether times lie so far apart that parts of a second tell nothing."""
    known = [column.cast(pa.timestamp("s"), safe=False).cast(pa.int64()) for column in columns]
    ends = [pc.min_max(column).as_py() for column in known]
    least = [one["min"] for one in ends if one["min"] is not None]
    most = [one["max"] for one in ends if one["max"] is not None]
    return bool(least) and max(most) - min(least) >= LONG.total_seconds()


_FRACTION = re.compile(r"(?<=:\d\d)\.\d+")
