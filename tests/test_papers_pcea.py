"""Worked examples of the PCEA paper (hierarchical conjunctive queries), by number, figure and name."""

from __future__ import annotations

from itertools import product
from random import Random

import pytest
from q_trees import is_q_tree

from cer_gpu.automata.cea import TypeTest, both
from cer_gpu.automata.pcea import PCEA, Equality, GatherTransition
from cer_gpu.joins.hcq import incomplete, to_pcea
from cer_gpu.joins.hierarchy import Witness, is_acyclic, witness
from cer_gpu.joins.qtree import compact, draw, q_tree, tree_of
from cer_gpu.joins.query import ConjunctiveQuery, from_rule
from cer_gpu.joins.unify import equality, self_join
from cer_gpu.language import tree as t
from cer_gpu.language.parser import parse
from cer_gpu.language.rules import resolve
from cer_gpu.language.schema import Schema, ValueType
from cer_gpu.reference.events import Event
from cer_gpu.reference.homomorphisms import answers
from cer_gpu.reference.pfa import PFA, ParallelTransition, accepting_trees, determinise_pfa
from cer_gpu.reference.run_trees import RunTree, accepting_runs, are_equal, is_unambiguous_on, satisfies

ARITY = {"R": 2, "S": 2, "T": 1}
"""The schema sigma_0."""

SIGMA_0 = Schema(
    dict.fromkeys("ab", ValueType.INT64),
    {name: frozenset("ab"[:arity]) for name, arity in ARITY.items()},
    ordered={name: tuple("ab"[:arity]) for name, arity in ARITY.items()},
)


def tuples(text: str) -> tuple[Event, ...]:
    """`S(2, 11) T(2)` as events with the attributes a, b, c."""
    events = []
    for one in text.replace(", ", ",").split():
        name, values = one.rstrip(")").split("(")
        events.append(Event(name, dict(zip("abc", map(int, values.split(","))))))
    return tuple(events)


S_0 = tuples("S(2, 11) T(2) R(1, 10) S(2, 11) T(1) R(2, 11) S(4, 13) T(1)")
"""The stream S_0, positions 0 to 7."""


def rule(text: str, schema: Schema | None = None) -> t.Rule:
    parsed = parse(text)
    assert isinstance(parsed, t.Rule)
    return resolve(parsed, schema)


def query(text: str) -> ConjunctiveQuery:
    return from_rule(rule(text))


Q_0 = "Q(x, y) <- T(x), S(x, y), R(x, y)"
SECTION_4_Q_1 = "Q(x, y) <- T(x), R(x, y), S(2, y), T(x)"
APPENDIX_Q_1 = "Q(x, y, z, v, w) <- R(x, y, z), S(x, y, v), T(x, w), U(x, y)"
APPENDIX_Q_2 = "Q(x, y, z, v) <- R(x, y, z), R(x, y, v), U(x, y)"
R, S, T, U = range(4)
"""The atoms of the appendix's Q_1."""


def equal(earlier: str, later: str) -> Equality:
    """`equal("Tx", "Sxy")` is the paper's equality predicate (Tx, Sxy)."""
    shared = [name for name in earlier[1:] if name in later[1:]]
    left = tuple(t.Attribute("ab"[earlier[1:].index(name)]) for name in shared)
    right = tuple(t.Attribute("ab"[later[1:].index(name)]) for name in shared)
    return Equality(((earlier[0], left),), right)


def gather(event_type: str, target: int, sources: dict[int, Equality], label: str = "*") -> GatherTransition:
    return GatherTransition(
        tuple(sources),
        TypeTest(event_type),
        event_type,
        tuple(sources.values()),
        frozenset((label,)),
        target,
    )


def marked(runs: tuple[RunTree, ...]) -> list[set[int]]:
    return [{position for _, position in run.valuation} for run in runs]


# ------------------------------------------------------------------------- sections 2 and 3

C_0 = PCEA(
    ("q0", "q1", "q2"),
    (
        gather("T", 0, {}),
        gather("S", 1, {0: equal("Tx", "Sxy")}),
        gather("R", 2, {1: equal("Sxy", "Rxy")}),
    ),
    frozenset((2,)),
)
"""The CCEA of Example 2.1."""

P_0 = PCEA(
    ("p0", "p1", "p2"),
    (
        gather("T", 0, {}),
        gather("S", 1, {}),
        gather("R", 2, {0: equal("Tx", "Rxy"), 1: equal("Sxy", "Rxy")}),
    ),
    frozenset((2,)),
)
"""The PCEA of Figure 1 (right)."""


