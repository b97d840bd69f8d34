"""Rows that were inserted a few at a time and are not in the join trees yet: `WaitingRows`.

Taking one row in costs nearly as much as taking a hundred, so rows wait until the view is read or enough of
them have come. Only rows wait that can be taken in without an error: `never_fails`, and `WaitingRows.fit`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from math import prod

import numpy as np

from cer_gpu.engine.views.codes import ValueCodes, ValueKind
from cer_gpu.language import tree as t

FEW = 1 << 6
"""The most rows of an update that wait."""

FULL = 1 << 10
"""As soon as so many rows wait they are taken in."""

MOST = 1 << 62
"""Multiplicities stay below this number."""


class WaitingRows:
    """Rows that wait, by the updates that inserted them.

    Attributes
    ----------
    updates : list of sequence of (str, ndarray)
        For each update the relations and their encoded rows, int64 [rows, attributes].
    """

    def __init__(self) -> None:
        self.updates: list[Sequence[tuple[str, np.ndarray]]] = []
        self._rows = 0
        self._fits = False

    @property
    def full(self) -> bool:
        """Whether the rows are to be taken in now."""
        return self._rows >= FULL or len(self.updates) >= FULL

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

    def put(self, update: Sequence[tuple[str, np.ndarray]]) -> None:
        """Let the rows of an update wait."""
        self.updates.append(update)
        self._rows += sum(len(keys) for _, keys in update)

    def taken(self) -> list[Sequence[tuple[str, np.ndarray]]]:
        """All updates but the last, or the last one where no other waits; they wait no more."""
        many = max(1, len(self.updates) - 1)
        found = self.updates[:many]
        self._keep(self.updates[many:])
        return found

    def put_back(self, updates: Sequence[Sequence[tuple[str, np.ndarray]]]) -> None:
        """Let updates wait again, before all others."""
        self._keep([*updates, *self.updates])

    def _keep(self, updates: list[Sequence[tuple[str, np.ndarray]]]) -> None:
        self.updates = updates
        self._rows = sum(len(keys) for update in updates for _, keys in update)


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
