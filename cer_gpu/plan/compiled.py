"""What a query is compiled to: arrays and small values, picklable, free of parser and automata."""

from __future__ import annotations

from dataclasses import dataclass, replace

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
class Monitor:
    """A finite automaton that reads the events of a lane from its beginning and renames their symbols.

    What a selector at the beginning of a pattern chooses depends on all events before it: the monitor's state
    is what must be known of them.

    Attributes
    ----------
    follow : ndarray, shape (states, symbols), int32
        The state after an event. State 0 is the one at the beginning of the lane.
    symbol : ndarray, shape (states, symbols), uint16
        What the event's symbol becomes; 0 where it can be dropped.
    """

    follow: np.ndarray
    symbol: np.ndarray

    def then(self, after: Monitor) -> Monitor:
        """One monitor that does what this one does and then another on the symbols that it gives."""
        n_after = len(after.follow)
        first = np.repeat(np.arange(len(self.follow)), n_after)
        second = np.tile(np.arange(n_after), len(self.follow))[:, None]
        given = self.symbol[first]
        return Monitor(
            (self.follow[first] * n_after + after.follow[second, given]).astype(np.int32),
            after.symbol[second, given],
        )


@dataclass(frozen=True, slots=True)
class SelectionPlan:
    """How the strategy of SELECT chooses among the complex events that end at one event.

    Attributes
    ----------
    strategy : {"NEXT", "LAST", "MAX"}
    single : bool
        Whether no two complex events with one end have the same marked positions, so that NEXT and LAST
        leave exactly one.
    tables : TransitionTables or None
        The automaton of what the strategy leaves of a stream, over the symbols that `monitor` gives; None
        where only `single` is needed.
    monitor : Monitor or None
        Over the symbols of the query; begins anew with each stream.
    label_has : ndarray, shape (labels, variables), uint8
        Which variables a label of `tables` marks.
    """

    strategy: str
    single: bool
    tables: TransitionTables | None
    monitor: Monitor | None
    label_has: np.ndarray


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
    monitor : Monitor or None
        Renames the symbols before `tables` read them; what the classification gives is its alphabet.
    selection : SelectionPlan or None
        Of a query whose strategy is not in `tables`; these are then those of ALL, before the SELECT list.
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
    monitor: Monitor | None
    selection: SelectionPlan | None
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

    @property
    def selects_later(self) -> bool:
        """Whether the strategy chooses among the complex events of each end, once these are known."""
        return self.selection is not None and (self.window is not None or self.consume != "NONE")

    @property
    def shown_label_has(self) -> np.ndarray:
        """Which variables the labels of results mark, shape (labels, variables), uint8."""
        later = self.selection if self.selects_later else None
        return self.label_has if later is None or later.tables is None else later.label_has

    def of_answers(self) -> CompiledQuery:
        """What answers are made with: without a window the automaton of what the strategy leaves.

        Hits need no choice: where some complex event ends, one is left.
        """
        selection = self.selection
        if selection is None or self.selects_later:
            return self
        assert selection.tables is not None
        assert selection.monitor is not None
        monitor = selection.monitor if self.monitor is None else self.monitor.then(selection.monitor)
        return replace(
            self, tables=selection.tables, monitor=monitor, label_has=selection.label_has, selection=None
        )
