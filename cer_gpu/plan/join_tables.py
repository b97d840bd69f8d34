"""A parallelized complex event automaton as arrays: what the join kernels run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import ClassVar

import numpy as np

from cer_gpu.frozen_dataclass import dataclass
from cer_gpu.kernels.joins.contract import JoinTables
from cer_gpu.plan.compiled_query import CompiledQuery, Product
from cer_gpu.plan.machine import LANES, Device, HostMachine, Traits


@dataclass(frozen=True, slots=True)
class JoinMachine(HostMachine):
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
    reasons: ClassVar[Mapping[Device, str]] = {
        "cuda": "listing the matches of joins",
        "resident": "joins go through the CPU",
    }

    def why_structure(self, query: CompiledQuery) -> str | None:
        """Why the answers of a query are listed from the structure; None where they are from groups.

        They are where a window admits an interval of the whole stream, and no end depends on another one.
        """
        window = query.window
        if window is None:
            return "without a window a list of events only grows"
        if window.kind == "attribute":
            return f"`{window.attribute}` may fall"
        if query.consume != "NONE":
            return "a report drops partial matches"
        if query.reading.partition:
            return "each partition has lists of its own"
        if query.outlooks:
            return "what follows or precedes has to be known first"
        if self.tables.entry_next.any():
            return "`:` asks for the event right before"
        return None

    def in_order_for(self, query: CompiledQuery, product: Product) -> JoinMachine | ListedJoinMachine:
        """What lists the answers of a query where a chunk has its events in the order of the stream."""
        listed = product == "run" and self.why_structure(query) is None
        return ListedJoinMachine(self) if listed else self

    @property
    def traits(self) -> Traits:
        near = bool(self.tables.entry_next.any())
        return Traits(columns=LANES | {"place"} if near else LANES, bound="answers")


@dataclass(frozen=True, slots=True)
class ListedJoinMachine:
    """The same automaton where all answers of a window are listed: from groups, without a structure.

    Attributes
    ----------
    joins : JoinMachine
    """

    joins: JoinMachine

    engine: ClassVar[str] = "listed_joins"

    @property
    def traits(self) -> Traits:
        return replace(self.joins.traits, order=frozenset({"window"}))

    def where(self, device: Device) -> str | None:
        """As `Machine.where`."""
        return self.joins.where(device)
