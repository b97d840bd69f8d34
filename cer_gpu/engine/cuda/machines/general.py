"""The CUDA backend of configurations: hits and counts of pushes with many lanes, on one device.

A thread follows a lane through a push, in a slab of memory for its configurations. What is open between
pushes lies on the host, as without a device: a push copies it there and back. So the host can follow any lane
from the beginning of the push. It does so for lanes that the device does not finish: those with more
configurations than the largest slab holds, and those whose counts need another digit. Where lanes come to a
step that is not known yet, it follows some of them, which adds the steps, and the others are run again. Where
a budget, or 64 bits, might be exceeded, the host follows the push as a whole, so that its errors are those of
a run without a device.
"""

from __future__ import annotations

import numpy as np

from cer_gpu.engine.cuda.memory import free_bytes
from cer_gpu.engine.cuda.pool import SHARE
from cer_gpu.engine.devices import say_by_cpu, tried_on
from cer_gpu.engine.machines.configuration_arrays import STORED, room_for_state_ends, room_for_touched
from cer_gpu.engine.machines.configurations import ConfigurationRuns
from cer_gpu.engine.machines.general import GeneralRunner
from cer_gpu.engine.machines.open_runs import FollowedEvents
from cer_gpu.engine.workers import Workers
from cer_gpu.enumeration.blocks import in_parts, ranges
from cer_gpu.errors import DataError, LimitError
from cer_gpu.kernels.configurations import contract as words
from cer_gpu.kernels.configurations.contract import StateEnds, TimedEvents
from cer_gpu.kernels.configurations.cuda import (
    BEGIN,
    FAULT,
    MOST,
    REPORT,
    STATUS,
    STOP,
    UNIT_COLUMNS,
    OpenRows,
    UnitEnds,
    followed,
)
from cer_gpu.kernels.configurations.cuda_units import UnitEvents, bytes_of_unit, device_events, device_steps
from cer_gpu.kernels.device.geometry import LANE, Geometry
from cer_gpu.kernels.sorting.order import ascending
from cer_gpu.kernels.streams.contract import ALL_LANES
from cer_gpu.plan.compiled_query import CompiledQuery

LEAST = 1 << 10
"""The least number of lanes of a push for which a device is used: with fewer threads the CPU is faster."""

ROWS, MOST_ROWS = 1 << 6, 1 << 12
"""Configurations that a lane has room for at first, and at most; the CPU follows lanes with more."""

SAMPLE = 64
"""The CPU first follows the lanes of one event in this many, which finds most of what events do."""

NOT_RUN = -1
"""The status of a lane that has not been run."""


