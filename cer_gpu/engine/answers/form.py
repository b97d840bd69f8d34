"""Complex events as Arrow: the columns of a result, and how a block of complex events fills them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa

from cer_gpu.engine.answers.positions import PositionLookup
from cer_gpu.engine.answers.values import BatchValues, ComplexEvent, complex_events, rule_answers
from cer_gpu.engine.read.events import EventArrays
from cer_gpu.engine.read.lanes import LaneEncoder
from cer_gpu.engine.read.sources.arrow_types import roomy, without_dictionary
from cer_gpu.engine.read.sources.columns import gathered_rows, rows_of
from cer_gpu.enumeration.blocks import AnswerBlock, MarkBlock, PathBlock, TupleBlock
from cer_gpu.kernels.lists.cpu import list_columns
from cer_gpu.plan.compiled_query import MarkForm, TupleForm

if TYPE_CHECKING:
    from cer_gpu.engine.answers.deduplication import AnswerDeduplication
    from cer_gpu.engine.answers.measures import Marked, Measures
    from cer_gpu.language import tree


class SingleMark(NamedTuple):
    """One event of a complex event that can have columns of its own.

    Attributes
    ----------
    name : str
        The name of its columns: `a`, or `a_first` and `a_last` of a variable that may mark several events.
    attributes : tuple of str
        The attributes that SELECT asks for.
    """

    name: str
    attributes: tuple[str, ...]


class ResultForm(ABC):
    """The columns of a query's result, for data of one schema.

    Parameters
    ----------
    data : pyarrow.Schema
    order : str or None
        The time column, from which `start_time` and `end_time` are taken.
    encoder : LaneEncoder or None
        The encoder of the keys of PARTITION BY.
    event_id : str or None
        The column whose values take the place of positions.

    Attributes
    ----------
    schema : pyarrow.Schema
    variables : tuple of str
        The variables that SELECT keeps; none for a rule.
    head : tuple of str, or None
        The variables in the head of a rule; None for a query.
    partition : tuple of str
        The names of the key's columns.
    positions : tuple of str
        The columns of positions, or of lists of them.
    times : tuple of str
        The columns of times.
    plain : tuple of int
        The numbers of the columns that have one value in each cell.
    payload : tuple of str
        The columns of the data that results are made from.
    order : str or None
        The time column.
    measures : tuple of str
        The names of the measures, whose columns are the last.
    hidden : AnswerDeduplication or None
        Drops answers that repeat the measures of another; None where answers differ by more.
    folding : Folding or None
        Folds answers into groups; None where there are no groups.
    grouped : bool
        Whether a row stands for a group of answers.
    marking : tuple of str
        The names that mark events: the kept variables, or the types of a rule's atoms.
    attributes : mapping of str to tuple of str
        For each variable the attributes that SELECT asks for.
    """

    variables: tuple[str, ...] = ()
    head: tuple[str, ...] | None = None
    marking: tuple[str, ...] = ()
    measures: tuple[str, ...] = ()
    hidden: AnswerDeduplication | None = None
    folding: Any = None
    grouped = False
    attributes: Mapping[str, tuple[str, ...]] = {}
    _named: Mapping[str, str] = {}

    def __init__(
        self, data: pa.Schema, order: str | None, encoder: LaneEncoder | None, event_id: str | None
    ) -> None:
        self.order, self.event_id, self._placed = order, event_id, PositionLookup()
        self.partition = () if encoder is None else encoder.names
        place = id_type(data, event_id)
        self.list_type = pa.list_(pa.field("item", place, nullable=event_id is not None))
        """The type of a list of positions."""
        fields = [pa.field(name, place, nullable=event_id is not None) for name in ("start", "end")]
        taken, positions = {"start", "end"}, ["start", "end"]
        if encoder is not None:
            for name, kind in zip(encoder.names, encoder.types, strict=True):
                fields.append(pa.field(free_name(name, taken), kind))
        self.times: tuple[str, ...] = ()
        if order is not None:
            kind = data.field(order).type
            self.times = (free_name("start_time", taken), free_name("end_time", taken))
            fields += [pa.field(name, kind) for name in self.times]
        listed = set()
        for field, positioned in self._fields(data, taken):
            fields.append(field)
            if positioned or field.name in self._named.values():
                listed.add(field.name)
            if positioned:
                positions.append(field.name)
        self.schema = pa.schema(fields)
        self.plain = tuple(number for number, field in enumerate(fields) if field.name not in listed)
        self.positions = tuple(positions)
        names = [name for name in (order, event_id) if name is not None]
        self.payload = tuple(dict.fromkeys([*names, *self._read()]))

    def settled(self) -> ResultForm:
        """The form of results that have been folded already."""
        return self

    @abstractmethod
    def _fields(self, data: pa.Schema, taken: set[str]) -> Iterator[tuple[pa.Field, bool]]:
        """The columns after the times, and whether each holds positions."""

    @abstractmethod
    def _read(self) -> list[str]:
        """The columns of the data from which the columns after the times are made."""

    @abstractmethod
    def _columns(
        self, events: EventArrays, end: np.ndarray, block: Any, first: list[pa.Array]
    ) -> list[pa.Array]:
        """The columns after the times, for a block, of which those up to the times are made."""

    def measured(self, events: EventArrays, end: np.ndarray, block: Any) -> list[pa.Array]:
        """The columns of the measures; parameters as for `batch`."""
        return []

    @abstractmethod
    def marked(self, block: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The marked events of a block, one complex event after another, ascending in each.

        Returns
        -------
        match, event : ndarray, shape (n,), int64
            The complex event of the block, and the event of its chunk.
        variable : ndarray, shape (n,), int32
            The variable that marks the event: an index into `marking`. An event with several marks comes once
            for each.
        """

    @abstractmethod
    def complex_events(self, batch: pa.RecordBatch) -> Iterator[ComplexEvent]:
        """The rows of a result batch as Python values."""

    def places(self, events: EventArrays, index: np.ndarray, without: np.ndarray | None = None) -> pa.Array:
        """The positions of some events, or their ids; null where `without` is true."""
        if self.event_id is None:
            return pa.array(self._placed(events.positions, index), mask=without)
        return identities(payload_column(events, self.event_id, index, without))

    @abstractmethod
    def singled(self) -> list[SingleMark]:
        """The events of a complex event that can have columns of their own, in the order of the columns."""

    @abstractmethod
    def singled_events(self, block: Any) -> list[tuple[np.ndarray, np.ndarray | None]]:
        """For each event of `singled`, the event in each complex event of a block, and where there is none.

        Returns
        -------
        list of (index, without)
            `index`, shape (n,), int64, and `without`, shape (n,), bool, or None where every complex event has
            one.
        """

    def _values_of(self, batch: pa.RecordBatch) -> BatchValues:
        """What a result batch tells besides positions."""
        attributes = {variable: batch.column(name) for variable, name in self._named.items()}
        return BatchValues([batch.column(name) for name in self.times], attributes)

    def batch(self, events: EventArrays, end: np.ndarray, block: AnswerBlock) -> pa.RecordBatch:
        """A block of complex events as a record batch.

        Parameters
        ----------
        events : EventArrays
            The events that the block refers to by number.
        end : ndarray, shape (n,), int64
            The event at which each complex event ends.
        block : Block, PathBlock or TupleBlock
            From the machine of the query.
        """
        arrays = self._first_columns(events, end, block)
        others = self._columns(events, end, block, arrays)
        return pa.RecordBatch.from_arrays([*arrays, *others], schema=self.schema)

    def _first_columns(self, events: EventArrays, end: np.ndarray, block: AnswerBlock) -> list[pa.Array]:
        """The columns up to the times."""
        places = (block.start, end)
        arrays = [self.places(events, index) for index in places]
        if events.lane_keys is not None:
            arrays += events.lane_keys.columns(gathered_rows(events.lanes, end, np.int64))
        if self.order is not None:
            arrays += [payload_column(events, self.order, index) for index in places]
        return arrays

    def plain_columns(self, events: EventArrays, end: np.ndarray, block: Any) -> list[pa.Array]:
        """The columns that have one value in each cell, `plain`; parameters as for `batch`."""
        return self._first_columns(events, end, block)


