"""The transitions of automata of steps as arrays: the states that an event enters, and what each reads."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from cer_gpu.automata.marked_automaton import MarkedAutomaton, V


class StepGroups(NamedTuple):
    """The columns that the tables of all automata of steps begin with.

    Attributes
    ----------
    first : ndarray, shape (symbols + 1,), int32
        Where the groups of each symbol begin. A group is a state that an event with the symbol enters.
    group_state : ndarray, shape (groups,), int32
    group_starts : ndarray, shape (groups,), uint8
        Whether a run may start there.
    read_first : ndarray, shape (groups + 1,), int32
        Where the views begin from which runs enter the state.
    read_view : ndarray, int32
    accepting : ndarray, shape (states,), uint8
    state_label : ndarray, shape (states,), int32
    """

    first: np.ndarray
    group_state: np.ndarray
    group_starts: np.ndarray
    read_first: np.ndarray
    read_view: np.ndarray
    accepting: np.ndarray
    state_label: np.ndarray


def step_groups(automaton: MarkedAutomaton[V], views: Sequence[V]) -> StepGroups:
    """The groups of an automaton.

    Parameters
    ----------
    automaton : MarkedAutomaton
    views : sequence
        The views that are read; transitions of others are left out.
    """
    number = {view: place for place, view in enumerate(views)}
    starts = set(automaton.starts)
    reads: dict[tuple[int, int], list[int]] = {start: [] for start in automaton.starts}
    for view, symbol, state in automaton.moves:
        if view in number:
            reads.setdefault((symbol, state), []).append(number[view])
    groups = sorted(reads)
    count = np.bincount([symbol for symbol, _ in groups], minlength=automaton.n_symbols)
    n_states = len(automaton.state_label)
    return StepGroups(
        first=offsets(count),
        group_state=np.array([state for _, state in groups], np.int32),
        group_starts=np.array([group in starts for group in groups], np.uint8),
        read_first=offsets(len(reads[group]) for group in groups),
        read_view=np.array([view for group in groups for view in reads[group]], np.int32),
        accepting=np.array([state in automaton.final for state in range(n_states)], np.uint8),
        state_label=np.array(automaton.state_label, np.int32),
    )


def offsets(counts: Iterable[int]) -> np.ndarray:
    """Where the entries of each row begin in a flat column, and their number: shape (rows + 1,), int32."""
    return np.cumsum([0, *counts], dtype=np.int64).astype(np.int32)
