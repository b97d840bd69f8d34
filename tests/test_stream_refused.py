"""A push that is refused changes nothing: the stream goes on as if it had not been made."""

from __future__ import annotations

from random import Random
from typing import Any

import pyarrow as pa
import pytest

from cer_gpu.api import Query
from cer_gpu.engine.run.stream import Stream
from cer_gpu.errors import DataError, RowError

QUERIES = [
    "SELECT * WHERE A ; B WITHIN 6 [ts]",
    "SELECT * WHERE A ; B+ ; C WITHIN 8 EVENTS",
    "SELECT * WHERE A AS a ; B AS b FILTER PREV(b.v) < b.v WITHIN 9 [ts]",
    "SELECT * WHERE A AS a ; B AS b FILTER a.k = b.k WITHIN 9 [ts]",
    "SELECT * WHERE A AS a ; B AS b FILTER b.v > a.v WITHIN 9 [ts]",
    "SELECT * WHERE A NOT FOLLOWED BY [<= 3] B",
    "SELECT * FROM main WHERE A ;[<= 4] B",
    "SELECT MAX * WHERE A+ ; C WITHIN 9 [ts]",
    "SELECT * WHERE A ; B PARTITION BY k WITHIN 6 [ts]",
    "SELECT * WHERE A : B PARTITION BY k WITHIN 4 EVENTS",
    "SELECT * WHERE A AS a ; B AS b FILTER PREV(b.v) < b.v PARTITION BY k WITHIN 9 [ts]",
    "SELECT * WHERE A FOLLOWED BY [<= 3] B PARTITION BY k",
    "SELECT * WHERE A AS a ; B AS b FILTER b.v > a.v PARTITION BY k WITHIN 9 [ts]",
]


def table_of(rng: Random, rows: int, by_key: bool, ties: bool) -> pa.Table:
    """Events in the order of time; `by_key` alone for each key."""
    times: dict[str, int] = {}
    made = []
    for _ in range(rows):
        key = rng.choice("xyz")
        own = key if by_key else ""
        times[own] = times.get(own, 10) + rng.randrange(3) + (0 if ties else 1)
        made.append({
            "ts": times[own], "type": rng.choice("ABC"), "k": key, "v": rng.randrange(5), "stream": "main",
        })  # fmt: skip
    if ties:
        made = numbered(made)
    return pa.Table.from_pylist(made)


def numbered(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Rows with a column `n` that ascends, so that it breaks all ties."""
    return [row | {"n": number} for number, row in enumerate(rows)]


def refused(rng: Random, given: pa.Table, ties: bool) -> pa.Table:
    """A batch that cannot come after the given events: its last row is too early, or has no time."""
    rows = given.slice(max(0, len(given) - rng.randrange(1, 4))).to_pylist()
    good = rows[-1] | ({"n": rows[-1]["n"] + 1} if ties else {})
    late = dict(rng.choice(rows))
    wrong = rng.randrange(3)
    late["ts"] = None if wrong == 0 else late["ts"] - 1 if wrong == 1 or not ties else late["ts"]
    if ties and wrong == 2:
        late["n"] -= 1 + len(given)
    before = [good] * rng.choice((0, 0, 1, 5))
    return pa.Table.from_pylist([*before, late], given.schema)


def shown(matches: Any) -> list[Any]:
    return [] if matches is None else matches.to_arrow().to_pylist()


@pytest.mark.crossed
@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("text", QUERIES)
def test_a_refused_push_changes_nothing(text: str, ties: bool) -> None:
    rng = Random(f"refused {text} {ties}")
    query, seen, refusals = Query(text), 0, 0
    by_key = "PARTITION" in text
    for promised in (False, True):
        if promised and not by_key:
            break
        keywords: dict[str, Any] = {"order_by": ["ts", "n"] if ties else "ts", "stream_column": "stream"}
        keywords |= {"ordered": True} if promised else {}
        for _ in range(6):
            table = table_of(rng, 40, by_key and not promised, ties)
            with query.stream(**keywords) as plain, query.stream(**keywords) as tried:
                low = 0
                while low < len(table):
                    size = rng.choice((1, 1, 2, 7))
                    part = table.slice(low, size)
                    low += size
                    one, other = shown(plain.push(part)), shown(tried.push(part))
                    assert one == other
                    seen += len(one)
                    for _ in range(rng.randrange(3)):
                        refusals += refuses(tried, refused(rng, table.slice(0, low), ties))
                assert shown(plain.close()) == shown(tried.close())
    assert seen > 10
    assert refusals > 50


def refuses(stream: Stream, batch: pa.Table) -> int:
    """How many errors (one) a push of a batch gives; it names its row, and says what to do."""
    with pytest.raises(
        RowError, match=r"has no time: `ts` is null|nothing of this batch was used, and the stream"
    ):
        stream.push(batch)
    return 1


def test_an_error_in_the_middle_of_a_batch_names_its_row_and_what_to_do() -> None:
    query = Query("SELECT a, b FROM T WHERE T AS a : T AS b")
    table = pa.table({"ts": [1, 2, 3, 4, 5]})
    with query.stream(order_by="ts") as stream:
        assert len(list(stream.push(table.slice(0, 3)))) == 2
        before = stream.snapshot()
        with pytest.raises(RowError) as caught:
            stream.push(pa.concat_tables([table.slice(2, 2), table.slice(0, 1)]))
        assert str(caught.value) == (
            "row 5 (counted from 0) is out of order by `ts`: it has 1, and the row above it 4; nothing of "
            "this batch was used, and the stream continues: sort each batch before you push it, and leave "
            "out events that are older than those before, or accept them with late="
        )
        assert stream.snapshot() == before
        assert [(one.start, one.end) for one in stream.push(table.slice(3))] == [(2, 3), (3, 4)]


def test_what_closes_a_stream_is_told_by_the_next_push() -> None:
    query = Query("SELECT * FROM T WHERE T AS a ; T AS b FILTER b.v - PREV(b.v) > 0")
    table = pa.table({"ts": [1, 2], "v": [-(2**63), 2**63 - 1]})
    stream = query.stream(order_by="ts")
    with pytest.raises(DataError):
        stream.push(table)
    with pytest.raises(DataError, match=r"closed by an error in a batch \(RowError\): start another"):
        stream.push(table)
