"""Views on a device: long arrays of rows lie there, and long batches are sorted there.

The contents of a batch, its changes and what is listed cross to the host. The rows of a run do not, except
those of a root that is listed, and those that are compared pair by pair. Short runs, into which new rows are
put, stay on the host, where that takes less time than a launch.

If the device has no memory left for something, the host does it, with a warning.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeVar

import numpy as np

from cer_gpu.engine.devices import on, say_no_memory, with_memory
from cer_gpu.engine.views import runs
from cer_gpu.engine.views.runs import Pairs, Run
from cer_gpu.kernels.device.geometry import STREAM
from cer_gpu.kernels.device.words import copied
from cer_gpu.kernels.views import cpu_climb, cpu_levels, cuda, cuda_rows
from cer_gpu.kernels.views.contract import UNEQUAL, CountedRows, RowTests, sums_of

Result = TypeVar("Result")

LEAST = 1 << 16
"""The least number of rows of a run, or of a batch that is sorted, for which the device is used."""


class ViewDevice:
    """A device that holds views.

    Parameters
    ----------
    number : int
    least : int, optional
        The least number of rows of a run or a batch; by default `LEAST`.
    """

    def __init__(self, number: int, least: int | None = None) -> None:
        self.number = number
        self._least = LEAST if least is None else least
        self._warned = False

    def placed(self, run: CountedRows) -> Run:
        """Copy a run to the memory of the device, if it is long enough and there is room."""
        if len(run.counts) < self._least or not run.keys.shape[1]:
            return run
        there = self.tried(lambda: CountedRows(*map(copied, run)), lambda: None)
        return run if there is None else DeviceRun(self, there)

    def merged(self, one: Run, other: Run, summed: bool) -> Run | None:
        """As `RunDevice.merged`."""

        def by_device() -> Run | None:
            pair = [rows_on(part) for part in (one, other)]
            made = cuda_rows.merged(*pair, summed, STREAM)
            return None if made is None else DeviceRun(self, made)

        return self.tried(by_device, lambda: _merged_here(one, other, summed))

    def collapsed(self, keys: np.ndarray, counts: np.ndarray) -> Pairs | None:
        """As `RunDevice.collapsed`."""
        if len(counts) < self._least or not keys.shape[1]:
            return None

        def by_device() -> Pairs | None:
            found = cuda_rows.collapsed(copied(keys), copied(counts), STREAM)
            return found[0].copy_to_host(), found[1].copy_to_host()

        return self.tried(by_device, lambda: None)

    def tried(self, action: Callable[[], Result], by_host: Callable[[], Result]) -> Result:
        """The result of an action on the device; if it has no memory left, of `by_host`."""
        with on(self.number):
            found = with_memory(lambda: (action(),))
        if found is not None:
            return found[0]
        if not self._warned:
            self._warned = True
            say_no_memory(self.number, "a view")
        return by_host()


class DeviceRun:
    """A run in the memory of a device: see `DeviceSortedRun`.

    Parameters
    ----------
    device : ViewDevice
    there : CountedRows
        Of device arrays.
    """

    def __init__(self, device: ViewDevice, there: CountedRows) -> None:
        self._device = device
        self.there = there
        self._here: CountedRows | None = None

    @property
    def size(self) -> int:
        """The number of rows."""
        return int(self.there.counts.shape[0])

    @property
    def nbytes(self) -> int:
        """Bytes on the device, and of the copy."""
        size, width = self.there.keys.shape
        there = 8 * (size * (width + 1) + self.there.sums.shape[0])
        return int(there * (1 if self._here is None else 2))

    @property
    def here(self) -> CountedRows:
        """A copy of the rows on the host."""
        if self._here is None:
            with on(self._device.number):
                self._here = CountedRows(*(array.copy_to_host() for array in self.there))
        return self._here

    @property
    def keys(self) -> np.ndarray:
        """As of `CountedRows`."""
        return self.here.keys

    @property
    def counts(self) -> np.ndarray:
        """As of `CountedRows`."""
        return self.here.counts

    @property
    def sums(self) -> np.ndarray:
        """As of `CountedRows`."""
        return self.here.sums

    def put(self, keys: np.ndarray, amounts: np.ndarray, missing: np.ndarray) -> int:
        """`contract.put_reference`."""

        def by_host() -> int:
            here = self.here
            emptied = runs.put(here, keys, amounts, missing)
            with on(self._device.number):
                self.there.counts.copy_to_device(here.counts)
                if len(here.sums):
                    self.there.sums.copy_to_device(here.sums)
            return emptied

        def by_device() -> int:
            return int(cuda_rows.put(self.there, copied(keys), copied(amounts), missing, STREAM))

        changed = self._device.tried(by_device, by_host)
        self._here = None
        return changed

    def places_of(self, keys: np.ndarray) -> np.ndarray:
        """`contract.find_reference`: int64 [m]."""
        if not len(keys):
            return np.empty(0, np.int64)
        return self._device.tried(
            lambda: cuda.places_of(self.there.keys, copied(keys), STREAM).copy_to_host(),
            lambda: runs.places_of(self.here, keys),
        )

    def ranges_asked(self, asking: np.ndarray, shared: int, op: int) -> np.ndarray:
        """`contract.bounds_reference`: int64 [m, 2]."""
        if not len(asking):
            return np.empty((0, 2), np.int64)
        return self._device.tried(
            lambda: cuda.ranges_asked(self.there.keys, copied(asking), shared, op, STREAM).copy_to_host(),
            lambda: runs.ranges_asked(self.here, asking, shared, op),
        )

    def add_totals(
        self, asking: np.ndarray, shared: int, tests: RowTests, found: np.ndarray, touched: np.ndarray
    ) -> None:
        """`contract.totals_reference`."""

        def by_device() -> tuple[np.ndarray, np.ndarray]:
            made = cuda.totals_of(self.there, copied(asking), shared, _tests(tests), STREAM)
            return made[0].copy_to_host(), made[1].copy_to_host()

        def by_host() -> tuple[np.ndarray, np.ndarray]:
            made = np.zeros_like(found), np.zeros_like(touched)
            runs.add_totals(self.here, asking, shared, tests, *made)
            return made

        if len(asking):
            sums, some = self._device.tried(by_device, by_host)
            found += sums
            touched |= some

    def affected(
        self, others: CountedRows, shared: int, tests: RowTests, turned: RowTests, width: int
    ) -> Pairs | None:
        """As `DeviceSortedRun.affected`."""
        tested = len(turned.ops) > 0 and turned.ops[0] != UNEQUAL
        ranges = _joined(self.ranges_asked(others.keys, shared, int(turned.ops[0]) if tested else -1))
        if not len(ranges):
            return np.empty((0, width), np.int64), np.empty(0, np.int64)

        def by_device() -> Pairs | None:
            changed = CountedRows(*map(copied, others))
            found = cuda.affected_rows(self.there, ranges, changed, shared, _tests(tests), width, STREAM)
            keys, amounts, fits = found
            return (keys.copy_to_host(), amounts.copy_to_host()) if fits else None

        return self._device.tried(
            by_device, lambda: affected_here(self.here, others, shared, (tests, turned), width)
        )

    def pairs(
        self, asking: np.ndarray, shared: int, tests: RowTests, ranges: np.ndarray, most: int
    ) -> Iterator[Pairs]:
        """`contract.matching_reference`, at most `most` at a time."""
        if not len(asking):
            return
        making = self._device.tried(
            lambda: self._pairs_there(asking, shared, tests, ranges, most), lambda: None
        )
        if making is None:
            yield from runs.pairs_of(self.here, asking, shared, tests, ranges, most)
            return
        listed = 0
        while True:
            found = self._device.tried(lambda: next(making, _END), lambda: None)
            if found is _END:
                return
            if found is None:
                # The host begins anew and passes over what is listed already.
                for number, pair in enumerate(runs.pairs_of(self.here, asking, shared, tests, ranges, most)):
                    if number >= listed:
                        yield pair
                return
            listed += 1
            yield found

    def _pairs_there(
        self, asking: np.ndarray, shared: int, tests: RowTests, ranges: np.ndarray, most: int
    ) -> Iterator[Pairs]:
        made = cuda.pairs_found(
            self.there.keys, copied(asking), shared, _tests(tests), copied(ranges), most, STREAM
        )
        return ((parents.copy_to_host(), places.copy_to_host()) for parents, places in made)

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
        low, high = first, first + len(ranges)

        def by_device() -> np.ndarray:
            beside = copied(np.ascontiguousarray(held[:, low:high]))
            found = cuda.expanded(ranges, 0, beside, self.there, copied(own), counted, STREAM)
            return found.copy_to_host()

        def by_host() -> np.ndarray:
            runs.expand(self.here, ranges, first, held, own, counted, made)
            return made

        found = self._device.tried(by_device, by_host)
        if found is not made:
            made[:] = found


_END: Pairs = (np.empty(0, np.int64), np.empty(0, np.int64))
"""What follows the last pairs."""


def rows_on(run: Run) -> CountedRows:
    """The rows of a run as device arrays, on the current device."""
    return run.there if isinstance(run, DeviceRun) else CountedRows(*(copied(part) for part in _three(run)))


def affected_here(
    run: CountedRows, others: CountedRows, shared: int, tests: tuple[RowTests, RowTests], width: int
) -> Pairs | None:
    """As `DeviceSortedRun.affected`, on the host."""
    ranges = np.empty((len(others.counts), 4), np.int64)
    ranges = ranges[: cpu_climb.reach(run.keys, others.keys, shared, tests[1], ranges)]
    size = int((ranges[:, 1] - ranges[:, 0]).sum())
    keys, amounts = np.empty((size, width), np.int64), np.empty(size, np.int64)
    scratch = np.empty((len(tests[0].ops), 2), np.int64)
    made = cpu_climb.affected(run, others, shared, *tests, ranges, scratch, keys, amounts)
    return None if made < 0 else (keys[:made], amounts[:made])


def _merged_here(one: Run, other: Run, summed: bool) -> Run | None:
    pair = [CountedRows(*_three(part)) for part in (one, other)]
    size = sum(len(part.counts) for part in pair)
    keys, counts = np.empty((size, pair[0].keys.shape[1]), np.int64), np.empty(size, np.int64)
    made = int(cpu_levels.merge(*pair, keys, counts))
    if not made:
        return None
    sums = np.empty(sums_of(made) if summed else 0, np.int64)
    found = CountedRows(keys[:made].copy(), counts[:made].copy(), sums)
    if summed:
        cpu_levels.sum_up(found.counts, sums)
    return found


def _three(run: Run) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return run.keys, run.counts, run.sums


def _tests(tests: RowTests) -> RowTests:
    return RowTests(*map(copied, tests))


def _joined(ranges: np.ndarray) -> np.ndarray:
    """Ranges of rows as ranges that do not overlap, in order: int64 [n, 2]."""
    some = ranges[ranges[:, 0] < ranges[:, 1]]
    some = some[np.argsort(some[:, 0], kind="stable")]
    if not len(some):
        return some
    ends = np.maximum.accumulate(some[:, 1])
    first = np.flatnonzero(np.append(True, some[1:, 0] > ends[:-1]))
    return np.stack([some[first, 0], np.append(ends[first[1:] - 1], ends[-1])], axis=1)
