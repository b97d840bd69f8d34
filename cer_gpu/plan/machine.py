"""What runs a compiled query, and the properties by which everything behind planning tells machines apart."""

from __future__ import annotations

from typing import ClassVar, Protocol

from cer_gpu.frozen import dataclass


@dataclass(frozen=True, slots=True)
class Traits:
    """The properties of a machine that decide how it is run.

    Attributes
    ----------
    reads_places : bool
        Whether it reads the position of an event in its partition. Irrelevant events are left out, so
        positions tell which events are neighbours.
    reads_times : bool
        Whether it reads the time of each event.
    reads_prefix : bool
        Whether the complex events that end at an event depend on all events before it, whatever the window.
    carries : bool
        Whether hits and counts keep only registers of a fixed size about earlier events.
    ungrouped, ungrouped_lanes : bool
        Whether carried hits and counts read the events in the order of the stream, not grouped by lane; the
        second: on the CPU, where there are partitions.
    in_order : bool
        Whether it runs events in the order of the stream where there is no window and nothing is consumed.
    lists_in_order : bool
        Whether it runs events in the order of the stream under a window, too.
    alone : bool
        Whether one complex event at most ends at each event.
    forgets : bool
        Whether it knows, without a window, at which events no later complex event can begin.
    ranks : bool
        Whether, where the attribute of the window falls, it admits starts by their ranks and reads events at
        which nothing may start or end as other symbols.
    streams : bool
        Whether a stream keeps open partial matches between pushes.
    streams_falling : bool
        Whether a stream keeps open partial matches between pushes also where the attribute of the window may
        fall.
    orders : bool
        Whether a stream keeps runs sorted by value between pushes.
    filters : bool
        Whether each answer is checked against the window where its attribute falls.
    chooses : bool
        Whether it keeps only some of the complex events of each end, which depend on the window of the end.
    lists_runs_again : bool
        Whether counting and listing run the window of each end again.
    follows : bool
        Whether a run goes from event to event, as a stream does, and runs no event twice.
    symbols_alone : bool
        Whether it reads the symbol of each event, and neither lanes nor the events around it.
    compares_slots : bool
        Whether it compares events by their slots alone, and reads no column that is compared.
    not_on_device : tuple of str
        The steps that have no CUDA kernel and run on the CPU.
    not_resident : str
        Why hits and counts over columns in the memory of a device need the CPU; empty if they do not.
    not_automatic : str
        Why `device="auto"` takes the CPU for any number of events; empty if it does not.
    """

    reads_places: bool = False
    reads_times: bool = False
    reads_prefix: bool = False
    carries: bool = False
    ungrouped: bool = False
    ungrouped_lanes: bool = False
    in_order: bool = False
    lists_in_order: bool = False
    alone: bool = False
    forgets: bool = False
    ranks: bool = False
    lists_runs_again: bool = False
    streams: bool = True
    streams_falling: bool = False
    orders: bool = False
    filters: bool = False
    chooses: bool = False
    follows: bool = False
    symbols_alone: bool = False
    compares_slots: bool = False
    not_on_device: tuple[str, ...] = ()
    not_resident: str = ""
    not_automatic: str = ""


class Machine(Protocol):
    """Runs over the relevant events of a query; picklable."""

    engine: ClassVar[str]
    """The module of `cer_gpu.engine.machines`, and of `cer_gpu.engine.cuda.machines`, that runs it."""

    @property
    def traits(self) -> Traits:
        """The properties that decide how it is run."""
        ...
