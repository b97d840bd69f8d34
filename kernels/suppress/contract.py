"""SUPPRESS: which ends are reported when, for some time after one that was, none is.

An end is suppressed iff its time is at most `size` after the time of the last end that was reported: in the
whole stream, or in its partition. An end that comes later in the stream and has an earlier time, as ends of
other partitions may, is suppressed too.
"""

from typing import Any, NamedTuple

import numpy as np


class QuietTimes(NamedTuple):
    """When ends are suppressed.

    =========  ===========================  ============================================================
    `time`     int64, uint64 or float64     in: the times of events; empty: no end is suppressed
               [events] or [0]
    `size`     dtype of time                in: for how long ends are suppressed
    `most`     dtype of time                in: the greatest value of the type
    `by_lane`  bool                         in: whether each partition is on its own
    `last`     dtype of time [partitions]   in/out: the time of the last end reported in each; if not
               or [1]                       `by_lane`, of all
    `there`    uint8, as `last`             in/out: whether there was one
    =========  ===========================  ============================================================

    Where `size` does not fit int64, whole numbers are uint64.
    """

    time: np.ndarray
    size: Any
    most: Any
    by_lane: bool
    last: np.ndarray
    there: np.ndarray

    def from_event(self, first):
        """The same where events are numbered from one of them on."""
        return self if len(self.time) == 0 else self._replace(time=self.time[first:])


NEVER_QUIET = QuietTimes(
    np.empty(0, np.int64), np.int64(0), np.int64(0), False, np.zeros(1, np.int64), np.zeros(1, np.uint8)
)
"""For a query that suppresses nothing."""


def is_reported(quiet, event, lane):
    """Whether an end at an event is reported, which is then noted; `lane`: its partition."""
    if quiet.time.shape[0] == 0:
        return True
    own = lane if quiet.by_lane else 0
    now = quiet.time[event]
    last = quiet.last[own]
    # Before they are subtracted: a difference of uint64 is never negative, and one of int64 may overflow.
    far = last < 0 and now > last + quiet.most
    if quiet.there[own] != 0 and (now <= last or (not far and now - last <= quiet.size)):
        return False
    quiet.last[own] = now
    quiet.there[own] = 1
    return True
