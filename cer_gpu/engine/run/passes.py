"""Many queries over one source in as few passes as possible: which queries share a pass, and the pass."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import pyarrow as pa

from cer_gpu.caller_warnings import warn
from cer_gpu.engine.answers.notes import Notes
from cer_gpu.engine.memory import within_memory
from cer_gpu.engine.read.sources.source import Source
from cer_gpu.engine.run.bound_query import BATCH, BoundQuery
from cer_gpu.engine.run.device_choice import why_wrong
from cer_gpu.engine.run.options import Options
from cer_gpu.engine.run.separate_run import SeparateRun
from cer_gpu.engine.run.shared_run import Bunch, ReadingBunch, abreast_there, bunched, least_chunk
from cer_gpu.engine.run.team import LEAST_ABREAST
from cer_gpu.engine.run.totals import Totals
from cer_gpu.engine.run.value_watch import ValueWatch
from cer_gpu.engine.workers import Workers
from cer_gpu.errors import RowError
from cer_gpu.plan.machine import TEAMS
from cer_gpu.progress import Watch, begun


class Passes(NamedTuple):
    """Queries of a source, by their numbers.

    Attributes
    ----------
    bunches : list of Bunched
        Queries that are read and run together, all on the CPU or all on the same devices.
    beside : list of int
        Queries that are run one by one, over what is read for all.
    alone : list of int
        Queries that read the events themselves: on a device, where no others go abreast with them, or
        because their answers may differ only by measures.
    """

    bunches: list[ReadingBunch]
    beside: list[int]
    alone: list[int]

    @property
    def groups(self) -> list[list[int]]:
        """The numbers of the queries that are read and run together."""
        return [one.numbers for one in self.bunches]


def passes_of(bound: Mapping[int, BoundQuery]) -> Passes:
    """Decide which queries, by their numbers, are read together."""
    _place_abreast(bound)
    here = [number for number, one in bound.items() if not one.place.numbers]
    found, others = bunched([bound[number].compiled for number in here])
    beside = [here[one] for one in others if not bound[here[one]].compiled.hidden]
    bunches = [ReadingBunch([here[one] for one in each.numbers], each.made) for each in found]
    for devices in dict.fromkeys(one.place.numbers for one in bound.values() if one.place.numbers):
        there = [number for number, one in bound.items() if one.place.numbers == devices]
        found = abreast_there([bound[number].compiled for number in there])
        fault = next(filter(None, (why_wrong(one, TEAMS) for one in devices if found)), None)
        if fault is not None:
            warn(f"{fault}. The queries run one by one")
            continue
        bunches += [ReadingBunch([there[one] for one in each.numbers], each.made) for each in found]
    together = {*beside, *(number for each in bunches for number in each.numbers)}
    return Passes(bunches, beside, [number for number in bound if number not in together])


def _place_abreast(bound: Mapping[int, BoundQuery]) -> None:
    """Let a device run queries abreast that each by itself would run on the CPU, if it takes less time."""
    here = [one for one in bound.values() if not one.place.numbers]
    # Which queries go abreast is looked at only if it would be worth it for all of them.
    if len(here) < LEAST_ABREAST or not here[0].placed(members=len(here)).numbers:
        return
    for each in abreast_there([one.compiled for one in here]):
        members = [here[number] for number in each.numbers]
        place = members[0].placed(members=len(members))
        if place.numbers:
            for one in members:
                one.place = place


class EndSink(Protocol):
    """Takes what ends of queries that run beside others."""

    def add(self, query: int, ends: pa.Table) -> None:
        """Take a part of the table of `counts` of a query, named by its number."""
        ...

    def state(self) -> Any:
        """All that it has taken, as `cer_gpu.engine.run.snapshot` stores it."""
        ...

    def resume(self, state: Any) -> None:
        """Restore what `state` returned."""
        ...


class PassSink(NamedTuple):
    """Where a pass puts what it finds.

    Attributes
    ----------
    totals : sequence of Totals
        One for each group.
    ends : EndSink
        Gets what ends of the queries that run beside others.
    """

    totals: Sequence[Totals]
    ends: EndSink


class PassState(NamedTuple):
    """The state of a pass after some of its files.

    Attributes
    ----------
    files : int
        How many files have been read.
    begins : list of int
        The number of the first event of each of them, and of the next one.
    bunches : list of dict
        `Bunch.state` of each group.
    beside : list of dict
        `SeparateRun.state` of each query beside them.
    ends : object
        `EndSink.state`.
    """

    files: int
    begins: list[int]
    bunches: list[dict[str, Any]]
    beside: list[dict[str, Any]]
    ends: Any


class PassKeeper(Protocol):
    """Keeps the state of a pass over files, so that an interrupted pass continues with the next file."""

    def begun(self) -> PassState | None:
        """The state from which the pass continues; None if it begins."""
        ...

    def keep(self, files: int, state: Callable[[], PassState]) -> None:
        """Keep the state that `state` returns after `files` files, if it is worth its cost."""
        ...


def sum_up(
    passes: Passes,
    bound: Mapping[int, BoundQuery],
    source: Source,
    options: Options,
    found: PassSink,
    notes: Notes,
    kept: PassKeeper | None = None,
) -> list[Bunch]:
    """Sum up what the queries find that do not read alone, in one pass over the events.

    Parameters
    ----------
    passes : Passes
    bound : mapping of int to BoundQuery
        All queries by their numbers, over `source`.
    source : Source
    options : Options
    found : PassSink
    notes : Notes
        Gets the notes about types and streams that no event had.
    kept : PassKeeper, optional
        Keeps the state of the pass after files; `source` then has `parts`.

    Returns
    -------
    list of Bunch
        The groups, as they were run.
    """
    workers = Workers()
    members = sum(map(len, passes.groups)) + len(passes.beside)
    if not members:
        return []
    bunches = [
        Bunch([bound[number] for number in group], source, options, workers, members, group, own, made)
        for (group, made), own in zip(passes.bunches, found.totals, strict=True)
    ]
    least, keeps = least_chunk(members), kept is not None
    beside = [(number, SeparateRun(bound[number], least, keeps)) for number in passes.beside]
    columns = [name for one in bunches for name in one.columns]
    columns = list(dict.fromkeys([*columns, *(name for _, one in beside for name in one.columns)]))
    parts, begins = [source], [0]
    state = None if kept is None else kept.begun()
    if kept is not None:
        parts = source.parts()
    if state is not None:
        begins = list(state.begins)
        for bunch, own_state in zip(bunches, state.bunches, strict=True):
            bunch.restore(own_state)
        for (_, one), its in zip(beside, state.beside, strict=True):
            one.restore(its)
        found.ends.resume(state.ends)
    done = len(begins) - 1
    values = ValueWatch.of_all(one.value_watch for one in bound.values())

    def passed(watch: Watch) -> Iterable[None]:
        for part in parts[done:]:
            seen = 0
            batches = part.batches(columns, BATCH, set())
            batches = watch(workers.early(batches) if part.stored > BATCH else batches)
            for batch in batches if values is None else values.over(batches, notes):
                for bunch in bunches:
                    bunch.read(batch)
                for number, one in beside:
                    for ends in one.read(batch):
                        found.ends.add(number, ends)
                seen += len(batch)
                yield
            begins.append(begins[-1] + seen)
            if kept is not None:
                kept.keep(len(begins) - 1, after)
                yield
        for bunch in bunches:
            bunch.rest()
        for number, one in beside:
            for ends in one.rest():
                found.ends.add(number, ends)
        yield

    def after() -> PassState:
        for bunch in bunches:
            bunch.rest()
        for number, one in beside:
            for ends in one.settle():
                found.ends.add(number, ends)
        states = [bunch.state() for bunch in bunches], [one.state() for _, one in beside]
        return PassState(len(begins) - 1, list(begins), *states, found.ends.state())

    progress = begun(None if source.rows is None else source.rows - begins[-1])
    try:
        with within_memory("running the queries"):
            for _ in progress.over(passed(progress.watch)):
                pass
    except RowError as error:
        number = min(bisect_right(begins, error.position), len(parts)) - 1
        own = RowError(error.position - begins[number], error.text)
        raise parts[number].named(own) from error
    for bunch in bunches:
        bunch.say(notes, options)
    return bunches
