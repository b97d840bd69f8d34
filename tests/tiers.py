"""How much of the suite runs: by default one case of each kind, with `--all` everything.

A test that draws random cases says how many there are in all: `@pytest.mark.draws("seed", 60)` runs it with
the seeds 0 to 59, and a loop asks the fixture, `for seed in draws(60)`. Without `--all` it gets the first
third of them. `@pytest.mark.large` is for a test, or for one `pytest.param` of it, that runs with `--all`
alone: a smaller one that guards the same runs by default.
"""

from __future__ import annotations

from collections.abc import Callable

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
    large = [item for item in items if item.get_closest_marker("large")]
    if large:
        config.hook.pytest_deselected(items=large)
        items[:] = [item for item in items if item not in set(large)]


@pytest.fixture(scope="session")
def draws(pytestconfig: pytest.Config) -> Callable[[int], range]:
    """The seeds of a loop that has so many in all."""
    return lambda number: drawn(number, pytestconfig)
