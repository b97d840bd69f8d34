"""Counts of complex events: when they fit 64 bits, and when they are too large to mean anything."""

from __future__ import annotations

from functools import cached_property
from math import comb
from typing import TYPE_CHECKING

import numpy as np

from cer_gpu.errors import LimitError
from cer_gpu.kernels.attribute_windows.contract import AutomatonPrograms
from cer_gpu.kernels.counts.cpu import counts
from cer_gpu.kernels.runs.contract import SegmentHits

if TYPE_CHECKING:
    from cer_gpu.kernels.counts.cpu_shifts import ShiftedCounter

SAFE = 1 << 62
"""Sums below this fit 64 bits."""

COUNT_BITS = 1 << 16
"""The most bits of the number of partial matches."""

COUNTS_BITS = 1 << 33
"""The most bits of the numbers at the ends of some segments, together."""

COUNT_STEPS = 50_000_000_000
"""The most sums for the numbers at the ends of some segments: about a minute of one thread."""

MANY_STATES = 16
"""From this many states on, an automaton is searched for states that repeat themselves, as in `A {200,}`."""


class WindowNumbers:
    """How many complex events end at some ends, inside windows, counted by the CPU.

    Parameters
    ----------
    programs : AutomatonPrograms
    text : str
        The query as written.
    """

    def __init__(self, programs: AutomatonPrograms, text: str) -> None:
        self._programs = programs
        self._text = text
        self._one_kind = len(programs.tables.first) == 3  # the neutral symbol has a range too
        self._has_many_states = programs.forward.zero > MANY_STATES

    @cached_property
    def _by_remainders(self) -> ShiftedCounter | None:
        """What counts an automaton with many states if they repeat themselves, else None."""
        # Few queries need it, and what is not imported takes no time.
        from cer_gpu.kernels.counts.cpu_shifts import ShiftedCounter

        found = ShiftedCounter(*self._programs)
        return found if found.repeats else None

    @property
    def repeat(self) -> bool:
        """Whether a window is counted at once, by what repeats itself: devices have no kernel for that."""
        return self._one_kind or (self._has_many_states and self._by_remainders is not None)

    def at(self, symbols: np.ndarray, hits: SegmentHits, exact: bool) -> np.ndarray:
        """The numbers, exactly; unless `exact`, 2^62 may stand for any number from 2^52 on.

        Parameters
        ----------
        symbols : ndarray, shape (events,), uint8 or uint16
        hits : SegmentHits
        exact : bool

        Raises
        ------
        LimitError
            If they have no practical meaning, or take too long.
        """
        if self._one_kind:
            return self._alike(hits.event - hits.lowest + 1, exact)
        try:
            if self._has_many_states and self._by_remainders is not None:
                return self._by_remainders.counts(symbols, hits, exact, COUNT_STEPS)
            return counts(*self._programs, symbols, *hits, exact, COUNT_STEPS)
        except OverflowError as error:
            longest = int((hits.event - hits.lowest).max(initial=0)) + 1
            raise too_many(self._text, longest, error) from None

    def _alike(self, length: np.ndarray, exact: bool) -> np.ndarray:
        """The same where all relevant events are alike, for windows of some lengths."""
        from cer_gpu.kernels.counts.cpu_single_symbol import alike_bits, alike_counts

        tables = self._programs.tables
        if exact and alike_bits(tables, length) > COUNTS_BITS:
            raise LimitError(
                f"the numbers of matches of {_blamed(self._text)} alone would take more than "
                f"{COUNTS_BITS >> 33} GiB, as up to {int(length.max()):,} events lie in a window; give a "
                "shorter WITHIN, or ask for hits"
            )
        return alike_counts(tables, length, exact)


def sums_may_pass(widest: int, nodes: int, events: int) -> bool:
    """Whether sums over so many events may be past 64 bits.

    Parameters
    ----------
    widest : int
        The most events that a window held, without the last one.
    nodes : int
        The nodes that the runs of a sequence pass through.
    events : int
    """
    return comb(widest + nodes - 1, nodes - 1) * max(1, events) >= SAFE


def too_many(text: str, longest: int, error: OverflowError) -> LimitError:
    """The error for numbers that take more than `COUNT_STEPS` sums, over up to `longest` events each."""
    return LimitError(
        f"{_blamed(text)} is counted over up to {longest:,} events at a time: this takes {error}, and "
        f"at most {COUNT_STEPS:,} are allowed; repeat fewer times, give a shorter WITHIN, or ask for hits"
    )


def check_open(vectors: np.ndarray, text: str) -> None:
    """Raise `LimitError` where the numbers of open partial matches have no practical meaning."""
    if vectors.dtype == object and max(int(value).bit_length() for value in vectors.flat) > COUNT_BITS:
        raise LimitError(
            f"more than 2^{COUNT_BITS:,} partial matches of {_blamed(text)} are open: the number of matches "
            "has no practical meaning; give the query a WITHIN, or ask for hits"
        )


def _blamed(text: str) -> str:
    """The repetition of a query that most states stand for, or the query's pattern, for a message."""
    from cer_gpu.language.parser import parse
    from cer_gpu.language.printer import abridged
    from cer_gpu.language.repetitions import longest_repetition

    statement = parse(text)
    pattern = getattr(statement, "pattern", None)
    return "the query" if pattern is None else f"`{abridged(longest_repetition(pattern) or pattern)}`"
