"""The join trees of a view, as text: `drawn`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cer_gpu.engine.views.body import Body
from cer_gpu.engine.views.layout import ViewNode
from cer_gpu.engine.views.trees import KeptTree
from cer_gpu.joins.theta.bags import BagStage, stages, width
from cer_gpu.joins.theta.cost import cheapest
from cer_gpu.joins.theta.gcq import GCQ
from cer_gpu.joins.theta.tree import JoinTree
from cer_gpu.language.printer import to_text


def drawn(body: Body, chains: Sequence[Sequence[KeptTree]]) -> str:
    """The join trees of a view, from the root down, with the promised cost.

    Parameters
    ----------
    body : Body
    chains : sequence of sequence of KeptTree
        For each part of the aggregates; empty before all relations are known: then indexes and sizes are
        left out.
    """
    lines = []
    parts = body.parts
    for number, (part, query) in enumerate(zip(parts, body.queries)):
        if len(parts) > 1:
            lines.append(f"{', '.join(to_text(body.aggregates[n]) for n in part)}:")
        lines += _chain(query, chains[number] if chains else (), len(body.readings))
    for reading in body.readings:
        for test in reading.tests:
            lines.append(f"a row of {reading.relation} is read if {to_text(test)}")
    lines.append(
        "*: a node from which rows are listed; guard: the child that has all variables of its parent"
    )
    return "\n".join(lines)


def _chain(query: GCQ, trees: Sequence[KeptTree], atoms: int) -> Iterator[str]:
    """The trees of one query."""
    found = stages(query)
    if len(found) > 1:
        most = width(found, atoms)
        yield (f"cyclic: {len(found) - 1} bag(s) of joined rows are kept, of at most {most} relations")
    for number, stage in enumerate(found):
        chosen = trees[number].chosen if trees else cheapest(stage.query)
        plan = chosen.plan
        last = number == len(found) - 1
        if last:
            promise = "acyclic, free-connex" if plan.free_connex else "acyclic, not free-connex"
            yield (f"{promise}: {_promise(plan.tree, stage.query, plan.free_connex)}")
        else:
            yield (f"bag {number + 1}, which holds rows of {_names(stage.query.output)}:")
        if chosen.trees > 1:
            cost = chosen.cost
            yield (
                f"the cheapest of {chosen.trees} trees: a row that is inserted changes about "
                f"{cost.changed:.3g} of about {_rounded(cost.rows)} rows"
                + ("" if trees else "; sizes are not known yet")
            )
        kept = trees[number] if trees else None
        yield from _tree(plan.tree, stage, kept, atoms)


def _promise(tree: JoinTree, query: GCQ, free_connex: bool) -> str:
    many = max((len(edge.predicates) for node in tree.nodes for edge in node.edges), default=0)
    update = (
        "a batch takes O(n log n)"
        if many < 2
        else "a batch may take O(n^2 log n), as rows satisfy one comparison on an edge and not another"
    )
    delay = "at most logarithmic"
    if free_connex:
        return f"{update}, the delay between rows is {delay}"
    more = _names(tree.output - query.output)
    return f"{update}, rows are first listed with {more} too, and put together in memory"


def _rounded(rows: float) -> str:
    digits = max(0, len(str(int(rows))) - 2)
    return f"{round(rows, -digits):,.0f}"


def _names(variables: frozenset[str]) -> str:
    return "{" + ", ".join(sorted(variables)) + "}"


def _tree(tree: JoinTree, stage: BagStage, kept: KeptTree | None, atoms: int) -> Iterator[str]:
    todo = [(tree.root, 1, "")]
    while todo:
        number, depth, edge = todo.pop()
        node = tree.nodes[number]
        label = _names(node.variables)
        if node.atom is not None:
            source = stage.sources[node.atom]
            label = (
                str(stage.query.atoms[node.atom]) if source < atoms else f"bag {source - atoms + 1}: {label}"
            )
        star = " *" if number in tree.connex else ""
        yield "  " * depth + label + star + edge + _index(kept, number)
        guards = tree.guards(number)
        for child in node.edges:
            words = [str(theta) for theta in sorted(child.predicates, key=str)]
            if guards and child.child == guards[0] and not words:
                words = ["guard"]
            todo.append((child.child, depth + 1, f" -- {', '.join(words)}" if words else ""))


def _index(kept: KeptTree | None, number: int) -> str:
    if kept is None:
        return ""
    place: ViewNode = kept.layout.places[number]
    store = kept.stores[number]
    arrays = f"{len(store.runs)} sorted array{'s' * (len(store.runs) != 1)}"
    held = f"{len(store):,} row{'s' * (len(store) != 1)} in {arrays}, {store.nbytes:,} bytes"
    return f"   [{_order(place)}; {held}]"


def _order(place: ViewNode) -> str:
    names = [name if name in place.variables else "computed" for name in place.columns]
    grouped, rest = names[: place.known], names[place.known :]
    if not grouped:
        return f"ordered by {', '.join(rest)}" if rest else "one row"
    return f"grouped by {', '.join(grouped)}" + (f", ordered by {', '.join(rest)}" if rest else "")
