"""Texts that are looked for in texts of other events: CONTAINS, STARTS_WITH and ENDS_WITH of two events."""

from __future__ import annotations

from random import Random
from typing import Any

import pyarrow as pa
import pytest
from cer_gpu.kernels.configurations.contract import BEGINS, CONTAINS, ENDS
from cer_gpu.kernels.configurations.cpu_programs import is_within

import cer_gpu as cer
from cer_gpu.engine.labels import OrderedLabels
from cer_gpu.engine.read.held_texts import TextStore

OF_PYTHON = {
    "CONTAINS": lambda whole, part: part in whole,
    "STARTS_WITH": lambda whole, part: whole.startswith(part),
    "ENDS_WITH": lambda whole, part: whole.endswith(part),
}

INSTRUCTIONS = {"CONTAINS": CONTAINS, "STARTS_WITH": BEGINS, "ENDS_WITH": ENDS}


def text(rng: Random) -> str:
    return "".join(rng.choice("aab\u00e9\U0001f600") for _ in range(rng.randrange(4)))


def test_store_has_the_texts_of_labels_however_they_come_and_go() -> None:
    rng = Random("store")
    labels = OrderedLabels(("a",))
    store = TextStore(labels)
    for turn in range(200):
        labels.take([text(rng) + str(rng.randrange(50)) for _ in range(rng.randrange(1, 6))])
        if turn % 20 == 19:
            labels.keep(_some(rng, labels))
        texts = store.texts()
        assert (texts.label[1:] > texts.label[:-1]).all()
        found = {
            int(label): bytes(texts.byte[begin:end]).decode()
            for label, (begin, end) in zip(texts.label, texts.place, strict=True)
        }
        assert found == {label: value for value, label in labels.of.items()}


def _some(rng: Random, labels: OrderedLabels) -> Any:
    import numpy as np

    return np.array([label for label in labels.of.values() if rng.random() < 0.5], np.int64)


def test_texts_are_looked_for_as_python_does() -> None:
    rng = Random("within")
    labels = OrderedLabels()
    store = TextStore(labels)
    for _ in range(300):
        whole, part = text(rng), text(rng)
        labels.take([whole, part])
        for function, instruction in INSTRUCTIONS.items():
            found = is_within(store.texts(), labels.of[whole], labels.of[part], instruction)
            assert bool(found) == OF_PYTHON[function](whole, part), (function, whole, part)


@pytest.mark.parametrize("function", OF_PYTHON)
@pytest.mark.parametrize("engine", ["batch", "pushes", "snapshots"])
def test_two_events_agree_by_their_texts(function: str, engine: str) -> None:
    rng = Random(f"{function} {engine}")
    rows = [(rng.choice("AB"), None if rng.random() < 0.1 else text(rng), at) for at in range(60)]
    query = cer.compile(f"SELECT * WHERE A AS a ; B AS b FILTER {function}(b.s, a.s) WITHIN 20 EVENTS")
    table = pa.table({"type": [row[0] for row in rows], "s": [row[1] for row in rows]})
    wanted = [
        (first, last)
        for last, (kind, whole, _) in enumerate(rows)
        for first, (other, part, _) in enumerate(rows[:last])
        if (other, kind) == ("A", "B") and last - first <= 20 and whole is not None and part is not None
        if OF_PYTHON[function](whole, part)
    ]
    assert "in Python" not in query.explain(events=table, verbose=True)
    if engine == "batch":
        found = query.run(table).to_arrow()
        assert query.count(table) == len(wanted) > 10
        assert list(zip(*(found[name].to_pylist() for name in ("start", "end")), strict=True)) == wanted
        return
    stream, pairs = query.stream(), []
    for at in range(0, len(rows), 7):
        if engine == "snapshots" and at:
            stream = query.stream(stream.snapshot())
        found = stream.push(table.slice(at, 7)).to_arrow()
        pairs += zip(*(found[name].to_pylist() for name in ("start", "end")), strict=True)
    stream.close()
    assert pairs == wanted
