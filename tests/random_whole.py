"""Random queries of the whole language, as text: comparisons between any events, aggregates, PRIOR, measures.

They speak of the attributes of `generate.stream`. What the checks refuse is drawn again.
"""

from __future__ import annotations

from random import Random

from cer_gpu.errors import QueryError
from cer_gpu.language import tree as t
from cer_gpu.language.check import check
from cer_gpu.language.functions import OF_EXPRESSIONS
from cer_gpu.language.parser import parse
from cer_gpu.language.schema import Schema, ValueType

SCHEMA = Schema(
    {
        "id": ValueType.INT64,
        "v": ValueType.INT64,
        "p": ValueType.FLOAT64,
        "s": ValueType.STRING,
        "lap": ValueType.INT64,
        "ts": ValueType.TIMESTAMP,
    },
    None,
    frozenset({"S1", "S2"}),
    order="ts",
    units={"ts": "ms"},
)

OPERATORS = ("=", "!=", "<", "<=", ">", ">=")
AGGREGATES = ("SUM", "MIN", "MAX", "AVG", "FIRST", "LAST")
FUNCTIONS = ("ABS({})", "FLOOR({})", "COALESCE({}, 1)", "-{}", "{} + 1", "2 * {}", "{} / 2", "{} % 3")


class Drawn:
    """A pattern that is being drawn: its names, and how many more iterations it may have."""

    def __init__(self, rng: Random, iterations: int = 2) -> None:
        self.rng = rng
        self.iterations = iterations
        self.names = 0

    def name(self) -> str:
        """A name for an event, most of them new."""
        self.names += 1
        return self.rng.choice(("x", "y", "z")) if self.rng.random() < 0.1 else f"e{self.names}"


def query(rng: Random) -> t.SelectQuery:
    """A query of the whole language that the checks find nothing wrong with."""
    while True:
        found = well_formed(_query(rng))
        if found is not None:
            return found


def well_formed(text: str) -> t.SelectQuery | None:
    """A query; None where the checks find something wrong with it."""
    try:
        found = parse(text)
        wrong = [one for one in check(found, SCHEMA) if one.severity == "error"]
    except QueryError:
        return None
    assert isinstance(found, t.SelectQuery)
    return None if wrong else found


def _query(rng: Random) -> str:
    drawn = Drawn(rng)
    pattern, names = drawn_pattern(drawn, rng.choice((1, 2, 2, 3, 3, 4)), ())
    if names and rng.random() < 0.8:
        pattern = f"({pattern}) FILTER {condition(rng, names)}"
    listed = "*"
    if rng.random() < 0.3 and names:
        listed = ", ".join(rng.sample(names, rng.randrange(1, len(names) + 1)))
    elif rng.random() < 0.05:
        listed = "NONE"
    if names and rng.random() < 0.1:
        listed += f", {_aggregate(rng, names)} AS measured"
    strategy = rng.choice(("", "", "", "", "ANY ", "NEXT ", "LAST ", "MAX ", "STRICT "))
    clauses = [
        rng.choice(("", "", "", "PARTITION BY id", "PARTITION BY [s], id")),
        rng.choice(("", "", "WITHIN 4 EVENTS", "WITHIN 2 SECONDS", "WITHIN 3 [lap]")),
        rng.choice(("", "", "", "", "CONSUME BY ANY", "CONSUME BY PARTITION")),
        rng.choice(("", "", "", "", "", "LIMIT 2")),
    ]
    return f"SELECT {strategy}{listed} WHERE {pattern} {' '.join(clauses)}"


def drawn_pattern(drawn: Drawn, atoms: int, around: tuple[str, ...]) -> tuple[str, list[str]]:
    """A pattern, and the names that it gives; conditions in it may speak of those around it, too."""
    rng = drawn.rng
    if atoms == 1:
        return _atom(drawn, around)
    pick = rng.random()
    if pick < 0.12:
        inner, names = drawn_pattern(drawn, atoms, around)
        return f"{rng.choice(('NXT', 'LAST', 'MAX', 'STRICT'))}({inner})", names
    if pick < 0.18:
        inner, names = drawn_pattern(drawn, atoms, around)
        return f"({inner}) WITHIN {interval(rng)}", names
    if pick < 0.3 and drawn.iterations:
        drawn.iterations -= 1
        inner, names = drawn_pattern(drawn, atoms, around)
        if rng.random() < 0.6 and names:
            inner = f"({inner}) FILTER {condition(rng, [*names, *around], prior=names)}"
        return f"({inner}){_times(rng)}", names
    split = rng.randrange(1, atoms)
    left, names = drawn_pattern(drawn, split, around)
    right, others = drawn_pattern(drawn, atoms - split, (*around, *names))
    both = [*names, *others]
    if pick < 0.4:
        operator = rng.choice(("UNLESS", "FOLLOWED BY", "NOT FOLLOWED BY", "PRECEDED BY", "NOT PRECEDED BY"))
        return f"({left}) {operator} ({right})", names
    if pick < 0.55:
        return f"({left}) {rng.choice(('OR', 'ALL', 'AND'))} ({right})", both
    operator = rng.choice((";", ";", ";", ":", f";{interval(rng)}"))
    made = f"({left}) {operator} ({right}){'?' if rng.random() < 0.1 else ''}"
    if rng.random() < 0.25 and both:
        made = f"({made}) FILTER {condition(rng, [*both, *around])}"
    if rng.random() < 0.06:
        kept = rng.sample(both, rng.randrange(1, len(both) + 1)) if both else []
        if kept:
            return f"PROJECT({made} | {', '.join(kept)})", kept
    return made, both


