"""How many events a variable may mark, seen from the pattern."""

import pytest

from cer_gpu.language.parser import parse
from cer_gpu.plan.marks import marking_several


@pytest.mark.parametrize(
    ("pattern", "several"),
    [
        ("A AS a ; B AS b", ""),
        ("A AS a ; B+ AS b", "b"),
        ("(A AS a ; B AS b) AS c", "c"),
        ("(A AS a OR B AS a) ; C AS c", ""),
        ("A AS a ; A AS a", "a"),
        ("(A AS a ; B AS b) AND (A AS a ; B AS b)", ""),
        ("(A ; B+) AS a AND (A ; B) AS a", "a"),
        ("A AS a ALL B AS a", "a"),
        ("(A AS a ; B AS b)+ FILTER a[x > 1]", "ab"),
        ("(A AS a) UNLESS (B AS b ; B AS b)", ""),
        ("NXT(A AS a ; B AS b) AS c", "c"),
        ("PROJECT((A AS a ; B+ AS b) | a)", ""),
        ("(NOT (A) ; B AS b) AS a", ""),
    ],
)
def test_variables_that_may_mark_several(pattern: str, several: str) -> None:
    query = parse(f"SELECT * FROM S WHERE {pattern}")
    assert marking_several(query, "abc") == set(several)


def test_types_of_streams() -> None:
    query = parse("SELECT * FROM S, R WHERE (A ; S>B)+")
    assert marking_several(query, ("A", "B", "S>A", "S>B")) == {"A", "B", "S>A", "S>B"}
