"""A folder of Parquet and a query of the user: the events and the question in the forms that rivals read.

A sequence of types in a window, with or without a key, is translated for every rival; it may compare one
attribute from step to step, and bound it in the first step. For any other query only ours is timed, and
beside it the program that `--command` names.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds

from bench.rivals.questions import Ours, Sequence
from bench.sizes import Brought
from cer_gpu.language import tree
from cer_gpu.language.expressions import Attribute, Both, Comparison, Condition, Every, Number
from cer_gpu.language.parser import parse

NANOSECONDS = {"ns": 1, "us": 1000, "ms": 10**6, "s": 10**9, "min": 60 * 10**9, "h": 3600 * 10**9}
NANOSECONDS["d"] = 24 * NANOSECONDS["h"]


class Put(NamedTuple):
    """Events and a question, in the forms that rivals read."""

    events: pa.Table
    question: Sequence | Ours


def events_of(brought: Brought) -> pa.Table:
    """All events in the order of time; rows that tie keep their order."""
    table = ds.dataset(sorted(Path(brought.folder).rglob("*.parquet")), format="parquet").to_table()
    order = pc.sort_indices(table, [(brought.order_by, "ascending")])
    return table.take(order) if not _ascends(table[brought.order_by]) else table


def put(brought: Brought) -> Put:
    """The events and the question in the forms that rivals read; unchanged if there is no translation.

    Events without a type or a part of the key are left out, as ours skips them.
    """
    events = events_of(brought)
    try:
        return _put(brought, events)
    except _CannotBeSaidError as error:
        why = f"the query is not put into the words of others ({error}): bring a program with --command"
        return Put(events, Ours(brought.query, why))


def _put(brought: Brought, events: pa.Table) -> Put:
    query, said = parse(brought.query), _Said()
    if not isinstance(query, tree.SelectQuery):
        raise _CannotBeSaidError("a rule")
    if query.strategy is not tree.Strategy.ALL or query.consume is not tree.Consume.NONE or query.limit:
        raise _CannotBeSaidError("a strategy, CONSUME BY or LIMIT")
    if query.streams or any(len(part) != 1 for part in query.partition):
        raise _CannotBeSaidError("FROM, or alternatives in PARTITION BY")
    said.pattern(query.pattern)
    within = _window(query.window, brought.order_by, events.schema.field(brought.order_by).type)
    keys = [part[0] for part in query.partition]
    price = np.full(events.num_rows, np.nan)
    if said.attribute is not None:
        price = events[said.attribute].cast(pa.float64()).fill_null(np.nan).to_numpy()
    times = events[brought.order_by].cast(pa.int64()).to_numpy()
    times = times - (times[0] if len(times) else 0)
    # Engines on the JVM have clocks of milliseconds: large numbers are none of theirs.
    while within >= 1000 and within % 1000 == 0 and not (times % 1000).any():
        times, within = times // 1000, within // 1000
    table = pa.table(
        {
            "ts": times,
            "type": events[brought.type_column].cast(pa.string()),
            "key": _key_numbers(events, keys),
            "price": pa.array(price, from_pandas=True),
            "place": np.arange(events.num_rows),
        }
    )
    kept = pc.is_valid(table["type"])
    for name in keys:
        kept = pc.and_(kept, pc.is_valid(events[name]))
    steps, rises = tuple(said.steps), tuple(said.rises)
    question = Sequence(steps, within, bool(keys), rises, above=said.above, order="place")
    return Put(table.filter(kept), question)


def written(brought: Brought, question: Sequence | Ours) -> str:
    """Both as JSON, for another process."""
    return json.dumps([brought._asdict(), type(question).__name__, asdict(question)])


def read(text: str) -> tuple[Brought, Sequence | Ours]:
    """Read what `written` wrote."""
    brought, kind, values = json.loads(text)
    if kind == "Ours":
        return Brought(**brought), Ours(**values)
    values |= {"steps": tuple(values["steps"]), "rises": tuple(map(tuple, values["rises"]))}
    return Brought(**brought), Sequence(**values)


class _CannotBeSaidError(Exception):
    pass


class _Said:
    # What is gathered of a query while it is put into the words of rivals.

    def __init__(self) -> None:
        self.steps: list[str] = []
        self.names: list[str] = []
        self.attribute: str | None = None
        self.rises: list[tuple[int, int]] = []
        self.above: float | None = None

    def pattern(self, pattern: Any) -> None:
        match pattern:
            case tree.Sequence(left=left, right=right, contiguous=False, gap=None):
                self.pattern(left)
                self.pattern(right)
            case tree.Filter(pattern=inner, condition=condition):
                self.pattern(inner)
                self.condition(condition)
            case tree.As(pattern=inner, variable=name):
                self.steps.append("|".join(_types(inner)))
                self.names.append(name)
            case _:
                self.steps.append("|".join(_types(pattern)))
                self.names.append(self.steps[-1])

    def condition(self, condition: Condition) -> None:
        match condition:
            case Both(left=left, right=right):
                self.condition(left)
                self.condition(right)
            case Comparison(op="<" | ">" as op, left=Attribute() as left, right=Attribute() as right):
                low, high = (left, right) if op == "<" else (right, left)
                self._read(low.name)
                self._read(high.name)
                first, second = self._step(low.variable), self._step(high.variable)
                if second < first:
                    raise _CannotBeSaidError("a step that has a lower value than one before it")
                self.rises.append((first, second))
            case Every(
                variable=name, predicate=Comparison(op=">", left=Attribute() as read, right=Number() as n)
            ):
                self._read(read.name)
                if self._step(name) or self.above is not None:
                    raise _CannotBeSaidError("a bound of another step than the first")
                self.above = float(n.value)
            case _:
                raise _CannotBeSaidError("its filter")

    def _read(self, attribute: str) -> None:
        if self.attribute not in (None, attribute):
            raise _CannotBeSaidError("filters of several attributes")
        self.attribute = attribute

    def _step(self, name: str | None) -> int:
        if name is None or self.names.count(name) != 1:
            raise _CannotBeSaidError("a filter of several steps at once")
        return self.names.index(name)


def _types(pattern: Any) -> list[str]:
    match pattern:
        case tree.Or(left=left, right=right):
            return _types(left) + _types(right)
        case tree.EventType(name=name, stream=None):
            return [name]
    raise _CannotBeSaidError(f"the operator {type(pattern).__name__}")


def _window(window: tree.Window | None, order_by: str, kind: pa.DataType) -> int:
    """The window in units of the column of time."""
    if window is not None and window.parameter is None:
        if window.kind == "time" and (pa.types.is_timestamp(kind) or pa.types.is_duration(kind)):
            span = window.size * NANOSECONDS[window.unit or "s"]
            return int(span // NANOSECONDS[kind.unit])
        if window.kind == "attribute" and window.attribute == order_by and pa.types.is_integer(kind):
            return int(window.size)
    raise _CannotBeSaidError("no WITHIN of the time that orders the events")


def _key_numbers(events: pa.Table, keys: list[str]) -> pa.Array:
    numbers = pa.array(np.zeros(events.num_rows, "int64"))
    for name in keys:
        codes = events[name].combine_chunks().dictionary_encode().indices.cast(pa.int64()).fill_null(0)
        joined = pc.add(pc.multiply(numbers, (pc.max(codes).as_py() or 0) + 1), codes)
        numbers = joined.dictionary_encode().indices.cast(pa.int64())
    return numbers


def _ascends(times: pa.ChunkedArray) -> bool:
    values = times.cast(pa.int64()) if not pa.types.is_floating(times.type) else times
    return len(values) < 2 or bool(pc.all(pc.less_equal(values[:-1], values[1:])).as_py())
