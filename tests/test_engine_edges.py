"""Streams with nothing in them, nothing to find, and work that shows its progress."""

from __future__ import annotations

import io
import threading
from collections import Counter

import pyarrow as pa
import pytest

import cer_gpu as cer
from cer_gpu import progress

SEQUENCE = "SELECT a, b[p] WHERE A AS a ; B AS b PARTITION BY k WITHIN 5 [ts]"
SCHEMA = pa.schema(
    {"type": pa.string(), "k": pa.string(), "p": pa.float64(), "ts": pa.timestamp("ms", tz="UTC")}
)


@pytest.mark.filterwarnings("error")
def test_an_empty_table_has_no_complex_events_but_a_schema() -> None:
    query = cer.compile(SEQUENCE)
    empty = SCHEMA.empty_table()
    assert query.count(empty, order_by="ts") == 0
    assert query.hits(empty, order_by="ts").num_rows == 0
    counts = query.counts(empty, order_by="ts")
    assert (counts.num_rows, counts.schema.names) == (0, ["position", "k", "time", "count"])
    table = query.run(empty, order_by="ts").to_arrow()
    assert table.num_rows == 0
    assert table.schema.names == ["start", "end", "k", "start_time", "end_time", "a", "b", "b[p]"]
    assert table.schema.field("start_time").type == pa.timestamp("ms", tz="UTC")
    assert list(query.run(empty, order_by="ts")) == []


def test_zero_row_batches_change_nothing() -> None:
    rows = pa.table({"type": ["A", "B"], "ts": [1, 2]})
    empty = rows.slice(0, 0).to_batches() or [pa.RecordBatch.from_pylist([], schema=rows.schema)]
    batches = [*empty, *rows.slice(0, 1).to_batches(), *empty, *rows.slice(1).to_batches(), *empty]
    reader = pa.RecordBatchReader.from_batches(rows.schema, batches)
    assert cer.compile("SELECT * WHERE A ; B").count(reader) == 1


def test_a_pattern_that_nothing_satisfies() -> None:
    query = cer.compile("SELECT * WHERE A FILTER A[p > 3 AND p < 2]")
    assert query.count(pa.table({"type": ["A"], "p": [2.5]})) == 0
    assert list(query.run(pa.table({"type": ["A"], "p": [2.5]}))) == []
    assert "0 relevant kinds of events" in query.explain(verbose=True)


def test_one_query_from_several_threads() -> None:
    query = cer.compile("SELECT a, b WHERE A AS a ; B AS b WITHIN 20 EVENTS")
    tables = [pa.table({"type": list("ABCB" * n)}) for n in (50, 400, 3000)] * 4
    wanted = [query.count(table) for table in tables]
    found: dict[int, tuple[int, int]] = {}

    def ask(index: int) -> None:
        found[index] = query.count(tables[index]), len(query.run(tables[index]).to_arrow())

    threads = [threading.Thread(target=ask, args=(index,)) for index in range(len(tables))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [found[index] for index in range(len(tables))] == [(number, number) for number in wanted]


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("terminal", [True, False])
def test_progress_is_shown_on_a_terminal_only(terminal: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    stream = Terminal() if terminal else io.StringIO()
    monkeypatch.setattr(progress, "PATIENCE", 0.0)
    monkeypatch.setattr("sys.stderr", stream)
    rows = pa.table({"type": list("AB" * 500)})
    assert cer.compile("SELECT * WHERE A ; B WITHIN 1 EVENTS").count(rows) == 500
    assert ("events" in stream.getvalue()) == terminal


def test_results_come_through_arrows_c_interface() -> None:
    matches = cer.compile("SELECT A, B WHERE A ; B").run(pa.table({"type": list("AAB")}))
    table = pa.table(matches)
    assert Counter(table["end"].to_pylist()) == {2: 2}
    assert "A, B" in repr(matches)


def test_a_column_of_nulls_only_has_no_values_but_is_no_error() -> None:
    nothing = pa.table({"type": ["A", "B"], "p": pa.nulls(2), "s": pa.nulls(2), "d": pa.nulls(2)})
    for condition, kept in (
        ("p > 3", 0),
        ("NOT p > 3", 1),
        ("p IS NULL", 1),
        ("s = 'x'", 0),
        ("s LIKE 'x' OR s IS NULL", 1),
        ("d > 5 s", 0),
        ("p + 1 > p", 0),
    ):
        query = cer.compile(f"SELECT a[p] WHERE A AS a FILTER a[{condition}]")
        assert query.count(nothing) == kept, condition
        assert len(query.run(nothing).to_arrow()) == kept
    keyed = cer.compile("SELECT * WHERE A PARTITION BY s")
    assert keyed.count(nothing) == 0


def test_explain_and_check_speak_of_the_data() -> None:
    table = pa.table({"v": [1, 2, 3]})
    query = cer.compile("SELECT * FROM T WHERE T AS a ; T AS b FILTER b[v > 1]")
    assert "`type`" in query.explain(verbose=True)
    assert "`type`" not in query.explain(events=table, verbose=True)
    two = cer.compile("SELECT * WHERE A ; B")
    with pytest.raises(cer.DataError, match="no column `type`"):
        two.check(table)


def test_streams_that_do_not_occur_are_pointed_out() -> None:
    table = pa.table({"type": ["A"], "stream": ["north"]})
    with pytest.warns(UserWarning, match="no event is of the stream `nort`: did you mean `north`"):
        cer.compile("SELECT * WHERE nort>A").count(table, stream_column="stream")


def test_the_package_names_what_it_has() -> None:
    assert {"compile", "Query", "__version__"} <= set(dir(cer))
    assert cer.__version__[0].isdigit()
    with pytest.raises(TypeError, match="a query must be a str"):
        cer.compile(None)  # type: ignore[arg-type]


def test_explain_says_what_a_window_over_another_attribute_costs() -> None:
    table = pa.table({"type": ["A"], "ts": [1], "lap": [1]})
    query = cer.compile("SELECT * WHERE A ; B WITHIN 3 [lap]")
    joined = cer.compile("Q(x) <- A(key = x), B(key = x) WITHIN 3 [lap]")
    table = table.append_column("key", [[1]])
    said = "`lap` may fall: order_by='lap' promises that it does not"
    assert "log2(its events) times as many steps" in query.explain(events=table, order_by="ts", verbose=True)
    assert "answers are listed and compared with the window" in joined.explain(
        events=table, order_by="ts", verbose=True
    )
    for one in (query, joined):
        assert said in one.explain(events=table, order_by="ts", verbose=True)
        assert said not in one.explain(events=table, order_by="lap", verbose=True)
    best = cer.compile("SELECT MAX * WHERE A+ ; B WITHIN 3 [lap]")
    assert "choosing runs the partition again for each end" in best.explain(
        events=table, order_by="ts", verbose=True
    )
    one = cer.compile("SELECT NEXT * WHERE A+ ; B WITHIN 3 [lap]")
    assert "choosing takes |Q| * log2(its events) times as many" in one.explain(
        events=table, order_by="ts", verbose=True
    )


def test_a_filter_on_what_project_drops_holds() -> None:
    table = pa.table({"type": ["A", "B", "C"], "p": [0, 0, 0]})
    query = cer.compile("SELECT * FROM S WHERE (PROJECT(A AS x ; B AS y | y) ; C AS z) FILTER x[p > 1]")
    assert query.count(table) == 1
    assert query.check(table)[0].code == "CER103"
