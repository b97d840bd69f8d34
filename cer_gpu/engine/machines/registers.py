"""Configurations with registers on the CPU: partial matches with values that later events are compared with.

As in `cer_gpu.engine.machines.configurations`, partial matches that have given the same marks to the same
events are one configuration, a set of states. Here a state holds the values themselves, as Python objects,
and an event is compared with them one by one. Configurations with the same states become one, and what they
stand for is united in the persistent structure.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from cer_gpu.automata.configurations.formulas import SteppedAutomaton, stepped
from cer_gpu.automata.configurations.member import END
from cer_gpu.automata.configurations.slots import State, best, renamed, slots_of
from cer_gpu.automata.match import BEFORE, UNMARKED
from cer_gpu.engine.machines.configuration_arrays import no_answers, pushed_lists
from cer_gpu.engine.machines.ends import Ends
from cer_gpu.engine.machines.open_runs import FollowedEvents, PushResult, Renumbering
from cer_gpu.engine.machines.register_events import CurrentEvent, Reader, SymbolEvent
from cer_gpu.engine.machines.register_serialization import read_back, written_down
from cer_gpu.engine.read.events import EventArrays
from cer_gpu.engine.read.lanes import HeldLanes
from cer_gpu.errors import LimitError
from cer_gpu.kernels.configurations.cpu_nodes import kept_nodes, nodes_below
from cer_gpu.kernels.forest.contract import BOTTOM, UNION, Roots
from cer_gpu.kernels.streams.contract import LaneBounds, StreamEvents
from cer_gpu.kernels.suppress.contract import is_reported
from cer_gpu.plan.compiled_query import CompiledQuery
from cer_gpu.plan.general import GeneralMachine

CONFIGURATIONS = 1 << 18
"""The most configurations that may be open at once."""

STATES = 1 << 16
"""The most states that an event may lead one configuration to."""

LITTLE = 1 << 18
"""Bytes that configurations may take without a look at the memory."""

LEAST = 1 << 10
"""From this many configurations on, late ones are searched and dropped."""


class Configuration:
    """Partial matches that have given the same marks to the same events.

    Attributes
    ----------
    started : bool
    states : frozenset of State
    least, latest : int
        The least and the greatest start.
    since : number
        What the window measures at the greatest start.
    node : int
        The node of its complex events; -1: none.
    number : int
        How many complex events it stands for.
    stays : set of int
        Symbols that are known not to change it.
    """

    __slots__ = ("latest", "least", "node", "number", "since", "started", "states", "stays")

    def __init__(
        self,
        started: bool,
        states: frozenset[State],
        least: int,
        latest: int,
        since: Any,
        node: int,
        number: int,
    ) -> None:
        self.started = started
        self.states = states
        self.least = least
        self.latest = latest
        self.since = since
        self.node = node
        self.number = number
        self.stays: set[int] = set()


Lane = dict[tuple[bool, frozenset[State]], Configuration]


class Nodes:
    """The persistent structure, in rows (label, left, right, latest start); as `cpu_nodes`."""

    def __init__(self) -> None:
        self.rows: list[tuple[int, int, int, int]] = []

    def new(self, label: int, left: int, right: int, latest: int) -> int:
        """Make a node; gives its number."""
        self.rows.append((label, left, right, latest))
        return len(self.rows) - 1

    def union(self, one: int, other: int) -> int:
        """The complex events of two nodes, which are disjoint; as `cpu_nodes.union`."""
        rows = self.rows
        latest = max(rows[one][3], rows[other][3])
        if rows[one][0] != UNION:
            return self.new(UNION, one, other, latest)
        if rows[other][0] != UNION:
            return self.new(UNION, other, one, latest)
        _, left, behind, _ = rows[one]
        rest = self.new(UNION, other, behind, max(rows[other][3], rows[behind][3]))
        return self.new(UNION, left, rest, latest)

    def array(self) -> np.ndarray:
        """All nodes, shape (nodes, 4), int64."""
        return np.array(self.rows, np.int64).reshape(-1, 4)

    def compact(self, wanted: Sequence[int], place: np.ndarray) -> np.ndarray:
        """Keep only the nodes below some, with events renumbered; gives the new number of each node."""
        count = len(self.rows)
        arena, place_of = self.array(), np.empty(count, np.int64)
        out = np.empty((nodes_below(arena, count, np.array(wanted, np.int64), place_of), 4), np.int64)
        kept_nodes(arena, count, place, place_of, out)
        self.rows = [tuple(row) for row in out.tolist()]
        return place_of


class RegisterRuns(HeldLanes):
    """The configurations of a query that compares events: `OpenRuns` and `LaneState`.

    Parameters
    ----------
    query : CompiledQuery
    """

    def __init__(self, query: CompiledQuery) -> None:
        machine = query.machine
        assert isinstance(machine, GeneralMachine)
        self._machine = machine
        self._window = query.window if machine.product == "hits" else None
        self._consume = query.consume
        self._names = query.reading.compared
        self._automaton: SteppedAutomaton = stepped(machine.formula, machine.symbols, machine.predicates)
        self._label = {label: number for number, label in enumerate(self._automaton.labels)}
        self._lists = machine.lists
        self._lanes: dict[int, Lane] = {}
        self._nodes = Nodes()
        self._reader = Reader(self._automaton, query)
        self._count = 0
        self._open = 0
        self._sweep_at = LEAST
        self._looked = LITTLE
        """Bytes up to which it is known that memory allows them."""

    # ---------------------------------------------------------------------------------------- pushes

    def push(self, following: FollowedEvents) -> Callable[[EventArrays], PushResult] | None:
        """Follow the configurations over further events; as `OpenRuns.push`."""
        first = following.first
        self._count, self._looked = following.stop, LITTLE
        self._reader.read(following, self._names)
        symbols = following.events.symbols[first : following.stop].tolist()
        laned = len(following.events.lanes)
        lanes = following.events.lanes[first : following.stop].tolist() if laned else None
        numbers = (
            range(first, following.stop)
            if self._lists
            else following.positions[first : following.stop].tolist()
        )
        events: list[int] = []
        found: list[tuple[int, int, int]] = []
        root_first, labels = [0], list[int]()
        nodes: list[int] = []
        done = first
        quiet = following.bounds.quiet
        for stop in following.stops():
            for at in range(done - first, stop - first):
                lane = 0 if lanes is None else lanes[at]
                ended = self._step(lane, self._reader.event(at, symbols[at]), numbers[at])
                if self.nbytes > self._looked:
                    if following.headroom.is_exceeded:
                        nodes = self._compacted(nodes)
                    following.headroom.check()
                    self._looked = max(5 * self.nbytes // 4, LITTLE)
                if ended is None:
                    continue
                events.append(at + first)
                found.append(ended[:3])
                labels += ended[3]
                nodes += ended[4]
                root_first.append(len(nodes))
                if self._consume == "NONE" or not is_reported(quiet, at + first, lane):
                    continue
                if self._consume == "ANY":
                    self._forget(list(self._lanes))
                else:
                    self._forget([lane])
            done = stop
        if not events:
            return None
        event = np.array(events, np.int64)
        lowest = np.array([one[0] for one in found], np.int64)
        latest = np.array([one[1] for one in found], np.int64)
        if not self._lists:
            number = _numbers([one[2] for one in found])
            return lambda seen: PushResult(seen, Ends(event, latest, lowest), no_answers, number)
        arena = self._nodes.array()
        roots = Roots(np.array(root_first, np.int64), np.array(labels, np.int32), np.array(nodes, np.int64))

        def pushed(seen: EventArrays) -> PushResult:
            ends = Ends(event, seen.positions[latest], lowest)
            return pushed_lists(self._machine, seen, ends, arena, roots)

        return pushed

    def _compacted(self, roots: list[int]) -> list[int]:
        """Drop the nodes that neither configurations nor some roots need; gives the roots anew."""
        if not self._lists:
            return roots
        started = [one for one in self._all() if one.started]
        place_of = self._nodes.compact([*(one.node for one in started), *roots], np.empty(0, np.int64))
        for one in started:
            one.node = int(place_of[one.node])
        return [int(place_of[root]) for root in roots]

    def _step(
        self, lane_number: int, event: CurrentEvent, number: int
    ) -> tuple[int, int, int, list[int], list[int]] | None:
        """Follow the configurations of a lane over an event; what ends there.

        Returns
        -------
        tuple or None
            The least and the greatest start, how many, and of each root the label and the node.
        """
        lane = self._lanes.get(lane_number)
        if lane is None:
            lane = self._lanes[lane_number] = {}
            states = frozenset(self._automaton.member.begin())
            lane[False, states] = Configuration(False, states, 0, -1, 0, -1, 0)
            self._open += 1
        symbol = event.symbol
        touched = [one for one in lane.values() if symbol not in one.stays and not self._stays(one, symbol)]
        if not touched:
            return None
        for one in touched:
            del lane[one.started, one.states]
        self._open -= len(touched)
        least, latest, total = number, -1, 0
        labels: list[int] = []
        nodes: list[int] = []
        now = event.moment
        window = self._window
        for one in touched:
            if one.started and window is not None and now - one.since > window.size:
                continue
            for label, states, accepts in self._outcomes(one, event):
                before = label == BEFORE
                starts = not before and not one.started
                made = one
                if starts:
                    node = self._nodes.new(BOTTOM, -1, number, number) if self._lists else -1
                    made = Configuration(True, states, number, number, now, node, 1)
                shown = 0 if before else self._label[label]
                if accepts:
                    least, latest = min(least, made.least), max(latest, made.latest)
                    total += made.number
                    labels.append(shown)
                    nodes.append(made.node)
                if not states:
                    continue
                node = made.node
                if shown and self._lists:
                    node = self._nodes.new(shown, made.node, number, self._nodes.rows[made.node][3])
                self._put(
                    lane,
                    Configuration(not before, states, made.least, made.latest, made.since, node, made.number),
                )
        if self._open > self._sweep_at:
            self._sweep()
        return (least, latest, total, labels, nodes if self._lists else []) if labels else None

    def _outcomes(
        self, one: Configuration, event: CurrentEvent
    ) -> Iterable[tuple[frozenset[str], frozenset[State], bool]]:
        """For each label the states that an event leads to, and whether complex events end."""
        reached: dict[frozenset[str], set[State]] = {}
        member = self._automaton.member
        for state in one.states:
            for label, target, owed in member.follow(state, event):
                assert not owed, "a filter reads a variable that nothing binds"
                reached.setdefault(label, set()).add(target)
        for label, targets in sorted(reached.items(), key=lambda item: sorted(item[0])):
            accepts = END in targets
            targets.discard(END)
            if len(targets) > STATES:
                raise LimitError(
                    self._reader.about(f"partial matches can go on in more than {STATES:,} ways at once")
                )
            yield label, self._aged(targets, event), accepts

    def _aged(self, targets: Iterable[State], event: CurrentEvent) -> frozenset[State]:
        """Those of some states that are not late, the best of them, with the clocks that they have set."""
        kept = []
        for target in targets:
            state = self._automaton.member.aged(target, event)
            if state is not None:
                kept.append(renamed(state, event.placed) if self._reader.clocked else state)
        return best(kept) if self._reader.clocked else frozenset(kept)

    def _stays(self, one: Configuration, symbol: int) -> bool:
        """Whether an event with a symbol changes nothing of a configuration, whatever its values."""
        event: Any = SymbolEvent(symbol)
        found: set[State] = set()
        wanted = UNMARKED if one.started else BEFORE
        for state in one.states:
            for label, target, _ in self._automaton.member.follow(state, event):
                if label != wanted:
                    return False
                found.add(target)
        if event.asked or found != one.states:
            return False
        one.stays.add(symbol)
        return True

    def _put(self, lane: Lane, one: Configuration) -> None:
        """Put in a configuration, or add it to its like."""
        key = one.started, one.states
        known = lane.get(key)
        if known is None:
            if self._open >= CONFIGURATIONS:
                raise LimitError(
                    self._reader.about(f"more than {CONFIGURATIONS:,} partial matches are open at once")
                )
            lane[key] = one
            self._open += 1
            return
        known.least = min(known.least, one.least)
        if one.latest > known.latest:
            known.latest, known.since = one.latest, one.since
        if one.node >= 0:
            known.node = self._nodes.union(one.node, known.node)
        known.number += one.number

    def _sweep(self) -> None:
        """Drop the configurations that are late."""
        if self._reader.clocked and self._reader.begun:
            for lane in self._lanes.values():
                for one in list(lane.values()):
                    del lane[one.started, one.states]
                    self._open -= 1
                    states = self._aged(one.states, self._reader.tick)
                    if states:
                        one.states, one.stays = states, set()
                        self._put(lane, one)
            self._reader.forget(
                {int(s) for one in self._all() for state in one.states for s in slots_of(state)}
            )
        self._sweep_at = max(LEAST, 2 * self._open)

    def _all(self) -> Iterable[Configuration]:
        return (one for lane in self._lanes.values() for one in lane.values())

    def _forget(self, lanes: Iterable[int]) -> None:
        """Drop all configurations of some lanes."""
        for lane in lanes:
            self._open -= len(self._lanes.pop(lane, ()))

    # -------------------------------------------------------------------------- of the stream's state

    def bound(self, events: StreamEvents, bounds: LaneBounds) -> None:
        """As `OpenRuns.bound`: the least start of what is open; no event is needed if none are listed."""
        bounds.least[:] = self._count
        if not self._lists:
            return
        self._sweep()
        for number, lane in self._lanes.items():
            starts = [one.least for one in lane.values() if one.started]
            bounds.least[number] = min(starts, default=self._count)

    def drop(self, dropped: Renumbering) -> None:
        """Give the events of what is open their new numbers; as `OpenRuns.drop`. `keep` does so for lanes."""
        self._count = dropped.count
        if not self._lists:
            return
        started = [one for one in self._all() if one.started]
        place_of = self._nodes.compact([one.node for one in started], np.append(dropped.place, dropped.count))
        for one in started:
            one.node = int(place_of[one.node])
            one.least, one.latest = dropped.moved(np.array([one.least, one.latest])).tolist()

    @property
    def nbytes(self) -> int:
        """About how many bytes the configurations take."""
        return 400 * self._open + 100 * len(self._nodes.rows)

    def arrays(self) -> dict[str, np.ndarray]:
        """The arrays that are stored with a stream, by name; as `OpenRuns.arrays`."""
        lanes = {
            number: [
                [one.started, one.states, one.least, one.latest, one.since, one.node, one.number]
                for one in lane.values()
            ]
            for number, lane in self._lanes.items()
        }
        kept = written_down([lanes, self._reader.state()])
        return {"registers": np.frombuffer(kept, np.uint8), "arena": self._nodes.array()}

    def restore(self, arrays: dict[str, np.ndarray]) -> None:
        """Continue from what `arrays` returned."""
        if not arrays:
            return
        lanes, state = read_back(arrays["registers"].tobytes())
        self._reader.resume(state)
        self._nodes.rows = [tuple(row) for row in arrays["arena"].tolist()]
        for number, rows in lanes.items():
            made = [Configuration(*row) for row in rows]
            self._lanes[number] = {(one.started, one.states): one for one in made}
            self._open += len(made)

    # --------------------------------------------------------------------------------------- of lanes

    def held(self) -> np.ndarray:
        """The lanes in which something is open, or in which something before a start is remembered."""
        first = frozenset(self._automaton.member.begin())
        found = [number for number, lane in self._lanes.items() if lane.keys() - {(False, first)}]
        return np.array(sorted(found), np.int64)

    def keep(self, used: np.ndarray, numbers: np.ndarray, count: int) -> None:
        """Forget all lanes but those in `used`; these have the given numbers from now on."""
        new = dict(zip(used.tolist(), numbers.tolist(), strict=True))
        self._forget([number for number in self._lanes if number not in new])
        self._lanes = {new[number]: lane for number, lane in self._lanes.items()}


def _numbers(counts: list[int]) -> np.ndarray:
    """Counts as int64, or as objects where one is larger than 2^62."""
    large = any(count >= 1 << 62 for count in counts)
    return np.array(counts, object if large else np.int64)
