"""The structure and its enumeration on the device: the arrays of the CPU's kernels."""

from __future__ import annotations

import random
from itertools import pairwise

import numpy as np
import pytest
from cer_gpu.kernels.counts import cuda as counts
from cer_gpu.kernels.device import words
from cer_gpu.kernels.device.geometry import Geometry
from cer_gpu.kernels.forest import cuda_enumerate as paths
from cer_gpu.kernels.forest import cuda_nodes as nodes
from cer_gpu.kernels.forest.contract import LABEL, RIGHT, UNION, CountedHits, Roots
from cer_gpu.kernels.forest.cpu_enumerate import HIT_TOO_LARGE, MISMATCH
from cer_gpu.kernels.forest.cuda_enumerate import Forest, SegmentContents, Units
from cer_gpu.kernels.runs.contract import SegmentHits
from cer_gpu.kernels.runs.programs import backward_program, forward_program
from cuda_cases import built, long_case
from cuda_device import TINY, USABLE
from numba import cuda
from random_tables import Case, kleene, random_case

from cer_gpu.engine.cuda import dealt_structure
from cer_gpu.engine.cuda import structure as cuda_structure
from cer_gpu.engine.cuda.dealt_structure import DealtStructure, dealt_lists
from cer_gpu.engine.cuda.machines.one_device import finer, spans
from cer_gpu.engine.cuda.structure import DeviceStructure
from cer_gpu.engine.workers import Workers
from cer_gpu.enumeration.structure import Structure

if not USABLE:
    pytest.skip(f"{USABLE.reason}; the simulator runs these tests", allow_module_level=True)

