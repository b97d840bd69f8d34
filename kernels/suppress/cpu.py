"""SUPPRESS on the CPU: ends one after another, in the order of the stream."""

from ..jit import inline, jit
from . import contract

is_reported = inline(contract.is_reported)


@jit
def suppress(event, order, lane, quiet, which):
    """Find the ends that are reported; gives how many there are.

    =======  =====================  ==================================================================
    `event`  int64 [ends]           in: the events at which they are
    `order`  int64 [ends] or [0]    in: the ends in the order of the stream; empty: they are in order
    `lane`   int32 [events] or [0]  in: the partitions of events; empty: all are of one
    `quiet`  QuietTimes             in/out
    `which`  int64 [ends]           out: their numbers, in that order
    =======  =====================  ==================================================================
    """
    found = 0
    for k in range(event.shape[0]):
        h = order[k] if order.shape[0] else k
        own = lane[event[h]] if lane.shape[0] else 0
        which[found] = h
        found += is_reported(quiet, event[h], own)
    return found


@jit
def suppress_consuming(event, order, lane, quiet, position, latest_start, by_lane, floors, keep, before):
    """The same where each end that is reported drops the partial matches before it (CONSUME BY).

    ==============  ====================  ============================================================
    `position`      int64 [ends]          in: their positions in the stream
    `latest_start`  int64 [ends]          in: the positions of their latest admissible starts
    `by_lane`       bool                  in: whether a report drops the matches of its partition only
    `floors`        int64 [partitions]    in/out: the last position reported in each, -1 at first; if
                                          not `by_lane`, of all
    `before`        int64 [ends]          out: the floor with which each was compared
    ==============  ====================  ============================================================
    """
    for k in range(keep.shape[0]):
        h = order[k] if order.shape[0] else k
        own = lane[event[h]] if lane.shape[0] else 0
        drops = own if by_lane else 0
        before[h] = floors[drops]
        kept = latest_start[h] > floors[drops] and is_reported(quiet, event[h], own)
        keep[h] = kept
        if kept:
            floors[drops] = position[h]
