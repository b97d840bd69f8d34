"""What `explain` draws of a query: the nodes and edges, the text of Mermaid, the picture in SVG."""

from __future__ import annotations

import random
import subprocess
import sys
import xml.etree.ElementTree as ET
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from automata_oracle import holds, random_events, random_formula

import cer_gpu
from cer_gpu.automata.cea import CEA, TypeTest, both
from cer_gpu.automata.construct import construct, trim
from cer_gpu.automata.determinise import predicates
from cer_gpu.cli import status_of
from cer_gpu.errors import CerError, LimitError
from cer_gpu.language import tree
from cer_gpu.plan.drawing import Drawing, Edge, Kind, Node, merged, without_epsilon
from cer_gpu.plan.drawing_text import EventSets, predicate_text
from cer_gpu.plan.mermaid import to_mermaid
from cer_gpu.plan.svg import to_svg
from cer_gpu.reference.simulate import runs

PHI_1 = "SELECT * WHERE (T AS x ; H AS y) FILTER x[tmp > 40] AND y[hum <= 25] AND x[id = 0] AND y[id = 0]"

CHAIN = "SELECT * WHERE Buy AS b ; Sell AS s ; Buy AS c FILTER b.price = s.price AND s.id = c.id"
RULE = "Q(x, y) <- T(x), S(x, y), R(x, y)"
DENSE = "SELECT * WHERE (A OR B ; C : D)+ ; ((E OR F)+ : G OR (H ; I)+) ; J ; (K : L : M)+ OR (N ; O ; P) : Q"
LONG = "SELECT * WHERE " + " ; ".join(f"E{k} AS e{k}" for k in range(29))

DRAWN = [
    PHI_1,
    "SELECT * WHERE (A : (B OR C) AS x)+ ; D AS d FILTER x[price > 10] AND d[name = 'x']",
    "SELECT * WHERE A ALL B ALL C",
    "SELECT * WHERE (A ; B+) UNLESS (C FILTER C[v > 3])",
    "SELECT * WHERE MAX(A ; B) ; C",
    CHAIN,
    RULE,
    DENSE,
    LONG,
]


def drawn(query: str) -> Drawing:
    return cer_gpu.compile(query)._plan.built.drawing()


def lines(found: Drawing) -> dict[tuple[int, int], tuple[str, ...]]:
    return {(edge.source, edge.target): edge.lines for edge in found.edges}


# ------------------------------------------------------------------------------- what is drawn


def test_phi_1_of_the_thesis_in_mermaid() -> None:
    assert cer_gpu.compile(PHI_1).explain("mermaid") == (
        "flowchart LR\n"
        '    n0(("0"))\n'
        '    n1(("1"))\n'
        '    n2((("2")))\n'
        '    n3((" ")):::dot\n'
        '    n0 -->|"T[tmp #gt; 40 AND id = 0] / T, x"| n1\n'
        '    n1 -->|"any event"| n1\n'
        '    n1 -->|"H[hum #lt;= 25 AND id = 0] / H, y"| n2\n'
        "    n3 --> n0\n"
        "    classDef dot fill:#000,stroke:#000,font-size:1px\n"
    )


def test_parallel_transitions_share_an_edge_and_a_line_for_each_set_of_marks() -> None:
    found = drawn("SELECT x WHERE (A OR B) AS x ; C")
    assert found.nodes == (
        Node("0", Kind.STATE),
        Node("1", Kind.STATE),
        Node("2", Kind.FINAL),
        Node("", Kind.START),
    )
    assert lines(found) == {(3, 0): (), (0, 1): ("A or B / x",), (1, 1): ("any event",), (1, 2): ("C",)}
    assert lines(drawn("SELECT * WHERE A OR B"))[0, 1] == ("A / A", "B / B")


def test_operators_are_drawn_as_the_deterministic_automaton() -> None:
    assert lines(drawn("SELECT * WHERE A ALL B")) == {
        (4, 0): (),
        (0, 1): ("A / A",),
        (0, 2): ("B / B",),
        (1, 1): ("any event",),
        (1, 3): ("B / B",),
        (2, 2): ("any event",),
        (2, 3): ("A / A",),
    }
    unless = lines(drawn("SELECT * WHERE (A ; B) UNLESS (C FILTER C[v > 3])"))
    assert unless[1, 1] == ("not C[v > 3]",)


