"""Whether all answers fit into memory at once, checked before they are listed: `Room`."""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa

from cer_gpu.digits import digits
from cer_gpu.engine.free_memory import free_memory
from cer_gpu.errors import LimitError

SURE = 0.5
"""Up to this share of the events, a run that promises too many answers is checked by a count. Later it goes
on, and ends if the answers that are known to come do not fit."""

LIGHT = 1 << 26
"""Answers of up to this many bytes are made without a look at the free memory."""

SOME = 1 << 16
"""From this many answers on, their average size is taken as the size of one."""


class Room:
    """Counts the bytes of answers that are collected, and ends a run whose answers cannot fit into memory.

    Parameters
    ----------
    schema : pyarrow.Schema
        Of the answers.
    beside : int
        Bytes that each answer takes in Python objects, beside the table.
    """

    def __init__(self, schema: pa.Schema, beside: int) -> None:
        self._schema = schema
        self._beside = beside
        self._rows = self._bytes = 0
        self._asked = False
        self._known: int | None = None

    @property
    def _free(self) -> int | None:
        """Bytes of memory that were free when it was first asked, with those of the answers so far."""
        if self._known is None:
            free = free_memory()
            self._known = None if free is None else free + self._bytes
        return self._known

    def note(self, answers: int, nbytes: int) -> None:
        """Count answers that have been made, and their bytes in Arrow."""
        self._rows += answers
        self._bytes += nbytes + self._beside * answers

    @property
    def _each(self) -> float:
        least = sum(_least_bytes(field.type) for field in self._schema) + self._beside
        return max(self._bytes / self._rows, least) if self._rows >= SOME else least

    def expect(self, count: int) -> None:
        """Note that `count` further answers are listed next.

        Raises
        ------
        LimitError
            If they do not fit into the free memory.
        """
        needed = self._bytes + count * self._each
        if needed > LIGHT and self._free is not None and needed > self._free:
            raise self._too_many(self._rows + count, "at least ")

    def project(self, part: float, count: Callable[[], int]) -> None:
        """Count all answers, if those found in a part of the events promise too many.

        Parameters
        ----------
        part : float
            The share of the events that has been run.
        count : callable
            Counts all answers, which takes another run.

        Raises
        ------
        LimitError
            If all answers do not fit.
        """
        if self._asked or not 0 < part <= SURE or self._rows < SOME or self._bytes / part <= LIGHT:
            return
        if self._free is None or self._bytes / part <= self._free:
            return
        self._asked = True
        total = count()
        if total * self._each > self._free:
            raise self._too_many(total, "")

    def _too_many(self, count: int, least: str) -> LimitError:
        assert self._free is not None
        return LimitError(
            f"there are {least}{_shown(count)} matches, which take about "
            f"{_in_words(count * self._each)} at once, and {_in_words(self._free)} of memory are free: take "
            "them batch by batch (batches(), or an output file), look at the first ones (head(), limit=), or "
            "keep fewer (SELECT NEXT or MAX, LIMIT, a shorter WITHIN)"
        )


def _least_bytes(kind: pa.DataType) -> int:
    """Bytes that a value of a type takes at least."""
    try:
        return max(kind.bit_width // 8, 1)
    except ValueError:  # lists and texts: where one begins
        return 4


def _shown(count: int) -> str:
    return f"{count:,}" if count < 10**15 else f"10^{digits(count) - 1}"


def _in_words(size: float) -> str:
    """Bytes in the largest unit in which they are at least 1."""
    for unit in ("kB", "MB", "GB", "TB"):
        size /= 1000
        if size < 1000:
            return f"{size:,.1f} {unit}"
    return f"{size:,.0f} TB"
