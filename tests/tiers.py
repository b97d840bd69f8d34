"""How much of the suite runs: by default one case of each kind, with `--all` everything.

A test that draws random cases says how many there are in all: `@pytest.mark.draws("seed", 60)` runs it with
the seeds 0 to 59, and a loop asks the fixture, `for seed in draws(60)`. Without `--all` it gets the first
sixth of them. `@pytest.mark.large` is for a test, or for one `pytest.param` of it, that runs with `--all`
alone: a smaller one that guards the same runs by default. `@pytest.mark.crossed` is for a test with several
parameters: by default each value of each of them occurs, with `--all` each with each. Hypothesis draws
`EXAMPLES` with `--all`, else a sixth of them; a test that takes long for each says how many itself.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any, TypeAlias

import pytest
from hypothesis import settings

Value: TypeAlias = tuple[object, ...]
"""The names of parameters that are given together, and what a case is given."""

PART = 6
"""One of so many cases is drawn by default."""

EXAMPLES = 500
"""How many examples Hypothesis draws of a property in all."""


def drawn(number: int, config: pytest.Config) -> range:
    """The seeds of a test that has so many in all."""
    return range(number if config.getoption("--all") else -(-number // PART))


def pytest_addoption(parser: pytest.Parser) -> None:
    about = "draw all random cases, and run the tests marked `large`"
    parser.addoption("--all", action="store_true", help=about)


def pytest_configure(config: pytest.Config) -> None:
    number = len(drawn(EXAMPLES, config))
    settings.register_profile("tier", max_examples=number, deadline=None, derandomize=True)
    settings.load_profile("tier")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    for mark in metafunc.definition.iter_markers("draws"):
        name, number = mark.args
        metafunc.parametrize(name, drawn(number, metafunc.config))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("--all"):
        return
    spared = {item for item in items if item.get_closest_marker("large")} | _spared_of_products(items)
    if spared:
        config.hook.pytest_deselected(items=[item for item in items if item in spared])
        items[:] = [item for item in items if item not in spared]


def _spared_of_products(items: list[pytest.Item]) -> set[pytest.Item]:
    """Those cases of the tests marked `crossed` without which each value occurs, too."""
    tests: dict[str, list[Any]] = {}
    for item in items:
        if item.get_closest_marker("crossed") and hasattr(item, "callspec"):
            tests.setdefault(item.nodeid.partition("[")[0], []).append(item)
    spared: set[pytest.Item] = set()
    for cases in tests.values():
        spared.update(cases)
        values = {case: _values(case) for case in cases}
        chosen: Counter[Value] = Counter()
        while missing := set().union(*values.values()) - chosen.keys():
            # of those with most values that are missing, the one whose others were chosen least
            best = max(cases, key=lambda case: _worth(values[case], missing, chosen))
            chosen.update(values[best])
            spared.discard(best)
    return spared


def _worth(values: set[Value], missing: set[Value], chosen: Counter[Value]) -> tuple[int, int]:
    return len(values & missing), -sum(chosen[value] for value in values)


def _values(case: Any) -> set[Value]:
    """Which values a case is given: those of one `parametrize` go together, a fixture has one of its own."""
    given = {name: id(value) for name, value in case.callspec.params.items()}
    marks = [mark.args[0] for mark in case.iter_markers() if mark.name in ("parametrize", "draws")]
    named = [[name.strip() for name in mark.split(",")] if isinstance(mark, str) else mark for mark in marks]
    alone = [[name] for name in given if not any(name in names for names in named)]
    return {(*names, *(given[name] for name in names)) for names in named + alone}


@pytest.fixture(scope="session")
def draws(pytestconfig: pytest.Config) -> Callable[[int], range]:
    """The seeds of a loop that has so many in all."""
    return lambda number: drawn(number, pytestconfig)