class MarkResults(ResultForm):
    """The columns of complex events with marks: for each variable a list of positions, or of attributes."""

    def __init__(
        self,
        form: MarkForm,
        data: pa.Schema,
        order: str | None,
        encoder: LaneEncoder | None,
        event_id: str | None = None,
    ) -> None:
        self._form = form
        self._measures: Measures | None = None
        if form.measures:
            from cer_gpu.engine.answers.measures import Measures

            self._measures = Measures(form.measures, data, order)
        self._kinds: dict[str, pa.DataType] = {}
        self._named: dict[str, str] = {}  # the columns of attributes, by variable
        super().__init__(data, order, encoder, event_id)
        self.variables = self.marking = () if form.hidden else form.variables
        self.attributes = form.attributes
        self.measures = tuple(column.name for column in form.measures)
        if form.hidden:
            from cer_gpu.engine.answers.deduplication import AnswerDeduplication

            self.hidden = AnswerDeduplication(len(self.measures), form.limit)
        # The variables that each label marks, one label after another.
        self._number = form.label_has.sum(axis=1).astype(np.int64)
        self._marking = np.nonzero(form.label_has)[1].astype(np.int32)
        self._first = np.append(0, np.cumsum(self._number))

    def _fields(self, data: pa.Schema, taken: set[str]) -> Iterator[tuple[pa.Field, bool]]:
        for variable in () if self._form.hidden else self._form.variables:
            yield pa.field(free_name(variable, taken), self.list_type, nullable=False), True
            if attributes := self._form.attributes.get(variable):
                shown = "*" if variable in self._form.whole else ", ".join(attributes)
                name = free_name(f"{variable}[{shown}]", taken)
                members = pa.struct(
                    [pa.field(attribute, roomy(data.field(attribute).type)) for attribute in attributes]
                )
                self._kinds[variable] = pa.list_(pa.field("item", members, nullable=False))
                self._named[variable] = name
                yield pa.field(name, self._kinds[variable], nullable=False), False
        for field in () if self._measures is None else self._measures.fields:
            yield field.with_name(free_name(field.name, taken)), False

    def _read(self) -> list[str]:
        attributes = [name for attributes in self._form.attributes.values() for name in attributes]
        return attributes if self._measures is None else [*attributes, *self._measures.payload]

    @property
    def expressions(self) -> tuple[tree.Expression, ...]:
        """The expressions of the measures."""
        return tuple(column.expression for column in self._form.measures)

    def marked_by(self, label: int) -> list[str]:
        """The variables that a label marks, including those that are not shown."""
        has = self._form.label_has[label]
        return [name for name, own in zip(self._form.variables, has, strict=True) if own]

    def numbered(
        self, first: pa.Array, last: pa.Array, number_of: Callable[[str | None], np.ndarray]
    ) -> list[pa.Array]:
        """The measures that read no attribute, from the times of each answer; see `Measures.numbered`."""
        return [] if self._measures is None else self._measures.numbered(first, last, number_of)

    def _lists(self, block: MarkBlock) -> dict[str, tuple[np.ndarray, np.ndarray]]:
        """For each variable where the events that it marks begin in each complex event, and the events."""
        names, has = self._form.variables, self._form.label_has
        if isinstance(block, PathBlock) and (steps := block.single_steps(has)) is not None:
            bounds = np.arange(len(block.hit) + 1, dtype=np.int32)
            return {name: (bounds, block.column[step]) for name, step in zip(names, steps, strict=True)}
        return dict(zip(names, list_columns(block.first, block.event, block.label, has), strict=True))

    def _columns(
        self, events: EventArrays, end: np.ndarray, block: MarkBlock, first: list[pa.Array]
    ) -> list[pa.Array]:
        arrays: list[pa.Array] = []
        lists = self._lists(block)
        placed: list[pa.Array | None] = [None] * len(lists)
        if isinstance(block, PathBlock):  # the positions of the first and the last event are there
            made = {len(block.column) - 1: first[1], 0: first[0]}
            placed = [made.get(step) for step in block.single_steps(self._form.label_has) or ()] or placed
        shown = () if self._form.hidden else zip(lists.items(), placed, strict=True)
        for (variable, (offsets, marked)), marks in shown:
            bounds, marks = pa.array(offsets), self.places(events, marked) if marks is None else marks
            arrays.append(pa.ListArray.from_arrays(bounds, marks, type=self.list_type))
            if attributes := self._form.attributes.get(variable):
                members = [payload_column(events, attribute, marked) for attribute in attributes]
                kind = self._kinds[variable]
                struct = pa.StructArray.from_arrays(members, fields=list(kind.value_type))
                arrays.append(pa.ListArray.from_arrays(bounds, struct, type=kind))
        return arrays + self._measured(events, block.start, end, lists)

    def _measured(
        self, events: EventArrays, start: np.ndarray, end: np.ndarray, lists: Marked
    ) -> list[pa.Array]:
        return [] if self._measures is None else self._measures.of(events, start, end, lists)

    def plain_columns(self, events: EventArrays, end: np.ndarray, block: MarkBlock) -> list[pa.Array]:
        """As `ResultForm.plain_columns`: the measures too."""
        first = self._first_columns(events, end, block)
        return first if self._measures is None else first + self.measured(events, end, block)

    def measured(self, events: EventArrays, end: np.ndarray, block: MarkBlock) -> list[pa.Array]:
        """As `ResultForm.measured`."""
        if self._measures is None:
            return []
        return self._measured(events, block.start, end, self._lists(block))

    def marked(self, block: MarkBlock) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """As `ResultForm.marked`."""
        if self._form.hidden:
            return np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, np.int32)
        number = self._number[block.label]
        match = np.repeat(np.arange(len(block.hit)), np.diff(block.first))
        if (number == 1).all():
            return match, block.event, self._marking[self._first[block.label]]
        mark = np.repeat(np.arange(len(number)), number)
        nth = np.arange(len(mark)) - np.repeat(np.cumsum(number) - number, number)
        return match[mark], block.event[mark], self._marking[self._first[block.label[mark]] + nth]

    def singled(self) -> list[SingleMark]:
        """As `ResultForm.singled`: a variable that may mark several events shows the first and the last."""
        found = []
        for name in self.variables:
            attributes = self.attributes.get(name, ())
            if name in self._form.several:
                found += [SingleMark(f"{name}_{which}", attributes) for which in ("first", "last")]
            else:
                found.append(SingleMark(name, attributes))
        return found

    def singled_events(self, block: MarkBlock) -> list[tuple[np.ndarray, np.ndarray | None]]:
        """As `ResultForm.singled_events`."""
        found: list[tuple[np.ndarray, np.ndarray | None]] = []
        lists = self._lists(block)
        for name in self.variables:
            offsets, marked = lists[name]
            many = name in self._form.several
            if not many and len(marked) == len(offsets) - 1:
                found.append((marked, None))
                continue
            nothing = offsets[1:] == offsets[:-1]
            without = nothing if nothing.any() else None
            for at in (offsets[:-1], offsets[1:] - 1) if many else (offsets[:-1],):
                place = at if without is None else np.where(nothing, 0, at)
                index = marked[place] if len(marked) else np.zeros(len(place), np.int64)
                found.append((index, without))
        return found

    def complex_events(self, batch: pa.RecordBatch) -> Iterator[ComplexEvent]:
        """The rows of a result batch as Python values."""
        return complex_events(batch, self.variables, self.partition, self.measures, self._values_of(batch))