def test_what_the_prefix_decides_is_said() -> None:
    assert lines(drawn("SELECT * WHERE NXT(A ; B) ; C"))[0, 1] == ("A (after some prefixes) / A",)


def test_a_chain_says_what_is_equal() -> None:
    found = drawn(CHAIN)
    assert [node.name for node in found.nodes] == ["Buy", "Sell", "Buy2", ""]
    assert lines(found) == {
        (3, 0): ("Buy / Buy, b",),
        (0, 1): ("Sell / Sell, s / Buy.price = Sell.price",),
        (1, 2): ("Buy / Buy, c / Sell.id = Buy.id",),
    }
    at_once = drawn("SELECT * WHERE A AS a : B AS b ; C AS c FILTER a.x = b.x AND b.y * 2 = c.y")
    assert lines(at_once)[0, 1] == ("B / B, b / the next event and A.x = B.x",)
    assert lines(at_once)[1, 2] == ("C / C, c / (y * 2 of B) = C.y",)


def test_a_rule_gathers_runs_at_junctions() -> None:
    found = drawn(RULE)
    junctions = [number for number, node in enumerate(found.nodes) if node.kind is Kind.JUNCTION]
    assert len(junctions) == 2
    final = next(number for number, node in enumerate(found.nodes) if node.kind is Kind.FINAL)
    texts = lines(found)
    assert {texts[number, final] for number in junctions} == {("S / S(x, y)",), ("R / R(x, y)",)}
    for junction in junctions:
        entering = [text for (_, target), text in texts.items() if target == junction]
        assert sorted(entering) == [("same x",), ("same x, y",)]


def test_drawn_automata_have_the_runs_of_the_ones_they_came_from() -> None:
    rng = random.Random("drawing")
    fewer = 0
    for _ in range(150):
        cea = trim(construct(random_formula(rng, rng.randint(1, 4))))
        bare = without_epsilon(cea)
        small = merged(bare)
        assert not bare.epsilon
        assert small.n_states <= bare.n_states
        fewer += small.n_states < bare.n_states
        events = random_events(rng, 6)
        assert complex_events_of(small, events) == complex_events_of(cea, events)
    assert fewer


def complex_events_of(cea: CEA, events: list[Any]) -> set[Any]:
    tests = predicates(cea)
    return runs(cea, lambda i, position: holds(tests[i], events[position]), len(events))


def test_large_automata_are_refused() -> None:
    query = cer_gpu.compile("SELECT * WHERE " + " ; ".join(f"E{k}" for k in range(120)))
    for form in ("mermaid", "svg"):
        with pytest.raises(LimitError, match="121 states, and at most 100"):
            query.explain(form)


# ------------------------------------------------------------------------------ what is written


def test_predicates_as_the_query_writes_them() -> None:
    a: Any = TypeTest("A")
    b: Any = TypeTest("B")
    dear = tree.Comparison(">", tree.Attribute("price"), tree.Number(10))
    old = tree.IsNull(tree.Attribute("end"))
    either = tree.Either(dear, old)
    assert predicate_text(TypeTest("my type", "S")) == "S>`my type`"
    assert predicate_text(both(a, both(dear, old))) == "A[price > 10 AND end IS NULL]"
    assert predicate_text(both(a, either)) == "A[price > 10 OR end IS NULL]"
    assert predicate_text(tree.Both(either, tree.Not(a))) == "(price > 10 OR end IS NULL) and not A"
    assert predicate_text(tree.Not(tree.Either(a, b))) == "not (A or B)"
    assert predicate_text(tree.Truth(True)) == "any event"


