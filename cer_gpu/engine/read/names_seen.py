"""The names that occur in the columns of types and streams, to report names that do not occur."""

from __future__ import annotations

from collections.abc import Iterable

from cer_gpu.plan.axes import ColumnAxis

SEEN = 1000
"""How many names of a column are remembered, to suggest one for a name that does not occur."""


class NamesSeen:
    """The names that events have had so far.

    Attributes
    ----------
    unseen : dict of str to set of str
        For each column, the names of the query that no event has had.
    seen : dict of str to set of str
        For each column, some of the names that events have had.
    """

    def __init__(self) -> None:
        self.unseen: dict[str, set[str]] = {}
        self.seen: dict[str, set[str]] = {}

    def note(self, axis: ColumnAxis, texts: Iterable[str]) -> None:
        """Note that events have had some names in the column of an axis."""
        texts = list(texts)
        seen = self.seen.setdefault(axis.column, set())
        seen.update(texts[: SEEN - len(seen)])
        self.unseen.setdefault(axis.column, set(axis.names)).difference_update(texts)

    def missing(self) -> list[tuple[str, str, list[str]]]:
        """The types and streams of the query that no event had: their column, name, and names that occur."""
        return [
            (column, name, sorted(self.seen[column]))
            for column, names in self.unseen.items()
            for name in sorted(names)
        ]