class TupleResults(ResultForm):
    """The columns of the answers of a rule: the variables of its head, and a position for each atom."""

    def __init__(
        self,
        form: TupleForm,
        data: pa.Schema,
        order: str | None,
        encoder: LaneEncoder | None,
        event_id: str | None = None,
    ) -> None:
        self._form = form
        super().__init__(data, order, encoder, event_id)
        self.head = tuple(column.name for column in form.head)
        self.marking = form.atoms

    def _fields(self, data: pa.Schema, taken: set[str]) -> Iterator[tuple[pa.Field, bool]]:
        for column in self._form.head:
            yield pa.field(free_name(column.name, taken), roomy(data.field(column.attribute).type)), False
        yield pa.field(free_name("positions", taken), self.list_type, nullable=False), True

    def _read(self) -> list[str]:
        return [column.attribute for column in self._form.head]

    def _head(self, events: EventArrays, block: TupleBlock) -> list[pa.Array]:
        return [
            payload_column(events, column.attribute, block.event[:, column.atom])
            for column in self._form.head
        ]

    def plain_columns(self, events: EventArrays, end: np.ndarray, block: TupleBlock) -> list[pa.Array]:
        """As `ResultForm.plain_columns`: the variables of the head too."""
        return [*self._first_columns(events, end, block), *self._head(events, block)]

    def singled(self) -> list[SingleMark]:
        """As `ResultForm.singled`: the event of each atom."""
        number = [self.marking[:place].count(name) for place, name in enumerate(self.marking)]
        return [
            SingleMark(f"{name}_{before + 1}" if before else name, ())
            for name, before in zip(self.marking, number, strict=True)
        ]

    def singled_events(self, block: TupleBlock) -> list[tuple[np.ndarray, np.ndarray | None]]:
        """As `ResultForm.singled_events`."""
        return [(np.ascontiguousarray(column), None) for column in block.event.T]

    def _columns(
        self, events: EventArrays, end: np.ndarray, block: TupleBlock, first: list[pa.Array]
    ) -> list[pa.Array]:
        atoms = len(self._form.atoms)
        bounds = pa.array(np.arange(0, len(block.event) * atoms + 1, atoms, dtype=np.int32))
        positions = self.places(events, block.event.reshape(-1))
        listed = pa.ListArray.from_arrays(bounds, positions, type=self.list_type)
        return [*self._head(events, block), listed]

    def marked(self, block: TupleBlock) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """As `ResultForm.marked`; the events are in the order of the atoms."""
        answers, atoms = block.event.shape
        variable = np.tile(np.arange(atoms, dtype=np.int32), answers)
        return np.repeat(np.arange(answers), atoms), block.event.reshape(-1), variable

    def complex_events(self, batch: pa.RecordBatch) -> Iterator[ComplexEvent]:
        """The rows of a result batch as Python values."""
        assert self.head is not None
        return rule_answers(batch, self.head, self._values_of(batch))


def payload_column(
    events: EventArrays, name: str, index: np.ndarray, without: np.ndarray | None = None
) -> pa.Array:
    """The values that some events have in a column of the data; null where `without` is true."""
    assert events.payload is not None
    return rows_of(events.payload.column(name), index, without)


def id_type(data: pa.Schema, event_id: str | None) -> pa.DataType:
    """The type of the values that take the place of positions: int64, or that of the column of ids."""
    if event_id is None:
        return pa.int64()
    return without_dictionary(roomy(data.field(event_id).type))


def identities(values: pa.Array) -> pa.Array:
    """The values of a column of ids, as they are in the data."""
    return values.dictionary_decode() if pa.types.is_dictionary(values.type) else values


def free_name(name: str, taken: set[str]) -> str:
    """A column name that is not taken yet: a variable may be called `start`, for example."""
    while name in taken:
        name += "_"
    taken.add(name)
    return name


def parameter_column(values: list[Any]) -> pa.Array:
    """The values of a parameter as a column; as text if they have no type in common."""
    try:
        return pa.array(values)
    except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError):
        return pa.array([None if value is None else str(value) for value in values])
