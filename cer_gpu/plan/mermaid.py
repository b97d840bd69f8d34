"""A drawing as the text of a Mermaid flowchart, which Markdown viewers show as a picture."""

from __future__ import annotations

from collections.abc import Iterable

from cer_gpu.plan.drawing import Drawing, Kind
from cer_gpu.printable_text import printable

SHAPES = {
    Kind.START: ("((", "))"),
    Kind.STATE: ("((", "))"),
    Kind.FINAL: ("(((", ")))"),
    Kind.JUNCTION: ("{{", "}}"),
}

ENTITIES = {
    "#": "#35;",
    "&": "#amp;",
    "<": "#lt;",
    ">": "#gt;",
    '"': "#quot;",
    "`": "#96;",  # a text in quotes and back-ticks would be Markdown
    "\\": "#92;",  # no line ends at an `\n` of a name
}


def to_mermaid(drawing: Drawing) -> str:
    """The text of `flowchart LR`, one line for each node and edge.

    Node k is `n<k>`; the initial state has an arrow from a small black dot, final states have a double
    circle, and a transition that gathers several runs has a small black hexagon.
    """
    lines = ["flowchart LR"]
    for number, node in enumerate(drawing.nodes):
        before, after = SHAPES[node.kind]
        style = "" if node.name else ":::dot"
        lines.append(f'    n{number}{before}"{_escaped(node.name) or " "}"{after}{style}')
    for edge in drawing.edges:
        text = f'|"{_joined(edge.shown)}"|' if edge.lines else ""
        lines.append(f"    n{edge.source} -->{text} n{edge.target}")
    lines.append("    classDef dot fill:#000,stroke:#000,font-size:1px")
    return "\n".join(lines) + "\n"


def _joined(lines: Iterable[str]) -> str:
    return "<br/>".join(map(_escaped, lines))


def _escaped(text: str) -> str:
    return " ".join("".join(ENTITIES.get(character, character) for character in printable(text)).split())
