"""The lookups of a rule over the events of a chunk: indexes, blocks of partial answers, sums over answers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa

from cer_gpu.engine.read.derive import read_columns, read_wide, relation
from cer_gpu.engine.read.events import EventArrays
from cer_gpu.engine.read.ranks import NO_RANK, beyond, ranks
from cer_gpu.enumeration.attribute_window import AttributeWindow
from cer_gpu.errors import LimitError
from cer_gpu.frozen_dataclass import dataclass
from cer_gpu.joins.lookups import Lookup, Path, ResidualComparison
from cer_gpu.joins.theta.rule_query import joined_name, side_names
from cer_gpu.kernels.sorting.order import ascending
from cer_gpu.kernels.tuples import contract as words
from cer_gpu.kernels.tuples import cpu as kernels
from cer_gpu.kernels.tuples.contract import Candidates, Pairs, RowBounds
from cer_gpu.kernels.tuples.cpu_sweep import SweepOrders, swept
from cer_gpu.language.printer import to_text
from cer_gpu.language.signs import CONVERSE
from cer_gpu.plan.tuples import TupleMachine

BLOCK = 1 << 15
"""How many partial answers are extended at a time."""

EFFORT = 10**11
"""The most events that the lookups of a chunk may give, beside those that make answers."""

LARGEST = 1 << 62
"""From here on counts are Python integers."""

OPERATORS = {
    "=": words.EQUAL,
    "!=": words.UNEQUAL,
    "<": words.LESS,
    "<=": words.ATMOST,
    ">": words.MORE,
    ">=": words.ATLEAST,
}


@dataclass(frozen=True, slots=True)
class PartialAnswers:
    """Partial answers of some ends.

    Attributes
    ----------
    end : ndarray, shape (rows,), int64
        Numbers of ends.
    low : ndarray, shape (rows,), int64
        The least event that each end admits.
    event : ndarray, shape (rows, atoms), int64
        The event of each atom that the answer has so far.
    """

    end: np.ndarray
    low: np.ndarray
    event: np.ndarray

    def __len__(self) -> int:
        return len(self.end)

    def some(self, which: np.ndarray) -> PartialAnswers:
        """Some of them, by their numbers or by a mask."""
        return PartialAnswers(self.end[which], self.low[which], self.event[which])


@dataclass(frozen=True, slots=True)
class TupleEnds:
    """How many answers end at each of some events.

    Attributes
    ----------
    event : ndarray, shape (ends,), int64
        Ascending.
    low : ndarray, shape (ends,), int64
        The least event that each end admits.
    number : ndarray, shape (ends,), int64, or object past 2^62
    latest : ndarray, shape (ends,), int64
        The latest event at which an answer that ends there starts; -1 where none ends.
    """

    event: np.ndarray
    low: np.ndarray
    number: np.ndarray
    latest: np.ndarray

    @classmethod
    def joined(cls, parts: Sequence[TupleEnds]) -> TupleEnds:
        """Several `TupleEnds`, one after another."""
        if len(parts) == 1:
            return parts[0]
        return cls(*(np.concatenate([getattr(part, name) for part in parts]) for name in cls.__slots__))

    def some(self, which: np.ndarray) -> TupleEnds:
        """Those of some ends."""
        return TupleEnds(*(getattr(self, name)[which] for name in self.__slots__))


@dataclass(frozen=True, slots=True)
class Index:
    """The events that fit the atom of a step, sorted for its lookup.

    Attributes
    ----------
    candidates : Candidates
    codes : tuple of ndarray
        One array for each shared variable: the distinct codes of the variables up to this one, ascending,
        int64. A code is the number of the code before, times the slots of the variable, plus its slot.
    sizes : tuple of int
        How many slots each variable has: one more than the greatest.
    begin : ndarray, shape (keys + 1,), int64
        Where the candidates of each key begin.
    bound : tuple of ndarray, shape (events,), int64
        For each condition, the ranks of the events of the earlier atom.
    bound_atom : tuple of int
        For each condition, that atom.
    place : ndarray, shape (events,) or (0,), int64
        Where each event stands in `candidates.ranked`; empty without a condition.
    """

    candidates: Candidates
    codes: tuple[np.ndarray, ...]
    sizes: tuple[int, ...]
    begin: np.ndarray
    bound: tuple[np.ndarray, ...]
    bound_atom: tuple[int, ...]
    place: np.ndarray


class Lookups:
    """Finds the answers of a rule among the events of a chunk.

    Parameters
    ----------
    machine : TupleMachine
    events : EventArrays
        Grouped by lane, in the order of the stream inside each.
    held : AttributeWindow or None
        A window that is no interval of events: answers are checked against it one by one.
    """

    def __init__(self, machine: TupleMachine, events: EventArrays, held: AttributeWindow | None) -> None:
        self.machine = machine
        self._plan = machine.lookups
        self._events = events
        self._held = held
        self._fits = machine.fits[events.symbols]
        self._ranks: dict[int, tuple[np.ndarray, np.ndarray]] = {}
        self._indexes: dict[Lookup, Index] = {}
        self._looked = 0
        self._made = 0

    @property
    def paths(self) -> tuple[Path, ...]:
        """How the answers are found, for each atom that may have the latest event."""
        return self._plan.paths

    @property
    def atoms(self) -> int:
        """How many atoms the rule has."""
        return len(self._plan.paths)

    @property
    def events(self) -> EventArrays:
        """The events of the chunk."""
        return self._events

    def prepare(self) -> None:
        """Make the indexes, so that several threads can look up."""
        for path in self.paths:
            for step in path.steps:
                self._index(step)

    # ------------------------------------------------------------------------------------- the answers

    def codes(self, atom: int) -> tuple[np.ndarray, dict[str, np.ndarray]]:
        """The events that fit an atom and have all values; and its variables in `whole_query`, as codes."""
        event = np.flatnonzero(self._fits[:, atom])
        found = {
            joined_name(number): self._slots(number, atom).astype(np.int64)
            for number, joined in enumerate(self._plan.joined)
            if atom in joined.attribute_of
        }
        for number, one in enumerate(self._plan.compared):
            sides = zip(side_names(number), one.atoms, self._ranked(number), strict=True)
            found |= {name: rank for name, owner, rank in sides if owner == atom}
        for values in found.values():
            event = event[values[event] >= 0]
        return event, {name: values[event] for name, values in found.items()}

    def listed(self, event: np.ndarray, low: np.ndarray) -> Iterator[PartialAnswers]:
        """The answers that end at some events, block by block, in any order inside a block.

        Parameters
        ----------
        event, low : ndarray, shape (ends,), int64
            The events, and the least event that each admits.
        """
        for path in self.paths:
            for block in self._blocks(path, event, low):
                for answers in self._grown(path, 0, len(path.steps), block):
                    admitted = self.admitted(answers)
                    if len(admitted):
                        self._made += len(admitted)
                        yield admitted

    def tally(self, event: np.ndarray, low: np.ndarray) -> TupleEnds:
        """How many answers end at some events; parameters as for `listed`."""
        sums = _Sums(len(event))
        for path in self.paths:
            apart = len(path.steps) if self._held is not None else path.apart
            for block in self._blocks(path, event, low):
                for rows in self._grown(path, 0, apart, block):
                    self._sum(path, apart, self.admitted(rows) if self._held is not None else rows, sums)
        return TupleEnds(event, low, sums.number, sums.latest)

    def _blocks(self, path: Path, event: np.ndarray, low: np.ndarray) -> Iterator[PartialAnswers]:
        """The events that may be the latest of answers, as partial answers."""
        which = np.flatnonzero(self._fits[event, path.latest])
        for start in range(0, len(which), BLOCK):
            some = which[start : start + BLOCK]
            rows = np.full((len(some), self.atoms), -1, np.int64)
            rows[:, path.latest] = event[some]
            yield PartialAnswers(some, low[some], rows)

    def _grown(self, path: Path, depth: int, stop: int, rows: PartialAnswers) -> Iterator[PartialAnswers]:
        """Partial answers with the events of the steps up to `stop`, block by block."""
        if depth == stop:
            yield rows
            return
        for more in self._extended(path, path.steps[depth], rows):
            yield from self._grown(path, depth + 1, stop, more)

    def _sum(self, path: Path, first: int, rows: PartialAnswers, sums: _Sums) -> None:
        """Add the answers that partial answers become, by the steps from `first` on."""
        if not len(rows):
            return
        taken = rows.event[:, [path.latest, *(step.atom for step in path.steps[:first])]]
        latest = taken.min(axis=1)
        number, size = np.ones(len(rows), np.int64), np.ones(len(rows))
        for step in path.steps[first:]:
            count, last = self._found(path, step, rows)
            left = np.flatnonzero(count)
            rows, count = rows.some(left), count[left]
            latest = np.minimum(latest[left], last[left])
            size = size[left] * count
            if number.dtype != object and size.max(initial=0) >= LARGEST:
                number = number.astype(object)
            number = number[left] * count
            if not len(rows):
                return
        sums.add(rows.end, number, size, latest)

    def _found(self, path: Path, step: Lookup, rows: PartialAnswers) -> tuple[np.ndarray, np.ndarray]:
        """How many events a step finds for each partial answer, and the latest of them."""
        count, latest = np.zeros(len(rows), np.int64), np.full(len(rows), -1, np.int64)
        if step.checked:
            numbered = PartialAnswers(np.arange(len(rows)), rows.low, rows.event)
            for found in self._extended(path, step, numbered):
                np.add.at(count, found.end, 1)
                np.maximum.at(latest, found.end, found.event[:, step.atom])
            return count, latest
        index = self._index(step)
        which, asked = self._rows(path, step, index, rows)
        n, last = np.zeros(len(which), np.int64), np.full(len(which), -1, np.int64)
        if len(index.candidates.op) == 1 and len(which):
            swept(index.candidates, asked, self._sweep(index, asked), n, last)
        else:
            progress, status = np.zeros(words.WORDS, np.int64), words.FULL
            while status == words.FULL:
                status = kernels.summed(index.candidates, asked, n, last, progress)
                self._note(step, int(progress[words.LOOKED]))
            self._made += len(n)
        count[which], latest[which] = n, last
        return count, latest

    def _extended(self, path: Path, step: Lookup, rows: PartialAnswers) -> Iterator[PartialAnswers]:
        """Partial answers with each event that a step finds for them, block by block."""
        index = self._index(step)
        which, asked = self._rows(path, step, index, rows)
        progress, status = np.zeros(words.WORDS, np.int64), words.FULL
        while status == words.FULL:
            pairs = Pairs(np.empty(BLOCK, np.int64), np.empty(BLOCK, np.int64))
            status = kernels.extend(index.candidates, asked, pairs, progress)
            made = int(progress[words.MADE])
            self._note(step, int(progress[words.LOOKED]))
            if not made:
                continue
            more = rows.some(which[pairs.row[:made]])
            more.event[:, step.atom] = pairs.event[:made]
            for number in step.checked:
                if len(more):
                    more = more.some(self._holds(self._plan.checked[number], more))
            if len(more):
                yield more

    def admitted(self, answers: PartialAnswers) -> PartialAnswers:
        """Whole answers that are in a window that is no interval of events."""
        if self._held is None or not len(answers):
            return answers
        return answers.some(self._held.keeps(answers.event.min(axis=1), answers.event.max(axis=1)))

    def _note(self, step: Lookup, looked: int) -> None:
        """Count the events that lookups give, and stop where they are too many."""
        self._looked += looked
        if self._looked > EFFORT + 64 * self._made:
            plan = self._plan
            sources = [*(one.source for one in plan.checked), *(one.source for one in plan.compared)]
            compared = list(map(to_text, sources))
            kept = f"{' and '.join(compared)} keeps hardly any" if compared else "hardly any are in a match"
            raise LimitError(
                f"looking for the events of part {step.atom + 1} of the rule gives more than {EFFORT:,}, of "
                f"which {kept}: narrow the window, or give that part a variable of another part"
            )

    # --------------------------------------------------------------------------------------- lookups

    def _rows(
        self, path: Path, step: Lookup, index: Index, rows: PartialAnswers
    ) -> tuple[np.ndarray, RowBounds]:
        """The partial answers that a step may extend, by their numbers, and what it asks for each."""
        which = np.arange(len(rows))
        key = np.zeros(len(rows), np.int64)
        for place, (number, atom) in enumerate(step.equal):
            slot = self._slots(number, atom)[rows.event[which, atom]].astype(np.int64)
            there = (slot >= 0) & (slot < index.sizes[place])
            which, key, slot = which[there], key[there], slot[there]
            code = key * index.sizes[place] + slot
            known = index.codes[place]
            at = np.minimum(np.searchsorted(known, code), max(len(known) - 1, 0))
            there = known[at] == code if len(known) else np.zeros(len(code), bool)
            which, key = which[there], at[there]
        bound = np.empty((len(index.bound), len(which)), np.int64)
        for place, (rank, atom) in enumerate(zip(index.bound, index.bound_atom, strict=True)):
            bound[place] = rank[rows.event[which, atom]]
        low = rows.low[which]
        # Of one event that serves several atoms the first counts as the latest.
        high = rows.event[which, path.latest] - (step.atom < path.latest)
        left = np.flatnonzero((low <= high) & (bound >= 0).all(axis=0))
        which, key = which[left], key[left]
        asked = RowBounds(
            index.begin[key], index.begin[key + 1], low[left], high[left],
            np.ascontiguousarray(bound[:, left]),
        )  # fmt: skip
        return which, asked

    def _index(self, step: Lookup) -> Index:
        found = self._indexes.get(step)
        if found is None:
            found = self._indexes[step] = self._made_index(step)
        return found

    def _made_index(self, step: Lookup) -> Index:
        event = np.flatnonzero(self._fits[:, step.atom])
        op, own, bound, bound_atom = [], [], [], []
        for number in step.compared:
            compared = self._plan.compared[number]
            left, right = self._ranked(number)
            mine = compared.atoms[0] == step.atom
            op.append(OPERATORS[compared.op if mine else CONVERSE[compared.op]])
            own.append(left if mine else right)
            bound.append(right if mine else left)
            bound_atom.append(compared.atoms[1] if mine else compared.atoms[0])
        for rank in own:
            event = event[rank[event] >= 0]
        key, codes, sizes = np.zeros(len(event), np.int64), [], []
        for number, _ in step.equal:
            slot = self._slots(number, step.atom)[event].astype(np.int64)
            event, key, slot = event[slot >= 0], key[slot >= 0], slot[slot >= 0]
            sizes.append(int(slot.max(initial=0)) + 1)
            distinct, key = np.unique(key * sizes[-1] + slot, return_inverse=True)
            codes.append(distinct)
        order = ascending(key)
        keys = len(codes[-1]) if codes else 1
        begin = np.searchsorted(key[order], np.arange(keys + 1))
        ranked, place = np.empty(0, np.int64), np.empty(0, np.int64)
        if own:
            ranked = event[np.lexsort((own[0][event], key))]
            place = np.full(len(self._fits), -1, np.int64)
            place[ranked] = np.arange(len(ranked))
        rank = np.array(own, np.int64).reshape(len(own), len(self._fits))
        candidates = Candidates(event[order], ranked, np.array(op, np.int64), rank)
        return Index(candidates, tuple(codes), tuple(sizes), begin, tuple(bound), tuple(bound_atom), place)

    def _sweep(self, index: Index, rows: RowBounds) -> SweepOrders:
        n = len(index.candidates.event)
        return SweepOrders(
            taken=np.sort(index.candidates.event),
            place=index.place,
            by_low=ascending(rows.low),
            by_high=ascending(rows.high),
            tree=np.empty((1, n), np.int64),
            most=np.empty((1, 2 * n), np.int64),
        )

    def _slots(self, number: int, atom: int) -> np.ndarray:
        """The slots of a joined variable, at the attribute where an atom has it."""
        slots: np.ndarray = self._events.slots[self.machine.columns[number, atom]]
        return slots

    # ----------------------------------------------------------------------------------- comparisons

    def _ranked(self, number: int) -> tuple[np.ndarray, np.ndarray]:
        """The ranks of both sides of a comparison, for the events that fit its atoms; -1 for others."""
        found = self._ranks.get(number)
        if found is None:
            compared = self._plan.compared[number]
            events = [np.flatnonzero(self._fits[:, atom]) for atom in compared.atoms]
            tables = [self._values.take(pa.array(one)) for one in events]
            ranked = ranks(*compared.sides, (tables[0], tables[1]), self.machine.units)
            sides = []
            for some, rank in zip(events, ranked, strict=True):
                whole = np.full(len(self._fits), NO_RANK, np.int64)
                whole[some] = rank
                sides.append(whole)
            found = self._ranks[number] = (sides[0], sides[1])
        return found

    def _holds(self, checked: ResidualComparison, rows: PartialAnswers) -> np.ndarray:
        """Whether a comparison holds for each of some partial answers, shape (rows,), bool."""
        values = {
            variable: self._values.column(attribute).take(pa.array(rows.event[:, atom]))
            for variable, (atom, attribute) in checked.place_of.items()
        }
        units = {
            variable: self.machine.units[attribute]
            for variable, (_, attribute) in checked.place_of.items()
            if attribute in self.machine.units
        }
        table, source = pa.table(values), checked.source
        truth = relation(source.op, source.left, source.right, read_columns(table, units), len(rows))
        if len(truth.beyond) and truth.beyond.any():
            truth = relation(source.op, source.left, source.right, read_wide(table, units), len(rows))
        if len(truth.beyond) and truth.beyond.any():
            row = table.slice(int(np.argmax(truth.beyond)), 1)
            raise beyond(source, row, units)
        return truth.data != 0

    @property
    def _values(self) -> pa.Table:
        assert self._events.payload is not None
        return self._events.payload


class _Sums:
    """Sums over the answers of some ends."""

    def __init__(self, ends: int) -> None:
        self.number: np.ndarray = np.zeros(ends, np.int64)
        self.latest = np.full(ends, -1, np.int64)
        self._size = np.zeros(ends)

    def add(self, end: np.ndarray, number: np.ndarray, size: np.ndarray, latest: np.ndarray) -> None:
        """Add answers.

        Parameters
        ----------
        end : ndarray, shape (rows,), int64
            The number of the end, in any order.
        number : ndarray, shape (rows,), int64 or object
            How many answers a row stands for.
        size : ndarray, shape (rows,), float64
            About the same.
        latest : ndarray, shape (rows,), int64
            Their latest start.
        """
        np.maximum.at(self.latest, end, latest)
        np.add.at(self._size, end, size)
        if self.number.dtype != object and float(self._size[end].max(initial=0)) >= LARGEST:
            self.number = self.number.astype(object)
        np.add.at(self.number, end, number.astype(self.number.dtype, copy=False))
