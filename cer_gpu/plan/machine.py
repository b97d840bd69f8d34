"""What runs a compiled query, and the properties by which everything behind planning tells machines apart."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Literal, Protocol, TypeAlias

from cer_gpu.frozen_dataclass import dataclass

Column: TypeAlias = Literal["lane", "place", "time", "prefix", "slots"]

Device: TypeAlias = Literal["auto", "cuda", "resident"]
"""A GPU where one is faster; one that was asked for; one with the columns of the events in its memory."""

Ungrouped: TypeAlias = Literal["carried", "lanes", "free", "window"]

LISTING = "listing matches"
"""What the CPU does whatever the device."""

TEAMS = "teams"
"""Stands for an engine where variants run together: a device has kernels of their own."""

ROW_PATTERNS = "row_patterns"
"""The same for MATCH_RECOGNIZE."""

LANES: frozenset[Column] = frozenset({"lane"})
NOTHING: frozenset[Ungrouped] = frozenset()


@dataclass(frozen=True, slots=True)
class Traits:
    """What a machine needs of a run.

    Attributes
    ----------
    columns : frozenset of str
        What it reads of the stream besides the symbols of events:

        - "lane": the partition of an event, and the events around it in there;
        - "place": the position of an event in its partition. Irrelevant events are left out, so positions
          tell which events are neighbours;
        - "time": the time of an event;
        - "prefix": all events before an end, whatever the window;
        - "slots": the numbers of the values that are compared, and no compared column itself.
    state : {"chunk", "sorted", "carried", "followed", "again"}
        What is kept of earlier events. "chunk": the events that the window reaches, and in a stream the open
        partial matches. "sorted": the same, by value. "carried": as "chunk", but hits and counts without a
        window keep registers of a fixed size. "followed": a run goes from event to event, as a stream does,
        and runs no event twice. "again": a stream too keeps events, and each push runs the open window again.
    order : frozenset of str
        What it runs in the order of the stream, not grouped by lane: "carried", hits and counts that carry;
        "lanes", the same on the CPU where there are partitions; "free", listing where there is no window and
        nothing is consumed; "window", listing, or hits, under a window too.
    bound : {"interval", "answers", "ranks"}
        How WITHIN over an attribute that falls is kept. "interval": the machine has no part in it. "answers":
        each answer is checked. "ranks": starts are admitted by their ranks, and events at which nothing may
        start or end are read as other symbols; a stream keeps its partial matches there too.
    keeps : {"all", "one", "chosen", "chosen again"}
        How many complex events of an end it keeps: at most one ends at each event; or some, which depend on
        the window of the end, and counting and listing may have to run that window "again".
    forgets : bool
        Whether it knows, without a window, at which events no later complex event can begin.
    """

    columns: frozenset[Column] = LANES
    state: Literal["chunk", "sorted", "carried", "followed", "again"] = "chunk"
    order: frozenset[Ungrouped] = NOTHING
    bound: Literal["interval", "answers", "ranks"] = "interval"
    keeps: Literal["all", "one", "chosen", "chosen again"] = "all"
    forgets: bool = False

    @property
    def symbols_alone(self) -> bool:
        """Whether it reads the symbol of each event, and neither lanes nor the events around it."""
        return not self.columns


class Machine(Protocol):
    """Runs over the relevant events of a query; picklable."""

    engine: ClassVar[str]
    """The module of `cer_gpu.engine.machines`, and of `cer_gpu.engine.cuda.machines`, that runs it."""

    @property
    def traits(self) -> Traits:
        """What it needs of a run."""

    def where(self, device: Device) -> str | None:
        """What the CPU does, or why it runs all, where a device might; None if the device runs all of it."""


@dataclass(frozen=True, slots=True)
class HostMachine:
    """A machine of which the CPU does the same in all queries."""

    reasons: ClassVar[Mapping[Device, str]]
    """What `where` says; a device is taken unasked where "auto" is not among them."""

    def where(self, device: Device) -> str | None:
        """As `Machine.where`."""
        return self.reasons.get(device)
