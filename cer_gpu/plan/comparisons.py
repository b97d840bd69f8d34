"""The deterministic automaton of compared steps as arrays: the machine of ordered look-ups."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import ClassVar

import numpy as np

from cer_gpu.automata.compared_steps import ComparedAutomaton
from cer_gpu.automata.comparisons import PairTest, beyond
from cer_gpu.automata.pcea import Keys
from cer_gpu.frozen_dataclass import dataclass
from cer_gpu.kernels.comparisons import contract
from cer_gpu.kernels.comparisons.contract import Climb, ComparedTables
from cer_gpu.language import tree as t
from cer_gpu.language.printer import to_text
from cer_gpu.plan.compiled_query import KeyPlan, ValueColumn
from cer_gpu.plan.join_arrays import SlotColumns, ask_lanes
from cer_gpu.plan.machine import LANES, Device, HostMachine, Traits
from cer_gpu.plan.step_groups import offsets, step_groups

OPERATIONS = {
    "<": contract.LESS,
    "<=": contract.AT_MOST,
    ">": contract.GREATER,
    ">=": contract.AT_LEAST,
    "=": contract.EQUAL,
    "!=": contract.DIFFERENT,
}


@dataclass(frozen=True, slots=True)
class ComparedChoice:
    """The strategy of SELECT beside compared steps.

    Attributes
    ----------
    strategy : {"NEXT", "LAST", "MAX"}
    climb : Climb or None
        For MAX.
    shown : ndarray, shape (labels,), bool
        For each label, whether results show its event; for MAX all of them.
    """

    strategy: str
    climb: Climb | None
    shown: np.ndarray


@dataclass(frozen=True, slots=True)
class ComparedMachine(HostMachine):
    """A deterministic automaton of compared steps over symbols.

    Attributes
    ----------
    tables : ComparedTables
    slot_rows : int
        The number of rows of slots, which come before the rows of values.
    choice : ComparedChoice or None
        The strategy of SELECT; None: it keeps all complex events.
    """

    tables: ComparedTables
    slot_rows: int
    choice: ComparedChoice | None = None

    engine: ClassVar[str] = "comparisons"
    reasons: ClassVar[Mapping[Device, str]] = {
        "cuda": "sorting the values that are compared, and listing the matches of comparisons by order",
        "resident": "what is compared is sorted by the CPU",
        "auto": "what is compared is sorted by the CPU, which is most of the work",
    }

    @property
    def traits(self) -> Traits:
        near = bool((self.tables.view_near != contract.ANY_PLACE).any())
        return Traits(
            columns=LANES | {"place"} if near else LANES,
            state="sorted",
            bound="answers",
            keeps="all" if self.choice is None else "chosen again",
        )


@dataclass(frozen=True, slots=True)
class ViewLookup:
    """The look-up of a view: entries with equal keys whose value lies in a range.

    Attributes
    ----------
    old_keys, new_keys : tuple of Expression
        The keys of the entry and of the event, which have to be equal one by one.
    value : Expression or None
        The value of the entry; None if no value is compared by order.
    tests : tuple of PairTest
        The comparisons of this value.
    """

    old_keys: Keys
    new_keys: Keys
    value: t.Expression | None
    tests: tuple[PairTest, ...]


def look_up(tests: frozenset[PairTest]) -> ViewLookup:
    """The look-up of a view with some tests.

    Raises
    ------
    QueryError
        CER091, when the tests compare several values of the entries.
    """
    equal = sorted((test for test in tests if test.op == "="), key=str)
    ordered = tuple(sorted((test for test in tests if test.op != "="), key=str))
    values = list(dict.fromkeys(test.old for test in ordered))
    if len(values) > 1:
        told = " and ".join(f"`{to_text(value)}`" for value in values)
        raise beyond(f"one event is compared with several values of the event before it: {told}")
    if sum(test.op == "!=" for test in ordered) > 1:
        raise beyond(f"`{to_text(values[0])}` of the event before is compared with several values by `!=`")
    value = values[0] if values else None
    return ViewLookup(tuple(one.old for one in equal), tuple(one.new for one in equal), value, ordered)


@dataclass(frozen=True, slots=True)
class _Order:
    """How the entries of a state are sorted: by keys, then by a value."""

    state: int
    keys: Keys
    value: t.Expression | None


def compared_arrays(
    automaton: ComparedAutomaton, lane: Mapping[str, Keys] | None
) -> tuple[ComparedTables, KeyPlan]:
    """The arrays of an automaton of compared steps, and the values that it compares.

    Parameters
    ----------
    automaton : ComparedAutomaton
    lane : mapping of str to Keys, or None
        For each event type the values that make its lane, if all events of an answer agree in them.
    """
    columns = SlotColumns(lane)
    views = automaton.views
    asked = [look_up(view.tests) for view in views]
    for one in asked:
        if one.old_keys:
            columns.link(one.new_keys, one.old_keys)
    slot_of = {keys: columns.number(keys) for one in asked for keys in (one.old_keys, one.new_keys)}
    values: dict[ValueColumn, int] = {}
    orders: dict[_Order, None] = {}
    for view, one in zip(views, asked):
        orders[_Order(view.source, one.old_keys, one.value)] = None
    in_order = sorted(orders, key=lambda order: order.state)
    place = {order: number for number, order in enumerate(in_order)}
    order_value = [_value(values, one.value, one.value) for one in in_order]
    tests = [
        [(OPERATIONS[test.op], _value(values, test.new, test.old)) for test in one.tests] for one in asked
    ]
    groups, n_states = step_groups(automaton, views), len(automaton.state_label)
    tables = ComparedTables(
        *groups,
        order_first=offsets(np.bincount([one.state for one in in_order], minlength=n_states)),
        order_state=np.array([one.state for one in in_order], np.int32),
        order_slot=np.array([slot_of[one.keys] for one in in_order], np.int32),
        order_value=np.array(order_value, np.int32),
        view_order=np.array(
            [place[_Order(view.source, one.old_keys, one.value)] for view, one in zip(views, asked)], np.int32
        ),
        view_near=np.array([view.near for view in views], np.uint8),
        view_slot=np.array([slot_of[one.new_keys] for one in asked], np.int32),
        test_first=offsets([len(found) for found in tests]),
        test_op=np.array([op for found in tests for op, _ in found], np.uint8),
        test_value=np.array([value for found in tests for _, value in found], np.int32),
    )
    built, _ = columns.built()
    lane_column = columns.lane_column(min(types, default=None) for types in automaton.types)
    keys = KeyPlan(built, lane_column, values=tuple(values))
    return tables, replace(keys, asked=_asked(tables, keys))


def _value(values: dict[ValueColumn, int], value: t.Expression | None, among: t.Expression | None) -> int:
    if value is None or among is None:
        return -1
    return values.setdefault(ValueColumn(value, among), len(values))


def _asked(tables: ComparedTables, keys: KeyPlan) -> np.ndarray:
    """By which columns an event with each symbol is compared, shape (symbols, columns + values), bool."""
    asked = np.zeros((tables.n_symbols, len(keys.columns) + len(keys.values)), bool)
    for symbol in range(tables.n_symbols):
        for group in range(tables.first[symbol], tables.first[symbol + 1]):
            state = tables.group_state[group]
            for order in range(tables.order_first[state], tables.order_first[state + 1]):
                _ask(asked[symbol], tables.order_slot[order], tables.order_value[order], keys)
            for view in tables.read_view[tables.read_first[group] : tables.read_first[group + 1]]:
                _ask(asked[symbol], tables.view_slot[view], -1, keys)
                for test in range(tables.test_first[view], tables.test_first[view + 1]):
                    _ask(asked[symbol], -1, tables.test_value[test], keys)
    ask_lanes(asked, keys.lane_column)
    return asked


def _ask(row: np.ndarray, slot: int, value: int, keys: KeyPlan) -> None:
    if slot >= 0:
        row[slot] = True
    if value >= 0:
        row[len(keys.columns) + value] = True
