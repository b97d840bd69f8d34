"""A parallelized complex event automaton as arrays: what the join kernels run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from cer_gpu.plan.compiled import Traits


@dataclass(frozen=True, slots=True)
class JoinTables:
    """A PCEA as arrays (Algorithm 1 of the PCEA paper, with the look-up table H as an array).

    The transitions that an event with symbol s may take are `transition[first[s] : first[s + 1]]`. Transition
    t reads the entries `read_entry[read_first[t] : read_first[t + 1]]` of H, each at the slot that the
    event has in the column `read_column`, and stores its run at `store_entry[store_first[t] : ...]`, at the
    slots of `store_column`. Column -1 compares nothing: slot 0. An entry holds the runs of one state that
    are looked up by one space of keys, so that a state may have several.

    Attributes
    ----------
    n_symbols : int
        Symbol 0 is neutral: no transition reads it.
    first : ndarray, shape (n_symbols + 1,), int32
    transition : ndarray, shape (first[-1],), int32
    label : ndarray, shape (transitions,), int32
        0 marks nothing.
    accepting : ndarray, shape (transitions,), uint8
    read_first, store_first : ndarray, shape (transitions + 1,), int32
    read_entry, read_column : ndarray, shape (reads,), int32
    store_entry, store_column : ndarray, shape (stores,), int32
    entry_space : ndarray, shape (entries,), int32
        The space of keys whose slots index the entry; -1: it has one slot.
    entry_next : ndarray, shape (entries,), uint8
        1 where only runs whose last event is the one right before the present may be gathered.
    n_spaces : int
        Spaces of keys are 0 .. n_spaces - 1.
    """

    n_symbols: int
    first: np.ndarray
    transition: np.ndarray
    label: np.ndarray
    accepting: np.ndarray
    read_first: np.ndarray
    read_entry: np.ndarray
    read_column: np.ndarray
    store_first: np.ndarray
    store_entry: np.ndarray
    store_column: np.ndarray
    entry_space: np.ndarray
    entry_next: np.ndarray
    n_spaces: int


@dataclass(frozen=True, slots=True)
class JoinMachine:
    """A parallelized complex event automaton over symbols, with join keys.

    Attributes
    ----------
    tables : JoinTables
    space_columns : tuple of tuple of int
        For each space of keys the columns of slots that are in it.
    label_atoms : ndarray, shape (labels, atoms), uint8
        Which atoms of a rule a label fills; shape (0, 0) for a query whose answers are marks.
    """

    tables: JoinTables
    space_columns: tuple[tuple[int, ...], ...]
    label_atoms: np.ndarray

    engine: ClassVar[str] = "joins"

    @property
    def traits(self) -> Traits:
        return Traits(
            reads_places=bool(self.tables.entry_next.any()),
            not_on_device=("listing the answers of joins",),
            not_resident="joins go through the CPU",
            not_automatic="joins run on the CPU: no GPU was found to be faster; device='cuda' uses one",
        )