class DevicesConfigurations(ConfigurationRuns):
    """The configurations of a query, which a device follows where there are many lanes.

    Parameters
    ----------
    query : CompiledQuery
    device : int
        Its number.
    geometry : Geometry, optional
        How kernels are launched with one thread for each lane.
    """

    def __init__(self, query: CompiledQuery, device: int, geometry: Geometry = LANE) -> None:
        super().__init__(query)
        self._device = device
        self._geometry = geometry
        self._sampled = self._shares = False
        self._alone = self._lists or self._consumes == ALL_LANES or query.consumes_some
        """Whether the CPU does everything from here on."""

    def _followed(self, following: FollowedEvents, ends: StateEnds) -> StateEnds:
        """As without a device, where that does not follow the push."""
        lanes = self._now.lanes
        if self._alone or not len(lanes):
            return super()._followed(following, ends)
        order = ascending(lanes)
        begin = np.flatnonzero(np.diff(lanes[order], prepend=-1))
        if len(begin) < LEAST:
            return super()._followed(following, ends)
        units = np.zeros((len(begin), UNIT_COLUMNS), np.int64)
        units[:, BEGIN] = units[:, REPORT] = begin
        units[:, STOP] = np.append(begin[1:], len(lanes))
        kept, groups, progress = self._rows_where(), self._groups, self._progress.copy()
        lane, now = groups.lane.copy(), groups.now.copy()
        found, reached = self._dealt_there(order, units)
        if found is not None:
            return found
        if not reached:
            self._alone = True
            say_by_cpu(self._device, "partial matches")
        progress[words.SWEEP_AT] = self._progress[words.SWEEP_AT]
        self._progress[:] = progress
        self._limbs = kept["number"].shape[1]
        self._groups = self._groups._replace(lane=lane, now=now)
        self._put_in(kept)
        return super()._followed(following, room_for_state_ends(len(lanes), self._limbs))

    def _most(self, width: int) -> int:
        """As without a device; half of them while the device follows others."""
        return super()._most(width) // (2 if self._shares else 1)

    def _forget(self) -> None:
        """As without a device, which does not know how shapes are numbered then: the CPU follows the push."""
        if self._shares:
            raise LimitError("what is known of partial matches takes too much memory")
        super()._forget()

    def _dealt_there(self, order: np.ndarray, units: np.ndarray) -> tuple[StateEnds | None, bool]:
        """What ends in a push; None where the CPU is to follow it, and whether a budget is why."""
        events, reached = self._now, False
        self._shares = True
        self._rules = self._rules._replace(most=self._most(self._kept.slots.shape[1]))
        try:
            found = tried_on(self._device, lambda: self._dealt(order, units, events))
        except (LimitError, DataError):
            found, reached = None, True  # the CPU says so, with what is open in all lanes at once
        self._now, self._shares = events, False
        self._rules = self._rules._replace(most=self._most(self._kept.slots.shape[1]))
        return found, reached

    def _dealt(self, order: np.ndarray, units: np.ndarray, events: TimedEvents) -> StateEnds:
        """Deal the lanes of a push out to the device, and to the CPU what that does not finish."""
        if self._progress[words.COUNT] > self._progress[words.SWEEP_AT]:
            self._sweep(room_for_state_ends(0, self._limbs))
        lanes = events.lanes[order[units[:, BEGIN]]]
        there: UnitEvents = device_events(events, order, self._kept.slots.dtype)
        status, rows, said = np.full(len(units), NOT_RUN), np.full(len(units), ROWS), 0
        parts: list[UnitEnds] = []
        left: list[tuple[np.ndarray, OpenRows]] = []
        share = 1
        if not self._sampled:
            first = np.arange(max(1, int(np.searchsorted(units[:, STOP], len(order) // SAMPLE))))
            parts.append(self._by_cpu(order, units[first], events))
            status[first], self._sampled = words.DONE, True
        while True:
            pending = np.flatnonzero(status != words.DONE)
            if not len(pending):
                break
            given = self._given(lanes[pending])
            rows[pending] = np.maximum(rows[pending], _room(np.diff(given.first)))
            for size in np.unique(rows[pending]).tolist():
                if size > MOST_ROWS or self._bytes(size) > free_bytes() // SHARE:
                    rows[rows == size] = 2 * MOST_ROWS
                    continue
                for some in self._fitting(np.flatnonzero(rows[pending] == size), size):
                    own = pending[some]
                    says, done, part, behind = self._by_device(there, units[own], _chosen(given, some), size)
                    status[own], said = says[:, STATUS], said + int(says[done, MOST].sum())
                    if said > self._rules.most:
                        raise LimitError("the budget of partial matches might be exceeded")
                    for fault in says[status[own] == words.TOO_LARGE, FAULT].tolist():
                        raise self._too_large(fault)
                    parts.append(part._replace(event=order[part.event]))
                    left.append((lanes[own[done]], behind))
            missing = np.flatnonzero(status == words.STEP_MISSING)
            larger = np.flatnonzero((status > words.STEP_MISSING) & (status != words.LIMBS_FULL))
            rows[larger] *= 4
            here = np.union1d(missing[:share], np.flatnonzero(status == words.LIMBS_FULL))
            here = np.union1d(here, np.flatnonzero((status != words.DONE) & (rows > MOST_ROWS)))
            share *= 2
            if len(here):
                parts.append(self._by_cpu(order, units[here], events))
                status[here] = words.DONE
        self._take_in(left)
        return self._together(parts, len(order))

    # ------------------------------------------------------------------------- on the device, and not

    def _bytes(self, size: int) -> int:
        """Bytes that a lane takes on the device with room for `size` configurations."""
        assert self._steps is not None
        programs = self._steps.programs
        depth = 1 if programs is None else len(programs.stack)
        return int(bytes_of_unit(size, max(self._steps.most_slots, 1), self._limbs, depth))

    def _fitting(self, which: np.ndarray, size: int) -> list[np.ndarray]:
        """Some lanes, cut into ranges that the device has memory for one at a time."""
        each = np.full(len(which), self._bytes(size))
        return [which[low:high] for low, high, _ in in_parts(each, free_bytes() // SHARE)]

    def _by_device(
        self, there: UnitEvents, units: np.ndarray, given: OpenRows, size: int
    ) -> tuple[np.ndarray, np.ndarray, UnitEnds, OpenRows]:
        """What lanes say on the device, which of them are done, what ends in these and is left open."""
        assert self._steps is not None
        self._steps.note_programs()
        tables = device_steps(self._steps.tables, self._steps.programs)
        return followed(tables, there, self._rules, units, given, size, self._limbs, self._geometry)

    def _by_cpu(self, order: np.ndarray, units: np.ndarray, events: TimedEvents) -> UnitEnds:
        """What ends in some lanes, which the CPU follows."""
        which = np.sort(order[ranges(units[:, BEGIN], units[:, STOP] - units[:, BEGIN])])
        self._now = TimedEvents(
            *(each[which] if len(each) else each for each in events[:5]),
            *(each[:, which] if len(each) else each for each in events[5:8]),
            events.ends,
        )
        progress = self._progress
        progress[[words.EVENT, words.HIT, words.ROOTS]] = 0
        ends = self._follow(len(which), room_for_state_ends(len(which), self._limbs))
        found = int(progress[words.HIT])
        return UnitEnds(
            which[ends.event[:found]], ends.lowest[:found], ends.latest[:found], ends.number[:found]
        )

    # ------------------------------------------------------------------------------------ what is open

    def _rows_where(self, wanted: np.ndarray | None = None) -> dict[str, np.ndarray]:
        """The configurations of the lanes that are wanted, of all for None, as they are stored."""
        kept = self._kept
        rows = np.flatnonzero(kept.shape >= 0)
        if wanted is not None:
            rows = rows[wanted[kept.lane[rows]]]
        return {name: getattr(kept, name)[rows] for name in STORED if name != "node"}

    def _given(self, lanes: np.ndarray) -> OpenRows:
        """What is open in some lanes, ascending."""
        wanted = np.zeros(len(self._groups.lane), bool)
        wanted[lanes] = True
        own = self._rows_where(wanted)
        order = np.argsort(own["lane"], kind="stable")
        own = {name: rows[order] for name, rows in own.items()}
        first = np.searchsorted(own["lane"], np.append(lanes, len(wanted))).astype(np.int64)
        number = own["number"] if self._limbs else np.zeros((len(order), 1), np.int64)
        groups = self._groups
        return OpenRows(
            first, own["shape"], own["slots"].view(np.int64), own["began"], own["since"], number,
            groups.lane[lanes, 2], groups.now[lanes],
        )  # fmt: skip

    def _take_in(self, left: list[tuple[np.ndarray, OpenRows]]) -> None:
        """Put what the device has left open in some lanes in the place of what was open there."""
        steps, groups, dtype = self._steps, self._groups, self._kept.slots.dtype
        assert steps is not None
        staying = np.ones(len(groups.lane), bool)
        for lanes, _ in left:
            staying[lanes] = False
        whole = [self._rows_where(staying)]
        for lanes, rows in left:
            groups.lane[lanes, 1], groups.lane[lanes, 2] = self._progress[words.EPOCH], rows.begun
            groups.now[lanes] = rows.now
            slots = rows.bits.copy()
            slots[np.arange(slots.shape[1]) >= steps.tables.slots[rows.shape][:, None]] = 0
            whole.append(
                {
                    "shape": rows.shape,
                    "lane": np.repeat(lanes, np.diff(rows.first)).astype(np.int32),
                    "slots": slots.view(dtype),
                    "began": rows.began,
                    "since": rows.since,
                    "number": rows.number[:, : self._limbs],
                }
            )
        most = max(steps.most_slots, *(each["slots"].shape[1] for each in whole))
        for each in whole:
            each["slots"] = _widened(each["slots"], most)
            each["number"] = _widened(each["number"], self._limbs)
        self._put_in({name: np.concatenate([each[name] for each in whole]) for name in whole[0]})
        if self._limbs and len(self._kept.number):
            number = self._kept.number[self._kept.shape >= 0, -1]
            self._progress[words.TOP] = max(int(self._progress[words.TOP]), int(number.max(initial=0)))

    def _put_in(self, own: dict[str, np.ndarray]) -> None:
        """Make some configurations those that are open."""
        self._kept = self._kept._replace(**own)
        self._regroup(np.arange(len(own["shape"])), 2 * len(own["shape"]))
        self._touched = room_for_touched(len(self._touched.leaf), self._kept)

    def _together(self, parts: list[UnitEnds], count: int) -> StateEnds:
        """What ends in all lanes, in the order of the stream."""
        event = np.concatenate([part.event for part in parts])
        order = ascending(event)
        number = np.concatenate([_widened(part.number[:, : self._limbs], self._limbs) for part in parts])
        lowest, latest = (np.concatenate([part[each] for part in parts])[order] for each in (1, 2))
        self._progress[[words.EVENT, words.HIT, words.ROOTS]] = count, len(order), 0
        none = room_for_state_ends(len(order), 0)
        return none._replace(event=event[order], lowest=lowest, latest=latest, number=number[order])


def _room(count: np.ndarray) -> np.ndarray:
    """Rows of slabs for lanes with `count` open configurations: `ROWS` times a power of 4."""
    found = np.full(len(count), ROWS)
    while (small := 2 * count + 8 > found).any():
        found[small] *= 4
    return found


def _chosen(given: OpenRows, some: np.ndarray) -> OpenRows:
    """What is open in some lanes."""
    length = np.diff(given.first)[some]
    rows = ranges(given.first[some], length)
    return OpenRows(
        np.append(0, np.cumsum(length)).astype(np.int64),
        *(each[rows] for each in given[1:6]),
        given.begun[some],
        given.now[some],
    )


def _widened(rows: np.ndarray, columns: int) -> np.ndarray:
    """Rows with zeros behind their columns."""
    found = np.zeros((len(rows), columns), rows.dtype)
    found[:, : rows.shape[1]] = rows
    return found


def runner(query: CompiledQuery, workers: Workers, carries: bool, devices: tuple[int, ...]) -> GeneralRunner:
    """What runs configurations on devices, of which it uses the first."""
    return GeneralRunner(query, lambda query: DevicesConfigurations(query, devices[0]))
