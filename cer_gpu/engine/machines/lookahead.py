"""Which partial matches can still end within their window, given the events that are known: `Lookahead`."""

from __future__ import annotations

import numpy as np

from cer_gpu.automata.configurations.completions import Completions, completions
from cer_gpu.automata.configurations.formulas import SteppedAutomaton
from cer_gpu.engine.machines.step_tables import GrowingSteps
from cer_gpu.kernels.configurations.contract import AHEAD_AT, EVENT, HOPELESS, TIME_WINDOW, TimedEvents
from cer_gpu.kernels.configurations.contract import WORK as WORKED
from cer_gpu.kernels.configurations.cpu_lookahead import earliest_ends

WORK = 1 << 18
"""The run looks ahead once events have made this many changes to configurations: that costs much less."""

FEW = 64
"""Up to this many events it does not look ahead: what comes after them is not known."""

ENTRIES = 1 << 23
"""The most states times events that are computed at once."""

SHARE = 8
"""It looks ahead in the next push too, if at least one change in this many led to what cannot end."""

NEVER = np.iinfo(np.int64).max
"""A number of changes that is never reached."""


class Lookahead:
    """Finds configurations that cannot end in time, by the pattern's automaton without its clocks.

    Parameters
    ----------
    automaton : Stepped
    spans : int
        What the window of the query measures, as in `Rules`.
    """

    def __init__(self, automaton: SteppedAutomaton, spans: int) -> None:
        self._automaton = automaton
        self._spans = spans
        self._known: Completions | None = None
        self._edges = np.empty((0, 2), np.int32)
        self._first = np.empty(0, np.int32)
        self._since = 0, 0
        self._pause = WORK
        self._looks = False

    @property
    def at(self) -> int:
        """After how many changes the run first looks ahead."""
        return WORK

    def looked(
        self, events: TimedEvents, progress: np.ndarray, lanes: int, steps: GrowingSteps
    ) -> TimedEvents:
        """The events of a push, with `ends` for those from the next one on if that is worth its cost.

        Parameters
        ----------
        events : TimedEvents
        progress : ndarray, shape (WORDS,), int64
            In and out.
        lanes : int
            The number of lanes.
        steps : GrowingSteps
            Gets the states from which each shape may end.
        """
        if len(events.ends):
            return events if self._is_worth_while(progress) else events._replace(ends=events.ends[:0])
        progress[AHEAD_AT] = progress[WORKED] + WORK  # then it is judged by what it was good for
        self._looks = False
        measured = events.times if self._spans == TIME_WINDOW else events.places
        begin, count, dtype = int(progress[EVENT]), len(events.symbols), measured.dtype
        if count - begin < FEW:
            return events
        if self._known is None and not self._prepared(steps):
            progress[AHEAD_AT] = NEVER
            return events
        assert self._known is not None
        states = len(self._known.number)
        if states * count > ENTRIES:
            return events
        self._looks = True
        self._since = int(progress[WORKED]), int(progress[HOPELESS])
        never = dtype.type(np.inf if dtype.kind == "f" else np.iinfo(dtype).max)
        ends = np.empty((count, states), dtype)
        scratch = np.zeros(lanes, np.uint8), np.empty((lanes, states), dtype)
        earliest_ends(
            self._first, self._edges, events.symbols, events.lanes, measured, begin, never, *scratch, ends
        )
        return events._replace(ends=ends)

    def _prepared(self, steps: GrowingSteps) -> bool:
        """Relax the pattern; whether its automaton has few enough states."""
        automaton = self._automaton
        known = self._known = completions(automaton)
        if known is None:
            return False
        self._edges = np.array([edge for own in known.edges for edge in own], np.int32).reshape(-1, 2)
        self._first = np.cumsum([0, *map(len, known.edges)], dtype=np.int32)
        self.note_in(steps)
        return True

    def note_in(self, steps: GrowingSteps) -> None:
        """Note the states from which shapes may end, if the run has looked ahead already."""
        known, automaton = self._known, self._automaton
        if known is not None:
            steps.look_ahead(lambda shape: known.numbers(automaton, shape.states))

    def begin(self, progress: np.ndarray) -> None:
        """Before a push: look ahead at once if that was worth its cost in the last push."""
        if self._looks:
            progress[AHEAD_AT] = progress[WORKED] - 1

    def _is_worth_while(self, progress: np.ndarray) -> bool:
        """Whether to go on; if not, it is tried again later."""
        worked, hopeless = progress[WORKED] - self._since[0], progress[HOPELESS] - self._since[1]
        self._looks = bool(hopeless * SHARE >= worked)
        self._pause = WORK if self._looks else 2 * self._pause
        progress[AHEAD_AT] = NEVER if self._looks else progress[WORKED] + self._pause
        return self._looks
