"""Random timed formulas whose intervals all bound times from above, or all from below."""

from __future__ import annotations

from random import Random

from generate import TYPES, query_around

from cer_gpu.errors import LimitError
from cer_gpu.language import tree as t
from cer_gpu.language.check import check
from cer_gpu.language.parser import parse
from cer_gpu.language.printer import to_text
from cer_gpu.plan.lower import BY_NAME
from cer_gpu.plan.lower.lowering import Refusal
from cer_gpu.plan.outline import as_written, outline


def one_clock_query(rng: Random) -> t.SelectQuery:
    """A query that the engine of one clock takes, if it is asked for."""
    while True:
        upper = rng.random() < 0.6
        made = _pattern(rng, rng.randrange(2, 5), upper, 2)
        strategy = rng.choice((t.Strategy.ALL,) * 5 + (t.Strategy.ANY,))
        query = query_around(rng, made, strategy)
        try:
            statement = parse(text := to_text(query))
            if any(finding.severity == "error" for finding in check(statement, None)):
                continue
            found = BY_NAME["clock"].lower(as_written(outline(statement, text)))
        except LimitError:
            continue
        if not isinstance(found, Refusal):
            return query


def bound(rng: Random, upper: bool) -> t.Interval:
    """`[<= 2 s]`, or `[> 500 ms]` where bounds are from below."""
    if upper:
        return t.Interval(None, t.Bound(rng.choice((0.5, 1, 2, 2.5)), "s", open=rng.random() < 0.3))
    return t.Interval(t.Bound(rng.choice((0, 250, 500, 1000, 1500)), "ms", open=rng.random() < 0.3), None)


def _gap(rng: Random, upper: bool) -> t.Interval | None:
    return bound(rng, upper) if rng.random() < 0.5 else None


def _pattern(rng: Random, atoms: int, upper: bool, loops: int) -> t.Pattern:
    pick = rng.random()
    if atoms > 1 and pick < 0.15:
        return t.Timed(_pattern(rng, atoms, upper, loops), bound(rng, upper))
    if loops and pick < 0.35:
        return t.Iteration(_pattern(rng, atoms, upper, loops - 1), rng.random() < 0.3, _gap(rng, upper))
    if atoms == 1:
        atom = t.EventType(rng.choice(TYPES))
        return t.OtherEvent(atom) if rng.random() < 0.06 else t.As(atom, rng.choice("xyz"))
    split = rng.randrange(1, atoms)
    one, other = _pattern(rng, split, upper, loops), _pattern(rng, atoms - split, upper, loops)
    if rng.random() < 0.12:
        return t.Or(one, other)
    made = t.Sequence(one, other, rng.random() < 0.2, _gap(rng, upper))
    if rng.random() < 0.1:
        return t.Project(made, (rng.choice("xyz"),))
    return made
