"""Answers that do not fit into memory end a run early; what is free is what Linux and its groups say."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import cer_gpu as cer
from cer_gpu.engine.answers import room
from cer_gpu.engine.answers.matches import Matches
from cer_gpu.engine.run.bound_query import BoundQuery

HEAVY = pa.table({"type": ["A"] * 40 + ["B"], "ts": range(41)})


@pytest.fixture
def little(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine with a megabyte of memory left."""
    monkeypatch.setattr(room, "free_memory", lambda: 1_000_000)
    monkeypatch.setattr(room, "LIGHT", 1000)
    monkeypatch.setattr(room, "SOME", 100)


def subsets(events: object = HEAVY, text: str = "SELECT * WHERE A+ ; B", **keywords: object) -> Matches:
    return cer.compile(text).run(events, order_by="ts", **keywords)


ALL_AT_ONCE = [Matches.to_arrow, Matches.to_pandas, Matches.to_polars, Matches.events, list, tuple]


@pytest.mark.parametrize("ask", ALL_AT_ONCE)
def test_what_cannot_fit_is_an_error_before_it_is_listed(ask: object) -> None:
    """2^40 complex events: no machine has that much, and the run would take days."""
    with pytest.raises(cer.LimitError) as caught:
        ask(subsets())  # type: ignore[operator]
    text = str(caught.value)
    assert text.startswith("there are at least 1,099,511,627,775 matches, which take about ")
    assert "batches(), or an output file" in text
    assert "SELECT NEXT or MAX" in text


def test_answers_one_by_one_need_no_room(little: None) -> None:
    found = iter(subsets())
    assert [next(found).start for _ in range(3)] == [0, 0, 0]
    assert next(iter(subsets().batches())).num_rows > 100
    assert subsets().head(5).to_arrow().num_rows == 5
    assert len(list(subsets(limit=7))) == 7


def test_as_many_as_are_wanted_are_expected(little: None) -> None:
    assert subsets(limit=900).to_arrow().num_rows == 900
    with pytest.raises(cer.LimitError, match="at least 100,001 matches"):
        subsets(limit=100_000).to_arrow()


def test_a_list_takes_more_than_a_table(little: None) -> None:
    few = HEAVY.slice(29)
    assert subsets(few).to_arrow().num_rows == 2**11 - 1
    with pytest.raises(cer.LimitError):
        list(subsets(few))
    found = subsets(few)
    assert sum(1 for _ in found) == 2**11 - 1


def test_what_a_part_promises_is_counted(little: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Answers come evenly: after a few of the events it is seen that all of them are too many."""
    monkeypatch.setattr("cer_gpu.engine.run.bound_query.BATCH", 200)
    monkeypatch.setattr("cer_gpu.engine.run.chunks.CHUNK", 100)
    read: list[int] = []
    taken = BoundQuery.read
    monkeypatch.setattr(
        BoundQuery, "read", lambda self, run: (read.append(len(one)) or one for one in taken(self, run))
    )
    events = pa.table({"type": ["A", "B"] * 5000, "ts": range(10_000)})
    number = cer.compile("SELECT * WHERE A ; B WITHIN 9 EVENTS").count(events, order_by="ts")
    read.clear()
    with pytest.raises(cer.LimitError, match=f"there are {number:,} matches"):
        subsets(events, "SELECT * WHERE A ; B WITHIN 9 EVENTS").to_arrow()
    assert sum(read) < 15_000  # a fifth of the events, and all of them once to count
    # The first events promise too much, which is not kept: the count says so, and the run goes on.
    uneven = pa.table({"type": ["A", "B"] * 400 + ["C"] * 9200, "ts": range(10_000)})
    found = subsets(uneven, "SELECT * WHERE A ; B WITHIN 9 EVENTS").to_arrow()
    assert found.num_rows == cer.compile("SELECT * WHERE A ; B WITHIN 9 EVENTS").count(uneven, order_by="ts")


def test_the_shell_keeps_no_answers() -> None:
    found = subsets(HEAVY.slice(29))
    first = sum(len(batch) for batch in found.batches(keep=False))
    assert found._kept is None
    assert sum(len(batch) for batch in found.batches()) == first
    assert found._kept is not None
    assert sum(len(batch) for batch in found.batches(keep=False)) == first


def written(root: Path, **files: str) -> Path:
    for name, text in files.items():
        path = root / name.replace("__", "/").replace("_DOT_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


def test_free_memory(tmp_path: Path) -> None:
    assert room.free_memory(tmp_path) is None
    written(tmp_path, proc__meminfo="MemTotal: 9 kB\nMemAvailable:    2000 kB\n")
    assert room.free_memory(tmp_path) == 2000 << 10
    written(tmp_path, proc__self__cgroup="0::/a/b\n")
    group = {
        "sys__fs__cgroup__a__memory_DOT_max": "900000\n",
        "sys__fs__cgroup__a__memory_DOT_current": "500000",
    }
    written(tmp_path, **group, sys__fs__cgroup__a__memory_DOT_stat="anon 1\ninactive_file 100000\n")
    assert room.free_memory(tmp_path) == 500_000
    written(
        tmp_path, sys__fs__cgroup__a__b__memory_DOT_max="max", sys__fs__cgroup__a__b__memory_DOT_current="5"
    )
    assert room.free_memory(tmp_path) == 500_000


def test_free_memory_of_groups_of_version_1(tmp_path: Path) -> None:
    written(tmp_path, proc__meminfo="MemAvailable: 2000 kB", proc__self__cgroup="3:cpu,memory:/x\n4:cpu:/y\n")
    folder = "sys__fs__cgroup__memory__x__memory_DOT_"
    written(tmp_path, **{f"{folder}limit_in_bytes": "800000", f"{folder}usage_in_bytes": "700000"})
    assert room.free_memory(tmp_path) == 100_000


def test_what_is_said_of_answers_that_do_not_fit() -> None:
    """The golden file has the whole texts; sizes depend on the machine."""
    matches = cer.compile("SELECT * WHERE A+").run(pa.table({"type": ["A"] * 400}))
    asked: dict[str, Callable[[], Any]] = {
        "to_arrow()": matches.to_arrow,
        "to_pandas()": matches.to_pandas,
        "list(matches)": lambda: list(matches),
    }
    said = []
    for name, ask in asked.items():
        with pytest.raises(cer.LimitError) as found:
            ask()
        said.append(f"{name}\n{found.value}\n")
    told = re.sub(r"[\d,.]+ [kMGT]?B\b", "SIZE", "\n".join(said))
    assert told == (Path(__file__).parent / "golden" / "heavy_answers.txt").read_text(encoding="utf-8")
