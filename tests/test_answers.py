"""What a run gives: complex events as values and as tables, their events, the first ones, a look."""

from __future__ import annotations

import pickle
from datetime import datetime, timedelta
from random import Random

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import cer_gpu
from cer_gpu.engine.answers import matches as module
from cer_gpu.engine.answers.matches import Matches
from cer_gpu.engine.run.bound_query import BoundQuery

PAIRS = "SELECT a[price], b FROM S WHERE A AS a ; B AS b"


def at(*seconds: int) -> pa.Array:
    return pa.array([datetime(2024, 1, 1, 9, 0, second) for second in seconds])


TRADES = pa.table({"type": list("ABAB"), "price": [1.5, 2.0, 3.0, 4.0], "ts": at(0, 10, 20, 50)})


def pairs(events: object = TRADES, text: str = PAIRS, **keywords: object) -> Matches:
    return cer_gpu.compile(text).run(events, order_by="ts", **keywords)


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What has been run, run by run."""
    begun: list[str] = []
    read = BoundQuery.read
    monkeypatch.setattr(BoundQuery, "read", lambda self, run: begun.append("run") or read(self, run))
    return begun


# --------------------------------------------------------------------------------- complex events


def test_times_of_a_complex_event() -> None:
    found = list(pairs())
    assert [ce.start_time for ce in found] == [TRADES["ts"][ce.start].as_py() for ce in found]
    assert [ce.end_time for ce in found] == [TRADES["ts"][ce.end].as_py() for ce in found]
    assert [ce.duration for ce in found] == [timedelta(seconds=k) for k in (10, 50, 30)]


def test_without_an_order_there_are_no_times() -> None:
    found = cer_gpu.compile(PAIRS).run(TRADES).first()
    assert (found.start_time, found.end_time, found.duration) == (None, None, None)


def test_times_that_python_has_no_value_for() -> None:
    times = pa.array([2**62, 2**62 + 5]).cast(pa.timestamp("s"))
    found = pairs(pa.table({"type": ["A", "B"], "price": [1.0, 2.0], "ts": times})).first()
    assert found.start_time.value == 2**62
    assert found.duration.as_py() == timedelta(seconds=5)


def test_events_of_a_variable() -> None:
    found = list(pairs(text="SELECT a[price], b[price, ts] FROM S WHERE A+ AS a ; B AS b"))
    assert [one["b"] for one in found][:1] == [[{"price": 2.0, "ts": TRADES["ts"][1].as_py()}]]
    assert [[event["price"] for event in one["a"]] for one in found] == [
        TRADES["price"].take(pa.array(one.marks["a"])).to_pylist() for one in found
    ]


@pytest.mark.parametrize("variable", ["b", "c"])
def test_a_variable_whose_attributes_were_not_asked_for(variable: str) -> None:
    with pytest.raises(KeyError, match=rf"SELECT asks for no attribute of `{variable}`.*: write SELECT"):
        pairs().first()[variable]
    with pytest.raises(KeyError, match=r"SELECT asks for no attribute of `c`, only of `a`, `b`: write"):
        pairs(text="SELECT a[price], b[price] FROM S WHERE A AS a ; B AS b").first()["c"]


def test_a_complex_event_shows_what_it_has() -> None:
    events = pa.table({"type": ["A", "B"], "k": ["x", "x"]})
    found = cer_gpu.compile("SELECT a, b, LAST(a.k) AS last WHERE A AS a ; B AS b").run(events).first()
    assert repr(found) == "ComplexEvent(start=0, end=1, marks={'a': (0,), 'b': (1,)}, measures={'last': 'x'})"
    answer = cer_gpu.compile("Q(k) <- A(k = k), B(k = k)").run(events).first()
    assert repr(answer) == "ComplexEvent(start=0, end=1, positions=(0, 1), values={'k': 'x'})"


def test_a_complex_event_goes_to_another_process_alone() -> None:
    many = pa.concat_tables([TRADES] * 500).set_column(2, "ts", pa.array(np.arange(2000)))
    found = list(pairs(many, text=f"{PAIRS} WITHIN 3 EVENTS"))[7]
    stored = pickle.dumps(found)
    again = pickle.loads(stored)
    assert again == found
    assert (again.start_time, again.end_time, again["a"]) == (found.start_time, found.end_time, found["a"])
    assert len(stored) < 3000


def test_complex_events_of_two_runs_are_equal() -> None:
    assert list(pairs()) == list(pairs())
    assert list(pairs()) == list(cer_gpu.compile(PAIRS).run(TRADES))


# ------------------------------------------------------------------------------------- first ones


def test_the_first_ones() -> None:
    whole = pairs().to_arrow()
    assert pairs().head(2).to_arrow() == whole.slice(0, 2)
    assert pairs().head(7).to_arrow() == whole
    assert pairs(limit=1).head(2).to_arrow() == whole.slice(0, 1)
    assert pairs().head(0).to_arrow().num_rows == 0
    assert pairs().first() == next(iter(pairs()))
    assert pairs(text="SELECT * FROM S WHERE B ; A ; A").first() is None
    with pytest.raises(ValueError, match="0 or more, not -1"):
        pairs().head(-1)


def test_the_first_ones_do_not_look_at_all_events() -> None:
    read = []

    def batches():
        for number in range(100):
            read.append(number)
            times = pa.array(np.arange(4000) + 4000 * number)
            yield from (
                pa.concat_tables([TRADES] * 1000).set_column(2, "ts", times).combine_chunks().to_batches()
            )

    schema = TRADES.set_column(2, "ts", pa.array(np.arange(4))).schema
    reader = pa.RecordBatchReader.from_batches(schema, batches())
    assert pairs(reader, text=f"{PAIRS} WITHIN 2 EVENTS", memory=1 << 16).first().end == 1
    assert len(read) < 100


# ------------------------------------------------------------------------------- answers are kept


def test_a_table_is_kept(runs: list[str]) -> None:
    found = pairs()
    table = found.to_arrow()
    assert found.to_arrow() is table
    assert list(found) == list(pairs())
    assert found.head(1).to_arrow() == table.slice(0, 1)
    assert found.to_pandas(flat=False).equals(table.to_pandas())
    assert len(runs) == 2  # the other one is that of `list(pairs())`
    flat = found.to_arrow(flat=True)
    assert found.to_arrow(flat=True) is flat
    assert found.to_pandas().equals(flat.to_pandas())
    assert len(runs) == 3


def test_what_an_iteration_kept_is_not_run_again(runs: list[str]) -> None:
    found = pairs()
    whole = list(found)
    assert found.to_arrow().num_rows == len(whole) == 3
    assert len(runs) == 1


def test_an_iteration_that_was_left_keeps_nothing(runs: list[str]) -> None:
    found = pairs()
    next(iter(found))
    assert len(list(found)) == 3
    assert len(runs) == 2


@pytest.mark.parametrize("few", [True, False])
def test_much_is_not_kept(runs: list[str], monkeypatch: pytest.MonkeyPatch, few: bool) -> None:
    if few:
        monkeypatch.setattr("cer_gpu.engine.run.bound_query.KEPT", 10)
    found = pairs() if few else pairs(memory=1 << 20)
    assert len(list(found)) == len(list(found)) == 3
    assert len(runs) == 2


def test_what_can_be_read_once_is_there_after_that() -> None:
    found = pairs(TRADES.to_reader())
    assert len(list(found)) == 3
    assert found.to_arrow() == pairs().to_arrow()


# ------------------------------------------------------------------------------------- tidy form


def test_events_in_tidy_form() -> None:
    """Every row says what the row of the data says that it names."""
    told = pairs().events()
    assert told.schema.names == ["match", "variable", "position", "row", "time", "price"]
    assert told["match"].to_pylist() == [0, 0, 1, 1, 2, 2]
    assert told["variable"].to_pylist() == ["a", "b"] * 3
    assert told["position"].to_pylist() == [0, 1, 0, 3, 2, 3]
    assert told["time"] == TRADES["ts"].take(told["row"])
    assert told["price"].to_pylist() == [1.5, None, 1.5, None, 3.0, None]


def test_an_event_that_several_variables_mark() -> None:
    told = pairs(text="SELECT * FROM S WHERE (A AS x ; B) AS y").events().slice(0, 5)
    assert told["variable"].to_pylist() == ["A", "x", "y", "B", "y"]
    assert told["position"].to_pylist() == [0, 0, 0, 1, 1]


def test_columns_of_the_data_that_are_called_like_ours() -> None:
    data = TRADES.append_column("match", pa.array([7, 8, 9, 10])).append_column("row", pa.array(list("wxyz")))
    told = pairs(data, text="SELECT a[match, row], b[match] FROM S WHERE A AS a ; B AS b").events()
    assert told.schema.names == ["match", "variable", "position", "row", "time", "match_", "row_"]
    assert told["match_"].to_pylist() == [7, 8, 7, 10, 9, 10]
    assert told["row_"].to_pylist() == ["w", None, "w", None, "y", None]


@pytest.mark.draws("seed", 20)
def test_rows_are_those_of_the_data_as_given(seed: int) -> None:
    """After sorting, and in the tables of a dict: the attributes of the row that is named."""
    rng = Random(seed)
    count = rng.randrange(1, 60)
    types = rng.choices("ABC", k=count)
    data = pa.table(
        {
            "type": types,
            "price": [rng.random() for _ in range(count)],
            "ts": [rng.randrange(40) for _ in range(count)],
            "k": [rng.randrange(3) for _ in range(count)],
        }
    )
    text = "SELECT a[price], b[price] FROM S WHERE A AS a ; (B OR C)+ AS b PARTITION BY k WITHIN 6 EVENTS"
    sorted_whole = pairs(data, text=text, sort=True)
    told = sorted_whole.events()
    assert told["price"].equals(data["price"].take(told["row"]))
    assert told["time"].equals(data["ts"].take(told["row"]))
    tables = {
        name: data.filter(pa.array([one == name for one in types])).drop_columns(["type"]) for name in "ABC"
    }
    merged = pairs(tables, text=text, sort=True).events()
    for source, row, price in zip(*(merged[name].to_pylist() for name in ("source", "row", "price"))):
        assert tables[source]["price"][row].as_py() == price
    assert merged.num_rows >= 2 * pairs(tables, text=text, sort=True).to_arrow().num_rows


@pytest.mark.parametrize("limit", [0, 1, 2, 3, 9])
def test_events_of_the_first_ones(limit: int) -> None:
    whole = pairs().events()
    few = whole.filter(pa.array([match < limit for match in whole["match"].to_pylist()]))
    assert pairs(limit=limit).events() == few
    assert pairs().head(limit).events() == few


def test_matches_are_numbered_over_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cer_gpu.engine.answers.batches.GROUP", 2)
    many = pa.concat_tables([TRADES] * 30).set_column(2, "ts", pa.array(np.arange(120)))
    found = pairs(many)
    number = found.to_arrow().num_rows
    assert found.events()["match"].to_pylist() == [match for match in range(number) for _ in "ab"]


def test_events_of_a_rule() -> None:
    rule = cer_gpu.compile("Q(p) <- A(price = p), B(price = v), A(price = p)")
    found = rule.run(TRADES, order_by="ts")
    told = found.events()
    assert told["variable"].to_pylist() == ["A", "B", "A"] * found.to_arrow().num_rows
    assert (
        told["position"].to_pylist() == found.to_arrow()["positions"].combine_chunks().flatten().to_pylist()
    )


FLAT = "SELECT a[price], b[price] FROM S WHERE A AS a ; B+ AS b"


def flat_of(found: Matches) -> pa.Table:
    rows = found.flat_batches()
    return pa.Table.from_batches(list(rows), rows.schema)


def test_flat_form() -> None:
    told = flat_of(pairs(text=FLAT))
    whole = pairs(text=FLAT).to_arrow()
    last = [marked[-1] for marked in whole["b"].to_pylist()]
    assert told.schema.names[4:] == [
        *("a", "a_time", "a_price"),
        *("b_first", "b_first_time", "b_first_price", "b_last", "b_last_time", "b_last_price"),
    ]
    assert told.select(range(4)) == whole.select(range(4))
    assert told["b_last"].to_pylist() == last
    assert told["b_last_price"] == TRADES["price"].take(pa.array(last))
    assert told["b_last_time"] == TRADES["ts"].take(pa.array(last))
    assert told["a_time"] == TRADES["ts"].take(told["a"])


def test_flat_form_of_what_may_mark_nothing() -> None:
    told = flat_of(pairs(text="SELECT a[price], b FROM S WHERE A AS a OR B AS b")).to_pydict()
    assert (told["a"], told["b"]) == ([0, None, 2, None], [None, 1, None, 3])
    assert told["a_price"] == [1.5, None, 3.0, None]


def test_names_of_the_flat_form() -> None:
    told = flat_of(pairs(text="SELECT a, a_time, start FROM S WHERE (A AS a) AS a_time ; B AS start"))
    assert told.schema.names[4:] == ["a", "a_time", "a_time_", "a_time_time", "start_", "start_time_"]
    rule = cer_gpu.compile("Q(p) <- A(price = p), B(price = v), A(price = p)").run(TRADES, event_id="price")
    assert flat_of(rule).schema.names == ["start", "end", "p", "A", "B", "A_2"]
    assert flat_of(rule).to_pydict()["A_2"] == rule.to_arrow()["p"].to_pylist()


def test_events_of_a_stream() -> None:
    with cer_gpu.compile(PAIRS).stream(order_by="ts") as stream:
        told = [stream.push(TRADES.slice(row, 1)).events() for row in range(4)]
    assert [len(table) for table in told] == [0, 2, 0, 4]
    assert told[3]["position"].to_pylist() == [0, 3, 2, 3]
    assert told[3]["price"].to_pylist() == [1.5, None, 3.0, None]


def test_ids_of_a_stream() -> None:
    named = TRADES.append_column("id", pa.array(list("wxyz")))
    query = cer_gpu.compile(PAIRS)
    stream = query.stream(order_by="ts", event_id="id")
    assert stream.push(named.slice(0, 1)).to_arrow().num_rows == 0
    state = stream.snapshot()
    with pytest.raises(cer_gpu.DataError, match="another event_id"):
        query.stream(order_by="ts", state=state)
    again = query.stream(order_by="ts", event_id="id", state=state)
    assert [(ce.start, ce.end) for ce in again.push(named.slice(1))] == [("w", "x"), ("w", "z"), ("y", "z")]


def test_nothing_is_marked() -> None:
    told = pairs(text="SELECT NONE FROM S WHERE A ; B").events()
    assert told.num_rows == 0
    assert told.schema.names == ["match", "variable", "position", "row", "time"]


# ------------------------------------------------------------------------------------------ a look


def test_what_is_printed() -> None:
    assert repr(pairs(pa.table(TRADES.set_column(2, "ts", pa.array([1, 2, 3, 4]))))) == (
        "<Matches of a, b on cpu>\n"
        "start  end  start_time  end_time  a  a[price]  b\n"
        "    0    1           1         2  0       1.5  1\n"
        "    0    3           1         4  0       1.5  3\n"
        "    2    3           3         4  2       3.0  3"
    )


def test_a_look_at_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "SHOWN", 2)
    text = repr(pairs())
    assert text.endswith("the first 2; there are more")
    assert len(text.splitlines()) == 5
    assert pairs()._repr_html_().count("<tr>") == 3


def test_a_look_loses_nothing() -> None:
    once = pairs(TRADES.to_reader())
    assert repr(once) == "<Matches of a, b on cpu>"
    assert len(list(once)) == 3
    assert "\n" in repr(once)


def test_a_look_at_what_cannot_be_run() -> None:
    wrong = pairs(TRADES.take([3, 2, 1, 0]))
    assert repr(wrong) == "<Matches of a, b on cpu>"
    with pytest.raises(cer_gpu.DataError):
        list(wrong)


def test_names_and_values_obey_no_page_and_no_terminal() -> None:
    names = pa.table({"type": ["A\x1b[31m"], "<b>": ["<script>\x1b"]})
    found = cer_gpu.compile("SELECT x[`<b>`] FROM S WHERE `A\x1b[31m` AS x").run(names)
    assert "\x1b" not in repr(found)
    assert "\x1b" not in found._repr_html_()
    assert "<script>" not in found._repr_html_()
    assert "&lt;script&gt;" in found._repr_html_()


def test_data_frames() -> None:
    table = pairs().to_arrow()
    assert isinstance(pairs().to_polars(), pl.DataFrame)
    assert pairs().to_polars(flat=False)["b"].to_list() == table["b"].to_pylist()
    assert [[b] for b in pairs().to_polars()["b"]] == table["b"].to_pylist()
    assert isinstance(pairs().to_pandas(), pd.DataFrame)
