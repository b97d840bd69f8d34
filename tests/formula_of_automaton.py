"""From a timed CEA back to a formula of timed CEL (timed CEL paper, Proposition 4.4)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from typing import Any, cast

from single_clock import (
    check_bound,
    check_bounded,
    is_reset_distinct,
    of_clock,
    reset_distinct,
    strongly_deterministic,
)

from cer_gpu.automata.cea import Label, OutlookTest, Predicate, TypeTest
from cer_gpu.automata.timed.clocks import ALWAYS, checks_of, ranges
from cer_gpu.automata.timed.parts import BeyondTimedCELError
from cer_gpu.automata.timed.timed_cea import (
    TimedCEA,
    TimedTransition,
    disjunction_free,
    timed_trim,
    with_clocks_in_use,
)
from cer_gpu.errors import LimitError
from cer_gpu.language import tree as t
from cer_gpu.language.chains import chain_of
from cer_gpu.logic.boolean import replace_literals
from cer_gpu.logic.formulas import never

FORMULA_BUDGET = 100_000
"""Nodes of a formula, each counted as often as it occurs."""


def formula_of(timed: TimedCEA, types: Sequence[t.EventType], unit: str | None = "ns") -> t.Pattern:
    """A formula with the complex events of a timed CEA (Proposition 4.4).

    With several clocks, each gets an automaton of its own whose labels say which transition was taken; the
    formula is the conjunction of their formulas, projected to the variables of the automaton. It uses no
    operator of `; + ;[I] :[I] +[I] :+[I]`.

    Parameters
    ----------
    timed : TimedCEA
    types : sequence of EventType
        All types of events: each event is of exactly one of them.
    unit : str or None
        The unit of the automaton's constants, for the intervals of the formula.

    Returns
    -------
    Pattern
        If no run accepts, a formula without complex events.

    Raises
    ------
    LimitError
        When the formula is larger than `FORMULA_BUDGET`.
    BeyondTimedCELError
        If a transition has a predicate of FOLLOWED BY or PRECEDED BY.
    """
    timed = with_clocks_in_use(disjunction_free(timed_trim(timed)))
    writer = _FormulaWriter(types, unit)
    if timed.n_clocks <= 1:
        found = writer.single_clock(timed)
    else:
        marked = strongly_deterministic(timed)
        parts = [writer.single_clock(of_clock(marked.timed, clock)) for clock in range(timed.n_clocks)]
        found = writer.together(parts, marked.kept)
    return never(types[0]) if found is None else found


class _FormulaWriter:
    """Writes formulas; None is the formula without complex events, which the language has no word for."""

    def __init__(self, types: Sequence[t.EventType], unit: str | None) -> None:
        self.types = types
        self.unit = unit
        self.sizes: dict[int, tuple[t.Pattern, int]] = {}

    def single_clock(self, timed: TimedCEA) -> t.Pattern | None:
        """The formula of an automaton of one clock (Lemma A.5)."""
        bounded = check_bounded(timed)
        if is_reset_distinct(bounded):
            return self.reset_distinct(bounded)
        marked = strongly_deterministic(bounded)
        return self.together(map(self.reset_distinct, reset_distinct(marked.timed)), marked.kept)

    def together(self, parts: Iterable[t.Pattern | None], kept: tuple[str, ...]) -> t.Pattern | None:
        """The conjunction of formulas, projected."""
        found = list(parts)
        if any(part is None for part in found):
            return None
        made = chain_of(t.And, found)
        return t.Project(self.sized(made, *(part for part in found if part is not None)), kept)

    def reset_distinct(self, timed: TimedCEA) -> t.Pattern | None:
        """The formula of a reset-distinct, check-bounded automaton of one clock (Lemma A.3).

        S: runs without resets and checks. R: runs that begin with a reset and check the clock some times,
        each check a window that begins at the reset. F: some of the latter, one after another.
        """
        bound = check_bound(timed)
        if bound is None:
            raise ValueError("the automaton checks its clock any number of times between resets")
        states = range(timed.n_states)
        plain = [move for move in timed.transitions if not move.resets and move.condition == ALWAYS]
        between = self.paths(timed.n_states, [(move, self.event(move)) for move in plain])
        runs: dict[tuple[int, int], list[t.Pattern | None]] = {}
        now: dict[tuple[int, int], t.Pattern | None] = {}
        for source in states:
            self.extend(
                now, source, [(move.target, self.event(move)) for move in timed.transitions
                              if move.source == source and move.resets], between, states
            )  # fmt: skip
        checks = [move for move in timed.transitions if move.condition != ALWAYS]
        for _ in range(bound + 1):
            for pair, one in now.items():
                runs.setdefault(pair, []).append(one)
            before, now = now, {}
            for source in states:
                windows = [
                    (
                        move.target,
                        self.window(self.then(before.get((source, move.source)), self.event(move)), move),
                    )
                    for move in checks
                ]
                self.extend(now, source, windows, between, states)
        started = self.closure(timed.n_states, {pair: self.any_of(found) for pair, found in runs.items()})
        first = timed.initial
        ways: list[t.Pattern | None] = []
        for last in sorted(timed.final):
            ways += [between(first, last), started(first, last)]
            ways += [self.then(between(first, middle), started(middle, last)) for middle in states]
        return self.any_of(ways)

    def extend(
        self,
        found: dict[tuple[int, int], t.Pattern | None],
        source: int,
        ends: Iterable[tuple[int, t.Pattern | None]],
        between: Callable[[int, int], t.Pattern | None],
        states: range,
    ) -> None:
        """Add what leads from a source to some states, and on from there without resets and checks."""
        reached: dict[int, list[t.Pattern | None]] = {}
        for at, way in ends:
            if way is not None:
                reached.setdefault(at, []).append(way)
        for at, ways in reached.items():
            one = self.any_of(ways)
            for target in states:
                on = self.then(one, between(at, target))
                if (both := self.any_of([on, one if at == target else None])) is not None:
                    found[source, target] = self.any_of([found.get((source, target)), both])

    def paths(
        self, n: int, moves: Iterable[tuple[TimedTransition, t.Pattern | None]]
    ) -> Callable[[int, int], t.Pattern | None]:
        """The formulas of paths of some transitions, one or more."""
        single: dict[tuple[int, int], list[t.Pattern | None]] = {}
        for move, way in moves:
            single.setdefault((move.source, move.target), []).append(way)
        return self.closure(n, {pair: self.any_of(found) for pair, found in single.items()})

    def closure(
        self, n: int, single: dict[tuple[int, int], t.Pattern | None]
    ) -> Callable[[int, int], t.Pattern | None]:
        """From formulas of single steps between states to formulas of paths over any states between.

        Kleene's construction: `over[k]` may pass through the first k states.
        """
        over = [single]
        for through in range(n):
            last = over[-1]
            loop = last.get((through, through))
            around = None if loop is None else self.sized(t.Iteration(loop, True), loop)
            into = {p: way for (p, q), way in last.items() if q == through != p and way is not None}
            out = {q: way for (p, q), way in last.items() if p == through != q and way is not None}
            following = dict(last)
            following[through, through] = around
            for source, first in into.items():
                arrived = self.any_of([first, self.then(first, around)])
                following[source, through] = arrived
                for target, second in out.items():
                    ways = [last.get((source, target)), self.then(arrived, second)]
                    following[source, target] = self.any_of(ways)
            for target, second in out.items():
                following[through, target] = self.any_of([second, self.then(around, second)])
            over.append(following)
        return lambda source, target: over[-1].get((source, target))

    def then(self, first: t.Pattern | None, second: t.Pattern | None) -> t.Pattern | None:
        """`first : second`."""
        if first is None or second is None:
            return None
        return self.sized(t.Sequence(first, second, True), first, second)

    def any_of(self, ways: Iterable[t.Pattern | None]) -> t.Pattern | None:
        """`OR` of formulas."""
        found: list[t.Pattern] = []
        for way in ways:
            if way is not None and not any(way is other for other in found):
                found.append(way)
        return self.sized(chain_of(t.Or, found), *found) if found else None

    def window(self, inner: t.Pattern | None, move: TimedTransition) -> t.Pattern | None:
        """`(inner) WITHIN [I]`, I being what a transition asks of the clock."""
        asked = ranges(checks_of(move.condition))
        if inner is None or asked is None:
            return None
        low = high = None
        if asked[0].low > 0 or asked[0].low_open or asked[0].high is None:
            low = self.bound(asked[0].low, asked[0].low_open)
        if asked[0].high is not None:
            high = self.bound(asked[0].high, asked[0].high_open)
        return self.sized(t.Timed(inner, t.Interval(low, high)), inner)

    def bound(self, constant: Fraction, is_open: bool) -> t.Bound:
        value = int(constant) if constant.denominator == 1 else float(constant)
        return t.Bound(value, self.unit, is_open)

    def event(self, move: TimedTransition) -> t.Pattern | None:
        """The formula of one event that satisfies the predicate of a transition, with its label."""
        ways = [self.of_type(kind, move.predicate, move.label) for kind in self.types]
        return self.any_of(ways)

    def of_type(self, kind: t.EventType, predicate: Predicate, label: Label) -> t.Pattern | None:
        condition = of_events(predicate, kind)
        if condition == t.Truth(False):
            return None
        made: t.Pattern = kind
        if condition != t.Truth(True):
            made = t.Filter(kind, t.Every(kind.variables[0], condition))
        for variable in sorted(label - set(kind.variables)):
            made = t.As(made, variable)
        if label.issuperset(kind.variables):
            return made
        return t.Project(made, tuple(sorted(label)))

    def sized(self, made: t.Pattern, *parts: t.Pattern) -> t.Pattern:
        """The formula, once it is known not to be too large."""
        size = 1 + sum(self.sizes[id(part)][1] if id(part) in self.sizes else 4 for part in parts)
        if size > FORMULA_BUDGET:
            raise LimitError(f"the formula of this timed automaton has more than {FORMULA_BUDGET:,} nodes")
        self.sizes[id(made)] = made, size
        return made


def of_events(predicate: Predicate, kind: t.EventType) -> t.Condition:
    """A predicate as a condition on events of one type."""

    def literal(leaf: Any) -> t.Condition:
        if isinstance(leaf, OutlookTest):
            raise BeyondTimedCELError("a transition reads what follows an event")
        if isinstance(leaf, TypeTest):
            return t.Truth(leaf.name == kind.name and leaf.stream in (None, kind.stream))
        made: t.Condition = leaf
        return made

    return replace_literals(cast(t.Condition, predicate), literal)
