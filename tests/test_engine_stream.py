"""Streams: batch after batch, with what spans batches carried between them."""

from __future__ import annotations

import pyarrow as pa
import pytest

import cer_gpu as cer


def batch(kinds: str, first: int = 0, **columns: object) -> pa.Table:
    times = pa.array(range(first, first + len(kinds)), pa.int64())
    return pa.table({"type": pa.array(list(kinds), pa.string()), "ts": times, **columns})


def test_complex_events_come_with_the_batch_in_which_they_end() -> None:
    with cer.compile("SELECT a, b WHERE A AS a ; B AS b WITHIN 4 EVENTS").stream() as stream:
        first = stream.push(batch("AC"))
        second = stream.push(batch("AB", 2))
        third = stream.push(batch("", 4))
        fourth = stream.push(batch("CB", 4))
        # Asked for late, and in another order: a push has fixed what it gives.
        assert [(ce.start, ce.end) for ce in fourth] == [(2, 5)]
        assert [(ce.start, ce.end) for ce in second] == [(0, 3), (2, 3)]
        assert [(ce.start, ce.end) for ce in second] == [(0, 3), (2, 3)]
        assert list(first) == list(third) == []


def test_limit_holds_for_each_push() -> None:
    stream = cer.compile("SELECT * WHERE A ; B").stream(limit=1)
    matches = stream.push(batch("AAB"))
    assert len(matches.to_arrow()) == 1
    assert matches.limited
    stream.close()


def test_order_and_columns_are_checked_across_pushes() -> None:
    stream = cer.compile("SELECT * WHERE A ; B").stream(order_by="ts")
    stream.push(batch("AB", 5))
    with pytest.raises(cer.DataError, match="`extra` is new"):
        stream.push(batch("AB", 9, extra=[1, 2]))
    assert len(list(stream.push(batch("AB", 9)))) == 2
    with pytest.raises(cer.DataError, match=r"row 4 .*is out of order"):
        stream.push(batch("AB", 3))
    assert len(list(stream.push(batch("AB", 20)))) == 3
    stream.close()
    with pytest.raises(cer.DataError, match="the stream is closed: start another"):
        stream.push(batch("AB", 30))


def test_a_stream_cannot_be_sorted() -> None:
    with pytest.raises(ValueError, match="sorted"):
        cer.compile("SELECT * WHERE A").stream(order_by="ts", sort=True)
