"""Random formulas with AND, ALL, UNLESS and selectors: every way to run them agrees with the reference."""

from __future__ import annotations

import warnings
from collections import Counter
from dataclasses import replace
from itertools import cycle, islice, product
from random import Random

import pytest
from engine_oracle import check
from generate import query_around, stream
from random_formulas import around_selectors, formula, nesting, on_outer_variables
from test_engine_selection import tiny_pieces  # noqa: F401

from cer_gpu.errors import LimitError
from cer_gpu.language import tree
from cer_gpu.language.parser import parse
from cer_gpu.language.walk import nodes

BATCHES = 10
QUERIES = 50
"""Five hundred queries; `make fuzz` draws as many as one likes."""
DEPTHS = (1, 1, 2, 2, 3, 4)
OPERATORS = (
    "And",
    "All",
    "Unless",
    "NEXT",
    "LAST",
    "MAX",
    "STRICT",
    "Sequence",
    "Iteration",
    "Or",
    "As",
    "Project",
    "filter of a selector",
    "filter on an outer variable",
)
CLAUSES = ("select", "partition", "window", "consume", "limit")


def queries_of(rng: Random, number: int) -> list[tree.SelectQuery]:
    """Every strategy of SELECT with formulas of every depth in turn."""
    turns = rng.sample(list(product(DEPTHS, tree.Strategy)), len(DEPTHS) * len(tree.Strategy))
    return [
        query_around(rng, formula(rng, depth), strategy) for depth, strategy in islice(cycle(turns), number)
    ]


def agree(seed: str) -> None:
    rng = Random(seed)
    answered, refused = 0, 0
    for query in queries_of(rng, QUERIES):
        events = stream(rng, rng.randrange(4, 11), lap_falls=rng.random() < 0.3)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "no event ")
            try:
                answered += check(query, events, rng) > 0
            except LimitError:  # about one in a hundred has an automaton over budget
                refused += 1
    assert answered >= QUERIES // 4  # more than a third over all of them
    assert refused <= QUERIES // 10


@pytest.mark.draws("seed", BATCHES // 2)
def test_run_count_hits_and_stream_agree_with_the_reference(seed: int) -> None:
    agree(f"operators {seed}")


@pytest.mark.usefixtures("tiny_pieces")
@pytest.mark.draws("seed", BATCHES // 2)
def test_they_agree_in_tiny_pieces_too(seed: int) -> None:
    agree(f"operators in pieces {seed}")


PREFIXED = (
    "NXT(A+) ; B",
    "MAX(A) ; B",
    "LAST(A ; B) UNLESS C",
    "NXT(A ; B) ; C",
    "(A OR NXT(C ; B)) ; C",
    "(B OR LAST(A+)) ; (A OR C)",
    "(A OR NXT(B+) ; A) ; C",
)


@pytest.mark.parametrize("text", PREFIXED)
def test_reports_restart_what_the_prefix_decides_also_where_an_attribute_is_null_or_falls(text: str) -> None:
    rng = Random(f"reports of {text}")
    answered = 0
    for _ in range(30):
        clauses = f"WITHIN {rng.randrange(4)} [lap] CONSUME BY {rng.choice(('ANY', 'PARTITION'))}"
        query = parse(f"SELECT * WHERE {text} {rng.choice(('', 'PARTITION BY id'))} {clauses}")
        assert isinstance(query, tree.SelectQuery)
        events = [
            replace(event, attributes={**event.attributes, "lap": rng.choice((None, 1, 2, 3, 5, 8, 60))})
            for event in stream(rng, rng.randrange(6, 14))
        ]
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "no event ")
            answered += check(query, events, rng) > 0
    assert answered >= 7


def test_the_formulas_have_every_operator_at_every_depth() -> None:
    rng = Random("shapes")
    found: Counter[tuple[int, str]] = Counter()
    of_strategies: Counter[tree.Strategy] = Counter()
    bare = tree.SelectQuery(tree.EventType("A"))
    for query in (query for _ in range(40) for query in queries_of(rng, QUERIES)):
        depth = nesting(query.pattern)
        assert depth in DEPTHS
        inside = list(nodes(query.pattern))
        names = {
            node.strategy.value if isinstance(node, tree.Selector) else type(node).__name__ for node in inside
        }
        names |= {"filter of a selector"} if around_selectors(query.pattern) else set()
        names |= {"filter on an outer variable"} if on_outer_variables(query.pattern) else set()
        found.update((depth, name) for name in names)
        of_strategies[query.strategy] += 1
        found.update((0, clause) for clause in CLAUSES if getattr(query, clause) != getattr(bare, clause))
    for depth, name in product(sorted(set(DEPTHS)), OPERATORS):
        assert found[depth, name] >= 10, (depth, name)
    assert all(found[0, clause] >= 100 for clause in CLAUSES)
    assert all(of_strategies[strategy] >= 300 for strategy in tree.Strategy)
