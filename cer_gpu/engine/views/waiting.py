"""Rows that were inserted a few at a time and are not in the join trees yet: `WaitingRows`.

Taking one row in costs nearly as much as taking a hundred, so rows wait until the view is read or enough of
them have come. Only rows wait that can be taken in without an error: `never_fails`, and `WaitingRows.fit`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from math import prod
from typing import Any, NamedTuple, TypeAlias

from cer_gpu.engine.views.codes import ValueCodes, ValueKind
from cer_gpu.language import tree as t

FEW = 1 << 6
"""The most rows of an update that wait."""

FULL = 1 << 12
"""As soon as so many rows wait they are taken in."""

MOST = 1 << 62
"""Multiplicities stay below this number."""


ListedColumns: TypeAlias = list[list[Any]]
"""Few rows of a relation: the values of each attribute."""

Waiting: TypeAlias = Sequence[tuple[str, ListedColumns]]
"""An update that waits: its relations and their rows."""


class TakenRows(NamedTuple):
    """Rows that are taken in: their columns by relation, and how many updates and rows these are."""

    columns: dict[str, ListedColumns]
    updates: int
    rows: int


class WaitingRows:
    """Rows that wait.

    The values of all updates but the last are put together as they come: what is kept for each update costs
    more than its values, in memory and in the time of Python's garbage collector.

    Attributes
    ----------
    updates : int
        How many updates wait.
    """

    def __init__(self) -> None:
        self.updates = 0
        self._rows = 0
        self._earlier: dict[str, ListedColumns] = {}
        self._last: Waiting = ()
        self._fits = False

    @property
    def full(self) -> bool:
        """Whether the rows are to be taken in now."""
        return self._rows >= FULL or self.updates >= FULL

    def fit(self, totals: Callable[[], Iterable[int]]) -> bool:
        """Whether no multiplicity can become too large, however many rows wait.

        Parameters
        ----------
        totals : callable
            How many rows the relation of each atom has, without those that wait.
        """
        if not self.updates:
            self._fits = prod(total + FULL + FEW for total in totals()) < MOST
        return self._fits

    def put(self, update: Waiting, rows: int) -> None:
        """Let the rows of an update wait, and say how many they are."""
        for name, columns in self._last:
            held = self._earlier.get(name)
            if held is None:
                self._earlier[name] = columns
            else:
                for values, more in zip(held, columns):
                    values += more
        self._last = update
        self.updates += 1
        self._rows += rows

    def taken(self) -> TakenRows:
        """All updates but the last, or the last one where no other waits; they wait no more."""
        found = TakenRows(self._earlier or dict(self._last), max(1, self.updates - 1), self._rows)
        if self._earlier:
            found = found._replace(rows=self._rows - sum(len(columns[0]) for _, columns in self._last))
        else:
            self._last = ()
        self._earlier = {}
        self.updates -= found.updates
        self._rows -= found.rows
        return found

    def put_back(self, taken: TakenRows) -> None:
        """Let updates wait again, before the one that still waits."""
        if self.updates:
            self._earlier = taken.columns
        else:
            self._last = list(taken.columns.items())
        self.updates += taken.updates
        self._rows += taken.rows


def never_fails(rules: Iterable[t.Comparison], kinds: Iterable[ValueKind], codes: ValueCodes) -> bool:
    """Whether rows can be taken in, whatever they hold: no comparison computes a value, and no value gets a
    number between those of others.

    Parameters
    ----------
    rules : iterable of Comparison
    kinds : iterable of ValueKind
        The kinds of all columns.
    codes : ValueCodes
    """
    sides = [side for rule in rules for side in (rule.left, rule.right)]
    plain = all(isinstance(side, t.Attribute | t.Number | t.Text) for side in sides)
    return plain and not any(map(codes.in_order, kinds))
