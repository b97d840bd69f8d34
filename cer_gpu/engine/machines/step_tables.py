"""What events do to configurations, in tables that grow whenever the stream brings a new case."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from cer_gpu.automata.configurations import shapes as budgets
from cer_gpu.automata.configurations.shapes import BYTES_OF_PART, TICK, Outcome, Path, Shape, Shapes
from cer_gpu.automata.configurations.slots import NOW, AgeTest
from cer_gpu.automata.configurations.value_words import TEXT
from cer_gpu.engine.machines.monotonicity import lower_side, reals_of
from cer_gpu.errors import LimitError
from cer_gpu.kernels.configurations import contract
from cer_gpu.kernels.configurations.contract import (
    ACCEPTS,
    AT_MOST,
    CONSTANT,
    EQUAL,
    FALLING,
    FALLING_FAILED,
    FIRST_LEAF,
    FLAGS,
    IS_KNOWN,
    LESS,
    NO,
    NO_TEXTS,
    NODE_COLUMNS,
    OTHER,
    OTHER_THAN,
    OUTCOME_COLUMNS,
    PASSES,
    RANKED,
    REMAINS,
    RISING,
    RISING_FAILED,
    SAME,
    SLOT,
    STARTS,
    STAYS,
    TEST,
    UNKNOWN,
    WORKED_OUT,
    YES,
    HeldTexts,
    Programs,
    Steps,
)
from cer_gpu.plan.outlook import Reach

ROOM = 64
"""Room for the entries of a table at first."""

BEYOND = 4
"""How many times the memory of what is known of shapes a single event may add."""


class KnownSlots:
    """The slots of a configuration, at an event or at a later time: `Answers` of the host.

    Parameters
    ----------
    symbol : int
    age : callable
        `age(slot, measure)`: the age of a slot, a number.
    value : callable
        `value(slot, column)`: the value that a slot keeps; for a slot below 0, that of the event.
    known : callable
        `known(column)`: whether the event has a value.
    steps : Steps
        With the tests.
    worked : callable
        `worked(slot)`: whether the program that a slot names gives 1.
    """

    def __init__(
        self,
        symbol: int,
        age: Callable[[int, int], int | float],
        value: Callable[[int, int], int | float],
        known: Callable[[int], bool],
        steps: Steps,
        worked: Callable[[int], bool],
    ) -> None:
        self.symbol = symbol
        self._age = age
        self._value = value
        self._known = known
        self._steps = steps
        self._worked = worked

    def says(self, slot: int, other: int, test: int) -> bool:
        """Whether a test holds."""
        steps, asked = self._steps, int(self._steps.measure[test])
        if asked < IS_KNOWN:
            age = self._age(slot, asked)
            return bool(steps.low[test].item() <= age <= steps.high[test].item())
        if asked == WORKED_OUT:
            return self._worked(slot)
        left, right = steps.column[test].tolist()
        if asked == IS_KNOWN:
            return self._known(left)
        one, two = self._value(slot, left), self._value(other, right)
        return bool({LESS: one < two, AT_MOST: one <= two, SAME: one == two, OTHER_THAN: one != two}[asked])


class _UntoldError(Exception):
    """A test was asked whose answer is not given."""


class _PathAnswers:
    """The answers on a path: `Answers` of the host."""

    def __init__(self, symbol: int, path: Path) -> None:
        self.symbol = symbol
        self._path = {(asked.slot, asked.other, asked.test): asked.holds for asked in path}

    def says(self, slot: int, other: int, test: int) -> bool:
        """Whether a test holds."""
        try:
            return self._path[slot, other, test]
        except KeyError:
            raise _UntoldError from None


def asked_of(op: str) -> int:
    """The test that compares by an operator."""
    asked = {"known": IS_KNOWN, "<": LESS, "<=": AT_MOST, "=": SAME, "!=": OTHER_THAN, "works": WORKED_OUT}
    return asked[op]


class GrowingSteps:
    """The steps of an automaton as the kernels read them; each is worked out when the stream leads to it.

    Parameters
    ----------
    shapes : Shapes
    n_symbols : int
    tests : sequence of AgeTest
    reaches : sequence of (Reach or None)
        The bounds of each test, in the units of the data.
    dtype : dtype
        Of slots: uint64 or float64.
    reals : sequence of bool
        For each column of values, whether they are floats.

    Attributes
    ----------
    tables : Steps
    programs : Programs or None
        None if there is nothing to compute.
    texts : list of int
        The labels of the texts that comparisons name.
    indexed : int
        How many shapes have configurations that are looked up by a value.
    """

    def __init__(
        self,
        shapes: Shapes,
        n_symbols: int,
        tests: Sequence[AgeTest],
        reaches: Sequence[Reach | None],
        dtype: np.dtype,
        reals: Sequence[bool] = (),
    ) -> None:
        self.shapes = shapes
        self._n_symbols = n_symbols
        self._leaves: dict[tuple[tuple[Outcome, ...] | bool, ...], int] = {}
        self._used = {"tree": 0, "leaf": 1, "outcome": 0, "source": 0, "completion": 0}
        compares = shapes.registers.all
        bounds = [bounds_of(reach, dtype) for reach in reaches] + [(0, 0)] * len(compares)
        columns = [(0, 0)] * len(tests) + [(left, right) for _, left, right in compares]
        self.tables = Steps(
            root=np.empty((0, n_symbols + 1), np.int32),
            tree=np.empty((ROOM, NODE_COLUMNS), np.int32),
            leaf=np.zeros(ROOM, np.int32),
            outcome=np.empty((ROOM, OUTCOME_COLUMNS), np.int32),
            source=np.empty(ROOM, np.int32),
            started=np.empty(0, np.uint8),
            slots=np.empty(0, np.int32),
            indexed=np.empty((0, 2), np.int32),
            completing=np.empty((0, 2), np.int32),
            completion=np.empty(ROOM, np.int32),
            measure=np.array(
                [test.measure for test in tests] + [asked_of(op) for op, _, _ in compares], np.uint8
            ),
            column=np.array(columns, np.int32).reshape(-1, 2),
            real=np.array(reals, np.uint8),
            low=np.array([low for low, _ in bounds], dtype),
            high=np.array([high for _, high in bounds], dtype),
        )
        self.most_slots = 0
        self.texts: list[int] = []
        self.indexed = 0
        self._completing: Callable[[Shape], Sequence[int]] | None = None
        self._noted = 0
        self.programs = _no_programs() if shapes.registers.held.works else None
        self.note_shapes()

    def note_shapes(self) -> None:
        """Add the shapes that are new."""
        every = self.shapes.all
        known, count = len(self.tables.slots), len(every)
        if known == count:
            return
        slots = np.append(
            self.tables.slots, np.array([len(shape.measures) for shape in every[known:]], np.int32)
        )
        self.most_slots = int(slots.max(initial=0))
        started = np.array([shape.started for shape in every[known:]], np.uint8)
        root = self.tables.root
        if count > len(root):
            root = np.full((max(ROOM, 2 * count), self._n_symbols + 1), UNKNOWN, np.int32)
            root[:known] = self.tables.root[:known]
        self.tables = self.tables._replace(
            root=root,
            started=np.append(self.tables.started, started),
            slots=slots,
            indexed=np.append(self.tables.indexed, np.full((count - known, 2), -1, np.int32), axis=0),
            completing=np.append(self.tables.completing, np.zeros((count - known, 2), np.int32), axis=0),
        )
        self._note_completions(known)

    def look_ahead(self, completing: Callable[[Shape], Sequence[int]]) -> None:
        """Note the states of the relaxed automaton from which each shape may end."""
        self._completing = completing
        self._note_completions(0)

    def _note_completions(self, first: int) -> None:
        if self._completing is None:
            return
        known = len(self.tables.completing)  # of those that are newer no step is known
        for number, shape in enumerate(self.shapes.all[first:known], first):
            begin = self._used["completion"]
            for one in self._completing(shape) if shape.started else ():
                self._row("completion", one)
            self.tables.completing[number] = begin, self._used["completion"]

    def note_programs(self, anew: bool = False) -> None:
        """Add the programs that are new; with `anew` all of them, because texts have new labels."""
        every = self.shapes.registers.programs
        if self.programs is None or (self._noted == len(every) and not anew):
            return
        old = _no_programs() if anew else self.programs
        self._noted = 0 if anew else self._noted
        code = [
            (self.texts[argument] if name == TEXT else argument, name)
            for program in every[self._noted :]
            for name, argument in program
        ]
        rows = np.array(
            [(CONSTANT if name == TEXT else getattr(contract, name), argument) for argument, name in code],
            np.int64,
        ).reshape(-1, 2)
        ends = int(old.first[-1]) + np.cumsum([len(one) for one in every[self._noted :]])
        depth = max(len(old.stack), *map(len, every[self._noted :]), 1)
        stack, known = old.stack, old.known
        if depth > len(stack):
            stack, known = np.zeros(2 * depth, np.int64), np.zeros(2 * depth, np.uint8)
        self.programs = Programs(
            _appended(old.first, ends.astype(np.int32)), _appended(old.code, rows), stack,
            stack.view(np.float64), known, self.programs.texts,
        )  # fmt: skip
        self._noted = len(every)

    def note_texts(self, texts: HeldTexts) -> None:
        """Let programs read the texts of labels."""
        if self.programs is not None:
            self.programs = self.programs._replace(texts=texts)

    @property
    def nbytes(self) -> int:
        """About how many bytes the tables, the programs and the shapes take."""
        used, own = self._used, self.tables
        tables = sum(used[name] * getattr(own, name).strides[0] for name in used) + own.root.nbytes
        code = 0 if self.programs is None else len(self.programs.code)
        return int(tables + BYTES_OF_PART * (used["source"] + 2 * code) + self.shapes.nbytes)

    def program_of(self, instruction: int) -> tuple[int, bool]:
        """The number of the program that has an instruction, and whether the instruction gives a sum."""
        assert self.programs is not None
        number = int(np.searchsorted(self.programs.first, instruction, side="right")) - 1
        return number, bool(self.programs.code[instruction, 0] == contract.FITS)

    def crowded(self) -> bool:
        """Whether so much is known that it should be forgotten.

        Raises
        ------
        LimitError
            If a single event has added several times as much.
        """
        found = self.nbytes
        if found > BEYOND * budgets.MEMORY:
            what = f"what an event does to partial matches takes more than {BEYOND * budgets.MEMORY:,} bytes"
            raise LimitError(self.shapes.about(what))
        return found > budgets.MEMORY or len(self.shapes.all) > budgets.SHAPES

    def learn(self, shape: int, symbol: int, slots: KnownSlots) -> None:
        """Work out what an event does to a configuration; a symbol past the last one: time has passed."""
        root = self.tables.root
        if root[shape, symbol] == UNKNOWN:
            ticks = symbol == self._n_symbols
            stays = not self.tables.slots[shape] if ticks else self.shapes.stays(shape, symbol)
            if stays:
                root[shape, symbol] = STAYS
                return
        path, outcomes = self.shapes.step(shape, TICK if symbol == self._n_symbols else symbol, slots)
        self.note_shapes()
        self.note_programs()
        self._insert(shape, symbol, path, self._leaf(outcomes, -1 if symbol == self._n_symbols else shape))
        if symbol < self._n_symbols and len(outcomes) == 1 and outcomes[0].target == shape:
            self._learn_late(shape, symbol, path)
        self._index(shape, symbol)

    def _learn_late(self, shape: int, symbol: int, path: Path) -> None:
        """Work out what else an age on a path leads to, where that drops the configuration.

        Then it is known that a configuration stays until it is late, before one is.
        """
        for place, asked in enumerate(path):
            if not asked.holds or self.tables.measure[asked.test] >= IS_KNOWN:
                continue
            late = (*path[:place], asked._replace(holds=False))
            try:
                told, outcomes = self.shapes.step(shape, symbol, _PathAnswers(symbol, late))
            except _UntoldError:
                continue
            if told == late and not outcomes:
                self._insert(shape, symbol, late, self._leaf((), shape))

    def _insert(self, shape: int, symbol: int, path: Path, leaf: int) -> None:
        """Put a leaf where a path leads."""
        table, at = self.tables.root, (shape, symbol)
        for slot, other, test, holds in path:
            reference = int(table[at])
            if reference == UNKNOWN:
                reference = self._row("tree", (slot, other, test, UNKNOWN, UNKNOWN, 0))
                if table is not self.tables.root and table is not self.tables.tree:
                    table = self.tables.tree  # it has moved
                table[at] = reference
            table, at = self.tables.tree, (reference, YES if holds else NO)
        table[at] = -leaf - FIRST_LEAF

    def _index(self, shape: int, symbol: int) -> None:
        """Note by which test the configurations of a shape may be looked up for events with a symbol.

        All others stay as they are: the answers that are known so far say so.
        """
        tables = self.tables
        reference = int(tables.root[shape, symbol])
        while reference >= 0 and tables.measure[tables.tree[reference, TEST]] == IS_KNOWN:
            reference = int(tables.tree[reference, YES])
        if reference < 0 or tables.tree[reference, PASSES]:
            return
        one, other, test, no, *_ = tables.tree[reference].tolist()
        if tables.measure[test] != SAME:
            self._rank(shape, reference)
        elif min(one, other) < 0 and self._passes(no):
            tables.tree[reference, PASSES] = EQUAL
            if tables.indexed[shape, 0] < 0 <= max(one, other):
                tables.indexed[shape] = max(one, other), tables.real[tables.column[test, 0]]
                self.indexed += 1

    def _rank(self, shape: int, reference: int) -> None:
        """The same for a test that is no equality: it may hold for the least, or the greatest, values."""
        tables = self.tables
        no, yes = tables.tree[reference, [NO, YES]].tolist()
        low = self._lower_side(reference)
        if low is None or not (self._passes(no) or self._passes(yes)):
            return
        slot, least = low
        reals = [*tables.real.tolist(), 0, *(one.word == "real" for one in self.shapes.registers.held.joint)]
        real = reals_of(self.shapes.all[shape].measures, slot, reals)
        if real is None:
            return
        how = RANKED + real
        if tables.indexed[shape, 0] < 0:
            tables.indexed[shape] = slot, how
            self.indexed += 1
        if tables.indexed[shape].tolist() == [slot, how]:
            holds = RISING if least else FALLING
            fails = FALLING_FAILED if least else RISING_FAILED
            tables.tree[reference, PASSES] = holds if self._passes(no) else fails

    def _lower_side(self, reference: int) -> tuple[int, bool] | None:
        """The slot whose value a test compares with the event, and whether the test holds for its least."""
        tables = self.tables
        one, other, test = tables.tree[reference, [SLOT, OTHER, TEST]].tolist()
        asked = int(tables.measure[test])
        if asked == WORKED_OUT:
            program = NOW - 2 - len(tables.real) - one
            return lower_side(self.shapes.registers.programs[program])
        if asked in (LESS, AT_MOST) and min(one, other) < 0 <= max(one, other):
            return max(one, other), one >= 0
        return None

    def _passes(self, reference: int) -> bool:
        """Whether a configuration that comes to a node stays as it is, or is late."""
        tables = self.tables
        if reference >= 0:
            _, _, test, no, yes, _ = tables.tree[reference].tolist()
            late = tables.measure[test] < IS_KNOWN and self._drops(no)
            return self._passes(yes) and (late or self._passes(no))
        if reference in (UNKNOWN, STAYS):
            return False
        leaf = -reference - FIRST_LEAF
        flags = tables.outcome[tables.leaf[leaf] : tables.leaf[leaf + 1], FLAGS].tolist()
        return bool(flags == [REMAINS])

    def _drops(self, reference: int) -> bool:
        """Whether a node is a leaf without outcomes."""
        leaf = -reference - FIRST_LEAF
        return leaf >= 0 and bool(self.tables.leaf[leaf] == self.tables.leaf[leaf + 1])

    def _leaf(self, outcomes: tuple[Outcome, ...], shape: int) -> int:
        """The number of a leaf with some outcomes of a shape; -1: none of them leaves a configuration."""
        still = [
            not outcome.label
            and not outcome.starts
            and outcome.target == shape
            and outcome.slots == tuple(range(len(outcome.slots)))
            for outcome in outcomes
        ]
        found = self._leaves.get((outcomes, *still))
        if found is None:
            found = self._leaves[(outcomes, *still)] = len(self._leaves)
            for outcome, remains in zip(outcomes, still, strict=True):
                flags = STARTS * outcome.starts | ACCEPTS * outcome.accepts | REMAINS * remains
                first = self._used["source"]
                for slot in outcome.slots:
                    self._row("source", slot)
                self._row("outcome", (outcome.label, flags, outcome.target, len(outcome.slots), first))
            self._row("leaf", self._used["outcome"])
        return found

    def _row(self, name: str, values: int | tuple[int, ...]) -> int:
        """Append a row to a table; its number."""
        number, table = self._used[name], getattr(self.tables, name)
        if number == len(table):
            larger = np.empty((2 * number, *table.shape[1:]), table.dtype)
            larger[:number] = table
            self.tables = self.tables._replace(**{name: larger})
            table = larger
        table[number] = values
        self._used[name] = number + 1
        return number


def _appended(array: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """An array with further rows, which lies in one with room for as many again."""
    count = len(array) + len(rows)
    room = array.base
    if room is None or len(room) < count or room.dtype != array.dtype:
        room = np.empty((2 * count, *array.shape[1:]), array.dtype)
        room[: len(array)] = array
    room[len(array) : count] = rows
    found: np.ndarray = room[:count]
    return found


def _no_programs() -> Programs:
    stack = np.zeros(1, np.int64)
    return Programs(
        np.zeros(1, np.int32),
        np.empty((0, 2), np.int64),
        stack,
        stack.view(np.float64),
        np.zeros(1, np.uint8),
        NO_TEXTS,
    )


def bounds_of(reach: Reach | None, dtype: np.dtype) -> tuple[int | float, int | float]:
    """The least and the greatest age, both included; the least is greater if no age is admitted."""
    if reach is None:
        return 0, 0
    most = np.inf if dtype.kind == "f" else int(np.iinfo(dtype).max)
    low, high = max(reach.low, 0), most if reach.high is None else min(reach.high, most)
    return (1, 0) if low > high else (low, high)