pytestmark = [pytest.mark.gpu, pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning")]


def unions_of_unions(structure: Structure) -> int:
    """Unions whose right child is one: the longer of the two ways in which lists are joined."""
    arena = structure.arena[: structure.n_nodes]
    unions = arena[arena[:, LABEL] == UNION]
    return int((arena[unions[:, RIGHT], LABEL] == UNION).sum())


@pytest.mark.draws("seed", 2)
def test_nodes_are_those_of_the_cpu(seed: int) -> None:
    rng = random.Random(300 + seed)
    total = joined = 0
    for number in range(30):
        case = long_case(rng) if number % 2 else random_case(rng, longest=11)
        wanted = built(case)
        programs = forward_program(case.tables), backward_program(case.tables)
        hits = wanted.hits
        arena, roots, node_first = nodes.build(
            counts.device_tables(case.tables, *programs),
            words.to_device(case.symbols),
            cuda.to_device(case.begin),
            cuda.to_device(case.stop),
            SegmentHits(*[cuda.to_device(part) for part in hits[:3]]),
            TINY[number % 3],
        )
        assert np.array_equal(arena.copy_to_host(), wanted.arena[: wanted.n_nodes])
        used = wanted.roots.first[-1]
        assert roots[0].copy_to_host().tolist() == wanted.roots.first.tolist()
        assert roots[1].copy_to_host().tolist() == wanted.roots.label[:used].tolist()
        assert roots[2].copy_to_host().tolist() == wanted.roots.node[:used].tolist()
        begins = node_first.copy_to_host()
        assert (begins[0], begins[-1], len(begins)) == (0, wanted.n_nodes, len(case.begin) + 1)
        joined += unions_of_unions(wanted)
        total += wanted.n_nodes
    assert total > 1000
    assert joined > 20


def forest_of(structure: Structure) -> Forest:
    hits, roots, used = structure.hits, structure.roots, structure.roots.first[-1]
    parts = roots.first, roots.label[:used], roots.node[:used]
    return Forest(
        cuda.to_device(structure.arena[: structure.n_nodes]),
        Roots(*[cuda.to_device(part) for part in parts]),
        cuda.to_device(hits.event),
        cuda.to_device(hits.lowest),
    )


def units_for(
    structure: Structure, order: np.ndarray, limit: int | None, size: int, geometry: Geometry, wrong: int = 0
) -> Units:
    """The units of some hits; `wrong` is added to the count of the last one."""
    count = structure.count.astype(np.int64)
    count[-1] += wrong
    # as if the structure's segments were one
    bounds = np.array([0, len(count)]), np.array([0, structure.n_nodes])
    lists = SegmentContents(*[cuda.to_device(part) for part in (*bounds, count)])
    return paths.units_of(lists, order, limit, size, geometry)


def enumerated(
    structure: Structure, order: np.ndarray, limit: int | None, geometry: Geometry, size: int
) -> list[list[int]]:
    """The fields of a block with all complex events of some hits, from the device."""
    units, forest = units_for(structure, order, limit, size, geometry), forest_of(structure)
    walked = paths.measure(forest, units, paths.scratch_of(len(order), geometry))
    assert walked.worst == 0
    marks = int(walked.marks.copy_to_host().sum())
    assert paths.fill(forest, walked, marks - 1, geometry) is None
    block = paths.fill(forest, walked, marks, geometry)
    return [part.copy_to_host().tolist() for part in block]


def on_host(
    structure: Structure, order: np.ndarray, limit: int | None, size: int | None = None
) -> list[list[int]]:
    blocks = list(structure.blocks(order, limit, size))
    fields = [[value for block in blocks for value in block[k].tolist()] for k in (0, 1, 3, 4)]
    sizes = [size for block in blocks for size in np.diff(block.first).tolist()]
    return [*fields[:2], [0, *np.cumsum(sizes).tolist()], *fields[2:]]


@pytest.mark.parametrize("limit", [None, 3])
def test_complex_events_are_those_of_the_cpu(limit: int | None) -> None:
    rng = random.Random(330)
    total = 0
    for number in range(18):
        structure = built(long_case(rng) if number % 2 else random_case(rng, longest=11))
        few = np.flatnonzero(structure.count < 120)
        order = np.array(rng.sample(few.tolist(), min(len(few), 12)), np.int64)
        if len(order):
            found = enumerated(structure, order, limit, TINY[number % 3], 256)
            assert found == on_host(structure, order, limit)
            total += len(found[0])
    assert total > 60


@pytest.mark.parametrize("size", [3, 20])
def test_hits_with_many_complex_events_are_cut(size: int) -> None:
    """`A+ ; B` within 8 events of the middle of a stream of A with a few B: up to 127 at each."""
    symbols = np.array([1, 1, 2, 1, 1, 1, 1, 1, 1, 1, 2, 1, 2, 1, 1], np.uint8)
    keys = np.arange(len(symbols))
    bounds = np.array([0]), np.array([0]), np.array([len(symbols)])
    structure = built(Case(kleene(), symbols, *bounds, keys, 8, np.maximum(keys - 8, 0)))
    order = np.array([2, 0, 1])
    assert structure.count.tolist() == [3, 127, 127]
    units = units_for(structure, order, None, size, TINY[size % 3])
    assert units.longest == -(-127 // size)
    assert len(units.table) == 1 + 2 * units.longest
    assert np.diff(units.first.copy_to_host()).max() == size
    for limit in (None, 50):
        found = enumerated(structure, order, limit, TINY[size % 3], size)
        assert found == on_host(structure, order, limit)


def test_what_is_wrong_with_a_hit_is_said() -> None:
    symbols = np.array([1, 1, 2, 1, 1, 2], np.uint8)
    keys = np.arange(6)
    bounds = np.array([0]), np.array([0]), np.array([6])
    structure = built(Case(kleene(), symbols, *bounds, keys, 9, keys * 0))
    forest, order = forest_of(structure), np.arange(2)
    for wrong, stack, status in ((-1, 64, MISMATCH), (1, 64, MISMATCH), (0, 3, HIT_TOO_LARGE)):
        units = units_for(structure, order, None, 9, TINY[0], wrong)
        walked = paths.measure(forest, units, paths.scratch_of(2, TINY[0], stack))
        assert walked.marks.copy_to_host()[[0, -1]].tolist() == [7, -status]
        assert walked.worst == -status


def on_device(case: Case) -> tuple[Structure, DeviceStructure]:
    wanted = built(case)
    programs = forward_program(case.tables), backward_program(case.tables)
    machine = counts.device_tables(case.tables, *programs)
    found = DeviceStructure(case.tables, machine, 0, TINY[0], TINY[2])
    found.build_there(case.symbols, words.to_device(case.symbols), case.begin, case.stop, wanted.hits)
    return wanted, found


def kleene_case() -> Case:
    """`A+ ; B`: 3, 511 and 1 complex events at the three ends of two segments."""
    symbols = np.array([1, 1, 2, 1, 1, 1, 1, 1, 1, 1, 2, 1, 2], np.uint8)
    keys = np.arange(len(symbols))
    begin, stop = np.array([0, 11]), np.array([11, 13])
    return Case(kleene(), symbols, begin, begin, stop, keys, 20, np.where(keys < 11, 0, 11))


@pytest.mark.parametrize("limit", [None, 2])
def test_what_does_not_fit_the_device_comes_from_the_host(
    limit: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted, found = on_device(kleene_case())
    assert found.count.tolist() == [3, 511, 1]
    order = np.array([1, 0, 2])
    expected = on_host(wanted, order, limit)
    assert on_host(found, order, limit) == expected
    # no hit, or one hit, at a time
    for most in (0, 8):
        monkeypatch.setattr(cuda_structure, "MOST_MARKS", most)
        assert on_host(found, order, limit) == expected
    monkeypatch.undo()
    monkeypatch.setattr(cuda_structure, "bulk_count", lambda _: 100)
    assert on_host(found, order, limit) == expected
    monkeypatch.undo()
    found._scratch = paths.scratch_of(3, TINY[0], 4)
    assert on_host(found, order, limit) == expected


def test_counts_that_are_not_those_of_the_structure_are_an_error() -> None:
    case = kleene_case()
    _, found = on_device(case)
    hits = found.hits._replace(counts=np.array([3, 510, 1]))
    found.build_there(case.symbols, words.to_device(case.symbols), case.begin, case.stop, hits)
    with pytest.raises(RuntimeError, match="510 complex events counted at event 10"):
        list(found.blocks())


def test_parts_that_were_dealt_out_give_the_order_of_the_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    """Parts on the device and parts on the host, enumerated by several threads, in any order of the hits."""
    rng = random.Random(340)
    total = 0
    for number in range(12):
        case = long_case(rng) if number % 2 else random_case(rng, longest=11)
        whole = built(case)
        if len(whole.hits.event) < 3:
            continue
        monkeypatch.setattr(dealt_structure, "LONG", rng.choice((1, 8, 1000)))
        monkeypatch.setattr(dealt_structure, "RANGES", rng.choice((2, 3, 99)))
        found = dealt_out(case, whole, rng)
        few = np.flatnonzero(whole.count < 200).tolist()
        order = np.array(rng.sample(few, min(len(few), 20)), np.int64)
        for limit, size in ((None, None), (None, 5), (2, 30)):
            expected = on_host(whole, order, limit)
            assert on_host(found, order, limit, size) == expected
            total += len(expected[0])
    assert total > 400


def dealt_out(case: Case, whole: Structure, rng: random.Random) -> DealtStructure:
    """The structure of a case in parts of a few lists, the first of them on the device."""
    ends, tables = whole.hits, whole.tables
    first = finer(np.unique(ends.first), rng.randint(1, 4))
    lists = dealt_lists(first, ends.event, ends.lowest, rng.randint(1, 3))
    bounds = sorted({0, len(lists), *(rng.randint(0, len(lists)) for _ in range(2))})
    count = whole.count[lists.number]
    programs = forward_program(tables), backward_program(tables)
    machine = counts.device_tables(tables, *programs)
    parts: list[Structure] = []
    for low, high in pairwise(bounds):
        starts, event, lowest = lists.part(low, high)
        hits = CountedHits(starts, event, lowest, count[lists.first[low] : lists.first[high]])
        if parts:
            part = Structure(tables)
            part.build(case.symbols, *spans(starts, event, lowest), hits)
        else:
            part = DeviceStructure(tables, machine, 0, TINY[0], TINY[2])
            there = words.to_device(case.symbols)
            part.build_there(case.symbols, there, *spans(starts, event, lowest), hits)
        parts.append(part)
    return DealtStructure(parts, lists, Workers(2))
