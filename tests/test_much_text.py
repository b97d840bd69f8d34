"""More text than 32 bits address: nothing puts it together in columns that hold 2 GiB at most.

Tests have no gigabytes: they look at the types of what is put together, and lower the bounds.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import cer_gpu as cer
from cer_gpu.engine.read.intake import Intake
from cer_gpu.engine.read.sources import files, rows
from cer_gpu.engine.read.sources.arrow_types import (
    DICTIONARY,
    LARGE_DICTIONARY,
    common_type,
    decoded,
    normal_type,
)
from cer_gpu.engine.read.sources.open_source import open_source
from cer_gpu.json_text import json_text

N = 4000
TEXTS = ["text", "coded", "narrow"]


@pytest.fixture(scope="module")
def events() -> pa.Table:
    """Events with a column of text in several forms."""
    rng = np.random.default_rng(3)
    text = pa.array([f"text {number}" for number in rng.integers(0, 50, N)])
    coded = text.dictionary_encode()
    return pa.table(
        {
            "type": rng.choice(["A", "B", "C"], N),
            "ts": rng.permutation(N),
            "text": text,
            "coded": coded,
            "narrow": coded.cast(pa.dictionary(pa.int8(), pa.string())),
        }
    )


def are_roomy(kinds: Any) -> bool:
    """Whether columns of text, of which there are some, have room for any amount of it."""
    texts = [kind for kind in kinds if pa.types.is_dictionary(kind) or not pa.types.is_primitive(kind)]
    return bool(texts) and set(texts) <= {pa.large_string(), LARGE_DICTIONARY}


@pytest.mark.parametrize("form", ["memory", "parquet"])
@pytest.mark.parametrize("sort", [False, True])
def test_kept_text(form: str, sort: bool, events: pa.Table, monkeypatch: Any, tmp_path: Path) -> None:
    kept: list[pa.Schema] = []
    classified = Intake.classified

    def noted(self: Intake, *arguments: Any) -> Any:
        for part in classified(self, *arguments):
            assert part.payload is not None
            kept.append(part.payload.select(TEXTS).schema)
            yield part

    monkeypatch.setattr(Intake, "classified", noted)
    given: Any = events
    if form == "parquet":
        given = tmp_path / "events.parquet"
        pq.write_table(events, given, row_group_size=700)
    query = cer.compile("SELECT a[text, coded, narrow] WHERE A AS a ; B AS b WITHIN 9 EVENTS")
    order: dict[str, Any] = {"order_by": ["ts", "text"], "sort": True} if sort else {}
    answers = query.run(given, memory=1 << 18, **order).to_arrow()
    assert len(answers) > N // 2
    assert len(kept) > 1
    assert all(are_roomy(schema.types) for schema in kept)
    members = answers.schema.field("a[text, coded, narrow]").type.value_type
    assert are_roomy(member.type for member in members)
    text = (events.sort_by("ts") if sort else events)["text"].to_pylist()
    for (position,), attributes in zip(
        answers["a"].to_pylist(), answers["a[text, coded, narrow]"].to_pylist(), strict=True
    ):
        assert attributes == [dict.fromkeys(TEXTS, text[position])]


def test_the_head_of_a_rule(events: pa.Table) -> None:
    query = cer.compile("Q(t) <- A(text = t), B(text = t) WITHIN 9 EVENTS")
    answers = query.run(events).to_arrow()
    assert len(answers)
    assert answers.schema.field("t").type == pa.large_string()


def test_sorted_and_merged_text(events: pa.Table) -> None:
    untyped = events.drop_columns(["type"])
    parts = {"A": untyped.slice(0, N // 2), "B": untyped.slice(N // 2)}
    for given in (events, parts):
        source = open_source(given, order_by=("ts", "text"), sort=True)
        batches = list(source.batches(["ts", *TEXTS], 500))
        assert all(are_roomy(batch.schema.types) for batch in batches)
        assert [row for batch in batches for row in batch.to_pylist()] == untyped.sort_by("ts").to_pylist()


def test_small_batches_are_joined_by_bytes_too(monkeypatch: Any) -> None:
    monkeypatch.setattr(rows, "JOINED_BYTES", 10_000)
    text = pa.array(["x" * 100] * 1000)
    batches = [pa.record_batch({"text": text.slice(start, 5)}) for start in range(0, 1000, 5)]
    found = list(rows.regroup(iter(batches), 1 << 20))
    assert sum(len(batch) for batch in found) == 1000
    assert max(batch.nbytes for batch in found) <= 10_000
    assert len(found) < 15
    large = [pa.record_batch({"text": text})] * 3
    assert [len(batch) for batch in rows.regroup(iter(large), 1 << 20)] == [1000] * 3


@pytest.mark.parametrize("group", [100, 1000])
def test_batches_of_parquet_files_are_cut_by_bytes_of_text(
    group: int, monkeypatch: Any, tmp_path: Path
) -> None:
    monkeypatch.setattr(files, "TEXT_BYTES", 10_000)
    long = pa.table({"text": [f"{number:0100}" for number in range(1000)], "n": range(1000)})
    pq.write_table(long, tmp_path / "a.parquet", row_group_size=group, use_dictionary=False)
    monkeypatch.setattr(rows, "JOINED_BYTES", 1000)  # they are not joined again

    def sizes(columns: list[str]) -> Iterator[int]:
        for batch in open_source(tmp_path / "a.parquet").batches(columns, 1 << 20):
            yield len(batch)

    assert sum(sizes(["text", "n"])) == 1000
    assert 50 < max(sizes(["text"])) <= 100
    assert max(sizes(["n"])) == 1000


@pytest.mark.parametrize("coded", [False, True])
def test_dictionaries_of_parquet_files_do_not_grow_with_the_file(
    coded: bool, monkeypatch: Any, tmp_path: Path
) -> None:
    monkeypatch.setattr(files, "TEXT_BYTES", 10_000)
    text = pa.array([f"{number % 10 if coded else number:0100}" for number in range(1000)])
    table = pa.table({"text": text, "n": range(1000)})
    pq.write_table(table, tmp_path / "a.parquet", row_group_size=250, use_dictionary=coded)
    found = list(open_source(tmp_path / "a.parquet").batches(["text", "n"], 50))
    assert all(len(batch["text"].dictionary) <= (10 if coded else 100) for batch in found)
    assert [row for batch in found for row in batch.to_pylist()] == table.to_pylist()


def test_text_of_other_forms() -> None:
    assert normal_type(pa.string_view()) == pa.large_string()
    assert normal_type(pa.dictionary(pa.int64(), pa.large_string())) == LARGE_DICTIONARY
    assert common_type(DICTIONARY, pa.large_string()) == LARGE_DICTIONARY
    assert common_type(DICTIONARY, pa.string()) == DICTIONARY
    coded = pa.array(["a", None, "b", "a"]).dictionary_encode()
    assert decoded(coded).type == pa.large_string()
    assert decoded(coded).to_pylist() == ["a", None, "b", "a"]


@pytest.mark.parametrize(
    "array",
    [
        pa.array(["a", None]),
        pa.array(["a", None]).dictionary_encode(),
        pa.array([["a"], []]),
        pa.array([{"a": "b", "c": 1.5}, None]),
        pa.array([1, None]),
        pa.array([1.0, float("nan")]),
        pa.array([1], pa.timestamp("s", "UTC")),
    ],
)
def test_json_is_large_text(array: pa.Array) -> None:
    assert json_text(array).type == pa.large_string()
