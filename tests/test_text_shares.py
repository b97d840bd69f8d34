"""Conditions on strings: each text is held against them once, whatever the batches that it comes in."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
import pytest

import cer_gpu as cer
from cer_gpu.engine.read import text_shares
from cer_gpu.plan import axes

QUERY = "SELECT * WHERE A AS a ; B AS b FILTER a[word LIKE '^x'] AND b[word > 'm'] WITHIN 3 EVENTS"


@pytest.fixture(name="looked_at")
def _looked_at(monkeypatch: pytest.MonkeyPatch) -> list[str | None]:
    """The texts that regular expressions are searched in."""
    seen: list[str | None] = []
    text_classes = axes.MatchAxis.text_classes

    def noted(axis: axes.MatchAxis, values: list[str | None]) -> object:
        seen.extend(values)
        return text_classes(axis, values)

    monkeypatch.setattr(axes.MatchAxis, "text_classes", noted)
    return seen


WORDS = ["xa", "n", None, "b", "xz", "n", "xa", "zz"]
KINDS = "ABABABAB"


def rows(order: list[int]) -> list[tuple[str, str | None]]:
    return [(KINDS[k], WORDS[k]) for k in order]


def batches(events: list[tuple[str, str | None]], kind: pa.DataType, size: int) -> Iterator[pa.Table]:
    for start in range(0, len(events), size):
        types, words = zip(*events[start : start + size], strict=True)
        yield pa.table({"type": list(types), "word": pa.array(words, kind)})


@pytest.mark.parametrize("kind", [pa.string(), pa.dictionary(pa.int32(), pa.string())])
@pytest.mark.parametrize("size", [1, 3, 8])
def test_each_text_is_looked_at_once(looked_at: list[str | None], kind: pa.DataType, size: int) -> None:
    events = rows([0, 1, 2, 3, 4, 5, 6, 7, 4, 1, 0, 7])
    query = cer.compile(QUERY)
    expected = [
        (i, j)
        for j, (last, word) in enumerate(events)
        for i, (first, begun) in enumerate(events[:j])
        if (first, last) == ("A", "B") and j - i <= 3 and (begun or "").startswith("x") and (word or "") > "m"
    ]
    assert expected
    stream = query.stream()
    found = [(ce.start, ce.end) for part in batches(events, kind, size) for ce in stream.push(part)]
    assert sorted(found) == sorted(expected)
    assert sorted(text for text in looked_at if text is not None) == sorted({w for w in WORDS if w})


def test_a_dictionary_that_comes_again_costs_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    found = []
    of = text_shares.TextShares._found

    def noted(shares: text_shares.TextShares, dictionary: pa.Array) -> object:
        found.append(len(dictionary))
        return of(shares, dictionary)

    monkeypatch.setattr(text_shares.TextShares, "_found", noted)
    (whole,) = batches(rows(list(range(8))), pa.dictionary(pa.int32(), pa.string()), 8)
    coded = whole.set_column(0, "type", whole.column("type").dictionary_encode())
    stream = cer.compile(QUERY).stream()
    ends = [ce.end for start in range(0, 8, 2) for ce in stream.push(coded.slice(start, 2))]
    assert ends == [1, 5, 7, 7]
    assert found == [2, 5]


def test_texts_beyond_what_is_remembered(
    monkeypatch: pytest.MonkeyPatch, looked_at: list[str | None]
) -> None:
    monkeypatch.setattr(text_shares, "REMEMBERED", 3)
    events = rows([0, 1, 2, 3, 4, 5, 6, 7] * 3)
    query = cer.compile(QUERY)
    stream = query.stream()
    found = [ce.end for part in batches(events, pa.string(), 2) for ce in stream.push(part)]
    (whole,) = batches(events, pa.string(), len(events))
    assert found == query.run(whole).to_arrow().column("end").to_pylist()
    assert len([text for text in looked_at if text == "xa"]) > 1
