"""Rows that were inserted a few at a time and are not in the join trees yet: `WaitingRows`.

Taking one row in costs nearly as much as taking a hundred, so rows wait until the view is read or enough of
them have come. Only rows wait that can be taken in without an error: `never_fails`, and `WaitingRows.fit`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import chain
from math import prod
from typing import Any, TypeAlias

from cer_gpu.engine.views.codes import ValueCodes, ValueKind
from cer_gpu.language import tree as t

FEW = 1 << 6
"""The most rows of an update that wait."""

FULL = 1 << 12
"""As soon as so many rows wait they are taken in."""

MOST = 1 << 62
"""Multiplicities stay below this number."""


WaitingRow: TypeAlias = tuple[Any, ...]
"""A row that waits: the name of its relation, then the values of its attributes."""


class WaitingRows:
    """Rows that wait, by the updates that inserted them.

    Attributes
    ----------
    updates : list of list of tuple
        The rows of each update. One is appended in one step, so that Ctrl-C leaves all of it or nothing.
    """

    def __init__(self) -> None:
        self.updates: list[list[WaitingRow]] = []
        self._rows = 0
        self._fits: bool | None = None

    @property
    def full(self) -> bool:
        """Whether the rows are to be taken in now."""
        return self._rows >= FULL

    def fit(self, totals: Callable[[], Iterable[int]]) -> bool:
        """Whether no multiplicity can become too large, however many rows wait.

        Parameters
        ----------
        totals : callable
            How many rows the relation of each atom has, without those that wait.
        """
        if self._fits is None:
            self._fits = prod(total + FULL + FEW for total in totals()) < MOST
        return self._fits

    def put(self, update: list[WaitingRow]) -> None:
        """Let the rows of an update wait."""
        self._rows += len(update)
        self.updates.append(update)

    def first(self, updates: int) -> dict[str, list[WaitingRow]]:
        """The rows of the first updates, by their relations."""
        found: dict[str, list[WaitingRow]] = {}
        for row in chain.from_iterable(self.updates[:updates]):
            found.setdefault(row[0], []).append(row)
        return found

    def drop(self, updates: int) -> None:
        """The first updates wait no more."""
        self.updates = self.updates[updates:]
        self._rows = sum(map(len, self.updates))
        self._fits = None


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
