"""Times on the clock of a time zone: those that the clock skipped, and those that it showed twice."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa

from cer_gpu.late import compute as pc


class ClockTimes:
    """Turns times of clocks into moments, and keeps which of them no clock showed, or a clock showed twice.

    A time that clocks skipped when they were set forward becomes the end of the hour that was skipped; a time
    that they showed twice when they were set back becomes the first of the two moments.
    """

    def __init__(self) -> None:
        self._found: dict[tuple[str, str, str, bool], list[int]] = {}

    def moments(self, column: pa.Array, kind: pa.DataType, where: tuple[str, str], seen: int) -> pa.Array:
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
        """
        try:
            return pc.assume_timezone(column, kind.tz)
        except pa.ArrowInvalid:
            pass
        found = pc.assume_timezone(column, kind.tz, ambiguous="earliest", nonexistent="latest")
        shown = pc.local_timestamp(found)
        self._keep((*where, kind.tz, False), pc.not_equal(shown, column), seen)
        again = pc.assume_timezone(column, kind.tz, ambiguous="latest", nonexistent="latest")
        self._keep((*where, kind.tz, True), pc.not_equal(again, found), seen)
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
                    f"{'was' if one else 'were'} shown twice by clocks of {zone}, which were set back: the "
                    "first of the two is taken"
                )
            else:
                said = (
                    f"{'was' if one else 'were'} never shown by clocks of {zone}, which were set forward: "
                    f"{'it is' if one else 'they are'} read as the end of the hour that was skipped"
                )
            yield f"{times} ({where}, counted from 0) {said}; write the offset, as in 02:30:00-05:00"
