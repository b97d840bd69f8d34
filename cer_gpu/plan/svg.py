"""A drawing as SVG, laid out in layers from left to right and rendered by graphlay."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import copysign, sqrt
from typing import Any, TypeAlias

from cer_gpu.errors import CerError
from cer_gpu.extras import to_install
from cer_gpu.frozen_dataclass import dataclass
from cer_gpu.plan.drawing import Drawing, Edge, Kind, Node
from cer_gpu.printable_text import on_one_line

Size: TypeAlias = tuple[float, float]
Point: TypeAlias = dict[str, float]

INK, LINE, PAPER = "#1d2533", "#4a5568", "#ffffff"

TEXT_SIZE, LINE_HEIGHT = 12.0, 15.0
CHARACTER = 0.55 * TEXT_SIZE
"""The width of a character: that of wide fonts, so that texts have room in any."""

DOT, JUNCTION, STATE = 10.0, 8.0, 34.0
"""Diameters; that of a state grows with its name."""

RING = 4.0
"""Between the two circles of a final state."""

LOOP, LOOP_WIDTH = 15.0, 18.0
"""The height of a loop above its state, without its text."""

WIDEST = 1600.0
"""A drawing that is wider is laid out in several rows."""

OPTIONS = {
    "spacing": {"layer_gap": 24.0, "node_gap": 26.0, "dummy_gap": 14.0, "port_gap": 7.0},
    "routing": {"port_sides": "facing_only", "centre_ports": "off"},  # loops have the upper sides
}

PAGE = {
    "background": PAPER,
    "padding": 16.0,
    "order": "edges_under_nodes",
    "font": {"family": "Helvetica, Arial, sans-serif", "size": TEXT_SIZE},
}


def to_svg(drawing: Drawing) -> str:
    """The drawing as an SVG document, the same on every run.

    The initial state has an arrow from a dot, final states have a double circle.

    Raises
    ------
    CerError
        When graphlay is not installed.
    """
    try:
        import graphlay
    except ImportError:
        raise CerError(
            f"drawing SVG needs the package graphlay; {to_install('draw')} "
            "(format='mermaid' needs no package)"
        ) from None
    found, routes = _laid_out(drawing, graphlay)
    circles = [
        circle
        for node, place in zip(drawing.nodes, found.nodes)
        for circle in _circles(node, place["center"])
    ]
    arrows, texts = [], []
    for edge, route in zip(drawing.edges, routes):
        ends = [(drawing.nodes[k], found.nodes[k]["center"]) for k in (edge.source, edge.target)]
        points = _loop(*ends[0]) if route.is_loop else _bends(route, ends, found)
        arrows.append(_arrow(points, drawing.nodes[edge.target].kind))
        if edge.lines:
            place = _above(points, edge) if route.text is None else found.nodes[route.text]["center"]
            texts.append(_box("rect", place, _text_size(edge), PAPER, "none", edge.shown))
    return str(graphlay.render_scene({**PAGE, "nodes": texts + circles, "edges": arrows}))


@dataclass(frozen=True, slots=True)
class _Route:
    """An edge as the layout has it: its text is a node on the way, unless it is a loop.

    So the text has room of its own, on its edge. An edge that closes a cycle is laid out the other way
    round, from left to right as the others, with its text between the two states.

    Attributes
    ----------
    parts : tuple of int
        The edges of the layout, from left to right.
    text : int or None
        The node of the layout; None where there is no text, and of a loop.
    backward, is_loop : bool
    """

    parts: tuple[int, ...]
    text: int | None
    backward: bool
    is_loop: bool


def _laid_out(drawing: Drawing, graphlay: Any) -> tuple[Any, list[_Route]]:
    """The layout, whose first nodes are those of the drawing, and the route of each edge."""
    loops = {edge.source: _text_size(edge) for edge in drawing.edges if edge.source == edge.target}
    graph = graphlay.Graph()
    for number, node in enumerate(drawing.nodes):
        width, height = _node_size(node)
        # Lower than the circle, so that edges meet it away from its top and bottom.
        graph.node(width=max(width, loops.get(number, (0.0, 0.0))[0]), height=0.6 * height)
    backward = _backward(drawing)
    routes = [_route(edge, edge in backward, graph) for edge in drawing.edges]
    # The layout leaves room for loops, but not for their texts.
    room = STATE / 5 + LOOP + max((height for _, height in loops.values()), default=0.0)
    options = {**OPTIONS, "self_loops": {"side": "cross_negative", "size": room}}
    found = graphlay.layout(graph, options=options)
    if found.bounds["max"]["x"] - found.bounds["min"]["x"] > WIDEST:
        found = graphlay.layout(graph, options={**options, "wrap": {"viewport_aspect": 2.0}})
    return found, routes


def _route(edge: Edge, backward: bool, graph: Any) -> _Route:
    ends = [edge.source, edge.target]
    is_loop = edge.source == edge.target
    text = None
    if edge.lines and not is_loop:
        width, height = _text_size(edge)
        text = graph.node(width=width, height=height)
        ends.insert(1, text)
    if backward:
        ends.reverse()
    parts = tuple(graph.edge(one, other) for one, other in pairwise(ends))
    return _Route(parts, text, backward, is_loop)


def _bends(route: _Route, ends: Sequence[tuple[Node, Point]], found: Any) -> list[Point]:
    """The bends of an edge from its source to its target, both of which its ends touch."""
    points = [point for part in route.parts for point in found.edges[part]["points"]]
    if route.backward:
        points.reverse()
    return [_border(*ends[0], points[0]), *points[1:-1], _border(*ends[1], points[-1])]


def _loop(node: Node, centre: Point) -> list[Point]:
    """The bends of a loop above a state."""
    half = _node_size(node)[1] / 2
    left, right = centre["x"] - LOOP_WIDTH / 2, centre["x"] + LOOP_WIDTH / 2
    low = centre["y"] - sqrt(half**2 - (LOOP_WIDTH / 2) ** 2)
    top = centre["y"] - half - LOOP
    return [{"x": x, "y": y} for x, y in ((left, low), (left, top), (right, top), (right, low))]


def _above(loop: Sequence[Point], edge: Edge) -> Point:
    """Where the text of a loop is."""
    return {"x": (loop[1]["x"] + loop[2]["x"]) / 2, "y": loop[1]["y"] - _text_size(edge)[1] / 2 - 1}


def _border(node: Node, centre: Point, end: Point) -> Point:
    """Where an edge that ends at the side of a node's box meets its circle."""
    width, height = _node_size(node)
    share = 1 - ((end["y"] - centre["y"]) / (height / 2)) ** 2
    reach = width / 2 * sqrt(max(share, 0.0))
    return {"x": centre["x"] + copysign(reach, end["x"] - centre["x"]), "y": end["y"]}


