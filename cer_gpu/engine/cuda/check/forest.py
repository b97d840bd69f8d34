"""The check of the persistent structure, its bulk enumeration, and the choice of NEXT and LAST."""

from __future__ import annotations

import numpy as np

from cer_gpu.engine.cuda.check.inputs import A, Answers, B, C, ComparedArray, Inputs, there
from cer_gpu.enumeration.structure import Structure
from cer_gpu.kernels.forest import cuda_enumerate as paths
from cer_gpu.kernels.forest import cuda_nodes as nodes
from cer_gpu.kernels.forest.contract import Block, CountedHits, Roots
from cer_gpu.kernels.runs.contract import SegmentHits
from cer_gpu.kernels.selection import cpu as on_cpu
from cer_gpu.kernels.selection import cuda as best

LIMIT = 50
"""How many complex events of each hit are listed where there is a limit."""

MANY = 6
"""B events in front of a C at which 2^6 - 1 complex events end."""

UNIT = 8
"""A hit with more complex events than this is cut into units of this many, one for each thread."""


def built(inputs: Inputs) -> Answers:
    """The nodes of all segments, and the roots of their hits."""
    here = _structure(inputs)
    first, event, _, lowest = inputs.ends
    hits = SegmentHits(*there((first, event, lowest)))
    bounds = there((inputs.begin, inputs.stop))
    arena, roots, node_first = nodes.build(inputs.machine, inputs.there, *bounds, hits, inputs.lane)
    used = int(here.roots.first[-1])
    yield ComparedArray("nodes", arena, here.arena[: here.n_nodes])
    for name, one, other in zip(here.roots._fields, roots, here.roots):
        yield ComparedArray(f"roots: {name}", one, other if name == "first" else other[:used])
    yield ComparedArray("number of nodes", node_first[-1:], np.array([here.n_nodes]))


def enumerated(inputs: Inputs) -> Answers:
    """The complex events of all hits in canonical order; those of hits that several threads share too."""
    here = _structure(inputs)
    # None of its hits is cut into units, so the nodes of its segment are not read.
    yield from _enumerated(inputs, here, np.zeros(len(here.hits.first), np.int64), paths.RANGE, None)
    shared = _shared(inputs)
    node_first = np.linspace(0, shared.n_nodes, len(shared.hits.first)).astype(np.int64)
    yield from _enumerated(inputs, shared, node_first, UNIT, LIMIT)


def chosen(inputs: Inputs) -> Answers:
    """The complex events that NEXT and LAST leave at each hit."""
    first, event, _, lowest = inputs.ends
    span = int((inputs.stop - inputs.begin).max())
    for strategy in ("NEXT", "LAST"):
        latest = strategy == "LAST"
        here = on_cpu.best(inputs.tables, inputs.symbols, first, event, lowest, latest)
        ends = there((first, event, lowest))
        found, status = best.best(inputs.machine, inputs.there, *ends, latest, span, inputs.lane)
        yield ComparedArray(f"{strategy}: status", status, np.zeros(len(first) - 1, np.uint8))
        for name, one, other in zip(here._fields, found, here):
            yield ComparedArray(f"{strategy}: {name}", one, other)


def _structure(inputs: Inputs) -> Structure:
    made = Structure(inputs.tables)
    first, event, _, lowest = inputs.ends
    made.build(inputs.symbols, inputs.begin, inputs.stop, CountedHits(first, event, lowest, inputs.number))
    return made


def _shared(inputs: Inputs) -> Structure:
    """Segments `A B ... B C`, enough that their units fill more than one block."""
    segments = inputs.lane.threads * UNIT // (1 << MANY) + 2
    symbols = np.tile(np.array([A, *[B] * MANY, C], np.uint8), segments)
    event = np.flatnonzero(symbols == C)
    begin = event - MANY - 1
    made = Structure(inputs.tables)
    number = np.full(segments, (1 << MANY) - 1)
    made.build(symbols, begin, event + 1, CountedHits(np.arange(segments + 1), event, begin, number))
    return made


def _enumerated(
    inputs: Inputs, here: Structure, node_first: np.ndarray, size: int, limit: int | None
) -> Answers:
    hits, used = here.hits, int(here.roots.first[-1])
    first, label, node = here.roots
    arena, event, lowest = there((here.arena[: here.n_nodes], hits.event, hits.lowest))
    forest = paths.Forest(arena, Roots(*there((first, label[:used], node[:used]))), event, lowest)
    lists = paths.SegmentContents(*there((hits.first, node_first, hits.counts)))
    order = np.arange(len(hits.event))
    walked = paths.measure(
        forest,
        paths.units_of(lists, order, limit, size, inputs.stream),
        paths.scratch_of(len(here.hits.event) * (1 << MANY) // UNIT, inputs.lane),
    )
    yield ComparedArray("status", np.array([walked.worst]), np.array([0]))
    found = paths.fill(forest, walked, stream=inputs.stream)
    blocks = list(here.blocks(limit=limit))
    for name, one in zip(Block._fields, found):
        yield ComparedArray(name, one, _whole(blocks, name))


def _whole(blocks: list[Block], name: str) -> np.ndarray:
    """A field of several blocks, as if they were one."""
    parts = [getattr(block, name) for block in blocks]
    if name != "first":
        return np.concatenate(parts)
    return np.append(0, np.cumsum(np.concatenate([np.diff(part) for part in parts])))
