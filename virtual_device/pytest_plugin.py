"""A plugin of pytest: the tests of a run find virtual devices, and a fault on one fails the test.

`python -m pytest -p virtual_device.pytest_plugin --virtual-device lazy,order=random tests/test_kernels.py`
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from virtual_device.device import VirtualDevice, install, installed
from virtual_device.settings import Settings


def pytest_addoption(parser: pytest.Parser) -> None:
    about = "settings of the virtual devices, such as `lazy,order=random,seed=7,devices=2`"
    parser.addoption("--virtual-device", default="", help=about)


def pytest_load_initial_conftests(early_config: pytest.Config) -> None:
    """Before any module of the tests is imported."""
    install(Settings.parse(early_config.known_args_namespace.virtual_device))


@pytest.fixture
def device() -> Iterator[VirtualDevice]:
    """The virtual devices, which have no fault yet; they get their settings back afterwards."""
    found = installed()
    assert found is not None
    own = found.settings
    found.reset()
    yield found
    found.configure(own)
    found.reset()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    device = installed()
    assert device is not None
    device.reset()
    yield
    expected = item.get_closest_marker("virtual_device_faults")
    faults = device.faults()
    if faults and expected is None:
        pytest.fail("the virtual device found\n" + "\n".join(faults), pytrace=False)


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers", "virtual_device_faults: faults on a virtual device do not fail the test"
    )
