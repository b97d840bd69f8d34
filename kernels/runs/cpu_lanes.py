"""Counts without a window, of events of many lanes in the order of the stream, by sets of states.

Each lane has the number of a set and one number of runs, and an event changes those of its lane. Events need
not be grouped by lane, as for `hits_in_order`.
"""

import numpy as np

from ..jit import SELDOM, jit


@jit
def _counted(sets, symbols, lanes, registers, event, number, halt):
    """Write where complex events end, and how many: the number of ends, or -1 where a sum reached 2**62.

    ============  ===========================  =============================================================
    `sets`        CountedSets                  in
    `symbols`     uint8 or uint16 [events]     in: in the order of the stream
    `lanes`       int32 [events]               in
    `registers`   int64 [lanes, 2]             in/out: the number of the lane's set; how many runs are in
                                               the state that may hold several
    `event`       int64 [events + 1]           out: the event of each end
    `number`      int64 [events + 1]           out: how many complex events end there
    `halt`        uint8 [1] or [0]             in: see `jit`
    ============  ===========================  =============================================================
    """
    one, none, n, over = np.uint64(1), np.uint64(0), np.uint64(0), np.int64(0)
    for k in range(symbols.shape[0]):
        if k % SELDOM == 0 and halt.shape[0] > 0 and halt[0]:
            return np.int64(n)
        i = np.uint64(k)
        lane, symbol = np.uint64(lanes[i]), np.uint64(symbols[i])
        own, many = np.uint64(registers[lane, none]), registers[lane, one]
        total = sets.ends[symbol, own] + (many & sets.tells[symbol])
        event[n] = k
        number[n] = total
        n += np.uint64(total != 0)
        many = (many & sets.keeps[symbol]) + sets.more[symbol, own]
        over |= many | total
        registers[lane, none] = sets.follow[symbol, own]
        registers[lane, one] = many
    return np.int64(-1) if over >> 62 else np.int64(n)


def counted_by_lane(sets, symbols, lanes, vectors):
    """Where complex events end in the order of the stream, and how many end there.

    Parameters
    ----------
    sets : CountedSets
    symbols : ndarray, shape (events,), uint8 or uint16
        In the order of the stream.
    lanes : ndarray, shape (events,), int32
    vectors : ndarray, shape (lanes, n_live), int64
        In and out: the number of runs in each state of each lane.

    Returns
    -------
    (event, number) or None
        Each int64, shape (ends,). None where a number has reached 2**62: then `vectors` are as before.
    """
    registers = np.empty((len(vectors), 2), np.int64)
    order = np.argsort(sets.members)
    bits = (vectors[:, sets.lone] << np.arange(len(sets.lone))).sum(axis=1)
    registers[:, 0] = order[np.searchsorted(sets.members, bits, sorter=order)]
    registers[:, 1] = vectors[:, sets.several]
    event, number = np.empty((2, len(symbols) + 1), np.int64)
    n = _counted(sets, symbols, lanes, registers, event, number)
    if n < 0:
        return None
    vectors[:, sets.lone] = sets.members[registers[:, 0], None] >> np.arange(len(sets.lone)) & 1
    vectors[:, sets.several] = registers[:, 1]
    return event[:n], number[:n]
