"""How much of the suite runs: by default one case of each kind, with `--all` everything.

A test that draws random cases says how many there are in all: `@pytest.mark.draws("seed", 60)` runs it with
the seeds 0 to 59, and a loop asks the fixture, `for seed in draws(60)`. Without `--all` it gets the first
third of them. `@pytest.mark.large` is for a test, or for one `pytest.param` of it, that runs with `--all`
alone: a smaller one that guards the same runs by default. `@pytest.mark.crossed` is for a test with several
`parametrize`: by default each value of each of them occurs, with `--all` each with each.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

PART = 3
"""One of so many cases is drawn by default."""


def drawn(number: int, config: pytest.Config) -> range:
    """The seeds of a test that has so many in all."""
    return range(number if config.getoption("--all") else -(-number // PART))


def pytest_addoption(parser: pytest.Parser) -> None:
    about = "draw all random cases, and run the tests marked `large`"
    parser.addoption("--all", action="store_true", help=about)


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
        if item.get_closest_marker("crossed"):
            tests.setdefault(item.nodeid.partition("[")[0], []).append(item)
    spared: set[pytest.Item] = set()
    for cases in tests.values():
        missing = set().union(*map(_values, cases))
        spared.update(cases)
        while missing:
            most = max(cases, key=lambda case: len(_values(case) & missing))
            missing -= _values(most)
            spared.discard(most)
    return spared


def _values(case: Any) -> set[tuple[int, ...]]:
    """For each of the marks that give a case its parameters, which values it gives."""
    marks = [mark.args[0] for mark in case.iter_markers() if mark.name in ("parametrize", "draws")]
    named = [name.split(",") if isinstance(name, str) else name for name in marks]
    return {
        (number, *(id(case.callspec.params[name.strip()]) for name in names))
        for number, names in enumerate(named)
    }


@pytest.fixture(scope="session")
def draws(pytestconfig: pytest.Config) -> Callable[[int], range]:
    """The seeds of a loop that has so many in all."""
    return lambda number: drawn(number, pytestconfig)
