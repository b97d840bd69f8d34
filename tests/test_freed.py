"""What a run has made is freed when it ends, and not only once Python looks for circles of references."""

import gc

import numpy as np
import pyarrow as pa
import pytest

import cer_gpu as cer
from cer_gpu.engine.read import classify
from cer_gpu.engine.workers import Workers

EVENTS = pa.table(
    {
        "type": pa.DictionaryArray.from_arrays(np.arange(300, dtype=np.int8) % 3, ["A", "B", "C"]),
        "key": np.arange(300) % 7,
        "ts": np.arange(300),
    }
)
QUERIES = [
    "SELECT * WHERE A ; B ; C WITHIN 10 EVENTS",
    "SELECT NEXT * WHERE A ; B+ ; C WITHIN 20 [ts]",
    "SELECT * WHERE A ; B PARTITION BY key WITHIN 20 [ts]",
    "SELECT * WHERE A AS a ; B AS b FILTER a.key = b.key WITHIN 20 [ts]",
    "SELECT * WHERE A ;[<= 5] B ;[<= 5] C",
    "SELECT * WHERE (A ; B ; C) WITHIN [<= 20]",
    "SELECT * WHERE PROJECT(A AS x ; A ;[<= 9] B | x) WITHIN 30 EVENTS",
    "SELECT * WHERE A ; B FOLLOWED BY C WITHIN 10 EVENTS",
    "SELECT * WHERE A ; B WITHIN 10 [key]",
]


@pytest.mark.crossed
@pytest.mark.parametrize("text", QUERIES)
@pytest.mark.parametrize("product", ["hits", "counts", "run"])
def test_a_run_leaves_no_circles(text: str, product: str) -> None:
    query = cer.compile(text)

    def answer() -> int:
        found = getattr(query, product)(EVENTS, order_by="ts")
        return found.num_rows if product != "run" else sum(len(batch) for batch in found.batches())

    assert answer()
    assert answer()
    gc.disable()
    # What other tests have left is not looked at: after some of them that takes seconds.
    gc.freeze()
    try:
        answer()
        gc.set_debug(gc.DEBUG_SAVEALL)
        gc.collect()
        left = [type(one) for one in gc.garbage]
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
        gc.unfreeze()
        gc.enable()
    assert [
        kind for kind in left if kind is np.ndarray or kind.__module__.startswith(("cer_gpu", "pyarrow"))
    ] == []


def test_events_stay_in_their_memory_as_long_as_somebody_has_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(classify, "BLOCK", 8)
    events = EVENTS.to_batches()[0]
    reading = cer.compile("SELECT * WHERE A : B : C").portable(EVENTS.schema).query.reading
    kept = list(classify.Classifier(reading, {}, Workers(1)).in_groups(events, 1000))
    positions = np.concatenate([block[0] for _, blocks in kept for block in blocks])
    assert positions.tolist() == list(range(1000, 1300))
    assert [rows for rows, _ in kept[:-1]] == [8 * classify.FIRST_BLOCKS] * (len(kept) - 1)
    places = set()
    for _, blocks in classify.Classifier(reading, {}, Workers(1)).in_groups(events, 0):
        assert all(block[0].tolist() == list(range(block[0][0], block[0][-1] + 1)) for block in blocks)
        places.update(block[0].ctypes.data for block in blocks)
        del blocks
    assert len(places) <= 3 * classify.FIRST_BLOCKS
