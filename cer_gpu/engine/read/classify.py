"""From batches to relevant events: the symbol of every event, and the events whose symbol is not neutral."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from sys import getrefcount
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from cer_gpu.engine.read.adders import Adder, NumberAxis, UnfitError, axis_values
from cer_gpu.engine.read.derive import Reader, overflow, read_columns
from cer_gpu.engine.read.sources import columns
from cer_gpu.engine.read.sources.arrow_types import decoded
from cer_gpu.engine.read.sources.columns import NONE_BEYOND, Codes, Values
from cer_gpu.engine.read.text_shares import SEEN, OccurringNames, TextShares
from cer_gpu.engine.workers import Workers
from cer_gpu.errors import RowError
from cer_gpu.frozen_dataclass import dataclass
from cer_gpu.kernels.classify import cpu as kernels
from cer_gpu.kernels.classify.contract import NONE_MISSING
from cer_gpu.language import tree
from cer_gpu.language.schema import ValueType
from cer_gpu.lazy_modules import compute as pc
from cer_gpu.plan.axes import (
    Axis,
    ColumnAxis,
    NullAxis,
    RelationAxis,
    computes,
    operands_of,
    type_number,
)
from cer_gpu.plan.compiled_query import UNFIT, RowReading
from cer_gpu.plan.symbols import TABLE_BUDGET, StageAxis, reachable

if TYPE_CHECKING:
    from cer_gpu.engine.read.wide_decimals import WideColumns

BLOCK = 1 << 17
"""Rows of a block: its index and symbols stay in a core's second-level cache."""

LENT = 0.75
"""If this share of a block is relevant, its events stay where they were written; fewer are copied."""

FIRST_BLOCKS = 4
"""How many blocks each thread reads before the others, if much of them may be kept."""

UNSHARED = 2
"""`sys.getrefcount` of an array without views: its owner, and the argument of the call."""

FEW_BOUNDS = 8
"""Types that are numbers are compared with so many bounds at most, and with more a table is faster."""

TABLED = 1 << 16
"""Types that are numbers below this are looked up in a table."""

_COMPARE = {
    "=": "equal",
    "!=": "not_equal",
    "<": "less",
    "<=": "less_equal",
    ">": "greater",
    ">=": "greater_equal",
}


@dataclass(frozen=True, slots=True)
class _Scratch:
    """What a thread needs to classify a block; `index` by the width of its numbers."""

    index: dict[int, np.ndarray]
    state: np.ndarray


@dataclass(frozen=True, slots=True)
class _OutputSlice:
    """Where a thread writes the relevant events of a block."""

    positions: np.ndarray
    symbols: np.ndarray


