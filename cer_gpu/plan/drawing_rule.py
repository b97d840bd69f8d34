"""The drawing of a rule whose atoms are looked up: its atoms, and what joins two of them."""

from __future__ import annotations

from cer_gpu.joins.lookups import LookupPlan
from cer_gpu.joins.query import ConjunctiveQuery
from cer_gpu.language.printer import to_text
from cer_gpu.language.words import written
from cer_gpu.plan.drawing import Drawing, Edge, Kind, Node


def of_rule(body: ConjunctiveQuery, lookups: LookupPlan) -> Drawing:
    """The atoms of a rule, with an arrow between two that share a variable or that a comparison reads."""
    lines: dict[tuple[int, int], list[str]] = {}
    for joined in lookups.joined:
        first, *others = joined.attribute_of
        for other in others:
            lines.setdefault((first, other), []).append(f"same {written(joined.name)}")
    read = [(frozenset(one.atoms), one.source) for one in lookups.compared]
    read += [(one.atoms, one.source) for one in lookups.checked]
    for atoms, source in read:
        first, *others = sorted(atoms)
        for other in others:
            lines.setdefault((first, other), []).append(to_text(source))
    nodes = tuple(Node(atom.text, Kind.FINAL) for atom in body.atoms)
    return Drawing(nodes, tuple(Edge(*ends, tuple(said)) for ends, said in sorted(lines.items())))
