"""Which slots of a row pattern can be completed: the determinised reverse automaton, made as rows need it."""

from __future__ import annotations

from collections.abc import Sequence
from threading import Lock

import numpy as np

from cer_gpu.patterns.choices import MATCHED, OrderedAutomaton

MOST_STATES = 1 << 12
"""States beyond which the automaton is given up."""

MOST_ENTRIES = 1 << 26
"""Transitions, of each state by each symbol, beyond which it is given up: 256 MB."""

AHEAD = 64
"""Symbols up to which all transitions of a state are made when one is asked for."""


class TooManyStates(Exception):  # noqa: N818 - control flow: another way is taken
    """The determinised automaton is too large."""


class LiveStates:
    """Sets of slots, and how a row leads from one to the one before it.

    A state is a set of slots that can take a row and be completed by the rows behind it; state 0 stands
    behind the last row of a partition.

    Parameters
    ----------
    automaton : OrderedAutomaton
    masks : sequence of int
        For each symbol the variables whose conditions hold, as bits.
    """

    def __init__(self, automaton: OrderedAutomaton, masks: Sequence[int]) -> None:
        slots = len(automaton.variable_of)
        self._slots = slots
        self._taking = [
            sum(1 << slot for slot in range(slots) if mask >> automaton.variable_of[slot] & 1)
            for mask in masks
        ]
        self._leading = [0] * slots
        matched = last = 0
        for slot in range(slots):
            for target in automaton.next_choices[slot]:
                if target == MATCHED:
                    matched |= 1 << slot
                else:
                    self._leading[target] |= 1 << slot
            if MATCHED in automaton.last_choices[slot]:
                last |= 1 << slot
        self._matched = matched
        self._sets = [0]
        self._before = [last]
        self._numbers: dict[int, int] = {}
        self._lock = Lock()
        if 16 * len(masks) > MOST_ENTRIES:
            raise TooManyStates
        self.table = np.full((16, len(masks)), -1, np.int32)

    def fill(self, state: int, symbol: int) -> None:
        """Make a transition of `table` that was asked for.

        Raises
        ------
        TooManyStates
            When there are more than `MOST_STATES`.
        """
        with self._lock:
            symbols = range(len(self._taking)) if len(self._taking) <= AHEAD else [symbol]
            for each in symbols:
                target = self._number(self._before[state] & self._taking[each])
                self.table[state, each] = target

    def _number(self, slots: int) -> int:
        """The number of a set of slots."""
        number = self._numbers.get(slots)
        if number is not None:
            return number
        number = len(self._sets)
        if number == MOST_STATES or number * self.table.shape[1] > MOST_ENTRIES:
            raise TooManyStates
        self._numbers[slots] = number
        self._sets.append(slots)
        before, rest = self._matched, slots
        while rest:
            lowest = rest & -rest
            before |= self._leading[lowest.bit_length() - 1]
            rest ^= lowest
        self._before.append(before)
        if number == len(self.table):
            larger = np.full((2 * number, self.table.shape[1]), -1, np.int32)
            larger[:number] = self.table
            self.table = larger
        return number

    def members(self) -> np.ndarray:
        """Which slots each state has, uint8 [states, slots]."""
        width = (self._slots + 7) // 8
        data = b"".join(slots.to_bytes(width, "little") for slots in self._sets)
        bits = np.frombuffer(data, np.uint8).reshape(len(self._sets), width)
        return np.unpackbits(bits, axis=1, bitorder="little")[:, : self._slots].copy()