def most_gathered(automaton: PCEA) -> int:
    """How many runs a transition gathers at most: 1 in a CCEA."""
    return max(len(move.sources) for move in automaton.transitions)


def test_example_2_1() -> None:
    assert most_gathered(C_0) == 1
    accepting = accepting_runs(C_0, S_0)
    assert marked(accepting[5]) == [{1, 3, 5}]
    [run] = accepting[5]
    path = [(node.state, node.position) for node in run.nodes()]
    assert path == [(2, 5), (1, 3), (0, 1)]
    assert [len(runs) for runs in accepting] == [0, 0, 0, 0, 0, 1, 0, 0]


def test_example_3_3() -> None:
    assert most_gathered(P_0) == 2
    accepting = accepting_runs(P_0, S_0)
    assert sorted(marked(accepting[5]), key=sorted) == [{0, 1, 5}, {1, 3, 5}]
    for run in accepting[5]:
        assert {(node.state, S_0[node.position].type) for node in run.nodes()} == {
            (2, "R"),
            (0, "T"),
            (1, "S"),
        }
    assert [len(runs) for runs in accepting] == [0, 0, 0, 0, 0, 2, 0, 0]
    # "The reader can check that P_0 is unambiguous."
    assert is_unambiguous_on(P_0, S_0)


SIGMA = ("T", "S", "R")
EXAMPLE_3_1 = PFA(
    5,
    SIGMA,
    (
        *(ParallelTransition(frozenset((state,)), symbol, state) for state in range(5) for symbol in SIGMA),
        ParallelTransition(frozenset((0,)), "T", 1),
        ParallelTransition(frozenset((2,)), "S", 3),
        ParallelTransition(frozenset((1, 3)), "R", 4),
    ),
    frozenset((0, 2)),
    frozenset((4,)),
)
"""The PFA P_0 of Figure 1 (left), whose states have loops."""


def test_example_3_1() -> None:
    assert any(accepting_trees(EXAMPLE_3_1, "TSR"))
    [tree] = accepting_trees(EXAMPLE_3_1, "STR")
    assert [child.state for child in tree.children] == [1, 3]
    for length in range(6):
        for word in product(SIGMA, repeat=length):
            ends = [place for place, symbol in enumerate(word) if symbol == "R"]
            wanted = bool(ends) and {"T", "S"} <= set(word[: ends[-1]])
            assert any(accepting_trees(EXAMPLE_3_1, word)) == wanted


def test_proposition_3_2_on_example_3_1() -> None:
    dfa = determinise_pfa(EXAMPLE_3_1)
    assert len(dfa.moves) == 5
    for length in range(6):
        for word in product(SIGMA, repeat=length):
            assert dfa.accepts(word) == any(accepting_trees(EXAMPLE_3_1, word))


def test_proposition_3_2_on_random_automata() -> None:
    rng = Random("PFA")
    accepted = 0
    for _ in range(60):
        n = rng.randrange(1, 5)
        moves = {
            ParallelTransition(
                frozenset(rng.sample(range(n), rng.randint(1, min(n, 2)))), rng.choice("ab"), rng.randrange(n)
            )
            for _ in range(rng.randrange(2 * n + 2))
        }
        initial, final = (frozenset(rng.sample(range(n), rng.randint(1, n))) for _ in range(2))
        pfa = PFA(
            n, ("a", "b"), tuple(sorted(moves, key=lambda m: (sorted(m.sources), *m[1:]))), initial, final
        )
        dfa = determinise_pfa(pfa)
        assert len(dfa.moves) <= 2**n
        for length in range(6):
            for word in product("ab", repeat=length):
                assert dfa.accepts(word) == any(accepting_trees(pfa, word))
                accepted += dfa.accepts(word)
    assert accepted > 200


def test_proposition_3_4() -> None:
    pcea = to_pcea(query_of_sigma_0(Q_0))
    for i in range(5):
        [run] = accepting_runs(pcea, tuples(f"R(0, {i}) T(0) S(0, {i})"))[2]
        assert run.valuation == {(0, 1), (1, 2), (2, 0)}
    mixed = tuples("R(0, 3) T(0) S(0, 4)")
    assert not any(accepting_runs(pcea, mixed))
    # A chain compares S with T alone: what accepts the former accepts the latter.
    chain = PCEA(
        ("R", "T", "S"),
        (
            gather("R", 0, {}),
            gather("T", 1, {0: equal("Rxy", "Tx")}),
            gather("S", 2, {1: equal("Tx", "Sxy")}),
        ),
        frozenset((2,)),
    )
    assert len(accepting_runs(chain, mixed)[2]) == 1


