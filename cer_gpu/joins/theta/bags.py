"""Cyclic queries: two atoms at a time are put together into a bag, until what is left is acyclic.

The triangle `R(a, b), S(b, c), T(a, c)` becomes `B(a, b, c), T(a, c)` with the bag
`B(a, b, c) <- R(a, b), S(b, c)`. The answers of a bag are kept as rows, so they may be as many as the product
of its atoms.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from cer_gpu.frozen_dataclass import dataclass
from cer_gpu.joins.theta.gcq import GCQ, RelationalAtom, Theta, union
from cer_gpu.joins.theta.reduction import decide


@dataclass(frozen=True, slots=True)
class BagStage:
    """A query over atoms and over the answers of earlier stages.

    Attributes
    ----------
    query : GCQ
        Acyclic. The answers of an earlier stage are an atom.
    sources : tuple of int
        What each atom of `query` stands for. A number below the number of atoms of the whole query is one of
        these atoms; otherwise that number subtracted gives the earlier stage.
    """

    query: GCQ
    sources: tuple[int, ...]


def stages(query: GCQ) -> tuple[BagStage, ...]:
    """The bags of a query, each made of two sources, then the acyclic rest; one stage for an acyclic query.

    The pair of sources is one that leaves an acyclic query or, if there is none, shares the most variables,
    then the
    most predicates.
    """
    sources = list(query.atoms)
    current = list(range(len(sources)))
    predicates = query.predicates
    found: list[BagStage] = []
    while not decide(_over(sources, current, predicates, query)).acyclic:
        ranked = []
        for pair in combinations(current, 2):
            bag, left, rest = _joined(sources, current, pair, predicates, query)
            after = [n for n in current if n not in pair]
            atoms = [*(sources[n] for n in after), bag]
            solved = decide(_over(atoms, range(len(atoms)), rest, query)).acyclic
            shared = set(sources[pair[0]].variables) & set(sources[pair[1]].variables)
            ranked.append((not solved, -len(shared), -len(left), pair))
        pair = min(ranked)[-1]
        bag, inside, predicates = _joined(sources, current, pair, predicates, query)
        atoms = [_numbered(sources[n], place) for place, n in enumerate(pair)]
        found.append(BagStage(GCQ(tuple(atoms), inside, frozenset(bag.variables)), pair))
        current = [n for n in current if n not in pair] + [len(sources)]
        sources.append(bag)
    found.append(BagStage(_over(sources, current, predicates, query), tuple(current)))
    return tuple(found)


def width(found: Sequence[BagStage], atoms: int) -> int:
    """The most atoms in a bag; 1 where there is none."""
    sizes = [1] * atoms
    for stage in found[:-1]:
        sizes.append(sum(sizes[source] for source in stage.sources))
    return max(sizes)


def _joined(
    sources: Sequence[RelationalAtom],
    current: Sequence[int],
    pair: tuple[int, int],
    predicates: tuple[Theta, ...],
    query: GCQ,
) -> tuple[RelationalAtom, tuple[Theta, ...], tuple[Theta, ...]]:
    """The bag of two sources, the predicates that it decides, and the others."""
    both = union(sources[n].variables for n in pair)
    inside = tuple(theta for theta in predicates if theta.variables <= both)
    rest = tuple(theta for theta in predicates if not theta.variables <= both)
    wanted = query.output | union(sources[n].variables for n in current if n not in pair)
    wanted |= union(theta.variables for theta in rest)
    name = " ⋈ ".join(sources[n].relation for n in pair)
    return RelationalAtom(len(sources), name, tuple(sorted(both & wanted))), inside, rest


def _over(
    sources: Sequence[RelationalAtom], current: Sequence[int], predicates: tuple[Theta, ...], query: GCQ
) -> GCQ:
    atoms = tuple(_numbered(sources[n], place) for place, n in enumerate(current))
    return GCQ(atoms, predicates, query.output)


def _numbered(atom: RelationalAtom, place: int) -> RelationalAtom:
    return RelationalAtom(place, atom.relation, atom.variables)
