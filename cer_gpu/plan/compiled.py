"""What a query is compiled to: arrays and small values, picklable, free of parser and automata."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cer_gpu.plan.axes import Axis
from cer_gpu.plan.join_tables import JoinTables, KeyColumn
from cer_gpu.plan.symbols import Stage


@dataclass(frozen=True, slots=True)
class TransitionTables:
    """A deterministic complex event automaton as arrays.

    State 0 is the initial one and has no incoming transitions. The transitions of symbol s are
    `first[s] .. first[s + 1] - 1`, sorted by (source, label); at most one has a given (source, label).

    Attributes
    ----------
    n_states : int
    n_symbols : int
        Symbols are 0 .. n_symbols - 1; 0 is the neutral one (changes no state, marks nothing).
    first : ndarray, shape (n_symbols + 1,), int32
    source, label, target : ndarray, shape (transitions,), int32
        Label 0 marks nothing; target -1 has no outgoing transitions, so that no run goes on there.
    accepting : ndarray, shape (transitions,), uint8
        1 where the target is final.
    """

    n_states: int
    n_symbols: int
    first: np.ndarray
    source: np.ndarray
    label: np.ndarray
    target: np.ndarray
    accepting: np.ndarray


@dataclass(frozen=True, slots=True)
class WindowPlan:
    """WITHIN, in the units of the data.

    Attributes
    ----------
    kind : {"events", "time", "attribute"}
    size : int or float
        The largest `value(end) - value(start)` that is kept.
    attribute : str or None
        The column that is measured; None for kind "events".
    """

    kind: str
    size: int | float
    attribute: str | None = None


@dataclass(frozen=True, slots=True)
class HeadColumn:
    """A variable in the head of a rule: the attribute of the event of an atom."""

    name: str
    atom: int
    attribute: str


@dataclass(frozen=True, slots=True)
class RulePlan:
    """What the answers of a rule are made of.

    Attributes
    ----------
    atoms : int
    head : tuple of HeadColumn
    label_atoms : ndarray, shape (labels, atoms), uint8
        Which atoms a label fills.
    """

    atoms: int
    head: tuple[HeadColumn, ...]
    label_atoms: np.ndarray


@dataclass(frozen=True, slots=True)
class CompiledQuery:
    """Everything that the engine needs to run a query, and nothing else.

    Attributes
    ----------
    text : str
        The query as written.
    axes, stages : tuple
        From an event to its symbol (`cer_gpu.plan.symbols`).
    tables : TransitionTables or None
        Of a query that an automaton over symbols answers.
    joins : JoinTables or None
        Of a query that a parallelized automaton answers: one of the two is there.
    key_columns : tuple of KeyColumn
        The values that a join compares, and those that make lanes.
    lane_column : ndarray, shape (symbols,), int32, or None
        For each symbol the key column that says the lane of an event, where all events of an answer agree
        in it.
    rule : RulePlan or None
    variables : tuple of str
        The kept variables that some complex event may mark, in the order of the result's columns.
    label_has : ndarray, shape (labels, variables), uint8
        Which variables a label marks.
    attributes : mapping of str to tuple of str
        The attributes to return for the events of a variable (`x[price]`).
    partition : tuple of tuple of str
    window : WindowPlan or None
    consume : {"NONE", "ANY", "PARTITION"}
    limit : int or None
    streams : tuple of str
        Events of other streams are skipped; empty where every event takes part.
    symbol_dtype : str
        "uint8" or "uint16".
    """

    text: str
    axes: tuple[Axis, ...]
    stages: tuple[Stage, ...]
    tables: TransitionTables | None
    joins: JoinTables | None
    key_columns: tuple[KeyColumn, ...]
    lane_column: np.ndarray | None
    rule: RulePlan | None
    variables: tuple[str, ...]
    label_has: np.ndarray
    attributes: dict[str, tuple[str, ...]]
    partition: tuple[tuple[str, ...], ...]
    window: WindowPlan | None
    consume: str
    limit: int | None
    streams: tuple[str, ...]
    symbol_dtype: str
