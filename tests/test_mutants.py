"""The tables of planted faults fit the code: what should stand there does, and the tests are there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from faults import TABLES
from faults.fault import Fault
from mutants import planted

TESTS = Path(__file__).resolve().parent

ALL = [fault for table in TABLES.values() for fault in table]


@pytest.mark.parametrize("table", TABLES)
def test_what_should_stand_there_is_found_exactly_once(table: str) -> None:
    for fault in TABLES[table]:
        text = planted(fault)
        if fault.file.endswith(".py"):
            compile(text, fault.file, "exec")


def test_the_tests_of_each_fault_are_there() -> None:
    for fault in ALL:
        assert fault.tests
        for test in fault.tests:
            file, _, name = test.partition("::")
            text = (TESTS / file).read_text(encoding="utf-8")
            name = name.partition("[")[0] or "test_"
            function = re.search(rf"(?:^@.*\n(?:^[ )].*\n)*)*^def {name}", text, re.MULTILINE)
            assert function is not None, test
            assert "@pytest.mark.large\n" not in function.group(), f"{test} does not run by default"


def test_each_fault_is_planted_once_and_breaks_a_rule_that_is_said() -> None:
    assert len({(fault.file, fault.right, fault.wrong) for fault in ALL}) == len(ALL) >= 60
    for fault in ALL:
        assert re.fullmatch(r"[A-Z][^\n]*\.", fault.rule), fault.rule


def test_text_that_is_not_there_or_stands_there_twice_is_an_error() -> None:
    fault = ALL[0]
    for right in ("no such text", "\n"):
        with pytest.raises(ValueError, match="not once"):
            planted(Fault(fault.file, right, "", "A rule.", fault.tests))
