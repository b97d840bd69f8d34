"""The automaton of a row pattern as a picture: `drawn_choices`."""

from __future__ import annotations

from collections.abc import Sequence

from cer_gpu.errors import LimitError
from cer_gpu.patterns.choices import MATCHED, OrderedAutomaton
from cer_gpu.patterns.explanation import slot_names
from cer_gpu.plan.drawing import STATE_BUDGET, Drawing, Edge, Kind, Node


def drawn_choices(automata: Sequence[OrderedAutomaton], format: str) -> str:
    """The automaton with ordered choices of a statement, as a Mermaid flowchart or an SVG document.

    A node is a place of the pattern, with the variable that takes a row there. Where there are several ways
    on, each has its number: 1 is tried first.

    Raises
    ------
    ValueError
        When there are several.
    LimitError
        When it has more places than can be drawn.
    CerError
        For "svg", when the package that draws it is not installed.
    """
    if len(automata) > 1:
        raise ValueError(
            f"the statement has {len(automata)} MATCH_RECOGNIZE, and a picture shows one automaton: explain "
            "a SELECT with one of them"
        )
    drawing = drawing_of(automata[0])
    if format == "mermaid":
        from cer_gpu.plan.mermaid import to_mermaid

        return to_mermaid(drawing)
    from cer_gpu.plan.svg import to_svg

    return to_svg(drawing)


def drawing_of(automaton: OrderedAutomaton) -> Drawing:
    """The nodes and edges; what anchors allow at the first or the last row alone is drawn like the rest."""
    slots = len(automaton.variable_of)
    if slots > STATE_BUDGET:
        raise LimitError(
            f"the pattern has {slots:,} places, and at most {STATE_BUDGET} can be drawn: draw a part of it, "
            "or read `explain` as text"
        )
    end, start = slots, slots + 1
    edges = _edges(start, automaton.first_choices, automaton.other_choices, end)
    for slot, behind in enumerate(zip(automaton.next_choices, automaton.last_choices, strict=True)):
        edges += _edges(slot, *behind, end)
    nodes = [Node(name, Kind.STATE) for name in slot_names(automaton)]
    return Drawing((*nodes, Node("end", Kind.FINAL), Node("", Kind.START)), tuple(edges))


def _edges(source: int, one: Sequence[int], other: Sequence[int], end: int) -> list[Edge]:
    """The ways on from a node, in order; `other` may have some more, or fewer."""
    targets = list(dict.fromkeys((*max(one, other, key=len), *min(one, other, key=len))))
    return [
        Edge(source, end if target == MATCHED else target, (str(rank),) if len(targets) > 1 else ())
        for rank, target in enumerate(targets, 1)
    ]