def test_sets_of_events_are_said_by_predicates() -> None:
    a, b = TypeTest("A"), TypeTest("B")
    dear = both(a, tree.Comparison(">", tree.Attribute("price"), tree.Number(10)))
    # The classes: none, A, A[price > 10], B.
    sets = EventSets(
        [frozenset(), frozenset({0}), frozenset({0, 1}), frozenset({2}), frozenset({3})],
        [a, dear, b, TypeTest("C")],
    )
    assert sets.text({0, 1, 2, 3, 4}) == "any event"
    assert sets.text({1, 2}) == "A"
    assert sets.text({2}) == "A[price > 10]"
    assert sets.text({1}) == "A and not A[price > 10]"
    assert sets.text({0, 1, 3, 4}) == "not A[price > 10]"
    assert sets.text({0, 1, 2}) == "not (B or C)"
    assert sets.text({2, 3}) == "A[price > 10] or B"
    assert sets.text({0}) == "not (A or B or C)"


def test_different_sets_are_said_differently() -> None:
    rng = random.Random("sets of events")
    tests = [TypeTest(name) for name in "ABCD"]
    for _ in range(50):
        outcomes = list({frozenset(k for k in range(4) if rng.random() < 0.5) for _ in range(6)})
        sets = EventSets(outcomes, tests)
        subsets = [
            chosen
            for size in range(1, len(outcomes) + 1)
            for chosen in combinations(range(len(outcomes)), size)
        ]
        assert len({sets.text(chosen) for chosen in subsets}) == len(subsets)


def test_long_texts_are_cut() -> None:
    edge = Edge(0, 1, ("x" * 100, "b", "c", "d", "e", "f"))
    assert edge.shown == ("x" * 43 + "…", "b", "c", "and 3 more")
    assert Edge(0, 1, ("x" * 44, "b", "c", "d")).shown == ("x" * 44, "b", "c", "d")


# -------------------------------------------------------------------------------------- mermaid

AWKWARD = 'SELECT * WHERE `A <&"` AS a ; B FILTER a[name = \'<b> & "c" `d` #5;\\\' AND v < 3] AND B[w > 2]'


def test_mermaid_escapes_what_would_end_a_text() -> None:
    text = cer_gpu.compile(AWKWARD).explain("mermaid")
    arrows = [line for line in text.splitlines() if "|" in line]
    assert any("#lt;" in line and "#amp;" in line and "#quot;" in line for line in arrows)
    for line in arrows:
        _, said, _ = line.split("|")
        assert said[0] == said[-1] == '"'
        assert not set(said[1:-1]) & set('"<>&`\\')


# ------------------------------------------------------------------------------------------ svg

SVG = "{http://www.w3.org/2000/svg}"


class Box(NamedTuple):
    left: float
    top: float
    right: float
    bottom: float

    def overlaps(self, other: Box) -> bool:
        apart = self.right <= other.left or other.right <= self.left
        return not (apart or self.bottom <= other.top or other.bottom <= self.top)


def written(svg: str) -> list[str]:
    return [element.text or "" for element in ET.fromstring(svg).iter(f"{SVG}text")]


@pytest.mark.parametrize("query", DRAWN)
def test_svg_has_every_state_and_text(query: str) -> None:
    found, svg = drawn(query), cer_gpu.compile(query).explain("svg")
    expected = [node.name for node in found.nodes if node.name]
    expected += [line for edge in found.edges for line in edge.shown]
    assert sorted(written(svg)) == sorted(expected)
    arrows = [path for path in ET.fromstring(svg).iter(f"{SVG}path") if path.get("marker-end")]
    heads = [edge for edge in found.edges if found.nodes[edge.target].kind is not Kind.JUNCTION]
    assert len(arrows) == len(heads)
    doubled = sum(node.kind is Kind.FINAL for node in found.nodes)
    assert len(list(ET.fromstring(svg).iter(f"{SVG}ellipse"))) == len(found.nodes) + doubled
    assert svg == to_svg(found)


