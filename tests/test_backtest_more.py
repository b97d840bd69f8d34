"""Durations, funnels and the difference of two results of a backtest."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from generate import any_query, stream, stream_to_table
from test_backtest import OPTIONS, ticks

import cer_gpu as cer
from cer_gpu.backtesting import listed_values
from cer_gpu.engine.run.bound_query import BoundQuery
from cer_gpu.language.printer import to_text

TEMPLATE = "SELECT * WHERE (A AS a FILTER a[x > $p]) ; B ; C PARTITION BY [k] WITHIN $w"


def lasting(query: cer.Query, events: Any, by: list[str], **keywords: Any) -> pd.DataFrame:
    """How long the matches of a query last, from its own run, as pandas says it."""
    found = query.run(events, **keywords).to_arrow()
    timed = "start_time" in found.schema.names
    ends, starts = (found[f"{side}_time" if timed else side].to_pandas() for side in ("end", "start"))
    frame = pd.DataFrame({"duration": ends - starts})
    if "bucket" in by:
        frame["bucket"] = ends.dt.floor("6h")
    for name in by:
        if name != "bucket":
            frame[name] = found[name].to_pandas().astype(str)
    if not by:
        return frame["duration"].quantile([0.5, 0.95]).to_frame().T
    return frame.groupby(by)["duration"].quantile([0.5, 0.95]).unstack()


@pytest.mark.crossed
@pytest.mark.parametrize("by", [[], ["bucket"], ["bucket", "k"], ["k"]])
@pytest.mark.parametrize("order", ["ts", None])
def test_durations_are_those_of_the_matches(
    by: list[str], order: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    if order is None and "bucket" in by:
        by = [name for name in by if name != "bucket"]
    monkeypatch.setattr(listed_values, "WAITING", 100)
    windows = ["20 min", "3 h"] if order else [20, 200]
    text = TEMPLATE if order else TEMPLATE.replace("$w", "$w EVENTS")
    asked = cer.sweep(text, p=[3, 12], w=windows)
    events = ticks()
    parts = ["6 h" if name == "bucket" else name for name in by]
    found = cer.backtest(asked, events, parts or None, durations=True, order_by=order, device="cpu")
    rows = found.to_pandas()
    assert len(rows) >= 4
    for variant in asked:
        own = rows[(rows["p"] == variant["p"]) & (rows["w"] == variant["w"])]
        expected = lasting(asked.query, events, by, params=variant, order_by=order, device="cpu")
        assert len(own) == len(expected)
        for name, share in (("duration_median", 0.5), ("duration_p95", 0.95)):
            if order is None:
                np.testing.assert_allclose(own[name].to_numpy(), expected[share].to_numpy(), rtol=1e-12)
            else:
                apart = own[name].to_numpy() - expected[share].to_numpy()
                assert (np.abs(apart) <= np.timedelta64(1, "us")).all()


@pytest.mark.crossed
@pytest.mark.parametrize("by", [[], ["bucket"], ["bucket", "k"], ["k"]])
@pytest.mark.parametrize("order", ["ts", None])
def test_starts_are_the_events_at_which_matches_begin(
    by: list[str], order: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    if order is None and "bucket" in by:
        by = [name for name in by if name != "bucket"]
    monkeypatch.setattr(listed_values, "WAITING", 100)
    windows = ["20 min", "3 h"] if order else [20, 200]
    text = TEMPLATE if order else TEMPLATE.replace("$w", "$w EVENTS")
    asked = cer.sweep(text, p=[3, 12], w=windows)
    queries = {"swept": asked, "none": "SELECT * WHERE Z ; A PARTITION BY k"}
    events = ticks()
    parts = ["6 h" if name == "bucket" else name for name in by]
    given = {"order_by": order, "device": "cpu"}
    found = cer.backtest(queries, events, parts or None, starts=True, durations=True, **given)
    rows = found.to_pandas()
    assert list(rows.columns[-3:]) == ["starts", "duration_median", "duration_p95"]
    assert (rows["starts"] < rows["matches"]).any()
    for variant in asked:
        own = rows[(rows["p"] == variant["p"]) & (rows["w"] == variant["w"])]
        listed = asked.query.run(events, params=variant, **given).to_pandas()
        if "bucket" in by:
            listed["bucket"] = listed["end_time"].dt.floor("6h")
        expected = listed.groupby(by)["start"].nunique() if by else [listed["start"].nunique()]
        assert own["starts"].tolist() == list(expected)
    if not by:
        assert rows[rows["query"] == "none"]["starts"].tolist() == [0]
    assert len(found.diff(found)) == 0


@pytest.mark.draws("seed", 12)
def test_durations_of_random_queries(seed: int) -> None:
    rng = Random(f"durations {seed}")
    events = stream_to_table(stream(rng, 30))
    queries = []
    while len(queries) < 4:
        text = to_text(any_query(rng))
        try:
            cer.compile(text).count(events, **OPTIONS)
        except cer.CerError:
            continue
        queries.append(text)
    rows = cer.backtest(queries, events, durations=True, **OPTIONS).to_arrow().to_pylist()
    for text, row in zip(queries, rows):
        found = cer.compile(text).run(events, **OPTIONS).to_arrow()
        assert row["matches"] == len(found)
        if not len(found):
            assert row["duration_median"] is None
            continue
        took = found["end_time"].to_pandas() - found["start_time"].to_pandas()
        for name, share in (("duration_median", 0.5), ("duration_p95", 0.95)):
            assert abs(row[name] - took.quantile(share)) <= pd.Timedelta("1ms"), text  # its unit


def test_durations_by_date_and_number() -> None:
    for column, expected in (
        (pa.array(np.arange(6, dtype=np.int32)).cast(pa.date32()), pd.Timedelta(days=3)),
        (pa.array(np.arange(6) * 1000).cast(pa.duration("ms")), pd.Timedelta(seconds=3)),
        (pa.array(np.arange(6) * 0.5), 1.5),
    ):
        events = pa.table({"type": list("AXABXB"), "ts": column})
        found = cer.backtest(["SELECT * WHERE A ; B"], events, durations=True, order_by="ts", device="cpu")
        assert found.to_pandas()["duration_median"][0] == expected  # of 3, 5, 1, 3


def test_too_many_matches_have_no_durations(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cer_gpu.backtesting.listed_columns.MOST", 10)
    with pytest.warns(UserWarning, match="q1.*matches: durations are computed"):
        found = cer.backtest(
            ["SELECT * WHERE A ; B", "SELECT * WHERE A : B : C : D"], ticks(), durations=True, device="cpu"
        )
    rows = found.to_arrow().to_pylist()
    assert rows[0]["duration_median"] is None
    assert rows[1]["duration_p95"] == 3.0
    assert any("durations are computed" in note for note in found.notes)


def test_matches_are_listed_once_for_all_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    listed, matches = [], BoundQuery.matches

    def seen(bound: BoundQuery) -> Any:
        listed.append(bound)
        return matches(bound)

    monkeypatch.setattr(BoundQuery, "matches", seen)
    asked = ["SELECT * WHERE A ; B WITHIN 5 EVENTS", "SELECT * WHERE A : C"]
    found = cer.backtest(asked, ticks(), starts=True, durations=True, device="cpu").to_arrow()
    assert len(listed) == len(set(map(id, listed))) == len(asked)
    assert all(row["starts"] and row["duration_p95"] for row in found.to_pylist())


def test_nothing_found_has_no_durations() -> None:
    found = cer.backtest(["SELECT * WHERE Z"], ticks(50), "1d", durations=True, order_by="ts", device="cpu")
    assert len(found) == 0
    assert found.to_arrow().schema.names[-2:] == ["duration_median", "duration_p95"]


def test_the_funnels_of_all_queries() -> None:
    template = cer.compile("SELECT * WHERE (A AS a FILTER a[x > $p]) ; B : C WITHIN 1 HOUR")
    events, options = ticks(), {"order_by": "ts", "device": "cpu"}
    plain = "SELECT * WHERE D : (E AS e FILTER e[y < 0.1])"
    asked = {"swept": cer.sweep(template, p=[3, 15]), "plain": plain}
    found = cer.backtest(asked, events, funnel=True, **options)
    table = found.funnel
    own = ["step", "pattern", "without", "hits", "matches", "died", "note"]
    assert table.schema.names == ["query", "p", *own]
    for name, value, query, params in (
        ("swept", 3, template, {"p": 3}),
        ("swept", 15, template, {"p": 15}),
        ("plain", None, cer.compile(plain), {}),
    ):
        rows = [row for row in table.to_pylist() if (row["query"], row["p"]) == (name, value)]
        alone = query.funnel(events, params=params, **options).to_pylist()
        assert [{key: row[key] for key in own} for row in rows] == alone
    assert found.plot.funnel().to_dict()["title"].startswith("swept p=3")
    assert found.plot.funnel("plain").to_dict()["title"].startswith("plain")
    with pytest.raises(ValueError, match="there is no funnel of 'other'"):
        found.plot.funnel("other")


def test_the_values_of_a_funnel_are_those_of_its_backtest() -> None:
    query = cer.compile("SELECT * WHERE (A AS a FILTER a[x > $p]) ; B WITHIN 1 HOUR", params={"p": 3})
    options: dict[str, Any] = {"order_by": "ts", "device": "cpu", "params": {"p": 15}}
    found = cer.backtest({"one": query}, ticks(), funnel=True, **options)
    own = query.funnel(ticks(), **options)
    assert found.funnel.drop_columns(["query"]) == own
    whole = [row["hits"] for row in own.to_pylist() if row["step"] == 2 and row["without"] is None]
    assert whole == found.to_arrow()["hits"].to_pylist()


def test_no_funnel_was_asked_for() -> None:
    found = cer.backtest(["SELECT * WHERE A"], ticks(10), device="cpu")
    with pytest.raises(ValueError, match="funnel=True"):
        _ = found.funnel


def test_what_needs_the_events_again_says_so() -> None:
    for wanted, told in (("durations", "durations need them"), ("funnel", "a funnel needs them")):
        with pytest.raises(cer.DataError, match=told):
            cer.backtest(["SELECT * WHERE A"], ticks(10).to_reader(), **{wanted: True}, device="cpu")


def test_the_difference_of_two_results() -> None:
    events = ticks()
    sweep = cer.sweep(TEMPLATE, p=[3, 12], w=["20 min"])
    options: dict[str, Any] = {"by": ["6 h", "k"], "order_by": "ts", "device": "cpu"}
    old, new = cer.backtest(sweep, events.slice(0, 2000), **options), cer.backtest(sweep, events, **options)
    table = old.diff(new)
    assert table.schema.names == [
        *["query", "p", "w", "bucket", "k", "change", "hits", "matches", "new_hits", "new_matches"]
    ]
    keys = ["query", "p", "w", "bucket", "k"]
    both = old.to_pandas().merge(new.to_pandas(), on=keys, how="outer", suffixes=("_a", "_b"))
    both = both.fillna({"hits_a": 0, "hits_b": 0, "matches_a": 0, "matches_b": 0})
    differ = both[(both.hits_a != both.hits_b) | (both.matches_a != both.matches_b)]
    found = table.to_pandas().sort_values(keys).reset_index(drop=True)
    expected = differ.sort_values(keys).reset_index(drop=True)
    assert len(found) == len(expected) > 0
    for name, theirs in (("hits", "hits_a"), ("new_hits", "hits_b"), ("new_matches", "matches_b")):
        assert found[name].tolist() == expected[theirs].astype(int).tolist()
    assert set(table["change"].to_pylist()) >= {"new"}
    back = new.diff(old)
    assert len(back) == len(table)
    assert {"new": "gone", "more": "fewer", "other": "other"}[table["change"][0].as_py()] in back[
        "change"
    ].to_pylist()
    assert len(new.diff(new)) == 0


def test_results_that_cannot_be_compared() -> None:
    one = cer.backtest(["SELECT * WHERE A"], ticks(10), device="cpu")
    other = cer.backtest(["SELECT * WHERE A"], ticks(10), "1d", order_by="ts", device="cpu")
    with pytest.raises(ValueError, match=r"match rows by \(query; query, bucket\)"):
        one.diff(other)
    with pytest.raises(TypeError, match="not dict"):
        one.diff({})  # type: ignore[arg-type]


def test_durations_and_funnel_in_the_shell(tmp_path: Any, capsys: Any) -> None:
    import pyarrow.parquet as pq

    from cer_gpu.cli import status_of

    pq.write_table(ticks(), tmp_path / "ticks.parquet")
    query, data, page = "SELECT * WHERE A : B", str(tmp_path / "ticks.parquet"), str(tmp_path / "page.html")
    options = ["--order-by", "ts", "--device", "cpu"]
    assert status_of(["backtest", query, data, *options, "--starts", "--durations", "--format", "csv"]) == 0
    assert "starts,duration_median" in capsys.readouterr().out.splitlines()[0].replace('"', "")
    assert status_of(["backtest", query, data, *options, "--funnel", "--report", page]) == 0
    assert "How many partial matches reach each step" in (tmp_path / "page.html").read_text()
    capsys.readouterr()
    assert status_of(["backtest", query, data, *options, "--funnel"]) != 0
    assert "--report" in capsys.readouterr().err


def test_what_a_user_may_get_wrong_is_said() -> None:
    text = "SELECT * WHERE A AS a ; B AS b PARTITION BY name WITHIN 9 EVENTS"
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"by": ["name", "name"]}, r"by=\['name', 'name'\] names 'name' twice: give it once"),
        (
            {"outcomes": {"r": "LAST(z.x)"}},
            "'r' reads the variable `z`, .* 'q1' does not have.* `A`, `B`",
        ),
        ({"outcomes": {"r": "AVG WITHIN 5 EVENTS (x)"}}, "expected an arithmetic sign, found `WITHIN`"),
    ]
    for keywords, told in wrong:
        with pytest.raises(ValueError, match=told):
            cer.backtest(text, ticks(50), order_by="ts", device="cpu", **keywords)
    for name in ("limit", "event_id", "memory"):
        given: dict[str, Any] = {name: 3}
        with pytest.raises(TypeError, match=f"a backtest has no keyword '{name}'"):
            cer.backtest(text, ticks(50), order_by="ts", device="cpu", **given)
    with pytest.raises(TypeError, match="the query 'a' is of type int: give a text, a Query or"):
        cer.backtest({"a": 3}, ticks(50))