def _atom(drawn: Drawn, around: tuple[str, ...]) -> tuple[str, list[str]]:
    rng = drawn.rng
    kind = rng.choice("AABC")
    if rng.random() < 0.06:
        return f"NOT ({kind} FILTER {kind}[{predicate(rng)}])", []
    name = drawn.name()
    made = f"{kind} AS {name}"
    if rng.random() < 0.25:
        made = f"({made} FILTER {name}[{predicate(rng)}])"
    if rng.random() < 0.35 and drawn.iterations:
        drawn.iterations -= 1
        if rng.random() < 0.5:
            made = f"({made} FILTER {condition(rng, [name, *around], prior=[name])})"
        made = f"({made}){_times(rng)}"
    return made, [name]


def _times(rng: Random) -> str:
    made = rng.choice(("+", "+", "+", ":+", "{2}", "{2,}", "{1,3}", ":{2,}"))
    return made + (interval(rng) if rng.random() < 0.15 else "")


def interval(rng: Random) -> str:
    """An interval of time."""
    return rng.choice(("[<= 2 s]", "[< 1500 ms]", "[>= 500 ms]", "[> 1 s]", "[500 ms, 2 s]", "[= 1 s]"))


def predicate(rng: Random) -> str:
    """A predicate of one event."""
    match rng.randrange(6):
        case 0:
            return f"v {rng.choice(OPERATORS)} {rng.randrange(10)}"
        case 1:
            return f"NOT (p {rng.choice(OPERATORS)} {rng.randrange(10)})"
        case 2:
            return f"id IN {{0, {rng.randrange(3)}}}"
        case 3:
            return f"v > PREV(v){rng.choice((' - 1', ''))}"
        case 4:
            return "s IS NULL OR s LIKE 'a$'"
        case _:
            return f"ABS(v - {rng.randrange(8)}) < 3"


def condition(rng: Random, names: list[str], depth: int = 2, prior: list[str] | None = None) -> str:
    """A condition over some names; `prior` are those whose repetitions before may be asked."""
    if depth and rng.random() < 0.4:
        parts = [condition(rng, names, depth - 1, prior) for _ in range(2)]
        match rng.randrange(3):
            case 0:
                return f"NOT ({parts[0]})"
            case 1:
                return f"({parts[0]}) AND ({parts[1]})"
            case _:
                return f"({parts[0]}) OR ({parts[1]})"
    name, other = rng.choice(names), rng.choice(names)
    op = rng.choice(OPERATORS)
    attribute = rng.choice(("id", "v", "v", "p"))
    if prior and rng.random() < 0.4:
        earlier = f"{rng.choice(('PRIOR', 'BEFORE'))}({rng.choice(prior)}).{attribute}"
        if rng.random() < 0.3:
            earlier = f"{rng.choice(AGGREGATES)}({earlier})"
        return f"{name}.{attribute} {op} {earlier}"
    match rng.randrange(10):
        case 0:
            return f"{name}[{predicate(rng)}]"
        case 1:
            return f"COUNT({name}) {op} {rng.randrange(4)}"
        case 2:
            return f"{_aggregate(rng, names)} {op} {rng.randrange(12)}"
        case 3:
            return f"{_aggregate(rng, names)} {op} {_aggregate(rng, names)}"
        case 4:
            return f"{name}.{attribute} {op} {_aggregate(rng, names)}"
        case 5:
            return f"{name}.s {op} {other}.s"
        case 6:
            third = rng.choice(names)
            return f"{name}.v + {other}.v {op} {third}.p * 2"
        case 7:
            return f"{name}.ts {op} {other}.ts + {rng.choice((1, 2))} s"
        case _:
            function = rng.choice(FUNCTIONS) if rng.random() < 0.4 else "{}"
            return f"{name}.{attribute} {op} {function.format(f'{other}.{attribute}')}"


def _aggregate(rng: Random, names: list[str]) -> str:
    name = rng.choice(names)
    if rng.random() < 0.15:
        other = rng.choice(names)  # of two variables only where it is known what a repetition is
        inner = f"{name}.{rng.choice('vp')} {rng.choice('+-*')} {other}.{rng.choice('vp')}"
        return f"{rng.choice(OF_EXPRESSIONS)}({inner})"
    if rng.random() < 0.15:
        return f"COUNT({rng.choice(('', 'DISTINCT '))}{name}.{rng.choice(('v', 'p', 'id'))})"
    return f"{rng.choice(AGGREGATES)}({name}.{rng.choice(('v', 'v', 'p', 'id'))})"
