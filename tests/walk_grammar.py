"""Walks the constructs of the language, alone and in pairs: queries that are well-formed, by name.

A construct wraps a pattern, is a condition on the events of `A AS a ; (B AS b)+ ; C AS c`, or a clause beside
it. `python tests/walk_grammar.py` prints which are refused for not being built, as `tests/golden/refused.txt`
lists them.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from itertools import combinations_with_replacement
from pathlib import Path

import cer_gpu as cer
from cer_gpu.diagnostics import NOT_TAKEN
from cer_gpu.errors import LimitError, QueryError

REFUSED = Path(__file__).parent / "golden" / "refused.txt"

UNBUILT = {NOT_TAKEN}
"""The codes of errors that refuse what is well-formed."""

BASE = "A AS a ; (B AS b)+ ; C AS c"

WRAPPERS = {
    "type": "A ; ({})",
    "type of a stream": "S>A ; ({})",
    "other event": "NOT (D) ; ({})",
    "other event with a condition": "({}) ; NOT (D FILTER D[v > 3])",
    "AS": "({}) AS w",
    "sequence": "({}) ; D AS d",
    "contiguous sequence": "D AS d : ({})",
    "timed sequence": "({}) ;[<= 2 s] D AS d",
    "timed contiguous sequence": "D AS d :[> 1 s, <= 2 s] ({})",
    "iteration": "({})+",
    "contiguous iteration": "({}):+",
    "timed iteration": "({})+[<= 2 s]",
    "repetition": "({}){{2,3}}",
    "contiguous repetition": "({}):{{2}}",
    "optional": "D AS d ; ({})?",
    "optional beside": "D AS d ? : ({})",
    "OR": "({}) OR (A AS a ; D AS d)",
    "AND": "({}) AND (A AS a ; (B AS b)+ ; C AS c)",
    "ALL": "({}) ALL (D AS d)",
    "UNLESS": "({}) UNLESS D",
    "inside UNLESS": "(A AS u ; C) UNLESS ({})",
    "WITHIN inside": "({}) WITHIN [<= 5 s]",
    "NXT": "NXT({})",
    "LAST": "LAST({})",
    "MAX": "MAX({})",
    "STRICT": "STRICT({})",
    "PROJECT": "PROJECT({} | a, c)",
    "FOLLOWED BY": "({}) FOLLOWED BY [<= 3 s] D",
    "NOT FOLLOWED BY": "({}) NOT FOLLOWED BY [<= 3 EVENTS] D",
    "PRECEDED BY": "({}) PRECEDED BY D",
    "NOT PRECEDED BY": "({}) NOT PRECEDED BY [> 1 s] D",
    "inside FOLLOWED BY": "D FOLLOWED BY [<= 9 s] ({})",
}
"""Constructs around a pattern."""

CONDITIONS = {
    "predicate": "a[v > 3]",
    "predicate of repetitions": "b[v > 3 OR s LIKE 'x']",
    "some repetition": "NOT b[v IN {1, 2..5}]",
    "IS NULL": "a[s IS NULL]",
    "IN RANGE": "a[v IN RANGE (1, id)]",
    "PREV": "a[v > PREV(v, 2)]",
    "function": "ABS(a.p - 3) > 2",
    "text function": "LOWER(a.s) = 'x'",
    "time function": "HOUR(a.ts) = 3",
    "equality": "a.id = c.id",
    "equality of repetitions": "a.id = b.id",
    "inequality": "a.id != c.id",
    "less": "a.p < b.p",
    "less over a step": "c.p <= a.p",
    "linear": "c.p > 1.05 * a.p",
    "times": "c.ts < a.ts + 1 h",
    "texts": "a.s < c.s",
    "function of two": "ABS(a.p - c.p) > 3",
    "PREV of two": "PREV(a.v) < c.v",
    "three variables": "a.v + b.v = c.v",
    "negated equality": "NOT a.id = c.id",
    "alternatives": "a.id = c.id OR a.p < c.p",
    "COUNT": "COUNT(b) >= 3",
    "COUNT of both": "COUNT(b) > COUNT(a)",
    "COUNT of values": "COUNT(b.v) = 2",
    "COUNT DISTINCT": "COUNT(DISTINCT b.v) = 2",
    "SUM": "SUM(b.v) > 10",
    "AVG": "c.p < AVG(b.p)",
    "MIN": "MIN(b.v) > 3",
    "MAX of a variable": "a.v < MAX(b.v)",
    "FIRST and LAST": "LAST(b.p) > 1.05 * FIRST(b.p)",
    "negated aggregate": "NOT SUM(b.v) > 10",
}
"""Conditions on the events of `BASE`."""

INSIDE = {
    "PRIOR": "B AS b FILTER b.p > PRIOR(b).p",
    "BEFORE": "B AS b FILTER b.p > BEFORE(b).p",
    "predicate of BEFORE": "B AS b FILTER BEFORE(b)[v > 3]",
    "aggregate of BEFORE": "B AS b FILTER b.v > SUM(BEFORE(b).v)",
    "predicate of PRIOR": "B AS b FILTER PRIOR(b)[v > 3]",
    "aggregate of PRIOR": "B AS b FILTER b.v > SUM(PRIOR(b).v)",
    "of outside in a repetition": "B AS b FILTER b.id = a.id",
    "order of outside in a repetition": "B AS b FILTER b.p > a.p",
}
"""What may stand in the place of `B AS b`."""

CLAUSES = {
    "SELECT NONE": ("SELECT NONE", ""),
    "SELECT some": ("SELECT a, c[v, p]", ""),
    "SELECT a measure": ("SELECT *, LAST(c.p) - FIRST(a.p) AS gain, DURATION AS took", ""),
    "SELECT measures alone": ("SELECT NONE, COUNT(b) AS n", ""),
    "SELECT ANY": ("SELECT ANY *", ""),
    "SELECT NEXT": ("SELECT NEXT *", ""),
    "SELECT LAST": ("SELECT LAST *", ""),
    "SELECT MAX": ("SELECT MAX *", ""),
    "SELECT STRICT": ("SELECT STRICT *", ""),
    "FROM": ("SELECT * FROM S", ""),
    "PARTITION BY": ("SELECT *", "PARTITION BY id"),
    "PARTITION BY alternatives": ("SELECT *", "PARTITION BY [id, v], s"),
    "WITHIN events": ("SELECT *", "WITHIN 10 EVENTS"),
    "WITHIN time": ("SELECT *", "WITHIN 1 HOURS"),
    "WITHIN an attribute": ("SELECT *", "WITHIN 10 [v]"),
    "CONSUME BY ANY": ("SELECT *", "CONSUME BY ANY"),
    "CONSUME BY PARTITION": ("SELECT *", "CONSUME BY PARTITION"),
    "SUPPRESS": ("SELECT *", "SUPPRESS FOR 10 s"),
    "SUPPRESS BY ANY": ("SELECT *", "PARTITION BY id CONSUME BY PARTITION SUPPRESS FOR 1 h 30 min BY ANY"),
    "LIMIT": ("SELECT *", "LIMIT 3"),
}
"""Clauses around a pattern: what stands before WHERE, and behind the pattern."""

RULES = {
    "rule": "Q(x) <- A(id = x), B(id = x)",
    "rule with a theta join": "Q(x) <- A(id = x, p = y), B(id = x, p = z), z > 1.05 * y",
    "rule of several variables": "Q() <- A(v = x), B(v = y), C(v = z), x + y = z",
    "cyclic rule": "Q() <- A(id = x, v = y), B(id = y, v = z), C(id = z, v = x)",
    "path": "Q() <- A(id = x), B(id = x, v = y), C(v = y)",
    "self-join": "Q() <- A(id = x), A(id = x)",
    "disconnected rule": "Q() <- A(id = x), B(v = y)",
    "constants in a rule": "Q() <- A(id = 3, s = 'x'), B(v = y), y != 3",
    "aggregates of a rule": "Q(x; COUNT(*), SUM(y)) <- A(id = x, v = y), B(id = x)",
}
"""Rules."""

WINDOWS = ("", "WITHIN 10 EVENTS", "WITHIN 1 HOURS", "WITHIN 10 [v]")


def constructs() -> Iterator[tuple[str, str]]:
    """Each construct by itself: its name, and a query."""
    yield "base", _query(BASE)
    for name, wrapper in WRAPPERS.items():
        yield name, _query(wrapper.format(BASE))
    for name, condition in CONDITIONS.items():
        yield name, _query(f"({BASE}) FILTER {condition}")
    for name, inner in INSIDE.items():
        yield name, _query(_with_inside(inner))
    for name, (select, rest) in CLAUSES.items():
        yield name, _query(BASE, select, rest)
    yield from RULES.items()


def pairs() -> Iterator[tuple[str, str, str]]:
    """Each two constructs that can stand together: their names, and a query."""
    for one, outer in WRAPPERS.items():
        for other, inner in WRAPPERS.items():
            yield one, other, _query(outer.format(inner.format(BASE)))
        for other, condition in CONDITIONS.items():
            yield one, other, _query(outer.format(f"({BASE}) FILTER {condition}"))
            yield one, other, _query(f"({outer.format(BASE)}) FILTER {condition}")
        for other, inside in INSIDE.items():
            yield one, other, _query(outer.format(_with_inside(inside)))
    for (one, first), (other, second) in combinations_with_replacement(CONDITIONS.items(), 2):
        yield one, other, _query(f"({BASE}) FILTER ({first}) {'AND' if one < other else 'OR'} ({second})")
    for one, inside in INSIDE.items():
        for other, condition in CONDITIONS.items():
            yield one, other, _query(f"({_with_inside(inside)}) FILTER {condition}")
    for one, (select, rest) in CLAUSES.items():
        for other, wrapper in WRAPPERS.items():
            yield one, other, _query(wrapper.format(BASE), select, rest)
        for other, condition in CONDITIONS.items():
            yield one, other, _query(f"({BASE}) FILTER {condition}", select, rest)
        for other, inside in INSIDE.items():
            yield one, other, _query(_with_inside(inside), select, rest)
        for other, (another, behind) in CLAUSES.items():
            if rest and not behind and another != "SELECT *":
                yield one, other, _query(BASE, another, rest)
    order = ("PARTITION", "WITHIN", "CONSUME", "SUPPRESS", "LIMIT")
    behind = [(name, rest) for name, (_, rest) in CLAUSES.items() if rest]
    for (one, first), (other, second) in combinations_with_replacement(behind, 2):
        if order.index(first.split()[0]) < order.index(second.split()[0]):
            yield one, other, _query(BASE, "SELECT *", f"{first} {second}")
    for name, rule in RULES.items():
        for window in WINDOWS[1:]:
            yield name, window, f"{rule} {window}"


def _with_inside(inside: str) -> str:
    return f"A AS a ; ({inside})+ ; C AS c"


def _query(pattern: str, select: str = "SELECT *", rest: str = "") -> str:
    return f"{select} WHERE {pattern} {rest}".strip()


def refused_for(text: str) -> str | None:
    """Why a query is refused for not being built; None where it is not.

    Raises
    ------
    QueryError
        Where it is not well-formed.
    """
    try:
        cer.compile(text)
    except LimitError:
        return None
    except QueryError as error:
        unbuilt = [one for one in error.diagnostics if one.code in UNBUILT]
        if not unbuilt:
            raise
        return unbuilt[0].message
    return None


def walked(shown: range | None = None) -> Iterator[str]:
    """What is refused: the names of constructs, then those of pairs of which neither is refused alone.

    Parameters
    ----------
    shown : range, optional
        Which pairs are tried, by their numbers; all by default.
    """
    alone = {name for name, text in constructs() if refused_for(text) is not None}
    yield from sorted(alone)
    found = set()
    for number, (one, other, text) in enumerate(pairs()):
        if one in alone or other in alone or (shown is not None and number not in shown):
            continue
        try:
            if refused_for(text) is not None:
                found.add(f"{one} + {other}")
        except QueryError:
            pass  # the two do not go together
    yield from sorted(found)


def listed() -> frozenset[str]:
    """What `tests/golden/refused.txt` lists."""
    return frozenset(REFUSED.read_text(encoding="utf-8").splitlines())


if __name__ == "__main__":
    sys.stdout.writelines(f"{line}\n" for line in walked())
