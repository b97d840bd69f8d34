"""A compiled query: arrays and small values that can be pickled, without parser or automata.

A compiled query is how events are read (`RowReading`), what runs over them (a `Machine`), and what its
answers look like (an `AnswerForm`). Whatever comes after planning asks the machine's `Traits` and never what
kind of machine it is: a new engine is a lowering, a machine and its kernels.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace
from functools import partial
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from cer_gpu.frozen_dataclass import dataclass
from cer_gpu.language.tree import Aggregate, Expression
from cer_gpu.plan.axes import Axis
from cer_gpu.plan.machine import Machine, Traits
from cer_gpu.plan.outlook import Outlook
from cer_gpu.plan.symbols import Stage, StageAxis, by_column

if TYPE_CHECKING:
    from cer_gpu.plan.derived_columns import DerivedColumn

UNFIT = "\0unfit "
"""What the name of the column begins with that says where a derived value does not fit 64 bits."""

Product: TypeAlias = Literal["run", "count", "counts", "hits"]
"""What may be asked of a query."""


@dataclass(frozen=True, slots=True)
class WindowPlan:
    """WITHIN, in the units of the data.

    Attributes
    ----------
    kind : {"events", "time", "attribute"}
    size : int or float
        The largest `value(end) - value(start)` that is kept.
    attribute : str or None
        The column whose difference is bounded; None for kind "events".
    """

    kind: str
    size: int | float
    attribute: str | None = None


@dataclass(frozen=True, slots=True)
class SuppressPlan:
    """SUPPRESS, in the unit of the time.

    Attributes
    ----------
    by : {"ANY", "PARTITION"}
        Whether the last end of the stream counts, or the last of the partition.
    size : int or float
        For how long after an end no other is reported.
    """

    by: str
    size: int | float


@dataclass(frozen=True, slots=True)
class KeyColumn:
    """A column of slots, computed from events: two events with equal values have equal slots.

    Attributes
    ----------
    space : int
        Columns of one space give equal values equal slots, counted from 0.
    keys : tuple of Expression
        The values of an event; it has no slot (-1) where one of them is null or NaN.
    """

    space: int
    keys: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class ValueColumn:
    """A value of events that is compared by order, with the values of other events.

    Attributes
    ----------
    value : Expression
    among : Expression
        The value that it is compared with; the column of that value has the same `among`.
    """

    value: Expression
    among: Expression


VALUE_ROWS = 3
"""Rows of slots that a column of values takes: how it lies to its word, and the halves of the word."""


@dataclass(frozen=True, slots=True)
class KeyPlan:
    """The values of events that are compared with each other.

    Attributes
    ----------
    columns : tuple of KeyColumn
        The columns that a join compares, and those that make lanes.
    lane_column : ndarray, shape (symbols,) or (0,), int32
        For each symbol the column that gives the lane of an event, if all events of an answer agree in it;
        empty if no such column makes lanes.
    asked : ndarray, shape (symbols, columns + values), bool
        Whether an event with this symbol is compared by the column.
    values : tuple of ValueColumn
        The values that are compared by order; their rows of slots come after those of `columns`.
    exact : frozenset of int
        The numbers of those `values` that may be decimals beyond 64 bits, or are compared with such.
    """

    columns: tuple[KeyColumn, ...] = ()
    lane_column: np.ndarray = field(default_factory=lambda: np.empty(0, np.int32))
    asked: np.ndarray = field(default_factory=lambda: np.empty((0, 0), bool))
    values: tuple[ValueColumn, ...] = ()
    exact: frozenset[int] = frozenset()

    @classmethod
    def of_lane(cls, lane: Mapping[str, tuple[Expression, ...]] | None, n_symbols: int) -> KeyPlan:
        """For a machine that compares nothing; `lane`: for each event type the values that make lanes."""
        if lane is None:
            return cls()
        columns = tuple(KeyColumn(0, names) for names in dict.fromkeys(lane.values()))
        asked = np.tile(np.arange(len(columns)) == 0, (n_symbols, 1))
        return cls(columns, np.zeros(n_symbols, np.int32), asked)

    def __bool__(self) -> bool:
        """Whether anything is compared, or makes lanes."""
        return bool(self.columns or self.values)


@dataclass(frozen=True, slots=True)
class RowReading:
    """From a row of the data to a symbol, a lane, and what the window measures.

    Attributes
    ----------
    axes, stages : tuple
        From an event to its symbol (`cer_gpu.plan.symbols`).
    symbol_dtype : str
        "uint8" or "uint16".
    partition : tuple of tuple of str
        The parts of the key of PARTITION BY, each with its alternatives; the first that is not null counts.
    streams : tuple of str
        The streams that are read; events of others are skipped. Empty: all.
    keys : KeyPlan
    window : WindowPlan or None
        None without WITHIN.
    derived : tuple of DerivedColumn
        Columns that are computed before anything else reads an event, each after those that it reads.
    compared : tuple of str
        The columns whose values the machine itself compares: a run keeps them of relevant events.
    idle : int
        The symbol of events that satisfy nothing that the pattern asks of an event: they only stand between
        others. 0 where such events are dropped.
    needed : frozenset of str
        The event types of which every match has an event.
    only_type : str or None
        The type of all events where no column tells their types: the name in FROM, if the query asks for it.
    previous_inside : bool
        Whether all events that PREV reads are of the same match, so that no event before a match matters.
    numbers : tuple of StageAxis
        The axes over numbers.
    texts : mapping of str to tuple of StageAxis
        The axes over each column of strings.
    classified : tuple of str
        The columns that the axes read.
    """

    axes: tuple[Axis, ...]
    stages: tuple[Stage, ...]
    symbol_dtype: str
    partition: tuple[tuple[str, ...], ...]
    streams: tuple[str, ...]
    keys: KeyPlan
    window: WindowPlan | None
    derived: tuple[DerivedColumn, ...] = ()
    compared: tuple[str, ...] = ()
    idle: int = 0
    needed: frozenset[str] = frozenset()
    only_type: str | None = None
    previous_inside: bool = False
    numbers: tuple[StageAxis, ...] = field(init=False, compare=False)
    texts: Mapping[str, tuple[StageAxis, ...]] = field(init=False, compare=False)
    classified: tuple[str, ...] = field(init=False, compare=False)

    def __post_init__(self) -> None:
        put, found = partial(object.__setattr__, self), by_column(self.axes, self.stages)
        put("numbers", tuple(found.pop(None, ())))
        put("texts", {name: tuple(own) for name, own in found.items()})
        put("classified", tuple(dict.fromkeys(name for axis in self.axes for name in axis.columns)))

    @property
    def only_symbol(self) -> int | None:
        """The symbol of all events, where nothing tells them apart; None where something does."""
        table = self.stages[-1].table
        return None if self.axes or len(table) != 1 else int(table[0])

    @property
    def reads_before(self) -> int:
        """How many events before an event PREV reads, in the stream or its partition; 0 without PREV."""
        distances = [getattr(one.expression, "distance", 0) for one in self.derived]
        return max(distances, default=0)

    @property
    def makes_lanes(self) -> bool:
        """Whether the values of an event decide its lane, or whether it has one."""
        return bool(self.partition or self.streams or self.keys.lane_column.size)


@dataclass(frozen=True, slots=True)
class MeasureColumn:
    """A measure of the SELECT list: a value of each complex event, and the name of its column."""

    name: str
    expression: Expression


@dataclass(frozen=True, slots=True)
class MarkForm:
    """The answers of a query: complex events with marks.

    Attributes
    ----------
    variables : tuple of str
        The kept variables that some complex event may mark, in the order of the result's columns.
    label_has : ndarray, shape (labels, variables), uint8
        Which variables a label of the results marks.
    attributes : mapping of str to tuple of str
        The attributes to return for the events of a variable (`x[price]`).
    several : frozenset of str
        The variables that may mark more than one event of a complex event.
    whole : frozenset of str
        The variables of which all attributes are returned (`x[*]`).
    measures : tuple of MeasureColumn
        In the order of the result's columns.
    hidden : bool
        Whether variables are kept for the measures only (`SELECT NONE, COUNT(x) AS n`): then complex events
        with the same start, end and measures are one answer.
    limit : int or None
        With hidden variables, the most complex events of one end.
    """

    variables: tuple[str, ...]
    label_has: np.ndarray
    attributes: dict[str, tuple[str, ...]]
    several: frozenset[str] = frozenset()
    whole: frozenset[str] = frozenset()
    measures: tuple[MeasureColumn, ...] = ()
    hidden: bool = False
    limit: int | None = None


@dataclass(frozen=True, slots=True)
class HeadColumn:
    """A variable in the head of a rule: the attribute of the event of an atom."""

    name: str
    atom: int
    attribute: str


@dataclass(frozen=True, slots=True)
class TupleForm:
    """The answers of a rule: one event for each atom, and the values of the head.

    Attributes
    ----------
    head : tuple of HeadColumn
    atoms : tuple of str
        The event type of each atom.
    aggregates : tuple of Aggregate
        The aggregates, if answers are folded into groups.
    shown : int
        How many variables of the head name a group; the others are read by the aggregates.
    """

    head: tuple[HeadColumn, ...]
    atoms: tuple[str, ...]
    aggregates: tuple[Aggregate, ...] = ()
    shown: int = 0


AnswerForm: TypeAlias = MarkForm | TupleForm


@dataclass(frozen=True, slots=True)
class CompiledQuery:
    """Everything that the engine needs to run a query, and nothing else.

    Attributes
    ----------
    text : str
        The query as written.
    reading : Reading
    machine : Machine
        The machine that counts and lists complex events.
    hits_machine : Machine
        The machine that finds where complex events end. It differs from `machine` if there is a strategy:
        that never removes the last complex event of an end.
    form : AnswerForm
    consume : {"NONE", "ANY", "PARTITION"}
    limit : int or None
        The most complex events of one end.
    outlooks : tuple of Outlook
        What FOLLOWED BY and PRECEDED BY look for. The first reads the symbols of `reading`, each further one
        those that the one before returns, and the machine those of the last one.
    counts_machine : Machine or None
        The machine that counts; None: `machine`.
    suppress : SuppressPlan or None
    traits : Traits
        Those of `machine`.
    window : WindowPlan or None
        WITHIN: that of `reading`.
    hidden : bool
        Whether answers differ only in their measures, so that counting has to compute them.
    carries : bool
        Whether hits and counts go from event to event without keeping events.
    in_order : bool
        Whether the events of all partitions can be run in the order of the stream, not grouped by lane.
    keeps_times : bool
        Whether events are kept with their times for SUPPRESS: a window over time has them already.
    """

    text: str
    reading: RowReading
    machine: Machine
    hits_machine: Machine
    form: AnswerForm
    consume: str
    limit: int | None
    outlooks: tuple[Outlook, ...] = ()
    counts_machine: Machine | None = None
    suppress: SuppressPlan | None = None
    traits: Traits = field(init=False)
    window: WindowPlan | None = field(init=False)
    hidden: bool = field(init=False)
    carries: bool = field(init=False)
    in_order: bool = field(init=False)
    keeps_times: bool = field(init=False)

    def __post_init__(self) -> None:
        put = partial(object.__setattr__, self)
        traits, window, form = self.machine.traits, self.reading.window, self.form
        free = window is None and self.consume == "NONE"
        put("traits", traits)
        put("window", window)
        hides = isinstance(form, MarkForm) and form.hidden
        put("hidden", hides and self.limit != 1 and traits.keeps != "one")
        timed = window is not None and window.kind == "time"
        put("keeps_times", self.suppress is not None and not timed)
        put("carries", traits.state == "carried" and free)
        put(
            "in_order",
            "window" in traits.order or ("free" in traits.order and free and self.reading.makes_lanes),
        )

    @property
    def grouped(self) -> bool:
        """Whether its answers are folded into groups, which any event may change."""
        return isinstance(self.form, TupleForm) and bool(self.form.aggregates)

    @property
    def ungrouped(self) -> bool:
        """Whether hits and counts that carry read the events of all lanes in the order of the stream."""
        order = self.traits.order
        return "carried" in order or ("lanes" in order and bool(self.reading.partition))

    @property
    def pushes_run_again(self) -> bool:
        """Whether a push to a stream runs the open window again, and costs as much as the window holds.

        CONSUME BY is one reason: what a report consumes is known only when an answer is found to be in the
        window.
        """
        if self.traits.state == "again":
            return True
        if self.filters_answers:
            return self.consume != "NONE"
        over_attribute = self.window is not None and self.window.kind == "attribute"
        return over_attribute and self.traits.bound != "ranks"

    @property
    def filters_answers(self) -> bool:
        """Whether each answer is checked against a window over an attribute that may fall."""
        return self.traits.bound == "answers" and self.window is not None and self.window.kind == "attribute"

    @property
    def pushed_runs_again(self) -> bool:
        """Whether listing the complex events of a push runs the window of each end again.

        Under CONSUME BY that is no more than the events since the last report.
        """
        over_interval = self.window is not None and self.window.kind != "attribute"
        follows = over_interval and self.consume == "NONE" and self.traits.keeps == "chosen"
        return self.traits.keeps in ("chosen", "chosen again") and not follows

    @property
    def counts_all(self) -> bool:
        """Whether irrelevant events count too: in a window of events, or between neighbours of `:`."""
        return (
            (self.window is not None and self.window.kind == "events")
            or "place" in self.traits.columns
            or any("events" in outlook.measures for outlook in self.outlooks)
        )

    @property
    def keyed(self) -> bool:
        """Whether each answer lies in one partition, and no partition says what another one reports."""
        alone = self.suppress is None or self.suppress.by == "PARTITION"
        return bool(self.reading.partition) and self.consume != "ANY" and alone

    @property
    def in_stream_order(self) -> bool:
        """Whether what is reported depends on the order of ends in the stream, whatever their partitions."""
        return self.consume == "ANY" or (self.suppress is not None and self.suppress.by == "ANY")

    @property
    def kept_by_window(self) -> bool:
        """Whether a window says which events later ones need, whatever is found."""
        alone = self.consume == "NONE" and self.suppress is None
        return alone and self.window is not None and self.window.kind != "attribute"

    @property
    def consumes_some(self) -> bool:
        """Whether some ends consume and others, which are suppressed, do not."""
        return self.consume != "NONE" and self.suppress is not None

    @property
    def cuttable(self) -> bool:
        """Whether the answers at an event depend on near events only: `reached` before, `sight` after it.

        They do not if the query reads some of several streams and its window counts events.
        """
        window = self.window
        return (
            window is not None
            and not self.grouped
            and window.kind != "attribute"
            and not (window.kind == "events" and self.reading.streams)
            and self.consume == "NONE"
            and self.suppress is None
            and "prefix" not in self.traits.columns
            and self.sight is not None
        )

    @property
    def sight(self) -> int | float | None:
        """How far before its window, and after its end, an answer depends on events; None: without limit.

        In the measure of the window. Outlooks may be nested, each beginning where another ends, so their
        reaches add up.
        """
        window = self.window
        before = 0 if self.reading.previous_inside else self.reading.reads_before
        if before and (self.outlooks or window is None or window.kind != "events"):
            return None  # how long ago the event before was, only the stream says
        if not self.outlooks:
            return before
        reaches = [outlook.reach for outlook in self.outlooks]
        if window is None or window.kind != "time" or any(reach.kind != "time" for reach in reaches):
            return None
        if any(outlook.reads_prefix for outlook in self.outlooks):
            return None
        highs = [reach.high for reach in reaches if reach.high is not None]
        return sum(highs) if len(highs) == len(reaches) else None

    @property
    def reached(self) -> int | float | None:
        """How far before an end its answers depend on events, as the window measures; None: any distance."""
        return None if self.window is None or self.sight is None else self.window.size + self.sight

    @property
    def looks_ahead(self) -> bool:
        """Whether an answer depends on events after its end."""
        return any(not outlook.before for outlook in self.outlooks)

    def asked(self, product: Product, pushed: bool = False, whole: bool = False) -> CompiledQuery:
        """The query with the machine for a product; `pushed`: of a stream; `whole`: lanes run together."""
        machine = self.machine
        if product == "hits":
            machine = self.hits_machine
        elif product != "run" and self.counts_machine is not None:
            machine = self.counts_machine
        plain = self.consume == "NONE" and self.suppress is None and self.limit is None
        if product == "count" and self.window is None and plain:
            machine = getattr(machine, "totalled", machine)
        if pushed:
            machine = getattr(machine, "streamed", machine)
        elif whole and product in ("hits", "run") and hasattr(machine, "in_order_for"):
            machine = machine.in_order_for(self, product)
        return self if machine is self.machine else replace(self, machine=machine)