class Classifier:
    """Finds the relevant events of batches.

    Parameters
    ----------
    reading : Reading
    units : mapping of str to str
        The units of the time columns.
    workers : Workers

    Attributes
    ----------
    names : OccurringNames
        The names that occur in the columns of types and streams.
    values : OccurringNames
        The texts that occur in columns that filters compare with some.
    whole : int
        Arithmetic and functions of batches with more rows are evaluated block by block.
    completed : callable
        Gives a batch with the derived columns that it lacks.
    ahead : callable
        The batches in their order, for `relevant`; unchanged here.
    """

    ahead: Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]] = iter

    def __init__(self, reading: RowReading, units: dict[str, str], workers: Workers) -> None:
        self._reading = reading
        self._units = units
        self._workers = workers
        self._dtypes = [
            np.dtype(np.uint16 if len(stage.table) <= TABLE_BUDGET else np.uint32) for stage in reading.stages
        ]
        self._widths = {dtype.itemsize for dtype in self._dtypes}
        self._scratch: list[_Scratch] = []
        self._outs: list[_OutputSlice] = []
        self._lent: deque[_OutputSlice] = deque()
        """Blocks of events of which views may still exist."""
        self.whole = BLOCK
        self.completed: Callable[[pa.RecordBatch], pa.RecordBatch] = lambda batch: batch
        self.names = OccurringNames()
        self.values = OccurringNames()
        self._texts = {
            name: TextShares(axes, self._dtypes, self.names, self.values)
            for name, axes in reading.texts.items()
        }

    def relevant(self, batch: pa.RecordBatch, before: int) -> list[tuple[np.ndarray, np.ndarray]]:
        """The events of a batch whose symbol is not neutral, block by block.

        Parameters
        ----------
        batch : RecordBatch
        before : int
            How many events of the stream come before it.

        Returns
        -------
        list of (positions, symbols)
            positions : ndarray, shape (m,), int64, in the stream, ascending;
            symbols : ndarray, shape (m,), uint8 or uint16.
        """
        symbol = self._reading.only_symbol
        if symbol is not None:
            count = len(batch) if symbol else 0
            return [(np.arange(before, before + count), np.full(count, symbol, self._reading.symbol_dtype))]
        return [block for _, blocks in self.in_groups(batch, before) for block in blocks]

    def look(self, batch: pa.RecordBatch) -> None:
        """Note the names in a batch of which no event matters."""
        for name, texts in self._texts.items():
            texts.of(self._codes(batch, name).dictionary)

    def in_groups(
        self, batch: pa.RecordBatch, before: int
    ) -> Iterator[tuple[int, list[tuple[np.ndarray, np.ndarray]]]]:
        """As `relevant`, a few blocks at a time if most events are relevant: yields (rows, blocks).

        If the caller is done with the events of a group before it asks for the next one, the same memory is
        used.
        """
        in_blocks = len(batch) > self.whole
        adders = self._adders(batch if in_blocks else self.completed(batch), before, in_blocks)
        blocks = [(start, min(start + BLOCK, len(batch))) for start in range(0, len(batch), BLOCK)]
        size = FIRST_BLOCKS * self._workers.threads
        while blocks:
            group, blocks = blocks[:size], blocks[size:]
            try:
                found = self._workers.map("reading", partial(self._block, adders, before), group)
            except UnfitError:
                adders = self._adders(self.completed(batch), before)
                found = self._workers.map("reading", partial(self._block, adders, before), group)
            yield group[-1][1] - group[0][0], found
            size = size if self._lent else len(blocks)

    @property
    def reading(self) -> RowReading:
        """The plan from a row to its symbol."""
        return self._reading

    def shares_of(self, texts: Sequence[str | None]) -> list[int]:
        """What the texts of a single event add to the index of each stage.

        Parameters
        ----------
        texts : sequence
            One text for each of `reading.texts`; None for a null.
        """
        found = [0] * len(self._reading.stages)
        for shares, text in zip(self._texts.values(), texts, strict=True):
            for stage, share in shares.of_text(text).items():
                found[stage] += share
        return found

    def _note_numbers(self, axis: ColumnAxis, values: Values) -> None:
        """Note types that are numbers: the first ones, and those of the query that none had before."""
        unseen = self.names.unseen.get(axis.column)
        if unseen is None or unseen:
            missing = list(axis.names if unseen is None else unseen)
            numbers = np.array([type_number(name, axis.kind) for name in missing], np.int64)
            data = values.data[values.present] if len(values.valid) else values.data
            found = np.unique(data[:SEEN] if unseen is None else data[:0]).astype(np.int64)
            found = np.union1d(found, data[np.isin(data, numbers)])
            spelled = ["true" if one else "false" for one in found] if axis.kind is ValueType.BOOL else found
            self.names.note(axis.column, axis.names, list(map(str, spelled)))

    def _block(
        self, adders: list[list[Adder]], before: int, block: tuple[int, int]
    ) -> tuple[np.ndarray, np.ndarray]:
        start, stop = block
        # Blocks reuse the memory of blocks that are done: fresh pages cost more than the kernels.
        try:
            scratch = self._scratch.pop()
        except IndexError:  # other threads have what there is
            scratch = _Scratch(
                {2: np.empty(BLOCK, np.uint16), 4: np.empty(BLOCK if 4 in self._widths else 0, np.uint32)},
                np.empty(BLOCK if len(self._reading.stages) > 1 else 0, np.int32),
            )
        try:
            out = self._outs.pop()
        except IndexError:
            out = (self._given_back() if self._lent else None) or _OutputSlice(
                np.empty(BLOCK, np.int64), np.empty(BLOCK, self._reading.symbol_dtype)
            )
        size = stop - start
        state: np.ndarray | None = None
        for number, stage in enumerate(self._reading.stages):
            index = scratch.index[self._dtypes[number].itemsize][:size]
            if state is None:
                index[:] = 0
            else:
                np.multiply(state, stage.state_stride, out=index, casting="unsafe")
            for adder in adders[number]:
                adder.add(index, start, stop)
            if number + 1 < len(self._reading.stages):
                state = scratch.state[:size]
                kernels.lookup(index, stage.table, state)
        table = self._reading.stages[-1].table
        kept = kernels.compact(index, table, start + before, out.positions, out.symbols)
        self._scratch.append(scratch)
        found = out.positions[:kept], out.symbols[:kept]
        if kept >= LENT * BLOCK:
            self._lent.append(out)
            return found
        found = found[0].copy(), found[1].copy()
        self._outs.append(out)
        return found

    def _given_back(self) -> _OutputSlice | None:
        """Memory of the events of a block which nobody has any more."""
        for _ in range(len(self._lent)):
            try:
                out = self._lent.popleft()
            except IndexError:  # another thread has it
                break
            if getrefcount(out.positions) == getrefcount(out.symbols) == UNSHARED:
                return out
            self._lent.append(out)
        return None

    # ------------------------------------------------------------------------------------- adders

    def _adders(self, batch: pa.RecordBatch, before: int, in_blocks: bool = False) -> list[list[Adder]]:
        """What each stage adds up for a batch, which `before` events of the stream precede.

        With `block_evaluation`, arithmetic and functions are evaluated when a block is read.

        Raises
        ------
        RowError
            Where arithmetic that an event is asked for does not fit 64 bits.
        """
        adders: list[list[Adder]] = [[] for _ in self._reading.stages]
        beyond: dict[int, np.ndarray] = {}
        reader = None
        if in_blocks and (self._reading.derived or any(map(computes, self._reading.axes))):
            from cer_gpu.engine.read.block_evaluation import (
                BlockReader,  # only queries with arithmetic need it
            )

            reader = BlockReader(batch, self._reader(batch), self._reading.derived)
        for each in self._reading.numbers:
            own = each.axis, each.stride, self._dtypes[each.stage]
            adder = None if reader is None else reader.adder(*own)
            if adder is None:
                adder = self._number_adder(batch, *own)
            adders[each.stage].append(adder)
            if isinstance(adder.column, Values) and len(adder.column.beyond):
                beyond[each.number] = adder.column.beyond
        if beyond:
            self._refuse_overflow(batch, beyond, before)
        # One pass over a column of strings serves all of its axes: what they add is a table by code.
        for name, texts in self._texts.items():
            codes = self._codes(batch, name)
            for number, shares in texts.of(codes.dictionary).items():
                adders[number].append(Adder(codes, shares.of_code, None, shares.of_null))
        return adders

    def _codes(self, batch: pa.RecordBatch, name: str) -> Codes:
        return columns.codes(batch.column(name), name)

    def _number_adder(self, batch: pa.RecordBatch, axis: Axis, stride: int, dtype: np.dtype) -> Adder:
        read = self._reader(batch)
        if isinstance(axis, ColumnAxis):
            return self._type_adder(read(axis.column)[0], axis, stride, dtype)
        assert isinstance(axis, NumberAxis)
        values = _values(axis, batch, read)
        wide = self._wide(batch, values.beyond, *operands_of(axis))
        if wide is not None:
            from cer_gpu.engine.read.wide_decimals import corrected

            values = corrected(axis, values, wide)
        if isinstance(axis, NullAxis):  # what does not fit is there
            values = Values(values.data, values.valid)
        return Adder.of_axis(axis, values, stride, dtype, classed=wide is not None)

    def _wide(
        self, batch: pa.RecordBatch, beyond: np.ndarray, *operands: tree.Expression
    ) -> WideColumns | None:
        """The columns to evaluate operands with once more; None where none fails to fit for its decimals."""
        if not len(beyond) or not beyond.any():
            return None
        # Few data need it, and what is not imported takes no time.
        from cer_gpu.engine.read.wide_decimals import WideColumns

        wide = WideColumns(batch, self._units, self._reading.derived)
        return wide if wide.concern(*operands) else None

    def _type_adder(self, values: Values, axis: ColumnAxis, stride: int, dtype: np.dtype) -> Adder:
        """What types that are numbers add: one comparison each where they are few, else by a table."""
        self._note_numbers(axis, values)
        data = values.data
        bounds, classes = axis.thresholds(data.dtype)
        if len(bounds) > FEW_BOUNDS and len(data) and data.min() >= 0 and data.max() < TABLED:
            codes = np.searchsorted(bounds, np.arange(int(data.max()) + 1), side="right")
            return Adder(values, (classes[codes] * stride).astype(dtype), None, dtype.type(0))
        return Adder(values, (classes.astype(np.int64) * stride).astype(dtype), bounds, None)

    def _reader(self, batch: pa.RecordBatch) -> Reader:
        if self.reading.derived:
            from cer_gpu.engine.read.derived_columns import read_numbers

            return lambda name: read_numbers(batch, name, self._units)

        return read_columns(batch, self._units)

    # ------------------------------------------------------------------------------------ overflow

    def _refuse_overflow(self, batch: pa.RecordBatch, beyond: dict[int, np.ndarray], before: int) -> None:
        """Refuse an event whose symbol depends on a value that does not fit 64 bits.

        A filter of another type than the event's is not asked for, nor is one that another filter of the
        event has decided already.

        Parameters
        ----------
        batch : RecordBatch
        beyond : dict of int to ndarray, shape (n,), bool
            For axes over arithmetic where it does not fit.
        before : int

        Raises
        ------
        RowError
        """
        reading = self._reading
        rows = np.flatnonzero(np.logical_or.reduce(list(beyond.values())))
        events = self._on_host(batch, rows)
        classes = np.stack([self._classes(events, number) for number in range(len(reading.axes))], axis=1)
        for number, where in beyond.items():
            classes[where[rows], number] = -1
        different, first = np.unique(classes, axis=0, return_index=True)
        wrong = first[_undecided(reading, different)]
        if not len(wrong):
            return
        event = int(wrong.min())
        number = next(number for number in beyond if classes[event, number] < 0)
        read = self._reader(events.slice(event, 1))
        steps = (overflow(side, read) for side in operands_of(reading.axes[number]))
        raise RowError(
            before + int(rows[event]),
            f"{{row}}: integer overflow: {next(filter(None, steps))} does not fit 64 bits; cast one of the "
            "columns to float64",
        )

    def _on_host(self, batch: pa.RecordBatch, rows: np.ndarray) -> pa.RecordBatch:
        """Some events of a batch, as Arrow has them."""
        return batch.take(pa.array(rows))

    def _classes(self, events: pa.RecordBatch, number: int) -> np.ndarray:
        """The classes of an axis that events have, shape (n,), int64."""
        index = np.zeros(len(events), np.uint32)
        axis = self._reading.axes[number]
        name = axis.text_column
        if name is None:
            adder = Classifier._number_adder(self, events, axis, 1, index.dtype)
        else:
            codes = columns.codes(events.column(name), name)
            texts = TextShares(
                [StageAxis(0, number, axis, 1)], [index.dtype], OccurringNames(), OccurringNames()
            )
            shares = texts.of(codes.dictionary)[0]
            adder = Adder(codes, shares.of_code, None, shares.of_null)
        adder.add(index, 0, len(events))
        return index.astype(np.int64)


