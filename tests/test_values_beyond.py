"""Values beyond what 64 bits, a unit of time or Python can hold: a DataError, and only where they count."""

from __future__ import annotations

import io
import json

import pyarrow as pa
import pytest

import cer_gpu as cer
from cer_gpu.output import write_matches

GREATEST = 2**63 - 1


@pytest.fixture(scope="module")
def keyed() -> pa.Table:
    """A C whose `v` is the greatest number, among A's and B's with small ones."""
    columns = {"v": [1, 2, GREATEST, 4, 5], "w": [2, 3, 7, 5, 1], "u": [3] * 5}
    return pa.table({"type": list("ABCBA"), **columns})


@pytest.mark.parametrize(
    ("pattern", "filters", "count"),
    [
        ("A AS a ; B AS b", "a.v + 1 = b.v", 1),
        ("A AS a ; B AS b ; C AS c", "a.v + 1 = b.v AND b.u = c.u", 1),
        ("A AS a ; C AS c ; B AS b", "a.u = c.u AND c.u = b.u AND a.v + 0 = a.v", 1),
    ],
)
def test_keys_of_events_that_are_not_compared_by_them(
    pattern: str, filters: str, count: int, keyed: pa.Table
) -> None:
    assert cer.compile(f"SELECT * WHERE {pattern} FILTER {filters}").count(keyed) == count


@pytest.mark.parametrize(
    ("pattern", "filters"),
    [
        ("C AS c ; B AS b", "c.v + 1 = b.w"),
        ("A AS a ; C AS c", "a.v + 1 = c.v + 1"),
        ("A AS a ; (B AS b OR C AS c) ; B AS d", "c.v + 1 = d.w"),
    ],
)
def test_keys_that_do_not_fit(pattern: str, filters: str, keyed: pa.Table) -> None:
    query = cer.compile(f"SELECT * WHERE {pattern} FILTER {filters}")
    for events, row in ((keyed, 2), (pa.concat_tables([keyed.slice(0, 1)] * 2000 + [keyed]), 2002)):
        with pytest.raises(cer.DataError, match=rf"row {row} of the table .*: {GREATEST} \+ 1 does not fit"):
            query.count(events, memory=1 << 20)


@pytest.fixture(scope="module")
def far() -> pa.Table:
    """A's, one of them centuries after what nanoseconds hold, and B's."""
    seconds = pa.array([0, 1, 2**50, 3], pa.int64())
    return pa.table(
        {
            "type": list("ABAB"),
            "s": seconds.cast(pa.timestamp("s")),
            "ns": pa.array([0, 10**9, 5, 6], pa.timestamp("ns")),
            "took": seconds.cast(pa.duration("s")),
            "took_ns": pa.array([0, 10**9, 5, 6], pa.duration("ns")),
            "day": pa.array([0, 1, 2**31 - 1, 3], pa.date32()),
        }
    )


@pytest.mark.parametrize("distant", [2**50, 2**54])  # in nanoseconds, modulo 2^64: positive, negative
def test_times_of_different_units_are_compared_however_far(far: pa.Table, distant: int) -> None:
    seconds = pa.array([0, 1, distant, 3], pa.int64())
    for number, (name, kind) in enumerate((("s", pa.timestamp("s")), ("took", pa.duration("s")))):
        far = far.set_column(1 + 2 * number, name, seconds.cast(kind))
    for filters, rows in {
        "a[s > ns]": [2],
        "a[s = ns]": [0],
        "a[s != ns]": [2],
        "a[ns < s]": [2],
        "a[day >= ns]": [0, 2],
        "a[took > took_ns]": [2],
        "a[s + 5 seconds > ns]": [0, 2],
    }.items():
        found = cer.compile(f"SELECT * WHERE A AS a FILTER {filters}").hits(far)
        assert found["position"].to_pylist() == rows, filters


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("A AS a ; B AS b FILTER a.s = b.ns", r"row 2 .*: 1125899906842624 \(timestamp\[s\]\) of column `s`"),
        (
            "A AS a ; B AS b FILTER a.took = b.took_ns",
            r"row 2 .* `took` does not fit duration\[ns\]",
        ),
        ("A AS a ; B AS b FILTER a.day = b.ns", r"row 2 .*: 2147483647 \(date32\[day\]\) of column `day`"),
        ("A AS a ; B AS b FILTER a.s + 1 second = b.ns", r"row 2 .* of column `s \+ 1 s`"),
        (
            "A ; B PARTITION BY [s, ns]",
            r"1125899906842624 \(timestamp\[s\]\) of column `s` does not",
        ),
        ("A AS a FILTER a[s - ns > 3 seconds]", r"row 2 .*integer overflow"),
    ],
)
def test_times_that_do_not_fit_the_finer_unit(query: str, message: str, far: pa.Table) -> None:
    compiled = cer.compile(f"SELECT * WHERE {query}")
    for answer in (compiled.count, compiled.hits, compiled.counts, lambda events: list(compiled.run(events))):
        with pytest.raises(cer.DataError, match=message):
            answer(far)


def test_keys_of_events_that_are_not_asked_for_may_be_far(far: pa.Table) -> None:
    # Row 2 is an A: no B's `s` is far.
    assert cer.compile("SELECT * WHERE A AS a ; B AS b FILTER a.ns = b.s").count(far) == 0


def test_times_that_python_has_no_value_for(far: pa.Table) -> None:
    for column in ("day", "s"):
        distant = far.set_column(far.schema.get_field_index(column), column, [far[column].take([2] * 4)])
        matches = cer.compile(f"SELECT a[{column}] WHERE A AS a ; B PARTITION BY {column}").run(distant)
        assert matches.to_arrow()["end"].to_pylist() == [1, 3, 3]
        with pytest.raises(cer.DataError, match=rf"`{column}` .* Python cannot represent: .*to_arrow"):
            list(matches)
        with pytest.raises(cer.DataError, match=r"pandas cannot hold the matches: .*to_arrow"):
            matches.to_pandas(flat=False)
        assert len(matches.to_arrow(flat=True)) == 3
        for form in ("table", "jsonl", "csv"):
            sink = io.BytesIO()
            write_matches(matches, form, sink)
            assert (b"range" if form == "table" else b"out of range") in sink.getvalue()
        sink = io.BytesIO()
        write_matches(matches, "jsonl", sink)
        assert len([json.loads(line) for line in sink.getvalue().splitlines()]) == 3
