"""Queries that no events match: they are explained, drawn and answered as others are, by every engine."""

from __future__ import annotations

from contextlib import suppress

import pyarrow as pa
import pytest

import cer_gpu as cer
from cer_gpu.errors import LimitError, QueryError

ENGINES = (
    "auto",
    "regular",
    "chain",
    "ordered",
    "timed",
    "clock",
    "general",
    "apart",
    "threshold",
    "rule",
    "join",
)

PATTERNS = [
    "(A) WITHIN [> 1 s]",
    "((A) WITHIN [> 1 s]) : C",
    "C ;[< 1 s] ((A) WITHIN [> 1 s])",
    "((A) WITHIN [> 1 s])+[<= 3 s] ; C",
    "((A) WITHIN [> 1 s]) AS a ; B AS b FILTER a.x = b.x",
    "((A) WITHIN [> 1 s]) AS a ; B AS b FILTER a.x < b.x",
    "((A ; B) WITHIN [> 3 s]) WITHIN [<= 2 s]",
    "STRICT((A) WITHIN [> 1 s])",
    "A AND B",
    "(A : B) AND (A ; B ; C)",
    "(A AND B)+ ; C",
    "(A AND B) ALL C",
    "(A ; B) UNLESS A",
    "NXT(A AND B)",
    "A FOLLOWED BY (A AND B)",
    "A AS a FILTER a[x > 1 AND x < 1]",
    "A AS a ; B AS b FILTER a.x < b.x AND a.x > b.x",
    "A AS a ; B AS b FILTER a.x = b.x AND a[x > 3 AND x < 2]",
    "A AS a ; B AS b FILTER a.x + b.x > 3 AND COUNT(a) > 1",
]
FORMS = [
    *(f"SELECT {chosen} * WHERE {{}}" for chosen in ("ALL", "NEXT", "MAX", "STRICT")),
    *(
        f"SELECT * WHERE {{}} {clause}"
        for clause in ("WITHIN 4 EVENTS", "WITHIN 3 s", "PARTITION BY k", "CONSUME BY ANY")
    ),
]
RULES = [
    "Q(x) <- A(k = x), B(k = x), x > 3, x < 2",
    "Q(x; COUNT(*)) <- A(k = x, x = y), B(k = x, x = z), y < z, z < y",
]

EVENTS = pa.table(
    {
        "type": list("ABABCABABC"),
        "x": list(range(10)),
        "k": [row % 2 for row in range(10)],
        "ts": pa.array([0, 0, 1, 2, 2, 3, 3, 5, 6, 9], pa.timestamp("s")),
    }
)


@pytest.mark.crossed
@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize("form", FORMS)
def test_a_query_without_matches_is_explained_and_answered(pattern: str, form: str) -> None:
    is_explained_and_answered(form.format(pattern))


@pytest.mark.parametrize("rule", RULES)
def test_a_rule_without_matches_is_explained_and_answered(rule: str) -> None:
    is_explained_and_answered(rule)


def is_explained_and_answered(text: str) -> None:
    query = cer.compile(text)
    for engine in ENGINES:
        for events in (None, EVENTS):
            with suppress(QueryError):  # the engine does not take it
                assert "engine" in query.explain("text", events, order_by="ts", engine=engine)
            for drawing in ("mermaid", "svg"):
                with suppress(QueryError, LimitError):  # or its automaton is made as the stream runs
                    assert query.explain(drawing, events, order_by="ts", engine=engine)
    assert len(query.run(EVENTS, order_by="ts").to_arrow()) == 0
    assert query.count(EVENTS, order_by="ts") == 0
    assert len(query.hits(EVENTS, order_by="ts")) == 0
    assert len(query.counts(EVENTS, order_by="ts")) == 0
    stream = query.stream(order_by="ts")
    for row in range(0, 10, 2):
        assert len(stream.push(EVENTS.slice(row, 2)).to_arrow()) == 0
        assert stream.snapshot()
    assert len(stream.close().to_arrow()) == 0
    if "<-" not in text:
        assert cer.backtest({"q": text}, EVENTS, order_by="ts").to_arrow().num_rows <= 1
        assert query.funnel(EVENTS, order_by="ts").num_rows
