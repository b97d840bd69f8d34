"""The public face: keywords, names that columns take, and one query in several threads and processes."""

from __future__ import annotations

import copy
import os
import pickle
import pydoc
import signal
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pyarrow as pa
import pytest

import cer_gpu as cer
from cer_gpu import api
from cer_gpu.errors import DataError
from cer_gpu.plan.planning.planner import plan
from cer_gpu.plan.planning.plans import SCHEMAS

EVENTS = pa.table({"type": ["A", "B"], "b": ["k", "k"], "price": [1.5, 2.5], "stream": ["S", "R"]})


def test_variables_that_have_the_names_of_columns() -> None:
    (found,) = cer.compile("SELECT start[price], b WHERE A AS start ; B AS b PARTITION BY b").run(EVENTS)
    assert (found.start, found.end, found.partition) == (0, 1, ("k",))
    assert found.marks == {"start": (0,), "b": (1,)}


def test_a_keyword_that_does_not_exist() -> None:
    with pytest.raises(TypeError, match=r"no keyword 'orderby': did you mean 'order_by'\?"):
        cer.compile("SELECT * WHERE A").count(EVENTS, orderby="ts")


def test_limits_are_whole_numbers() -> None:
    query = cer.compile("SELECT * WHERE A OR B")
    assert query.count(EVENTS, limit=np.int64(1)) == 1
    for wrong in (-1, 1.0, True, "1"):
        with pytest.raises(ValueError, match="limit must be a whole number"):
            query.count(EVENTS, limit=wrong)


def test_streams_are_told_apart_by_a_column_only() -> None:
    query = cer.compile("SELECT * FROM S, R WHERE S>A ; R>B")
    with pytest.raises(
        DataError, match=r"the streams `R`, `S`, and no column is known that says.*stream_column"
    ):
        query.count(EVENTS)
    assert query.count(EVENTS, stream_column="stream") == 1
    assert cer.compile("SELECT * FROM S WHERE S>A ; S>B").count(EVENTS) == 1
    assert cer.compile("SELECT * FROM S, R WHERE A ; B").count(EVENTS) == 1


def table(kind: pa.DataType, seed: int) -> pa.Table:
    rng = np.random.default_rng(seed)
    types = pa.array(rng.choice(["A", "B", "C"], 50_000))
    return pa.table({"type": types, "v": pa.array(rng.integers(0, 100, 50_000)).cast(kind)})


def test_one_query_in_several_threads_on_different_data() -> None:
    query = cer.compile("SELECT * WHERE A AS a ; B AS b FILTER a[v > 95] AND b[v > 95] WITHIN 100 EVENTS")
    tables = [table(kind, seed) for seed, kind in enumerate((pa.int64(), pa.float64(), pa.int16()))] * 10
    expected = [query.count(each) for each in tables[:3]] * 10
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(query.count, tables)) == expected


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_query_that_has_run_runs_in_a_forked_process() -> None:
    query = cer.compile("SELECT * WHERE A ; B WITHIN 3 EVENTS")
    events = pa.concat_tables([table(pa.int64(), seed) for seed in range(8)])
    expected = query.count(events)
    child = os.fork()
    if child == 0:
        signal.alarm(30)
        os._exit(0 if query.count(events) == expected else 1)
    assert os.waitpid(child, 0)[1] == 0


def test_a_query_that_has_run_is_copied_as_its_text() -> None:
    query = cer.compile("SELECT * WHERE A ; B WITHIN 3 EVENTS")
    events = pa.concat_tables([table(pa.int64(), seed) for seed in range(8)])
    expected = query.count(events)
    for same in (copy.deepcopy(query), pickle.loads(pickle.dumps(query))):
        assert same.text == query.text
        assert same.count(events) == expected


def test_plans_are_kept_for_a_few_schemas(monkeypatch: pytest.MonkeyPatch) -> None:
    query = cer.compile("SELECT * WHERE A AS a ; B FILTER a[x > 1]")
    made = []
    monkeypatch.setattr(api, "plan", lambda *given: made.append(given) or plan(*given))
    tables = [
        pa.table({"type": ["A", "B"], "x": pa.array([3, 4], kind), "other": [1, 2]})
        for kind in (pa.int64(), pa.float64(), pa.int8())
    ]
    for table in tables * 3:
        assert query.count(table) == 1
    assert len(made) == 3
    for number in range(SCHEMAS):
        assert query.count(tables[0].append_column(f"column {number}", pa.array([0, 0]))) == 1
    assert query.count(tables[0]) == 1
    assert len(made) == 3 + SCHEMAS + 1


def test_help_opens_with_a_page_that_shows_a_query_and_what_to_ask_of_it() -> None:
    page = pydoc.plain(pydoc.render_doc(cer))[:1500]
    assert "A query is a pattern of events." in page
    for asked in ("cer.compile(", "q.hits(events)", "q.counts(events)", "q.count(events)", "q.run(events)"):
        assert asked in page
