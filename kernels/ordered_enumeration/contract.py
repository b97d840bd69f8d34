"""The contract of ordered enumeration: the arrays that its kernel keeps between two calls."""

from typing import NamedTuple

import numpy as np

DONE = 0

BLOCK_FULL = 1

STACK_FULL = 2

START, DEPTH, PHASE, STATES, EDGES, WRITTEN, MARKS = range(7)
"""Words of `progress`, which passes from one call of `walk` to the next."""

NEXT_START, ENTER, EMIT, ADVANCE = range(4)
"""What `walk` does next: the values of the word `PHASE`."""


class Continuations(NamedTuple):
    """How a run can continue, for the events lowest - 1 .. j - 1 (rows) and the states (columns).

    `next` int32: event - lowest, -1 where none; `at` int32; `ends` uint8; all [j - lowest + 1, n_live].
    State 0 in the row of event k means a run that starts at k + 1.
    """

    next: np.ndarray
    at: np.ndarray
    ends: np.ndarray


class Choices(NamedTuple):
    """The choices made so far, as stacks: a frame for each marked event, below it one for the start.

    ==================  =================  ===================================================
    `event`             int64 [frames]     the marked event (the start in frame 0)
    `state_first`       int64 [frames]     where the states of the frame begin
    `edge_first`        int64 [frames]     where the edges into them begin
    `taken`             int64 [frames]     the edge that the labels being listed follow
    `state`             int32 [states]     a state after the event
    `next`, `at`        int32 [states]     its next choice, as in `Continuations`
    `live`              uint8 [states]     whether the labels being listed can pass it
    `source`, `target`  int64 [edges]      an edge, between numbers of states
    `label`             int32 [edges]      its label
    ==================  =================  ===================================================
    """

    event: np.ndarray
    state_first: np.ndarray
    edge_first: np.ndarray
    taken: np.ndarray
    state: np.ndarray
    next: np.ndarray
    at: np.ndarray
    live: np.ndarray
    source: np.ndarray
    target: np.ndarray
    label: np.ndarray


class OrderedAnswers(NamedTuple):
    """The complex events of one end, as `walk` writes them.

    =======  ==========================  =============================================
    `start`  int64 [complex events]      their starts
    `first`  int64 [complex events + 1]  where their marks begin
    `event`  int64 [marks]               the marked events, ascending in each
    `label`  int32 [marks]               their labels
    =======  ==========================  =============================================
    """

    start: np.ndarray
    first: np.ndarray
    event: np.ndarray
    label: np.ndarray
