"""Fixtures that more than one test file asks for, and modules that are there before any test begins."""

import signal
import sys
from importlib import import_module
from pathlib import Path

import pytest
from built_site import site
from spark_sessions import connect, short_lived_java, small_tasks, spark
from tiers import (
    draws,
    pytest_addoption,
    pytest_collection_modifyitems,
    pytest_configure,
    pytest_generate_tests,
)

import cer_gpu
from cer_gpu.compiling import helper_pool

__all__ = [
    "connect",
    "draws",
    "pytest_addoption",
    "pytest_collection_modifyitems",
    "pytest_configure",
    "pytest_generate_tests",
    "short_lived_java",
    "site",
    "small_tasks",
    "spark",
]

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # A shell lets what it runs in the background ignore interrupts. What tests start would do so too, and
    # would never end where a test interrupts it.
    signal.signal(signal.SIGINT, signal.default_int_handler)

helper_pool.IDLE_S = 600.0
"""To start a process that compiles costs three times as much as a kernel, and tests need one now and then."""

CAPTURING = {"capfd", "capsys", "capsysbinary"}
"""Fixtures by which a test reads what is printed: warnings are part of it."""


def pytest_itemcollected(item: pytest.Item) -> None:
    """Show the warnings of the package where a test reads them."""
    if CAPTURING.intersection(getattr(item, "fixturenames", ())):
        item.add_marker(pytest.mark.filterwarnings("default::UserWarning"), append=False)


@pytest.fixture(autouse=True)
def _checked_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """On virtual devices, which other processes do not have, this process checks a device."""
    module = sys.modules.get("virtual_device.device")
    if module is not None and module.installed():
        findings = import_module("cer_gpu.engine.cuda.check.findings")
        monkeypatch.setattr(findings, "check_in_process", findings.check_here)


WHOLE = ("automata", "backtesting", "engine", "enumeration", "plan")
"""The folders of which all is imported, but for what is only for devices."""


def _import_all() -> None:
    """Import what is else imported when it is first needed.

    Tests make constants of modules small. A module that was imported meanwhile, and takes such a constant
    from another one, would keep the small one for all tests that come later in the process.
    """
    top = Path(cer_gpu.__file__).parent
    for folder in WHOLE:
        for path in (top / folder).rglob("*.py"):
            parts = path.relative_to(top.parent).with_suffix("").parts
            if "cuda" not in parts and parts[-1] != "__init__":
                import_module(".".join(parts))


_import_all()
