"""What kernels of row patterns read and write: lists of an automaton, symbols of rows, room for matches."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cer_gpu.kernels.row_patterns import contract as k
from cer_gpu.patterns.choices import OrderedAutomaton

DENSE = 16
"""Variables up to which every combination of conditions has a place in a table."""


def choice_lists(automaton: OrderedAutomaton) -> k.ChoiceLists:
    """The lists of an automaton as arrays."""
    lists = [
        automaton.first_choices,
        automaton.other_choices,
        *automaton.next_choices,
        *automaton.last_choices,
    ]
    bounds = np.concatenate([[0], np.cumsum([len(each) for each in lists])]).astype(np.int64)
    targets = np.array([target for each in lists for target in each], np.int32)
    return k.ChoiceLists(np.array(automaton.variable_of, np.int32), bounds, targets)


def symbols_of(masks: np.ndarray, variables: int) -> tuple[np.ndarray, Sequence[int]]:
    """The number of each row's combination of conditions, int32, and the combinations."""
    if variables > DENSE:
        known, symbols = np.unique(masks, return_inverse=True)
        return symbols.astype(np.int32), known.tolist()
    seen = np.bincount(masks, minlength=1 << variables) > 0
    numbers = (np.cumsum(seen) - 1).astype(np.int32)
    return numbers[masks], np.flatnonzero(seen).tolist()


def room_of(matches: int, slots: int) -> k.MatchRoom:
    """Room for so many matches, and for so many rows of all of them."""
    return k.MatchRoom(np.empty(matches, np.int64), np.empty(matches, np.int64), np.empty(slots, np.int32))
