"""About how long a run takes on the CPU and on a device: `auto` takes the place where it takes less.

What an event costs the CPU was measured on two cores with the runs of `bench/device.py`: the time of the
processor of `answer_of(kind, Sizes(...))("cpu")` over 400,000 events. What the host does for an event that a
device runs is what an H100 took for these runs (`bench/results/device-4eec05c.json`) beyond its bus, and the
bytes that the device moves are those that `bench/device_model.py` counts.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, NamedTuple

from cer_gpu.plan.machine import TEAMS

if TYPE_CHECKING:
    from cer_gpu.engine.cuda.check.speed import DeviceSpeed
    from cer_gpu.plan.compiled_query import CompiledQuery

LIBRARIES, KERNELS = 0.25, 0.25
"""Seconds in which a process loads the libraries of a device, and the kernels of a query from the disk."""

BEGUN = 0.001
"""Seconds in which a run on a device begins at best."""

DEAREST = 110e-9
"""Seconds of the CPU for an event of the dearest engine: where few are soon done, no device is looked for."""

BATCH = 1 << 22
"""The most rows that are read at a time."""

LAUNCHES = 8
"""About how many launches a batch takes."""

COLUMN = 8
"""About how many bytes a value of a column has that crosses the bus."""


class EventWork(NamedTuple):
    """What an event costs.

    Attributes
    ----------
    cpu : float
        Seconds of the CPU where it runs the event.
    host : float
        Seconds of the CPU where a device does.
    moved : float
        Bytes that the device then reads and writes.
    """

    cpu: float
    host: float
    moved: float


LANES = EventWork(20e-9, 20e-9, 40)
"""What the lane of an event costs more: the host finds it."""

ENGINES = {
    "automaton": EventWork(7e-9, 3e-9, 25),
    "steps": EventWork(23e-9, 12e-9, 250),
    "joins": EventWork(70e-9, 10e-9, 430),
}
"""By `Machine.engine`; joins, whose events have lanes, without these. Other engines cost what automata do."""

MEMBER = EventWork(3e-9, 0, 240)
"""What each variant costs that runs beside others."""


class RunEstimate(NamedTuple):
    """About how long a run takes.

    Attributes
    ----------
    cpu : float
        Seconds on the CPU.
    parts : dict of str to float
        Seconds on a device, by what takes them.
    """

    cpu: float
    parts: dict[str, float]

    @property
    def device(self) -> float:
        """Seconds on a device."""
        return sum(self.parts.values())

    def told(self, name: str) -> str:
        """Where the run takes less, and why; `name`: of the device, in words."""
        here, there = _seconds(self.cpu), _seconds(self.device)
        if self.device < self.cpu:
            return f"it takes {there}, and the CPU {here}"
        why = max(self.parts, key=lambda part: self.parts[part])
        return f"the CPU, because it takes {here}, and {name} {there}: {why}"


def _seconds(many: float) -> str:
    if many < 0.001:
        return "less than 1 ms"
    return f"about {many:,.1f} s" if many >= 0.1 else f"about {1000 * many:.0f} ms"


def estimate(
    query: CompiledQuery, rows: int, speed: DeviceSpeed | None, members: int = 1, lists: bool = False
) -> RunEstimate:
    """About how long a query takes.

    Parameters
    ----------
    query : CompiledQuery
    rows : int
        The number of events, which are on the host.
    speed : DeviceSpeed or None
        None: the least that any device takes.
    members : int, optional
        How many variants of it run together.
    lists : bool, optional
        Whether matches are listed.
    """
    reading = query.reading
    one = ENGINES["automaton"] if members > 1 else ENGINES.get(query.machine.engine, ENGINES["automaton"])
    works = [one, *([LANES] if reading.makes_lanes else []), *([MEMBER] * (members if members > 1 else 0))]
    cpu, host, moved = (rows * sum(column) for column in zip(*works))
    parts = {
        "its libraries and kernels are loaded first": LIBRARIES * ("numba.cuda" not in sys.modules)
        + KERNELS * ("cer_gpu.engine.cuda.machines" not in sys.modules),
        "the CPU reads the events for it": host,
        "the CPU lists matches anyway": cpu if lists else 0,
    }
    if speed is not None:
        measured = query.window is not None and query.window.kind != "events"
        parts["the events cross the bus"] = rows * COLUMN * (len(reading.classified) + measured) / speed.bus
        parts["the events cross its memory"] = moved / speed.memory
        parts["its kernels are launched"] = speed.launch * LAUNCHES * -(-rows // BATCH)
    return RunEstimate(cpu, parts)


def engine_of(query: CompiledQuery, members: int) -> str:
    """What launches the kernels of a query, or of so many variants of it together."""
    return query.machine.engine if members == 1 else TEAMS
