"""Every CUDA kernel, with the types of arguments for which tests compile it without a device."""

from cer_gpu.kernels.classify import cuda as classify
from cer_gpu.kernels.comparisons import cuda_counts as pair_counts
from cer_gpu.kernels.comparisons import cuda_hits as pair_hits
from cer_gpu.kernels.comparisons.contract import (
    ArrangedEntries,
    ComparedSegments,
    ComparedTables,
    PairedEvents,
    PairRuns,
)
from cer_gpu.kernels.comparisons.cuda_units import PairRooms
from cer_gpu.kernels.configurations import cuda as configurations
from cer_gpu.kernels.configurations.contract import HeldTexts, Rules, Steps
from cer_gpu.kernels.configurations.cuda_units import Slab, UnitEvents
from cer_gpu.kernels.counts import cuda as counts
from cer_gpu.kernels.counts import cuda_ends as count_ends
from cer_gpu.kernels.device import scan
from cer_gpu.kernels.device.geometry import LANE
from cer_gpu.kernels.hits import cuda as hits
from cer_gpu.kernels.hits import cuda_long_segments as flows
from cer_gpu.kernels.hits import cuda_units as hit_units
from cer_gpu.kernels.hits.cuda_blocks import DeviceProgram, HitUnits, SymbolWords
from cer_gpu.kernels.joins import cuda_counts as join_counts
from cer_gpu.kernels.joins import cuda_hits as join_hits
from cer_gpu.kernels.joins import cuda_nodes as join_nodes
from cer_gpu.kernels.joins.contract import KeyedEvents, NodeWeights
from cer_gpu.kernels.joins.cuda_nodes import ListNodes
from cer_gpu.kernels.joins.index import HashTables
from cer_gpu.kernels.loop import cuda as loops
from cer_gpu.kernels.loop.contract import FoundEnds, LoopSegments
from cer_gpu.kernels.row_patterns import cuda as row_patterns
from cer_gpu.kernels.row_patterns.contract import MatchRoom, TabledChoices
from cer_gpu.kernels.runs.contract import Program, SegmentHits, TransitionTables
from cer_gpu.kernels.steps import cuda_counts as step_counts
from cer_gpu.kernels.steps import cuda_hits as step_hits
from cer_gpu.kernels.steps import cuda_units as step_units
from cer_gpu.kernels.steps.contract import ShortTables, StepEvents, StepTables
from cer_gpu.kernels.steps.cuda_units import UnitRooms
from cer_gpu.kernels.teams import cuda as teams
from cer_gpu.kernels.teams import cuda_masks as masked_teams
from cer_gpu.kernels.windows import cuda as windows
from cer_gpu.kernels.windows.contract import MeasuredWindow
from cuda_arguments import (
    F64,
    F64_2,
    I32,
    I32_2,
    I32_3,
    I64,
    I64_2,
    I64_3,
    I64_4,
    INT,
    KEYS,
    NUMBERS,
    SYMBOLS,
    U8,
    U8_2,
    U16,
    U32_2,
    U64,
    CudaKernel,
    array,
    named,
)  # fmt: skip
from cuda_team_arguments import ABREAST, CARRIED, MASKED
from numba import types


def _pair_rooms(trees):
    """Scratch of compared steps, with trees of some dtype."""
    return named(PairRooms, trees, F64_2, I64_3, I64_2, I64_2, I64_2)


HITS_PROGRAM = named(DeviceProgram, U64, U64, INT, INT)
WORDS = named(SymbolWords, U64, INT, I64, I64)
HIT_UNITS = named(HitUnits, I64, I64, I64, I64)
PROGRAM = named(Program, I32, U32_2, INT, INT)
TABLES = named(TransitionTables, I32, I32, I32, I32, U8)
HITS = named(SegmentHits, I64, I64, I64)
LISTED = named(counts.ListedHits, I64, I64_2, I64)
COUNT_ROOM = named(counts.DeviceCountRoom, INT, I64_3, I64_2)
MAPS = named(flows.Maps, U64, I64, INT)
UNIT_MATRICES = named(count_ends.UnitMatrices, I64_3, I64_2, INT)
_PAIRS = (
    named(
        ComparedTables, I32, I32, U8, I32, I32, U8, I32, *[I32] * 5, U8, I32, I32, U8, I32,
    ),
    named(PairedEvents, U16, I64, I32_2, I32_2, I64_2),
)  # fmt: skip
_ARRANGED = (named(ComparedSegments, I64, I64, I64, I64), named(ArrangedEntries, I32_2, I32_2, I64_2, I32_2))
_RUNS = named(PairRuns, I64, I64, I64, I64)
_JOIN = named(HashTables, I32, I32, U8, I32, I32, U8, *[I32] * 6, U8)
_LIST_NODES = named(ListNodes, I64, I32_2, I64, I32, I64, I64, I32, I64, U8)
_WEIGHTS = named(NodeWeights, I64, I32, I32, I32, I64, I32)


