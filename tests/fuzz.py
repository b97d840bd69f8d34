"""Ask random queries of random streams for as long as one likes: `python tests/fuzz.py --seconds 600`.

Each turn draws a query of any kind that the suite draws, lays other constructs over it (counts, optional
elements, FOLLOWED BY, functions and PREV in filters), draws a stream, and compares every way of running the
query with the reference semantics; in half of the turns blocks, chunks and groups hold a few events only.
What a turn draws depends on the seed and its number alone. Where an answer is wrong, the query, the events
and the command that repeats the turn are printed, and the exit status is 1.
"""

from __future__ import annotations

import argparse
import sys
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import fields, replace
from random import Random
from unittest.mock import patch

import random_values
import random_whole
from engine_oracle import OPTIONS, check, check_quickly
from generate import query_around, stream, unary_query, with_keys
from random_aggregates import aggregates_query
from random_besides import with_besides
from random_correlated import random_correlated, random_scopes
from random_formulas import formula
from random_repetitions import repeated
from random_rules import random_join, random_rule, random_rule_events
from random_steps import timed_query
from random_suppressed import suppressed
from random_thresholds import aggregate_thresholds_query, thresholds_query
from random_windows import windowed_query
from test_engine_rules import check as check_rule
from test_engine_selection import bounded_query

import cer_gpu
from cer_gpu.errors import LimitError, QueryError
from cer_gpu.language import tree
from cer_gpu.language.parser import parse
from cer_gpu.language.printer import to_text
from cer_gpu.reference.events import Event

SHOWN = 5
"""Wrong answers that are printed whole."""

TINY = {
    "cer_gpu.engine.read.classify.BLOCK": 4,
    "cer_gpu.engine.run.bound_query.BATCH": 5,
    "cer_gpu.engine.run.chunks.CHUNK": 3,
    "cer_gpu.engine.run.chunks.CARRIED": 2,
    "cer_gpu.engine.run.event_run.AT_ONCE": 3,
    "cer_gpu.engine.machines.configurations.ROOM": 2,
    "cer_gpu.engine.machines.configurations.LEAST": 3,
    "cer_gpu.engine.machines.dealt_configurations.LEAST": 0,
    "cer_gpu.engine.machines.chunk.SEGMENT": 2,
    "cer_gpu.engine.answers.batches.GROUP": 3,
    "cer_gpu.engine.answers.batches.BULK_COUNT": 2,
    "cer_gpu.enumeration.products.BULK_ROWS": 3,
    "cer_gpu.engine.read.eviction.REMEMBERED": 1,
    "cer_gpu.kernels.attribute_windows.cpu_lists.RANGE": 2,
    "cer_gpu.engine.machines.lookups.BLOCK": 3,
    "cer_gpu.engine.machines.tuple_answers.FEW": 1,
    "cer_gpu.engine.machines.tuple_answers.BULK_ROWS": 2,
    "cer_gpu.engine.machines.tuples.UNIT": 2,
}
"""Sizes under which a stream of ten events crosses every border."""


def operators(rng: Random) -> tree.SelectQuery:
    """Any operators, nested, under any strategy."""
    return query_around(rng, formula(rng, rng.choice((1, 1, 2, 3))), rng.choice(list(tree.Strategy)))


def values(rng: Random) -> tree.SelectQuery:
    """Filters with functions and PREV."""
    query = parse(random_values.query(rng))
    assert isinstance(query, tree.SelectQuery)
    return query


KINDS: dict[str, Callable[[Random], tree.SelectQuery]] = {
    "regular": unary_query,
    "operators": operators,
    "bounded": bounded_query,
    "equalities": random_correlated,
    "scopes": random_scopes,
    "values": values,
    "aggregates": aggregates_query,
    "thresholds": thresholds_query,
    "sums": aggregate_thresholds_query,
    "timed": timed_query,
    "windows": windowed_query,
    "general": windowed_query,
    "whole": random_whole.query,
}
RULES = "rules"
JOINS = "joins"


