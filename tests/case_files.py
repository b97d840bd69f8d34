"""The case files of `tests/cases`: queries on small streams, with their answers."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from cer_gpu.reference.events import Duration, Event, Instant, Value
from cer_gpu.reference.semantics import Answer

FOLDER = Path(__file__).parent / "cases"
RULES = ("rules_disconnected", "rules_hierarchical", "rules_selfjoin", "rules_theta")
FAMILIES = tuple(path.stem for path in sorted(FOLDER.glob("*.jsonl")))
PATTERNS = tuple(family for family in FAMILIES if family not in RULES)
"""The families whose queries are patterns, not rules."""


def cases(*families: str) -> Iterator[dict[str, Any]]:
    """The cases of some families, or of all pattern families."""
    for family in families or PATTERNS:
        for line in (FOLDER / f"{family}.jsonl").read_text().splitlines():
            yield json.loads(line)


def events_of(case: Mapping[str, Any]) -> list[Event]:
    """The stream of a case."""
    return [_event(case, event) for event in case["events"]]


def _event(case: Mapping[str, Any], event: Mapping[str, Any]) -> Event:
    kinds = case["types"][event["type"]]
    values = {**event["attrs"], case["order_by"]: event["ts"]}
    return Event(event["type"], {name: _value(kinds[name], value) for name, value in values.items()})


def _value(kind: str, value: Any) -> Value:
    if value is None:
        return None
    if kind.startswith("timestamp"):
        return Instant(value, kind.removeprefix("timestamp[").removesuffix("]"))
    if kind == "float64":
        return math.nan if value == "NaN" else float(value)
    return value


Found = tuple[int, int, tuple[tuple[str, tuple[int, ...]], ...], tuple[tuple[str, str], ...]]


def plain(start: int, end: int, marks: Mapping[str, Any], measures: Mapping[str, Any] | None = None) -> Found:
    """A complex event as a value that hashes: start, end, the marks by variable, and the measures.

    Floats count to nine digits; times and durations are numbers in the unit of their column.
    """
    kept = ((name, tuple(positions)) for name, positions in sorted(marks.items()) if len(positions))
    measured = ((name, _said(value)) for name, value in sorted((measures or {}).items()))
    return start, end, tuple(kept), tuple(measured)


def _said(value: Any) -> str:
    if isinstance(value, Instant | Duration):
        value = value.count
    return f"{value:.9g}" if isinstance(value, float) else repr(value)


def expected_of(case: Mapping[str, Any]) -> set[Found]:
    """The complex events that a case expects, or among which it lets an engine choose."""
    return {plain(one["start"], one["end"], one["marks"], one.get("measures")) for one in case["expected"]}


def found_in(answers: tuple[Answer, ...]) -> list[Found]:
    """The complex events of an answer of the reference."""
    return [plain(one.start, one.end, one.marks, one.measures) for one in answers]


def assert_answers(case: Mapping[str, Any], found: list[Found]) -> None:
    """Check the complex events that an engine gives for a case.

    `exact`: they are the expected ones. `per_end n`: at every end position min(n, expected there) of the
    expected ones, whichever.
    """
    expected = expected_of(case)
    assert len(set(found)) == len(found), "a complex event is given twice"
    if case["check"]["kind"] == "exact":
        assert set(found) == expected
        return
    assert set(found) <= expected
    there = Counter(end for _, end, *_ in expected)
    assert Counter(end for _, end, *_ in found) == {
        end: min(case["check"]["n"], count) for end, count in there.items()
    }
