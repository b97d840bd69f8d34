"""Random queries of the whole language on random streams: `python tests/whole_cases.py --cases 200000`.

A case is one query on one stream: a pattern with anything in it (comparisons between any events, aggregates,
PRIOR, intervals, counts, negations, selectors, strategies, windows, FOLLOWED BY and what that looks for), or
a rule. Every case lists the answers and asks one more thing of the same table, in turn: how many there are in
all, how many end where, where some end, the table in batches of a few rows, or pushed to a stream that is
stored and continued. The first stream of each query is asked all of these, of every machine that takes the
query: the general one takes all of them. A query is asked of `STREAMS` streams; half of the queries run with
chunks and groups of a few events. What is drawn depends on the seed and the number of the query alone. Where
an answer is wrong, the query, the events and the command that repeats it are printed, and the exit status is
1. Ctrl-C ends it with what was compared by then.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Sequence
from random import Random
from unittest.mock import patch

import pyarrow as pa
from campaign import run, show
from engine_oracle import OPTIONS, _latest_starts, _looks_beside, cuts, expected, found, pieces, pushed
from fuzz import KINDS as LAID_OVER
from fuzz import query_of, sizes
from generate import stream, stream_to_table, with_keys
from random_comparisons import compared_query
from random_looked_for import looking_query
from random_one_clock import one_clock_query
from random_ordered import random_neighbours, random_ordered
from random_rules import random_join, random_rule, random_rule_events
from random_steps import keyed_query, session_query
from snapshots import stored
from test_engine_selection import falling_query

from cer_gpu.api import Query
from cer_gpu.errors import LimitError, QueryError
from cer_gpu.language import tree
from cer_gpu.language.printer import to_text
from cer_gpu.reference.events import Event
from cer_gpu.reference.homomorphisms import answers

STREAMS = 12
"""Streams that each query is asked of."""

PATTERNS: dict[str, Callable[[Random], tree.SelectQuery]] = {
    **{kind: lambda rng, kind=kind: query_of(rng, kind) for kind in LAID_OVER},  # type: ignore[misc]
    "looked for": looking_query,
    "keyed steps": keyed_query,
    "sessions": session_query,
    "one clock": one_clock_query,
    "ordered": random_ordered,
    "neighbours": random_neighbours,
    "compared": compared_query,
    "falling": falling_query,
}

SHARES = {"whole": 6, "looked for": 3, "compared": 3, "ordered": 2, "equalities": 2}
"""How often each kind of pattern is drawn; 1 where nothing is said."""

RULES: dict[str, Callable[[Random], tree.Rule]] = {"rules": random_rule, "joins": random_join}


class PatternCases:
    """A pattern, compiled once, and what is asked of it.

    Parameters
    ----------
    query : Query
    """

    def __init__(self, query: tree.SelectQuery) -> None:
        self.statement = query
        self.asked = Query(to_text(query))

    def events(self, rng: Random) -> list[Event]:
        """A stream."""
        made = stream(rng, rng.randrange(3, 10), lap_falls=rng.random() < 0.2)
        return with_keys(rng, made) if rng.random() < 0.15 else made

    def wanted(self, events: Sequence[Event]) -> list[object]:
        """What the reference semantics answers."""
        return list(expected(self.statement, events))

    def listed(self, data: pa.Table | pa.RecordBatchReader) -> list[object]:
        """What the engine answers."""
        return list(found(self.asked.run(data, **OPTIONS)))

    def streamed(self, parts: Sequence[pa.Table], rng: Random) -> list[object]:
        """What a stream answers."""
        return list(pushed(self.asked, parts, rng))

    def in_order(self) -> bool:
        """Whether a stream gives answers in their order: what is held back comes when it is decided."""
        return not _looks_beside(self.statement)

    def ends(self, wanted: list[object]) -> Counter[int]:
        """How many answers end where."""
        return Counter(row[1] for row in wanted)  # type: ignore[index]

    def starts(self, wanted: list[object], events: Sequence[Event]) -> dict[int, int] | None:
        """The latest start for each end; None where LIMIT leaves some out."""
        if self.statement.limit is not None:
            return None
        return _latest_starts(self.statement, wanted, events)  # type: ignore[arg-type]


class RuleCases(PatternCases):
    """A rule, compiled once, and what is asked of it.

    Parameters
    ----------
    rule : Rule
    """

    def __init__(self, rule: tree.Rule) -> None:
        self.rule = rule
        self.asked = Query(to_text(rule))

    def events(self, rng: Random) -> list[Event]:
        return random_rule_events(rng, self.rule, rng.randrange(1, 12))

    def wanted(self, events: Sequence[Event]) -> list[object]:
        return list(answers(self.rule, events, order="ts"))

    def listed(self, data: pa.Table | pa.RecordBatchReader) -> list[object]:
        return [answer.positions for answer in self.asked.run(data, **OPTIONS)]

    def streamed(self, parts: Sequence[pa.Table], rng: Random) -> list[object]:
        rows: list[object] = []
        opened = self.asked.stream(**OPTIONS)
        for part in parts:
            rows += [answer.positions for answer in opened.push(part)]
            opened = stored(opened, lambda state: self.asked.stream(state=state, **OPTIONS), rng)
        opened.close()
        return rows

    def in_order(self) -> bool:
        return True

    def ends(self, wanted: list[object]) -> Counter[int]:
        return Counter(max(row) for row in wanted)  # type: ignore[call-overload]

    def starts(self, wanted: list[object], events: Sequence[Event]) -> dict[int, int]:
        latest: dict[int, int] = {}
        for row in wanted:
            end, start = max(row), min(row)  # type: ignore[call-overload]
            latest[end] = max(start, latest.get(end, start))
        return latest


def compared(cases: PatternCases, events: Sequence[Event], number: int, rng: Random) -> Counter[str]:
    """Assert that the engine says of a stream what the reference says; what was compared.

    Parameters
    ----------
    cases : PatternCases
    events : sequence of Event
    number : int
        Of the stream: 0 asks everything, another one thing besides the list.
    rng : Random
        Where the stream is cut.

    Raises
    ------
    Exception
        Where the engine says something else, or fails.
    """
    wanted, table, asked = cases.wanted(events), stream_to_table(events), cases.asked
    ends = cases.ends(wanted)
    done = Counter({"cases": 1, "cases with answers": int(bool(wanted)), "answers": len(wanted)})
    assert cases.listed(table) == wanted, "listed"

    def total() -> None:
        assert asked.count(table, **OPTIONS) == len(wanted), "count"

    def counts() -> None:
        told = asked.counts(table, **OPTIONS).to_pydict()
        assert list(zip(told["position"], told["count"], strict=True)) == sorted(ends.items()), "counts"

    def hits() -> None:
        told = asked.hits(table, **OPTIONS).to_pydict()
        assert told["position"] == sorted(ends), "hits"
        starts = cases.starts(wanted, events)
        if starts is not None:
            assert dict(zip(told["position"], told["latest_start"], strict=True)) == starts, "starts"

    def batches() -> None:
        made = [one for part in pieces(table, cuts(rng, len(events))) for one in part.to_batches()]
        reader = pa.Table.from_batches(made, table.schema).to_reader(max_chunksize=rng.choice((1, 2, 5)))
        assert cases.listed(reader) == wanted, "in batches"

    def streamed() -> None:
        rows = cases.streamed(pieces(table, cuts(rng, len(events))), rng)
        if cases.in_order():
            assert rows == wanted, "pushed"
        else:
            assert sorted(map(repr, rows)) == sorted(map(repr, wanted)), "pushed"

    ways = (total, counts, hits, batches, streamed)
    for way in ways if number == 0 else (ways[number % len(ways)],):
        way()
        done[f"asked: {way.__name__}"] += 1
    if number == 0:
        chosen = asked._plan.engine
        for engine, refusal in asked._plan.said:
            if engine != chosen and refusal is None:
                with patch.dict(OPTIONS, engine=engine):
                    assert cases.listed(table) == wanted, engine
                    for way in ways:
                        way()
                done[f"{chosen} and {engine}"] += 1
    return done


def drawn(rng: Random) -> tuple[str, tree.Statement]:
    """A query, and of which kind it is."""
    kinds = [*PATTERNS, *RULES]
    (kind,) = rng.choices(kinds, [SHARES.get(one, 1) for one in kinds])
    return kind, (PATTERNS[kind] if kind in PATTERNS else RULES[kind])(rng)


def of_query(seed: str, number: int) -> Counter[str]:
    """What was compared of one query on its streams; wrong answers are printed."""
    rng = Random(f"{seed} {number}")
    kind, statement = drawn(rng)
    done = Counter({"queries": 1})
    events: list[Event] = []
    try:
        with sizes(number % 2 == 1):
            cases = RuleCases(statement) if isinstance(statement, tree.Rule) else PatternCases(statement)
            for which in range(STREAMS):
                events = cases.events(rng)
                done += compared(cases, events, which, rng)
            done[f"{kind} by {cases.asked._plan.engine}"] += STREAMS
    except LimitError:
        done["queries over budget"] += 1
    except QueryError as error:
        done[f"queries refused with {error.diagnostics[0].code}"] += 1
    except Exception:
        done["WRONG"] += 1
        show(__file__, statement, events, seed, number)
    return done


if __name__ == "__main__":
    sys.exit(run(__file__, __doc__, of_query))