def _undecided(reading: RowReading, classes: np.ndarray) -> np.ndarray:
    """For rows of classes, -1 where one is not known, whether an event may have several symbols: bool."""
    known = [{axis: one for axis, one in enumerate(row) if one >= 0} for row in classes.tolist()]
    return np.array([len(reachable(reading.axes, reading.stages, one)) > 1 for one in known], bool)


def _values(axis: NumberAxis, batch: pa.RecordBatch, read: Reader) -> Values:
    """The values of an axis, as `axis_values` gives them; also where it reads texts."""
    if isinstance(axis, NullAxis) and isinstance(axis.operand, tree.Attribute):
        column, unfit, nulls = (
            batch.column(axis.operand.name),
            UNFIT + axis.operand.name,
            np.zeros(len(batch), bool),
        )
        there = unfit in batch.schema.names
        beyond = batch.column(unfit).to_numpy(zero_copy_only=False) if there else NONE_BEYOND
        if column.null_count or pa.types.is_dictionary(column.type):
            nulls = column.is_null().to_numpy(zero_copy_only=False)
        return Values(nulls.view(np.uint8), NONE_MISSING, beyond)
    if isinstance(axis, RelationAxis) and _is_text(axis.left, batch):
        sides = [decoded(columns.single(batch.column(side.name))) for side in (axis.left, axis.right)]  # type: ignore[union-attr]
        # UTF-8 keeps the order of code points, so comparing bytes is comparing code points.
        truth = pc.fill_null(getattr(pc, _COMPARE[axis.op])(*sides), False).to_numpy(zero_copy_only=False)
        return Values(truth.view(np.uint8), NONE_MISSING)
    return axis_values(axis, read, len(batch))


def _is_text(side: tree.Expression, batch: pa.RecordBatch) -> bool:
    """Whether a side of a comparison is a column of texts; then the other one is, too."""
    return isinstance(side, tree.Attribute) and columns.is_text(batch.column(side.name).type)
