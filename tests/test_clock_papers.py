"""Section 6 of the timed CEL paper on the engine: Example 6.2, and what Theorem 6.1 takes and promises."""

from __future__ import annotations

from random import Random

import pyarrow as pa
import pytest
from cer_gpu.kernels.clock.contract import LABEL, RESET
from clocked_validator import check_lists, check_nodes
from generate import stream, stream_to_table
from random_one_clock import one_clock_query
from test_papers_timed_cel import FIGURE_1, PADRES, PHI_1_TIMED, PHI_2, PHI_NON_DET, answers

import cer_gpu as cer
from cer_gpu.engine.machines.one_clock_stream import ClockRuns
from cer_gpu.language.parser import parse
from cer_gpu.language.printer import to_text
from cer_gpu.plan.lower import BY_NAME
from cer_gpu.plan.lower.lowering import Refusal
from cer_gpu.plan.outline import outline

KEYWORDS = {"order_by": "time", "order_unit": "s"}


def figure_1() -> pa.Table:
    rows = [{"type": event.type, "temp": None, "hum": None, **event.attributes} for event in FIGURE_1]
    return pa.Table.from_pylist(rows)


@pytest.mark.parametrize("pattern", [PHI_1_TIMED.format(op=">="), PHI_2])
def test_example_6_2(pattern: str) -> None:
    """Both formulas have one clock once they are deterministic, and are monotonic."""
    query = cer.compile(f"SELECT * WHERE {pattern}")
    assert "deterministic with one clock, which is compared by `<=` only (Theorem 6.1)" in query.explain(
        engine="clock", verbose=True
    )
    wanted = [(one.start, one.end, dict(one.marks)) for one in answers(pattern)]
    assert wanted
    for engine in ("auto", "clock"):
        found = query.run(figure_1(), **KEYWORDS, engine=engine)
        assert [(one.start, one.end, {k: v for k, v in one.marks.items() if v}) for one in found] == wanted
    with query.stream(**KEYWORDS, engine="clock") as pushed:
        rows = [one for at in range(9) for one in pushed.push(figure_1().slice(at, 1))]
        assert isinstance(pushed._state._runs, ClockRuns)
    assert [(one.start, one.end, {k: v for k, v in one.marks.items() if v}) for one in rows] == wanted


@pytest.mark.parametrize(
    ("pattern", "reason"),
    [
        (PADRES, "its intervals bound the clock from above and from below"),
        (PHI_NON_DET, "two partial matches with the same marks measure time from different events"),
        ("(A ; B ;[<= 1 s] C) WITHIN [<= 5 s]", "it needs 2 clocks"),
        ("A ;[= 2 s] B", "its intervals bound the clock from above and from below"),
        ("A ; B", "its pattern has no interval of time"),
    ],
)
def test_explain_says_why_theorem_6_1_does_not_apply(pattern: str, reason: str) -> None:
    text = f"SELECT * WHERE {pattern}"
    refusal = BY_NAME["clock"].lower(outline(parse(text), text))
    assert isinstance(refusal, Refusal)
    assert refusal.reason == reason


def test_the_invariants_hold_after_every_push(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cer_gpu.engine.machines.stream_state.LEAST", 4)
    monkeypatch.setattr("cer_gpu.engine.machines.stream_state.LOOK", 2)
    rng = Random("invariants")
    gadgets = 0
    for _ in range(16):
        query = cer.compile(to_text(one_clock_query(rng)))
        events = stream_to_table(stream(rng, 30))
        with query.stream(order_by="ts", stream_column="stream", engine="clock") as pushed:
            for at in range(0, 30, 3):
                pushed.push(events.slice(at, 3))
                structure = pushed._state._runs if pushed._state is not None else None
                if isinstance(structure, ClockRuns):
                    check_nodes(structure)
                    check_lists(structure)
                    gadgets += int((structure.arena[1 : structure.n_nodes, LABEL] <= RESET).sum())
    assert gadgets > 20


MEMORY = [
    ("SELECT * WHERE A ;[<= 50 ms] B ;[<= 30 ms] C", 400),
    ("SELECT * WHERE A ;[<= 50 ms] B PARTITION BY key", 400),
    ("SELECT * WHERE (A ; B+ ; C) WITHIN [<= 20 ms] ; D WITHIN 40 MILLISECONDS", 400),
    ("SELECT * WHERE A ;[>= 20 ms] B ; C WITHIN 60 MILLISECONDS", 400),
    ("SELECT * WHERE (A ; B) WITHIN [>= 5 ms] ; C PARTITION BY key WITHIN 30 MILLISECONDS", 400),
]


@pytest.mark.parametrize(("text", "most"), MEMORY)
def test_what_can_no_longer_matter_is_freed(text: str, most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also without a window, where intervals bound times from above."""
    monkeypatch.setattr("cer_gpu.engine.machines.stream_state.LEAST", 128)
    rng = Random(text)
    sizes, found = [], 0
    with cer.compile(text).stream(order_by="ts", order_unit="ms", engine="clock") as pushed:
        for at in range(0, 12_000, 100):
            rows = {
                "type": [rng.choice("ABCD") for _ in range(100)],
                "ts": range(at, at + 100),
                "key": [rng.choice("xyz") for _ in range(100)],
            }
            found += len(pushed.push(pa.table(rows)).to_arrow())
            sizes.append(pushed._state.nbytes)
            assert pushed._state.count <= most
    assert found > 1000
    assert max(sizes[60:]) <= 1.5 * max(sizes[:60])
