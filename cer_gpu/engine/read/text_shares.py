"""The part that a column of strings adds to the index of an event: each text is classified once in a run."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import field

import numpy as np
import pyarrow as pa

from cer_gpu.engine.read.numbers import TextNumbers
from cer_gpu.engine.read.sources.columns import same_memory
from cer_gpu.frozen_dataclass import dataclass
from cer_gpu.language.tree import Attribute
from cer_gpu.lazy_modules import compute as pc
from cer_gpu.plan.axes import ColumnAxis, CutAxis, MatchAxis
from cer_gpu.plan.symbols import StageAxis

REMEMBERED = 1 << 20
"""How many texts of a column keep their classes: beyond it, all earlier ones are forgotten."""


FEW = 1 << 10
"""How many texts that come alone keep their shares: beyond it, all are forgotten."""

LONG = 1 << 8
"""The most characters of a text that is remembered."""


SEEN = 1000
"""How many names of a column are remembered, to suggest one for a name that does not occur."""


@dataclass(frozen=True, slots=True)
class OccurringNames:
    """The names, or other texts, that events have had so far.

    Attributes
    ----------
    unseen : dict of str to set of str
        For each column that has been read, the names of the query that no event has had.
    seen : dict of str to set of str
        For each column, some of the names that events have had.
    """

    unseen: dict[str, set[str]] = field(default_factory=dict)
    seen: dict[str, set[str]] = field(default_factory=dict)

    def note(self, column: str, names: Iterable[str], texts: Sequence[str]) -> None:
        """Note that events have had some texts in a column of which the query has some names."""
        seen = self.seen.setdefault(column, set())
        seen.update(texts[: SEEN - len(seen)])
        if column not in self.unseen:
            self.unseen[column] = set(names)
        self.unseen[column].difference_update(texts)

    def lacks(self, column: str, names: Iterable[str]) -> bool:
        """Whether a column has been read, and no event has had any of some names of the query."""
        return self.unseen.get(column, set()).issuperset(names)


@dataclass(frozen=True, slots=True)
class Shares:
    """What a column adds to the index of a stage.

    Attributes
    ----------
    of_code : ndarray, shape (dictionary,), the dtype of the index
        The share of each code.
    of_null : numpy scalar
    """

    of_code: np.ndarray
    of_null: np.generic


class TextShares:
    """The shares of one column of strings in all stages of a query.

    Names are looked up in each dictionary. A regular expression or a cut is compared with a text when it is
    first seen. A dictionary that comes again, as in all slices of a table, costs nothing.

    Parameters
    ----------
    axes : sequence of StageAxis
        The axes that read the column.
    dtypes : sequence of numpy dtype
        The dtype of the index of each stage.
    names : OccurringNames
        Told of the texts that are seen, for an axis of names: of all of a few, else of the names and some
        others.
    values : OccurringNames
        Told of all texts that are seen, where filters compare the column with some.
    """

    def __init__(
        self,
        axes: Sequence[StageAxis],
        dtypes: Sequence[np.dtype],
        names: OccurringNames,
        values: OccurringNames,
    ) -> None:
        self._axes = axes
        self._dtypes = dtypes
        self._occurring = names
        self._values = values
        self._compared: dict[str, set[str]] = {}
        """The texts that filters compare the column with, by its name."""
        self._names: dict[int, dict[str | None, int]] = {}
        """For each axis of names, by its place in `axes`, the class of each."""
        self._absent: list[int] = []
        for number, each in enumerate(axes):
            if isinstance(each.axis, ColumnAxis):
                self._names[number] = {name: place for place, name in enumerate(each.axis.names, 1)}
                self._absent.append(0)
            else:
                assert isinstance(each.axis, MatchAxis | CutAxis)
                if isinstance(each.axis, CutAxis) and isinstance(each.axis.operand, Attribute):
                    compared = self._compared.setdefault(each.axis.operand.name, set())
                    compared.update(each.axis.constants.tolist())
                self._absent.append(int(each.axis.text_classes([None])[0]))
        self._dictionary: pa.Array | None = None
        self._shares: dict[int, Shares] = {}
        self._single: dict[str | None, dict[int, Shares]] = {}
        self._numbers: TextNumbers | None = None
        """The texts of which the other axes have told the class: `_of_text`, by the places of the axes."""
        self._of_text: dict[int, np.ndarray] = {}

    def of(self, dictionary: pa.Array) -> dict[int, Shares]:
        """The shares of the values of a dictionary, for each stage that has an axis over the column."""
        if self._dictionary is None or not same_memory(dictionary, self._dictionary):
            if len(dictionary) == 1:
                self._shares = self._of_one(dictionary)
            else:
                self._shares = self._found(dictionary)
            # Held on to, so that no other dictionary comes to lie where this one does.
            self._dictionary = dictionary
        return self._shares

    def of_text(self, text: str | None) -> dict[int, int]:
        """What a single text adds to the index of each stage that has an axis over the column."""
        if text is not None:
            return {stage: int(shares.of_code[0]) for stage, shares in self.of(pa.array([text])).items()}
        found: dict[int, int] = {}
        for each, absent in zip(self._axes, self._absent, strict=True):
            found[each.stage] = found.get(each.stage, 0) + each.stride * absent
        return found

    def _of_one(self, dictionary: pa.Array) -> dict[int, Shares]:
        """The shares of a dictionary of one text, as batches of one event have."""
        text = dictionary[0].as_py()
        found = self._single.get(text)
        if found is None:
            found = self._found(dictionary)
            if len(self._single) >= FEW:
                self._single.clear()
            if text is None or len(text) <= LONG:
                self._single[text] = found
        return found

    def _found(self, dictionary: pa.Array) -> dict[int, Shares]:
        numbers = None if len(self._names) == len(self._axes) else self._numbered(dictionary)
        whole: dict[int, tuple[np.ndarray, int]] = {}
        for number, (each, absent) in enumerate(zip(self._axes, self._absent, strict=True)):
            axis = each.axis
            if isinstance(axis, ColumnAxis) and len(dictionary) <= SEEN:
                texts = dictionary.to_pylist()
                self._occurring.note(axis.column, axis.names, [text for text in texts if text is not None])
                class_of = self._names[number]
                classes = np.array([class_of.get(text, 0) for text in texts], np.int64)
            elif isinstance(axis, ColumnAxis):
                classes = self._named(axis, dictionary)
            else:
                # The number of a null is -1, so that it takes the last class.
                classes = np.append(self._of_text[number], absent)[numbers]
            shares, of_null = whole.get(each.stage, (np.zeros(len(dictionary), np.int64), 0))
            whole[each.stage] = shares + each.stride * classes, of_null + each.stride * absent
        return {
            stage: Shares(shares.astype(self._dtypes[stage]), self._dtypes[stage].type(of_null))
            for stage, (shares, of_null) in whole.items()
        }

    def _named(self, axis: ColumnAxis, dictionary: pa.Array) -> np.ndarray:
        """The class of each of many texts for an axis of names, int64."""
        found = pc.index_in(dictionary, value_set=pa.array(axis.names, dictionary.type))
        classes = found.fill_null(-1).to_numpy().astype(np.int64) + 1
        names = [axis.names[place - 1] for place in np.unique(classes).tolist() if place]
        self._occurring.note(
            axis.column, axis.names, [*names, *dictionary.slice(0, SEEN).drop_null().to_pylist()]
        )
        return classes

    def _numbered(self, dictionary: pa.Array) -> np.ndarray:
        """The number of each text, once all axes that are not of names have told their classes."""
        if self._numbers is None or self._numbers.count > REMEMBERED:
            self._numbers = TextNumbers()
            others = [number for number in range(len(self._axes)) if number not in self._names]
            self._of_text = {number: np.empty(0, np.int64) for number in others}
        before = self._numbers.count
        numbers = self._numbers.encode(dictionary)
        if before < self._numbers.count:
            new = self._numbers.texts_from(before).to_pylist()
            for number, known in self._of_text.items():
                axis = self._axes[number].axis
                assert isinstance(axis, MatchAxis | CutAxis)
                self._of_text[number] = np.append(known, axis.text_classes(new))
            for column, compared in self._compared.items():
                self._values.note(column, compared, new)
        return numbers
