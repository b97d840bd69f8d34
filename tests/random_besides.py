"""Random patterns with FOLLOWED BY, PRECEDED BY and their negations, anywhere in a formula."""

from __future__ import annotations

from random import Random

from generate import pattern
from random_formulas import formula

from cer_gpu.language import tree as t
from cer_gpu.language.amounts import EVENTS
from cer_gpu.language.walk import rebuild


def with_besides(rng: Random, node: t.Pattern, likely: float = 0.25) -> t.Pattern:
    """The pattern with something asked of what follows or precedes some of its parts, at least of one."""
    made = _wrapped(rng, node, likely)
    return made if made != node else beside(rng, node)


def _wrapped(rng: Random, node: t.Pattern, likely: float) -> t.Pattern:
    made = rebuild(node, lambda inner: _wrapped(rng, inner, likely))
    return beside(rng, made) if rng.random() < likely else made


def beside(rng: Random, left: t.Pattern, depth: int = 2) -> t.Beside:
    """`left FOLLOWED BY q`, whose q may itself be followed or preceded by something, or have operators."""
    right = pattern(rng, atoms=2) if rng.random() < 0.75 else formula(rng, 1)
    if depth and rng.random() < 0.2:
        right = beside(rng, right, depth - 1)
    return t.Beside(left, right, rng.random() < 0.5, rng.random() < 0.5, reach(rng))


def reach(rng: Random) -> t.Interval | None:
    """An interval of time or of events; none in a quarter."""
    kind = rng.randrange(4)
    if kind == 0:
        return None
    unit, steps = (EVENTS, (0, 1, 2, 3)) if kind == 1 else ("ms", (0, 250, 500, 1000, 1500, 2000, 4000))
    low, high = sorted(rng.choice(steps) for _ in range(2))
    if rng.random() < 0.15:
        point = t.Bound(max(high, 1), unit)
        return t.Interval(point, point)
    wide = low < high and not (unit == EVENTS and low + 1 == high)
    least = t.Bound(low, unit, open=wide and rng.random() < 0.3)
    most = t.Bound(high, unit, open=wide and not least.open and high > 0 and rng.random() < 0.3)
    if not least.open and not most.open and low == high == 0:
        most = t.Bound(1, unit)
    return rng.choice((t.Interval(least, None), t.Interval(None, most), t.Interval(least, most)))
