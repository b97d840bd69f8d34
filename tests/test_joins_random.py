"""Random hierarchical rules on random streams: the PCEA of Theorem 4.1 against all t-homomorphisms."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from random import Random

import pytest
from q_trees import is_q_tree
from random_rules import random_rule, random_rule_events

from cer_gpu.joins.hcq import to_pcea
from cer_gpu.joins.hierarchy import witness
from cer_gpu.joins.qtree import compact, q_tree
from cer_gpu.joins.query import ConjunctiveQuery, common_keys, from_rule
from cer_gpu.language import tree as t
from cer_gpu.reference.homomorphisms import answers
from cer_gpu.reference.run_trees import accepting_runs


@pytest.mark.draws("block", 8)
def test_the_pcea_of_a_rule_gives_its_answers_at_every_position(block: int) -> None:
    rng = Random(f"hierarchical rules {block}")
    total = 0
    for _ in range(300):
        rule = replace(random_rule(rng), window=None)
        query = from_rule(rule)
        events = random_rule_events(rng, rule, rng.randrange(2, 9))
        expected = answers(rule, events)
        pcea = to_pcea(query)
        found = []
        for position, runs in enumerate(accepting_runs(pcea, events)):
            assert all(run.is_simple for run in runs)
            valuations = [run.valuation for run in runs]
            assert len(set(valuations)) == len(valuations), "two runs have one valuation"
            wanted = [chosen for chosen in expected if max(chosen) == position]
            assert set(valuations) == {frozenset(enumerate(chosen)) for chosen in wanted}
            found += wanted
        total += len(found)
        keys = common_keys(query)
        for chosen in expected if keys else ():
            lanes = {tuple(events[p].attributes[key.name] for key in keys[events[p].type]) for p in chosen}
            assert len(lanes) == 1
    assert total > 1000


def test_random_rules_are_hierarchical_and_have_q_trees() -> None:
    rng = Random("q-trees")
    kinds = {"disconnected": 0, "self-joins": 0, "constants": 0, "repeated": 0, "comparisons": 0}
    for _ in range(300):
        rule = random_rule(rng)
        query = from_rule(rule)
        assert witness(query) is None
        assert not query.comparisons
        tree = q_tree(query)
        assert is_q_tree(tree, query)
        inner = [label for label, below in compact(tree).children_of.items() if below]
        assert all(len(compact(tree).children_of[label]) > 1 for label in inner)
        kinds["disconnected"] += tree.root == "*"
        kinds["self-joins"] += len({atom.type.name for atom in query.atoms}) < len(query.atoms)
        kinds["comparisons"] += any(atom.tests for atom in query.atoms)
        for atom in query.atoms:
            variables = [term for _, term in atom.terms if isinstance(term, t.RuleVariable)]
            kinds["repeated"] += len(set(variables)) < len(variables)
            kinds["constants"] += len(variables) < len(atom.terms)
    assert min(kinds.values()) > 30, kinds


def random_query(rng: Random) -> ConjunctiveQuery:
    """A conjunctive query of a few atoms over a few variables, hierarchical or not."""
    atoms = []
    for place in range(rng.randrange(1, 5)):
        names = rng.sample(("x", "y", "z", "w"), rng.randrange(4))
        terms = tuple(map(t.RuleVariable, names))
        atoms.append(t.RuleAtom(t.EventType(f"T{place}"), terms, tuple("abc"[: len(names)])))
    return from_rule(t.Rule("Q", (), tuple(atoms)))


def test_the_witness_is_right_and_there_is_one_iff_the_query_is_not_hierarchical() -> None:
    rng = Random("witnesses")
    found_one = 0
    for _ in range(500):
        query = random_query(rng)
        sets = query.atoms_of
        hierarchical = all(
            sets[x] <= sets[y] or sets[y] <= sets[x] or not sets[x] & sets[y]
            for x, y in combinations(sets, 2)
        )
        found = witness(query)
        assert (found is None) == hierarchical
        if found is not None:
            found_one += 1
            left, right = sets[found.left], sets[found.right]
            assert found.both in left & right
            assert found.only_left in left - right
            assert found.only_right in right - left
    assert 50 < found_one < 450
