"""The engine's random tests, every query of them on a device: on a GPU many, in the simulator a few."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from random import Random

import pytest
import test_engine_correlated
import test_engine_operators
import test_engine_random
import test_engine_rules
import test_engine_selection
import test_steps_random
from cuda_device import SIMULATED, USABLE, cases
from engine_oracle import check
from generate import stream
from random_rules import random_rule, random_rule_events
from test_cuda_devices import small

from cer_gpu.engine.run import options
from cer_gpu.engine.run.device_choice import asked_devices
from cer_gpu.errors import LimitError

if not USABLE:
    pytest.skip(f"{USABLE.reason}; the simulator runs these tests", allow_module_level=True)

pytestmark = [pytest.mark.gpu, pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning")]

QUERIES = cases(5, 60)


def regular(seed: str) -> None:
    test_engine_random.agree(seed, QUERIES)


def operators(seed: str) -> None:
    rng = Random(seed)
    for query in test_engine_operators.queries_of(rng, QUERIES):
        with contextlib.suppress(LimitError):
            check(query, stream(rng, rng.randrange(4, 11), lap_falls=rng.random() < 0.3), rng)


def selection(seed: str) -> None:
    test_engine_selection.agree(seed, QUERIES)


def correlated(seed: str) -> None:
    found = test_engine_correlated.agree(seed, QUERIES)
    assert found["lifted"] + found["chain"] > QUERIES // 3


def timed(seed: str) -> None:
    test_steps_random.agree(seed, QUERIES)


def rules(seed: str) -> None:
    rng = Random(seed)
    for _ in range(QUERIES):
        rule = random_rule(rng)
        test_engine_rules.check(rule, random_rule_events(rng, rule, rng.randrange(1, 16)), rng)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Every run that does not say where goes to the device; the places that were asked for."""
    places: list[str] = []

    def on_device(device: object) -> tuple[str, ...]:
        found = asked_devices("cuda" if device == "auto" else device)  # type: ignore[arg-type]
        places.extend(found)
        return found

    monkeypatch.setattr(options, "asked_devices", on_device)
    return places


@pytest.mark.parametrize("size", ["pieces"] if SIMULATED else ["whole", "pieces"])
@pytest.mark.draws("seed", 1 if SIMULATED else 6)
@pytest.mark.parametrize("kind", [regular, operators, selection, correlated, timed, rules])
def test_answers_are_those_of_the_reference(
    kind: Callable[[str], None], seed: int, size: str, asked: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    if size == "pieces":
        small(monkeypatch)
    kind(f"on the device {kind.__name__} {seed}")
    assert len(asked) >= 5 * QUERIES // 3
    assert set(asked) == {"cuda:0"}
