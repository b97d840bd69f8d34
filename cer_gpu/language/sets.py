"""The members of a set, `IN {1, 2, 7..9, 'x'}`: read from one token, and located for messages."""

from __future__ import annotations

import json
import math
import operator
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple, cast

from cer_gpu.errors import Span
from cer_gpu.language.amounts import number_of
from cer_gpu.language.findings import Findings
from cer_gpu.language.tree import End, Members, Number
from cer_gpu.language.words import text_of

_LARGEST = 2**63 - 1

_STRINGS = re.compile(r"('[^']*(?:''[^']*)*')")
_TOKEN = re.compile(
    r"(?P<comment>--[^\n]*|/\*.*?\*/)"
    r"|(?P<text>'[^']*(?:''[^']*)*')"
    r"|(?P<sign>-)"
    r"|(?P<number>(?:[0-9]+(?:\.[0-9]+)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)"
    r"|(?P<dots>\.\.)"
    r"|(?P<word>\w+)"
    r"|(?P<comma>,)",
    re.DOTALL,
)


class _Member(NamedTuple):
    # A member as it is written: a string, or the ends of a range, which are one for a number.
    text: str | None
    low: tuple[str, Span, bool] | None
    high: tuple[str, Span, bool] | None
    ranged: bool
    unit: bool
    span: Span


def members_of(token: str, start: int, findings: Findings) -> Members:
    """The members of a set of numbers, ranges of them and strings.

    Parameters
    ----------
    token : str
        `IN {...}`, as the grammar's INSET has it.
    start : int
        Where it begins in the query.
    findings : Findings
        Told of numbers that do not fit.
    """
    brace = token.index("{")
    written = token[brace:]
    start += brace
    found = _plain(written)
    if found is not None:
        return Members(*found, written=written, start=start)
    texts = _texts(written)
    if texts is not None:
        return Members(texts=texts, written=written, start=start)
    numbers: list[int | float] = []
    lows: list[End] = []
    highs: list[End] = []
    strings: list[str] = []

    def value(end: tuple[str, Span, bool] | None) -> int | float | None:
        return None if end is None else number_of(end[0], end[1], findings, negative=end[2], unsigned=True)

    for member in _members(written, start):
        if member.text is not None:
            strings.append(text_of(member.text))
        elif member.ranged:
            lows.append(value(member.low))
            highs.append(value(member.high))
        else:
            number = value(member.low)
            assert number is not None
            numbers.append(number)
    return Members(tuple(numbers), tuple(lows), tuple(highs), tuple(strings), written=written, start=start)


def only_range(members: Members) -> tuple[Number | None, Number | None] | None:
    """The two ends of a set that is one range of numbers; None for any other set."""
    if not len(members) == len(members.lows) == 1:
        return None
    (member,) = _parsed(members)
    low, high = (
        None if written is None else Number(cast(float, value), span=written[1])
        for written, value in ((member.low, members.lows[0]), (member.high, members.highs[0]))
    )
    return low, high


def has_empty_range(members: Members) -> bool:
    """Whether the low end of a range of numbers is above its high end."""
    if members.end_kinds <= {int, float}:
        return any(map(operator.gt, members.lows, members.highs))  # type: ignore[arg-type]
    return any(
        isinstance(low, int | float) and isinstance(high, int | float) and low > high
        for low, high in zip(members.lows, members.highs)
    )


def place_of_number(members: Members) -> Span | None:
    """Where the first number or range of numbers of a set stands."""
    return next((one.span for one in _parsed(members) if one.text is None and not one.unit), None)


def place_of_text(members: Members, index: int) -> Span | None:
    """Where a string of a set stands; `index` counts its strings."""
    texts = (one.span for one in _parsed(members) if one.text is not None)
    return next((span for number, span in enumerate(texts) if number == index), None)


