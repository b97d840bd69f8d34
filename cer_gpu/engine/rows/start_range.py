"""A stretch of rows in which matches may start, where others look at the rows around it: `StartRange`."""

from __future__ import annotations

from typing import NamedTuple


class StartRange(NamedTuple):
    """Rows in which matches may start, among those of one partition.

    Attributes
    ----------
    first, stop : int
        The first place at which a match may start, and the one behind the last.
    before : int
        How many matches the partition has before them.
    """

    first: int
    stop: int
    before: int = 0
