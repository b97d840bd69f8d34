"""The complex events of some ends, as a machine gives them: `Answers`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, Protocol, TypeAlias

import numpy as np

from cer_gpu.enumeration.blocks import AnswerBlock

Sharing: TypeAlias = Literal["ends", "blocks"]
"""How threads share the work of listing answers. "ends": each takes ranges of ends. "blocks": all take slices
of one block after another."""


class Answers(Protocol):
    """The complex events of some ends of a chunk, in whatever structure holds them."""

    @property
    def count(self) -> np.ndarray:
        """How many each end has, shape (ends,), int64, or object past 2^62."""
        ...

    @property
    def sharing(self) -> Sharing:
        """How threads share the work of listing."""
        ...

    def work(self, limit: int | None) -> np.ndarray:
        """About how many steps listing the first `limit` complex events of each end takes: shape (ends,)."""
        ...

    def blocks(
        self, order: np.ndarray, limit: int | None = None, size: int | None = None
    ) -> Iterator[AnswerBlock]:
        """The complex events of some ends, end after end in the given order.

        Parameters
        ----------
        order : ndarray, shape (m,), int64
            Numbers of ends.
        limit : int, optional
            The most complex events of each end: the first in canonical order (start, marked events, labels).
        size : int, optional
            About how many complex events a block has, and are found in one go.
        """
        ...
