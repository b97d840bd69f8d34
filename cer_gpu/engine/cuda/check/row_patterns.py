"""The check of row patterns: the preferred matches of `(A | A B)* C?` in each segment."""

from __future__ import annotations

import numpy as np

from cer_gpu.engine.choice_arrays import choice_lists, room_of, symbols_of
from cer_gpu.engine.cuda.check.inputs import Answers, ComparedArray, Inputs
from cer_gpu.engine.cuda.row_patterns import matches_on_device
from cer_gpu.kernels.row_patterns import contract as k
from cer_gpu.kernels.row_patterns import cpu
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
    found = matches_on_device(0, choices, LiveStates(automaton, known), symbols, lanes, inputs.lane)
    if found is None:
        raise MemoryError("the device has no memory for the matches of row patterns")
    scratch = np.empty((int(inputs.lengths.max()) + 1, len(choices.variable_of)), np.int64)
    times, entered = np.zeros(0, np.int64), np.full(1, -1)
    bounded = k.BoundedChoices(choices.variable_of, choices, masks, times, 0, scratch, entered)
    skip = k.SkipRule(k.PAST_LAST_ROW, np.zeros(len(automaton.variables), np.uint8), np.zeros(0, np.uint8))
    room, at = room_of(len(masks), len(masks)), np.array([0, lanes[0], 0, 0, 0], np.int64)
    status = cpu.bounded_matches(bounded, lanes, skip, room, at)
    assert status == k.DONE
    here = room.starts[: at[k.MATCHES]], room.lengths[: at[k.MATCHES]], room.slots[: at[k.SLOTS]]
    yield from map(ComparedArray, room._fields, found, here)
