"""Many queries over one source in as few passes as possible: which are read together, and the pass itself."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

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


def sum_up(
    groups: Sequence[Sequence[int]],
    bound: Sequence[BoundQuery],
    source: Source,
    options: Options,
    totals: Sequence[Totals],
    notes: Notes,
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

    def passed(watch: Watch) -> Iterable[None]:
        for batch in watch(batches(source, bunches)):
            for bunch in bunches:
                bunch.read(batch)
            yield
        for bunch in bunches:
            bunch.rest()
        yield

    progress = begun(source.rows)
    try:
        with within_memory("running the queries"):
            for _ in progress.over(passed(progress.watch)):
                pass
    except RowError as error:
        raise source.named(error) from error
    for bunch in bunches:
        bunch.say(notes, options)
    return bunches
