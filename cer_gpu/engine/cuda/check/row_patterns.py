"""The check of row patterns: the preferred matches of `(A | A B)* C?` in each segment."""

from __future__ import annotations

import numpy as np

from cer_gpu.engine.choice_arrays import choice_lists, room_of, symbols_of
from cer_gpu.engine.cuda.check.inputs import Answers, ComparedArray, Inputs
from cer_gpu.engine.cuda.row_patterns import first_of_each
from cer_gpu.kernels.row_patterns import contract as k
from cer_gpu.kernels.row_patterns import cpu, cuda
from cer_gpu.patterns.choices import automaton_of
from cer_gpu.patterns.live_states import LiveStates
from cer_gpu.patterns.tree import Alternation, Concatenation, Quantified, Variable

CONDITIONS = np.array([0b001, 0b011, 0b110, 0b101], np.uint64)
"""The conditions that hold for each symbol, as bits of A, B and C."""


def preferred_matches(inputs: Inputs) -> Answers:
    """Starts, lengths and slots of the matches; a segment is a partition."""
    a, b, c = map(Variable, "ABC")
    either = Quantified(Alternation((a, Concatenation((a, b)))), 0, None)
    automaton = automaton_of(Concatenation((either, Quantified(c, 0, 1))))
    choices = choice_lists(automaton)
    masks = CONDITIONS[inputs.symbols]
    lanes = np.append(inputs.begin, inputs.stop[-1])
    symbols, known = symbols_of(masks, len(automaton.variables))
    live = LiveStates(automaton, known)
    states = cuda.row_states(symbols, lanes, live, inputs.lane)
    chosen = inputs.cpu("choices of row patterns", _chosen_here, choices, live.members())
    room, number, taken = cuda.row_matches(choices, *chosen, states, lanes, inputs.lane)
    starts, slots = (first_of_each(lanes, many) for many in (number, taken))
    found = k.MatchRoom(room.starts[starts], room.lengths[starts], room.slots[slots])
    here = inputs.cpu("matches of row patterns", _matches_here, choices, masks, lanes)
    yield from map(ComparedArray, found._fields, found, here)


def _chosen_here(choices: k.ChoiceLists, member: np.ndarray) -> list[np.ndarray]:
    """The choices at the first row of a match and at a later one, for each state."""
    begins, follows = np.empty((2, len(member)), np.int32), np.empty(member.shape[::-1], np.int32)
    cpu.choose(choices, member, begins, follows)
    return [begins, follows]


def _matches_here(choices: k.ChoiceLists, masks: np.ndarray, lanes: np.ndarray) -> list[np.ndarray]:
    scratch = np.empty((int(np.diff(lanes).max()) + 1, len(choices.variable_of)), np.int64)
    times, entered = np.zeros(0, np.int64), np.full(1, -1)
    bounded = k.BoundedChoices(choices.variable_of, choices, masks, times, 0, scratch, entered)
    variables = int(choices.variable_of.max()) + 1
    skip = k.SkipRule(k.PAST_LAST_ROW, np.zeros(variables, np.uint8), np.zeros(0, np.uint8))
    room, at = room_of(len(masks), len(masks)), np.array([0, lanes[0], 0, 0, 0], np.int64)
    status = cpu.bounded_matches(bounded, lanes, skip, room, at)
    assert status == k.DONE
    return [room.starts[: at[k.MATCHES]], room.lengths[: at[k.MATCHES]], room.slots[: at[k.SLOTS]]]