def with_values(rng: Random, node: tree.Pattern) -> tree.Pattern:
    """The pattern with a filter of functions and PREV around half of what has a name."""
    inside = {
        field.name: with_values(rng, value)
        for field in fields(node)
        if isinstance(value := getattr(node, field.name), tree.Pattern)
    }
    made = replace(node, **inside) if inside else node
    if not isinstance(made, tree.As) or rng.random() < 0.5:
        return made
    name = made.variable
    filtered = parse(f"SELECT * WHERE A AS {name} FILTER {name}[{random_values.predicate(rng)}]")
    assert isinstance(filtered, tree.SelectQuery)
    assert isinstance(filtered.pattern, tree.Filter)
    return tree.Filter(made, filtered.pattern.condition)


def query_of(rng: Random, kind: str) -> tree.SelectQuery:
    """A query of a kind, with other constructs laid over it."""
    query = KINDS[kind](rng)
    own = Random(to_text(query))  # what is drawn later does not depend on it
    if own.random() < 0.1:
        query = suppressed(own, query, 0.3)
    if kind == "whole":
        return query
    if rng.random() < 0.4:
        query = repeated(rng, query)
    if rng.random() < 0.3:
        query = replace(query, pattern=with_besides(rng, query.pattern))
    if rng.random() < 0.3:
        query = replace(query, pattern=with_values(rng, query.pattern))
    return query


def without_matches(rng: Random, query: tree.SelectQuery) -> tree.SelectQuery:
    """The query with a part that no events match: an event that lasts, or all that is asked for."""
    longer = tree.Interval(tree.Bound(0, "ms", open=True), None)
    none = tree.Timed(tree.EventType(rng.choice("ABC")), longer)
    made = rng.choice(
        (
            none,
            tree.And(query.pattern, none),
            tree.Sequence(none, query.pattern),
            tree.Sequence(query.pattern, none, contiguous=True),
            tree.Unless(query.pattern, query.pattern),
        )
    )
    return replace(query, pattern=made)


def explained(query: tree.Statement, engine: str) -> None:
    """Explain a query in each form; a drawing may be too large, or not there for an engine."""
    compiled = cer_gpu.compile(to_text(query))
    for form in ("text", "mermaid", "svg"):
        with suppress(LimitError):
            assert compiled.explain(form, engine=engine)


AHEAD = {"cer_gpu.engine.machines.lookahead.WORK": 0, "cer_gpu.engine.machines.lookahead.FEW": 1}
"""Sizes under which the general machine looks ahead from the first event on."""


@contextmanager
def sizes(tiny: bool, times: int = 1) -> Iterator[None]:
    """Run with tiny sizes, or so many times those, or with the usual ones."""
    with ExitStack() as changed:
        for name, size in AHEAD.items():
            changed.enter_context(patch(name, size))
        for name, size in TINY.items() if tiny else ():
            changed.enter_context(patch(name, size * times))
        yield


