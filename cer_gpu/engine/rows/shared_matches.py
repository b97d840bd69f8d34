"""Matches that start at every row and share their rows: `SharedMatches`.

A row that two matches take with the same slot goes on alike in both, so it is one node. Measures follow the
nodes once, from the ends of the matches, and not every match: they take time linear in the rows, however long
matches are and however many rows they share.
"""

from __future__ import annotations

import numpy as np

from cer_gpu.engine.rows.matched_rows import NOWHERE, MatchElements
from cer_gpu.engine.rows.ordered_rows import OrderedRows
from cer_gpu.engine.rows.row_matches import ValueChain
from cer_gpu.kernels.row_patterns import folds, overlap
from cer_gpu.patterns.choices import OrderedAutomaton
from cer_gpu.patterns.conditions import leaves
from cer_gpu.patterns.tree import (
    MatchedVariable,
    Navigation,
    RowAggregate,
    RowPatternClause,
    RowsPerMatch,
    Scalar,
    SkipMode,
)

FOLDED = frozenset(["count", "sum", "min", "max", "avg", "whole avg"])
"""Aggregates that can be followed from the ends of matches."""


def can_share(clause: RowPatternClause) -> bool:
    """Whether the matches of a clause may share their rows: one starts at every row, and gives one row of
    measures that can be followed from its end.
    """
    if clause.skip.mode is not SkipMode.TO_NEXT_ROW or clause.rows is not RowsPerMatch.ONE:
        return False
    return all(_is_shared(leaf) for one in clause.measures for leaf in leaves(one.expression))


def _is_shared(leaf: Scalar) -> bool:
    """Whether a part of a measure can be followed from the end of a match."""
    match leaf:
        case RowAggregate(function=function, distinct=distinct):
            return function in FOLDED and (not distinct or function in ("min", "max"))
        case Navigation(offset=offset, expression=expression) if offset:
            return not any(isinstance(inner, MatchedVariable) for inner in leaves(expression))
    return True


class SharedMatches(MatchElements):
    """The matches of some partitions, and their rows, each once; an answer has a row for each match.

    Parameters
    ----------
    nodes : SharedNodes
    starts : SharedStarts
    numbers : ndarray, shape (matches,), int64
        The number of each match in its partition, from 1 on.
    automaton : OrderedAutomaton
    rows : OrderedRows

    Attributes
    ----------
    places, variables, numbers, rows
        As of `MatchedRows`; elements are nodes.
    answered : ndarray, int64
        For each row of the answer its match.
    answer_places : ndarray, int64
        For each row of the answer the place at which its match starts.
    """

    def __init__(
        self,
        nodes: overlap.SharedNodes,
        starts: overlap.SharedStarts,
        numbers: np.ndarray,
        automaton: OrderedAutomaton,
        rows: OrderedRows,
    ) -> None:
        super().__init__(nodes.rows, nodes.slots, automaton, rows)
        self.numbers = numbers
        self.answer_places = starts.rows
        self.answered = np.arange(len(starts.rows))
        self._behind = nodes.behind
        self._roots = starts.nodes
        self._chains: dict[frozenset[str] | None, ValueChain] = {}

    def chain(self, variables: frozenset[str] | None, final: bool) -> ValueChain:
        """The `chosen` elements of some variables, in chains from the ends of matches to their starts."""
        if variables not in self._chains:
            mask = self._is_chosen(variables).view(np.uint8)
            nearest, before = np.empty(len(mask), np.int64), np.empty(int(mask.sum()), np.int64)
            overlap.chain(mask, self._behind, nearest, before)
            last = np.full(len(self._roots), NOWHERE)
            there = self._roots >= 0
            last[there] = nearest[self._roots[there]]
            lengths = self._lengths(before)
            counts = np.where(last >= 0, lengths[last], 0) if len(lengths) else np.zeros(len(last), np.int64)
            longest = int(lengths.max(initial=1))
            self._chains[variables] = ValueChain(before, longest, np.maximum(last, 0), counts)
        return self._chains[variables]

    def navigated(self, variables: frozenset[str] | None, which: str, skip: int, final: bool) -> np.ndarray:
        """For each match the element of the first or last row of variables, or one beside it.

        `NOWHERE` where there is none.
        """
        chosen, chain = self.chosen(variables), self.chain(variables, final)
        if not len(chosen):
            return np.full(len(self.answered), NOWHERE)
        if which == "first":
            found = np.where(chain.none, NOWHERE, chain.last)
            for _ in range(skip):
                found = np.where(found >= 0, chain.before[found], NOWHERE)
        else:
            of_each = np.empty(len(chosen), np.int64)
            overlap.last_of(chain.before, self._lengths(chain.before), skip, of_each)
            found = np.where(chain.none, NOWHERE, of_each[chain.last])
        return np.where(found >= 0, chosen[found], NOWHERE)

    def moved_elements(self, elements: np.ndarray, offset: int, final: bool) -> np.ndarray:
        """Not for these matches: see `can_share`."""
        raise AssertionError(offset)

    def _lengths(self, before: np.ndarray) -> np.ndarray:
        """How many elements a chain has up to each of them."""
        counts = np.empty(len(before), np.int64)
        if len(before):
            every = np.ones(len(before), np.uint8)
            folds.running(folds.COUNT, counts, every, before, counts[:0], counts)
        return counts
