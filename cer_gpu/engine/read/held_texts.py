"""The bytes of the texts that labels stand for: `TextStore`."""

from __future__ import annotations

from itertools import islice
from typing import Any

import numpy as np

from cer_gpu.engine.labels import OrderedLabels
from cer_gpu.kernels.configurations.contract import NO_TEXTS, HeldTexts


class TextStore:
    """The texts of labels as kernels read them; what has come since the last time is added.

    Parameters
    ----------
    labels : OrderedLabels
        Of texts.
    """

    def __init__(self, labels: OrderedLabels) -> None:
        self._labels = labels
        self._of: dict[Any, int] = {}
        self._count = 0
        self._used = 0
        self._texts = NO_TEXTS

    def texts(self) -> HeldTexts:
        """The texts of all labels by now."""
        of = self._labels.of
        if of is not self._of or len(of) < self._count:  # labels were given anew, or texts forgotten
            self._of, self._count, self._used, self._texts = of, 0, 0, NO_TEXTS
        if len(of) > self._count:
            self._add(list(islice(reversed(of.items()), len(of) - self._count)))
        return self._texts

    def _add(self, new: list[tuple[Any, int]]) -> None:
        parts = [text.encode() for text, _ in new]
        label = np.array([one for _, one in new], np.int64)
        end = self._used + np.cumsum([len(part) for part in parts])
        place = np.stack([np.append(self._used, end[:-1]), end], axis=1).astype(np.int64)
        stop = int(end[-1])
        byte = self._texts.byte
        if stop > len(byte):
            byte = np.zeros(2 * stop, np.uint8)
            byte[: self._used] = self._texts.byte[: self._used]
        byte[self._used : stop] = np.frombuffer(b"".join(parts), np.uint8)
        order = np.argsort(label)
        old, before = (self._texts.label, self._texts.place) if self._count else (label[:0], place[:0])
        at = np.searchsorted(old, label[order])
        self._texts = HeldTexts(
            np.insert(old, at, label[order]), np.insert(before, at, place[order], axis=0), byte
        )
        self._count, self._used = len(self._of), stop
