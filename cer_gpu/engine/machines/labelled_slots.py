"""The slots of the events of a stream with labels in the place of the numbers of texts: `LabelledSlots`.

A text has a number of its first sight, which says nothing of its order. A stream keeps runs in the order of
values, so there each text has a label, which is ordered as the texts are, those that come later among them.
"""

from __future__ import annotations

import numpy as np

from cer_gpu.engine.labels import OrderedLabels
from cer_gpu.engine.read.ordered_values import OrderedValues
from cer_gpu.engine.words import halves_of
from cer_gpu.kernels.comparisons.contract import NO_VALUE
from cer_gpu.plan.compiled_query import VALUE_ROWS

NO_LABEL = np.iinfo(np.int64).min
"""What stands for the label of a text that has none."""


class LabelledSlots:
    """The slots of the events that a stream keeps, as kernels read them.

    Parameters
    ----------
    values : OrderedValues
    first : int
        How many rows of slots come before those of values.

    Attributes
    ----------
    slots : ndarray, shape (rows, room), int32
        Of an event that is there nothing changes any more: another array takes its place.
    """

    def __init__(self, values: OrderedValues, first: int) -> None:
        self._values = values
        self._first = first
        self._labels = OrderedLabels()
        self._texts = values.texts
        self._label_of = np.empty(0, np.int64)
        self._count = 0
        self.slots = np.empty((0, 0), np.int32)

    def take(self, slots: np.ndarray, count: int) -> bool:
        """Take further events in; gives whether the labels of earlier ones have changed.

        Parameters
        ----------
        slots : ndarray, shape (rows, room), int32
            Of all events that are kept, with the numbers of texts.
        count : int
            How many there are.
        """
        if self._texts is not self._values.texts:  # texts were forgotten while no event was kept
            self._begin(np.empty(0, np.int64))
        moved = self._named(slots[:, self._count : count])
        if moved:
            self._count = 0
        if self.slots.shape[1] < count or moved or not len(self.slots):
            room = np.empty((len(slots), max(slots.shape[1], count)), np.int32)
            if self._count:
                room[:, : self._count] = self.slots[:, : self._count]
            self.slots = room
        new = self.slots[:, self._count : count]
        new[:] = slots[:, self._count : count]
        for at in self._places():
            there = new[at] != NO_VALUE
            labels = self._label_of[np.where(there, new[at + 2], 0)] if len(self._label_of) else 0
            labels = np.where(there, labels, 0)
            new[at + 1], new[at + 2] = halves_of(labels)
        self._count = count
        return moved

    def drop(self, before: np.ndarray, after: np.ndarray) -> None:
        """Forget the labels of all but some events.

        Parameters
        ----------
        before, after : ndarray, shape (rows, n), int32
            Their slots, as texts were numbered before and are numbered now.
        """
        labels = np.full(self._values.texts.count, NO_LABEL, np.int64)
        for at in self._places():
            there = before[at] != NO_VALUE
            labels[after[at + 2, there]] = self._label_of[before[at + 2, there]]
        self._begin(labels)

    def state(self) -> np.ndarray:
        """What is stored with a stream: the labels of texts, by their numbers."""
        return self._label_of

    def resume(self, labels: np.ndarray) -> None:
        """Continue from what `state` returned, once the texts are there."""
        self._begin(labels)
        there = np.flatnonzero(labels != NO_LABEL)
        there = there[np.argsort(labels[there])]
        self._labels.resume(list(zip(self._texts.bytes_of(there), labels[there].tolist(), strict=True)))

    @property
    def nbytes(self) -> int:
        """Bytes that it takes, about."""
        return self.slots.nbytes + self._label_of.nbytes + 200 * len(self._labels.values)

    def _begin(self, labels: np.ndarray) -> None:
        """Begin with the labels of texts, as these are numbered now, and no events."""
        self._texts = self._values.texts
        self._label_of = labels
        self._labels.keep(labels)
        self._count = 0
        self.slots = np.empty((0, 0), np.int32)

    def _places(self) -> list[int]:
        """Where the rows of each value begin that is the number of a text."""
        return [self._first + VALUE_ROWS * number for number in self._values.by_texts]

    def _named(self, slots: np.ndarray) -> bool:
        """Give labels to the texts of some events; whether those of others have changed."""
        count, known = self._texts.count, len(self._label_of)
        if known < count:
            more = np.full(max(count, 2 * known), NO_LABEL, np.int64)
            more[:known] = self._label_of
            self._label_of = more
        asked = [slots[at + 2, slots[at] != NO_VALUE] for at in self._places()]
        numbers = asked[0] if len(asked) == 1 else np.concatenate([np.empty(0, np.int32), *asked])
        numbers = numbers[self._label_of[numbers] == NO_LABEL]
        if not len(numbers):
            return False
        numbers = numbers if len(numbers) == 1 else np.unique(numbers)
        texts = self._texts.bytes_of(numbers)
        moved = self._labels.take(texts)
        if moved is not None:
            old, new = moved
            there = np.flatnonzero(self._label_of != NO_LABEL)
            self._label_of[there] = new[np.searchsorted(old, self._label_of[there])]
        self._label_of[numbers] = [self._labels.of[text] for text in texts]
        return moved is not None
