"""The theory of views, with the examples of the paper as far as the text of its copy says them.

The formulas and figures of the copy are lost. An example here has what its prose says: which query
is acyclic or free-connex, which variables a node has, which operation is applied and what it does.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from random import Random

import pyarrow as pa
import pytest
from join_trees import NotJoinTreeError, check, gcq
from test_views_random import listed
from view_oracle import check_reducts

import cer_gpu
from cer_gpu.joins.theta.bags import stages, width
from cer_gpu.joins.theta.construct import CyclicError, join_tree, planned
from cer_gpu.joins.theta.cost import AtomStatistics, candidates, cheapest, tree_cost, unknown
from cer_gpu.joins.theta.gcq import GCQ, Theta
from cer_gpu.joins.theta.reduction import (
    ConditionalSubset,
    IsolatedElimination,
    after,
    decide,
    reduced,
    steps,
)
from cer_gpu.joins.theta.shape import binary, contracted, sibling_closed, without_violator
from cer_gpu.joins.theta.tree import JoinNode, JoinTree, TreeEdge
from cer_gpu.joins.theta.triplet import Triplet, triplet_of

RUNNING = ([("R", "ab"), ("S", "bc"), ("T", "de")], [("a<c", "ac"), ("c<d", "cd")])
"""A query as the running one: an equality join, an inequality inside it and one to a third atom."""


def edges(*texts: str) -> frozenset[frozenset[str]]:
    return frozenset(map(frozenset, texts))


def triplet(hyperedges: str, output: str = "", *predicates: str) -> Triplet:
    thetas = frozenset(Theta("<".join(text), frozenset(text)) for text in predicates)
    return Triplet(edges(*hyperedges.split()), frozenset(output), thetas)


# ------------------------------------------------------------------------- definitions 9 to 12


def test_the_variables_of_a_triplet() -> None:
    one = triplet("abc cd ef", "a", "be", "df")
    assert one.equijoin == frozenset("ac")
    assert one.isolated(frozenset("abc")) == frozenset()
    assert triplet("abc cd ef", "a", "df").isolated(frozenset("abc")) == frozenset("b")
    assert one.extended("b") == frozenset("e")
    assert one.extended("bd") == frozenset("ef")
    assert one.extended("be") == frozenset()


def test_a_conditional_subset_needs_what_it_is_compared_with() -> None:
    one = triplet("ab bc de", "", "ac", "cd")
    assert one.conditional_subset(frozenset("ab"), frozenset("bc"))
    assert not one.conditional_subset(frozenset("bc"), frozenset("ab"))
    assert not one.conditional_subset(frozenset("ab"), frozenset("de"))
    assert not triplet("ab bc de", "a", "ac").conditional_subset(frozenset("ab"), frozenset("bc"))


# -------------------------------------------------------------------------- examples 2, 3 and 8


def test_example_2_the_running_query_is_acyclic_and_the_triangle_is_not() -> None:
    assert decide(gcq(*RUNNING)).acyclic
    triangle = gcq([("R", "ab"), ("S", "bc"), ("T", "ac")])
    assert not decide(triangle).acyclic
    with pytest.raises(CyclicError, match=r"\{a, b\}, \{a, c\}, \{b, c\}") as found:
        join_tree(triangle)
    assert found.value.remaining == (frozenset("ab"), frozenset("ac"), frozenset("bc"))


def test_predicates_are_abstract_so_a_chain_of_inequalities_may_be_cyclic() -> None:
    """The discussion of Bernstein and Goodman: transitivity would help, and is not assumed."""
    circle = [("a<c", "ac"), ("d<e", "de"), ("f<b", "fb")]
    assert not decide(gcq([("R", "ab"), ("S", "cd"), ("T", "ef")], circle)).acyclic
    assert decide(gcq([("R", "ab"), ("S", "cd"), ("T", "ef")], circle[:2])).acyclic


def test_both_an_equality_and_an_inequality_between_two_atoms_are_acyclic() -> None:
    assert decide(gcq([("R", "ab"), ("S", "bc")], [("a<c", "ac")])).acyclic


@pytest.mark.parametrize(
    ("output", "free_connex"), [("abcde", True), ("bcde", True), ("bc", True), ("ad", False), ("", True)]
)
def test_example_3_free_connex_depends_on_the_output(output: str, free_connex: bool) -> None:
    query = gcq(*RUNNING, output)
    found = decide(query)
    assert found.acyclic
    assert found.free_connex is free_connex
    plan = planned(query)
    check(plan.tree, query)
    assert plan.free_connex is free_connex
    assert plan.tree.output >= query.output


def test_example_8_and_figure_8_stage_one_ends_with_more_variables_than_the_output() -> None:
    query = gcq(*RUNNING, "ad")
    found = decide(query)
    assert found.first.variables == frozenset("abcd")
    assert not list(steps(found.first))
    assert found.first.residual.output == frozenset()
    assert found.second == Triplet(frozenset(), frozenset(), frozenset())


def test_example_9_and_figure_9_the_tree_shows_the_forests_of_both_stages() -> None:
    tree = join_tree(gcq(*RUNNING, "bc"))
    labels = ["".join(sorted(node.variables)) for node in tree.nodes]
    assert labels[tree.root] == ""
    assert tree.output == frozenset("bc")
    (theta,) = (t for node in tree.nodes for edge in node.edges for t in edge.predicates if str(t) == "a<c")
    above = next(node for node in tree.nodes if theta in node.predicates)
    assert above.variables == frozenset("bc")


def test_a_cyclic_query_becomes_a_tree_of_bags() -> None:
    found = stages(gcq([("R", "ab"), ("S", "bc"), ("T", "ac")]))
    assert [stage.sources for stage in found] == [(0, 1), (2, 3)]
    assert found[0].query.output == frozenset("abc")
    assert width(found, 3) == 2
    times = [("t<u", "tu"), ("u<v", "uv"), ("v<t+1h", "tv")]
    found = stages(gcq([("R", "xt"), ("S", "xu"), ("T", "xv")], times))
    assert [str(theta) for theta in found[0].query.predicates] == ["t<u"]
    assert len(stages(gcq(*RUNNING))) == 1


# --------------------------------------------------------------------------- examples 6 and 7


def test_example_6_equijoin_isolated_and_extended_variables_and_conditional_subsets() -> None:
    """Of the triplet of a query: what shares variables is joined, what is compared is not isolated, and an
    edge is a conditional subset of the one that has all that it is joined and compared with."""
    query = gcq([("R", "ab"), ("S", "bcf"), ("T", "cd"), ("U", "eg")], [("a<d", "ad"), ("e<f", "ef")], "c")
    one = triplet_of(query)
    assert one.equijoin == frozenset("bc")
    assert one.isolated(frozenset("eg")) == frozenset("g")
    assert one.isolated(frozenset("cd")) == frozenset()
    assert one.extended("a") == frozenset("d")
    assert one.extended("eg") == frozenset("f")
    assert one.conditional_subset(frozenset("eg"), frozenset("bcf"))
    assert not one.conditional_subset(frozenset("ab"), frozenset("bcf"))


def test_example_7_each_step_removes_isolated_variables_or_a_conditional_subset() -> None:
    one = triplet("ab bcf eg", "bc", "ef")
    isolated = after(one, IsolatedElimination(frozenset("eg"), frozenset("g")))
    assert isolated.hyperedges == edges("ab", "bcf", "e")
    gone = frozenset(theta for theta in one.predicates)
    subset = after(isolated, ConditionalSubset(frozenset("e"), frozenset("bcf"), gone))
    assert subset == triplet("ab bcf", "bc")
    both = after(
        after(subset, IsolatedElimination(frozenset("ab"), frozenset("a"))),
        IsolatedElimination(frozenset("bcf"), frozenset("f")),
    )
    assert both == triplet("b bc", "bc")
    assert after(both, ConditionalSubset(frozenset("b"), frozenset("bc"), frozenset())) == reduced(one)


# ---------------------------------------------------------------------- section 4, figures 2, 6 and 7


def test_figures_2_6_and_7_the_running_example_of_section_4_and_its_update() -> None:
    """The running query is of R(a, b), S(b, c) and T(d, e) with two inequalities, the connex set has b, c, d.

    Figures 2, 6 and 7 are lost; what the text says of them holds here: what a node has are rows of a guard
    below it, a row without a partner is in no node above, and two inserts change the nodes on their way up.
    """
    view = cer_gpu.maintain("Q(b, c, d) <- R(a, b), S(b, c), T(d, e), a < c, c < d")
    r, s, t = ((1, 1), (2, 1), (5, 2)), ((1, 2), (1, 3), (2, 4)), ((3, 0), (9, 0), (9, 1))

    def rows(found: tuple[tuple[int, int], ...], names: str) -> pa.Table:
        return pa.table({name: [row[n] for row in found] for n, name in enumerate(names)})

    view.update(inserts={"R": rows(r, "ab"), "S": rows(s, "bc"), "T": rows(t, "de")})
    (tree,) = view._kept.trees
    assert tree.plan.free_connex
    assert tree.plan.tree.binary
    assert tree.plan.tree.sibling_closed
    assert tree.plan.tree.output == frozenset("bcd")
    check_reducts(tree)
    held = {name: {} for name in ("bc", "d")}
    for place, store in zip(tree.layout.places, tree.stores):
        name = "".join(sorted(place.variables))
        if place.atom is None and name in held:
            keys, counts = store.ordered()
            columns = [place.columns.index(one) for one in name]
            held[name] = {tuple(key): n for key, n in zip(keys[:, columns].tolist(), counts.tolist())}
    # (2, 4) joins no row of R with a < 4, and (1, 3) two.
    assert held["bc"] == {(1, 2): 1, (1, 3): 2}
    wanted = {(1, 2, 3): 1, (1, 2, 9): 2, (1, 3, 9): 4}
    assert listed(view.enumerate()) == wanted
    # As in the text: a row with multiplicity 2, and one that is a new partner of another.
    view.update(inserts={"R": rows(((3, 2),), "ab"), "T": rows(((5, 0), (5, 0)), "de")})
    check_reducts(tree)
    added = {(1, 2, 5): 2, (1, 3, 5): 4, (2, 4, 5): 2, (2, 4, 9): 2}
    assert listed(view.delta()) == added
    assert listed(view.enumerate()) == wanted | added


# --------------------------------------------------------------------------- trees and their costs


@pytest.mark.parametrize(("r", "s", "root"), [(1e6, 1e3, "ab"), (1e3, 1e6, "bc")])
def test_the_tree_of_least_cost_depends_on_the_rows(r: float, s: float, root: str) -> None:
    """The larger relation is the guard, so that a row of it changes one row above."""
    query = gcq([("R", "ab"), ("S", "bc")], [("a < c", "ac")])
    known = [AtomStatistics(rows, dict.fromkeys("abc", rows / 30)) for rows in (r, s)]
    chosen = cheapest(query, known)
    check(chosen.plan.tree, query)
    assert chosen.plan.tree.nodes[-1].variables == frozenset(root)
    costs = [tree_cost(one, query, known).changed for one in dict.fromkeys(candidates(query))]
    assert len(costs) == chosen.trees > 1
    assert chosen.cost.changed == min(costs) < max(costs)


@pytest.mark.draws("seed", 20)
def test_all_candidates_are_trees_of_the_query_with_one_output(seed: int) -> None:
    rng = Random(3000 + seed)
    query = random_query(rng)
    if not decide(query).acyclic:
        with pytest.raises(CyclicError):
            cheapest(query)
        return
    for one in candidates(query):
        check(one.tree, query)
        assert one.tree.output == cheapest(query).plan.tree.output
        cost = tree_cost(one, query, unknown(query))
        assert cost.changed >= 1 - 1e-9
        assert cost.rows >= len(query.atoms)


# --------------------------------------------------------------------------- examples 4 and 5


def pair(nodes: list[tuple[str, int | None, list[int]]], connex: set[int]) -> tuple[JoinTree, GCQ]:
    """A tree and the query that it is one of."""
    made = tuple(JoinNode(frozenset(v), atom, tuple(TreeEdge(c) for c in below)) for v, atom, below in nodes)
    atoms = [("R" + str(atom), "".join(sorted(v))) for v, atom, _ in nodes if atom is not None]
    return JoinTree(made, frozenset(connex)), gcq(atoms)


def test_example_4_and_figure_3_a_violator_of_type_1() -> None:
    """The guard of the violator is in the connex set: the others move above a guard leaf below it."""
    nodes = [
        ("abc", 0, []),
        ("abd", 1, []),
        ("ab", None, [0, 1]),
        ("ae", 2, []),
        ("a", None, [2, 3]),
    ]
    tree, query = pair(nodes, {4, 2})
    check(tree, query)
    assert tree.violators == (4,)
    closed = without_violator(tree, 4)
    check(closed, query)
    assert closed.violators == ()
    assert closed.output == tree.output == frozenset("ab")
    root = closed.nodes[closed.root]
    assert len(root.edges) == 1
    made = next(n for n in closed.nodes if n.atom is None and n.variables == frozenset("abc"))
    assert {closed.nodes[c].atom for c in made.children} == {0, 2}


def test_example_5_and_figure_4_a_violator_of_type_2() -> None:
    """No guard of the violator is in the connex set: those outside move to a new child with its label."""
    nodes = [("abc", 0, []), ("b", None, [2]), ("bd", 1, []), ("ab", None, [0, 3])]
    nodes = [("abc", 0, []), ("bd", 1, []), ("b", None, [1]), ("ab", None, [0, 2])]
    tree, query = pair(nodes, {3, 2})
    check(tree, query)
    assert tree.violators == (3,)
    closed = without_violator(tree, 3)
    check(closed, query)
    assert closed.sibling_closed
    assert closed.output == frozenset("ab")
    root = closed.nodes[closed.root]
    labels = sorted("".join(sorted(closed.nodes[child].variables)) for child in root.children)
    assert labels == ["ab", "b"]
    assert closed.connex.issuperset(root.children)


# ---------------------------------------------------------------------------------- figure 5


def test_figure_5_a_node_with_many_children_is_made_binary() -> None:
    query = gcq([("R", "abcd"), ("S", "a"), ("T", "b"), ("U", "c"), ("V", "d")])
    leaves = [JoinNode(frozenset(atom.variables), atom.id) for atom in query.atoms]
    root = JoinNode(frozenset("abcd"), None, tuple(TreeEdge(n) for n in range(5)))
    for connex in ({5}, set(range(6))):
        tree = JoinTree((*leaves, root), frozenset(connex))
        check(tree, query)
        made = binary(tree)
        check(made, query)
        assert made.binary
        assert made.sibling_closed
        assert made.output == tree.output
        assert len(made.nodes) == 6 + 3


def test_a_wrong_tree_is_refused() -> None:
    query = gcq([("R", "ab"), ("S", "bc")])
    leaves = (JoinNode(frozenset("ab"), 0), JoinNode(frozenset("bc"), 1))
    for root, connex, what in (
        (JoinNode(frozenset("a"), None, (TreeEdge(0), TreeEdge(1))), {2}, "not connected"),
        (JoinNode(frozenset("ac"), None, (TreeEdge(0), TreeEdge(1))), {2}, "no guard"),
        (JoinNode(frozenset("b"), None, (TreeEdge(0),)), {2}, "not one tree"),
        (JoinNode(frozenset("b"), None, (TreeEdge(0), TreeEdge(1))), {0}, "not connex"),
    ):
        with pytest.raises(NotJoinTreeError, match=what):
            check(JoinTree((*leaves, root), frozenset(connex)), query)


# ------------------------------------------------------------------------------------ random


def random_query(rng: Random) -> GCQ:
    pool = "abcdefgh"
    atoms = [(f"R{n}", "".join(rng.sample(pool, rng.randint(0, 3)))) for n in range(rng.randint(1, 5))]
    used = sorted({name for _, variables in atoms for name in variables})
    predicates = []
    for _ in range(rng.randint(0, 3) if len(used) > 1 else 0):
        chosen = rng.sample(used, rng.randint(1, min(3, len(used))))
        predicates.append(("<".join(chosen), "".join(chosen)))
    output = "".join(rng.sample(used, rng.randint(0, len(used))))
    return gcq(atoms, dict(predicates).items(), output)


@pytest.mark.draws("seed", 40)
def test_proposition_7_the_order_of_steps_does_not_matter(seed: int) -> None:
    rng = Random(seed)
    for _ in range(10):
        query = random_query(rng)
        wanted = reduced(triplet_of(query))
        decided = decide(query)
        for _ in range(4):
            assert reduced(triplet_of(query), rng.choice) == wanted
            assert decide(query, rng.choice) == decided


@pytest.mark.draws("seed", 40)
def test_theorem_6_2_and_propositions_1_to_3_on_random_queries(seed: int) -> None:
    rng = Random(1000 + seed)
    for _ in range(10):
        query = random_query(rng)
        decided = decide(query)
        if not decided.acyclic:
            with pytest.raises(CyclicError):
                join_tree(query, rng.choice)
            assert all(decide(stage.query).acyclic for stage in stages(query))
            continue
        tree = join_tree(query, rng.choice)
        check(tree, query)
        assert tree.sibling_closed
        assert tree.output == decided.first.variables
        assert (tree.output == query.output) is decided.free_connex
        for shape in (sibling_closed(tree), binary(tree), contracted(binary(tree))):
            check(shape, query)
            assert shape.sibling_closed
            assert shape.output == tree.output
        assert contracted(binary(tree)).binary


@pytest.mark.draws("seed", 10)
def test_what_is_listed_is_the_least_free_connex_output_that_has_the_asked_one(seed: int) -> None:
    rng = Random(4000 + seed)
    extended = 0
    for _ in range(60):
        query = random_query(rng)
        decided = decide(query)
        if not decided.acyclic or decided.free_connex:
            continue
        made = planned(query).tree.output
        assert decide(replace(query, output=made)).free_connex
        more = sorted(made - query.output)
        for size in range(len(more)):
            for some in combinations(more, size):
                assert not decide(replace(query, output=query.output.union(some))).free_connex
        extended += 1
    assert extended


@pytest.mark.draws("seed", 30)
def test_propositions_1_to_3_on_connex_sets_that_are_not_sibling_closed(seed: int) -> None:
    rng = Random(2000 + seed)
    for _ in range(10):
        query = random_query(rng)
        if not decide(query).acyclic:
            continue
        tree = join_tree(query, rng.choice)
        connex = {tree.root}
        for place in reversed(range(tree.root)):
            if tree.parent_of[place] in connex and rng.random() < 0.6:
                connex.add(place)
        cut = JoinTree(tree.nodes, frozenset(connex))
        check(cut, query)
        made = binary(sibling_closed(cut))
        check(made, query)
        assert made.binary
        assert made.sibling_closed
        assert made.output == cut.output
