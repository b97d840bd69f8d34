"""Chains of three steps, each equal to the one before it in some value: what the kernels that list them read.

`A AS a ; B AS b ; C AS c FILTER a.x = b.x AND b.y = c.y` is joined twice: the firsts and the seconds by the
value that they share, then the seconds that have a first in their window and the thirds. In each **stage**
what is stored is an **entry**, and what looks entries up a **probe**. An event may be several steps.
"""

from typing import NamedTuple

import numpy as np

EVENT_AT, TAG, LANE, FIRST_OF, STOP_OF = range(5)
"""Columns of a row: the number of the event; of a probe the least event that its window admits, of an entry
-1 less its latest start; the slot. Of an entry of the second stage also where its firsts begin and stop."""

ROW, LONG_ROW = 3, 5
"""Columns of a row of the first stage and of one of the second."""


class ChainEvents(NamedTuple):
    """What the kernels read of the events of a chunk.

    =========  ==========================  ==============================================================
    `symbols`  uint8 or uint16 [n]
    `slots`    int32 [columns, n]          -1 where an event has no value
    `least`    int32 [n]                   the least event that the window of each admits
    `latest`   int32 [n]                   of an event that is a second step the latest first; -1: none
    `first`    int32 [n]                   the firsts of a second are those from `first` on
    `stop`     int32 [n]                   before `stop`, in the order of the stream
    =========  ==========================  ==============================================================
    """

    symbols: np.ndarray
    slots: np.ndarray
    least: np.ndarray
    latest: np.ndarray
    first: np.ndarray
    stop: np.ndarray


class ChainEntries(NamedTuple):
    """Scratch of the second stage: the entries of a bucket so far, slot after slot; all int32 [widest].

    ========  =======================================
    `event`   the event
    `latest`  its latest start
    `first`   where its firsts begin
    `stop`    and stop
    ========  =======================================
    """

    event: np.ndarray
    latest: np.ndarray
    first: np.ndarray
    stop: np.ndarray


class ChainAnswers(NamedTuple):
    """Answers, bucket by bucket; those at one end in canonical order.

    ========  =====================  ====================================================================
    `of_row`  int32 [rows, 3]        `NUMBER`, `FIRST_ROW`, `LATEST_START` of the answers at each row
    `pair`    uint64 [room]          the event of the first step, times 2**32, and that of the second
    ========  =====================  ====================================================================
    """

    of_row: np.ndarray
    pair: np.ndarray
