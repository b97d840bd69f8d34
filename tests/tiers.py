"""How much of the suite runs: by default one case of each kind, with `--all` more, with `--every` everything.

A test that draws random cases says how many there are: `@pytest.mark.draws("seed", 60)` runs it with the
seeds 0 to 59, and a loop asks the fixture, `for seed in draws(60)`. With `--all` it gets the first third of
them, by default the first sixth. `@pytest.mark.large` is for a test, or for one `pytest.param` of it, that
does not run by default: a smaller one that guards the same does. `@pytest.mark.crossed` is for a test with
several parameters: by default each value of each of them occurs, with `--all` a third of the other cases as
well, with `--every` each value with each. Hypothesis draws `EXAMPLES` with `--every`, and parts of them as
above; a test that takes long for each says how many itself.

A parallel run begins with the groups that take longest, and ends with kernels that the virtual device has
compiled meanwhile.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any, TypeAlias
from zlib import crc32

import pytest
from hypothesis import settings

Value: TypeAlias = tuple[object, ...]
"""The names of parameters that are given together, and what a case is given."""

PART, PART_OF_ALL = 6, 3
"""One of so many cases is drawn by default, and with `--all`."""

EXAMPLES = 500
"""How many examples Hypothesis draws of a property in all."""

FIRST = ("spark", "virtual device", "site", "typed", "application")
"""Groups each of which keeps one process of a parallel run busy for long."""

LAST = "kernel "
"""How the names of groups begin that find on disk what the virtual device has compiled."""


def drawn(number: int, config: pytest.Config) -> range:
    """The seeds of a test that has so many in all."""
    if config.getoption("--every"):
        return range(number)
    return range(-(-number // (PART_OF_ALL if config.getoption("--all") else PART)))


def pytest_addoption(parser: pytest.Parser) -> None:
    about = f"draw one in {PART_OF_ALL} random cases, not one in {PART}, and run the tests marked `large`"
    parser.addoption("--all", action="store_true", help=about)
    parser.addoption("--every", action="store_true", help="run everything, which takes hours")


def pytest_configure(config: pytest.Config) -> None:
    config.option.all |= config.getoption("--every")
    number = len(drawn(EXAMPLES, config))
    settings.register_profile("tier", max_examples=number, deadline=None, derandomize=True)
    settings.load_profile("tier")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    for mark in metafunc.definition.iter_markers("draws"):
        name, number = mark.args
        metafunc.parametrize(name, drawn(number, metafunc.config))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if getattr(config.option, "loadgroup", False):
        items.sort(key=_turn)
    if config.getoption("--every"):
        return
    spared = _spared_of_products(items)
    if config.getoption("--all"):
        spared = {item for item in spared if crc32(item.nodeid.encode()) % PART_OF_ALL}
    else:
        spared |= {item for item in items if item.get_closest_marker("large")}
    if spared:
        config.hook.pytest_deselected(items=[item for item in items if item in spared])
        items[:] = [item for item in items if item not in spared]


def _turn(item: pytest.Item) -> int:
    """When a test has its turn in a parallel run, in which each group is handed out at its first test."""
    marked = item.get_closest_marker("xdist_group")
    group = str(marked.args[0]) if marked else ""
    return FIRST.index(group) if group in FIRST else len(FIRST) + group.startswith(LAST)


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
