"""The persistent structure of hits that admit the starts of the greatest ranks, not the latest starts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from cer_gpu.enumeration.blocks import longer
from cer_gpu.enumeration.ordered_enumeration import ordered_blocks
from cer_gpu.enumeration.structure import Structure, empty_roots, joined
from cer_gpu.frozen_dataclass import dataclass
from cer_gpu.kernels.forest import cpu_ranks as nodes
from cer_gpu.kernels.forest.contract import Block, CountedHits, Roots
from cer_gpu.kernels.forest.cpu_nodes import WORDS
from cer_gpu.kernels.runs.contract import SegmentHits, TransitionTables


@dataclass(frozen=True, slots=True)
class AdmittedStarts:
    """The starts that the hits of a structure admit.

    Attributes
    ----------
    rank : ndarray, shape (events,), int64
        The rank of every event. In lanes that are not sorted by rank it is the number of the event.
    floor : ndarray, shape (hits,), int64
        The least event that may be a start of each hit.
    """

    rank: np.ndarray
    floor: np.ndarray


class RankedStructure(Structure):
    """A structure whose hits admit starts by their ranks: `CountedHits.lowest` is the least rank of each hit.

    Parameters
    ----------
    tables : TransitionTables
    admitted : AdmittedStarts
        The starts that the hits of the structure admit.
    """

    def __init__(self, tables: TransitionTables, admitted: AdmittedStarts) -> None:
        super().__init__(tables)
        self.admitted = admitted

    def build(self, symbols: np.ndarray, begin: np.ndarray, stop: np.ndarray, hits: CountedHits) -> None:
        """Build the nodes of segments and the roots of their hits; as `Structure.build`."""
        n_hits, n_live = hits.event.size, self.tables.n_live
        bound = np.empty_like(hits.lowest)
        for low, high in zip(hits.first[:-1].tolist(), hits.first[1:].tolist(), strict=True):
            bound[low:high] = np.minimum.accumulate(hits.lowest[low:high][::-1])[::-1]
        widest = int(np.diff(self.tables.first).max(initial=0))
        roots = empty_roots(n_hits, n_hits + widest)
        distance = np.empty(len(self.arena), np.int64)
        scratch = nodes.HeapScratch(np.empty((2, n_live), np.int64), np.empty((2, nodes.STEPS), np.int64))
        progress = np.zeros(WORDS, np.int64)
        ends = SegmentHits(hits.first, hits.event, bound)
        status = nodes.ARENA_FULL
        while status != nodes.DONE:
            status = nodes.build(
                self.tables, symbols, self.admitted.rank, begin, stop, ends, self.arena, distance, roots,
                scratch, progress,
            )  # fmt: skip
            if status == nodes.ARENA_FULL:
                self.arena, distance = longer(self.arena), longer(distance)
            elif status == nodes.ROOTS_FULL:
                roots = Roots(roots.first, longer(roots.label), longer(roots.node))
        self.n_nodes = int(progress[nodes.NODES])
        self.roots = roots
        self.hits = hits
        self.symbols = symbols

    def ordered(self, hit: int, limit: int | None, size: int) -> Iterator[Block]:
        """The complex events of one hit, found one by one in canonical order; as `blocks`."""
        low, end = int(self.admitted.floor[hit]), int(self.hits.event[hit])
        least = int(self.hits.lowest[hit])
        admissible = (self.admitted.rank[low : end + 1] >= least).astype(np.uint8)
        return ordered_blocks(
            self.tables, self.symbols, hit, low, end, admissible=admissible, limit=limit, size=size
        )


def joined_by_event(structures: Sequence[Structure], admitted: AdmittedStarts) -> RankedStructure:
    """Join several structures to one, with their hits in the order of their events.

    Parameters
    ----------
    structures : sequence of Structure
        At least one; built on the same symbols.
    admitted : AdmittedStarts
        The starts that all hits admit, in that order.
    """
    found = joined(structures)
    order = np.argsort(found.hits.event, kind="stable")
    count = np.diff(found.roots.first)[order]
    first = np.append(0, np.cumsum(count))
    root = np.repeat(found.roots.first[order] - first[:-1], count) + np.arange(first[-1])
    whole = RankedStructure(found.tables, admitted)
    whole.arena, whole.n_nodes, whole.symbols = found.arena, found.n_nodes, found.symbols
    whole.roots = Roots(first, found.roots.label[root], found.roots.node[root])
    hits = found.hits
    whole.hits = CountedHits(
        np.array([0, len(order)]), hits.event[order], hits.lowest[order], hits.counts[order]
    )
    return whole