@pytest.mark.parametrize("query", DRAWN)
def test_no_text_of_a_picture_covers_another_or_a_state(query: str) -> None:
    root = ET.fromstring(cer_gpu.compile(query).explain("svg"))
    nodes = next(group for group in root.iter(f"{SVG}g") if group.get("id") == "nodes")
    texts = []
    for rect in nodes.iter(f"{SVG}rect"):
        x, y, width, height = (float(rect.attrib[name]) for name in ("x", "y", "width", "height"))
        texts.append(Box(x, y, x + width, y + height))
    circles = []
    for ellipse in nodes.iter(f"{SVG}ellipse"):
        x, y, rx, ry = (float(ellipse.attrib[name]) for name in ("cx", "cy", "rx", "ry"))
        circles.append(Box(x - rx, y - ry, x + rx, y + ry))
    assert texts
    assert not [pair for pair in combinations(texts, 2) if pair[0].overlaps(pair[1])]
    assert not [(text, circle) for text in texts for circle in circles if text.overlaps(circle)]


def test_thirty_states_fit_on_a_screen() -> None:
    for query in (LONG, DENSE):
        _, _, width, height = map(
            float, ET.fromstring(cer_gpu.compile(query).explain("svg")).attrib["viewBox"].split()
        )
        assert width < 1700
        assert height < 1000


def test_svg_escapes() -> None:
    found = drawn(AWKWARD)
    assert {edge.shown[0] for edge in found.edges if edge.lines} <= set(written(to_svg(found)))


def test_svg_and_mermaid_of_names_with_control_characters() -> None:
    text = "SELECT * WHERE `a\x00\x1b[2J\x9b` AS `v\u2028` FILTER `v\u2028`[s = 'x\x07\ufffe\r\n']"
    query = cer_gpu.compile(text)
    shown = " ".join(written(query.explain("svg")))
    assert "\N{REPLACEMENT CHARACTER}[2J" in shown
    for form in ("svg", "mermaid", "text"):
        assert not set(query.explain(form)) & set("\x00\x1b\x9b\u2028\x07\ufffe\r")


def test_a_picture_without_any_run() -> None:
    assert written(cer_gpu.compile("SELECT * WHERE A AND B").explain("svg")) == ["0"]
    assert to_mermaid(drawn("SELECT * WHERE A AND B")).count("-->") == 1


def test_without_the_library_the_error_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "graphlay", None)
    with pytest.raises(CerError, match=r"`pip install '\.\[draw\]'`"):
        cer_gpu.compile(PHI_1).explain("svg")
    assert status_of(["explain", PHI_1, "--format", "svg"]) == 4
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("error: drawing SVG needs the package graphlay")


def test_importing_the_package_does_not_import_the_library() -> None:
    code = "import sys, cer_gpu; sys.exit('graphlay' in sys.modules or 'cer_gpu.plan.drawing' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


# ---------------------------------------------------------------------------------------- shell


def test_the_shell_draws(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    query = cer_gpu.compile(PHI_1)
    for form in ("text", "mermaid", "svg"):
        assert status_of(["explain", PHI_1, "--format", form]) == 0
        captured = capsys.readouterr()
        assert (captured.out.strip(), captured.err) == (query.explain(form).strip(), "")
    for name, form in (("a.svg", "svg"), ("a.mmd", "mermaid"), ("a.txt", "text")):
        assert status_of(["explain", PHI_1, "-o", str(tmp_path / name)]) == 0
        assert (tmp_path / name).read_text(encoding="utf-8") == query.explain(form)
    assert status_of(["explain", PHI_1, "-o", str(tmp_path / "a.svg"), "--format", "mermaid"]) == 0
    assert (tmp_path / "a.svg").read_text(encoding="utf-8") == query.explain("mermaid")
    assert capsys.readouterr() == ("", "")
    assert status_of(["explain", "SELECT", "--format", "svg"]) == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "error" in captured.err


def test_a_long_predicate_is_cut_and_its_marks_stay():
    names = ", ".join(f"'name {number}'" for number in range(20))
    query = cer_gpu.compile(f"SELECT * FROM S WHERE A AS first ; B AS b FILTER first[name IN {{{names}}}]")
    [line] = [
        edge.shown[0] for edge in query._plan.built.drawing().edges if edge.lines and "first" in edge.lines[0]
    ]
    assert line.endswith("… / A, first")
