"""Reads the text of an outcome, such as `AFTER 5 MINUTES (price) / price - 1`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from cer_gpu.backtesting.outcomes.expression import AskedOutcome
from cer_gpu.engine.answers.future_values import FutureValue, LookLength
from cer_gpu.errors import CerError, QueryError
from cer_gpu.language import tree
from cer_gpu.language.parse_tree import Token
from cer_gpu.language.parser import parse
from cer_gpu.language.tokens import read_tokens
from cer_gpu.language.units import unit_named
from cer_gpu.language.walk import names_in, walk
from cer_gpu.printable_text import brief

FORMS = (
    "`price` (at the end), `AFTER 5 MINUTES (price)`, `AFTER 3 EVENTS (price)`, `MAX WITHIN 1 HOUR (price)`, "
    "`MIN WITHIN 1 HOUR (price)`, `TIME TO (Fail)`, `LAST(s.price)` of a variable, numbers and arithmetic"
)

_LOOK = "outcome"
_NAMES = ("NAME", "QUOTED")
_OPEN, _CLOSE = "LPAR", "RPAR"


def names_of(one: AskedOutcome) -> frozenset[str]:
    """The names that occur in an outcome: columns, variables, event types."""
    return frozenset(one.columns).union(*(names_in(parse(f"SELECT * WHERE {each}")) for each in one.patterns))


def outcome(name: str, text: str) -> AskedOutcome:
    """Read an outcome.

    Raises
    ------
    ValueError
        When the text is not an outcome; the message names the outcome and the place.
    """
    found = read_tokens(text)
    if found.stopped_at is not None:
        raise _wrong(name, text, f"`{text[found.stopped_at]}` has no meaning here")
    tokens = list(found.tokens)
    looks: dict[str, FutureValue] = {}
    parts: list[str] = []
    at = 0
    while at < len(tokens):
        look, stop = _look(name, text, tokens, at)
        if look is None:
            parts.append(str(tokens[at]))
            at += 1
            continue
        key = f"{_LOOK}_{len(looks) + 1}"
        looks[key] = look
        parts.append(f"{key}.value")
        at = stop
    if not parts:
        raise _wrong(name, text, "it is empty")
    try:
        made = parse(f"SELECT {' '.join(parts)} AS {_LOOK} WHERE {_LOOK}")
    except QueryError as error:
        told = error.diagnostics[0].message.replace("an arithmetic sign or `AS`", "an arithmetic sign")
        raise _wrong(name, text, told) from None
    except CerError as error:
        raise _wrong(name, text, str(error)) from None
    if not isinstance(made, tree.SelectQuery) or len(made.measures) != 1:
        raise _wrong(name, text, "it is not one expression")
    for node in walk(made.measures[0].expression):
        if isinstance(node, tree.Aggregate) and not isinstance(node.argument, tree.Attribute | None):
            raise _wrong(name, text, f"{node.function} takes one attribute of a variable here")
    return AskedOutcome(name, text, made.measures[0].expression, looks)


def _wrong(name: str, text: str, what: str) -> ValueError:
    return ValueError(f"the outcome {brief(name)}, `{text}`: {what}; an outcome is made of these: {FORMS}")


def _look(name: str, text: str, tokens: Sequence[Token], at: int) -> tuple[FutureValue | None, int]:
    """What the tokens from `at` on look up, and where the next word begins."""
    words = [str(one).upper() for one in tokens[at : at + 2]]
    before = tokens[at - 1].type if at else ""
    after = tokens[at + 1].type if at + 1 < len(tokens) else ""
    if words[:1] == ["AFTER"] and after == "NUMBER":
        span, stop = _span(name, text, tokens, at + 1)
        column, stop = _column(name, text, tokens, stop)
        fresh = None
        if [str(one).upper() for one in tokens[stop : stop + 1]] == ["FRESH"]:
            fresh, stop = _span(name, text, tokens, stop + 1)
            if "EVENTS" in (span.unit, fresh.unit):
                raise _wrong(name, text, "FRESH takes a length of time, after AFTER with a length of time")
        return FutureValue("after", column, span, fresh), stop
    if words in (["MAX", "WITHIN"], ["MIN", "WITHIN"]):
        span, stop = _span(name, text, tokens, at + 2)
        column, stop = _column(name, text, tokens, stop)
        return FutureValue("max" if words[0] == "MAX" else "min", column, span), stop
    if words == ["TIME", "TO"]:
        inside, stop = _parenthesised(name, text, tokens, at + 2)
        return FutureValue(
            "time to", text[inside[0].start_pos : inside[-1].start_pos + len(inside[-1])]
        ), stop
    plain = tokens[at].type in _NAMES and after not in (_OPEN, "DOT", "STREAM", "MORE") and before != "DOT"
    return (FutureValue("at", _unquoted(tokens[at])), at + 1) if plain else (None, at)


def _span(name: str, text: str, tokens: Sequence[Token], at: int) -> tuple[LookLength, int]:
    """A number and its unit, or EVENTS."""
    if at >= len(tokens) or tokens[at].type != "NUMBER":
        raise _wrong(name, text, "write a length as a number and a unit, such as `5 MINUTES` or `3 EVENTS`")
    number = str(tokens[at])
    size = int(number) if number.isdigit() else float(number)
    if at + 1 >= len(tokens) or tokens[at + 1].type == _OPEN:
        return LookLength(size, ""), at + 1
    word = str(tokens[at + 1])
    if word.lower() in ("event", "events"):
        if not isinstance(size, int) or size < 1:
            raise _wrong(name, text, f"{number} EVENTS: a number of events must be 1 or more")
        return LookLength(size, "EVENTS"), at + 2
    unit = unit_named(word)
    if unit is None:
        raise _wrong(name, text, f"`{word}` is not a unit of time")
    return LookLength(size, unit), at + 2


def _parenthesised(name: str, text: str, tokens: Sequence[Token], at: int) -> tuple[Sequence[Token], int]:
    """The tokens in the parentheses that begin at `at`."""
    if at >= len(tokens) or tokens[at].type != _OPEN:
        raise _wrong(name, text, "write what is looked up in parentheses")
    depth = 0
    for stop in range(at, len(tokens)):
        depth += (tokens[stop].type == _OPEN) - (tokens[stop].type == _CLOSE)
        if not depth:
            if stop == at + 1:
                break
            return tokens[at + 1 : stop], stop + 1
    raise _wrong(name, text, "the parentheses are empty or not closed")


def _column(name: str, text: str, tokens: Sequence[Token], at: int) -> tuple[str, int]:
    """The column in parentheses."""
    inside, stop = _parenthesised(name, text, tokens, at)
    if len(inside) != 1 or inside[0].type in ("NUMBER", "STRING"):
        raise _wrong(name, text, "write the name of one column in the parentheses")
    return _unquoted(inside[0]), stop


def _unquoted(token: Token) -> str:
    return str(token)[1:-1].replace("``", "`") if token.type == "QUOTED" else str(token)


def with_plan(query: tree.SelectQuery, wanted: Sequence[tree.Aggregate]) -> tree.SelectQuery:
    """The query with measures for `wanted`, and one match at each end (of several the latest).

    The values are measures `outcome_1`, `outcome_2`, ...
    """
    strategy = tree.Strategy.LAST if query.strategy is tree.Strategy.ALL else query.strategy
    variables = dict.fromkeys(one.variable for one in wanted if one.variable is not None)
    return replace(
        query,
        strategy=strategy,
        select=tuple(map(tree.SelectItem, variables)),
        measures=tuple(tree.SelectMeasure(one, f"{_LOOK}_{number}") for number, one in enumerate(wanted, 1)),
    )