def _window(keys, size):
    return named(MeasuredWindow, keys, size)


def _keyed(symbols):
    return named(KeyedEvents, symbols, I32_2, I64, I64)


STEP_UNITS = named(LoopSegments, I64, I64, I64)
STEP_ROOMS = named(UnitRooms, I64, I64, U8, I32, I32, I32, I32_2, I64_2)
FOUND = named(FoundEnds, I64, I64)
SHORT = named(ShortTables, array(types.int8), I32, I32)
TIMES = (U64, F64)


def _steps(times):
    return named(StepTables, I32, I32, U8, I32, I32, U8, I32, I32, times, times, *[U8] * 4)


def _timed(times):
    return named(StepEvents, U16, times, I64)


def _configurations(times):
    """Steps, programs, slabs and open rows of configurations, by the type of their slots."""
    one, two, three, four = (array(times, ndim) for ndim in (1, 2, 3, 4))
    tables = named(
        Steps, I32_2, I32_2, I32, I32_2, I32, U8, I32, I32_2, I32_2, I32, U8, I32_2, U8, one, one
    )  # fmt: skip
    slab = named(
        Slab, I32_3, I32_3, four, I64_4, array(types.float64, 4), I64_4, three, I64_4, I64_3, I64_3, three,
        I32_3, I64_2, I64_2, F64_2, U8_2, U8,
    )  # fmt: skip
    rows = named(configurations.OpenRows, I64, I32, I64_2, I64_2, one, I64_2, I64, two)
    return tables, slab, rows


def _followed(times):
    """The arguments of the kernel that follows configurations."""
    tables, slab, rows = _configurations(times)
    one = array(times)
    return (
        tables,
        I32,
        I64_2,
        named(HeldTexts, I64, I64_2, U8),
        named(UnitEvents, U16, I32, one, one, I64, I64_2, F64_2, U8_2, INT),
        named(Rules, INT, INT, times, INT, INT),
        I64_2,
        rows,
        slab,
        INT,
        UNIT_ENDS,
        I64_2,
    )


UNIT_ENDS = named(configurations.UnitEnds, I64, I64, I64, I64_2)

