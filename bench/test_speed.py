"""The same runs under pytest-benchmark, at a tenth of the size, to compare one commit with another.

python -m pytest bench --benchmark-autosave
python -m pytest bench --benchmark-compare
"""

from __future__ import annotations

import pyarrow as pa
import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from bench import answers
from bench.queries import KeyedSteps, ThreeSteps
from bench.sections import SHARES, WINDOWS
from bench.sizes import Sizes
from bench.streams import codes_of, make_table, values_of

SIZES = Sizes().scaled(0.1)
ROUNDS = {"rounds": SIZES.runs, "warmup_rounds": 1}


@pytest.fixture(scope="module")
def events() -> pa.Table:
    return make_table(SIZES.events, ("type", "price"))


@pytest.fixture(scope="module")
def keyed_events() -> pa.Table:
    return make_table(Sizes().keyed, ("type", "key", "ts"))


@pytest.mark.parametrize("kept", SHARES)
def test_masks(benchmark: BenchmarkFixture, events: pa.Table, kept: float) -> None:
    """The reference: NumPy's masks of the filters alone."""
    arrays = (codes_of(events), values_of(events, "price"))
    benchmark.pedantic(ThreeSteps(kept=kept).masks, args=arrays, **ROUNDS)


@pytest.mark.parametrize("kept", SHARES)
@pytest.mark.parametrize("answer", [answers.hits, answers.counts])
def test_three_steps(benchmark: BenchmarkFixture, events: pa.Table, answer, kept: float) -> None:  # type: ignore[no-untyped-def]
    benchmark.pedantic(answer(ThreeSteps(kept=kept), events), **ROUNDS)


@pytest.mark.parametrize("within", WINDOWS)
@pytest.mark.parametrize("answer", [answers.hits, answers.counts])
def test_windows(benchmark: BenchmarkFixture, events: pa.Table, answer, within: int) -> None:  # type: ignore[no-untyped-def]
    benchmark.pedantic(answer(ThreeSteps(within=within), events), **ROUNDS)


def test_enumeration(benchmark: BenchmarkFixture, events: pa.Table) -> None:
    run, number = answers.enumeration(ThreeSteps(kept=0.2), events.slice(0, SIZES.enumerated))
    benchmark.extra_info["complex_events"] = number
    benchmark.pedantic(run, **ROUNDS)


@pytest.mark.parametrize("within", SIZES.keyed_windows)
def test_keyed(benchmark: BenchmarkFixture, keyed_events: pa.Table, within: int) -> None:
    run, number = answers.keyed(KeyedSteps(within), keyed_events)
    benchmark.extra_info["complex_events"] = number
    benchmark.pedantic(run, **ROUNDS)
