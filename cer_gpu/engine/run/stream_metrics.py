"""What a stream holds and has done so far, for those who watch over it."""

from __future__ import annotations

from typing import NamedTuple


class StreamMetrics(NamedTuple):
    """What a stream holds and has done so far.

    Attributes
    ----------
    events : int
        Rows that were pushed, also those that wait and those that were left out.
    hits : int
        Events at which a match has ended.
    waiting : int
        Rows that wait for rows that come late.
    late : int
        Rows that came too late, and were left out (`on_late="drop"`).
    keyless : int
        Rows that were skipped, since a part of their key is missing.
    open_events : int
        Events that are kept since a later match may need them.
    open_bytes : int
        About how many bytes these take, with the partial matches and the keys.
    """

    events: int = 0
    hits: int = 0
    waiting: int = 0
    late: int = 0
    keyless: int = 0
    open_events: int = 0
    open_bytes: int = 0