def _plain(written: str) -> tuple[tuple[int | float, ...], tuple[End, ...], tuple[End, ...]] | None:
    """The numbers, low ends and high ends of a set without strings; None where one might not fit."""
    if "'" in written:
        return None
    inner = written[1:-1]
    ranges, members = inner.count(".."), inner.count(",") + 1
    if ranges in (0, members) and (found := _all_numbers(inner.replace("..", ","))) is not None:
        if ranges:
            starts, stops = tuple(found[0::2]), tuple(found[1::2])
            return ((), starts, stops) if _fit(starts) and _fit(stops) else None
        return (tuple(found), (), ()) if _fit(found) else None
    parts = inner.split(",")
    try:
        if not ranges:
            numbers = _numbers(parts)
            return (numbers, (), ()) if _fit(numbers) else None
        pairs = [part.partition("..") for part in parts]
        numbers = _numbers([low for low, dots, _ in pairs if not dots])
        pairs = [pair for pair in pairs if pair[1]]
        lows, highs = _ends([low for low, _, _ in pairs]), _ends([high for _, _, high in pairs])
        if _fit(numbers) and _fit(lows) and _fit(highs):
            return numbers, lows, highs
    except ValueError:  # `- 5`, with a space; or more digits than Python reads
        pass
    return None


def _texts(written: str) -> tuple[str, ...] | None:
    """The strings of a set that has nothing else."""
    if "''" not in written:
        pieces = written[1:-1].split("'")
        between, texts = pieces[0::2], tuple(pieces[1::2])
    else:
        pieces = _STRINGS.split(written[1:-1])
        between, texts = pieces[0::2], tuple([one[1:-1].replace("''", "'") for one in pieces[1::2]])
    return texts if {one.strip() for one in set(between)} <= {"", ","} else None


def _all_numbers(written: str) -> list[int | float] | None:
    """The numbers of a list of them, all at once; None where one is not written as JSON has it."""
    try:
        found = json.loads(f"[{written}]")
    except ValueError:
        return None
    return found if set(map(type, found)) <= {int, float} else None


def _numbers(written: Sequence[str]) -> tuple[int | float, ...]:
    try:
        return tuple(map(int, written))
    except ValueError:
        return tuple(float(one) if "." in one or "e" in one or "E" in one else int(one) for one in written)


def _ends(written: Sequence[str]) -> tuple[int | float | None, ...]:
    if all(map(str.strip, written)):
        return _numbers(written)
    return tuple(_numbers([one])[0] if one.strip() else None for one in written)


def _fit(numbers: Sequence[int | float | None]) -> bool:
    kinds = set(map(type, numbers))
    if kinds == {int}:
        return min(numbers) >= -_LARGEST and max(numbers) <= _LARGEST  # type: ignore[type-var, operator]
    if kinds == {float}:
        return all(map(math.isfinite, numbers))  # type: ignore[arg-type]
    known = [number for number in numbers if number is not None]
    whole = [number for number in known if type(number) is int]
    if whole and (min(whole) < -_LARGEST or max(whole) > _LARGEST):
        return False
    return all(map(math.isfinite, known))


def _parsed(members: Members) -> Iterator[_Member]:
    return _members(members.written, members.start)


def _members(written: str, start: int) -> Iterator[_Member]:
    """The members of a set that the grammar has accepted, one after another."""
    text: str | None = None
    ends: list[tuple[str, Span, bool] | None] = [None, None]
    negative = ranged = unit = False
    first = last = -1
    for found in _TOKEN.finditer(written):
        kind, at = found.lastgroup, found.start()
        if kind == "comment":
            continue
        if kind == "comma":
            yield _Member(text, ends[0], ends[1], ranged, unit, Span(start + first, start + last))
            text, ends, negative, ranged, unit, first = None, [None, None], False, False, False, -1
            continue
        first, last = at if first < 0 else first, found.end()
        if kind == "text":
            text = found[0]
        elif kind == "sign":
            negative = True
        elif kind == "number":
            ends[ranged] = (found[0], Span(start + at, start + last), negative)
            negative = False
        elif kind == "dots":
            ranged = True
        else:  # a unit, TRUE or FALSE
            unit = True
    yield _Member(text, ends[0], ends[1], ranged, unit, Span(start + first, start + last))
