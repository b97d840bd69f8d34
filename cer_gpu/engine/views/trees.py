"""A join tree with the rows of its nodes: `KeptTree`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from cer_gpu.engine.views.answer_columns import ListedAnswers, ListedState
from cer_gpu.engine.views.enumeration import changes
from cer_gpu.engine.views.layout import ViewLayout
from cer_gpu.engine.views.levels import Levels
from cer_gpu.engine.views.reducts import Change, change_of, climbed
from cer_gpu.engine.views.terms import Columns
from cer_gpu.engine.workers import Workers
from cer_gpu.errors import LimitError
from cer_gpu.joins.theta.bags import BagStage
from cer_gpu.joins.theta.cost import AtomStatistics, ChosenTree

PIECE = 1 << 16
"""How many rows of a bag are listed at a time."""


SAMPLE = 1 << 14
"""How many values of a column are sampled to estimate how many are different."""

BAG = 4
"""Rows of a bag that are assumed for each row of the largest relation."""

SHARED = 1 << 15
"""From this many changed rows on, several threads apply them."""


class Input(NamedTuple):
    """What a batch changes in an atom: rows over its variables, with the growth of their multiplicities."""

    columns: Columns
    amounts: np.ndarray


def statistics(stage: BagStage, inputs: Mapping[int, Input]) -> tuple[AtomStatistics, ...]:
    """Statistics of the atoms of a stage, from their first rows.

    A bag's rows are not known yet: as many are assumed as pairs of its sources' rows are expected.
    """
    found = []
    for atom, source in zip(stage.query.atoms, stage.sources):
        if source not in inputs:
            most = max((len(one.amounts) for one in inputs.values()), default=0)
            found.append(
                AtomStatistics(float(most * BAG), dict.fromkeys(atom.variables, float(max(most, 1))))
            )
            continue
        columns, amounts = inputs[source]
        rows = len(amounts)
        different = {name: _different(columns[name], rows) for name in atom.variables}
        found.append(AtomStatistics(float(rows), different))
    return tuple(found)


def _different(values: np.ndarray, rows: int) -> float:
    """About how many different values a column has: as many in a sample, or more where most of it differ."""
    sample = values[:: max(1, rows // SAMPLE)]
    found = len(np.unique(sample))
    return float(found if 2 * found < len(sample) else found * rows / max(len(sample), 1))


class KeptTree:
    """The join tree of one stage of a view, and the reduct of every node.

    Parameters
    ----------
    stage : BagStage
    chosen : ChosenTree
    layout : ViewLayout

    Attributes
    ----------
    stores : list of Levels
        The rows of each node.
    changes : list of Change or None
        What the last batch changed in each node.
    held : int
        For a bag, the number of its answers that `output` has given.
    """

    def __init__(self, stage: BagStage, chosen: ChosenTree, layout: ViewLayout) -> None:
        self.stage = stage
        self.chosen = chosen
        self.plan = chosen.plan
        self.layout = layout
        self.stores = [Levels(len(place.columns), place.summed) for place in layout.places]
        self.changes: list[Change | None] = []
        self.held = 0

    def climb(self, inputs: Mapping[int, Input]) -> list[Change | None]:
        """What a batch changes in every node; nothing is changed yet.

        Parameters
        ----------
        inputs : mapping of int to Input
            By the source (`BagStage.sources`); sources without a change may be left out.
        """
        leaves = {}
        for place in self.layout.places:
            if place.atom is not None and self.stage.sources[place.atom] in inputs:
                found = inputs[self.stage.sources[place.atom]]
                leaves[place.atom] = change_of(self.layout, place, found.columns, found.amounts)
        return climbed(self.layout, self.stores, leaves)

    def commit(self, found: Sequence[Change | None]) -> None:
        """Apply the changes that `climb` found."""
        self._add(found, 1)
        self.changes = list(found)

    def undo(self, found: Sequence[Change | None], changes: Sequence[Change | None], held: int) -> None:
        """Undo changes; the attributes were `changes` and `held` before them."""
        self._add(found, -1)
        self.changes = list(changes)
        self.held = held

    def listed(self, check: Callable[[], None]) -> ListedState:
        """What listings read. Rows that are read otherwise meanwhile, by a snapshot, may merge runs here."""
        stores = [store.still() for store in self.stores]
        return ListedState(self.layout, stores, list(self.changes), check)

    def output(self, most: int, circle: str) -> Input:
        """What the last batch changed in the answers of a bag; called once after each batch.

        Parameters
        ----------
        most : int
        circle : str
            The hyperedges that make the query cyclic, for the error.

        Raises
        ------
        LimitError
            If it has more than `most` answers.
        """
        names = sorted(self.stage.query.output)
        pieces = list(self._listed_answers(most, circle))
        columns = {
            name: np.concatenate([np.empty(0, np.int64), *(piece.columns[name] for piece in pieces)])
            for name in names
        }
        differences = [piece.after - piece.before for piece in pieces]
        return Input(columns, np.concatenate([np.empty(0, np.int64), *differences]))

    def _listed_answers(self, most: int, circle: str) -> Iterator[ListedAnswers]:
        for piece in changes(self.listed(lambda: None), PIECE):
            self.held += int((piece.after > 0).sum()) - int((piece.before > 0).sum())
            if self.held > most:
                one, other = map(str, self.stage.query.atoms)
                raise LimitError(
                    f"the rule is cyclic ({circle} are in a circle), so the pairs of rows of {one} and "
                    f"{other} that join are kept, and these are more than {most:,}; nothing was changed. "
                    "Remove what closes the circle (a comparison, a relation or a variable that two "
                    "relations share), or allow more pairs: maintain(..., most_kept=...)"
                )
            yield piece

    def _add(self, found: Sequence[Change | None], sign: int) -> None:
        """Change the nodes: all of them, also where the call is interrupted."""
        done = [one is None for one in found]
        rows = sum(0 if one is None else len(one.amounts) for one in found)

        def add(number: int) -> None:
            one = found[number]
            assert one is not None
            self.stores[number].add(one.keys, one.amounts if sign > 0 else -one.amounts)
            done[number] = True

        try:
            if rows >= SHARED:
                # The greatest first, so that the threads end at about the same time.
                sizes = {n: len(one.amounts) for n, one in enumerate(found) if one is not None}
                Workers().map("updating", add, sorted(sizes, key=lambda number: -sizes[number]))
        finally:
            for number in range(len(found)):
                if not done[number]:
                    add(number)