def _backward(drawing: Drawing) -> set[Edge]:
    """The edges that a depth-first search from the start finds to lead back to where it came from."""
    leaving: list[list[Edge]] = [[] for _ in drawing.nodes]
    for edge in drawing.edges:
        leaving[edge.source].append(edge)
    starts = sorted(range(len(drawing.nodes)), key=lambda node: drawing.nodes[node].kind is not Kind.START)
    found: set[Edge] = set()
    seen: set[int] = set()
    for start in starts:
        if start in seen:
            continue
        seen.add(start)
        path = {start: iter(leaving[start])}  # in the order of the search
        while path:
            node, pending = next(reversed(path.items()))
            step = next(pending, None)
            if step is None:
                del path[node]
            elif step.target in path:
                found.add(step)
            elif step.target not in seen:
                seen.add(step.target)
                path[step.target] = iter(leaving[step.target])
    return found


def _node_size(node: Node) -> Size:
    if node.kind is Kind.START:
        return DOT, DOT
    if node.kind is Kind.JUNCTION:
        return JUNCTION, JUNCTION
    return max(STATE, len(node.name) * CHARACTER + 20), STATE


def _text_size(edge: Edge) -> Size:
    return max(map(len, edge.shown), default=0) * CHARACTER + 8, len(edge.shown) * LINE_HEIGHT + 4


def _circles(node: Node, centre: Point) -> list[dict[str, Any]]:
    size = _node_size(node)
    if not node.name:
        return [_box("ellipse", centre, size, INK, INK, [])]
    outer = _box("ellipse", centre, size, PAPER, INK, [node.name])
    if node.kind is not Kind.FINAL:
        return [outer]
    inside = (size[0] - 2 * RING, size[1] - 2 * RING)
    return [outer, _box("ellipse", centre, inside, "none", INK, [])]


def _box(
    shape: str, centre: Point, size: Size, fill: str, stroke: str, lines: Sequence[str]
) -> dict[str, Any]:
    width, height = size
    return {
        "rect": {"x": centre["x"] - width / 2, "y": centre["y"] - height / 2, "w": width, "h": height},
        "shape": {"kind": shape, "corner_radius": 0.0} if shape == "rect" else {"kind": shape},
        "fill": fill,
        "stroke": {"paint": stroke, "width": 1.4},
        "content": [
            {
                "kind": "text",
                "text": on_one_line(line),
                "dx": 0.0,
                "dy": (number - (len(lines) - 1) / 2) * LINE_HEIGHT,
                "size": TEXT_SIZE,
                "color": INK,
                "anchor": "middle",
                "baseline": "central",
            }
            for number, line in enumerate(lines)
        ],
    }


def _arrow(points: list[Point], target: Kind) -> dict[str, Any]:
    head = (
        {"kind": "none"} if target is Kind.JUNCTION else {"kind": "builtin", "marker": "arrow", "size": 9.0}
    )
    return {
        "points": points,
        "stroke": {"paint": LINE, "width": 1.4},
        "corner_radius": 8.0,
        "marker_start": {"kind": "none"},
        "marker_end": head,
    }
