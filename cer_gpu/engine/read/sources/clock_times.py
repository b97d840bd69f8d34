"""Times that clocks showed, of columns in a time zone: which moments they were."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from cer_gpu.errors import DataError
from cer_gpu.lazy_modules import compute as pc

AMBIGUOUS = ("raise", "earliest", "latest", "infer")
"""What is done about a time that clocks showed twice."""

TAKEN = {
    "earliest": "the first of the two is taken",
    "latest": "the second of the two is taken",
    "infer": "the first of the two is taken until the times of a night step back, then the second",
}

NO_TIME = np.iinfo(np.int64).min


class LocalRun:
    """What is known of a column's times so far, to tell which time of two is meant by the order of rows."""

    def __init__(self) -> None:
        self.before = NO_TIME
        """The last time that a clock showed."""
        self.night = NO_TIME
        """The last time that was shown twice."""
        self.second = False
        """Whether the clocks of that night had been set back by then."""

    def seconds(self, shown: np.ndarray, there: np.ndarray, twice: np.ndarray, day: int) -> np.ndarray:
        """Which of some times were shown when clocks had been set back.

        Parameters
        ----------
        shown : ndarray, shape (n,), int64
            Times on the clock, in any unit.
        there : ndarray, shape (n,), bool
            Those that are no nulls.
        twice : ndarray, shape (n,), bool
            Those that were shown twice.
        day : int
            A day in that unit.
        """
        found, rows = np.zeros(len(shown), bool), np.flatnonzero(there)
        place = np.searchsorted(rows, np.flatnonzero(twice))
        for at in place.tolist():
            row = rows[at]
            now, before = int(shown[row]), int(shown[rows[at - 1]]) if at else self.before
            if self.night == NO_TIME or abs(now - self.night) >= day:
                self.second = False
            self.second |= before != NO_TIME and now < before
            self.night = now
            found[row] = self.second
        if len(rows):
            self.before = int(shown[rows[-1]])
        return found


class ClockTimes:
    """Turns times of clocks into moments, and keeps which of them no clock showed, or a clock showed twice.

    A time that clocks skipped when they were set forward becomes the end of the hour that was skipped.

    Parameters
    ----------
    ambiguous : {"raise", "earliest", "latest", "infer"}, optional
        Which moment a time is that they showed twice, when they were set back: an error, the first, the
        second, or the second once the times of a column step back.
    """

    def __init__(self, ambiguous: str = "raise") -> None:
        self._ambiguous = ambiguous
        self._found: dict[tuple[str, str, str, bool], list[int]] = {}

    def moments(
        self,
        column: pa.Array,
        kind: pa.DataType,
        where: tuple[str, str],
        seen: int,
        run: LocalRun | None = None,
    ) -> pa.Array:
        """The moments of a column of times.

        Parameters
        ----------
        column : Array of timestamp
            Without a time zone.
        kind : DataType
            The same type with the time zone.
        where : (str, str)
            The file and the column.
        seen : int
            The rows of the file before these.
        run : LocalRun, optional
            What is known of the rows before these.

        Raises
        ------
        DataError
            For a time that clocks showed twice, if it is not said which is meant.
        """
        try:
            found = pc.assume_timezone(column, kind.tz)
        except pa.ArrowInvalid:
            pass
        else:
            if run is not None and self._ambiguous == "infer" and len(column):
                run.seconds(*_numbers(column), np.zeros(len(column), bool), 0)
            return found
        found = pc.assume_timezone(column, kind.tz, ambiguous="earliest", nonexistent="latest")
        shown = pc.local_timestamp(found)
        self._keep((*where, kind.tz, False), pc.not_equal(shown, column), seen)
        again = pc.assume_timezone(column, kind.tz, ambiguous="latest", nonexistent="latest")
        twice = pc.not_equal(again, found).fill_null(False)
        if self._ambiguous == "raise" and (row := pc.index(twice, True).as_py()) >= 0:
            path, name = where
            raise DataError(
                f"row {row + seen:,} of {path} (counted from 0) has in column `{name}` the time "
                f"{column[row].as_py()}, which clocks of {kind.tz} showed twice, as they were set back: say "
                "which is meant with ambiguous='earliest', 'latest' or 'infer' (by the order of the rows; "
                "--ambiguous infer), or write the offset, as in 02:30:00-05:00"
            )
        self._keep((*where, kind.tz, True), twice, seen)
        if self._ambiguous == "latest":
            return again
        if self._ambiguous == "infer":
            day = 86_400 * {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[kind.unit]
            inside = twice.to_numpy(zero_copy_only=False)
            second = (run or LocalRun()).seconds(*_numbers(column), inside, day)
            return pc.if_else(pa.array(second), again, found)
        return found

    def _keep(self, key: tuple[str, str, str, bool], which: pa.Array, seen: int) -> None:
        rows = pc.indices_nonzero(which.fill_null(False)).to_pylist()
        first, count, last = self._found.get(key, (0, 0, -1))
        fresh = [row + seen for row in rows if row + seen > last]  # a file may be read more than once
        if fresh:
            self._found[key] = [first if count else fresh[0], count + len(fresh), fresh[-1]]

    def texts(self) -> Iterator[str]:
        """The notes about these times."""
        for (path, name, zone, twice), (first, count, _) in self._found.items():
            one = count == 1
            times = f"{count:,} time{'' if one else 's'} of column `{name}` of {path}"
            where = f"in row {first:,}" if one else f"the first in row {first:,}"
            if twice:
                said = (
                    f"{'was' if one else 'were'} shown twice by clocks of {zone}, which were set back: "
                    f"{TAKEN[self._ambiguous]}"
                )
            else:
                said = (
                    f"{'was' if one else 'were'} never shown by clocks of {zone}, which were set forward: "
                    f"{'it is' if one else 'they are'} read as the end of the hour that was skipped"
                )
            yield f"{times} ({where}, counted from 0) {said}; write the offset, as in 02:30:00-05:00"


def _numbers(column: pa.Array) -> tuple[np.ndarray, np.ndarray]:
    """The times of a column as numbers, and which of them are no nulls."""
    there = column.is_valid().to_numpy(zero_copy_only=False)
    return column.cast(pa.int64()).fill_null(0).to_numpy(zero_copy_only=False), there
