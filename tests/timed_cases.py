"""Random timed queries on random streams, as many as one likes: `python tests/timed_cases.py --cases 100000`.

A case is one query on one stream. Its complex events, hits, counts and number are compared with the reference
semantics, over the whole table, in batches, pushed to a stream that is stored and continued now and then, and
on each route that takes the query besides the one that is chosen. A query is asked of some streams, half of
the queries with blocks, chunks and groups of a few events. What is drawn depends on the seed and the number
of the query alone. Where an answer is wrong, the query, the events and the command that repeats it are
printed, and the exit status is 1. Ctrl-C ends it with what was compared by then.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Sequence
from random import Random

import pyarrow as pa
from campaign import run, show
from engine_oracle import OPTIONS, Row, _latest_starts, _looks_beside, cuts, expected, found, pieces, pushed
from fuzz import SHOWN, sizes
from generate import stream, stream_to_table, with_keys
from random_one_clock import one_clock_query
from random_steps import keyed_query, session_query, timed_query
from random_windows import windowed_query

from cer_gpu.api import Query
from cer_gpu.errors import LimitError, QueryError
from cer_gpu.language import tree
from cer_gpu.language.printer import to_text
from cer_gpu.reference.events import Event

STREAMS = 8
"""Streams that each query is asked of."""

KINDS: dict[str, Callable[[Random], tree.SelectQuery]] = {
    "steps": timed_query,
    "keys": keyed_query,
    "sessions": session_query,
    "one clock": one_clock_query,
    "any": windowed_query,
}
SHARES = (4, 1, 1, 2, 4)
"""How often each kind is drawn."""


def compared(asked: Query, query: tree.SelectQuery, events: Sequence[Event], rng: Random) -> Counter[str]:
    """Assert that the engine says of a stream what the reference says; what was compared.

    Raises
    ------
    Exception
        Where it does not, or fails.
    """
    wanted, table = expected(query, events), stream_to_table(events)
    done = Counter({"cases": 1, "cases with answers": int(bool(wanted)), "complex events": len(wanted)})
    _as_wanted(asked, query, events, wanted, {})
    parts = pieces(table, cuts(rng, len(events)))
    batches = pa.Table.from_batches([one for part in parts for one in part.to_batches()], table.schema)
    reader = batches.to_reader(max_chunksize=rng.choice((1, 2, 5)))
    assert found(asked.run(reader, **OPTIONS)) == wanted, "in batches"
    rows, ordered = pushed(asked, parts, rng), wanted
    if _looks_beside(query):
        rows, ordered = sorted(rows), sorted(wanted)
    assert rows == ordered, "pushed"
    chosen = asked._plan.engine
    for engine, refusal in asked._plan.said:
        if engine != chosen and refusal is None:
            _as_wanted(asked, query, events, wanted, {"engine": engine})
            done[f"{chosen} and {engine}"] += 1
    return done


def _as_wanted(
    asked: Query, query: tree.SelectQuery, events: Sequence[Event], wanted: list[Row], engine: dict[str, str]
) -> None:
    """Assert that the whole table gives what is wanted: listed, counted, and its hits."""
    table, options = stream_to_table(events), OPTIONS | engine
    assert found(asked.run(table, **options)) == wanted, f"run {engine}"
    if not engine:
        assert asked.count(table, **options) == len(wanted), "count"
    counts, hits = (ask(table, **options).to_pydict() for ask in (asked.counts, asked.hits))
    ends = sorted(Counter(row[1] for row in wanted).items())
    assert list(zip(counts["position"], counts["count"], strict=True)) == ends, f"counts {engine}"
    assert hits["position"] == [end for end, _ in ends], f"hits {engine}"
    if query.limit is None:
        latest = _latest_starts(query, wanted, events)
        assert dict(zip(hits["position"], hits["latest_start"], strict=True)) == latest, f"starts {engine}"


def of_query(seed: str, number: int) -> Counter[str]:
    """What was compared of one query on its streams; wrong answers are printed."""
    rng = Random(f"{seed} {number}")
    kind = rng.choices(list(KINDS), SHARES)[0]
    asked: Query | None = None
    query, done = KINDS[kind](rng), Counter({"queries": 1, f"queries: {kind}": 1})
    for _ in range(STREAMS):
        events = stream(rng, rng.randrange(4, 13), lap_falls=rng.random() < 0.2)
        events = with_keys(rng, events) if rng.random() < 0.15 else events
        try:
            with sizes(number % 2 == 1):
                asked = asked or Query(to_text(query))
                done += compared(asked, query, events, rng)
        except LimitError:
            return done + Counter({"queries over budget": 1})
        except QueryError as error:
            return done + Counter({f"queries refused with {error.diagnostics[0].code}": 1})
        except Exception:
            done["WRONG"] += 1
            if done["WRONG"] <= SHOWN:
                show(__file__, query, events, seed, number)
    return done


if __name__ == "__main__":
    sys.exit(run(__file__, __doc__, of_query))
