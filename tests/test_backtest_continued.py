"""Outcomes, durations and starts go on with new files: what they say is what a whole run says."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from outcome_tables import assert_same_outcomes
from test_backtest import ticks
from test_backtest_resume import QUERIES, read, written

import cer_gpu as cer

__all__ = ["read"]  # the fixture


OUTCOMES = {
    "now": "y",
    "after": "AFTER 20 MINUTES (y) / y - 1",
    "most": "MAX WITHIN 90 MINUTES (x)",
    "least of three": "MIN WITHIN 3 EVENTS (y)",
    "third": "AFTER 3 EVENTS (y)",
    "next": "TIME TO (D AS d FILTER d[x > 10])",
    "next pair": "TIME TO (C ; D)",
    "of the match": "LAST(a.x) + AFTER 2 HOURS (x)",
    "or nothing": "COALESCE(AFTER 10 MINUTES (y), 0)",
}

FIRING = {
    "window": "SELECT * WHERE (A AS a FILTER a[x > 10]) ; B AS b PARTITION BY [k] WITHIN 1 HOUR",
    "no window": "SELECT * WHERE A AS a ; B ; C PARTITION BY [k]",
    "by name": "SELECT * WHERE A AS a ; B FILTER a[x > 15] PARTITION BY name WITHIN 2 hours",
    "neighbours": "SELECT * WHERE A AS a : B",
    "compared": "SELECT * WHERE A AS a ; B AS b FILTER b.x = a.x PARTITION BY k",
    "last": "SELECT LAST * WHERE A AS a ; B WITHIN 40 EVENTS",
    "rare": "SELECT * WHERE (A AS a FILTER a[x > 18]) ; (B AS b FILTER b[x > 18]) PARTITION BY k WITHIN 3 h",
}


def compare(queries: Any, paths: list[Path], read: dict[str, Any], **given: Any) -> int:
    """Run over more and more of some files, and compare with whole runs; gives how many hits there are."""
    for many in (1, 2, len(paths)):
        expected = cer.backtest(queries, paths[:many], **given)
        read["paths"] = []
        found = cer.backtest(queries, paths[:many], resume=paths[0].parent / "kept", **given)
        assert many == 1 or "part-0.parquet" not in "".join(read["paths"])
        assert found.to_arrow().equals(expected.to_arrow())
        if "outcomes" in given:
            assert_same_outcomes(found.outcomes, expected.outcomes)
            assert found.outcome_hits.equals(expected.outcome_hits)
    return sum(expected.to_arrow()["hits"].to_pylist())


@pytest.mark.draws("seed", 16)
def test_outcomes_go_on_with_new_files(seed: int, read: dict[str, Any], tmp_path: Path) -> None:
    rng = Random(seed)
    count = rng.choice([300, 600])
    paths = written(ticks(count, seed), tmp_path, sorted(rng.sample(range(1, count), 3)))
    queries = {name: FIRING[name] for name in rng.sample(list(FIRING), 2)}
    outcomes = {name: OUTCOMES[name] for name in rng.sample(list(OUTCOMES), 3)}
    split = rng.choice([None, "1970-01-02"])
    assert compare(queries, paths, read, order_by="ts", outcomes=outcomes, split=split) > 0


@pytest.mark.parametrize("kind", [pa.int64(), pa.float64(), None], ids=["whole", "floating", "no order"])
def test_outcomes_go_on_whatever_the_times_are(
    kind: pa.DataType | None, read: dict[str, Any], tmp_path: Path
) -> None:
    rng, count = np.random.default_rng(3), 400
    times = np.sort(rng.integers(0, 900, count))
    table = ticks(count).set_column(5, "ts", pa.array(times).cast(kind or pa.int64()))
    keys = pa.array(rng.choice(["p", "q", "r", None], count).tolist(), pa.string())
    table = table.set_column(4, "k", keys)
    paths = written(table, tmp_path, [90, 91, 260])
    outcomes = {"third": OUTCOMES["third"], "of the match": "LAST(a.x) - AFTER 2 EVENTS (x)"}
    given: dict[str, Any] = {"outcomes": outcomes}
    if kind is not None:
        outcomes |= {"later": "AFTER 30 (y)", "most": "MAX WITHIN 30.5 (x)", "next": "TIME TO (D)"}
        given |= {"order_by": "ts", "split": 450}
    texts = {
        "pairs": "SELECT * WHERE A AS a ; B PARTITION BY k WITHIN 30 EVENTS",
        "any": "SELECT * WHERE A AS a : B",
    }
    assert compare(texts, paths, read, **given) > 0


LATER = {
    "none for a while": "SELECT * WHERE A AS a NOT FOLLOWED BY [<= 3 h] B PARTITION BY k",
    "none at all": "SELECT * WHERE (A AS a FILTER a[x > 10]) NOT FOLLOWED BY (B AS b FILTER b[x > 18])",
    "some": "SELECT * WHERE (A AS a ; B) FOLLOWED BY [<= 5 EVENTS] C PARTITION BY [k] WITHIN 4 h",
    "some at last": "SELECT * WHERE (A AS a : B) FOLLOWED BY (D AS d FILTER d[x > 17])",
    "compared": "SELECT * WHERE (A AS a ; B AS b FILTER b.x > a.x) NOT FOLLOWED BY [<= 5 h] E WITHIN 2 h",
    "session": "SELECT MAX * WHERE A AS a +[<= 4 h] NOT FOLLOWED BY [<= 4 h] A PARTITION BY name",
}


@pytest.mark.draws("seed", 12)
def test_outcomes_of_queries_that_look_at_what_follows(
    seed: int, read: dict[str, Any], tmp_path: Path
) -> None:
    """Hits that are decided files later have the outcomes that a whole run finds."""
    rng = Random(seed)
    count = rng.choice([300, 600])
    paths = written(ticks(count, seed), tmp_path, sorted(rng.sample(range(1, count), 3)))
    queries = {name: LATER[name] for name in rng.sample(list(LATER), 2)}
    outcomes = {name: OUTCOMES[name] for name in rng.sample(list(OUTCOMES), 3)}
    split = rng.choice([None, "1970-01-02"])
    assert compare(queries, paths, read, order_by="ts", outcomes=outcomes, split=split) > 0


def test_what_may_be_decided_later_is_said_to_be_read_again(read: dict[str, Any], tmp_path: Path) -> None:
    paths, state = written(ticks(600), tmp_path, [300]), tmp_path / "kept"
    wanted = {"quiet": "TIME TO (C NOT FOLLOWED BY [<= 1 h] D)"}
    given: dict[str, Any] = {"order_by": "ts", "outcomes": wanted}
    query = {"q": FIRING["window"]}
    cer.backtest(query, paths[:1], resume=state, **given)
    with pytest.warns(UserWarning, match="outcomes are worked out from the first file on again"):
        found = cer.backtest(query, paths, resume=state, **given)
    assert_same_outcomes(found.outcomes, cer.backtest(query, paths, **given).outcomes)


@pytest.mark.crossed
@pytest.mark.parametrize("name", ["compared", "followed", "events by key", "no window"])
@pytest.mark.parametrize("by", [None, "8 h"])
def test_matches_without_a_window_are_listed_of_new_files(
    name: str, by: str | None, read: dict[str, Any], tmp_path: Path
) -> None:
    texts = FIRING | QUERIES
    texts["events by key"] = "SELECT * WHERE A ; B PARTITION BY k WITHIN 10 EVENTS"
    texts["no window"] = "SELECT * WHERE (A AS a FILTER a[x > 12]) ; (B AS b FILTER b[y > 0.9])"
    paths = written(ticks(500), tmp_path, [100, 220, 221])
    given = {"order_by": "ts", "by": by, "starts": True, "durations": True}
    assert compare({"q": texts[name]}, paths, read, **given) > 0


def test_a_query_without_matches_so_far_is_listed_later(read: dict[str, Any], tmp_path: Path) -> None:
    table = ticks(300)
    early = pa.concat_tables([table.slice(0, 100).set_column(0, "type", [["A"] * 100]), table.slice(100)])
    paths = written(early, tmp_path, [60, 100])
    text = "SELECT * WHERE A AS a ; B AS b FILTER b.x = a.x PARTITION BY k"
    assert compare({"q": text}, paths, read, order_by="ts", starts=True, durations=True) > 0