KERNELS = (
    CudaKernel(
        "classify",
        classify.classify_kernel,
        tuple(
            (named(classify.ReadingPlan, I64, I32, INT, INT), INT, INT, I64, I64, symbols)
            for symbols in SYMBOLS
        ),
    ),
    CudaKernel(
        "gather",
        classify.gather_kernel,
        tuple((values, I64, INT, I64, F64 if "float" in str(values) else I64) for values in NUMBERS),
    ),
    CudaKernel("scan_units", scan.scan_units_kernel, ((I64, I64, I64),)),
    CudaKernel("add_totals", scan.add_totals_kernel, ((I64, I64, INT),)),
    CudaKernel(
        "find_hits",
        hits.find_hits_kernel,
        tuple(
            (HITS_PROGRAM, WORDS, _window(*window), HIT_UNITS, I64_2, I64, INT, INT, I64, I64_2)
            for window in KEYS
        ),
        LANE.threads,
    ),
    CudaKernel(
        "cut_units",
        hit_units.cut_units_kernel,
        tuple((_window(*window), I64, INT, INT, INT, HIT_UNITS, I64_2) for window in KEYS),
    ),
    CudaKernel(
        "lowest_starts",
        windows.lowest_starts_kernel,
        tuple((keys, I64, I64, I64, size, I64) for keys, size in KEYS),
    ),
    CudaKernel(
        "counts",
        counts.counts_kernel,
        tuple(
            (TABLES, PROGRAM, PROGRAM, symbols, U64, LISTED, I64, I64_2, COUNT_ROOM, I64, U8)
            for symbols in SYMBOLS
        ),
        LANE.threads,
    ),
    CudaKernel(
        "maps",
        flows.maps_kernel,
        ((HITS_PROGRAM, WORDS, HIT_UNITS, I64, I64_2, INT, MAPS),),
        LANE.threads,
    ),
    CudaKernel("scan_maps", flows.scan_maps_kernel, ((HIT_UNITS, INT, INT, MAPS, MAPS, I64_2),)),
    CudaKernel(
        "begin_units",
        flows.begin_units_kernel,
        ((HIT_UNITS, I64, I64_2, MAPS, INT, I64_2, I64_2),),
        LANE.threads,
    ),
    CudaKernel("end_segments", flows.end_segments_kernel, ((HIT_UNITS, I64, I64_2, I64_2),), LANE.threads),
    CudaKernel(
        "unit_matrices",
        count_ends.unit_matrices_kernel,
        ((HITS_PROGRAM, WORDS, HIT_UNITS, I64, I64_2, INT, I64_3),),
        LANE.threads,
    ),
    CudaKernel("scan_tiles", count_ends.scan_tiles_kernel, ((HIT_UNITS, INT, INT, I64_3, I64_3, I64_2),)),
    CudaKernel(
        "count_ends",
        count_ends.count_ends_kernel,
        (
            (
                *(HITS_PROGRAM, WORDS, HIT_UNITS, I64, I64_2, UNIT_MATRICES),
                *(I64, INT, INT, I64_2, U8, I64_2),
            ),
        ),
        LANE.threads,
    ),
    CudaKernel("abreast", teams.abreast_kernel, ABREAST, LANE.threads),
    CudaKernel("abreast_masked", masked_teams.abreast_masked_kernel, MASKED, LANE.threads),
    CudaKernel("abreast_carried", masked_teams.abreast_carried_kernel, CARRIED, LANE.threads),
    CudaKernel(
        "join_hits",
        join_hits.join_hits_kernel,
        tuple(
            (_JOIN, _keyed(symbols), _window(keys, size), STEP_UNITS, I64_2, I64, I64_2, I64_2, FOUND, I64)
            for symbols in SYMBOLS
            for keys, size in KEYS
        ),
        LANE.threads,
    ),
    CudaKernel("move_hits", loops.move_hits_kernel, ((*[I64] * 6,),), LANE.threads),
    CudaKernel(
        "join_nodes",
        join_nodes.join_nodes_kernel,
        tuple(
            (
                *(_JOIN, _keyed(symbols), _window(U64, types.uint64), STEP_UNITS, HITS, I64_2, _LIST_NODES),
                *(I64, I64_2, I64_3, I64_2),
            )
            for symbols in SYMBOLS
        ),
        LANE.threads,
    ),
    CudaKernel(
        "join_counts",
        join_counts.join_counts_kernel,
        ((INT, HITS, _LIST_NODES, _WEIGHTS, I64),),
        LANE.threads,
    ),
    CudaKernel(
        "compared_hits",
        pair_hits.compared_hits_kernel,
        tuple(
            (*_PAIRS, _window(keys, size), *_ARRANGED, _RUNS, _pair_rooms(I64_2), I64, FOUND, I64)
            for keys, size in KEYS
        ),
        LANE.threads,
    ),
    CudaKernel(
        "compared_counts",
        pair_counts.compared_counts_kernel,
        ((*_PAIRS, _window(U64, types.uint64), *_ARRANGED, _RUNS, _pair_rooms(I64_2), I64, FOUND, I64),),
        LANE.threads,
    ),
    CudaKernel(
        "compared_short",
        pair_counts.compared_short_kernel,
        tuple(
            (*_PAIRS, _window(keys, size), *_ARRANGED, _pair_rooms(I32_2), I64, FOUND, I64)
            for keys, size in KEYS
        ),
        LANE.threads,
    ),
    CudaKernel(
        "configurations",
        configurations.configurations_kernel,
        tuple(_followed(size) for _, size in KEYS),
        LANE.threads,
    ),
    CudaKernel(
        "collect_configurations",
        configurations.collect_configurations_kernel,
        tuple(
            (tables, slab, INT, I64_2, I64, UNIT_ENDS, I64, UNIT_ENDS, rows)
            for tables, slab, rows in (_configurations(size) for _, size in KEYS)
        ),
        LANE.threads,
    ),
    CudaKernel(
        "step_entries",
        step_units.step_entries_kernel,
        tuple((_steps(times), U16, I64, I64, U8, U8, I64, I64) for times in TIMES),
        LANE.threads,
    ),
    CudaKernel(
        "step_hits",
        step_hits.step_hits_kernel,
        tuple(
            (
                *(_steps(times), _timed(times), _window(keys, size), STEP_UNITS, types.boolean, STEP_ROOMS),
                *(I64, FOUND, I64_2, I64),
            )
            for times in TIMES
            for keys, size in KEYS
        ),
        LANE.threads,
    ),
    CudaKernel(
        "step_counts",
        step_counts.step_counts_kernel,
        tuple(
            (
                *(_steps(times), _timed(times), _window(times, size), STEP_UNITS, STEP_ROOMS, I64, I32, I64),
                *(FOUND, I64_2, I64),
            )
            for times, size in KEYS
        ),
        LANE.threads,
    ),
    CudaKernel(
        "step_short",
        step_counts.step_short_kernel,
        tuple(
            (_steps(times), SHORT, _timed(times), STEP_UNITS, I64, I64, I64, STEP_ROOMS, I64_2, I64, I64)
            for times in TIMES
        ),
        LANE.threads,
    ),
    CudaKernel(
        "row_states", row_patterns.row_states_kernel, ((I32, I64, I32_2, I32, I64_2, I64),), LANE.threads
    ),
    CudaKernel(
        "row_matches",
        row_patterns.row_matches_kernel,
        ((named(TabledChoices, I32, I32_2, I32_2, I32), I64, U8, named(MatchRoom, I64, I64, I32), I64_2),),
        LANE.threads,
    ),
)
"""All CUDA kernels, in the order of the pipeline."""
