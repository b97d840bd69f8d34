"""Worked examples of the timed CEL paper, by number, on the reference.

Positions are those of the paper less one, since the paper counts from 1. Examples 2.2, 2.3 and 3.1 ask for
`temp > 40` and name an event of exactly 40 degrees; they hold with `temp >= 40`, which is used here.
"""

from __future__ import annotations

from cer_gpu.language.parser import parse
from cer_gpu.reference.events import Event
from cer_gpu.reference.semantics import Answer, evaluate

FIGURE_1 = tuple(
    Event(kind, {"temp" if kind == "T" else "hum": value, "time": time})
    for kind, value, time in (
        ("H", 25, 1.2),
        ("T", 45, 1.33),
        ("H", 20, 2.5),
        ("H", 25, 3.7),
        ("T", 40, 4.5),
        ("T", 42, 5.3),
        ("T", 25, 5.9),
        ("H", 70, 6.1),
        ("H", 18, 7.2),
    )
)
"""The timed stream of Figure 1, in seconds."""

C1 = Answer(4, 8, {"X": (4,), "Y": (8,)})
C2 = Answer(1, 8, {"X": (1,), "Y": (8,)})

PHI_1 = "PROJECT((T AS X ; T ; H AS Y) FILTER T[temp {op} 40] AND H[hum < 25] | X, Y)"
PHI_1_TIMED = (
    "PROJECT(((T AS X ;[<= 1 s] T ; H AS Y) WITHIN [<= 5 s]) FILTER T[temp {op} 40] AND H[hum < 25] | X, Y)"
)
PHI_2 = (
    "PROJECT((H AS X :[<= 1 s] (T :+[<= 1 s]) :[<= 1 s] H AS Y) FILTER X[hum < 30] AND Y[hum > 30] | X, Y, T)"
)


def answers(pattern: str) -> tuple[Answer, ...]:
    return evaluate(parse(f"SELECT * WHERE {pattern}"), FIGURE_1, order="time", order_unit="s")


def test_example_2_3() -> None:
    found = answers(PHI_1.format(op=">="))
    assert C1 in found
    assert C2 in found
    assert found == (C2, C1)


def test_example_2_3_as_printed_misses_c1() -> None:
    assert answers(PHI_1.format(op=">")) == (C2,)


def test_example_3_1() -> None:
    found = answers(PHI_1_TIMED.format(op=">="))
    assert C1 in found
    assert C2 not in found
    assert found == (C1,)


def test_example_3_2() -> None:
    assert answers(PHI_2) == (Answer(3, 7, {"T": (4, 5, 6), "X": (3,), "Y": (7,)}),)
