"""Rules whose atoms all share the key of a lane, as arrays: what lists their answers lane by lane reads."""

from __future__ import annotations

from itertools import permutations

import numpy as np

from cer_gpu.joins.query import ConjunctiveQuery
from cer_gpu.joins.unify import SelfJoin, self_join
from cer_gpu.kernels.joins.contract import COMPARED, LaneAtoms
from cer_gpu.language import tree
from cer_gpu.plan.join_arrays import JoinArrays

MOST = 62
"""Atoms of a rule at most: a set of them is one number."""


def lane_atoms(body: ConjunctiveQuery, found: JoinArrays, filled: np.ndarray) -> LaneAtoms | None:
    """What the events of a rule are compared by beside the lane; None where one may fill two atoms.

    In `Q(x, y) <- T(x), S(x, y), R(x, y)` the lane is x, and an S and an R are compared by the pair (x, y).

    Parameters
    ----------
    body : ConjunctiveQuery
    found : JoinArrays
        Of its automaton.
    filled : ndarray, shape (labels, atoms), uint8
        The atoms that each label fills.
    """
    if not len(found.keys.lane_column) or not 2 <= len(body.atoms) <= MOST:
        return None
    atom = _atom_of(found, filled)
    singles = [self_join([one]) for one in body.atoms]
    if atom is None or None in singles:
        return None
    number = {column.keys: place for place, column in enumerate(found.keys.columns)}
    lane = [int(found.keys.lane_column[np.argmax(atom == one)]) for one in range(len(singles))]
    own: list[dict[int, int]] = [{} for _ in singles]
    place = np.full((len(singles), len(singles)), -1, np.int32)
    for one, other in permutations(range(len(singles)), 2):
        pair = _compared(singles[one], singles[other], body, number)  # type: ignore[arg-type]
        if pair is None or found.keys.columns[pair[0]].space != found.keys.columns[pair[1]].space:
            return None
        if pair != (lane[one], lane[other]):
            place[one, other] = COMPARED + own[one].setdefault(pair[0], len(own[one]))
    column = np.full((len(own), max(map(len, own))), -1, np.int32)
    for one, columns in enumerate(own):
        column[one, : len(columns)] = list(columns)
    return LaneAtoms(atom, column, place)


def _atom_of(found: JoinArrays, filled: np.ndarray) -> np.ndarray | None:
    """The atom that an event with each symbol fills, -1 for none; None where it may fill several.

    None too where no event fills some atom: then there are no answers.
    """
    tables = found.tables
    atom = np.full(tables.n_symbols, -1, np.int32)
    for symbol in range(tables.n_symbols):
        moves = tables.transition[tables.first[symbol] : tables.first[symbol + 1]]
        fills = filled[tables.label[moves]]
        if not len(fills):
            continue
        if (fills.sum(axis=1) != 1).any() or (fills != fills[0]).any():
            return None
        atom[symbol] = fills[0].argmax()
    return atom if set(range(filled.shape[1])) <= set(atom.tolist()) else None


def _compared(
    one: SelfJoin, other: SelfJoin, body: ConjunctiveQuery, number: dict[tuple[tree.Expression, ...], int]
) -> tuple[int, int] | None:
    """The columns in which events of two atoms are equal; None where there are no such columns."""
    shared = [name for name in body.atoms_of if name in one.attribute_of and name in other.attribute_of]
    pairs = dict.fromkeys((one.attribute_of[name], other.attribute_of[name]) for name in shared)
    keys = [tuple(tree.Attribute(pair[side]) for pair in pairs) for side in range(2)]
    if not all(each in number for each in keys):
        return None
    return number[keys[0]], number[keys[1]]
