"""Rewritings of patterns before a machine is chosen: what they give, and that it means the same."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from random import Random

import pytest
from engine_oracle import check
from generate import query_around, stream
from random_whole import condition, interval, predicate, query

from cer_gpu.errors import LimitError
from cer_gpu.language import tree as t
from cer_gpu.language.parser import parse
from cer_gpu.language.printer import to_text
from cer_gpu.logic.rewriting import REWRITINGS, rewritten
from cer_gpu.logic.rewriting.aggregates import extremes, single_values
from cer_gpu.logic.rewriting.comparisons import constants, implied, known
from cer_gpu.logic.rewriting.repetitions import counted, first_and_last
from cer_gpu.logic.rewriting.windows import without_selector
from cer_gpu.reference.semantics import matches


def pattern(text: str) -> t.Pattern:
    found = parse(f"SELECT * WHERE {text}")
    assert isinstance(found, t.SelectQuery)
    return found.pattern


@pytest.mark.parametrize(
    ("rewriting", "text", "expected"),
    [
        (extremes, "A+ AS x FILTER MIN(x.v) > 3", "A+ AS x FILTER NOT x[NOT v > 3] AND x[NOT v <= 3]"),
        (extremes, "A+ AS x FILTER 3 >= MIN(x.v)", "A+ AS x FILTER NOT x[NOT v <= 3]"),
        (extremes, "A+ AS x FILTER MAX(x.s) = 'b'", "A+ AS x FILTER NOT x[NOT s = 'b'] AND x[NOT s > 'b']"),
        (extremes, "A+ AS x FILTER MAX(x.v) > 2 * MIN(x.v)", "A+ AS x FILTER MAX(x.v) > 2 * MIN(x.v)"),
        (
            single_values,
            "(A AS a ; B+ AS b) FILTER SUM(a.v) > MAX(b.v)",
            "(A AS a ; B+ AS b) FILTER a.v > MAX(b.v)",
        ),
        (
            single_values,
            "(A AS a ; B AS b) FILTER LAST(a.v) < FIRST(b.v)",
            "(A AS a ; B AS b) FILTER a.v < b.v",
        ),
        (single_values, "(A AS a ; B AS b) FILTER MAX(a.v) < 3", "(A AS a ; B AS b) FILTER a[v < 3]"),
        (counted, "(A ; B+ AS b) FILTER COUNT(b) >= 3", "A ; B {3,} AS b"),
        (
            counted,
            "(A ; (B AS b) {2,}) FILTER COUNT(b) < 5 AND b[v > 1]",
            "(A ; (B AS b) {2,4}) FILTER b[v > 1]",
        ),
        (counted, "(A ; B+ AS b ?) FILTER COUNT(b) >= 3", "(A ; B+ AS b ?) FILTER COUNT(b) >= 3"),
        (
            first_and_last,
            "B+ AS b FILTER FIRST(b.v) > 3",
            "((B FILTER B[v > 3]) OR (B FILTER B[v > 3]) ; B+"
            " OR (B FILTER B[NOT v > 3 AND NOT v <= 3])+ ; (B FILTER B[v > 3])"
            " OR (B FILTER B[NOT v > 3 AND NOT v <= 3])+ ; (B FILTER B[v > 3]) ; B+) AS b",
        ),
        (constants, "(A AS a ; B AS b) FILTER a.v > b.v + 2 * 3", "(A AS a ; B AS b) FILTER a.v > b.v + 6"),
        (
            known,
            "(A AS a ; B AS b) FILTER a.id = b.id AND a[id = 3]",
            "(A AS a ; B AS b) FILTER a.id = b.id AND a[id = 3] AND b[id = 3]",
        ),
        (
            known,
            "(A AS a ? ; B AS b) FILTER a.id = b.id AND a[id = 3]",
            "(A AS a ? ; B AS b) FILTER a.id = b.id AND a[id = 3]",
        ),
        (
            implied,
            "(A AS a ; B AS b ; C AS c) FILTER a.p < b.p AND b.p <= c.p AND c.p > a.p",
            "(A AS a ; B AS b ; C AS c) FILTER a.p < b.p AND b.p <= c.p",
        ),
        (
            implied,
            "(A AS a ; B AS b ? ; C AS c) FILTER a.p < b.p AND b.p <= c.p AND c.p > a.p",
            "(A AS a ; B AS b ? ; C AS c) FILTER a.p < b.p AND b.p <= c.p AND c.p > a.p",
        ),
    ],
)
def test_what_a_rewriting_gives(
    rewriting: Callable[[t.Pattern], t.Pattern], text: str, expected: str
) -> None:
    assert to_text(rewriting(pattern(text))) == to_text(pattern(expected))


def test_what_no_rewriting_changes_stays_the_same_object() -> None:
    for text in ("A AS a ; B AS b FILTER a.id = b.id", "A+ AS x FILTER AVG(x.v) > 3"):
        found = pattern(text)
        assert rewritten(found) is found


def shaped(rng: Random) -> t.Pattern:
    """A pattern in which some rewriting has something to do, most of the time."""
    names = ["a", "b", "c"]
    inner = rng.choice(
        (
            "A AS a ; B+ AS b ; C AS c",
            "A AS a ; (B AS b)+ ; C AS c",
            "A AS a ; (B FILTER B[v > 2]):+ AS b ; A AS c",
            "(A AS a ? ; B{2,4} AS b) ; C AS c",
            f"A AS a ; B+{interval(rng)} AS b ; C AS c",
            "(A AS a OR B AS b) ; C AS c",
            "(A AS a ALL B+ AS b) ; C AS c",
        )
    )
    some = [condition(rng, names, 1) for _ in range(rng.randrange(1, 4))]
    name, other, third = rng.sample(names, 3)
    op = rng.choice(("<", "<=", ">", "=", ">=", "!="))
    some += rng.choice(
        (
            [f"COUNT(b) {op} {rng.randrange(1, 4)}"],
            [f"{rng.choice(('FIRST', 'LAST', 'MIN', 'MAX'))}(b.{rng.choice('vp')}) {op} {rng.randrange(8)}"],
            [f"{name}.v < {other}.v", f"{other}.v <= {third}.v", f"{third}.v > {name}.v"],
            [f"{name}.id = {other}.id", f"{name}[id = 1]"],
            [f"{name}[{predicate(rng)}]", f"{name}.v > {other}.v + 2 * 3 - 6"],
        )
    )
    rng.shuffle(some)
    made = f"({inner}) FILTER {' AND '.join(f'({one})' for one in some)}"
    return pattern(f"({made})+" if rng.random() < 0.1 else made)


@pytest.mark.draws("block", 4)
def test_rewritten_patterns_have_the_same_complex_events(block: int) -> None:
    rng = Random(f"rewriting {block}")
    changed = dict.fromkeys(REWRITINGS, 0)
    answered = 0
    for number in range(120):
        written = shaped(rng) if number % 4 else query(rng).pattern
        events = stream(rng, rng.randrange(4, 10), types="AABC")
        try:
            expected = matches(written, events, order="ts")
        except OverflowError:
            continue
        answered += bool(expected)
        for rewriting in REWRITINGS:
            found = rewriting(written)
            if found is not written:
                changed[rewriting] += 1
                assert matches(found, events, order="ts") == expected, to_text(written)
        assert matches(rewritten(written), events, order="ts") == expected, to_text(written)
    assert min(changed.values()) > 0, changed
    assert answered > 5


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("* WHERE LAST(A ; B)", "LAST * WHERE A ; B"),
        ("a WHERE NXT(A AS a ; B+) LIMIT 2", "NEXT a WHERE A AS a ; B+ LIMIT 2"),
        (
            "* WHERE MAX((A ; B) WITHIN [<= 5 s]) PARTITION BY k",
            "MAX * WHERE A ; B PARTITION BY k WITHIN 5 s",
        ),
        ("* WHERE LAST(A ;[<= 5 s] B) WITHIN 1 h", "LAST * WHERE A ; B WITHIN 5 s"),
        ("* WHERE LAST(A ;[<= 5 s] B ; C) WITHIN 1 h", None),
        ("* WHERE LAST((A ; B) WITHIN [<= 5 s]) WITHIN 4 s", None),
        ("* WHERE LAST((A ; B) WITHIN [<= 5 s]) WITHIN 9 EVENTS", None),
        ("* WHERE LAST(A ; B) WITHIN 9 EVENTS", None),
        ("* WHERE LAST((A ; B) WITHIN [>= 1 s])", "LAST * WHERE (A ; B) WITHIN [>= 1 s]"),
        ("MAX * WHERE LAST(A ; B)", None),
        ("* WHERE STRICT(A ; B)", None),
        ("* WHERE LAST(A ; B) FOLLOWED BY C", None),
    ],
)
def test_a_selector_around_the_pattern_is_the_strategy(text: str, expected: str | None) -> None:
    written = parse(f"SELECT {text}")
    assert isinstance(written, t.SelectQuery)
    found, spans = without_selector(written)
    if expected is None:
        assert found is written
        assert spans == ()
        return
    assert to_text(found) == to_text(parse(f"SELECT {expected}"))
    assert len(spans) == (found.window is not None)


@pytest.mark.draws("seed", 30)
def test_selectors_around_random_patterns(seed: int) -> None:
    rng = Random(f"selectors at the top {seed}")
    selector = rng.choice(("NXT", "LAST", "MAX"))
    inner = rng.choice(
        (
            "A ; B",
            "A AS a ; B+ AS b ; C",
            "A :+ ; B",
            "(A ; B) OR (C ; B)",
            "A ALL B",
            "(A ; C) UNLESS B",
            "A AS a ; B AS b FILTER a.id = b.id",
            "A AS a ; B AS b FILTER a.v < b.v",
            f"A AS a ;{interval(rng)} B AS b ; C AS c FILTER c.v != a.v",
        )
    )
    if rng.random() < 0.7:
        inner = f"({inner}) WITHIN [<= {rng.choice((250, 500, 1500))} ms]"
    parsed = parse(f"SELECT * WHERE {selector}({inner})")
    assert isinstance(parsed, t.SelectQuery)
    made = replace(query_around(rng, parsed.pattern), streams=())
    print(f"seed {seed}: {to_text(made)}")
    with warnings.catch_warnings(), suppress(LimitError):
        warnings.simplefilter("ignore")
        for _ in range(3):
            check(made, stream(rng, rng.randrange(6, 11)), rng)
