"""SUPPRESS: which ends are reported when, for some time after one that was, none is.

An end is suppressed iff its time is at most `size` after the time of the last end that was reported: in the
whole stream, or in its partition. An end that comes later in the stream and has an earlier time, as ends of
other partitions may, is suppressed too.
Each function here is both the body of a kernel and its definition.
"""


def suppress_body(order, time, lane, size, last, there, keep):
    """Decide which ends are reported.

    =======  ==============================  ========================================================
    `order`  int64 [ends] or [0]             in: the ends in the order of the stream; empty: as they are
    `time`   uint64 or float64 [ends]        in: their times
    `lane`   int32 [ends] or [0]             in: their partitions; empty: all are of one
    `size`   dtype of time                   in: for how long ends are suppressed
    `last`   dtype of time [partitions]      in/out: the time of the last end reported in each
    `there`  uint8 [partitions]              in/out: whether there was one
    `keep`   uint8 [ends]                    out: 1 for the ends that are reported
    =======  ==============================  ========================================================
    """
    for k in range(time.shape[0]):
        h = order[k] if order.shape[0] else k
        own = lane[h] if lane.shape[0] else 0
        now = time[h]
        # They are compared first: a difference of uint64 below 0 would be very large.
        kept = there[own] == 0 or (now > last[own] and now - last[own] > size)
        keep[h] = kept
        if kept:
            last[own] = now
            there[own] = 1


def suppress_consuming_body(
    order, time, lane, size, last, there, position, latest_start, dropped_in, floors, keep, before
):
    """The same where each end that is reported drops every partial match (CONSUME BY).

    ==============  ====================  ============================================================
    `position`      int64 [ends]          in: their positions in the stream
    `latest_start`  int64 [ends]          in: the positions of their latest admissible starts
    `dropped_in`    int32 [ends] or [0]   in: as `lane`, for CONSUME BY
    `floors`        int64 [partitions]    in/out: the last position reported in each, -1 at first
    `before`        int64 [ends]          out: the floor with which each was compared
    ==============  ====================  ============================================================
    """
    for k in range(time.shape[0]):
        h = order[k] if order.shape[0] else k
        own = lane[h] if lane.shape[0] else 0
        drops = dropped_in[h] if dropped_in.shape[0] else 0
        now = time[h]
        before[h] = floors[drops]
        kept = there[own] == 0 or (now > last[own] and now - last[own] > size)
        kept = kept and latest_start[h] > floors[drops]
        keep[h] = kept
        if kept:
            last[own] = now
            there[own] = 1
            floors[drops] = position[h]
