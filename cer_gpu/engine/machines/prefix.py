"""Monitors: they read all events of the stream so far (the prefix), and rename the symbols of new events."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from cer_gpu.engine.read.events import EventArrays
from cer_gpu.engine.read.lanes import at, grown, moved
from cer_gpu.kernels.monitor.contract import Monitor, MonitoredEvents, WatchedLanes
from cer_gpu.kernels.monitor.cpu import rename, rename_consuming
from cer_gpu.kernels.runs.contract import TransitionTables
from cer_gpu.kernels.suppress.contract import NEVER_QUIET, QuietTimes
from cer_gpu.plan.compiled_query import CompiledQuery

if TYPE_CHECKING:
    from cer_gpu.engine.machines.suppress import Suppression


class Prefixes:
    """Runs the monitor of a query, with its state carried from batch to batch.

    Parameters
    ----------
    query : CompiledQuery
    tables : TransitionTables
        The tables of the query's machine.
    monitor : Monitor
        The monitor of the query's machine.
    """

    def __init__(self, query: CompiledQuery, tables: TransitionTables, monitor: Monitor) -> None:
        self._monitor = monitor
        self._state = np.zeros(0, np.int32)
        self._reports = _Reports(query, tables) if query.consume != "NONE" and query.limit != 0 else None

    def __call__(self, events: EventArrays) -> EventArrays:
        """The events with the symbols that the monitor gives them, without those that become neutral.

        Parameters
        ----------
        events : EventArrays
            In the order of the stream.
        """
        if not len(events):
            return events
        self._state = grown(self._state, int(events.lanes.max(initial=0)) + 1)
        if self._reports is None:
            symbols = rename(self._monitor, events.symbols, events.lanes, self._state)
        else:
            symbols = self._reports.rename(self._monitor, events, self._state)
        renamed = replace(events, symbols=symbols.astype(events.symbols.dtype))
        return renamed if symbols.all() else renamed.take(np.flatnonzero(symbols))

    def held(self) -> np.ndarray:
        """The lanes whose monitor or runs have left their first state."""
        begun = self._state != 0
        if self._reports is not None:
            begun |= self._reports.begun(len(begun))
        return np.flatnonzero(begun)

    def keep(self, used: np.ndarray, numbers: np.ndarray, count: int) -> None:
        """Forget all lanes but those in `used`; these have the given numbers from now on."""
        self._state = moved(self._state, used, numbers, count)
        if self._reports is not None:
            self._reports.keep(used, numbers, count)

    def rows(self, lanes: np.ndarray) -> dict[str, np.ndarray]:
        """The state of the monitor and of the runs of some lanes."""
        found = {"state": at(self._state, lanes)}
        return found if self._reports is None else found | self._reports.rows(lanes)

    def put(self, lanes: np.ndarray, rows: dict[str, np.ndarray], count: int) -> None:
        """Restore the state that `rows` returned, for lanes with new numbers."""
        self._state = grown(self._state, count)
        self._state[lanes] = rows["state"]
        if self._reports is not None:
            self._reports.put(lanes, rows, count)


class _Reports:
    """The runs of the automaton beside a monitor that begins again at every report (CONSUME BY)."""

    def __init__(self, query: CompiledQuery, tables: TransitionTables) -> None:
        self._query = query
        self._tables = tables
        self._runs = np.empty((0, tables.n_live), np.uint8)
        self._began = np.empty((0, tables.n_live), np.int64)
        self._since = np.empty(0, np.int64)
        self._now = np.zeros(1, np.int64)
        self._suppression: Suppression | None = None
        if query.suppress is not None:
            from cer_gpu.engine.machines.suppress import Suppression  # few queries need it

            self._suppression = Suppression(query.suppress)

    def begun(self, count: int) -> np.ndarray:
        """Which lanes have runs, shape (count,), bool."""
        return np.any(grown(self._runs, count)[:count], axis=1)

    def keep(self, used: np.ndarray, numbers: np.ndarray, count: int) -> None:
        """Forget all lanes but those in `used`; these have the given numbers from now on."""
        self._runs = moved(self._runs, used, numbers, count)
        self._began = moved(self._began, used, numbers, count)
        self._since = moved(self._since, used, numbers, count)
        if self._suppression is not None:
            self._suppression.keep(used, numbers, count)

    def rows(self, lanes: np.ndarray) -> dict[str, np.ndarray]:
        """The runs of some lanes."""
        return {
            "runs": at(self._runs, lanes),
            "began": at(self._began, lanes),
            "since": at(self._since, lanes),
            **({} if self._suppression is None else self._suppression.rows(lanes)),
        }

    def put(self, lanes: np.ndarray, rows: dict[str, np.ndarray], count: int) -> None:
        """Restore the state that `rows` returned, for lanes with new numbers."""
        self._runs = grown(self._runs, count)
        self._began = grown(self._began.astype(rows["began"].dtype, copy=False), count)
        self._since = grown(self._since, count)
        self._runs[lanes], self._began[lanes] = rows["runs"], rows["began"]
        self._since[lanes] = rows["since"]
        if self._suppression is not None:
            self._suppression.put(lanes, rows, count)

    def rename(self, monitor: Monitor, events: EventArrays, state: np.ndarray) -> np.ndarray:
        """The symbols that the monitor gives; `state` is changed in place."""
        tables, window = self._tables, self._query.window
        measured = events.measured
        self._runs = grown(self._runs, len(state))
        self._began = grown(self._began.astype(measured.dtype, copy=False), len(state))
        self._since = grown(self._since, len(state))
        out = np.empty(len(events), np.uint16)
        read = MonitoredEvents(
            events.symbols,
            events.lanes if len(events.lanes) else np.zeros(len(events), np.int32),
            measured,
            events.all_keyed,
        )
        rename_consuming(
            monitor,
            tables,
            read,
            -1 if window is None else min(window.size, np.iinfo(np.int64).max),
            self._query.consume == "PARTITION",
            self._quiet(events.moments, len(state)),
            WatchedLanes(state, self._runs, self._began, self._since, self._now),
            np.empty(tables.n_live, np.uint8),
            np.empty(tables.n_live, measured.dtype),
            out,
        )
        return out

    def _quiet(self, times: np.ndarray, lane_count: int) -> QuietTimes:
        """When ends at events with some times report nothing."""
        if self._suppression is None:
            return NEVER_QUIET
        return self._suppression.quiet(times, lane_count)
