"""The operations on a run of sorted rows, on the host or in the memory of a device."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol, TypeAlias

import numpy as np

from cer_gpu.kernels.views import cpu_climb, cpu_levels, cpu_list, cpu_search
from cer_gpu.kernels.views.contract import CountedRows, RowTests

Pairs = tuple[np.ndarray, np.ndarray]
"""Numbers of rows that ask, and of rows that they ask for: int64 [n] each."""


class DeviceSortedRun(Protocol):
    """A run in the memory of a device. The arrays that its methods take and give are on the host.

    Its rows are copied to the host when they are read there; the copy is kept until they change.
    """

    @property
    def size(self) -> int:
        """The number of rows."""

    @property
    def nbytes(self) -> int:
        """Bytes on the device, and of the copy."""

    @property
    def keys(self) -> np.ndarray:
        """As of `CountedRows`."""

    @property
    def counts(self) -> np.ndarray:
        """As of `CountedRows`."""

    @property
    def sums(self) -> np.ndarray:
        """As of `CountedRows`."""

    def put(self, keys: np.ndarray, amounts: np.ndarray, missing: np.ndarray) -> int:
        """`contract.put_reference`."""

    def places_of(self, keys: np.ndarray) -> np.ndarray:
        """`contract.find_reference`: int64 [m]."""

    def ranges_asked(self, asking: np.ndarray, shared: int, op: int) -> np.ndarray:
        """`contract.bounds_reference`: int64 [m, 2]."""

    def add_totals(
        self, asking: np.ndarray, shared: int, tests: RowTests, found: np.ndarray, touched: np.ndarray
    ) -> None:
        """`contract.totals_reference`."""

    def affected(
        self, others: CountedRows, shared: int, tests: RowTests, turned: RowTests, width: int
    ) -> tuple[np.ndarray, np.ndarray] | None:
        """The rows that `contract.reach_reference` and `contract.affected_reference` find together, in order.

        `width` first values of each row, with equal rows next to each other; None if a product does not fit.
        """

    def pairs(
        self, asking: np.ndarray, shared: int, tests: RowTests, ranges: np.ndarray, most: int
    ) -> Iterator[Pairs]:
        """`contract.matching_reference`, at most `most` at a time."""

    def expand(
        self,
        ranges: np.ndarray,
        first: int,
        held: np.ndarray,
        own: np.ndarray,
        counted: bool,
        made: np.ndarray,
    ) -> None:
        """`contract.expand_reference`."""


Run: TypeAlias = CountedRows | DeviceSortedRun


class RunDevice(Protocol):
    """A device that holds long runs, and sorts long batches."""

    def placed(self, run: CountedRows) -> Run:
        """Copy a run to the memory of the device, if it is long enough and there is room."""

    def merged(self, one: Run, other: Run, summed: bool) -> Run | None:
        """Merge two runs without a common row, and drop rows of multiplicity 0; None if none is left.

        At least one of them is on the device.
        """

    def collapsed(self, keys: np.ndarray, counts: np.ndarray) -> Pairs | None:
        """Different rows in order, with the sums of their counts; None if the host has to find them."""


def size_of(run: Run) -> int:
    """The number of rows."""
    return len(run.counts) if isinstance(run, CountedRows) else run.size


def bytes_of(run: Run) -> int:
    """Bytes of the rows."""
    if isinstance(run, CountedRows):
        return run.keys.nbytes + run.counts.nbytes + run.sums.nbytes
    return run.nbytes


def put(run: Run, keys: np.ndarray, amounts: np.ndarray, missing: np.ndarray) -> int:
    """`contract.put_reference`."""
    if isinstance(run, CountedRows):
        return int(cpu_levels.put(run, keys, amounts, missing))
    return run.put(keys, amounts, missing)


def places_of(run: Run, keys: np.ndarray) -> np.ndarray:
    """`contract.find_reference`: int64 [m]."""
    if not isinstance(run, CountedRows):
        return run.places_of(keys)
    places = np.empty(len(keys), np.int64)
    cpu_search.find(run.keys, keys, places)
    return places


def ranges_asked(run: Run, asking: np.ndarray, shared: int, op: int) -> np.ndarray:
    """`contract.bounds_reference`: int64 [m, 2]."""
    if not isinstance(run, CountedRows):
        return run.ranges_asked(asking, shared, op)
    found = np.empty((len(asking), 2), np.int64)
    cpu_search.bounds(run.keys, asking, shared, op, found)
    return found


def add_totals(
    run: Run, asking: np.ndarray, shared: int, tests: RowTests, found: np.ndarray, touched: np.ndarray
) -> None:
    """`contract.totals_reference`."""
    if not isinstance(run, CountedRows):
        run.add_totals(asking, shared, tests, found, touched)
        return
    scratch = np.empty((len(tests.ops), 2), np.int64)
    cpu_climb.totals(run, asking, shared, tests, scratch, found, touched)


def pairs_of(
    run: Run, asking: np.ndarray, shared: int, tests: RowTests, ranges: np.ndarray, most: int
) -> Iterator[Pairs]:
    """`contract.matching_reference`, at most `most` at a time."""
    if not isinstance(run, CountedRows):
        yield from run.pairs(asking, shared, tests, ranges, most)
        return
    at = np.zeros(2, np.int64)
    scratch = np.empty((len(tests.ops), 2), np.int64)
    while at[0] < len(ranges):
        parents, places = np.empty(most, np.int64), np.empty(most, np.int64)
        arguments = (asking, shared, tests, ranges, at, scratch, parents, places)
        made = cpu_list.matching(run.keys, *arguments)
        if made:
            yield parents[:made], places[:made]


def expand(
    run: Run,
    ranges: np.ndarray,
    first: int,
    held: np.ndarray,
    own: np.ndarray,
    counted: bool,
    made: np.ndarray,
) -> None:
    """`contract.expand_reference`."""
    if isinstance(run, CountedRows):
        cpu_list.expand(ranges, first, held, run, own, counted, made)
    else:
        run.expand(ranges, first, held, own, counted, made)


LEAST_NARROW = 1 << 12
"""The least number of rows of a run that is made narrow."""

MOST_COUNT = 2**15 - 1
"""The greatest multiplicity in a narrow run."""


def is_narrow(run: CountedRows) -> bool:
    """Whether a run is narrow."""
    return bool(run.counts.dtype == np.int16)


def narrowed(run: CountedRows) -> CountedRows | None:
    """The run in fewer bytes; None where a value does not fit."""
    keys, counts = np.empty(run.keys.shape, np.int32), np.empty(run.counts.shape, np.int16)
    fits = cpu_levels.narrow(run.keys, run.counts, keys, counts)
    return CountedRows(keys, counts, run.sums) if fits else None


def widened(run: CountedRows) -> CountedRows:
    """The run with int64 values."""
    return CountedRows(wide(run.keys), wide(run.counts), run.sums)


def of_one_form(one: CountedRows, other: CountedRows) -> tuple[CountedRows, CountedRows]:
    """Both runs narrow, where that is possible and one of them is; otherwise none of them."""
    if is_narrow(one) == is_narrow(other):
        return one, other
    if is_narrow(other):
        return of_one_form(other, one)[::-1]
    fitting = narrowed(other)
    return (widened(one), other) if fitting is None else (one, fitting)


def wide(values: np.ndarray) -> np.ndarray:
    """Values of a run as int64; the same array where they are."""
    return values.astype(np.int64, copy=False)
