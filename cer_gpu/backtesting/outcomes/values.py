"""The values of outcomes at hits and at all events of a source; tasks on Spark import it, too.

Values are float64, with NaN where there is none. A price that is divided by zero is infinite until the
outcome is complete, and only then no value; so this is NumPy's arithmetic and not that of queries
(`cer_gpu.engine.read.derive`), where a division by zero is null.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from typing import Any

import numpy as np
import pyarrow as pa

from cer_gpu.backtesting.outcomes.expression import AskedOutcome
from cer_gpu.backtesting.outcomes.time_blocks import BaseSums, BlockSums, TimeSpan, base_sums, block_sums
from cer_gpu.engine.answers.future_values import EventColumns, FutureValues
from cer_gpu.language import tree
from cer_gpu.printable_text import brief


class OutcomeValues:
    """The values of outcomes over the events of a source.

    Parameters
    ----------
    columns : EventColumns
        The columns of the outcomes and of the partitions.
    unit : str or None
        The unit of a plain-number time column.
    split : int, float or None
        The time at which the sample "after" begins, in the unit of the order column.
    ends_of : callable
        Called with a PARTITION BY and a pattern; returns the positions at which the pattern ends.

    Attributes
    ----------
    moments : ndarray, shape (events,)
        When the events happened; their places where there is no time.
    """

    def __init__(
        self,
        columns: EventColumns,
        unit: str | None,
        split: int | float | None,
        ends_of: Callable[[Any, str], np.ndarray],
    ) -> None:
        self._columns, self._unit, self._ends_of = columns, unit, ends_of
        self._around: dict[Any, FutureValues] = {}
        self._base: dict[tuple[Any, str], np.ndarray] = {}
        self.moments = columns.moments
        self._base_sums: dict[tuple[Any, str, str], BaseSums] = {}
        self.late: np.ndarray | None = None
        """Which events are at the split or after it, shape (events,), bool; None without a split."""
        if split is not None:
            assert columns.times is not None
            self.late = columns.times >= split

    def everywhere(self, one: AskedOutcome, partition: Any) -> np.ndarray:
        """The outcome of every event: as if a match of that event alone ended there.

        An event without a key is in no partition and has no outcome.
        """
        key = partition, one.name
        if key not in self._base:
            around, columns = self.around_of(partition), self._columns

            def looked(node: tree.Aggregate) -> np.ndarray:
                look = one.look_of(node)
                if look is not None:
                    return around.look(look)
                assert isinstance(node.argument, tree.Attribute)
                return columns.number(node.argument.name)

            found = evaluated(one, looked, columns.rows)
            self._base[key] = np.where(around.placed, found, np.nan)
        return self._base[key]

    def at_hits(
        self,
        one: AskedOutcome,
        partition: Any,
        position: np.ndarray,
        read: Mapping[tree.Aggregate, np.ndarray],
    ) -> np.ndarray:
        """The outcome at some hits; `read` is what `of_complex_events` gives for them."""
        if not one.aggregates:
            return self.everywhere(one, partition)[position]
        around = self.around_of(partition)

        def looked(node: tree.Aggregate) -> np.ndarray:
            look = one.look_of(node)
            return read[node] if look is None else around.look(look)[position]

        return evaluated(one, looked, len(position))

    def span_of(self, partition: Any) -> TimeSpan:
        """From when to when the events that are in a partition happened."""
        return TimeSpan.of(self.moments[self.around_of(partition).placed])

    def base_of(self, one: AskedOutcome, partition: Any, inside: np.ndarray | slice) -> BaseSums:
        """The outcome at the events of a sample, summed up by key and block."""
        around = self.around_of(partition)
        kept = np.zeros(self._columns.rows, bool)
        kept[inside] = True
        order = around.order[kept[around.order]]
        ahead = np.zeros(self._columns.rows)
        for look in one.looks.values():
            ahead = np.maximum(ahead, around.ahead(look))
        every, level = self.everywhere(one, partition)[order], self.span_of(partition).level
        return base_sums(every, ahead[order], around.lanes[order], self.moments[order], level)

    def sums(
        self,
        one: AskedOutcome,
        partition: Any,
        sample: tuple[str, np.ndarray | slice],
        position: np.ndarray,
        values: np.ndarray,
    ) -> BlockSums:
        """The values at some hits of a sample, and at all its events, summed up by block."""
        name, inside = sample
        key = partition, one.name, name
        if key not in self._base_sums:
            self._base_sums[key] = self.base_of(one, partition, inside)
        lanes = self.around_of(partition).lanes
        return block_sums(values, lanes[position], self.moments[position], self._base_sums[key])

    def around_of(self, partition: Any) -> FutureValues:
        """What follows events in the partitions of a PARTITION BY."""
        if partition not in self._around:

            def ends_of(pattern: str) -> np.ndarray:
                return self._ends_of(partition, pattern)

            self._around[partition] = FutureValues(self._columns, partition, self._unit, ends_of)
        return self._around[partition]


def aggregates_of(outcomes: Sequence[AskedOutcome]) -> tuple[tree.Aggregate, ...]:
    """The aggregates that outcomes read of matches, each once."""
    return tuple(dict.fromkeys(node for one in outcomes for node in one.aggregates))


def of_complex_events(
    matches: pa.Table, wanted: Sequence[tree.Aggregate], position: np.ndarray
) -> dict[tree.Aggregate, np.ndarray]:
    """The values that outcomes read of the match at each hit.

    Parameters
    ----------
    matches : pyarrow.Table
        Matches with `end` and the measures `outcome_1`, `outcome_2`, ..., one for each of `wanted`.
    wanted : sequence of Aggregate
    position : ndarray
        The positions of the hits.
    """
    ends, first = np.unique(matches.column("end").to_numpy(), return_index=True)
    at = first[np.minimum(np.searchsorted(ends, position), max(len(ends) - 1, 0))] if len(ends) else first
    found = {}
    for number, node in enumerate(wanted, 1):
        column = matches.column(f"outcome_{number}").cast(pa.float64(), safe=False)
        found[node] = column.to_numpy()[at]
    return found


Value = np.ndarray | float

_FUNCTIONS: dict[str, Callable[..., Value]] = {
    "ABS": np.abs,
    "FLOOR": np.floor,
    "CEIL": np.ceil,
    "ROUND": np.round,
    "COALESCE": lambda *given: _first_there(given),
    "SQRT": np.sqrt,
    "EXP": np.exp,
    "LN": np.log,
    "POWER": np.power,
    "SIGN": np.sign,
    "GREATEST": lambda *given: reduce(np.fmax, given),
    "LEAST": lambda *given: reduce(np.fmin, given),
}


def evaluated(
    outcome: AskedOutcome, looked: Callable[[tree.Aggregate], np.ndarray], count: int
) -> np.ndarray:
    """The values of an outcome.

    Parameters
    ----------
    outcome : AskedOutcome
    looked : callable
        The values of a node that is looked up or read of the match; float64, shape (count,).
    count : int

    Returns
    -------
    ndarray, shape (count,), float64
        NaN where a value is missing, and for a division by 0 or an overflow of float64.

    Raises
    ------
    ValueError
        When the outcome has a function or a constant that is not numeric.
    """

    def value(node: tree.Expression) -> Value:
        match node:
            case tree.Number():
                return float(node.value)
            case tree.Quantity():
                raise ValueError(
                    f"the outcome {brief(outcome.name)}: `TIME TO` is a number of seconds: combine it with "
                    "plain numbers, such as 60, not with a length of time"
                )
            case tree.Negation(operand=operand):
                return -value(operand)
            case tree.Arithmetic(op=op, left=left, right=right):
                return _OPERATORS[op](value(left), value(right))
            case tree.Aggregate():
                return looked(node)
            case tree.Call(function=function, arguments=arguments) if function in _FUNCTIONS:
                return _FUNCTIONS[function](*map(value, arguments))
        raise ValueError(
            f"the outcome {brief(outcome.name)}, `{outcome.text}`: an outcome can have numbers, + - * / % "
            f"and {', '.join(_FUNCTIONS)}"
        )

    with np.errstate(all="ignore"):
        found = np.broadcast_to(np.asarray(value(outcome.expression), np.float64), (count,))
    return np.where(np.isfinite(found), found, np.nan)


_OPERATORS: dict[str, Callable[[Value, Value], Value]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: np.divide(a, b),
    "%": lambda a, b: np.fmod(a, b),
}


def _first_there(given: tuple[Value, ...]) -> Value:
    found = given[0]
    for one in given[1:]:
        found = np.where(np.isnan(found), one, found)
    return found
