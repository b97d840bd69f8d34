"""The rows of matches one after the other, and which of them navigations reach: `MatchedRows`."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from cer_gpu.engine.rows.ordered_rows import OrderedRows
from cer_gpu.engine.rows.row_matches import RowMatches, ValueChain
from cer_gpu.patterns.choices import OrderedAutomaton

NOWHERE = -1
"""In place of a row: there is none."""


class MatchElements:
    """The rows that matches take, as elements, and which of them some variables have taken.

    Parameters
    ----------
    places : ndarray, shape (elements,), int64
        The places of the elements among the ordered rows.
    slots : ndarray, shape (elements,), int32
        The slots of the automaton that took them.
    automaton : OrderedAutomaton
    rows : OrderedRows
    """

    def __init__(
        self, places: np.ndarray, slots: np.ndarray, automaton: OrderedAutomaton, rows: OrderedRows
    ) -> None:
        self.rows = rows
        self.places = places
        self.variables = np.array(automaton.variable_of, np.int32)[slots]
        self._automaton = automaton
        self._selected: dict[frozenset[str] | None, np.ndarray] = {}
        self._masks: dict[frozenset[str], np.ndarray] = {}

    def chosen(self, variables: frozenset[str] | None) -> np.ndarray:
        """The elements of some variables, ascending."""
        if variables not in self._selected:
            self._selected[variables] = np.flatnonzero(self._is_chosen(variables))
        return self._selected[variables]

    def moved_places(self, elements: np.ndarray, offset: int) -> np.ndarray:
        """The places so many rows behind those of elements; `NOWHERE` outside the partition."""
        return self.rows.moved(self.places, elements, offset)

    def _is_chosen(self, variables: frozenset[str] | None) -> np.ndarray:
        if variables is None:
            return np.ones(len(self.places), bool)
        if variables not in self._masks:
            taken = np.array([name in variables for name in self._automaton.variables], bool)
            self._masks[variables] = taken[self.variables]
        return self._masks[variables]


class MatchedRows(MatchElements):
    """The rows of some matches one after the other, and the rows of an answer among them.

    Parameters
    ----------
    matches : RowMatches
    numbers : ndarray, shape (matches,), int64
        The number of each match in its partition, from 1 on.
    automaton : OrderedAutomaton
    rows : OrderedRows
    every_row : bool
        Whether an answer has the rows of the matches, and one for each empty match; otherwise one a match.

    Attributes
    ----------
    bounds : ndarray, shape (matches + 1,), int64
        Match k has the elements bounds[k] .. bounds[k + 1] - 1.
    places : ndarray, shape (elements,), int64
        The places of the elements among the ordered rows.
    variables : ndarray, shape (elements,), int32
        The numbers of their variables.
    answers : ndarray, int64
        For each row of the answer its element; `NOWHERE` for an empty match.
    answered : ndarray, int64
        For each row of the answer its match.
    """

    def __init__(
        self,
        matches: RowMatches,
        numbers: np.ndarray,
        automaton: OrderedAutomaton,
        rows: OrderedRows,
        every_row: bool,
    ) -> None:
        self.matches = matches
        self.numbers = numbers
        lengths = matches.lengths
        self.bounds = np.concatenate([[0], np.cumsum(lengths)])
        places = np.arange(self.bounds[-1]) + np.repeat(matches.starts - self.bounds[:-1], lengths)
        super().__init__(places, matches.slots, automaton, rows)
        self._before: dict[frozenset[str] | None, np.ndarray] = {}
        if every_row:
            self._answer_rows(lengths)
        else:
            self.answers = np.where(lengths > 0, self.bounds[1:] - 1, NOWHERE)
            self.answered = np.arange(len(lengths))

    @cached_property
    def match_of(self) -> np.ndarray:
        """For each element its match."""
        return np.repeat(np.arange(len(self.matches.lengths)), self.matches.lengths)

    def _answer_rows(self, lengths: np.ndarray) -> None:
        shown = ~np.array(self._automaton.excluded, bool)[self.matches.slots]
        empty = np.flatnonzero(lengths == 0)
        elements = np.flatnonzero(shown)
        answered = np.concatenate([self.match_of[elements], empty])
        order = np.argsort(answered, kind="stable")
        self.answers = np.concatenate([elements, np.full(len(empty), NOWHERE)])[order]
        self.answered = answered[order]

    def drop_empty(self) -> None:
        """Leave the rows of empty matches out of the answer."""
        there = self.answers >= 0
        self.answers, self.answered = self.answers[there], self.answered[there]

    @cached_property
    def answer_places(self) -> np.ndarray:
        """For each row of the answer its place; for an empty match that of the row where it stands."""
        places = self.matches.starts[self.answered]
        there = self.answers >= 0
        places[there] = self.places[self.answers[there]]
        return places

    def until(self, final: bool) -> np.ndarray:
        """For each row of the answer the element behind the last one that it looks at."""
        if final:
            return self.bounds[self.answered + 1]
        return np.where(self.answers < 0, self.bounds[self.answered + 1], self.answers + 1)

    def navigated(self, variables: frozenset[str] | None, which: str, skip: int, final: bool) -> np.ndarray:
        """For each row of the answer the element of the first or last row of variables, or one beside it.

        `NOWHERE` where there is none.
        """
        chosen = self.chosen(variables)
        if not len(chosen):
            return np.full(len(self.answered), NOWHERE)
        first, stop = self.stretches(variables, final)
        found = first + skip if which == "first" else stop - 1 - skip
        inside = (found >= first) & (found < stop)
        return np.where(inside, chosen[np.clip(found, 0, len(chosen) - 1)], NOWHERE)

    def chain(self, variables: frozenset[str] | None, final: bool) -> ValueChain:
        """The `chosen` elements of some variables, one after the other in each match."""
        first, stop = self.stretches(variables, final)
        bounds = self.chosen_before(variables)[self.bounds]
        before = np.arange(-1, bounds[-1] - 1)
        sizes = np.diff(bounds)
        before[bounds[:-1][sizes > 0]] = NOWHERE
        return ValueChain(
            before, int(sizes.max(initial=1)), np.where(stop > first, stop - 1, 0), stop - first
        )

    def stretches(self, variables: frozenset[str] | None, final: bool) -> tuple[np.ndarray, np.ndarray]:
        """For each row of the answer the first of the `chosen` ones that it looks at, and behind the last."""
        first, stop = self.bounds[self.answered], self.until(final)
        if variables is None:
            return first, stop
        before = self.chosen_before(variables)
        return before[first], before[stop]

    def chosen_before(self, variables: frozenset[str] | None) -> np.ndarray:
        """How many elements of some variables come before each element, and before the end."""
        if variables not in self._before:
            before = np.arange(len(self.places) + 1)
            if variables is not None:
                np.cumsum(self._is_chosen(variables), out=before[1:])
            self._before[variables] = before
        return self._before[variables]

    def moved_elements(self, elements: np.ndarray, offset: int, final: bool) -> np.ndarray:
        """The elements so many rows behind others; `NOWHERE` outside what a row of the answer looks at."""
        moved = elements + offset
        inside = (elements >= 0) & (moved >= self.bounds[self.answered]) & (moved < self.until(final))
        return np.where(inside, moved, NOWHERE)
