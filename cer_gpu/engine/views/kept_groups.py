"""The groups of a rule with aggregates, kept from batch to batch: `KeptGroups`.

What the aggregates are folded from are the different values of the head and of their variables, each with its
multiplicity. These are kept in order, so a group's are neighbours. A batch changes some of them, which the
join tree lists, and only the groups of these are folded again. Aggregates over variables of different atoms
are folded from different trees (`Body.parts`): the answers over both would be their products.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import pyarrow as pa

from cer_gpu.engine.views.aggregation import FoldedGroups, GroupFold, changed
from cer_gpu.engine.views.answer_columns import ListedAnswers
from cer_gpu.engine.views.levels import Levels, chosen, collapsed
from cer_gpu.engine.views.node_lookup import stacked
from cer_gpu.engine.views.reducts import Change
from cer_gpu.engine.views.runs import ranges_asked, wide
from cer_gpu.kernels.views import cpu_list, cpu_search


class FoldedPart:
    """Aggregates that are folded from the same rows.

    Parameters
    ----------
    aggregates : sequence of int
        Their numbers in the rule.
    grouping : Grouping
    head : sequence of str
    others : sequence of str
        The variables of the aggregates that are not in the head.

    Attributes
    ----------
    rows : Levels
        The different values of the head, then of `others`.
    last : Change
        What the last batch changed in them.
    """

    def __init__(
        self, aggregates: Sequence[int], grouping: GroupFold, head: Sequence[str], others: Sequence[str]
    ) -> None:
        self.aggregates = tuple(aggregates)
        self._grouping = grouping
        self._names = (*head, *others)
        self.rows = Levels(len(self._names), summed=False)
        self.last = Change(np.empty((0, len(self._names)), np.int64), np.empty(0, np.int64))

    def add(self, pieces: Iterable[ListedAnswers], whole: bool) -> None:
        """Take answers (`whole`), or what a batch changed in them."""
        parts = [self.last._replace(keys=self.last.keys[:0], amounts=self.last.amounts[:0])]
        for piece in pieces:
            keys = stacked(piece.columns, self._names, len(piece.after))
            parts.append(Change(keys, np.array(piece.after if whole else piece.after - piece.before)))
        keys = np.concatenate([part.keys for part in parts])
        keys, amounts = collapsed(keys, np.concatenate([part.amounts for part in parts]))
        found = Change(*chosen(keys, amounts, amounts != 0))
        self.rows.add(*found)
        if not whole:
            self.last = found

    def folded(self, heads: np.ndarray | None, past: bool) -> FoldedGroups:
        """Some groups, or all; as they were before the last batch if `past`."""
        parts = [self._of(heads)]
        if past:
            parts.append(Change(self.last.keys, -self.last.amounts))
        keys = np.concatenate([part.keys for part in parts])
        counts = np.concatenate([part.amounts for part in parts])
        if past:
            keys, counts = collapsed(keys, counts)
            keys, counts = chosen(keys, counts, counts != 0)
        columns = {name: keys[:, number] for number, name in enumerate(self._names)}
        return self._grouping.groups(columns, counts)

    def _of(self, heads: np.ndarray | None) -> Change:
        """The rows of some groups, or of all."""
        parts = [Change(self.last.keys[:0], self.last.amounts[:0])]
        for run in self.rows.runs:
            keys, counts = run.keys, run.counts
            if heads is not None:
                ranges = ranges_asked(run, heads, heads.shape[1], -1)
                size = int((ranges[:, 1] - ranges[:, 0]).sum())
                asking, places = np.empty(size, np.int64), np.empty(size, np.int64)
                cpu_list.spread(ranges, asking, places)
                keys, counts = keys.take(places, axis=0), counts.take(places)
            parts.append(Change(*chosen(wide(keys), wide(counts), counts != 0)))
        keys = np.concatenate([part.keys for part in parts])
        return Change(keys, np.concatenate([part.amounts for part in parts]))


class KeptGroups:
    """The groups of a rule with aggregates.

    Parameters
    ----------
    parts : sequence of FoldedPart
        Each holds the rows from before the last batch.
    head : int
        How many variables name a group.
    """

    def __init__(self, parts: Sequence[FoldedPart], head: int) -> None:
        self._parts = tuple(parts)
        self._head = head
        self._whole: FoldedGroups | None = None
        self._stale: list[np.ndarray] = []

    def take(self, changes: Sequence[Iterable[ListedAnswers]]) -> None:
        """Take what a batch changed in the answers of each part."""
        for part, pieces in zip(self._parts, changes):
            part.add(pieces, whole=False)
        self._stale.append(self._changed())

    def all(self) -> FoldedGroups:
        """All groups, in order; only those that were changed since the last call are folded."""
        stale = _different(np.concatenate([np.empty((0, self._head), np.int64), *self._stale]))
        known = self._whole
        if known is None or (len(stale) and (not self._head or 2 * len(stale) > len(known.keys))):
            known = self._folded(None, past=False)
        elif len(stale):
            new = self._folded(stale, past=False)
            places = np.empty(len(known.keys), np.int64)
            cpu_search.find(stale, known.keys, places)
            same = np.flatnonzero(places < 0)
            keys = np.concatenate([known.keys[same], new.keys])
            order = np.lexsort(keys.T[::-1])
            values = [
                pa.concat_arrays([old.take(pa.array(same)), fresh]).take(pa.array(order))
                for old, fresh in zip(known.values, new.values)
            ]
            known = FoldedGroups(np.ascontiguousarray(keys[order]), values)
        self._whole, self._stale = known, []
        return known

    def difference(self) -> tuple[FoldedGroups, FoldedGroups]:
        """The groups that the last batch changed, as they were and as they are."""
        heads = self._changed()
        if not len(heads):
            none = self._folded(heads, past=False)
            none = FoldedGroups(none.keys[:0], [values.slice(0, 0) for values in none.values])
            return none, none
        some = heads if self._head else None
        old, new = self._folded(some, past=True), self._folded(some, past=False)
        gone, made = changed(old, new)
        return _some(old, gone), _some(new, made)

    def _changed(self) -> np.ndarray:
        """The heads of the rows that the last batch changed."""
        return _different(np.concatenate([part.last.keys[:, : self._head] for part in self._parts]))

    def _folded(self, heads: np.ndarray | None, past: bool) -> FoldedGroups:
        values: dict[int, pa.Array] = {}
        for part in self._parts:
            found = part.folded(heads, past)
            values.update(zip(part.aggregates, found.values))
        return FoldedGroups(found.keys, [values[number] for number in sorted(values)])


def _some(groups: FoldedGroups, places: np.ndarray) -> FoldedGroups:
    return FoldedGroups(groups.keys[places], [values.take(pa.array(places)) for values in groups.values])


def _different(keys: np.ndarray) -> np.ndarray:
    """Different rows, in order."""
    return collapsed(np.ascontiguousarray(keys), np.zeros(len(keys), np.int64))[0]
