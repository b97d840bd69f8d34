"""What runs by default: a sixth of the draws, no large test, and each value of a product of parameters."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
import tiers

TESTS = """
import pytest

@pytest.mark.draws("seed", 13)
def test_drawn(seed):
    pass

@pytest.mark.parametrize("size", [1, pytest.param(9, marks=pytest.mark.large)])
def test_sizes(size):
    pass

@pytest.fixture(params=["on", "off"])
def switch(request):
    pass

@pytest.mark.crossed
@pytest.mark.parametrize("letter", ["x", "y", "z"])
@pytest.mark.parametrize(("a", "b"), [(1, 2), (1, 3), (2, 2), (2, 3)])
def test_crossed(letter, a, b, switch):
    pass
"""


GROUPS = """
import pytest

@pytest.mark.xdist_group("kernel classify")
def test_linked():
    pass

def test_plain():
    pass

@pytest.mark.xdist_group("virtual device")
def test_executed():
    pass

@pytest.mark.xdist_group("spark")
def test_spark():
    pass
"""


class _Parallel:
    """A plugin that says what pytest-xdist says in a process of `--dist loadgroup`."""

    def pytest_configure(self, config: pytest.Config) -> None:
        config.option.loadgroup = True


class _Seen:
    """A plugin that notes which tests would run."""

    names: tuple[str, ...] = ()

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        self.names = tuple(item.name for item in session.items)


def collected(folder: Path, *flags: str, text: str = TESTS, more: Sequence[object] = ()) -> tuple[str, ...]:
    """The names of the tests of a text; each text has a module of its own, which is imported once."""
    path, seen = folder / f"test_tiers_{len(text)}.py", _Seen()
    path.write_text(text, encoding="utf-8")
    own = ["-c", str(folder / "none.ini"), "--rootdir", str(folder), "--import-mode=importlib"]
    (folder / "none.ini").write_text("[pytest]\n", encoding="utf-8")
    asked = [*own, "-p", "no:cacheprovider", "-W", "ignore", "--collect-only", "-qq", str(path), *flags]
    assert pytest.main(asked, plugins=[tiers, seen, *more]) == 0
    return seen.names


@pytest.mark.usefixtures("capsys")
def test_a_sixth_of_the_draws_and_each_value_of_a_product(tmp_path: Path) -> None:
    names = collected(tmp_path)
    assert [name for name in names if "drawn" in name] == [f"test_drawn[{seed}]" for seed in range(3)]
    assert [name for name in names if "sizes" in name] == ["test_sizes[1]"]
    crossed = [name.removesuffix("]").partition("[")[2] for name in names if "crossed" in name]
    assert len(crossed) == 4
    for value in ("x", "y", "z", "1-2", "1-3", "2-2", "2-3"):
        assert any(value in name for name in crossed), value
    assert sum("on" in name for name in crossed) == sum("off" in name for name in crossed) == 2


@pytest.mark.usefixtures("capsys")
def test_with_all_there_are_more(tmp_path: Path) -> None:
    names, least = collected(tmp_path, "--all"), collected(tmp_path)
    assert set(least) < set(names)
    assert [name for name in names if "drawn" in name] == [f"test_drawn[{seed}]" for seed in range(5)]
    assert [name for name in names if "sizes" in name] == ["test_sizes[1]", "test_sizes[9]"]
    assert 4 < len([name for name in names if "crossed" in name]) < 4 * 3 * 2


@pytest.mark.usefixtures("capsys")
def test_with_every_nothing_is_left_out(tmp_path: Path) -> None:
    assert len(collected(tmp_path, "--every")) == 13 + 2 + 4 * 3 * 2


@pytest.mark.usefixtures("capsys")
def test_a_parallel_run_begins_with_the_longest_groups(tmp_path: Path) -> None:
    alone = collected(tmp_path, text=GROUPS)
    assert alone == ("test_linked", "test_plain", "test_executed", "test_spark")
    parallel = collected(tmp_path, text=GROUPS, more=[_Parallel()])
    assert parallel == ("test_spark", "test_executed", "test_plain", "test_linked")
