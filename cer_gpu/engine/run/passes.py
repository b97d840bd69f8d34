"""Many queries over one source in as few passes as possible: which are read together, and the pass itself."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple, Protocol

from cer_gpu.engine.answers.notes import Notes
from cer_gpu.engine.memory import within_memory
from cer_gpu.engine.read.sources.source import Source
from cer_gpu.engine.run.bound import BoundQuery
from cer_gpu.engine.run.options import Options
from cer_gpu.engine.run.together import Bunch, batches, bunched
from cer_gpu.engine.run.totals import Totals
from cer_gpu.engine.workers import Workers
from cer_gpu.errors import RowError
from cer_gpu.progress import Watch, begun


class Passes(NamedTuple):
    """Queries of a source, by their numbers: groups that are read together, and those read one by one."""

    groups: list[list[int]]
    alone: list[int]


def passes_of(bound: Sequence[BoundQuery]) -> Passes:
    """Which queries are read together; one that runs on a device is read alone."""
    here = [number for number, one in enumerate(bound) if not one.place.numbers]
    groups, _ = bunched([bound[number].compiled for number in here])
    groups = [[here[one] for one in group] for group in groups]
    together = {number for group in groups for number in group}
    return Passes(groups, [number for number in range(len(bound)) if number not in together])


class PassState(NamedTuple):
    """A pass over files after some of them.

    Attributes
    ----------
    files : int
        How many files have been read.
    begins : list of int
        The number of the first event of each of them, and of the next one.
    bunches : list of dict
        `Bunch.state` of each group.
    """

    files: int
    begins: list[int]
    bunches: list[dict[str, Any]]


class PassKeeper(Protocol):
    """Keeps the state of a pass over files, so that one that was interrupted goes on with the next file."""

    def begun(self) -> PassState | None:
        """The state from which the pass goes on; None where it begins."""
        ...

    def keep(self, files: int, state: Callable[[], PassState]) -> None:
        """Keep the state that `state` gives, now that so many files have been read, if it is worth it."""
        ...


def sum_up(
    groups: Sequence[Sequence[int]],
    bound: Sequence[BoundQuery],
    source: Source,
    options: Options,
    totals: Sequence[Totals],
    notes: Notes,
    kept: PassKeeper | None = None,
) -> list[Bunch]:
    """Add what the queries of each group find to the totals of the group, in one pass over the events.

    Parameters
    ----------
    groups : sequence of sequence of int
        Those of `passes_of`.
    bound : sequence of BoundQuery
        All queries, over `source`.
    source : Source
    options : Options
    totals : sequence of Totals
        One for each group.
    notes : Notes
        Where it is said which types and streams no event had.
    kept : PassKeeper, optional
        What keeps the state of the pass after files; `source` then has `parts`.

    Returns
    -------
    list of Bunch
        The groups as they were run.
    """
    if not groups:
        return []
    workers = Workers()
    members = sum(map(len, groups))
    bunches = [
        Bunch([bound[number] for number in group], source, options, workers, members, group, own)
        for group, own in zip(groups, totals, strict=True)
    ]
    parts, begins = [source], [0]
    state = None if kept is None else kept.begun()
    if kept is not None:
        parts = source.parts()
    if state is not None:
        begins = list(state.begins)
        for bunch, own_state in zip(bunches, state.bunches, strict=True):
            bunch.restore(own_state)
    done = len(begins) - 1

    def passed(watch: Watch) -> Iterable[None]:
        for part in parts[done:]:
            seen = 0
            for batch in watch(batches(part, bunches)):
                for bunch in bunches:
                    bunch.read(batch)
                seen += len(batch)
                yield
            begins.append(begins[-1] + seen)
            if kept is not None:
                kept.keep(len(begins) - 1, after)
                yield
        for bunch in bunches:
            bunch.rest()
        yield

    def after() -> PassState:
        for bunch in bunches:
            bunch.rest()
        return PassState(len(begins) - 1, list(begins), [bunch.state() for bunch in bunches])

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