class Turn:
    """One query on one stream.

    Attributes
    ----------
    kind : str
        A key of `KINDS`, `RULES` or `JOINS`.
    engine : str
        The one that is asked for: in a quarter of the turns the general machine, which takes every query.
    query : Query or Rule
    events : list of Event
    """

    def __init__(self, seed: str, number: int) -> None:
        self._rng = rng = Random(f"{seed} {number}")
        self.kind = rng.choice((*KINDS, RULES, JOINS))
        self._tiny = rng.random() < 0.5
        self.query: tree.Statement
        self.events: list[Event]
        if self.kind in (RULES, JOINS):
            self.query = random_rule(rng) if self.kind == RULES else random_join(rng)
            self.events = random_rule_events(rng, self.query, rng.randrange(1, 16))
        else:
            self.query = query_of(rng, self.kind)
            longest = 10 if self.kind == "whole" else 15  # the reference takes exponential time
            events = stream(rng, rng.randrange(4, longest), lap_falls=rng.random() < 0.3)
            self.events = with_keys(rng, events) if rng.random() < 0.3 else events
            if rng.random() < 0.1:
                self.query = without_matches(rng, self.query)
        self.engine = rng.choice(("join" if self.kind == JOINS else "auto",) * 3 + ("general",))
        if self.kind == "general":
            self.engine = "general"

    def outcome(self, quick: bool = False) -> str:
        """`answered`, `no answer`, `over budget`, or the code of the error that refuses the query.

        Parameters
        ----------
        quick : bool, optional
            Whether a few ways of running a pattern are enough.

        Raises
        ------
        Exception
            Where the engine gives another answer than the reference, or fails.
        """
        with sizes(self._tiny), patch.dict(OPTIONS, engine=self.engine), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                explained(self.query, self.engine)
                if isinstance(self.query, tree.Rule):
                    answers = check_rule(self.query, self.events, self._rng, self.engine)
                elif quick:
                    answers = check_quickly(self.query, self.events, self._rng)
                else:
                    answers = check(self.query, self.events, self._rng)
            except LimitError:
                return "over budget"
            except QueryError as error:
                return next(one.code for one in error.diagnostics if one.severity == "error")
        return "answered" if answers else "no answer"


def turns(seed: str, numbers: Iterator[int], until: float, quick: bool = False) -> Counter[tuple[str, str]]:
    """Take turns until a time of `time.monotonic`; how often each kind had each outcome."""
    found: Counter[tuple[str, str]] = Counter()
    for number in numbers:
        if time.monotonic() >= until:
            break
        turn = Turn(seed, number)
        try:
            found[turn.kind, turn.outcome(quick)] += 1
        except Exception:
            found[turn.kind, WRONG] += 1
            if sum(many for (_, outcome), many in found.items() if outcome == WRONG) <= SHOWN:
                show(turn, seed, number)
    return found


WRONG = "WRONG"


def show(turn: Turn, seed: str, number: int) -> None:
    """Print a turn that went wrong, in the block of an `except`."""
    sys.stdout.write(f"\nturn {number} ({turn.kind}, engine {turn.engine}): {to_text(turn.query)}\n")
    for event in turn.events:
        sys.stdout.write(f"  {event}\n")
    sys.stdout.write(f"{traceback.format_exc(limit=-3)}")
    sys.stdout.write(f"again: python tests/fuzz.py --seed {seed} --first {number} --turns 1\n\n")


def main(arguments: list[str] | None = None) -> int:
    """Take turns, and print how many of each kind had which outcome; 1 where one was wrong."""
    parser = argparse.ArgumentParser(prog="python tests/fuzz.py", description=__doc__)
    parser.add_argument("--seconds", type=float, default=float("inf"), help="end after so many seconds")
    parser.add_argument("--seed", default="1", help="any text (1)")
    parser.add_argument("--first", type=int, default=0, help="the number of the first turn (0)")
    parser.add_argument("--turns", type=int, help="end after so many turns")
    parser.add_argument("--quick", action="store_true", help="run patterns in a few ways, for many turns")
    asked = parser.parse_args(arguments)
    last = sys.maxsize if asked.turns is None else asked.first + asked.turns
    begin = time.monotonic()
    found = turns(asked.seed, iter(range(asked.first, last)), begin + asked.seconds, asked.quick)
    taken = time.monotonic() - begin
    sys.stdout.write(f"seed {asked.seed}, {found.total()} turns from {asked.first} in {taken:.0f} s\n")
    for kind in (*KINDS, RULES, JOINS):
        outcomes = sorted((outcome, many) for (own, outcome), many in found.items() if own == kind)
        told = ", ".join(f"{many} {outcome}" for outcome, many in outcomes)
        sys.stdout.write(f"{kind:<12}{told}\n")
    return int(any(outcome == WRONG for _, outcome in found))


if __name__ == "__main__":
    sys.exit(main())
