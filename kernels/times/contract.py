"""The contract of parts of times: what a wall clock and a calendar show, as whole numbers.

Times are int64 counts since 1970-01-01 in UTC, with `second` counts to a second. A clock of a time zone shows
the time plus an offset, which holds from one change of the zone's clocks to the next.
"""

from typing import NamedTuple

import numpy as np

PARTS = ("SECOND", "MINUTE", "HOUR", "WEEKDAY", "DAY", "MONTH", "YEAR", "DATE")
"""The parts, by number. WEEKDAY is 1 on Mondays; DATE is the day, counted from 1970-01-01."""

SECOND, MINUTE, HOUR, WEEKDAY, DAY, MONTH, YEAR, DATE = range(8)


class Offsets(NamedTuple):
    """The offsets of a time zone.

    ==========  ==========  =====================================================================
    `starts`    int64 [m]   the time from which each offset holds, ascending; before the first time the
                            first offset holds too
    `offsets`   int64 [m]   how far clocks are ahead of UTC, in the unit of the times
    `within`    int64 [2]   the times that the table covers: from the first to before the second
    ==========  ==========  =====================================================================
    """

    starts: np.ndarray
    offsets: np.ndarray
    within: np.ndarray


def parts_reference(times, part, second, zone):
    """The parts of times by the calendar of NumPy, for times that the table covers."""
    found = []
    for time in times.tolist():
        k = max(int(np.searchsorted(zone.starts, time, side="right")) - 1, 0)
        seconds = (time + int(zone.offsets[k])) // second
        days = seconds // 86_400
        date = np.datetime64(days, "D")
        months = int(date.astype("M8[M]").astype(int))
        found.append(
            {
                SECOND: seconds % 60,
                MINUTE: seconds // 60 % 60,
                HOUR: seconds // 3600 % 24,
                WEEKDAY: (days + 3) % 7 + 1,
                DAY: int((date - date.astype("M8[M]").astype("M8[D]")).astype(int)) + 1,
                MONTH: months % 12 + 1,
                YEAR: months // 12 + 1970,
                DATE: days,
            }[part]
        )
    return found
