"""Conjunctive queries made of rules, their errors, and the edges of the construction of automata."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from counting import calls
from q_trees import is_q_tree

from cer_gpu.automata.cea import TypeTest
from cer_gpu.automata.pcea import PCEA, Equality, GatherTransition
from cer_gpu.errors import LimitError, QueryError
from cer_gpu.joins.hcq import to_pcea
from cer_gpu.joins.hierarchy import NotHierarchicalError, diagnose
from cer_gpu.joins.qtree import NotATreeError, QTree, compact, draw, q_tree
from cer_gpu.joins.query import ConjunctiveQuery, NotLocalError, NotResolvedError, common_keys, from_rule
from cer_gpu.joins.unify import self_join
from cer_gpu.language import tree as t
from cer_gpu.language.parser import parse
from cer_gpu.language.rules import resolve
from cer_gpu.reference.events import Event
from cer_gpu.reference.run_trees import accepting_runs, is_unambiguous_on

GOLDEN = sorted((Path(__file__).parent / "golden" / "hierarchical").glob("*.txt"))
RULE = "-" * 40 + "\n"


def query(text: str) -> ConjunctiveQuery:
    parsed = parse(text)
    assert isinstance(parsed, t.Rule)
    return from_rule(resolve(parsed, None))


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.stem)
def test_golden(path: Path) -> None:
    head, shown = path.read_text(encoding="utf-8").split(RULE)
    text = "\n".join(line for line in head.splitlines() if not line.startswith("# "))
    found = diagnose(query(text))
    assert found is not None
    assert f"{QueryError((found,), text)}\n" == shown


def test_there_are_golden_files() -> None:
    assert len(GOLDEN) >= 6


def test_a_hierarchical_query_is_let_through() -> None:
    assert diagnose(query("Q(x) <- T(x), S(x, y)")) is None


# ------------------------------------------------------------------------------ queries


def test_local_comparisons_go_to_every_atom_that_has_their_variables() -> None:
    found = query("Q() <- T(a = x), S(b = x, c = y), R(d = x), x > 3, y + 1 < x, x != x")
    assert [[str(test.left) for test in atom.tests] for atom in found.atoms] == [
        [str(t.Attribute("a"))] * 2,
        [str(t.Attribute("b")), str(t.Arithmetic("+", t.Attribute("c"), t.Number(1))), str(t.Attribute("b"))],
        [str(t.Attribute("d"))] * 2,
    ]
    assert found.comparisons == ()


def test_comparisons_across_atoms_stay_with_the_query_and_have_no_automaton() -> None:
    found = query("Q() <- T(x), S(y), x < y, y < 3")
    assert len(found.comparisons) == 1
    with pytest.raises(NotLocalError, match="x < y"):
        to_pcea(found)


def test_atoms_by_position_are_not_resolved() -> None:
    with pytest.raises(NotResolvedError, match="part 0, of `T`"):
        from_rule(parse("Q(x) <- T(x)"))


def test_what_is_not_hierarchical_has_no_automaton() -> None:
    with pytest.raises(NotHierarchicalError):
        to_pcea(query("Q() <- T(x), S(x, y), R(y)"))


def test_common_keys() -> None:
    a, b = t.Attribute("a"), t.Attribute("b")
    assert common_keys(query("Q() <- T(a = x), S(b = x, a = y)")) == {"T": (a,), "S": (b,)}
    assert common_keys(query("Q() <- S(a = x, b = y), R(b = x, a = y)")) == {"S": (a, b), "R": (b, a)}
    assert common_keys(query("Q() <- S(a = x, b = y), S(a = y, b = x)")) is None
    assert common_keys(query("Q() <- S(a = x), S(a = x, b = y)")) == {"S": (a,)}
    assert common_keys(query("Q() <- T(a = x), S(a = y)")) is None
    # The variables of a single atom may be null.
    assert common_keys(query("Q() <- T(a = x)")) is None


# ------------------------------------------------------------------------------ trees


@pytest.mark.parametrize(
    ("labels", "parents"),
    [(("x", "x"), (-1, 0)), (("x", 0), (-1, 1)), (("x", 0), (-1, -1)), ((0,), (0,)), (("x",), (-1, 0))],
)
def test_trees_are_checked(labels: tuple[str | int, ...], parents: tuple[int, ...]) -> None:
    with pytest.raises(NotATreeError):
        QTree(labels, parents)


def test_a_disconnected_query_hangs_off_a_fresh_variable() -> None:
    found = query("Q() <- T(3), S(x), R(x, y), U()")
    tree = q_tree(found)
    assert is_q_tree(tree, found)
    assert draw(tree, found).splitlines() == [
        "*",
        "├─ 0: T(3)",
        "├─ x",
        "│  ├─ 1: S(x)",
        "│  └─ y",
        "│     └─ 2: R(x, y)",
        "└─ 3: U()",
    ]
    assert draw(compact(tree)).splitlines() == ["*", "├─ 0", "├─ x", "│  ├─ 1", "│  └─ 2", "└─ 3"]
    moves = to_pcea(found).transitions
    assert any(
        move.joins == (Equality((("T", ()),), ()),) * 1
        for move in to_pcea(query("Q() <- T(3), S(x)")).transitions
    )
    assert all(len(move.sources) <= 3 for move in moves)


def test_a_fresh_variable_is_new() -> None:
    assert q_tree(query("Q() <- T(`*`), S(x)")).root == "**"


# ------------------------------------------------------------------------------ automata


def test_a_single_atom() -> None:
    pcea = to_pcea(query("Q(x) <- T(a = x, b = x)"))
    assert (pcea.names, pcea.final) == (("0",), {0})
    events = [Event("T", {"a": 1, "b": 1}), Event("T", {"a": 1, "b": 2}), Event("T", {"a": None, "b": None})]
    assert [len(runs) for runs in accepting_runs(pcea, events)] == [1, 0, 0]


def test_the_budget_is_checked_before_anything_is_built() -> None:
    atoms = ", ".join(["T(x)"] * 5)
    size = to_pcea(query(f"Q() <- {atoms}, S(x)")).size
    with pytest.raises(
        LimitError, match=f"size {size:,}, and {size - 1:,} is allowed.*`T`.*any of the 5 times"
    ):
        to_pcea(query(f"Q() <- {atoms}, S(x)"), budget=size - 1)
    with pytest.raises(LimitError, match="more than 100,000"):
        to_pcea(query("Q() <- " + ", ".join(["T(x)"] * 40)))


def test_many_atoms_are_refused_in_one_pass() -> None:
    """Four times as many atoms take not much more than four times the work before the budget ends it."""

    def refused(count: int) -> int:
        many = query(f"Q(x) <- {', '.join(['T(a = x)'] * count)}")

        def work() -> None:
            with pytest.raises(LimitError, match=f"any of the {count} times"):
                to_pcea(many)

        return calls(work)

    assert refused(2_000) < 6.5 * refused(500)


def test_atoms_that_constants_tell_apart_are_no_self_joins() -> None:
    apart = ", ".join(f"T(a = x, b = {number})" for number in range(30))
    assert to_pcea(query(f"Q() <- {apart}")).size == 31**2


@pytest.mark.parametrize(
    ("left", "right", "one_event"),
    [
        ("1", "1.0", True),
        ("1", "2", False),
        ("TRUE", "1", False),
        ("'a'", "'b'", False),
        ("'2020-01-01'", "'2020-01-01T00:00:00'", True),
        ("'2020-01-01'", "'2020-01-02'", False),
    ],
)
def test_constants_that_may_be_equal(left: str, right: str, one_event: bool) -> None:
    atoms = query(f"Q() <- T(a = {left}), T(a = {right})").atoms
    assert (self_join(atoms) is not None) == one_event


def test_atoms_of_two_streams_are_no_self_join() -> None:
    assert self_join(query("Q() <- A>T(x), B>T(x)").atoms) is None
    joined = self_join(query("Q() <- T(x), B>T(y)").atoms)
    assert joined is not None
    assert joined.predicate == TypeTest("T", "B")


def test_states_that_look_the_same_later_are_one() -> None:
    # The y of a run that ends in S stands at b, of one that ends in the second S at a.
    pcea = to_pcea(query("Q() <- S(a = x, b = y), R(a = x, b = y), S(a = y, b = x), U(a = x)"))
    assert pcea.names == ("0", "1", "2", "3", "x", "y.1", "y.2")
    # With x at one attribute of all atoms of a type, it does not matter which of them came last.
    alike = to_pcea(query("Q() <- S(a = x, b = y), R(a = x, b = y), S(a = x, b = y, c = z), U(a = x)"))
    assert alike.names == ("0", "1", "2", "3", "x", "y")


# ------------------------------------------------------------------------------ run trees


def test_run_trees_show_what_is_ambiguous() -> None:
    start = GatherTransition((), TypeTest("T"), "T", (), frozenset("m"), 0)
    events = [Event("T")] * 2
    assert is_unambiguous_on(PCEA(("q",), (start,), frozenset((0,))), events)
    again = replace(start, target=1)
    assert not is_unambiguous_on(PCEA(("q", "r"), (start, again), frozenset((0, 1))), events)
    # Two branches that read one event are not simple.
    always = Equality((("T", ()),), ())
    both = GatherTransition((0, 1), TypeTest("T"), "T", (always, always), frozenset("n"), 2)
    assert not is_unambiguous_on(PCEA(("q", "r", "s"), (start, again, both), frozenset((2,))), events)


def test_contiguity_of_an_equality() -> None:
    start = GatherTransition((), TypeTest("T"), "T", (), frozenset("m"), 0)
    near = GatherTransition(
        (0,), TypeTest("T"), "T", (Equality((("T", ()),), (), next=True),), frozenset("n"), 1
    )
    accepting = accepting_runs(PCEA(("q", "r"), (start, near), frozenset((1,))), [Event("T")] * 3)
    assert [[run.children[0].position for run in runs] for runs in accepting] == [[], [0], [1]]
