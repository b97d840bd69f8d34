"""Zones: sets of clock valuations given by bounds on clocks and on differences of two (proof of Theorem 5.4).

A zone is a union of clock regions. Runs are explored zone by zone, many regions at a time, so that the size
of the constants does not matter. Bounds above the greatest constant of a clock are dropped (Extra_M): no
condition notices, and finitely many zones are left.

A bound is an int, `2 * c + 1` for `<= c` and `2 * c` for `< c`; constants are whole here.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import TypeAlias

from cer_gpu.automata.timed.clocks import Check

Zone: TypeAlias = tuple[tuple[int, ...], ...]
"""`zone[i][j]` bounds clock i - 1 less clock j - 1, where "clock -1" is always 0. Closed: no bound can be
tightened by others."""

NO_BOUND = 1 << 200
AT_MOST_ZERO = 1


def at_most(constant: int, strict: bool = False) -> int:
    """The bound `<= constant`, or `< constant`."""
    return 2 * constant + (not strict)


def added(one: int, other: int) -> int:
    """The bound of a sum."""
    if one >= NO_BOUND or other >= NO_BOUND:
        return NO_BOUND
    return one + other - ((one | other) & 1)


NO_CLOCKS: Zone = ((AT_MOST_ZERO,),)
"""The zone without clocks."""


def bounds_of(check: Check, scale: int) -> list[tuple[int, int, int]]:
    """A check as bounds (i, j, bound) of a zone whose constants are `scale` times as large."""
    clock, constant = check.clock + 1, int(check.constant * scale)
    found = []
    if check.op in ("<", "<=", "="):
        found.append((clock, 0, at_most(constant, check.op == "<")))
    if check.op in (">", ">=", "="):
        found.append((0, clock, at_most(-constant, check.op == ">")))
    return found


def later(zone: Zone) -> Zone:
    """The valuations after any time, also none."""
    return tuple((row[0] if i == 0 else NO_BOUND, *row[1:]) for i, row in enumerate(zone))


def constrained(zone: Zone, bounds: Iterable[tuple[int, int, int]]) -> Zone | None:
    """The valuations that satisfy bounds (i, j, bound); None if there are none."""
    rows = [list(row) for row in zone]
    for i, j, bound in bounds:
        if bound >= rows[i][j]:
            continue
        if added(bound, rows[j][i]) < AT_MOST_ZERO:
            return None
        rows[i][j] = bound
        for one in range(len(rows)):
            for other in range(len(rows)):
                rows[one][other] = min(rows[one][other], added(added(rows[one][i], bound), rows[j][other]))
    return tuple(map(tuple, rows))


def reshaped(zone: Zone, sources: Sequence[int]) -> Zone:
    """The valuations of other clocks, each the copy of one, or of the constant 0.

    Parameters
    ----------
    zone : Zone
    sources : sequence of int
        For each clock of the result the row that it copies: 0 for a clock that is reset. Clocks that nothing
        copies are left out.
    """
    rows = (0, *sources)
    return tuple(
        tuple(AT_MOST_ZERO if i == j else zone[one][other] for j, other in enumerate(rows))
        for i, one in enumerate(rows)
    )


def extrapolated(zone: Zone, greatest: Sequence[int]) -> Zone:
    """The zone without the bounds that no condition can notice: Extra_M.

    Parameters
    ----------
    zone : Zone
    greatest : sequence of int
        For each clock the greatest constant that it is compared with.
    """
    top = [0, *greatest]
    rows = [list(row) for row in zone]
    changed = False
    for i, row in enumerate(rows):
        for j, bound in enumerate(row):
            if i != j and i and at_most(top[i]) < bound < NO_BOUND:
                row[j] = NO_BOUND
                changed = True
            elif i != j and bound < at_most(-top[j], True):
                row[j] = at_most(-top[j], True)
                changed = True
    return closed(rows) if changed else zone


def closed(rows: list[list[int]]) -> Zone:
    """Bounds, each tightened by all others."""
    for k in range(len(rows)):
        for i in range(len(rows)):
            for j in range(len(rows)):
                rows[i][j] = min(rows[i][j], added(rows[i][k], rows[k][j]))
    return tuple(map(tuple, rows))


def includes(large: Zone, small: Zone) -> bool:
    """Whether every valuation of one zone is one of another."""
    return all(one >= other for row, others in zip(large, small) for one, other in zip(row, others))


def moments(
    n: int, bounds: Iterable[tuple[int, int, int]], *, step: int = 1, tie: bool = True
) -> list[Fraction]:
    """Times of n events, the first at 0, that do not fall and keep bounds (i, j, bound) on time i - time j.

    Each time is the earliest possible; if it has to be later than another one, it is `step` after that.

    Parameters
    ----------
    n : int
    bounds : iterable of (int, int, int)
    step : int
    tie : bool
        Whether two events may have one time.

    Raises
    ------
    ValueError
        If there are no such times.
    """
    before = at_most(0, strict=not tie)
    rows = [[AT_MOST_ZERO if i == j else before if i < j else NO_BOUND for j in range(n)] for i in range(n)]
    for i, j, bound in bounds:
        rows[i][j] = min(rows[i][j], bound)
    zone = closed(rows)
    if any(zone[i][i] < AT_MOST_ZERO for i in range(n)):
        raise ValueError("no times keep the bounds")
    times: list[Fraction] = []
    for k in range(n):
        low, high = Fraction(0), None
        low_open = high_open = False
        for j, time in enumerate(times):
            low, low_open = max((low, low_open), (time - (zone[j][k] >> 1), not zone[j][k] & 1))
            if zone[k][j] < NO_BOUND:
                end = time + (zone[k][j] >> 1), bool(zone[k][j] & 1)
                if high is None or end < (high, not high_open):
                    high, high_open = end[0], not end[1]
        if low_open:
            low = low + step if high is None or low + step < high else (low + high) / 2
        times.append(low)
    return times