# ------------------------------------------------------------------------- section 4 and Appendix B


def query_of_sigma_0(text: str) -> ConjunctiveQuery:
    return from_rule(rule(text, SIGMA_0))


def test_homomorphisms_of_q_0_in_d_0() -> None:
    # The t-homomorphisms eta_0 and eta_1 of section 4, and no others.
    assert answers(rule(Q_0, SIGMA_0), S_0[:6]) == ((1, 0, 5), (1, 3, 5))


def test_figure_2_q_tree() -> None:
    q_0 = query_of_sigma_0(Q_0)
    tree = q_tree(q_0)
    assert tree == tree_of([("x", 0), ("x", "y", 1), ("x", "y", 2)])
    assert is_q_tree(tree, q_0)
    assert compact(tree) == tree
    assert draw(tree, q_0).splitlines() == [
        "x",
        "├─ 0: T(x)",
        "└─ y",
        "   ├─ 1: S(x, y)",
        "   └─ 2: R(x, y)",
    ]


def test_figure_2_automaton() -> None:
    pcea = to_pcea(query_of_sigma_0(Q_0))
    assert pcea.names == ("0", "1", "2", "x", "y")
    assert {pcea.names[state] for state in pcea.final} == {"x"}
    moves = {
        (frozenset(pcea.names[source] for source in move.sources), move.event_type, *move.label): move
        for move in pcea.transitions
    }
    assert {key: pcea.names[move.target] for key, move in moves.items()} == {
        (frozenset(), "T", 0): "0",
        (frozenset(), "S", 1): "1",
        (frozenset(), "R", 2): "2",
        (frozenset("02"), "S", 1): "x",
        (frozenset("01"), "R", 2): "x",
        (frozenset("y"), "T", 0): "x",
        (frozenset("2"), "S", 1): "y",
        (frozenset("1"), "R", 2): "y",
    }
    assert len(pcea.transitions) == 8
    assert all(move.predicate == TypeTest(move.event_type) for move in pcea.transitions)
    joined = {key: move.joins for key, move in moves.items()}
    assert joined[frozenset("02"), "S", 1] == (equal("Tx", "Sxy"), equal("Rxy", "Sxy"))
    assert joined[frozenset("01"), "R", 2] == (equal("Tx", "Rxy"), equal("Sxy", "Rxy"))
    assert joined[frozenset("2"), "S", 1] == (equal("Rxy", "Sxy"),)
    assert joined[frozenset("1"), "R", 2] == (equal("Sxy", "Rxy"),)
    # (?xy, Tx): an event of R or of S.
    a = (t.Attribute("a"),)
    assert joined[frozenset("y"), "T", 0] == (Equality((("R", a), ("S", a)), a),)


def test_section_4_q_0_on_s_0() -> None:
    pcea = to_pcea(query_of_sigma_0(Q_0))
    assert is_unambiguous_on(pcea, S_0)
    accepting = accepting_runs(pcea, S_0)
    assert {run.valuation for run in accepting[5]} == {
        frozenset({(0, 1), (1, 0), (2, 5)}),
        frozenset({(0, 1), (1, 3), (2, 5)}),
    }
    assert [len(runs) for runs in accepting] == [0, 0, 0, 0, 0, 2, 0, 0]


def test_section_4_q_1_is_acyclic_but_not_hierarchical() -> None:
    q_1 = query_of_sigma_0(SECTION_4_Q_1)
    assert witness(q_1) == Witness("x", "y", both=1, only_left=0, only_right=2)
    assert is_acyclic(q_1)
    assert is_acyclic(query_of_sigma_0(Q_0))
    assert not is_acyclic(query("Q(x, y, z) <- R(x, y), S(y, z), U(z, x)"))


def test_figures_3_and_4_q_1() -> None:
    q_1 = query(APPENDIX_Q_1)
    tree = q_tree(q_1)
    assert tree == tree_of([("x", "y", "z", R), ("x", "y", "v", S), ("x", "w", T), ("x", "y", U)])
    assert is_q_tree(tree, q_1)
    assert compact(tree) == tree_of([("x", "y", R), ("x", "y", S), ("x", T), ("x", "y", U)])
    assert not is_q_tree(compact(tree), q_1)


