"""The values of events that partial matches keep, as words of 64 bits: `HeldValues`.

Numbers and times are their own words. Texts, and exact numbers that are compared only with each other, are
kept as **labels**, which are in the order of the values. A new value gets a label between those of its
neighbours; if there is none left, all labels are given again.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from cer_gpu.automata.configurations.held import Held
from cer_gpu.engine.read.compared import ColumnKind, kind_of, known, values_of
from cer_gpu.engine.read.compared_numbers import numbers_of
from cer_gpu.engine.read.sources.columns import is_text, single
from cer_gpu.language import tree

ENDS = -(1 << 62), 1 << 62
"""All labels lie between these."""

APART = 1 << 32
"""How far above the last label the label of a greater value is, where there is room."""

FEW = 1 << 12
"""The least number of values that are kept, whether anything holds them or not."""


class OrderedLabels:
    """Values of one sort, and their labels.

    Parameters
    ----------
    always : sequence
        Values that are always kept.
    """

    def __init__(self, always: Sequence[Any] = ()) -> None:
        self._always = frozenset(always)
        self.values: list[Any] = []
        self.of: dict[Any, int] = {}
        self._kept = 0
        self.take(always)

    def take(self, values: Iterable[Any]) -> tuple[np.ndarray, np.ndarray] | None:
        """Give labels to values; if old labels change, returns these, ascending, and the new ones."""
        new = sorted({value for value in values if value not in self.of})
        if not new:
            return None
        gaps: dict[int, list[Any]] = {}
        for value in new:
            gaps.setdefault(bisect_left(self.values, value), []).append(value)
        fresh: dict[Any, int] = {}
        for place, some in gaps.items():
            low = self.of[self.values[place - 1]] if place else ENDS[0]
            last = place == len(self.values)
            high = min(ENDS[1], low + APART * (len(some) + 1)) if last else self.of[self.values[place]]
            step = (high - low) // (len(some) + 1)
            if step < 1:
                return self._anew(new)
            fresh |= {value: low + step * (number + 1) for number, value in enumerate(some)}
        if not self.values:
            self._anew(new)
            return None
        self.of |= fresh
        self.values = sorted([*self.values, *new])
        return None

    def _anew(self, new: Sequence[Any]) -> tuple[np.ndarray, np.ndarray]:
        old, before = self.values, self.of
        self.values = sorted([*old, *new])
        step = (ENDS[1] - ENDS[0]) // (len(self.values) + 1)
        self.of = {value: ENDS[0] + step * (number + 1) for number, value in enumerate(self.values)}
        return (
            np.array([before[value] for value in old], np.int64),
            np.array([self.of[value] for value in old], np.int64),
        )

    @property
    def crowded(self) -> bool:
        """Whether there may be many values that nothing holds."""
        return len(self.values) > 2 * self._kept + FEW

    def keep(self, held: np.ndarray) -> None:
        """Forget the values whose labels are not in `held`."""
        wanted = set(held.tolist())
        self.values = [one for one in self.values if self.of[one] in wanted or one in self._always]
        self.of = {one: self.of[one] for one in self.values}
        self._kept = len(self.values)

    def state(self) -> list[Any]:
        """What is stored with a stream."""
        return [(value, self.of[value]) for value in self.values]

    def resume(self, state: Sequence[tuple[Any, int]]) -> None:
        """Continue from what `state` returned."""
        self.of = dict(state)
        self.values = list(self.of)
        assert all(self.of[one] < self.of[other] for one, other in pairwise(self.values))


class MovedLabels(NamedTuple):
    """Labels that have changed: those of some columns, ascending, and the new ones."""

    columns: frozenset[int]
    old: np.ndarray
    new: np.ndarray


class HeldValues:
    """Reads the values of events that partial matches keep.

    Parameters
    ----------
    columns : sequence of Expression
        The values, over columns of the data and derived ones.
    held : Held
    """

    def __init__(self, columns: Sequence[tree.Expression], held: Held) -> None:
        self._columns = columns
        self._real = [word == "real" for word in held.words]
        self._ranked = [number for number, word in enumerate(held.words) if word == "rank"]
        self._wanted = held.texts
        self.texts, self.numbers = OrderedLabels(held.texts), OrderedLabels()
        self._of_text: frozenset[int] = frozenset()
        self._value: dict[int, Callable[[Sequence[Any]], Any]] = {}

    @property
    def labelled(self) -> frozenset[int]:
        """The columns whose values are kept as labels."""
        return frozenset(self._ranked)

    def text_labels(self) -> list[int]:
        """The labels of the texts that comparisons name."""
        return [self.texts.of[text] for text in self._wanted]

    def read(self, rows: pa.Table) -> tuple[tuple[np.ndarray, np.ndarray, np.ndarray], list[MovedLabels]]:
        """The values of events, as `numbers_of` gives them, and the labels that have changed."""
        plain = [None if number in self._ranked else one for number, one in enumerate(self._columns)]
        values, floats, known_ = found = numbers_of(plain, self._real, rows)
        if not self._ranked:
            return found, []
        read = [self._read(number, rows) for number in self._ranked]
        text = frozenset(
            number for number, (_, _, of_text) in zip(self._ranked, read, strict=True) if of_text
        )
        self._of_text = text
        moved = []
        for labels, own in ((self.texts, text), (self.numbers, frozenset(self._ranked) - text)):
            changed = labels.take(
                value
                for number, (distinct, _, _) in zip(self._ranked, read, strict=True)
                if number in own
                for value in distinct
            )
            if changed is not None:
                moved.append(MovedLabels(own, *changed))
        for number, (distinct, which, of_text) in zip(self._ranked, read, strict=True):
            label_of = (self.texts if of_text else self.numbers).of
            label = np.array([label_of[value] for value in distinct] + [0], np.int64)
            values[number] = label[which]
            known_[number] = which >= 0
        return (values, floats, known_), moved

    def _read(self, number: int, rows: pa.Table) -> tuple[list[Any], np.ndarray, bool]:
        """The distinct values of a column, which of them each event has (-1: none), and whether texts."""
        expression = self._columns[number]
        if isinstance(expression, tree.Attribute):
            column = rows.column(expression.name)
            if is_text(column.type):
                whole = single(column)
                coded = whole if pa.types.is_dictionary(whole.type) else whole.dictionary_encode()
                which = coded.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
                used, which = np.unique(which, return_inverse=True)
                chosen = coded.dictionary.take(pa.array(used[used >= 0])).to_pylist()
                return _distinct(chosen, which.reshape(-1) - int((used < 0).sum()), True)
        names = rows.schema.names

        def places(part: tree.Expression) -> tuple[int, ColumnKind] | None:
            if not isinstance(part, tree.Attribute):
                return None
            place = names.index(part.name)
            return place, kind_of(rows.schema.field(place).type)

        own = known(expression, places)
        columns = [values_of(column) for column in rows.columns]
        found = [own.value(row) for row in zip(*columns, strict=True)]
        number_of: dict[Any, int] = {}
        which = np.array(
            [-1 if one is None or one != one else number_of.setdefault(one, len(number_of)) for one in found],
            np.int64,
        )
        return list(number_of), which, own.kind.kind == "text"

    def crowded(self) -> bool:
        """Whether there may be many values that nothing holds."""
        return self.texts.crowded or self.numbers.crowded

    def keep(self, held: Callable[[frozenset[int]], np.ndarray]) -> None:
        """Forget values that nothing holds; `held(columns)` gives the labels held of some columns."""
        self.texts.keep(held(self._of_text))
        self.numbers.keep(held(self.labelled - self._of_text))

    def state(self) -> list[Any]:
        """What is stored with a stream."""
        return [self.texts.state(), self.numbers.state(), sorted(self._of_text)]

    def resume(self, state: Sequence[Any]) -> None:
        """Continue from what `state` returned."""
        texts, numbers, of_text = state
        self.texts.resume(texts)
        self.numbers.resume(numbers)
        self._of_text = frozenset(of_text)


def _distinct(values: list[Any], which: np.ndarray, of_text: bool) -> tuple[list[Any], np.ndarray, bool]:
    """Values of a dictionary, of which some may be alike or null, each once."""
    number_of: dict[Any, int] = {}
    moved = [-1 if one is None else number_of.setdefault(one, len(number_of)) for one in values]
    if moved != list(range(len(values))):
        which = np.where(which >= 0, np.array([*moved, -1], np.int64)[which], -1)
    return list(number_of), which, of_text
