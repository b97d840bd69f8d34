"""The offsets of time zones, as tables that kernels read (`kernels.times`).

Arrow knows the offsets, but looks them up for every time separately. A table for some years is made by asking
Arrow for every quarter of an hour, once for all runs.
"""

from __future__ import annotations

from datetime import UTC, datetime, timezone
from functools import lru_cache

import numpy as np
import pyarrow as pa

from cer_gpu.kernels.times.contract import Offsets
from cer_gpu.language.units import NANOSECONDS, zone_named
from cer_gpu.lazy_modules import compute as pc

REGULAR = 3 * 365 * 86_400
"""From this time on, in seconds of UTC, offsets are whole minutes, change at whole minutes, and last for more
than a quarter of an hour."""

YEARS = 64
"""The most years for which a table is made."""

LAST = 9998
"""The last year for which there are tables."""

QUARTER, DAY = 900, 86_400

INT64 = np.iinfo(np.int64)


def offsets_between(zone: str | None, least: int, most: int, unit: str) -> Offsets | None:
    """The offsets of a zone, for times from `least` to `most`.

    Parameters
    ----------
    zone : str or None
        None: UTC.
    least, most : int
        In `unit`.
    unit : {"s", "ms", "us", "ns"}
        The unit of the times, and of the table.

    Returns
    -------
    Offsets or None
        None if no table is made: for a zone before 1973 and after 9998, and for very many years.
    """
    second = NANOSECONDS["s"] // NANOSECONDS[unit]
    least, most = least // second, most // second
    steady = 0 if zone is None else _steady(zone)
    if zone is None or steady is not None:
        return _one_offset(steady or 0, second)
    if least < REGULAR or most >= _begin(LAST + 1):
        return None
    first, last = (datetime.fromtimestamp(end, UTC).year for end in (least, most))
    return _table(zone, first, last, second) if last - first < YEARS else None


@lru_cache
def _begin(year: int) -> int:
    return int(datetime(year, 1, 1, tzinfo=UTC).timestamp())


@lru_cache
def _steady(zone: str) -> int | None:
    """The seconds that the clocks of a zone are ahead of UTC; None where that changes, or is not known."""
    try:
        known = zone_named(zone)
    except KeyError:
        return None
    return int(known.utcoffset(None).total_seconds()) if isinstance(known, timezone) else None


@lru_cache
def _one_offset(ahead: int, second: int) -> Offsets:
    spare = DAY * second if ahead else 0  # what clocks show still fits
    ends = [max(_begin(1) * second, INT64.min + spare), min(_begin(LAST + 1) * second, INT64.max - spare)]
    return Offsets(np.array(ends[:1]), np.array([ahead * second]), np.array(ends))


@lru_cache(maxsize=256)
def _table(zone: str, first: int, last: int, second: int) -> Offsets:
    changes = [one for year in range(first, last + 1) for one in _of_year(zone, year)]
    kept = [one for k, one in enumerate(changes) if k == 0 or one[1] != changes[k - 1][1]]
    most = INT64.max - DAY * second  # what clocks show still fits
    starts, ends = (
        [min(moment * second, most) for moment in moments]
        for moments in ([start for start, _ in kept], [max(_begin(first), REGULAR), _begin(last + 1)])
    )
    return Offsets(np.array(starts), np.array([ahead * second for _, ahead in kept]), np.array(ends))


@lru_cache(maxsize=4096)
def _of_year(zone: str, year: int) -> tuple[tuple[int, int], ...]:
    """The offsets in a year: from which second on each holds, and its seconds."""
    begin, end = _begin(year), _begin(year + 1)
    quarters = np.arange(begin, end + 1, QUARTER)
    ahead = _ahead(zone, quarters)
    found = [(begin, int(ahead[0]))]
    for quarter in quarters[np.flatnonzero(np.diff(ahead))]:
        minutes = np.arange(quarter, quarter + QUARTER + 1, 60)
        within = _ahead(zone, minutes)
        later = np.flatnonzero(np.diff(within)) + 1
        found += zip(minutes[later].tolist(), within[later].tolist(), strict=True)
    return tuple(found)


def _ahead(zone: str, seconds: np.ndarray) -> np.ndarray:
    """What clocks are ahead of UTC at some seconds, in seconds."""
    shown = pc.local_timestamp(pa.array(seconds, pa.timestamp("s", zone)))
    return shown.cast(pa.int64()).to_numpy() - seconds
