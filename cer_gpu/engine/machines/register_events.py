"""The events that configurations with registers read: `Reader`, `CurrentEvent`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from cer_gpu.automata.configurations.comparisons import JointValue, column_of, owner_of
from cer_gpu.automata.configurations.formulas import SteppedAutomaton
from cer_gpu.automata.configurations.registers import COUNTED, ComparedEvents, Fold, Owner
from cer_gpu.automata.configurations.slots import NOW
from cer_gpu.engine.machines.open_runs import FollowedEvents
from cer_gpu.engine.machines.step_tables import bounds_of
from cer_gpu.engine.read.comparisons import (
    ColumnKind,
    ComparisonPart,
    aggregated,
    comparison_of,
    kind_of,
    kind_of_aggregate,
    known,
    missing,
    values_of,
)
from cer_gpu.kernels.windows.contract import comparable
from cer_gpu.language import tree
from cer_gpu.language.leaves import attributes
from cer_gpu.language.printer import to_text
from cer_gpu.plan.compiled_query import CompiledQuery
from cer_gpu.plan.general import GeneralMachine


class CurrentEvent:
    """An event that is being read: an `EventFacts` of `cer_gpu.automata.configurations.registers`.

    Attributes
    ----------
    symbol : int
    asked : bool
        Whether a configuration has read anything but the symbol.
    moment : number
        What the window of hits measures at the event.
    """

    __slots__ = ("_ages", "_reader", "_values", "asked", "moment", "symbol")

    def __init__(
        self,
        reader: Reader,
        symbol: int,
        values: tuple[Any, ...],
        ages: tuple[int, tuple[Any, Any]],
        moment: Any,
    ) -> None:
        self._reader = reader
        self._values = values
        self._ages = ages
        self.symbol = symbol
        self.asked = False
        self.moment = moment

    def holds(self, slot: int, test: int) -> bool:
        """Whether the age of a clock is within the bounds of a test."""
        return self._reader.in_time(slot, test, self._ages[1])

    def placed(self, slot: int) -> int:
        """The number of the moment of a clock; for a clock that is set now, that of the event."""
        return self._ages[0] if slot <= NOW else slot

    def value(self, column: int) -> Any:
        """The value in a column."""
        return self._values[column]

    def missing(self, value: Any) -> bool:
        """Whether a value is a null or a NaN, which compares to nothing."""
        return missing(value)

    def less(self, column: int, one: Any, other: Any) -> bool:
        """Whether one value is less than another."""
        return bool(one < other)

    def same(self, column: int, one: Any, other: Any) -> bool:
        """Whether two values are the same."""
        return bool(one == other)

    def spans(self, column: int, first: Any, last: Any, size: int | float) -> bool:
        """Whether the last value is at most `size` above the first, in the unit of the column."""
        if missing(first) or missing(last):
            return False
        return bool(last - first <= size * self._reader.factor(column))

    def satisfies(self, comparison: int) -> bool:
        """Whether the event satisfies the predicate of a comparison."""
        return self._reader.satisfied[comparison][self.symbol]

    def increased(self, count: int) -> int:
        """A count plus one."""
        return count + 1

    def added(self, column: int, total: tuple[Any, ...], value: Any) -> tuple[Any, ...]:
        """A sum with one more value."""
        return (total[0] + value,) if total else (value,)

    def joint(self, column: int, choice: tuple[Any, ...]) -> Any:
        """The value of an expression over several variables; None where it is missing."""
        value = self._reader.joint(column, choice)
        return None if missing(value) else value

    def holds_of(self, comparison: int, rows: tuple[Any, ...], folded: tuple[Any, ...]) -> bool:
        """Whether a comparison holds."""
        return self._reader.holds_of(comparison, rows, folded)


class SymbolEvent:
    """An event of which only the symbol is known."""

    moment = 0

    def __init__(self, symbol: int) -> None:
        self.symbol = symbol
        self.asked = False

    def _asks(self, *about: Any) -> bool:
        self.asked = True
        return False

    holds = less = same = holds_of = satisfies = spans = _asks

    def increased(self, count: Any) -> Any:
        """A count that is different."""
        self.asked = True
        return count

    def added(self, column: int, total: Any, value: Any) -> Any:
        """A sum that is different."""
        self.asked = True
        return total

    def value(self, column: int) -> None:
        self.asked = True

    def joint(self, column: int, choice: Any) -> None:
        """Nothing is known of any value."""
        self.asked = True

    def missing(self, value: Any) -> bool:
        """Nothing is known of any value."""
        self.asked = True
        return True


class Reader:
    """Reads the events of pushes for configurations with registers.

    Parameters
    ----------
    automaton : Stepped
    query : CompiledQuery

    Attributes
    ----------
    clocked : bool
        Whether states have clocks.
    satisfied : tuple
        As in `SteppedAutomaton`.
    """

    def __init__(self, automaton: SteppedAutomaton, query: CompiledQuery) -> None:
        machine, window = query.machine, query.window
        assert isinstance(machine, GeneralMachine)
        self._automaton = automaton
        self._machine = machine
        self._over_time = window is not None and window.kind == "time"
        self.satisfied = automaton.satisfied
        self.clocked = any(test.interval is not None for test in automaton.tests.all)
        self._kinds: tuple[ColumnKind, ...] = ()
        self._columns: list[Callable[[Sequence[Any]], Any]] = []
        self._joint: list[ComparisonPart] = []
        self._compares: list[Callable[[Sequence[Any]], bool]] = []
        self._rows: list[tuple[Any, ...]] = []
        self._times: list[Any] = []
        self._places: list[Any] = []
        self._now: tuple[Any, Any] = (0, 0)
        self._moments: dict[int, tuple[Any, Any]] = {}
        self._ordinal = 0
        self._bounds: list[tuple[Any, Any]] | None = None

    # ---------------------------------------------------------------------------------------- events

    def read(self, following: FollowedEvents, names: Sequence[str]) -> None:
        """Read the events of a push."""
        first, stop = following.first, following.stop
        new, machine, measured = slice(first, stop), self._machine, following.events.measured
        if names:
            assert following.rows is not None
            columns = [following.rows.column(name) for name in names]
            if not self._kinds:
                self._begin([kind_of(column.type) for column in columns], names)
            rows = list(zip(*map(values_of, columns), strict=True))
            self._rows = [tuple([one(row) for one in self._columns]) for row in rows]
        else:
            self._begin([], names)
            self._rows = [()] * (stop - first)
        times = places = np.zeros(stop - first, np.int64)
        if machine.timed:
            times = measured[new] if self._over_time else comparable(following.times[new], 0).keys
        if machine.placed:
            places = measured[new]
        self._times, self._places = times.tolist(), places.tolist()
        if self._bounds is None:
            dtype = np.dtype(np.float64 if times.dtype.kind == "f" else np.uint64)
            self._bounds = [bounds_of(reach, dtype) for reach in machine.reaches]

    def _begin(self, kinds: Sequence[ColumnKind], names: Sequence[str]) -> None:
        """Get ready for columns of some kinds."""

        def places(part: tree.Expression) -> tuple[int, ColumnKind] | None:
            if not isinstance(part, tree.Attribute):
                return None
            place = names.index(part.name)
            return place, kinds[place]

        found = [known(one, places) for one in self._machine.columns]
        self._columns = [one.value for one in found]
        self._kinds = tuple(one.kind for one in found)
        self._joint = [self._worked_out(one) for one in self._automaton.joint]
        self._compares = [self._function(one) for one in self._automaton.comparisons]

    def factor(self, column: int) -> Any:
        """How much one unit of a column is worth among values; of a decimal a size is written as a number."""
        kind = self._kinds[column]
        return kind.factor if kind.kind in ("time", "span") else 1

    def event(self, at: int, symbol: int) -> CurrentEvent:
        """An event of the last push."""
        self._now = now = self._times[at], self._places[at]
        ordinal = self._ordinal
        if self.clocked:
            self._moments[ordinal] = now
            self._ordinal += 1
        return CurrentEvent(self, symbol, self._rows[at], (ordinal, now), now[0 if self._over_time else 1])

    @property
    def tick(self) -> CurrentEvent:
        """No event, only the time of the last one."""
        return CurrentEvent(self, -1, (), (-1, self._now), 0)

    # ---------------------------------------------------------------------------------------- clocks

    @property
    def begun(self) -> bool:
        """Whether any event has been read since the stream was opened."""
        return self._bounds is not None

    def in_time(self, slot: int, test: int, now: tuple[Any, Any]) -> bool:
        """Whether the age of a clock is within the bounds of a test."""
        assert self._bounds is not None
        measure = self._automaton.tests.all[test].measure
        low, high = self._bounds[test]
        return bool(low <= now[measure] - self._moments[int(slot)][measure] <= high)

    def forget(self, used: set[int]) -> None:
        """Keep the moments of the used clocks only."""
        self._moments = {slot: moment for slot, moment in self._moments.items() if slot in used}

    def state(self) -> list[Any]:
        """What is stored with a stream."""
        return [self._ordinal, self._moments, list(self._now)]

    def resume(self, state: list[Any]) -> None:
        """Continue from what `state` returned."""
        self._ordinal, moments, now = state
        self._moments = {slot: tuple(moment) for slot, moment in moments.items()}
        self._now = tuple(now)

    # ----------------------------------------------------------------------------------- comparisons

    def holds_of(self, number: int, rows: tuple[Any, ...], folded: tuple[Any, ...]) -> bool:
        """Whether a comparison holds for one event of each choice, given the registers of its aggregates."""
        comparison = self._automaton.comparisons[number]
        values = [value for row in rows for value in row]
        for fold, register in zip(comparison.folds, folded, strict=True):
            values.append(aggregated(fold.function, fold.distinct, register, self._written(fold)))
        return self._compares[number](values)

    def joint(self, column: int, choice: tuple[Any, ...]) -> Any:
        """The value of an expression over several variables, given a row of each."""
        return self._joint[COUNTED - 1 - column].value([value for row in choice for value in row])

    def _worked_out(self, joint: JointValue) -> ComparisonPart:
        columns, at = list(self._automaton.columns), list[tuple[Owner, int]]()
        for part in joint.parts:
            at += [(part.owner, column) for column in part.columns]

        def places(part: tree.Expression) -> tuple[int, ColumnKind] | None:
            if len({(one.variable, one.prior) for one in attributes(part)}) != 1:
                return None
            plain = column_of(part)
            if plain not in columns or (owner_of(part), columns.index(plain)) not in at:
                return None
            column = columns.index(plain)
            return at.index((owner_of(part), column)), self._kinds[column]

        return known(joint.expression, places)

    def _kind(self, fold: Fold) -> ColumnKind:
        """The kind of what an aggregate takes."""
        if fold.parts:
            return self._joint[COUNTED - 1 - fold.column].kind
        return ColumnKind("number") if fold.column == COUNTED else self._kinds[fold.column]

    def _written(self, fold: Fold) -> str:
        if fold.aggregate is not None:
            return to_text(fold.aggregate)
        if fold.column < 0:
            return f"{fold.function}({fold.owner.variable})"
        return f"{fold.function}({fold.owner.variable}.{to_text(self._automaton.columns[fold.column])})"

    def _function(self, comparison: ComparedEvents) -> Callable[[Sequence[Any]], bool]:
        """A comparison as a function of the values of its choices and aggregates."""
        condition, columns = comparison.condition, list(self._automaton.columns)
        if isinstance(condition, tree.Every):
            return lambda values: True
        first, at = [], 0
        for own in comparison.columns:
            first.append(at)
            at += len(own)

        def places(part: tree.Expression) -> tuple[int, ColumnKind] | None:
            if isinstance(part, tree.Aggregate):
                for place, fold in enumerate(comparison.folds):
                    if part == fold.aggregate:
                        return at + place, kind_of_aggregate(fold.function, self._kind(fold))
                    if part.variable is None or fold.parts:
                        continue
                    wanted = part.variable, part.prior, part.function, part.distinct
                    same = (*fold.owner, fold.function, fold.distinct) == wanted
                    column = -1 if part.argument is None else columns.index(column_of(part.argument))
                    if same and fold.column == column:
                        own = self._kinds[column] if column >= 0 else ColumnKind("number")
                        return at + place, kind_of_aggregate(fold.function, own)
            if len({(one.variable, one.prior) for one in attributes(part)}) != 1:
                return None
            plain = column_of(part)
            if plain not in columns:
                return None
            owner, column = owner_of(part), columns.index(plain)
            if owner not in comparison.choices:
                return None
            choice = comparison.choices.index(owner)
            if column not in comparison.columns[choice]:
                return None
            return first[choice] + comparison.columns[choice].index(column), self._kinds[column]

        return comparison_of(condition, places)

    def about(self, what: str) -> str:
        """The message of a limit: the comparisons, and what to change."""
        compared = dict.fromkeys(to_text(one.condition) for one in self._automaton.comparisons)
        clocks = dict.fromkeys(test.about for test in self._automaton.tests.all if test.about)
        kept = [f"the values that `{text}` compares" for text in compared] + [
            f"the times of {text}" for text in clocks
        ]
        if not compared:
            kept.append(f"the values of `{to_text(self._automaton.columns[0])}` that WITHIN measures")
        said = f"{what}: they keep {'; '.join(kept)}."
        if (subset := self._automaton.subset_value) is not None:
            said += f" {subset.growth}: {subset.remedy}."
        return (
            f"{said} Filter each variable more, PARTITION BY an attribute that "
            "is equal in all events of a match, or give the query a smaller WITHIN"
        )
