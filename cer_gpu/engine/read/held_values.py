"""The values of events that partial matches keep, as words of 64 bits: `HeldValues`.

Numbers and times are their own words. Texts, and exact numbers that are compared with each other alone, are
held as **labels**, which are ordered as the values are (`cer_gpu.engine.labels`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from cer_gpu.automata.configurations.value_words import HeldWords
from cer_gpu.engine.labels import MovedLabels, OrderedLabels
from cer_gpu.engine.read.comparisons import ColumnKind, kind_of, known, values_of
from cer_gpu.engine.read.derive import evaluate, read_columns
from cer_gpu.engine.read.held_texts import TextStore
from cer_gpu.engine.read.ranks import beyond
from cer_gpu.engine.read.sources.arrow_types import all_units
from cer_gpu.engine.read.sources.columns import is_text, single
from cer_gpu.kernels.configurations.contract import NO_TEXTS, HeldTexts
from cer_gpu.language import tree


class HeldValues:
    """Reads the values of events that partial matches keep.

    Parameters
    ----------
    columns : sequence of Expression
        The values, over columns of the data and derived ones.
    held : Held
    """

    def __init__(self, columns: Sequence[tree.Expression], held: HeldWords) -> None:
        self._columns = columns
        self._real = [word == "real" for word in held.words]
        self._ranked = [number for number, word in enumerate(held.words) if word == "rank"]
        self._wanted = held.texts
        self.texts, self.numbers = OrderedLabels(held.texts), OrderedLabels()
        self._store = TextStore(self.texts) if held.reads_texts else None
        self._of_text: frozenset[int] = frozenset()

    @property
    def labelled(self) -> frozenset[int]:
        """The columns whose values are kept as labels."""
        return frozenset(self._ranked)

    def text_labels(self) -> list[int]:
        """The labels of the texts that comparisons name."""
        return [self.texts.of[text] for text in self._wanted]

    def held_texts(self) -> HeldTexts:
        """The texts of all labels, where comparisons read what stands in them."""
        return NO_TEXTS if self._store is None else self._store.texts()

    def read(self, rows: pa.Table) -> tuple[tuple[np.ndarray, np.ndarray, np.ndarray], list[MovedLabels]]:
        """The values of events, as `_numbers_of` gives them, and the labels that have changed."""
        plain = [None if number in self._ranked else one for number, one in enumerate(self._columns)]
        values, floats, known_ = found = _numbers_of(plain, self._real, rows)
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


def _numbers_of(
    expressions: Sequence[tree.Expression | None], reals: Sequence[bool], rows: pa.Table
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The values of expressions over events, column by column.

    Parameters
    ----------
    expressions : sequence of (Expression or None)
        None: its values come from elsewhere.
    reals : sequence of bool
        For each, whether it is a float; otherwise it is a whole number, a time in its unit.
    rows : pyarrow.Table
        A row for each of n events.

    Returns
    -------
    values : ndarray, shape (columns, n), int64
        Whole numbers, or the bits of floats.
    reals : ndarray, shape (columns, n), float64
        The same memory.
    known : ndarray, shape (columns, n), uint8
        0 at a null and at a NaN.

    Raises
    ------
    DataError
        If a value does not fit 64 bits.
    """
    units = all_units(rows.schema)
    rows = pa.table([single(column) for column in rows.columns], rows.schema.names)
    read = read_columns(rows, units)
    values = np.zeros((len(expressions), len(rows)), np.int64)
    floats = values.view(np.float64)
    known = np.ones((len(expressions), len(rows)), np.uint8)
    for number, (expression, real) in enumerate(zip(expressions, reals, strict=True)):
        if expression is None:
            continue
        found, _ = evaluate(expression, read, len(rows))
        if len(found.valid):
            known[number] = found.valid != 0
        far = found.beyond & found.present if len(found.beyond) else np.zeros(0, bool)
        if found.data.dtype == np.uint64:
            far = (found.data > np.uint64(np.iinfo(np.int64).max)) & found.present
        if far.any():
            raise beyond(expression, rows.slice(int(np.argmax(far)), 1), units)
        if real:
            floats[number] = found.data.astype(np.float64) + 0.0  # -0.0 is the same as 0.0
            known[number] &= floats[number] == floats[number]
        else:
            values[number] = found.data.astype(np.int64)
    return values, floats, known