def test_figures_3_and_4_q_2() -> None:
    q_2 = query(APPENDIX_Q_2)
    first = tree_of([("x", "y", "z", 0), ("x", "y", "v", 1), ("x", "y", 2)])
    second = tree_of([("y", "x", "z", 0), ("y", "x", "v", 1), ("y", "x", 2)])
    assert q_tree(q_2) == first
    assert is_q_tree(first, q_2)
    assert is_q_tree(second, q_2)
    assert compact(first) == tree_of([("x", 0), ("x", 1), ("x", 2)])
    assert compact(second) == tree_of([("y", 0), ("y", 1), ("y", 2)])
    assert not is_q_tree(tree_of([("x", "y", "z", 0), ("x", "y", "z", 1), ("x", "y", 2)]), q_2)


def test_incomplete_states_of_q_1() -> None:
    """C_{x,T} = {y}, and {R, S, T}, which is printed as C_{y,U}, is C_{x,U}.

    As printed, the definition takes i and the variables of atom i away from the parents, which leaves
    nothing, and T hangs off x, which is not below y. With "l is not i and not a variable of atom i" the
    automaton of Figure 2 comes out, and C_{y,U} is {R, S}.
    """
    tree = compact(q_tree(query(APPENDIX_Q_1)))
    assert incomplete(tree, "x", (T,)) == ("y",)
    assert set(incomplete(tree, "x", (U,))) == {R, S, T}
    assert set(incomplete(tree, "y", (U,))) == {R, S}


def test_theorem_4_1_is_quadratic_without_self_joins() -> None:
    for n in (2, 4, 8, 16, 32):
        star = query("Q(x) <- " + ", ".join(f"T{i}(x)" for i in range(n)))
        assert to_pcea(star).size == (n + 1) ** 2
        variables = [f"x{i}" for i in range(n)]
        nested = query("Q() <- " + ", ".join(f"T{i}({', '.join(variables[: i + 1])})" for i in range(n)))
        terms = sum(1 + len(atom.terms) for atom in nested.atoms)
        assert to_pcea(nested).size <= terms**2


def test_theorem_4_1_is_exponential_with_self_joins() -> None:
    for n in (1, 2, 5, 10):
        pcea = to_pcea(query("Q(x) <- " + ", ".join(["T(x)"] * n)))
        moves = n * (2**n - 1) if n > 1 else 0
        assert pcea.size == moves + 2 * n + (n > 1)


def test_lemma_b_3() -> None:
    """One event serves S(x, y) and S(y, z) iff it satisfies t_A = S(u, u); with S(3, y) too, S(3, 3)."""
    one, two = t.Attribute("$1"), t.Attribute("$2")
    pair = self_join(query("Q() <- S(x, y), S(y, z)").atoms)
    assert pair is not None
    assert pair.predicate == both(TypeTest("S"), t.Comparison("=", one, two))
    assert set(pair.attribute_of.values()) == {"$1"}
    three = self_join(query("Q() <- S(x, y), S(y, z), S(3, y)").atoms)
    assert three is not None
    for values in product((2, 3), repeat=2):
        event = Event("S", {"$1": values[0], "$2": values[1]})
        assert satisfies(event, three.predicate) == (values == (3, 3))


def test_lemma_b_4() -> None:
    """Of S(x, y) and S(y, z) by one event and R(x, z) by a later one, t_A is S(u, u) and t_A' is R(u, u)."""
    atoms = query("Q() <- S(x, y), S(y, z), R(x, z)").atoms
    earlier, later = self_join(atoms[:2]), self_join(atoms[2:])
    assert earlier is not None
    assert later is not None
    compared = equality([earlier], later, ["x", "z"])
    for a, b, c, d in product((1, 2), repeat=4):
        s, r = Event("S", {"$1": a, "$2": b}), Event("R", {"$1": c, "$2": d})
        holds = (
            satisfies(s, earlier.predicate) and satisfies(r, later.predicate) and are_equal(compared, s, r)
        )
        assert holds == (a == b == c == d)


@pytest.mark.parametrize("text", [Q_0, APPENDIX_Q_1, APPENDIX_Q_2])
def test_theorem_4_1_on_the_papers_queries(text: str) -> None:
    rng = Random(text)
    resolved = rule(text)
    pcea = to_pcea(from_rule(resolved))
    types = {atom.type.name: len(atom.terms) for atom in resolved.atoms}
    found = 0
    for _ in range(40):
        events = []
        for _ in range(10):
            name = rng.choice(sorted(types))
            events.append(Event(name, {f"${k + 1}": rng.choice((0, 0, 1)) for k in range(types[name])}))
        assert is_unambiguous_on(pcea, events)
        runs = [run for runs in accepting_runs(pcea, events) for run in runs]
        wanted = answers(resolved, events)
        assert {run.valuation for run in runs} == {frozenset(enumerate(chosen)) for chosen in wanted}
        found += len(wanted)
    assert found > 20
